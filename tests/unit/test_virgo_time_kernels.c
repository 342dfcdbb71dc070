/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Whole kernels of Virgo's designs in time: their instructions, the cycles that no kernel can be faster
 * than, and effects in any honest model of the cluster; the mechanisms that make a design slower are turned
 * off, one at a time.
 */
#include <stdio.h>

#include "tests/lib/sanitized.h"
#include "tests/lib/virgo_cycles.h"

#define DESIGNS 4 /* of the paper's version: tc to virgo-dma */
#define WARPS 32u
#define PERCENT(cycles, all) (100.0 * (double)(cycles) / (double)(all))

static struct virgo_time_kernel kernel_of(enum virgo_time_design design, uint64_t m, uint64_t n, uint64_t k)
{
	return (struct virgo_time_kernel){ .design = design, .m = m, .n = n, .k = k };
}

static void start(struct cluster *c, struct virgo_time_kernel kernel)
{
	assert_int_equal(virgo_time_start(c->timing, &kernel, c->timing->now), 0);
	assert_true(virgo_time_is_running(c->timing, kernel.unit));
}

static struct cluster cluster_of(enum virgo_time_design design, const char *change)
{
	char text[32];

	snprintf(text, sizeof(text), "cluster.design=%u", design);
	return cluster_begin(text, change, NULL);
}

static struct virgo_time_statistics run_kernel(struct virgo_time_kernel kernel, const char *change)
{
	struct cluster c = cluster_of(kernel.design, change);
	struct virgo_time_statistics statistics;

	start(&c, kernel);
	cluster_finish(&c);
	assert_false(virgo_time_is_running(c.timing, 0));
	statistics = cluster_statistics(&c);
	assert_int_equal(statistics.kernels, 1);
	assert_int_equal(statistics.kernel_cycles,
			 virgo_time_ended(c.timing, 0) - virgo_time_began(c.timing, 0));
	cluster_end(&c);
	return statistics;
}

static struct virgo_time_statistics run(enum virgo_time_design design, uint64_t m, uint64_t n, uint64_t k,
					const char *change)
{
	return run_kernel(kernel_of(design, m, n, k), change);
}

static uint64_t cycles(enum virgo_time_design design, uint64_t m, uint64_t n, uint64_t k, const char *change)
{
	return run(design, m, n, k, change).kernel_cycles;
}

/* --- instructions --------------------------------------------------------------------------------- */

/* Instructions of an operation in a part of warp 1 of core 1, which drives nothing. */
static unsigned int count(const struct cluster *c, enum part part, enum operation operation)
{
	const struct code *code = &c->timing->code[1][1].part[part];
	unsigned int found = 0;

	for (unsigned int i = 0; i < code->count; i++)
		found += code->item[i].instruction.operation == operation;
	return found;
}

static void a_step_of_tc_dma_has_the_instructions_of_its_kernel(void **state)
{
	struct cluster c = cluster_of(VIRGO_DESIGN_TC_DMA, NULL);

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_TC_DMA, 64, 64, 64));
	assert_int_equal(count(&c, PART_STEP, OP_LOAD_SHARED), 192);
	assert_int_equal(count(&c, PART_STEP, OP_WMMA), 16);
	assert_int_equal(count(&c, PART_STEP, OP_ALU), 84);
	assert_int_equal(count(&c, PART_STEP, OP_BRANCH), 5);
	assert_int_equal(count(&c, PART_STEP, OP_FENCE), 1);
	assert_int_equal(count(&c, PART_STEP, OP_BARRIER), 1);
	assert_int_equal(c.timing->code[1][1].part[PART_STEP].count, 192 + 16 + 84 + 5 + 2);
	/* C is cleared, and stored with two reloads. */
	assert_int_equal(count(&c, PART_TILE_BEGIN, OP_FPU), 16);
	assert_int_equal(count(&c, PART_TILE_END, OP_STORE), 16);
	assert_int_equal(count(&c, PART_TILE_END, OP_LOAD), 2);
	cluster_end(&c);
}

