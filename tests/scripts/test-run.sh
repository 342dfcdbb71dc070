#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Programs that know nothing of mimic, under `mimic run`. TAP on stdout.
#
#   test-run.sh [BUILD]     BUILD: the build directory; else $O, else build
#   TRANSPORT=embedded|daemon test-run.sh    only that one
set -u
ulimit -c 0
cd "$(dirname "$0")/../.." || exit 2
build=${1:-${O:-build}}
build=$(cd "$build" && pwd) || exit 2
mimic=$build/bin/mimic
programs=$build/tests/unmodified
sources=tests/unmodified
dir=$(mktemp -d)
daemon=
count=0
failed=0
transport=
options=()

cleanup() {
	[ -n "$daemon" ] && kill "$daemon" 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

# result STATUS NAME: the output of the command is in $dir/out.
result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - ${transport:+$transport: }$2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - ${transport:+$transport: }$2"
	tail -n 20 "$dir/out" | sed 's/^/# /'
}

skip() {
	count=$((count + 1))
	echo "ok $count - ${transport:+$transport: }$1 # SKIP $2"
}

# The outer redirection takes the shell's own "Segmentation fault".
try() {
	{ timeout -k 5 100 "$@" >"$dir/out" 2>&1; } 2>/dev/null
}

run() {
	try "$mimic" run "${options[@]}" "$@"
}

# passes NAME PROGRAM...: exit status 0.
passes() {
	local name=$1
	shift
	run "$@"
	result $? "$name"
}

# ends STATUS NAME PROGRAM...
ends() {
	local wanted=$1 name=$2 status
	shift 2
	run "$@"
	status=$?
	echo "exit status $status, wanted $wanted" >>"$dir/out"
	[ $status = "$wanted" ]
	result $? "$name"
}

# says TEXT NAME: in the output of the last run.
says() {
	grep -q -e "$1" "$dir/out"
	result $? "$2"
}

# --- builds of the same programs by other compilers -----------------------------

build_levels() {
	local compiler level
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		for level in -O0 -O1 -O2 -O3 -Os; do
			$compiler -std=gnu11 $level -g -no-pie -fno-pie -pthread -o "$dir/widths-$compiler$level" \
				$sources/widths.c || return
		done
		$compiler -std=gnu11 -O2 -fPIE -pie -o "$dir/widths-$compiler-pie" $sources/widths.c || return
		$compiler -std=gnu11 -O2 -o "$dir/updates-$compiler" $sources/updates.c || return
		$compiler -std=gnu11 -O2 -D_FORTIFY_SOURCE=2 -o "$dir/node-$compiler-fortified" $sources/node.c || return
		$compiler -std=gnu11 -O2 -D_FORTIFY_SOURCE=2 -o "$dir/handlers-$compiler-fortified" \
			$sources/handlers.c || return
	done
}

build_sanitized() {
	local compiler sanitizer program
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		for sanitizer in address thread undefined; do
			for program in widths crash; do
				$compiler -std=gnu11 -O1 -g -pthread -fsanitize=$sanitizer \
					-o "$dir/$program-$compiler-$sanitizer" $sources/$program.c \
					2>"$dir/out" || rm -f "$dir/$program-$compiler-$sanitizer"
			done
		done
	done
}

# --- on each transport --------------------------------------------------------------

# start_daemon OPTION...
start_daemon() {
	"$build/bin/mimicd" --socket "$dir/socket" "$@" >"$dir/daemon.log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		[ -S "$dir/socket" ] && return
		sleep 0.05
	done
	echo "Bail out! mimicd does not start: $(cat "$dir/daemon.log")"
	exit 1
}

