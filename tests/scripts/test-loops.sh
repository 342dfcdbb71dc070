#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The paper's loops, natively and in virtual time: each kernel in each form, with 1 to 8 threads. Usage: test-loops.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

run() # run ARGUMENTS...
{
	timeout -k 2 60 "$build/examples/maple/loops" "$@" >"$work/output" 2>"$work/errors"
}

# verified COUNT ARGUMENTS...: so many forms, all right
verified()
{
	local count=$1
	shift
	run "$@" && [ "$(grep -cE ' yes +[0-9]' "$work/output")" = "$count" ] && ! grep -q ' NO ' "$work/output"
}

for kernel in spmv sdhp bfs spmm; do
	for threads in 2 4 8; do
		verified 6 --kernel $kernel --form all --threads $threads --transport embedded --kronecker 8x4
		result $? "$kernel is right in all forms with $threads threads"
	done
	for threads in 1 3; do
		verified 3 --kernel $kernel --form doall,prefetch,lima --threads $threads --transport embedded --kronecker 9x4
		result $? "$kernel is right by doall, prefetch and LIMA with $threads threads"
	done
done
for kernel in spmv sdhp spmm; do
	verified 6 --kernel $kernel --form all --transport embedded --uniform 300x2000x5
	result $? "$kernel is right in all forms for a matrix that is not square"
done
verified 6 --kernel bfs --levels 0 --form all --transport embedded --kronecker 9x4
result $? "a whole breadth-first search is right in all forms"

printf '%%%%MatrixMarket matrix coordinate real general\n5 4 3\n2 1 1.5\n2 4 -2\n4 2 .25\n' >"$work/gaps.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 0\n' >"$work/none.mtx"
for kernel in spmv sdhp spmm; do
	for file in gaps none; do
		verified 6 --kernel $kernel --form all --transport embedded "$work/$file.mtx"
		result $? "$kernel of a matrix with $file is right in all forms"
	done
done

run --kernel spmv --form decoupled --transport embedded --json --uniform 10x20x3
[ "$(cut -c 1-154 "$work/output" | sed 's/,"runs.*//')" = '{"kernel":"spmv","input":"uniform 10x20x3","rows":10,"columns":20,"nonzeros":30,"unit":"non-zeros"' ] &&
	grep -q '"runs":\[{"form":"decoupled","threads":2,"transport":"embedded","verified":true,"elements":30,"cycles":0,' "$work/output"
result $? "the JSON report has input, form, transport and what was verified"

if start_daemon maple; then
	for kernel in spmv sdhp bfs; do
		verified 3 --kernel $kernel --form decoupled,desc,lima --transport daemon --socket "$work/socket" --kronecker 7x4
		result $? "$kernel is right through the daemon"
	done
	verified 3 --kernel spmm --form decoupled,desc,lima --transport daemon --socket "$work/socket" --kronecker 5x4
	result $? "spmm is right through the daemon"
	stop_daemon
else
	result 1 "the daemon starts"
fi

# timed COUNT CORES ARGUMENTS...: the same in virtual time; a second run prints the same bytes
timed()
{
	local count=$1 cores=$2 soc
	shift 2
	for soc in maple-fpga maple-sim; do
		timeout -k 2 60 "$build/bin/mimic" sim --soc $soc --cores "$cores" --json --output "$work/report" \
			"$build/sim/examples/maple/loops" "$@" --json >"$work/output" 2>"$work/errors" || return
		[ "$(grep -o '"verified":true' "$work/output" | wc -l)" = "$count" ] || return
	done
	cp "$work/output" "$work/before"
	cp "$work/report" "$work/report before"
	timeout -k 2 60 "$build/bin/mimic" sim --soc $soc --cores "$cores" --json --output "$work/report" \
		"$build/sim/examples/maple/loops" "$@" --json >"$work/output" 2>"$work/errors" &&
		cmp "$work/output" "$work/before" >>"$work/errors" && cmp "$work/report" "$work/report before" >>"$work/errors"
}

for kernel in spmv sdhp bfs spmm; do
	for threads in 2 4 8; do
		timed 6 $threads --kernel $kernel --form all --threads $threads --kronecker 7x4
		result $? "$kernel is right in all forms with $threads threads in virtual time, on both systems, and the same again"
	done
	timed 3 2 --kernel $kernel --form doall,prefetch,lima --threads 1 --kronecker 7x4
	result $? "$kernel is right by doall, prefetch and LIMA with one thread in virtual time, and the same again"
done

# A saved input stands for the options that made it: the same output, and in virtual time the same cycles.
for kernel in spmv sdhp bfs spmm; do
	run --save "$work/saved" --kronecker 7x4 && [ ! -s "$work/output" ] && verified 6 --kernel $kernel --form all --transport embedded "$work/saved"
	result $? "$kernel is right in all forms for an input that was saved"
	timed 6 2 --kernel $kernel --form all --kronecker 7x4 && mv "$work/report" "$work/generated" &&
		timed 6 2 --kernel $kernel --form all "$work/saved" && cmp "$work/report" "$work/generated" >>"$work/errors"
	result $? "$kernel takes the same cycles for an input that was saved as for one that is generated"
done
run --save "$work/no folder/saved" --kronecker 4
[ $? = 1 ] && grep -q 'no folder/saved: No such file' "$work/errors"
result $? "an input that cannot be saved is told with its path"
truncate -s -1 "$work/saved"
refused "a saved matrix of" --kernel spmv "$work/saved"; result $? "a saved input that is cut is refused"

refused "no --kernel" --kronecker 4; result $? "no kernel is refused"
refused "--kernel fft" --kernel fft --kronecker 4; result $? "an unknown kernel is refused"
refused "no input" --kernel spmv; result $? "no input is refused"
refused "an even number" --kernel spmv --form decoupled --threads 3 --kronecker 4
result $? "an odd number of threads in a decoupled form is refused"
refused "--threads 9" --kernel spmv --threads 9 --kronecker 4; result $? "more than 8 threads are refused"
refused "needs 8 queues; there are 2 of 128 words" \
	--kernel spmv --form lima --threads 8 --queue-words 128 --transport embedded --kronecker 4
result $? "more queues than the device has are refused"
refused "a graph needs a square matrix" --kernel bfs --uniform 3x4x1; result $? "a graph that is not square is refused"
refused "the graph has no edge" --kernel bfs "$work/none.mtx"; result $? "a graph without edges is refused"
refused "--kronecker 4x0" --kernel spmv --kronecker 4x0; result $? "no edges for each vertex are refused"
refused "--uniform 3x0x1" --kernel spmv --uniform 3x0x1; result $? "no columns are refused"

plan
