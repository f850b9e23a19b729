# list and get.

# `Size` is an integer in list and a string in get; a test may select another encoding (INC-49).
size_as() {
  read_sizes "$1"
  control host/size "$2"
  case $value in
    int) size=${size_gb%.*} ;;
    float) size=$size_gb ;;
    string) size=\"$size_gb\" ;;
    null) size=null ;;
  esac
}

list_entry() {
  initialized "$2" || return 0
  accessed=2026-01-01T00:00:00Z
  [ ! -f "$2/.accessed" ] || IFS= read -r accessed 2>/dev/null <"$2/.accessed"
  size_as "$2" int
  state_of "$2"
  case $format in
    quiet) printf '%s\n' "$3" ;;
    text) printf '%-6s %-40s %-4s %-4s %-20s %s\n' "$1" "$3" "$disk_gb" "${size_gb%.*}" "$accessed" "$state" ;;
    json)
      [ -z "$listed" ] || printf ',\n'
      printf '  {\n    "Accessed" : "%s",\n    "Disk" : %s,\n    "Name" : "%s",\n    "Running" : %s,\n    "Size" : %s,\n    "Source" : "%s",\n    "State" : "%s"\n  }' \
        "$accessed" "$disk_gb" "$3" "$running" "$size" "$1" "$state"
      ;;
  esac
  listed=1
}

# Both the tag and the digest are listed.
list_images() {
  [ -d "$home/cache/OCIs" ] || return 0
  cd "$home/cache/OCIs" || exit 1
  for path in $(find . \( -type l -o -type d -name 'sha256:*' \) | sort); do
    name=${path#./} leaf=${path##*/}
    replaced "${name%/*}" %3A :
    case $leaf in
      sha256:*) list_entry OCI "$home/cache/OCIs/$path" "$value@$leaf" ;;
      *) list_entry OCI "$home/cache/OCIs/$path" "$value:$leaf" ;;
    esac
  done
}

tart_list() {
  source='' format=text listed=''
  while [ $# -gt 0 ]; do
    case $1 in
      --source) source=${2-} && shift ;;
      --format) format=${2-} && shift ;;
      -q | --quiet) format=quiet ;;
      *) usage_error "Unexpected argument '$1'" ;;
    esac
    shift
  done
  case $source in '' | local | oci) ;; *) usage_error "'$source' is not a valid <source>" ;; esac
  [ "$format" != json ] || printf '[\n'
  [ "$format" != text ] || printf '%-6s %-40s %-4s %-4s %-20s %s\n' Source Name Disk Size Accessed State
  if [ "$source" != oci ]; then
    for folder in "$home"/vms/*; do list_entry local "$folder" "${folder##*/}"; done
  fi
  [ "$source" = local ] || list_images
  [ "$format" != json ] || printf '\n]\n'
}

tart_get() {
  [ $# -gt 0 ] || usage_error "Missing expected argument '<name>'"
  open_local "$1"
  read_config "$vm"
  size_as "$vm" string
  state_of "$vm"
  if [ "${2-} ${3-}" = '--format json' ]; then
    printf '{\n  "CPU" : %s,\n  "Disk" : %s,\n  "DiskFormat" : "raw",\n  "Display" : "%s",\n  "Memory" : %s,\n  "OS" : "%s",\n  "Running" : %s,\n  "Size" : %s,\n  "State" : "%s"\n}\n' \
      "$cpu" "$disk_gb" "$display" "$((memory / 1048576))" "$os" "$running" "$size" "$state"
  else
    printf 'OS     CPU Memory Disk Size   Display  State\n%-6s %-3s %-6s %-4s %-6s %-8s %s\n' \
      "$os" "$cpu" "$((memory / 1048576))" "$disk_gb" "$size_gb" "$display" "$state"
  fi
}
