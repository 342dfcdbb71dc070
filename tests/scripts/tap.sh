# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash
# Sourced by test scripts: results as TAP, a scratch directory $work, a daemon.
# Its first argument is the script's: the build directory; else $O, else build.
# A test leaves a command's output in $work/output and $work/errors.
ulimit -S -c 0
build=$(cd "${1:-${O:-build}}" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
daemon=
number=0
failed=0
# Not in a subshell: bash runs it there, too, when it loses track of a process ("wait_for: No record of process").
trap '[ $BASHPID != $$ ] || { [ -n "$daemon" ] && { kill -9 $daemon; wait $daemon; } 2>/dev/null; rm -rf "$work"; }' EXIT
unset MIMIC_TRANSPORT MIMIC_SOCKET MIMIC_CONFIG MIMIC_DEVICES
# packages.txt's, without the second that a version manager in front of it takes for each call.
if [ -x /usr/bin/python3 ]; then
	python3() { /usr/bin/python3 "$@"; }
fi

result() # result STATUS DESCRIPTION: the output is shown where it fails
{
	number=$((number + 1))
	[ "$1" = 0 ] && { echo "ok $number - $2"; return; }
	failed=$((failed + 1))
	echo "not ok $number - $2"
	sed 's/^/# /' "$work/output" "$work/errors" 2>/dev/null | head -n 30
}

skip() # skip DESCRIPTION REASON
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

plan() # plan: the last line of a script
{
	echo "1..$number"
	[ $failed = 0 ]
}

# refused TEXT ARGUMENTS...: run() ends with exit status 2, no output, and TEXT on standard error
refused()
{
	local text=$1 status
	shift
	run "$@"
	status=$?
	[ $status = 2 ] && [ ! -s "$work/output" ] && grep -qF -- "$text" "$work/errors"
}

start_daemon() # start_daemon DEVICES: mimicd at $work/socket
{
	"$build/bin/mimicd" --foreground --socket "$work/socket" --devices "$1" >"$work/daemon" 2>&1 &
	daemon=$!
	for ((try = 0; try < 200; try++)); do
		[ -S "$work/socket" ] && return 0
		sleep 0.05
	done
	return 1
}

stop_daemon() # stop_daemon: its exit status
{
	kill $daemon && wait $daemon
	local status=$?
	daemon=
	return $status
}

# daemon_dies_under PID: kills the daemon under a program that is at work; 0 if that ends
# within 20 s with status 1, a reason and no report
daemon_dies_under()
{
	local client=$1 watchdog status
	kill -9 $daemon
	wait $daemon 2>/dev/null
	daemon=
	(sleep 20; kill -9 "$client") >/dev/null 2>&1 &
	watchdog=$!
	wait "$client"
	status=$?
	kill $watchdog 2>/dev/null
	[ $status = 1 ] && [ -s "$work/errors" ] && [ ! -s "$work/output" ]
}
