#!/bin/sh
# Makes the root of a container and becomes its program. Runs in a mount namespace of its own, so nothing of this is seen outside, and all
# of it goes with the process. The environment is that of the container.
# enter.sh IMAGE SCRATCH USER READ_ONLY [FOLDER PATH READ_ONLY]... -- COMMAND...
set -eu
image=$1 scratch=$2 user=$3 read_only=$4
shift 4
root=$scratch/root
mkdir -p "$root" "$scratch/upper" "$scratch/work"
# What the program writes is its own: the image is shared.
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
# In a namespace of users there is nobody else to become.
[ "$user" != 0 ] || exec chroot "$root" "$@"
exec chroot --userspec="$user:$user" --groups="$user" "$root" "$@"
