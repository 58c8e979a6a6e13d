#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows the whole chain on this machine: installs what is missing, builds, trains, reports, names an instance.
#
#   ci/demo.sh
#
# Leaves results/demo.json. Exit codes: the program's own (0 done, 4 a case failed, ...), or those of ci/setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=ci/stages.sh
. ci/stages.sh

readonly program=build/demo/bench/cli/gpusizer report=results/demo.json

# The answer is worked out as if this machine were that instance: a stand-in that shows the last step of the chain.
readonly instance=c7i.xlarge

if (($# > 0)); then
  sed -n '3,7s/^# \{0,1\}//p' "$0"
  if [[ $1 == -h || $1 == --help ]]; then exit 0; else exit 2; fi
fi

build() {
  # Headers are most of what is compiled: more files in one go, fewer times the same headers.
  cmake --preset release -B build/demo -DGPUSIZER_TESTS=OFF -DGPUSIZER_CUDA=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
    >build/demo.configure.log 2>&1 || {
    cat build/demo.configure.log >&2
    return 1
  }
  cmake --build build/demo --target gpusizer --parallel "$(nproc)"
}

advise() {
  "$program" advise "$report" --dataset-samples 60000 --epochs 20 --as "$instance"
}

refuse_foreign_folders
mkdir -p build results
must stage "set-up" bash ci/setup.sh build data
choose_compiler
must stage "build" build
must stage "train and time three cases" "$program" run --suite demo --out "$report"
must stage "report" "$program" report "$report"
must stage "advice, as if this machine were a $instance" advise
print_stages
printf '\nThe report is %s\n' "$PWD/$report"
