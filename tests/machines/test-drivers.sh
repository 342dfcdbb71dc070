#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The project's own drivers, on functions of PCI in stock kernels: programs and kselftests that need
# no daemon beside them, in each machine. TAP.
# usage: test-drivers.sh BUILD CACHE ARCH-KERNEL-LEVELS...
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
cache=$2
shift 2
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. "$(dirname "$0")/machine.sh"

lib=tests/kselftest/lib
shared="$lib/on_pci.c $lib/real_daemon.c $lib/memory.c $lib/time_scale.c"
# Kselftests that have the real device, and take it from wherever it is.
kselftests="test_dare_memory test_virgo_memory test_virgo_events"
declare -A more=([test_dare_memory]=$lib/dare_device.c [test_virgo_memory]=$lib/virgo_device.c
	[test_virgo_events]="$lib/virgo_device.c $lib/virgo_product.c")
# Tests that differ on PCI: an injected fault needs the daemon's socket, tracefs is not mounted, and
# counters of the device, of barriers, too, go on from process to process.
other_there='test_virgo_memory: .*(pages_that_were_never|an_unmapped_row_is)|test_virgo_events: .*(lost_interrupt|tracepoints_tell|barrier_that_opens)'

# compile ARCH KERNEL PROGRAM SOURCE...: a static program of the machine, in $work/programs
compile()
{
	local tree=$cache/kernel-$1-$2/tree compiler=gcc-14 program=$3
	[ "$1" = x86_64 ] || compiler=riscv64-linux-gnu-gcc-14
	shift 3
	tools/vm/in-tree.sh "$tree" "$compiler" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -I. -Iinclude \
		-isystem "$build/vm/linux-source" -static -pthread -Wl,--wrap=alarm \
		-o "$work/programs/$program" "$@"
}

mkdir -p "$work/programs"
for name in "$@"; do
	has_compiler "$name" || continue
	IFS=- read -r arch kernel levels <<<"$name"
	modules_for "$arch" "$kernel"
	result $? "$name: the drivers compile"
	files=() own_daemon=:
	if [ "$arch" = "$(uname -m)" ]; then
		# shellcheck disable=SC2046
		files+=(--file tests/machines/guest-both.sh --file "$build/bin/mimicd" $(libraries_of "$build/bin/mimicd"))
		own_daemon='sh /guest-both.sh'
	fi
	for program in $kselftests; do
		# shellcheck disable=SC2086
		compile "$arch" "$kernel" "$program" "tests/kselftest/$program.c" ${more[$program]} $shared
		result $? "$name: $program compiles"
		files+=(--file "$work/programs/$program")
	done
	# Where its registers are a function of their own, their stores are posted.
	virgo=virgo0
	[ "$arch" != x86_64 ] || virgo=virgo0,split
	machine "$name" --device maple0 --device dare0 --device "$virgo" "${modules[@]}" \
		--include include --compile examples/pci/try_maple_pci.c --compile tests/machines/try_unbind.c "${files[@]}" \
		"/try_maple_pci /dev/maple0; for t in $kselftests; do /\$t | sed \"s/^\(\(not \)\{0,1\}ok [0-9]*\) /\1 - \$t: /\"; done; /try_unbind mimic_pci; $own_daemon"
	status=$?
	left_out=$other_there
	# Addresses of these two are those of 47 bits; three levels have 38.
	[ "$levels" != 3 ] || left_out="$left_out|a_row_that_crosses_from_one_piece|units_work_all_over"
	grep -Ev "$left_out" "$work/output" >"$work/applies"
	mv "$work/applies" "$work/output"
	pass_on "$name" $status
	quiet_kernel
	result $? "$name: the kernel reports no defect"
done
plan
