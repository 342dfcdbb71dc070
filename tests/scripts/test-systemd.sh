#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# systemd, in namespaces of its own, starts mimicd again and upgrades it, by the units that the manual has
# (docs/recovery.md). TAP on stdout.
#
#   test-systemd.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"

[ -x "$build/bin/mimicd-recoverable" ] || why="a sanitized build has no mimicd that can be recovered"
[ "$(id -u)" = 0 ] || why="not root"
[ -x /lib/systemd/systemd ] || why="there is no systemd"

group=mimic-test-$$
mkdir "$work/units" "$work/bin"
cp "$build/bin/mimicd" "$build/bin/mimicd-recoverable" "$work/bin"
ln -s "$build/lib" "$work/lib"

inside() { nsenter --target "$daemon" --all --root --wd=/run "$@"; }
ctl() { inside systemctl --quiet "$@" >>"$work/output" 2>&1; }
shows() { inside systemctl show --property "$1" --value "$unit"; }

# shellcheck disable=SC2317 # called by the trap
end_systemd()
{
	# As in tap.sh: not in a subshell.
	[ $BASHPID = $$ ] || return
	[ -z "$daemon" ] || kill -9 "$daemon"
	wait
	daemon=
	unshare --mount bash -c "mount --make-rprivate / && mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
		find /sys/fs/cgroup -depth -type d '(' -path '*/$group' -o -path '*/$group/*' ')' -exec rmdir {} +"
	rm -rf "$work"
} 2>/dev/null

# 0: it runs; 1: namespaces are not allowed; 2: it does not answer. If this script is killed, it is, too.
start_systemd()
{
	local unshare
	printf '[Unit]\nDefaultDependencies=no\n' >"$work/units/only.target"
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --uts --ipc --net \
		"$PWD/tests/scripts/systemd-init.sh" "$work" "$build" "$group" </dev/null >"$work/errors" 2>&1 &
	unshare=$!
	trap end_systemd EXIT
	for _ in $(seq 200); do
		daemon=$(tr -d ' ' 2>/dev/null <"/proc/$unshare/task/$unshare/children")
		[ -n "$daemon" ] && inside systemctl show >/dev/null 2>&1 && return
		kill -0 $unshare 2>/dev/null || return 1
		sleep 0.05
	done
	return 2
} 2>/dev/null

if [ -z "${why-}" ]; then
	start_systemd
	case $? in
	1) why="namespaces are not allowed here: $(head -n 1 "$work/errors")" ;;
	2) result 1 systemd_answers; plan; exit ;;
	esac
fi
if [ -n "${why-}" ]; then
	skip "programs_go_on_when_systemd_starts_mimicd_again" "$why"
	plan
	exit
fi

# The unit of the manual: the block behind [Service].
manual_unit()
{
	printf '[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=0\n[Service]\nStandardError=append:/run/work/log\n'
	sed -n '/^    \[Service\]/,/^$/{/\[Service\]/d;s/^    //p}' docs/recovery.md |
		sed "s,/usr/bin/,/run/work/bin/,; s,/run/mimic/mimicd.sock,/run/work/socket,"
}

# Our unit of the machine, with the lines that it has for this as comments.
machine_unit()
{
	sed "s,^\[Unit\],&\nDefaultDependencies=no\nStartLimitIntervalSec=0,; s,^\[Service\],&\nStandardError=append:/run/work/log,
		s,^ExecStart=\"[^\"]*\",& --recover,; s,@PREFIX@/bin,/run/work/bin,
		s,^#\([A-Z][A-Za-z]*=\),\1," config/mimicd.service.in
}

begin() # begin: the unit
{
	: >"$work/log"
	: >"$work/output"
	"${unit}_unit" >"$work/units/$unit.service"
	ctl daemon-reload && ctl start "$unit"
}

# again NAME COMMAND...: until the file "enough" is there, and once more
again()
{
	local name=$1 is_last=
	shift
	until [ -n "$is_last" ]; do
		[ ! -e "$work/enough" ] || is_last=yes
		inside timeout 100 "$@" --transport daemon >"$work/load.$name" 2>&1 || return
	done
}

