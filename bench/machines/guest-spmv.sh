#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the machine of spmv.sh: maple0 is a device of the machine's own mimicd, maple1 the function of PCI, which is
# bound again once maple0 is there.
export MIMIC_TRANSPORT=kernel
loader=$(ls /ld-linux-*)
function=$(basename /sys/bus/pci/drivers/mimic_pci/0*)
echo "$function" >/sys/bus/pci/drivers/mimic_pci/unbind
$loader --library-path / /mimicd --foreground --socket /tmp/mimicd.sock --kernel=required --devices maple:1 2>/tmp/log &
daemon=$!
tries=100
while [ ! -c /dev/maple0 ] && [ $tries -gt 0 ]; do
	usleep 100000
	tries=$((tries - 1))
done
echo "$function" >/sys/bus/pci/drivers/mimic_pci/bind
status=0
for _ in 1 2 3 4 5 6 7; do
	for device in maple0 maple1; do
		way=lanes
		[ $device = maple1 ] || way="kernel transport"
		report=$(/maple_spmv --device $device --form plain,lima --uniform 20000x16 --json 2>>/tmp/log) || status=1
		echo "$way: $(echo "$report" | tr -d '\n')"
	done
done
kill $daemon
[ $status = 0 ] || cat /tmp/log
exit $status
