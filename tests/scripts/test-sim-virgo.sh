#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sim --soc virgo: programs of libvirgo, and of plain stores, in virtual time, in all designs. TAP.
#
#   test-sim-virgo.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
examples=$build/sim/examples/virgo
pages=$build/tests/sim/virgo_pages
unset MIMIC_SIM

# run REPORT ARGUMENTS...: mimic sim on Virgo's cluster, the report in $work/REPORT.json; the program checks its result
run()
{
	local report=$1
	shift
	timeout -k 5 100 "$mimic" sim --soc virgo --json -o "$work/$report.json" "$@" >"$work/output" 2>"$work/errors"
}

# holds EXPRESSION...: of r, the reports by name; t(NAME) and d(NAME): counts in time, and of the model,
# in the last phase; whole(NAME): in time, in the whole run
holds()
{
	python3 - "$work" "$@" 2>>"$work/errors" <<'EOF2'
import glob, json, os, sys
r = {os.path.basename(path)[:-5]: json.load(open(path)) for path in glob.glob(sys.argv[1] + "/*.json")}
phase = lambda name: r[name]["phases"][-1]
t = lambda name: phase(name)["virgo_time"]
whole = lambda name: r[name]["phases"][0]["virgo_time"]
d = lambda name: phase(name)["virgo"]
cycles = lambda name: phase(name)["cycles"]
designs = ("tc", "tc-dma", "virgo", "virgo-dma", "hopper")
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit("not %s" % expression)
EOF2
}

# refused_sim KEY ARGUMENTS...: exit status 2, nothing else than one line, which has the key
refused_sim()
{
	local key=$1
	shift
	timeout 20 "$mimic" sim --soc virgo "$@" >"$work/output" 2>"$work/errors"
	[ $? -eq 2 ] && [ ! -s "$work/output" ] && grep -qF -- "$key" "$work/errors" && [ "$(wc -l <"$work/errors")" -eq 1 ]
	result $? "refused: $key"
}

# --- kernels of the designs -----------------------------------------------------------------------

designs="tc tc-dma virgo virgo-dma hopper"
gemm=("$examples/gemm" --size 128x128x128 --type fp32 --form library)
status=0
for design in $designs; do
	run "$design" --design "$design" "${gemm[@]}" && grep -q verified "$work/output" || status=1
done
result $status "the kernel of each design has the right result"

# told LINE ARGUMENTS...: the program has the right result, and mimic says this line, once; "": none of it
told()
{
	local line=$1 lines
	shift
	timeout 60 "$mimic" sim --soc virgo --json -o "$work/told" "$@" >"$work/output" 2>"$work/errors" && grep -q verified "$work/output" || return 1
	lines=$(grep '^mimic: sim:' "$work/errors" | grep -v 'no cost in a table')
	[ "$lines" = "${line:+mimic: sim: }$line" ]
}
rm -f "$work/told"
commands=("$examples/gemm" --size 64x64x64 --type fp32 --form dma)
told "--design tc has no matrix unit; the program's own commands go to that of virgo-dma" --design tc "${commands[@]}" &&
	told "--design virgo has no DMA; the program's own commands have that of virgo-dma" --design virgo "${commands[@]}" &&
	told "shared.size is 524288, and the program's own commands have 262144 bytes" --set shared.size=512K "${commands[@]}" &&
	told "" "${commands[@]}" && told "" --design tc --set shared.size=512K "${gemm[@]}" && told "" --design virgo "${gemm[@]}"
result $? "a program whose commands go to other hardware than the parameters say is told so, and kernels are told nothing"

status=0
for design in $designs; do
	cp "$work/$design.json" "$work/first"
	run "$design" --randomize --design "$design" "${gemm[@]}" && cmp "$work/first" "$work/$design.json" >>"$work/errors" || status=1
done
result $status "two runs have the same report, wherever the system puts data"

