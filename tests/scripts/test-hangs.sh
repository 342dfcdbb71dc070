#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Programs that hang say what they wait for: under mimic run, with MIMIC_PATIENCE, at the end of --timeout. TAP.
#
#   test-hangs.sh [BUILD]
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
unset MIMIC_PATIENCE

# README's first program, with 40 values in place of one, by stores of its own.
cat >"$work/plain.c" <<'END'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
int main(void)
{
	volatile uint64_t *maple = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/maple0", O_RDWR), 0);
	int i;

	(void)maple[0], (void)maple[2], (void)maple[3];
	for (i = 0; i < 40; i++)
		maple[8] = i;
	printf("%d\n", *(volatile int *)&maple[7]);
	return 0;
}
END

# A queue holds 16 pointers, as many as README's program fetched; here it is 40.
cat >"$work/library.c" <<'END'
#include <maple.h>
int main(void)
{
	static uint64_t x[64], y[64];
	static uint32_t index[64];
	struct maple *maple;

	if (maple_init(&maple, 0) || maple_open(maple, 0, MAPLE_PRODUCER) || maple_open(maple, 0, MAPLE_CONSUMER))
		return 3;
	if (maple_produce_ptr64_batch(maple, 0, x, index, 40, MAPLE_DRAM) < 0)
		return 3;
	return maple_consume64_batch(maple, 0, y, 40) < 0 ? 3 : 0;
}
END
gcc -O1 -o "$work/plain" "$work/plain.c" || exit 2
gcc -O1 -Ilibmaple -o "$work/library" "$work/library.c" "$build/lib/libmaple.so.0" -Wl,-rpath,"$build/lib" || exit 2

# run [NAME=VALUE...] COMMAND... (the outer redirection takes the shell's message of a signal)
run()
{
	{ timeout -k 5 30 env "$@" >"$work/output" 2>"$work/errors"; } 2>/dev/null
}

# told THREADS TEXT: so many lines say what a thread waits for, and each ends with TEXT
told()
{
	[ "$(grep -c ' has waited ' "$work/errors")" = "$1" ] && [ "$(grep -cF -- "$2" "$work/errors")" = "$1" ]
}

full="its consumer is this same thread"
plain="for a store of MAPLE PRODUCE [0]: queue 0 is full (8 of 8 words), and $full"
# 40 pointers of 8 bytes: 16 are in the queue.
library="queue 0 is full (32 of 32 words), and $full"

for transport in embedded daemon; do
	options=(--transport "$transport")
	if [ $transport = daemon ]; then
		start_daemon maple:2 || exit 2
		options+=(--socket "$work/socket")
	fi
	run MIMIC_PATIENCE=0.3 timeout 2 "$build/bin/mimic" run "${options[@]}" "$work/plain"
	[ $? = 124 ] && told 1 "$plain" &&
		grep -qE '^mimic: plain\[[0-9]+\]: maple0: thread [0-9]+ has waited' "$work/errors"
	result $? "$transport: a_program_that_hangs_says_so_once"

	run MIMIC_PATIENCE=0.3 timeout 2 "$build/bin/mimic" run "${options[@]}" --no-patch "$work/plain"
	[ $? = 124 ] && told 1 "$plain"
	result $? "$transport: so_it_does_where_each_access_is_a_trap"

	run MIMIC_PATIENCE=0.3 MIMIC_TRANSPORT="$transport" MIMIC_SOCKET="$work/socket" timeout 2 "$work/library"
	[ $? = 124 ] && told 1 "$library" && grep -q 'its earlier store of MAPLE ' "$work/errors"
	result $? "$transport: with_MIMIC_PATIENCE_a_program_of_libmaple_says_so_without_mimic_run"

	run MIMIC_TRANSPORT="$transport" MIMIC_SOCKET="$work/socket" timeout 2 "$work/library"
	[ $? = 124 ] && [ ! -s "$work/errors" ]
	result $? "$transport: unasked_a_library_prints_nothing"

	run "$build/bin/mimic" run "${options[@]}" --timeout 1.5 "$work/plain"
	[ $? = 124 ] && told 1 "$plain" && grep -q ' has waited 1' "$work/errors" && grep -q 'plain has run for 1.5 s, and is ended' "$work/errors"
	result $? "$transport: at_the_end_of_its_time_it_says_what_it_waits_for"
done
stop_daemon

run MIMIC_PATIENCE=0.3 timeout 2 "$build/bin/mimic" record -o "$work/recording" "$work/plain"
told 1 "$plain"
result $? "a_device_that_is_recorded_says_so_too"

