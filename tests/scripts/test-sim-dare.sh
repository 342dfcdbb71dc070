#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sim --soc dare: programs of libdare in virtual time, in all modes of hardware. TAP.
#
#   test-sim-dare.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
streams=$build/sim/examples/dare/streams
unset MIMIC_SIM

# run REPORT ARGUMENTS...: mimic sim on DARE, the report in $work/REPORT.json; the program checks its result
run()
{
	local report=$1
	shift
	timeout -k 5 100 "$mimic" sim --soc dare --json -o "$work/$report.json" "$@" >"$work/output" 2>"$work/errors"
}

# holds EXPRESSION...: of r, the reports by name; t(NAME) and d(NAME): counts in time, and of the model
holds()
{
	python3 - "$work" "$@" 2>>"$work/errors" <<'EOF'
import glob, json, os, sys
r = {os.path.basename(path)[:-5]: json.load(open(path)) for path in glob.glob(sys.argv[1] + "/*.json")}
t = lambda name: r[name]["phases"][0]["dare_time"]
d = lambda name: r[name]["phases"][0]["dare"]
cycles = lambda name: r[name]["phases"][0]["cycles"]
for expression in sys.argv[2:]:
    if not eval(expression):
        sys.exit("not %s" % expression)
EOF
}

refused() # MESSAGE ARGUMENTS...
{
	local message=$1
	shift
	timeout 20 "$mimic" sim "$@" >"$work/output" 2>"$work/errors"
	[ $? -eq 2 ] && grep -qF -- "$message" "$work/errors" && [ "$(wc -l <"$work/errors")" -eq 1 ]
	result $? "refused: $message"
}

modes="base nvr fre static oracle"
input=(--width 16 --uniform 128x5)
status=0
for mode in $modes; do
	for form in plain gsa; do
		run "$form-$mode" --mode "$mode" "$streams" --kernel spmm --form "$form" --block 1 "${input[@]}" || status=1
	done
done
result $status "SpMM has the right result in all modes of hardware"

all='for m in ("nvr", "fre", "static", "oracle")'
holds "all(t(f + '-' + m)['rows_demanded'] == t(f + '-base')['rows_demanded'] $all for f in ('plain', 'gsa'))" \
	"all(d(f + '-' + m) == d(f + '-base') $all for f in ('plain', 'gsa'))" \
	"all(t(f + '-' + m)['array_busy'] == t(f + '-base')['array_busy'] $all for f in ('plain', 'gsa'))" \
	"d('gsa-fre')['macs_used'] == d('plain-fre')['macs_used']"
result $? "code has the same instructions, rows and MACs in all modes"

holds "all(cycles(f + '-oracle') <= cycles(f + '-' + m) for m in ('base', 'nvr', 'fre', 'static') for f in ('plain', 'gsa'))"
result $? "the oracle is the fastest"

holds "t('plain-base')['rows_prefetched'] == 0" "t('plain-nvr')['rows_prefetched'] > t('plain-fre')['rows_prefetched'] > 0" \
	"t('gsa-fre')['chains'] > 0" "t('gsa-fre')['vmr_most'] > 0" "t('plain-fre')['chains'] == 0" \
	"t('gsa-base')['riq_most'] <= 4" "t('gsa-fre')['riq_most'] <= 32"
result $? "NVR prefetches more than DARE with its filter, the base nothing; only gathers make chains"

holds "all(sum(d(f + '-fre')[k] for k in ('mcfg', 'mld', 'mst', 'mma', 'mgather', 'mscatter')) == t(f + '-fre')['issued'] for f in ('plain', 'gsa'))" \
	"t('plain-fre')['demand_hits'] + t('plain-fre')['demand_merged'] + t('plain-fre')['demand_misses'] == t('plain-fre')['rows_demanded']" \
	"t('plain-fre')['busy'] <= cycles('plain-fre')"
result $? "counters add up"

