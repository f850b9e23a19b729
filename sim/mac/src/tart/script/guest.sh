# ip and exec.

tart_ip() {
  name='' wait_for=0
  while [ $# -gt 0 ]; do
    case $1 in
      --wait) wait_for=$2 && shift ;;
      --resolver) shift ;;
      *) name=$1 ;;
    esac
    shift
  done
  open_local "$name"
  read_config "$vm"
  # At least one attempt and one second. A lease outlives its guest.
  while :; do
    if [ -f "$fake/leases/$mac" ]; then
      cat "$fake/leases/$mac"
      return 0
    fi
    second
    [ "$wait_for" -gt 0 ] || break
    wait_for=$((wait_for - 1))
  done
  state_of "$vm"
  [ "$running" = true ] || fail 1 'no IP address found, is your VM running?'
  fail 1 'no IP address found'
}

# Asks the guest to shut down. Commands that mention a shutdown are never executed, since they would hit the real machine.
shut_down() {
  guest_control "$1" shutdown halts
  case $value in
    ignored) ;;
    refused) fail 1 'shutdown: NOT super-user' ;;
    *)
      guest_control "$1" shutdown-takes 0
      # Halts after this command has its result.
      (
        pause "$value"
        kill -ALRM "$2" 2>/dev/null
      ) >/dev/null 2>&1 </dev/null &
      ;;
  esac
}

tart_exec() {
  interactive='' tty=''
  while :; do
    case ${1-} in
      -i) interactive=1 ;;
      -t) tty=1 ;;
      -it | -ti) interactive=1 tty=1 ;;
      *) break ;;
    esac
    shift
  done
  name=${1-}
  [ $# -gt 1 ] || usage_error "Missing expected argument '<command> ...'"
  shift
  open_local "$name"
  state_of "$vm"
  [ "$running" = true ] && held "$vm/.pid" || fail 2 "VM \"$name\" is not running"
  guest=$holder
  guest_control "$name" agent-latency 0
  pause "$value"
  guest_control "$name" agent ready
  [ "$value" = ready ] && [ -f "$vm/.agent" ] ||
    fail 1 'Failed to connect to the VM using its control socket: The operation couldn’t be completed. (GRPC.GRPCConnectionPoolError error 1.), is the Tart Guest Agent running?'
  # tart reads the size of the local terminal: without one it crashes (its Exec.swift).
  [ -z "$tty" ] || [ -t 0 ] || fail 1 'Fatal error: '\''try!'\'' expression unexpectedly raised an error: Inappropriate ioctl for device'
  case " $* " in *shutdown* | *reboot* | *poweroff* | *[!a-z]halt[!a-z]*)
    shut_down "$name" "$guest"
    return 0
    ;;
  esac
  mkdir -p "$vm/guest"
  cd "$vm/guest" || exit 1
  # A hostile guest.
  for script in "$fake/guests/$name/exec" "$fake/guests/_/exec"; do
    [ -f "$script" ] || continue
    set -- /bin/sh "$script" "$@"
    break
  done
  unset TART_REGISTRY_HOSTNAME TART_REGISTRY_USERNAME TART_REGISTRY_PASSWORD
  [ -n "$interactive" ] || exec </dev/null
  # The local terminal is in raw mode; the one in the guest is not.
  [ -z "$tty" ] || stty sane
  HOME=$PWD PATH=$fake/guest-bin:$PATH TART_GUEST=$guest "$@"
  exit $?
}
