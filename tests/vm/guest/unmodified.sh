#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: programs that know nothing of mimic, on the kernel's own nodes,
# most of them with nothing preloaded. KTAP.
#
#   unmodified.sh [TOP]     TOP: where bin, lib and tests lie; default /mimic
#
# The modules are loaded; no mimicd runs.
#
# TEST_SECONDS=120
top=${1:-/mimic}
programs=$top/tests/unmodified
mimic=$top/bin/mimic
# shellcheck source=tests/vm/guest/ktap.sh
. "$(dirname "$0")/ktap.sh"

test_programs() {
	passes "queues_of_all_sizes_with_mixed_widths" "$programs/widths"
	passes "nodes_answer_as_the_documentation_says" "$programs/node"
	passes "the_program_keeps_its_own_sigsegv_and_sigbus_handlers" "$programs/handlers"
	passes "poll_tells_of_a_fault_until_the_program_asks" "$programs/poll"
	passes "mapped_pages_work_after_all_descriptors_are_closed" "$programs/detached" closefrom
	passes "blocked_signals_do_not_stop_device_accesses" "$programs/masks"
	passes "signal_handlers_run_while_a_load_waits" "$programs/waiting"
	passes "cxx_threads_and_exceptions" "$programs/threads"
	passes "a_static_program_has_a_dare_by_plain_stores" "$programs/dare-static"
	passes "a_program_of_gemmini_commands_on_dev_virgo0" "$top/examples/virgo/gemm_stores" --type fp32
	# Its pointers have 32 bits: malloc() has to stay on the heap.
	passes "heap_pointers_fit_in_32_bits_and_bad_pointers_read_0" \
		env GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.arena_max=1 "$programs/pointers"
	passes "a_shell_sees_character_devices" sh -c 'test -c /dev/maple && test -c /dev/maple0 && test ! -e /dev/maple60'
	ends 7 "a_shell_passes_a_status_on" sh -c "$programs/widths && exit 7"
}

test_ends() {
	crash=$programs/crash
	ends 42 "the_exit_status_is_the_programs_own" "$crash" status
	ends 139 "a_null_dereference_dies_of_sigsegv" "$crash" null
	ends 139 "a_call_of_null_dies_of_sigsegv" "$crash" call
	ends 139 "a_jump_into_a_device_page_dies_of_sigsegv" "$crash" execute-device
	ends 139 "raise_sigsegv_dies_of_sigsegv" "$crash" raise
	ends 139 "a_fault_on_a_blocked_and_ignored_sigsegv_kills" "$crash" blocked-null
	ends 134 "abort_dies_of_sigabrt" "$crash" abort
	ends 135 "a_bus_error_of_its_own_dies_of_sigbus" "$crash" bus
	ends 135 "an_instruction_that_is_no_plain_access_dies_of_sigbus" "$crash" exchange-add
	passes "the_device_is_free_after_all_that" "$programs/widths"
}

# start_waiting: a program that waits for an empty queue; its number is in $waiting.
start_waiting() {
	"$programs/waiting" forever >"$dir/out" 2>&1 &
	waiting=$!
	tries=100
	while [ $tries -gt 0 ] && ! grep -q waiting "$dir/out"; do
		tries=$((tries - 1))
		sleep 0.1
	done
	sleep 0.2
}

# expect_end STATUS NAME: of the waiting program.
expect_end() {
	wait "$waiting" 2>/dev/null
	status=$?
	echo "exit status $status, wanted $1" >>"$dir/out"
	[ $status = "$1" ]
	result $? "$2"
}

test_killed_while_waiting() {
	start_waiting
	"$programs/widths" >"$dir/busy" 2>&1
	grep -q "busy" "$dir/busy"
	result $? "a_device_of_another_process_is_busy"
	for number in 15 9; do
		[ -n "$waiting" ] || start_waiting
		kill -$number "$waiting"
		expect_end $((128 + number)) "a_waiting_thread_can_be_killed_by_signal_$number"
		passes "its_device_is_free_again_after_signal_$number" "$programs/widths"
		waiting=
	done
}

