/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Virtual time: SpMV by one core of the maple-fpga preset, and by 64, beside the same program with hooks that
 * do nothing. A long run less a short one, so that start and end do not count. And DARE's MPU, in cycles of
 * its own, with all that the program does for them.
 */
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

#define SHORT_PASSES 5
#define LONG_PASSES 45
#define LONG_PASSES_OF_64 25
#define EMPTY_FACTOR 20		/* passes without a model are short */
#define LIMIT_NANOSECONDS 50	/* 20 million accesses a second */
#define AIM_OF_64 200		/* 5 million accesses a second */
#define LIMIT_OF_64 1000
#define LIMIT_RATIO 30
#define DARE_PASSES 4
#define DARE_LONG_PASSES 24
#define DARE_LIMIT 200		/* nanoseconds: 5 million cycles a second */
#define DARE_LIMIT_MIB 200
#define LIMIT_MIB 100

struct measured {
	double seconds;		/* on a CPU, of all its processes: other programs on the machine do not count */
	double kilobytes;	/* the most memory that a process of it had */
};

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

static struct measured run(char *const *arguments)
{
	struct measured measured;
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child == 0) {
		int nowhere = open("/dev/null", O_WRONLY);

		dup2(nowhere, STDOUT_FILENO);
		execv(arguments[0], arguments);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status)
		bench_fail("%s failed", arguments[0]);
	measured.seconds = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	measured.kilobytes = (double)usage.ru_maxrss;
	return measured;
}

static struct measured run_plain(const struct bench_options *options, const char *name, unsigned int passes)
{
	char program[4200], count[16];
	char *arguments[] = { program, count, NULL };

	snprintf(program, sizeof(program), "%s/bench/sim/%s", options->build, name);
	snprintf(count, sizeof(count), "%u", passes);
	return run(arguments);
}

static struct measured run_timed(const struct bench_options *options, unsigned int passes, char *cores,
				 const char *report)
{
	char tool[4200], program[4200], count[16];
	char *arguments[] = { tool, "sim", "--cores", cores, "--json", "-o", (char *)report, program, count, cores,
			      NULL };

	snprintf(tool, sizeof(tool), "%s/bin/mimic", options->build);
	snprintf(program, sizeof(program), "%s/bench/sim/spmv", options->build);
	snprintf(count, sizeof(count), "%u", passes);
	return run(arguments);
}

static double counted(struct json_object *core, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(core, name, &value) ? json_object_get_double(value) : 0;
}

/* Of the whole run, by all cores. */
static double read_accesses(const char *report)
{
	struct json_object *root = json_object_from_file(report), *phases, *cores;
	double accesses = 0;

	if (!root || !json_object_object_get_ex(root, "phases", &phases) ||
	    !json_object_object_get_ex(json_object_array_get_idx(phases, 0), "cores", &cores))
		bench_fail("%s: no report", report);
	for (size_t i = 0; i < json_object_array_length(cores); i++)
		accesses += counted(json_object_array_get_idx(cores, i), "accesses");
	json_object_put(root);
	return accesses;
}

/* Nanoseconds of CPU for an access, of so many cores. */
static double measure_access(const struct bench_options *options, char *cores, unsigned int passes,
			     const char *report)
{
	struct measured few = run_timed(options, SHORT_PASSES, cores, report), many;
	double accesses = read_accesses(report);

	many = run_timed(options, passes, cores, report);
	return (many.seconds - few.seconds) / (read_accesses(report) - accesses) * 1e9;
}

static void bench_64_cores(const struct bench_options *options, const char *report)
{
	double timed[BENCH_RUNS];

	for (int i = 0; i < BENCH_RUNS; i++)
		timed[i] = measure_access(options, "64", LONG_PASSES_OF_64, report);
	bench_report(&(struct bench_row){ .name = "simulated access, spmv, 64 cores", .unit = "ns",
		.value = bench_median(timed, BENCH_RUNS), .reference = "5 million a second",
		.reference_value = AIM_OF_64, .limit = LIMIT_OF_64 });
}

