#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: loads our modules in the order of /mimic/modules/order, or
# unloads them in the reverse. TAP.
#
#   modules.sh load|unload
cd /mimic/modules || exit 1
number=0

# result DESCRIPTION COMMAND...
result() {
	number=$((number + 1))
	description=$1
	shift
	if output=$("$@" 2>&1); then
		echo "ok $number - $description"
	else
		echo "# $output"
		echo "not ok $number - $description"
	fi
}

unloads_and_leaves_nothing() {
	rmmod "$1" && [ ! -e "/sys/module/$1" ]
}

kmemleak=/sys/kernel/debug/kmemleak

# kmemleak reports what two scans found unreferenced and unchanged, and older
# than 5 s. It turns itself off when it has no memory: then scan is refused.
scan_twice() {
	echo scan >$kmemleak && sleep 5 && echo scan >$kmemleak
}

kmemleak_forgets_what_was_before() {
	scan_twice && echo clear >$kmemleak
}

kmemleak_finds_nothing() {
	sleep 5
	scan_twice && ! grep . $kmemleak
}

# After its first report, or when it has no room left, lockdep sees nothing more.
lockdep_still_watches() {
	grep '^ *debug_locks: *1$' /proc/lockdep_stats
}

echo "TAP version 13"
case $1 in
load)
	[ ! -w $kmemleak ] || result "kmemleak_works" kmemleak_forgets_what_was_before
	while read -r module; do
		result "${module}_loads" insmod "$module.ko"
	done <order
	;;
unload)
	for module in $(tac order); do
		result "${module}_unloads" unloads_and_leaves_nothing "$module"
	done
	[ ! -w $kmemleak ] || result "no_memory_leaks" kmemleak_finds_nothing
	[ ! -r /proc/lockdep_stats ] || result "lockdep_still_watches" lockdep_still_watches
	;;
esac
echo "1..$number"