# Physical addresses are served by the preload library, and the nodes by the kernel.
test_mimic_run() {
	passes "mimic_run_without_patches_leaves_the_nodes_to_the_kernel" "$mimic" run --no-patch "$programs/widths"
	ends 1 "and_they_are_as_busy_as_without_it" sh -c \
		"exec 9<>/dev/maple0; $mimic run --transport kernel $programs/widths; exit \$?"
	passes "mimic_run_has_dev_mem_beside_the_nodes" "$mimic" run --transport kernel "$programs/spmv"
	passes "and_raw_physical_addresses" "$mimic" run --transport kernel "$programs/raw"
	passes "fork_vfork_exec_and_posix_spawn" "$mimic" run --transport kernel "$programs/processes"
	passes "embedded_nodes_stand_before_the_kernels" sh -c \
		"exec 9<>/dev/maple0; $mimic run --transport embedded $programs/widths; exit \$?"
	ends 2 "configuration_is_not_for_the_kernel_transport" \
		"$mimic" run --transport kernel --config artifact "$programs/widths"
	# busybox is linked statically: nothing can be loaded into it.
	ends 2 "a_static_program_is_refused_where_it_would_find_nothing" \
		"$mimic" run --transport embedded /bin/busybox true
	passes "a_static_program_runs_on_the_kernels_nodes" "$mimic" run /bin/busybox test -c /dev/maple0
}

# by_calls NAME LEAST COMMAND...: it ends well, and has made so many accesses by calls in place of traps
by_calls() {
	name=$1 least=$2
	shift 2
	"$mimic" run --stat "$@" >"$dir/out" 2>&1 &&
		awk -v least="$least" '{ for (i = 2; i <= NF; i++) if ($i == "calls") calls = $(i - 1) }
			END { exit !(calls >= least) }' "$dir/out"
	result $? "$name"
}

# An instruction that has trapped calls the device by the session's ring, on the node that the program has opened.
test_patched() {
	by_calls "patched: queues_of_all_sizes_with_mixed_widths" 1000 "$programs/widths"
	by_calls "patched: vector_registers_are_the_programs_behind_each_access" 2000 "$programs/vectors"
	by_calls "patched: a_program_of_gemmini_commands_on_dev_virgo0" 10 "$top/examples/virgo/gemm_stores" --type fp32
	by_calls "patched: signal_handlers_run_while_a_load_waits" 0 "$programs/waiting"
	by_calls "patched: cxx_threads_and_exceptions" 10 "$programs/threads"
	by_calls "patched: the_program_keeps_its_own_sigsegv_and_sigbus_handlers" 0 "$programs/handlers"
	by_calls "patched: nodes_answer_as_the_documentation_says" 0 "$programs/node"
	by_calls "patched: poll_tells_of_a_fault_until_the_program_asks" 0 "$programs/poll"
	for way in closefrom close_range close syscall after-dup2; do
		by_calls "patched: mapped_pages_work_after_${way}_of_all_descriptors" 1000 "$programs/detached" $way
	done
	by_calls "patched: fork_vfork_exec_and_posix_spawn" 0 "$programs/processes"
	ends 135 "patched: an_instruction_that_is_no_plain_access_dies_of_sigbus" "$mimic" run "$programs/crash" exchange-add
	ends 139 "patched: a_jump_into_a_device_page_dies_of_sigsegv" "$mimic" run "$programs/crash" execute-device
	passes "patched: the_device_is_free_after_all_that" "$programs/widths"
}

test_daemon_dies() {
	start_waiting
	stop_daemon 9
	expect_end 135 "a_waiting_access_ends_by_sigbus_when_the_daemon_is_killed"
	start_daemon paper
	passes "a_new_daemon_takes_the_devices_over" "$programs/widths"
}

test_artifact() {
	stop_daemon 15
	start_daemon artifact
	passes "a_program_that_hangs_the_artifact_ends" "$programs/hang"
	# It wants an int8 unit, which the paper's cluster has not got.
	passes "a_static_program_for_gemmini_multiplies_on_dev_virgo0" "$programs/virgo-static"
}

echo "KTAP version 1"
start_daemon paper
test_programs
test_ends
test_killed_while_waiting
test_mimic_run
test_patched
test_daemon_dies
test_artifact
plan
