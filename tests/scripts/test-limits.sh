#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimicd and programs under limits that their user has set. TAP on stdout.
#
#   test-limits.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
export MIMIC_SOCKET=$work/socket

wait_for_socket() {
	for _ in $(seq 100); do
		[ -S "$work/socket" ] && return
		sleep 0.05
	done
	return 1
}

# A lane is larger than 16 KB, and so is the memory of a Virgo.
(ulimit -f 16; exec "$build/bin/mimicd" -d maple:1,virgo:1 >"$work/daemon" 2>&1) &
daemon=$!
wait_for_socket && timeout 20 "$mimic" run --transport daemon "$build/tests/unmodified/widths" \
	>"$work/output" 2>"$work/errors"
status=$?
[ $status != 0 ] && [ $status -lt 126 ] || [ $status = 135 ]
result $? "a program gets an error from a mimicd that may make no files ($status)"
kill -0 $daemon && timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" && grep -q maple0 "$work/output"
result $? "mimicd goes on beyond RLIMIT_FSIZE"
kill $daemon
wait $daemon
[ $? = 0 ]
result $? "and ends well"
daemon=

(ulimit -f 16; exec timeout 20 "$build/examples/virgo/gemm" --transport embedded >"$work/output" 2>"$work/errors")
status=$?
[ $status != 0 ] && [ $status -lt 126 ] && grep -q "File too large" "$work/errors"
result $? "a program with an embedded device gets an error, too ($status)"
# in_background REDIRECTION: `mimicd -D` of a parent that has closed descriptors
in_background() {
	local status
	rm -f "$work/socket" "$work/socket.lock"
	bash -c "exec $1; exec '$build/bin/mimicd' -D -d maple:1 --socket '$work/socket'"
	status=$?
	wait_for_socket && timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" && grep -q maple0 "$work/output"
	status=$((status + $?))
	daemon=$(sed -n 's/^mimicd .*, pid \([0-9]*\),.*/\1/p' "$work/output")
	[ -n "$daemon" ] && kill "$daemon"
	daemon=
	return $status
}

for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&- 2>&-'; do
	in_background "$closed"
	result $? "mimicd goes to the background with closed descriptors ($closed)"
done
plan
