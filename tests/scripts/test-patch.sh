#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Instructions that have trapped and are replaced: random code, many threads, signals. TAP.
# usage: test-patch.sh BUILD
#
# PATCH_PROGRAMS: random functions of one transport, in thousands (10). 100 take some minutes.
# PATCH_ROUNDS: of eight threads under signals (20: 567,000 accesses). 360: ten millions.
# A busy machine needs longer than other scripts do: TEST_SECONDS=600
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
programs=$build/tests/unmodified
transport=()

run() { timeout -k 5 200 "$build/bin/mimic" run "${transport[@]}" --stat "$@" >"$work/output" 2>"$work/errors"; }

# calls LEAST [PART]: so many accesses of the last run were calls, and at most a twentieth traps (1/PART; 0: any number)
calls()
{
	awk -v least="$1" -v part="${2:-20}" '/ instructions trapped; / {
		for (i = 1; i < NF; i++) {
			if ($(i + 1) == "by" && $(i + 2) == "traps,") traps = $i
			if ($(i + 1) == "by" && $(i + 2) == "calls") calls = $i
		}
	} END { exit !(calls >= least && traps * part <= calls) }' "$work/errors"
}

# all_counted: calls and traps of the last run are as many as the accesses that the program says it made
all_counted()
{
	awk '/ accesses of the device/ { made = $1 }
	/ instructions trapped; / {
		for (i = 1; i < NF; i++) if ($i == "by" && ($(i + 1) == "traps," || $(i + 1) == "calls")) told += $(i - 1)
	} END { exit !(made && made == told) }' "$work/output" "$work/errors"
}

for way in embedded daemon; do
	transport=(--transport "$way")
	if [ $way = daemon ]; then
		start_daemon maple:2,dare:1,virgo:1
		transport+=(--socket "$work/socket")
	fi
	run "$programs/stepping"
	result $? "$way: a_signal_after_each_instruction_shows_the_programs_own_registers"
	run "$programs/sites" 100 1 1 50 && calls 50000
	result $? "$way: a_random_program_has_the_results_of_its_interpreter_and_calls_the_device"
	run "$programs/sites" 100 2 8 "${PATCH_ROUNDS:-20}" signals && all_counted
	result $? "$way: eight_threads_trap_on_the_same_and_on_neighbouring_instructions_under_signals_to_each"
	run "$programs/sites" 100 3 8 5 signals low back && all_counted
	result $? "$way: the_same_in_text_at_low_addresses_that_is_taken_back_page_by_page"
	run "$programs/moved" && grep -q 'moved for their sake: [2-9] others' "$work/errors" &&
		grep -q 'not patched: 0x10000ffd, ' "$work/errors"
	result $? "$way: an_instruction_that_is_moved_is_stepped_through_jumped_to_and_taken_back"
	run "$programs/branches" && grep -q 'moved for their sake: [3-9] others' "$work/errors"
	result $? "$way: a_jump_behind_a_load_is_moved_and_goes_on_where_it_did"
	# Of some 200 instructions; how many have a place depends on where the heap lies.
	run "$programs/row" && calls 5000 0 && [ "$(grep -c 'no free address' "$work/errors")" -le 20 ]
	result $? "$way: loads_side_by_side_are_replaced_jumped_to_stepped_through_and_taken_back"
	run "$programs/row" low && calls 5000 0 && [ "$(grep -c 'no free address' "$work/errors")" -le 20 ]
	result $? "$way: loads_side_by_side_are_replaced_in_text_at_low_addresses"
	run "$programs/rows"
	result $? "$way: loads_that_compete_for_places_leave_pages_to_others"
	# The first load, and instructions of the program itself.
	run "$programs/row" early && calls 90 10 && ! grep -q 'not patched' "$work/errors" &&
		grep -q ' 5 instructions trapped; .* sake: [1-9] others; accesses: 5 by traps' "$work/errors"
	result $? "$way: loads_of_memory_that_got_jumps_for_the_sake_of_one_in_front_have_not_trapped"
	run "$programs/row" elsewhere && calls 280 && ! grep -q 'not patched' "$work/errors"
	result $? "$way: loads_that_got_jumps_early_are_replaced_for_a_device_far_away_too"
	run "$programs/text"
	result $? "$way: text_that_goes_comes_again_or_is_written_by_the_program"
	# Of their accesses the first of each instruction is a trap, in each of a hundred libraries.
	run "$programs/closing" "$programs" && calls 8000 8
	result $? "$way: libraries_that_lie_where_one_was_closed_keep_their_bytes_and_are_patched"
	for pages in raw fixed; do
		run "$programs/far" $pages && calls 590 100
		result $? "$way: an_instruction_is_replaced_once_for_all_devices_at_chosen_addresses ($pages)"
	done
	run "$programs/known" && calls 100000 && ! grep -q 'each access keeps all vector registers' "$work/errors"
	result $? "$way: a_handler_that_accesses_another_device_meanwhile_changes_no_answer"
	run "$programs/vectors" && calls 2000 100
	result $? "$way: vector_registers_and_mxcsr_are_the_programs_behind_each_kind_of_access"
	# Code is made anew, elsewhere, after each of the four ways to map memory over it.
	run "$programs/displaced" && calls 200 0 && grep -q '^\([4-9]\|[1-9][0-9]\) ranges' "$work/output"
	result $? "$way: memory_that_the_program_maps_over_trampolines_or_over_a_devices_former_place_is_its_own"
	run "$programs/borders"
	result $? "$way: text_whose_next_page_changes"
	# How many of its instructions have a place for a jump depends on where the text lies.
	run "$programs/starts" && calls 500 0
	result $? "$way: any_byte_around_an_access_may_be_jumped_to_at_the_end_of_a_page_too"
	run "$programs/cancelled" && calls 500
	result $? "$way: a_thread_that_is_cancelled_in_an_access_leaves_its_stack_to_its_cleanup_handlers"
	run "$programs/filtered"
	[ $? = 3 ]
	result $? "$way: a_program_that_filters_its_system_calls_ends_by_exit_without_a_report"
	# Where memory comes is chance.
	filled=0
	for _ in 1 2 3 4 5 6 7 8; do run "$programs/hole" || filled=1; done
	[ $filled = 0 ]
	result $? "$way: nothing_comes_where_the_program_has_unmapped_memory"
	run "$programs/leaves"
	[ $? = 6 ] && [ "$(grep -c ' 1 instructions trapped; ' "$work/errors")" = 2 ] &&
		grep -q 'accesses: 0 by traps, 3 by calls' "$work/errors" && grep -q 'accesses: 1 by traps, 11 by calls' "$work/errors"
	result $? "$way: stat_has_the_accesses_of_each_process_also_if_it_ends_by_exit_without_handlers"
