#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic sim: programs in virtual time, their counters, and programs that cannot run.
#
#   test-sim.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
programs=$build/tests/sim
unset MIMIC_SIM

# run ARGUMENTS...: mimic sim, the report in $work/report.json
run()
{
	rm -f "$work/report.json"
	{ timeout -k 5 60 "$mimic" sim --json -o "$work/report.json" "$@" >"$work/output" 2>"$work/errors"; } 2>/dev/null
}

# found PHASE EXPRESSION...: each holds, of p, the phase, and c, its core 0
found()
{
	python3 - "$work/report.json" "$@" 2>>"$work/errors" <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
p = [p for p in report["phases"] if p["name"] == sys.argv[2]][0]
c = p["cores"][0]
for expression in sys.argv[3:]:
    if not eval(expression):
        sys.exit("%s: not %s\n%s" % (sys.argv[2], expression, json.dumps(p)))
EOF
}

# Where cycles and lines are counted by hand, without walks of the page table.
no_tlb=(--set core.translation=0)

# --- counters: a thousand accesses, in lines of 16 bytes ---------------------------------

run "${no_tlb[@]}" "$programs/counts" && [ "$(cat "$work/output")" = "3000 1" ] &&
	found words 'c["loads"] == 1000' 'c["stores"] == 0' 'c["l1_misses"] == 250' 'c["l1_hits"] == 750' &&
	found again 'c["loads"] == 1000' 'c["l1_misses"] == 0'
result $? "loads of 4 bytes in order: one miss for four of them, and none when they come again"

found words 'c["instructions"] == 3000' 'c["uncosted"] == 1000' 'p["soc"]["dram_lines"] == 63' &&
	found again 'c["load_cycles"] == 2000'
result $? "an access that no table has costs 3 instructions, a hit 2 cycles, and DRAM gives lines of 64 bytes"

found longs 'c["stores"] == 1000' 'c["loads"] == 0' && found volatiles 'c["loads"] == 1000' &&
	found atomics 'c["stores"] == 1000' 'c["l1_misses"] == 1' && found unaligned 'c["loads"] == 1000'
result $? "stores, volatile, atomic and unaligned accesses are counted, each once"

found structure 'c["loads"] == 8' 'c["stores"] == 8'
result $? "a copy of 64 bytes is eight words"

found prefetches 'c["prefetches"] == 1000' 'c["loads"] == 1000'
result $? "__builtin_prefetch() is a prefetch"

found run 'sum(q["cycles"] for q in report["phases"][1:]) <= p["cycles"]' \
	'sum(q["cores"][0]["loads"] for q in report["phases"][1:]) == c["loads"] - 1'
result $? "the whole run is its phases and the one load behind them"

run --soc maple-sim "${no_tlb[@]}" "$programs/across" && found load 'c["loads"] == 1' 'c["l1_hits"] == 2' 'c["l1_misses"] == 0' &&
	found store 'c["stores"] == 1' 'c["l1_misses"] == 0' && found copy 'c["loads"] == 2' 'c["stores"] == 2' 'c["l1_misses"] == 0'
result $? "an access whose bytes lie in two pages reaches the second one where that is"

printf 'file,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches\n%s\n' \
	"counts.c,read_words,1,$(($(grep -n 'sum += words' tests/sim/counts.c | cut -d: -f1) - 1)),$(grep -n 'sum += words' tests/sim/counts.c | cut -d: -f1),7,2,0,0,0" >"$work/costs.csv"
run --costs "$work/costs.csv" "$programs/counts" &&
	found words 'c["instructions"] == 3500' 'c["uncosted"] == 0' && found longs 'c["uncosted"] == 1000'
status=$?
sed '1s/$/,taken,missed,multiplies/; 2s/$/,1,2,3/' "$work/costs.csv" >"$work/longer.csv"
for soc in maple-fpga maple-sim; do
	# 500 iterations: in maple-fpga a branch taken is 1 cycle more, one predicted wrongly 5, a multiplication 1.
	[ $soc = maple-fpga ] && longer="500*(1+2*5+3)" || longer=0
	run --soc $soc --costs "$work/longer.csv" "$programs/counts" &&
		found words 'c["instructions"] == 3500' "c['pipeline_stalls'] == $longer"
	result $? "$soc: a table of costs with branches and multiplications"
done
[ $status = 0 ]
result $? "a table of costs: 7 instructions for two accesses are 3500 for a thousand, exactly"

# --- code without a table --------------------------------------------------------------------

run "$programs/counts" && python3 - "$work/report.json" "$work/errors" >>"$work/output" 2>&1 <<'EOF'
import json, re, sys
report = json.load(open(sys.argv[1]))
core = report["phases"][0]["cores"][0]
told = re.findall(r"([0-9.]+) % of the accesses have no cost in a table.*: counts.c \(([0-9.]+) %\)", open(sys.argv[2]).read())
print(report["uncosted"], told)
assert report["uncosted"]["accesses"] == core["accesses"] and report["uncosted"]["uncosted"] == core["uncosted"]
assert report["uncosted"]["sources"] == [{"name": "counts.c", "uncosted": core["uncosted"]}]
assert told == [("100.0", "100.0")]
EOF
result $? "accesses without a cost: their share is told, and the source"

# Two files: 99000 accesses of one have a cost, those of the other have not.
for name in many some; do
	printf 'volatile int %s_word;\nvoid %s(int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\t%s_word;\n}\n' $name $name $name >"$work/$name.c"
done
printf '#include <stdlib.h>\nvoid many(int n), some(int n);\nint main(int c, char **v) { many(99000); some(c > 1 ? atoi(v[1]) : 0); }\n' >"$work/two.c"
# shellcheck disable=SC2046 # words are meant
(cd "$work" && gcc -O1 $("$mimic" cflags) -c many.c some.c && gcc -c two.c &&
	gcc -o two two.o many.o some.o $("$mimic" cflags --libs)) >"$work/output" 2>"$work/errors"
