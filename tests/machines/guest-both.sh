#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine that has a MAPLE on its PCI bus: a mimicd of its own with two, of which one has that one's name. TAP.
loader=$(ls /ld-linux-*)
$loader --library-path / /mimicd --foreground --socket /tmp/mimicd.sock --kernel=required --devices maple:2 2>/tmp/log &
tries=100
while [ ! -c /dev/maple1 ] && [ $tries -gt 0 ]; do
	usleep 100000
	tries=$((tries - 1))
done
if [ -c /dev/maple1 ] && dmesg | grep -q 'mimic maple0: cannot be added: -17' && ! dmesg | grep -q 'duplicate filename'; then
	echo "ok 1 - a device whose name is taken is left out, and the next one is there"
else
	echo "not ok 1 - a device whose name is taken is left out, and the next one is there"
	sed 's/^/# /' /tmp/log
fi
kill $!
echo "1..1"
