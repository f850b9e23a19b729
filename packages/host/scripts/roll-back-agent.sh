# Restores the agent that was proven before the last rollout, when the new one stays up but does not work. Does not touch virtual
# machines. Prints its effect as the last line: `applied`, or `unchanged` when the agent was restored already.
#
# Safe to run again after an interruption: the record of the agent to restore stays until another agent is proven.
#
# Variables: LOCK_OWNER, STEP.
# needs: launchd proven-agent

label=dev.tuist.tart-kubelet
log=$ROOT/var/log/tart-kubelet.log

# Only the last condition shows that the job was proven and not merely started.
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
  # Empty for an agent that we did not install.
  if [ -n "$old_release" ] && [ ! -x "$agent/releases/$old_release/node" ]; then
    fail "the release $old_release that ran before is not on this Mac any more, so there is none to go back to"
  fi
  # First of all: an interruption must not leave the old agent under the stamps of the new one, which would then never be installed again.
  rm -f "$STATE/steps/agent-release" "$STATE/steps/agent-job"
  if is_back; then
    result unchanged
    return
  fi
  # Until the reload, an agent that starts finds old code with new arguments, and exits by itself.
  if ! { { [ -z "$old_release" ] || switch_to "$old_release"; } && reload_job "$label" "$old_plist"; }; then
    fail "the agent that ran before was put back, but does not run any more: see $log"
  fi
  hold_lock
  write_file "$proven" 0644 <"$proven_before"
  result applied
}