printf 'file,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches\nmany.c,many,1,1,9,3,1,0,0,0\n' >"$work/costs.csv"
run --costs "$work/costs.csv" "$work/two" 1000 && ! grep "no cost" "$work/errors" &&
	tr -d ' \n' <"$work/report.json" | grep -qF '"uncosted":{"accesses":100000,"uncosted":1000,"sources":[{"name":"some.c","uncosted":1000}]}'
result $? "1 % without a cost is in the report, and no warning"
run --costs "$work/costs.csv" "$work/two" 11000 &&
	grep -qF "10.0 % of the accesses have no cost in a table, and count as 3 instructions each: some.c (10.0 %); see mimic costs" "$work/errors"
result $? "10 % are a warning"

run "$programs/warm" reset && grep -qF '"accesses":1024,"uncosted":1024' <(tr -d ' \n' <"$work/report.json")
result $? "mimic_sim_reset() forgets them, too"

# --- shared libraries ------------------------------------------------------------------------------

mkdir "$work/shared"
cat >"$work/shared/read.c" <<'EOF'
unsigned int read_all(const volatile unsigned int *words, unsigned int count)
{
	unsigned int sum = 0;
	for (unsigned int i = 0; i < count; i++)
		sum += words[i];
	return sum;
}
EOF
cat >"$work/shared/main.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <mimic/sim.h>
typedef unsigned int reader(const volatile unsigned int *words, unsigned int count);
reader read_all;
static unsigned int words[1000];
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	reader *call = argc > 1 ? (reader *)dlsym(library, "read_all") : read_all;
	for (int i = 0; i < 1000; i++)
		words[i] = 3;
	mimic_sim_phase_begin("reading");
	unsigned int sum = call(words, 1000);
	mimic_sim_phase_end();
	printf("%u\n", sum);
	return 0;
}
EOF
# With and without hooks in main(), and all of it in one file.
# shellcheck disable=SC2046 # words are meant
(cd "$work/shared" && gcc -O2 -fPIC $("$mimic" cflags) -c read.c && gcc -shared -o libread.so read.o && gcc -O2 $("$mimic" cflags) -c main.c &&
	gcc -o with main.o -L. -lread -Wl,-rpath,"$PWD" $("$mimic" cflags --libs) &&
	gcc -O2 -I"$build/include" -c -o plain.o main.c && gcc -o without plain.o -L. -lread -Wl,-rpath,"$PWD" $("$mimic" cflags --libs) &&
	gcc -o whole plain.o read.o $("$mimic" cflags --libs)) >"$work/output" 2>"$work/errors"
printf 'file,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches\nread.c,read_all,1,4,5,7,1,0,0,0\n' >"$work/costs.csv"
for program in with without; do
	run "${no_tlb[@]}" --costs "$work/costs.csv" "$work/shared/$program" && [ "$(cat "$work/output")" = 3000 ] &&
		found reading 'c["instructions"] == 7000' 'c["uncosted"] == 0' 'c["loads"] == 1000'
	result $? "the accesses of a shared library have their costs, $program hooks in main()"
done
cp "$work/report.json" "$work/first.json" && run "${no_tlb[@]}" --randomize --costs "$work/costs.csv" "$work/shared/without" &&
	cmp "$work/first.json" "$work/report.json" >>"$work/errors" && run "${no_tlb[@]}" --costs "$work/costs.csv" "$work/shared/whole" &&
	python3 -c 'import json, sys; one, other = [json.load(open(p))["phases"][1] for p in sys.argv[1:]]; assert one == other' \
		"$work/first.json" "$work/report.json" >>"$work/errors" 2>&1
result $? "they take what they take in the program itself, wherever the system puts the library"
# The commands of docs/timing.md: the library in two steps and in one.
mkdir "$work/printed" && cp "$work/shared/main.c" "$work/shared/read.c" "$work/printed"
awk '/^\*\*/ { inside = /^\*\*Shared libraries\./ } inside && sub(/^    /, "")' docs/timing.md >"$work/commands"
(cd "$work/printed" && PATH=$build/bin:$PATH && head -n 4 "$work/commands" | sh -e && cp libread.so two.so &&
	sed 1,5d "$work/commands" | sh -e && ! cmp -s libread.so two.so) >"$work/output" 2>"$work/errors"
[ "$(grep -c '^gcc' "$work/commands")" = 5 ] && run "${no_tlb[@]}" --costs "$work/costs.csv" "$work/printed/main" &&
	[ "$(cat "$work/output")" = 3000 ] && found reading 'c["instructions"] == 7000' 'c["uncosted"] == 0' &&
	cp "$work/report.json" "$work/one.json" && mv "$work/printed/two.so" "$work/printed/libread.so" &&
	run "${no_tlb[@]}" --costs "$work/costs.csv" "$work/printed/main" && cmp "$work/one.json" "$work/report.json"
result $? "the commands that docs/timing.md prints for a shared library make one that has its costs"
run "$work/shared/without" && tr -d ' \n' <"$work/report.json" | grep -qF '"sources":[{"name":"read.c","uncosted":1000}]'
result $? "without a cost they are the library's source's"
run --costs "$work/costs.csv" "$work/shared/with" "$work/shared/libread.so" && found reading 'c["uncosted"] == 0'
result $? "dlopen() of a library that is there already"
# shellcheck disable=SC2046 # words are meant
(cd "$work/shared" && gcc -shared -o other.so read.o $("$mimic" cflags --libs) && gcc -O2 -I"$build/include" -c -o only.o -x c - <<<"$(sed 's/: read_all;/: 0;/' main.c)" &&
	gcc -o only only.o read.o -L. $("$mimic" cflags --libs)) >"$work/output" 2>"$work/errors"
