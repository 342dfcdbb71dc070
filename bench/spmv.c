/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* SpMV of a uniform random matrix, 1 M rows of 16: LIMA_PRODUCE and decoupled, beside the plain loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "libmaple/maple.h"

#define ROWS (1u << 20)
#define PER_ROW 16

struct problem {
	size_t rows, nonzeros;
	bool is_registered;	/* x and the columns are of maple_alloc() */
	uint64_t *row_start;
	uint32_t *column;
	double *value, *x, *y, *expected;
};

static void *shared(const struct problem *p, struct maple *maple, size_t size)
{
	void *memory = p->is_registered ? maple_alloc(maple, size) : malloc(size);

	if (!memory)
		bench_fail("no memory of %zu bytes", size);
	return memory;
}

static void free_shared(const struct problem *p, struct maple *maple, void *memory)
{
	if (p->is_registered)
		maple_free(maple, memory);
	else
		free(memory);
}

static void make_problem(struct problem *p, struct maple *maple)
{
	uint64_t state = 88172645463325252ull;

	p->row_start = malloc((p->rows + 1) * sizeof(*p->row_start));
	p->value = malloc(p->nonzeros * sizeof(*p->value));
	p->y = malloc(p->rows * sizeof(*p->y));
	p->expected = malloc(p->rows * sizeof(*p->expected));
	p->column = shared(p, maple, p->nonzeros * sizeof(*p->column));
	p->x = shared(p, maple, p->rows * sizeof(*p->x));
	if (!p->row_start || !p->value || !p->y || !p->expected)
		bench_fail("no memory");
	for (size_t i = 0; i <= p->rows; i++)
		p->row_start[i] = i * PER_ROW;
	for (size_t i = 0; i < p->rows; i++)
		p->x[i] = 1.0 / (double)(i + 1);
	for (size_t i = 0; i < p->nonzeros; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		p->column[i] = (uint32_t)(state % p->rows);
		p->value[i] = (double)(state >> 40);
	}
}

static void free_problem(struct problem *p, struct maple *maple)
{
	free_shared(p, maple, p->column);
	free_shared(p, maple, p->x);
	free(p->row_start);
	free(p->value);
	free(p->y);
	free(p->expected);
}

static double run_form(struct maple *maple, enum maple_form form, struct problem *p, double *y)
{
	double start = bench_now();
	int error = maple_spmv_csr(maple, form, p->rows, p->row_start, p->column, p->value, p->x, y);

	if (error)
		bench_fail("maple_spmv_csr: %s", strerror(-error));
	return (bench_now() - start) / (double)p->nonzeros * 1e9;
}

static void check(const struct problem *p)
{
	if (memcmp(p->y, p->expected, p->rows * sizeof(*p->y)))
		bench_fail("SpMV is wrong");
}

static struct maple *init(const struct bench_options *options, const char *transport,
			  struct problem *p, size_t rows, bool is_registered)
{
	struct maple_options how = { .transport = transport, .socket_path = options->socket,
				     .queue_words = 128 };
	struct maple *maple;

	if (maple_init(&maple, &how))
		bench_fail("maple_init on %s: %s", transport, maple_error_text());
	p->rows = rows;
	p->nonzeros = rows * PER_ROW;
	p->is_registered = is_registered;
	make_problem(p, maple);
	return maple;
}

void bench_spmv_lima(const struct bench_options *options, const char *transport, size_t rows,
		     bool is_registered, struct bench_lima *result)
{
	double plain[BENCH_RUNS], ratio[BENCH_RUNS];
	struct problem p;
	struct maple *maple = init(options, transport, &p, rows, is_registered);

	bench_pin(0);
	for (int run = 0; run < BENCH_RUNS; run++) {
		plain[run] = run_form(maple, MAPLE_PLAIN, &p, p.expected);
		ratio[run] = run_form(maple, MAPLE_LIMA, &p, p.y) / plain[run];
		check(&p);
	}
	result->plain = bench_median(plain, BENCH_RUNS);
	result->lima = bench_median(ratio, BENCH_RUNS) * result->plain;
	free_problem(&p, maple);
	maple_fini(maple);
}

static void lima(const struct bench_options *options, const char *transport, double limit)
{
	struct bench_row row = { .unit = "ns/nonzero" };
	struct bench_lima result;

	bench_spmv_lima(options, transport, ROWS, true, &result);
	snprintf(row.name, sizeof(row.name), "spmv_lima_%s", transport);
	snprintf(row.reference, sizeof(row.reference), "plain loop, same matrix");
	row.reference_value = result.plain;
	row.value = result.lima;
	row.limit = limit * row.reference_value;
	bench_report(&row);
}

/* `limit` in nanoseconds; 0: that of two threads whose queue's line is moved. */
static void decoupled(const struct bench_options *options, const char *transport, double limit)
{
	double ours[BENCH_RUNS], pings[BENCH_RUNS];
	struct bench_row row = { .unit = "ns/nonzero" };
	struct problem p;
	struct maple *maple = init(options, transport, &p, ROWS, true);
	/* an element is a double: two words */
	double elements = maple_queue_words(maple) / 2.0;

	run_form(maple, MAPLE_PLAIN, &p, p.expected);
	for (int run = 0; run < BENCH_RUNS; run++) {
		pings[run] = bench_ping_pong();
		bench_pin(BENCH_ANY_CPU);	/* the access thread inherits it */
		ours[run] = run_form(maple, MAPLE_DECOUPLED, &p, p.y);
		check(&p);
	}
	snprintf(row.name, sizeof(row.name), "spmv_decoupled_%s", transport);
	snprintf(row.reference, sizeof(row.reference), "cache line ping-pong, %.0f elements a queue",
		 elements);
	row.reference_value = bench_median(pings, BENCH_RUNS);
	row.value = bench_median(ours, BENCH_RUNS);
	row.limit = limit ? limit : 15 + 2 * row.reference_value / elements;
	bench_report(&row);
	free_problem(&p, maple);
	maple_fini(maple);
}

void bench_spmv(const struct bench_options *options)
{
	lima(options, "embedded", 5);
	lima(options, "daemon", 9);	/* 5 to 6 where a line goes between the CPUs and back in 100 ns, 9 in 500 */
	decoupled(options, "embedded", 0);
	decoupled(options, "daemon", 40);
}
