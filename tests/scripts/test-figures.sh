#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# make figures on small inputs: the table, the plots, the messages. The real inputs take a
# minute, and their orderings are gates of make figures itself. Usage: test-figures.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

figures=$build/bench/figures/figures
tables=$work/tables
mkdir "$tables"
cp bench/figures/*.csv "$tables"
cat >"$tables/datasets.csv" <<'SETS'
kernel,name,arguments,means,nulls
spmv,uniform,--uniform 128x16384x8 --seed 1,yes,yes
spmv,not here,nobody.mtx
spmm,uniform,--uniform 32x32x4 --seed 1,yes,yes
sdhp,kronecker,--kronecker 8x4 --seed 1,yes,yes
bfs,kronecker,--kronecker 9x4 --seed 1,yes,yes
bfs,another,--kronecker 8x4 --seed 1,no
SETS
cat >"$tables/null_models.csv" <<'MODELS'
name,settings,form,how
no LIMA,,lima=doall,
zero-cost instructions,core.instruction=0,,
nothing is missing,,,
MODELS
cat >"$tables/error_bars.csv" <<'BARS'
id,mimic,lowest,lowest with,highest,highest with
M03,2.000,1.500,,5.000,
BARS
cat >"$tables/nulls.csv" <<'NULLS'
id,part,where,null,why
M03,LIMA,5.1,no LIMA,
M06,instructions,5.1,zero-cost instructions,
M15,none,5.3,nothing is missing,
NULLS

# fields FILE: a CSV with tabs between its fields. Those in quotes may have commas; comment lines are left out.
fields()
{
	awk '/^#/ { next }
		{
			line = ""
			quoted = 0
			for (i = 1; i <= length($0); i++) {
				c = substr($0, i, 1)
				if (c == "\"")
					quoted = !quoted
				else
					line = line (c == "," && !quoted ? "\t" : c)
			}
			print line
		}' "$1"
}

# column FILE ROW NAME: the value of a row, by its first field, in the column of that name
column()
{
	fields "$1" | awk -F'\t' -v row="$2" -v name="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		$1 == row && column { print $column }'
}

run() # run OUTPUT ARGUMENTS...
{
	timeout -k 2 60 "$figures" --build "$build" --tables "$tables" --output "$work/$1" --data "$work" "${@:2}" \
		>"$work/output" 2>"$work/errors"
}

run first --jobs 2
status=$?
[ $status -le 1 ] && [ "$(grep -cE '^M[0-9]{2} ' "$work/output")" = 18 ]
result $? "the table has the 18 rows of the paper"
grep -qE '^figures: [0-9]+ points, 2 at a time; takes about [0-9]+ seconds' "$work/errors"
result $? "it says before how many points there are and how long they take"
"$build/bin/mimic" sim --soc maple-sim --cores 2 --json --output "$work/direct" -- "$build/sim/examples/maple/loops" \
	--kernel bfs --form decoupled --threads 2 --kronecker 9x4 --seed 1 >/dev/null 2>&1
point=$(awk -F, '$1 == "bfs" && $2 == "kronecker" && $3 == "S maple 2" { print $NF }' "$work/first/points.csv")
[ -n "$point" ] && cmp "$work/direct" "$work/first/$point" >/dev/null && [ ! -e "$work/first/inputs" ]
result $? "a generated input is made before the points, which are as if they had made it, and is removed behind them"
grep -q 'nobody.mtx: left out' "$work/errors"
result $? "a file that is not there is left out and told"
gates() # of the last run, without null models
{
	sed '/^Null models, each/,$d' "$work/output" | grep -E '^(yes|NO) '
}
[ "$(gates | wc -l)" = 11 ]
result $? "eleven orderings and shapes are checked"
[ $status = 1 ] && [ "$(grep -cE '^NO   (no LIMA|zero-cost|nothing)' "$work/output")" = 1 ] &&
	grep -q '^NO   nothing is missing: it passes all that the model passes' "$work/output"
result $? "a null model that passes every ordering is told by its name, and the exit status is 1"
grep -q '^yes  no LIMA: a gate is closed to it:' "$work/output" && grep -A 9 '^yes  no LIMA' "$work/output" |
	grep -qE '^       SPMV: LIMA > no prefetching > software prefetching \(1.00 times'
result $? "a null model that fails an ordering is told with what it fails"
sed -n '/^Consistent:/,/^$/p' "$work/output" | grep -qE '^M15 .* consistent' &&
	[ "$(grep -cE '^M15 ' "$work/output")" = 1 ] && ! sed -n '/^Consistent:/,/^$/p' "$work/output" | grep -q ' reproduced'
result $? "a row that its null model passes, too, is consistent and stands apart"
table=$work/first/table.csv
[ "$(column "$table" M03 'of the null model')" = 1.000 ] && [ "$(column "$table" M03 'null model')" = 'no LIMA' ]
result $? "the table has each row's null model and its value: without LIMA nothing is gained by it"
grep -qE '^M03 .* -25% \+150% ' "$work/output" && [ "$(column "$table" M03 'lowest by assumptions')" = 0.750 ] &&
	[ "$(column "$table" M03 'highest by assumptions')" = 2.500 ]
result $? "the error bar that is checked in stands beside a row's value"
# Most loads from memory have walked before: 6 cycles where all three reads hit in the L1, 36 where the last one hits in
# the L2, so 332 to 368 cycles in the mean.
grep -qE '^yes .*the L2 takes 1\.23 times as long, DRAM (12\.[89]|13\.[0-9]|14\.[01])\)$' "$work/output"
result $? "loads from the L2 take 32 cycles, from memory 332 and their walks: 1.23 and 12.8 to 14.1 of a round trip's 26"
awk '/^Of 18 rows/ { exit !($4 + $7 + $9 + $12 + $14 == 18) }' "$work/output" && grep -q '^Of 18 rows ' "$work/output"
result $? "it says how many rows have each verdict"
[ "$(find "$work/first" -name '*.svg' | wc -l)" = 8 ] && ! find "$work/first" -name '*.svg' -size -2k | grep -q .
result $? "each figure has a plot"
awk -F, 'NR == 1 { exit !($0 == "kernel,software,MAPLE") }' "$work/first/fig08.csv" &&
	[ "$(cut -d, -f 1 "$work/first/fig08.csv" | tr '\n' ' ')" = "kernel spmv spmm sdhp bfs geomean paper " ]
result $? "a figure's CSV has a line for each kernel, their mean and the paper"
awk -F, 'NR > 1 && NR < 6 { sum += log($3); n++ } $1 == "geomean" { d = $3 - exp(sum / n); exit !(d < .001 && d > -.001) }' \
	"$work/first/fig08.csv"
result $? "the mean is the geometric one of the kernels"
a=$(awk -F, '$1 == "spmv" && $3 == "F doall 2" { print $4 }' "$work/first/points.csv")
b=$(awk -F, '$1 == "spmv" && $3 == "F maple 2" { print $4 }' "$work/first/points.csv")
awk -F, -v a="$a" -v b="$b" '$1 == "spmv" { d = $3 - a / b; exit !(d < .001 && d > -.001) }' "$work/first/fig08.csv"
result $? "a speedup is the quotient of the cycles of two points"
grep -q '^M15 .* 25 *26.000 ' "$work/output"
result $? "the round trip is the paper's 25 cycles and one for the hop"

warm() # warm SPEEDUP COLUMN: 5 cold, 6 warm; of the data set of SPMV
{
	awk -F, -v speedup="$1" -v column="$2" '$1 == "spmv" && $4 == speedup { print $column }' "$work/first/warm.csv"
}
second_time() # second_time FORM: the cycles of a loop on the caches that it has left itself
{
	"$build/bin/mimic" sim --soc maple-fpga --cores 2 --warm 1 "$build/sim/examples/maple/loops" --kernel spmv --form "$1" \
		--threads 1 --times 2 --uniform 128x16384x8 --seed 1 2>&1 | awk -v form="$1:" '$1 == form { print $2 }'
}
awk -v cold="$(warm 'F LIMA / none' 5)" -v sets="$(column "$work/first/datasets.csv" spmv 'F LIMA / none')" \
	-v warm="$(warm 'F LIMA / none' 6)" -v none="$(second_time doall)" -v lima="$(second_time lima)" '
	BEGIN { d = warm - none / lima; exit !(cold == sets && none > 0 && d < .001 && d > -.001) }'
result $? "the speedups of loops that run a second time stand beside those with cold caches"
awk -F, 'NR > 1 { n++ } NR > 1 && ($6 / $5 - 1 > .05 || $6 / $5 - 1 < -.05) { differ++ }
	END { print n, differ }' "$work/first/warm.csv" >"$work/differ"
read -r all differ <"$work/differ"
grep -qx "$differ of $all speedups differ; larger data sets are not run a second time (warm.csv has all that are)." "$work/output" &&
	[ "$differ" -gt 0 ] && [ "$(grep -cE ' cold +[0-9.]+  warm +[0-9.]+$' "$work/output")" = "$differ" ]
result $? "those that differ by more than 5 % are told"

m11() # m11 DATA-SET: of points.csv
{
	awk -F, -v set="$1" '$1 == "bfs" && $2 == set { cycles[$3] = $4 }
		END { print cycles["S doall 2"] / cycles["S maple 2"] }' "$work/first/points.csv"
}
awk -v one="$(m11 kronecker)" -v other="$(m11 another)" -v value="$(column "$table" M11 mimic)" \
	-v of_all="$(column "$table" M11 'of all data sets')" '
	function near(a, b) { return a - b < .002 && b - a < .002 }
	BEGIN { exit !(near(value, one) && near(of_all, sqrt(one * other)) && !near(value, of_all)) }' &&
	grep -q '^another of bfs: run, but in no number above' "$work/output" &&
	grep -q '^With all data sets: .*M11 ' "$work/output" && grep -q '^bfs,another,no,' "$work/first/datasets.csv"
result $? "a data set outside the means is run and reported, and the rows say what they are with it"
grep -q '^bfs,kronecker,S trip 6,' "$work/first/points.csv" && grep -q '^bfs,another,S maple 2,' "$work/first/points.csv" &&
	! grep -qE '^bfs,another,(S trip|F queue)' "$work/first/points.csv" && ! grep -q '^With all data sets: .*M1[678] ' "$work/output"
result $? "a data set outside the means has no points in sweeps, and their rows no value with it"
grep -qx '1 data sets were left out: their files are not there.' "$work/output"
result $? "the table says how many data sets it is not of"

run second --jobs 1
diff <(cd "$work/first" && cat -- *.csv points/*.json) <(cd "$work/second" && cat -- *.csv points/*.json) >"$work/output"
result $? "two runs give the same bytes"

# Ranges: one parameter, which moves one row up and another one down.
cat >"$tables/ranges.csv" <<'RANGES'
parameter,systems,low,high,why
maple.round_trip,S maple 2,,maple.round_trip=200,
desc.latency,S desc,desc.latency=1,desc.latency=40,
RANGES
run ranges --ranges --commit 0123456
status=$?
bars=$work/ranges/error_bars.csv
[ $status = 0 ] && fields "$bars" | awk -F'\t' '
	$1 == "M11" { down = $3 < $2 && $4 == "maple.round_trip=200 on S maple 2" && $5 == $2 && $6 == "" }
	$1 == "M09" { both = $3 < $2 && $5 > $2 && $6 == "desc.latency=40 on S desc" }
	$1 == "M01" { none = $3 == $2 && $5 == $2 }
	END { exit !(down && both && none && NR == 19) }'
result $? "ranges give each row's lowest and highest value, and what makes them"
grep -q '^# .* commit 0123456\.$' "$bars" && grep -q '^# Inputs.*: uniform of spmv, uniform of spmm, kronecker of sdhp, kronecker of bfs\.$' "$bars"
result $? "they say what model and which inputs they are of"
[ "$(fields "$work/ranges/ends.csv" | wc -l)" = 5 ] &&
	[ "$(column "$work/ranges/ends.csv" 'as it is' M11)" = "$(column "$bars" M11 mimic)" ] &&
	[ "$(column "$work/ranges/ends.csv" maple.round_trip=200 M11)" = "$(column "$bars" M11 lowest)" ] &&
	[ "$(column "$work/ranges/ends.csv" desc.latency=40 M09)" = "$(column "$bars" M09 highest)" ]
result $? "all rows at each end of each range are a table"
sed -n '/^<!-- made/,/^<!-- end/s/^| \([a-z0-9]*\.[a-z_]*\) |.*assumption.*/\1/p' docs/timing-soc.md |
	grep -vE '^(array|energy|llc|mpu|rfu)\.' |	# DARE's own parts are in no figure of MAPLE, nor Virgo's
	grep -vE '^(bus|cluster|dcache|dma|joule|kernel|lsu|matrix|shared|simt|tensor)\.' | sort >"$work/assumptions"
