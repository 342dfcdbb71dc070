/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The arithmetic of mma (docs/dare.md, "Instructions"): an fp32 sum starts with
 * the element of md, and for ascending k first the product is rounded to single
 * precision, then the sum; to nearest, ties to even; never fused; subnormal numbers
 * count. bf16 is the upper half of an fp32 number. int8 sums are int32 and wrap.
 */
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "tests/contract/dare/contract.h"

/* Bits of fp32 numbers. */
#define ONE 0x3f800000u
#define HALF_ONE 0x3f000000u
#define TWO 0x40000000u
#define MINUS 0x80000000u
#define INFINITE 0x7f800000u
#define A_NAN 0x7fc00000u
#define LARGEST 0x7f7fffffu
#define TWO_TO_24 0x4b800000u
#define TWO_TO_103 0x73000000u
#define TWO_TO_102 0x72800000u
#define SMALLEST_NORMAL 0x00800000u
#define SMALLEST 0x00000001u

struct term {
	uint32_t a, b;
};

static void put_bits(struct tile *tile, enum element size, unsigned int row, unsigned int k, uint32_t bits)
{
	if (size == HALF)
		bits >>= 16;
	memcpy(&tile->bytes[row][k << size], &bits, ELEMENT_BYTES(size));
}

/*
 * md and then the terms, in each element of m x n: every lane of the arithmetic.
 * `expected` for all of them; A_NAN is any NaN.
 */
static void check_in_shape(enum element size, uint32_t md, const struct term *terms, unsigned int count,
			   uint32_t expected, unsigned int m, unsigned int n)
{
	struct tile a = { 0 }, b = { 0 }, c = { 0 };
	uint32_t bits;

	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int k = 0; k < count; k++) {
			put_bits(&a, size, row, k, terms[k].a);
			put_bits(&b, size, row, k, terms[k].b);
		}
		for (unsigned int column = 0; column < ROWS; column++)
			memcpy(&c.bytes[row][4 * column], &md, 4);
	}
	set_register(0, &a);
	set_register(1, &b);
	set_register(2, &c);
	shape(m, count << size, n);
	mma(size, 2, 0, 1);
	get_register(2, &c);
	for (unsigned int row = 0; row < m; row++) {
		for (unsigned int column = 0; column < n; column++) {
			memcpy(&bits, &c.bytes[row][4 * column], 4);
			if (expected == A_NAN && size != BYTE && isnan(float_of(bits)))
				continue;
			if (bits != expected)
				contract_fail(__FILE__, __LINE__, "md %#x, first term %#x x %#x, %u terms: row %u, column %u is %#x, the contract says %#x",
					      md, terms[0].a, terms[0].b, count, row, column, bits, expected);
		}
	}
}

static void check(enum element size, uint32_t md, const struct term *terms, unsigned int count,
		  uint32_t expected)
{
	check_in_shape(size, md, terms, count, expected, 16, 16);
	if (is_left_out(1))
		return;
	check_in_shape(size, md, terms, count, expected, 3, 5);
	check_in_shape(size, md, terms, count, expected, 1, 1);
}

#define TERMS(...) (const struct term[]){ __VA_ARGS__ }, sizeof((struct term[]){ __VA_ARGS__ }) / sizeof(struct term)
#define FP32(md, expected, ...) check(WORD, md, TERMS(__VA_ARGS__), expected)
#define BF16(md, expected, ...) check(HALF, md, TERMS(__VA_ARGS__), expected)
/* Cases that are the same for both. */
#define FLOATS(md, expected, ...) \
	do { \
		FP32(md, expected, __VA_ARGS__); \
		BF16(md, expected, __VA_ARGS__); \
	} while (0)

CASE(a_sum_is_made_in_ascending_k, EITHER)
{
	/* 2^24 + 1 is 2^24 */
	FLOATS(0, 0, { TWO_TO_24, ONE }, { ONE, ONE }, { TWO_TO_24, ONE | MINUS });
	FLOATS(0, ONE, { TWO_TO_24, ONE }, { TWO_TO_24, ONE | MINUS }, { ONE, ONE });
	FLOATS(0, ONE, { ONE | MINUS, TWO_TO_24 }, { TWO_TO_24, ONE }, { ONE, ONE }, { 0, ONE });
	FLOATS(0, 0, { ONE, ONE }, { ONE, TWO_TO_24 }, { TWO_TO_24 | MINUS, ONE }, { 0, ONE });
	FLOATS(0, ONE | MINUS, { TWO_TO_24, ONE }, { ONE, ONE }, { 0, ONE }, { 0, ONE },
	       { TWO_TO_24, ONE | MINUS }, { 0, ONE }, { 0, ONE }, { ONE, ONE | MINUS });
}

