/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Dense products through libdare beside OpenBLAS on the same core, and the cost of an open context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/bench_dare.h"
#include "bench/openblas.h"

#define SIDE 1024
#define LARGE_SIDE 2048
#define DAEMON_LIMIT 1.15	/* times embedded */
#define LEAST_SHARE 0.5		/* of OpenBLAS's rate, embedded */

struct dare *bench_dare_open(const struct bench_options *options, const char *transport)
{
	struct dare_options how = { .transport = transport, .socket_path = options->socket };
	struct dare *dare;

	if (dare_open(&dare, &how))
		bench_fail("dare_open on %s: %s", transport, dare_error_text());
	return dare;
}

struct problem {
	size_t side;
	float *a, *b, *c, *expected;
};

/* Small whole numbers: sums are exact in any order, and can be compared. */
static void make_problem(struct problem *p, size_t side)
{
	size_t size = side * side * sizeof(float);

	*p = (struct problem){ side, malloc(size), malloc(size), malloc(size), malloc(size) };
	if (!p->a || !p->b || !p->c || !p->expected)
		bench_fail("no memory");
	for (size_t i = 0; i < side * side; i++) {
		p->a[i] = (float)((i * 7 + i / side) % 13) - 6;
		p->b[i] = (float)((i * 5 + i / side) % 11) - 5;
		p->c[i] = 0;
		p->expected[i] = 0;
	}
}

static void free_problem(struct problem *p)
{
	free(p->a);
	free(p->b);
	free(p->c);
	free(p->expected);
}

static double time_openblas(const struct openblas *blas, struct problem *p)
{
	double start = bench_thread_now();

	openblas_square(blas, p->side, p->a, p->b, p->expected);
	return bench_thread_now() - start;
}

static double time_gemm(struct dare *dare, struct problem *p, double (*now)(void))
{
	const size_t n = p->side;
	double start = now();

	if (dare_gemm(dare, 0, n, n, n, p->a, n, p->b, n, p->c, n))
		bench_fail("dare_gemm: %s", dare_error_text());
	return now() - start;
}

static void check(const struct problem *p)
{
	if (memcmp(p->c, p->expected, p->side * p->side * sizeof(float)))
		bench_fail("dare_gemm and OpenBLAS differ");
}

/* Runs of both in turn: the machine's speed changes while we measure. */
static void gemm_beside_openblas(const struct bench_options *options, const struct openblas *blas,
				 size_t side)
{
	const double macs = (double)side * (double)side * (double)side;
	struct dare *dare = bench_dare_open(options, "embedded");
	double blas_times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;
	struct problem p;

	make_problem(&p, side);
	time_openblas(blas, &p);
	time_gemm(dare, &p, bench_thread_now);
	for (int run = 0; run < BENCH_RUNS; run++) {
		blas_times[run] = time_openblas(blas, &p);
		ratios[run] = time_gemm(dare, &p, bench_thread_now) / blas_times[run];
		check(&p);
	}
	reference = bench_median(blas_times, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference_value = reference * 1e3,
				  .limit = openblas_share_limit(macs, reference, side == SIDE, LEAST_SHARE) * 1e3 };
	snprintf(row.name, sizeof(row.name), "dare_gemm_%zu_embedded", side);
	snprintf(row.reference, sizeof(row.reference), "OpenBLAS (%s), one thread, %.0f G MAC/s",
		 blas->core, macs / reference * 1e-9);
	bench_report(&row);
	free_problem(&p);
	dare_close(dare);
}

static void gemm_on_daemon(const struct bench_options *options, size_t side, int runs)
{
	struct dare *embedded = bench_dare_open(options, "embedded");
	struct dare *daemon = bench_dare_open(options, "daemon");
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;
	struct problem p;

	make_problem(&p, side);
	time_gemm(embedded, &p, bench_now);
	memcpy(p.expected, p.c, side * side * sizeof(float));
	time_gemm(daemon, &p, bench_now);
	for (int run = 0; run < runs; run++) {
		times[run] = time_gemm(embedded, &p, bench_now);
		ratios[run] = time_gemm(daemon, &p, bench_now) / times[run];
		check(&p);
	}
	reference = bench_median(times, (size_t)runs);
	row = (struct bench_row){ .value = bench_median(ratios, (size_t)runs) * reference * 1e3,
				  .unit = "ms",
				  .reference = "the same, embedded",
				  .reference_value = reference * 1e3,
				  .limit = bench_cpus() > 1 ? DAEMON_LIMIT * reference * 1e3 : 0 };
	snprintf(row.name, sizeof(row.name), "dare_gemm_%zu_daemon", side);
	bench_report(&row);
	free_problem(&p);
	dare_close(daemon);
	dare_close(embedded);
}

/* The same bytes as numbers of a smaller type: bf16 has half the elements, int8 a quarter. */
static double time_narrow(struct dare *dare, struct problem *p, unsigned int element)
{
	const size_t n = p->side;
	double start = bench_thread_now();
	int error = element == 2 ? dare_gemm_bf16(dare, 0, n, n, n, (const uint16_t *)p->a, n,
						  (const uint16_t *)p->b, n, p->c, n)
				 : dare_gemm_i8(dare, 0, n, n, n, (const int8_t *)p->a, n,
						(const int8_t *)p->b, n, (int32_t *)p->c, n);

	if (error)
		bench_fail("dare_gemm: %s", dare_error_text());
	return bench_thread_now() - start;
}

