# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0 OR MIT
# For the scripts of this folder: static programs for a machine, of objects that are there already, or are
# compiled anew for another architecture. The caller has read machine.sh.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

archives="libcommon.a libmaple.a libdare.a libvirgo.a libmimic.a"
# Files of the tests' library that contracts need; the whole library would need cmocka.
contract_helpers="programs self_memory timed_maple dare_oracle half $(cd tests/lib && echo virgo_reference*.c | sed 's/\.c//g')"

# use_compiler ARCH KERNEL: sets $compiler, and $objects, where obj/ and lib/ are
use_compiler()
{
	local tree=$cache/kernel-$1-$2/tree libraries=$cache/libraries-$1
	compiler=(gcc)
	objects=$build
	[ "$1" != "$(uname -m)" ] || return 0
	objects=$cache/programs-$1
	tools/vm/fetch.sh libraries "$1" "$libraries" >"$work/output" 2>"$work/errors" || return
	compiler=(tools/vm/in-tree.sh "$tree" "$1-linux-gnu-gcc-14" -isystem "$libraries/usr/include"
		-L"$libraries/usr/lib/$1-linux-gnu")
}

# compile_goals GOAL...: files below $objects, of another architecture; of this one they are there already.
compile_goals()
{
	[ "$objects" != "$build" ] || return 0
	mkdir -p "$objects"
	# The libraries that fetch.sh has fetched. Archives need no others; mimicd and commands are not made.
	printf '%s\n' 'LIBRARY_CFLAGS :=' 'HAS_INIH := 1' 'INIH_LIBS := -linih' 'HAS_JSON := 1' 'JSON_LIBS := -ljson-c' >"$objects/known.mk"
	make -j2 WERROR=0 LIBRARIES_MK="$objects/known.mk" O="$objects" CC="${compiler[*]}" CFLAGS=-O2 "${@/#/$objects/}" >"$work/output" 2>"$work/errors"
}

# compile_libraries ARCH KERNEL SOURCE...: archives, and the objects of sources, named without .c
compile_libraries()
{
	local goals=() goal
	use_compiler "$1" "$2" || return
	shift 2
	for goal in $archives; do
		goals+=("lib/$goal")
	done
	for goal in "$@"; do
		goals+=("obj/$goal.o")
	done
	compile_goals "${goals[@]}"
}

# link PROGRAM OBJECT...: static, in $work/programs, of the machine of $compiler
link()
{
	local program=$1 all=() archive
	shift
	for archive in $archives; do
		all+=("$objects/lib/$archive")
	done
	"${compiler[@]}" -static -pthread -o "$work/programs/$program" "$@" "${all[@]}" -linih -ljson-c -lm -ldl \
		>"$work/output" 2>"$work/errors"
}

# Devices whose contracts run in a machine: on this machine's architecture those of $CONTRACTS, on others those of
# $FOREIGN_CONTRACTS; if these are not set, all.
contracts_of() # contracts_of ARCH
{
	if [ "$1" = "$(uname -m)" ]; then
		echo "${CONTRACTS-maple dare virgo}"
	else
		echo "${FOREIGN_CONTRACTS-maple dare virgo}"
	fi
}

# link_contract ARCH KERNEL DEVICE: contract_DEVICE in $work/programs
link_contract()
{
	local parts=() part helpers=()
	for part in tests/contract/*.c tests/contract/"$3"/*.c; do
		parts+=("obj/${part%.c}.o")
	done
	for part in $contract_helpers; do
		helpers+=("obj/tests/lib/$part.o")
	done
	compile_libraries "$1" "$2" && compile_goals lib/libsim.a "${parts[@]}" "${helpers[@]}" || return
	link "contract_$3" "${parts[@]/#/$objects/}" "${helpers[@]/#/$objects/}" "$objects/lib/libsim.a"
}
