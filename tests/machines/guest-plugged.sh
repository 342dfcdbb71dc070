#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine whose host reads its output: asks for functions to be plugged in, taken out, and
# for the end of their daemon, and checks how programs and the kernel see it. TAP.
# shellcheck source=tests/machines/guest-use.sh
. /guest-use.sh

are_unserved()
{
	for device in $devices; do
		[ "$(cat /sys/bus/mimic/devices/$device/served)" = 0 ] || return 1
	done
}

# Of the bus page and of a device's page.
all_ones()
{
	for device in $devices; do
		base=$(head -n 1 "/sys/bus/pci/devices/$(function_of $device)/resource" | cut -d ' ' -f 1)
		for offset in 0 4096; do
			[ "$(devmem $((base + offset)) 32)" = 0xFFFFFFFF ] || return 1
		done
	done
}

ask plug
await are_there
result $? "functions that are plugged in have nodes"
all_work
result $? "programs work by lanes, with one vector"
! all_ones
result $? "registers do not read as all ones"
ask unplug
await are_gone
result $? "the nodes go when they are taken out"

ask plug
await are_there
all_work
result $? "others in the same slots work"
use_all
ask unplug
await are_gone
result $? "the nodes go when they are taken out while programs use them"
ended_by_errors
result $? "these programs get errors, and no signal"

ask plug
await are_there
all_work
result $? "others in the same slots work once more"
kill_daemon_under_programs
ended_by_errors
result $? "where the daemon is killed, programs get errors, and no signal"
trapped_well
result $? "loads that trapped meanwhile give all ones"
await are_unserved
result $? "the devices say that nobody serves them"
none_works
result $? "they cannot be opened"
all_ones
result $? "registers read as all ones"
[ "$(dmesg | grep -c 'nobody serves it')" = 3 ]
result $? "the kernel's log says it once for each"
works maple0
result $? "a device of another daemon goes on"
ask unplug
await are_gone
result $? "what nobody serves can be taken out"
ask recover
await are_there
all_work
result $? "a daemon that is started anew serves others in their slots"

kill_daemon_under_programs
ended_by_errors
result $? "where that daemon is killed, programs get errors, and no signal"
trapped_well
result $? "loads that trapped meanwhile give all ones, there too"
for device in $devices; do
	echo 1 >"/sys/bus/pci/devices/$(function_of $device)/remove"
done
await are_gone
result $? "their functions are removed in the machine"
ask recover-elsewhere
await are_there
all_work
result $? "a daemon with MSI-X serves others in other slots"
echo "1..$number"