head -n 1 "$work/costs.csv" >"$work/header.csv"
# Another one has the same function twice as long in its own table: code at the same place has its own costs.
sed 's/sum += words/sum += 2 * words/' "$work/shared/read.c" >"$work/shared/twice.c"
cat >"$work/shared/again.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <mimic/sim.h>
static unsigned int words[1000];
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		unsigned int (*call)(const volatile unsigned int *, unsigned int) =
			library ? (unsigned int (*)(const volatile unsigned int *, unsigned int))dlsym(library, "read_all") : 0;
		if (!call)
			return 1;
		mimic_sim_phase_begin(argv[i]);
		call(words, 1000);
		mimic_sim_phase_end();
		dlclose(library);
	}
	return 0;
}
EOF
# shellcheck disable=SC2046 # words are meant
(cd "$work/shared" && gcc -O2 -fPIC $("$mimic" cflags) -c twice.c && gcc -shared -o twice.so twice.o $("$mimic" cflags --libs) &&
	gcc -O2 $("$mimic" cflags) -c again.c && gcc -o again again.o $("$mimic" cflags --libs)) >"$work/output" 2>"$work/errors"
run "${no_tlb[@]}" --costs "$work/costs.csv" "$work/shared/only" "$work/shared/other.so" &&
	found reading 'c["instructions"] == 7000' 'c["uncosted"] == 0' 'c["loads"] == 1000'
result $? "one that only dlopen() loads has its costs"
run --costs "$work/header.csv" "$work/shared/only" "$work/shared/other.so" && found reading 'c["uncosted"] == 1000' &&
	grep -qF 'read.c (' "$work/errors"
result $? "without a cost its source is told"
printf 'twice.c,read_all,1,4,5,14,1,0,0,0\n' | cat "$work/costs.csv" - >"$work/both.csv"
(cd "$work/shared" && run --costs "$work/both.csv" ./again ./other.so ./twice.so ./other.so) &&
	found ./other.so 'c["instructions"] == 14000' 'c["uncosted"] == 0' && found ./twice.so 'c["instructions"] == 14000' 'c["uncosted"] == 0'
result $? "libraries that come one behind the other, at one place, have costs of their own, also by relative paths"
LD_PRELOAD=$work/shared/other.so run --costs "$work/costs.csv" "$work/shared/only" "$work/shared/other.so" && found reading 'c["uncosted"] == 0'
result $? "one that LD_PRELOAD names, too"

# --- functions of <string.h> ---------------------------------------------------------------

for option in -O2 -O0 "-O2 -D_FORTIFY_SOURCE=2" "-O2 -std=c99"; do
	# shellcheck disable=SC2046,SC2086 # words are meant
	gcc $option -Wall -Wextra -Werror $("$mimic" cflags) -c -o "$work/strings.o" tests/sim/strings.c 2>"$work/errors" &&
		gcc -o "$work/strings" "$work/strings.o" $("$mimic" cflags --libs) 2>>"$work/errors" &&
		[ "$("$work/strings")" = right ] && run "$work/strings" && [ "$(cat "$work/output")" = right ]
	result $? "memcpy() and others do what they say, with $option"
done

