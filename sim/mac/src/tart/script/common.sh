# Shared by all commands. Controls are files with one value below $fake. Each call reads them anew: tests may change them while a virtual
# machine runs. Reading one starts no process, so a call takes only a few milliseconds.

home=${TART_HOME:-$HOME/.tart}
fake=$home/.fake
us=$(printf '\037')
rs=$(printf '\036')

# control KEY [DEFAULT] reads a control into $value.
control() {
  value=${2-}
  [ ! -f "$fake/$1" ] || IFS= read -r value 2>/dev/null <"$fake/$1" || :
}

# A control of one guest, or else of all guests.
guest_control() {
  control "guests/_/$2" "${3-}"
  control "guests/$1/$2" "$value"
}

journal() {
  line=$$
  for word; do line=$line$us$word; done
  [ ! -d "$fake" ] || printf '%s%s\n' "$line" "$rs" >>"$fake/journal" # One write, so that concurrent calls do not mix.
}

# A domain error is a bare line on stderr. 2: does not exist, not running, already running. 1: everything else.
fail() {
  printf '%s\n' "$2" >&2
  exit "$1"
}
usage_error() { fail 64 "Error: $1${newline}Usage: tart <subcommand>${newline}  See 'tart --help' for more information."; }
missing() { fail 2 "the specified VM \"$1\" does not exist"; }
newline='
'

alive() {
  kill -0 "$1" 2>/dev/null || return 1
  # A zombie: dead, but not reaped yet.
  [ -r "/proc/$1/stat" ] || return 0
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  case ${stat##*)} in ' Z'*) return 1 ;; esac
}

# Whether the process whose pid is in this file is alive: stands for flock and fcntl locks, which vanish with their holder.
held() {
  holder=
  [ -f "$1" ] && IFS= read -r holder 2>/dev/null <"$1"
  [ -n "$holder" ] && alive "$holder"
}

# Takes such a lock. 1: it is taken. Linked into place with its content, so that no reader sees an empty file.
take() {
  echo $$ >"$1.$$" || return 1
  until ln "$1.$$" "$1" 2>/dev/null; do
    if held "$1"; then
      rm -f "$1.$$"
      return 1
    fi
    rm -f "$1"
  done
  rm -f "$1.$$"
}

take_in_turn() {
  mkdir -p "$fake/locks"
  until take "$fake/locks/$1"; do pause 0.01; done
}

# An interruptible sleep.
pause() {
  case $1 in '' | 0 | 0.0 | 0.000) return ;; esac
  sleep "$1" >/dev/null 2>&1 &
  sleeper=$!
  remember_children
  wait "$sleeper"
  sleeper=
}
remember_children() { :; }

# One second of tart, the interval of its loops.
second() {
  control host/second 1
  pause "$value"
}

forever() { while :; do pause 600; done; }

# replaced TEXT FROM TO puts TEXT with every FROM replaced by TO into $value.
replaced() {
  value= rest_of=$1
  while :; do
    case $rest_of in
      *"$2"*) value=$value${rest_of%%"$2"*}$3 rest_of=${rest_of#*"$2"} ;;
      *) break ;;
    esac
  done
  value=$value$rest_of
}

# Every command except pull and clone first deletes what nobody works on in tmp: also the part of a killed pull (INC-422). A clone has its
# process id in its name; a pull holds a lock.
collect_tmp() {
  for entry in "$home"/tmp/*; do
    [ -d "$entry" ] || continue
    case $entry in */clone-*) ! alive "${entry##*-}" || continue ;; esac
    held "$entry/.lock" || rm -rf "$entry"
  done
}

# The behaviour that a test has set for this command: slow, hanging, or with its own result.
behave() {
  at=commands/$1
  [ -d "$fake/$at" ] || return 0
  control "$at/latency"
  pause "$value"
  control "$at/hang"
  case $value in
    before) forever ;;
    # Ignores SIGTERM, with a grandchild that holds stdout.
    stubborn)
      trap '' INT TERM HUP
      sleep 600 &
      forever
      ;;
    # Ends at once, and leaves a process behind that holds stdout and stderr.
    orphan) sleep 600 & ;;
  esac
  [ -f "$fake/$at/exit" ] || return 0
  if [ -d "$fake/$at/times" ]; then
    taken=
    for ticket in "$fake/$at/times"/*; do
      rm "$ticket" 2>/dev/null && taken=1 && break
    done
    [ -n "$taken" ] || return 0
  fi
  [ ! -f "$fake/$at/stdout" ] || cat "$fake/$at/stdout"
  [ ! -f "$fake/$at/stderr" ] || cat "$fake/$at/stderr" >&2
  control "$at/exit" 1
  exit "$value"
}

hang_after() {
  control "commands/$1/hang"
  [ "$value" != after ] || forever
}
