#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic compare: the changes between two reports of mimic sim, and why. Usage: test-compare.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

mimic=$build/bin/mimic

run() # run ARGUMENTS...
{
	timeout -k 2 60 "$mimic" compare "$@" >"$work/output" 2>"$work/errors"
}

# report NAME ARGUMENTS...: of mimic sim
report()
{
	local name=$1
	shift
	timeout -k 2 60 "$mimic" sim --json -o "$work/$name.json" "$@" >/dev/null 2>"$work/errors"
}

# row WORDS...: a line of the output has them, with any text between them
row()
{
	local pattern=$*
	tr -s ' ' <"$work/output" | sed 's/^ //' | grep -qxF -- "$pattern"
}

# 1024 words in 64 lines, three times. An L1 of 16 KB has them from the second time on, one of 1 KB never: then the
# first word of a line waits 30 cycles for the L2 in each of two times, 2 * 64 * 30. test-sim.sh counts the rest. Without TLBs.
cold=$((64 * 334 + 960 * 4)) warm=$((1024 * 4))
large=$((cold + 2 * warm))
small=$((large + 2 * 64 * 30))
# Of 334 cycles 3 are instructions, the load among them, and so are 3 of the 4 of a hit.
stalls=$((64 * 331 + 960 + 2 * 1024))

report small --soc maple-sim --set core.translation=0 --set l1.size=1K "$build/tests/sim/warm" phases &&
	report large --soc maple-sim --set core.translation=0 --set l1.size=16K "$build/tests/sim/warm" phases &&
	run --phase three "$work/small.json" "$work/large.json" && row "l1.size 1024 16384" &&
	grep -qx "three: $small -> $large cycles, -10.3 %, 1.11 times as fast" "$work/output" &&
	! grep -q '^one:' "$work/output"
result $? "a phase's cycles, and the parameter that differs"

row "loads wait for memory $((stalls + 3840)) $stalls -3840 100.0 %" && row "instructions 9216 9216 +0 0.0 %" &&
	row "all $small $large -3840" && row "soc.l2_hits 128 0 -128 -100.0 %"
result $? "the loads that miss are why, and the counters show it"

[ "$(grep -n 'loads wait\|instructions  ' "$work/output" | head -n 1 | grep -c 'loads wait')" = 1 ] && ! grep -q dram_lines "$work/output"
result $? "the largest cause comes first, and what did not move is left out"

run "$work/small.json" "$work/small.json" && ! grep -q 'l1.size' "$work/output" &&
	grep -qx "three: $small -> $small cycles, +0.0 %" "$work/output" && [ "$(grep -c '^[a-z]*: .* cycles' "$work/output")" = 3 ]
result $? "a report and itself: all phases, and nothing moved"

# 48 rows of 10 elements: a multiplication of each element, on any hardware. The base prefetches nothing.
streams=("$build/sim/examples/dare/streams" --kernel sddmm --form plain --block 1 --width 16 --uniform 48x10)
report base --soc dare --mode base "${streams[@]}" && report fre --soc dare "${streams[@]}" &&
	run --phase plain-1 "$work/base.json" "$work/fre.json" && row "mpu.runahead 0 1" &&
	grep -qE '^ +dare_time.rows_prefetched +0 +[1-9]' "$work/output" && grep -qE '^ +dare_time.busy ' "$work/output" &&
	grep -qE '^ +waits for the device .* 100.0 %$' "$work/output" && ! grep -qE '^ +instructions ' "$work/output" &&
	grep -qE '^ +dare_time.energy_prefetches +0 ' "$work/output" && ! grep -qE '^ +dare.mma ' "$work/output" &&
	run --all --phase plain-1 "$work/base.json" "$work/fre.json" && ! grep -qE '^ +dare.mma ' "$work/output"
result $? "two modes of DARE: what they prefetch, where they wait and their energy moved, and not their instructions, which take no cycles"

loops=("$build/sim/examples/maple/loops" --kernel spmv --form decoupled --kronecker 6)
report near "${loops[@]}" && report far --set maple.round_trip=200 "${loops[@]}" &&
	run --phase decoupled "$work/near.json" "$work/far.json" && row "maple.round_trip 26 200" &&
	sed -n '/cycles of all cores/{n;p}' "$work/output" | grep -q 'waits for the device'
result $? "a device that is far away: waits for the device are why"

report other "$build/tests/sim/counts" && run "$work/small.json" "$work/other.json" &&
	grep -qx "three: only in $work/small.json" "$work/output" && grep -qx "words: only in $work/other.json" "$work/output"
result $? "phases that only one has are told"

run "$work/none.json" "$work/small.json"
[ $? = 2 ] && grep -q "none.json: No such file" "$work/errors"
result $? "a file that is not there"

sed 's/"schema":1/"schema":2/' "$work/small.json" >"$work/schema.json"
refused "schema.json: no report of mimic sim --json, or of another schema" "$work/small.json" "$work/schema.json" &&
	echo '{' >"$work/broken.json" && refused "broken.json: no report" "$work/broken.json" "$work/small.json"
result $? "another schema, and what is no JSON"

report stuck "$build/tests/sim/deadlock"
refused "stuck.json: its program did not come to its end" "$work/stuck.json" "$work/small.json" &&
	refused "no report has a phase none" --phase none "$work/small.json" "$work/large.json" &&
	refused "" "$work/small.json"
result $? "a program that did not end, a phase that there is not, one report only"

plan
