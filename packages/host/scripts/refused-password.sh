# Shared by scripts that try a password. Sent between lib.sh and the script of the step.
#
#   refused_before FILE WORD    whether this password was refused since the last boot.
#   remember_refusal FILE WORD
#
# Several wrong passwords lock the account, and every further one keeps it locked, also for users with the right one (INC-207).
# A reboot clears the lock, and these records with it. FILE holds four digits of a salted hash per password: a false match has a chance of
# one in 65536, and the digits do not reveal the password.

# Prints nothing when a part is unknown: all passwords would then look alike.
refusal() {
  refusal_boot=$(boot_id) || return 0
  refusal_digits=$(printf '%s\n' "$refusal_boot" "$1" | shasum -a 256 | cut -c 1-4)
  [ -z "$refusal_boot" ] || [ -z "$refusal_digits" ] || printf '%s %s\n' "$refusal_boot" "$refusal_digits"
}

refused_before() {
  refusal_now=$(refusal "$2")
  [ -n "$refusal_now" ] && grep -qxF "$refusal_now" "$1" 2>/dev/null
}

remember_refusal() { (umask 077 && mkdir -p "${1%/*}" && refusal "$2" >>"$1"); }
