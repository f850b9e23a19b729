# A console session of the user, now and after each boot.
#
# LOGIN_USER. Payload: the content of /etc/kcpassword in base64, one line. Without it, only what needs no password is repaired.
# needs: deadline refused-password

kcpassword=$ROOT/etc/kcpassword
preferences=$ROOT/Library/Preferences/com.apple.loginwindow
refusals=$STATE/refused-logins
# Exists from before a change until loginwindow has accepted it.
unproven=$STATE/auto-login-unproven

way_out="Give the password of $LOGIN_USER, or prepare this Mac by hand: tartan prepare-host"

# Why loginwindow cannot log in with this file, or nothing. loginwindow writes `<sealed>` in place of a wrong password (INC-07); a
# leading NUL is an empty password (INC-204).
useless_because() {
  if [ ! -s "$kcpassword" ]; then
    echo 'is missing'
    return
  fi
  case $(od -An -tx1 -N8 "$kcpassword" | tr -d ' \n') in
    41fa3742bed9b9d4) echo 'is sealed: macOS refused the password that was in it' ;;
    7d*) echo 'holds an empty password' ;;
  esac
}

sealed() { case $(useless_because) in 'is sealed'*) ;; *) return 1 ;; esac }

user_is_set() { [ "$(defaults read "$preferences" autoLoginUser 2>/dev/null || true)" = "$LOGIN_USER" ]; }

# The current content in base64, on one line.
kept() { [ ! -f "$kcpassword" ] || base64 <"$kcpassword" | tr -d '\n'; }

is_private() { [ -n "$(find "$kcpassword" -perm 0600)" ]; }

session_is_up() { launchctl print "gui/$1" 2>/dev/null | grep -q 'session = Aqua'; }

login_uid() { id -u "$LOGIN_USER" 2>/dev/null || fail "this Mac has no user $LOGIN_USER"; }

check() {
  uid=$(login_uid)
  user_is_set || differs "nobody, or another than $LOGIN_USER, is logged in at boot"
  useless=$(useless_because)
  [ -z "$useless" ] || differs "$kcpassword $useless"
  [ ! -e "$kcpassword" ] || is_private || differs "$kcpassword is not for root alone"
  [ ! -e "$unproven" ] || differs 'loginwindow was not seen to accept the password'
  session_is_up "$uid" || differs "$LOGIN_USER has no console session"
}

refused() {
  printf '%s\n' "$1 It is not tried again until this Mac restarts: several wrong ones lock the account" >&2
  exit 77
}

# Handles a loginwindow that is dead (INC-08), and one that launchd must not kill (macOS 14.4 and later). Never uses SIGHUP, which leaves
# it dead.
restart_loginwindow() {
  said=$(launchctl kickstart -k system/com.apple.loginwindow 2>&1) && return
  killall loginwindow 2>/dev/null && return
  launchctl kickstart system/com.apple.loginwindow 2>/dev/null && return
  fail "loginwindow could not be restarted, so nobody was logged in: $said. Restart the Mac."
}

# The ending session is still visible for a moment: the new one counts when two checks in a row see it.
prove_session() {
  looks=30
  seen=0
  while [ "$looks" -gt 0 ]; do
    sleep 1
    if sealed; then
      [ -z "$wanted" ] || remember_refusal "$refusals" "$wanted" || true
      refused "macOS refused the password of $LOGIN_USER at the console and sealed $kcpassword: it is wrong."
    fi
    if session_is_up "$uid"; then seen=$((seen + 1)); else seen=0; fi
    [ "$seen" -lt 2 ] || return 0
    looks=$((looks - 1))
  done
  fail "$LOGIN_USER got no console session within 30 s, although the password was not refused. Look at the Mac's screen:" \
    "FileVault and the Setup Assistant both keep it from logging in. $(fdesetup status 2>/dev/null || true)"
}

read_wanted() {
  wanted=
  if [ "$HAS_PAYLOAD" = yes ]; then IFS= read -r wanted || fail 'the password did not arrive whole: try again'; fi
}

# Without a password, keeps a file that is unusable or that belongs to another user (INC-204).
may_go_on_without() {
  useless=$(useless_because)
  [ -z "$useless" ] || fail "$kcpassword $useless, and no password is known, so nothing was changed. $way_out"
  user_is_set || fail "auto-login is not set to $LOGIN_USER, and no password is known, so nothing was changed. $way_out"
}

apply() {
  uid=$(login_uid)
  read_wanted
  if [ -z "$wanted" ]; then
    may_go_on_without
  elif refused_before "$refusals" "$wanted"; then
    refused "This password of $LOGIN_USER was refused at the console before."
  fi
  if [ -n "$wanted" ] && [ "$(kept)" != "$wanted" ]; then
    printf '' | write_file "$unproven" 0644
    if ! printf '%s\n' "$wanted" | base64 -D | write_file "$kcpassword" 0600; then
      rm -f "$kcpassword".tartan-new
      fail "$kcpassword could not be written; the one before is still there"
    fi
  fi
  if ! user_is_set; then
    printf '' | write_file "$unproven" 0644
    defaults write "$preferences" autoLoginUser "$LOGIN_USER"
  fi
  is_private || chmod 0600 "$kcpassword"
  if [ -e "$unproven" ] || ! session_is_up "$uid"; then
    restart_loginwindow
    prove_session
    rm -f "$unproven" "$refusals"
  fi
}

# Always wanted: a host without it starts no virtual machine.
check_absent() { :; }
remove() { :; }