# fJ: 216,000 for a row read, 276,000 for one written, 432,000 for an mma and 2,300 for a MAC; with leakage 158,000 a cycle
run leaking --mode nvr --set energy.leakage=158000 --set energy.mac=0 "$streams" --kernel spmm --form plain --block 1 "${input[@]}" &&
	holds "all(t(n)['energy_reads'] == 216000 * t(n)['rows_demanded'] for n in ('plain-fre', 'gsa-nvr'))" \
		"all(t(n)['energy_prefetches'] == 216000 * t(n)['rows_prefetched'] for n in ('plain-fre', 'gsa-nvr'))" \
		"all(t(n)['energy_writes'] == 276000 * t(n)['rows_stored'] for n in ('plain-fre', 'gsa-nvr'))" \
		"all(t(n)['energy_mma'] == 432000 * d(n)['mma'] for n in ('plain-fre', 'gsa-nvr'))" \
		"all(t(n)['energy_macs'] == 2300 * d(n)['macs_used'] for n in ('plain-fre', 'gsa-nvr'))" \
		"t('plain-nvr')['energy_leakage'] == 0 and t('leaking')['energy_leakage'] == 158000 * t('leaking')['busy']" \
		"t('leaking')['energy_macs'] == 0 and t('leaking')['energy_reads'] == t('plain-nvr')['energy_reads']"
result $? "energy of each part is its count times its parameter"

cp "$work/gsa-fre.json" "$work/first.json"
run gsa-fre --randomize --mode fre "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" &&
	cmp "$work/first.json" "$work/gsa-fre.json" >>"$work/errors"
result $? "two runs have the same report, wherever the system puts data"

status=0
for arguments in "sddmm plain 4" "sddmm gsa 8" "spmm libdare 8" "gemm plain 1"; do
	read -r kernel form block <<<"$arguments"
	blocks=(--block "$block")
	[ "$kernel" = gemm ] && blocks=()
	run other "$streams" --kernel "$kernel" --form "$form" "${blocks[@]}" --width 16 --uniform 64x5 || status=1
done
result $status "SDDMM, GEMM and libdare's own loops have the right results"

run other --mode base --set mpu.lq=1 --set llc.mshrs=1 --set mpu.window=1 "$streams" --kernel spmm --form plain --block 1 "${input[@]}" &&
	holds "t('other')['lq_most'] == 1" "cycles('other') > cycles('plain-base')"
result $? "hardware with one of everything is slower"
! grep -q "no cost in a table" "$work/errors"
result $? "nothing is said about costs, as the host's instructions take no time"

timeout 20 "$mimic" sim --soc dare "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" >"$work/output" 2>"$work/errors" &&
	grep -q '^  DARE  [0-9]* cycles busy: [0-9]* mld, [0-9]* mgather' "$work/errors" && grep -q 'RFU: threshold' "$work/errors" &&
	grep -q '^ *energy: [0-9.]* nJ: LLC [0-9.]* reads, [0-9.]* prefetches, [0-9.]* writes; array [0-9.]* mma' "$work/errors"
result $? "the report in words has rows, queues, the threshold and energy"

timeout 20 "$mimic" sim --soc dare --mode nvr "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" >"$work/output" 2>"$work/errors" &&
	grep -q '^        DMU: [0-9]* chains' "$work/errors" && ! grep -q 'RFU' "$work/errors"
result $? "the report of a mode without a filter has no line of the RFU"

run interval --interval 1000 "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" &&
	holds "sum(i['dare_time']['rows_demanded'] for i in r['interval']['intervals']) == t('interval')['rows_demanded']" \
		"all(i['dare_time']['threshold'] > 0 for i in r['interval']['intervals'])"
result $? "--interval has the rows of each interval, and the threshold over time"

# --- a trace ------------------------------------------------------------------------------------------