# 128^3 is 8 products of 64^3, which take 64 MACs a cycle, 4 cores' tensor cores 16 each; those of hopper 32 each.
holds "all(t(n)['kernels'] == 1 and t(n)['kernel_macs'] == 128 ** 3 for n in designs)" \
	"all(t(n)['kernel_cycles'] >= 128 ** 3 / 64 for n in designs if n != 'hopper')" "t('hopper')['kernel_cycles'] >= 128 ** 3 / 128" \
	"t('virgo-dma')['kernel_cycles'] < t('tc-dma')['kernel_cycles'] < t('virgo')['kernel_cycles'] < t('tc')['kernel_cycles']" \
	"all(cycles(n) >= t(n)['kernel_cycles'] for n in designs)"
result $? "a kernel takes no less than its multiplications do, and the designs are in the paper's order"

# A wmma of a warp multiplies 16 x 8 x 8: 1024; the operations of hopper are 16 x 16 x 16.
holds "all(t(n)['tensor_macs'] == 128 ** 3 and t(n)['matrix_macs'] == 0 for n in ('tc', 'tc-dma'))" \
	"all(t(n)['matrix_macs'] == 128 ** 3 and t(n)['tensor_macs'] == 0 for n in ('virgo', 'virgo-dma'))" \
	"all(t(n)['alu'] + t(n)['fpu'] + t(n)['loads'] + t(n)['stores'] + t(n)['mmio'] + t(n)['wmma'] + t(n)['control'] == t(n)['warp_instructions'] for n in designs)" \
	"all(t(n)['dma_read_bytes'] == 0 for n in ('tc', 'virgo'))" \
	"all(t(n)['dma_read_bytes'] == 8 * 2 * 64 * 64 * 4 for n in ('tc-dma', 'virgo-dma', 'hopper'))" \
	"all(t(n)['energy_mac'] == t('virgo-dma')['energy_mac'] > 0 for n in designs)" \
	"t('virgo')['l1_accesses'] > 0 and t('tc')['shared_unaligned'] > 0 and t('tc-dma')['shared_unaligned'] == 0" \
	"t('virgo-dma')['polls'] > 0 and t('virgo-dma')['dma_outstanding_most'] > 1"
result $? "the report has instructions by kind, MACs, DMA bytes, energy, polls"

timeout 20 "$mimic" sim --soc virgo --design tc-dma "${gemm[@]}" >"$work/output" 2>"$work/errors" &&
	grep -q '^  VIRGO [0-9]* commands' "$work/errors" &&
	grep -q 'kernels of tc-dma: 1, [0-9]* cycles; [0-9.]* % of the MACs used' "$work/errors" &&
	grep -q 'energy: [0-9.]* uJ' "$work/errors"
result $? "the report in words has the kernel, its utilisation and energy"

# --- programs that give commands -----------------------------------------------------------------

status=0
for form in dma copy; do
	run "form-$form" "$examples/gemm" --size 128x128x128 --type fp32 --form "$form" --threads 4 && grep -q verified "$work/output" || status=1
done
result $status "threads that stand for warps have the right result, with DMA and without"
holds "all(t('form-' + f)['kernels'] == 0 and t('form-' + f)['matrix_macs'] == 128 ** 3 for f in ('dma', 'copy'))" \
	"all(t('form-' + f)['matrix_busy'] >= 128 ** 3 / 64 for f in ('dma', 'copy'))" \
	"t('virgo-dma')['kernel_cycles'] <= cycles('form-dma') < cycles('form-copy')" \
	"t('form-copy')['dma_read_bytes'] < t('form-dma')['dma_read_bytes'] == 8 * 2 * 64 * 64 * 4"
result $? "they take longer than the kernel, and longest where the warps copy"

# Blocks of dim^3 take dim cycles where a line of shared memory has a row.
status=0
for dim in 8 16 32; do
	run "dim-$dim" --set matrix.dim=$dim --set shared.words=$dim "$examples/gemm" --size 128x128x128 --type fp32 --form dma --threads 4 &&
		grep -q verified "$work/output" && holds "t('dim-$dim')['matrix_busy'] == (128 // $dim) ** 3 * $dim" || status=1
done
result $status "programs of commands have the array of 8 x 8 to 32 x 32 that is asked for"

run swish "$examples/gemm_swish" --size 128x128x128 && grep -q verified "$work/output"
result $? "a product with Swish has the right result"
duo=(--set cluster.cores=2 --set matrix.units=2 --set matrix.tile_m=32 --set matrix.tile_n=32 --set matrix.tile_k=32
	"$examples/gemm_two_units" --size 128x128x128 --form library)