# cycles SOC PHASE CYCLES...: of the phases, with all that is read and written in the L1
cycles()
{
	local soc=$1
	shift
	run --soc "$soc" "${no_tlb[@]}" "$programs/strings" cycles || return
	while [ $# != 0 ]; do
		found "$1" "p['cycles'] == $2" || return
		shift 2
	done
}

# A call is 2 cycles, a load that hits 2, a store 1, and the instructions are those that docs/timing.md lists. In
# maple-fpga nothing waits for a load's second cycle. 1024 bytes are 128 words in 64 lines; those that were only written so
# far (memcpy's source, then memcmp's target) come from the L1.5: of the 2 cycles more one passes with the instruction
# behind the load, as does the load's second.
cycles maple-fpga memcpy 2+128*5+64*2 memmove 2+128*5 memset 2+128*3 memcmp 2+128*6+64*2 memchr 2+128*9 builtin 2+128*5
result $? "maple-fpga: cycles of memcpy(), memmove(), memset(), memcmp(), memchr()"
cycles maple-fpga strlen 2+128*7 strcmp 2+128*10 strncmp 2+128*11 strchr 2+128*12 strrchr 2+128*12 strcpy 2+128*9 \
	strncpy 2+128*10
result $? "maple-fpga: cycles of strlen(), strcmp(), strchr(), strcpy() and others"
# First the zero byte is stored, at 3 instructions, as in no table; then a byte is read, and a text copied.
cycles maple-fpga strcat 3+2+7+128*9 strncat 3+2+7+128*10
result $? "maple-fpga: cycles of strcat(), strncat()"
# As they are made of those above: strnlen() is as memchr(), memccpy() is memchr() and then memcpy(), and the copies of a text
# first find its end. Their new memory is in no cache, so that only their reads are counted.
cycles maple-fpga mempcpy 2+128*5 bzero 2+128*3 bcopy 2+128*5 bcmp 2+128*6 memccpy 2+128*9+2+128*5 strnlen 2+128*9 \
	stpcpy 2+128*9 stpncpy 2+128*10 &&
	found strdup 'c["loads"] == 256' 'c["stores"] == 129' && found strndup 'c["loads"] == 256' 'c["stores"] == 129'
result $? "maple-fpga: cycles of mempcpy(), bzero(), bcopy(), bcmp(), memccpy(), strnlen(), stpcpy(), stpncpy(), strdup(), strndup()"
cycles maple-sim memcpy 2+128*6 memmove 2+128*6 memset 2+128*3 memcmp 2+128*8 memchr 2+128*10 strlen 2+128*8 \
	strcmp 2+128*12 strcpy 2+128*10
result $? "maple-sim, where loads block: one cycle more for each load"

# Lines of 64 bytes: the first word of each waits for memory, 2 + 30 + 300 cycles, the seven others 2.
cycles maple-sim cold 2+64*332+448*2+512*6
result $? "a text of 4096 bytes that is in no cache"

found memcpy 'c["loads"] == 128' 'c["stores"] == 128' 'c["uncosted"] == 0' &&
	found constant 'c["loads"] == 8' 'c["stores"] == 8' && found odd 'c["loads"] == 3' 'c["stores"] == 3' &&
	found set_word 'c["loads"] == 0' 'c["stores"] == 1' && found structure 'c["loads"] == 128' 'c["stores"] == 128'
result $? "accesses of 64, 21 and 8 constant bytes, and of a structure"

line=$(grep -n 'to\[i\] = from\[i\]' tests/sim/strings.c | cut -d: -f1)
printf 'file,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches\nstrings.c,copy_words,1,%d,%d,5,1,1,0,0\n' \
	$((line - 1)) "$line" >"$work/costs.csv"
run --soc maple-sim "${no_tlb[@]}" --costs "$work/costs.csv" "$programs/strings" loop && cp "$work/report.json" "$work/loop.json" &&
	run --soc maple-sim "${no_tlb[@]}" "$programs/strings" function &&
	python3 - "$work/loop.json" "$work/report.json" >>"$work/errors" 2>&1 <<'EOF'
import json, sys
loop, function = [json.load(open(path))["phases"][1] for path in sys.argv[1:]]
print(loop["cycles"], function["cycles"])
names = "loads", "stores", "load_cycles", "l1_hits", "l1_misses"
assert loop["soc"] == function["soc"] and loop["soc"]["dram_lines"] == 2 * 65536 / 8
assert all(loop["cores"][0][name] == function["cores"][0][name] for name in names)
assert loop["cycles"] + 2 == function["cycles"]    # the call
EOF
result $? "a copy of 512 KB takes as long as a loop over its words"

cat >"$work/library.cc" <<'EOF'
#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>
int main(int argc, char **)
{
	std::vector<long> one(1000, argc), other(1000);
	std::string text(100, 'x');
	const char *found = std::strchr(text.c_str(), 'y');
	std::copy(one.begin(), one.end(), other.begin());
	std::memcpy(&one[0], &other[0], 8 * one.size());
	std::cout << other[999] << (found == 0) << (std::memchr(text.data(), 'x', 100) == text.data()) <<
		std::strlen(text.c_str()) << "\n";
	return 0;
}
EOF
cc=0
for standard in c++98 c++11 c++14 c++17 c++20; do
	# shellcheck disable=SC2046 # words are meant
	{ g++ -O2 -std=$standard -Wall -Wextra -Werror $("$mimic" cflags) -c -o "$work/library.o" "$work/library.cc" &&
		g++ -o "$work/library" "$work/library.o" $("$mimic" cflags --libs); } >"$work/errors" 2>&1 &&
		run "$work/library" && [ "$(cat "$work/output")" = 111100 ] &&
		found run 'c["loads"] >= 2000 + 13' 'c["stores"] >= 2000' || cc=1
	[ $cc = 0 ] || break
done
result $cc "C++: std::copy(), std::memcpy(), std::strchr(), in the standards from 98 to 20"

# --- warm up, then measure ------------------------------------------------------------------

# 1024 words, each with 2 instructions in front. Loads block in maple-sim: a hit takes 2 cycles more, the first word of
# a line of 64 bytes 2 + 30 + 300.
cold=$((64 * (2 + 332) + 64 * 15 * (2 + 2)))
warm=$((1024 * (2 + 2)))

run --soc maple-sim "${no_tlb[@]}" "$programs/warm" phases && found three "p['cycles'] == $cold + 2 * $warm" 'p["times"] == 3' 'p["warm_times"] == 0' &&
	run --soc maple-sim "${no_tlb[@]}" --warm 0 "$programs/warm" phases && found three "p['cycles'] == $cold + 2 * $warm"
result $? "without --warm all is counted: 64 lines of memory, then hits"

run --soc maple-sim --warm 1 "$programs/warm" phases
found three "p['cycles'] == 2 * $warm" 'p["times"] == 2' 'p["warm_times"] == 1' 'c["loads"] == 2048' 'c["l1_misses"] == 0' \
	'p["soc"]["dram_lines"] == 0' && found run 'c["loads"] == 2 + 4096' 'report["warm"] == 1'
result $? "--warm 1: a phase's first time is not counted, the run has it"

found one 'p["times"] == 0' 'p["cycles"] == 0' && grep -q 'phase one is not counted: it ran 1 times' "$work/errors"
result $? "a phase that only warms up is told"

run --soc maple-sim "$programs/warm" reset && found run "p['cycles'] == $warm" 'c["cycles"] == p["cycles"]' 'c["loads"] == 1024' \
	'c["l1_misses"] == 0' 'c["instructions"] == 3072' 'p["soc"]["l2_misses"] == 0' &&
	found read_words "p['cycles'] == $warm" 'p["times"] == 1'
result $? "mimic_sim_reset(): the report begins there, with the caches as they are"

run --soc maple-sim "$programs/warm" open && found open "p['cycles'] == $warm" 'p["times"] == 1' &&
	found run "p['cycles'] == $warm" '[q["name"] for q in report["phases"]] == ["run", "open"]'
result $? "a phase that is open begins anew, others are forgotten"

run --soc maple-sim "$programs/warm" thread && cp "$work/report.json" "$work/first.json" &&
	found run "p['cycles'] == $warm" 'c["loads"] == 0' "c['sleeps'] == $warm" 'p["cores"][1]["loads"] == 1024' \
		'p["cores"][1]["l1_misses"] == 0' 'report["threads"] == 2' &&
	run --soc maple-sim --randomize "$programs/warm" thread && cmp "$work/first.json" "$work/report.json" >>"$work/errors"
result $? "by a thread that another one waits for; two runs give the same bytes"

run --soc maple-sim "$programs/warm" device && found run 'p["maple"]["produced"] == 5' 'p["maple"]["consumed"] == 5' 'c["mmio_loads"] == 5'
result $? "the device's counters, too"

"$programs/warm" reset >"$work/output" 2>"$work/errors"
result $? "without mimic sim it does nothing"

refused "--warm 'x' is no number from 0 on" --warm x "$programs/warm"
result $? "a --warm that is no number"

# --- by intervals ------------------------------------------------------------------------------

# Three times 1024 words, as above: the first time takes $cold cycles, the others $warm each. In an interval of hits
# each word has 3 instructions and one cycle of waiting.
run --soc maple-sim "${no_tlb[@]}" --interval 1000 "$programs/warm" phases && python3 - "$work/report.json" "$cold" "$warm" >>"$work/output" 2>&1 <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
cold, warm = map(int, sys.argv[2:])
intervals, run = report["intervals"], report["phases"][0]
assert report["interval"] == 1000 and report["lost_intervals"] == 0
assert [i["begin"] for i in intervals] == [1000 * n for n in range(len(intervals))]
assert all(i["cycles"] == 1000 for i in intervals[:-1]) and 0 < intervals[-1]["cycles"] <= 1000
assert sum(i["cycles"] for i in intervals) == run["cycles"]
for part, whole in ("cores", lambda name: sum(core[name] for core in run["cores"])), ("soc", lambda name: run["soc"][name]):
    for name in intervals[0][part]:
        assert sum(i[part][name] for i in intervals) == whole(name), name
# Those that lie in the first time have an L1 miss in each 394 cycles, the last ones none.
first, last = intervals[2], intervals[-3]
print(first, last)
assert first["soc"]["dram_lines"] in (2, 3) and first["cores"]["l1_misses"] == first["soc"]["dram_lines"]
assert last["cores"]["loads"] == 250 and last["cores"]["instructions"] == 750 and last["cores"]["load_stalls"] == 250
assert last["soc"]["dram_lines"] == 0
EOF
result $? "--interval: each has what was counted in it, and together they are the run"

run --soc maple-sim "${no_tlb[@]}" --interval 1000 "$programs/warm" reset && python3 - "$work/report.json" "$warm" >>"$work/output" 2>&1 <<'EOF'
import json, sys
intervals = json.load(open(sys.argv[1]))["intervals"]
assert intervals[0]["begin"] == 0 and sum(i["cycles"] for i in intervals) == int(sys.argv[2])
assert sum(i["cores"]["l1_misses"] for i in intervals) == 0
EOF
result $? "mimic_sim_reset() begins them anew"

run --interval 700 "$programs/queue" && cp "$work/report.json" "$work/first.json" &&
	run --interval 700 --randomize "$programs/queue" && cmp "$work/first.json" "$work/report.json" >>"$work/errors" &&
	run "$programs/queue" && python3 - "$work/first.json" "$work/report.json" >>"$work/output" 2>&1 <<'EOF'
import json, sys
with_them, without = [json.load(open(path)) for path in sys.argv[1:]]
intervals = with_them.pop("intervals")
assert with_them.pop("interval") == 700 and with_them.pop("lost_intervals") == 0
assert with_them == without
for part in "maple", "maple_time":
    for name, value in with_them["phases"][0][part].items():
        if name != "outstanding_most" and not isinstance(value, list):
            assert sum(i[part][name] for i in intervals) == value, name
EOF
result $? "they change nothing else, have the device's counters, and are the same in two runs"

run --interval 1 "$programs/counts" && found run 'p["cycles"] == 100000 + report["lost_intervals"]' 'len(report["intervals"]) == 100000' &&
	grep -qE "the report has the first 100000 intervals; [0-9]+ more found no room" "$work/errors"
result $? "more than there is room for are told"

refused "--interval '0' is no number from 1 on" --interval 0 "$programs/warm"
result $? "an interval of no cycles"

timeout 60 "$mimic" sim --soc maple-sim "${no_tlb[@]}" --interval 1000 "$programs/warm" phases >"$work/output" 2>"$work/errors" &&
	grep -qx 'intervals of 1000 cycles, all cores' "$work/errors" && grep -qE '^ +10000( +[0-9]+){7}$' "$work/errors"
result $? "as text, a line for each"

# --- threads --------------------------------------------------------------------------------

run "$programs/threads" && [ "$(cat "$work/output")" = right ]
result $? "locks, condition variables, barriers, semaphores, once, sleeps, thread-local storage, ends of threads"

# Each reads 1000 words of its own and its barriers: nothing else has loads in the thousands.
run --cores 64 "$programs/cores" 64 && [ "$(cat "$work/output")" = right ] &&
	found run 'len(p["cores"]) == 64' 'report["threads"] == 64' 'all(1000 <= core["loads"] < 1100 for core in p["cores"][1:])' \
		'all(core["instructions"] for core in p["cores"])'
result $? "64 threads have a core each"

cp "$work/report.json" "$work/first.json"
run --cores 64 --randomize "$programs/cores" 64 && cmp "$work/first.json" "$work/report.json" >>"$work/errors" 2>&1
result $? "64 cores give the same bytes again"

run "$programs/atomics" && [ "$(cat "$work/output")" = right ]
result $? "atomic operations of all sizes do what they say"

run "$programs/queue" && [ "$(cat "$work/output")" = "sim right" ] &&
	found run 'p["maple"]["produced"] == 1000' 'p["maple"]["consumed"] == 1000' 'p["cores"][1]["mmio_stores"] == 1000' \
		'report["threads"] == 2'
result $? "a producer and a consumer of MAPLE: every word arrives"

for soc in maple-fpga maple-sim; do
	run --soc $soc --set maple.translation=1 "$programs/queue" && [ "$(cat "$work/output")" = "sim right" ]
	result $? "the same on $soc, with page walks"
done

for program in threads atomics queue; do
	word=right
	[ $program = queue ] && word="embedded right"
	[ "$(MIMIC_TRANSPORT=embedded timeout 20 "$programs/$program" 2>"$work/errors")" = "$word" ]
	result $? "$program runs without mimic sim as always"
done

# --- the same bytes -----------------------------------------------------------------------------

same=0
for program in threads queue counts; do
	run "$programs/$program" && cp "$work/report.json" "$work/first.json"
	LONG=$(printf '%4001s' x) run --randomize "$programs/$program" || same=1
	cmp "$work/first.json" "$work/report.json" >>"$work/errors" 2>&1 || same=1
	env -i SHORT=1 timeout 60 "$mimic" sim --randomize --json -o "$work/report.json" "$programs/$program" >"$work/output" 2>&1
	cmp "$work/first.json" "$work/report.json" >>"$work/errors" 2>&1 || same=1
done
result $same "two runs give the same bytes, whatever the environment's size and wherever the system puts things"

same=0
for program in threads queue counts; do
	run --set core.translation=0 --set maple.translation=0 "$programs/$program" && cp "$work/report.json" "$work/first.json"
	found run 'sum(core["walks"] for core in p["cores"]) == 0' || same=1
	LONG=$(printf '%4001s' x) run --set core.translation=0 --set maple.translation=0 --randomize "$programs/$program" || same=1
	cmp "$work/first.json" "$work/report.json" >>"$work/errors" 2>&1 || same=1
	run --randomize "$programs/$program" && found run 'sum(core["walks"] for core in p["cores"]) > 0' || same=1
done
result $same "so they do without TLBs, where nothing walks"

timeout 60 "$mimic" sim --set maple.translation=0 "$programs/queue" >"$work/output" 2>"$work/errors" &&
	grep -q '^  MAPLE .*; no translation;' "$work/errors" && ! grep -q 'TLB .* hit' "$work/errors"
result $? "a MAPLE without translation has no hit rate"

# --- ends ----------------------------------------------------------------------------------------

# ends STATUS WORD OUTPUT: of the program ends; WORD: how the report says it ended, - for none
ends()
{
	local status end=-
	run "$programs/ends" "$3"
	status=$?
	[ -s "$work/report.json" ] && end=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["end"])' "$work/report.json")
	echo "status $status, $end" >>"$work/errors"
	[ $status = "$1" ] && [ "$end" = "$2" ] && [ "$(cat "$work/output")" = "${4-}" ]
}

