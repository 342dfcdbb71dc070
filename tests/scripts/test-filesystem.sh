#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimicd --state as a user meets it: ls, cat, grep, cp, echo. TAP on stdout.
set -u
# A mount that a failed test leaves goes with the namespace.
if [ "$(id -u)" = 0 ] && [ -z "${UNSHARED:-}" ] && unshare -m true 2>/dev/null; then
	UNSHARED=1 exec unshare -m "$0" "$@"
fi
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

state=$work/state

# starts ARGUMENTS...: mimicd at $work/socket; its messages are in $work/daemon
starts()
{
	# Forgets the messages of the mimicd before.
	: >"$work/daemon"
	"$@" --foreground --socket "$work/socket" --devices maple:1,dare:1,virgo:1 >"$work/daemon" 2>&1 &
	daemon=$!
	for _ in $(seq 200); do
		grep -q '^mimicd: serving' "$work/daemon" && return 0
		kill -0 $daemon 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

mounted()
{
	grep -q " $1 fuse.mimicd " /proc/self/mounts
}

# says TEXT COMMAND...: its output is this
says()
{
	local text=$1
	shift
	timeout 10 "$@" >"$work/output" 2>"$work/errors" && [ "$(cat "$work/output")" = "$text" ]
}

finds()
{
	local text=$1
	shift
	timeout 10 "$@" >"$work/output" 2>"$work/errors" && grep -qF -- "$text" "$work/output"
}

fails()
{
	! timeout 10 "$@" >"$work/output" 2>"$work/errors"
}

# done_without: mimicd has said in one line that it mounts nothing, and serves
done_without()
{
	cp "$work/daemon" "$work/output"
	[ "$(grep -c . "$work/daemon")" = 2 ] && grep -q 'no state filesystem: ' "$work/daemon" && ! mounted "$state" &&
		timeout 10 "$build/bin/mimic" list --socket "$work/socket" >"$work/output" 2>"$work/errors" &&
		grep -q '^maple0 ' "$work/output"
}

starts "$build/bin/mimicd" --state
result $? "mimicd --state starts"
if ! mounted "$state"; then
	if [ -n "${UNSHARED:-}" ] && (: <>/dev/fuse) 2>/dev/null; then
		cp "$work/daemon" "$work/output"
		result 1 "the state filesystem is mounted"
	else
		done_without
		result $? "where nothing can be mounted, mimicd says so in one line and serves"
		stop_daemon
		result $? "and stops"
		skip "the state filesystem" "this machine mounts none: $(grep -m1 'no state' "$work/daemon")"
	fi
	plan
	exit
fi

says "$(printf 'clients\nconfig\ndevices\npid\ntransport\nversion')" ls "$state"
result $? "ls shows the root"
says "$(printf 'dare0\nmaple0\nvirgo0')" ls "$state/devices"
result $? "ls shows the devices"
says $daemon cat "$state/pid"
result $? "cat shows a value and nothing else"
finds "registers/MAPLE/IDENTIFY:0x4d41504c01080100" grep -r 0x4d41504c "$state/devices"
result $? "grep finds a register"
finds "$(printf 'IDENTIFY\t0x4d41504c01080100\tmagic, version')" cat "$state/devices/maple0/registers/MAPLE/.state"
result $? "a folder's .state says what its values mean"
finds "131072" wc -c "$state/devices/virgo0/shared_memory"
result $? "a memory has its size"
timeout 60 cp -r "$state/devices" "$work/copy" >"$work/output" 2>"$work/errors" && [ -s "$work/copy/virgo0/shared_memory" ] &&
	grep -q . "$work/copy/maple0/registers/MMU/FAULT_STATUS"
result $? "cp -r takes all of it along"
timeout 10 cat "$state/config" >"$work/again.ini" && "$build/bin/mimicd" --config "$work/again.ini" --version >/dev/null
result $? "the configuration can be kept"
finds "lost-interrupt" cat "$state/devices/maple0/control/inject"
result $? "a control file says what can be written to it"
says "" sh -c "echo 1 > $state/devices/maple0/control/reset"
result $? "echo 1 > control/reset resets a device"
grep -q 'maple0 is reset' "$work/daemon"
result $? "and the log says so"
fails sh -c "echo explode > $state/devices/maple0/control/inject"
result $? "what is no misbehaviour is refused"
grep -q "control/inject: 'explode'" "$work/daemon"
result $? "and named in the log"

stop_daemon
result $? "the daemon stops"
[ ! -e "$state" ]
result $? "the default directory is gone"

mkdir "$work/mine"
starts "$build/bin/mimicd" --state "$work/mine" && says "daemon" cat "$work/mine/transport"
result $? "--state DIR mounts there"
kill -9 $daemon
wait $daemon 2>/dev/null
fails cat "$work/mine/version"
result $? "after kill -9 readers get an error"
starts "$build/bin/mimicd" --state="$work/mine" && says "daemon" cat "$work/mine/transport"
result $? "the next mimicd mounts there again"
exec 8<"$work/mine/config"
stop_daemon
result $? "a mimicd whose files are open stops"
exec 8<&-
[ -d "$work/mine" ] && ! mounted "$work/mine" && rmdir "$work/mine"
result $? "and leaves the directory of others as it was"

starts "$build/bin/mimicd" --state "$work/nowhere" &&
	[ "$(grep -c . "$work/daemon")" = 2 ] && grep -q "nowhere: no state filesystem: No such file" "$work/daemon"
result $? "a directory that is missing is said in one line, and mimicd serves"
stop_daemon

if [ -n "${UNSHARED:-}" ]; then
	# Only this script's processes see it so.
	mount --bind /dev/null /dev/fuse && starts "$build/bin/mimicd" --state && done_without
	result $? "on a machine without FUSE, mimicd says so in one line and serves"
	stop_daemon
	result $? "and stops"
	umount /dev/fuse
else
	skip "a machine without FUSE" "no mount namespace of our own"
fi

# A user without the right to mount asks fusermount3.
other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
may_open() { "${other[@]}" sh -c ': <>/dev/fuse' 2>/dev/null; }
# Everybody may open the node on ordinary machines, in some containers nobody but root.
if [ -n "${UNSHARED:-}" ] && ! may_open; then
	chmod 755 "$work"
	mknod -m 666 "$work/fuse" c 10 229 && mount --bind "$work/fuse" /dev/fuse
fi
if [ "$(id -u)" = 0 ] && command -v fusermount3 >/dev/null && may_open; then
	chmod 755 "$work"
	mkdir -m 755 "$work/others"
	chown 65534:65534 "$work/others"
	# The build may lie where nobody but us can look.
	cp "$build/bin/mimicd" "$work/others/mimicd"
	chmod 755 "$work/others/mimicd"
	others_start()
	{
		: >"$work/daemon"
		"${other[@]}" "$work/others/mimicd" --foreground --kernel=off --socket "$work/others/socket" \
			--devices maple:1 --state "$@" >"$work/daemon" 2>&1 &
		daemon=$!
		for _ in $(seq 200); do
			grep -q '^mimicd: serving' "$work/daemon" && return 0
			sleep 0.05
		done
		return 1
	}
	others_start && mounted "$work/others/state" && says "daemon" "${other[@]}" cat "$work/others/state/transport"
	result $? "a user without rights mounts by fusermount3"
	fails setpriv --reuid=65533 --regid=65533 --clear-groups cat "$work/others/state/version"
	result $? "another user sees nothing"
	says "" "${other[@]}" sh -c "echo 1 > $work/others/state/devices/maple0/control/clear_counters"
	result $? "the user controls the devices"
	kill -9 $daemon
	wait $daemon 2>/dev/null
	others_start && says "daemon" "${other[@]}" cat "$work/others/state/transport"
	result $? "a dead mount of the user's is taken away"
	stop_daemon
	[ ! -e "$work/others/state" ]
	result $? "and the end takes the last one"
	: >"$work/daemon"
	mkdir "$work/group"
	"$build/bin/mimicd" --foreground --kernel=off --socket "$work/others/of-group" --devices maple:1 --group 65530 \
		--state "$work/group" >"$work/daemon" 2>&1 &
	daemon=$!
	for _ in $(seq 200); do
		grep -q '^mimicd: serving' "$work/daemon" && break
		sleep 0.05
	done
	says "daemon" setpriv --reuid=65533 --regid=65533 --groups=65530 cat "$work/group/transport"
	result $? "a member of --group sees the state"
	fails setpriv --reuid=65533 --regid=65533 --clear-groups cat "$work/group/transport"
	result $? "a user who is no member does not"
	stop_daemon
	if ! grep -q '^ *user_allow_other' /etc/fuse.conf 2>/dev/null; then
		# With one line about memory, which an ordinary user cannot make immutable.
		others_start --allow-users && [ "$(grep -vc "cannot be made immutable" "$work/daemon")" = 2 ] &&
			grep -q "no state filesystem: .*allow_other" "$work/daemon"
		result $? "what fusermount3 refuses is one line"
		stop_daemon
	else
		skip "what fusermount3 refuses is one line" "/etc/fuse.conf allows it"
	fi
else
	skip "a user without rights mounts by fusermount3" "not root, or no fusermount3"
fi

plan
