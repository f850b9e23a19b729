# A job that copies and truncates the agent's log when it has grown: see installed/rotate-logs.sh.
# needs: launchd

label=dev.tuist.tart-kubelet-logs
program=$ROOT/usr/local/lib/tart-kubelet/rotate-logs

check() {
  { [ -x "$program" ] && holds "$program" "$PROGRAM"; } || differs 'the program that rotates logs is another'
  check_job "$label" "$PLIST"
}

apply() {
  printf '%s' "$PROGRAM" | write_file "$program" 0755
  register_job "$label" "$PLIST"
}

check_absent() {
  check_no_job "$label"
  [ ! -e "$program" ] || differs 'the program that rotates logs is left'
}

remove() {
  remove_job "$label"
  rm -f "$program"
}
