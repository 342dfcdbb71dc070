/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_CONV_WS leaves out a matrix without an address, does nothing if a size is 0, keeps configurations. */
#include <string.h>

#include "tests/contract/virgo/contract.h"

#define INPUT_AT 0u
#define WEIGHTS_AT 65536u
#define BIAS_AT 131072u
#define BATCH 2u
#define ROWS 6u
#define COLUMNS 5u
#define KERNEL 3u
#define PADDING 1u	/* keeps the image's size */

static unsigned int in_channels, out_channels;

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

static void send_whole(void)
{
	uint64_t padding = PADDING;

	rocc(LOOP_CONV_1, (uint64_t)out_channels << 48 | (uint64_t)in_channels << 32 | ROWS << 16 | BATCH,
	     padding << 56 | 1ull << 48 | (uint64_t)COLUMNS << 32 | ROWS << 16 | ROWS);
	rocc(LOOP_CONV_2, (uint64_t)KERNEL << 48 | (uint64_t)COLUMNS << 32,
	     (uint64_t)BATCH << 48 | (uint64_t)ROWS << 32 | COLUMNS << 16 | out_channels);
	rocc(LOOP_CONV_3, (uint64_t)KERNEL << 48 | (uint64_t)KERNEL << 32 | in_channels << 16 | padding,
	     padding << 48 | padding << 32 | padding << 24 | COLUMNS);
	rocc(LOOP_CONV_4, (uint64_t)ROWS << 48 | 1,
	     (uint64_t)in_channels << 48 | (uint64_t)out_channels << 32 | out_channels << 16 | COLUMNS);
	rocc(LOOP_CONV_5, address_of(input_at(WEIGHTS_AT)), address_of(output_at(0)));
	rocc(LOOP_CONV_6, address_of(input_at(BIAS_AT)), address_of(input_at(INPUT_AT)));
	rocc(LOOP_CONV_WS, 0, 1);
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
