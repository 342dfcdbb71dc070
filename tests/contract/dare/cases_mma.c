/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mma: "mma performs an MMA across three matrix registers. The shape of two source
 * registers is matrixM x matrixK and matrixN x matrixK" (paper, III-A), md += ms1 x
 * transposed ms2; elements of md outside M x N become 0 (XuanTie extension). Which
 * elements meet, for each kind of element; how sums are rounded is in
 * cases_rounding.c.
 */
#include <string.h>

#include "tests/contract/dare/contract.h"

/* Small whole numbers: every sum is exact, so their order does not matter. */
static int32_t small(uint32_t *state)
{
	return (int32_t)(next_random(state) >> 8 & 31) - 15;
}

static void put_element(struct tile *tile, enum element size, unsigned int row, unsigned int column,
			int32_t value)
{
	uint32_t bits = bits_of((float)value);

	switch (size) {
	case BYTE:
		tile->bytes[row][column] = (uint8_t)value;
		return;
	case HALF:
		bits >>= 16;
		memcpy(&tile->bytes[row][2 * column], &bits, 2);
		return;
	default:
		memcpy(&tile->bytes[row][4 * column], &bits, 4);
	}
}

static void put_sum(struct tile *tile, enum element size, unsigned int row, unsigned int column,
		    int32_t value)
{
	uint32_t bits = size == BYTE ? (uint32_t)value : bits_of((float)value);

	memcpy(&tile->bytes[row][4 * column], &bits, 4);
}

/* Sources with numbers in all their bytes, for any shape. */
struct operands {
	int32_t a[ROWS][ROW_BYTES], b[ROWS][ROW_BYTES], c[ROWS][ROWS];
	struct tile ta, tb, tc;
};

static void make_operands(struct operands *o, enum element size, uint32_t seed)
{
	uint32_t state = seed * 7919 + 1;

	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int k = 0; k < ROW_BYTES / ELEMENT_BYTES(size); k++) {
			o->a[row][k] = small(&state);
			o->b[row][k] = small(&state);
			put_element(&o->ta, size, row, k, o->a[row][k]);
			put_element(&o->tb, size, row, k, o->b[row][k]);
		}
		for (unsigned int column = 0; column < ROWS; column++) {
			o->c[row][column] = small(&state);
			put_sum(&o->tc, size, row, column, o->c[row][column]);
		}
	}
}

static void multiply(struct tile *tile, const struct operands *o, enum element size, unsigned int m,
		     unsigned int k, unsigned int n)
{
	memset(tile, 0, sizeof(*tile));
	for (unsigned int i = 0; i < m; i++) {
		for (unsigned int j = 0; j < n; j++) {
			int32_t sum = o->c[i][j];

			for (unsigned int e = 0; e < k / ELEMENT_BYTES(size); e++)
				sum += o->a[i][e] * o->b[j][e];
			put_sum(tile, size, i, j, sum);
		}
	}
}

static void check_shape(const struct operands *o, enum element size, unsigned int m, unsigned int k,
			unsigned int n)
{
	struct tile expected;

	set_register(0, &o->ta);
	set_register(1, &o->tb);
	set_register(2, &o->tc);
	shape(m, k, n);
	mma(size, 2, 0, 1);
	multiply(&expected, o, size, m, k, n);
	EXPECT_REGISTER(2, &expected);
}

static void check_full(enum element size)
{
	struct operands o;

	for (uint32_t seed = 0; seed < 4; seed++) {
		make_operands(&o, size, seed);
		check_shape(&o, size, 16, 64, 16);
	}
}

CASE(mma_multiplies_full_fp32_registers, EITHER) { check_full(WORD); }
CASE(mma_multiplies_full_bf16_registers, EITHER) { check_full(HALF); }
CASE(mma_multiplies_full_int8_registers, EITHER) { check_full(BYTE); }

/* Every M with every N, and every K with some of both. */
static void check_shapes(enum element size)
{
	static const unsigned int odd[] = { 1, 2, 7, 16 };
	unsigned int step = ELEMENT_BYTES(size), k = step;
	struct operands o;

	make_operands(&o, size, 50);
	for (unsigned int m = 1; m <= ROWS; m++) {
		for (unsigned int n = 1; n <= ROWS; n++) {
			if (!is_left_out(m + n))
				check_shape(&o, size, m, k, n);
			k = k + 5 * step > ROW_BYTES ? (k + 5 * step) % ROW_BYTES : k + 5 * step;
		}
	}
	for (k = step; k <= ROW_BYTES; k += step)
		for (unsigned int i = 0; i < 4 && !is_left_out(k / step); i++)
			check_shape(&o, size, odd[(i + k / step) % 4], k, odd[i]);
}

