# Shared by scripts that choose which release of the agent runs. Sent between lib.sh and the script of the step.
#
#   current_release               the release that `current` names, or nothing.
#   switch_to RELEASE             makes `current` name that release.
#   remember_proven RELEASE PLIST records that both were seen running. The pair recorded before stays available for a rollback.
#   release_in FILE, plist_in FILE  of one of the two files below. The text of a plist ends in x, so that `$(…)` keeps its last newline.
#
# $STATE/agent-proven holds what was seen running last: the release in its first line, then the job's file. It is one file so that a
# release is never restored with the arguments of another. $STATE/agent-proven-before has the same content for the agent before.

agent=$ROOT/usr/local/lib/tart-kubelet
proven=$STATE/agent-proven
proven_before=$STATE/agent-proven-before

current_release() {
  link=$(readlink "$agent/current" 2>/dev/null || true)
  printf '%s' "${link#releases/}"
}

# Renames, so that `current` always exists. Moves into the folder rather than onto the link, because mv would follow the link.
switch_to() {
  if [ "$(current_release)" = "$1" ]; then return 0; fi
  rm -rf "$agent/.switch" && mkdir -p "$agent/.switch" && ln -s "releases/$1" "$agent/.switch/current" &&
    mv -f "$agent/.switch/current" "$agent/" && rmdir "$agent/.switch" && sync
}

# Writes the older pair first: an interruption between the two leaves the same agent in both, and the new one is proven again.
remember_proven() {
  if [ -e "$proven" ] && ! holds "$proven" "$1
$2"; then
    write_file "$proven_before" 0644 <"$proven" || return 1
  fi
  printf '%s\n%s' "$1" "$2" | write_file "$proven" 0644
}

release_in() { sed 1q "$1" 2>/dev/null || true; }
plist_in() { sed 1d "$1" && printf x; }
