# The stock node by its hash: /usr/local/lib/tart-kubelet/runtime/<sha256>/node. Never signed again: its own signature holds the
# entitlements that it needs. Installed by rename, so that a running node keeps its file and the kernel sees a new inode (INC-10).

agent=$ROOT/usr/local/lib/tart-kubelet
runtime=$agent/runtime/${RUNTIME_SHA256:-}/node

check() {
  if [ ! -x "$runtime" ]; then
    differs "the runtime $RUNTIME_SHA256 is missing"
  elif [ "$(sha256 "$runtime")" != "$RUNTIME_SHA256" ]; then
    differs "the runtime $RUNTIME_SHA256 is damaged"
  fi
}

apply() {
  [ -f "$STORE/$RUNTIME_SHA256" ] || fail "the runtime $RUNTIME_SHA256 was not uploaded: push again"
  # A fixed name is enough, because the lock excludes other pushers. A later run overwrites what an interruption left.
  new=$agent/runtime/.new
  rm -f "$new"
  mkdir -p "${runtime%/node}"
  cp "$STORE/$RUNTIME_SHA256" "$new"
  chmod 0755 "$new"
  chown root:wheel "$new"
  [ "$(sha256 "$new")" = "$RUNTIME_SHA256" ] || fail "the uploaded runtime $RUNTIME_SHA256 is damaged: push again"
  sync
  mv -f "$new" "$runtime"
  remove_unused
}

# Removes runtimes that no release on this host names.
remove_unused() {
  for folder in "$agent"/runtime/*; do
    [ "$folder" != "${runtime%/node}" ] || continue
    for link in "$agent"/releases/*/node; do
      case $(readlink "$link" 2>/dev/null || true) in
        */"${folder##*/}"/node) continue 2 ;;
      esac
    done
    rm -rf "$folder"
  done
}

check_absent() { [ ! -e "$agent/runtime" ] || differs 'runtimes of the agent are left'; }
remove() { rm -rf "$agent/runtime"; }
