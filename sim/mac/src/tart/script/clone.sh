# clone, set, rename, delete, prune.

# Whether a new MAC is needed: another local virtual machine has it.
mac_is_taken() {
  for other in "$home"/vms/*/config.json; do
    [ -f "$other" ] || continue
    while IFS= read -r line; do
      case $line in *"\"$1\""*) return 0 ;; esac
    done 2>/dev/null <"$other"
  done
  return 1
}

tart_clone() {
  from='' to=''
  while [ $# -gt 0 ]; do
    case $1 in
      --concurrency | --prune-limit) shift ;;
      --insecure | --deduplicate) ;;
      -*) usage_error "Unknown option '$1'" ;;
      *) if [ -z "$from" ]; then from=$1; else to=$1; fi ;;
    esac
    shift
  done
  case $to in
    '') usage_error "Missing expected argument '<new-name>'" ;;
    */*) usage_error '<new-name> should be a local name' ;;
  esac
  if parse_reference "$from"; then
    # Pulled only if it is not cached: a moving tag keeps its old digest (INC-424).
    [ -d "$images/${tag:-$digest}" ] || tart_pull "$from"
    parse_reference "$from"
    source_folder=$images/${tag:-$digest}
  else
    open_local "$from"
    source_folder=$vm
  fi
  no_space
  # Clones run one at a time: the later one ends later, and so decides about a name.
  take_in_turn clone
  trap 'code=$?; rm -f "$fake/locks/clone"; finished' EXIT
  part=$home/tmp/clone-$$
  mkdir -p "$part" "$home/vms"
  set --
  for file in config.json nvram.bin disk.img .sizes state.vzvmsave; do
    [ ! -f "$source_folder/$file" ] || set -- "$@" "$source_folder/$file"
  done
  cp "$@" "$part"
  [ ! -d "$source_folder/guest" ] || cp -R "$source_folder/guest" "$part/guest"
  read_config "$part"
  if [ ! -f "$part/state.vzvmsave" ] && mac_is_taken "$mac"; then
    new_mac
    write_config "$part"
  fi
  touch_access "$part" "$source_folder"
  # An existing virtual machine with that name is replaced silently, even a running one (INC-429).
  rm -rf "${home:?}/vms/$to"
  mv "$part" "$home/vms/$to" || fail 1 "Error: $to could not be moved to its place"
  rm -f "$fake/locks/clone"
}

tart_set() {
  name=${1-}
  [ $# -eq 0 ] || shift
  open_local "$name"
  read_config "$vm"
  while [ $# -gt 0 ]; do
    case $1 in
      --cpu)
        [ "$2" -ge "$cpu_min" ] || fail 1 "LessThanMinimalResourcesError: VM should have $cpu_min CPU cores at minimum (requested $2)"
        cpu=$2
        shift
        ;;
      --memory)
        [ "$(($2 * 1048576))" -ge "$memory_min" ] ||
          fail 1 "LessThanMinimalResourcesError: VM should have $memory_min bytes of memory at minimum (requested $(($2 * 1048576)))"
        memory=$(($2 * 1048576))
        shift
        ;;
      --display) display=${2%pt} && display=${display%px} && shift ;;
      --random-mac) new_mac ;;
      --random-serial) new_ecid ;;
      --disk-size | --disk) shift ;;
      *) usage_error "Unknown option '$1'" ;;
    esac
    shift
  done
  # Also if it is running.
  write_config "$vm"
}

tart_rename() {
  open_local "$1"
  [ ! -e "$home/vms/$2" ] || usage_error "failed to rename a non-existent local VM: \"$2\" is taken"
  mv "$vm" "$home/vms/$2"
}

# Digests without a tag that were not pulled by digest are deleted with the last tag.
collect_images() {
  for folder in "$images"/sha256:*; do
    [ -d "$folder" ] && [ ! -f "$folder/.explicitly-pulled" ] || continue
    named=
    for link in "$images"/*; do
      [ ! -L "$link" ] || [ "$(readlink "$link")" != "${folder##*/}" ] || named=1
    done
    [ -n "$named" ] || rm -rf "$folder"
  done
}

tart_delete() {
  [ $# -gt 0 ] || usage_error "Missing expected argument '<name> ...'"
  # Stops at the first failure.
  for name; do
    if parse_reference "$name"; then
      entry=$images/${tag:-$digest}
      [ -e "$entry" ] || [ -L "$entry" ] || missing "$name"
      rm -rf "$entry"
      collect_images
    else
      local_folder "$name"
      [ -d "$vm" ] || missing "$name"
      # Exit code 1 here, unlike other errors about running.
      ! held "$vm/.pid" || fail 1 "VM \"$name\" is running"
      rm -rf "$vm"
    fi
  done
}

tart_prune() {
  [ $# -gt 0 ] || usage_error 'at least one pruning criteria must be specified'
  case "$* " in *'--entries vms'*) ;; *) rm -rf "${home:?}/cache/OCIs" ;; esac
}
