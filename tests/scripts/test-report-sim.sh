#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic report of runs in virtual time: the JSON of mimic sim, the CSV of mimic sweep. Usage: test-report-sim.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

mimic=$build/bin/mimic

run() # run ARGUMENTS...
{
	timeout -k 2 60 "$mimic" report "$@" >"$work/output" 2>"$work/errors"
}

cat >"$work/page.py" <<'PYTHON'
# page.py PAGE: its rows of numbers as "phase|run|cycles|causes...", and the parts of each bar in percent of its axis
import html.parser, sys
class Page(html.parser.HTMLParser):
	def __init__(self):
		super().__init__()
		self.stack, self.text, self.phase, self.row, self.bars = [], "", "", [], []
	def handle_starttag(self, tag, attributes):
		if tag == "meta":
			return
		self.stack.append(tag)
		self.text = ""
		if tag == "tr":
			self.row = []
		if tag == "rect" and "y" in dict(attributes):
			values = dict(attributes)
			self.bars.append((float(values["y"]), float(values["x"][:-1]), float(values["width"][:-1])))
	def handle_endtag(self, tag):
		assert self.stack.pop() == tag, tag
		if tag == "h3":
			self.phase = self.text
		if tag in ("th", "td"):
			self.row.append(self.text.replace("\u202f", "").replace("\u2009", ""))
		if tag == "tr" and "cycles" not in self.row:
			print("|".join([self.phase] + self.row))
	def handle_data(self, data):
		self.text += data
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
assert not page.stack
# The parts of a bar stand one behind the other.
for one, other in zip(page.bars, page.bars[1:]):
	if one[0] == other[0] and other[1] != 0:
		assert abs(one[1] + one[2] - other[1]) < 0.002, (one, other)
assert page.bars
PYTHON

shows() # shows PAGE: the rows are in $work/rows
{
	python3 "$work/page.py" "$1" >"$work/rows" 2>>"$work/errors"
}

# 1024 words, 64 lines: 3 instructions of each word's 4 cycles, 331 more for the first of a line (test-sim.sh counts them).
"$mimic" sim --soc maple-sim --set core.translation=0 --json -o "$work/run.json" "$build/tests/sim/warm" phases 2>"$work/errors" &&
	run "$work/run.json" && shows "$work/run.html" &&
	grep -qx "three|three|33408|9216|$((64 * 331 + 960 + 2 * 1024))|0|0|0|0|0" "$work/rows" &&
	grep -qx "one|one|4096|3072|1024|0|0|0|0|0" "$work/rows" && [ "$(wc -l <"$work/rows")" = 3 ]
result $? "a report of mimic sim: the causes of each phase's cycles, beside their bars"
! grep -Eq 'https?:|url\(|@import|<link|<img|<iframe| src=| style=' "$work/run.html"
result $? "the page refers to nothing outside"

"$mimic" sim --soc maple-sim --set core.translation=0 --warm 1 --json -o "$work/warm.json" "$build/tests/sim/warm" phases 2>"$work/errors" &&
	run "$work/warm.json" && shows "$work/warm.html" && ! grep -q '^one' "$work/rows" && grep -q '^three|three|8192' "$work/rows"
result $? "a phase that only warmed up is left out"

"$mimic" sweep --soc maple-sim --set core.translation=0 --set l1.size=1K,16K --set l2.size=64K,2K -o "$work/sweep.csv" "$build/tests/sim/warm" phases 2>"$work/errors"
run "$work/sweep.csv" && shows "$work/sweep.html" &&
	grep -q '^three|soc=maple-sim core.translation=0 l1.size=1K l2.size=64K|37248|' "$work/rows" &&
	grep -q '^three|soc=maple-sim core.translation=0 l1.size=16K l2.size=64K|33408|' "$work/rows" && ! grep -q 'l1.size=16K l2.size=2K' "$work/rows" &&
	grep -q '1 points failed' "$work/sweep.html"
result $? "a sweep: a bar for each point, and how many failed"

