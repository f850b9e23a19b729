# What scripts share that install Mach-O files which we ship. Stands between lib.sh and the script of the step.
#
#   install_signed SHA DEST MODE [SOURCE]  DEST becomes what artifact SHA holds, signed anew. SOURCE: what was unpacked from it;
#                                          without one, the artifact itself.
#   check_signed SHA DEST                  for `check`: names what install_signed would change. Says nothing when DEST is that file.
#   remove_signed DEST                     neither the file nor our memory of it is left.
#   installed_by_us DEST                   whether install_signed put something there.
#   started_with LABEL TEXT                the process of this job began after all that TEXT names was in place.
#   check_started LABEL TEXT               for `check`: names a job whose process may still run what was there before.
#   forget_start LABEL
#
# Every file arrives on an inode of its own: the kernel remembers the signature of an inode, and kills what was overwritten in place
# (INC-10). A process that runs the old file keeps it. The signature changes the bytes, so what was installed is known by two hashes:
# of the artifact, and of the signed file. A file that anybody else wrote has neither.

installed_record() { printf '%s/installed/%s' "$STATE" "${1##*/}"; }

installed_by_us() { [ -f "$(installed_record "$1")" ]; }

check_signed() {
  if [ ! -x "$2" ]; then
    differs "$2 is missing"
  elif ! holds "$(installed_record "$2")" "$1 $(sha256 "$2")
"; then
    differs "$2 is not the wanted version as we sign it"
  fi
}

install_signed() {
  mkdir -p "${2%/*}"
  rm -f "$2".tartan-new
  if ! cp "${4:-$STORE/$1}" "$2".tartan-new; then
    # A full disk: what was written so far only takes away more of it.
    rm -f "$2".tartan-new
    return 1
  fi
  chmod "$3" "$2".tartan-new
  chown root:wheel "$2".tartan-new
  codesign --force --sign - "$2".tartan-new || return 1
  sync
  signed=$(sha256 "$2".tartan-new)
  # Before the file: a cut between the two leaves a file that is not what the record says, and it is installed again.
  printf '%s %s\n' "$1" "$signed" | write_file "$(installed_record "$2")" 0644 || return 1
  mv -f "$2".tartan-new "$2"
}

remove_signed() { rm -f "$1" "$1".tartan-new "$(installed_record "$1")"; }

# A cut between a new file and the restart would otherwise leave the old process for ever: file and job both look as wanted.
start_record() { printf '%s/started/%s' "$STATE" "$1"; }
started_with() { printf '%s\n' "$2" | write_file "$(start_record "$1")" 0644; }
check_started() { holds "$(start_record "$1")" "$2
" || differs "the launchd job $1 was not started with what is installed"; }
forget_start() { rm -f "$(start_record "$1")"; }