CASE(mma_takes_any_shape_of_fp32, EITHER) { check_shapes(WORD); }
CASE(mma_takes_any_shape_of_bf16, EITHER) { check_shapes(HALF); }
CASE(mma_takes_any_shape_of_int8, EITHER) { check_shapes(BYTE); }

/* One element at a time: no other row, column or k has a part in it. */
static void check_places(enum element size)
{
	unsigned int elements = ROW_BYTES / ELEMENT_BYTES(size);
	uint32_t state = 77 + (uint32_t)size;

	for (unsigned int i = 0; i < 40 && !(i > 4 && is_left_out(1)); i++) {
		unsigned int row = next_random(&state) % ROWS, column = next_random(&state) % ROWS;
		unsigned int k = i < 2 ? i * (elements - 1) : next_random(&state) % elements;
		struct tile a = { 0 }, b = { 0 }, expected = { 0 };

		put_element(&a, size, row, k, 3);
		put_element(&b, size, column, k, -5);
		put_sum(&expected, size, row, column, -15);
		set_register(3, &a);
		set_register(4, &b);
		set_register(5, &(struct tile){ 0 });
		mma(size, 5, 3, 4);
		EXPECT_REGISTER(5, &expected);
	}
}

CASE(row_m_meets_row_n_at_column_n_of_row_m_for_fp32, EITHER) { check_places(WORD); }
CASE(row_m_meets_row_n_at_column_n_of_row_m_for_bf16, EITHER) { check_places(HALF); }
CASE(row_m_meets_row_n_at_column_n_of_row_m_for_int8, EITHER) { check_places(BYTE); }

CASE(mma_adds_to_what_md_holds, EITHER)
{
	struct tile ones = { 0 }, expected = { 0 };

	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < 16; i++)
			put_element(&ones, WORD, row, i, 1);
	set_register(0, &ones);
	shape(16, 40, 16);
	for (unsigned int i = 0; i < 9; i++)
		mma(WORD, 1, 0, 0);
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < ROWS; i++)
			put_sum(&expected, WORD, row, i, 90);
	EXPECT_REGISTER(1, &expected);
}

CASE(mma_changes_neither_source, EITHER)
{
	struct operands o;

	for (unsigned int size = 0; size < ELEMENTS; size++) {
		make_operands(&o, (enum element)size, 60 + size);
		check_shape(&o, (enum element)size, 5, 20, 3);
		EXPECT_REGISTER(0, &o.ta);
		EXPECT_REGISTER(1, &o.tb);
	}
}

/* int8 operands: any register is a legal source and a legal sum. */
static void multiply_registers(struct tile tiles[REGISTERS], unsigned int md, unsigned int ms1,
			       unsigned int ms2, unsigned int m, unsigned int k, unsigned int n)
{
	struct tile result = { 0 };

	for (unsigned int i = 0; i < m; i++) {
		for (unsigned int j = 0; j < n; j++) {
			uint32_t sum;

			memcpy(&sum, &tiles[md].bytes[i][4 * j], 4);
			for (unsigned int e = 0; e < k; e++) {
				int32_t left = (int8_t)tiles[ms1].bytes[i][e];
				int32_t right = (int8_t)tiles[ms2].bytes[j][e];

				sum += (uint32_t)(left * right);
			}
			memcpy(&result.bytes[i][4 * j], &sum, 4);
		}
	}
	tiles[md] = result;
}

CASE(md_and_both_sources_may_be_any_registers_equal_or_not, EITHER)
{
	struct tile tiles[REGISTERS];

	for (unsigned int i = 0; i < 512; i++) {
		unsigned int md = i & 7, ms1 = i >> 3 & 7, ms2 = i >> 6;
		unsigned int m = 16 - i % 3, k = 64 - i % 5, n = 16 - i % 2;

		if (is_left_out(i / 4))
			continue;
		/* Sums leave zeros outside the shape; new numbers now and then. */
		for (unsigned int number = 0; i % 16 == 0 && number < REGISTERS; number++) {
			fill(&tiles[number], sizeof(tiles[number]), 100 + i + number);
			set_register(number, &tiles[number]);
		}
		shape(m, k, n);
		mma(BYTE, md, ms1, ms2);
		multiply_registers(tiles, md, ms1, ms2, m, k, n);
		if (i % 4 != 3)
			continue;
		for (unsigned int number = 0; number < REGISTERS; number++)
			EXPECT_REGISTER(number, &tiles[number]);
	}
}

