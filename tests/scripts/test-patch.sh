#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Instructions that have trapped and are replaced: random code, many threads, signals. TAP.
# usage: test-patch.sh BUILD
#
# PATCH_PROGRAMS: random functions of one transport, in thousands (10). 100 take some minutes.
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
programs=$build/tests/unmodified
transport=()

run() { timeout -k 5 200 "$build/bin/mimic" run "${transport[@]}" --stat "$@" >"$work/output" 2>"$work/errors"; }

# calls LEAST: so many accesses of the last run were calls, and at most a twentieth traps
calls()
{
	awk -v least="$1" '/ instructions trapped; / {
		for (i = 1; i < NF; i++) {
			if ($(i + 1) == "by" && $(i + 2) == "traps,") traps = $i
			if ($(i + 1) == "by" && $(i + 2) == "calls") calls = $i
		}
	} END { exit !(calls >= least && traps * 20 <= calls) }' "$work/errors"
}

for way in embedded daemon; do
	transport=(--transport "$way")
	if [ $way = daemon ]; then
		start_daemon maple:2
		transport+=(--socket "$work/socket")
	fi
	run "$programs/stepping"
	result $? "$way: a_signal_after_each_instruction_shows_the_programs_own_registers"
	run "$programs/sites" 100 1 1 50 && calls 50000
	result $? "$way: a_random_program_has_the_results_of_its_interpreter_and_calls_the_device"
	run "$programs/sites" 100 2 8 20 signals
	result $? "$way: eight_threads_trap_on_the_same_instructions_under_signals"
	run "$programs/text"
	result $? "$way: text_that_goes_comes_again_or_is_written_by_the_program"
done
transport=(--transport embedded)
for seed in $(seq "${PATCH_PROGRAMS:-10}"); do
	run "$programs/sites" 1000 "$seed" 1 1 || break
done
result $? "${PATCH_PROGRAMS:-10} thousand random programs have the results of their interpreter"
plan
