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

# It turns itself off when it has no memory, and refuses every command then. It
# never scans by itself here, so this one changes nothing.
kmemleak_works() {
	echo scan=off >$kmemleak
}

# It reports what two scans found unreferenced and unchanged, and older than 5 s.
kmemleak_finds_nothing() {
	sleep 5
	echo scan >$kmemleak && echo scan >$kmemleak && ! grep . $kmemleak
}

# After its first report, or when it has no room left, lockdep sees nothing more.
lockdep_still_watches() {
	grep '^ *debug_locks: *1$' /proc/lockdep_stats
}

kcsan=/sys/kernel/debug/kcsan

# It watches accesses of our modules only. Its reports are in the kernel's log.
kcsan_has_watched_our_modules() {
	grep '^setup_watchpoints: *[1-9]' $kcsan
}

echo "TAP version 13"
case $1 in
load)
	[ ! -w $kmemleak ] || result "kmemleak_works" kmemleak_works
	while read -r module; do
		result "${module}_loads" insmod "$module.ko"
	done <order
	;;
unload)
	for module in $(tac order); do
		result "${module}_unloads" unloads_and_leaves_nothing "$module"
	done
	[ ! -w $kmemleak ] || result "no_memory_leaks" kmemleak_finds_nothing
	[ ! -r $kcsan ] || result "kcsan_has_watched_our_modules" kcsan_has_watched_our_modules
	[ ! -r /proc/lockdep_stats ] || result "lockdep_still_watches" lockdep_still_watches
	;;
esac
echo "1..$number"