test_programs() {
	passes "decoupled_spmv_with_openmp_threads_through_dev_mem" "$programs/spmv"
	passes "breadth_first_search_with_lima_through_dev_mem" "$programs/bfs"
	passes "twelve_tiles_are_twelve_instances" "$programs/tiles"
	passes "raw_physical_addresses_work_without_open_or_mmap" "$programs/raw"
	passes "queues_of_all_sizes_with_mixed_widths" "$programs/widths"
	passes "nodes_answer_as_a_driver_would" "$programs/node"
	passes "dare_by_plain_stores_to_its_page" "$programs/dare"
	passes "gemminis_commands_by_plain_stores_to_virgo" "$programs/virgo"
	passes "updates_of_registers_and_long_doubles" "$programs/updates"
	passes "the_program_keeps_its_own_sigsegv_and_sigbus_handlers" "$programs/handlers"
	passes "blocked_signals_do_not_stop_device_accesses" "$programs/masks"
	passes "signal_handlers_run_while_a_load_waits" "$programs/waiting"
	passes "handlers_jump_out_of_accesses_that_wait_or_are_at_work" "$programs/jumps"
	passes "fork_vfork_exec_and_posix_spawn" "$programs/processes"
	for way in closefrom close_range close syscall after-dup2 old-kernel; do
		passes "mapped_pages_work_after_${way}_of_all_descriptors" "$programs/detached" $way
	done
	passes "heap_pointers_fit_in_32_bits_and_bad_pointers_read_0" "$programs/pointers"
	passes "cxx_threads_and_exceptions" "$programs/threads"
}

test_compilers() {
	local compiler level program
	for compiler in gcc clang; do
		if [ ! -e "$dir/widths-$compiler-O0" ]; then
			skip "programs_built_by_$compiler" "no $compiler"
			continue
		fi
		for level in -O0 -O1 -O2 -O3 -Os; do
			passes "queues_built_by_$compiler$level" "$dir/widths-$compiler$level"
		done
		passes "position_independent_program_built_by_$compiler" "$dir/widths-$compiler-pie"
		passes "updates_of_registers_built_by_$compiler" "$dir/updates-$compiler"
		passes "fortified_open_and_stat_built_by_$compiler" "$dir/node-$compiler-fortified"
		passes "fortified_longjmp_built_by_$compiler" "$dir/handlers-$compiler-fortified"
	done
}

test_sanitizers() {
	local compiler sanitizer
	for compiler in gcc clang; do
		for sanitizer in address thread undefined; do
			if [ ! -e "$dir/widths-$compiler-$sanitizer" ]; then
				skip "sanitizer_${sanitizer}_of_$compiler" "not installed"
				continue
			fi
			passes "sanitizer_${sanitizer}_of_$compiler" "$dir/widths-$compiler-$sanitizer"
		done
		[ -e "$dir/crash-$compiler-address" ] || continue
		run "$dir/crash-$compiler-address" overflow
		says "heap-buffer-overflow" "address_sanitizer_of_${compiler}_still_finds_an_overflow"
		run "$dir/crash-$compiler-address" null
		says "AddressSanitizer.* SEGV on unknown address" \
			"address_sanitizer_of_${compiler}_still_reports_a_null_dereference"
	done
}

test_ends() {
	local crash=$programs/crash
	ends 42 "the_exit_status_is_the_programs_own" "$crash" status
	ends 139 "a_null_dereference_dies_of_sigsegv" "$crash" null
	ends 139 "a_call_of_null_dies_of_sigsegv" "$crash" call
	ends 139 "a_jump_into_a_device_page_dies_of_sigsegv" "$crash" execute-device
	ends 139 "raise_sigsegv_dies_of_sigsegv" "$crash" raise
	ends 139 "a_fault_on_a_blocked_and_ignored_sigsegv_kills" "$crash" blocked-null
	ends 134 "abort_dies_of_sigabrt" "$crash" abort
	ends 135 "a_bus_error_of_its_own_dies_of_sigbus" "$crash" bus
	ends 135 "an_instruction_that_is_no_plain_access_dies_of_sigbus" "$crash" exchange-add
	says "cannot emulate the instruction at 0x[0-9a-f]* (bytes f0 0f c1 .*access to 0x[0-9a-f]* (page 0 of maple0" \
		"the_line_names_instruction_bytes_address_and_page"
	says "it locks memory, which no bus can do" "and_says_that_it_locks"
	ends 135 "a_handler_that_sets_the_default_action_and_returns_lets_it_die_of_sigbus" "$crash" handled-exchange-add
	[ "$(grep -c '; access to 0x' "$dir/out")" = 1 ]
	result $? "an_access_that_faults_again_after_the_handler_is_told_once"
	ends 0 "the_last_of_64_tiles_is_there" "$programs/raw" e17f800000 </dev/null
	ends 139 "a_node_of_the_mesh_without_a_maple_is_no_device" "$programs/raw" e120800000 </dev/null
	run "$programs/processes"
	says "device pages do not pass to a child process" "the_child_of_a_fork_is_told_why_its_access_failed"
}