awk -F, '!/^#/ { print $1 }' bench/figures/ranges.csv | sort -u | comm -23 "$work/assumptions" - >"$work/output"
[ "$(wc -l <"$work/assumptions")" -gt 10 ] && [ ! -s "$work/output" ]
result $? "each parameter that is an assumption has a range"
python3 tests/scripts/figures-ends.py bench/figures --check >"$work/effects" 2>"$work/output"
result $? "ends.csv has each end of each range, and is of the run that error_bars.csv is of"
sed -n '/^| at this end /,/^$/p' docs/timing-maple.md | sed '1,2d; $d' | diff "$work/effects" - >"$work/output"
[ $? = 0 ] && [ -s "$work/effects" ]
result $? "docs/timing-maple.md has the ends that move rows far, and no others"
sed 's/ *#.*//' bench/figures/error_bars.csv | awk -F, '/^M/ {
	mimic = sprintf("%.2f", $2); low = sprintf("%.2f", $3); high = sprintf("%.2f", $5)
	print "| " $1 " | " mimic " | " low " | " (low == mimic ? "" : $4 " ") "| " high " | " (high == mimic ? "" : $6 " ") "|" }' >"$work/bars"
grep -vxFf docs/timing-maple.md "$work/bars" >"$work/output"
[ -s "$work/bars" ] && [ ! -s "$work/output" ]
result $? "docs/timing-maple.md has the error bars that are checked in"

