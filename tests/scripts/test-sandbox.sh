#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimicd gives up rights, and still serves. TAP on stdout.
#
#   test-sandbox.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
export MIMIC_SOCKET=$work/socket

start() # start OPTION...: mimicd serves
{
	"$build/bin/mimicd" -d maple:1,dare:1,virgo:1 "$@" >"$work/daemon" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		[ -S "$work/socket" ] && grep -q serving "$work/daemon" && sleep 0.1 && kill -0 $daemon 2>/dev/null && return
		sleep 0.05
	done
	cp "$work/daemon" "$work/errors"
	return 1
}

stop() # stop: it ends well, and its socket is gone
{
	kill "$daemon" && wait "$daemon" && [ ! -e "$work/socket" ]
	local status=$?
	daemon=
	return $status
}

has() # has NAME VALUE: of the daemon's /proc/PID/status
{
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$daemon/status" | grep -qxE "$2"
}

serves() # serves: programs of each kind, by library and by traps, and commands of users
{
	timeout 60 "$build/examples/virgo/gemm" --transport daemon --form library --size 64x64x64 >"$work/output" 2>"$work/errors" &&
		timeout 60 "$mimic" run --transport daemon "$build/tests/unmodified/widths" >"$work/output" 2>"$work/errors" &&
		timeout 20 "$mimic" list >"$work/output" 2>"$work/errors" &&
		timeout 20 "$mimic" dump virgo0 >"$work/output" 2>"$work/errors" &&
		timeout 20 "$mimic" add maple >"$work/output" 2>"$work/errors"
}

reads() # reads: memory that a program does not share
{
	timeout 60 "$build/examples/maple/spmv" --transport daemon --form decoupled --kronecker 6 >"$work/output" 2>"$work/errors" &&
		timeout 60 "$mimic" run --transport daemon "$build/tests/unmodified/pointers" >"$work/output" 2>"$work/errors"
}

capabilities=0000000000000000
[ "$(id -u)" = 0 ] && capabilities=0000000000080000	# CAP_SYS_PTRACE

start && has NoNewPrivs 1 && has Seccomp 2 && has CapEff $capabilities && has CapBnd $capabilities
result $? "privileges, capabilities and system calls are given up by default"
serves && reads
result $? "and programs are served"
stop
result $? "and mimicd ends well"

# CAP_FOWNER and CAP_LINUX_IMMUTABLE besides, for memory of other users: if the kernel's tmpfs knows that.
start --allow-users && if grep -q 'memory cannot be made immutable' "$work/daemon"; then has CapEff $capabilities; else
	has CapEff 0000000000080208 && has CapBnd 0000000000080208; fi
result $? "for other users those are left that keep the pages of memory"
stop

start --sandbox none && has NoNewPrivs 0 && has Seccomp 0 &&
	grep -q 'the sandbox is without privileges, capabilities, seccomp' "$work/daemon"
result $? "without a sandbox, a line says so"
stop
start --sandbox privileges && has NoNewPrivs 1 && has Seccomp 0 &&
	grep -q 'the sandbox is without capabilities, seccomp' "$work/daemon"
result $? "each part may be named"
stop

if start --sandbox all; then
	serves
	result $? "programs are served with all parts"
	reads
	[ $? != 0 ]
	result $? "memory that a program does not share is not reached then"
	timeout 60 "$build/examples/maple/spmv" --transport daemon --form decoupled,lima --register --kronecker 6 >"$work/output" 2>"$work/errors"
	result $? "all of an array that a program registers is reached then"
	stop
	result $? "and mimicd removes its socket"
else
	grep -q -- "--sandbox: landlock" "$work/daemon"
	result $? "a kernel without Landlock is told"
fi

(ulimit -c 0; exec "$build/bin/mimicd" --sandbox pears) >"$work/output" 2>"$work/errors"
[ $? = 2 ] && grep -q -- "--sandbox pears: all, none, or names" "$work/errors"
result $? "a part that there is not is refused"

if [ -e /dev/fuse ] && [ "$(id -u)" = 0 ] && mkdir "$work/state" && start --state "$work/state" &&
	[ -d "$work/state/devices" ]; then
	has Seccomp 2 && serves && cat "$work/state/devices/maple0/counters/produced" >"$work/output" 2>"$work/errors"
	result $? "with --state it serves"
	stop && ! mountpoint -q "$work/state"
	result $? "and unmounts"
else
	[ -n "$daemon" ] && stop
	skip "with --state it serves, and unmounts" "nothing can be mounted"
fi
plan
