/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/virgo_product.h"

#include <string.h>

#define SIDE VIRGO_SMALL_SIDE
#define ONE 0x3f800000ull

static int element(unsigned int i, unsigned int seed)
{
	return (int)((i * 7 + seed) % 13) - 6;
}

void virgo_small_start(const struct virgo_node *node, unsigned int unit, struct virgo_small_product *m,
		       unsigned int seed)
{
	const unsigned int size = unit ? 1 : 4, dim = unit ? 16 : 8;
	const uint64_t blocks = SIDE / dim;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		if (unit) {
			m->a.int8[i] = (signed char)element(i, seed);
			m->b.int8[i] = (signed char)element(3 * i, seed);
		} else {
			m->a.fp32[i] = (float)element(i, seed);
			m->b.fp32[i] = (float)element(3 * i, seed);
		}
	}
	virgo_command(node, unit, VIRGO_FUNCT_CONFIG, ONE << 32 | 1u << 16 | 1u << 2, 1ull << 48);
	for (uint64_t load = 0; load < 3; load++)
		virgo_command(node, unit, VIRGO_FUNCT_CONFIG,
			      ONE << 32 | dim << 16 | 1u << 8 | load << 3 | VIRGO_CONFIG_LD, SIDE * size);
	virgo_command(node, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ONE << 32 | SIDE * 4);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, blocks << 32 | blocks << 16 | blocks);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, SIDE, SIDE);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, SIDE, SIDE);
	/* Each unit has its half of the shared memory. */
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_SPAD_AB, unit ? VIRGO_TEST_SHARED / 2 / SIDE : 0,
		      VIRGO_TEST_SHARED / (unit ? SIDE : 2 * 32));
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, (uintptr_t)&m->c);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, (uintptr_t)&m->a, (uintptr_t)&m->b);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS,
		      VIRGO_LOOP_FULL_C | 1u << VIRGO_LOOP_A_SPAD_SHIFT | 1u << VIRGO_LOOP_B_SPAD_SHIFT,
		      VIRGO_LOOP_SKIP_D);
}

bool virgo_small_is_right(const struct virgo_small_product *m, unsigned int unit, unsigned int seed)
{
	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		int sum = 0;

		for (unsigned int k = 0; k < SIDE; k++)
			sum += element(i / SIDE * SIDE + k, seed) * element(3 * (k * SIDE + i % SIDE), seed);
		if (unit ? m->c.int32[i] != sum : m->c.fp32[i] != (float)sum)
			return false;
	}
	return true;
}
