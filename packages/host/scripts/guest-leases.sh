# The DHCP lease time of guests, which also counts after a guest is gone. bootpd reads it when the first virtual machine starts.
#
# LEASE_SECONDS.

sharing=$ROOT/Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default

# `defaults` prints the dictionary in the old style, with or without quotes.
lease_seconds() {
  defaults read "$sharing" bootpd 2>/dev/null | sed -n 's/.*DHCPLeaseTimeSecs"*[[:space:]]*=[[:space:]]*"*\([0-9][0-9]*\).*/\1/p'
}

check() { [ "$(lease_seconds)" = "$LEASE_SECONDS" ] || differs "guests do not keep their addresses for $LEASE_SECONDS s"; }

# Keeps other keys of the dictionary.
apply() { defaults write "$sharing" bootpd -dict-add DHCPLeaseTimeSecs -int "$LEASE_SECONDS"; }

# The earlier value is not known.
check_absent() { :; }
remove() { :; }