ends 7 ended '' && ends 4 ended exit && ends 0 ended pthread_exit worked && ends 0 ended fork "$(printf 'worked\nchild 2')"
result $? "main() returns, a thread calls exit(), main() calls pthread_exit(), children of fork()"

ends 6 - _exit && grep -q "did not come to exit()" "$work/errors" && ends 134 - crash
result $? "_exit() and a signal: the status is the program's, and it is said that there is no report"

# Each byte of the memory that the program shares with the command: enormous counts, names without an end.
survives() # survives BYTE OPTIONS...
{
	run "${@:2}" "$programs/scribble" fill "$1"
	[ $? -lt 126 ] && grep -q '"end":"broken"' "$work/report.json"
}
survives 1 && survives 127 --trace "$work/trace.json" && survives 255 --interval 100
result $? "a program that writes over all that it shares with the command does not make it crash"
run --interval 100 --trace "$work/trace.json" "$programs/scribble" cut
[ $? -lt 126 ] && [ "$(sort -u "$work/output")" = EPERM ] && [ "$(wc -l <"$work/output")" = 2 ]
result $? "nor can it make these files shorter"

ends 0 ended times
result $? "joins and condition variables with a time limit"

# --- programs that end badly -----------------------------------------------------------------------

# stuck TEXT... -- ARGUMENTS...: exit status 2, and each text on standard error
stuck()
{
	local texts=() status
	while [ "$1" != -- ]; do texts+=("$1"); shift; done
	shift
	run "$@"
	status=$?
	for text in "${texts[@]}"; do
		grep -qF -- "$text" "$work/errors" || return 1
	done
	[ $status = 2 ]
}

