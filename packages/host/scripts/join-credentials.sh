# /etc/tart-kubelet/kubeconfig, with which the agent joins. The agent writes the certificate that it gets into the same folder. A mark
# records which credentials were installed last.

folder=$ROOT/etc/tart-kubelet
kubeconfig=$folder/kubeconfig
mark=$folder/.join-version
# The agent's certificates with their keys. Removed here too: they give access to the cluster without the kubeconfig.
certificate=$folder/node-certificate.pem
serving=$folder/serving-certificate.pem

check() {
  if [ ! -s "$kubeconfig" ]; then
    differs 'there are no join credentials'
  elif ! holds "$mark" "$JOIN_VERSION
"; then
    differs "the join credentials are not those of $JOIN_VERSION"
  elif [ "$(stat -f '%Su:%Sg %Lp' "$kubeconfig")" != "$AGENT_USER:staff 600" ]; then
    differs "the agent's kubeconfig is not $AGENT_USER's alone"
  fi
}

apply() {
  if [ -s "$kubeconfig" ] && holds "$mark" "$JOIN_VERSION
"; then
    chown "$AGENT_USER:staff" "$kubeconfig"
    chmod 0600 "$kubeconfig"
    return
  fi
  [ "$HAS_PAYLOAD" = yes ] ||
    fail "this host needs the join credentials $JOIN_VERSION, and none were sent: issue a join token for it and push again"
  mkdir -p "$folder"
  chown "$AGENT_USER:staff" "$folder"
  write_file "$kubeconfig" 0600 "$AGENT_USER:staff"
  printf '%s\n' "$JOIN_VERSION" | write_file "$mark" 0644
}

check_absent() {
  [ ! -e "$kubeconfig" ] || differs "the agent's kubeconfig is left"
  [ ! -e "$mark" ] || differs 'the mark of the join credentials is left'
  for left in "$certificate" "$serving"; do
    [ ! -e "$left" ] || differs 'a certificate of the agent is left'
  done
}
remove() { rm -f "$kubeconfig" "$mark" "$certificate" "$serving"; }
