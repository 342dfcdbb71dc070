#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Tests of the daemon transport once more, on a daemon each of whose clients that may be served by a further thread
# is, however few they are. TAP on stdout. TEST_SECONDS=600
#
#   test-threads.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
export MIMIC_TEST_THREADS=3 MIMIC_TEST_SPREAD=1

for name in test_daemon test_daemon_closed test_daemon_closes test_daemon_death test_daemon_fairness test_daemon_lanes \
	test_daemon_lost test_daemon_many test_daemon_pages test_daemon_quota test_daemon_signals test_daemon_wakes test_dare_daemon \
	test_dare_lanes test_filesystem test_filesystem_write test_protocol test_protocol_devices test_protocol_memory \
	test_protocol_punch test_protocol_socket test_protocol_trace test_state_daemon test_virgo_daemon; do
	if [ ! -x "$build/tests/transport/$name" ]; then
		skip "$name on three threads" "it was not built"
		continue
	fi
	timeout 240 "$build/tests/transport/$name" >"$work/output" 2>"$work/errors"
	result $? "$name on three threads"
done
plan