# Rows that miss, and rows that hit: the filter grants, suppresses and moves its threshold.
traced=(--mode fre "$streams" --kernel spmm --form gsa --block 1 --width 16 --uniform 256x10)
run untraced "${traced[@]}" && run traced --trace "$work/trace" "${traced[@]}" &&
	"$build/tests/tools/check_trace" "$work/trace" >"$work/output" 2>>"$work/errors" &&
	python3 - "$work/trace" "$work/traced.json" >>"$work/errors" 2>&1 <<'EOF'
import collections, json, re, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
phase = json.load(open(sys.argv[2]))["phases"][0]
d, t = phase["dare"], phase["dare_time"]
tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
of = collections.defaultdict(list)
for e in events:
    if e["ph"] in "Xi":
        of[re.sub("[0-9]+$", "", tracks[e["pid"], e["tid"]])].append(e)
names = lambda track: collections.Counter(e["name"] for e in of[track])
assert names("RIQ place ") == names("LSU: loads to m") + names("LSU: stores") + names("array")
places = {name for name in tracks.values() if name.startswith("RIQ place ")}
assert places == {"RIQ place %d" % i for i in range(t["riq_most"])} and t["riq_most"] <= 32, sorted(places)
assert len(of["RIQ place "]) == t["issued"] - d["mcfg"]
assert sum(names("LSU: loads to m").values()) == d["mld"] + d["mgather"] and names("LSU: loads to m")["mgather"] == d["mgather"]
assert sum(names("LSU: stores").values()) == d["mst"] + d["mscatter"]
assert sum(e["args"]["rows"] for e in of["LSU: loads to m"]) == t["rows_demanded"]
assert sum(e["args"]["rows"] for e in of["LSU: stores"]) == t["rows_stored"]
assert names("array") == {"mma": d["mma"]}, names("array")
assert sum(e["dur"] for e in of["array"]) == t["array_busy"]
assert names("RFU") == {"granted": t["granted"], "suppressed": t["suppressed"]}
assert t["granted"] and t["suppressed"], t
thresholds = [e["args"]["level"] for e in events if e["ph"] == "C" and e["name"] == "RFU threshold"]
# The program closes the device at its end, and the unit has its start value again.
assert thresholds[-2:] == [t["threshold"], 64] and t["threshold"] != 64, thresholds
# A microsecond is a cycle, and nothing is behind the last one.
assert all(e["ts"] + e.get("dur", 0) <= phase["cycles"] for track in ("RIQ place ", "LSU: stores") for e in of[track])
EOF
result $? "a trace has each instruction in the RIQ, the LSU and the array, what the filter decides, and its threshold"

cmp "$work/untraced.json" "$work/traced.json" >>"$work/errors" && cp "$work/trace" "$work/first_trace" &&
	run traced --trace "$work/trace" "${traced[@]}" && cmp "$work/first_trace" "$work/trace" >>"$work/errors"
result $? "a trace changes no number, and two have the same bytes"

# --- counts stay when the program closes the device ---------------------------------------------------
run closed --mode fre "$streams" --kernel spmm --form plain --block 1 --width 16 --uniform 64x3 &&
	python3 - "$work/closed.json" >>"$work/errors" 2>&1 <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
run, phase = (next(p["dare_time"]["threshold"] for p in report["phases"] if (p["name"] == "run") == which) for which in (True, False))
assert run == phase != 64, (run, phase)
EOF
result $? "the RFU's threshold is the last one that there was, also when the program has closed the device"

# --- a profile -----------------------------------------------------------------------------------------

