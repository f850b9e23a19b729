# Virtual machines and images on disk.

# local_folder NAME puts the folder of a local virtual machine into $vm.
local_folder() { vm=$home/vms/$1; }

# A virtual machine consists of config.json, disk.img and nvram.bin.
initialized() { [ -f "$1/config.json" ] && [ -f "$1/disk.img" ] && [ -f "$1/nvram.bin" ]; }

# open_local NAME sets $vm, or fails with tart's error.
open_local() {
  local_folder "$1"
  case $1 in '' | */*) missing "$1" ;; esac
  [ -d "$vm" ] || missing "$1"
  initialized "$vm" || fail 1 "VM is missing some of its files (config.json, disk.img or nvram.bin)"
}

# parse_reference HOST/NAMESPACE[:TAG|@DIGEST]; 1: not a reference, so a local name.
parse_reference() {
  case $1 in */*) ;; *) return 1 ;; esac
  registry=${1%%/*} namespace=${1#*/} tag='' digest=''
  case $namespace in
    *@*) digest=${namespace##*@} namespace=${namespace%%@*} ;;
    *:*) tag=${namespace##*:} namespace=${namespace%:*} ;;
    *) tag=latest ;;
  esac
  replaced "$registry" : %3A
  images=$home/cache/OCIs/$value/$namespace
}

read_config() {
  cpu=4 cpu_min=4 memory=8589934592 memory_min=4294967296 mac='' display=1024x768 ecid='' os=darwin
  while IFS= read -r line; do
    quoted=${line#*: \"} quoted=${quoted%%\"*} number=${line#*: } number=${number%,}
    case $line in
      *'"os"'*) os=$quoted ;;
      *'"cpuCountMin"'*) cpu_min=$number ;;
      *'"cpuCount"'*) cpu=$number ;;
      *'"memorySizeMin"'*) memory_min=$number ;;
      *'"memorySize"'*) memory=$number ;;
      *'"macAddress"'*) mac=$quoted ;;
      *'"width"'*) display=$number ;;
      *'"height"'*) display=${display}x$number ;;
      *'"ecid"'*) ecid=$quoted ;;
    esac
  done 2>/dev/null <"$1/config.json"
}

write_config() {
  printf '{\n  "version" : 1,\n  "os" : "%s",\n  "arch" : "arm64",\n  "cpuCountMin" : %s,\n  "cpuCount" : %s,\n  "memorySizeMin" : %s,\n  "memorySize" : %s,\n  "macAddress" : "%s",\n  "display" : {\n    "width" : %s,\n    "height" : %s\n  },\n  "diskFormat" : "raw",\n  "ecid" : "%s",\n  "hardwareModel" : "YnBsaXN0"\n}\n' \
    "$os" "$cpu_min" "$cpu" "$memory_min" "$memory" "$mac" "${display%x*}" "${display#*x}" "$ecid" >"$1/config.json.new"
  mv "$1/config.json.new" "$1/config.json"
}

random_bytes() { od -An -N"$1" -tx1 /dev/urandom; }

new_mac() {
  set -- $(random_bytes 5)
  mac=7e:$1:$2:$3:$4:$5
}

new_ecid() {
  set -- $(random_bytes 8)
  ecid=$1$2$3$4$5$6$7$8
}

# The disk is a few bytes here, so its sizes are in a file next to it: GB of the disk, and used GB with three digits.
read_sizes() {
  disk_gb=50 size_gb=20.125
  [ ! -f "$1/.sizes" ] || read -r disk_gb size_gb 2>/dev/null <"$1/.sizes"
}

touch_access() {
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  for folder; do echo "$now" >"$folder/.accessed"; done
}

# With `stale` a running virtual machine is reported as stopped, as after a lost fcntl lock (openai/tart #967).
state_of() {
  running=false state=stopped
  [ ! -f "$1/state.vzvmsave" ] || state=suspended
  control host/state truthful
  if [ "$value" = truthful ] && held "$1/.pid"; then running=true state=running; fi
}
