#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Becomes systemd, as the first process of its own namespaces: it sees the machine, but cannot change it.
#
#   unshare --mount --pid --fork --uts --ipc --net systemd-init.sh WORK GROUP
#
# WORK: its units are in WORK/units. Only WORK, /tmp and /var/tmp can be written. WORK is /run/work, too, for
# services with a /tmp of their own.
# GROUP: the control group that is made for it, in the caller's own; "here" once it is in that
set -eu
work=$1 group=$2

mount --make-rprivate /
mount -t cgroup2 cgroup2 /sys/fs/cgroup
if [ "$group" != here ]; then
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	mkdir "/sys/fs/cgroup$own/$group"
	echo $$ >"/sys/fs/cgroup$own/$group/cgroup.procs"
	umount /sys/fs/cgroup
	# The group is the root of all that systemd sees.
	exec unshare --mount --cgroup "$0" "$work" here
fi

for folder in "$work" /tmp /var/tmp; do
	mount --bind "$folder" "$folder"
done
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs /run
mkdir /run/work
mount --bind "$work" /run/work
mount -o remount,bind,ro /
# Where systemd runs in a container it leaves the machine's settings and consoles alone.
exec env container=mimic SYSTEMD_UNIT_PATH="$work/units" /lib/systemd/systemd --system --unit=only.target --log-target=null
