#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# make figures-dare on tiny inputs and few systems: rows, null models, error bars, plots. test_figures_dare
# checks how rows and gates are computed; make figures-dare itself checks the gates on the real inputs.
# Usage: test-figures-dare.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

figures=$build/bench/figures/dare/figures
tables=$work/tables
mkdir "$tables"
cp bench/figures/dare_*.csv "$tables"
cat >"$tables/dare_datasets.csv" <<'SETS'
name,arguments,small,means,nulls,instead,small instead
one,--uniform 48x3 --seed 1,--uniform 16x2 --seed 1,yes,--uniform 32x3 --seed 1
two,nobody.mtx,nobody.mtx,yes,,--attention 48 --seed 1,--attention 16 --seed 1
not here,nobody.mtx,nobody.mtx,yes,
other,--uniform 32x2 --seed 2,--uniform 16x2 --seed 2,extra,
SETS
grep -E '^(name|base|nvr|fre|gsa|full|vmr [14] full|extra (base|nvr|fre|gsa|full)|grid (8|32) (1|4) full),' bench/figures/dare_systems.csv |
	sed 's/,1 2 4 8 16,/,1 8,/' >"$tables/dare_systems.csv"
cat >"$tables/dare_null_models.csv" <<'MODELS'
name,modes,settings,instead,how
no GSA,,,gsa=plain,
no VMR,fre static,mpu.vmr=0,,
nothing is missing,,,,
MODELS
cat >"$tables/dare_nulls.csv" <<'NULLS'
id,part,where,null,why
D02,GSA,II-B,no GSA,
D03,GSA,II-B,no GSA,
D04,none,II-C,nothing is missing,
D19,VMR,V-F,no VMR,
NULLS
cat >"$tables/dare_error_bars.csv" <<'BARS'
id,mimic,lowest,lowest with,highest,highest with
D02,2.000,1.500,,5.000,
BARS
cat >"$tables/dare_shapes.csv" <<'SHAPES'
id,as it is,same at,of,otherwise
D17,below,5,7,"a.b=1: not below; --c=2: not below"
D21,8,6,7,"a.b=1: 4"
SHAPES

run() # run OUTPUT ARGUMENTS...
{
	timeout -k 2 60 "$figures" --build "$build" --tables "$tables" --output "$work/$1" --data "$work" "${@:2}" \
		>"$work/output" 2>"$work/errors"
}

fields() # fields FILE: with tabs between them; those in quotes may have commas, comment lines are left out
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

column() # column FILE ROW NAME: the value of a row, by its first field, in the column of that name
{
	fields "$1" | awk -F'\t' -v row="$2" -v name="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		$1 == row && column { print $column }'
}

cycles() # cycles SYSTEM KERNEL BLOCK SET: of a report, found by its system's place in the table
{
	local place

	place=$(grep -v '^#' "$tables/dare_systems.csv" | awk -F, -v name="$1" '$1 == name { print NR - 2 }')
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["phases"][-1]["cycles"])' \
		"$work/first/points/dare-$(printf %02d "$place")-$2-$3-$4.json"
}

run first --jobs 2
status=$?
table=$work/first/table.csv
[ $status = 1 ] && [ "$(grep -cE '^D[0-9]{2} ' "$work/output")" = 28 ] && [ "$(fields "$table" | wc -l)" = 29 ]
result $? "the table has the 28 rows of the paper, and gates without points end it with status 1"
grep -q 'nobody.mtx is not there' "$work/errors" && grep -qx '1 data sets were left out: their files are not there.' "$work/output"
result $? "a file that is not there is left out and told"
grep -q '^two: its file is not there; a generated one stands in' "$work/output" && ! grep -q 'two: left out' "$work/errors"
result $? "where a generated input stands in for a file this is told"
[ "$(sed '/^Null models, each/,$d' "$work/output" | grep -cE '^(yes|NO) ')" = 15 ]
result $? "fifteen orderings and shapes are checked"
python3 - "$(column "$table" D02 mimic)" "$(cycles base spmm 1 0)" "$(cycles gsa spmm 1 0)" "$(cycles base spmm 1 1)" \
	"$(cycles gsa spmm 1 1)" >"$work/output.2" 2>&1 <<'PYTHON'
