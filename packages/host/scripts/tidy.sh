# Removes garbage. Variables, each a list with spaces: ARTIFACTS, STAMPS; REBOOT_MARK (yes, no).

main() {
  hold_lock
  for name in $ARTIFACTS; do rm -f "$STORE/$name"; done
  for name in $STAMPS; do rm -f "$STATE/steps/$name"; done
  [ "$REBOOT_MARK" = no ] || rm -f "$STATE/reboot-pending"
}
