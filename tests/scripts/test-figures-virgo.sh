#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# make figures-virgo on tiny products: rows, null models, error bars, plots. test_figures_virgo
# checks how rows and gates are computed; make figures-virgo itself checks the gates on the real sizes.
# Usage: test-figures-virgo.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

figures=$build/bench/figures/virgo/figures
tables=$work/tables
mkdir "$tables"
cp bench/figures/virgo_*.csv "$tables"
grep -E '^(name|256 .*|512 .*-dma|two (parallel|large|small)|swish 40 .*|dim 4 tc|again tc),' bench/figures/virgo_points.csv |
	sed 's/--size [0-9x]*/--size 64x64x128/' >"$tables/virgo_points.csv"
cat >"$tables/virgo_null_models.csv" <<'MODELS'
name,settings,moves,gate,points,how
no double buffer,kernel.double_buffer=0,tc-dma virgo-dma,yes,nulls,
nothing is missing,,,,nulls large-virgo-dma,
MODELS
cat >"$tables/virgo_nulls.csv" <<'NULLS'
id,part,where,null,why
V04,double buffering,4.3.2,no double buffer,
V12,none,,nothing is missing,
NULLS
cat >"$tables/virgo_error_bars.csv" <<'BARS'
id,mimic,lowest,lowest with,highest,highest with
V02,2.000,1.500,,5.000,
V18,20.000,-8.000,,60.000,
BARS

run() # run OUTPUT ARGUMENTS...
{
	timeout -k 2 120 "$figures" --build "$build" --tables "$tables" --output "$work/$1" "${@:2}" >"$work/output" 2>"$work/errors"
}

