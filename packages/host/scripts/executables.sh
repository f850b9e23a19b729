# Shared by scripts that install Mach-O files. Sent between lib.sh and the script of the step.
#
#   install_signed SHA DEST MODE [SOURCE]  installs artifact SHA as DEST, signed again. SOURCE: a file unpacked from the artifact;
#                                          default: the artifact itself.
#   check_signed SHA DEST                  for `check`: names what install_signed would change. Prints nothing when DEST is that file.
#   remove_signed DEST                     removes the file and our record of it.
#   installed_by_us DEST                   whether install_signed put something there.
#   started_with LABEL TEXT                records that the process of this job started after everything that TEXT names was installed.
#   check_started LABEL TEXT               for `check`: names a job whose process may still run an earlier file.
#   forget_start LABEL
#
# Every file gets a new inode: the kernel caches the signature of an inode, and kills a program that was overwritten in place (INC-10).
# A process that runs the old file keeps it. Signing changes the bytes, so two hashes identify an installed file: that of the artifact,
# and that of the signed file. A file that another program wrote has neither.

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
    # The disk is full: free what was written so far.
    rm -f "$2".tartan-new
    return 1
  fi
  chmod "$3" "$2".tartan-new
  chown root:wheel "$2".tartan-new
  codesign --force --sign - "$2".tartan-new || return 1
  sync
  signed=$(sha256 "$2".tartan-new)
  # Before the file: after an interruption between the two, the file does not match the record and is installed again.
  printf '%s %s\n' "$1" "$signed" | write_file "$(installed_record "$2")" 0644 || return 1
  mv -f "$2".tartan-new "$2"
}

remove_signed() { rm -f "$1" "$1".tartan-new "$(installed_record "$1")"; }

# Without this record, an interruption between a new file and the restart would leave the old process for ever: file and job look right.
start_record() { printf '%s/started/%s' "$STATE" "$1"; }
started_with() { printf '%s\n' "$2" | write_file "$(start_record "$1")" 0644; }
check_started() { holds "$(start_record "$1")" "$2
" || differs "the launchd job $1 was not started with what is installed"; }
forget_start() { rm -f "$(start_record "$1")"; }
