/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The warps of a kernel of Virgo share its work in time: each line of C is stored once, and each line of an
 * operand is copied once, however many warps there are. A tile of 64 x 64 is 512 lines of eight words.
 */
#include "tests/lib/virgo_cycles.h"

#define LINES 512u

static const enum virgo_time_design with_lines[] = { VIRGO_DESIGN_VIRGO, VIRGO_DESIGN_VIRGO_DMA,
						     VIRGO_DESIGN_HOPPER };
#define WITH_LINES (sizeof(with_lines) / sizeof(with_lines[0]))

static void start(struct cluster *c, enum virgo_time_design design)
{
	const struct virgo_time_parameters *parameters = &c->timing->parameters;
	struct virgo_time_kernel kernel = {
		.design = design,
		.m = parameters->matrix_tile_m,
		.n = parameters->matrix_tile_n,
		.k = parameters->matrix_tile_k,
	};

	assert_int_equal(virgo_time_start(c->timing, &kernel, c->timing->now), 0);
}

/* --- lines of C ----------------------------------------------------------------------------------- */

static void expect_each_line_once(const struct cluster *c)
{
	const struct virgo_time_parameters *parameters = &c->timing->parameters;
	uint64_t lines = parameters->matrix_tile_m * parameters->matrix_tile_n / LANES;
	uint8_t stored[LINES] = { 0 };

	for (unsigned int core = 0; core < parameters->cluster_cores; core++)
		for (unsigned int warp = 0; warp < parameters->cluster_warps; warp++) {
			const struct code *end = &c->timing->code[core][warp].part[PART_TILE_END];

			for (unsigned int i = 0; i < end->count; i++)
				if (end->item[i].instruction.operation == OP_STORE)
					stored[end->item[i].instruction.address % 0x100000000 / LINE]++;
		}
	for (uint64_t line = 0; line < lines; line++)
		assert_int_equal(stored[line], 1);
}

static void expect_all_lines(const char *const *changes)
{
	for (unsigned int i = 0; i < WITH_LINES; i++) {
		struct cluster c = cluster_begin(changes[0], changes[1], changes[2], changes[3], changes[4],
						 changes[5], NULL);

		start(&c, with_lines[i]);
		expect_each_line_once(&c);
		cluster_end(&c);
	}
}

static void every_line_leaves_where_warps_do_not_divide_them(void **state)
{
	static const char *const storing[6] = { "cluster.cores=3", "kernel.warps_store=1" };

	(void)state;
	expect_all_lines(storing);
}

static void every_line_leaves_where_warps_outnumber_them(void **state)
{
	static const char *const storing[6] = { "cluster.cores=16", "cluster.warps=16", "matrix.tile_m=32",
						"matrix.tile_n=32", "matrix.tile_k=32", "kernel.warps_store=1" };

	(void)state;
	expect_all_lines(storing);
}

/* 512 lines of 24 warps are 21 for each, and 8 more. */
static void the_first_warps_have_one_line_more(void **state)
{
	static const enum virgo_time_design all_warps[] = { VIRGO_DESIGN_VIRGO, VIRGO_DESIGN_HOPPER };
	struct cluster c;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		c = cluster_begin("cluster.cores=3", NULL);
		start(&c, all_warps[i]);
		for (unsigned int warp = 0; warp < 24; warp++)
			assert_int_equal(count_at_tile_end(&c, warp / 8, warp % 8, OP_STORE), warp < 8 ? 22 : 21);
		cluster_end(&c);
	}
}

/* --- lines of A and B ------------------------------------------------------------------------------- */

/* Which each warp copies before it multiplies. */
static void expect_each_operand_once(enum virgo_time_design design, enum part part, const char *const *changes)
{
	struct cluster c = cluster_begin(changes[0], changes[1], changes[2], changes[3], changes[4], NULL);
	const struct virgo_time_parameters *parameters = &c.timing->parameters;
	uint64_t of_a = parameters->matrix_tile_m * parameters->matrix_tile_k / LANES;
	uint64_t of_b = parameters->matrix_tile_n * parameters->matrix_tile_k / LANES;
	uint8_t loaded[2][LINES + 64] = { { 0 } };

	start(&c, design);
	for (unsigned int warp = 0; warp < parameters->cluster_cores * parameters->cluster_warps; warp++) {
		const unsigned int core = warp / (unsigned int)parameters->cluster_warps;
		const struct code *code = &c.timing->code[core][warp % parameters->cluster_warps].part[part];

		for (unsigned int i = 0; i < code->count; i++) {
			const struct instruction *load = &code->item[i].instruction;

			if (load->operation == OP_LOAD && load->group == LANES)
				loaded[load->address >> 33 & 1][load->address % 0x100000000 / LINE]++;
		}
	}
	for (uint64_t line = 0; line < LINES + 64; line++) {
		assert_int_equal(loaded[0][line], line < of_a);
		assert_int_equal(loaded[1][line], line < of_b);
	}
	cluster_end(&c);
}

static void every_line_of_an_operand_is_copied_once(void **state)
{
	static const char *const three_cores[5] = { "cluster.cores=3" };
	/* 256, and 128 lines of each. */
	static const char *const many_warps[5] = { "cluster.cores=16", "cluster.warps=16", "matrix.tile_m=32",
						   "matrix.tile_n=32", "matrix.tile_k=32" };
	/* 32, and 16 lines of A. */
	static const char *const flat[5] = { "matrix.tile_m=16", "matrix.tile_n=256", "matrix.tile_k=8" };

	(void)state;
	expect_each_operand_once(VIRGO_DESIGN_VIRGO, PART_TILE_BEGIN, three_cores);
	expect_each_operand_once(VIRGO_DESIGN_VIRGO, PART_TILE_BEGIN, many_warps);
	expect_each_operand_once(VIRGO_DESIGN_TC, PART_STEP, flat);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(every_line_leaves_where_warps_do_not_divide_them),
		ON(every_line_leaves_where_warps_outnumber_them),
		ON(the_first_warps_have_one_line_more),
		ON(every_line_of_an_operand_is_copied_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
