/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/dare_context.h"

#include <stdlib.h>

static struct mimic_access pattern_of(unsigned int offset)
{
	return (struct mimic_access){ .offset = offset, .size = sizeof(uint64_t) };
}

uint64_t context_load(struct mimic_device *device, unsigned int offset)
{
	struct mimic_access access = pattern_of(offset);

	if (mimic_device_access(device, &access))
		abort();
	return access.data;
}

void context_store(struct mimic_device *device, unsigned int offset, uint64_t value)
{
	struct mimic_access access = pattern_of(offset);

	access.is_write = 1;
	access.data = value;
	if (mimic_device_access(device, &access))
		abort();
}

void context_dispatch(struct mimic_device *device, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	context_store(device, DARE_RS1, rs1);
	context_store(device, DARE_RS2, rs2);
	context_store(device, DARE_INSTRUCTION, word);
}

void context_post(struct mimic_device *device, const uint64_t *words, size_t count)
{
	struct mimic_access pattern = pattern_of(DARE_STREAM);

	if (mimic_device_post(device, &pattern, words, count) != (ssize_t)count)
		abort();
}

uint64_t context_fence(struct mimic_device *device)
{
	return context_load(device, DARE_FENCE);
}

uint64_t context_counter(struct mimic_device *device, enum dare_counter counter)
{
	uint64_t values[DARE_COUNTER_COUNT];

	if (mimic_device_counters(device, values, DARE_COUNTER_COUNT) != DARE_COUNTER_COUNT)
		abort();
	return values[counter];
}

void tile_fill(struct tile *tile, unsigned int seed)
{
	for (unsigned int i = 0; i < 16; i++) {
		for (unsigned int j = 0; j < 16; j++)
			tile->at[i][j] = (float)((seed + 7 * i + 3 * j + i * j) % 17) - 8;
	}
}

void tile_multiply(struct tile *c, const struct tile *a, const struct tile *b)
{
	for (unsigned int i = 0; i < 16; i++) {
		for (unsigned int j = 0; j < 16; j++) {
			for (unsigned int k = 0; k < 16; k++)
				c->at[i][j] += a->at[i][k] * b->at[j][k];
		}
	}
}

void context_multiply(struct mimic_device *device, struct tile *c, const struct tile *a,
		      const struct tile *b)
{
	const uint64_t words[] = {
		WORD_MLD(0), address_of(c), 64,
		WORD_MLD(1), address_of(a), 64,
		WORD_MLD(2), address_of(b), 64,
		WORD_MMA(0, 1, 2),
		WORD_MST(0), address_of(c), 64,
	};

	context_post(device, words, sizeof(words) / sizeof(words[0]));
	if (context_fence(device) & (DARE_STATUS_ERROR | DARE_STATUS_BUSY))
		abort();
}
