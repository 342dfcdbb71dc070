/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A convolution that is done in parts, as Gemmini's library does it: of images,
 * output rows, columns and channels, of rows, columns and channels of the kernel.
 * And what LOOP_CONV_WS leaves out when it has no address.
 */
#include <string.h>

#include "tests/lib/contract_virgo.h"

#define INPUT_AT 0u
#define WEIGHTS_AT 65536u
#define BIAS_AT 131072u
#define BATCH 2u
#define ROWS 6u
#define COLUMNS 5u
#define KERNEL 3u
#define PADDING 1u

/* The padding keeps the image's size. */
struct part {
	unsigned int at[7], size[7];
};
enum { OF_BATCH, OF_ROW, OF_COLUMN, OF_CHANNEL, OF_KROW, OF_KCOLUMN, OF_KCHANNEL };

static unsigned int in_channels, out_channels;

static double input(unsigned int b, int row, int column, unsigned int channel)
{
	if (row < 0 || column < 0 || row >= (int)ROWS || column >= (int)COLUMNS)
		return 0;
	return element_of(input_at(INPUT_AT), ((b * ROWS + (unsigned int)row) * COLUMNS + (unsigned int)column) *
			  in_channels + channel);
}

static double expected(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	double sum = value_of(input_at(BIAS_AT), channel);

	for (unsigned int n = 0; n < KERNEL * KERNEL * in_channels; n++) {
		int i = (int)(n / in_channels / KERNEL), j = (int)(n / in_channels % KERNEL);

		sum += input(b, (int)row + i - (int)PADDING, (int)column + j - (int)PADDING, n % in_channels) *
		       element_of(input_at(WEIGHTS_AT), n * out_channels + channel);
	}
	return as_element(sum);
}

/* --- one part -------------------------------------------------------------------------------- */

static unsigned int before(int first)
{
	return first < 0 ? (unsigned int)-first : 0;
}

static unsigned int behind(int first, unsigned int size, unsigned int all)
{
	int end = first + (int)size - (int)all;

	return end > 0 ? (unsigned int)end : 0;
}

static void send_part(const struct part *p)
{
	int row = (int)(p->at[OF_ROW] + p->at[OF_KROW]) - (int)PADDING;
	int column = (int)(p->at[OF_COLUMN] + p->at[OF_KCOLUMN]) - (int)PADDING;
	unsigned int rows = p->size[OF_ROW] + p->size[OF_KROW] - 1;
	unsigned int columns = p->size[OF_COLUMN] + p->size[OF_KCOLUMN] - 1;
	uint64_t top = before(row), left = before(column);
	uint64_t bottom = behind(row, rows, ROWS), right = behind(column, columns, COLUMNS);
	bool first = !p->at[OF_KROW] && !p->at[OF_KCOLUMN] && !p->at[OF_KCHANNEL];
	bool last = p->at[OF_KROW] + p->size[OF_KROW] == KERNEL &&
		    p->at[OF_KCOLUMN] + p->size[OF_KCOLUMN] == KERNEL &&
		    p->at[OF_KCHANNEL] + p->size[OF_KCHANNEL] == in_channels;
	size_t from = ((p->at[OF_BATCH] * ROWS + (unsigned int)(row + (int)top)) * COLUMNS +
		       (unsigned int)(column + (int)left)) * in_channels + p->at[OF_KCHANNEL];
	size_t weights = ((p->at[OF_KROW] * KERNEL + p->at[OF_KCOLUMN]) * in_channels + p->at[OF_KCHANNEL]) *
			 out_channels + p->at[OF_CHANNEL];
	size_t to = ((p->at[OF_BATCH] * ROWS + p->at[OF_ROW]) * COLUMNS + p->at[OF_COLUMN]) * out_channels +
		    p->at[OF_CHANNEL];

	rocc(LOOP_CONV_1, (uint64_t)out_channels << 48 | (uint64_t)in_channels << 32 | ROWS << 16 | BATCH,
	     (uint64_t)PADDING << 56 | 1ull << 48 | (uint64_t)COLUMNS << 32 | ROWS << 16 | ROWS);
	rocc(LOOP_CONV_2, (uint64_t)KERNEL << 48 | (uint64_t)COLUMNS << 32,
	     (uint64_t)p->size[OF_BATCH] << 48 | (uint64_t)p->size[OF_ROW] << 32 | p->size[OF_COLUMN] << 16 |
	     p->size[OF_CHANNEL]);
	rocc(LOOP_CONV_3, (uint64_t)p->size[OF_KROW] << 48 | (uint64_t)p->size[OF_KCOLUMN] << 32 |
	     p->size[OF_KCHANNEL] << 16 | left, right << 48 | top << 32 | bottom << 24 | COLUMNS);
	rocc(LOOP_CONV_4, (uint64_t)p->size[OF_ROW] << 48 | 1,
	     (uint64_t)in_channels << 48 | (uint64_t)out_channels << 32 | out_channels << 16 | p->size[OF_COLUMN]);
	rocc(LOOP_CONV_5, address_of(input_at(WEIGHTS_AT + weights * unit.size)),
	     last ? address_of(output_at(to * unit.size)) : 0);
	rocc(LOOP_CONV_6, first ? address_of(input_at(BIAS_AT + p->at[OF_CHANNEL] * 4)) : 0,
	     address_of(input_at(INPUT_AT + from * unit.size)));
	rocc(LOOP_CONV_WS, 0, 1);
}

