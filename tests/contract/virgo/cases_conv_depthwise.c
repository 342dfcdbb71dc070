/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole depthwise layer, as Gemmini's library sends it: a loop for each channel of
 * an image that has all of them side by side. Weights lie as [channel][row][column].
 */
#include <string.h>

#include "tests/contract/virgo/contract.h"

#define WEIGHTS_AT 65536u
#define BIAS_AT 131072u
#define CHANNELS 5u
#define ROWS 6u
#define COLUMNS 7u
#define KERNEL 3u

static double input(int row, int column, unsigned int channel)
{
	if (row < 0 || column < 0 || row >= (int)ROWS || column >= (int)COLUMNS)
		return 0;
	return element_of(input_at(0), ((unsigned int)row * COLUMNS + (unsigned int)column) * CHANNELS + channel);
}

/* With a padding of 1: as large as the input. */
static double expected(unsigned int row, unsigned int column, unsigned int channel)
{
	double sum = value_of(input_at(BIAS_AT), channel);

	for (unsigned int i = 0; i < KERNEL; i++)
		for (unsigned int j = 0; j < KERNEL; j++)
			sum += input((int)(row + i) - 1, (int)(column + j) - 1, channel) *
			       element_of(input_at(WEIGHTS_AT), (channel * KERNEL + i) * KERNEL + j);
	return as_element(sum);
}

static void prepare(void)
{
	fill_small(input_at(0), ROWS * COLUMNS * CHANNELS, 3);
	fill_small(input_at(WEIGHTS_AT), CHANNELS * KERNEL * KERNEL, 3);
	for (unsigned int i = 0; i < CHANNELS; i++)
		put_value(input_at(BIAS_AT), i, (int)draw_below(41) - 20);
	memset(output_at(0), 0x5a, OUTPUT_BYTES);
	config_st(CHANNELS * unit.size, NO_ACTIVATION, 1);
	rocc(LOOP_CONV_1, (uint64_t)CHANNELS << 48 | (uint64_t)CHANNELS << 32 | ROWS << 16 | 1,
	     1ull << 56 | 1ull << 48 | (uint64_t)COLUMNS << 32 | ROWS << 16 | ROWS);
	rocc(LOOP_CONV_2, (uint64_t)KERNEL << 48 | (uint64_t)COLUMNS << 32,
	     1ull << 48 | (uint64_t)ROWS << 32 | COLUMNS << 16 | 1);
	rocc(LOOP_CONV_3, (uint64_t)KERNEL << 48 | (uint64_t)KERNEL << 32 | 1u << 16 | 1,
	     1ull << 48 | 1ull << 32 | 1u << 24 | COLUMNS);
	rocc(LOOP_CONV_4, (uint64_t)ROWS << 48 | 1,
	     (uint64_t)CHANNELS << 48 | (uint64_t)CHANNELS << 32 | CHANNELS << 16 | COLUMNS);
}

CASE(a_depthwise_layer_of_many_channels, EITHER)
{
	FOR_EACH_UNIT {
		prepare();
		for (unsigned int i = 0; i < CHANNELS; i++) {
			rocc(LOOP_CONV_5, address_of(input_at(WEIGHTS_AT + i * KERNEL * KERNEL * unit.size)),
			     address_of(output_at(i * unit.size)));
			rocc(LOOP_CONV_6, address_of(input_at(BIAS_AT + i * 4)), address_of(input_at(i * unit.size)));
			rocc(LOOP_CONV_WS, 1u << 6, 1);
		}
		COMPLETE();
		for (unsigned int i = 0; i < ROWS * COLUMNS * CHANNELS; i++)
			EXPECT_TRUE(element_of(output_at(0), i) ==
				    expected(i / CHANNELS / COLUMNS, i / CHANNELS % COLUMNS, i % CHANNELS));
		CHECK();
	}
}
