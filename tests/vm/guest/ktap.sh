# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=sh disable=SC2154,SC3045
# In the guest, sourced by scripts that set $top, where bin, lib and tests lie:
# results as KTAP, a scratch directory $dir, a mimicd.
dir=$(mktemp -d)
daemon=
count=0
failed=0
ulimit -c 0

# shellcheck disable=SC2329 # it is called by the trap
cleanup() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

# result STATUS NAME: the output of what was tried is in $dir/out.
result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
		return
	fi
	failed=$((failed + 1))
	tail -n 20 "$dir/out" | sed 's/^/# /'
	echo "not ok $count - $2"
}

# ends STATUS NAME COMMAND...
ends() {
	wanted=$1
	name=$2
	shift 2
	"$@" >"$dir/out" 2>&1
	status=$?
	echo "exit status $status, wanted $wanted" >>"$dir/out"
	[ $status = "$wanted" ]
	result $? "$name"
}

passes() {
	ends 0 "$@"
}

# can_open NODE: a node may be there without a daemon behind it. The shell would make
# a file that is not there.
can_open() {
	[ -c "$1" ] && (: <>"$1") 2>/dev/null
}

# start_daemon PROFILE
start_daemon() {
	"$top/bin/mimicd" --foreground --kernel --socket "$dir/socket" --config "$1" \
		>"$dir/daemon" 2>&1 &
	daemon=$!
	tries=100
	while [ $tries -gt 0 ] && ! can_open /dev/maple0; do
		tries=$((tries - 1))
		sleep 0.1
	done
	cp "$dir/daemon" "$dir/out"
	[ $tries -gt 0 ]
	result $? "mimicd_serves_dev_maple0_with_the_$1_profile"
}

# stop_daemon SIGNAL
stop_daemon() {
	kill "-$1" "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}

# plan: the last line of a script
plan() {
	echo "1..$count"
	[ $failed = 0 ]
}
