#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs with apt what gpusizer needs and this machine lacks; does nothing when all is there.
#
#   ci/setup.sh [--list] [build] [data] [test]     no group named: all three
#
# Works as root and through sudo, asks no questions, and needs the network only when something is missing.
# GPUSIZER_SETUP=skip leaves the machine alone, for those who installed the needs in another way.
# Exit codes: 0 all is there, 2 wrong usage, 5 something is missing and could not be installed.
set -euo pipefail

# One line for each need: group | package on Debian 12 and Ubuntu 24.04 | on Ubuntu 22.04 where it differs
#                         | program that does as well when it is in PATH | what it is for
needs() {
  cat <<'TABLE'
build|g++|g++-12||C++20 compiler, version 12 or newer
build|cmake||cmake|build system, version 3.22 or newer
build|ninja-build||ninja|runs the build
build|git||git|names the commit in a report
build|libdnnl-dev|||oneDNN, the CPU backend
build|libfmt-dev|||text formatting
build|nlohmann-json3-dev|||JSON reading and writing
build|libboost-program-options-dev|||command line
build|libjpeg-dev|||decodes photographs
build|zlib1g-dev|||reads compressed data sets
build|libsqlite3-dev|||the index of the history of runs
data|dataset-fashion-mnist|||Fashion-MNIST, 70,000 real images
test|libgtest-dev|||GoogleTest, the unit tests
test|python3||python3|runs the house tests
test|python3-jsonschema|||checks reports against their schema
test|libopenmpi-dev|||ranks under mpirun; the build does without
test|openmpi-bin||mpirun|starts ranks
TABLE
}

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit "${failure:-5}"
}

usage() { sed -n '3,9s/^# \{0,1\}//p' "$0"; }

# Sets id, version, name and family (debian, ubuntu or unknown) from the system's own description.
read_distribution() {
  local file=${GPUSIZER_OS_RELEASE:-/etc/os-release}
  id=unknown version='' name='an unknown system' like=''
  if [[ -r $file ]]; then
    # shellcheck source=/dev/null
    { read -r id; read -r version; read -r like; read -r name; } < <(
      . "$file"
      printf '%s\n' "${ID:-unknown}" "${VERSION_ID:-}" "${ID_LIKE:-}" "${PRETTY_NAME:-${ID:-an unknown system}}"
    )
  fi
  case " $id $like " in
    *' ubuntu '*) family=ubuntu ;;
    *' debian '*) family=debian ;;
    *) family=unknown ;;
  esac
}

older_than() { [[ $1 != "$2" && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

refuse_old_distribution() {
  local oldest=''
  [[ $id == debian ]] && oldest=12
  [[ $id == ubuntu ]] && oldest=22.04
  if [[ -n $oldest && -n $version ]] && older_than "$version" "$oldest"; then
    fail "$name is too old: its compiler and cmake cannot build gpusizer; use $id $oldest or newer"
  fi
}

# Prints the needs of the chosen groups as "package|program|purpose".
chosen_needs() {
  local group package jammy program purpose
  while IFS='|' read -r group package jammy program purpose; do
    [[ " ${groups[*]} " == *" $group "* ]] || continue
    if [[ $family == ubuntu && $version == 22.04 && -n $jammy ]]; then package=$jammy; fi
    printf '%s|%s|%s\n' "$package" "$program" "$purpose"
  done < <(needs)
}

is_there() {
  local package=$1 program=$2
  if [[ -n $program ]] && command -v "$program" >/dev/null; then return 0; fi
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]]
}

# Sets missing: the packages to install, and missing_lines: the same with their purpose, for people.
find_missing() {
  local package program purpose
  missing=() missing_lines=()
  while IFS='|' read -r package program purpose; do
    if ! is_there "$package" "$program"; then
      missing+=("$package")
      missing_lines+=("$(printf '%-30s %s' "$package" "$purpose")")
    fi
  done < <(chosen_needs)
}

print_missing() { printf '    %s\n' "${missing_lines[@]}"; }

refuse_without_apt() {
  if [[ $family != unknown ]] && command -v apt-get >/dev/null; then return 0; fi
  say "to be installed by hand (the names are Debian's):" >&2
  print_missing >&2
  local why="this machine runs $name, which this script does not know"
  if [[ $family != unknown ]]; then why="this machine runs $name but has no apt-get"; fi
  fail "$why; install the above in its own way, then run again with GPUSIZER_SETUP=skip"
}

# Sets root: the words to put before a command that only root may run.
become_root() {
  root=()
  if [[ $(id -u) == 0 ]]; then return 0; fi
  if ! command -v sudo >/dev/null; then
    fail "installing needs root and there is no sudo; as root, run: apt-get install ${missing[*]}"
  fi
  root=(sudo)
  if [[ ! -t 0 ]]; then root=(sudo -n); fi
  if ! "${root[@]}" true 2>/dev/null; then
    fail "installing needs root and sudo refused; as root, run: apt-get install ${missing[*]}"
  fi
}

# A freshly started cloud machine often updates itself: wait for its lock. Ubuntu's needrestart must not ask.
# Waiting for the disk after each file, as dpkg does, would take more than half of the time (the headers of Boost).
apt_get() {
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Options::=--force-unsafe-io \
    "$@" </dev/null >>"$log" 2>&1
}

install_missing() {
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  say "on $name, installing with apt (this takes a minute or two):"
  print_missing
  apt_get update || say "apt-get update failed; trying with the package lists that are here" >&2
  if apt_get install --yes --no-install-recommends "${missing[@]}"; then return 0; fi
  tail -n 5 "$log" | sed 's/^/    /' >&2
  local hint='check the network and the package sources'
  if [[ $family == ubuntu ]]; then hint+=" (the section 'universe' must be enabled)"; fi
  fail "apt-get could not install ${missing[*]}; $hint, then run this again"
}

main() {
  local list=no argument
  groups=()
  for argument in "$@"; do
    case $argument in
      build | data | test) groups+=("$argument") ;;
      --list) list=yes ;;
      -h | --help) usage; return 0 ;;
      *) failure=2 fail "'$argument' is not a group; the groups are build, data and test" ;;
    esac
  done
  if ((${#groups[@]} == 0)); then groups=(build data test); fi

  if [[ ${GPUSIZER_SETUP:-} == skip ]]; then
    say "skipped, as GPUSIZER_SETUP=skip asks"
    return 0
  fi
  read_distribution
  if [[ $list == yes ]]; then
    chosen_needs | while IFS='|' read -r package _ purpose; do printf '%-30s %s\n' "$package" "$purpose"; done
    return 0
  fi
  find_missing
  if ((${#missing[@]} == 0)); then
    say "nothing to install for: ${groups[*]}"
    return 0
  fi
  refuse_old_distribution
  refuse_without_apt
  become_root
  install_missing
  find_missing
  if ((${#missing[@]} > 0)); then fail "apt-get reported success but these are still missing: ${missing[*]}"; fi
  say "all is there for: ${groups[*]}"
}

main "$@"