import sys
row, a, b, c, d = map(float, sys.argv[1:])
sys.exit(abs(row - (a / b * c / d) ** .5) > .001)
PYTHON
result $? "a speedup is the geometric mean over the data sets of the quotient of cycles"
[ "$(column "$table" D02 'null model')" = 'no GSA' ] && [ "$(column "$table" D02 'of the null model')" = 1.000 ]
result $? "each row has its null model and its value: without GSA nothing is gained by it"
grep -q '^NO   nothing is missing: it passes all that the model passes' "$work/output"
result $? "a null model that passes every gate is told by its name"
[ "$(column "$table" D04 'of its data sets')" = "$(column "$table" D04 'of the null model')" ]
result $? "a null model in which nothing differs has the model's values"
grep -qE '^D02 .* -25% \+150% ' "$work/output" && [ "$(column "$table" D02 'lowest by assumptions')" = 0.750 ]
result $? "the error bar that is checked in stands beside a row's value"
grep -qE '^D21 .* 6 of 7 ' "$work/output" && ! grep -qE '^D17 .* 5 of 7 ' "$work/output" &&
	[ "$(column "$table" D17 'same at ends')" = 5 ] && [ "$(column "$table" D21 'of ends')" = 7 ]
result $? "a block size has no error bar, but at how many ends of ranges it is the same"
awk '/^Of [0-9]+ rows/ { found = $2 == $4 + $7 + $9 + $12 + $14 } END { exit !found }' "$work/output"
result $? "it says how many rows have each verdict"
[ "$(find "$work/first" -name '*.svg' | wc -l)" = 15 ] && ! find "$work/first" -name '*.svg' -size -1k | grep -q .
result $? "figures 1, 3 and 5 to 9 have plots"
[ "$(fields "$work/first/fig05.csv" | head -n 1 | tr '\t' ,)" = benchmark,NVR,FRE,GSA,full,DARE ] &&
	[ "$(column "$work/first/fig05.csv" SpMM1 GSA | cut -c 1-4)" = "$(column "$table" D02 mimic | cut -c 1-4)" ]
result $? "a figure's CSV has what its plot shows"
for csv in "$work"/first/fig*.csv; do
	awk -F, 'NR == 1 { n = NF } NF != n { print FILENAME ": " $0 }' "$csv"
done >"$work/widths"
[ ! -s "$work/widths" ]
result $? "each line of a figure's CSV has as many fields as its head"
awk -F, 'NR > 1 { for (i = 2; i <= NF; i++) { zero += $i == 0; one += $i == 1; bad += $i < 0 || $i > 1 } }
	END { exit !(zero && one && !bad) }' "$work/first/fig08a.csv"
result $? "the maps of Figure 8 go from 0 to 1"
grep -q '^other: run, but in no number' "$work/output" && grep -qE '^SpMM,1,other,no,' "$work/first/datasets.csv" && grep -qE '^SDDMM,8,two,yes,' "$work/first/datasets.csv"
result $? "a data set outside of the means is run and reported"