static void a_step_of_tc_copies_its_operands(void **state)
{
	struct cluster c = cluster_of(VIRGO_DESIGN_TC, NULL);
	const struct code *step = &c.timing->code[1][1].part[PART_STEP];
	unsigned int transposed = 0;

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_TC, 64, 64, 64));
	assert_int_equal(count(&c, PART_STEP, OP_LOAD_SHARED), 192);
	assert_int_equal(count(&c, PART_STEP, OP_WMMA), 16);
	assert_int_equal(count(&c, PART_STEP, OP_LOAD), 16 + 16);
	assert_int_equal(count(&c, PART_STEP, OP_STORE_SHARED), 16 + 16);
	assert_int_equal(count(&c, PART_STEP, OP_BARRIER), 2);
	/* "about 418" */
	assert_in_range(step->count, 405, 430);
	for (unsigned int i = 0; i < step->count; i++)
		transposed += step->item[i].instruction.operation == OP_STORE_SHARED &&
			      step->item[i].instruction.group == 1;
	assert_int_equal(transposed, 16);
	cluster_end(&c);
}

static void a_step_of_virgo_copies_its_operands(void **state)
{
	struct cluster c = cluster_of(VIRGO_DESIGN_VIRGO, NULL);
	const struct code *step = &c.timing->code[1][1].part[PART_STEP];
	unsigned int reloads = 0;

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO, 64, 64, 128));
	for (unsigned int i = 0; i < step->count; i++)
		reloads += step->item[i].instruction.far == -8208;
	assert_int_equal(reloads, 23);
	assert_int_equal(count(&c, PART_STEP, OP_LOAD), 32 + reloads);
	assert_int_equal(count(&c, PART_STEP, OP_STORE_SHARED), 32);
	assert_int_equal(count(&c, PART_STEP, OP_ALU), 92);
	assert_int_equal(count(&c, PART_STEP, OP_CSR), 3);
	assert_int_equal(count(&c, PART_STEP, OP_BRANCH), 5);
	assert_int_equal(count(&c, PART_STEP, OP_FENCE), 1);
	assert_int_equal(count(&c, PART_STEP, OP_BARRIER), 1);
	assert_int_equal(count(&c, PART_TILE_END, OP_LOAD_SHARED), 16);
	assert_int_equal(count(&c, PART_TILE_END, OP_STORE), 16);
	cluster_end(&c);
}

static void with_virgo_dma_one_thread_drives_and_the_others_wait(void **state)
{
	struct cluster c = cluster_of(VIRGO_DESIGN_VIRGO_DMA, NULL);
	const struct warp_code *leader = &c.timing->code[0][0];
	unsigned int stores = 0;

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 128));
	for (unsigned int core = 0; core < 4; core++)
		for (unsigned int warp = !core; warp < 8; warp++) {
			const struct warp_code *code = &c.timing->code[core][warp];

			assert_int_equal(code->part[PART_TILE_BEGIN].count + code->part[PART_STEP].count, 0);
			assert_int_equal(code->part[PART_TILE_END].count, 0);
			assert_int_equal(code->part[PART_END].count, 1);
			assert_int_equal(code->part[PART_END].item[0].instruction.operation, OP_BARRIER);
		}
	/* "about 26 instructions" a step, and 20 stores a tile */
	assert_in_range(leader->part[PART_STEP].count, 20, 30);
	for (unsigned int i = 0; i < leader->part[PART_TILE_END].count; i++)
		stores += leader->part[PART_TILE_END].item[i].instruction.operation == OP_STORE_UNIT;
	assert_int_equal(stores, 20);
	cluster_end(&c);
}

static void lines_that_warps_copy_are_all_lines_of_the_tile(void **state)
{
	struct cluster c = cluster_of(VIRGO_DESIGN_VIRGO, NULL);
	uint8_t to[2048] = { 0 }, from[2][512] = { { 0 } };

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO, 64, 64, 64));
	for (unsigned int warp = 0; warp < WARPS; warp++) {
		const struct code *code = &c.timing->code[warp / 8][warp % 8].part[PART_TILE_BEGIN];

		for (unsigned int i = 0; i < code->count; i++) {
			const struct instruction *instruction = &code->item[i].instruction;

			if (instruction->operation == OP_STORE_SHARED)
				to[instruction->address / LINE]++;
			if (instruction->operation == OP_LOAD && instruction->group == 8)
				from[instruction->address >> 33 & 1]
				    [instruction->address % 0x100000000 / LINE]++;
		}
	}
	/* The first halves of A's buffer and B's, each in a bank; all 64 x 64 words of both matrices. */
	for (unsigned int line = 0; line < 2048; line++)
		assert_int_equal(to[line], line < 512 || (line >= 1024 && line < 1536));
	for (unsigned int line = 0; line < 512; line++) {
		assert_int_equal(from[0][line], 1);
		assert_int_equal(from[1][line], 1);
	}
	cluster_end(&c);
}

