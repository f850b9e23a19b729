# Puts back the agent that was proven before the one of the last roll: one that stays up, but does not do its work. Virtual machines are
# not touched. Says what it did as the last line: `applied`, or `unchanged` when it had been put back already.
#
# Cut anywhere, it is run again: what it goes back to stays written down until another agent is proven.
#
# Variables: LOCK_OWNER, STEP.
# needs: launchd proven-agent

label=dev.tuist.tart-kubelet
log=$ROOT/var/log/tart-kubelet.log

# The last line is what tells a job that was seen to stay from one that merely started.
is_back() {
  { [ -z "$old_release" ] || [ "$(current_release)" = "$old_release" ]; } &&
    holds "$(job_file "$label")" "$old_plist" && [ -n "$(job_pid "$label")" ] &&
    holds "$proven" "$old_release
$old_plist"
}

main() {
  hold_lock
  [ -s "$proven_before" ] || fail 'no other agent ran on this Mac before the one that is there, so there is none to go back to'
  old_release=$(release_in "$proven_before")
  old_plist=$(plist_in "$proven_before")
  old_plist=${old_plist%x}
  # Nothing for an agent that was set up by other means.
  if [ -n "$old_release" ] && [ ! -x "$agent/releases/$old_release/node" ]; then
    fail "the release $old_release that ran before is not on this Mac any more, so there is none to go back to"
  fi
  # Before anything else: no cut may leave the old agent under the stamps of the new one, which would then never be rolled again.
  rm -f "$STATE/steps/agent-release" "$STATE/steps/agent-job"
  if is_back; then
    result unchanged
    return
  fi
  # From here until the reload an agent that starts meets old code with new arguments, and refuses by itself.
  if ! { { [ -z "$old_release" ] || switch_to "$old_release"; } && reload_job "$label" "$old_plist"; }; then
    fail "the agent that ran before was put back, but does not run any more: see $log"
  fi
  hold_lock
  write_file "$proven" 0644 <"$proven_before"
  result applied
}
