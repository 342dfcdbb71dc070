#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# OpenMP under mimic sim: results as of plain loops, cycles by the schedule; missing functions are refused.
#
#   test-openmp.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
unset MIMIC_SIM OMP_NUM_THREADS OMP_SCHEDULE

run() # run ARGUMENTS...: mimic sim, the report in $work/report.json
{
	rm -f "$work/report.json"
	timeout -k 5 60 "$mimic" sim --json -o "$work/report.json" "$@" >"$work/output" 2>"$work/errors"
}

# compile NAME SOURCE [FLAG...]: $work/NAME
compile()
{
	local name=$1 source=$2
	shift 2
	# shellcheck disable=SC2046 # words are meant
	gcc -O2 -fopenmp -Wall -Wextra "$@" $("$mimic" cflags) -c -o "$work/$name.o" "$source" &&
		gcc -fopenmp -o "$work/$name" "$work/$name.o" $("$mimic" cflags --libs)
}

echo 'int main(void) { return 0; }' >"$work/none.c"
if ! gcc -fopenmp -o "$work/none" "$work/none.c" 2>/dev/null; then
	skip "OpenMP in virtual time" "gcc has no libgomp"
	plan
	exit
fi
compile constructs tests/openmp/constructs.c -Werror >"$work/output" 2>"$work/errors" &&
	compile time tests/openmp/time.c -Werror >>"$work/output" 2>>"$work/errors"
result $? "programs are compiled and linked with -fopenmp and mimic cflags"

# --- results ---------------------------------------------------------------------------------------

for threads in 3 4 7 64; do
	run --cores $threads "$work/constructs" && [ "$(cat "$work/output")" = "right $threads" ]
	result $? "loops, sections, critical, atomic, single, locks and reductions by $threads threads"
done
for schedule in static static,3 dynamic,5 guided guided,2 auto monotonic:dynamic; do
	OMP_SCHEDULE=$schedule run --cores 3 "$work/constructs" && [ "$(cat "$work/output")" = "right 3" ] || echo "$schedule"
done >"$work/wrong"
[ ! -s "$work/wrong" ]
result $? "OMP_SCHEDULE"
OMP_NUM_THREADS=3,2 run --cores 8 "$work/constructs" && [ "$(cat "$work/output")" = "right 3" ] &&
	grep -q '"threads": \?3,' "$work/report.json"
result $? "OMP_NUM_THREADS"

run --cores 4 "$work/constructs" && cp "$work/report.json" "$work/first.json" &&
	LONG=$(printf '%4001s' x) run --cores 4 --randomize "$work/constructs" && cmp "$work/first.json" "$work/report.json" >>"$work/errors"
result $? "two runs give the same bytes"

OMP_NUM_THREADS=3 timeout 60 "$work/constructs" >"$work/output" 2>"$work/errors" && [ "$(cat "$work/output")" = "right 3" ]
result $? "without mimic sim libgomp does it"
# shellcheck disable=SC2046 # words are meant
gcc -o "$work/without" "$work/constructs.o" $("$mimic" cflags --libs) 2>"$work/errors" &&
	OMP_NUM_THREADS=3 timeout 60 "$work/without" >"$work/output" 2>>"$work/errors" && [ "$(cat "$work/output")" = "right 3" ]
result $? "so it does for a program that is not linked with it"

# --- cycles ----------------------------------------------------------------------------------------

# Loads block in maple-sim: with the two instructions before it an access that hits takes 4 cycles. A fork of 4 threads is
# below 1000: 100 + 3 * 20 instructions, and some 20 accesses of words that another core has written, of 62 cycles at most or 332.
for threads in 1 4; do
	OMP_NUM_THREADS=$threads OMP_SCHEDULE=dynamic,200 run --soc maple-sim --cores 4 --set core.translation=0 "$work/time" && cp "$work/report.json" "$work/by$threads.json" &&
		cp "$work/output" "$work/output$threads"
done
holds() # holds EXPRESSION: of one(PHASE), four(PHASE): cycles by 1 and 4 threads
{
	python3 - "$work/by1.json" "$work/by4.json" "$1" >"$work/output" 2>"$work/errors" <<'EOF'
import json, sys
cycles = [{p["name"]: p["cycles"] for p in json.load(open(path))["phases"]} for path in sys.argv[1:3]]
one, four = cycles[0].get, cycles[1].get
print(cycles)
assert eval(sys.argv[3]), sys.argv[3]
EOF
}
holds '160000 <= one("static") < 160000 + 1000'
result $? "one thread: 40000 accesses of 4 cycles"
holds '40000 <= four("static") < 40000 + 1500 and four("static") - 40000 <= four("empty") + 200'
result $? "static: a quarter for each of 4 threads, and the fork"
# Rows 150 to 199 of 0 to 199 have (199 * 200 - 149 * 150) / 2 of 199 * 200 / 2 units.
holds 'abs(four("triangle static") - 4 * (199 * 200 - 149 * 150) / 2) < 1500'
result $? "static: the last thread has most of a triangle"
holds '4 * 199 * 200 / 2 / 4 <= four("triangle dynamic") < 1.3 * 4 * 199 * 200 / 2 / 4'
result $? "dynamic: the triangle is balanced"
holds 'max(four("triangle dynamic"), four("triangle guided")) < 0.9 * four("triangle static")'
result $? "dynamic and guided take less than static"
holds 'four("triangle runtime") >= 4 * 199 * 200 / 2'
result $? "runtime: one chunk of all rows is one thread's"
holds 'four("critical") >= 64 * 100 * 4'
result $? "critical: one thread at a time"
[ "$(sed 's/barrier //' "$work/output4")" -ge $((5000 * 4)) ]
result $? "barrier: nobody is behind it before the last has come"

