/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A Virgo cluster's work: products by its DMA, sums that stay in the accumulator, and barriers. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libvirgo/virgo.h"
#include "tests/soak/kill_work.h"

#define PAGE 4096u
#define M 40u
#define N 48u
#define K 64u
#define SIZE 32u	/* of the tile */
#define ADDITIONS 5u
#define MEETINGS 16u
#define SLOT 64u	/* bytes of a thread in shared memory */

/* Elements of A and B are at most 4 bytes. */
struct matrices {
	uint32_t a[M * K], b[K * N], c[M * N];
	uint32_t sums[SIZE * SIZE], stored[SIZE * SIZE];
};

struct virgo_run {
	struct virgo *virgo;
	struct virgo_unit_info info;
	struct matrices *m;
	unsigned char *shared;
	uint64_t sums[2];
};

static int check(long result, const char *step)
{
	if (result < 0)
		return kill_fail("%s: %s (%s)", step, strerror((int)-result), virgo_error_text());
	kill_mark(step);
	return 0;
}

static void fill(void *values, size_t count, enum virgo_type type, uint64_t seed)
{
	uint64_t state = seed + 5;

	for (size_t i = 0; i < count; i++) {
		int value = (int)(kill_random(&state) % 41) - 20;

		if (type == VIRGO_INT8)
			((int8_t *)values)[i] = (int8_t)value;
		else if (type == VIRGO_FP16)
			((uint16_t *)values)[i] = virgo_half((float)value / 8);
		else
			((float *)values)[i] = (float)value / 8;
	}
}

/* C += A x B, more than once. */
static int multiply(struct virgo_run *run)
{
	const struct virgo_product product = {
		.type = run->info.type, .flags = VIRGO_ADD, .m = M, .n = N, .k = K,
		.a = run->m->a, .lda = K, .b = run->m->b, .ldb = N, .c = run->m->c, .ldc = N,
	};

	for (unsigned int i = 0; i < 3; i++) {
		if (check(virgo_gemm(run->virgo, 0, &product), "virgo_gemm()"))
			return -1;
	}
	return 0;
}

/* One tile's sums, which only the unit knows until the end. */
static int accumulate(struct virgo_run *run)
{
	size_t rows = virgo_tile_rows(run->virgo, 0, SIZE, SIZE);
	const struct virgo_tile tile = {
		.m = SIZE, .n = SIZE, .k = SIZE, .a_row = 0, .b_end = (uint32_t)(2 * rows),
	};
	int error = virgo_dma_load(run->virgo, 0, 0, &tile, run->m->a, K, run->m->b, N);

	if (!error)
		error = virgo_dma_load_sums(run->virgo, 0, &tile, run->m->sums, SIZE);
	for (unsigned int i = 0; i < ADDITIONS && !error; i++) {
		error = virgo_matmul_tile(run->virgo, 0, VIRGO_ADD, &tile);
		if (!error && i % 2)
			error = check(virgo_fence(run->virgo, 0), "fence of sums");
	}
	if (!error)
		error = virgo_dma_store(run->virgo, 0, 0, &tile, run->m->stored, SIZE, VIRGO_NO_ACTIVATION, 1);
	if (!error)
		error = virgo_fence(run->virgo, 0);
	return check(error, "tile");
}

struct warp {
	struct virgo_run *run;
	unsigned int number;
};

/* Each writes a byte that the other reads behind the barrier, and makes the next from it. */
static void *meet(void *context)
{
	struct warp *warp = context;
	volatile unsigned char *own = warp->run->shared + warp->number * SLOT;
	volatile unsigned char *other = warp->run->shared + (1 - warp->number) * SLOT;
	unsigned char value = (unsigned char)(warp->number + 1);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MEETINGS; i++) {
		*own = value;
		if (check(virgo_barrier(warp->run->virgo, 0), "barrier"))
			return NULL;
		value = (unsigned char)(*other * 5 + warp->number + i);
		sum = kill_sum(sum, &value, 1);
		if (check(virgo_barrier(warp->run->virgo, 0), "barrier"))
			return NULL;
	}
	warp->run->sums[warp->number] = sum;
	return NULL;
}

static int meet_all(struct virgo_run *run)
{
	struct warp warps[2] = { { run, 0 }, { run, 1 } };
	pthread_t thread;
	int error;

	run->shared = virgo_shared_alloc(run->virgo, PAGE);
	if (!run->shared)
		return kill_fail("no shared memory: %s", virgo_error_text());
	if (check(virgo_barrier_participants(run->virgo, 0, 2), "participants of a barrier"))
		return -1;
	if (pthread_create(&thread, NULL, meet, &warps[1]))
		return kill_fail("no thread");
	meet(&warps[0]);
	/* After an error the other one may wait for ever: the process ends. */
	if (!run->sums[0])
		return -1;
	pthread_join(thread, NULL);
	error = virgo_shared_free(run->virgo, run->shared);
	return run->sums[1] ? check(error, "end of shared memory") : -1;
}

static int sum_counters(struct virgo_run *run, uint64_t *sum)
{
	struct virgo_statistics s;
	int error = check(virgo_counters(run->virgo, VIRGO_ALL_UNITS, &s), "counters");
	/* The rest depends on when the program looks. */
	const uint64_t steady[] = {
		s.moves_in, s.moves_out, s.computes, s.tiles, s.macs, s.dma_bytes_read, s.dma_bytes_written,
		s.accumulator_rows_read, s.accumulator_rows_written, s.faults, s.errors, s.dropped, s.illegal,
	};

	*sum = kill_sum(0, steady, sizeof(steady));
	return error;
}

static int compute(struct virgo_run *run, struct kill_result *result)
{
	if (multiply(run) || accumulate(run) || meet_all(run))
		return -1;
	result->sums[0] = kill_sum(0, run->m->c, sizeof(run->m->c));
	result->sums[1] = kill_sum(0, run->m->stored, sizeof(run->m->stored));
	result->sums[2] = kill_sum(run->sums[0], &run->sums[1], sizeof(run->sums[1]));
	return sum_counters(run, &result->sums[3]);
}

static int run_virgo(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	const struct virgo_options options = { .transport = place->transport, .socket_path = place->socket };
	size_t size = (sizeof(struct matrices) + PAGE - 1) / PAGE * PAGE;
	bool allocates = variant % 2;
	struct virgo_run run = { 0 };
	int error;

	if (check(virgo_open(&run.virgo, &options), "OPEN") ||
	    check(virgo_unit_info(run.virgo, 0, &run.info), "unit"))
		return -1;
	run.m = allocates ? virgo_alloc(run.virgo, size) : aligned_alloc(PAGE, size);
	if (!run.m)
		return kill_fail("no memory: %s", strerror(errno));
	memset(run.m, 0, sizeof(*run.m));
	fill(run.m->a, (size_t)M * K, run.info.type, variant);
	fill(run.m->b, (size_t)K * N, run.info.type, variant + 10);
	error = compute(&run, result);
	if (error)
		return error;
	if (allocates)
		error = check(virgo_free(run.virgo, run.m), "end of shared memory");
	else
		free(run.m);
	virgo_close(run.virgo);
	kill_mark("CLOSE");
	return error;
}

const struct kill_work kill_virgo = {
	.name = "virgo",
	.parts = { "virgo_gemm()", "sums of the accumulator", "values behind barriers", "counters" },
	.run = run_virgo,
};
