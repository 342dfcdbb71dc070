#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Instruction costs of the loops: what is checked in is what the script makes, it is near the
# counts that were known before, and what it counts as accesses is what the hooks see.
# Usage: test-costs.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

costs=sim/costs/loops.csv

# count FUNCTION COLUMN: of the innermost loop that does most accesses
count()
{
	awk -F, -v function_name="$1" -v column="$2" '
		/^file,/ { for (i = 1; i <= NF; i++) at[$i] = i }
		$2 == function_name && $3 > best { best = $3; value = $at[column] }
		END { print value + 0 }' "$costs"
}

# near FUNCTION EXPECTED ELEMENTS DIFFERENCE: instructions of an iteration of so many elements
near()
{
	local got
	got=$(count "$1" instructions)
	echo "$1: $got instructions, $2 for an element were known" >"$work/output"
	awk -v got="$got" -v expected="$2" -v elements="$3" -v most="$4" \
		'BEGIN { difference = got / elements - expected; exit !(difference <= most && difference >= -most) }'
}

# Another version of the compiler makes other code: then there is nothing to compare.
compiler=riscv64-linux-gnu-gcc
name="the table is what sim/costs/make-costs.sh makes"
made_by=$(sed -n 's/^# Made by sim\/costs\/make-costs.sh: .* //p' "$costs")
if ! command -v $compiler >/dev/null; then
	skip "$name" "no $compiler"
elif [ "$($compiler -dumpfullversion)" != "$made_by" ]; then
	skip "$name" "the table was made by gcc $made_by, $compiler is $($compiler -dumpfullversion)"
else
	sim/costs/make-costs.sh >"$work/made" 2>"$work/errors" &&
		diff <(grep -v '^# Made by' "$costs") <(grep -v '^# Made by' "$work/made") >"$work/output"
	result $? "$name"
fi

# Counts of riscv64 gcc 12 -O2, +-2, from the facts about MAPLE in time: doall, Access, Execute.
near spmv_doall 10 1 2; result $? "SPMV doall has about 10 instructions"
near spmv_access 4 1 2; result $? "SPMV Access has about 4 instructions"
near spmv_execute 6 1 2; result $? "SPMV Execute has about 6 instructions"
near sdhp_access 8 1 2; result $? "SDHP Access has about 8 instructions"
near sdhp_execute 11 2 2; result $? "SDHP Execute has about 11 instructions"
near bfs_doall 7 1 2; result $? "BFS doall has about 7 instructions"
near bfs_access 6 1 2; result $? "BFS Access has about 6 instructions"
near bfs_execute 4 1 2; result $? "BFS Execute has about 4 instructions"
# These compute a place that ours have at hand (docs/timing.md).
near sdhp_doall 15 1 3; result $? "SDHP doall has about 15 instructions, 3 less at most"
near spmm_doall 14 1 3; result $? "SPMM has about 14 instructions, 3 less at most"

# Calls of hooks in the loop that is compiled for `mimic sim`, by source line
for file in spmv sdhp bfs spmm shared_queue round_trip; do
	# shellcheck disable=SC2046 # words are meant
	gcc -std=gnu11 -O2 $("$build/bin/mimic" cflags) -S -I. -Iinclude -o "$work/$file.s" \
		"examples/maple/loops/$file.c" 2>"$work/errors"
	awk '/^\t\.file [0-9]+ / { split($0, q, "\""); f = q[4] != "" ? q[4] : q[2]; sub(/.*\//, "", f); name[$2] = f }
		/^\t\.type\t.*@function/ { split($2, n, ","); current = n[1]; sub(/\..*/, "", current) }
		/^\t\.loc / { here = name[$2] "," current "," $3 }
		/call\t__tsan_(read|write|atomic)/ { print here }' "$work/$file.s" | sort -u >"$work/hooks"
	awk -F, 'NR == FNR { known[$1 "," $2 "," $4] = 1; next } !($0 in known)' "$costs" "$work/hooks" >"$work/output"
	[ -s "$work/$file.s" ] && [ ! -s "$work/output" ]
	result $? "$file: each source line with a hook has its cost"
done

# timed FORM THREADS: counters of SPMV, 64 rows of 8 elements: instructions, loads, stores, MMIO loads, MMIO stores, prefetches
timed()
{
	"$build/bin/mimic" sweep "$build/sim/examples/maple/loops" --kernel spmv --form "$1" --threads "$2" \
		--uniform 64x4096x8 2>"$work/errors" | awk -F, -v form="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["phase"] == form { print $at["instructions"], $at["loads"], $at["stores"], $at["mmio_loads"],
			$at["mmio_stores"], $at["prefetches"] }' >"$work/output"
	read -r instructions loads stores mmio_loads mmio_stores prefetches <"$work/output"
}

# A start for each row and a result; what comes once (arguments, barriers) is less than 20 loads and 100 instructions.
elements=512 rows=64
timed doall 1
[ $((loads - 3 * elements - rows)) -ge 0 ] && [ $((loads - 3 * elements - rows)) -lt 20 ] &&
	[ $((stores - rows)) -ge 0 ] && [ $((stores - rows)) -lt 10 ]
result $? "timed SPMV has three loads an element, one and a store a row"
most=$((10 * elements + 21 * rows))
[ $((instructions - most)) -ge 0 ] && [ $((instructions - most)) -lt 100 ]
result $? "timed SPMV has the instructions of its loops' iterations"
timed prefetch 1
[ "$prefetches" = $elements ] && [ $((loads - 5 * elements - rows)) -ge 0 ] && [ $((loads - 5 * elements - rows)) -lt 20 ]
result $? "a software prefetch is a load, and so is its index"
timed decoupled 2
[ "$mmio_loads" = $elements ] && [ "$mmio_stores" = $elements ] && [ $((loads - 3 * elements - rows)) -lt 30 ]
result $? "decoupled, an element is a pointer stored and a value consumed"
timed lima 1
[ "$mmio_loads" = $elements ] && [ $((mmio_stores - rows)) -ge 0 ] && [ $((mmio_stores - rows)) -le 2 ]
result $? "LIMA takes one store a row, and two for A and B"

plan