run duo "${duo[@]}" && grep -q verified "$work/output" && holds "t('duo')['kernels'] == 2" \
	"max(1, t('duo')['kernel_cycles'] / 2) <= t('duo')['kernel_time'] < t('duo')['kernel_cycles']" \
	"t('duo')['kernel_macs_offered'] == (64 + 16) * t('duo')['kernel_time']"
result $? "products on two units at once have the right results, and each cycle offers both units' MACs"
# Of the multipliers, 64 and 16, by the cycles of the program's phase, which has a little more than the kernels.
timeout 20 "$mimic" sim --soc virgo "${duo[@]}" >"$work/output" 2>"$work/errors"
used=$(sed -n 's/.*kernels of virgo-dma: 2, .*; \([0-9.]*\) % of the MACs used/\1/p' "$work/errors" | tail -n 1)
holds "0 <= ${used:-1000} - 100 * t('duo')['kernel_macs'] / 80 / cycles('duo') < 2"
result $? "the utilisation in words is that of both units: ${used:-none} %"

run stores "$examples/gemm_stores" --size 128x128x128 --type fp32 && grep -q verified "$work/output" &&
	holds "whole('stores')['kernels'] == 0" "whole('stores')['matrix_macs'] == 128 ** 3" \
		"r['stores']['phases'][0]['cycles'] >= t('virgo-dma')['kernel_cycles']"
result $? "a program that knows no library has the right result, not sooner than the kernel"

# 16 x 16 x 16 products of 8 x 8 x 8: 8 lines of A and 8 of B each, which the DMA engine has written; all lie in bank 0.
holds "whole('stores')['bank_reads'] == [16 ** 3 * 16] + 15 * [0]" "whole('stores')['bank_writes'] == [16 ** 3 * 16] + 15 * [0]" \
	"whole('stores')['thread_mmio'] > 0" \
	"whole('stores')['energy_threads'] > 0 == whole('stores')['energy_core']" \
	"sum(whole('stores')['bank_refused']) == whole('stores')['bank_conflicts']"
result $? "its threads' accesses and energy are counted, and grants of each bank"

# Two products of 64 x 64 x 64 on 8 x 8; the softmax between them reads and writes shared memory.
run flash --cores 4 "$examples/flash_attention" --sequence 64 --exp taylor && grep -q yes "$work/output" &&
	holds "t('flash')['matrix_busy'] == 2 * 64 ** 3 // 64" "t('flash')['thread_loads'] > 0 < t('flash')['thread_stores']" \
		"t('flash')['thread_stall_bank'] > 0 < t('flash')['matrix_stalls']" "cycles('flash') > t('flash')['matrix_busy']"
result $? "FlashAttention is right in time, and its threads and the array meet at banks"

# 64 passes of 16 x 16 x 16. Rows are 16 bytes, half a line; each pass reads 16 of A and 16 of B.
run bytes --set matrix.type=0 --set matrix.dim=16 "$examples/gemm_stores" --size 64x64x64 --type int8 && grep -q verified "$work/output" &&
	holds "all(p['virgo_time']['matrix_busy'] == 64 * 16 and p['virgo_time']['matrix_macs'] == 64 ** 3 for p in r['bytes']['phases'][:1])" \
		"all(4 * p['virgo_time']['shared_reads'] == p['virgo']['shared_bytes_read'] == 64 * 32 * 16 for p in r['bytes']['phases'][:1])"
result $? "elements of int8 are a byte in time, too"

# --- a program's own loads and stores of shared memory ----------------------------------------------