CASE(a_sum_starts_with_the_element_of_md, EITHER)
{
	FLOATS(ONE, 0, { TWO_TO_24, ONE }, { TWO_TO_24, ONE | MINUS });
	FLOATS(TWO_TO_24, 0, { ONE, ONE }, { TWO_TO_24, ONE | MINUS });
	FLOATS(TWO_TO_24 | MINUS, ONE, { TWO_TO_24, ONE }, { ONE, ONE });
}

CASE(a_product_is_rounded_before_it_is_added, EITHER)
{
	/* (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, and that a tie: 1 + 2^-11 */
	FP32(0, 0x3f801000, { 0x3f800800, 0x3f800800 });
	FP32(0x3f801000 | MINUS, 0, { 0x3f800800, 0x3f800800 });
	/* (1 + 2^-12)(1 + 2^-12 + 2^-23) is above the tie: 1 + 2^-11 + 2^-22 */
	FP32(0x3f801000 | MINUS, 0x34800000, { 0x3f800800, 0x3f800801 });
}

CASE(ties_are_rounded_to_even, EITHER)
{
	/* 2^24 + 1 lies between 2^24 and 2^24 + 2; 2^24 + 3 between 2^24 + 2 and 2^24 + 4. */
	FLOATS(TWO_TO_24, TWO_TO_24, { ONE, ONE });
	FLOATS(TWO_TO_24 + 1, TWO_TO_24 + 2, { ONE, ONE });
	FLOATS(TWO_TO_24 | MINUS, TWO_TO_24 | MINUS, { ONE | MINUS, ONE });
	FLOATS((TWO_TO_24 + 1) | MINUS, (TWO_TO_24 + 2) | MINUS, { ONE, ONE | MINUS });
}

CASE(a_sum_that_is_no_tie_is_rounded_to_the_nearest, EITHER)
{
	/* 2^24 + 1.5, 2^24 - 1.5 (exact), 2^24 + 0.75 */
	FLOATS(TWO_TO_24, TWO_TO_24 + 1, { ONE, 0x3fc00000 });
	FLOATS(TWO_TO_24, TWO_TO_24 - 1, { ONE | MINUS, 0x3f800000 });
	FLOATS(TWO_TO_24, TWO_TO_24, { ONE, 0x3f400000 });
	FLOATS(TWO_TO_24 | MINUS, (TWO_TO_24 + 1) | MINUS, { ONE | MINUS, 0x3fc00000 });
}

CASE(subnormal_numbers_count, EITHER)
{
	FP32(0, SMALLEST, { SMALLEST, ONE });
	FP32(0, SMALLEST, { ONE, SMALLEST });
	FP32(SMALLEST, 2, { SMALLEST, ONE });
	FP32(SMALLEST, SMALLEST, { 0, ONE });
	FP32(0, 0x00400000, { SMALLEST_NORMAL, HALF_ONE });
	FP32(SMALLEST_NORMAL, 0x007fffff, { SMALLEST, ONE | MINUS });
	FP32(0x007fffff, SMALLEST_NORMAL, { SMALLEST, ONE });
	FP32(0, 0x00ffffff, { 0x00ffffff, ONE });
	FP32(0, 0x000ffffe, { 0x0007ffff, TWO });
	/* bf16: 2^-133 is its smallest */
	BF16(0, 0x00010000, { 0x00010000, ONE });
	BF16(0x00000001, 0x00010001, { ONE, 0x00010000 });
	BF16(0, 0x00400000, { SMALLEST_NORMAL, HALF_ONE });
	BF16(0x00800000, 0x00400000, { SMALLEST_NORMAL, HALF_ONE | MINUS });
}

CASE(small_products_are_rounded_to_subnormal_numbers, EITHER)
{
	/* 1.5, 0.5 and 2.5 of the smallest: ties */
	FP32(0, 2, { 3, HALF_ONE });
	FP32(0, 0, { 1, HALF_ONE });
	FP32(0, 2, { 5, HALF_ONE });
	/* 0.75 of it */
	FP32(0, 1, { 1, 0x3f400000 });
	/* Each product is rounded: twice 0.5 is not 1. */
	FP32(0, 0, { 1, HALF_ONE }, { 1, HALF_ONE });
	/* 2^-100 squared */
	FLOATS(0, 0, { 0x0d800000, 0x0d800000 });
	/* 2^-75 squared is half of the smallest; with 1.5, three quarters */
	FLOATS(0, 0, { 0x1a000000, 0x1a000000 });
	FLOATS(0, 1, { 0x1a400000, 0x1a000000 });
}

