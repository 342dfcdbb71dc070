#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs libFuzzer targets, two at a time, and reports them as TAP.
#
#   run-fuzzers.sh WORK-DIRECTORY FUZZER...
#
# FUZZ_SECONDS (60): how long each one runs. FUZZ_SEED (1): of the random numbers, so that
# two runs from the same corpus try the same inputs; 0: others each time. The corpus of a run stays in the
# work directory and is where the next one starts; tests/fuzz/corpus/NAME, if it
# is there, seeds the first. FUZZER.dict, if it is there, is its dictionary. An input that fails is kept in the work directory
# and named.
set -u

seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-1}
work=$1
shift
sources=$(cd "$(dirname "$0")/../fuzz" && pwd)

fuzz_one()
{
	fuzzer=$1
	name=$(basename "$fuzzer")
	seeds=$sources/corpus/$name
	mkdir -p "$work/$name/corpus"
	[ -d "$seeds" ] || seeds=
	dictionary=
	[ ! -e "$fuzzer.dict" ] || dictionary=-dict=$fuzzer.dict
	# shellcheck disable=SC2086
	"$fuzzer" $dictionary -seed="$seed" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 -print_final_stats=1 \
		-artifact_prefix="$work/$name/" "$work/$name/corpus" $seeds >"$work/$name/log" 2>&1 </dev/null
	echo $? >"$work/$name/status"
}

echo "1..$#"
for fuzzer in "$@"; do
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	fuzz_one "$fuzzer" &
done
wait

number=0
result=0
for fuzzer in "$@"; do
	number=$((number + 1))
	name=$(basename "$fuzzer")
	log=$work/$name/log
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ "$(cat "$work/$name/status")" = 0 ] && [ -n "$runs" ]; then
		echo "ok $number - $name: $runs inputs in $seconds s"
		continue
	fi
	result=1
	echo "not ok $number - $name"
	tail -n 40 "$log" | sed 's/^/# /'
done
exit $result