# An access has 3 instructions of 4 cycles before it. A load is 15 cycles; a store one; an atomic both. Memory has 64 lines of
# 32 bytes that miss.
shared=("$build/tests/sim/virgo_shared")
exact=(--cores 4 --set core.translation=0 --set core.stall_on_use=0)
status=0
for way in node library; do
	run "$way" "${exact[@]}" "${shared[@]}" "$way" && holds \
		"[p['cycles'] for p in r['$way']['phases'] if p['name'] == 'loads'] == [512 * (12 + 15)]" \
		"[p['cycles'] for p in r['$way']['phases'] if p['name'] == 'stores'] == [512 * (12 + 1)]" \
		"[p['cycles'] for p in r['$way']['phases'] if p['name'] == 'atomics'] == [512 * (12 + 15 + 1)]" \
		"[p['virgo_time']['shared_reads'] for p in r['$way']['phases'][1:4]] == [512, 0, 512]" \
		"[p['virgo_time']['shared_writes'] for p in r['$way']['phases'][1:4]] == [0, 512, 512]" || status=1
done
result $status "loads, stores and atomics of shared memory, mapped from the node or by the library, take its cycles"
for way in node library; do
	holds "[p['virgo_time']['shared_reads'] + p['virgo_time']['shared_writes'] for p in r['$way']['phases'][4:]] == [0, 0, 0]" \
		"[p['cores'][0]['l1_misses'] for p in r['$way']['phases'][4:]] == [64, 0, 0]"
	result $? "memory that is mapped where shared memory was is memory again ($way)"
done
# Threads that leave a barrier together: of one bank the second waits a cycle, the third two, the fourth three; then they come apart.
run one-bank "${exact[@]}" "${shared[@]}" threads 0 && run four-banks "${exact[@]}" "${shared[@]}" threads 16384 &&
	holds "t('one-bank')['bank_conflicts'] == 1 + 2 + 3" "t('four-banks')['bank_conflicts'] == 0" \
		"max(c['cycles'] for c in phase('one-bank')['cores'][1:]) - max(c['cycles'] for c in phase('four-banks')['cores'][1:]) == 3"
result $? "threads of one bank wait for each other, threads of four do not"

# --- the unit as a program sees it -----------------------------------------------------------------

[ "$(timeout 20 "$mimic" sim --soc virgo "$pages" unfenced 2>"$work/errors")" = busy ] &&
	[ "$(timeout 20 "$mimic" sim --soc virgo --set matrix.synchronous=1 "$pages" unfenced 2>"$work/errors")" = over ]
result $? "with matrix.synchronous a command is over before its store is acknowledged"
[ "$(timeout 20 "$mimic" sim --soc virgo "$pages" cisc 2>"$work/errors")" = overflow ] &&
	[ "$(timeout 20 "$mimic" sim --soc virgo --set matrix.synchronous=1 "$pages" cisc 2>"$work/errors")" = "no overflow" ]
result $? "a second word of the CISC port overflows while the unit is busy in time"

[ "$(timeout 20 "$mimic" sim --soc virgo "$pages" absent 2>"$work/errors")" = nothing ] &&
	[ "$(grep '^mimic: sim: virgo0' "$work/errors")" = "mimic: sim: virgo0: store to unit 5 RS1, and there is 1 unit" ]
result $? "a store to a unit that is not there is told once, and the program goes on"

