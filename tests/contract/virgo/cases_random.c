/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Valid commands in any order beside the plain reference. */
#include "tests/contract/virgo/contract.h"

#define COMMANDS 240	/* between two comparisons */

static float random_scale(void)
{
	static const float scales[] = { 1, 1, 0.5f, 0.01f, 3, -1 };

	return scales[draw_below(6)];
}

static uint32_t constant(int32_t number, float real)
{
	return unit.type == INT8 ? (uint32_t)number : float_bits(real);
}

static void random_config(void)
{
	switch (draw_below(5)) {
	case 0:
		config_ex(draw_below(2), draw_below(2), draw_below(3) ? 0 : draw_below(12), draw_below(2),
			  draw_below(2));
		break;
	case 1:
		config_ex_strides(draw_below(2), draw_below(4), 1 + draw_below(2), random_scale());
		break;
	case 2:
		if (draw_below(2))
			config_ld(draw_below(3), draw_below(5) * 128, random_scale(), draw_below(2));
		else
			config_ld_blocks(draw_below(3), draw_below(5) * 128, random_scale(), draw_below(17),
					 1 + draw_below(3));
		break;
	case 3:
		config_st(draw_below(5) * 128, draw_below(4), random_scale());
		break;
	default:
		config_norm(constant(13, 0.693f), constant(5041, 1.443f), constant(27, 1.353f),
			    constant(384, 0.96f), draw_below(2), draw_below(4));
	}
}

static uint32_t random_local(unsigned int span)
{
	if (draw_below(2))
		return ACC | (draw_below(2) ? ADD : 0) | draw_below(unit.accumulator_rows - span);
	return draw_below(unit.rows - span);
}

static uint64_t random_operand(void)
{
	uint32_t local = draw_below(6) ? random_local(3 * 16 + 1) & ~ADD : GARBAGE;

	return pack(draw_below(unit.dim + 1), draw_below(unit.dim + 1), local);
}

static void random_move_in(unsigned int rows, unsigned int columns)
{
	static const unsigned int functs[] = { MVIN, MVIN2, MVIN3 };
	uint64_t from = draw_below(8) ? address_of(input_at(4 * draw_below(50000))) : 0;

	rocc(functs[draw_below(3)], from, pack(rows, columns, random_local(2 * 16 + 16)));
}

static void random_move_out(unsigned int rows, unsigned int columns)
{
	static const unsigned int norms[] = { NORM_RESET, NORM_RESET, NORM_RESET, NORM_SUM, NORM_MEAN,
					      NORM_MAX, NORM_SUM_EXP, NORM_DEVIATION };
	uint32_t local = random_local(2 * 16) & ~ADD;

	if (local & ACC)
		local |= draw_below(4) ? NORM(norms[draw_below(8)]) : FULL;
	mvout(output_at(4 * draw_below(20000)), local, rows, columns);
}

static void random_command(void)
{
	unsigned int rows = 1 + draw_below(unit.dim), columns = 1 + draw_below(2 * unit.dim);

	switch (draw_below(8)) {
	case 0:
	case 1:
		random_config();
		break;
	case 2:
	case 3:
		random_move_in(rows, columns);
		break;
	case 4:
		random_move_out(rows, columns);
		break;
	case 5:
		rocc(MVOUT_SPAD, (uint64_t)draw_below(3) << 32 | draw_below(100),
		     pack(rows, columns, ACC | draw_below(unit.accumulator_rows - 2 * 16)));
		break;
	default:
		rocc(PRELOAD, random_operand(), pack(draw_below(unit.dim + 1), draw_below(unit.dim + 1),
						     random_local(2 * 16)));
		rocc(draw_below(3) ? COMPUTE_PRELOADED : COMPUTE_ACCUMULATED, random_operand(), random_operand());
	}
}

CASE(commands_in_any_order_do_what_each_of_them_means, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int round = 0; round < 16; round++) {
			if (is_left_out(round))
				continue;
			for (unsigned int i = 0; i < COMMANDS; i++)
				random_command();
			CHECK();
		}
	}
}
