#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A program that uses all devices, under a daemon that is killed at one place of its work
# (daemon/journal/places.c): it prints the same as without that, for each place. TAP on stdout.
#
#   test-walk.sh [BUILD]   BUILD: the build directory; else $O, else build
#   WALK_STRIDE=N          each Nth place; 1: all, which takes an hour and a half; else some
#   WALK_FROM=N            the first place; else 2
#   WALK_THREADS=N         the daemon's: a further one serves the program; else 1 and 2 in turn, and 1 without a kill
#   WALK_AT=N, WALK_SUCCESSOR_AT=N   one case alone, whose log and output go to ./walk-case
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
walk=$build/tests/recovery/walk
stride=${WALK_STRIDE:-1499}
# A successor has fewer places. Of the daemons before it one is killed before a program is there, others at
# work of each device.
successor_stride=$((stride / 20 + 1))
successor_most=600
first_kills="40 900 9001 20011 33333"
at_once=2
bad_most=5
if [ ! -x "$build/bin/mimicd-recoverable" ]; then
	skip "a program prints the same wherever the daemon is killed" "this build has no mimicd that can be recovered"
	plan
	exit
fi

# supervise_walk FOLDER KILL SUCCESSOR: the supervisor's exit status; a line in FOLDER/bad if the program fails
supervise_walk()
{
	local supervisor threads=${WALK_THREADS:-$((1 + ($2 / stride + $3) % 2))}
	MIMIC_TEST_SPREAD=1 MIMIC_TEST_KILL_AT=$2 MIMIC_TEST_KILL_SUCCESSOR_AT=$3 "$build/bin/mimicd" --supervise \
		--recovery-time 60 --threads "$threads" --socket "$1/socket" --devices maple:2,dare:1,virgo:1 >"$1/log" 2>&1 &
	supervisor=$!
	for _ in $(seq 1000); do
		grep -qs " serving " "$1/log" && break
		sleep 0.01
	done
	MIMIC_SOCKET=$1/socket timeout 30 "$walk" >"$1/output" 2>"$1/errors" ||
		echo "the program ended with status $?" >>"$1/bad"
	kill $supervisor
	wait $supervisor
}

# run_case KILL SUCCESSOR: 0: no kill. Its files are in $work/KILL-SUCCESSOR
run_case()
{
	local folder=$work/$1-$2 status
	mkdir "$folder"
	supervise_walk "$folder" "$1" "$2"
	status=$?
	grep -c 'the daemon (pid .*\(was killed\|ended with\)' "$folder/log" >"$folder/kills"
	# The last places are behind SIGTERM, which ends both.
	[ $status = 0 ] || { [ "$1" != 0 ] && grep -q ': stopping' "$folder/log"; } ||
		echo "the supervisor ended with status $status" >>"$folder/bad"
	[ "$1" = 0 ] && return
	cmp -s "$folder/output" "$work/0-0/output" || echo "the output differs" >>"$folder/bad"
	# Nothing is lost, refused or ended.
	sed -E '/warning: the daemon \(pid [0-9]+\)/d' "$folder/log" | grep -E 'warning|error|lost|loses' >>"$folder/bad"
	[ -s "$folder/bad" ] || rm -f "$folder"/{bad,output,log,errors}
}

# is_hopeless: more bad cases say no more
is_hopeless()
{
	[ "$(find "$work" -name bad -size +0 2>/dev/null | wc -l)" -ge $bad_most ]
}

# run_cases: the cases of standard input, "KILL SUCCESSOR" a line
run_cases()
{
	local kill successor
	while read -r kill successor && ! is_hopeless; do
		while [ "$(jobs -rp | wc -l)" -ge $at_once ]; do
			wait -n
		done
		run_case "$kill" "$successor" &
	done
	wait
}

# all_are_good PATTERN: no case of those folders is bad
all_are_good()
{
	local bad
	rm -f "$work/output" "$work/errors"
	for bad in "$work"/$1/bad; do
		[ -e "$bad" ] || continue
		{
			echo "killed at $(basename "$(dirname "$bad")"):"
			cat "$bad" "$(dirname "$bad")/errors" "$(dirname "$bad")/log"
		} >>"$work/output"
	done
	[ ! -s "$work/output" ]
}

# kills KILL SUCCESSOR: how many daemons were killed in this case
kills()
{
	cat "$work/$1-$2/kills" 2>/dev/null || echo 0
}

run_case 0 0
if [ -n "${WALK_AT:-}" ]; then
	run_case "$WALK_AT" "${WALK_SUCCESSOR_AT:-0}"
	rm -rf walk-case
	cp -r "$work" walk-case
	[ ! -e "$work/$WALK_AT-${WALK_SUCCESSOR_AT:-0}/bad" ]
	exit
fi
[ "$(kills 0 0)" = 0 ] && [ ! -e "$work/0-0/bad" ]
result $? "a daemon that is not killed serves the program"

# At its first place a daemon has left nothing by which the next could know that it is not the first.
at=${WALK_FROM:-2}
last=0
echo "# each ${stride}th place from $at on"
while ! is_hopeless; do
	for ((i = 0; i < 20; i++)); do
		echo "$((at + i * stride)) 0"
	done | run_cases
	for ((i = 0; i < 20; i++, at += stride)); do
		[ "$(kills $at 0)" != 0 ] || break 2
		last=$at
	done
done
[ $last -gt 10000 ]
result $? "a daemon has thousands of places"
echo "# the last one where it was killed: $last"
all_are_good '*-0'
result $? "the program prints the same wherever the daemon is killed"

count=0
for first in $first_kills; do
	for ((at = 2; at < successor_most; at += successor_stride)); do
		echo "$first $at"
	done
done | run_cases
for folder in "$work"/*-[1-9]*; do
	[ "$(cat "$folder/kills")" = 2 ] && count=$((count + 1))
done
[ $count -gt 20 ]
result $? "so is a daemon that takes over from it"
echo "# $count times"
all_are_good '*-[1-9]*'
result $? "the program prints the same wherever that one is killed"
plan