run meets "$pages" meet 3
result $? "threads meet at a barrier of the cluster"
timeout 20 "$mimic" sim --soc virgo "$pages" meet 4 >"$work/output" 2>"$work/errors"
[ $? -eq 2 ] && [ "$(grep -c "thread [0-2], .* waits for the device's answer to a load of cluster BARRIER_WAIT \[0\]" "$work/errors")" = 3 ]
result $? "a barrier that never opens ends the run, and each thread is named with what it waits for"

# --- hardware that cannot be ----------------------------------------------------------------------------

refused_sim "shared.banks" --set shared.banks=0 "${gemm[@]}"
refused_sim "matrix.dim: the array is larger than the tile" --set matrix.dim=32 --set matrix.tile_k=16 "${gemm[@]}"
refused_sim "matrix.tile_k: A's or B's tile is larger than its quarter" --set matrix.tile_k=256 "${gemm[@]}"
refused_sim "matrix.accumulator" --set matrix.accumulator=20000 "${gemm[@]}"
refused_sim "matrix.accumulator: less than the tile of C" --set matrix.accumulator=4096 "${gemm[@]}"
refused_sim "matrix.units: only virgo-dma has several" --design tc --set matrix.units=2 --set matrix.tile_k=32 "${gemm[@]}"
refused_sim "matrix.units must be 1 to 8" --set matrix.units=9 "${gemm[@]}"
refused_sim "design must be" --design volta "${gemm[@]}"
refused_sim "--devices 'maple:2'" --devices maple:2 "${gemm[@]}"

! run other --set matrix.units=1 "${gemm[@]}" --unit 1 && grep -q "unit 1" "$work/errors" && [ "$(wc -l <"$work/errors")" -le 2 ]
result $? "a program that names a unit that is not there is told so"

status=0
for command in sim sweep; do
	"$mimic" $command --help | grep -q 'hopper (second-hand)' || status=1
done
result $status "--help says of which design the sources are second-hand"

timeout 20 "$mimic" sim --soc maple-fpga --design tc "${gemm[@]}" >"$work/output" 2>"$work/errors"
[ $? -eq 2 ] && grep -q "design tc is one of Virgo's cluster" "$work/errors"
result $? "a SoC without a cluster has no designs"

# --- a trace ----------------------------------------------------------------------------------------------------

# 2 x 2 tiles of C and 2 steps each: A's bank gives a line in each of 4096 cycles of a step, B's one in each of 8 of 64.
timeout 60 "$mimic" sim --soc virgo --trace "$work/trace.json" "${gemm[@]}" >"$work/output" 2>"$work/errors" &&
	"$build/tests/tools/check_trace" "$work/trace.json" >"$work/found" 2>>"$work/errors" &&
	python3 - "$work/trace.json" >>"$work/errors" 2>&1 <<'EOF2'
import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
of = lambda name: [e for e in events if e["ph"] == "X" and tracks[e["pid"], e["tid"]] == name]
assert [e["args"]["grants"] for bank in (0, 1) for e in of("bank %u reads" % bank)] == 8 * [4096]
assert all(e["dur"] == 4096 for bank in (0, 1) for e in of("bank %u reads" % bank))
assert sum(e["args"]["grants"] for bank in (2, 3) for e in of("bank %u reads" % bank)) == 8 * 512
assert sum(e["args"]["grants"] for bank in range(4) for e in of("bank %u DMA writes" % bank)) == 8 * 2 * 64 * 64 * 4 / 32
assert len(of("array of unit 0")) == 8 and of("DMA loads of unit 0") and of("stores of unit 0") and of("warp 1") and of("kernel of unit 0")
EOF2
result $? "a trace has warps, engines, the kernel and grants of each bank as tracks"

# --- a sweep ---------------------------------------------------------------------------------------------------

timeout 60 "$mimic" sweep --soc virgo --design tc-dma,virgo-dma "${gemm[@]}" >"$work/output" 2>"$work/errors" &&
	python3 - "$work/output" "$work" >>"$work/errors" 2>&1 <<'EOF2'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for design in "tc-dma", "virgo-dma":
    phase = json.load(open("%s/%s.json" % (sys.argv[2], design)))["phases"][-1]
    row = [row for row in rows if row["design"] == design][-1]
    assert int(row["cycles"]) == phase["cycles"], row
    for name, value in phase["virgo_time"].items():
        assert int(row["virgo_time_" + name]) == (sum(value) if isinstance(value, list) else value), (name, row)
EOF2
result $? "designs are an axis of a sweep, with the numbers of the runs"

# --- results are those of functional mode -----------------------------------------------------

results=$build/tests/sim/virgo_results
timeout 60 "$mimic" run --transport embedded --config <(printf '[virgo]\nprofile = paper\n') "$results" 0 200 >"$work/functional" 2>"$work/errors"
[ "$(wc -l <"$work/functional")" -eq 200 ] && [ "$(cut -d' ' -f2 "$work/functional" | sort -u | wc -l)" -gt 190 ]
status=$?
first=0
for design in $designs; do
	timeout 60 "$mimic" sim --soc virgo --design "$design" "$results" "$first" 40 >"$work/output" 2>"$work/errors" &&
		sed -n "$((first + 1)),$((first + 40))p" "$work/functional" | cmp - "$work/output" >>"$work/errors" 2>&1 || status=1
	first=$((first + 40))
done
result $status "products of 200 random shapes have the bytes of functional mode, 40 by each design"

plan
