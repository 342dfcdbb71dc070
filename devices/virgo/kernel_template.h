/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The inner loops for one kind of processor. kernels.c includes this file once for
 * each, with
 *	KERNEL(name)	name of a function of this kind
 *	KERNEL_TARGET	its target attribute
 *	KERNEL_LANES	lanes of a vector
 *	KERNEL_ROWS	rows that are worked on at once: as many as there are
 *			registers for, so that their sums do not wait for each other
 *	KERNEL_PAIRS(a, b)	sums of the products of pairs of int16, lane by lane
 */

typedef float KERNEL(floats) __attribute__((vector_size(4 * KERNEL_LANES), aligned(4), may_alias));
typedef int32_t KERNEL(integers) __attribute__((vector_size(4 * KERNEL_LANES), aligned(4), may_alias));

KERNEL_TARGET static void KERNEL(multiply_float)(union lane *c, const float *a, size_t a_stride,
						 const float *b, size_t blocks, size_t dim)
{
	KERNEL(floats) sum[KERNEL_ROWS], total[KERNEL_ROWS], values;
	const KERNEL(floats) none = { 0 }, nan = none + float_of(LANE_NAN);

	UNROLL
	for (size_t m = 0; m < KERNEL_ROWS; m++)
		total[m] = *(const KERNEL(floats) *)(c + m * KERNEL_LANES);
	for (; blocks; blocks--) {
		UNROLL
		for (size_t m = 0; m < KERNEL_ROWS; m++)
			sum[m] = none;
		for (size_t d = 0; d < dim; d += 4) {
			UNROLL
			for (size_t k = 0; k < 4; k++) {
				values = *(const KERNEL(floats) *)(b + (d + k) * KERNEL_LANES);
				UNROLL
				for (size_t m = 0; m < KERNEL_ROWS; m++)
					sum[m] += a[m * a_stride + d + k] * values;
			}
		}
		UNROLL
		for (size_t m = 0; m < KERNEL_ROWS; m++)
			total[m] += sum[m];
		a += dim;
		b += dim * KERNEL_LANES;
	}
	UNROLL
	for (size_t m = 0; m < KERNEL_ROWS; m++) {
		KERNEL(integers) ordered = (KERNEL(integers))(total[m] == total[m]);

		*(KERNEL(integers) *)(c + m * KERNEL_LANES) =
			((KERNEL(integers))total[m] & ordered) | ((KERNEL(integers))nan & ~ordered);
	}
}

KERNEL_TARGET static void KERNEL(multiply_pairs)(union lane *c, const int32_t *a, size_t a_stride,
						 const int32_t *b, size_t pairs)
{
	const KERNEL(integers) none = { 0 };
	const alias_i32 *pair = (const alias_i32 *)a;	/* written as int16 */
	KERNEL(integers) total[KERNEL_ROWS], values;

	UNROLL
	for (size_t m = 0; m < KERNEL_ROWS; m++)
		total[m] = *(const KERNEL(integers) *)(c + m * KERNEL_LANES);
	for (size_t k = 0; k < pairs; k++) {
		values = *(const KERNEL(integers) *)(b + k * KERNEL_LANES);
		UNROLL
		for (size_t m = 0; m < KERNEL_ROWS; m++)
			total[m] += KERNEL_PAIRS((none + pair[m * a_stride + k]), values);
	}
	UNROLL
	for (size_t m = 0; m < KERNEL_ROWS; m++)
		*(KERNEL(integers) *)(c + m * KERNEL_LANES) = total[m];
}

/* A loop of a known count is vectors; DIM is one of three. */
#define EACH_COUNT(body) do { \
	if (count == 16) { const size_t n = 16; body; } \
	else if (count == 8) { const size_t n = 8; body; } \
	else { const size_t n = 4; body; } \
} while (0)

KERNEL_TARGET static void KERNEL(widen_bytes)(int16_t *restrict to, const int8_t *restrict from,
					      size_t count)
{
	EACH_COUNT(for (size_t i = 0; i < n; i++) to[i] = from[i]);
}

KERNEL_TARGET static void KERNEL(interleave_bytes)(int16_t *restrict to,
						   const int8_t *restrict even,
						   const int8_t *restrict odd, size_t count)
{
	alias_u32 *pairs = (alias_u32 *)to;

	EACH_COUNT(for (size_t i = 0; i < n; i++)
		pairs[i] = (uint16_t)even[i] | (uint32_t)odd[i] << 16);
}

KERNEL_TARGET static void KERNEL(widen_halves)(float *restrict to, const uint16_t *restrict from,
					       size_t count)
{
	EACH_COUNT(for (size_t i = 0; i < n; i++) to[i] = wide_half(from[i]));
}

#undef EACH_COUNT
