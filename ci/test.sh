#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests on this machine: installs what is missing, builds, tests, prints the time of each group.
#
#   ci/test.sh [--full] [GROUP...]
#
# Without a group: all of them. --full adds the builds with sanitizers (address + undefined, thread) and the demo.
# A group that fails hides no other: everything runs, and the exit code is 1 if anything failed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=ci/stages.sh
. ci/stages.sh

failures=() logs=() timings=()

all_groups() {
  grep -rhoE --include=CMakeLists.txt '^ *gpusizer_room\([a-z_]+' bench ci cloud gpusizer reports workloads |
    sed 's/.*(//' | sort
  printf '%s\n' house scripts
}

usage() {
  sed -n '3,8s/^# \{0,1\}//p' "$0"
  printf 'Groups: %s\n' "$(all_groups | tr '\n' ' ')"
}

read_arguments() {
  full=no groups=()
  local argument known
  known=$(all_groups)
  for argument in "$@"; do
    case $argument in
      --full) full=yes ;;
      -h | --help) usage; exit 0 ;;
      *)
        if ! grep -qx -- "$argument" <<<"$known"; then
          printf "test.sh: '%s' is not a group; the groups are: %s\n" "$argument" "${known//$'\n'/ }" >&2
          exit 2
        fi
        groups+=("$argument")
        ;;
    esac
  done
}

# Sets surroundings: the words before a command that may start a test program (the build does too, to list the tests).
set_surroundings() {
  surroundings=(env OMP_WAIT_POLICY=passive)
  case $1 in
    asan)
      surroundings+=(ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
        UBSAN_OPTIONS=print_stacktrace=1)
      ;;
    tsan)
      # The packaged oneDNN and libgomp are not instrumented: with more threads their barriers look like races.
      surroundings+=(OMP_NUM_THREADS=1
        TSAN_OPTIONS="suppressions='$PWD/ci/tsan.supp' halt_on_error=1 second_deadlock_stack=1")
      # Newer kernels spread the address space wider than gcc 12's thread sanitizer understands.
      if setarch -R true 2>/dev/null; then surroundings+=(setarch -R); fi
      ;;
  esac
}

# Only what the chosen groups need, all of it by default.
targets() {
  if ((${#groups[@]} == 0)); then printf 'all\n'; return 0; fi
  local group known
  known=$(cmake --build "build/$1" --target help)
  for group in "${groups[@]}"; do
    case $group in
      bench* | cli) printf 'gpusizer\n' ;;  # they start the program itself
    esac
    if grep -q "^gpusizer_${group}_tests:" <<<"$known"; then printf 'gpusizer_%s_tests\n' "$group"; fi
  done
}

# What of the CUDA backend is built: every architecture only with --full; with sanitizers the emulated device at most.
cuda_options() {
  case $1 in
    release) if [[ $full == yes ]]; then printf '%s\n' -UGPUSIZER_CUDA_ARCHITECTURES; else printf '%s\n' '-DGPUSIZER_CUDA_ARCHITECTURES=75;90'; fi ;;
    asan) printf '%s\n' -DGPUSIZER_CUDA=EMULATED ;;
    tsan) printf '%s\n' -DGPUSIZER_CUDA=OFF ;;
  esac
}

configure() {
  local cuda
  mapfile -t cuda < <(cuda_options "$1")
  cmake --preset "$1" -DGPUSIZER_TESTS=ON -DCMAKE_UNITY_BUILD=ON "${cuda[@]}"
}

# Keeps going after an error: one room that does not compile hides no other's tests.
build() {
  local chosen
  mapfile -t chosen < <(targets "$1" | sort -u)
  if ((${#chosen[@]} == 0)); then return 0; fi
  "${surroundings[@]}" cmake --build "build/$1" --parallel "$(nproc)" --target "${chosen[@]}" -- -k 0
}

run_tests() {
  local selection=() pattern
  if ((${#groups[@]} > 0)); then
    pattern=$(IFS='|'; printf '%s' "${groups[*]}")
    # house and scripts have no tests in the builds with sanitizers: that is no failure.
    selection=(--no-tests=ignore --tests-regex "^($pattern)\.|^gpusizer_($pattern)_tests_NOT_BUILT")
  fi
  "${surroundings[@]}" ctest --preset "$1" --parallel 2 "${selection[@]}" \
    --output-junit "$PWD/build/$1/ctest.xml" 2>&1 | tee "build/$1/ctest.log"
}

test_preset() {
  local preset=$1
  logs+=("build/$preset/ctest.log") timings+=("build/$preset/ctest.xml")
  rm -f "build/$preset/ctest.log" "build/$preset/ctest.xml"
  set_surroundings "$preset"
  if ! stage "$preset: configure" configure "$preset"; then
    failures+=("$preset: configure")
    return 0
  fi
  stage "$preset: build" build "$preset" || failures+=("$preset: build")
  stage "$preset: test" run_tests "$preset" || failures+=("$preset: test")
}

print_end() {
  headline "sizes"
  python3 -B ci/house/house.py report || true
  print_stages
  headline "time of each group, seconds"
  python3 -B ci/group_times.py "${timings[@]}" || true
  headline "result"
  local log
  for log in "${logs[@]}"; do
    if [[ -r $log ]]; then grep -E 'tests passed, .* failed out of|^No tests were found' "$log" || true; fi
  done
}

read_arguments "$@"
refuse_foreign_folders
mkdir -p build
must stage "set-up" bash ci/setup.sh build data test
choose_compiler
test_preset release
if [[ $full == yes ]]; then
  test_preset asan
  test_preset tsan
  stage "demo" bash ci/demo.sh || failures+=("demo")
fi
print_end
if ((${#failures[@]} > 0)); then
  printf 'test.sh: failed: %s\n' "$(IFS=,; printf '%s' "${failures[*]}")" >&2
  exit 1
fi
