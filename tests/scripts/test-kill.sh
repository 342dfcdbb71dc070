#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimicd is killed 200 times under load of all devices, half of them with three threads, and its supervisor starts it
# again (docs/recovery.md); one in the middle of a takeover. TAP on stdout.
#
#   test-kill.sh [BUILD]   BUILD: the build directory; else $O, else build. KILLS=N: so many
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"

soak=$build/tests/soak/soak_kill
if [ ! -x "$build/bin/mimicd-recoverable" ]; then
	skip "programs_go_on_when_mimicd_is_killed" "a sanitized build has no mimicd that can be recovered"
	plan
	exit
fi

kills=$(((${KILLS:-200} + 1) / 2))
"$soak" "$build/bin/mimicd" --kills $kills >"$work/output" 2>&1
result $? programs_go_on_when_mimicd_is_killed
# Other tests run beside it, and three threads want more than two processors: soak-kill has the usual limit for it.
"$soak" "$build/bin/mimicd" --threads 3 --limit 400 --kills $kills >"$work/output" 2>&1
result $? programs_go_on_when_mimicd_is_killed_that_serves_on_three_threads

# A kernel in plain memory, and kills at the places of steps: each 17th, or WALK_STRIDE=N.
"$build/tests/recovery/kept_bus" >"$work/output" 2>&1
result $? bindings_and_requests_of_the_kernels_bus_go_on_when_mimicd_is_killed

# The check can fail: a wrong result is found, and so is a daemon that does not come back.
a_wrong_result_is_found()
{
	! "$soak" "$build/bin/mimicd" --kills 5 --programs maple --break maple >"$work/output" 2>&1 && grep -q "undisturbed device" "$work/output"
}
a_wrong_result_is_found
result $? a_wrong_result_is_found

a_daemon_without_a_supervisor_does_not_come_back()
{
	! "$soak" "$build/bin/mimicd" --plain --kills 2 --programs maple >"$work/output" 2>&1
}
a_daemon_without_a_supervisor_does_not_come_back
result $? a_daemon_without_a_supervisor_does_not_come_back

# supervise OPTION...: mimicd with a supervisor, until it listens
supervise()
{
	"$build/bin/mimicd" --supervise --socket "$work/s" "$@" >"$work/log" 2>&1 &
	supervisor=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -S "$work/s" ] && return
		sleep 0.2
	done
}

a_takeover_that_is_killed_is_made_again()
{
	local rc
	MIMIC_TEST_KILL_AT=3000 MIMIC_TEST_KILL_SUCCESSOR_AT=50 supervise
	MIMIC_SOCKET=$work/s "$build/examples/maple/spmv" --transport daemon --uniform 2000x5 --form decoupled >"$work/output" 2>&1
	rc=$?
	kill "$supervisor"
	wait "$supervisor"
	[ $rc = 0 ] && grep -q yes "$work/output" &&
		[ "$(grep -c 'ended with status 137\|was killed by signal 9' "$work/log")" = 2 ]
}
a_takeover_that_is_killed_is_made_again
result $? a_takeover_that_is_killed_is_made_again

# Ends at some of the places of a short program: before, at and behind each of its additions. At odd ones a further
# thread serves the program.
an_atomic_operation_is_done_at_most_once()
{
	local place lost=0
	for ((place = 300; place < 1000; place += 7)); do
		rm -f "$work/s"
		MIMIC_TEST_SPREAD=1 MIMIC_TEST_KILL_AT=$place supervise --devices maple:1 --threads $((1 + place % 2))
		timeout 20 "$build/tests/soak/atomic_once" "$work/s" 8 >"$work/output" 2>&1 || return
		if grep -q lost "$work/output"; then
			lost=$((lost + 1))
			grep -q 'atomic operation on the word at 0x' "$work/log" || return
		fi
		kill "$supervisor"
		wait "$supervisor"
	done
	[ $lost != 0 ]
}
an_atomic_operation_is_done_at_most_once
result $? an_atomic_operation_is_done_at_most_once

# Replies to HELLO, two of OPEN and one of CLOSE are in the socket, and so are their requests.
a_message_that_was_answered_is_not_done_again()
{
	local reply
	for reply in 1 2 3 4; do
		rm -f "$work/s"
		MIMIC_TEST_KILL_BEHIND_REPLY=$reply supervise --devices maple:2
		timeout 20 "$build/tests/soak/open_once" "$work/s" >"$work/output" 2>&1 || return
		kill "$supervisor"
		wait "$supervisor"
		[ "$(grep -c 'ended with status 137' "$work/log")" = 1 ] || return
	done
}
a_message_that_was_answered_is_not_done_again
result $? a_message_that_was_answered_is_not_done_again

a_socket_that_is_gone_is_told()
{
	rm -f "$work/s"
	supervise --devices maple:1
	rm "$work/s"
	kill -9 "$(tr -d ' ' <"/proc/$supervisor/task/$supervisor/children")"
	for _ in $(seq 50); do
		grep -q ' is ready' "$work/log" && break
		sleep 0.1
	done
	kill "$supervisor"
	wait "$supervisor"
	cp "$work/log" "$work/output"
	grep -qF "$work/s has been removed: programs that are connected go on" "$work/log"
}
a_socket_that_is_gone_is_told
result $? a_socket_that_is_gone_is_told

# The window's root is behind four numbers, the text of its layout and the origin; the supervisor has it.
damage_window()
{
	local fd
	for fd in "/proc/$supervisor/fd"/*; do
		case $(readlink "$fd") in
		*"mimic journal"*) printf damaged! | dd of="$fd" bs=1 seek=136 conv=notrunc 2>/dev/null; return ;;
		esac
	done
	return 1
}

a_damaged_window_is_refused()
{
	local rc=1
	rm -f "$work/s"
	supervise --devices maple:2
	damage_window && kill -9 "$(tr -d ' ' <"/proc/$supervisor/task/$supervisor/children")" &&
		MIMIC_SOCKET=$work/s timeout 20 "$build/bin/mimic" list >"$work/output" 2>&1 &&
		grep -q 'maple1 .*free' "$work/output" &&
		grep -q 'the state of the daemon before is damaged: the root' "$work/log"
	rc=$?
	kill "$supervisor"
	wait "$supervisor" && return $rc
}
if [ "$(id -u)" = 0 ]; then
	a_damaged_window_is_refused
	result $? a_damaged_window_is_refused
else
	skip a_damaged_window_is_refused "not root"
fi

recovery_needs_a_supervisor()
{
	! env -u NOTIFY_SOCKET timeout 10 "$build/bin/mimicd" --recover --socket "$work/t" >"$work/output" 2>&1 &&
		grep -q "supervisor" "$work/output"
}
recovery_needs_a_supervisor
result $? recovery_needs_a_supervisor
plan
