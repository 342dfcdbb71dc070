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
 *	KERNEL_HALVES(to, from)	16 binary16 become fp32
 * and KERNEL(load), KERNEL(store): a vector whose pieces of DIM lanes lie `next` apart.
 */

#define KERNEL_INLINE KERNEL_TARGET static inline __attribute__((always_inline))

/*
 * A sum begins with 0, but 0 is not added to the first product: that differs where the product is -0, and
 * then only if all of the block's are. The difference that is left is a -0 in C, to which +0 or -0 is added;
 * so 0 is added to C first.
 */
KERNEL_INLINE void KERNEL(floats_of_dim)(const struct kernel_panel *p, const size_t dim)
{
	const size_t rows = dim < KERNEL_ROWS ? dim : KERNEL_ROWS;
	const KERNEL(floats) none = { 0 }, nan = none + float_of(LANE_NAN);
	const float *a = &p->a->f, *b = &p->b->f;
	KERNEL(floats) sum[KERNEL_ROWS], total[KERNEL_ROWS], values;

	UNROLL
	for (size_t m = 0; m < rows; m++)
		total[m] = none + (p->from_zero ? none : KERNEL(load)(&p->c[m * dim].f, p->c_next, dim));
	for (size_t blocks = p->blocks; blocks; blocks--, a += p->a_block, b += p->b_block) {
		values = KERNEL(load)(b, p->b_next, dim);
		UNROLL
		for (size_t m = 0; m < rows; m++)
			sum[m] = a[m * dim] * values;
		UNROLL
		for (size_t k = 1; k < dim; k++) {
			values = KERNEL(load)(b + k * dim, p->b_next, dim);
			UNROLL
			for (size_t m = 0; m < rows; m++) {
				sum[m] += a[m * dim + k] * values;
				KERNEL_IN_TURN(sum[m]);
			}
		}
		UNROLL
		for (size_t m = 0; m < rows; m++)
			total[m] += sum[m];
	}
	UNROLL
	for (size_t m = 0; m < rows; m++) {
		KERNEL(integers) ordered = (KERNEL(integers))(total[m] == total[m]);
		KERNEL(integers) bits = ((KERNEL(integers))total[m] & ordered) |
					((KERNEL(integers))nan & ~ordered);

		KERNEL(store)(&p->c[m * dim].f, p->c_next, dim, (KERNEL(floats))bits);
	}
}

KERNEL_TARGET static void KERNEL(multiply_floats)(const struct kernel_panel *panel, size_t dim)
{
	EACH_DIM(KERNEL(floats_of_dim)(panel, n));
}

KERNEL_INLINE void KERNEL(pairs_of_dim)(const struct kernel_panel *p, const size_t dim)
{
	const size_t rows = dim < KERNEL_ROWS ? dim : KERNEL_ROWS, pairs = dim / 2;
	const KERNEL(integers) none = { 0 };
	const alias_i32 *a = &p->a->i;	/* written as int16 */
	const float *b = &p->b->f;
	KERNEL(integers) values;
	KERNEL(unsigneds) total[KERNEL_ROWS];	/* sums wrap */

	UNROLL
	for (size_t m = 0; m < rows; m++)
		total[m] = (KERNEL(unsigneds))(p->from_zero ? none :
			   (KERNEL(integers))KERNEL(load)(&p->c[m * dim].f, p->c_next, dim));
	for (size_t blocks = p->blocks; blocks; blocks--, a += p->a_block, b += p->b_block) {
		UNROLL
		for (size_t k = 0; k < pairs; k++) {
			values = (KERNEL(integers))KERNEL(load)(b + k * dim, p->b_next, dim);
			UNROLL
			for (size_t m = 0; m < rows; m++)
				total[m] += (KERNEL(unsigneds))KERNEL_PAIRS((none + a[m * pairs + k]), values);
		}
	}
	UNROLL
	for (size_t m = 0; m < rows; m++)
		KERNEL(store)(&p->c[m * dim].f, p->c_next, dim, (KERNEL(floats))total[m]);
}

KERNEL_TARGET static void KERNEL(multiply_pairs)(const struct kernel_panel *panel, size_t dim)
{
	EACH_DIM(KERNEL(pairs_of_dim)(panel, n));
}

/* A loop of a known count is vectors. */
KERNEL_TARGET static void KERNEL(widen_bytes)(void *restrict lanes, const int8_t *restrict from,
					      size_t count)
{
	int16_t *to = lanes;

	for (; count; count -= 16, to += 16, from += 16)
		for (size_t i = 0; i < 16; i++)
			to[i] = from[i];
}

KERNEL_TARGET static void KERNEL(widen_halves)(float *restrict to, const void *restrict elements,
					       size_t count)
{
	const alias_u16 *from = elements;

	for (; count; count -= 16, to += 16, from += 16)
		KERNEL_HALVES(to, from);
}

KERNEL_INLINE void KERNEL(pair_rows)(void *restrict to, const int8_t *restrict from, size_t rows,
				     const size_t dim)
{
	alias_u32 *pairs = to;

	for (; rows; rows -= 2, pairs += dim, from += 2 * dim)
		for (size_t i = 0; i < dim; i++)
			pairs[i] = (uint16_t)from[i] | (uint32_t)from[dim + i] << 16;
}

KERNEL_TARGET static void KERNEL(pair_bytes)(void *to, const int8_t *from, size_t rows, size_t dim)
{
	EACH_DIM(KERNEL(pair_rows)(to, from, rows, n));
}

#undef KERNEL_INLINE