/* --- how fast a kernel can be --------------------------------------------------------------------- */

static void a_step_of_a_matrix_unit_takes_4096_cycles_at_least(void **state)
{
	(void)state;
	for (uint64_t side = 64; side <= 128; side += 64) {
		uint64_t steps = side / 64 * (side / 64) * (side / 64);

		assert_true(cycles(VIRGO_DESIGN_VIRGO_DMA, side, side, side, NULL) > 4096 * steps);
		assert_true(cycles(VIRGO_DESIGN_VIRGO, side, side, side, NULL) > 4096 * steps);
	}
}

static void a_step_of_tensor_cores_takes_4096_cycles_at_least(void **state)
{
	(void)state;
	for (uint64_t side = 64; side <= 128; side += 64) {
		uint64_t steps = side / 64 * (side / 64) * (side / 64);

		assert_true(cycles(VIRGO_DESIGN_TC_DMA, side, side, side, NULL) > 4096 * steps);
		/* 7 words of 8 of A go through the port. */
		assert_true(cycles(VIRGO_DESIGN_TC, side, side, side, NULL) > (4096 + 3584) * steps);
	}
}

static void a_step_of_virgo_dma_takes_what_the_array_and_the_poll_take(void **state)
{
	/* Two steps more. */
	uint64_t step = (cycles(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 256, NULL) -
			 cycles(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 128, NULL)) /
			2;

	(void)state;
	/*
	 * From a csrw to the next one: 18 and 4096 and 28. Then the poll's load reaches the LSU within 46
	 * cycles, has its answer 23 later, and 7 later its branch is resolved. Three ALU instructions, each
	 * reading the one before it, are fetched, decoded in 6, and issue 9 cycles apart: the csrw, which
	 * waits for the last one, 6 + 27 later, and the unit has it 3 later.
	 */
	assert_in_range(step, 4142 + 23 + 7 + 6 + 27 + 3, 4142 + 45 + 23 + 7 + 6 + 27 + 3);
}

static void twice_the_depth_has_twice_the_steps_and_no_more_tiles(void **state)
{
	struct virgo_time_statistics once = run(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 128, NULL);
	struct virgo_time_statistics twice = run(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, NULL);

	(void)state;
	assert_int_equal(once.matrix_busy, 8 * 4096);
	assert_int_equal(twice.matrix_busy, 16 * 4096);
	assert_int_equal(once.dma_read_bytes, 8 * 32768);
	assert_int_equal(twice.dma_read_bytes, 16 * 32768);
	assert_int_equal(once.dma_written_bytes, 4 * 16384);
	assert_int_equal(twice.dma_written_bytes, 4 * 16384);
}

static void every_design_does_all_multiplications(void **state)
{
	(void)state;
	for (unsigned int design = 0; design < VIRGO_DESIGNS; design++) {
		struct virgo_time_statistics s = run(design, 64, 128, 64, NULL);

		assert_int_equal(s.matrix_macs + s.tensor_macs, 64 * 128 * 64);
		assert_int_equal(s.kernel_macs, 64 * 128 * 64);
		/* A's and B's words come once a step, by lanes or by DMA. */
		assert_int_equal(s.dma_read_bytes,
				 design == VIRGO_DESIGN_TC || design == VIRGO_DESIGN_VIRGO ? 0 : 2 * 32768);
	}
}

/* --- the paper's order ---------------------------------------------------------------------------- */

static void designs_stand_in_the_papers_order(void **state)
{
	(void)state;
	for (uint64_t side = 64; side <= 128; side += 64) {
		uint64_t last = UINT64_MAX;
		static const enum virgo_time_design order[] = { VIRGO_DESIGN_TC, VIRGO_DESIGN_VIRGO,
								VIRGO_DESIGN_TC_DMA, VIRGO_DESIGN_VIRGO_DMA };

		for (unsigned int i = 0; i < DESIGNS; i++) {
			uint64_t now = cycles(order[i], side, side, 2 * side, NULL);

			assert_true(now < last);
			last = now;
		}
	}
}

