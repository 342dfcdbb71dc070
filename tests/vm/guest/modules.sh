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

# Freed objects are looked for twice: the first scan sees what is young.
kmemleak_finds_nothing() {
	for _ in 1 2; do
		echo scan >/sys/kernel/debug/kmemleak
		sleep 5
	done
	! grep . /sys/kernel/debug/kmemleak
}

echo "TAP version 13"
case $1 in
load)
	while read -r module; do
		result "${module}_loads" insmod "$module.ko"
	done <order
	;;
unload)
	for module in $(tac order); do
		result "${module}_unloads" unloads_and_leaves_nothing "$module"
	done
	[ ! -w /sys/kernel/debug/kmemleak ] || result "no_memory_leaks" kmemleak_finds_nothing
	;;
esac
echo "1..$number"
