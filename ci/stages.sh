# SPDX-License-Identifier: Apache-2.0
# For demo.sh and test.sh to source: timed stages, a table of the times, one sentence when something fails.
# shellcheck shell=bash

stage_names=() stage_seconds=()

headline() { printf '\n== %s\n' "$*"; }

# stage NAME COMMAND...: runs the command under a headline, notes how long it took, returns its exit code.
stage() {
  local name=$1 begin=$SECONDS status=0
  shift
  headline "$name"
  "$@" || status=$?
  stage_names+=("$name")
  stage_seconds+=($((SECONDS - begin)))
  return "$status"
}

# must COMMAND...: like the command, but a failure ends the script with that exit code and one sentence.
must() {
  local status=0
  "$@" || status=$?
  if ((status != 0)); then
    printf '%s: "%s" failed with exit code %s; what went wrong is printed above\n' "${0##*/}" "$2" "$status" >&2
    exit "$status"
  fi
}

print_stages() {
  local index
  headline "time"
  for index in "${!stage_names[@]}"; do
    printf '%6s s  %s\n' "${stage_seconds[index]}" "${stage_names[index]}"
  done
  printf '%6s s  in all\n' "$SECONDS"
}

# A run under sudo leaves folders that the next run without it cannot write.
refuse_foreign_folders() {
  local folder
  for folder in build results; do
    if [[ -e $folder && ! -w $folder ]]; then
      printf "%s: cannot write %s, probably made by a run under sudo; remove it: sudo rm -r '%s'\n" \
        "${0##*/}" "$PWD/$folder" "$PWD/$folder" >&2
      exit 5
    elif [[ ! -e $folder && ! -w . ]]; then
      printf '%s: cannot make the folder %s; clone the repository to a place of your own\n' \
        "${0##*/}" "$PWD/$folder" >&2
      exit 5
    fi
  done
}

# Where the system's g++ is older than we need (Ubuntu 22.04) the set-up installs g++-12 beside it.
choose_compiler() {
  if [[ -z ${CXX:-} ]] && command -v g++-12 >/dev/null && (($(g++ -dumpversion 2>/dev/null | cut -d. -f1) < 12)); then
    export CXX=g++-12
  fi
}