static void narrow_gemm(const struct bench_options *options, unsigned int element, const char *name)
{
	struct dare *dare = bench_dare_open(options, "embedded");
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;
	struct problem p;

	make_problem(&p, SIDE);
	time_gemm(dare, &p, bench_thread_now);
	for (int run = 0; run < BENCH_RUNS; run++) {
		times[run] = time_gemm(dare, &p, bench_thread_now);
		ratios[run] = time_narrow(dare, &p, element) / times[run];
	}
	reference = bench_median(times, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference = "fp32, embedded",
				  .reference_value = reference * 1e3 };
	snprintf(row.name, sizeof(row.name), "dare_gemm_%s_%d_embedded", name, SIDE);
	bench_report(&row);
	free_problem(&p);
	dare_close(dare);
}

#define CONTEXTS 48	/* of devices with 8 each */

static double private_kibibytes(pid_t pid)
{
	unsigned long total = 0, kib;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "r");
	if (!file)
		bench_fail("cannot read %s", path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Private_Dirty: %lu", &kib) == 1 ||
		    sscanf(line, "Shared_Dirty: %lu", &kib) == 1)
			total += kib;
	}
	fclose(file);
	return (double)total;
}

/* Opens contexts and uses each; answers the memory for each, of this process and of `daemon`, if there is one. */
static double context_kibibytes(const struct dare_options *how, pid_t daemon)
{
	struct dare *contexts[CONTEXTS];
	static _Alignas(64) char tile[1024];
	double before, after;

	if (dare_open(&contexts[0], how))
		bench_fail("dare_open: %s", dare_error_text());
	dare_mld(contexts[0], 0, tile, 64);
	if (dare_fence(contexts[0]))
		bench_fail("dare_fence: %s", dare_error_text());
	before = private_kibibytes(getpid()) + (daemon ? private_kibibytes(daemon) : 0);
	for (int i = 1; i < CONTEXTS; i++) {
		if (dare_open(&contexts[i], how))
			bench_fail("dare_open %d: %s", i, dare_error_text());
		for (unsigned int md = 0; md < 8; md++)
			dare_mld(contexts[i], md, tile, 64);
		if (dare_fence(contexts[i]))
			bench_fail("dare_fence: %s", dare_error_text());
	}
	after = private_kibibytes(getpid()) + (daemon ? private_kibibytes(daemon) : 0);
	for (int i = 0; i < CONTEXTS; i++)
		dare_close(contexts[i]);
	return (after - before) / (CONTEXTS - 1);
}

static void report_memory(const char *name, double kibibytes)
{
	struct bench_row row = { .value = kibibytes, .unit = "KiB", .reference = "the issue's limit",
				 .reference_value = 64, .limit = 64 };

	snprintf(row.name, sizeof(row.name), "dare_context_memory_%s", name);
	bench_report(&row);
}

/* In a process of its own: this one would use memory again that it has allocated and freed before. */
static double context_kibibytes_apart(const struct dare_options *how, pid_t daemon)
{
	double value = -1;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends))
		bench_fail("no pipe");
	pid = fork();
	if (pid < 0)
		bench_fail("no process");
	if (!pid) {
		setenv("MIMIC_DEVICES", "dare:8", 1);
		value = context_kibibytes(how, daemon);
		_exit(write(ends[1], &value, sizeof(value)) != sizeof(value));
	}
	if (waitpid(pid, &status, 0) != pid || status ||
	    read(ends[0], &value, sizeof(value)) != sizeof(value))
		bench_fail("contexts could not be measured");
	close(ends[0]);
	close(ends[1]);
	return value;
}

static void context_memory(const struct bench_options *options)
{
	char socket_path[sizeof(options->socket) + 8];
	struct dare_options embedded = { .transport = "embedded" };
	struct dare_options remote = { .transport = "daemon", .socket_path = socket_path };
	pid_t daemon;

	report_memory("embedded", context_kibibytes_apart(&embedded, 0));
	snprintf(socket_path, sizeof(socket_path), "%s.dare", options->socket);
	daemon = bench_start_daemon(options, "dare:8", socket_path);
	report_memory("daemon", context_kibibytes_apart(&remote, daemon));
	bench_stop_daemon(daemon);
}

void bench_dare(const struct bench_options *options)
{
	struct openblas blas;

	context_memory(options);
	openblas_load(&blas);
	bench_pin(0);
	gemm_beside_openblas(options, &blas, SIDE);
	gemm_beside_openblas(options, &blas, LARGE_SIDE);
	narrow_gemm(options, 2, "bf16");
	narrow_gemm(options, 1, "int8");
	gemm_on_daemon(options, SIDE, BENCH_RUNS);
	gemm_on_daemon(options, LARGE_SIDE, 5);
}
