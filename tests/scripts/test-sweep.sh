#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sweep: a grid of parameters, its CSV, commands for other machines. Usage: test-sweep.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

mimic=$build/bin/mimic
program=("$build/sim/examples/maple/loops" --kernel spmv --form decoupled --uniform 64x4096x8)

run() # run ARGUMENTS...
{
	timeout -k 2 60 "$mimic" sweep "$@" >"$work/output" 2>"$work/errors"
}

export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
run --soc maple-fpga,maple-sim --set dram.latency=100,300 "${program[@]}"
[ $? = 0 ] &&
	[ "$(awk -F, '$4 == "decoupled" { print $1 "," $2 "," $3 }' "$work/output" | tr '\n' ' ')" = \
	"maple-fpga,100,ok maple-fpga,300,ok maple-sim,100,ok maple-sim,300,ok " ]
result $? "a_line_for_each_combination_and_phase_with_the_last_value_changing_fastest"
awk -F, '$4 == "decoupled" { cycles[$1 "," $2] = $5 }
	END { exit !(cycles["maple-fpga,100"] < cycles["maple-fpga,300"] && cycles["maple-sim,100"] < cycles["maple-sim,300"]) }' \
	"$work/output"
result $? "slower_memory_takes_more_cycles"
cp "$work/output" "$work/first"

run --soc maple-fpga,maple-sim --set dram.latency=100,300 --jobs 1 -o "$work/second" "${program[@]}" &&
	[ ! -s "$work/output" ] && cmp "$work/first" "$work/second"
result $? "the_same_bytes_again_one_at_a_time_and_to_a_file"

run --soc maple-sim --warm 0,1 "$build/tests/sim/warm" phases
# 64 lines of memory and hits, then hits only (test-sim.sh counts them); a phase that comes once has no warm line. The
# array's page is walked once: its entries are in the lines of those of the page before it, 3 reads of 2 cycles.
[ $? = 0 ] && [ "$(awk -F, '$4 == "three" || $4 == "one" { print $2 "," $4 "," $5 }' "$work/output" | tr '\n' ' ')" = \
	"0,three,$((3 * 2 + 64 * 334 + 960 * 4 + 2 * 4096)) 0,one,4096 1,three,8192 " ]
result $? "cold_and_warm_in_lines_below_each_other"

grid=(--soc maple-fpga,maple-sim --set dram.latency=100,300 --directory "$work/a folder")
run "${grid[@]}" --list "${program[@]}" && [ "$(wc -l <"$work/output")" = 4 ] &&
	! compgen -G "$work/a folder/point-*" >/dev/null
result $? "a_list_has_one_command_a_point_and_runs_nothing"
while read -r command; do
	eval "$command" >/dev/null 2>&1
done <"$work/output"
run "${grid[@]}" --collect "${program[@]}" && cmp "$work/first" "$work/output"
result $? "the_files_of_the_listed_commands_make_the_same_table"
rm "$work/a folder/point-00001.json"
run "${grid[@]}" --collect "${program[@]}"
[ $? = 1 ] && grep -qx 'maple-fpga,300,failed' "$work/output" && grep -q 'point 1' "$work/errors"
result $? "a_point_without_a_report_is_told_and_the_others_are_there"

# --- a sweep that is cut off ------------------------------------------------------------------------

cp "$work/a folder/point-00003.json" "$work/cut"
head -c 1000 "$work/cut" >"$work/a folder/point-00003.json"
touch -d '2001-01-01' "$work/a folder/point-00000.json" "$work/a folder/point-00002.json"
run "${grid[@]}" --list --resume "${program[@]}" && [ "$(wc -l <"$work/output")" = 2 ] && grep -q 'point-00001.json' "$work/output" &&
	grep -q 'point-00003.json' "$work/output" && grep -q '2 of 4 points are there' "$work/errors"
result $? "resume_lists_the_points_without_a_whole_report"
run "${grid[@]}" --resume "${program[@]}" && cmp "$work/first" "$work/output" &&
	[ "$(find "$work/a folder" -name '*.json' ! -newermt 2002-01-01 | wc -l)" = 2 ]
result $? "resume_runs_these_alone_and_makes_the_same_table"
run "${grid[@]}" "${program[@]}" && cmp "$work/first" "$work/output" && [ -z "$(find "$work/a folder" -name '*.json' ! -newermt 2002-01-01)" ]
result $? "without_resume_all_points_run_again"

