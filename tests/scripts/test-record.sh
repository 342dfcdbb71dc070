#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# `mimic record` and `mimic replay`: programs with a library and by traps, files that are not
# whole, other parameters. TAP on stdout.
#
#   test-record.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic

run() # run ARGUMENTS...: mimic
{
	timeout -k 5 60 "$mimic" "$@" >"$work/output" 2>"$work/errors"
}

says() # says TEXT NAME: of the last run
{
	grep -qF -e "$1" "$work/output"
	result $? "$2"
}

# identical NAME PROGRAM...: recorded, it succeeds; and all its devices replay identically
identical()
{
	local name=$1 status
	shift
	run record -o "$work/run.mimic" -- "$@"
	result $? "${name}_is_recorded"
	run replay "$work/run.mimic"
	status=$?
	[ $status = 0 ] && grep -q ': identical$' "$work/output" && ! grep -qv ': identical$' "$work/output"
	result $? "${name}_replays_identically"
}

identical spmv "$build/examples/maple/spmv" --kronecker 8
cp "$work/run.mimic" "$work/spmv.mimic"
identical bfs "$build/examples/maple/bfs" --kronecker 6 --roots 2
identical spmm "$build/examples/dare/spmm" --uniform 64x8 --block 1,8 --columns 16
identical gemm "$build/examples/virgo/gemm" --size 48x48x48
cp "$work/run.mimic" "$work/gemm.mimic"
identical gemm_two_units "$build/examples/virgo/gemm_two_units" --size 48x48x48 --second 32x32x32
identical gemm_by_stores "$build/examples/virgo/gemm_stores"
identical trapped_spmv "$build/tests/unmodified/spmv"
identical trapped_bfs "$build/tests/unmodified/bfs"
identical trapped_virgo "$build/tests/unmodified/virgo"
identical trapped_threads "$build/tests/unmodified/threads"

