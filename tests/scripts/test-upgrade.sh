#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Another mimicd takes over from the one that runs, at SIGHUP, or is refused (docs/recovery.md). TAP on stdout.
#
#   test-upgrade.sh [BUILD]   BUILD: the build directory; else $O, else build. UPGRADES=N: so many under load
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"

if [ ! -x "$build/bin/mimicd-recoverable" ]; then
	skip "programs_go_on_when_mimicd_is_upgraded" "a sanitized build has no mimicd that can be recovered"
	plan
	exit
fi
mimic=$build/bin/mimic
bin=$work/bin
program=$bin/mimicd-recoverable
export MIMIC_SOCKET=$work/socket
mkdir "$bin" && cp "$build/bin/mimicd" "$bin/mimicd" || exit 2

# said TEXT [COUNT]: so many lines of its log have it, within seconds
said()
{
	for _ in $(seq 500); do
		[ "$(grep -cF -- "$1" "$work/log")" -ge "${2:-1}" ] && return
		sleep 0.02
	done
	cp "$work/log" "$work/errors"
	return 1
}

# shellcheck disable=SC2120 # by refused_under_load
# put [COMMAND...]: another file at the program's path, which the command changes before
put()
{
	cp "$build/bin/mimicd-recoverable" "$work/new" && { [ $# = 0 ] || "$@" "$work/new"; } && mv "$work/new" "$program"
}

start() # start OPTION...: a supervisor of a fresh copy
{
	: >"$work/log"
	put
	"$bin/mimicd" --supervise -d maple:2 "$@" >>"$work/log" 2>&1 &
	daemon=$!
	said ' serving ' && said_ready 1
}

# said_ready COUNT: so many daemons have been ready (the first one says nothing of that)
said_ready()
{
	[ "$1" = 1 ] || said ' is ready, ' $(($1 - 1))
}

stop()
{
	kill $daemon && wait $daemon
	local status=$?
	daemon=
	return $status
}

child() { tr -d ' ' <"/proc/$daemon/task/$daemon/children"; }
runs() { [ "/proc/$(child)/exe" -ef "$1" ]; }
lists() { timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" && grep -q maple0 "$work/output"; }

# stays PID: that daemon goes on serving
stays()
{
	[ "$(child)" = "$1" ] && lists
}

load() # load: a program that uses devices all the time; load_ends: it had the right results
{
	timeout 60 "$mimic" run --transport daemon "$build/examples/maple/spmv" --transport daemon --uniform 20000x5 \
		--form decoupled >"$work/load" 2>&1 &
	loaded=$!
	for _ in $(seq 100); do
		"$mimic" list 2>/dev/null | grep -q spmv && return
		sleep 0.02
	done
	return 1
}

load_ends()
{
	wait $loaded && grep -q ' yes ' "$work/load" && return
	cp "$work/load" "$work/errors"
	return 1
}

other_layout() { LC_ALL=C sed -i "s/$layout/0${layout#?}/" "$1"; }
no_program() { echo '#!/nowhere/at/all' >"$1"; }
silent_program() { cp /bin/true "$1"; }

"$build/tests/soak/soak_kill" "$build/bin/mimicd" --upgrade --kills $(((${UPGRADES:-20} + 1) / 2)) >"$work/output" 2>&1 &&
	"$build/tests/soak/soak_kill" "$build/bin/mimicd" --upgrade --threads 3 --kills $(((${UPGRADES:-20} + 1) / 2)) >"$work/output" 2>&1
result $? programs_go_on_when_mimicd_is_upgraded

# The daemon leaves by itself: a kill in an atomic operation costs the program its device.
an_upgrade_ends_the_daemon_at_a_commit()
{
	start && put && kill -HUP $daemon && said_ready 2 || return
	said 'ends, and leaves all to a successor' && said 'ended with status 75 for an upgrade' && runs "$program" && lists
}
an_upgrade_ends_the_daemon_at_a_commit
result $? an_upgrade_ends_the_daemon_at_a_commit

upgrades_in_turn_are_all_made()
{
	local upgrade
	for upgrade in 3 4 5; do
		put && kill -HUP $daemon && said_ready $upgrade && runs "$program" || return
	done
}
upgrades_in_turn_are_all_made
result $? upgrades_in_turn_are_all_made

the_program_that_runs_is_not_started_again()
{
	local before
	before=$(child)
	kill -HUP $daemon && said 'is the program that runs' && stays "$before"
}
the_program_that_runs_is_not_started_again
result $? the_program_that_runs_is_not_started_again

check_says_that_it_fits()
{
	timeout 20 "$program" --recover --check="$daemon" 2>"$work/errors" && grep -q 'can take over' "$work/errors" &&
		timeout 20 "$program" --recover --check="$(child)" 2>"$work/errors"
}
check_says_that_it_fits
result $? check_says_that_it_fits
layout=$(sed -n 's/.*layout \([0-9]*-[0-9]*\),.*/\1/p' "$work/errors")

check_says_that_a_process_is_no_daemon()
{
	timeout 20 "$program" --recover --check=$$ 2>"$work/errors"
	[ $? = 1 ] && grep -q 'that process has no state' "$work/errors"
}
check_says_that_a_process_is_no_daemon
result $? check_says_that_a_process_is_no_daemon

bad_options_of_check_are_refused()
{
	timeout 20 "$bin/mimicd" --check=1 2>"$work/errors"
	[ $? = 2 ] && grep -q -- '--recover is needed' "$work/errors" || return
	timeout 20 "$bin/mimicd" --recover --check=0 2>"$work/errors"
	[ $? = 2 ] && grep -q -- '--check=0: the number of a process' "$work/errors"
}
bad_options_of_check_are_refused
result $? bad_options_of_check_are_refused

# refused TEXT COMMAND: such a program is refused with this text, and the daemon goes on under load
refused_under_load()
{
	local before text=$1
	shift
	: >"$work/log"
	before=$(child)
	load && "$@" && kill -HUP $daemon && said "$text" && said 'the daemon that runs stays' && stays "$before" && load_ends
}

refused_under_load "(layout 0${layout#?}, 64-bit" put other_layout
result $? a_program_with_another_layout_is_refused

a_daemon_that_is_killed_after_a_refusal_starts_as_it_was()
{
	: >"$work/log"
	load && kill -9 "$(child)" && said ' is ready, ' && ! runs "$program" && load_ends && lists
}
a_daemon_that_is_killed_after_a_refusal_starts_as_it_was
result $? a_daemon_that_is_killed_after_a_refusal_starts_as_it_was

refused_under_load "is refused: its check ended with status 127" put no_program
result $? a_program_that_does_not_start_is_refused
refused_under_load "it did not say that it fits" put silent_program
result $? a_program_that_says_nothing_is_refused
refused_under_load "cannot be started: No such file" rm -f "$program"
result $? a_program_that_is_gone_is_refused

a_refusal_does_not_stop_the_next_upgrade()
{
	: >"$work/log"
	load && put && kill -HUP $daemon && said ' is ready, ' && runs "$program" && load_ends
}
a_refusal_does_not_stop_the_next_upgrade
result $? a_refusal_does_not_stop_the_next_upgrade

an_upgrade_while_the_daemon_is_started_again_is_made()
{
	: >"$work/log"
	load && put && kill -9 "$(child)" && kill -HUP $daemon && said_ready 3 && runs "$program" && load_ends
}
an_upgrade_while_the_daemon_is_started_again_is_made
result $? an_upgrade_while_the_daemon_is_started_again_is_made
# The supervisor learns of both at once.
an_upgrade_when_the_daemon_has_just_ended_is_made()
{
	local before
	: >"$work/log"
	before=$(child)
	load && put && kill -STOP $daemon && kill -9 "$before" || return
	for _ in $(seq 500); do
		grep -q '^State:.*Z' "/proc/$before/status" && break
		sleep 0.02
	done
	kill -HUP $daemon && kill -CONT $daemon && said_ready 3 && runs "$program" && load_ends
}
an_upgrade_when_the_daemon_has_just_ended_is_made
result $? an_upgrade_when_the_daemon_has_just_ended_is_made
stop
result $? "SIGTERM ends all"

a_program_that_ends_before_it_is_ready_is_replaced_by_the_one_before()
{
	MIMIC_TEST_KILL_SUCCESSOR_AT=50 start && load && put && kill -HUP $daemon &&
		said 'ended before it was ready; the program before it goes on' && said ' is ready, ' && ! runs "$program" &&
		load_ends && stop
}
a_program_that_ends_before_it_is_ready_is_replaced_by_the_one_before
result $? a_program_that_ends_before_it_is_ready_is_replaced_by_the_one_before

another_configuration_is_refused()
{
	printf '[maple]\nprofile = paper\nqueues = 4\n' >"$work/devices.ini"
	start --config "$work/devices.ini" --recovery-time 1 || return
	printf '[maple]\nprofile = paper\nqueues = 8\n' >"$work/devices.ini"
	refused_under_load "the configuration or a plugin has changed" put
}
another_configuration_is_refused
result $? another_configuration_is_refused

# The check waits for an end of the configuration, which is a pipe now.
a_check_that_does_not_answer_is_given_up()
{
	rm "$work/devices.ini" && mkfifo "$work/devices.ini" &&
		refused_under_load "does not answer in time whether it fits" put
}
a_check_that_does_not_answer_is_given_up
result $? a_check_that_does_not_answer_is_given_up
stop
plan