CASE(md_may_be_a_source_of_fp32, EITHER)
{
	struct operands o;
	struct tile expected;

	make_operands(&o, WORD, 70);
	shape(9, 36, 9);
	/* md and ms1: each row of a is its own start */
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < ROWS; i++)
			o.c[row][i] = o.a[row][i];
	set_register(0, &o.ta);
	set_register(1, &o.tb);
	mma(WORD, 0, 0, 1);
	multiply(&expected, &o, WORD, 9, 36, 9);
	EXPECT_REGISTER(0, &expected);
	/* md and ms2 */
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < ROWS; i++)
			o.c[row][i] = o.b[row][i];
	set_register(0, &o.ta);
	mma(WORD, 1, 0, 1);
	multiply(&expected, &o, WORD, 9, 36, 9);
	EXPECT_REGISTER(1, &expected);
	/* all three */
	memcpy(o.b, o.a, sizeof(o.b));
	memcpy(o.c, o.a, sizeof(o.c));
	set_register(0, &o.ta);
	mma(WORD, 0, 0, 0);
	memset(&expected, 0, sizeof(expected));
	for (unsigned int i = 0; i < 9; i++) {
		for (unsigned int j = 0; j < 9; j++) {
			int32_t sum = o.a[i][j];

			for (unsigned int e = 0; e < 9; e++)
				sum += o.a[i][e] * o.a[j][e];
			put_sum(&expected, WORD, i, j, sum);
		}
	}
	EXPECT_REGISTER(0, &expected);
}

/* An mma reads its source when it executes, also if an mma before it read the same one. */
CASE(a_source_that_changes_between_two_mmas_is_read_anew, EITHER)
{
	struct operands o;
	struct tile expected;

	for (unsigned int way = 0; way < 3; way++) {
		static struct tile other;

		make_operands(&o, WORD, 80);
		check_shape(&o, WORD, 16, 64, 16);
		make_operands(&o, WORD, 81 + way);
		other = o.tb;
		if (way == 0)
			mld(WORD, 1, &other, 64);
		if (way == 1) {
			uint64_t rows[ROWS];

			for (unsigned int row = 0; row < ROWS; row++)
				rows[row] = (uintptr_t)other.bytes[row];
			set_addresses(6, rows);
			mgather(WORD, 1, 6);
		}
		if (way == 2) {
			/* The sum of an mma: identity by identity. */
			struct tile identity = { 0 };

			for (unsigned int i = 0; i < ROWS; i++)
				put_element(&identity, WORD, i, i, 1);
			memset(o.b, 0, sizeof(o.b));
			for (unsigned int i = 0; i < ROWS; i++)
				o.b[i][i] = 1;
			set_register(7, &identity);
			set_register(1, &(struct tile){ 0 });
			mma(WORD, 1, 7, 7);
		}
		set_register(0, &o.ta);
		set_register(2, &o.tc);
		mma(WORD, 2, 0, 1);
		multiply(&expected, &o, WORD, 16, 64, 16);
		EXPECT_REGISTER(2, &expected);
	}
}

/* The same bits, read as three kinds of element in turn. */
CASE(a_source_is_read_as_the_element_that_each_mma_says, EITHER)
{
	struct operands o, wide;
	struct tile expected;

	make_operands(&o, BYTE, 90);
	make_operands(&wide, WORD, 91);
	for (unsigned int round = 0; round < 3; round++) {
		set_register(0, &wide.ta);
		set_register(1, &wide.tb);
		set_register(2, &wide.tc);
		mma(WORD, 2, 0, 1);
		multiply(&expected, &wide, WORD, 16, 64, 16);
		EXPECT_REGISTER(2, &expected);
		set_register(3, &wide.tc);
		/* The bytes of fp32 numbers as int8. */
		for (unsigned int row = 0; row < ROWS; row++) {
			for (unsigned int e = 0; e < ROW_BYTES; e++) {
				o.a[row][e] = (int8_t)wide.ta.bytes[row][e];
				o.b[row][e] = (int8_t)wide.tb.bytes[row][e];
			}
			for (unsigned int e = 0; e < ROWS; e++)
				memcpy(&o.c[row][e], &wide.tc.bytes[row][4 * e], 4);
		}
		mma(BYTE, 3, 0, 1);
		multiply(&expected, &o, BYTE, 16, 64, 16);
		EXPECT_REGISTER(3, &expected);
	}
}

static void check_partial_element(enum element size, unsigned int k)
{
	uint64_t position;
	struct operands o;

	make_operands(&o, size, 95);
	set_register(0, &o.ta);
	set_register(1, &o.tb);
	set_register(2, &o.tc);
	shape(16, k, 16);
	position = get(DISPATCHED);
	mma(size, 2, 0, 1);
	EXPECT_ERROR(SHAPE, word_mma(size, 2, 0, 1), position, k, 0);
	EXPECT_REGISTER(0, &o.ta);
	EXPECT_REGISTER(1, &o.tb);
	EXPECT_REGISTER(2, &o.tc);
}

CASE(mma_refuses_rows_that_are_not_whole_elements, EITHER)
{
	for (unsigned int k = 1; k <= ROW_BYTES; k++) {
		if (is_left_out(k) && k > 3)
			continue;
		if (k % 4)
			check_partial_element(WORD, k);
		if (k % 2)
			check_partial_element(HALF, k);
	}
}