stuck "deadlock" "thread 0, in main() on core 0: waits for the mutex" "thread 1, in other() on core 1: waits for the mutex" \
	-- "$programs/deadlock" && grep -q begins "$work/output" && grep -q '"end":"deadlock"' "$work/report.json"
result $? "two threads that wait for each other are named, with what they wait for"

stuck "in main() on core 0: waits for the device's answer to a load of MAPLE CONSUME [2]: queue 2 is empty, and nobody produces, since cycle" \
	-- "$programs/deadlock" consume
result $? "so is a consumer that nobody produces for, with the reason"

stuck "the 1 core of the SoC is taken: --cores N" -- --cores 1 "$programs/queue"
result $? "a thread more than there are cores"

stuck "the 64 cores of the SoC are taken: --cores N gives it N, at most 64" -- --cores 64 "$programs/cores" 65 &&
	stuck "core.count must be 1 to 64, not 65" -- --cores 65 "$programs/cores" 65
result $? "65 threads, and 65 cores"

run --cycles 5000 "$programs/queue"
[ $? = 124 ] && grep -qF "limit of 5000 cycles" "$work/errors" && grep -q '"end":"cycle limit"' "$work/report.json"
result $? "a limit of cycles has a status and a word of its own"

printf '[l2]\nsize = 64K\n\nsize = 128K\n' >"$work/twice.ini"
refused "twice.ini:4: duplicate key 'l2.size', first in line 2" --soc "$work/twice.ini" "$programs/queue"
result $? "a key that stands twice in a file"