static void dma_gains_what_the_paper_says_it_does(void **state)
{
	uint64_t taken[DESIGNS];

	(void)state;
	if (IS_SANITIZED)
		skip();
	for (unsigned int design = 0; design < DESIGNS; design++)
		taken[design] = cycles(design, 256, 256, 256, NULL);
	assert_true(2 * taken[VIRGO_DESIGN_TC] > 3 * taken[VIRGO_DESIGN_TC_DMA]);
	assert_true(2 * taken[VIRGO_DESIGN_VIRGO] > 3 * taken[VIRGO_DESIGN_VIRGO_DMA]);
	/* Virgo's unit gains between 1.4 and 1.5 over tensor cores, both with DMA. */
	assert_true(10 * taken[VIRGO_DESIGN_TC_DMA] > 14 * taken[VIRGO_DESIGN_VIRGO_DMA]);
	assert_true(10 * taken[VIRGO_DESIGN_TC_DMA] < 15 * taken[VIRGO_DESIGN_VIRGO_DMA]);
	/* Utilisation is 36 % of 64 multiplications a cycle, at each size, within 1.5 points. */
	assert_true(PERCENT(256 * 256 * 4, taken[VIRGO_DESIGN_TC]) >
		    PERCENT(128 * 256 * 4, cycles(VIRGO_DESIGN_TC, 128, 256, 256, NULL)) - 1.5);
	assert_true(PERCENT(256 * 256 * 4, taken[VIRGO_DESIGN_TC]) <
		    PERCENT(128 * 256 * 4, cycles(VIRGO_DESIGN_TC, 128, 256, 256, NULL)) + 1.5);
}

static void utilisation_of_virgo_dma_rises_with_the_size(void **state)
{
	double last = 0;

	(void)state;
	for (uint64_t side = 64; side <= 256; side *= 2) {
		double now = PERCENT(side * side * side / 64,
				     cycles(VIRGO_DESIGN_VIRGO_DMA, side, side, side, NULL));

		assert_true(now > last);
		last = now;
	}
	assert_true(last < 100);
}

/* The cycles of 16 steps that are not the last one of their tile. */
static uint64_t cycles_of_16_steps(const char *change)
{
	return cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 512, change) -
	       cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, change);
}

static void a_wider_array_helps_until_the_load_is_longer(void **state)
{
	uint64_t narrow = cycles_of_16_steps(NULL), wide = cycles_of_16_steps("matrix.dim=16");
	uint64_t widest = cycles_of_16_steps("matrix.dim=32");

	(void)state;
	/* 4096, 2048 and 1024 lines, beside a load of 1521 - 18 cycles. A poll is late by up to 46. */
	assert_in_range(narrow - wide, 16 * (2048 - 46), 16 * (2048 + 46));
	assert_true(wide - widest < 16 * (2048 - 1503));
	assert_true(widest > 16 * 1503);
	/* No tensor core has to do with it. */
	assert_int_equal(cycles(VIRGO_DESIGN_TC, 64, 64, 64, "matrix.dim=16"),
			 cycles(VIRGO_DESIGN_TC, 64, 64, 64, NULL));
}

static void a_larger_tile_helps_virgo_dma(void **state)
{
	struct cluster c = cluster_begin("shared.size=262144", "matrix.accumulator=65536",
					 "matrix.tile_m=128", "matrix.tile_n=128", NULL);

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256));
	cluster_finish(&c);
	assert_true(virgo_time_ended(c.timing, 0) > 4096 * 16);
	assert_true(virgo_time_ended(c.timing, 0) < cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, NULL));
	cluster_end(&c);
}

static void an_activation_costs_virgo_dma_less(void **state)
{
	double lost[2];
	static const enum virgo_time_design designs[] = { VIRGO_DESIGN_TC_DMA, VIRGO_DESIGN_VIRGO_DMA };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct virgo_time_kernel kernel = kernel_of(designs[i], 128, 128, 256);
		uint64_t without = run_kernel(kernel, NULL).kernel_cycles;
		struct virgo_time_statistics with;

		kernel.swish = 20;
		with = run_kernel(kernel, NULL);
		/* 20 for each of 128 x 128 elements, eight at once; tc-dma has 16 more that clear C. */
		assert_int_equal(with.fpu, 20 * 128 * 128 / 8 + (i ? 0 : 4 * 16 * WARPS));
		lost[i] = PERCENT(128 * 128 * 4, without) - PERCENT(128 * 128 * 4, with.kernel_cycles);
		assert_true(lost[i] > 0);
	}
	assert_true(lost[1] < lost[0]);
}

