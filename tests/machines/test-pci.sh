#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# An ordinary PCI driver in stock kernels, by `mimic vm`: its program's checks, in each machine. TAP.
# usage: test-pci.sh BUILD CACHE ARCH-KERNEL-LEVELS...
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
cache=$2
shift 2
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. "$(dirname "$0")/machine.sh"

for name in "$@"; do
	has_compiler "$name" || continue
	machine "$name" --device maple0 --driver examples/pci --compile examples/pci/try_maple_pci.c /try_maple_pci
	pass_on "$name" $?
	quiet_kernel
	result $? "$name: the kernel reports no defect"
done

for name in "$@"; do
	case $name in
	x86_64-6.12-4 | riscv64-6.12-3)
		machine "$name" --device maple0,rings --compile tests/machines/try_lanes.c /try_lanes
		pass_on "$name, lanes" $?
		;;
	esac
done
first=$1
machine "$first" --device maple0 'exit 7'
[ $? = 7 ]
result $? "mimic vm exits with the command's status"
machine "$first" --device maple0 --device dare0 --device virgo0,msi \
	'cat /sys/bus/pci/devices/*/device | grep -E "bc7b|8c1c|5ab5" | sort | tr "\n" " "'
grep -qx '0x5ab5 0x8c1c 0xbc7b ' "$work/output"
result $? "a machine has as many devices as are asked for"
machine "$first" --device maple0 --timeout 20 'sleep 100'
[ $? = 124 ] && grep -q "did not end after 20 s" "$work/errors"
result $? "a machine that does not end is stopped"
machine "$first" --device maple0 'poweroff -f'
[ $? = 125 ] && grep -q "ended before the command did" "$work/errors"
result $? "a machine that ends by itself is said to"

"$build/bin/mimic" vm --device maple0 --arch sparc true 2>"$work/errors"
[ $? = 2 ] && grep -q "x86_64 and riscv64 are known" "$work/errors"
result $? "an architecture that is not there is refused"
"$build/bin/mimic" vm --device maple0 --levels 3 true 2>"$work/errors"
[ $? = 2 ] && grep -q "has one of 4 5" "$work/errors"
result $? "levels that the architecture has not are refused"
"$build/bin/mimic" vm --device maple0 --driver "$work" true 2>"$work/errors"
[ $? = 2 ] && grep -q "no Kbuild" "$work/errors"
result $? "a driver without Kbuild is refused"
mkdir -p "$work/bad" && echo 'obj-m := bad.o' >"$work/bad/Kbuild" && echo 'int x = ;' >"$work/bad/bad.c"
"$build/bin/mimic" vm --device maple0 --cache "$cache" --driver "$work/bad" true 2>"$work/errors"
[ $? = 2 ] && grep -q "bad.c:1" "$work/errors"
result $? "a driver that does not compile shows why"
plan
