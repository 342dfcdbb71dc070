#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic dump, stat, reset and top, with a daemon and a program that uses it. TAP on stdout.
#
#   test-state.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
program=
screen=
stopped=

cleanup() {
	[ -n "$stopped" ] && kill -9 "$stopped" 2>/dev/null
	[ -n "$screen" ] && tmux -S "$work/tmux" kill-server 2>/dev/null
	[ -n "$daemon" ] && { kill -9 "$daemon"; wait "$daemon"; } 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

run() # run ARGUMENTS...: mimic with them; its output is in $work/output and errors
{
	timeout 20 "$mimic" "$@" >"$work/output" 2>"$work/errors"
}

fails() # fails STATUS TEXT ARGUMENTS...: so it ends, and says that on standard error
{
	local wanted=$1 text=$2
	shift 2
	run "$@"
	[ $? = "$wanted" ] && [ ! -s "$work/output" ] && grep -qF -- "$text" "$work/errors"
}

start_program() # start_program: steady, with maple0, three words in queue 0
{
	mkfifo "$work/input" 2>/dev/null
	"$mimic" run --transport daemon "$build/tests/unmodified/steady" <"$work/input" >"$work/steady" 2>&1 &
	program=$!
	exec 9>"$work/input"
	for _ in $(seq 200); do
		grep -q ready "$work/steady" && return 0
		sleep 0.05
	done
	cp "$work/steady" "$work/errors"
	return 1
}

stop_program() # stop_program: its exit status
{
	exec 9>&-
	wait "$program"
	local status=$?
	program=
	return $status
}

value() # value PATH: of maple0
{
	"$mimic" dump maple0 "$1" | sed 's/.* = \([^ ]*\).*/\1/'
}

# --- without a daemon ---------------------------------------------------------------
export MIMIC_SOCKET=$work/socket
fails 1 "no mimicd" dump maple0 && fails 1 "no mimicd" stat && fails 1 "no mimicd" reset maple0
result $? "without_a_daemon_they_say_so"

for command in dump stat top reset; do
	run $command --help && grep -q "Usage: mimic $command" "$work/output" &&
		refused "mimic: $command: unrecognized option '--pear'" $command --pear
	result $? "${command}_has_help_and_refuses_bad_options"
done
refused "something is missing" dump
result $? "dump_wants_a_device"

start_daemon maple:2,dare:1,virgo:1
result $? "the_daemon_starts"
start_program
result $? "a_program_takes_maple0"

# --- dump -------------------------------------------------------------------------------
run dump maple0 queues/0/level queues/0/producer && [ "$(wc -l <"$work/output")" = 2 ] &&
	grep -Eq '^queues/0/level = [34] +words in it$' "$work/output"
result $? "dump_shows_the_values_that_are_named"
run dump maple0 && grep -q '^config/profile = paper  ' "$work/output" &&
	grep -q '^registers/MAPLE/INIT = 0x' "$work/output" && ! grep -qv ' = .*  ' "$work/output"
result $? "dump_shows_a_line_for_each_value"
run dump --json maple0 config/queues tlb/entries && [ "$(tr -d ' \n' <"$work/output")" = \
	'{"config\/queues":{"value":8,"meaning":"queuesthattherecanbe"},"tlb\/entries":{"value":16,"meaning":"translationsthatitcanhold"}}' ]
result $? "dump_prints_json_of_what_is_named"
refused "maple0 has no 'queues/9'" dump maple0 queues/9 && refused "no device 'maple7'" dump maple7 &&
	refused "no kind of device 'pear0'" dump pear0
result $? "dump_refuses_what_is_not_there"
run dump virgo0 shared_memory && [ "$(wc -l <"$work/output")" = 1 ] &&
	run dump --bytes virgo0 shared_memory && [ "$(wc -l <"$work/output")" = 4097 ]
result $? "dump_shows_bytes_when_asked"

# --- stat ---------------------------------------------------------------------------------
run stat maple0 && grep -Eq '^maple0 +produced +[1-9]' "$work/output" && ! grep -q maple1 "$work/output"
result $? "stat_shows_counters_of_the_device_named"
run stat && for device in maple0 maple1 dare0 virgo0; do grep -q "^$device " "$work/output" || exit 1; done
result $? "stat_shows_all_devices"
refused "there is no device 'maple7'" stat maple7 && refused "0.05 to 3600" stat --watch=x
result $? "stat_refuses_what_is_not_there"
timeout -s INT 1.2 "$mimic" stat --watch=0.2 maple0 >"$work/output" 2>"$work/errors"
[ "$(grep -c 'maple0: produced +[0-9]* consumed +' "$work/output")" -ge 3 ]
result $? "stat_watch_shows_how_counters_grow_until_interrupted"
timeout -s INT 0.7 "$mimic" stat --watch=0.2 --json maple0 >"$work/output" 2>"$work/errors"
grep -Eq '^{"time":"[0-9:.]+","devices":{"maple0":{"produced":[0-9]+,"consumed":[0-9]+' "$work/output"
result $? "stat_watch_prints_an_object_a_line"
timeout 10 "$mimic" stat --watch=0.1 maple1 >"$work/output" 2>"$work/errors" &
watcher=$!
sleep 0.3
"$mimic" remove maple1
wait $watcher
[ $? = 1 ] && grep -q "maple1 is gone" "$work/errors"
result $? "stat_watch_says_that_a_device_is_gone_and_ends"

# --- reset -----------------------------------------------------------------------------------
before=$(value counters/illegal)
run reset --counters maple0 && [ "$(value counters/produced)" -lt 2000 ] && [ "$(value queues/0/level)" -ge 3 ]
result $? "reset_counters_leaves_the_queues ($before)"
run reset --json dare0 && grep -qx '{"reset": "dare0"}' "$work/output" && refused "no device 'dare7'" reset dare7
result $? "reset_says_what_it_did"
stop_program
result $? "the_program_was_not_disturbed"
start_program && run reset maple0 && [ "$(value queues/0/allocated)" = false ]
result $? "reset_makes_a_device_in_use_as_after_power_on"
stop_program >/dev/null 2>&1
[ $? = 135 ] && grep -q "the device was removed, reset or lost .*; it has to be opened anew; access to" "$work/steady"
result $? "a_program_under_mimic_run_gets_SIGBUS_from_a_device_that_was_reset"
# The program uses the device each millisecond: not at all, if its input ends within that.
start_program && run remove maple0 && sleep 0.2
stop_program >/dev/null 2>&1
[ $? = 135 ] && grep -q "the device was removed, reset or lost" "$work/steady" && run add maple
result $? "a_program_under_mimic_run_gets_SIGBUS_from_a_device_that_was_removed"

# --- top ---------------------------------------------------------------------------------------
tmux_is_there() {
	command -v tmux >/dev/null
}

keys() {
	tmux -S "$work/tmux" send-keys "$@"
}

shows() # shows TEXT: the screen does, within 5 s
{
	for _ in $(seq 100); do
		tmux -S "$work/tmux" capture-pane -p >"$work/output"
		grep -qE -- "$1" "$work/output" && return 0
		sleep 0.05
	done
	return 1
}

# SIGSTOP gives no chance to leave the terminal well; meanwhile somebody has changed it.
test_top_continued() {
	local terminal
	terminal=$(tmux -S "$work/tmux" display-message -p '#{pane_tty}')
	keys "clear; '$mimic' top" Enter
	shows '^>maple0' && kill -STOP "$(pgrep -P "$shell")" && shows 'Stopped' && stty sane -F "$terminal" &&
		printf '\033[?1049l' >"$terminal" && keys "clear; fg" Enter && shows '^>maple0' &&
		[ "$(tmux -S "$work/tmux" display-message -p '#{alternate_on}')" = 1 ] &&
		stty -a -F "$terminal" | grep -q -- '-icanon' && keys q && shows '^prompt> *$'
	result $? "top_takes_the_terminal_again_after_sigstop"
}

# The shell's command, which makes "after" by a rename, so that it is whole as soon as it is there.
settings_after="stty -a >$work/part; mv $work/part $work/after"

terminal_is_as_before() # 0 if the shell has written "after", which may take it a while, and it is as "before"
{
	local status
	for _ in $(seq 200); do
		[ -e "$work/after" ] && break
		sleep 0.05
	done
	cmp "$work/before" "$work/after"
	status=$?
	rm -f "$work/after"
	return $status
}

ends_soon() # ends_soon KEY STATUS: top does by it, in the middle of a request that is not answered
{
	keys "clear; '$mimic' top" Enter
	shows '^>maple0' && kill -STOP "$daemon" && sleep 1.3 && keys "$1" && shows '^prompt> *$' &&
		keys "echo status \$?; $settings_after" Enter && shows "status $2" && terminal_is_as_before
	local status=$?
	kill -CONT "$daemon"
	return $status
}

test_top_of_a_stopped_daemon() {
	ends_soon q 0
	result $? "top_ends_by_q_while_the_daemon_does_not_answer"
	ends_soon C-c 130
	result $? "top_ends_by_ctrl_c_while_the_daemon_does_not_answer"
}

test_top() {
	start_program
	env -u TMUX TERM=screen tmux -S "$work/tmux" -f /dev/null new-session -d -x 100 -y 40 "bash --norc" 9>&-
	screen=yes
	shell=$(tmux -S "$work/tmux" display-message -p '#{pane_pid}')
	keys "PS1='prompt> '; stty -a >$work/before; '$mimic' top; echo status \$?; $settings_after" Enter
	shows '^>maple0 +[0-9]+ +steady' && shows '^queues/0 +\[###\.+\] [34] of 32$'
	result $? "top_shows_devices_users_and_queues"
	shows '^ produced +[0-9.]+[k ] +[0-9]+$'
	result $? "top_shows_counters_in_a_second"
	keys Down && shows '^>dare0' && keys Up && shows '^>maple0'
	result $? "top_chooses_a_device_by_arrows"
	keys p && shows PAUSED && sleep 1.2 && shows PAUSED && cp "$work/output" "$work/first" && sleep 1.2 &&
		shows PAUSED && cmp "$work/output" "$work/first" && keys p && shows 'version [^ ]+ +\(arrows.*q quit'
	result $? "top_pauses"
	tmux -S "$work/tmux" resize-window -x 50 -y 12 && shows '^mimic top: pid' && sleep 0.3 && shows '^>maple0' &&
		[ "$(wc -l <"$work/output")" -le 12 ] && ! grep -q '.\{51\}' "$work/output"
	result $? "top_follows_the_size_of_the_terminal"
	tmux -S "$work/tmux" resize-window -x 100 -y 40
	keys q && shows 'status 0' && ! grep -q 'DEVICE' "$work/output"
	result $? "top_ends_by_q_and_the_screen_is_as_before"
	terminal_is_as_before >"$work/output" 2>&1
	result $? "top_leaves_the_terminal_as_it_was"
	for signal in INT TERM HUP QUIT SEGV; do
		keys "clear; '$mimic' top" Enter
		shows '^>maple0' && kill -"$signal" "$(pgrep -P "$shell")" && shows '^prompt> *$' &&
			keys "echo status \$?; $settings_after" Enter &&
			shows 'status 1[0-9][0-9]' && terminal_is_as_before
		result $? "top_leaves_the_terminal_as_it_was_after_sig${signal,,}"
	done
	keys "clear; '$mimic' top" Enter
	shows '^>maple0' && keys C-z && shows 'Stopped' && keys fg Enter && shows '^>maple0' && keys q && shows '^prompt> *$'
	result $? "top_can_be_stopped_and_continued"
	test_top_continued
	stop_program
	test_top_of_a_stopped_daemon
	stop_daemon
	keys "clear; '$mimic' top; echo status \$?" Enter
	shows 'no mimicd' && shows 'status 1'
	result $? "top_says_that_nobody_answers"
}

# --- embedded devices -----------------------------------------------------------------------
export MIMIC_STATE=$work/run
MIMIC_SOCKET=$work/nobody
mkdir "$MIMIC_STATE"

start_embedded() # start_embedded: steady with devices in itself; $pid is its number
{
	: >"$work/steady"
	"$mimic" run --transport embedded --state "$build/tests/unmodified/steady" <"$work/input" >"$work/steady" 2>&1 &
	pid=$!
	exec 9>"$work/input"
	for _ in $(seq 200); do
		grep -q ready "$work/steady" && return 0
		sleep 0.05
	done
	return 1
}

start_embedded
result $? "a_program_with_embedded_devices_starts"
run list && grep -Eq "^$pid +steady$" "$work/output" && grep -q "no mimicd" "$work/errors"
result $? "list_names_processes_with_embedded_devices"
run list --json && [ "$(tr -d ' \n' <"$work/output")" = \
	'{"devices":[],"sessions":[],"bindings":[],"embedded":[{"pid":'"$pid"',"program":"steady"}]}' ]
result $? "list_prints_them_as_json"
run list --socket "$work/nobody"
[ $? = 1 ] && grep -q "no mimicd" "$work/errors"
result $? "list_of_a_daemon_that_is_named_fails_without_it"
run list --pid "$pid" && grep -Eq "^maple0 +$pid +steady" "$work/output" &&
	run dump --pid "$pid" maple0 queues/0/level && grep -Eq 'level = [34] ' "$work/output" &&
	run stat --pid "$pid" && grep -q '^maple0 *produced' "$work/output" &&
	run reset --pid "$pid" --counters maple0
result $? "they_work_on_a_process_with_embedded_devices"
refused "no process has such a number" dump --pid x maple0 && refused "not both" stat --pid "$pid" --socket x &&
	fails 1 "shows no devices" list --pid 1
result $? "they_refuse_what_is_no_such_process"
exec 9>&-
wait "$pid" && [ -z "$(ls "$MIMIC_STATE")" ]
result $? "the_socket_goes_with_the_process"
start_embedded && kill -9 "$pid" && { wait "$pid" 2>/dev/null; [ -e "$MIMIC_STATE/embedded-$pid" ]; } && { run list; [ -z "$(ls "$MIMIC_STATE")" ]; }
result $? "list_removes_what_a_killed_process_has_left"
exec 9>&-
run list --json
[ $? = 1 ] && grep -q '"embedded": *\[' "$work/output" && grep -q "no mimicd" "$work/errors"
result $? "list_fails_if_there_is_neither_a_daemon_nor_a_process"
touch "$work/file"
MIMIC_STATE=$work/file/none refused "--state: $work/file/none: Not a directory" run --state true &&
	MIMIC_STATE=$work/none/none refused "--state: $work/none/none: No such file" trace --state -o "$work/trace" true &&
	MIMIC_STATE=$work/none run run --state true && [ -d "$work/none" ]
result $? "a_place_where_no_socket_can_be_is_told"

# It is asked for ten seconds, in which other tests run.
start_embedded && kill -STOP "$pid"
exec 9>&-
stopped=$pid
timeout 20 "$mimic" list --pid "$stopped" >"$work/asked" 2>&1 &
asker=$!
unset MIMIC_STATE
MIMIC_SOCKET=$work/socket

run top </dev/null
[ $? = 2 ] && grep -q "this is no terminal" "$work/errors"
result $? "top_without_a_terminal_is_refused"
if tmux_is_there; then
	test_top
else
	skip "top_in_a_terminal" "tmux is not installed"
fi

wait $asker
[ $? = 1 ] && cp "$work/asked" "$work/output" && [ "$(cat "$work/output")" = "mimic: list: process $stopped: Connection timed out" ]
result $? "a_process_that_does_not_answer_is_named"
kill -9 "$stopped"
{ wait "$stopped"; } 2>/dev/null
stopped=
plan
