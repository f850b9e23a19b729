# Sleep, screen saver, automatic logout and automatic updates.

# As `pmset` names them. A restart after a power cut depends on the hardware: a Mac that does not list it does not support it.
power_settings() {
  cat <<'END'
sleep 0 required
displaysleep 0 required
disksleep 0 required
autorestart 1 optional
END
}

# In /Library/Preferences, as `defaults` names them. macOS checks for updates and keeps its malware lists current, but neither downloads
# nor installs a version, nor the security responses that restart the Mac.
preferences() {
  cat <<'END'
com.apple.screensaver idleTime int 0
com.apple.screensaver askForPassword int 0
.GlobalPreferences com.apple.autologout.AutoLogOutDelay int 0
com.apple.SoftwareUpdate AutomaticCheckEnabled bool 1
com.apple.SoftwareUpdate ConfigDataInstall bool 1
com.apple.SoftwareUpdate AutomaticDownload bool 0
com.apple.SoftwareUpdate AutomaticallyInstallMacOSUpdates bool 0
com.apple.SoftwareUpdate CriticalUpdateInstall bool 0
com.apple.SoftwareUpdate SplatEnabled bool 0
END
}

# Checks every profile, since any of them may be in use.   power_is TABLE KEY VALUE required|optional
power_is() {
  printf '%s\n' "$1" | awk -v key="$2" -v value="$3" -v need="$4" '
    $1 == key { seen = 1; if ($2 != value) wrong = 1 }
    END { exit wrong || (need == "required" && !seen) }'
}

preference_is() { [ "$(defaults read "$ROOT/Library/Preferences/$1" "$2" 2>/dev/null || true)" = "$4" ]; }

wrong_power() {
  power_table=$(pmset -g custom) || fail 'pmset does not tell the power settings'
  power_settings | while read -r key value need; do
    power_is "$power_table" "$key" "$value" "$need" || printf '%s %s\n' "$key" "$value"
  done
}

wrong_preferences() {
  preferences | while read -r domain key type value; do
    preference_is "$domain" "$key" "$type" "$value" </dev/null || printf '%s %s %s %s\n' "$domain" "$key" "$type" "$value"
  done
}

check() {
  # In two steps, because a pipe hides that its first command failed.
  wrong=$(wrong_power)
  printf '%s\n' "$wrong" | while read -r key value; do
    [ -z "$key" ] || differs "pmset: $key is not $value"
  done
  wrong_preferences | while read -r domain key _ value; do differs "$domain: $key is not $value"; done
}

apply() {
  wrong=$(wrong_power)
  printf '%s\n' "$wrong" | while read -r key value; do
    [ -z "$key" ] || pmset -a "$key" "$value" </dev/null
  done
  wrong_preferences | while read -r domain key type value; do
    case $type$value in
      bool0) value=false ;;
      bool1) value=true ;;
    esac
    defaults write "$ROOT/Library/Preferences/$domain" "$key" "-$type" "$value" </dev/null
  done
}

# The earlier settings are not known.
check_absent() { :; }
remove() { :; }
