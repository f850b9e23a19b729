# Metrics of the host on its tailnet address, port 9100.
#
# EXPORTER: sha256 of the executable. WRAPPER: text of what launchd runs. PLIST.
# needs: launchd executables

job=dev.tuist.node-exporter
exporter=$ROOT/usr/local/bin/node_exporter
wrapper=$ROOT/usr/local/bin/tuist-node-exporter-wrapper
log=$ROOT/var/log/tuist-node-exporter.log

started_from() { printf '%s %s' "$EXPORTER" "$(printf '%s' "$WRAPPER" | shasum -a 256 | cut -d ' ' -f 1)"; }

check_daemon() {
  check_job "$job" "$PLIST"
  check_running "$job"
  check_started "$job" "$(started_from)"
}

check() {
  check_signed "$EXPORTER" "$exporter"
  { [ -x "$wrapper" ] && holds "$wrapper" "$WRAPPER"; } || differs "$wrapper is not the wanted one"
  check_daemon
}

apply() {
  # The wrapper waits for the address, and a waiting process looks like a working one.
  case $("$ROOT/usr/local/bin/tailscale" ip -4 2>/dev/null || true) in
    100.*) ;;
    *) fail 'the host has no address on the tailnet, and node_exporter listens on no other. See the step tailscale.' ;;
  esac
  if [ -n "$(check_signed "$EXPORTER" "$exporter")" ]; then
    install_signed "$EXPORTER" "$exporter" 0755 || fail 'node_exporter could not be installed'
  fi
  printf '%s' "$WRAPPER" | write_file "$wrapper" 0755
  if [ -n "$(check_daemon)" ]; then
    if ! reload_job "$job" "$PLIST"; then
      tail -n 20 "$log" >&2 || true
      fail 'node_exporter does not stay up'
    fi
    started_with "$job" "$(started_from)"
  fi
}

check_absent() {
  check_no_job "$job"
  for file in "$exporter" "$wrapper" "$log"; do
    [ ! -e "$file" ] || differs "$file is still there"
  done
}

remove() {
  remove_job "$job"
  forget_start "$job"
  remove_signed "$exporter"
  rm -f "$wrapper" "$log"
}
