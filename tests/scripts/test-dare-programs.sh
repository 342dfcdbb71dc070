#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# examples/dare/run: programs of DARE's instructions in text files, on both transports,
# and its errors for bad input and for instructions that fail. TAP on stdout.
#
#   test-dare-programs.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
run=$build/examples/dare/run

# runs STATUS NAME TEXT OPTION...: TEXT is the program
runs() {
	local wanted=$1 name=$2 text=$3 status
	shift 3
	printf '%s\n' "$text" >"$work/program"
	timeout -k 5 60 "$run" "${transport[@]}" "$@" "$work/program" >"$work/output" 2>"$work/errors" </dev/null
	status=$?
	echo "exit status $status, wanted $wanted" >>"$work/errors"
	[ $status = "$wanted" ]
	result $? "$name"
}

# prints TEXT NAME: exactly this on standard output
prints() {
	printf '%s\n' "$1" | cmp -s - "$work/output"
	result $? "$2"
}

# refuses NAME PROGRAM TEXT: exit status 2, nothing printed, TEXT on standard error
refuses() {
	runs 2 "$1" "$2"
	[ ! -s "$work/output" ] && grep -qF -- "$work/program:$3" "$work/errors"
	result $? "$1: it is told"
}

fails() {
	runs 1 "$1" "$2"
	grep -qF -- "$work/program:$3" "$work/errors"
	result $? "$1: the line is told"
}

# int8: 3 x 5 + 7 x -2 = 1; two rows the other way round by addresses.
product='.data a, 4
.int8 3, 7
.data b, 4
.int8 5, -2
.data c, 4
	li t0, 1
	li t1, 4
	mcfg zero, t0	# one row
	mcfg t0, t1	# of four bytes
	li t2, 2
	mcfg t2, t0	# one column
	la a0, a
	mld m1, (a0), zero
	la a0, b
	mld m2, (a0), zero
	mma.i8 m0, m1, m2
	la a0, c
	mst m0, (a0), zero
.print c int32 1 1'
gather='.data rows, 16
.int32 1, 2, 3, 4
.data addresses, 16
.address rows+8, rows
.data out, 16
	li t0, 2
	mcfg zero, t0
	li t0, 1
	li t1, 8
	mcfg t0, t1
	la a0, addresses
	mld m1, (a0), t1
	mgather m0, (m1)
	la a0, out
	addi a0, a0, 8
	li t2, -8
	mst m0, (a0), t2
.print out, int32, 2, 2'

on_a_transport() {
	local on=$1
	runs 0 "$on: a product" "$product"
	prints "c: 1 x 1 int32
 1" "$on: the product is right"
	runs 0 "$on: a gather" "$gather"
	prints "out: 2 x 2 int32
 1 2
 3 4" "$on: rows come from their addresses and go to descending ones"
	runs 1 "$on: a load from address 16" 'li a0, 16
mld m0, (a0), zero'
	grep -qF "$work/program:2: instruction 0, mld m0, (a0), zero: row 0, address 0x10" "$work/errors"
	result $? "$on: the line, the instruction, the row and the address are told"
	"$run" "${transport[@]}" examples/dare/product.s >"$work/output" 2>"$work/errors" </dev/null
	result $? "$on: examples/dare/product.s"
	prints "c: 2 x 3 fp32
 1 10 -4
 0.5 1.5 -4
gathered: 2 x 4 fp32
 0 2 0 -2
 1 0 0 0" "$on: examples/dare/product.s is right"
}

transport=(--transport embedded)
on_a_transport embedded

runs 0 "an empty program" ""
printf '%s\n' "$product" | "$run" "${transport[@]}" - >"$work/output" 2>"$work/errors"
prints "c: 1 x 1 int32
 1" "a program on standard input"
printf '\001\377' >"$work/bytes"
runs 0 "data from a file beside the program" '.data x, "bytes"
.print x int8 1 2'
prints "x: 1 x 2 int8
 1 -1" "data from a file is what is in it"
runs 0 "all types" '.data x, 16
.fp32 1.5, -0.25
.bf16 3, nan
.int8 0x7f, -128
.print x fp32 1 2
.print x+8 bf16 1 2
.print x+12 int8 2 1
.print x+12 hex 1 2'
prints "x: 1 x 2 fp32
 1.5 -0.25