# The second point of two does not end until somebody lets it: by a file, because programs in virtual time have no clock.
printf '#include <stdlib.h>\n#include <unistd.h>\nint main(void)\n{\n\tif (access(getenv("STOP"), F_OK) == 0)\n\t\tfor (;;)\n\t\t\tusleep(10000);\n\treturn 0;\n}\n' \
	>"$work/stops.c"
# shellcheck disable=SC2046 # flags are words
gcc $("$mimic" cflags) -c -o "$work/stops.o" "$work/stops.c" &&
	gcc -o "$work/stops" "$work/stops.o" $("$mimic" cflags --libs)
cut=(--set dram.latency=100,200 --directory "$work/cut off" --jobs 1)
run "${cut[@]}" "$work/stops" && rm "$work/cut off/point-00001.json"
export STOP="$work/stop"
touch "$STOP"
"$mimic" sweep "${cut[@]}" --resume "$work/stops" >"$work/output" 2>"$work/errors" &
sweep=$!
tries=100
until pgrep -f "^$work/stops" >/dev/null || [ $((tries -= 1)) = 0 ]; do sleep 0.1; done
kill -KILL $sweep
wait $sweep 2>/dev/null
[ $tries -gt 0 ] && [ -s "$work/cut off/point-00000.json" ] && [ ! -e "$work/cut off/point-00001.json" ]
result $? "a_sweep_that_is_killed_keeps_what_has_run"
rm "$STOP"
run "${cut[@]}" --resume "$work/stops" && grep -q '1 of 2 points are there' "$work/errors" && [ "$(grep -c ',ok,' "$work/output")" -ge 2 ]
result $? "and_goes_on_from_there"

refused "it has another sweep" --soc maple-fpga --set dram.latency=100,300 --directory "$work/a folder" --resume "${program[@]}"
result $? "another_grid_is_not_taken_for_its_own_by_resume"
refused "it has another sweep" --soc maple-fpga --set dram.latency=100,300 --directory "$work/a folder" --list "${program[@]}" &&
	refused "it has another sweep" --soc maple-fpga --set dram.latency=100,300 --directory "$work/a folder" --collect "${program[@]}"
result $? "nor_by_list_and_collect"
refused "it has another sweep" "${grid[@]}" --resume "${program[@]}" --json
result $? "nor_are_other_arguments_of_the_program"
touch "$work/stops"
refused "stops has changed since" "${cut[@]}" --resume "$work/stops"
result $? "nor_is_another_build_of_it"
mkdir "$work/empty"
refused "no sweep was begun there" --set dram.latency=100,300 --directory "$work/empty" --resume "${program[@]}"
result $? "resume_needs_a_sweep"
refused "needs the --directory" --set dram.latency=100,300 --resume "${program[@]}"; result $? "and_its_directory"

# --- DARE ---------------------------------------------------------------------------------------------

dare=("$build/sim/examples/dare/streams" --kernel sddmm --form plain --block 1 --width 16 --uniform 48x10)
# of NAME FILTER...: the values of a column in the lines of the kernel, in which columns have these values
of()
{
	python3 - "$work/output" "$@" <<'EOF2'
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["phase"] == "plain-1"]
for condition in sys.argv[3:]:
    name, value = condition.split("=")
    rows = [row for row in rows if row[name] == value]
print(*(row[sys.argv[2]] for row in rows))
EOF2
}
# As many multiplications as without virtual time, in each of the 10 points.
native=$("$build/examples/dare/streams" --transport embedded --json "${dare[@]:1}" |
	python3 -c 'import json, sys; print(*[json.load(sys.stdin)["runs"][0]["counters"]["mma"]] * 10)')
run --soc dare --mode base,nvr,fre,static,oracle --set mpu.riq=8,32 "${dare[@]}"
[ $? = 0 ] && [ "$(of mode)" = "base base nvr nvr fre fre static static oracle oracle" ] &&
	[ "$(of mpu.riq mode=nvr)" = "8 32" ] && [ "$(of dare_mma)" = "$native" ]
result $? "modes_of_dare_are_an_axis_and_its_instructions_are_columns"
[ "$(of dare_time_rows_prefetched mode=base)" = "0 0" ] && [ "$(of dare_time_energy_prefetches mode=oracle)" = "0 0" ] &&
	[ "$(of dare_time_riq_most mode=fre)" = "8 32" ] && [ "$(of cycles mode=base mpu.riq=8)" = "$(of cycles mode=base mpu.riq=32)" ] &&
	[ "$(of cycles mode=fre mpu.riq=8)" != "$(of cycles mode=fre mpu.riq=32)" ] &&
	[ "$(of cycles mode=fre mpu.riq=32)" -gt "$(of cycles mode=oracle mpu.riq=32)" ]
