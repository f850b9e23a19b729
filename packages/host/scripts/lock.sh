# One pusher at a time. The lock is the file with the highest number in $STATE/lock, and numbers only grow: a new holder creates the
# next number with link(2), which is atomic, succeeds only for one, and gives the file its whole content. So no stale lock has to be
# removed, and two pushers that find the same stale lock cannot both get the next one. Lower numbers are ignored.
#
# A lock is free when its holder released it, when the Mac has rebooted since, or when it was not touched for half an hour: each step
# touches it at its start and its end, and no step may take that long. The same pusher gets its lock back at once after it lost its
# connection. But no pusher gets it while a script of an earlier run still runs, such as one whose connection was lost.
#
# Variables: VERB (acquire, release), LOCK_OWNER: the pusher's name, `#`, and an id of this run.

minutes=30

# A file that is gone counts as old: another pusher has just taken the next lock.
old() { [ ! -e "$1" ] || [ -n "$(find "$1" -mmin "+$minutes")" ]; }

# Whether any process of the script's group is alive: see hold_lock.
script_at_work() {
  [ -s "$STATE/lock/at-work" ] && ! old "$STATE/lock/at-work" && kill -0 "-$(sed -n 1p "$STATE/lock/at-work")" 2>/dev/null
}

may_take() {
  read_lock "$1" || return 0
  [ "$lock_boot" = "$(boot_id)" ] || return 0
  ! script_at_work || return 1
  [ "$lock_holder" = free ] || [ "${lock_holder%#*}" = "${LOCK_OWNER%#*}" ] || old "$1"
}

# Reports the lock that was read last.
say_locked() {
  busy_with=-
  if script_at_work; then
    busy_with=$(sed -n 2p "$STATE/lock/at-work")
    lock_holder=$(sed -n 3p "$STATE/lock/at-work")
  fi
  printf '%s\n' "locked$TAB$lock_holder$TAB$lock_since$TAB$busy_with"
}

# Holder, boot, time.   write_lock FILE HOLDER
write_lock() {
  rm -f "$1"
  printf '%s\n' "$2" "$(boot_id)" "$(date +%s)" >"$1"
}

acquire() {
  mkdir -p "$STATE/lock"
  found=$(current_lock)
  if [ -n "$found" ] && ! may_take "$found"; then
    say_locked
    return
  fi
  last=${found##*/}
  mine=$STATE/lock/$((${last:-100000000} + 1))
  new=$STATE/lock/.new-$$
  write_lock "$new" "$LOCK_OWNER"
  # A slow pusher may create a number that is already superseded: only the highest counts.
  if ln "$new" "$mine" 2>/dev/null && [ "$(current_lock)" = "$mine" ]; then
    rm -f "$new"
    for other in "$STATE"/lock/[0-9]*; do
      [ "$other" != "$mine" ] || break
      rm -f "$other"
    done
    printf '%s\n' acquired
    return
  fi
  rm -f "$new"
  [ "$(current_lock)" != "$found" ] || fail "cannot make $mine: see whether the disk is full or read-only"
  acquire
}

release() {
  found=$(current_lock)
  if [ -z "$found" ] || ! read_lock "$found" || [ "$lock_holder" != "$LOCK_OWNER" ]; then
    printf '%s\n' 'not held'
    return
  fi
  write_lock "$STATE/lock/.new-$$" free
  mv -f "$STATE/lock/.new-$$" "$found"
  printf '%s\n' released
}

main() { case $VERB in acquire) acquire ;; *) release ;; esac; }