done
transport=(--transport embedded)
# It may change registers that we do not keep.
printf '#include <time.h>\nint clock_gettime(clockid_t i, struct timespec *t) { (void)i; t->tv_sec = time(0); t->tv_nsec = 0; return 0; }\n' |
	gcc -O2 -shared -fPIC -o "$work/clock.so" -x c -
run env LD_PRELOAD="$work/clock.so" "$programs/vectors" && grep -q "each access keeps all vector registers, .*: clock_gettime() is not" "$work/errors"
result $? "where_clock_gettime_is_not_the_c_librarys_all_vector_registers_are_kept_and_stat_says_so"

# Text and pages that may be written are refused from then on: one line says so, and the accesses go on.
for moment in first later started; do
	run "$programs/closed" $moment
	status=$?
	if [ $status = 77 ]; then
		skip "closed $moment" "this kernel has no PR_SET_MDWE"
		continue
	fi
	[ $status = 0 ] && [ "$(grep -c 'this system lets no text be written' "$work/errors")" = 1 ] &&
		[ "$(grep -c 'not patched: .*: its text may not be written' "$work/errors")" -ge 4 ]
	result $? "closed $moment: a_program_that_may_not_write_text_goes_on_trapping_and_stat_says_so_once"
done

# lines_are_right PROGRAM: each instruction of its own that --stat names has the line that addr2line says
lines_are_right()
{
	local address line named=0
	while read -r address line; do
		[ "$(addr2line -e "$1" "$address" | sed 's/ (discriminator.*//; s|.*/||')" = "${line##*/}" ] || return 1
		named=$((named + 1))
	done < <(sed -n "s/.*not patched: \(0x[0-9a-f]*\) [a-z_0-9]*+0x[0-9a-f]* (${1##*/}+0x[0-9a-f]*) at \([^,]*\), .*/\1 \2/p" \
		"$work/errors")
	[ $named -ge 5 ]
}

run "$programs/updates" && lines_are_right "$programs/updates"
result $? "stat_names_function_and_source_line_of_instructions_that_keep_trapping"
# A libdw that cannot be loaded stands for none.
mkdir "$work/none" && : >"$work/none/libdw.so.1"
run env LD_LIBRARY_PATH="$work/none" "$programs/updates" &&
	[ "$(grep -c 'source lines are not told: that takes libdw.so.1' "$work/errors")" = 1 ] &&
	[ "$(grep -c 'not patched: 0x[0-9a-f]* (updates+0x[0-9a-f]*), ' "$work/errors")" -ge 5 ]
result $? "stat_says_once_that_source_lines_take_libdw_and_names_addresses"

# perf's names: each trampoline has a line. Where the file is another's, or a link to one, nothing is written.
run sh -c 'echo $$; exec "$@"' sh "$programs/updates" && [ ! -e "/tmp/perf-$(head -n 1 "$work/output").map" ]
result $? "nothing_is_written_for_perf_unless_asked"
run --perf-map sh -c 'echo $$; exec "$@"' sh "$programs/text"
map=/tmp/perf-$(head -n 1 "$work/output").map
! grep -qEv '^[0-9a-f]+ [0-9a-f]+ mimic:(0x[0-9a-f]+|[a-zA-Z_0-9.]+\+0x[0-9a-f]+)$' "$map" &&
	grep -q ' mimic:load_at+0x0$' "$map" && [ "$(stat -c %a "$map")" = 600 ]
