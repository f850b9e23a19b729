# What scripts share that try a password. Stands between lib.sh and the script of the step.
#
#   refused_before FILE WORD    whether this word was refused since the Mac started.
#   remember_refusal FILE WORD
#
# Several wrong passwords lock the account, and every further one keeps it locked, also for whoever knows the right one (INC-207).
# A restart of the Mac clears the lock, and this memory with it. FILE holds four digits of a salted hash per word: they tell it from all
# but one in 65536 others, and nobody finds the word out from them.

# Nothing where it cannot be told: then every word would look like every other.
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
