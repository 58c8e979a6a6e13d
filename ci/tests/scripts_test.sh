#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the scripts people start: they parse, explain themselves from any folder and refuse what they do not know.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
faults=0 checks=0

check() {
  local name=$1
  shift
  checks=$((checks + 1))
  if ! "$@"; then
    faults=$((faults + 1))
    printf 'FAILED: %s\n' "$name"
  fi
}

# answers STATUS TEXT COMMAND...: the command ends with that exit code and prints that text.
answers() {
  local expected=$1 text=$2 out status=0
  shift 2
  out=$("$@" 2>&1 </dev/null) || status=$?
  if [[ $status == "$expected" && $out == *"$text"* ]]; then return 0; fi
  printf '  exit code %s (expected %s), output without "%s":\n%s\n' "$status" "$expected" "$text" "$out"
  return 1
}

scripts=("$root/.ci/run" "$root"/ci/*.sh "$root"/ci/tests/*.sh)
for script in "${scripts[@]}"; do check "$script parses" bash -n "$script"; done
if command -v shellcheck >/dev/null; then
  check 'shellcheck' shellcheck --source-path="$root" "${scripts[@]}"
else
  printf 'shellcheck is not installed: scripts were only parsed\n'
fi

# From another folder, and from a folder with a space in its name.
elsewhere=$(mktemp -d "${TMPDIR:-/tmp}/scripts test.XXXXXX")
trap 'rm -rf "$elsewhere"' EXIT
mkdir -p "$elsewhere/a house"
for room in bench ci cloud gpusizer reports workloads; do ln -s "$root/$room" "$elsewhere/a house/$room"; done
rm "$elsewhere/a house/ci"
cp -r "$root/ci" "$elsewhere/a house/ci"
cd / || exit 1
for house in "$root" "$elsewhere/a house"; do
  check 'test.sh --help' answers 0 'Groups:' bash "$house/ci/test.sh" --help
  check 'demo.sh --help' answers 0 'results/demo.json' bash "$house/ci/demo.sh" --help
  check 'setup.sh --help' answers 0 '[build] [data] [test]' bash "$house/ci/setup.sh" --help
  check 'test.sh with a wrong group' answers 2 "'nonsense' is not a group" bash "$house/ci/test.sh" nonsense
  check 'demo.sh with an argument' answers 2 'ci/demo.sh' bash "$house/ci/demo.sh" fast
done

help=$(bash "$root/ci/test.sh" --help)
for group in program lowering models data backend backend_reference backend_cpu cloud record sizing render bench \
  house scripts; do
  check "--help names the group $group" grep -qw -- "$group" <<<"${help#*Groups:}"
done

# A stage that fails ends the script with its own exit code and one sentence.
# shellcheck disable=SC2016  # run by the inner bash
failing='. "$0/ci/stages.sh"; must stage "the sum" bash -c "exit 4"; echo went on'
check 'a failing stage' answers 4 '"the sum"' bash -c "$failing" "$root" "the sum"
# shellcheck disable=SC2016  # run by the inner bash
passing='. "$0/ci/stages.sh"; must stage "the sum" true; print_stages; echo went on'
check 'a passing stage' answers 0 'went on' bash -c "$passing" "$root"

printf '%s checks of the scripts, %s failed\n' "$checks" "$faults"
[[ $faults == 0 ]]