x: 1 x 2 bf16
 3 nan
x: 2 x 1 int8
 127
 -128
x: 1 x 2 hex
 7f 80" "all types are printed"
runs 0 "x0" 'li zero, 5
li a0, 1
.data x, 4
mcfg zero, a0
mcfg a0, a0
la a1, x
mst.b m0, (a1), x0
.print x hex 1 4'
runs 0 "JSON" "$product" --json
grep -q '"transport": *"embedded"' "$work/output" && grep -q '"dispatched": *7' "$work/output" &&
	grep -q '"macs_used": *4' "$work/output" && grep -q '"error": *null' "$work/output"
result $? "JSON has transport, instructions, counters and no error"
runs 1 "JSON of a failing program" '.word 1' --json
grep -q '"error": *".*no instruction of DARE' "$work/output"
result $? "JSON has the error"

fails "an illegal word" '
.word 0x1234' '2: instruction 0, .word 0x00001234'
fails "a shape out of range" 'li a0, 17
mcfg zero, a0' '2: instruction 0, mcfg zero, a0'
fails "an odd address" '.data x, 64
li t0, 1
mcfg zero, t0
la a0, x+1
mld m0, (a0), zero' '5: instruction 1, mld m0, (a0), zero'

refuses "a wrong instruction" 'mld m8, (a0), a1' "1:5: expected a matrix register (m0 to m7), not 'm8'"
refuses "an unknown directive" '.what 1' '1:1: expected an instruction'
refuses "li without a number" 'li a0' '1:6: the end of the line: a whole number must be here'
refuses "li of too large a number" 'li a0, 18446744073709551616' '1:8: 18446744073709551616'
refuses "la of no name" 'la a0, x' '1:8: x: there is no .data of this name before'
refuses "a name twice" '.data x, 4
.data x, 4' '2:7: x: there is a .data of this name already'
refuses "data of no size" '.data x, 0' '1:10: 0: bytes (at most 1 GiB) or "FILE" must be here'
refuses "data of a file that is not there" '.data x, "none"' '1:10: "none": No such file'
refuses "data of a file without its quote" '.data x, "none' '1:10: "none: a file'
refuses "more values than room" '.data x, 4
.fp32 1, 2' '2:10: 2: the last .data is full'
refuses "values without data" '.fp32 1' '1:7: 1: there is no .data before'
refuses "a value that does not fit" '.data x, 4
.int8 128' '2:7: 128: this does not fit the type'
refuses "a print that is too large" '.data x, 4
.print x fp32 2 1' '2:10: fp32: so many rows and columns'
refuses "a print of no type" '.data x, 4
.print x fp64 1 1' '2:10: fp64: fp32, bf16'
refuses "words behind a step" 'li a0, 1 2' '1:10: 2: nothing may follow here'
printf 'li a0, 1\0\n' >"$work/null"
timeout 60 "$run" "$work/null" >"$work/output" 2>"$work/errors"
[ $? = 2 ] && grep -qF "null:1: a null byte" "$work/errors"
result $? "a null byte is refused"

for arguments in "--what" "--transport what" "--device dare99 /dev/null" "one two" "$work/none" "$work" "--config $work/none /dev/null"; do
	# shellcheck disable=SC2086 # these are several words
	timeout 60 "$run" $arguments >"$work/output" 2>"$work/errors" </dev/null
	[ $? = 2 ] && [ -s "$work/errors" ] && [ ! -s "$work/output" ]
	result $? "exit status 2: run ${arguments//$work/DIR}"
done
timeout 60 "$run" --help >"$work/output" 2>"$work/errors" && grep -q "^Usage: run" "$work/output"
result $? "help"
timeout 60 "$run" --transport daemon --socket "$work/none" /dev/null >"$work/output" 2>"$work/errors" </dev/null
[ $? = 1 ]
result $? "exit status 1 where no daemon answers"

start_daemon dare:1 || result 1 "the daemon starts"
transport=(--transport daemon --socket "$work/socket")
on_a_transport daemon

plan
