/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Kernels of Virgo in time whose C has an activation: it leaves by the warps, each line once, with the
 * instructions of its activation before. A tile of 64 x 64 is 512 lines of eight words.
 */
#include "tests/lib/virgo_cycles.h"

#define TILE 512u	/* lines */

static void start(struct cluster *c, enum virgo_time_design design, unsigned int swish)
{
	const struct virgo_time_parameters *parameters = &c->timing->parameters;
	struct virgo_time_kernel kernel = {
		.design = design,
		.m = parameters->matrix_tile_m,
		.n = parameters->matrix_tile_n,
		.k = parameters->matrix_tile_k,
		.swish = swish,
	};

	assert_int_equal(virgo_time_start(c->timing, &kernel, c->timing->now), 0);
}

static struct virgo_time_statistics finish(struct cluster *c)
{
	struct virgo_time_statistics statistics;

	cluster_finish(c);
	assert_false(virgo_time_is_running(c->timing, 0));
	statistics = cluster_statistics(c);
	cluster_end(c);
	return statistics;
}

static struct virgo_time_statistics run(enum virgo_time_design design, unsigned int swish)
{
	struct cluster c = cluster_begin(NULL);

	start(&c, design, swish);
	return finish(&c);
}

/* --- instructions --------------------------------------------------------------------------------- */

/* The instructions of the activation stand before the store, and work on the register that it stores. */
static void expect_activations(const struct code *end, unsigned int swish, uint8_t *stored)
{
	unsigned int activations = 0;

	for (unsigned int i = 0; i < end->count; i++) {
		const struct instruction *instruction = &end->item[i].instruction;

		activations += instruction->operation == OP_FPU;
		if (instruction->operation != OP_STORE)
			continue;
		assert_int_equal(activations, swish);
		assert_int_equal(end->item[i - 1].instruction.to, instruction->from[0]);
		stored[instruction->address % 0x100000000 / LINE]++;
		activations = 0;
	}
	assert_int_equal(activations, 0);
}

static void expect_each_line_once(struct cluster c, enum virgo_time_design design)
{
	const struct virgo_time_parameters *parameters = &c.timing->parameters;
	uint64_t lines = parameters->matrix_tile_m * parameters->matrix_tile_n / LANES;
	uint8_t stored[TILE] = { 0 };

	start(&c, design, 3);
	for (unsigned int core = 0; core < parameters->cluster_cores; core++)
		for (unsigned int warp = 0; warp < parameters->cluster_warps; warp++)
			expect_activations(&c.timing->code[core][warp].part[PART_TILE_END], 3, stored);
	for (uint64_t line = 0; line < lines; line++)
		assert_int_equal(stored[line], 1);
	cluster_end(&c);
}

/* 32 warps; 24, which do not divide the lines; one; 256, which outnumber the 128 of a tile of 32 x 32. */
static void expect_all_of_c(enum virgo_time_design design)
{
	expect_each_line_once(cluster_begin(NULL), design);
	expect_each_line_once(cluster_begin("cluster.cores=3", NULL), design);
	expect_each_line_once(cluster_begin("cluster.cores=1", "cluster.warps=1", "simt.alus=1", NULL), design);
	expect_each_line_once(cluster_begin("cluster.cores=16", "cluster.warps=16", "matrix.tile_m=32",
					    "matrix.tile_n=32", "matrix.tile_k=32", NULL),
			      design);
}

static void all_of_c_is_activated_and_stored_by_virgo_dma(void **state)
{
	(void)state;
	expect_all_of_c(VIRGO_DESIGN_VIRGO_DMA);
}

static void all_of_c_is_activated_and_stored_by_virgo(void **state)
{
	(void)state;
	expect_all_of_c(VIRGO_DESIGN_VIRGO);
}

static void all_of_c_is_activated_and_stored_by_hopper(void **state)
{
	(void)state;
	expect_all_of_c(VIRGO_DESIGN_HOPPER);
}

static void with_dma_the_leader_drives_and_the_others_activate(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 5);
	assert_int_equal(count_at_tile_end(&c, 0, 0, OP_FPU), 0);
	assert_int_equal(count_at_tile_end(&c, 0, 0, OP_STORE), 0);
	/* 31 warps: 16 lines each, and 16 more. */
	for (unsigned int warp = 1; warp < 32; warp++)
		assert_int_equal(count_at_tile_end(&c, warp / 8, warp % 8, OP_FPU), 5 * (warp < 17 ? 17 : 16));
	/* Each warp meets the others once: when C is there. */
	for (unsigned int warp = 0; warp < 32; warp++)
		assert_int_equal(count_at_tile_end(&c, warp / 8, warp % 8, OP_BARRIER), 1);
	cluster_end(&c);
}

/* The next copy overwrites the place of C, so all warps meet again. */
static void without_dma_all_warps_activate_and_meet_again(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO, 5);
	for (unsigned int warp = 0; warp < 32; warp++) {
		assert_int_equal(count_at_tile_end(&c, warp / 8, warp % 8, OP_FPU), 5 * 16);
		assert_int_equal(count_at_tile_end(&c, warp / 8, warp % 8, OP_BARRIER), 2);
	}
	cluster_end(&c);
}

/* --- kernels that run ------------------------------------------------------------------------------- */

/*
 * An instruction waits for the one before it, simt.fpu at least; a warp has 16 lines, one after the other. 60
 * more are so many for each.
 */
static void expect_time(enum virgo_time_design design)
{
	struct virgo_time_statistics plain = run(design, 0), some = run(design, 20), more = run(design, 80);

	assert_int_equal(plain.fpu, 0);
	assert_int_equal(some.fpu, 20 * TILE);
	assert_int_equal(more.fpu, 80 * TILE);
	assert_true(some.kernel_cycles > plain.kernel_cycles);
	assert_true(more.kernel_cycles >= some.kernel_cycles + 16 * 60 * 9);
}

static void an_activation_takes_its_time(void **state)
{
	(void)state;
	expect_time(VIRGO_DESIGN_VIRGO_DMA);
	expect_time(VIRGO_DESIGN_VIRGO);
	expect_time(VIRGO_DESIGN_HOPPER);
}

/* C leaves by its only warp, which drives, too. */
static void c_of_one_warp_takes_its_time(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=1", "cluster.warps=1", "simt.alus=1", NULL);
	struct cluster other = cluster_begin("cluster.cores=1", "cluster.warps=1", "simt.alus=1", NULL);
	struct virgo_time_statistics plain, swish;

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 0);
	plain = finish(&c);
	start(&other, VIRGO_DESIGN_VIRGO_DMA, 10);
	swish = finish(&other);
	assert_int_equal(swish.fpu, 10 * TILE);
	assert_int_equal(swish.loads, TILE);
	assert_int_equal(swish.stores, TILE);
	assert_true(swish.kernel_cycles >= plain.kernel_cycles + TILE * 10 * 9);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(all_of_c_is_activated_and_stored_by_virgo_dma),
		ON(all_of_c_is_activated_and_stored_by_virgo),
		ON(all_of_c_is_activated_and_stored_by_hopper),
		ON(with_dma_the_leader_drives_and_the_others_activate),
		ON(without_dma_all_warps_activate_and_meet_again),
		ON(an_activation_takes_its_time),
		ON(c_of_one_warp_takes_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