result $? "columns_of_dare_say_what_the_hardware_changes"
cp "$work/output" "$work/modes"
timeout 60 "$mimic" sim --soc dare --mode nvr --set mpu.riq=8 --json -o "$work/one.json" "${dare[@]}" >/dev/null 2>&1
python3 - "$work/one.json" "$work/modes" >>"$work/errors" 2>&1 <<'EOF2'
import csv, json, sys
phase = json.load(open(sys.argv[1]))["phases"][-1]
row = [r for r in csv.DictReader(open(sys.argv[2])) if (r["mode"], r["mpu.riq"], r["phase"]) == ("nvr", "8", "plain-1")][0]
for part in "dare", "dare_time":
    names = [name[len(part) + 1:] for name in row if name.startswith(part + "_")]
    names = [name for name in names if part == "dare_time" or not name.startswith("time_")]
    assert len(names) >= 8, names
    for name in names:
        assert row["%s_%s" % (part, name)] == str(phase[part][name]), name
assert all("dare_time_" + name in row for name in phase["dare_time"])
EOF2
result $? "a_line_has_the_numbers_of_the_point_s_report"

# Each part of the hardware: two sizes of it take different cycles.
gsa=("$build/sim/examples/dare/streams" --form gsa --block 1 --width 16 --uniform 96x50)
moves() # moves KEY=A,B [ARGUMENTS...]
{
	local key=${1%%=*}
	# Tiles of SDDMM have one column.
	run --soc dare --set "$@" "${gsa[@]}" --kernel "$([ "$key" = array.columns ] && echo spmm || echo sddmm)" || return 1
	[ "$(awk -F, -v key="$key" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cycles") at = i } /,gsa-1,/ { print $at }' "$work/output" |
		sort -u | wc -l)" = 2 ] || echo "$key moves nothing"
}
for change in "mpu.riq=4,32" "mpu.vmr=1,16" "mpu.lq=2,48" "mpu.window=1,4" "llc.reads=1,2" "llc.size=4K,2M" "llc.latency=20,60" \
	"array.rows=4,16" "array.columns=4,16" "rfu.enabled=0,1" "rfu.threshold=10,64 --set rfu.dynamic=0" "llc.banks=2,16 --set llc.reads=2 --set llc.size=4K"; do
	# shellcheck disable=SC2086 # words are meant
	moves $change
done >"$work/still" 2>&1
[ ! -s "$work/still" ]
result $? "each_part_of_dare_s_hardware_can_be_changed_and_is_seen"
printf 'preset = dare\n[mpu]\nriq = 8\n[llc]\nreads = 2\n' >"$work/my.ini"
run --soc "$work/my.ini" "${dare[@]}" && ours=$(of cycles) && run --soc dare --set mpu.riq=8 --set llc.reads=2 "${dare[@]}" &&
	[ "$ours" = "$(of cycles)" ]
result $? "a_configuration_is_the_same_hardware"
refused "mode must be base, nvr, fre, static or oracle, not 'fast'" --soc dare --mode base,fast "${dare[@]}"
result $? "a_mode_that_there_is_not_is_refused_before_anything_runs"

printf 'int main(void) { return 1; }\n' >"$work/wrong.c"
# shellcheck disable=SC2046 # words are meant
gcc $("$mimic" cflags) -c -o "$work/wrong.o" "$work/wrong.c" &&
	gcc -o "$work/wrong" "$work/wrong.o" $("$mimic" cflags --libs)
run --set dram.latency=100,200 --directory "$work/wrong points" --list "$work/wrong"
failures=0
while read -r command; do
	(eval "$command") >/dev/null 2>&1 || failures=$((failures + 1))
done <"$work/output"
[ $failures = 2 ] && [ "$(ls "$work/wrong points")" = sweep ]
result $? "a_listed_command_of_a_program_that_fails_leaves_no_report_and_fails"
run --set dram.latency=100,200 "$work/wrong"
[ $? = 1 ] && [ "$(grep -c 'failed$' "$work/output")" = 2 ]
result $? "a_program_that_finds_its_result_wrong_has_failed"

