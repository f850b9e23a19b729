# Makes the host a device of the tailnet, with the two plain binaries and our own launchd job: the vendor's installer needs a GUI, and
# its job has neither flags nor a log (INC-224).
#
# BINARIES: sha256 of the gzipped tar. PLIST, NODE_NAME, TAGS (comma-separated), ACCEPT_ROUTES (yes, no), AUTH_KEY_VERSION.
# Payload: the auth key, needed only to join. It is in a file while `tailscale up` runs, and never in an argument.
# needs: deadline launchd executables

job=com.tailscale.tailscaled
folder=$ROOT/usr/local/bin
state_folder=$ROOT/var/lib/tailscale
key_file=$STATE/tailscale-auth-key
# The original system kept the key here while it joined.
old_key_file=$ROOT/etc/tuist/tailscale-auth-key
join_record=$STATE/tailscale-join
unpacked=$STATE/tailscale-unpacked

wanted_join() { printf '%s\n' "hostname $NODE_NAME" "tags $TAGS" "accept-routes $ACCEPT_ROUTES" "auth key $AUTH_KEY_VERSION"; }

joined() {
  case $(within 10 "$folder/tailscale" ip -4 2>/dev/null || true) in
    100.*) return 0 ;;
    *) return 1 ;;
  esac
}

recorded_as_wanted() { [ -f "$join_record" ] && [ "$(cat "$join_record")" = "$(wanted_join)" ]; }

check_binaries() {
  check_signed "$BINARIES" "$folder/tailscaled"
  check_signed "$BINARIES" "$folder/tailscale"
}

check_daemon() {
  check_job "$job" "$PLIST"
  check_running "$job"
  check_started "$job" "$BINARIES"
}

check_no_key() {
  for file in "$key_file" "$old_key_file"; do
    [ ! -e "$file" ] || differs "an auth key was left in $file"
  done
}

check() {
  binaries_differ=$(check_binaries)
  if [ -n "$binaries_differ" ]; then
    printf '%s\n' "$binaries_differ"
  elif ! joined; then
    differs 'the host is not on the tailnet'
  elif ! recorded_as_wanted; then
    differs 'the host is on the tailnet with another name, other tags, other routes or an older key'
  fi
  check_daemon
  check_no_key
}

install_binaries() {
  [ -n "$(check_binaries)" ] || return 0
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  tar -xzf "$STORE/$BINARIES" -C "$unpacked"
  if [ "$(cd "$unpacked" && find . -mindepth 1 | LC_ALL=C sort | tr '\n' ' ')" != './tailscale ./tailscaled ' ]; then
    rm -rf "$unpacked"
    fail 'the archive of Tailscale does not hold exactly tailscale and tailscaled. Build it anew.'
  fi
  install_signed "$BINARIES" "$folder/tailscaled" 0755 "$unpacked/tailscaled" || fail 'tailscaled could not be installed'
  install_signed "$BINARIES" "$folder/tailscale" 0755 "$unpacked/tailscale" || fail 'tailscale could not be installed'
  rm -rf "$unpacked"
}

start_daemon() {
  [ -n "$(check_daemon)" ] || return 0
  # Without its folder tailscaled repeatedly exits with EX_CONFIG (INC-224).
  mkdir -p "$state_folder" "$ROOT/var/run" "$ROOT/var/log"
  chmod 0700 "$state_folder"
  reload_job "$job" "$PLIST" || give_up 'tailscaled does not stay up'
  started_with "$job" "$BINARIES"
}

# Diagnostics for people. They hold nothing of the key: the daemon never gets it as an argument and does not log it.
give_up() {
  {
    printf '%s\n' '--- tailscale status'
    within 10 "$folder/tailscale" status 2>&1 | head -n 20 || true
    printf '%s\n' "--- last lines of $ROOT/var/log/tailscaled.log"
    tail -n 20 "$ROOT/var/log/tailscaled.log" 2>/dev/null || true
  } | without_key >&2
  fail "$1"
}

key=
# Replaces every line that holds the key. Only shell built-ins: every user can see the arguments of another program.
without_key() {
  while IFS= read -r line || [ -n "$line" ]; do
    if [ -n "$key" ]; then
      case $line in
        *"${key%%\?*}"*) line='(a line with the auth key in it was left out)' ;;
      esac
    fi
    printf '%s\n' "$line"
  done
}

wait_until() {
  tries=30
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 1
  done
}

answers() { within 10 "$folder/tailscale" status --self --json >/dev/null 2>&1; }

need_key() { [ "$HAS_PAYLOAD" = yes ] || fail 'the host must join the tailnet, and there is no auth key. Give one, and push again.'; }

join() {
  need_key
  rm -f "$join_record"
  (umask 077 && printf '%s\n' "$key" >"$key_file")
  set -- up "--auth-key=file:$key_file" --timeout=60s --reset --ssh=false "--hostname=$NODE_NAME" "--advertise-tags=$TAGS"
  if [ "$ACCEPT_ROUTES" = yes ]; then set -- "$@" --accept-routes; fi
  # Two limits: --timeout starts only once the daemon has answered.
  if ! said=$(within 90 "$folder/tailscale" "$@" 2>&1); then
    rm -f "$key_file"
    printf '%s\n' "$said" | tail -n 20 | without_key >&2
    give_up 'the host could not join the tailnet. Is the auth key still valid, and may it give these tags?'
  fi
  rm -f "$key_file"
  wait_until joined || give_up 'tailscale up came back, but the host has no address on the tailnet. Is the device waiting for approval?'
  wanted_join | write_file "$join_record" 0644
}

apply() {
  mkdir -p "$STATE"
  trap 'rm -f "$key_file"' EXIT
  trap 'exit 1' HUP INT TERM
  rm -f "$key_file" "$old_key_file"
  if [ "$HAS_PAYLOAD" = yes ]; then key=$(cat); fi
  # First of all: a push that cannot succeed leaves a working daemon alone.
  recorded_as_wanted || need_key
  install_binaries
  start_daemon
  wait_until answers || give_up 'tailscaled runs, and does not answer'
  # A daemon that has just started needs a moment to find its address again, but no key.
  if recorded_as_wanted && wait_until joined; then return; fi
  join
}

each_file() {
  for file in "$folder/tailscale" "$folder/tailscaled" "$state_folder" "$join_record" "$key_file" "$old_key_file" "$unpacked" \
    "$ROOT/var/log/tailscaled.log"; do
    "$@" "$file"
  done
}

left_behind() { [ ! -e "$1" ] || differs "$1 is still there"; }

check_absent() {
  check_no_job "$job"
  each_file left_behind
}

remove() {
  # Removes the device from the tailnet. A failure, such as an unreachable tailnet, does not stop the rest.
  if [ -x "$folder/tailscale" ] && [ -n "$(job_pid "$job")" ]; then
    within 20 "$folder/tailscale" logout >&2 || printf 'the tailnet still lists this host: remove the device there\n' >&2
  fi
  remove_job "$job"
  forget_start "$job"
  remove_signed "$folder/tailscale"
  remove_signed "$folder/tailscaled"
  each_file rm -rf
}