CASE(zeros_have_signs, EITHER)
{
	FLOATS(0, 0, { MINUS, ONE });
	FLOATS(MINUS, MINUS, { MINUS, ONE });
	FLOATS(MINUS, 0, { 0, ONE });
	FLOATS(MINUS, MINUS, { 0, ONE | MINUS });
	FLOATS(ONE, 0, { ONE, ONE | MINUS });
	FP32(MINUS, MINUS, { 1, HALF_ONE | MINUS });
}

CASE(large_sums_and_products_become_infinite, EITHER)
{
	FP32(0, INFINITE, { LARGEST, TWO });
	FP32(LARGEST, INFINITE, { LARGEST, ONE });
	FP32(LARGEST | MINUS, INFINITE | MINUS, { LARGEST, ONE | MINUS });
	/* Half of the last bit of the largest number is 2^103: a tie, and the even neighbour is infinite. */
	FLOATS(LARGEST, LARGEST, { TWO_TO_102, ONE });
	FLOATS(LARGEST, INFINITE, { TWO_TO_103, ONE });
	/* The product is rounded by itself. */
	FP32(LARGEST | MINUS, INFINITE, { LARGEST, TWO });
	FLOATS(0, INFINITE, { 0x60000000, 0x60000000 });
	FLOATS(0, INFINITE | MINUS, { 0x60000000, 0x60000000 | MINUS });
}

CASE(infinities_are_operands, EITHER)
{
	FLOATS(0, INFINITE, { INFINITE, ONE });
	FLOATS(ONE, INFINITE | MINUS, { INFINITE, ONE | MINUS });
	FLOATS(INFINITE, INFINITE, { ONE | MINUS, ONE });
	FLOATS(0, INFINITE, { INFINITE, INFINITE });
	FLOATS(INFINITE, INFINITE, { INFINITE, TWO });
}

CASE(an_undefined_result_is_a_nan, EITHER)
{
	FLOATS(0, A_NAN, { INFINITE, 0 });
	FLOATS(ONE, A_NAN, { 0, INFINITE | MINUS });
	FLOATS(INFINITE, A_NAN, { INFINITE, ONE | MINUS });
	FLOATS(0, A_NAN, { INFINITE, ONE }, { INFINITE | MINUS, ONE });
	FP32(INFINITE | MINUS, A_NAN, { LARGEST, TWO });
}

CASE(a_nan_stays_a_nan, EITHER)
{
	FLOATS(A_NAN, A_NAN, { ONE, ONE });
	FLOATS(0x7f800001, A_NAN, { ONE, ONE });
	FLOATS(0, A_NAN, { A_NAN, ONE });
	FLOATS(0, A_NAN, { ONE, A_NAN | MINUS });
	FLOATS(0, A_NAN, { A_NAN, 0 }, { ONE, ONE }, { ONE, ONE });
	FLOATS(INFINITE, A_NAN, { 0x7fff0000, ONE });
	BF16(0, A_NAN, { 0x7f810000, ONE });
}

CASE(a_nan_stays_in_its_rows_and_columns, EITHER)
{
	struct tile a = { 0 }, b = { 0 }, c;
	uint32_t bits;

	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int k = 0; k < 16; k++) {
			put_bits(&a, WORD, row, k, ONE);
			put_bits(&b, WORD, row, k, ONE);
		}
	put_bits(&a, WORD, 5, 3, A_NAN);
	put_bits(&b, WORD, 9, 2, INFINITE);
	/* Beyond the shape: not used. */
	put_bits(&a, WORD, 1, 12, A_NAN);
	put_bits(&b, WORD, 1, 15, A_NAN);
	set_register(0, &a);
	set_register(1, &b);
	set_register(2, &(struct tile){ 0 });
	shape(16, 48, 16);
	mma(WORD, 2, 0, 1);
	get_register(2, &c);
	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROWS; column++) {
			memcpy(&bits, &c.bytes[row][4 * column], 4);
			if (row == 5)
				EXPECT_TRUE(isnan(float_of(bits)));
			else
				EXPECT(bits, column == 9 ? INFINITE : 0x41400000);
		}
	}
}