# --- the program's own --------------------------------------------------------------------------
run record -o "$work/status.mimic" -- sh -c 'exit 7'
[ $? = 7 ] && [ ! -e "$work/status.mimic" ]
result $? "the_exit_status_is_the_programs_and_no_device_is_no_file"
(cd "$work" && timeout 60 "$mimic" record -- "$build/tests/unmodified/bfs" >output 2>errors && [ -s run.mimic ])
result $? "the_file_is_run_mimic_if_nothing_is_said"
run record -o "$work/two.mimic" -- sh -c "$build/tests/unmodified/bfs && $build/tests/unmodified/bfs"
files=("$work"/two*.mimic)
[ ${#files[@]} = 2 ]
result $? "each_process_has_a_file_of_its_own"
for file in "${files[@]}"; do
	run replay "$file"
	result $? "$(basename "$file" | sed 's/[0-9][0-9]*/PID/')_replays"
done
run record -o "$work/processes.mimic" -- "$build/tests/unmodified/processes"
result $? "children_that_fork_and_exec_are_recorded"

# --- files that are not whole ----------------------------------------------------------------------
size=$(stat -c %s "$work/spmv.mimic")
head -c $((size - 100)) "$work/spmv.mimic" >"$work/cut.mimic"
run replay "$work/cut.mimic"
[ $? = 2 ] && grep -qF "offset $((size - 100)): cut off inside of the block" "$work/output"
result $? "a_cut_file_is_reported_with_its_offset_and_exits_2"
says "calls before it are whole" "whole_records_are_replayed"

block=$((size / 2))
{ head -c $block "$work/spmv.mimic"; printf 'mimic'; tail -c +$((block + 6)) "$work/spmv.mimic"; } >"$work/bad.mimic"
run replay "$work/bad.mimic"
[ $? = 2 ] && grep -q 'block at offset [0-9]*: checksum does not match; [0-9]* calls before it are whole' "$work/output"
result $? "a_corrupt_file_is_reported_with_its_offset_and_exits_2"

printf 'MIMICREC\3\0\0\0\0\0\0\0' >"$work/version.mimic"
refused "checksum of its header" replay "$work/version.mimic"
result $? "a_header_with_a_wrong_checksum_is_refused"
# The last four bytes are CRC-32C of the others, bit by bit, not by mimic.
printf 'MIMICREC\3\0\0\0\325\146\274\312' >"$work/version.mimic"
refused "a recording of version 3" replay "$work/version.mimic"
result $? "a_recording_of_another_version_is_refused"
refused "not a recording" replay "$mimic"
result $? "another_file_is_refused"
refused "No such file" replay "$work/none.mimic"
result $? "a_file_that_is_not_there_is_refused"

# A disk that is full: a write ends in the middle of a block there, too. 100 KB are one block and a half.
(ulimit -f 100; exec timeout 60 "$mimic" record -o "$work/full.mimic" -- "$build/examples/maple/spmv" --kronecker 12 >"$work/output" 2>"$work/errors")
[ $? = 1 ] && [ "$(stat -c %s "$work/full.mimic")" = 102400 ] && grep -q "full.mimic: the recording could not be written" "$work/errors" &&
	grep -q 'embedded  yes' "$work/output" && run replay "$work/full.mimic"
[ $? = 2 ] && grep -q 'offset 102400: cut off inside of the block at offset [0-9]*; [0-9]* calls before it are whole' "$work/output"
result $? "a_recording_that_finds_no_more_room_ends_and_its_program_does_not"

# --- other parameters ------------------------------------------------------------------------------------
run replay --set queues=2 "$work/spmv.mimic"
[ $? = 1 ] && grep -q 'differs at call [0-9]*, [0-9.]* s after the first: load of MAPLE ' "$work/output" &&
	grep -q 'answer: recorded 0x[0-9a-f]*, now 0x[0-9a-f]*' "$work/output"
result $? "a_model_with_another_parameter_differs_and_the_register_is_named"
run replay --set queue_entries=64 "$work/gemm.mimic"
[ $? = 1 ]
result $? "a_virgo_with_another_queue_differs"
refused "no such parameter" replay --set colour=3 "$work/spmv.mimic"
result $? "a_parameter_that_is_none_is_refused"

# --- the output -----------------------------------------------------------------------------------------
run replay --json "$work/spmv.mimic"
[ $? = 0 ] && grep -q '"identical": *true' "$work/output" && grep -q '"end": *"whole"' "$work/output"
result $? "json_says_the_same"
run replay --json --set queues=2 "$work/spmv.mimic"
[ $? = 1 ] && grep -q '"recorded": *"0x' "$work/output"
result $? "json_has_the_difference"
run replay --verbose "$work/spmv.mimic"
[ $? = 0 ] && grep -q 'load of MAPLE IDENTIFY \[0\], 8 bytes, by [0-9]' "$work/output"
result $? "verbose_prints_each_call"
for command in record replay; do
	run $command --help
	[ $? = 0 ] && grep -q "^Usage: mimic $command" "$work/output"
	result $? "${command}_help_exits_0"
	refused "" $command --what
	result $? "${command}_with_an_unknown_option_exits_2"
	refused "" $command
	result $? "${command}_without_words_exits_2"
done
mkdir "$work/small"
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # of the inner shell
	(cd "$work" && unshare -m sh -c 'mount -t tmpfs -o size=256k none small && "$@"; status=$?; cp small/run.mimic cut.mimic; exit $status' - \
		timeout 60 "$build/bin/mimic" record -o small/run.mimic "$build/tests/unmodified/sites" 100 1 1 20) >"$work/output" 2>"$work/errors"
	[ $? = 1 ] && grep -q 'small/run.mimic: the recording could not be written to its end' "$work/errors" &&
		[ "$(wc -l <"$work/errors")" = 1 ] && { "$build/bin/mimic" replay "$work/cut.mimic" >>"$work/output" 2>>"$work/errors"
			grep -q 'accesses.*identical' "$work/output"; }
	result $? "a_full_disk_is_told_and_what_was_written_replays"
else
	skip "a_full_disk_is_told_and_what_was_written_replays" "no rights to mount"
fi
refused "$work/none/run.mimic" record -o "$work/none/run.mimic" -- true
result $? "a_directory_that_is_not_there_is_refused"
refused "not a regular file" record -o "$work" -- true
result $? "a_file_that_is_a_directory_is_refused"

plan
