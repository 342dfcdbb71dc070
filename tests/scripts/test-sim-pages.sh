#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sim: a program that uses a device by loads and stores of its pages, as under mimic run.
#
#   test-sim-pages.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
program=$build/tests/sim/pages
unset MIMIC_SIM

# run NAME ARGUMENTS...: the report in $work/NAME.json
run()
{
	local name=$1

	shift
	{ timeout -k 5 60 "$mimic" sim --json -o "$work/$name.json" "$@" >"$work/output" 2>"$work/errors"; } 2>/dev/null &&
		[ "$(cat "$work/output")" = right ]
}

# found EXPRESSION...: each holds, of the phases "run" of the reports, by their names
found()
{
	python3 - "$work" "$@" 2>>"$work/errors" <<'EOF'
import glob, json, os, sys
runs = {os.path.basename(f)[:-5]: json.load(open(f))["phases"][0] for f in glob.glob(sys.argv[1] + "/*.json")}
for expression in sys.argv[2:]:
    if not eval(expression, runs):
        sys.exit("not " + expression)
EOF
}

run node "$program"
result $? "loads and stores of a page of /dev/maple0 reach the device, while another thread waits in one"

run physical "$program" physical
result $? "loads and stores of a physical address reach the device"

run node_again "$program" && cmp -s "$work/node.json" "$work/node_again.json"
result $? "two runs give the same bytes"

# reset, init, open, 100 loads, the base and 256 pointers; open and 256 words
found 'node["cores"][0]["mmio_loads"] == 3 + 100' 'node["cores"][0]["mmio_stores"] == 1 + 256' \
	'node["cores"][1]["mmio_loads"] == 1 + 256' 'node["cores"][1]["mmio_stores"] == 0'
result $? "each load and store of a page is one operation of its core"

for how in node_first physical_first; do
	run $how "$program" $how && found "${how}['cores'][0]['mmio_stores'] == 1 + 256" "${how}['cores'][1]['mmio_loads'] == 1 + 256"
	result $? "a node and the physical addresses of its tile are one device ($how)"
done

run slow --set maple.round_trip=126 "$program" round_trips && run fast --set maple.round_trip=26 "$program" round_trips &&
	found 'slow["cycles"] - fast["cycles"] == (3 + 100) * 100' \
		'slow["cores"][0]["l1_misses"] == fast["cores"][0]["l1_misses"]'
result $? "a load of a page takes a round trip more if the round trip is longer, and no cache's time"

run forks "$program" forks && found 'forks["cores"][0]["mmio_loads"] == node["cores"][0]["mmio_loads"]'
result $? "a child of fork() has a device as under mimic run, and what it does is not counted"

timeout -k 5 60 "$mimic" run --transport embedded "$program" >"$work/output" 2>&1 && [ "$(cat "$work/output")" = right ]
result $? "the same program runs under mimic run"

plan
