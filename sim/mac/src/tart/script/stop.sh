# stop and suspend: signals to the process of `run`.

tart_stop() {
  name='' timeout=30
  while [ $# -gt 0 ]; do
    case $1 in
      --timeout | -t) timeout=$2 && shift ;;
      *) name=$1 ;;
    esac
    shift
  done
  open_local "$name"
  state_of "$vm"
  if [ "$state" = suspended ]; then
    rm -f "$vm/state.vzvmsave"
    return 0
  fi
  [ "$state" = running ] && held "$vm/.pid" || fail 2 "VM \"$name\" is not running"
  pid=$holder
  kill -INT "$pid" || fail 1 "failed to stop the VM \"$name\""
  control host/second 1
  left=$((timeout * 10))
  # Every 100 ms, at the fake's pace.
  case $value in 1) tick=0.1 ;; *) tick=0.01 left=$timeout ;; esac
  while alive "$pid"; do
    if [ "$left" -le 0 ]; then
      children=
      [ ! -f "$vm/.children" ] || IFS= read -r children <"$vm/.children"
      kill -9 "$pid" $children 2>/dev/null
      rm -f "$vm/.pid" "$vm/.children" "$vm/.agent" "$fake/running/$pid"
      return 0
    fi
    left=$((left - 1))
    pause "$tick"
  done
}

tart_suspend() {
  open_local "${1-}"
  held "$vm/.pid" || fail 2 "VM \"$1\" is not running"
  kill -USR1 "$holder"
}