# Both forms in virtual time; libdare's own choice is GSA for both block sizes. Of each two rows of the matrix one is full and one
# empty: 1, 4, 5, 8, 9 ... are full. So at B = 1 the distances in a column are 3, 1, 3, 1 ...: no more than two elements make a run of
# the baseline, whose multiplications have two rows, and GSA's 16. At B = 2 each block has an element, and each column of blocks is
# one run: the baseline's tiles are full, and GSA has the same ones, with address vectors to load on top.
{
	echo '%%MatrixMarket matrix coordinate real general'
	echo '64 64 2048'
	for row in $(seq 1 4 64); do for column in $(seq 64); do echo "$row $column 1"; echo "$((row + 3)) $column 1"; done; done
} >"$work/rows.mtx"
profiled=(--kernel spmm --width 16 "$work/rows.mtx")
run profiled --cores 2 --profile "$work/profile" "$streams" "${profiled[@]}" --form libdare,libdare-gsa --block 1,2 &&
	python3 - "$work/profile" "$work/profiled.json" >>"$work/errors" 2>&1 <<'EOF'
import json, sys
cycles = {p["name"]: p["cycles"] for p in json.load(open(sys.argv[2]))["phases"]}
lines = [line.split("#")[0].split() for line in open(sys.argv[1])]
assert lines[0] == ["mimic-profile", "1"], lines
faster = lambda block: "gsa" if cycles["libdare-gsa-%d" % block] < cycles["libdare-%d" % block] else "baseline"
found = [line for line in lines[1:] if line]
assert found == [["spmm", "1", faster(1)], ["spmm", "2", faster(2)]], found
assert faster(1) == "gsa" and faster(2) == "baseline", cycles
EOF
result $? "--profile has the faster form for each block size"

# gathers NAME ARGUMENTS...: how many mgather instructions the application had
gathers()
{
	"$build/examples/dare/streams" --json --transport embedded "${profiled[@]}" --form libdare-auto "$@" 2>>"$work/errors" |
		python3 -c 'import json, sys; print(*(r["counters"]["mgather"] for r in json.load(sys.stdin)["runs"]))'
}
[ "$(gathers --block 2)" -gt 0 ] && [ "$(MIMIC_DARE_PROFILE=$work/profile gathers --block 2)" = 0 ] &&
	[ "$(MIMIC_DARE_PROFILE=$work/profile gathers --block 4)" -gt 0 ]
result $? "an application takes the faster form from the profile, and its own choice where that says nothing"

run plain_profiled --cores 2 --profile "$work/none" "$streams" "${profiled[@]}" --form libdare --block 2
[ $? -eq 1 ] && grep -q "no choice for spmm of block size 2: only the form baseline ran" "$work/errors" &&
	grep -q "none has no choice: no kernel of a library ran in two forms" "$work/errors"
result $? "a run of one form makes no choice, and says so"
cp "$work/profile" "$work/kept"
run failed --cores 2 --profile "$work/kept" "$streams" "${profiled[@]}" --form libdare --block 2
[ $? -eq 1 ] && cmp "$work/profile" "$work/kept" >>"$work/errors" && [ ! -e "$work/none" ]
result $? "a run without a choice leaves the profile that there is, and makes no empty one"

printf 'mimic-profile 1\nspmm 2 quick\n' >"$work/profile"
! MIMIC_DARE_PROFILE=$work/profile "$build/examples/dare/streams" --transport embedded "${profiled[@]}" --block 2 >"$work/output" 2>&1 &&
	grep -qF "$work/profile:2: there is no form 'quick': baseline or gsa" "$work/output"
result $? "a bad profile is named with its line"
refused "/nowhere/profile: No such file or directory" --soc dare --profile /nowhere/profile "$streams"

timeout 20 "$mimic" sim --soc dare --interval 1000 "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" >"$work/output" 2>"$work/errors" &&
	grep -qxE ' +from cycle +rows_demanded +rows_prefetched +demand_misses +port_waits +array_busy +riq +lq +threshold' "$work/errors" &&
	[ "$(awk '/^intervals.*, dare$/ { there = 1; next } there && $1 ~ /^[0-9]+$/ { sum += $2 } END { print sum }' "$work/errors")" = \
	"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["phases"][0]["dare_time"]["rows_demanded"])' "$work/interval.json")" ]
