/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Breadth-first search: LIMA brings level[neighbour[i]] of a vertex's whole list; checked against a plain queue. */
#include "contract.h"

#include <string.h>

#define VERTICES 120u
#define DEGREE 4u
#define UNSEEN 0xffffffffu

static uint32_t neighbour[VERTICES * DEGREE];
static uint32_t level[VERTICES];
static uint32_t expected[VERTICES];
static uint32_t frontier[VERTICES];
static void *maple[1];
static void *mmu[1];

static void plain_search(void)
{
	unsigned int head = 0;
	unsigned int tail = 0;
	uint32_t i;

	memset(expected, 0xff, sizeof(expected));
	expected[0] = 0;
	frontier[tail++] = 0;
	while (head < tail) {
		uint32_t vertex = frontier[head++];

		for (i = vertex * DEGREE; i < (vertex + 1) * DEGREE; i++) {
			if (expected[neighbour[i]] != UNSEEN)
				continue;
			expected[neighbour[i]] = expected[vertex] + 1;
			frontier[tail++] = neighbour[i];
		}
	}
}

static void visit(uint32_t vertex, unsigned int *tail)
{
	uint32_t i;

	store64(maple[0], LOOP, 0, (uint64_t)vertex * DEGREE << 32 | (vertex + 1) * DEGREE);
	for (i = vertex * DEGREE; i < (vertex + 1) * DEGREE; i++) {
		/* The value that the device fetched may be old: a list can name a vertex twice. */
		uint32_t seen = load32(maple[0], CONSUME, 0);

		if (seen != UNSEEN || level[neighbour[i]] != UNSEEN)
			continue;
		level[neighbour[i]] = level[vertex] + 1;
		frontier[(*tail)++] = neighbour[i];
	}
}

int main(void)
{
	uint64_t state = 362436069ull;
	unsigned int head = 0;
	unsigned int tail = 0;
	uint32_t i;

	for (i = 0; i < VERTICES * DEGREE; i++)
		neighbour[i] = next_random(&state) % VERTICES;
	plain_search();
	map_tiles(1, maple, mmu);
	open_both(maple[0], 0);
	store64(maple[0], LIMA_LLC_POINTER32, 1, address_of(level));
	store64(maple[0], SET_BASE32, 0, address_of(neighbour));
	memset(level, 0xff, sizeof(level));
	level[0] = 0;
	frontier[tail++] = 0;
	while (head < tail)
		visit(frontier[head++], &tail);
	CHECK(memcmp(level, expected, sizeof(level)) == 0);
	return 0;
}