# Systems that differ from the paper's: all gates must see it, but the one that depends on no
# system. BFS loses anyway on graphs that fit into the L2.
grep '^name,' bench/figures/null_models.csv >"$tables/null_models.csv"
grep '^id,' bench/figures/nulls.csv >"$tables/nulls.csv"
awk -F, -v OFS=, '
	$1 == "F maple 2" || $1 == "S maple 8" { $3 = "maple.round_trip=400" }
	$1 == "F lima 1" { $3 = "maple.round_trip=400 l1.size=64 l1.ways=1 l1.line=8" }
	$1 == "F prefetch 1" { $3 = "core.instruction=0" }
	$1 == "S trip 50" { $3 = "maple.round_trip=3" }
	$1 == "F queue 64" { $3 = "maple.round_trip=10" }
	$1 == "S desc 2" { $3 = "desc.enabled=1 dram.latency=20" }
	{ print }' bench/figures/systems.csv >"$tables/systems.csv"
run bad
[ $? = 1 ] && [ "$(gates | grep -c '^NO ')" = 10 ] && grep -qE '^M16 .* deviates' "$work/output" &&
	grep -qE '^M17 .* (in kind|deviates)' "$work/output"
result $? "systems that break the orderings close all gates"
grep -v -e '^S trip 36' -e '^S maple 4' bench/figures/systems.csv >"$tables/systems.csv"
run gap
[ $? = 1 ] && grep -q '^NO .*M16' "$work/output" && grep -q '^NO .*M14' "$work/output" &&
	! grep -qE '^M1[46] .* (reproduced|consistent)' "$work/output"