result $? "--interval shows rows, queues and the threshold over time in words"

refused "mpu.riq must be 1 to 256, not 0" --soc dare --set mpu.riq=0 "$streams"
refused "section mpu has no key 'rqi'" --soc dare --set mpu.rqi=32 "$streams"
refused "llc.ways must be 1 to 16, not 17" --soc dare --set llc.ways=17 "$streams"
refused "llc.size / (ways * line), the number of sets, must be a power of two" --soc dare --set llc.size=3M "$streams"
refused "mpu.window 8 is more than mpu.riq 4" --soc dare --set mpu.window=8 --set mpu.riq=4 "$streams"
refused "llc.reads 4 and llc.writes 1 must not be more than llc.banks 2" --soc dare --set llc.reads=4 --set llc.banks=2 "$streams"
refused "mpu.store_order 1 needs mpu.oldest_first 1" --soc dare --set mpu.store_order=1 --set mpu.oldest_first=0 "$streams"
refused "llc.banks must be 1 to 64, not 0" --soc dare --set llc.banks=0 "$streams"
refused "array.rows must be 1 to 16, not 17" --soc dare --set array.rows=17 "$streams"
refused "there is no section 'rique'" --soc dare --set rique.size=1 "$streams"
refused "--devices 'dare:1': this SoC has no dare; --soc says which it has" --devices dare:1 "$streams"
refused "--devices 'maple:2': this SoC has no maple; --soc says which it has" --soc dare --devices maple:2 "$streams"
refused "--devices 'dare:2': in virtual time there is one dare, and no other number of them" --soc dare --devices dare:2 "$streams"
run one --devices dare:1 "$streams" --kernel spmm --form gsa --block 1 "${input[@]}"
result $? "--devices dare:1 is what the SoC has"
refused "mode must be base, nvr, fre, static or oracle, not 'fast'" --soc dare --mode fast "$streams"
refused "mode nvr is one of DARE's MPU, and this SoC has none" --mode nvr "$streams"

! timeout 20 "$mimic" sim "$streams" --kernel spmm --form gsa --block 1 "${input[@]}" >"$work/output" 2>"$work/errors" &&
	grep -q 'in virtual time there is maple0 and no other' "$work/output" "$work/errors"
result $? "a SoC with MAPLE has no DARE"

# --- results are those of functional mode -----------------------------------------------------

results=$build/tests/sim/dare_results
timeout 60 "$mimic" run --transport embedded "$results" 300 >"$work/functional" 2>"$work/errors"
[ "$(wc -l <"$work/functional")" -eq 300 ] && [ "$(cut -d' ' -f2 "$work/functional" | sort -u | wc -l)" -gt 290 ]
status=$?
for mode in $modes; do
	timeout 60 "$mimic" sim --soc dare --cores 2 --mode "$mode" "$results" 300 >"$work/output" 2>"$work/errors" &&
		cmp "$work/functional" "$work/output" >>"$work/errors" 2>&1 || status=1
done
result $status "SpMM, SDDMM and GEMM of 300 random matrices have the bytes of functional mode, in all modes"

# --- a program that stores to a context's page itself ----------------------------------------

pages=$build/tests/sim/dare_pages
status=0
for arguments in "loads 1 64" "loads 2 64" "loads 10 64" "loads 10 0" product; do
	# shellcheck disable=SC2086
	run "page-${arguments// /-}" --mode base "$pages" $arguments && [ "$(cat "$work/output")" = right ] || status=1
done
result $status "a program that knows no library uses /dev/dare0 by loads and stores of its page"