/* --- two units ------------------------------------------------------------------------------------ */

static struct cluster two_cores(const char *units, const char *latency)
{
	return cluster_begin("cluster.cores=2", "matrix.tile_m=32", "matrix.tile_n=32", "matrix.tile_k=32",
			     units, latency, NULL);
}

static uint64_t both_on_one(const char *latency)
{
	struct cluster c = two_cores("matrix.units=1", latency);
	uint64_t cycle;

	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 128));
	cluster_finish(&c);
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 128));
	cluster_finish(&c);
	cycle = virgo_time_ended(c.timing, 0);
	assert_int_equal(cluster_statistics(&c).kernels, 2);
	cluster_end(&c);
	return cycle;
}

static uint64_t each_on_its_own(const char *latency)
{
	struct cluster c = two_cores("matrix.units=2", latency);
	struct virgo_time_kernel small = kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 128);
	uint64_t cycle;

	small.unit = 1;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 128));
	start(&c, small);
	cluster_finish(&c);
	assert_true(virgo_time_ended(c.timing, 1) > 64 * 64 * 128 / 16);
	cycle = later(virgo_time_ended(c.timing, 0), virgo_time_ended(c.timing, 1));
	cluster_end(&c);
	return cycle;
}

static void two_units_have_the_utilisation_of_one(void **state)
{
	static const char *const latencies[] = { "bus.latency=45", "bus.latency=60", "bus.latency=80" };
	const double macs = 128 * 128 * 128 + 64 * 64 * 128;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		double one = 100 * macs / 64 / (double)both_on_one(latencies[i]);
		double two = 100 * macs / 80 / (double)each_on_its_own(latencies[i]);

		assert_true(two > one - 2 && two < one + 2);
	}
}

/* --- mechanisms, turned off ----------------------------------------------------------------------- */

static const struct {
	const char *change;
	bool moves[DESIGNS];
} mechanisms[] = {
	{ "shared.conflicts=0", { [VIRGO_DESIGN_TC] = true, [VIRGO_DESIGN_TC_DMA] = true } },
	{ "shared.unaligned=0", { [VIRGO_DESIGN_TC] = true } },
	{ "kernel.reloads=0", { [VIRGO_DESIGN_VIRGO] = true } },
	{ "kernel.double_buffer=0", { [VIRGO_DESIGN_TC_DMA] = true, [VIRGO_DESIGN_VIRGO_DMA] = true } },
};

static void each_mechanism_moves_its_rows_and_no_other(void **state)
{
	(void)state;
	if (IS_SANITIZED)
		skip();
	for (unsigned int design = 0; design < DESIGNS; design++) {
		double base = (double)cycles(design, 128, 256, 256, NULL);

		for (unsigned int i = 0; i < sizeof(mechanisms) / sizeof(mechanisms[0]); i++) {
			double moved = (double)cycles(design, 128, 256, 256, mechanisms[i].change) / base - 1;

			moved = moved < 0 ? -moved : moved;
			if (mechanisms[i].moves[design] ? moved <= 0.03 : moved >= 0.02)
				fail_msg("%s moves %s by %.2f %%", mechanisms[i].change,
					 virgo_time_design_name(design), 100 * moved);
		}
	}
}

static void the_way_to_the_unit_is_a_little_of_virgo_dma(void **state)
{
	double base = (double)cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, NULL);
	double mmio = (double)cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, "lsu.mmio=0") / base;
	double fill = (double)cycles(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 256, "matrix.fill=0") / base;

	(void)state;
	assert_true(mmio < 1 && mmio > 0.98);
	assert_true(fill < 1 && fill > 0.98);
	/* A design without a unit does not use it. */
	assert_int_equal(cycles(VIRGO_DESIGN_TC, 64, 64, 64, "lsu.mmio=0"),
			 cycles(VIRGO_DESIGN_TC, 64, 64, 64, NULL));
	assert_int_equal(cycles(VIRGO_DESIGN_TC, 64, 64, 64, "matrix.fill=0"),
			 cycles(VIRGO_DESIGN_TC, 64, 64, 64, NULL));
}

