# Runs the script of a step. It defines four functions, each safe on any host state and after an interruption at any point:
#   check         prints one line per difference, with `differs WHAT`; changes nothing. A non-zero exit means that it
#                 could not check, never that something differs. Its standard input is empty.
#   apply         makes the changes. Its standard input is the payload.
#   check_absent  the same as check for a feature that is off: names what is left of it.
#   remove        removes the feature.
#
# Variables: VERB (check, converge), WANT (present, absent), STEP, HASH, LOCK_OWNER, AS_ROOT, MAY_APPLY, NEEDS_REBOOT, HAS_PAYLOAD (yes, no),
# and, if it is wanted, those of the step's `environment`.
#
# `converge`: check; if something differs: remove the stamp, apply, check again as proof; then stamp. The last line is the result.

PAYLOAD_END='
-- end of payload --'

differs() { printf 'differs%s%s\n' "$TAB" "$*"; }

look() {
  case $WANT in
    present) check </dev/null ;;
    *) check_absent </dev/null ;;
  esac
}

# The payload has an end mark: a lost connection also ends the input, and a truncated secret must not be used.
read_payload() {
  payload=$(cat)
  case $payload in
    *"$PAYLOAD_END") payload=${payload%"$PAYLOAD_END"} ;;
    *) fail 'the input broke off before its end: nothing was changed. Run it again.' ;;
  esac
}

stamp() {
  ! holds "$STATE/steps/$STEP" "$HASH
" || return 0
  [ -d "$STATE/steps" ] || as_root mkdir -p "$STATE/steps"
  if am_root; then
    printf '%s\n' "$HASH" >"$STATE/steps/.$STEP"
  else
    printf '%s\n' "$HASH" | sudo -n tee "$STATE/steps/.$STEP" >/dev/null
  fi
  as_root mv -f "$STATE/steps/.$STEP" "$STATE/steps/$STEP"
}

main() {
  found=$(look)
  [ -z "$found" ] || printf '%s\n' "$found"
  if [ "$VERB" = check ]; then
    if [ -z "$found" ]; then result unchanged; else result different; fi
    return
  fi
  hold_lock
  if [ -z "$found" ]; then
    stamp
    result unchanged
    return
  fi
  if [ "$MAY_APPLY" != yes ]; then
    result deferred
    return
  fi
  if [ "$HAS_PAYLOAD" = yes ]; then read_payload; fi
  # The step that gives us root cannot remove its own stamp before it has.
  [ ! -e "$STATE/steps/$STEP" ] || as_root rm -f "$STATE/steps/$STEP" 2>/dev/null || ! am_root
  # Before the change: an interruption in between must not lose the reboot.
  if [ "$NEEDS_REBOOT" = yes ]; then boot_id | write_file "$STATE/reboot-pending" 0644; fi
  if [ "$WANT" != present ]; then
    remove </dev/null
  elif [ "$HAS_PAYLOAD" = yes ]; then
    printf '%s' "$payload" | apply
  else
    apply </dev/null
  fi
  left=$(look)
  if [ -n "$left" ]; then
    printf '%s\n' "$left" | sed "s/^differs$TAB/still not as wanted: /" >&2
    exit 1
  fi
  hold_lock
  stamp
  if [ "$WANT" = present ]; then result applied; else result removed; fi
}
