# How a guest comes up, and how it ends by itself or by others.

remember_children() { [ -z "${vm_runs-}" ] || echo "${sleeper-} ${program-}" >"$vm/.children" 2>/dev/null || :; }

ends() {
  trap '' INT USR1 USR2 ALRM
  for child in ${sleeper-} ${program-}; do kill "$child" 2>/dev/null; done
  ! held "$vm/.pid" || [ "$holder" != $$ ] || rm -f "$vm/.pid" "$vm/.agent" "$vm/.children" "$vm/control.sock"
  rm -f "$fake/running/$$"
  # macOS 26.3.1 does not give the slot back until it is rebooted (openai/tart #1217).
  control host/leaks
  [ -z "$value" ] || [ -z "${vm_runs-}" ] || : >"$fake/leaked/$$"
}

# `tart stop` and Ctrl-C: the power is cut.
power_off() {
  echo 'Stopping VM...'
  ends
  exit 0
}

# How this guest ends by itself. Exit 0 also for an error of the framework, and for a lost network (openai/tart VM.swift:463-476; exit 0:
# Commands/Run.swift:580-587).
guest_ends() {
  guest_control "$name" ends halt
  how=$value
  ends
  case $how in
    halt) echo 'guest has stopped the virtual machine' ;;
    error) echo 'guest has stopped the virtual machine due to error: Error Domain=VZErrorDomain Code=1 "Internal Virtualization error. The virtual machine stopped unexpectedly."' ;;
    network) echo "virtual machine's network attachment <VZVirtioNetworkDevice: 0x6000021b4a10> has been disconnected with error: Error Domain=VZErrorDomain Code=1 \"(null)\"" ;;
    kill) kill -9 $$ ;;
    *)
      echo 'Error: the virtual machine ended' >&2
      exit "$how"
      ;;
  esac
  exit 0
}

# An address is a lease of the DHCP server: it outlives the guest.
lease() {
  guest_control "$name" address
  [ "$value" != none ] || return 0
  if [ -z "$value" ]; then
    set -- $(random_bytes 1)
    value=192.168.64.$(($(printf '%d' "0x$1") % 252 + 2))
  fi
  # Not with its parents: what was taken away with its Mac meanwhile is not made anew.
  mkdir "$fake/leases" 2>/dev/null || [ -d "$fake/leases" ] || return 0
  # Renamed into place, so that nobody ever reads an empty one.
  echo "$value" >"$fake/leases/.$$"
  mv -f "$fake/leases/.$$" "$fake/leases/$mac"
  # Where bootpd of macOS writes it, and where tart reads it.
  [ ! -d "${TARTAN_ROOT-}/var/db" ] || [ -z "${TARTAN_ROOT-}" ] ||
    printf '{\n\tname=guest\n\tip_address=%s\n\thw_address=1,%s\n\tidentifier=1,%s\n\tlease=0x7fffffff\n}\n' "$value" "$mac" "$mac" >>"$TARTAN_ROOT/var/db/dhcpd_leases"
}

# The few programs that a guest must not share with the machine underneath.
guest_programs() {
  [ ! -d "$fake/guest-bin" ] || return 0
  mkdir "$fake/guest-bin.$$" || return 0
  printf '#!/bin/sh\nkill -ALRM "$TART_GUEST"\n' >"$fake/guest-bin.$$/shutdown"
  printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n' >"$fake/guest-bin.$$/sudo"
  chmod 755 "$fake/guest-bin.$$/shutdown" "$fake/guest-bin.$$/sudo"
  mv "$fake/guest-bin.$$" "$fake/guest-bin" 2>/dev/null || rm -rf "$fake/guest-bin.$$"
}

boot() {
  guest_control "$name" boot 6 # 5–9 s warm
  pause "$value"
  lease
  : >"$vm/control.sock"
  guest_control "$name" agent-after 0
  pause "$value"
  : >"$vm/.agent"
  # What the guest does on its own, as a script in its root folder.
  program_file=$fake/guests/$name/program
  [ -f "$program_file" ] || program_file=$fake/guests/_/program
  # One that came with this tart, for images whose guests have something to do.
  [ -f "$program_file" ] || program_file=${0%/*}/../Resources/guest.sh
  [ -f "$program_file" ] || return 0
  mkdir -p "$vm/guest"
  (cd "$vm/guest" && HOME=$PWD PATH=$fake/guest-bin:$PATH TART_GUEST=$$ exec /bin/sh "$program_file") </dev/null >>"$vm/guest/program.log" 2>&1 &
  program=$!
  remember_children
}
