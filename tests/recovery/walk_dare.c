/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdlib.h>
#include <string.h>

#include "libdare/dare.h"
#include "tests/recovery/walk.h"

#define TILE 16u
#define ROW 64u		/* bytes */

struct tiles {
	float a[TILE][TILE], b[TILE][TILE], c[TILE][TILE];
	uint64_t addresses[TILE][ROW / 8];
	unsigned char rows[4 * TILE][ROW];
};

static void fill(struct tiles *tiles, uint32_t seed)
{
	unsigned char bytes[2 * TILE * TILE];

	walk_fill(bytes, sizeof(bytes), seed);
	for (unsigned int i = 0; i < TILE * TILE; i++) {
		tiles->a[i / TILE][i % TILE] = bytes[i];
		tiles->b[i / TILE][i % TILE] = (float)bytes[TILE * TILE + i] / 4;
	}
	walk_fill(tiles->rows, sizeof(tiles->rows), seed + 1);
	for (unsigned int i = 0; i < TILE; i++)
		tiles->addresses[i][0] = (uintptr_t)tiles->rows[i * 7 % (2 * TILE)];
}

/* The sums stay where they were read from, so that a step that is done twice would show. */
static void multiply_in_place(struct dare *dare, struct tiles *tiles)
{
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_M, TILE));
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_K, ROW));
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_N, TILE));
	CHECK_DARE(dare_mld(dare, 0, tiles->a, ROW));
	CHECK_DARE(dare_mld(dare, 1, tiles->b, ROW));
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_DARE(dare_mld(dare, 2, tiles->c, ROW));
		CHECK_DARE(dare_mma(dare, 2, 0, 1));
		CHECK_DARE(dare_mst(dare, 2, tiles->c, ROW));
	}
	CHECK_DARE(dare_fence(dare));
}

/* Rows move to where others are gathered from. */
static void scatter(struct dare *dare, struct tiles *tiles)
{
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_K, 8));
	CHECK_DARE(dare_mld(dare, 3, tiles->addresses, ROW));
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_K, ROW));
	CHECK_DARE(dare_mgather(dare, 4, 3));
	CHECK_DARE(dare_mgather_b(dare, 5, 3));
	CHECK_DARE(dare_mst(dare, 4, tiles->rows[2 * TILE], ROW));
	CHECK_DARE(dare_mma_i8(dare, 5, 4, 4));
	CHECK_DARE(dare_mscatter(dare, 5, 3));
	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_M, 5));
	CHECK_DARE(dare_mscatter_h(dare, 2, 3));
	CHECK_DARE(dare_fence(dare));
}

static void fail_once(struct dare *dare)
{
	struct dare_error_info info;
	uint64_t value;

	CHECK_DARE(dare_mcfg(dare, DARE_CSR_MATRIX_M, TILE + 1));
	if (dare_fence(dare) >= 0)
		walk_check(-1, "dare_fence", "a wrong shape is none");
	CHECK_DARE(dare_error(dare, &info));
	CHECK_DARE(dare_clear_error(dare));
	CHECK_DARE(dare_read_csr(dare, DARE_CSR_MATRIX_M, &value));
	walk_print("CSR", &value, sizeof(value));
}

static void one(struct dare *dare, const char *name, struct tiles *tiles, uint32_t seed)
{
	struct dare_statistics statistics;

	memset(tiles, 0, sizeof(*tiles));
	fill(tiles, seed);
	multiply_in_place(dare, tiles);
	scatter(dare, tiles);
	fail_once(dare);
	walk_print(name, tiles->c, sizeof(tiles->c));
	walk_print(name, tiles->rows, sizeof(tiles->rows));
	CHECK_DARE(dare_counters(dare, &statistics));
}

void walk_dare(void)
{
	const struct dare_options options = { .transport = "daemon" };
	struct tiles *plain = aligned_alloc(64, (sizeof(*plain) + 63) / 64 * 64), *shared;
	struct dare *first, *second;

	CHECK_DARE(dare_open(&first, &options));
	CHECK_DARE(dare_open(&second, &options));
	shared = dare_alloc(second, sizeof(*shared));
	if (!plain || !shared)
		walk_check(-1, "memory", dare_error_text());
	one(first, "plain", plain, 10);
	one(second, "shared", shared, 20);
	CHECK_DARE(dare_free(second, shared));
	dare_close(first);
	CHECK_DARE(dare_open(&first, &options));
	CHECK_DARE(dare_reset(second));
	one(first, "opened again", plain, 30);
	dare_close(first);
	dare_close(second);
	free(plain);
}