test_killed_while_waiting() {
	local number=$1 child status
	"$mimic" run "${options[@]}" "$programs/waiting" forever >"$dir/out" 2>&1 &
	child=$!
	for _ in $(seq 100); do
		grep -q waiting "$dir/out" && break
		sleep 0.05
	done
	sleep 0.2
	kill -"$number" $child
	wait $child 2>/dev/null
	status=$?
	echo "exit status $status" >>"$dir/out"
	[ $status = $((128 + number)) ]
	result $? "a_waiting_thread_can_be_killed_by_signal_$number"
	passes "its_device_is_free_again_after_signal_$number" "$programs/widths"
}

test_gdb() {
	if ! command -v gdb >/dev/null; then
		skip "gdb_runs_a_program_to_its_end" "no gdb"
		return
	fi
	run gdb -q -nx -batch -ex "set confirm off" -ex "handle SIGSEGV nostop noprint pass" -ex run \
		--args "$programs/widths"
	says "exited normally" "gdb_runs_a_program_to_its_end"
	run gdb -q -nx -batch -ex "set confirm off" -ex "handle SIGSEGV nostop noprint pass" \
		-ex "break plain_pop" -ex run -ex "print queue->level" -ex delete -ex continue --args "$programs/widths"
	says "^\$1 = [1-9]" "gdb_stops_at_a_breakpoint_between_accesses"
	says "exited normally" "gdb_goes_on_after_the_breakpoint"
	run gdb -q -nx -batch -ex "set confirm off" -ex "handle SIGSEGV nostop noprint pass" -ex run -ex "info symbol \$pc" \
		--args "$programs/crash" null
	says "terminated with signal SIGSEGV" "gdb_sees_a_real_crash"
}

test_interpreters() {
	printf '#!/bin/sh\nexec "%s"\n' "$programs/widths" >"$dir/script.sh"
	chmod +x "$dir/script.sh"
	passes "a_script_runs_a_program" "$dir/script.sh"
	ends 0 "shell_tests_see_a_character_device" sh -c 'test -c /dev/maple0 && test ! -e /dev/maple99'
	ends 7 "sh_passes_a_status_on" sh -c "$programs/widths && exit 7"
}

# Physical addresses are each process's own: none of them finds a tile busy.
test_side_by_side() {
	local children=() child status=0
	for _ in 1 2 3 4; do
		timeout -k 5 100 "$mimic" run "${options[@]}" "$programs/spmv" >>"$dir/out" 2>&1 &
		children+=($!)
	done
	for child in "${children[@]}"; do
		wait "$child" || status=1
	done
	[ $status = 0 ]
	result $? "four_programs_use_the_same_physical_addresses_side_by_side"
}

test_transport() {
	transport=$1
	options=(--transport "$transport")
	if [ "$transport" = daemon ]; then
		start_daemon
		options+=(--socket "$dir/socket")
	fi
	test_programs
	test_compilers
	test_sanitizers
	test_side_by_side
	test_ends
	test_killed_while_waiting 15
	test_killed_while_waiting 9
	test_gdb
	test_interpreters
}

# Each process has tiles of its own. They are not among the devices that are counted.
test_tiles_without_devices() {
	transport=embedded
	options=(--devices dare:1)
	passes "tiles_are_there_where_no_maple_is_counted" "$programs/raw"
	transport=daemon
	start_daemon --devices dare:1
	options=(--transport daemon --socket "$dir/socket")
	passes "tiles_are_there_where_no_maple_is_counted" "$programs/raw"
	kill "$daemon"
	wait "$daemon"
	daemon=
}

# --- the daemon alone ------------------------------------------------------------------