column() # column FILE ROW NAME: a row's value, by its first field, in that column; commas in quotes are text
{
	sed ':again; s/^\(\([^"]*"[^"]*"\)*[^"]*"[^",]*\),/\1;/; t again' "$1" | awk -F, -v row="$2" -v name="$3" '
		/^#/ { next }
		!column { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		$1 == row && column { print $column }'
}

place() # place POINT: its report, found by its place in the table
{
	printf '%s/first/points/virgo-%02d.json' "$work" "$(grep -v '^#' "$tables/virgo_points.csv" | awk -F, -v name="$1" '$1 == name { print NR - 2 }')"
}

run first --jobs 2
status=$?
table=$work/first/table.csv
[ $status = 1 ] && [ "$(grep -cE '^V[0-9]{2} ' "$work/output")" = 24 ] && [ "$(column "$table" V05 verdict)" = 'no data' ]
result $? "the table has the 24 rows of the paper, and gates without points end it with status 1"
[ "$(sed '1,/^Orderings/d' "$work/output" | grep -cE '^(yes|NO) ')" = 10 ] && grep -qE '^NO .*Virgo with DMA > TC' "$work/output"
result $? "ten gates are checked, each with what was seen"
grep -q "\"kernel_cycles\": *$(column "$table" V01 mimic | sed 's/\.000$//')," "$(place '256 tc')"
result $? "a row of Table 2 is the cycles of its kernel"
tensor=$(place '256 tc-dma') virgo=$(place '256 virgo-dma')
python3 - "$(column "$table" V19 mimic)" "$virgo" "$tensor" <<'PYTHON'
import json, sys
def energy(path):
    counted = json.load(open(path))["phases"][-1]["virgo_time"]
    return sum(value for key, value in counted.items() if key.startswith("energy_") and key != "energy_threads")
sys.exit(abs(float(sys.argv[1]) - 100 * (1 - energy(sys.argv[2]) / energy(sys.argv[3]))) > .001)
PYTHON
result $? "energy is that of all parts of the cluster, of Virgo by that of TC, both with DMA"
[ "$(column "$table" V17 mimic)" != "$(column "$table" V17 fitted)" ] && grep -qE '^V17 .*joule.core_factor is fitted to it' "$work/output" &&
	grep -q 'bus.latency=60 joule.core_factor=' "$work/output"
result $? "what is fitted stands beside what is not, and is named"
[ "$(column "$work/first/nulls.csv" V12 value)" = "$(column "$table" V12 mimic)" ] && [ "$(column "$table" V04 'null model')" = 'no double buffer' ] &&
	[ "$(column "$table" V04 'of the null model')" != "$(column "$table" V04 mimic)" ]
result $? "each row has its null model, and one in which nothing differs has the model's value"
grep -qE '^V02 .* -25% \+150% ' "$work/output" && grep -qE '^V18 .* -140% \+200% ' "$work/output"
result $? "the error bar that is checked in stands beside a row's value"
[ "$(find "$work/first" -name '*.svg' | wc -l)" = 5 ] && ! find "$work/first" -name '*.svg' -size -1k | grep -q . &&
	[ "$(column "$work/first/table2.csv" 256x256x256 'TC (paper)')" = 36.1000 ]
result $? "Table 2, energy and the what-ifs have plots"
for csv in "$work"/first/{table2,energy,whatif,swish,units}.csv; do
	awk -F, 'NR == 1 { n = NF } NF != n { print FILENAME ": " $0 }' "$csv"
done >"$work/widths"
[ ! -s "$work/widths" ]
result $? "each line of a plot's CSV has as many fields as its head"

run second --jobs 1
diff <(cd "$work/first" && cat -- *.csv points/*.json) <(cd "$work/second" && cat -- *.csv points/*.json) >"$work/output"
result $? "two runs give the same bytes"

cat >"$tables/virgo_ranges.csv" <<'RANGES'
parameter,low,high,why
bus.latency,bus.latency=30,bus.latency=110,
bus.interval,,bus.interval=2,
RANGES
run ranges --ranges --commit 0123456
status=$?
bars=$work/ranges/error_bars.csv
[ $status = 0 ] && grep -q '^# .* commit 0123456\.$' "$bars" && [ "$(column "$bars" V04 mimic)" = "$(column "$table" V04 mimic)" ] &&
	[ "$(column "$bars" V04 'highest with')" = bus.latency=110 ] && [ "$(column "$bars" V03 'highest with')" = bus.interval=2 ] &&
	[ "$(column "$work/ranges/ends.csv" bus.interval=2 V03)" = "$(column "$bars" V03 highest)" ]
result $? "ranges give each row's lowest and highest value, what makes them, and what they are of"
sed -n '/^<!-- made/,/^<!-- end/s/^| \([a-z0-9]*\.[a-z_]*\) |.*assumption.*/\1/p' docs/timing-soc.md |
	grep -E '^(cluster|simt|tensor|lsu|shared|dcache|bus|dma|matrix|kernel|joule)\.' | sort >"$work/assumptions"
{ grep -v '^#' bench/figures/virgo_ranges.csv | cut -d, -f 1; echo kernel.swish; } | sort -u | comm -23 "$work/assumptions" - >"$work/output"
[ "$(wc -l <"$work/assumptions")" -gt 10 ] && [ ! -s "$work/output" ]
result $? "each parameter that is an assumption has a range"
grep -v '^#' bench/figures/virgo_null_models.csv | cut -d, -f 1 | sort >"$work/models"
grep -v '^#' bench/figures/virgo_nulls.csv | tail -n +2 | cut -d, -f 4 | sort -u | comm -23 - "$work/models" >"$work/output"
[ ! -s "$work/output" ]
result $? "null models that rows have are there"

sed -i 's/4.3.2,no double buffer/4.3.2,no such model/' "$tables/virgo_nulls.csv"
run unknown
[ $? = 1 ] && grep -q "virgo_nulls.csv: V04: virgo_null_models.csv has no 'no such model'" "$work/errors"
result $? "a null model that is not there is told by name"
cp bench/figures/virgo_nulls.csv bench/figures/virgo_null_models.csv "$tables"
sed -i 's/^256 tc-dma,tc-dma,,/256 tc-dma,tc-dma,shared.banks=3,/' "$tables/virgo_points.csv"
run wrong --ranges
[ $? = 1 ] && grep -q 'shared.banks' "$work/errors" && grep -q 'points failed' "$work/errors"
result $? "a point that fails is told, with what it said"

plan
