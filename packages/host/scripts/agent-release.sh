# A release of the agent: /usr/local/lib/tart-kubelet/releases/<id>/{tart-kubelet.mjs,arguments,node}. Prepared in a temporary folder and
# renamed when complete. `current`, which this script does not change, decides whether it runs.
# needs: proven-agent

release=$agent/releases/${RELEASE_ID:-}
node=../../runtime/${RUNTIME_SHA256:-}/node

is_whole() {
  [ -f "$1/tart-kubelet.mjs" ] && [ "$(sha256 "$1/tart-kubelet.mjs")" = "$RELEASE_SHA256" ] &&
    holds "$1/arguments" "$ARGUMENTS_HASH
" && [ "$(readlink "$1/node")" = "$node" ]
}

check() { is_whole "$release" || differs "the release $RELEASE_ID is missing or damaged"; }

apply() {
  [ -f "$STORE/$RELEASE_SHA256" ] || fail "the agent $RELEASE_SHA256 was not uploaded: push again"
  remove_old
  new=$agent/releases/.new
  rm -rf "$new"
  mkdir -p "$new"
  cp "$STORE/$RELEASE_SHA256" "$new/tart-kubelet.mjs"
  printf '%s\n' "$ARGUMENTS_HASH" >"$new/arguments"
  ln -s "$node" "$new/node"
  chmod 0755 "$new"
  chmod 0644 "$new/tart-kubelet.mjs" "$new/arguments"
  chown -R root:wheel "$new"
  is_whole "$new" || fail "the uploaded agent $RELEASE_SHA256 is damaged: push again"
  sync
  # mv needs a free name. The release was damaged, so nothing usable is missing for that moment.
  rm -rf "$release"
  mv "$new" "$release"
}

# Removes all but the wanted release, the running one, and those proven last, which `agent-job` and roll-back-agent.sh restore.
remove_old() {
  current=$(current_release)
  last=$(release_in "$proven")
  before=$(release_in "$proven_before")
  for folder in "$agent"/releases/*; do
    case ${folder##*/} in
      "$RELEASE_ID" | "$current" | "$last" | "$before") ;;
      *) rm -rf "$folder" ;;
    esac
  done
}

check_absent() { [ ! -e "$agent/releases" ] || differs 'releases of the agent are left'; }
remove() { rm -rf "$agent/releases"; }
