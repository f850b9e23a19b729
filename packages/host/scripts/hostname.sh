# HostName, LocalHostName and ComputerName.
#
# NODE_NAME.

# For Bonjour: one label of letters, digits and dashes, 63 at most (RFC 1034).
local_name() {
  printf '%s\n' "$NODE_NAME" | tr -c 'A-Za-z0-9\n' '-' | cut -c 1-63 | sed -e 's/^-*//' -e 's/-*$//'
}

wanted_name() {
  case $1 in
    LocalHostName) local_name ;;
    *) printf '%s\n' "$NODE_NAME" ;;
  esac
}

has_name() { [ "$(scutil --get "$1" 2>/dev/null || true)" = "$(wanted_name "$1")" ]; }

check() {
  for name in HostName LocalHostName ComputerName; do
    has_name "$name" || differs "$name is not $(wanted_name "$name")"
  done
}

apply() {
  for name in HostName LocalHostName ComputerName; do
    has_name "$name" || scutil --set "$name" "$(wanted_name "$name")"
  done
}

# A Mac always has a name.
check_absent() { :; }
remove() { :; }
