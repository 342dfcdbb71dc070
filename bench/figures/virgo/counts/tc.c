/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Design tc: warps copy a step's operands to shared memory, A transposed, and then multiply; there is no second buffer. */
#include "tensor.h"

/* Thread t has words t, t + 256, ... of a tile: always the same column, and each fourth row. */
INLINE void copy_four(const uint32_t *from, uint32_t stride, uint32_t *to, uint32_t line, int is_transposed)
{
#define LOAD(i) FLOAT_LOAD(i, from + (line + i) * (THREADS / TILE) * stride, 0)
	LOAD(0); LOAD(1); LOAD(2); LOAD(3);
#define STORE(i) FLOAT_STORE(i, to + (line + i) * (is_transposed ? THREADS / TILE : THREADS), 0)
	STORE(0); STORE(1); STORE(2); STORE(3);
}

INLINE void copy(uint32_t thread, const uint32_t *from, uint32_t stride, int is_b)
{
	const uint32_t row = thread / TILE, column = thread % TILE;
	uint32_t *to = shared(is_b, 0) + (is_b ? thread : column * TILE + row);

	from += row * stride + column;
	for (uint32_t line = 0; line < TILE * TILE / THREADS; line += 4)
		copy_four(from, stride, to, line, !is_b);
}

void kernel(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
	const struct place here = place();

	for (uint32_t row = 0; row < m; row += TILE)
		for (uint32_t column = 0; column < n; column += TILE) {
			clear();
			for (uint32_t depth = 0; depth < k; depth += TILE) {
				copy(here.thread, a + row * k + depth, k, 0);
				copy(here.thread, b + depth * n + column, n, 1);
				meet();
				multiply_step(shared(0, 0) + here.row + here.lane, shared(1, 0) + here.column + here.lane,
					      8 * TILE, 8);
				meet();
			}
			store_tile(here, c + row * n + column, n);
		}
	barrier();
}