run --cores 4 "$work/time" pthread_exit && grep -q '"end": \?"ended"' "$work/report.json"
result $? "pthread_exit() of main() does not wait for threads that have no work"

name="mimic costs counts the loops of parallel regions"
if ! command -v riscv64-linux-gnu-gcc >/dev/null; then
	skip "$name" "no riscv64-linux-gnu-gcc"
else
	"$mimic" costs -o "$work/costs.csv" tests/openmp/time.c -- -fopenmp 2>"$work/errors" &&
		run --cores 4 --costs "$work/costs.csv" "$work/time" && ! grep "no cost" "$work/errors"
	result $? "$name"
fi

# --- missing functions -----------------------------------------------------------------------------

# lacks FUNCTIONS WORDS BODY: main() with it is refused by name, before it runs
lacks()
{
	printf '#include <omp.h>\nstatic volatile int x[100];\nint main(void)\n{\n%s\n\treturn x[0];\n}\n' "$3" >"$work/lacks.c"
	compile lacks "$work/lacks.c" -Wno-unused >"$work/output" 2>"$work/errors" && refused "(): OpenMP in virtual time does not have $2;" "$work/lacks" &&
		grep -qE "calls ($1)\(\):" "$work/errors"
	result $? "$2 is refused by name"
}
lacks GOMP_task tasks '#pragma omp task
	x[1] = 1;'
lacks GOMP_target_ext target '#pragma omp target
	x[1] = 1;'
lacks GOMP_teams_reg teams '#pragma omp teams
	x[1] = 1;'
lacks "GOMP_[a-z_]*doacross[a-z_]*" "doacross loops" '#pragma omp parallel for ordered(1)
	for (int i = 1; i < 100; i++) {
#pragma omp ordered depend(sink: i - 1)
		x[i] = 1;
	}'
lacks "GOMP_[a-z_]*ordered[a-z_]*" ordered '#pragma omp parallel for ordered schedule(static, 3)
	for (int i = 1; i < 100; i++)
#pragma omp ordered
		x[i] = 1;'
lacks "GOMP_[a-z_]*cancel[a-z_]*" cancellation '#pragma omp parallel
	{
#pragma omp cancel parallel
	}'
lacks omp_set_nest_lock "nested locks" '	static omp_nest_lock_t lock;
	omp_set_nest_lock(&lock);'

OMP_NUM_THREADS=5 refused "a parallel region of OpenMP is to have 5 threads, and the SoC has 4 cores: --cores N gives it N" --cores 4 "$work/time"
result $? "more threads than cores"
OMP_NUM_THREADS=0 refused "OMP_NUM_THREADS='0': it must be a number from 1 on" "$work/time" &&
	OMP_NUM_THREADS=2 OMP_SCHEDULE=static,x run "$work/time"
[ $? = 2 ] && grep -qF "OMP_SCHEDULE='static,x': it must be static, dynamic, guided or auto" "$work/errors"
result $? "variables that cannot be"
# shellcheck disable=SC2046 # words are meant
gcc -o "$work/first" "$work/time.o" -Wl,--no-as-needed -lgomp $("$mimic" cflags --libs) 2>"$work/errors" &&
	refused "linked with -lgomp in front of the output of 'mimic cflags --libs'" "$work/first"
result $? "libgomp in front of libmimic-sim"

# The run-time and libgomp, to which it passes calls on, have all functions that the command accepts.
{
	printf '#include "sim/openmp.h"\n#define _(name) name\nSIM_OPENMP_FUNCTIONS(_)\n#undef _\n'
	printf '#define L(name) GOMP_loop_##name##_start GOMP_loop_##name##_next GOMP_loop_ull_##name##_start GOMP_loop_ull_##name##_next GOMP_parallel_loop_##name\n'
	printf '#define _(name, schedule) L(name)\nSIM_OPENMP_SCHEDULES(_)\nSIM_OPENMP_RUNTIME_SCHEDULES(L)\n'
} | gcc -E -P -I. - | tr ' ' '\n' | grep . | sort >"$work/list"
exports() { nm -D --defined-only "$1" | awk '$3 ~ /^(GOMP|omp)_/ { sub(/@.*/, "", $3); print $3 }' | sort -u; }
exports "$build/lib/libmimic-sim.so.0" >"$work/ours" && exports "$(gcc -print-file-name=libgomp.so)" >"$work/theirs" &&
	diff "$work/list" "$work/ours" >"$work/output" && [ -s "$work/list" ] && ! comm -23 "$work/list" "$work/theirs" | grep . >>"$work/output"
result $? "libmimic-sim has the functions of its list and no others, and libgomp has them all"

plan