run second --jobs 1
diff <(cd "$work/first" && cat -- *.csv points/*.json) <(cd "$work/second" && cat -- *.csv points/*.json) >"$work/output"
result $? "two runs give the same bytes"

cat >"$tables/dare_ranges.csv" <<'RANGES'
parameter,low,high,why
array.pipelined,array.pipelined=0,,
llc.mshrs,,llc.mshrs=1,
--merge,--merge=none,,
RANGES
run ranges --ranges --commit 0123456
status=$?
bars=$work/ranges/error_bars.csv
[ $status = 0 ] && grep -q '^# .* commit 0123456\.$' "$bars" && grep -q '^# Inputs.*: one\.$' "$bars" &&
	[ "$(column "$work/ranges/ends.csv" llc.mshrs=1 D02)" = "$(column "$bars" D02 lowest)" ] &&
	[ "$(column "$bars" D02 'lowest with')" = llc.mshrs=1 ] && [ "$(fields "$work/ranges/ends.csv" | wc -l)" = 5 ]
result $? "ranges give each row's lowest and highest value, what makes them, and what they are of"
effects=$work/ranges/effects.csv
[ "$(fields "$effects" | cut -f 1 | tr '\n' ' ')" = 'parameter as it is array.pipelined llc.mshrs --merge ' ] &&
	[ "$(column "$effects" 'as it is' D02)" = "$(column "$bars" D02 mimic)" ] && [ -z "$(column "$effects" array.pipelined D16)" ] &&
	python3 - "$(column "$effects" llc.mshrs D02)" "$(column "$bars" D02 mimic)" "$(column "$bars" D02 lowest)" <<'PYTHON'
import sys
change, model, lowest = map(float, sys.argv[1:])
sys.exit(abs(change - 100 * (lowest / model - 1)) > .2)
PYTHON
result $? "each end has the change of each row, in percent"
# The plain form has a row for each multiplication then; a larger densification is measured against it.
[[ $(column "$effects" --merge D16) == +* ]]
result $? "what begins with -- is an option of the program"
[ "$(fields "$work/ranges/shapes.csv" | cut -f 1 | tr '\n' ' ')" = 'id D17 D18 D19 D20 D21 D22 D25 ' ] &&
	[ "$(column "$work/ranges/shapes.csv" D21 of)" = 3 ] && head -n 1 "$work/ranges/shapes.csv" | grep -q 'commit 0123456\.$'
result $? "rows that are no number have at how many ends they say the same"
sed -n '/^<!-- made/,/^<!-- end/s/^| \([a-z0-9]*\.[a-z_]*\) |.*assumption.*/\1/p' docs/timing-soc.md |
	grep -E '^(array|energy|llc|mpu|rfu)\.' | sort >"$work/assumptions"
fields bench/figures/dare_ranges.csv | cut -f 1 | sort -u | comm -23 "$work/assumptions" - >"$work/output"
[ "$(wc -l <"$work/assumptions")" -gt 10 ] && [ ! -s "$work/output" ]
result $? "each parameter that is an assumption has a range"
fields bench/figures/dare_ranges.csv | tail -n +2 | cut -f 2,3 | tr '\t' '\n' | grep . | sort >"$work/ends"
fields bench/figures/dare_effects.csv | tail -n +3 | cut -f 2 | sort | diff "$work/ends" - >"$work/output" && [ -s "$work/ends" ]
result $? "dare_effects.csv has each end of each range"
# Changes of numbers in percent; of shapes and block sizes, another word or number.
fields bench/figures/dare_effects.csv | tail -n +3 | awk -F '\t' '{
	for (i = 3; i <= NF; i++)
		if (i < 20 ? $i + 0 >= 10 || $i + 0 <= -10 : $i != "") { print $2; next } }' | sort >"$work/far"
sed -n 's/^| `\([^`]*\)` | [^|]* | [^|]* |$/\1/p' docs/timing-dare.md | sort | diff "$work/far" - >"$work/output" && [ -s "$work/far" ]
result $? "docs/timing-dare.md has the ends that move rows far, and no others"
fields bench/figures/dare_null_models.csv | cut -f 1 | sort >"$work/models"
fields bench/figures/dare_nulls.csv | tail -n +2 | cut -f 4 | sort -u | comm -23 - "$work/models" >"$work/output"
[ ! -s "$work/output" ] && [ "$(fields bench/figures/dare_nulls.csv | tail -n +2 | cut -f 1 | sort -u | wc -l)" = 23 ]
result $? "each row of the paper that is a result has a null model, and it is there"

sed -i 's/^D02,GSA,II-B,no GSA,/D02,GSA,II-B,no such model,/' "$tables/dare_nulls.csv"
run unknown
[ $? = 1 ] && grep -q "dare_nulls.csv: D02: dare_null_models.csv has no 'no such model'" "$work/errors"
result $? "a null model that is not there is told by name"
sed -i 's/,yes,--uniform 32x3 --seed 1$/,yes,/' "$tables/dare_datasets.csv"
run unmarked
[ $? = 1 ] && grep -q 'no data set that is there is one for null models' "$work/errors"
result $? "it is told if null models have no data set"

plan
