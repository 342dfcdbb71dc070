#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimicd --supervise with the daemon itself: it is there again after a kill, and all ends as without. TAP on stdout.
#
#   test-supervise.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
export MIMIC_SOCKET=$work/socket
: >"$work/log"

# serving NUMBER: its log has so many lines of daemons that serve
serving()
{
	for _ in $(seq 200); do
		[ "$(grep -c ' serving ' "$work/log")" = "$1" ] && return
		sleep 0.05
	done
	cp "$work/log" "$work/errors"
	return 1
}

# child PID: the daemon of this supervisor
child()
{
	cat "/proc/$1/task/$1/children" | tr -d ' '
}

lists() # lists: a program of a user reaches the daemon
{
	timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" && grep -q maple0 "$work/output"
}

start() # start: a supervisor
{
	"$build/bin/mimicd" --supervise -d maple:1 >>"$work/log" 2>&1 &
	daemon=$!
}

# gone PID: it has ended
gone()
{
	for _ in $(seq 200); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

stop() # stop: it ends well, with its daemon, and the socket is gone
{
	local first=$daemon second
	second=$(child "$first")
	kill "$first" && wait "$first" && gone "$second" && [ ! -e "$work/socket" ]
	local status=$?
	daemon=
	return $status
}

# refused STATUS TEXT OPTION...: it ends so, and nothing has been started
refused()
{
	local expected=$1 text=$2
	shift 2
	timeout 20 "$build/bin/mimicd" "$@" >"$work/output" 2>"$work/errors"
	[ $? = "$expected" ] && grep -qF -- "$text" "$work/errors" && [ "$(wc -l <"$work/errors")" = 1 ]
}

start && serving 1 && lists
result $? "it serves"
kill -9 "$(child $daemon)" && serving 2 && lists
result $? "and again after a kill"
kill -ABRT "$(child $daemon)" && serving 3 && lists &&
	grep -qE 'the daemon \(pid [0-9]+\) was killed by signal 6 \(Aborted\); [0-9]+ descriptors are kept' "$work/log"
result $? "a line says how the daemon ended"
if [ "$(id -u)" = 0 ]; then
	grep -q '^CapEff:.*0000000000000000$' "/proc/$daemon/status" &&
		grep -q '^CapEff:.*0000000000080000$' "/proc/$(child $daemon)/status"
	result $? "the supervisor has no capabilities, and the daemon those that it has without"
else
	skip "the supervisor has no capabilities, and the daemon those that it has without" "not root"
fi
grep -q '^Seccomp:.*2$' "/proc/$(child $daemon)/status" && grep -q '^NoNewPrivs:.*1$' "/proc/$(child $daemon)/status"
result $? "the daemon is in its sandbox"
refused 1 "another daemon answers there" --supervise --socket "$work/socket"
result $? "a path that another daemon has is told once"
lists
result $? "which goes on"
stop
result $? "SIGTERM ends both, and the socket"

refused 2 "--recovery-time 0: a number of seconds from 1" --supervise --recovery-time 0 &&
	refused 2 "--recovery-time: --supervise or --recover is needed" --recovery-time 5 &&
	refused 2 "--supervise: with --record the state cannot be recovered yet" --supervise --record "$work/recording" &&
	refused 2 "--supervise: with --channel read " --supervise --channel read &&
	refused 2 "--recover: with --vfio-user " --recover --vfio-user "$work/maple0.sock" &&
	[ ! -e "$work/socket" ] && [ ! -e "$work/recording" ]
result $? "options that do not go with it are refused"

# Paths of options begin where the supervisor was started, also those of the second daemon.
cp config/paper.ini "$work/here.ini"
(cd "$work" && exec timeout 20 "$build/bin/mimicd" --superv --daemonise --socket socket --config here.ini -d maple:1) >"$work/output" 2>"$work/errors"
result $? "in the background the command ends when the daemon is ready"

# the_daemon: its process id
the_daemon()
{
	timeout 20 "$mimic" list 2>"$work/errors" | sed -n '1s/.*, pid \([0-9]*\),.*/\1/p'
}

first=$(the_daemon)
daemon=$(ps -o ppid= -p "$first" | tr -d ' ')
[ "$(readlink "/proc/$daemon/fd/2")" = /dev/null ] && [ "$(readlink "/proc/$first/fd/2")" = /dev/null ] &&
	[ "$(ps -o sid= -p "$first" | tr -d ' ')" = "$daemon" ]
result $? "and both have left the terminal"
kill -9 "$first"
for _ in $(seq 200); do
	second=$(the_daemon)
	[ -n "$second" ] && break
	sleep 0.05
done
[ -n "$second" ] && [ "$second" != "$first" ] && lists && [ "$(readlink "/proc/$second/fd/2")" = /dev/null ]
result $? "a second daemon serves at the same place"
kill "$daemon" && gone "$daemon" && gone "$second" && [ ! -e "$work/socket" ]
result $? "and SIGTERM ends it"
daemon=

(cd "$work" && exec timeout 20 "$build/bin/mimicd" --supervise --daemonise --socket nowhere/socket) >"$work/output" 2>"$work/errors"
[ $? = 2 ] && grep -q nowhere "$work/errors" && ! grep -q 'ended with status' "$work/errors"
result $? "a daemon that cannot begin is told with its status"

if command -v systemd-socket-activate >/dev/null; then
	: >"$work/log"
	systemd-socket-activate --seqpacket -l "$work/socket" "$build/bin/mimicd" --supervise -d maple:1 >>"$work/log" 2>&1 &
	daemon=$!
	for _ in $(seq 200); do
		[ -S "$work/socket" ] && break
		sleep 0.05
	done
	lists && serving 1 && kill -9 "$(child $daemon)" && serving 2 && lists && [ "$(grep -c 'at a socket of systemd' "$work/log")" = 2 ]
	result $? "each daemon listens at systemd's socket"
	kill $daemon && wait $daemon
	result $? "and ends well"
	daemon=
else
	skip "each daemon listens at systemd's socket, and ends well" "there is no systemd-socket-activate"
fi
plan
