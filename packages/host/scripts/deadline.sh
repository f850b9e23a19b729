# Shared by scripts that call programs which may hang: macOS has no timeout(1). Sent between lib.sh and the script of the step.

# Runs a command, kills it after that many seconds, and returns its exit code.   within SECONDS COMMAND…
within() {
  within_left=$1
  shift
  # A shell gives a background command an empty input, and dash does so before it evaluates <&0.
  { "$@" <&3 3<&- & } 3<&0
  within_pid=$!
  # Polls every second and ends by itself: a signal to a shell that is just forking can be lost, and its sleep would stay.
  (
    while kill -0 "$within_pid"; do
      [ "$within_left" -gt 0 ] || kill "$within_pid"
      within_left=$((within_left - 1))
      sleep 1
    done
  ) >/dev/null 2>&1 </dev/null &
  within_code=0
  wait "$within_pid" || within_code=$?
  return "$within_code"
}
