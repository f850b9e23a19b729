# Shared by all host scripts. A command sent to a host consists of variables, this file, the other shared files that the script needs, the
# script itself, and the line `main`. Scripts of steps get their `main` from step.sh; others define it.
#
# Plain POSIX for dash and bash 3.2; BSD tools, no GNU options. Every path begins with $ROOT, which is empty on a Mac.
# sshd's PATH is /usr/bin:/bin:/usr/sbin:/sbin: call other programs by their path.

set -eu
umask 022
export LC_ALL=C

ROOT=${TARTAN_ROOT:-}
STATE=$ROOT/var/db/tartan
# Artifacts by their hash: $STORE/<sha256>.
# shellcheck disable=SC2034
STORE=$STATE/artifacts
TAB='	'

# Ends the script. Prints what went wrong and what to do on standard error, which the pusher reports.
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The only way to change a small file: writes its standard input to a temporary file, syncs it, sets its mode and renames it.
# One chain, so that a full disk stops it also inside a condition, where `set -e` is off.
# Without OWNER the file belongs to root.
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

# Changes with each boot. Not kern.boottime, which changes when the clock is set.
boot_id() { sysctl -n kern.bootsessionuuid; }

# The pusher knows whether the script runs as root.
am_root() { [ "$AS_ROOT" = yes ]; }

as_root() { if am_root; then "$@"; else sudo -n "$@"; fi; }

# Prints `result KIND` as the last line: without it, the script counts as failed.
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

# Sets lock_holder, lock_boot and lock_since. Fails for a file that has just been removed, or that a power cut left empty.
read_lock() {
  # shellcheck disable=SC2034
  { IFS= read -r lock_holder && IFS= read -r lock_boot && IFS= read -r lock_since; } 2>/dev/null <"$1"
}

# A script whose pusher has lost the lock changes nothing and writes no stamp.
#
# The file at-work holds the process group of this script: an abort or a deadline kills only the shell, because sudo sends a signal to no
# other process, and the shell's children continue.
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

# Marks this script as ended. A process that it leaves behind, such as the watcher of a deadline, does not hold the lock.
leave_work() {
  [ -n "${work_group:-}" ] || return 0
  [ "$(sed -n 1p "$STATE/lock/at-work")" != "$work_group" ] || : >"$STATE/lock/at-work"
}
