# Our own rule in sudoers.d. Runs as the user.
#
# LOGIN_USER. RULE_NAME: name of the file. Payload: the user's password, one line.
# needs: refused-password

file=$ROOT/etc/sudoers.d/$RULE_NAME
rule="$LOGIN_USER ALL=(ALL) NOPASSWD: ALL"
refusals=$HOME/.tartan-refused-passwords

way_out="Give the password of $LOGIN_USER, or prepare this Mac by hand: tartan prepare-host"

holds_rule() {
  [ "$(sudo -n cat "$file" 2>/dev/null)" = "$rule" ] && [ -n "$(sudo -n find "$file" -perm 0440 2>/dev/null)" ]
}

check() {
  if ! sudo -n true 2>/dev/null; then
    differs "sudo asks $LOGIN_USER for a password"
  elif ! holds_rule; then
    differs "$file is not the rule that lets $LOGIN_USER use sudo"
  fi
}

# Runs as root with FILE and RULE. A broken file in sudoers.d breaks sudo for every user: visudo checks it first. Until then the dot in
# its name makes sudo ignore it.
# shellcheck disable=SC2016
put_rule='
set -eu
umask 077
echo tartan-is-root
mkdir -p -m 0755 "${1%/*}"
rm -f "$1".tartan-new
printf "%s\n" "$2" >"$1".tartan-new
chmod 0440 "$1".tartan-new
chown root:wheel "$1".tartan-new
if ! visudo -cf "$1".tartan-new >&2; then
  rm -f "$1".tartan-new
  exit 1
fi
sync
mv -f "$1".tartan-new "$1"
'

refused() {
  printf '%s\n' "$1 It is not tried again until this Mac restarts: several wrong ones lock the account" >&2
  exit 77
}

read_password() {
  password=
  if [ "$HAS_PAYLOAD" = yes ]; then IFS= read -r password || fail 'the password did not arrive whole: try again'; fi
  case $password in
    '' | '<sealed>')
      fail "sudo asks $LOGIN_USER for a password, and none is known, so nothing was tried. $way_out"
      ;;
  esac
}

# One attempt: one line of input, so that sudo finds no second password to try.
put_rule_with_password() {
  if refused_before "$refusals" "$password"; then refused "This password of $LOGIN_USER was refused before."; fi
  code=0
  sudo -k
  said=$(printf '%s\n' "$password" | sudo -S -p '' /bin/sh -c "$put_rule" sh "$file" "$rule" 2>&1) || code=$?
  case $said in
    *tartan-is-root*)
      rm -f "$refusals"
      [ "$code" = 0 ] || fail "the password is right, but $file could not be written: $said"
      ;;
    *'incorrect password'*)
      remember_refusal "$refusals" "$password" || true
      refused "sudo refused the password of $LOGIN_USER."
      ;;
    *) fail "sudo did not run: $said" ;;
  esac
}

apply() {
  if sudo -n true 2>/dev/null; then
    sudo -n /bin/sh -c "$put_rule" sh "$file" "$rule" </dev/null >/dev/null || fail "$file could not be written"
  else
    read_password
    put_rule_with_password
  fi
  # sudo's cached credentials would hide that the rule does not work.
  sudo -k
  sudo -n true || fail "$file is in place and sudo still asks: /etc/sudoers must have the line '#includedir /private/etc/sudoers.d'"
}

# Always wanted: without it there is no root.
check_absent() { :; }
remove() { :; }
