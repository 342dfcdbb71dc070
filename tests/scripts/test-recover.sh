#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Programs and devices of a daemon that is killed and recovered, one behaviour each. TAP on stdout.
#
#   test-recover.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
pauses=$build/tests/recovery/pauses
export MIMIC_SOCKET=$work/socket
# A program may end at its pause, by an error.
trap "" PIPE
[ -x "$build/bin/mimicd-recoverable" ] || {
	skip "programs go on when mimicd is killed" "this build has no mimicd that can be recovered"
	plan
	exit
}

# until_true COMMAND...: within some seconds
until_true()
{
	for _ in $(seq 400); do
		"$@" && return
		sleep 0.025
	done
	return 1
}

# said TEXT COUNT: so many lines of the log have it
said()
{
	[ "$(grep -c -- "$1" "$work/log")" -ge "$2" ]
}

start() # start [DEVICES]: a supervisor with an empty log
{
	: >"$work/log"
	"$build/bin/mimicd" --supervise --recovery-time 30 -d "${1:-maple:2,dare:1,virgo:1}" >>"$work/log" 2>&1 &
	daemon=$!
	until_true said ' serving ' 1
}

stop()
{
	kill $daemon && wait $daemon
	local status=$?
	daemon=
	return $status
}

child() # child: the daemon that runs
{
	tr -d ' ' <"/proc/$daemon/task/$daemon/children"
}

kill_daemon() # kill_daemon: and the next one serves
{
	local serving
	serving=$(grep -c ' is ready, ' "$work/log")
	kill -9 "$(child)" && until_true said ' is ready, ' $((serving + 1))
}

begin_gap() # begin_gap: there is no daemon, and no next one, until end_gap
{
	kill -STOP $daemon && kill -9 "$(child)"
}

end_gap()
{
	kill -CONT $daemon && until_true said ' is ready, ' 1
}

begin() # begin NAME: the program is at its pause
{
	rm -f "$work/input"
	mkfifo "$work/input"
	"$pauses" "$1" <"$work/input" >"$work/output" 2>"$work/errors" &
	program=$!
	exec 3>"$work/input"
	until_true grep -q ready "$work/output"
}

go_on() # go_on: the program's status. It ends by itself if it hangs
{
	echo 2>/dev/null >&3
	exec 3>&-
	wait $program
}

# list: devices and programs, without the daemon's number
list()
{
	timeout 20 "$mimic" list 2>"$work/errors" | sed '1s/, pid [0-9]*//'
}

is_free() # is_free DEVICE: no program has it
{
	timeout 20 "$mimic" list 2>"$work/errors" >"$work/output"
	grep -q "^ *$1 .*free" "$work/output"
}

kept() # kept: descriptors that were in the store at the last death of a daemon
{
	sed -n 's/.*; \([0-9]*\) descriptors are kept.*/\1/p' "$work/log" | tail -n 1
}

