#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# run-tests.sh ends, and has a result of each program, however the programs end.
# Usage: test-runner.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# program NAME: a test program of the lines on standard input
program()
{
	{ echo '#!/bin/bash'; cat; } >"$work/$1"
	chmod +x "$work/$1"
}

# run PROGRAM...: with $options
options=
run()
{
	rm -f "$work/results"*
	# shellcheck disable=SC2086 # several words
	V=1 timeout -k 2 60 tests/scripts/run-tests.sh --results "$work/results" --timeout 5 --jobs 2 --most 3 $options \
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

program fails <<'E2'
echo 1..3; echo "ok 1 - it"; echo "# 4 is not 5"; echo "not ok 2 - that"; echo "# it is 6"; echo "ok 3 - and that"
E2
run fails passes
tests/scripts/run-tests.sh --results "$work/results" --summary >"$work/output" 2>"$work/errors"
tail -n 8 "$work/output" >"$work/found"
diff -u - "$work/found" >>"$work/errors" <<'E2'
# what failures printed
#   fails: that
#      4 is not 5
#      it is 6
# failed
#   fails: that
1..4
3 passed, 1 failed, 0 skipped
E2
result $? "the_summary_ends_with_the_failures_and_what_they_printed"

program fails_early <<'E2'
echo 1..2; echo "ok 1 - it"; echo "a race was seen" >&2; echo "ok 2 - that"; echo "stopping" >&2; exit 1
E2
run fails_early
tests/scripts/run-tests.sh --results "$work/results" --summary >"$work/output" 2>"$work/errors"
tail -n 8 "$work/output" >"$work/found"
diff -u - "$work/found" >>"$work/errors" <<'E2'
# what failures printed
#   fails_early: ended with status 1
#      a race was seen
#      stopping
# failed
#   fails_early: ended with status 1
1..3
2 passed, 1 failed, 0 skipped
E2
result $? "lines_before_a_result_that_passed_are_shown_if_the_program_fails_at_its_end"

# Each fails the first time only, which a file beside it remembers.
program is_late <<'E2'
echo 1..2; echo "ok 1 - it"
[ -e "$0.ran" ] && { echo "ok 2 - in time"; exit 0; }
touch "$0.ran"; echo "not ok 2 - in time"; exit 1
E2
program races <<'E2'
echo 1..1
[ -e "$0.ran" ] && { echo "ok 1 - it"; exit 0; }
touch "$0.ran"; echo "WARNING: ThreadSanitizer: data race"; echo "not ok 1 - it"; exit 66
E2
program dies_once <<'E2'
echo 1..1
[ -e "$0.ran" ] && { echo "ok 1 - it"; exit 0; }
touch "$0.ran"; echo "not ok 1 - it"; kill -SEGV $$
E2
run_again()
{
	rm -f "$work"/*.ran
	options="--again $1"
	shift
	run "$@"
	options=
}

run_again 2 fails is_late passes
results_are <<'E2'
pass passes: it
pass fails: it
fail fails: that
pass fails: and that
pass is_late: it
pass is_late: in time
E2
result $? "a_program_of_which_a_check_failed_runs_again_after_all_others_and_that_run_counts"

tests/scripts/run-tests.sh --results "$work/results" --summary >"$work/output" 2>"$work/errors"
grep -A 2 "^# failed while other programs ran, and passed alone" "$work/output" >"$work/found"
diff -u - "$work/found" >>"$work/errors" <<'E2'
# failed while other programs ran, and passed alone
#   is_late
#      not ok 2 - in time
E2
result $? "the_summary_names_what_passed_only_the_second_time"

run_again 4 races dies_once
results_are <<'E2'
fail races: it
fail dies_once: it
E2
result $? "a_report_of_a_sanitizer_or_a_death_counts_the_first_time"

run_again 1 fails is_late
results_are <<'E2'
pass is_late: it
fail is_late: in time
pass fails: it
fail fails: that
pass fails: and that
E2
result $? "only_so_many_programs_run_again_as_the_option_says"
plan