result $? "perf_map_names_trampolines_by_the_functions_of_their_instructions"
rm -f "$map"
run --perf-map sh -c 'echo $$; echo "1000 10 own" >/tmp/perf-$$.map; exec "$@"' sh "$programs/text"
map=/tmp/perf-$(head -n 1 "$work/output").map
grep -q '^1000 10 own$' "$map" && grep -q ' mimic:load_at+0x0$' "$map"
result $? "perf_map_adds_to_the_file_of_the_programs_own_compiler"
rm -f "$map"
run --perf-map sh -c 'echo $$; : >"$0"; ln -s "$0" /tmp/perf-$$.map; exec "$@"' "$work/target" "$programs/text"
map=/tmp/perf-$(head -n 1 "$work/output").map
[ ! -s "$work/target" ] && grep -q "names for perf cannot be written to $map: " "$work/errors"
result $? "perf_map_follows_no_link"
rm -f "$map"

# debug OPTION COMMAND...: gdb's, on a program that loads at `load_at`; its output is in $work/output
debug()
{
	local commands=() command option=$1
	shift
	for command in "set confirm off" "set breakpoint pending on" "handle SIGSEGV nostop noprint pass" "$@"; do
		commands+=(-ex "$command")
	done
	timeout -k 5 100 "$build/bin/mimic" run "${transport[@]}" "$option" gdb -q -nx -batch "${commands[@]}" \
		--args "$programs/text" >"$work/output" 2>"$work/errors"
}

if command -v gdb >/dev/null; then
	debug --stat "break mimic_preload_patch_begin_access if *(long *)\$rdi == (long)&load_at" run bt delete continue
	grep -q '^#[0-9].* load_at ' "$work/output" && grep -q '^#[0-9].* main ' "$work/output" &&
		grep -q 'exited normally' "$work/output"
	result $? "gdb: a_backtrace_from_inside_an_access_leads_to_the_programs_instruction"
	debug --stat "break mimic_preload_patch_begin_access if *(long *)\$rdi == (long)&load_at" run delete 'break *load_at' continue delete continue
	grep -q 'Breakpoint 2, .*load_at' "$work/output" && grep -q 'exited normally' "$work/output"
	result $? "gdb: a_breakpoint_on_an_instruction_that_is_replaced_stops_there"
	# Its third access by the jump is one of the device, the next one of memory: by all instructions of the trampoline.
	cat >"$work/steps" <<-'END'
		delete
		break *load_at
		set $access = 0
		while $access < 2
			continue
			set $step = 0
			while $step < 30 && $pc != (long)&load_at + 6
				if *(unsigned short *)$pc == 0x15ff
					tbreak *($pc + 6)
					continue
				else
					stepi
				end
				x/i $pc
				bt
				set $step = $step + 1
			end
			set $access = $access + 1
		end
		delete
		continue
	END
	debug --stat "break mimic_preload_patch_begin_access if *(long *)\$rdi == (long)&load_at" run "source $work/steps"
	awk '/^=> / { steps++; at[$2]; in_trampoline += /<mimic_trampoline_/ }
		/^#[0-9].* load_at / { own++ }
		/^#[0-9].* in load_here / { callers++ }
		/^#[0-9].* main / { mains++ }
		END { for (place in at) places++
			exit !(places >= 17 && in_trampoline >= 20 && own == steps && callers == steps && mains == steps) }' "$work/output" &&
		grep -q 'exited normally' "$work/output"
	result $? "gdb: a_backtrace_at_each_instruction_of_a_trampoline_has_the_programs_frames"
	if grep -q '[|/]' /proc/sys/kernel/core_pattern || ! (ulimit -S -c unlimited) 2>/dev/null; then
		skip "gdb: a core" "this system writes none, or elsewhere"
	else
		(cd "$work" && ulimit -S -c unlimited && run "$programs/crash" load-null)
		gdb -q -nx -batch -ex bt "$programs/crash" "$work"/core* >"$work/output" 2>"$work/errors"
		grep -q '^#[0-9].* load_it ' "$work/output" && grep -q '^#[0-9].* main ' "$work/output"
		result $? "gdb: the_core_of_a_program_that_crashed_at_a_replaced_instruction_has_its_function"
		rm -f "$work"/core*
	fi
	debug --no-patch 'break *load_at' run delete continue
	grep -q 'Breakpoint 1, .*load_at' "$work/output" && grep -q 'exited normally' "$work/output"
	result $? "gdb: a_breakpoint_on_an_instruction_that_traps_stops_there"
	debug --no-patch 'break *load_at' run continue
	! grep -q 'cannot emulate' "$work/errors" "$work/output"
	result $? "gdb: an_instruction_with_a_breakpoint_is_carried_out"
else
	skip "gdb" "not installed"
fi
for seed in $(seq "${PATCH_PROGRAMS:-10}"); do
	# Every other one where many instructions are moved.
	where=
	[ $((seed % 2)) = 0 ] && where=low
	run "$programs/sites" 1000 "$seed" 1 1 back $where || break
done
result $? "${PATCH_PROGRAMS:-10} thousand random programs have the results of their interpreter"
plan
