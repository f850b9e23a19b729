# packer, crane and oras, as verified files: nothing on a host downloads or upgrades a tool.
#
# PACKER, CRANE, ORAS: sha256 of each executable. RECLAIM: the text of tartan-reclaim-disk, which frees disk space before a bake.
# needs: deadline executables

folder=$ROOT/usr/local/bin
reclaim=$folder/tartan-reclaim-disk

each_tool() {
  "$1" packer "$PACKER"
  "$1" crane "$CRANE"
  "$1" oras "$ORAS"
}

# With an empty home and without the vendor's update check: packer would use both.
runs() { HOME=/var/empty CHECKPOINT_DISABLE=1 within 30 "$folder/$1" version >/dev/null 2>&1; }

check_tool() {
  tool_differs=$(check_signed "$2" "$folder/$1")
  if [ -n "$tool_differs" ]; then
    printf '%s\n' "$tool_differs"
  elif ! runs "$1"; then
    differs "$folder/$1 does not run"
  fi
}

install_tool() {
  [ -n "$(check_tool "$1" "$2")" ] || return 0
  install_signed "$2" "$folder/$1" 0755 || fail "$1 could not be installed"
}

check() {
  each_tool check_tool
  { [ -x "$reclaim" ] && holds "$reclaim" "$RECLAIM"; } || differs "$reclaim is not the wanted one"
}

apply() {
  each_tool install_tool
  printf '%s' "$RECLAIM" | write_file "$reclaim" 0755
}

# Keeps a tool of the same name that we did not install.
check_absent() {
  for tool in packer crane oras; do
    ! installed_by_us "$folder/$tool" || differs "$folder/$tool is still there"
  done
  [ ! -e "$reclaim" ] || differs "$reclaim is still there"
}

remove() {
  for tool in packer crane oras; do
    if installed_by_us "$folder/$tool"; then remove_signed "$folder/$tool"; fi
  done
  rm -f "$reclaim" "$reclaim".tartan-new
}
