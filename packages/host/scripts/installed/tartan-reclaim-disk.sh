#!/bin/sh
# Makes room on a builder before a bake. `tartan-reclaim-disk --help` says what it does and what it leaves alone.
#
# A bake that is deleted while it is pushed fails at its last layer, minutes later (tuist/tuist#11072). So whatever cannot be seen counts as in
# use, and every virtual machine is looked at once more right before it is deleted.

set -eu
export LC_ALL=C
ROOT=${TARTAN_ROOT:-}
tart=$ROOT/usr/local/bin/tart
home=${TART_HOME:-$HOME/.tart}

usage() {
  cat <<'HELP'
Usage: tartan-reclaim-disk [--free GB] [--keep-newer MINUTES] [--dry-run] [NAME...]

Makes room on a builder. The first step of a bake:

  1. Deletes the local virtual machines of tart that are stopped. It leaves alone
       - each NAME,
       - those that run,
       - those that a tart works with: push, clone, export, run, or anything else,
       - all of them while packer runs, which works with them in between,
       - with --keep-newer, those that were written to in the last MINUTES.
  2. While less than --free GB are free: deletes the images that tart has in its cache and nobody
     has used for a day; then, unless somebody is about to use one, all of them.

  --free GB             how much is wanted; 300 unless told
  --keep-newer MINUTES  0 unless told: age spares nothing
  --dry-run             only says what it would do
  --help

Run it as the user whose virtual machines they are. In a workflow:

  - name: Reclaim Tart disk
    run: tartan-reclaim-disk

To keep the base that the next bake starts from:  tartan-reclaim-disk macos-base
To see what is in the way:                        tartan-reclaim-disk --dry-run

Exit: 0 done, also when there was nothing to do; 1 something could not be looked at or deleted, the
rest is done; 64 wrong arguments; 69 there is no tart. Whether there is room enough now is for the
bake to say: what is left stands in the last lines.
HELP
}

wrong() {
  printf 'tartan-reclaim-disk: %s\nSee tartan-reclaim-disk --help.\n' "$1" >&2
  exit 64
}

is_number() { case ${1:-x} in *[!0-9]*) return 1 ;; esac; }

wanted=300
keep_newer=0
dry_run=no
keep=' '
while [ $# -gt 0 ]; do
  case $1 in
    --free | --keep-newer)
      is_number "${2-}" || wrong "$1 wants a whole number, and got '${2-}'"
      if [ "$1" = --free ]; then wanted=$2; else keep_newer=$2; fi
      shift
      ;;
    --dry-run) dry_run=yes ;;
    --help | -h)
      usage
      exit 0
      ;;
    -*) wrong "there is no option $1" ;;
    *) keep="$keep$1 " ;;
  esac
  shift
done
[ -x "$tart" ] || {
  printf 'tartan-reclaim-disk: there is no %s\n' "$tart" >&2
  exit 69
}

status=0
trouble() {
  printf 'tartan-reclaim-disk: %s\n' "$1" >&2
  status=1
}

# The command lines of all processes, whole.
look_at_processes() { processes=$(ps -ax -ww -o args=); }

# What every tart that runs was told, a line each, with a blank at both ends. A script has its interpreter before its name.
told_to_tart() {
  printf '%s\n' "$processes" | while read -r first second rest; do
    case ${first##*/} in
      tart) printf ' %s %s \n' "$second" "$rest" ;;
      *) case ${second##*/} in tart) printf ' %s \n' "$rest" ;; esac ;;
    esac
  done
}

packer_runs() {
  printf '%s\n' "$processes" | while read -r first second rest; do
    for word in "${first##*/}" "${second##*/}"; do
      case $word in packer | packer-plugin-*) echo yes ;; esac
    done
  done
}

is_young() {
  [ "$keep_newer" -gt 0 ] && [ -n "$(find "$home/vms/$1" -mmin "-$keep_newer" 2>/dev/null | head -n 1)" ]
}

# Says why a virtual machine is left alone; nothing when it may go.
objection() {
  case $keep in *" $1 "*) echo 'it was named' && return ;; esac
  [ -z "$(packer_runs)" ] || { echo 'packer runs' && return; }
  case $(told_to_tart) in *" $1 "*) echo 'a tart works with it' && return ;; esac
  case $("$tart" get "$1" --format json 2>/dev/null | tr -d ' ') in
    *'"State":"stopped"'*) ;;
    *'"State":'*) echo 'it is not stopped' && return ;;
    *) echo 'tart does not say how it is' && return ;;
  esac
  ! is_young "$1" || echo "it was written to in the last $keep_newer minutes"
}

reclaim() {
  if ! look_at_processes; then
    trouble "nobody can say what runs on this Mac, so $1 is left alone"
    return
  fi
  why=$(objection "$1")
  if [ -n "$why" ]; then
    printf 'left alone  %s: %s\n' "$1" "$why"
  elif [ "$dry_run" = yes ]; then
    printf 'would delete  %s\n' "$1"
  elif said=$("$tart" delete "$1" 2>&1); then
    printf 'deleted  %s\n' "$1"
  else
    trouble "$1 could not be deleted: $said"
  fi
}

# Whole gigabytes. macOS keeps the homes of its users on the volume that df names for them.
free_gb() { df -Pk "$HOME" | awk 'NR == 2 { print int($4 / 1048576) }'; }

is_enough() {
  free=$(free_gb)
  is_number "$free" || { trouble 'df does not say how much is free' && return 0; }
  [ "$free" -ge "$wanted" ]
}

prune() {
  if [ "$dry_run" = yes ]; then
    printf 'would prune  %s\n' "$1"
    return
  fi
  what=$1
  shift
  if said=$("$tart" prune --entries caches "$@" 2>&1); then
    printf 'pruned  %s\n' "$what"
  else
    trouble "$what could not be pruned: $said"
  fi
}

# Between its pull and its clone an image in the cache is somebody's, and nothing shows it.
is_about_to_use_one() {
  look_at_processes || return 0
  [ -z "$(packer_runs)" ] || return 0
  case $(told_to_tart) in *' pull '* | *' clone '*) return 0 ;; esac
  return 1
}

df -Ph "$HOME"
names=$("$tart" list --source local --quiet) || trouble 'tart does not list its virtual machines'
while IFS= read -r name <&3; do [ -z "$name" ] || reclaim "$name"; done 3<<NAMES
$names
NAMES
if is_enough; then
  printf 'enough  %s GB are free, %s are wanted\n' "$free" "$wanted"
else
  prune 'images that nobody has used for a day' --older-than 1
  if ! is_enough || [ "$dry_run" = yes ]; then
    if is_about_to_use_one; then
      printf 'left alone  the other images: somebody is about to use one\n'
    else
      prune 'all images' --space-budget 0
    fi
  fi
  is_enough || printf 'not enough  %s GB are free, %s are wanted\n' "$free" "$wanted"
fi
df -Ph "$HOME"
exit "$status"
