/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Host benchmarks: ratios against something measured in the same run, because
 * the machines that this runs on are shared and noisy.
 */
#ifndef MIMIC_BENCH_H
#define MIMIC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_RUNS 7	/* medians of at least five */
#define BENCH_ROUNDS_MAX 32u	/* --rounds */

struct bench_options {
	const char *build;	/* build directory */
	char socket[108];	/* of the daemon started for this run, "" if there is none */
	const char *matrix;	/* Matrix Market file for the sparse products beside the generated one, or NULL */
	char self[4096];	/* this program, to run parts of it under mimic run */
};

/* One row of the result. Ratio or value must not pass `limit`; 0: none. */
struct bench_row {
	char name[64];
	double value;
	const char *unit;
	char reference[96];
	double reference_value;	/* 0: there is none, and no ratio */
	double limit;		/* on value, in its unit */
};

void bench_report(const struct bench_row *row);
/*
 * With several rounds: prints the medians. Writes all rows as JSON (NULL: does not). The exit status: 1 if a limit was
 * exceeded in all rounds.
 */
int bench_finish(const char *output);

struct json_object;
/* The file of --output of an earlier run: bench_finish() says which rows have moved since. */
void bench_base_read(const char *path);
void bench_base_compare(struct json_object *results);

double bench_now(void);				/* seconds */
/*
 * Seconds on a CPU of this thread, and of this process: other programs on the machine
 * does not count.
 */
double bench_thread_now(void);
double bench_process_now(void);
double bench_median(double *values, size_t count);
#define BENCH_ANY_CPU (-1)
/* This thread and those that it starts; nothing where there is one CPU. */
void bench_pin(int cpu);
int bench_cpus(void);
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Median nanoseconds of a step, over many short windows: a window in which the
 * other side was not running is far off, and falls out of the median.
 */
double bench_windows(void (*step)(void *context), void *context, unsigned int steps);

/* Two steps in turn, window by window: what slows the machine for a while slows both. */
struct bench_pair {
	double value, reference;	/* medians */
	double over;			/* median of the differences */
};

struct bench_pair bench_windows_of_two(void (*step)(void *context), void *context,
				       void (*reference)(void *context), void *reference_context, unsigned int steps);

/* Nanoseconds there and back of one cache line between two CPUs, spinning. */
double bench_ping_pong(void);
/*
 * The same with a line each way, as two rings have: the floor for them. It is
 * slower, because a line that only one side writes is fetched twice a trip.
 */
double bench_ping_pong_two_lines(void);

/* Starts mimicd on a private socket; returns its pid. Devices e.g. "maple:2". */
pid_t bench_start_daemon(const struct bench_options *options, const char *devices,
			 const char *socket_path);
/* The same with an option of mimicd and its value, or NULL and NULL. */
pid_t bench_start_daemon_with(const struct bench_options *options, const char *devices, const char *socket_path,
			      const char *option, const char *value);
/* On any CPU, with so many threads at most ("0": as many as CPUs). */
pid_t bench_start_threads_daemon(const struct bench_options *options, const char *devices,
				 const char *socket_path, const char *threads);
void bench_stop_daemon(pid_t pid);

void bench_ring(const struct bench_options *options);
void bench_trap(const struct bench_options *options);
/* Nanoseconds of a load that traps, for a handler that only steps over it. */
double bench_bare_load(void);
void bench_patch(const struct bench_options *options);
void bench_pointer(const struct bench_options *options);
void bench_spmv(const struct bench_options *options);
void bench_wake(const struct bench_options *options);
void bench_clients(const struct bench_options *options);
void bench_idle(const struct bench_options *options);
void bench_dare(const struct bench_options *options);
void bench_dare_sparse(const struct bench_options *options);
void bench_virgo(const struct bench_options *options);
void bench_trace(const struct bench_options *options);
void bench_record(const struct bench_options *options);
void bench_state(const struct bench_options *options);
void bench_sim(const struct bench_options *options);

/* LIMA of `rows` rows by the transport, beside the plain loop: nanoseconds a non-zero. */
struct bench_lima {
	double plain, lima;
};
void bench_spmv_lima(const struct bench_options *options, const char *transport, size_t rows,
		     bool is_registered, struct bench_lima *result);

/* LIMA in a process of its own, with `variable` in its environment if there is a value. */
struct bench_child {
	const char *transport;
	size_t rows;
	bool is_registered;
	const char *variable, *value;
};
/* Nanoseconds a non-zero. */
double bench_lima_in_child(const struct bench_options *options, const struct bench_child *how);

/* Runs inside `mimic run`: prints the median of a trapped load in nanoseconds. */
int bench_trap_child(void);
/* The same for instructions that are replaced. */
int bench_patch_child(void);
/* And SpMV: prints nanoseconds of a nonzero. */
int bench_patch_spmv_child(void);
/* Its rows, part of bench_patch(). */
void bench_patch_spmv(const struct bench_options *options);

#endif
