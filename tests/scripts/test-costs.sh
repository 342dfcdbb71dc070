#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Instruction costs of the loops: the file checked in is as the script makes it, is near the
# counts that were known before, and counts the accesses that the hooks see.
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

# is FUNCTION TAKEN MISSED MULTIPLIES: of its innermost loop
is()
{
	echo "$1: $(count "$1" taken) taken, $(count "$1" missed) missed, $(count "$1" multiplies) multiplications" >"$work/output"
	[ "$(count "$1" taken) $(count "$1" missed) $(count "$1" multiplies)" = "$2 $3 $4" ]
}

# By the source: a sum of products, a branch back, nothing inside; a search multiplies nothing.
is spmv_doall 1 0 1; result $? "the loop of SPMV goes back by one branch, and multiplies once"
is bfs_doall 1 0 0; result $? "the loop of BFS goes back by one branch, and multiplies nothing"
awk -F, '$2 == "spmv_doall" && $3 == 1 { found = $11 == 1 && $12 == 1 && $13 == 0 } END { exit !found }' "$costs"
result $? "the loop over the rows of SPMV leaves the one inside by a branch that is predicted wrongly"

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

# A start for each row and a result; once, arguments and barriers: less than 20 loads and 100 instructions.
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

# --- mimic costs: tables of a program's own sources ------------------------------------------

mimic=$build/bin/mimic
run() { timeout 60 "$mimic" costs "$@" >"$work/output" 2>"$work/errors"; }

refused "nowhere.c: No such file or directory" nowhere.c && refused "which file?" && refused "is no file" "$work" &&
	refused "there is no command no-such-gcc" --compiler no-such-gcc tests/sim/counts.c
result $? "mimic costs: no such file, none at all, a directory, no compiler"

if ! command -v $compiler >/dev/null; then
	skip "mimic costs makes tables" "no $compiler"
	plan
	exit
fi

echo 'int broken(' >"$work/broken.c" && echo 'extern int nothing;' >"$work/nothing.c" && echo before >"$work/table.csv"
refused "broken.c: $compiler does not compile it" "$work/broken.c" && grep -q 'broken.c:1:' "$work/errors" &&
	refused "nothing.c: has no function" -o "$work/table.csv" tests/sim/counts.c "$work/nothing.c" && grep -qx before "$work/table.csv"
result $? "mimic costs: a file that does not compile, with what the compiler says, and one without a function leave no table"

# Where the compiler is the one of the table that is checked in, the loops of SPMV are those there.
name="mimic costs makes the rows of loops that are checked in"
if [ "$($compiler -dumpfullversion)" != "$made_by" ]; then
	skip "$name" "the table was made by gcc $made_by"
else
	run examples/maple/loops/spmv.c -- -std=gnu11 -Isim/costs/include -I. -Iinclude
	grep -E '^[a-z_]+\.[ch],spmv_[a-z]+,[1-9]' "$costs" | sort >"$work/expected"
	sort "$work/output" | comm -13 - "$work/expected" >"$work/missing"
	[ -s "$work/expected" ] && [ ! -s "$work/missing" ]
	result $? "$name"
fi

# Two loops that differ by ten instructions, with any compiler; a function that is inlined in one of
# the two compiles only; one of which gcc makes a copy; a variable whose address is given away.
cat >"$work/own.c" <<'END'
#include <stdint.h>
#ifndef COUNT
#error COUNT is missing
#endif
extern uint32_t other(uint32_t *value);
#ifdef __riscv
__attribute__((always_inline)) static inline
#else
__attribute__((noinline)) static
#endif
uint32_t read_one(const uint32_t *data, uint32_t i)
{
	return data[i];
}
uint32_t plain(const uint32_t *data)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		sum += data[i];
		__asm__ volatile("");
	}
	return sum;
}
uint32_t longer(const uint32_t *data)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		sum += data[i];
		__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop");
	}
	return sum;
}
uint32_t inlined(const uint32_t *data)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < COUNT; i++)
		sum += read_one(data, i);
	return sum;
}
struct pair { uint32_t one, other; };
__attribute__((noinline)) static uint32_t first(const struct pair *pair, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += pair[i].one;
	return sum;
}
uint32_t copied(const uint32_t *data)
{
	return first((const struct pair *)data, COUNT / 2);
}
uint32_t on_stack(const uint32_t *data)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t value = data[i];
		sum += other(&value) + value;
	}
	return sum;
}
END
cat >"$work/own_main.c" <<'END'
#include <stdint.h>
#include <mimic/sim.h>
uint32_t plain(const uint32_t *data), longer(const uint32_t *data), inlined(const uint32_t *data);
uint32_t copied(const uint32_t *data), on_stack(const uint32_t *data);
uint32_t other(uint32_t *value)
{
	return ++*value;
}
#define RUN(name) mimic_sim_phase_begin(#name); sum += name(data); mimic_sim_phase_end();
int main(void)
{
	static uint32_t data[1000], sum;
	RUN(plain) RUN(longer) RUN(inlined) RUN(copied) RUN(on_stack)
	return sum == 1;
}
END
# shellcheck disable=SC2046 # words are meant
gcc -O2 -DCOUNT=1000 $("$mimic" cflags) -c -o "$work/own.o" "$work/own.c" &&
	gcc -O2 -Iinclude -c -o "$work/own_main.o" "$work/own_main.c" &&
	gcc -o "$work/own" "$work/own.o" "$work/own_main.o" $("$mimic" cflags --libs)
