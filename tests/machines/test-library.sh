#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Unmodified programs of the libraries in stock kernels: they use lanes of PCI functions, which the project's drivers
# give, without their doing; contracts, too. TAP.
# usage: test-library.sh BUILD CACHE ARCH-KERNEL-LEVELS...
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
cache=$2
shift 2
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. "$(dirname "$0")/machine.sh"
# shellcheck source=tests/machines/programs.sh
. "$(dirname "$0")/programs.sh"

examples="examples/maple/spmv examples/maple/bfs examples/dare/spmm examples/virgo/gemm"

compile_programs() # compile_programs ARCH KERNEL
{
	local example program device
	# shellcheck disable=SC2086
	compile_libraries "$1" "$2" $examples || return
	for example in $examples; do
		program=${example#examples/}
		link "${program/\//_}" "$objects/obj/$example.o" || return
	done
	for example in try_library try_stale; do
		"${compiler[@]}" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -I. -Iinclude -c \
			-o "$work/$example.o" "tests/machines/$example.c" 2>"$work/errors" || return
		link "$example" "$work/$example.o" || return
	done
	for device in $(contracts_of "$1"); do
		link_contract "$1" "$2" "$device" || return
	done
}

for name in "$@"; do
	has_compiler "$name" || continue
	IFS=- read -r arch kernel levels <<<"$name"
	modules_for "$arch" "$kernel"
	result $? "$name: the drivers compile"
	rm -rf "$work/programs"
	mkdir -p "$work/programs"
	compile_programs "$arch" "$kernel"
	result $? "$name: programs of the libraries compile"
	files=()
	for program in "$work"/programs/*; do
		files+=(--file "$program")
	done
	# As two functions each on one of them: one source of the drivers has both.
	split='' more=:
	[ "$arch" != x86_64 ] || split=,split more='sh /guest-split.sh'
	machine "$name" --device maple0,rings --device "dare0,rings$split" --device "virgo0,rings$split" "${modules[@]}" \
		--file tests/machines/guest-contract.sh --file tests/machines/guest-library.sh --file tests/machines/guest-split.sh \
		"${files[@]}" "sh /guest-library.sh ${ACCESSES:-1000000}; $more"
	status=$?
	pass_on "$name" $status
	quiet_kernel
	result $? "$name: the kernel reports no defect"
done
plan
