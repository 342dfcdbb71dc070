/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Design virgo-dma: one thread drives unit and DMA, and the others wait at the barrier behind the last tile. */
#include "machine.h"

/* C goes to memory by four commands, and no thread waits for it. */
INLINE void store_out(uint32_t *c, uint32_t n)
{
	command(0x127b, TILE / 8, 0, TILE / 8 << 16 | TILE / 8, 0);
	command(0x147b, 0, 0, (uint32_t)c, 0);
	command(0x167b, 0, 0, n * 4, 0);
	command(0x107b, 0, 0, 0x38, 0);
}

INLINE void drive(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
	for (uint32_t row = 0; row < m; row += TILE)
		for (uint32_t column = 0; column < n; column += TILE) {
			uint32_t half = 0;

			order_load(a + row * k, b + column, 0);
			poll();
			for (uint32_t depth = 0; depth < k; depth += TILE, half ^= 1) {
				const uint32_t next = depth + TILE;

				multiply(half, !depth);
				if (next < k)
					order_load(a + row * k + next, b + next * n + column, half ^ 1);
				poll();
			}
			store_out(c + row * n + column, n);
		}
}

void kernel(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
	if (is_leader())
		drive(m, n, k, a, b, c);
	barrier();
}