result $? "a point that is missing closes its gate and reproduces nothing"
cp bench/figures/systems.csv "$tables"

echo 'M01,queue,3.1,no such model,' >>"$tables/nulls.csv"
run unknown
[ $? = 1 ] && grep -q "nulls.csv: M01: null_models.csv has no 'no such model'" "$work/errors"
result $? "a null model that there is not is told by name"
sed -i '$d' "$tables/nulls.csv"
sed -i.all '/^sdhp/s/,yes$/,no/' "$tables/datasets.csv"
run unmarked
[ $? = 1 ] && grep -q 'no data set of sdhp that is there is one for null models' "$work/errors"
result $? "a kernel without a data set for null models is told by name"
mv "$tables/datasets.csv.all" "$tables/datasets.csv"
fields bench/figures/null_models.csv | cut -f 1 | sort >"$work/models"
fields bench/figures/nulls.csv | tail -n +2 | cut -f 4 | sort -u | comm -23 - "$work/models" >"$work/output"
[ ! -s "$work/output" ] && [ "$(fields bench/figures/nulls.csv | tail -n +2 | cut -f 1 | sort -u | wc -l)" = 18 ]
result $? "each row of the paper has one null model, and it is there"

# A program that finds its result wrong: nothing may come of that point.
mkdir -p "$work/build/sim/examples/maple"
ln -s "$build/bin" "$work/build/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/build/sim/examples/maple/loops"
cp "$work/build/sim/examples/maple/loops" "$work/build/sim/examples/maple/round_trip"
chmod +x "$work/build/sim/examples/maple/"*
timeout -k 2 60 "$figures" --build "$work/build" --tables "$tables" --output "$work/third" >"$work/output" 2>"$work/errors"
[ $? = 1 ] && grep -q 'points failed' "$work/errors" && [ ! -s "$work/output" ]
result $? "points that fail are told and no table is made of them"
run fourth --tables "$work/nowhere"
[ $? = 1 ] && grep -q "$work/nowhere/datasets.csv: No such file" "$work/errors"
result $? "tables that are not there are told by name"

plan