/* --- energy --------------------------------------------------------------------------------------- */

static uint64_t energy_of(const struct virgo_time_statistics *s)
{
	return s->energy_core + s->energy_mac + s->energy_unit + s->energy_shared + s->energy_memory;
}

static void instructions_are_most_of_tensor_cores_energy_and_little_of_virgos(void **state)
{
	/* The factor of pipelines without clock gating. */
	struct virgo_time_statistics tensor =
		run(VIRGO_DESIGN_TC_DMA, 128, 128, 128, "joule.core_factor=290");
	struct virgo_time_statistics unit =
		run(VIRGO_DESIGN_VIRGO_DMA, 128, 128, 128, "joule.core_factor=290");

	(void)state;
	assert_true(PERCENT(tensor.energy_core, energy_of(&tensor)) > 50);
	assert_true(PERCENT(unit.energy_core, energy_of(&unit)) < 10);
	assert_int_equal(tensor.energy_mac, unit.energy_mac);
	assert_int_equal(unit.energy_mac, 128ull * 128 * 128 * 4600);
}

static void virgo_dma_has_a_tenth_of_the_instructions_and_ever_fewer(void **state)
{
	double last = 100;

	(void)state;
	for (uint64_t side = 64; side <= 128; side *= 2) {
		double share = PERCENT(run(VIRGO_DESIGN_VIRGO_DMA, side, side, side, NULL).warp_instructions,
				       run(VIRGO_DESIGN_TC_DMA, side, side, side, NULL).warp_instructions);

		assert_true(share < 10 && share < last);
		last = share;
	}
}

static void energy_is_that_of_events(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=1", "joule.core_factor=200", NULL);
	struct virgo_time_statistics s;

	(void)state;
	alu(&c, 1, 0);
	c.code->item[0].instruction.lanes = 1;
	put(&c, OP_WMMA, FLOAT(16), 0);
	access_line(&c, OP_LOAD, FLOAT(1), MEMORY);
	access_line(&c, OP_STORE_SHARED, 0, WORD);
	cluster_run(&c);
	s = cluster_statistics(&c);
	/*
	 * Twice: four instructions, 1 + 3 x 8 lanes and 32 micro-operations of 8, and the micro-operations
	 * themselves.
	 */
	assert_int_equal(s.energy_core, 2 * (4 * 63000 + (25 + 256) * 6000 + 32 * 20000));
	assert_int_equal(s.energy_mac, 512 * 4600);
	assert_int_equal(s.energy_unit, 512 * 1000);
	/* Eight words, all of them through the port. */
	assert_int_equal(s.energy_shared, 8 * 2500 + 8 * 1000);
	assert_int_equal(s.energy_memory, 40000 + 280000);
	cluster_end(&c);
}

static void energy_of_a_unit_is_that_of_its_array_and_accumulator(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_statistics s;

	(void)state;
	virgo_time_code_command(c.code, REQUEST_MULTIPLY, ALWAYS);
	cluster_run(&c);
	s = cluster_statistics(&c);
	assert_int_equal(s.energy_core, 63000 + 6000);
	assert_int_equal(s.energy_mac, 64 * 64 * 64 * 4600ull);
	assert_int_equal(s.energy_unit, 64 * 64 * 64 * 1000ull + 8192 * 56000ull);
	assert_int_equal(s.energy_shared, (4096 + 512) * 8 * 2500ull);
	assert_int_equal(s.energy_memory, 0);
	cluster_end(&c);
}

/* --- determinism ---------------------------------------------------------------------------------- */

enum way { IN_ONE_GO, EACH_NEXT_CYCLE, EVERY_CYCLE, NOTHING_IS_SKIPPED };

/* All is made to step, as if it could have something to do. */
static void wake_all(struct virgo_timing *timing)
{
	uint64_t next = timing->now + 1;

	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++)
		timing->core[i].next = next;
	for (unsigned int i = 0; i < timing->parameters.matrix_units; i++)
		timing->unit[i].next = next;
}