# --- where the report goes --------------------------------------------------------------------------

is_json() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" 2>>"$work/errors"; }

"$mimic" sim --json "$programs/counts" >"$work/output" 2>"$work/errors"
is_json "$work/output" && grep -qx '3000 1' "$work/errors"
result $? "--json alone: standard output is the report and nothing else, the program's is on standard error"

"$mimic" sim --json "$programs/counts" 2>&- >"$work/output"
is_json "$work/output"
result $? "the same with standard error closed"

"$mimic" sim --json -o /dev/stdout "$programs/counts" 2>"$work/errors" | cat >"$work/output"
is_json "$work/output" && grep -qx '3000 1' "$work/errors"
result $? "-o that names standard output is no file of its own"

"$mimic" sim --json -o "$work/report.json" "$programs/counts" >"$work/output" 2>"$work/errors" &&
	is_json "$work/report.json" && [ "$(cat "$work/output")" = "3000 1" ] && ! grep -v "have no cost in a table" "$work/errors"
result $? "--json -o FILE: the program's standard output is its own"

"$mimic" sim "$programs/counts" >"$work/output" 2>"$work/errors" &&
	[ "$(cat "$work/output")" = "3000 1" ] && grep -q '^words: ' "$work/errors"
result $? "without --json too, and the report is on standard error"

# --- the fields of the report -----------------------------------------------------------------------

# The fields of a report beside those of docs/sim-json.md, its parameters beside those of docs/timing-soc.md
cat >"$work/fields.py" <<'EOF'
import json, re, sys

# Paths of fields; [] stands for each element of an array.
def walk(value, path, found):
    if isinstance(value, dict):
        found.add(path)
        for key, inner in value.items():
            walk(inner, path + "." + key if path else key, found)
    elif isinstance(value, list) and isinstance(value[0], dict):
        found.add(path)
        for inner in value:
            walk(inner, path + "[]", found)
    else:
        found.add(path + "[]" if isinstance(value, list) else path)
    return found

report = json.load(open(sys.argv[1]))
assert list(report)[0] == "schema" and report["schema"] == 1
keys = {section + "." + key for section, part in report.pop("parameters").items() for key in part}
found = walk(report, "", {"parameters"}) - {"", "uncosted.sources[]", "phases[]", "phases[].cores[]", "intervals[]",
                                            "phases[].devices[]", "intervals[].devices[]"}
# The keys of one of several devices, and of its intervals, are described with those of all devices together.
found = {re.sub(r"^intervals\[\]\.devices\[\]", "phases[].devices[]", path) for path in found}
found = {re.sub(r"^phases\[\]\.devices\[\]\.(?!name$)", "phases[].", path) for path in found}
# Those of intervals are described where those of phases are.
for part, name in ("cores", "cores[]"), ("soc", "soc"), ("maple", "maple"), ("maple_time", "maple_time"):
    inner = {path for path in found if path.startswith("intervals[].%s." % part)}
    found = found - inner | {"phases[].%s.%s" % (name, path.split(".")[2]) for path in inner}
page = open("docs/sim-json.md").read().split("<!-- fields -->")[1].split("<!-- end -->")[0]
rows = re.findall(r"^\| `([^`]+)` \|([^|]*)\|([^|]*)\|$", page, re.M)
told = {name for name, unit, meaning in rows}
assert len(rows) == len(told) == page.count("\n| `"), "a row stands twice, or is no row"
assert all(unit.strip() for name, unit, meaning in rows), "a row has no unit"
# The model's own counters are in the page that is made from their list.
counters = open("docs/maple-registers.md").read().split("\n## Counters\n")[1].split("\n## ")[0]
told |= {"phases[].maple." + name for name in re.findall(r"^\| ([a-z0-9_]+) \|", counters, re.M)[1:]}
described = set(re.findall(r"^\| ([a-z0-9]+\.[a-z0-9_]+) \|", open("docs/timing-soc.md").read(), re.M))
for name, one, other in ("not in the page", found, told), ("not in the report", told, found), \
        ("not in timing-soc.md", keys, described), ("no parameter", described, keys):
    if one - other:
        sys.exit("%s: %s" % (name, ", ".join(sorted(one - other))))
EOF
run --devices maple:2 --interval 10000 "$programs/queue" && python3 "$work/fields.py" "$work/report.json" >>"$work/errors" 2>&1
result $? "docs/sim-json.md has the fields of the report, with a unit each"

sed 's/"l2_forwards"/"l3_forwards"/' "$work/report.json" >"$work/changed.json"
! python3 "$work/fields.py" "$work/changed.json" >"$work/output" 2>&1 && grep -q "not in the page: .*l3_forwards" "$work/output"
result $? "a field that the page does not have is found"

# --- docs/timing.md -----------------------------------------------------------------------------------

# The block of indented lines that has this text, without the indentation
block()
{
	awk -v text="$1" '
		/^    / || (/^$/ && lines) { lines = lines substr($0, 5) "\n"; found = found || index($0, text); next }
		{ if (found) exit; lines = "" }
		END { if (found) printf "%s", lines }' docs/timing.md
}

block 'gcc -o program' >"$work/commands"
(mkdir "$work/page" && cd "$work/page" && PATH=$build/bin:$PATH bash -e ../commands) >"$work/output" 2>"$work/errors" &&
	[ "$(cat "$work/output")" = right ] && is_json "$work/page/report.json" && grep -q '^MAPLE: ' "$work/errors"
result $? "the program of docs/timing.md, as printed"

block 'mimic sweep' | grep -v '^make ' >"$work/commands"
(mkdir "$work/lines" && cd "$work/lines" && ln -s "$build" build && bash -e ../commands) >"$work/output" 2>"$work/errors" &&
	is_json "$work/lines/report.json" && [ "$(grep -c ',ok,decoupled,' "$work/lines/sweep.csv")" = 6 ] &&
	[ "$(grep -c ',ok,plain-8,' "$work/lines/modes.csv")" = 18 ]
