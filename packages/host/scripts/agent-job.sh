# The agent's launchd job, the link `current` to its release, and the proof that it runs.
# needs: launchd proven-agent

label=dev.tuist.tart-kubelet
log=$ROOT/var/log/tart-kubelet.log

# Folders that the agent, which does not run as root, writes to. userdata holds data of single virtual machines, which may be secret. The
# agent's journal in tart-kubelet lists its own virtual machines.
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

# On a host with an agent that we did not install, remember that agent as the one to restore.
remember_unknown() {
  [ ! -e "$proven" ] && [ -e "$(job_file "$label")" ] || return 0
  # An earlier run has already switched and was interrupted before its proof.
  [ "$(current_release)" != "$RELEASE_ID" ] && [ -n "$(job_pid "$label")" ] || return 0
  unknown=$(cat "$(job_file "$label")" && printf x)
  remember_proven "$(current_release)" "${unknown%x}"
}

# The failed restart kept the old process, and that is the release to restore: no second restart is needed (INC-09).
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
  # A repaired path is no reason to restart the agent.
  if [ -z "$(check_agent)" ]; then return; fi
  [ -d "$agent/releases/$RELEASE_ID" ] || fail "the release $RELEASE_ID is not on this host: the step agent-release comes first"
  remember_unknown
  release_before=$(current_release)
  pid_before=$(job_pid "$label")
  # Until the reload, an agent that starts finds new code with old arguments, and exits by itself.
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

# Keeps logs and the agent's files of virtual machines: they may still be needed.
remove() {
  remove_job "$label"
  rm -f "$agent/current" "$proven" "$proven_before"
}