static struct virgo_time_statistics run_in(enum way way, enum virgo_time_design design, unsigned int swish)
{
	struct virgo_time_kernel kernel = kernel_of(design, 64, 128, 128);
	struct cluster c = cluster_of(design, NULL);
	struct virgo_time_statistics statistics;
	uint64_t ended;

	kernel.swish = swish;
	start(&c, kernel);
	while (virgo_time_is_running(c.timing, 0)) {
		uint64_t next = virgo_time_next(c.timing);

		assert_int_not_equal(next, NEVER);
		switch (way) {
		case IN_ONE_GO:
			virgo_time_advance_until(c.timing, 10000000);
			break;
		case EACH_NEXT_CYCLE:
			virgo_time_advance(c.timing, next);
			break;
		case NOTHING_IS_SKIPPED:
			wake_all(c.timing);
			/* fall through */
		case EVERY_CYCLE:
			virgo_time_advance(c.timing, c.timing->now + 1);
			cluster_statistics(&c);
		}
	}
	ended = virgo_time_ended(c.timing, 0);
	virgo_time_statistics(c.timing, ended, &statistics);
	assert_int_equal(statistics.kernel_cycles, ended);
	cluster_end(&c);
	return statistics;
}

static void expect_equal(const struct virgo_time_statistics *a, const struct virgo_time_statistics *b)
{
#define _(name, is_most, meaning) \
	if (a->name != b->name) \
		fail_msg(#name ": %llu and %llu", (unsigned long long)a->name, (unsigned long long)b->name);
	VIRGO_TIME_STATISTICS(_)
#undef _
}

static void each_run_is_the_same_in_steps_of_any_length(void **state)
{
	(void)state;
	for (unsigned int design = 0; design < VIRGO_DESIGNS; design++)
		for (unsigned int swish = 0; swish <= 4; swish += 4) {
			struct virgo_time_statistics first = run_in(IN_ONE_GO, design, swish);

			for (enum way way = IN_ONE_GO; way <= NOTHING_IS_SKIPPED; way++) {
				struct virgo_time_statistics other = run_in(way, design, swish);

				expect_equal(&first, &other);
			}
		}
}

static void a_kernel_takes_the_same_whenever_it_begins(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_kernel kernel = kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 128);
	uint64_t first;

	(void)state;
	start(&c, kernel);
	cluster_finish(&c);
	first = virgo_time_ended(c.timing, 0);
	virgo_time_advance(c.timing, 1234567);
	assert_int_equal(virgo_time_start(c.timing, &kernel, 1234567), 0);
	cluster_finish(&c);
	assert_int_equal(virgo_time_began(c.timing, 0), 1234567);
	assert_int_equal(virgo_time_ended(c.timing, 0), 1234567 + first);
	assert_int_equal(cluster_statistics(&c).kernel_cycles, 2 * first);
	cluster_end(&c);
}

/* --- refused starts ------------------------------------------------------------------------------- */

static int start_of(struct cluster *c, struct virgo_time_kernel kernel)
{
	return virgo_time_start(c->timing, &kernel, 0);
}

static void a_kernel_that_does_not_fit_the_tile_is_refused(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 0, 64, 64)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 0, 64)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 0)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 96, 64, 64)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 96, 64)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 96)), -EINVAL);
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGNS, 64, 64, 64)), -EINVAL);
	assert_false(virgo_time_is_running(c.timing, 0));
	cluster_end(&c);
}

static void a_kernel_of_a_unit_that_is_not_there_is_refused(void **state)
{
	static const unsigned int units[] = { 1, 8, 4000000000u };
	struct virgo_time_kernel kernel = kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 64);
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		kernel.unit = units[i];
		assert_int_equal(start_of(&c, kernel), -EINVAL);
	}
	cluster_end(&c);
}

static void a_unit_has_one_kernel_at_a_time(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 64));
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 64)), -EBUSY);
	cluster_finish(&c);
	assert_int_equal(cluster_statistics(&c).kernels, 1);
	cluster_end(&c);
}

