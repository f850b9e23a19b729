# What every host script shares. A command sent to a host is: variables, this file, what else the script needs, the script itself,
# and the line `main`. Scripts of steps get their `main` from step.sh; others define it.
#
# Plain POSIX, as dash and bash 3.2 read it; BSD tools, no GNU options. Every path begins with $ROOT, which is empty on a Mac.
# The lower part of PATH that sshd gives is /usr/bin:/bin:/usr/sbin:/sbin: anything else by its path.

set -eu
umask 022
export LC_ALL=C

ROOT=${TARTAN_ROOT:-}
STATE=$ROOT/var/db/tartan
# Artifacts by their content: $STORE/<sha256>.
# shellcheck disable=SC2034
STORE=$STATE/artifacts
TAB='	'

# Ends the script. Says what went wrong and what to do, on standard error, where the pusher looks for it.
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The one way to change a small file: written beside it, made durable, given its mode, and renamed over it. Content on standard input.
# One chain, so that a full disk stops it also inside a condition, where `set -e` is off.
# Without OWNER it belongs to root, who writes it.
#   write_file PATH MODE [OWNER]
write_file() {
  { [ -d "${1%/*}" ] || mkdir -p "${1%/*}"; } &&
    { [ ! -e "$1".tartan-new ] || rm -f "$1".tartan-new; } &&
    case $2 in
      0644) cat >"$1".tartan-new ;;
      *) (umask 077 && exec cat >"$1".tartan-new) && chmod "$2" "$1".tartan-new ;;
    esac &&
    { [ -z "${3:-}" ] || chown "$3" "$1".tartan-new; } &&
    sync &&
    mv -f "$1".tartan-new "$1"
}

# Whether a file holds exactly this text.   holds PATH TEXT
holds() { [ -f "$1" ] && [ "$(cat "$1" && printf x)" = "${2}x" ]; }

sha256() {
  sha256_line=$(shasum -a 256 "$1") && printf '%s\n' "${sha256_line%% *}"
}

# Another one after each start of this Mac. Not kern.boottime, which moves when somebody sets the clock.
boot_id() { sysctl -n kern.bootsessionuuid; }

# Whoever sends the script knows as whom it runs.
am_root() { [ "$AS_ROOT" = yes ]; }

as_root() { if am_root; then "$@"; else sudo -n "$@"; fi; }

# Says `result KIND` as the last line: without it, nothing counts as done.
result() {
  leave_work
  printf 'result%s%s\n' "$TAB" "$1"
}

# The lock is the file with the highest number in $STATE/lock: its holder, boot and time, each on a line. See lock.sh.
current_lock() {
  lock_file=
  for lock_file in "$STATE"/lock/[0-9]*; do :; done
  [ ! -f "$lock_file" ] || printf '%s\n' "$lock_file"
}

# Sets lock_holder, lock_boot and lock_since. Not so for a file that has just gone, or that a power cut has left without its content.
read_lock() {
  # shellcheck disable=SC2034
  { IFS= read -r lock_holder && IFS= read -r lock_boot && IFS= read -r lock_since; } 2>/dev/null <"$1"
}

# Nothing is changed, and nothing stamped, by a script whose pusher has lost the lock.
#
# The file at-work names the process group of this script: an abort or a deadline ends the shell alone, as sudo passes a signal on to no
# other process, and what the shell has started goes on.
hold_lock() {
  [ -n "$LOCK_OWNER" ] || return 0
  held_lock=$(current_lock)
  if [ -z "$held_lock" ] || ! read_lock "$held_lock" || [ "$lock_holder" != "$LOCK_OWNER" ]; then
    printf 'another pusher took the lock of this host over\n' >&2
    exit 75
  fi
  touch -c "$held_lock"
  work_group=$(ps -o pgid= -p $$)
  work_group=$((work_group))
  printf '%s\n' "$work_group" "$STEP" "$LOCK_OWNER" >"$STATE/lock/at-work"
}

# This script has ended by itself. A process that it leaves behind, such as the one that watches a deadline, does not hold the lock.
leave_work() {
  [ -n "${work_group:-}" ] || return 0
  [ "$(sed -n 1p "$STATE/lock/at-work")" != "$work_group" ] || : >"$STATE/lock/at-work"
}
