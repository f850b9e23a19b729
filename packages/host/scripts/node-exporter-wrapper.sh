#!/bin/sh
# Starts node_exporter on the tailnet address and on no other: it asks for no password.
set -eu
ROOT=${TARTAN_ROOT:-}

address=
for try in 1 2 3 4 5; do
  address=$("$ROOT/usr/local/bin/tailscale" ip -4 2>/dev/null | head -n 1) || address=
  case $address in
    100.*) break ;;
  esac
  address=
  [ "$try" = 5 ] || sleep 2
done
if [ -z "$address" ]; then
  echo 'there is no tailnet address to listen on' >&2
  exit 1
fi

exec "$ROOT/usr/local/bin/node_exporter" "--web.listen-address=$address:9100" --collector.disable-defaults \
  --collector.cpu --collector.diskstats --collector.filesystem --collector.loadavg --collector.meminfo \
  --collector.netdev --collector.os --collector.time --collector.uname