test_list() {
	"$mimic" run "${options[@]}" "$programs/waiting" forever >"$dir/waiting" 2>&1 &
	local child=$!
	for _ in $(seq 100); do
		grep -q waiting "$dir/waiting" && break
		sleep 0.05
	done
	try "$mimic" list --socket "$dir/socket"
	says "^maple0 *$child *waiting" "list_shows_who_has_a_device"
	says "^maple1 .*free" "list_shows_a_free_device"
	try "$mimic" list --json --socket "$dir/socket"
	says "\"pid\": *$child" "list_prints_json"
	run "$programs/widths"
	says "busy" "a_device_of_another_process_is_busy"
	kill $child
	wait $child 2>/dev/null
}

test_daemon_dies() {
	"$mimic" run "${options[@]}" "$programs/waiting" forever >"$dir/out" 2>&1 &
	local child=$! status late
	while [ ! -e "$dir/gone" ]; do sleep 0.05; done | "$mimic" run "${options[@]}" "$programs/raw" e130800000 >"$dir/late" 2>&1 &
	late=$!
	for _ in $(seq 100); do
		grep -q waiting "$dir/out" && grep -q ready "$dir/late" && break
		sleep 0.05
	done
	sleep 0.2
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
	touch "$dir/gone"
	wait $child 2>/dev/null
	status=$?
	echo "exit status $status" >>"$dir/out"
	[ $status = 135 ]
	result $? "a_thread_that_waits_ends_by_sigbus_when_the_daemon_is_killed"
	says "the daemon is gone" "the_line_says_that_the_daemon_is_gone"
	wait $late 2>/dev/null
	status=$?
	echo "exit status $status" >>"$dir/late"
	cp "$dir/late" "$dir/out"
	[ $status = 135 ] && [ "$(grep -c '; access to 0x' "$dir/out")" = 1 ]
	result $? "a_tile_that_cannot_be_had_any_more_is_told_once_and_ends_by_sigbus"
	says "no mimicd at .*; access to 0xe1[0-9a-f]* (page 0 of maple@1" "the_line_names_the_tile_and_says_why"
	try "$mimic" list --socket "$dir/socket"
	[ $? = 1 ]
	result $? "list_without_a_daemon_exits_1"
	ends 2 "run_with_a_dead_daemon_exits_2" true
}

# A report of a daemon's device is in the daemon's log, once for each program.
test_hang_of_daemon() {
	transport=daemon
	rm -f "$dir/socket"
	start_daemon --config artifact
	options=(--transport daemon --socket "$dir/socket")
	for _ in first second; do
		passes "a_program_that_hangs_two_queues_ends" "$programs/hang" twice
	done
	kill "$daemon"
	wait "$daemon"
	daemon=
	cp "$dir/daemon.log" "$dir/out"
	[ "$(grep -c 'maple0 (hang, pid [0-9]*): .*hangs its queue' "$dir/out")" = 2 ]
	result $? "the_log_says_once_for_each_program_that_it_hangs"
}

# Of the daemon it is a key of the configuration.
test_synchronous_daemon() {
	transport=daemon
	rm -f "$dir/socket"
	printf '[virgo]\nprofile = mixed\nsynchronous = 1\n' >"$dir/synchronous.ini"
	start_daemon --config "$dir/synchronous.ini"
	options=(--transport daemon --socket "$dir/socket")
	passes "a_command_is_over_before_its_store_is_answered" "$programs/unfenced"
	run "$programs/posted" "$daemon"
	says "^waited" "a_store_of_a_command_waits_for_the_daemon_in_the_synchronous_mode"
	kill "$daemon"
	wait "$daemon"
	start_daemon
	run "$programs/posted" "$daemon"
	says "^did not wait" "a_store_of_a_command_does_not_wait_for_the_daemon_otherwise"
	kill "$daemon"
	wait "$daemon"
	daemon=
}

# --- the command itself -------------------------------------------------------------------

