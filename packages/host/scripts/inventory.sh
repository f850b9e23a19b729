# The inventory of a host. Changes nothing, and needs no root, so that a host that is not prepared yet can answer.
# One fact per line, key and values separated by tabs. A first and a last line frame them, so that a truncated answer is detected.

fact() {
  fact_line=$1
  shift
  for fact_value; do fact_line=$fact_line$TAB$fact_value; done
  printf '%s\n' "$fact_line"
}

# The names of the files in a folder, without those that are still being written.
names_in() { if [ -d "$1" ]; then find "$1" -type f ! -name '.*' | sed 's|.*/||' | sort; fi; }

has_root() { if as_root true 2>/dev/null; then printf yes; else printf no; fi; }

file_vault() {
  case $(fdesetup status 2>/dev/null || true) in
    'FileVault is On.'*) printf on ;;
    'FileVault is Off.'*) printf off ;;
    *) printf unknown ;;
  esac
}

facts_of_lock() {
  inventory_lock=$(current_lock)
  if [ -n "$inventory_lock" ] && read_lock "$inventory_lock" && [ "$lock_holder" != free ]; then
    fact lock "$lock_holder" "$lock_since"
  fi
}

main() {
  fact tartan-inventory 1
  fact user "$(id -un)" "$(id -u)"
  fact root "$(has_root)"
  fact time "$(date +%s)"
  fact boot "$(boot_id)"
  fact macos "$(sw_vers -productVersion)"
  fact arch "$(uname -m)"
  fact free-kib "$(df -kP "$ROOT/" | awk 'NR == 2 { print $4 }')"
  fact console "$(stat -f %Su "$ROOT/dev/console" 2>/dev/null || printf unknown)"
  fact file-vault "$(file_vault)"
  fact agent-release "$(readlink "$ROOT/usr/local/lib/tart-kubelet/current" 2>/dev/null | sed 's|.*/||')"
  facts_of_lock
  [ ! -f "$STATE/reboot-pending" ] || fact reboot-pending "$(cat "$STATE/reboot-pending")"
  for name in $(names_in "$STATE/steps"); do
    hash=
    IFS= read -r hash <"$STATE/steps/$name" || true
    fact stamp "$name" "$hash"
  done
  for name in $(names_in "$STORE" | grep -E '^[0-9a-f]{64}$'); do fact artifact "$name"; done
  fact end
}
