# The agent's launchd job, the release that `current` names, and the proof that both run.
# needs: launchd proven-agent

label=dev.tuist.tart-kubelet
log=$ROOT/var/log/tart-kubelet.log

# What the agent writes to: it does not run as root. What is in userdata is meant for one virtual machine, and may be secret; the
# agent's own journal says which virtual machines are its own.
each_path() {
  "$1" "$ROOT/var/log/tart-vms" 755
  "$1" "$ROOT/var/lib/tart-userdata" 700
  "$1" "$ROOT/var/lib/tart-kubelet" 700
  "$1" "$ROOT/etc/tart-kubelet" 755
  "$1" "$log" 644
}

path_is_right() { [ "$(stat -f '%Su:%Sg %Lp' "$1" 2>/dev/null || true)" = "$AGENT_USER:staff $2" ]; }

check_path() { path_is_right "$@" || differs "${1#"$ROOT"} is not the agent's to write"; }

make_path() {
  if path_is_right "$@"; then return; fi
  if [ "$1" = "$log" ]; then touch "$1"; else mkdir -p "$1"; fi
  chown "$AGENT_USER:staff" "$1"
  chmod "$2" "$1"
}

check_agent() {
  [ "$(current_release)" = "$RELEASE_ID" ] || differs "the agent's release is not $RELEASE_ID"
  check_job "$label" "$PLIST"
  check_running "$label"
  holds "$proven" "$RELEASE_ID
$PLIST" || differs "the release $RELEASE_ID was not seen running yet"
}

check() {
  each_path check_path
  check_agent
}

# A host that runs an agent of which nothing is remembered, such as one set up by other means: that is the way back.
remember_unknown() {
  [ ! -e "$proven" ] && [ -e "$(job_file "$label")" ] || return 0
  # Switched to already, by a run that was cut before its proof.
  [ "$(current_release)" != "$RELEASE_ID" ] && [ -n "$(job_pid "$label")" ] || return 0
  unknown=$(cat "$(job_file "$label")" && printf x)
  remember_proven "$(current_release)" "${unknown%x}"
}

# The restart left the process of the release that is put back, so that one needs none (INC-09).
never_replaced() {
  [ "$release_before" = "$old_release" ] && holds "$(job_file "$label")" "$old_plist" &&
    [ -n "$pid_before" ] && [ "$(job_pid "$label")" = "$pid_before" ]
}

put_back() {
  [ -e "$proven" ] || fail "the agent does not run, and there is no earlier release to put back: see $log"
  old_release=$(release_in "$proven")
  old_plist=$(plist_in "$proven")
  old_plist=${old_plist%x}
  if [ "$old_release" = "$RELEASE_ID" ] && [ "$old_plist" = "$PLIST" ]; then
    fail "the agent does not run any more, with nothing changed: see $log"
  fi
  if { [ -z "$old_release" ] || switch_to "$old_release"; } && { never_replaced || reload_job "$label" "$old_plist"; }; then
    fail "the release $RELEASE_ID does not run on this host; the one before was put back and runs: see $log"
  fi
  fail "the release $RELEASE_ID does not run on this host, and the one before was put back but does not run either: see $log"
}

apply() {
  each_path make_path
  # A path that was put right is no reason to restart the agent.
  if [ -z "$(check_agent)" ]; then return; fi
  [ -d "$agent/releases/$RELEASE_ID" ] || fail "the release $RELEASE_ID is not on this host: the step agent-release comes first"
  remember_unknown
  release_before=$(current_release)
  pid_before=$(job_pid "$label")
  # From here until the reload an agent that starts meets new code with old arguments, and refuses by itself.
  if switch_to "$RELEASE_ID" && reload_job "$label" "$PLIST"; then
    remember_proven "$RELEASE_ID" "$PLIST"
  else
    put_back
  fi
}

check_absent() {
  check_no_job "$label"
  [ ! -e "$agent/current" ] || differs 'a release of the agent is still chosen'
}

# Logs, and what the agent keeps for virtual machines, stay: they are not ours to throw away.
remove() {
  remove_job "$label"
  rm -f "$agent/current" "$proven" "$proven_before"
}