test_command() {
	transport=
	options=(--transport embedded)
	ends 127 "a_missing_program_exits_127" "$dir/nothing"
	ends 127 "a_missing_program_in_path_exits_127" mimic-test-there-is-none
	ends 126 "a_file_that_is_not_executable_exits_126" "$sources/contract.h"
	ends 126 "a_directory_exits_126" "$dir"
	head -c 100 "$programs/widths" >"$dir/cut"
	chmod +x "$dir/cut"
	ends 126 "a_cut_elf_file_exits_126" "$dir/cut"
	gcc -static -o "$dir/static" $sources/raw.c
	ends 2 "a_static_program_exits_2" "$dir/static"
	says "$dir/static: statically linked" "the_line_names_the_static_program"
	printf '#!%s\n' "$dir/static" >"$dir/static.sh"
	chmod +x "$dir/static.sh"
	ends 2 "a_script_with_a_static_interpreter_exits_2" "$dir/static.sh"
	passes "under_strict_seccomp_a_device_in_the_program_is_used" "$programs/strict"
	passes "under_strict_seccomp_by_instructions_that_are_replaced" "$programs/strict" before
	options=(--transport embedded --no-patch)
	passes "under_strict_seccomp_by_traps" "$programs/strict"
	options=(--transport embedded)
	gcc -o "$dir/musl" $sources/raw.c -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
	ends 2 "a_program_of_musl_exits_2" "$dir/musl"
	says "$dir/musl: linked with musl and not with glibc" "the_line_names_the_program_of_musl"
	[ "$(wc -l <"$dir/out")" = 2 ]
	result $? "and_is_the_only_one"
	options=(--transport embedded --config mixed)
	passes "a_profile_is_named_without_a_file" "$programs/virgo"
	options=(--synchronous)
	passes "a_command_is_over_before_its_store_is_answered" "$programs/unfenced"
	options=(--synchronous --transport daemon)
	ends 2 "synchronous_with_the_daemon_exits_2" true
	says "--synchronous belongs to the embedded transport" "and_the_line_says_where_it_belongs"
	options=(--devices maple:0)
	ends 2 "no_devices_exits_2" true
	options=(--devices dare:1,pear:1)
	ends 2 "an_unknown_kind_in_a_list_exits_2" true
	says "devices 'dare:1,pear:1' is not a list of KIND:COUNT with the kinds maple dare virgo" "and_the_line_names_the_kinds"
	options=(--devices maple:2,maple:2)
	ends 2 "a_kind_named_twice_exits_2" true
	options=(--devices maple:1x)
	ends 2 "a_bad_device_count_exits_2" true
	options=(--devices pear:1)
	ends 2 "an_unknown_device_exits_2" true
	options=(--transport pigeon)
	ends 2 "an_unknown_transport_exits_2" true
	options=(--config "$dir/none.conf")
	ends 2 "a_missing_configuration_exits_2" true
	printf '[maple]\nno_such_key = 1\n' >"$dir/bad.conf"
	options=(--config "$dir/bad.conf")
	ends 2 "an_unknown_key_exits_2" true
	says "bad.conf:2" "the_line_names_file_and_line"
	options=(--transport daemon --socket "$dir/none")
	ends 2 "a_daemon_that_does_not_answer_exits_2" true
	rm -f "$dir/socket"
	start_daemon
	for wrong in "--config artifact" "--devices maple:9"; do
		# shellcheck disable=SC2206 # two words are meant
		options=(--transport daemon --socket "$dir/socket" $wrong)
		ends 2 "daemon_with_${wrong%% *}_exits_2" true
		says "--config and --devices belong to the embedded transport" "and_the_line_says_whose_they_are"
	done
	options=(--socket "$dir/socket" --config artifact)
	MIMIC_TRANSPORT=daemon ends 2 "daemon_from_the_environment_with_--config_exits_2" true
	options=(--transport daemon --socket "$dir/socket")
	MIMIC_CONFIG=$dir/none.conf MIMIC_DEVICES=pear:1 ends 0 \
		"the_daemon_transport_ignores_what_the_environment_configures" \
		sh -c "test -e /dev/maple1 && test ! -e /dev/maple2 && exec $programs/widths"
	options=(--socket "$dir/socket" --devices maple:9)
	ends 0 "auto_with_--devices_is_embedded_even_beside_a_daemon" test -e /dev/maple8
	options=(--transport auto --socket "$dir/socket" --devices maple:9)
	ends 0 "the_word_auto_with_--devices_is_embedded_even_beside_a_daemon" test -e /dev/maple8
	cd "$dir" || exit 1
	options=(--transport daemon --socket socket)
	ends 0 "a_relative_socket_path_holds_after_a_change_of_directory" sh -c "cd / && exec $programs/widths"
	cd - >/dev/null || exit 1
	kill "$daemon"
	wait "$daemon"
	daemon=
	if [ ! -c /dev/maple0 ]; then
		options=(--transport kernel)
		ends 2 "the_kernel_transport_without_nodes_exits_2" true
		says "no kernel devices: is mimic.ko loaded and mimicd running?" "and_the_line_says_what_to_look_for"
		# The preload library with nodes of the kernel, without any node.
		MIMIC_SOCKET=$dir/none MIMIC_TRANSPORT=kernel LD_PRELOAD=$build/lib/libmimic-preload.so \
			try sh -c "test ! -e /dev/maple0 && $programs/tiles && $programs/raw"
		result $? "on_the_kernel_transport_only_physical_addresses_are_made_up"
	fi
	options=(--transport kernel --config artifact)
	ends 2 "kernel_with_--config_exits_2" true
	says "--config and --devices belong to the embedded transport" "and_the_line_says_whose_they_are"
	options=(--no-such-option)
	ends 2 "an_unknown_option_exits_2" true
	options=()
	ends 2 "no_program_exits_2"
	options=(--transport embedded --devices maple:5)
	ends 0 "the_device_option_says_how_many_there_are" sh -c 'test -e /dev/maple4 && test ! -e /dev/maple5'
	ends 0 "a_kind_that_the_device_option_leaves_out_is_not_there" sh -c 'test ! -e /dev/dare0'
	options=(--transport embedded --devices dare:3)
	ends 0 "the_device_option_names_other_kinds" \
		sh -c 'test -e /dev/dare2 && test ! -e /dev/dare3 && test ! -e /dev/maple0'
	printf '[mimic]\ndevices = maple:7\n[maple]\nprofile = paper\n' >"$dir/seven.conf"
	cd "$dir" || exit 1
	options=(--transport embedded --config seven.conf)
	ends 0 "a_relative_configuration_path_holds_after_a_change_of_directory" \
		sh -c 'cd / && test -e /dev/maple6 && test ! -e /dev/maple7'
	cd - >/dev/null || exit 1
	options=(--transport embedded --config artifact)
	passes "programs_run_on_the_artifact_profile" "$programs/spmv"
	passes "a_program_that_hangs_the_artifact_ends" "$programs/hang"
	[ "$(grep -c "maple0: .*hangs its queue" "$dir/out")" = 1 ]
	result $? "and_the_hang_is_said_once"
	options=(--socket "$dir/none")
	passes "auto_without_a_daemon_is_embedded" "$programs/widths"
	for command in "" run list; do
		# shellcheck disable=SC2086 # no word is meant for ""
		try "$mimic" $command --help
		says "^Usage: mimic" "help_of_mimic_$command"
	done
	try "$mimic" --version
	says "^mimic [0-9]" "version"
	try "$mimic" fly
	[ $? = 2 ]
	result $? "an_unknown_command_exits_2"
	try "$mimic" list --socket "$dir/none"
	[ $? = 1 ]
	result $? "list_of_no_daemon_exits_1"
	try "$mimic" list extra
	[ $? = 2 ]
	result $? "list_with_an_argument_exits_2"
}

if [ ! -x "$programs/spmv" ] || [ ! -x "$mimic" ]; then
	echo "Bail out! $build is not built: make all tests"
	exit 1
fi
build_levels || exit 1
build_sanitized
for name in ${TRANSPORT:-embedded daemon}; do
	test_transport "$name"
	[ "$name" = daemon ] || continue
	test_list
	test_daemon_dies
	test_hang_of_daemon
	test_synchronous_daemon
done
test_tiles_without_devices
test_command
echo "1..$count"
[ $failed = 0 ]