result $? "the commands of docs/timing.md, as printed"

refused "has no instrumentation: compile with -fsanitize=thread" /bin/true
result $? "a program without instrumentation: the missing flag"

cat >"$work/other.c" <<'EOF'
#ifdef C11
#include <threads.h>
static int start(void *argument) { return argument != 0; }
int main(void) { thrd_t thread; return thrd_create(&thread, start, 0); }
#else
volatile int x;
int main(void) { return x; }
#endif
EOF
cc=0
flags=$("$mimic" cflags)
libs=$("$mimic" cflags --libs)
# shellcheck disable=SC2086 # words are meant
{ gcc $flags -c -o "$work/other.o" "$work/other.c" && gcc -fsanitize=thread -o "$work/tsan" "$work/other.o" $libs &&
	gcc -o "$work/openmp" "$work/other.o" -Wl,--no-as-needed -lgomp $libs &&
	gcc -o "$work/plain" "$work/other.c" -Wl,--no-as-needed $libs &&
	gcc -DC11 $flags -c -o "$work/c11.o" "$work/other.c" && gcc -o "$work/c11" "$work/c11.o" $libs; } >"$work/output" 2>&1 || cc=1
[ $cc = 0 ] && refused "linked with libtsan" "$work/tsan" && refused "linked with -lgomp in front" "$work/openmp" &&
	refused "compile with -fsanitize=thread" "$work/plain" && refused "<threads.h>" "$work/c11"
result $? "programs that were linked otherwise, or have other threads"

refused "l2.size" --set l2.size=3 "$programs/queue" && refused "no key" --set l2.nothing=3 "$programs/queue" &&
	refused "nosoc" --soc nosoc "$programs/queue" && refused "costs" --costs "$work/no-costs.csv" "$programs/queue"
result $? "parameters and files that cannot be"

printf 'file,function\n' >"$work/costs.csv"
refused "costs.csv:1: the header line has no column loop" --costs "$work/costs.csv" "$programs/queue"
result $? "a table of costs without its columns"

run "$work/no-program"
[ $? = 127 ]
result $? "no program"

run "$programs/deadlock" consume --json
[ "$(wc -l <"$work/output")" = 1 ]
result $? "the program's arguments are its own"

# --- a report that nobody gets ------------------------------------------------------------------------

timeout 60 "$mimic" sim --json "$programs/counts" >&- 2>"$work/errors"
[ $? = 1 ] && grep -q '^mimic: sim: the report: Bad file descriptor$' "$work/errors"
result $? "with standard output closed the report is an error"
timeout 60 "$mimic" sim --json --output /dev/full "$programs/counts" >"$work/output" 2>"$work/errors"
[ $? = 1 ] && grep -q '^mimic: sim: the report: No space left on device$' "$work/errors"
result $? "on a full disk, too"
for command in cflags --version --help "sim --help"; do
	# shellcheck disable=SC2086 # words are meant
	"$mimic" $command >/dev/full 2>"$work/errors"
	[ $? = 1 ] && [ "$(cat "$work/errors")" = "mimic: standard output: No space left on device" ] || break
done && "$mimic" cflags >&- 2>"$work/errors"
[ $? = 1 ] && grep -q '^mimic: standard output: Bad file descriptor$' "$work/errors"
result $? "whatever a command prints, it fails when that cannot be written"
"$mimic" run --transport embedded -- /bin/bash -c '[ ! -e /proc/self/fd/1 ]' >&- 2>"$work/errors"
result $? "a program that is run with standard output closed finds it closed"

# --- traces -------------------------------------------------------------------------------------------

run --trace "$work/trace.json" "$programs/queue" &&
	"$build/tests/tools/check_trace" "$work/trace.json" >"$work/found" 2>>"$work/errors" &&
	grep -qx 'produced 1000' "$work/found" && grep -qx 'consumed 1000' "$work/found" &&
	cp "$work/trace.json" "$work/first.json" && run --trace "$work/trace.json" "$programs/queue" &&
	cmp "$work/first.json" "$work/trace.json" >>"$work/errors"
result $? "a trace in cycles, with every word; two runs give the same bytes"

# --- another compiler -------------------------------------------------------------------------------------

# 1000 loads, 1000 stores, an atomic of 16 bytes and a copy of 4 KiB, by any compiler.
cat >"$work/compiled.c" <<'PROGRAM'
#include <string.h>
volatile int a[1000];
char from[4096], to[4096];
unsigned __int128 wide;
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		a[i] = i;
	for (int i = 0; i < 1000; i++)
		sum += a[i];
	memcpy(to, from, sizeof(to));
	__sync_val_compare_and_swap(&wide, 0, 1);
	return sum == 499500 && wide == 1 ? 0 : 1;
}
PROGRAM
same=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	# shellcheck disable=SC2046 # words are meant
	$compiler -O2 -mcx16 $("$mimic" cflags --compiler $compiler) -c -o "$work/compiled.o" "$work/compiled.c" &&
		$compiler -o "$work/compiled" "$work/compiled.o" $("$mimic" cflags --libs) &&
		run --json --output "$work/$compiler.json" "$work/compiled" || { same=1; break; }
	python3 - "$work/$compiler.json" <<'CHECK'
import json, sys
core = json.load(open(sys.argv[1]))["phases"][0]["cores"][0]
# memcpy() makes a load and a store of each 8 bytes.
sys.exit(not (1512 <= core["loads"] <= 1516 and 1512 <= core["stores"] <= 1514))
CHECK
	[ $? = 0 ] || { echo "$compiler: other loads or stores" >>"$work/errors"; same=1; break; }
done
result $same "programs of gcc and of clang have the same hooks"

plan
