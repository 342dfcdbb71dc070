/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* SpMM and SDDMM of single elements (B = 1) with 64 columns, beside plain scalar loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_dare.h"
#include "examples/common/input.h"

#define COLUMNS 64
#define SPMM_LIMIT 5	/* times the plain loop, embedded */
#define SDDMM_LIMIT 4
#define DAEMON_LIMIT 20	/* of both */
#define SCALE 14	/* vertices of the generated graph: 2^SCALE */

#ifdef __clang__
#define SCALAR
#define SCALAR_LOOP _Pragma("clang loop vectorize(disable) interleave(disable)")
#else
#define SCALAR __attribute__((optimize("no-tree-vectorize")))
#define SCALAR_LOOP
#endif

struct problem {
	struct dare *dare;
	struct csr csr;
	struct dare_sparse matrix;
	struct dare_blocks *blocks;
	float *value;
	float *left, *right;	/* rows x COLUMNS and columns x COLUMNS */
	float *result;		/* of the device: rows x COLUMNS, or nonzeros */
	float *expected;
};

SCALAR static void plain_spmm(const struct problem *p)
{
	const struct csr *s = &p->csr;

	for (uint64_t row = 0; row < s->rows; row++) {
		float *restrict c = p->expected + row * COLUMNS;

		memset(c, 0, COLUMNS * sizeof(float));
		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
			const float *restrict d = p->right + (size_t)s->column[i] * COLUMNS;
			float value = p->value[i];

			SCALAR_LOOP
			for (size_t k = 0; k < COLUMNS; k++)
				c[k] += value * d[k];
		}
	}
}

SCALAR static void plain_sddmm(const struct problem *p)
{
	const struct csr *s = &p->csr;

	for (uint64_t row = 0; row < s->rows; row++) {
		const float *a = p->left + row * COLUMNS;

		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
			const float *b = p->right + (size_t)s->column[i] * COLUMNS;
			float sum = 0;

			SCALAR_LOOP
			for (size_t k = 0; k < COLUMNS; k++)
				sum += a[k] * b[k];
			p->expected[i] = p->value[i] * sum;
		}
	}
}

static void device_spmm(const struct problem *p)
{
	if (dare_spmm(p->dare, DARE_AUTO, p->blocks, p->value, COLUMNS, p->right, COLUMNS,
		      p->result, COLUMNS))
		bench_fail("dare_spmm: %s", dare_error_text());
}

static void device_sddmm(const struct problem *p)
{
	if (dare_sddmm(p->dare, DARE_AUTO, p->blocks, p->value, COLUMNS, p->left, COLUMNS, p->right,
		       COLUMNS, p->result))
		bench_fail("dare_sddmm: %s", dare_error_text());
}

static float *numbers(const struct problem *p, uint64_t count)
{
	float *values = dare_alloc(p->dare, (size_t)count * sizeof(float));

	if (!values)
		bench_fail("no memory");
	for (uint64_t i = 0; i < count; i++)
		values[i] = (float)(i % 9) - 4;
	return values;
}

static void make_problem(struct problem *p, const char *path)
{
	struct input input = { .path = path, .kronecker_scale = path ? 0 : SCALE, .seed = 1 };
	struct message message;
	uint64_t results;

	if (input_load(&p->csr, &input, &message))
		bench_fail("%s", message.text);
	p->matrix = (struct dare_sparse){ .layout = DARE_CSR, .rows = p->csr.rows,
					  .columns = p->csr.columns, .start = p->csr.row_start,
					  .index = p->csr.column };
	if (dare_blockify(&p->blocks, &p->matrix, 1))
		bench_fail("dare_blockify: %s", dare_error_text());
	results = p->csr.rows * COLUMNS;
	if (results < p->csr.nonzeros)
		results = p->csr.nonzeros;
	p->value = numbers(p, p->csr.nonzeros);
	p->left = numbers(p, p->csr.rows * COLUMNS);
	p->right = numbers(p, p->csr.columns * COLUMNS);
	p->result = numbers(p, results);
	p->expected = numbers(p, results);
}

static void free_problem(struct problem *p)
{
	float *const arrays[] = { p->value, p->left, p->right, p->result, p->expected };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		dare_free(p->dare, arrays[i]);
	dare_blocks_free(p->blocks);
	csr_free(&p->csr);
}

static double time_of(void (*run)(const struct problem *p), const struct problem *p)
{
	double start = bench_now();

	run(p);
	return bench_now() - start;
}

/* Zeros may differ in their sign (dare_sparse.h). */
static void check(const char *name, const struct problem *p, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (p->result[i] != p->expected[i])
			bench_fail("%s: result %llu is wrong", name, (unsigned long long)i);
	}
}

static void compare(const struct problem *p, const char *name, const char *graph,
		    void (*plain)(const struct problem *p), void (*device)(const struct problem *p),
		    uint64_t count, double limit)
{
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;

	time_of(plain, p);
	time_of(device, p);
	for (int run = 0; run < BENCH_RUNS; run++) {
		times[run] = time_of(plain, p);
		ratios[run] = time_of(device, p) / times[run];
		check(name, p, count);
	}
	reference = bench_median(times, BENCH_RUNS) / (double)p->csr.nonzeros * 1e9;
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference,
				  .unit = "ns/non-zero",
				  .reference = "plain scalar CSR loop",
				  .reference_value = reference,
				  .limit = limit * reference };
	snprintf(row.name, sizeof(row.name), "dare_%s_b1_%s_%s", name, graph, dare_transport(p->dare));
	bench_report(&row);
}

static void measure(const struct bench_options *options, const char *transport, const char *path,
		    const char *graph)
{
	struct problem p = { .dare = bench_dare_open(options, transport) };
	bool is_daemon = strcmp(transport, "daemon") == 0;

	make_problem(&p, path);
	compare(&p, "spmm", graph, plain_spmm, device_spmm, p.csr.rows * COLUMNS,
		is_daemon ? DAEMON_LIMIT : SPMM_LIMIT);
	compare(&p, "sddmm", graph, plain_sddmm, device_sddmm, p.csr.nonzeros,
		is_daemon ? DAEMON_LIMIT : SDDMM_LIMIT);
	free_problem(&p);
	dare_close(p.dare);
}

void bench_dare_sparse(const struct bench_options *options)
{
	static const char *const transports[] = { "embedded", "daemon" };

	bench_pin(0);
	for (int i = 0; i < 2; i++) {
		measure(options, transports[i], NULL, "kronecker");
		if (options->matrix)
			measure(options, transports[i], options->matrix, "matrix");
	}
}