# In the first time of "three" a line of 64 bytes takes 334 + 15 * 4 cycles, 331 + 15 of them stalls, in the other two a word 4, one a stall.
"$mimic" sim --soc maple-sim --set core.translation=0 --interval 1000 --json -o "$work/over.json" "$build/tests/sim/warm" phases 2>"$work/errors" &&
	run "$work/over.json" && shows "$work/over.html" && grep -q 'time (cycles)' "$work/over.html" && python3 - "$work/over.html" >"$work/output" 2>>"$work/errors" <<'EOF'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read().split("Over the run")[1].split("</section>")[0]
# The picture is 1000 wide and 140 high.
paths = re.findall(r'<path class="line c(\d)" d="([^"]+)"><title>', page)
lines = {int(number): re.findall(r"[ML]([0-9.]+) ([0-9.]+)L([0-9.]+) \2(?![0-9.])", path) for number, path in paths}
print(lines)
def share(line, place):
    return [100 * (140 - float(y)) / 140 for begin, y, end in lines[line] if float(begin) <= place < float(end)][0]
# One cold time at 30 % of the run, and hits at 95 %: lines of other causes have nothing and are left out.
assert sorted(lines) == [0, 1]
assert abs(share(1, 300) - 100 * 346 / 394) < 3 and abs(share(0, 300) - 100 * 48 / 394) < 3
assert abs(share(0, 950) - 75) < 1 and abs(share(1, 950) - 25) < 1
EOF
result $? "a run with intervals: the shares of the causes over the cycles"
! grep -q 'Over the run' "$work/run.html"
result $? "one without has no such plot"

# --- branches, devices --------------------------------------------------------------------------------

# Pipelines of maple-fpga wait for branches; sim-json.md says that all cycles of a core have one cause.
loops=("$build/sim/examples/maple/loops" --kernel spmv --form decoupled --uniform 64x4096x8)
"$mimic" sim --json -o "$work/fpga.json" "${loops[@]}" >/dev/null 2>"$work/errors" && run "$work/fpga.json" && shows "$work/fpga.html" &&
	stalls=$(python3 -c 'import json, sys; print(sum(c["pipeline_stalls"] for c in json.load(open(sys.argv[1]))["phases"][-1]["cores"]))' "$work/fpga.json") &&
	[ "$stalls" -gt 0 ] && [ "$(awk -F'|' '$1 == "decoupled" && NF == 10 && $3 > 0 { print $9; exit }' "$work/rows")" = "$stalls" ]
result $? "branches and multiplications are a cause of cycles"

