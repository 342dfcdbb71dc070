#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs the tests of the guests again and again, one machine after the other, and
# reports each run: how many results passed and failed, how long it took, and what
# failed. make check-kernel-repeat.
#
#   repeat.sh RUNS DIRECTORY "KERNEL..." COMMAND...
#
# COMMAND is run with KERNEL=6.12 RUN_RESULTS=FILE RUN_LOG=DIRECTORY in its environment. It adds a
# line for each result to RUN_RESULTS, and leaves console and output in RUN_LOG. The output of a
# run is in DIRECTORY/RUN-KERNEL.tap; its RUN_LOG stays if it failed. Exits with 1 if any did.
set -u

if [ $# -lt 4 ] || ! [ "$1" -gt 0 ] 2>/dev/null; then
	echo "usage: repeat.sh RUNS DIRECTORY \"KERNEL...\" COMMAND..." >&2
	exit 2
fi
runs=$1
directory=$2
kernels=$3
shift 3
rm -rf "$directory"
mkdir -p "$directory"
passed=0
total=0

# count KIND FILE
count() {
	grep -c "^$1" "$2" 2>/dev/null || true
}

# one RUN KERNEL: 0 if all results are passes or skips
one() {
	local name=$directory/$1-$2 failed seconds
	: >"$name.results"
	KERNEL=$2 RUN_RESULTS=$name.results RUN_LOG=$name.log "${command[@]}" >"$name.tap" 2>&1 </dev/null
	failed=$(count fail "$name.results")
	# COMMAND may have waited for its turn; this is the machine's own time.
	read -r seconds 2>/dev/null <"$name.log/seconds" || seconds="?"
	echo "run $1 of $runs: $2: $(count pass "$name.results") passed, $failed failed, $(
		count skip "$name.results") skipped in $seconds s"
	if [ ! -s "$name.results" ]; then
		echo "#   no results, see $name.tap"
		return 1
	fi
	sed -n 's/^fail	/#   /p' "$name.results"
	[ "$failed" = 0 ] || return 1
	rm -rf "$name.log"
}

command=("$@")
for ((run = 1; run <= runs; run++)); do
	for kernel in $kernels; do
		total=$((total + 1))
		one $run "$kernel" && passed=$((passed + 1))
	done
done
echo "$passed of $total runs passed"
[ $passed = $total ]
