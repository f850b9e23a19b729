# run: its process is the virtual machine: it boots, gets an address, and ends.

# A folder that the guest sees as "/Volumes/My Shared Files/<name>". [name:]path[:ro]; an unknown option is part of the path.
share() {
  spec=$1
  case $spec in *:ro) spec=${spec%:ro} ;; esac
  case $spec in
    /*) share_name=${spec##*/} unnamed=$((unnamed + 1)) ;;
    *:*) share_name=${spec%%:*} spec=${spec#*:} ;;
  esac
  [ -d "$spec" ] ||
    fail 1 'Error: Error Domain=VZErrorDomain Code=2 "A directory sharing device configuration is invalid." UserInfo={NSLocalizedFailure=Invalid virtual machine configuration.}'
  shares=$((shares + 1))
  mkdir -p "$vm/guest/Volumes/My Shared Files"
  rm -f "$vm/guest/Volumes/My Shared Files/$share_name"
  ln -s "$spec" "$vm/guest/Volumes/My Shared Files/$share_name"
}

parse_run() {
  graphics='' no_graphics='' vnc='' unnamed=0 shares=0 name=''
  while [ $# -gt 0 ]; do
    case $1 in
      --graphics) graphics=1 ;;
      --no-graphics) no_graphics=1 ;;
      --vnc | --vnc-experimental) vnc=$((vnc + 1)) ;;
      --dir | --disk | --root-disk-opts | --net-bridged | --net-softnet-allow | --net-softnet-block | --net-softnet-expose | --serial-path)
        [ "$1" != --dir ] || asked=$asked$2$newline
        shift
        ;;
      --dir=*) asked=$asked${1#--dir=}$newline ;;
      --net-softnet | --net-host | --suspendable | --serial | --nested | --recovery | --no-audio | --no-clipboard | --capture-system-keys) ;;
      -*) usage_error "Unknown option '$1'" ;;
      *) name=$1 ;;
    esac
    shift
  done
  [ -n "$name" ] || usage_error "Missing expected argument '<name>'"
  [ -z "$graphics" ] || [ -z "$no_graphics" ] || usage_error '--graphics and --no-graphics are mutually exclusive'
  [ "${vnc:-0}" -lt 2 ] || usage_error '--vnc and --vnc-experimental are mutually exclusive'
}

# VZ creates its host key in the keychain of the console session: without one it fails at once (INC-03, INC-06). On a simulated Mac the
# owner of /dev/console shows the session, as on a real one. Start errors of VZ are printed without `Error: ` (openai/tart
# Commands/Run.swift:588-595; text: openai/tart #1137).
needs_session() {
  control host/session
  if [ -z "$value" ] && [ -n "${TARTAN_ROOT-}" ]; then
    [ "$(stat -f %Su "$TARTAN_ROOT/dev/console")" = "$(id -un)" ] || value=none
  fi
  [ "$value" != none ] ||
    fail 1 'Error Domain=VZErrorDomain Code=-9 "The virtual machine encountered a security error." UserInfo={NSLocalizedFailure=Unable to access security information., NSLocalizedFailureReason=The virtual machine encountered a security error., NSUnderlyingError=0x70a074a50 {Error Domain=NSPOSIXErrorDomain Code=22 "Invalid argument" UserInfo={NSLocalizedFailureReason=Failed to create new HostKey.}}}'
  # A user is logged in, but the login keychain is locked: the error of macOS 15 and later does not mention a key (openai/tart #1025, #1067,
  # #1132).
  control host/keychain
  [ "$value" != locked ] ||
    fail 1 'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start." UserInfo={NSLocalizedFailure=Internal Virtualization error., NSLocalizedFailureReason=The virtual machine failed to start.}'
}

# Two macOS guests per host, of all users.
needs_slot() {
  others='' taken=0
  for entry in "$fake/running"/* "$fake/leaked"/*; do
    [ -f "$entry" ] || continue
    case $entry in
      "$fake/leaked"/*) taken=$((taken + 1)) ;;
      *)
        [ "${entry##*/}" != $$ ] && alive "${entry##*/}" || continue
        IFS= read -r other 2>/dev/null <"$entry" || continue
        taken=$((taken + 1)) others=$others${others:+, }$other
        ;;
    esac
  done
  control host/limit 2
  # The error names other virtual machines, if there are any (openai/tart Commands/Run.swift:534-556).
  [ "$taken" -lt "$value" ] || fail 1 "The number of VMs exceeds the system limit${others:+ (other running VMs: $others)}"
}

