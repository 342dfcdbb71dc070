#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# bench/figures/virgo_counts.csv: it is as make figures-virgo-counts makes it, and counts that the tile's
# geometry fixes are there as counted by hand. Usage: test-virgo-counts.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

table=bench/figures/virgo_counts.csv
count() # count CLANG
{
	timeout -k 2 60 python3 bench/figures/virgo/counts/count.py "$build/bench/figures/virgo/streams" "$1" >"$work/made" 2>"$work/errors"
}

known() # known FILE: without the compiled counts, and without rows of only those
{
	awk -F, -v OFS=, '!/^#/ && ($6 != "" || $7 != 0) { $5 = ""; print }' "$1"
}

count none && diff <(known "$table") <(known "$work/made") >"$work/output"
result $? "the model's warps have the instructions that the table says"

count clang
status=$?
compiler=$(grep -o 'by clang [0-9]*' "$table")
if [ $status = 77 ]; then
	skip "our kernels, compiled, have the instructions that the table says" "clang has no target riscv32"
elif [ $status = 0 ] && ! grep -q "$compiler:" "$work/made"; then
	skip "our kernels, compiled, have the instructions that the table says" "the table is $compiler"
else
	[ $status = 0 ] && diff "$table" "$work/made" >"$work/output"
	result $? "our kernels, compiled, have the instructions that the table says"
fi

# A tile of 64 x 64 is 512 lines of 8 words, 16 for each of 32 warps; a warp's 16 x 8 takes, for each 8 of 64 in depth, 8
# registers of B and 2 x 8 of A. A command is five stores, and C takes four. Ours and the model's are held to it.
while IFS=, read -r design part warps kind hand; do
	grep -qE "^$design,$part,$warps,$kind,$hand,[0-9]*,$hand\$" "$table" || echo "$design, $part, $warps: $kind is not $hand"
done >"$work/output" <<'HAND'
tc,k step,each,shared load,192
tc,k step,each,memory load,32
tc,k step,each,shared store,32
tc,k step,each,wmma,16
tc,k step,each,barrier,2
tc,C tile,each,memory store,16
tc-dma,k step,each,shared load,192
tc-dma,k step,each,wmma,16
tc-dma,k step,leader,unit store,5
tc-dma,C tile,each,memory store,16
virgo,k step,each,memory load,32
virgo,k step,each,shared store,32
virgo,C tile,each,shared load,16
virgo,C tile,each,memory store,16
virgo-dma,k step,leader,unit store,5
virgo-dma,k step,leader,CSR,3
virgo-dma,C tile,leader,unit store,20
HAND
[ ! -s "$work/output" ]
result $? "loads, stores and commands are as many as the tile takes"

# Where the model has others than the published kernels: docs/timing-virgo.md says why.
cat >"$work/expected" <<'DIFFERENT'
tc,k step,each,all,~418,415
tc-dma,k step,each,all,300,299
virgo,C tile,each,barrier,1,3
virgo-dma,k step,leader,all,~26,22
virgo-dma,C tile,leader,unit load,4,1
DIFFERENT
awk -F, -v OFS=, '!/^#/ && NR > 4 && $6 != "" { told = $6; sub(/~/, "", told); if (told != $7) print $1, $2, $3, $4, $6, $7 }' "$table" |
	diff "$work/expected" - >"$work/output"
result $? "the model has the published kernels' counts but where the docs say so"

count true
[ $? = 77 ] && [ ! -s "$work/made" ] && [ "$(cat "$work/errors")" = 'count.py: skipped: true has no target riscv32' ]
result $? "a compiler without RISC-V is told in one line, and no table is made"

plan