window_kb() # window_kb: memory of the window, which the supervisor keeps
{
	local fd
	for fd in "/proc/$daemon/fd"/*; do
		case $(readlink "$fd") in
		*"mimic journal"*) stat -Lc %b "$fd"; return ;;
		esac
	done | awk '{ print int($1 / 2) }'
}

for name in word posts event; do
	case $name in
	word) text="a thread that waits for a word gets it" expected="word 4711" ;;
	posts) text="words of a thread that has ended wait for room, and come in order" expected="100 words" ;;
	event) text="threads that wait at a barrier, or for an event, go on" expected=met ;;
	esac
	start && begin $name && kill_daemon && kill_daemon && go_on && grep -q "^$expected$" "$work/output"
	result $? "$text"
	stop || result 1 "the daemon ends well"
done

late_rows="rows are stored of which some lie in a page that comes late"
start && begin rows && go_on
status=$?
if grep -q "no userfaultfd" "$work/output"; then
	skip "$late_rows" "no userfaultfd that the kernel's own accesses wait for"
else
	[ $status = 0 ] && grep -q "^rows$" "$work/output"
	result $? "$late_rows"
fi
stop

start && begin word && begin_gap && kill -9 $program && end_gap && until_true is_free maple1
result $? "a program that is killed while there is no daemon is gone, and its device is free"
exec 3>&-
wait $program 2>/dev/null
stop

start && begin_gap && {
	timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" &
	lister=$!
	sleep 0.2
	end_gap && wait $lister && grep -q maple0 "$work/output"
}
result $? "a program that connects while there is no daemon is served"
stop

start && begin word && list >"$work/before" && kill_daemon && list >"$work/after" &&
	cp "$work/after" "$work/errors" &&
	grep -q pauses "$work/before" && cmp -s "$work/before" "$work/after"
result $? "mimic list shows the same after it"
go_on
stop

change_devices()
{
	timeout 20 "$mimic" remove maple0 && timeout 20 "$mimic" add maple && timeout 20 "$mimic" add maple &&
		timeout 20 "$mimic" remove maple1
}
start maple:2 && change_devices >"$work/output" 2>&1 &&
	list >"$work/before" && kill_daemon && list >"$work/after" && cmp -s "$work/before" "$work/after" &&
	grep -q maple2 "$work/after" && ! grep -q maple1 "$work/after"
result $? "devices that were added are there, and those that were removed are not"
stop

start && begin word && timeout 20 "$mimic" reset maple1 >/dev/null 2>"$work/errors" && kill_daemon &&
	! go_on && grep -q "No such device" "$work/output"
result $? "a program that lost its device has lost it"
stop

# HELLO and OPEN have one number.
two_messages_of_one_number()
{
	python3 - "$MIMIC_SOCKET" <<-'END'
		import re, socket, struct, sys
		protocol = open("include/mimic/protocol.h").read()
		number = lambda name: int(re.search(r"#define MIMIC_PROTOCOL_%s\s+(\w+?)u?l*\b" % name, protocol).group(1), 0)
		daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		daemon.settimeout(10)
		daemon.connect(sys.argv[1])
		hello = struct.pack("<QII", number("MAGIC"), number("VERSION"), 0)
		for type, body in (1, hello), (2, b"maple0".ljust(32, b"\0")):
		    daemon.send(struct.pack("<IHHIi", 16 + len(body), type, 0, 5, 0) + body)
		    reply = daemon.recv(256)
		sys.exit(b"maple0" not in reply)
	END
}
start && two_messages_of_one_number >"$work/output" 2>"$work/errors"
result $? "each message has its own answer, also of a program that gives all the same number"
stop

start && begin word && stop && ! go_on && grep -q "not connected" "$work/output"
result $? "SIGTERM of the supervisor ends programs"
[ -z "$daemon" ] || stop

# Programs that came and went leave nothing in the store, or in the window.
programs()
{
	for _ in $(seq "$1"); do
		"$build/tests/recovery/walk" >"$work/output" 2>"$work/errors" || return
	done
}

state() # state ARGUMENT...: runs tests/unmodified/kept.c
{
	timeout 20 "$mimic" run --transport daemon "$build/tests/unmodified/kept" "$@"
}

begin_state() # begin_state ARGUMENT...: the program is at its pause
{
	rm -f "$work/input"
	mkfifo "$work/input"
	state "$@" <"$work/input" >"$work/output" 2>"$work/errors" &
	program=$!
	exec 3>"$work/input"
	until_true grep -q ready "$work/output"
}

save_a_state() # save_a_state ARGUMENT...: all that is in the daemon at the program's pause
{
	begin_state "$@" && "$mimic" save --all -o "$work/saved" 2>"$work/errors"
	local status=$?
	go_on && until_true is_free maple1 && until_true is_free virgo0 && until_true is_free dare0 && return $status
}

next_rows() # next_rows: MATRIX_M of the next context that is opened
{
	state rows </dev/null 2>"$work/errors" | head -n 1
}

expected_state="$(seq -s ' ' 100 119) and 131072"
start && save_a_state put && "$mimic" restore "$work/saved" >"$work/output" 2>"$work/errors" && kill_daemon && kill_daemon &&
	state take >"$work/output" 2>"$work/errors" && grep -qx "$expected_state" "$work/output"
result $? "a_device_that_nobody_has_opened_since_it_was_restored_keeps_that_state"
kill_daemon && state take >"$work/output" 2>"$work/errors" && grep -qx "0 .* and 0" "$work/output"
result $? "and_has_it_for_one_program"
stop

start && save_a_state rows 3 4 5 && "$mimic" restore "$work/saved" >"$work/output" 2>"$work/errors" && kill_daemon &&
	begin_state rows && grep -qx 3 "$work/output"
result $? "restored_contexts_wait_for_their_programs_when_the_daemon_is_killed"
kill_daemon && kill_daemon && [ "$(next_rows)" = 4 ] && kill_daemon && [ "$(next_rows)" = 5 ]
result $? "also_after_one_of_them_was_opened"
kill_daemon && [ "$(next_rows)" = 16 ] && go_on && [ "$(grep -cx 3 "$work/output")" = 2 ]
result $? "and_each_is_for_one_program"
stop

begin_other_rows() # begin_other_rows M: another program, which is not told to end
{
	"$mimic" run --transport daemon "$build/tests/unmodified/kept" rows "$1" <>"$work/input" >"$work/other" 2>&1 &
	other=$!
	until_true grep -q ready "$work/other"
}

start && begin_state rows 3 4 && begin_other_rows 5 && begin_gap && kill -9 $other && end_gap && go_on &&
	[ "$(grep -cx "3 4" "$work/output")" = 2 ] && [ "$(next_rows)" = 16 ]
result $? "contexts_of_a_program_that_is_killed_while_there_is_no_daemon_are_free_and_others_go_on"
stop

start && begin word && programs 2 && kill_daemon && first=$(kept) && programs 20 && first_kb=$(window_kb) &&
	programs 80 && second_kb=$(window_kb) && until_true is_free maple0 && kill_daemon && [ "$(kept)" = "$first" ]
result $? "descriptors of 100 programs that came and went are not kept"
echo "# $first are kept"
[ "$second_kb" -le $((first_kb + 64)) ]
result $? "and their memory in the window is used again"
echo "# the window has $first_kb KB, then $second_kb KB"
go_on
result $? "the program that was there all the time goes on"
stop
plan
