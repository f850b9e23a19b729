# Puts one artifact into the host's store. Not a step: it has its own `main` and takes no lock, because pushers do not disturb each
# other. Variables: VERB, SHA256, SIZE, and RESERVE, the bytes that must stay free.
#   look     prints `result have`, or `result lack` when there is room for it. Removes partial files of dead pushers.
#   receive  checks the room too; reads the artifact from standard input and prints `result stored`. Any failure leaves the store unchanged.
# A refusal is on both outputs: for the pusher as a result, for people as a sentence.

kept=$STORE/$SHA256
# Named after this process: unique among live processes, and a later run can check whether its owner is alive.
partial=$STORE/.partial.$SHA256.$$

# The size first, because it is cheap.
is_whole() { [ -f "$1" ] && [ "$(($(wc -c <"$1")))" -eq "$SIZE" ] && [ "$(sha256 "$1")" = "$SHA256" ]; }

# The name of a file system may contain spaces: the free space is the column before the percentage.
free_bytes() {
  kilobytes=$(df -P -k "$STORE" | awk 'NR > 1 { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+%$/) { print $(i - 1); exit } }')
  printf '%s\n' "$((kilobytes * 1024))"
}

no_space() {
  free=$(free_bytes)
  result "no-space$TAB$free$TAB$((SIZE + RESERVE))"
  fail "the disk has $free bytes free, and $((SIZE + RESERVE)) are needed"
}

# A process number may be reused, so old files are removed too; no push takes a day.
sweep() {
  for left in "$STORE"/.partial.*; do
    [ ! -e "$left" ] || kill -0 "${left##*.}" 2>/dev/null || rm -f "$left"
  done
  find "$STORE" -name '.partial.*' -mmin +1440 -exec rm -f {} +
}

make_room() {
  [ -d "$STORE" ] || mkdir -p "$STORE"
  sweep
}

has_room() { [ "$(free_bytes)" -ge "$((SIZE + RESERVE))" ]; }

look_for() {
  make_room
  if is_whole "$kept"; then
    result have
  elif has_room; then
    result lack
  else
    no_space
  fi
}

receive() {
  make_room
  has_room || no_space
  trap 'rm -f "$partial"' EXIT
  # PIPE: a pusher that is gone does not read the output.
  trap 'exit 1' HUP INT TERM PIPE
  # A truncated input looks like a complete one: only size and hash tell.
  if ! problem=$(cat 2>&1 >"$partial"); then
    case $problem in
      *'No space left'*)
        rm -f "$partial"
        no_space
        ;;
    esac
    fail "$problem"
  fi
  if ! is_whole "$partial"; then
    result broken
    fail "what arrived is not what was sent"
  fi
  chmod 0644 "$partial"
  sync
  mv -f "$partial" "$kept"
  result stored
}

main() {
  case $VERB in
    look) look_for ;;
    receive) receive ;;
    *) fail "push-artifact knows no $VERB" ;;
  esac
}
