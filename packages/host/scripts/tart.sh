# Tart as a whole bundle, which has its signature and entitlement, and a wrapper in the usual folder that starts it.
#
# TART: sha256 of a gzipped tar that holds tart.app.

app=$ROOT/usr/local/lib/tart.app
new=$app.tartan-new
old=$app.tartan-old
# Beside the bundle: a file inside would break its signature.
record=$app.sha256
wrapper=$ROOT/usr/local/bin/tart
wrapper_text="#!/bin/sh
exec '$app/Contents/MacOS/tart' \"\$@\"
"

check() {
  holds "$record" "$TART
" || differs "$app is not the wanted version"
  { [ -x "$wrapper" ] && holds "$wrapper" "$wrapper_text"; } || differs "$wrapper is not the wanted one"
  "$wrapper" --version </dev/null >/dev/null 2>&1 || differs "$wrapper does not run"
  for left in "$new" "$old"; do
    [ ! -e "$left" ] || differs "$left is left over"
  done
}

unpack() {
  [ -f "$STORE/$TART" ] || fail "the artifact $TART is not on this Mac: push again"
  rm -rf "$new"
  mkdir -p "$new"
  tar -xzof "$STORE/$TART" -C "$new" || fail "$STORE/$TART does not unpack"
  "$new/tart.app/Contents/MacOS/tart" --version </dev/null >/dev/null ||
    fail "what is in $STORE/$TART does not run: a gzipped tar with tart.app for this Mac is needed"
  sync
}

install_bundle() {
  # An earlier run was interrupted between its two renames.
  [ -e "$app" ] || [ ! -e "$old" ] || mv "$old" "$app"
  unpack
  rm -f "$record"
  rm -rf "$old"
  [ ! -e "$app" ] || mv "$app" "$old"
  if ! mv "$new/tart.app" "$app"; then
    [ ! -e "$old" ] || mv "$old" "$app"
    fail "$app could not be put in place: the one before is back"
  fi
  printf '%s\n' "$TART" | write_file "$record" 0644
}

apply() {
  trap 'rm -rf "$new"' EXIT
  if ! holds "$record" "$TART
" || ! "$app/Contents/MacOS/tart" --version </dev/null >/dev/null 2>&1; then
    install_bundle
  fi
  printf '%s' "$wrapper_text" | write_file "$wrapper" 0755
  rm -rf "$new" "$old"
}

# Always wanted: a host without it starts no virtual machine.
check_absent() { :; }
remove() { :; }