# load [OPTION]: programs that use devices of each kind, spmv with the option; load_ends: all results were right
load()
{
	rm -f "$work/enough"
	again maple "/run/build/examples/maple/spmv" --uniform 20000x5 --form decoupled "$@" &
	programs=$!
	again virgo "/run/build/examples/virgo/gemm" --size 256x256x256 --form dma &
	programs="$programs $!"
	again dare "/run/build/examples/dare/spmm" --uniform 256x16 --block 1 &
	programs="$programs $!"
}

load_ends()
{
	local program rc=0
	touch "$work/enough"
	for program in $programs; do
		wait "$program" || rc=1
	done
	grep -iw 'no\|[a-z]*:.*' "$work"/load.* >>"$work/output"
	return $rc
}

# runs_other PID: another daemon than that one is ready, within seconds
runs_other()
{
	for _ in $(seq 500); do
		[ "$(shows SubState)" = running ] && [ "$(shows MainPID)" != "$1" ] && return
		sleep 0.02
	done
	echo "no other daemon than $1 is ready" >>"$work/output"
	return 1
}

lists() { inside timeout 20 /run/build/bin/mimic list >>"$work/output" 2>&1; }

# kill_daemon, upgrade_daemon: another one is ready
kill_daemon()
{
	local before
	before=$(shows MainPID)
	inside kill -9 "$before" && runs_other "$before"
}

upgrade_daemon()
{
	local before
	before=$(shows MainPID)
	cp "$build/bin/mimicd-recoverable" "$work/new" && mv "$work/new" "$work/bin/mimicd-recoverable" &&
		ctl reload "$unit" && runs_other "$before"
}

# under_load COMMAND [OPTION]: it works ten times while programs run, and they have the right results
under_load()
{
	local command=$1 rc=0
	shift
	: >"$work/output"
	load "$@"
	for _ in $(seq 10); do
		sleep 0.1
		"$command" || { rc=1; break; }
	done
	load_ends && [ $rc = 0 ] && lists && return
	cat "$work/log" >>"$work/output"
	return 1
}

# checks_of UNIT SOCKET [OPTION]: OPTION is for spmv
checks_of()
{
	unit=$1
	export MIMIC_SOCKET=$2
	shift 2
	begin
	result $? "the_${unit}s_unit_starts_mimicd"
	under_load kill_daemon "$@"
	result $? "programs_go_on_when_systemd_starts_it_again_by_the_${unit}s_unit"
	under_load upgrade_daemon "$@"
	result $? "programs_go_on_over_reloads_of_the_${unit}s_unit"
	a_reload_that_does_not_fit_leaves_the_daemon
	result $? "a_reload_that_does_not_fit_leaves_the_daemon_of_the_${unit}s_unit"
	a_stop_is_the_end
	result $? "a_stop_is_the_end_of_the_${unit}s_unit"
}

# Another layout: its number is in the program as text.
a_reload_that_does_not_fit_leaves_the_daemon()
{
	local before layout
	: >"$work/output"
	before=$(shows MainPID)
	layout=$(inside /run/build/bin/mimicd --recover --check="$before" 2>&1 | tee -a "$work/output" |
		sed -n 's/.*layout \([0-9]*-[0-9]*\),.*/\1/p')
	LC_ALL=C sed "s/$layout/0${layout#?}/" "$build/bin/mimicd-recoverable" >"$work/new" && chmod +x "$work/new" &&
		mv "$work/new" "$work/bin/mimicd-recoverable" || return
	! ctl reload "$unit" && [ "$(shows MainPID)" = "$before" ] && lists &&
		grep -q "(layout 0${layout#?}, 64-bit" "$work/log" && cp "$build/bin/mimicd-recoverable" "$work/bin"
}

a_stop_is_the_end()
{
	: >"$work/output"
	ctl stop "$unit" && [ "$(shows ActiveState)" = inactive ] && [ "$(shows Result)" = success ] && ! lists
}

checks_of manual /run/work/socket
checks_of machine /run/mimic/mimicd.sock --register
plan