/* All parts of what is in all[] from dimension `d` on; the parts of the kernel are the innermost. */
static void send_parts(struct part *p, unsigned int d, const unsigned int all[7], const unsigned int step[7])
{
	if (d == 7) {
		send_part(p);
		return;
	}
	for (p->at[d] = 0; p->at[d] < all[d]; p->at[d] += step[d]) {
		p->size[d] = all[d] - p->at[d] < step[d] ? all[d] - p->at[d] : step[d];
		send_parts(p, d + 1, all, step);
	}
}

static void prepare(void)
{
	in_channels = unit.dim + 2;
	out_channels = unit.dim + 1;
	fill_small(input_at(INPUT_AT), BATCH * ROWS * COLUMNS * in_channels, 3);
	fill_small(input_at(WEIGHTS_AT), KERNEL * KERNEL * in_channels * out_channels, 2);
	for (unsigned int i = 0; i < out_channels; i++)
		put_value(input_at(BIAS_AT), i, (int)draw_below(41) - 20);
	memset(output_at(0), 0x5a, OUTPUT_BYTES);
	config_st(out_channels * unit.size, NO_ACTIVATION, 1);
}

static void expect_parts(const unsigned int step[7])
{
	const unsigned int all[7] = { BATCH, ROWS, COLUMNS, out_channels, KERNEL, KERNEL, in_channels };
	struct part part;

	send_parts(&part, 0, all, step);
	COMPLETE();
	for (unsigned int i = 0; i < BATCH * ROWS * COLUMNS * out_channels; i++) {
		unsigned int pixel = i / out_channels, image = ROWS * COLUMNS;

		EXPECT_TRUE(element_of(output_at(0), i) == expected(pixel / image, pixel % image / COLUMNS,
								    pixel % COLUMNS, i % out_channels));
	}
	CHECK();
}

CASE(a_convolution_in_one_part, EITHER)
{
	FOR_EACH_UNIT {
		prepare();
		expect_parts((const unsigned int[7]){ 9, 9, 9, 99, 9, 9, 99 });
	}
}

CASE(a_convolution_in_parts_of_the_output, EITHER)
{
	FOR_EACH_UNIT {
		prepare();
		expect_parts((const unsigned int[7]){ 1, 4, 3, unit.dim, 9, 9, 99 });
	}
}

CASE(a_convolution_in_parts_of_the_kernel, EITHER)
{
	FOR_EACH_UNIT {
		prepare();
		expect_parts((const unsigned int[7]){ 9, 9, 9, 99, 2, 2, unit.dim });
	}
}

CASE(a_convolution_in_parts_of_everything, EITHER)
{
	FOR_EACH_UNIT {
		prepare();
		expect_parts((const unsigned int[7]){ 1, 3, 3, unit.dim, 2, 2, unit.dim });
	}
}

/* --- what is left out ---------------------------------------------------------------------------- */

static void send_whole(void)
{
	const unsigned int all[7] = { BATCH, ROWS, COLUMNS, out_channels, KERNEL, KERNEL, in_channels };
	struct part part;

	send_parts(&part, 0, all, all);
}

CASE(a_convolution_leaves_out_what_has_no_address, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		prepare();
		send_whole();
		CHECK();
		for (unsigned int missing = 0; missing < 4; missing++) {
			fill_small(input_at(INPUT_AT), 512, 3);
			fill_small(input_at(WEIGHTS_AT), 512, 2);
			rocc(LOOP_CONV_5, missing == 0 ? 0 : address_of(input_at(WEIGHTS_AT)),
			     missing == 1 ? 0 : address_of(output_at(0)));
			rocc(LOOP_CONV_6, missing == 2 ? 0 : address_of(input_at(BIAS_AT)),
			     missing == 3 ? 0 : address_of(input_at(INPUT_AT)));
			rocc(LOOP_CONV_WS, 0, 1);
			CHECK();
		}
	}
}

CASE(a_convolution_of_nothing_does_nothing, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		prepare();
		send_whole();
		rocc(LOOP_CONV_2, (uint64_t)KERNEL << 48 | (uint64_t)COLUMNS << 32,
		     (uint64_t)BATCH << 48 | (uint64_t)ROWS << 32 | COLUMNS << 16 | 0);
		rocc(LOOP_CONV_WS, 0, 1);
		CHECK();
	}
}

CASE(a_convolution_leaves_configurations_as_they_were, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		prepare();
		config_ld(0, 128, 0.5f, true);
		config_ld(1, 256, 1, false);
		config_ex(OUTPUT_STATIONARY, RELU, 3, true, false);
		send_whole();
		mvin(input_at(0), ACC | 7, 3, unit.dim);
		mvin2(input_at(0), 40, 3, 2 * unit.dim);
		rocc(PRELOAD, pack(unit.dim, unit.dim, 3), pack(unit.dim, unit.dim, 60));
		rocc(COMPUTE_PRELOADED, pack(unit.dim, unit.dim, 9), pack(unit.dim, unit.dim, 90));
		CHECK();
	}
}