refused "own.c: $compiler does not compile it" "$work/own.c" && run -o "$work/own.csv" "$work/own.c" -- -DCOUNT=1000 &&
	[ ! -s "$work/output" ]
result $? "options behind -- go to the compiler"
"$mimic" sim --costs "$work/own.csv" --json "$work/own" >"$work/own.json" 2>"$work/errors"

# own EXPRESSION: of phase(NAME): the counters of core 0
own()
{
	python3 - "$work/own.json" "$1" >"$work/output" 2>"$work/errors" <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
def phase(name):
    return [p for p in report["phases"] if p["name"] == name][0]["cores"][0]
if not eval(sys.argv[2]):
    sys.exit("not %s:\n%s" % (sys.argv[2], json.dumps(report["phases"])))
EOF
}
own 'phase("longer")["instructions"] - phase("plain")["instructions"] == 10 * 1000'
result $? "a loop with ten instructions more takes ten cycles more"
for name in plain inlined copied on_stack; do
	own "phase('$name')['uncosted'] == 0 and phase('$name')['accesses'] >= 500"
	result $? "no access of $name() is without a cost"
done
"$mimic" sweep --costs "$work/own.csv" --cores 1,2 "$work/own" 2>"$work/errors" >"$work/output"
[ "$(awk -F, '$3 == "plain" && $5 == 0' "$work/output" | wc -l)" = 2 ]
result $? "mimic sweep takes the table, too"

# The same loops with and without breaks of lines: a header and its body on one line; two loops of which the outer one has no
# access. gcc must not make one function of two that are alike.
cat >"$work/lines.c" <<'END'
#include <stdint.h>
uint32_t one(const uint32_t *data, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++) sum += data[i];
	return sum;
}
uint32_t one_broken(const uint32_t *data, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += data[i];
	return sum;
}
uint32_t nested(const uint32_t *data, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i += 20) for (uint32_t k = 0; k < 20; k++) sum += data[i + k];
	return sum;
}
uint32_t nested_broken(const uint32_t *data, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i += 20)
		for (uint32_t k = 0; k < 20; k++)
			sum += data[i + k];
	return sum;
}
END
cat >"$work/lines_main.c" <<'END'
#include <stdint.h>
#include <mimic/sim.h>
#define ALL(_) _(one) _(one_broken) _(nested) _(nested_broken)
#define DECLARE(name) uint32_t name(const uint32_t *data, uint32_t count);
#define RUN(name) mimic_sim_phase_begin(#name); sum += name(data, 1000); mimic_sim_phase_end();
ALL(DECLARE)
int main(void)
{
	static uint32_t data[1000], sum;
	ALL(RUN)
	return sum == 1;
}
END
# shellcheck disable=SC2046 # words are meant
gcc -O2 -fno-ipa-icf $("$mimic" cflags) -c -o "$work/lines.o" "$work/lines.c" &&
	gcc -O2 -Iinclude -c -o "$work/lines_main.o" "$work/lines_main.c" &&
	gcc -o "$work/lines" "$work/lines.o" "$work/lines_main.o" $("$mimic" cflags --libs)
run -o "$work/lines.csv" "$work/lines.c" -- -fno-ipa-icf && "$mimic" sim --costs "$work/lines.csv" --json "$work/lines" >"$work/own.json" 2>"$work/errors"
for name in one nested; do
	own "all(phase('$name')[what] == phase('${name}_broken')[what] for what in
		('accesses', 'uncosted', 'instructions', 'pipeline_stalls')) and phase('$name')['accesses'] == 1000"
	result $? "$name(): a break of the line changes no cost"
done
# Outside of all loops nested() has no access: its call costs that code. The loop inside has 1000 accesses.
of_loop() { awk -F, -v loop="$1" '$2 == "nested" && $3 == loop { print $6; exit }' "$work/lines.csv"; }
own "phase('nested')['instructions'] == 1000 * $(of_loop 2) + $(of_loop 0)"
result $? "a call costs what is outside of all loops, not what a loop without accesses has"

cat >"$work/device.c" <<'END'
#include <maple.h>
uint32_t pop(struct maple *maple, uint32_t count)
{
	uint32_t value, sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		maple_consume32(maple, 0, &value);
		sum += value;
	}
	return sum;
}
END
run "$work/device.c" && [ "$(awk -F, '$2 == "pop" && $3 == 1 { print $7, $8, $9 }' "$work/output" | sort -u)" = "1 0 1" ]
result $? "a call of libmaple is an MMIO operation, and its result a load"

plan
