#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Unmodified programs of the libraries in stock kernels: they use lanes of PCI functions, which the project's drivers
# give, without their doing. On x86-64 the contracts, too, or those of the devices in $CONTRACTS. TAP.
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
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

examples="maple/spmv maple/bfs dare/spmm virgo/gemm"
archives="libcommon.a libmaple.a libdare.a libvirgo.a libmimic.a"

# compile_libraries ARCH KERNEL: sets $objects, where obj/ and lib/ are, and $compiler. What is there is not compiled anew.
compile_libraries()
{
	local goals=() goal tree=$cache/kernel-$1-$2/tree libraries=$cache/libraries-$1
	compiler=(gcc)
	objects=$build
	[ "$1" != "$(uname -m)" ] || return 0
	objects=$cache/programs-$1
	tools/vm/fetch.sh libraries "$1" "$libraries" >"$work/output" 2>"$work/errors" || return
	compiler=(tools/vm/in-tree.sh "$tree" "$1-linux-gnu-gcc-14" -isystem "$libraries/usr/include"
		-L"$libraries/usr/lib/$1-linux-gnu")
	for goal in $archives; do
		goals+=("$objects/lib/$goal")
	done
	for goal in $examples; do
		goals+=("$objects/obj/examples/$goal.o")
	done
	make -j2 WERROR=0 O="$objects" CC="${compiler[*]}" CFLAGS=-O2 "${goals[@]}" >"$work/output" 2>"$work/errors"
}

# link PROGRAM OBJECT...: static, in $work/programs, of the machine of $compiler
link()
{
	local program=$1
	shift
	"${compiler[@]}" -static -pthread -o "$work/programs/$program" "$@" -linih -ljson-c -lm \
		>"$work/output" 2>"$work/errors"
}

compile_programs() # compile_programs ARCH KERNEL
{
	local example device all=()
	compile_libraries "$1" "$2" || return
	for example in $archives; do
		all+=("$objects/lib/$example")
	done
	for example in $examples; do
		link "${example/\//_}" "$objects/obj/examples/$example.o" "${all[@]}" || return
	done
	for example in try_library try_stale; do
		"${compiler[@]}" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -I. -Iinclude -c \
			-o "$work/$example.o" "tests/machines/$example.c" 2>"$work/errors" || return
		link "$example" "$work/$example.o" "$objects/lib/libmimic.a" || return
	done
	[ "$1" = "$(uname -m)" ] || return 0
	for device in ${CONTRACTS:-maple dare virgo}; do
		link "contract_$device" "$build"/obj/tests/contract/*.o "$build/obj/tests/contract/$device"/*.o \
			"$build"/lib/lib{test,sim,daemon}.a "${all[@]}" -luring -ldl || return
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
	machine "$name" --device maple0,rings --device dare0,rings --device virgo0,rings "${modules[@]}" \
		--file tests/machines/guest-contract.sh --file tests/machines/guest-library.sh "${files[@]}" "sh /guest-library.sh ${ACCESSES:-1000000}"
	status=$?
	pass_on "$name" $status
	quiet_kernel
	result $? "$name: the kernel reports no defect"
done
plan
