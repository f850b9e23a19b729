# Boot and end of a guest.

remember_children() { [ -z "${vm_runs-}" ] || echo "${sleeper-} ${program-}" >"$vm/.children" 2>/dev/null || :; }

ends() {
  trap '' INT USR1 USR2 ALRM
  for child in ${sleeper-} ${program-}; do kill "$child" 2>/dev/null; done
  ! held "$vm/.pid" || [ "$holder" != $$ ] || rm -f "$vm/.pid" "$vm/.agent" "$vm/.children" "$vm/control.sock"
  rm -f "$fake/running/$$"
  # macOS 26.3.1 does not release the slot until a reboot (openai/tart #1217).
  control host/leaks
  [ -z "$value" ] || [ -z "${vm_runs-}" ] || : >"$fake/leaked/$$"
}

# `tart stop` and Ctrl-C cut the power.
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

# An address is a DHCP lease: it outlives the guest.
lease() {
  guest_control "$name" address
  [ "$value" != none ] || return 0
  if [ -z "$value" ]; then
    set -- $(random_bytes 1)
    value=192.168.64.$(($(printf '%d' "0x$1") % 252 + 2))
  fi
  # Without -p: if the Mac was deleted meanwhile, its folders must not be created again.
  mkdir "$fake/leases" 2>/dev/null || [ -d "$fake/leases" ] || return 0
  # Renamed into place, so that no reader sees an empty file.
  echo "$value" >"$fake/leases/.$$"
  mv -f "$fake/leases/.$$" "$fake/leases/$mac"
  # bootpd of macOS writes this file, and tart reads it.
  [ ! -d "${TARTAN_ROOT-}/var/db" ] || [ -z "${TARTAN_ROOT-}" ] ||
    printf '{\n\tname=guest\n\tip_address=%s\n\thw_address=1,%s\n\tidentifier=1,%s\n\tlease=0x7fffffff\n}\n' "$value" "$mac" "$mac" >>"$TARTAN_ROOT/var/db/dhcpd_leases"
}

# Programs that a guest must not share with the real machine.
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
  while guest_control "$name" boot-held && [ -n "$value" ]; do pause 0.05; done
  lease
  : >"$vm/control.sock"
  guest_control "$name" agent-after 0
  pause "$value"
  : >"$vm/.agent"
  # The guest's own program, a script in its root folder.
  program_file=$fake/guests/$name/program
  [ -f "$program_file" ] || program_file=$fake/guests/_/program
  # A program that is part of this tart, for images with a workload.
  [ -f "$program_file" ] || program_file=${0%/*}/../Resources/guest.sh
  [ -f "$program_file" ] || return 0
  mkdir -p "$vm/guest"
  (cd "$vm/guest" && HOME=$PWD PATH=$fake/guest-bin:$PATH TART_GUEST=$$ exec /bin/sh "$program_file") </dev/null >>"$vm/guest/program.log" 2>&1 &
  program=$!
  remember_children
}