/* bf16 products are exact; sums have all bits of fp32. */
CASE(bf16_sums_are_fp32, EITHER)
{
	/* 1 + 2^-20, 1 + 2^-23, and 2^-24, a tie */
	BF16(ONE, 0x3f800008, { 0x35800000, ONE });
	BF16(ONE, 0x3f800001, { 0x34000000, ONE });
	BF16(ONE, ONE, { 0x33800000, ONE });
	/* (1 + 2^-7)^2 */
	BF16(0, 0x3f820200, { 0x3f810000, 0x3f810000 });
	BF16(0x3f820200 | MINUS, 0, { 0x3f810000, 0x3f810000 });
	/* md is fp32 also where bf16 could not hold it */
	BF16(0x3f800001, 0x40000000, { 0x3f800000, ONE });
	BF16(0x12345678, 0x12345678, { 0, ONE });
}

/* --- whole registers of random bits -------------------------------------------------- */

/* volatile: each operation is rounded by itself, in this order, to single precision. */
static uint32_t plain_sum(uint32_t md, const uint8_t *a, const uint8_t *b, enum element size, unsigned int count)
{
	volatile float sum = float_of(md), product;

	for (unsigned int k = 0; k < count; k++) {
		uint32_t left = 0, right = 0;

		memcpy((uint8_t *)&left + (size == HALF ? 2 : 0), a + (k << size), ELEMENT_BYTES(size));
		memcpy((uint8_t *)&right + (size == HALF ? 2 : 0), b + (k << size), ELEMENT_BYTES(size));
		product = float_of(left) * float_of(right);
		sum = sum + product;
	}
	return bits_of(sum);
}

/* Sources of random bits whose exponents are in a range, so that sums neither vanish nor overflow. */
static void random_floats(struct tile *tile, enum element size, uint32_t seed, uint32_t low, uint32_t high)
{
	uint32_t state = seed * 31 + 7;

	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int k = 0; k < ROW_BYTES / ELEMENT_BYTES(size); k++) {
			uint32_t bits = next_random(&state) & 0x807fffff;

			put_bits(tile, size, row, k, bits | (low + next_random(&state) % (high - low + 1)) << 23);
		}
	}
}

static void expect_sums(const struct tile *a, const struct tile *b, const struct tile *c, enum element size,
			unsigned int m, unsigned int k, unsigned int n)
{
	struct tile result;

	set_register(0, a);
	set_register(1, b);
	set_register(2, c);
	shape(m, k, n);
	mma(size, 2, 0, 1);
	get_register(2, &result);
	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROWS; column++) {
			uint32_t expected = 0, bits, md;

			memcpy(&bits, &result.bytes[row][4 * column], 4);
			memcpy(&md, &c->bytes[row][4 * column], 4);
			if (row < m && column < n)
				expected = plain_sum(md, a->bytes[row], b->bytes[column], size, k >> size);
			if (isnan(float_of(expected)) && isnan(float_of(bits)))
				continue;
			if (bits != expected)
				contract_fail(__FILE__, __LINE__, "M %u, K %u, N %u, row %u, column %u: %#x, a plain loop gives %#x",
					      m, k, n, row, column, bits, expected);
		}
	}
}

/* Exponent fields of the sources: about 1, the smallest, the largest, any. */
static const struct {
	uint32_t low, high;
} ranges[] = { { 122, 132 }, { 55, 72 }, { 184, 194 }, { 0, 254 }, { 0, 3 }, { 240, 255 } };

static void check_random(enum element size)
{
	uint32_t state = 4711;
	struct tile a, b, c;

	for (unsigned int i = 0; i < 60; i++) {
		unsigned int range = i % 6, other = i % 6 < 4 ? range : 5 - (range - 4);
		unsigned int step = ELEMENT_BYTES(size);

		if (is_left_out(i) && i >= 6)
			continue;
		random_floats(&a, size, 3 * i, ranges[range].low, ranges[range].high);
		random_floats(&b, size, 3 * i + 1, ranges[other].low, ranges[other].high);
		random_floats(&c, WORD, 3 * i + 2, ranges[range].low, ranges[range].high);
		if (i < 12)
			expect_sums(&a, &b, &c, size, 16, 64, 16);
		else
			expect_sums(&a, &b, &c, size, 1 + next_random(&state) % 16,
				    step * (1 + next_random(&state) % (ROW_BYTES / step)),
				    1 + next_random(&state) % 16);
	}
}

CASE(fp32_sums_are_those_of_a_plain_loop_bit_for_bit, EITHER) { check_random(WORD); }
CASE(bf16_sums_are_those_of_a_plain_loop_bit_for_bit, EITHER) { check_random(HALF); }

/* --- int8 -------------------------------------------------------------------------------- */

#define INT8(md, expected, ...) check(BYTE, md, TERMS(__VA_ARGS__), expected)

