#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: mimic list, dump, stat and reset show and change a device that a
# program has through the kernel, mimic trace writes down what it does. KTAP.
#
#   state.sh [TOP]     TOP: where bin, lib and tests lie; default /mimic
#
# The modules are loaded; no mimicd runs.
top=${1:-/mimic}
programs=$top/tests/unmodified
mimic=$top/bin/mimic
# shellcheck source=tests/vm/guest/ktap.sh
. "$(dirname "$0")/ktap.sh"
export MIMIC_SOCKET="$dir/socket"

# start_program NAME WORD ARGUMENT...: until it prints WORD; its number is in $program
start_program() {
	name=$1
	word=$2
	shift 2
	rm -f "$dir/input" "$dir/program"
	mkfifo "$dir/input"
	"$programs/$name" "$@" <"$dir/input" >"$dir/program" 2>&1 &
	program=$!
	exec 9>"$dir/input"
	tries=100
	while [ $tries -gt 0 ] && ! grep -q "$word" "$dir/program"; do
		tries=$((tries - 1))
		sleep 0.1
	done
	cp "$dir/program" "$dir/out"
	[ $tries -gt 0 ]
}

# wait_program: its exit status; after 10 s it is killed. A caller that wants its input to end
# closes descriptor 9 before.
wait_program() {
	tries=100
	while [ $tries -gt 0 ] && kill -0 "$program" 2>/dev/null; do
		tries=$((tries - 1))
		sleep 0.1
	done
	exec 9>&-
	kill -9 "$program" 2>/dev/null
	wait "$program"
}

# value PATH: of maple0
value() {
	"$mimic" dump maple0 "$1" | sed 's/.* = \([^ ]*\).*/\1/'
}

# counter NAME: of maple0, as stat shows it
counter() {
	"$mimic" stat maple0 | awk -v name="$1" '$1 == "maple0" && $2 == name { print $3 }'
}

# says TEXT COMMAND...: all that it prints
says() {
	wanted=$1
	shift
	"$@" >"$dir/out" 2>&1 && [ "$(cat "$dir/out")" = "$wanted" ]
}

# One dump is one moment: what came and has not gone is in the queue.
dump_is_of_one_moment() {
	"$mimic" dump maple0 counters/produced counters/consumed queues/0/level >"$dir/out" 2>&1 &&
		awk '{ value[$1] = $3 }
		END { level = value["queues/0/level"]
		exit !(level >= 3 && level <= 4 && value["counters/produced"] - value["counters/consumed"] == level) }' "$dir/out"
}

has_grown() {
	before=$(counter produced)
	sleep 0.5
	after=$(counter produced)
	echo "produced $before, then $after" >"$dir/out"
	[ "$after" -gt "$before" ]
}

test_looks() {
	start_program steady ready
	result $? "a_program_takes_dev_maple0"
	"$mimic" list >"$dir/out" 2>&1 && grep -Eq "^maple0 +$program +steady" "$dir/out"
	result $? "list_names_the_program_that_has_the_node"
	dump_is_of_one_moment
	result $? "dump_shows_counters_and_queues_of_one_moment"
	has_grown
	result $? "stat_shows_counters_that_grow"
	before=$(value counters/produced)
	says '{"cleared": "maple0"}' "$mimic" reset --json --counters maple0 &&
		[ "$(value counters/produced)" -lt "$before" ] && [ "$(value queues/0/level)" -ge 3 ]
	result $? "reset_counters_leaves_the_queues"
	exec 9>&-
	wait_program
	status=$?
	cp "$dir/program" "$dir/out"
	echo "exit status $status, wanted 0" >>"$dir/out"
	[ $status = 0 ]
	result $? "the_program_was_not_disturbed"
}

test_resets() {
	start_program waiting waiting forever && sleep 0.3 &&
		says '{"reset": "maple0"}' "$mimic" reset --json maple0
	result $? "reset_resets_a_device_that_a_program_has"
	wait_program
	status=$?
	echo "exit status $status, wanted 0" >>"$dir/out"
	[ $status = 0 ]
	result $? "an_access_that_waits_is_answered_with_0"

	# It would end before we can look.
	start_program steady ready && kill -STOP "$program" && [ "$(value queues/0/level)" -ge 3 ] &&
		says '{"reset": "maple0"}' "$mimic" reset --json maple0 &&
		[ "$(value queues/0/allocated)" = false ] && [ "$(value counters/consumed)" = 0 ]
	result $? "the_device_is_as_after_power_on"
	"$mimic" list >"$dir/out" 2>&1 && grep -Eq "^maple0 +$program +steady" "$dir/out"
	result $? "the_program_has_it_still"
	kill -CONT "$program"
	wait_program
	status=$?
	echo "exit status $status, wanted 1" >>"$dir/out"
	[ $status = 1 ]
	result $? "the_program_sees_that_its_words_are_gone"
	passes "the_next_program_finds_a_device_that_works" "$programs/widths"
}

# traced NAME PROGRAM: it succeeds, and what its device did is in a trace that is valid and complete
traced() {
	rm -f "$dir/trace.json"
	"$mimic" trace --transport kernel -o "$dir/trace.json" "$2" >"$dir/out" 2>&1 &&
		"$top/tests/tools/check_trace" "$dir/trace.json" >"$dir/found" 2>>"$dir/out"
	status=$?
	cat "$dir/found" >>"$dir/out"
	[ $status = 0 ] && awk '$1 == "accesses" { accesses = $2 } END { exit !(accesses > 0) }' "$dir/found"
	result $? "$1"
}

test_traces() {
	traced "a_program_that_knows_nothing_of_mimic_is_traced" "$programs/widths"
	traced "a_static_program_is_traced" "$programs/dare-static"
	passes "without_a_trace_all_is_as_before" "$programs/widths"
}

echo "KTAP version 1"
start_daemon paper
test_looks
test_resets
test_traces
stop_daemon 15
plan
