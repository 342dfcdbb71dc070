/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Design virgo: all warps copy the next step's operands while the unit multiplies this one's; one thread drives it. */
#include "machine.h"

/* Thread t has words t, t + 256, ... of a tile: always the same column, and each fourth row. */
INLINE void copy_words(const uint32_t *from, uint32_t from_step, uint32_t *to, uint32_t to_step)
{
	for (uint32_t line = 0; line < TILE * TILE / THREADS; line += 4) {
		uint32_t word[4];

		for (uint32_t i = 0; i < 4; i++)
			word[i] = from[(line + i) * from_step];
		for (uint32_t i = 0; i < 4; i++)
			to[(line + i) * to_step] = word[i];
	}
}

INLINE void copy(const uint32_t *a, const uint32_t *b, uint32_t n, uint32_t k, uint32_t half)
{
	const uint32_t thread = thread_number(), row = thread / TILE, column = thread % TILE, rows = THREADS / TILE;

	copy_words(a + row * k + column, rows * k, shared(0, half) + thread, THREADS);
	copy_words(b + row * n + column, rows * n, shared(1, half) + thread, THREADS);
}

INLINE void move_out(uint32_t *c, uint32_t n, int leads)
{
	const uint32_t thread = thread_number();

	if (leads) {
		job(JOB_MOVE);
		poll();
		fence();
	}
	barrier();
	copy_words(shared(0, 0) + thread, THREADS, c + thread / TILE * n + thread % TILE, THREADS / TILE * n);
	barrier();
}

void kernel(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
	const int leads = is_leader();

	for (uint32_t row = 0; row < m; row += TILE)
		for (uint32_t column = 0; column < n; column += TILE) {
			uint32_t half = 0;

			copy(a + row * k, b + column, n, k, 0);
			meet();
			for (uint32_t depth = 0; depth < k; depth += TILE, half ^= 1) {
				const uint32_t next = depth + TILE;

				if (leads) {
					poll();
					multiply(half, !depth);
				}
				if (next < k)
					copy(a + row * k + next, b + next * n + column, n, k, half ^ 1);
				meet();
			}
			if (leads)
				poll();
			move_out(c + row * n + column, n, leads);
		}
}
