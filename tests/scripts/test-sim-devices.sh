#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sim: a program with several devices.
#
#   test-sim-devices.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
program=$build/tests/sim/devices
unset MIMIC_SIM

# run NAME ARGUMENTS...: the report in $work/NAME.json
run()
{
	local name=$1

	shift
	{ timeout -k 5 60 "$mimic" sim --json -o "$work/$name.json" "$@" >"$work/output" 2>"$work/errors"; } 2>/dev/null
}

# found EXPRESSION...: each holds, of the reports, by their names; run(report) is the whole run, device(run, N) the device N in it
found()
{
	python3 - "$work" "$@" 2>>"$work/errors" <<'END'
import glob, json, os, sys
def run(report):
    return report["phases"][0]
def device(part, number):
    return [d for d in part.get("devices", []) if d["name"] == "maple%d" % number][0]
names = {os.path.basename(f)[:-5]: json.load(open(f)) for f in glob.glob(sys.argv[1] + "/*.json")}
for expression in sys.argv[2:]:
    if not eval(expression, dict(names, run=run, device=device)):
        sys.exit("not " + expression)
END
}

says() { [ "$(cat "$work/output")" = "$1" ]; }

# --- streams that are as slow as the device --------------------------------------------------
#
# It issues a load of a pointer each 100 cycles. A store takes 2 instructions before it and a round trip of 26, so the
# first of a stream ends after 28 cycles, and each one behind it 100 later: 16 of them take 28 + 15 * 100, 24 take 28 + 23 * 100.
# Two streams of 16 through one device take turns: the second one ends with the 32nd load, after 28 + 31 * 100.
slow=(--cores 8 --set core.translation=0 --set maple.translation=0 --set maple.pointer_interval=100)

run alone "${slow[@]}" "$program" streams 0:16 && says 1528
result $? "a stream of 16 pointers to a device that issues one in 100 cycles"

run shared "${slow[@]}" "$program" streams 0:16 0:16 && says "3028 3128"
result $? "two streams through one device: it takes them in turn, and each takes twice as long"

run two "${slow[@]}" --devices maple:2 "$program" streams 0:16 1:16 && says "1528 1528"
result $? "two streams through two devices: each takes as long as alone"

run eight "${slow[@]}" --devices maple:8 "$program" streams {0..7}:16 && says "1528 1528 1528 1528 1528 1528 1528 1528"
result $? "eight through eight"

run uneven "${slow[@]}" --devices maple:64 "$program" streams 63:24 5:16 && says "2328 1528"
result $? "any two of 64"

# --- the counters --------------------------------------------------------------------------------

found '[d["name"] for d in run(uneven)["devices"]] == ["maple5", "maple63"]' \
	'all(device(run(uneven), 5)["maple"][n] == 16 for n in ("produced", "consumed", "fetched"))' \
	'all(device(run(uneven), 63)["maple"][n] == 24 for n in ("produced", "consumed", "fetched"))'
result $? "each device counts its own operations, and those that nobody opened are not there"

found 'all(run(uneven)["maple"][n] == device(run(uneven), 5)["maple"][n] + device(run(uneven), 63)["maple"][n] for n in run(uneven)["maple"])' \
	'run(uneven)["maple"]["produced"] == 40' 'run(uneven)["maple_time"]["cycles"] == sum(d["maple_time"]["cycles"] for d in run(uneven)["devices"])' \
	'device(run(uneven), 5)["maple_time"]["occupancy"][1] > 0' 'device(run(uneven), 5)["maple_time"]["occupancy"][0] == 0' \
	'run(uneven)["maple_time"]["outstanding_most"] == max(d["maple_time"]["outstanding_most"] for d in run(uneven)["devices"])'
result $? "the fields that a report with one device has are their sums, and the highest of what is no sum"

found '"devices" not in run(alone)' 'run(alone)["maple"]["produced"] == 16' 'alone["parameters"]["maple"]["count"] == 1'
result $? "with one device there is no list of devices"

run intervals "${slow[@]}" --devices maple:2 --interval 500 "$program" streams 0:16 1:24 && says "1528 2328" &&
	found 'len(intervals["intervals"]) > 4' \
		'[sum(device(i, n)["maple"]["produced"] for i in intervals["intervals"]) for n in (0, 1)] == [16, 24]' \
		'max(device(i, 1)["maple"]["produced"] for i in intervals["intervals"]) <= 6'
result $? "intervals have what each device did in them"

# A load of a page takes 2 instructions before it and the round trip of 26.
run late --devices maple:2 --set core.pipelined_hits=0 "$program" late 1 && says 280 &&
	found 'late["phases"][1]["cycles"] >= 100000 + 280' 'device(late["phases"][1], 1)["maple_time"]["cycles"] == 280' \
		'device(late["phases"][0], 1)["maple_time"]["cycles"] < 100000'
