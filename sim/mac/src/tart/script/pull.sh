# pull, push and fqn. A registry is a folder: tags point to digests, digests have controls for their download. In an open registry any other
# reference exists too, with a digest made from its text.

digest_of_text() {
  printf '%s' "$1" | od -An -v -tu1 | awk '
    { for (i = 1; i <= NF; i++) { a = (a * 131 + $i) % 4294967291; b = (b * 65599 + $i + 7) % 4294967279 } }
    END { printf "sha256:"; for (i = 0; i < 4; i++) { printf "%08x%08x", a, b; a = (a * 69069 + b) % 4294967291; b = (b * 1103 + a) % 4294967279 } }'
}

registry_refuses() { fail 1 "Error: UnexpectedHTTPStatusCode(when: \"pulling manifest\", code: $1, details: \"$2\")"; }

# $digest of the reference, and $known, the control folder of that digest.
resolve() {
  if [ -z "$digest" ]; then
    control "registry/$registry/$namespace/:$tag"
    digest=$value
    if [ -z "$digest" ]; then
      control host/registry open
      [ "$value" = open ] || registry_refuses 404 MANIFEST_UNKNOWN
      digest=$(digest_of_text "$registry/$namespace:$tag")
    fi
  else
    control host/registry open
    [ "$value" = open ] || [ -d "$fake/registry/$registry/$namespace/@$digest" ] || registry_refuses 404 MANIFEST_UNKNOWN
  fi
  known=registry/$registry/$namespace/@$digest
  control "$known/credentials"
  if [ -n "$value" ]; then
    # Credentials come from the environment, for one host, without a login.
    [ "${TART_REGISTRY_HOSTNAME-} ${TART_REGISTRY_USERNAME-}:${TART_REGISTRY_PASSWORD-}" = "$registry $value" ] ||
      registry_refuses 401 UNAUTHORIZED
  fi
}

link_tag() {
  if [ -n "$tag" ]; then
    ln -s "$digest" "$images/.$tag.$$" && rm -f "$images/$tag" && mv "$images/.$tag.$$" "$images/$tag"
  else
    : >"$images/$digest/.explicitly-pulled"
  fi
}

# One pull at a time for each registry host.
registry_lock() {
  mkdir -p "$fake/locks"
  lock=$fake/locks/$registry
  until take "$lock"; do
    [ -n "${waited-}" ] || echo 'waiting for lock...'
    waited=1
    pause 0.05
  done
  trap 'code=$?; rm -f "$lock"; finished' EXIT
}

percent() {
  control "$known/quiet"
  [ -z "$value" ] || return 0
  # Rewrites its line, unless CI is set.
  if [ -z "${CI-}" ] && [ -n "${rewritten-}" ]; then printf '\033[1A\033[K'; fi
  rewritten=1
  printf '%s%%\n' "$1"
}

download() {
  replaced "$registry/$namespace@$digest" / _
  part=$home/tmp/$value
  # It is locked before others see it.
  mv "$part" "$home/tmp/.$$" 2>/dev/null || mkdir "$home/tmp/.$$"
  echo $$ >"$home/tmp/.$$/.lock"
  mv "$home/tmp/.$$" "$part"
  done_before=-1
  [ ! -f "$part/.percent" ] || read -r done_before <"$part/.percent"
  control "$known/compressed" 21.5
  echo "pulling disk ($value GB compressed)..."
  control "$known/percents" '0 10 20 30 40 50 60 70 80 90 100'
  for at in $value; do
    # Resumes a killed pull, unless its part was deleted.
    [ "$at" -gt "$done_before" ] || continue
    control "$known/step" 0
    pause "$value"
    echo "$at" >"$part/.percent"
    echo "$at" >>"$part/disk.img"
    percent "$at"
    control "$known/stall"
    while [ "$value" = "$at" ]; do
      pause 0.05
      control "$known/stall"
    done
    control "$known/fail-at"
    if [ "$value" = "$at" ]; then
      cat "$fake/$known/fail" >&2
      exit 1
    fi
    no_space
  done
  echo 'pulling NVRAM...'
  : >"$part/nvram.bin"
  echo "disk of $digest" >"$part/disk.img"
  printf '{ "schemaVersion": 2 }\n' >"$part/manifest.json"
  cpu=4 cpu_min=4 memory=8589934592 memory_min=4294967296 display=1024x768 os=darwin
  new_mac
  new_ecid
  write_config "$part"
  control "$known/sizes" '50 20.125'
  echo "$value" >"$part/.sizes"
  touch_access "$part"
  mkdir -p "$images"
  rm -f "$part/.percent"
  # Locked until it is in place: other calls delete unlocked folders in tmp.
  mv "$part" "$images/$digest" || fail 1 "Error: $digest could not be moved to its place"
  rm -f "$images/$digest/.lock"
}

# The host's disk is full. The test sets the text, since macOS has several.
no_space() {
  [ -f "$fake/host/no-space" ] || return 0
  cat "$fake/host/no-space" >&2
  exit 1
}

tart_pull() {
  reference=
  while [ $# -gt 0 ]; do
    case $1 in
      --concurrency) shift ;;
      --insecure | --deduplicate) ;;
      -*) usage_error "Unknown option '$1'" ;;
      *) reference=$1 ;;
    esac
    shift
  done
  [ -n "$reference" ] || usage_error "Missing expected argument '<remote-name>'"
  parse_reference "$reference" || {
    echo "\"$reference\" is a local image, nothing to pull here!"
    return 0
  }
  echo "pulling $reference..."
  registry_lock
  # The manifest is fetched first, also when the image is cached.
  echo 'pulling manifest...'
  resolve
  cached="$registry/$namespace@$digest image is already cached"
  if [ -d "$images/$digest" ] && [ -n "$tag" ] && [ "$(readlink "$images/$tag")" = "$digest" ]; then
    echo "$cached and linked!"
  elif [ -d "$images/$digest" ]; then
    echo "$cached! creating a symlink..."
    link_tag
  else
    no_space
    download
    link_tag
  fi
}

# config → disk → NVRAM. The disk stays open all the time; nvram.bin is opened last, which is where a deleted bundle is noticed (INC-46).
tart_push() {
  open_local "$1"
  exec 8<"$vm/disk.img"
  echo 'pushing config...'
  [ -f "$vm/config.json" ] || fail 1 'Error: The file “config.json” couldn’t be opened because there is no such file.'
  echo 'pushing disk...'
  control host/push-disk 0
  pause "$value"
  while [ -f "$fake/host/push-held" ]; do pause 0.05; done
  echo 'pushing NVRAM...'
  [ -f "$vm/nvram.bin" ] || fail 1 'Error: The file “nvram.bin” doesn’t exist.'
  exec 8<&-
  echo 'pushing manifest...'
  shift
  for target; do
    parse_reference "$target" || continue
    mkdir -p "$fake/registry/$registry/$namespace"
    digest_of_text "$target $$" >"$fake/registry/$registry/$namespace/:$tag"
  done
}

tart_fqn() {
  parse_reference "${1-}" || { echo "${1-}" && return 0; }
  [ -z "$digest" ] || { echo "$1" && return 0; }
  digest=$(readlink "$images/$tag") || missing "$1"
  echo "$registry/$namespace@$digest"
}
