# Shared by the scripts of this folder; sourced, not run.
# shellcheck shell=bash

HUB=${HUB:-inventory-hub}
SPOKE=${SPOKE:-inventory-spoke}
CONTROLLER_IMAGE=${CONTROLLER_IMAGE:-sveltos-inventory/addon-controller:demo}
SVELTOS_MANIFEST=${SVELTOS_MANIFEST:-https://raw.githubusercontent.com/projectsveltos/sveltos/v1.14.0/manifest/manifest.yaml}
DRY_RUN=${DRY_RUN:-false}

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
STATE=$ROOT/build/kind

# parse takes --dry-run and --help and refuses the rest.
parse() {
  local usage=$1 arg
  shift
  for arg in "$@"; do
    case $arg in
    --dry-run) DRY_RUN=true ;;
    -h | --help) echo "$usage" && exit 0 ;;
    *) echo "unknown argument $arg; $usage" >&2 && exit 2 ;;
    esac
  done
}

# say prints what happens next.
say() { printf '# %s\n' "$*"; }

# run runs a command, or prints it in a dry run.
run() {
  if [[ $DRY_RUN == true ]]; then
    printf '%q ' "$@" && echo
  else
    "$@"
  fi
}

# stdin_to feeds a text to a command, or prints both in a dry run.
stdin_to() {
  local text=$1
  shift
  if [[ $DRY_RUN == true ]]; then
    printf '%q ' "$@" && printf "<<'EOF'\n%s\nEOF\n" "$text"
  else
    printf '%s\n' "$text" | "$@"
  fi
}

# out prints what a command prints; in a dry run, which runs nothing, it prints a placeholder.
out() {
  local placeholder=$1
  shift
  if [[ $DRY_RUN == true ]]; then
    printf '%s' "$placeholder"
  else
    "$@"
  fi
}

# save writes what a command prints to a file.
save() {
  local file=$1
  shift
  if [[ $DRY_RUN == true ]]; then
    printf '%q ' "$@" && printf '> %q\n' "$file"
  else
    "$@" >"$file"
  fi
}

hub() { run kubectl --context "kind-$HUB" "$@"; }
spoke() { run kubectl --context "kind-$SPOKE" "$@"; }

# need fails early, with the name of what is missing.
need() {
  local tool
  [[ $DRY_RUN == true ]] && return
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed; --dry-run shows what would be done with it" >&2 && exit 1; }
  done
}

# wait_for tries a command until it succeeds, at most about two minutes.
wait_for() {
  local what=$1 tries=0
  shift
  if [[ $DRY_RUN == true ]]; then
    run "$@"
    return
  fi
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [[ $tries -lt 120 ]] || { echo "gave up waiting for $what" >&2 && exit 1; }
    sleep 1
  done
}