run --set maple.queue_entries=32,7 "${program[@]}"
[ $? = 1 ] && grep -q '^32,ok,' "$work/output" && grep -qx '7,failed' "$work/output" && grep -q 'queue_entries' "$work/errors"
result $? "a_value_that_cannot_be_fails_by_itself_and_its_key_is_named"
mkdir "$work/refused"
run --soc dare --mode base,nvr,fre --set mpu.riq=8,9999 --directory "$work/refused" "${dare[@]}"
# Points that cannot be have no messages of a command: none was run.
[ $? = 1 ] && [ "$(grep -c '^dare,[a-z]*,8,ok' "$work/output")" -ge 3 ] && [ "$(grep -c ',9999,failed$' "$work/output")" = 3 ] &&
	[ "$(wc -l <"$work/errors")" = 1 ] && grep -q '9999.*3 of 6 points' "$work/errors" &&
	[ "$(find "$work/refused" -name '*.err' | wc -l)" = 3 ]
result $? "a_value_that_cannot_be_is_told_once_and_its_points_do_not_run"
run "$build/examples/maple/loops" --kernel spmv --kronecker 4
[ $? = 1 ] && grep -q 'failed' "$work/output" && grep -q 'cflags' "$work/errors"
result $? "a_program_without_instrumentation_is_told"
! compgen -G "$TMPDIR/mimic-sweep-*" >/dev/null
result $? "nothing_is_left_in_tmp"

# A program that only spins; none of it is left when a signal ends the command.
cat >"$work/spins.c" <<'EOF2'
static volatile int flag;

int main(void)
{
	while (!flag)
		;
	return 0;
}
EOF2
# shellcheck disable=SC2046 # flags are words
gcc $("$mimic" cflags) -c -o "$work/spins.o" "$work/spins.c" &&
	gcc -o "$work/spins-alone" "$work/spins.o" $("$mimic" cflags --libs)
# ends SIGNAL COMMAND...: it dies of the signal, and no program is left
ends() {
	local signal=$1 tries=50
	shift
	"$@" >/dev/null 2>"$work/errors" &
	until pgrep -f "^$work/spins-alone" >/dev/null || [ $((tries -= 1)) = 0 ]; do sleep 0.1; done
	kill -"$signal" $!
	wait $! 2>/dev/null
	[ $? = $((128 + $(kill -l "$signal"))) ] || return 1
	tries=50
	while pgrep -f "^$work/spins-alone" >/dev/null && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	[ $tries -gt 0 ]
}
ends TERM "$mimic" sweep --set dram.latency=100,200 "$work/spins-alone" && grep -q 'stopped' "$work/errors" &&
	! compgen -G "$TMPDIR/mimic-sweep-*" >/dev/null
result $? "a_sweep_that_is_stopped_leaves_no_program_and_no_file"
ends KILL "$mimic" sim "$work/spins-alone"
result $? "a_run_that_is_killed_leaves_no_program"

# A loader that takes its time to list a program's libraries.
printf '#!/bin/sh\ntouch "%s"\nexec sleep 60.12345\n' "$work/loader_runs" >"$work/loader" && chmod +x "$work/loader"
# shellcheck disable=SC2046 # flags are words
gcc -o "$work/slow-to-list" "$work/spins.o" $("$mimic" cflags --libs) -Wl,--dynamic-linker="$work/loader"
"$mimic" sim "$work/slow-to-list" >/dev/null 2>&1 &
tries=200
until [ -e "$work/loader_runs" ] || [ $((tries -= 1)) = 0 ]; do sleep 0.1; done
kill -KILL $!
wait $! 2>/dev/null
tries=200
while pgrep -f '^sleep 60.12345' >/dev/null && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
[ -e "$work/loader_runs" ] && [ $tries -gt 0 ]
result $? "a_command_that_is_killed_leaves_no_loader"

refused "which program" ; result $? "no_program_is_refused"
refused "KEY=VALUE" --set l2.size "${program[@]}"; result $? "a_set_without_values_is_refused"
refused "no key 'bogus'" --set l2.bogus=1,2 "${program[@]}"; result $? "a_key_that_there_is_not_is_refused_before_anything_runs"
refused "a value is empty" --set l2.size=1K,,2K "${program[@]}"; result $? "an_empty_value_is_refused"
refused "need --directory" --list "${program[@]}"; result $? "a_list_without_a_directory_is_refused"
refused "not both" --list --collect --directory "$work/x" "${program[@]}"; result $? "list_and_collect_are_refused"
refused "--jobs 0" --jobs 0 "${program[@]}"; result $? "no_job_at_a_time_is_refused"

plan
