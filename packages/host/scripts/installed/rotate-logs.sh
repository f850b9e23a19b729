#!/bin/sh
# Run by launchd on the host, every few minutes: rotate-logs BYTES LOG...
# Makes LOG empty when it is larger than BYTES, and keeps what was in it as LOG.1.gz (newest) to LOG.3.gz.
#
# launchd keeps the file of a job open for as long as the job runs, and appends to it: renaming it away would only move the log along.
# So it is copied and truncated. Lines that are written between the two are lost; this is a log.

set -eu
umask 027
ROOT=${TARTAN_ROOT:-}

# A finished copy, LOG.0, becomes LOG.1.gz. Also done for one that an earlier run left when it was cut.
archive() {
  [ -f "$1.0" ] || return 0
  rm -f "$1.gz-new"
  gzip -c "$1.0" >"$1.gz-new" || { rm -f "$1.gz-new"; return 0; }
  [ ! -f "$1.2.gz" ] || mv -f "$1.2.gz" "$1.3.gz"
  [ ! -f "$1.1.gz" ] || mv -f "$1.1.gz" "$1.2.gz"
  mv -f "$1.gz-new" "$1.1.gz"
  rm -f "$1.0"
}

rotate() {
  archive "$2"
  [ -f "$2" ] || return 0
  size=$(($(wc -c <"$2")))
  [ "$size" -gt "$1" ] || return 0
  if cp "$2" "$2.new"; then
    mv -f "$2.new" "$2.0"
    : >"$2"
    archive "$2"
    return
  fi
  # The disk is full. A log is worth keeping only as long as it is not what fills the disk.
  rm -f "$2.new"
  if [ "$size" -gt $(($1 * 4)) ]; then : >"$2"; fi
}

limit=$1
shift
for log in "$@"; do rotate "$limit" "$ROOT$log"; done
