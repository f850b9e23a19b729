#!/bin/sh
# Mounts the root of a container and execs its program. Runs in its own mount namespace, so the mounts are invisible outside and end with
# the process. The environment is that of the container.
# enter.sh IMAGE SCRATCH USER READ_ONLY [FOLDER PATH READ_ONLY]... -- COMMAND...
set -eu
image=$1 scratch=$2 user=$3 read_only=$4
shift 4
root=$scratch/root
mkdir -p "$root" "$scratch/upper" "$scratch/work"
# An overlay, because the image is shared.
mount -t overlay overlay -o "lowerdir=$image,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
mkdir -p "$root/proc" "$root/dev"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
[ "$read_only" = rw ] || mount -o remount,bind,ro "$root"
# A user namespace has no other users.
[ "$user" != 0 ] || exec chroot "$root" "$@"
exec chroot --userspec="$user:$user" --groups="$user" "$root" "$@"