static void a_kernel_of_a_design_that_does_not_fit_the_cluster_is_refused(void **state)
{
	struct cluster c = two_cores("matrix.units=2", NULL),
		       other = cluster_begin("matrix.tile_k=4", "matrix.dim=4", NULL);

	(void)state;
	/* With several units each has a part of the cores, and other designs use all of them. */
	assert_int_equal(start_of(&c, kernel_of(VIRGO_DESIGN_VIRGO, 64, 64, 64)), -EINVAL);
	start(&c, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 64));
	cluster_end(&c);
	/* A lane each has a word of a row of 4. */
	assert_int_equal(start_of(&other, kernel_of(VIRGO_DESIGN_VIRGO, 64, 64, 64)), -EINVAL);
	assert_int_equal(start_of(&other, kernel_of(VIRGO_DESIGN_TC_DMA, 64, 64, 64)), -EINVAL);
	start(&other, kernel_of(VIRGO_DESIGN_VIRGO_DMA, 64, 64, 64));
	cluster_end(&other);
}

static void a_cluster_of_one_warp_has_an_activation(void **state)
{
	struct cluster c = cluster_begin("cluster.design=1", "cluster.cores=1", "cluster.warps=1",
					 "simt.alus=1", "matrix.tile_m=16", "matrix.tile_n=8", NULL);
	struct virgo_time_kernel kernel = kernel_of(VIRGO_DESIGN_TC_DMA, 16, 8, 64);

	(void)state;
	kernel.swish = 3;
	start(&c, kernel);
	cluster_finish(&c);
	assert_false(virgo_time_is_running(c.timing, 0));
	/* 16 to clear C, and three for each of 16 registers of eight words. */
	assert_int_equal(cluster_statistics(&c).fpu, 16 + 3 * 16);
	cluster_end(&c);
}

static void designs_have_names(void **state)
{
	static const char *const names[] = { "tc", "tc-dma", "virgo", "virgo-dma", "hopper" };

	(void)state;
	for (unsigned int i = 0; i < VIRGO_DESIGNS; i++) {
		assert_string_equal(virgo_time_design_name(i), names[i]);
		assert_int_equal(virgo_time_design_number(names[i]), i);
	}
	assert_null(virgo_time_design_name(VIRGO_DESIGNS));
	assert_int_equal(virgo_time_design_number("volta"), -1);
	assert_int_equal(virgo_time_design_number(""), -1);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_step_of_tc_dma_has_the_instructions_of_its_kernel),
		ON(a_step_of_tc_copies_its_operands),
		ON(a_step_of_virgo_copies_its_operands),
		ON(with_virgo_dma_one_thread_drives_and_the_others_wait),
		ON(lines_that_warps_copy_are_all_lines_of_the_tile),
		ON(a_step_of_a_matrix_unit_takes_4096_cycles_at_least),
		ON(a_step_of_tensor_cores_takes_4096_cycles_at_least),
		ON(a_step_of_virgo_dma_takes_what_the_array_and_the_poll_take),
		ON(twice_the_depth_has_twice_the_steps_and_no_more_tiles),
		ON(every_design_does_all_multiplications),
		ON(designs_stand_in_the_papers_order),
		ON(dma_gains_what_the_paper_says_it_does),
		ON(utilisation_of_virgo_dma_rises_with_the_size),
		ON(a_wider_array_helps_until_the_load_is_longer),
		ON(a_larger_tile_helps_virgo_dma),
		ON(an_activation_costs_virgo_dma_less),
		ON(two_units_have_the_utilisation_of_one),
		ON(each_mechanism_moves_its_rows_and_no_other),
		ON(the_way_to_the_unit_is_a_little_of_virgo_dma),
		ON(instructions_are_most_of_tensor_cores_energy_and_little_of_virgos),
		ON(virgo_dma_has_a_tenth_of_the_instructions_and_ever_fewer),
		ON(energy_is_that_of_events),
		ON(energy_of_a_unit_is_that_of_its_array_and_accumulator),
		ON(each_run_is_the_same_in_steps_of_any_length),
		ON(a_kernel_takes_the_same_whenever_it_begins),
		ON(a_kernel_that_does_not_fit_the_tile_is_refused),
		ON(a_kernel_of_a_unit_that_is_not_there_is_refused),
		ON(a_unit_has_one_kernel_at_a_time),
		ON(a_kernel_of_a_design_that_does_not_fit_the_cluster_is_refused),
		ON(a_cluster_of_one_warp_has_an_activation),
		ON(designs_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