/* Cycles of the whole run are in *cycles. */
static struct measured run_dare(const struct bench_options *options, char *mode, unsigned int passes,
				const char *report, double *cycles)
{
	char tool[4200], program[4200], count[16];
	char *arguments[] = { tool, "sim", "--soc", "dare", "--mode", mode, "--json", "-o", (char *)report, program, count,
			      NULL };
	struct measured measured;
	struct json_object *root, *phases;

	snprintf(tool, sizeof(tool), "%s/bin/mimic", options->build);
	snprintf(program, sizeof(program), "%s/bench/sim/stream", options->build);
	snprintf(count, sizeof(count), "%u", passes);
	measured = run(arguments);
	root = json_object_from_file(report);
	if (!root || !json_object_object_get_ex(root, "phases", &phases))
		bench_fail("%s: no report", report);
	*cycles = counted(json_object_array_get_idx(phases, 0), "cycles");
	json_object_put(root);
	return measured;
}

static void bench_cycles(const struct bench_options *options, char *mode, const char *report)
{
	double cycle[BENCH_RUNS], memory[BENCH_RUNS], few_cycles, many_cycles;
	struct bench_row speed = { .unit = "ns", .reference = "5 million a second", .reference_value = DARE_LIMIT,
				   .limit = DARE_LIMIT };
	struct bench_row space = { .unit = "MiB", .reference = "the aim", .reference_value = DARE_LIMIT_MIB,
				   .limit = DARE_LIMIT_MIB };

	for (int i = 0; i < BENCH_RUNS; i++) {
		struct measured few = run_dare(options, mode, DARE_PASSES, report, &few_cycles);
		struct measured many = run_dare(options, mode, DARE_LONG_PASSES, report, &many_cycles);

		cycle[i] = (many.seconds - few.seconds) / (many_cycles - few_cycles) * 1e9;
		memory[i] = many.kilobytes / 1024;
	}
	snprintf(speed.name, sizeof(speed.name), "simulated cycle, DARE, spmm, %s", mode);
	speed.value = bench_median(cycle, BENCH_RUNS);
	bench_report(&speed);
	snprintf(space.name, sizeof(space.name), "memory of virtual time, DARE, %s", mode);
	space.value = bench_median(memory, BENCH_RUNS);
	bench_report(&space);
}

void bench_sim(const struct bench_options *options)
{
	char report[] = "/tmp/mimic-bench-XXXXXX";
	double timed[BENCH_RUNS], empty[BENCH_RUNS], ratios[BENCH_RUNS], memory[BENCH_RUNS], accesses = 0;
	int file = mkstemp(report);

	if (file < 0)
		bench_fail("no temporary file");
	close(file);
	for (int i = 0; i < BENCH_RUNS; i++) {
		struct measured few = run_timed(options, SHORT_PASSES, "1", report);
		double few_accesses = read_accesses(report);
		struct measured many = run_timed(options, LONG_PASSES, "1", report);
		struct measured few_empty = run_plain(options, "spmv-empty", SHORT_PASSES * EMPTY_FACTOR);
		struct measured many_empty = run_plain(options, "spmv-empty", LONG_PASSES * EMPTY_FACTOR);

		accesses = read_accesses(report) - few_accesses;
		timed[i] = (many.seconds - few.seconds) / accesses * 1e9;
		empty[i] = (many_empty.seconds - few_empty.seconds) / EMPTY_FACTOR / accesses * 1e9;
		ratios[i] = timed[i] / empty[i];
		memory[i] = (many.kilobytes - few_empty.kilobytes) / 1024;
	}
	bench_64_cores(options, report);
	bench_cycles(options, "base", report);
	bench_cycles(options, "fre", report);
	unlink(report);
	bench_report(&(struct bench_row){ .name = "simulated access, spmv, maple-fpga", .unit = "ns",
		.value = bench_median(timed, BENCH_RUNS), .reference = "the same with empty hooks",
		.reference_value = bench_median(empty, BENCH_RUNS), .limit = LIMIT_NANOSECONDS });
	bench_report(&(struct bench_row){ .name = "virtual time to empty hooks", .unit = "times",
		.value = bench_median(ratios, BENCH_RUNS), .reference = "1", .reference_value = 1,
		.limit = LIMIT_RATIO });
	bench_report(&(struct bench_row){ .name = "memory of virtual time", .unit = "MiB",
		.value = bench_median(memory, BENCH_RUNS), .reference = "the program's own: 0",
		.limit = LIMIT_MIB });
}