# devices REPORT KIND: "run|device|name=value|..." of the page's tables of a kind, checked against a report of mimic sim
devices()
{
	python3 - "$1" "$2" <<'EOF'
import html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
for table in re.findall(r'aria-label="Devices: %s">(.*?)</table>' % sys.argv[2], page, re.S):
    rows = [[html.unescape(re.sub("[\u2009\u202f]", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", table)]
    for row in rows[1:]:
        print("|".join(row[:2] + ["%s=%s" % pair for pair in zip(rows[0][2:], row[2:])]))
EOF
}
# in_report REPORT PAGE KIND: each number of the page is that of the report
in_report()
{
	devices "$2" "$3" >"$work/devices" && [ -s "$work/devices" ] && python3 - "$1" "$work/devices" "$3" <<'EOF'
import json, sys
phases = {phase["name"]: phase for phase in json.load(open(sys.argv[1]))["phases"]}
kind = sys.argv[3]
for line in open(sys.argv[2]):
    phase, device, *values = line.strip().split("|")
    here = {d["name"]: d for d in phases[phase].get("devices", [])}.get(device, phases[phase])
    assert values and all(value for value in values)
    for value in values:
        name, number = value.split("=")
        there = here[kind].get(name, here[kind + "_time"].get(name)) if name != "rows_stored" else None
        if there is not None:
            assert int(number) == (sum(there) if isinstance(there, list) else there), (device, name)
EOF
}
in_report "$work/fpga.json" "$work/fpga.html" maple >"$work/output" 2>&1 && grep -q '^decoupled|maple0|produced=[1-9]' "$work/devices" &&
	grep -q '|occupancy=[1-9]' "$work/devices"
result $? "what MAPLE counted is in a table"
"$mimic" sim --devices maple:2 --json -o "$work/two.json" "$build/tests/sim/devices" streams 0:16 1:24 >/dev/null 2>"$work/errors" &&
	run "$work/two.json" && in_report "$work/two.json" "$work/two.html" maple >"$work/output" 2>&1 &&
	grep -q '|maple0|produced=' "$work/devices" && grep -q '|maple1|produced=' "$work/devices"
result $? "two MAPLEs have a line each"
# has_mean NAME: the plot says how much it was in a cycle
has_mean()
{
	local mean
	mean=$(python3 -c 'import json, sys; p = json.load(open(sys.argv[1]))["phases"][0]; print("%.2f" % (p["dare_time"][sys.argv[2]] / p["cycles"]))' \
		"$work/dare.json" "$1")
	grep -q "<b>$1</b> <span>$mean in the mean</span>" "$work/dare.html"
}
dare=("$build/sim/examples/dare/streams" --kernel sddmm --form plain --block 1 --width 16 --uniform 48x10)
"$mimic" sim --soc dare --interval 500 --json -o "$work/dare.json" "${dare[@]}" >/dev/null 2>"$work/errors" && run "$work/dare.json" &&
	shows "$work/dare.html" && in_report "$work/dare.json" "$work/dare.html" dare >"$work/output" 2>&1 &&
	grep -q '^plain-1|dare0|.*|mma=[1-9].*|energy_reads=[1-9]' "$work/devices" && ! grep -q 'mgather' "$work/devices" &&
	grep -qE '^plain-1\|plain-1\|[1-9][0-9]*\|0\|' "$work/rows" && grep -q '<b>dare: threshold</b>' "$work/dare.html" && has_mean rows_demanded && has_mean riq
result $? "what DARE counted is in a table, and its queues and threshold are over the cycles"
"$mimic" sweep --soc dare --mode base,fre -o "$work/modes.csv" "${dare[@]}" 2>"$work/errors" && run "$work/modes.csv" && shows "$work/modes.html" &&
	grep -qE '^plain-1\|soc=dare mode=base\|[1-9][0-9]*\|0\|' "$work/rows" &&
	devices "$work/modes.html" dare >"$work/devices" && grep -q '^soc=dare mode=base|dare|.*|rows_prefetched=0|' "$work/devices" &&
	grep -q '^soc=dare mode=fre|dare|.*|rows_prefetched=[1-9]' "$work/devices"
result $? "a sweep over modes of DARE has a line for each"

sed 's/"name":"one"/"name":"<b>\&amp;"/' "$work/run.json" >"$work/evil.json" && run "$work/evil.json" &&
	! grep -q '<b>&amp;' "$work/evil.html" && grep -q '&lt;b&gt;&amp;amp;' "$work/evil.html" && shows "$work/evil.html"
result $? "names are shown as texts"

sed 's/"schema":1/"schema":2/' "$work/run.json" >"$work/schema.json"
refused "schema.json: a report of mimic sim of another schema than 1" "$work/schema.json" &&
	sed '2s/,ok,three,/,ok,/; 3s/,\(ok,[a-z]*\),[0-9]*,/,\1,x,/' "$work/sweep.csv" >"$work/wrong.csv" &&
	refused "wrong.csv:3: a value that must be a whole number is none" "$work/wrong.csv" &&
	cut -d, -f1-8 "$work/sweep.csv" >"$work/short.csv" &&
	refused "short.csv:1: a CSV that lacks columns of mimic sweep" "$work/short.csv" &&
	sed '2s/,[0-9]*$//' "$work/sweep.csv" >"$work/few.csv" &&
	refused "few.csv:2: a line with too few or too many values" "$work/few.csv" &&
	head -n 1 "$work/sweep.csv" >"$work/empty.csv" && refused "empty.csv: there is nothing to show" "$work/empty.csv"
result $? "another schema, and lines that are wrong, are told"

plan
