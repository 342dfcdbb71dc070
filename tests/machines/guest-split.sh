#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine that has virgo0 as two functions: they come and go one by one. TAP.
number=0
drivers=/sys/bus/pci/drivers
functions=/sys/bus/pci/devices
export MIMIC_TRANSPORT=kernel

result() # result STATUS DESCRIPTION
{
	number=$((number + 1))
	[ "$1" = 0 ] && echo "ok $number - $2" && return
	echo "not ok $number - $2"
	{ tail -n 5 /tmp/said; dmesg | tail -n 5; } | sed 's/^/# /'
}

tell() # tell DRIVER bind|unbind FUNCTION
{
	echo "$3" 2>/tmp/said >"$drivers/$1/$2"
}

is_there() # within ten seconds
{
	tries=100
	while [ ! -c /dev/virgo0 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		usleep 100000
	done
}

is_driven() # is_driven FUNCTION
{
	[ -e "$functions/$1/driver" ]
}

works()
{
	is_there && /virgo_gemm --device virgo0 --size 64x64x64 >/tmp/said 2>&1
}

is_there
result $? "a device of two functions has a node"
registers=$(basename "$(realpath /sys/bus/mimic/devices/virgo0/..)")
# Other devices may have such functions, too: it is the one that goes with the device.
for memory in "$drivers"/mimic_pci_memory/*:*; do
	memory=$(basename "$memory")
	tell mimic_pci_memory unbind "$memory"
	is_driven "$registers" || break
	tell mimic_pci_memory bind "$memory"
done
! is_driven "$registers" && [ ! -e /dev/virgo0 ]
result $? "the device goes with the driver of its memory"
[ ! -e "$functions/$registers/resource2" ] && [ -e "$functions/$memory/resource2" ]
result $? "its memory is a BAR of the second function only"

echo "$registers" >/sys/bus/pci/drivers_probe
! is_driven "$registers" && [ ! -e /dev/virgo0 ]
result $? "registers wait for their memory"
tell mimic_pci_memory bind "$memory" && works
result $? "the device is there when the memory is, and works"

tell mimic_pci unbind "$registers" && [ ! -e /dev/virgo0 ] && is_driven "$memory"
result $? "the memory stays where the registers go"
tell mimic_pci bind "$registers" && works
result $? "the device works when they come again"

(
	exec 3<>/dev/virgo0
	tell mimic_pci_memory unbind "$memory" && ! is_driven "$registers" && ! is_driven "$memory"
)
result $? "the memory of a device that a program has open goes"
tell mimic_pci_memory bind "$memory" && tell mimic_pci bind "$registers" && works
result $? "the device works afterwards"
echo "1..$number"
