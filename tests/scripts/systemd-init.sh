#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Becomes systemd, as the first process of its own namespaces. Of file systems of the machine it can change WORK alone.
#
#   unshare --mount --pid --fork --uts --ipc --net systemd-init.sh WORK BUILD GROUP
#
# WORK: systemd sees it as /run/work, and reads its units in WORK/units
# BUILD: systemd sees it as /run/build, because its /tmp and /var/tmp are empty ones
# GROUP: the control group that is made for it, in the caller's own; "here" once it is in that
set -eu
work=$1 build=$2 group=$3

mount --make-rprivate /
mount -t cgroup2 cgroup2 /sys/fs/cgroup
if [ "$group" != here ]; then
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	mkdir "/sys/fs/cgroup$own/$group"
	echo $$ >"/sys/fs/cgroup$own/$group/cgroup.procs"
	umount /sys/fs/cgroup
	# The group is the root of all that systemd sees.
	exec unshare --mount --cgroup "$0" "$work" "$build" here
fi

# Of the mounts that there are each becomes read-only; some of the kernel's own cannot.
cut -d ' ' -f 5 /proc/self/mountinfo | grep -v '^/sys/fs/cgroup$' | while read -r mounted; do
	mount -o remount,bind,ro "$(printf %b "$mounted")" 2>/dev/null || true
done
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs /run
mkdir /run/work /run/build
mount --bind "$work" /run/work
mount -o remount,bind,rw /run/work
mount --bind "$build" /run/build
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /var/tmp
# Where systemd runs in a container it leaves the machine's settings and consoles alone.
exec env container=mimic SYSTEMD_UNIT_PATH=/run/work/units /lib/systemd/systemd --system --unit=only.target --log-target=null
