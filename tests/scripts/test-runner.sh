#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# run-tests.sh ends, and has a result of each program, whatever happens to the programs.
# Usage: test-runner.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# program NAME: a test program of the lines on standard input
program()
{
	{ echo '#!/bin/bash'; cat; } >"$work/$1"
	chmod +x "$work/$1"
}

# run PROGRAM...
run()
{
	rm -f "$work/results"*
	V=1 timeout -k 2 60 tests/scripts/run-tests.sh --results "$work/results" --timeout 5 --jobs 2 --most 3 \
		"${@/#/$work/}" >"$work/output" 2>"$work/errors"
}

results_are()
{
	tr '\t' ' ' <"$work/results" >"$work/found"
	diff -u - "$work/found" >>"$work/errors"
}

program passes <<'E2'
echo 1..1; echo "ok 1 - it"
E2
program dies <<'E2'
echo 1..2; echo "ok 1 - it"; kill -SEGV $$
E2
# Its parent is timeout(1), whose parent is the shell that waits for it on behalf of run-tests.sh.
program kills_its_shell <<'E2'
echo 1..1; kill -9 $(ps -o ppid= -p $PPID)
E2
program waits <<'E2'
echo 1..1; sleep 1; echo "ok 1 - it"
E2

run waits passes dies passes
results_are <<'E2'
pass waits: it
pass passes: it
pass dies: it
fail dies: ended with status 139
pass passes: it
E2
result $? "results_come_in_the_order_of_the_programs_and_a_death_is_one"

run passes kills_its_shell passes kills_its_shell kills_its_shell passes
results_are <<'E2'
pass passes: it
fail kills_its_shell: ended with status 255
pass passes: it
fail kills_its_shell: ended with status 255
fail kills_its_shell: ended with status 255
pass passes: it
E2
result $? "a_program_whose_end_nobody_can_tell_has_failed_and_the_others_go_on"

run passes dies
tests/scripts/run-tests.sh --results "$work/results" --summary >"$work/output" 2>"$work/errors"
[ $? = 1 ] && grep -qx "2 passed, 1 failed, 0 skipped" "$work/output" &&
	grep -q "programs  native$" "$work/output" && ! grep -q . "$work/errors"
result $? "the_summary_counts_them_and_has_a_profile"
plan
