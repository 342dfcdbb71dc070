#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine of test-plugged.sh: programs that use the devices of the test's daemon. Sourced by the
# other scripts; by itself it tries these devices once. TAP.
number=0
devices="maple1 dare0 virgo0"
export MIMIC_TRANSPORT=kernel

result() # result STATUS DESCRIPTION
{
	number=$((number + 1))
	[ "$1" = 0 ] && echo "ok $number - $2" && return
	echo "not ok $number - $2"
	tail -n 10 /tmp/said-* 2>/dev/null | sed 's/^/# /'
}

ask() # ask WHAT: of the host
{
	echo "host: $1"
	# The last line of all is held back (tools/vm/vm.sh).
	echo "# asked the host: $1"
}

await() # await COMMAND...: a minute at most
{
	tries=600
	while ! "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		usleep 100000
	done
}

are_there()
{
	for device in $devices; do
		[ -c /dev/$device ] || return 1
	done
}

are_gone()
{
	for device in $devices; do
		[ ! -e /dev/$device ] || return 1
	done
}

works() # works DEVICE: a program of its library verifies its results
{
	case $1 in
	maple*) /maple_spmv --device $1 --uniform 400x8 --form lima ;;
	dare*) /dare_spmm --device $1 --uniform 64x8 --columns 16 ;;
	virgo*) /virgo_gemm --device $1 --size 64x64x64 ;;
	esac >/tmp/said-$1 2>&1
}

all_work()
{
	for device in $devices; do
		works $device || return 1
	done
}

none_works()
{
	for device in $devices; do
		! works $device || return 1
	done
}

# Programs that use the device while it goes: until one of them fails.
use_it() # use_it DEVICE
{
	while works $1; do
		:
	done
	echo $? >/tmp/end-$1
}

use_all()
{
	rm -f /tmp/end-*
	loops=
	for device in $devices; do
		use_it $device &
		loops="$loops $!"
	done
	sleep 3
}

function_of() # function_of DEVICE: its PCI function
{
	basename "$(realpath /sys/bus/mimic/devices/$1/..)"
}

# Loads that trap, one after the other, until nobody serves any of the functions.
use_by_traps()
{
	registers=
	for device in $devices; do
		registers="$registers /sys/bus/pci/devices/$(function_of $device)/resource0"
	done
	# shellcheck disable=SC2086
	/try_unserved $registers >/tmp/said-traps 2>&1 &
	traps=$!
	sleep 1
}

kill_daemon_under_programs()
{
	use_all
	use_by_traps
	ask kill-daemon
}

trapped_well() # nobody serves any more: its loads were answered before, and are all ones now
{
	wait $traps
}

have_ended()
{
	for device in $devices; do
		[ -s /tmp/end-$device ] || return 1
	done
}

# With an exit status that is no signal's.
ended_by_errors()
{
	await have_ended || return 1
	for device in $devices; do
		[ "$(cat /tmp/end-$device)" -lt 128 ] || return 1
	done
}

[ "${0##*/}" = guest-use.sh ] || return 0
all_work
result $? "programs work"
echo "1..$number"