result $? "a device that a phase opens counts its cycles from there on"

run again "${slow[@]}" --devices maple:64 --randomize "$program" streams 63:24 5:16 && cmp "$work/uneven.json" "$work/again.json" >>"$work/errors" 2>&1
result $? "two runs give the same bytes"

{ timeout -k 5 60 "$mimic" sim "${slow[@]}" --devices maple:2 -o "$work/text" "$program" streams 0:16 1:24 >"$work/output" 2>"$work/errors"; } &&
	sed -n '/^run:/,/^[^ ]/p' "$work/text" | grep -A 1 '^  maple' | tr '\n' ' ' >"$work/output" &&
	grep -q '^  maple0   MAPLE 16 words.*  maple1   MAPLE 24 words' "$work/output"
result $? "the text says which device did what"

run few "${slow[@]}" --devices maple:2 "$program" streams 0:16 1:16 && run many "${slow[@]}" --devices maple:2 "$program" streams 0:16 1:24 &&
	"$mimic" compare "$work/few.json" "$work/many.json" --phase run >"$work/output" 2>"$work/errors" &&
	grep -qE '^  maple1\.produced +16 +24 ' "$work/output" && ! grep -q '^  maple0\.produced' "$work/output" &&
	grep -qE '^  maple\.produced +32 +40 ' "$work/output"
result $? "mimic compare: the counters of each device"

run alone "${slow[@]}" --devices maple:2 --trace "$work/trace.json" "$program" streams 0:16 1:24 && python3 - "$work/trace.json" >"$work/output" 2>>"$work/errors" <<'END'
import json, sys
trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
produced = [names[e["pid"]] for e in events if e["name"] == "produce"]
print(names, produced)
assert (produced.count("maple0"), produced.count("maple1")) == (16, 24)
END
result $? "a trace: what each device did is in tracks of its own"

# --- ways to them ------------------------------------------------------------------------------------

run pages --devices maple:3 "$program" pages 3 && says right && run physical --devices maple:3 "$program" physical 3 && says right &&
	found '[d["maple"]["consumed"] for d in run(pages)["devices"]] == [3, 4, 5]' \
		'[d["maple"]["consumed"] for d in run(physical)["devices"]] == [3, 4, 5]'
result $? "by the pages of their nodes, and by the physical addresses of as many tiles"

timeout -k 5 60 "$mimic" run --transport embedded --devices maple:3 "$program" pages 3 >"$work/output" 2>&1 && says right
result $? "the same program runs under mimic run"

absent=(maple2 maple63 maple64 maple01 maplex maple1x)
timeout -k 5 60 "$mimic" run --transport embedded --devices maple:2 "$program" absent "${absent[@]}" >"$work/run" 2>"$work/errors" &&
	run absent --devices maple:2 "$program" absent "${absent[@]}" && cmp "$work/run" "$work/output" >>"$work/errors" &&
	grep -qx 'maple2: 19, 2' "$work/output" && grep -qx 'maple01: 2, 2' "$work/output"
result $? "what is not there has the errors of mimic run: ENODEV, a name that is none ENOENT, and its node ENOENT"

run past --devices maple:2 "$program" physical 3
[ $? = 135 ] && [ "$(grep -c "device 'maple@2': in virtual time there are 2; --devices maple:N makes it N; access to 0x" "$work/errors")" = 1 ]
result $? "an access to the physical address of a tile that is not there is told once, and ends the program by SIGBUS"

run stuck --devices maple:2 "$program" stuck 1
[ $? = 2 ] && grep -qF "waits for the device's answer to a load of MAPLE CONSUME [0] of maple1" "$work/errors"
result $? "a consumer that nobody produces for is named with its device"

printf '[maple]\ncount = 2\n' >"$work/two.ini"
run file "${slow[@]}" --soc "$work/two.ini" "$program" streams 0:16 1:16 && says "1528 1528" &&
	run key "${slow[@]}" --set maple.count=2 "$program" streams 0:16 1:16 && says "1528 1528"
result $? "how many there are is a key of the file, too, and of --set"

refused "maple.count must be 1 to 64, not 65" wrong --devices maple:65 "$program" stuck 1 &&
	refused "maple.count must be 1 to 64, not 0" wrong --devices maple:0 "$program" stuck 1 &&
	refused "--devices 'virgo:1': this SoC has no virgo; --soc says which it has" wrong --devices virgo:1 "$program" stuck 1 &&
	refused "'core:3' is not KIND:COUNT" wrong --devices maple:2,core:3 "$program" stuck 1 &&
	refused "'maple' is not KIND:COUNT" wrong --devices maple "$program" stuck 1
result $? "numbers and kinds that cannot be"

plan
