#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Handlers of signals that use the device which their thread is just using: by traps, by jumps, by
# calls of the library. TAP.
# usage: test-interrupted.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
program=$build/tests/unmodified/interrupted

try() {
	timeout -k 5 100 "$@" >"$work/output" 2>&1
}

for option in --patch --no-patch; do
	options=("$option")
	[ $option = --patch ] && options=()
	try "$mimic" run "${options[@]}" --transport embedded "$program"
	result $? "a_handler_uses_the_device_at_any_moment_embedded_$option"
done

start_daemon maple:1
try "$mimic" run --transport daemon --socket "$work/socket" "$program" 40
result $? "a_handler_uses_the_device_at_any_moment_daemon"

gcc -std=gnu11 -O2 -pthread -I. -Iinclude -o "$work/calls" tests/tools/interrupted_calls.c -L"$build/lib" -lmimic \
	-Wl,-rpath,"$build/lib" >"$work/output" 2>&1
result $? "a_program_that_calls_the_library_is_built"
try "$work/calls" defers
result $? "a_handler_that_defers_uses_the_device_at_any_moment"
try "$mimic" run --transport embedded "$work/calls"
result $? "under_mimic_run_no_handler_of_a_program_that_calls_the_library_has_to"
try "$mimic" run --transport embedded "$work/calls" defers
result $? "but_it_may"
plan