run timeout 12 "$build/bin/mimic" run --transport embedded "$work/plain"
[ $? = 124 ] && told 1 "$plain" && grep -q ' has waited 10' "$work/errors"
result $? "under_mimic_run_it_is_10_s"

run MIMIC_PATIENCE=0 timeout 12 "$build/bin/mimic" run --transport embedded "$work/plain"
[ $? = 124 ] && [ ! -s "$work/errors" ]
result $? "0_is_never"

bad=0
for value in x 1x -1 . 1e3 1,5 0x10 inf ' 1'; do
	run MIMIC_PATIENCE="$value" "$build/bin/mimic" run --transport embedded "$build/tests/unmodified/updates"
	[ $? = 0 ] && [ "$(grep -c 'MIMIC_PATIENCE: no number of seconds' "$work/errors")" = 1 ] || bad=1
done
result $bad "a_word_that_is_no_number_of_seconds_gets_one_line_and_the_program_runs"

# --- --timeout ------------------------------------------------------------------------------------

run "$build/bin/mimic" run --timeout 20 sh -c 'exit 7'
[ $? = 7 ] && [ ! -s "$work/errors" ]
result $? "a_program_that_ends_in_time_has_its_own_status"

run "$build/bin/mimic" run --timeout 20 sh -c 'kill -USR1 $$'
[ $? = 138 ]
result $? "or_its_own_signal"

run "$build/bin/mimic" run --timeout 0.5 sh -c 'sleep 77 & echo $!; trap "" TERM; while :; do sleep 0.1; done'
status=$?
child=$(cat "$work/output")
[ $status = 124 ] && grep -qE 'run: thread [0-9]+ \(sh\) ' "$work/errors" && ! kill -0 "$child" 2>/dev/null
result $? "one_that_does_not_listen_is_killed_and_what_it_started_ends"

# A program that a shell starts in the background has these ignored.
bad=0
for name in INT QUIT; do
	: >"$work/output"
	env --default-signal=INT,QUIT "$build/bin/mimic" run --timeout 20 sh -c "trap 'exit 42' $name; echo ready; while :; do sleep 0.1; done" \
		>"$work/output" 2>"$work/errors" &
	pid=$!
	for _ in $(seq 100); do
		grep -q ready "$work/output" && break
		sleep 0.05
	done
	kill -$name $pid
	wait $pid
	[ $? = 42 ] || bad=1
done
result $bad "int_and_quit_that_a_process_sends_to_mimic_run_reach_the_program"

bad=0
for value in x 0 -1 1x '' 1e9; do
	refused "--timeout=$value: 0.001 to 604800 seconds" "$build/bin/mimic" run --timeout "$value" true || bad=1
done
result $bad "a_word_that_is_no_time_is_refused"

# --- gdb ----------------------------------------------------------------------------------------------

# shown WHAT: gdb's output has the queue and the thread that waits, and nothing of an error
shown()
{
	grep -qx "maple0: queue 0: 8 of 8 words; producer: thread $pid, consumer: thread $pid; a store of thread $pid waits" \
		"$work/output" && grep -qx "maple0: thread $pid waits for a store of MAPLE PRODUCE \[0\]" "$work/output" &&
		! grep -qi 'error\|traceback' "$work/output" "$work/errors"
	result $? "$1"
}

gdb_commands=(gdb -q -nx -batch -ex "source tools/gdb/mimic.py" -ex mimic)
"$build/bin/mimic" run --transport embedded "$work/plain" 2>/dev/null &
pid=$!
for _ in $(seq 100); do
	grep -q futex "/proc/$pid/wchan" 2>/dev/null && break
	sleep 0.1
done
if ! command -v gdb >/dev/null; then
	skip "gdb" "not installed"
elif ! gdb -q -nx -batch -p $pid -ex "generate-core-file $work/core" >"$work/output" 2>&1 || [ ! -s "$work/core" ]; then
	skip "gdb" "it may not be attached to a process here"
else
	run "${gdb_commands[@]}" -p $pid
	shown "gdb: a_process_shows_its_queues_and_the_thread_that_waits"
	run "${gdb_commands[@]}" "$work/plain" "$work/core"
	shown "gdb: so_does_its_core_file"
	run "${gdb_commands[@]}" "$work/plain"
	grep -q 'no debug information of libmimic: is it loaded' "$work/errors"
	result $? "gdb: a_program_without_libmimic_is_told_so"
fi
{ kill -9 $pid; wait $pid; } 2>/dev/null

plan