no_second_holder() {
  # Even if the lock was lost, the framework knows that the disk is in use.
  for entry in "$fake/running"/*; do
    [ -f "$entry" ] && alive "${entry##*/}" && IFS= read -r other 2>/dev/null <"$entry" && [ "$other" = "$name" ] || continue
    fail 1 'Error Domain=VZErrorDomain Code=2 "Failed to lock auxiliary storage."'
  done
}

no_equal_mac() {
  read_config "$vm"
  for other in "$home"/vms/*; do
    [ "$other" != "$vm" ] && held "$other/.pid" || continue
    mine=$mac
    read_config "$other"
    theirs=$mac
    read_config "$vm"
    [ "$mine" = "$theirs" ] || continue
    echo "There is already a running VM with MAC address $mac!"
    echo 'Resetting VM to assign a new MAC address...'
    new_mac
    write_config "$vm"
  done
}

tart_run() {
  asked=
  parse_run "$@"
  # tart opens the virtual machine while it parses the arguments, so this is an argument error: 1, with a prefix (inferred).
  local_folder "$name"
  [ -d "$vm" ] || fail 1 "Error: the specified VM \"$name\" does not exist"
  open_local "$name"
  old_ifs=$IFS IFS=$newline
  set -f
  for one in $asked; do share "$one"; done
  set +f
  IFS=$old_ifs
  [ "$shares" -lt 2 ] || [ "$unnamed" -eq 0 ] || usage_error 'each --dir must be named when there are several'
  no_equal_mac
  control host/memory 16384
  [ "$memory" -le "$((value * 1048576))" ] ||
    fail 1 'Error: Error Domain=VZErrorDomain Code=2 "Memory size is above the maximum allowed." UserInfo={NSLocalizedFailure=Invalid virtual machine configuration.}'
  take "$vm/.pid" || fail 2 "VM \"$name\" is already running!"
  rm -f "$vm/.agent" "$vm/state.vzvmsave"
  mkdir -p "$fake/running" "$fake/leaked"
  guest_programs
  # When one of these fails, no slot is held yet.
  trap 'code=$?; ends; finished' EXIT
  needs_session
  # Starts run one at a time, so that one of two gets the last slot.
  take_in_turn start
  trap 'code=$?; rm -f "$fake/locks/start"; ends; finished' EXIT
  no_second_holder
  needs_slot
  echo "$name" >"$fake/running/$$"
  rm -f "$fake/locks/start"
  vm_runs=1
  # Tells the simulated Mac: the first virtual machine of a boot starts InternetSharing.
  [ -z "${TARTAN_ROOT-}" ] || [ ! -e "$TARTAN_ROOT/usr/bin/sim-vm-start" ] || "$TARTAN_ROOT/usr/bin/sim-vm-start" "$name"
  trap finished EXIT
  guest_control "$name" stuck
  if [ -n "$value" ]; then trap '' INT; else trap power_off INT; fi
  trap guest_ends ALRM
  trap ': >"$vm/state.vzvmsave"; ends; exit 0' USR1 # suspend
  trap '' USR2 # A macOS guest shows a dialog.
  touch_access "$vm"
  [ -z "$vnc" ] || echo "VNC server is running at vnc://:fake-passphrase-$$@127.0.0.1:$((49152 + $$ % 16000))"
  boot
  guest_control "$name" lifetime
  if [ -n "$value" ]; then
    pause "$value"
    guest_ends
  fi
  # Short real sleeps: a SIGKILL of this process leaves one behind.
  while [ -z "${TARTAN_SIM_PID-}" ] || alive "$TARTAN_SIM_PID"; do
    /bin/sleep 5 >/dev/null 2>&1 &
    sleeper=$!
    remember_children
    wait "$sleeper"
  done
  # The simulator of this Mac was killed, and nothing else would end this process.
  ends
}