CASE(int8_operands_are_signed, EITHER)
{
	INT8(0, 16384, { 0x80, 0x80 });
	INT8(0, (uint32_t)-16256, { 0x80, 0x7f });
	INT8(0, (uint32_t)-16256, { 0x7f, 0x80 });
	INT8(0, 16129, { 0x7f, 0x7f });
	INT8(0, 1, { 0xff, 0xff });
	INT8(10, 9, { 0xff, 0x01 });
	INT8(5, 5, { 0x80, 0 });
	INT8(0, 0, { 0x7f, 1 }, { 0x81, 1 });
}

CASE(int8_sums_wrap, EITHER)
{
	INT8(0x7fffffff, 0x80000000, { 1, 1 });
	INT8(0x80000000, 0x7fffffff, { 1, 0xff });
	INT8(0xffffffff, 0, { 1, 1 });
	INT8(0x7fffffff, 0x80003fff, { 0x80, 0x80 });
	/* No halt at the end of the range on the way. */
	INT8(0x7fffff00, 0x7fffff00, { 0x7f, 0x7f }, { 0x7f, 0x81 });
	INT8(0x80000000, 0x80000000, { 0x80, 0x7f }, { 0x80, 0x81 });
}

CASE(int8_sums_of_64_terms_are_exact, EITHER)
{
	struct term terms[64];

	for (unsigned int k = 0; k < 64; k++)
		terms[k] = (struct term){ 0x80, 0x80 };
	check(BYTE, 1, terms, 64, 64 * 16384 + 1);
	check(BYTE, 1, terms, 63, 63 * 16384 + 1);
	terms[63] = (struct term){ 1, 1 };
	check(BYTE, 0x7fffffff, terms, 64, 0x7fffffffu + 63u * 16384u + 1u);
	for (unsigned int k = 0; k < 64; k++)
		terms[k] = (struct term){ 0x80, 0x7f };
	check(BYTE, 0, terms, 64, (uint32_t)(64 * -16256));
}

CASE(int8_sums_of_large_numbers_keep_every_bit, EITHER)
{
	/* 2^24 + 1 and its like have no fp32 of their own. */
	INT8(0x01000001, 0x01000002, { 1, 1 });
	INT8(0x7ffffffe, 0x7fffffff, { 1, 1 });
	INT8(0x01000000, 0x01000000 + 16129 * 2 + 1, { 0x7f, 0x7f }, { 0x7f, 0x7f }, { 1, 1 });
}

/* --- the program's own arithmetic ----------------------------------------------------------- */

#ifdef __x86_64__
/* Flush to zero, denormals are zero, round up, no exception is masked; and a flag that is set. */
#define STRANGE_MODE 0xc060u

static void set_mode(void *mode)
{
	_mm_setcsr(*(unsigned int *)mode);
}

static void get_mode(void *mode)
{
	*(unsigned int *)mode = _mm_getcsr();
}

CASE(the_threads_own_rounding_changes_no_sum_and_is_not_changed, EITHER)
{
	unsigned int strange = STRANGE_MODE, plain = 0x1f80, mode = 0;
	struct tile a = { 0 }, b = { 0 }, c = { 0 };
	static struct tile result;
	/* 2^24 + 1, 1 x smallest, 3 x 0.5 of it, 0 x infinity, largest x 2 */
	static const uint32_t left[] = { ONE, SMALLEST, 3, 0, LARGEST };
	static const uint32_t right[] = { ONE, ONE, HALF_ONE, INFINITE, TWO };
	static const uint32_t start[] = { TWO_TO_24, 0, 0, 0, 0 };
	static const uint32_t expected[] = { TWO_TO_24, SMALLEST, 2, A_NAN, INFINITE };
	uint32_t bits;

	for (unsigned int i = 0; i < 5; i++) {
		put_bits(&a, WORD, i, i, left[i]);
		put_bits(&b, WORD, i, i, right[i]);
		put_bits(&c, WORD, i, i, start[i]);
	}
	/* 0 x infinity is in row 3 only where it meets row 3. */
	set_register(0, &a);
	set_register(1, &b);
	set_register(2, &c);
	call_on(A, set_mode, &strange);
	mma(WORD, 2, 0, 1);
	mst(WORD, 2, &result, 64);
	fence();
	call_on(A, get_mode, &mode);
	call_on(A, set_mode, &plain);
	COMPLETE();
	EXPECT(mode, STRANGE_MODE);
	for (unsigned int i = 0; i < 5; i++) {
		memcpy(&bits, &result.bytes[i][4 * i], 4);
		if (expected[i] == A_NAN)
			EXPECT_TRUE(isnan(float_of(bits)));
		else
			EXPECT(bits, expected[i]);
	}
}
#endif
