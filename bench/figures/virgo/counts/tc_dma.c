/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Design tc-dma: one thread orders the next step's operands, and all warps multiply this one's meanwhile. */
#include "tensor.h"

void kernel(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
	const struct place here = place();
	const int leads = !(here.thread / LANES);

	for (uint32_t row = 0; row < m; row += TILE)
		for (uint32_t column = 0; column < n; column += TILE) {
			uint32_t half = 0;

			clear();
			if (leads) {
				order_load(a + row * k, b + column, 0);
				poll();
			}
			meet();
			for (uint32_t depth = 0; depth < k; depth += TILE, half ^= 1) {
				const uint32_t next = depth + TILE;

				if (leads && next < k)
					order_load(a + row * k + next, b + next * n + column, half ^ 1);
				multiply_step(shared(0, half) + here.row * TILE + here.lane,
					      shared(1, half) + here.column + here.lane, 8, 8 * TILE);
				if (leads)
					poll();
				meet();
			}
			store_tile(here, c + row * n + column, n);
		}
	barrier();
}
