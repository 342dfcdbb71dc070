#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine that boots twice, with programs at work when it does, and is killed in the end. The
# second boot knows of the first one by the clock's year. TAP.
# shellcheck source=tests/machines/guest-use.sh
. /guest-use.sh

if [ "$(date +%Y)" -gt 2002 ]; then
	all_work
	result $? "programs work"
	use_all
	date -s 2001-01-01 >/tmp/said-date
	hwclock -u -w
	result $? "the clock is set"
	# The last line of all is held back.
	echo "# reboots"
	sync
	reboot -f
fi
number=2
result 0 "the machine has booted again"
all_work
result $? "programs work after a reboot under programs"
dmesg | sed 's/^/# dmesg: /'
echo "1..$number"
use_all
ask kill-machine
sleep 60
