#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic-sweep(1)'s recipe for Slurm, with a slurmctld and a slurmd: an array job, and one that is cut off. TAP.
# usage: test-array.sh BUILD; SLURM_ROOT=DIR: Slurm's packages are unpacked there
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=tests/slurm/node.sh
. tests/slurm/node.sh

missing=$(slurm_missing)
if [ -n "$missing" ]; then
	echo "1..0 # SKIP no Slurm here (${missing% }): apt-get install slurm-wlm munge, or SLURM_ROOT=DIR with these unpacked"
	exit 0
fi
trap 'slurm_stop; rm -rf "$work"' EXIT
slurm_start
result $? "slurmctld, slurmd and munged begin, and the node is idle"
[ $failed = 0 ] || { tail -n 20 "$work"/slurm/*.log "$work"/slurm/*.out | sed 's/^/# /'; plan; exit 1; }

mimic=$build/bin/mimic
# The words of the manual page, but for the array's numbers.
# shellcheck disable=SC2016 # the job's shell expands them
recipe='eval "$(sed -n ${SLURM_ARRAY_TASK_ID}p commands)"'
grep -qF -- "$recipe" docs/man/mimic-sweep.1.scd
result $? "the recipe is the manual page's"
cd "$work" || exit 2

# array [MOST]: runs all lines of commands, MOST at a time; the job's number in $job
array()
{
	job=$(slurm sbatch --parsable --output="$work/job-%A-%a" --array="1-$(wc -l <commands)${1:+%$1}" --wrap "$recipe" 2>"$work/errors")
	[ -n "$job" ]
}

# --- all of it ----------------------------------------------------------------------------------------

program=("$build/sim/examples/maple/loops" --kernel spmv --form decoupled --uniform 64x4096x8)
grid=(--soc maple-fpga,maple-sim --set dram.latency=100,200,300)
"$mimic" sweep "${grid[@]}" "${program[@]}" >expected 2>errors
"$mimic" sweep "${grid[@]}" --directory points --list "${program[@]}" >commands && array && slurm_wait "$job" &&
	"$mimic" sweep "${grid[@]}" --directory points --collect "${program[@]}" >output 2>errors && cmp expected output
result $? "an array job of 6 points makes the table that the sweep makes"
"$mimic" sweep "${grid[@]}" --directory points --list --resume "${program[@]}" >commands 2>errors && [ ! -s commands ]
result $? "nothing is left of it"

# --- cut off ---------------------------------------------------------------------------------------------

# A program that counts its runs, and does not end in the third one while there is a file "stop".
cat >counts.c <<'END'
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
	char name[32];
	int run = 1;

	do
		snprintf(name, sizeof(name), "run-%d", run++);
	while (mkdir(name, 0777));
	while (run == 4 && access("stop", F_OK) == 0)
		usleep(10000);
	return access("fail", F_OK) == 0;
}
END
# shellcheck disable=SC2046 # flags are words
gcc $("$mimic" cflags) -c -o counts.o counts.c && gcc -o counts counts.o $("$mimic" cflags --libs) || exit 2
cut=(--set dram.latency=100,200,300,400 --directory cut)
touch stop
"$mimic" sweep "${cut[@]}" --list ./counts >commands && array 1
for _ in $(seq 200); do
	[ -d run-3 ] && break
	sleep 0.1
done
slurm scancel "$job"
slurm_wait "$job" && [ -d run-3 ] && [ ! -d run-4 ] && [ "$(find cut -name '*.json' | wc -l)" = 2 ]
result $? "a job that is cancelled in its third point keeps two"
rm stop
"$mimic" sweep "${cut[@]}" --list --resume ./counts >commands 2>errors && [ "$(wc -l <commands)" = 2 ] && array && slurm_wait "$job" &&
	[ -d run-5 ] && [ ! -d run-6 ] && "$mimic" sweep "${cut[@]}" --collect ./counts >output 2>errors && [ "$(grep -c ',ok,' output)" = 4 ]
result $? "the sweep is taken up where it stopped: the other two run, and the table is whole"

# --- points that fail ------------------------------------------------------------------------------------

touch fail
failing=(--set dram.latency=100,200 --directory failing)
"$mimic" sweep "${failing[@]}" --list ./counts >commands && array && slurm_wait "$job" &&
	[ "$(slurm scontrol show job "$job" | grep -c 'JobState=FAILED')" = 2 ] && [ -z "$(find failing -name '*.json')" ]
result $? "points of a program that fails are failed jobs, and leave no report"
rm fail
"$mimic" sweep "${failing[@]}" --list --resume ./counts >commands 2>errors && [ "$(wc -l <commands)" = 2 ] && array && slurm_wait "$job" &&
	"$mimic" sweep "${failing[@]}" --collect ./counts >output 2>errors && [ "$(grep -c ',ok,' output)" = 2 ]
result $? "and run again with what is left"

slurm_stop
plan
