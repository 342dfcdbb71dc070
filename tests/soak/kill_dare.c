/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE's work, such that an instruction that is done twice shows: products that are added to a matrix where
 * it lies, and rows that change places.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdare/dare.h"
#include "tests/soak/kill_work.h"

#define PAGE 4096u
#define TILE 16u	/* rows, and fp32 of a row */
#define ROW (TILE * sizeof(float))
#define TILES 4u
#define PASSES 6u
#define TURNS 20u

/* In memory that is shared, or not. */
struct matrices {
	float a[TILE * TILE], b[TILE * TILE], c[TILES][TILE * TILE];
	float rows[TILE * TILE];
	uint64_t from[TILE], to[TILE];	/* addresses of rows */
	float big_a[40 * 24], big_b[24 * 33], big_c[40 * 33];
};

static int check(long result, const char *step)
{
	if (result < 0)
		return kill_fail("%s: %s (%s)", step, strerror((int)-result), dare_error_text());
	kill_mark(step);
	return 0;
}

static void fill(float *values, size_t count, uint64_t seed)
{
	uint64_t state = seed + 99;

	for (size_t i = 0; i < count; i++)
		values[i] = (float)(int64_t)(kill_random(&state) % 2001 - 1000) / 64;
}

static int configure(struct dare *dare, uint64_t bytes_of_row)
{
	int error = dare_mcfg(dare, DARE_CSR_MATRIX_M, TILE);

	if (!error)
		error = dare_mcfg(dare, DARE_CSR_MATRIX_N, TILE);
	return error ? error : dare_mcfg(dare, DARE_CSR_MATRIX_K, bytes_of_row);
}

/* C += A x B transposed, without a fence between its load and its store. */
static int add_product(struct dare *dare, struct matrices *m, unsigned int tile)
{
	int error = dare_mld(dare, 0, m->c[tile], ROW);

	if (!error)
		error = dare_mld(dare, 1, m->a, ROW);
	if (!error)
		error = dare_mld(dare, 2, m->b, ROW);
	if (!error)
		error = dare_mma(dare, 0, 1, 2);
	return error ? error : dare_mst(dare, 0, m->c[tile], ROW);
}

static int multiply(struct dare *dare, struct matrices *m)
{
	int error = configure(dare, ROW);

	for (unsigned int pass = 0; pass < PASSES && !error; pass++) {
		for (unsigned int tile = 0; tile < TILES && !error; tile++)
			error = add_product(dare, m, tile);
		if (!error && pass % 2)
			error = check(dare_fence(dare), "fence of products");
	}
	return check(error, "mma");
}

/* Row i goes to the place of row i + 1, many times. */
static int turn_rows(struct dare *dare, struct matrices *m)
{
	int error = 0;

	for (unsigned int i = 0; i < TILE; i++) {
		m->from[i] = (uintptr_t)&m->rows[i * TILE];
		m->to[i] = (uintptr_t)&m->rows[(i + 1) % TILE * TILE];
	}
	for (unsigned int turn = 0; turn < TURNS && !error; turn++) {
		error = configure(dare, sizeof(uint64_t));
		if (!error)
			error = dare_mld(dare, 3, m->from, sizeof(uint64_t));
		if (!error)
			error = dare_mld(dare, 4, m->to, sizeof(uint64_t));
		if (!error)
			error = dare_mcfg(dare, DARE_CSR_MATRIX_K, ROW);
		if (!error)
			error = dare_mgather(dare, 5, 3);
		if (!error)
			error = dare_mscatter(dare, 5, 4);
		if (!error && turn % 5 == 4)
			error = check(dare_fence(dare), "fence of mgather and mscatter");
	}
	return check(error, "mscatter");
}

static int sum_counters(struct dare *dare, uint64_t *sum)
{
	struct dare_statistics s;
	int error = check(dare_counters(dare, &s), "counters");
	/* The rest depends on when the program comes with the next one. */
	const uint64_t steady[] = {
		s.instructions, s.mcfg, s.mld, s.mst, s.mma, s.mgather, s.mscatter, s.rows_loaded, s.rows_stored,
		s.bytes_loaded, s.bytes_stored, s.macs_used, s.macs_offered, s.faults,
	};

	*sum = kill_sum(0, steady, sizeof(steady));
	return error;
}

static int compute(struct dare *dare, struct matrices *m, struct kill_result *result)
{
	if (multiply(dare, m) || turn_rows(dare, m))
		return -1;
	for (unsigned int i = 0; i < 3; i++) {
		if (check(dare_gemm(dare, DARE_ADD, 40, 33, 24, m->big_a, 24, m->big_b, 33, m->big_c, 33), "dare_gemm()"))
			return -1;
	}
	result->sums[0] = kill_sum(0, m->c, sizeof(m->c));
	result->sums[1] = kill_sum(0, m->rows, sizeof(m->rows));
	result->sums[2] = kill_sum(0, m->big_c, sizeof(m->big_c));
	return sum_counters(dare, &result->sums[3]);
}

static int run_on_memory(struct dare *dare, struct matrices *m, unsigned int variant, struct kill_result *result)
{
	int error;

	memset(m, 0, sizeof(*m));
	fill(m->a, TILE * TILE, variant);
	fill(m->b, TILE * TILE, variant + 10);
	fill(m->c[0], (size_t)TILES * TILE * TILE, variant + 20);
	fill(m->rows, TILE * TILE, variant + 30);
	fill(m->big_a, sizeof(m->big_a) / sizeof(float), variant + 40);
	fill(m->big_b, sizeof(m->big_b) / sizeof(float), variant + 50);
	if (variant == 2 && check(dare_register(dare, m, sizeof(*m)), "registration of memory"))
		return -1;
	error = compute(dare, m, result);
	if (!error && variant == 2)
		error = check(dare_unregister(dare, m, sizeof(*m)), "end of a registration");
	return error;
}

static int run_dare(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	const struct dare_options options = { .transport = place->transport, .socket_path = place->socket };
	size_t size = (sizeof(struct matrices) + PAGE - 1) / PAGE * PAGE;
	bool allocates = variant % 2;
	struct matrices *m;
	struct dare *dare;
	int error;

	if (check(dare_open(&dare, &options), "OPEN"))
		return -1;
	m = allocates ? dare_alloc(dare, size) : aligned_alloc(PAGE, size);
	if (!m)
		return kill_fail("no memory: %s", strerror(errno));
	error = run_on_memory(dare, m, variant, result);
	if (error)
		return error;
	if (allocates)
		error = check(dare_free(dare, m), "end of shared memory");
	else
		free(m);
	dare_close(dare);
	kill_mark("CLOSE");
	return error;
}

const struct kill_work kill_dare = {
	.name = "dare",
	.parts = { "sums where they lie", "rows that change places", "dare_gemm()", "counters" },
	.run = run_dare,
};
