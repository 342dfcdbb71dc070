/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The arithmetic of mma, for one kind of processor. compute.c includes this file
 * once for each, with
 *	KERNEL(name)	name of a function of this kind
 *	KERNEL_TARGET	its target attribute
 *	KERNEL_LANES	floats of a vector: 4, 8 or 16
 *	KERNEL_ROWS	rows of md that are worked on at once: as many as there are
 *			registers for, so that their sums do not wait for each other
 * All kinds do the same roundings in the same order: each element of md is a sum
 * of its own, over ascending k, and a product is rounded before it is added.
 */

#define VECTORS (DARE_ROWS / KERNEL_LANES)	/* of a row of md */
#define UNROLL _Pragma("GCC unroll 16")

/* The bytes of a register are floats here and integers there. */
typedef float KERNEL(floats) __attribute__((vector_size(4 * KERNEL_LANES), may_alias));
typedef int32_t KERNEL(integers) __attribute__((vector_size(4 * KERNEL_LANES), may_alias));
typedef uint32_t KERNEL(unsigneds) __attribute__((vector_size(4 * KERNEL_LANES), may_alias));

/*
 * Turns one square of KERNEL_LANES rows. Each round interleaves the first half
 * of the rows with the second one: as often as the logarithm of their number,
 * and rows are columns.
 */
KERNEL_TARGET static inline void KERNEL(turn_square)(float *to, const float *from, size_t stride)
{
	KERNEL(floats) row[KERNEL_LANES], next[KERNEL_LANES];

	UNROLL
	for (size_t i = 0; i < KERNEL_LANES; i++)
		row[i] = *(const KERNEL(floats) *)(from + i * stride);
	UNROLL
	for (size_t round = 1; round < KERNEL_LANES; round *= 2) {
		UNROLL
		for (size_t i = 0; i < KERNEL_LANES / 2; i++) {
			KERNEL(floats) low = row[i], high = row[i + KERNEL_LANES / 2];

			next[2 * i] = KERNEL_FIRST_HALVES(low, high);
			next[2 * i + 1] = KERNEL_SECOND_HALVES(low, high);
		}
		UNROLL
		for (size_t i = 0; i < KERNEL_LANES; i++)
			row[i] = next[i];
	}
	UNROLL
	for (size_t i = 0; i < KERNEL_LANES; i++)
		*(KERNEL(floats) *)(to + i * DARE_ROWS) = row[i];
}

/* 16 rows of `width` floats. */
KERNEL_TARGET static void KERNEL(turn)(struct turned *to, const float *from, size_t width)
{
	for (size_t n = 0; n < DARE_ROWS; n += KERNEL_LANES)
		for (size_t k = 0; k < width; k += KERNEL_LANES)
			KERNEL(turn_square)(&to->values[k][n], from + n * width + k, width);
}

/* The value of a bf16 is that of the float of which it is the upper half. */
KERNEL_TARGET static void KERNEL(widen_bf16)(alias_u32 *restrict to, const alias_u16 *restrict from)
{
	for (size_t i = 0; i < DARE_REGISTER_BYTES / 2; i++)
		to[i] = (uint32_t)from[i] << 16;
}

KERNEL_TARGET static void KERNEL(widen_int8)(float *restrict to, const int8_t *restrict from)
{
	for (size_t i = 0; i < DARE_REGISTER_BYTES; i++)
		to[i] = from[i];
}

KERNEL_TARGET static void KERNEL(turn_fp32)(struct turned *to, const void *source)
{
	KERNEL(turn)(to, source, DARE_ROW_BYTES / 4);
}

KERNEL_TARGET static void KERNEL(turn_bf16)(struct turned *to, const void *source)
{
	struct wide wide;

	KERNEL(widen_bf16)((alias_u32 *)wide.values, source);
	KERNEL(turn)(to, wide.values, DARE_ROW_BYTES / 2);
}

KERNEL_TARGET static void KERNEL(turn_int8)(struct turned *to, const void *source)
{
	struct wide wide;

	KERNEL(widen_int8)(wide.values, source);
	KERNEL(turn)(to, wide.values, DARE_ROW_BYTES);
}

/* `height` is a constant where this is inlined. `a` has rows of `width` floats. */
KERNEL_TARGET static inline __attribute__((always_inline)) void
KERNEL(rows)(KERNEL(floats) *md, const alias_float *a, size_t width,
	     const struct turned *b, size_t count, const size_t height)
{
	KERNEL(floats) sum[KERNEL_ROWS][VECTORS];

	UNROLL
	for (size_t m = 0; m < height; m++) {
		UNROLL
		for (size_t v = 0; v < VECTORS; v++)
			sum[m][v] = md[m * VECTORS + v];
	}
	for (size_t k = 0; k < count; k++) {
		const KERNEL(floats) *column = (const KERNEL(floats) *)b->values[k];

		UNROLL
		for (size_t m = 0; m < height; m++) {
			UNROLL
			for (size_t v = 0; v < VECTORS; v++) {
				KERNEL(floats) product = column[v] * a[m * width + k];

				sum[m][v] += product;
			}
		}
	}
	UNROLL
	for (size_t m = 0; m < height; m++) {
		UNROLL
		for (size_t v = 0; v < VECTORS; v++)
			md[m * VECTORS + v] = sum[m][v];
	}
}

