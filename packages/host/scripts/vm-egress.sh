# pf rules for what virtual machines send.
#
# RULES: text of the anchor. RULES_LABEL: on each of these rules, and unique to this text. PLIST: of the job that loads them at boot.
# needs: launchd

job=dev.tuist.pfctl-runners
anchors='com.apple/tuist.runners tuist.runners'
anchor_file=$ROOT/etc/pf.anchors/tuist.runners
pf_conf=$ROOT/etc/pf.conf

# Reads pf.conf line by line. Ours are the lines between our two marks and, wherever they are, a single mark, the anchor, its load, and
# the comment that earlier versions put above them (INC-248). Other lines are never touched, even after a mark whose other half is
# missing.
#   pf_conf_lines strip FILE   prints all other lines
#   pf_conf_lines judge FILE   prints `right` if the only lines of ours are one block as it should be
pf_conf_lines() {
  awk -v mode="$1" '
    function bare(line) { gsub(/^[ \t]+|[ \t\r]+$/, "", line); return line }
    function is_ours(line) {
      line = bare(line)
      return line ~ /^(load[ \t]+)?anchor[ \t]+"?tuist\.runners"?([ \t].*)?$/ || line ~ /^#.*\/etc\/pf\.anchors\/tuist\.runners/
    }
    function other(line) { if (is_ours(line)) strays++; else if (mode == "strip") print line }
    function unfinished(   i) { strays++; for (i = 1; i <= held; i++) other(lines[i]); inside = 0 }
    bare($0) == "# BEGIN tuist.runners" {
      if (inside) unfinished()
      inside = 1; held = 0; exact = ($0 == "# BEGIN tuist.runners")
      next
    }
    bare($0) == "# END tuist.runners" {
      if (!inside) { strays++; next }
      blocks++; inside = 0
      if (!exact || held != 2 || $0 != "# END tuist.runners" || lines[1] != "anchor \"tuist.runners\"" ||
        lines[2] != "load anchor \"tuist.runners\" from \"/etc/pf.anchors/tuist.runners\"") strays++
      next
    }
    inside { lines[++held] = $0; next }
    { other($0) }
    END {
      if (inside) unfinished()
      if (mode == "judge") print (blocks == 1 && strays == 0) ? "right" : "wrong"
    }' "$2"
}

# Filter rules come last in a pf.conf, and so does the block. A correct block stays where it is, because others append theirs too.
new_pf_conf() {
  pf_conf_lines strip "$pf_conf"
  cat <<'END'
# BEGIN tuist.runners
anchor "tuist.runners"
load anchor "tuist.runners" from "/etc/pf.anchors/tuist.runners"
# END tuist.runners
END
}

pf_conf_is_right() { [ "$(pf_conf_lines judge "$pf_conf")" = right ]; }

# Asks the kernel instead of trusting a record (INC-252).
anchor_is_loaded() { pfctl -a "$1" -s rules 2>/dev/null | grep -qF "label \"$RULES_LABEL\""; }

# An anchor takes effect only if the main ruleset names it (INC-254, INC-255).
is_hooked() {
  main_rules=$(pfctl -s rules 2>/dev/null) || fail 'pfctl does not tell the live rules'
  printf '%s\n' "$main_rules" | grep -q -e '^anchor "com\.apple/\*"' -e '^anchor "tuist\.runners"'
}

is_enabled() { pfctl -s info 2>/dev/null | grep -q '^Status: Enabled'; }

check() {
  [ -f "$pf_conf" ] || fail "$pf_conf is missing: copy it from a Mac with the same macOS, and restart this one"
  pf_conf_is_right || differs "$pf_conf does not have our anchor once and only once"
  holds "$anchor_file" "$RULES" || differs "$anchor_file does not hold the wanted rules"
  check_job "$job" "$PLIST"
  for anchor in $anchors; do
    anchor_is_loaded "$anchor" || differs "pf has not loaded the wanted rules into $anchor"
  done
  is_hooked || differs 'the live main ruleset of pf looks into neither com.apple/* nor tuist.runners'
  is_enabled || differs 'pf is not enabled'
}

# Another pfctl may be running, and the kernel takes one at a time.
load_anchor() {
  tries=5
  until said=$(printf '%s' "$RULES" | pfctl -a "$1" -f - 2>&1); do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "pf refuses the rules for $1; the ones before are still in force. Restart the Mac if its tables are stuck: $said"
    sleep 1
  done
}

apply() {
  # First into the kernel, then onto the disk: so a boot never finds a file that pf refuses, which would disable all of pf.conf.
  for anchor in $anchors; do
    anchor_is_loaded "$anchor" || load_anchor "$anchor"
  done
  # Every -E adds a reference that would never be released.
  is_enabled || said=$(pfctl -E 2>&1) || fail "pf could not be enabled: $said"
  holds "$anchor_file" "$RULES" || printf '%s' "$RULES" | write_file "$anchor_file" 0644
  if ! pf_conf_is_right; then
    wanted=$(new_pf_conf && printf x)
    printf '%s' "${wanted%x}" | write_file "$pf_conf" 0644
  fi
  register_job "$job" "$PLIST" || fail 'the rules count now, but would not after a reboot'
  is_hooked || fail "pf has the rules but does not look at them: its live main ruleset hooks neither com.apple/* nor tuist.runners." \
    "Loading $pf_conf whole would cut running virtual machines off: restart the Mac while it is idle."
}

# Always wanted: every host has it.
check_absent() { :; }
remove() { :; }
