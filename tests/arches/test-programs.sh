#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Programs of another architecture: examples by library and by traps, and commands' errors for missing parts.
# To be run by with-qemu.sh. TAP.
# usage: test-programs.sh BUILD, whose programs are of that architecture
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
mimic=$build/bin/mimic
says() # says STATUS TEXT COMMAND...: ends so, with the text on standard error
{
	local status=$1 text=$2
	shift 2
	"$@" >"$work/output" 2>"$work/errors"
	[ $? = "$status" ] && grep -qF -- "$text" "$work/errors"
}

passes() # passes COMMAND...
{
	"$@" >"$work/output" 2>"$work/errors"
}

for example in "maple/spmv --kronecker 7" "maple/bfs --kronecker 7 --roots 4" "dare/gemm --size 40x40x40" \
	"virgo/gemm --size 40x40x40"; do
	# shellcheck disable=SC2086
	passes "$build/examples/"$example --transport embedded
	result $? "${example%% *}: the library's results are right"
done
passes "$mimic" run --transport embedded -- "$build/examples/virgo/gemm_stores" --size 20x20x20
result $? "virgo/gemm_stores: plain loads and stores reach the device under mimic run"
# How it ends is not looked at: qemu-user 7.2 may end by an assertion of its own when the signal kills.
! passes "$mimic" run --transport embedded -- "$build/tests/arches/atomic" &&
	grep -qF "it locks memory, which no bus can do" "$work/errors"
result $? "an atomic operation on a register ends the program, which says why"
passes "$mimic" run --transport embedded -- "$build/tests/arches/atomic" plain
result $? "a load and a store in its place do not"
says 2 "here each access is a trap" "$mimic" run --stat -- "$build/examples/maple/spmv"
result $? "mimic run --stat says that no instruction is replaced"
says 2 "here each access is a trap" "$mimic" run --perf-map -- "$build/examples/maple/spmv"
result $? "so does --perf-map"
says 2 "programs run in virtual time on x86-64 alone" "$mimic" sim -- "$build/examples/maple/spmv"
result $? "mimic sim says that there is no virtual time"
says 2 "programs run in virtual time on x86-64 alone" "$mimic" cflags
result $? "so does mimic cflags"
passes "$mimic" sim --parameters
result $? "its parameters are shown all the same"
# The daemon of this machine serves the contracts, because qemu-user lacks a call; programs' own memory is out of its reach.
timeout -s TERM 5 "$build/bin/mimicd" --foreground --kernel=off --socket "$work/mimicd.sock" >"$work/output" 2>"$work/errors"
grep -q 'serving .* devices' "$work/errors" && grep -q 'process_vm_readv: Function not implemented: devices reach only memory that programs share' "$work/errors"
result $? "mimicd says that it reaches no memory that programs do not share"
says 2 "/bin/sh: not a" "$mimic" run -- /bin/sh
result $? "a program of this machine's processor is refused"
plan