#if KERNEL_LANES == 16
/*
 * Eight rows; `count` is a multiple of 16, and 16 values of k have no branch among them. A processor that has
 * to foresee the end of a loop of 16 rounds for each mma forgets meanwhile which instruction it executes
 * next.
 */
KERNEL_TARGET static inline void
KERNEL(eight_rows)(KERNEL(floats) *md, const alias_float *a, size_t width, const struct turned *b,
		   size_t count)
{
	KERNEL(floats) s0 = md[0], s1 = md[1], s2 = md[2], s3 = md[3];
	KERNEL(floats) s4 = md[4], s5 = md[5], s6 = md[6], s7 = md[7];
	const KERNEL(floats) *column = (const KERNEL(floats) *)b->values, *end = column + count;
	const size_t three = 3 * width;

	/*
	 * The assembly keeps the order: otherwise gcc loads four values of a row at once, and takes them
	 * apart.
	 */
#define STEP(i) do { \
	const alias_float *a3 = a + three; \
\
	s0 += column[i] * a[0]; \
	s1 += column[i] * a[width]; \
	s2 += column[i] * a[2 * width]; \
	s3 += column[i] * a3[0]; \
	s4 += column[i] * a[4 * width]; \
	s5 += column[i] * a3[2 * width]; \
	s6 += column[i] * a[2 * three]; \
	s7 += column[i] * a3[4 * width]; \
	a++; \
	__asm__("" : "+r"(a), "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), \
		"+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7)); \
} while (0)
	for (; column < end; column += 16) {
		STEP(0); STEP(1); STEP(2); STEP(3); STEP(4); STEP(5); STEP(6); STEP(7);
		STEP(8); STEP(9); STEP(10); STEP(11); STEP(12); STEP(13); STEP(14); STEP(15);
	}
#undef STEP
	md[0] = s0; md[1] = s1; md[2] = s2; md[3] = s3; md[4] = s4; md[5] = s5; md[6] = s6; md[7] = s7;
}
#endif

/*
 * md may be the register that `a` is: a row of md depends on that row of `a`
 * only, and is written after it was read.
 */
KERNEL_TARGET static void KERNEL(sums)(void *md, const void *source, size_t width, const struct turned *b,
				       size_t rows, size_t count)
{
	KERNEL(floats) *to = md;
	const alias_float *a = source;
	size_t m = 0;

#if KERNEL_LANES == 16
	for (; count % 16 == 0 && m + 8 <= rows; m += 8)
		KERNEL(eight_rows)(to + m, a + m * width, width, b, count);
#endif
	for (; m + KERNEL_ROWS <= rows; m += KERNEL_ROWS)
		KERNEL(rows)(to + m * VECTORS, a + m * width, width, b, count, KERNEL_ROWS);
	for (; m + 2 <= rows; m += 2)
		KERNEL(rows)(to + m * VECTORS, a + m * width, width, b, count, 2);
	for (; m < rows; m++)
		KERNEL(rows)(to + m * VECTORS, a + m * width, width, b, count, 1);
}

KERNEL_TARGET static void KERNEL(multiply_fp32)(void *md, const void *ms1, const struct turned *b,
						unsigned int rows, unsigned int count)
{
	KERNEL(sums)(md, ms1, DARE_ROW_BYTES / 4, b, rows, count);
}

KERNEL_TARGET static void KERNEL(multiply_bf16)(void *md, const void *ms1, const struct turned *b,
						unsigned int rows, unsigned int count)
{
	struct wide a;

	KERNEL(widen_bf16)((alias_u32 *)a.values, ms1);
	KERNEL(sums)(md, a.values, DARE_ROW_BYTES / 2, b, rows, count);
}

/* 64 products of at most 2^14 each: every sum on the way is a whole number below 2^24. */
KERNEL_TARGET static void KERNEL(multiply_int8)(void *md, const void *ms1, const struct turned *b,
						unsigned int rows, unsigned int count)
{
	KERNEL(floats) sum[DARE_ROWS * VECTORS] = { 0 };
	KERNEL(unsigneds) *to = md;
	struct wide a;

	KERNEL(widen_int8)(a.values, ms1);
	KERNEL(sums)(sum, a.values, DARE_ROW_BYTES, b, rows, count);
	for (size_t i = 0; i < rows * VECTORS; i++)
		to[i] += (KERNEL(unsigneds))__builtin_convertvector(sum[i], KERNEL(integers));
}

#undef VECTORS
#undef UNROLL