# An instruction issues in the cycle behind its dispatch, mcfg takes a dispatch; then each load waits for the one before
# it on the register: 20 cycles of a hit, 90 more of memory. Three stores an instruction, and FENCE.
core='lambda name: r[name]["phases"][0]["cores"][0]'
holds "cycles('page-loads-1-64') == 2 + 110" "cycles('page-loads-2-64') == 2 + 2 * 110" \
	"cycles('page-loads-10-64') == 2 + 10 * 110" "cycles('page-loads-10-0') == 2 + 110 + 9 * 20" \
	"d('page-loads-10-64')['mcfg'] == 1 and d('page-loads-10-64')['mld'] == 10" \
	"($core)('page-loads-10-64')['mmio_stores'] == 33" "($core)('page-loads-10-64')['mmio_loads'] == 1"
result $? "its loads take the cycles that were counted by hand, and its accesses are counted"

# 32 rows of two tiles, a line of memory in two cycles: the last in 1 + 31 * 2 + 110. An mma of 16 x 16 x 16 takes
# 16 + 16 + 16 - 2 + 16; the last of 16 rows is sent 15 cycles later, and in the LLC 20 behind that.
holds "cycles('page-product') == 1 + 31 * 2 + 110 + 62 + 15 + 20" "d('page-product')['mma'] == 1" \
	"t('page-product')['rows_demanded'] == 32" "t('page-product')['rows_stored'] == 16"
result $? "a product of two tiles by plain stores takes the cycles that were counted by hand"

run spin --cores 4 "$pages" spin && [ "$(cat "$work/output")" = right ] && cp "$work/spin.json" "$work/first_spin.json" &&
	run spin --cores 4 "$pages" spin && cmp "$work/first_spin.json" "$work/spin.json" >>"$work/errors"
result $? "threads that look at a register until another one is done end, in the same cycle in each run"

run flag --cores 2 "$pages" flag && [ "$(cat "$work/output")" = right ] && cp "$work/flag.json" "$work/first_flag.json" &&
	run flag --cores 2 "$pages" flag && cmp "$work/first_flag.json" "$work/flag.json" >>"$work/errors"
result $? "a thread that looks at memory until another one is done ends, in the same cycle in each run"

status=0
for mode in $modes; do
	run chain --mode "$mode" "$pages" chain && [ "$(cat "$work/output")" = right ] || status=1
done
result $status "gathers whose addresses lead back to themselves end, in all modes"

status=0
for case in address aligned word csr gather; do
	timeout 20 "$mimic" run --transport embedded "$pages" fault $case >"$work/functional" 2>"$work/errors" &&
		grep -q "^$case: status 0x[0-9a-f]*2 error [1-9]" "$work/functional" &&
		timeout 20 "$mimic" sim --soc dare "$pages" fault $case >"$work/output" 2>"$work/errors" &&
		cmp "$work/functional" "$work/output" >>"$work/errors" 2>&1 || status=1
done
result $status "an instruction that fails has the error of functional mode"

# The fields of the device beside those of docs/sim-json.md
python3 - "$work/first.json" >>"$work/errors" 2>&1 <<'EOF'
import json, re, sys
phase = json.load(open(sys.argv[1]))["phases"][0]
found = {"phases[].%s" % part for part in ("dare", "dare_time")} | {
    "phases[].%s.%s" % (part, name) for part in ("dare", "dare_time") for name in phase[part]}
page = open("docs/sim-json.md").read().split("<!-- fields of dare -->")[1].split("<!-- end of dare -->")[0]
rows = set(re.findall(r"^\| `([^`]*)` \| [^|]+ \| [^|]+ \|$", page, re.M))
# The model's own counters are in the page that is made from their list.
counters = open("docs/dare-registers.md").read().split("\n## Counters of a context\n")[1].split("\n## ")[0]
rows |= {"phases[].dare." + name for name in re.findall(r"^\| 0x[0-9a-f]+ \| ([a-z0-9_]+) \|", counters, re.M)}
if found != rows:
    sys.exit("differ: %s" % sorted(found ^ rows))
EOF
result $? "docs/sim-json.md has the fields of DARE, with a unit each"

plan
