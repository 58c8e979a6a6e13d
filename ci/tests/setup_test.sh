#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of ci/setup.sh on make-believe machines: apt-get, dpkg-query, sudo and id are stand-ins, nothing is installed.
# shellcheck disable=SC2016  # the quoted text is run later: by a stand-in, or by check
set -uo pipefail
setup=$(cd "$(dirname "$0")/.." && pwd)/setup.sh
room=$(mktemp -d "${TMPDIR:-/tmp}/setup test.XXXXXX")
trap 'rm -rf "$room"' EXIT
faults=0 checks=0

# machine DISTRIBUTION VERSION [LIKE]: a fresh machine as root with apt, without any of our needs.
machine() {
  rm -rf "${room:?}"/*
  mkdir "$room/bin"
  : >"$room/installed"
  : >"$room/apt.log"
  printf 'ID=%s\nVERSION_ID="%s"\nID_LIKE="%s"\nPRETTY_NAME="%s %s"\n' "$1" "$2" "${3:-}" "$1" "$2" >"$room/os-release"
  local tool
  for tool in bash cat env grep head mktemp rm sed sort tail true; do ln -s "$(type -P "$tool")" "$room/bin/$tool"; done
  stand_in id 'echo "${FAKE_UID:-0}"'
  stand_in dpkg-query 'while [[ $# -gt 1 ]]; do shift; done
    if grep -qx -- "$1" "$ROOM/installed"; then printf installed; else exit 1; fi'
  stand_in apt-get '
    words=()
    for word in "$@"; do case $word in -o|-qq|*::*=*|--*) ;; *) words+=("$word") ;; esac; done
    echo "${SUDO:-root} ${DEBIAN_FRONTEND:-} ${words[*]}" >>"$ROOM/apt.log"
    if [[ -n ${FAKE_OFFLINE:-} ]]; then echo "E: no route to the package source" >&2; exit 100; fi
    if [[ ${words[0]} == install && -z ${FAKE_LIAR:-} ]]; then printf "%s\n" "${words[@]:1}" >>"$ROOM/installed"; fi'
}

stand_in() {
  printf '#!%s\n%s\n' "$(type -P bash)" "$2" >"$room/bin/$1"
  chmod +x "$room/bin/$1"
}

with_sudo() {
  stand_in sudo '[[ -n ${FAKE_SUDO_REFUSES:-} ]] && exit 1
    while [[ $1 == -* ]]; do shift; done
    SUDO=sudo exec "$@"'
}

# run [NAME=VALUE...] -- ARGUMENTS: starts setup.sh on the machine; leaves status, out.
run() {
  local settings=()
  while [[ $1 != -- ]]; do settings+=("$1"); shift; done
  shift
  out=$(cd / && env -i PATH="$room/bin" TMPDIR="$room" ROOM="$room" GPUSIZER_OS_RELEASE="$room/os-release" "${settings[@]}" \
    bash "$setup" "$@" 2>&1 </dev/null)
  status=$?
}

check() {
  checks=$((checks + 1))
  if ! eval "$2"; then
    faults=$((faults + 1))
    printf 'FAILED %s: %s\n  exit code %s, output:\n%s\n' "$1" "$2" "$status" "$out"
  fi
}
says() { [[ $out == *"$1"* ]]; }
asked_apt() { grep -q -- "$1" "$room/apt.log"; }

machine debian 12
run -- build data
check 'fresh Debian 12' '[[ $status == 0 ]] && says "libdnnl-dev" && says "oneDNN" && says "all is there"'
check 'fresh Debian 12' 'asked_apt "noninteractive update" && asked_apt "install g++ cmake .*dataset-fashion-mnist"'
check 'only what was named' '! asked_apt libgtest-dev'
: >"$room/apt.log"
run -- build data
check 'second time' '[[ $status == 0 && ! -s $room/apt.log ]] && says "nothing to install for: build data"'
run FAKE_OFFLINE=1 -- build data
check 'second time without a network' '[[ $status == 0 ]]'
run --
check 'no group means all' '[[ $status == 0 ]] && asked_apt "install libgtest-dev python3 python3-jsonschema"'

machine debian 12
for tool in cmake ninja git; do stand_in "$tool" true; done
run -- build
check 'own programs count' '[[ $status == 0 ]] && ! asked_apt cmake && ! asked_apt "ninja\|git" && asked_apt g++'

machine ubuntu 22.04 debian
run -- build
check 'Ubuntu 22.04' '[[ $status == 0 ]] && asked_apt "g++-12 " && asked_apt libdnnl-dev'
machine ubuntu 24.04 debian
run -- build
check 'Ubuntu 24.04' '[[ $status == 0 ]] && asked_apt "g++ " && ! asked_apt "g++-12"'
machine linuxmint 22 'ubuntu debian'
run -- build
check 'a child of Ubuntu' '[[ $status == 0 ]] && asked_apt "g++ "'

machine debian 12
with_sudo
run FAKE_UID=1000 -- data
check 'through sudo' '[[ $status == 0 ]] && asked_apt "sudo noninteractive install dataset-fashion-mnist"'
machine debian 12
with_sudo
run FAKE_UID=1000 FAKE_SUDO_REFUSES=1 -- data
check 'sudo refuses' '[[ $status == 5 && ! -s $room/apt.log ]] && says "sudo refused; as root, run: apt-get install data"'
machine debian 12
run FAKE_UID=1000 -- data
check 'no sudo' '[[ $status == 5 ]] && says "there is no sudo; as root, run: apt-get install dataset-fashion-mnist"'

machine debian 12
run FAKE_OFFLINE=1 -- data
check 'no network' '[[ $status == 5 ]] && says "no route to" && says "could not install dataset-fashion-mnist; check the"'
check 'no network' '[[ -z $(find "$room" -name "tmp.*") ]]'
machine debian 12
run FAKE_LIAR=1 -- data
check 'apt lies' '[[ $status == 5 ]] && says "still missing: dataset-fashion-mnist"'
machine debian 12
rm "$room/bin/apt-get"
run -- data
check 'no apt' '[[ $status == 5 ]] && says "has no apt-get" && says "dataset-fashion-mnist" && says "GPUSIZER_SETUP=skip"'
machine fedora 40
run -- build
check 'unknown distribution' '[[ $status == 5 ]] && says "fedora 40, which this script does not know" && says libdnnl-dev'
machine fedora 40
rm "$room/os-release"
run -- build
check 'nameless distribution' '[[ $status == 5 ]] && says "an unknown system"'
machine debian 11
run -- build
check 'old Debian' '[[ $status == 5 && ! -s $room/apt.log ]] && says "debian 11 is too old" && says "debian 12 or newer"'
machine ubuntu 20.04 debian
run -- build
check 'old Ubuntu' '[[ $status == 5 ]] && says "ubuntu 22.04 or newer"'
machine debian ''
run -- data
check 'Debian testing has no version' '[[ $status == 0 ]]'

machine fedora 40
run GPUSIZER_SETUP=skip -- build
check 'skipped' '[[ $status == 0 ]] && says skipped'
run -- buidl
check 'unknown group' '[[ $status == 2 ]] && says "buidl"'
run -- --help
check 'help' '[[ $status == 0 ]] && says "[build] [data] [test]"'
run -- --list data
check 'list' '[[ $status == 0 && $out == dataset-fashion-mnist* ]]'

printf '%s checks of ci/setup.sh, %s failed\n' "$checks" "$faults"
[[ $faults == 0 ]]
