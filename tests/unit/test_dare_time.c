/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The baseline MPU in cycles, counted by hand. The rules (mpu.h): an instruction that is
 * dispatched in cycle d can issue in d + 1; a load sends its first row in the cycle in which
 * it issues, and one more in each cycle after that; a row that hits has its answer after 20
 * cycles, one that misses after 110, and memory gives a line in two cycles; an answer's
 * cycle is the one in which an instruction that waits for it issues. An mma of M, K elements and N takes
 * K + M + N - 2 + 16 cycles, and the next one can begin after max(K, M).
 */
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u
#define C 0x30000u

/* --- load/store unit, LLC, memory ---------------------------------------------------- */

static void a_row_that_misses_is_there_after_110_cycles(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	/* Dispatched in 0, sent in 1. */
	mld(&p, 0, A, 0);
	mpu_expect(&p, 111);
}

static void a_row_that_hits_is_there_after_20_cycles(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mld(&p, 0, A, 0);
	mpu_expect(&p, t + 21);
}

static void a_row_is_sent_in_each_cycle(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	/* Rows in t + 1 to t + 16. */
	mpu_expect(&p, t + 16 + 20);
}

static void memory_gives_a_line_in_two_cycles(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	/* Row i asks memory in 21 + i and has the channel in 21 + 2 i: the last one in 51. */
	mpu_expect(&p, 51 + 90);
}

static void misses_wait_for_an_mshr(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.mshrs=4", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	/* Rows 0 to 3 end in 111, 113, 115, 117, and the next four begin then: each four take 110. */
	mpu_expect(&p, 117 + 3 * 110);
}

static void rows_wait_for_an_entry_of_the_lq(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.lq=4", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	/* Row 4 j + i is sent in t + 1 + 20 j + i: the last one in t + 64. */
	mpu_expect(&p, t + 64 + 20);
}

static void a_line_on_its_way_is_waited_for(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	mld(&p, 1, A + 4, 0);
	mma(&p, 2, 1, 1);
	/* The first one is sent in 1, and the line there in 111; the second one, sent in 2, not in 22 but then. */
	assert_int_equal(mpu_drain(&p), 111 + 17);
	assert_int_equal(mpu_statistics(&p).demand_merged, 1);
	assert_int_equal(mpu_statistics(&p).dram_reads, 1);
	dare_mpu_destroy(p.mpu);
}

static void a_line_that_is_nearly_there_takes_what_a_hit_takes(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	p.now = 100;
	mld(&p, 1, A + 4, 0);
	/* Sent in 101; the line is there in 111, before the answer in 121. */
	assert_int_equal(mpu_drain(&p), 121);
	assert_int_equal(mpu_statistics(&p).demand_merged, 1);
	dare_mpu_destroy(p.mpu);
}

static void a_row_in_two_lines_is_two_accesses(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);
	uint64_t rows = mpu_statistics(&p).rows_demanded;

	(void)state;
	mld(&p, 0, A + 32, 0);
	/* In t + 1 and t + 2. */
	assert_int_equal(mpu_drain(&p), t + 22);
	assert_int_equal(mpu_statistics(&p).rows_demanded - rows, 2);
	dare_mpu_destroy(p.mpu);
}

static void whole_rows_are_stored_without_a_fetch(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	/* Rows in 1 to 16. */
	assert_int_equal(mpu_drain(&p), 36);
	assert_int_equal(mpu_statistics(&p).dram_reads, 0);
	dare_mpu_destroy(p.mpu);
}

static void a_part_of_a_line_is_stored_when_the_line_is_there(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 32, 16);
	mst(&p, 0, A, LINE);
	/* As sixteen loads that miss. */
	mpu_expect(&p, 51 + 90);
}

static void stores_wait_for_an_entry_of_the_sq(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.sq=4", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	/* Row 4 j + i is sent in 1 + 20 j + i: the last one in 64. */
	mpu_expect(&p, 64 + 20);
}

static void a_written_line_is_written_back_when_it_is_replaced(void **state)
{
	/* One set of 16 lines. */
	struct mpu_program p = mpu_begin("base", "llc.size=1K", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).dram_writes, 0);
	mpu_shape(&p, 3, 64, 16);
	mld(&p, 1, B, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).dram_writes, 3);
	dare_mpu_destroy(p.mpu);
}

static void a_load_waits_for_a_store_of_its_line(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mst(&p, 0, A, 0);
	mld(&p, 1, A, 0);
	/* The row is stored in t + 1 and is in the LLC in t + 21: only then the load is sent. */
	mpu_expect(&p, t + 21 + 20);
}

static void a_load_does_not_wait_for_a_store_of_another_line(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);

	(void)state;
	mst(&p, 0, A, 0);
	mld(&p, 1, A + LINE, 0);
	mpu_expect(&p, t + 2 + 20);
}

static void a_load_does_not_pass_a_store_of_its_line_that_waits(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 0, 1, 2);
	mpu_shape(&p, 1, 64, 16);
	mst(&p, 0, A, 0);
	mld(&p, 3, A, 0);
	/* The mma is done in t + 1 + 62, the store in the LLC 20 later, and the load 20 after that. */
	mpu_expect(&p, t + 63 + 20 + 20);
}

static void a_mscatter_sends_a_row_in_each_cycle(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mscatter(&p, 0, 1, A, 4 * LINE);
	mpu_expect(&p, 36);
}

static void the_oldest_load_sends_its_rows_first(void **state)
{
	static const char *const order[] = { "mpu.oldest_first=0", "mpu.oldest_first=1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("oracle", order[i], NULL);

		/* Done in 1 + 17: only then the first load can issue. */
		mpu_shape(&p, 1, 4, 1);
		mma(&p, 0, 6, 6);
		mpu_shape(&p, 16, 64, 16);
		mld(&p, 0, A, LINE);
		mld(&p, 1, B, LINE);
		mld(&p, 2, C, LINE);
		mma(&p, 3, 0, 0);
		/*
		 * The second load's rows go from 3 to 17 or 18. Then the first's, 18 to 33, or before them
		 * the third's, 19 to 34. The mma takes 62 from when they are there.
		 */
		mpu_expect(&p, (i ? 33 : 50) + 20 + 62);
	}
}

static void two_ports_take_rows_of_different_banks_only(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.reads=2", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	/* Two rows in each of t + 1 to t + 8. */
	mpu_expect(&p, t + 8 + 20);

	p = mpu_begin("oracle", "llc.reads=2", NULL);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, 16 * LINE);
	mpu_expect(&p, 16 + 20);
}

static void the_oracle_has_every_line(void **state)
{
	struct mpu_program p = mpu_begin("oracle", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	assert_int_equal(mpu_drain(&p), 36);
	assert_int_equal(mpu_statistics(&p).dram_reads, 0);
	dare_mpu_destroy(p.mpu);
}

/* --- scoreboard ------------------------------------------------------------------------ */

static void an_mma_waits_for_its_sources(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	mld(&p, 1, A + LINE, 0);
	mma(&p, 2, 0, 1);
	/* The second source is there in t + 22; 1 + 1 + 1 - 2 + 16 = 17. */
	mpu_expect(&p, t + 22 + 17);
}

static void a_load_waits_for_a_load_of_its_register(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);

	(void)state;
	mld(&p, 0, A, 0);
	mld(&p, 0, A + LINE, 0);
	mpu_expect(&p, t + 21 + 20);
}

static void a_load_waits_until_an_mma_has_taken_its_register_in(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 0, A, 0);
	/* From 1 to 1 + 16. */
	mpu_expect(&p, 17 + 110);
}

static void a_load_waits_for_the_result_of_an_mma(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 2, A, 0);
	mpu_expect(&p, 63 + 110);
}

static void a_store_waits_for_the_result_of_an_mma(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mst(&p, 2, A, LINE);
	/* Rows in 63 to 78. */
	mpu_expect(&p, 78 + 20);
}

static void a_load_waits_until_a_store_has_read_its_register(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 0, B, 0);
	/* Rows in 1 to 16. */
	mpu_expect(&p, 17 + 110);
}

static void a_mgather_waits_for_its_addresses(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);

	(void)state;
	mld(&p, 1, A, 0);
	mgather(&p, 2, 1, A + LINE, 0);
	mpu_expect(&p, t + 21 + 20);
}

static void a_load_waits_until_a_mgather_has_sent_its_rows(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mgather(&p, 2, 1, A, LINE);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 1, B, 0);
	/* Rows in t + 1 to t + 16. */
	mpu_expect(&p, t + 17 + 110);
}

static void a_mgather_may_load_the_register_of_its_addresses(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mgather(&p, 1, 1, A, 0);
	mpu_expect(&p, 111);
}

static void a_mscatter_waits_for_its_addresses(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mld(&p, 1, A, 0);
	mscatter(&p, 2, 1, B, 0);
	mpu_expect(&p, t + 21 + 20);
}

/* --- window ------------------------------------------------------------------------------ */

static void a_load_passes_an_mma_that_waits(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	mma(&p, 2, 0, 1);
	mld(&p, 3, B, 0);
	/* The second load is done in 113, the mma in 111 + 17. */
	mpu_expect(&p, 128);
}

static void with_a_window_of_one_nothing_passes(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.window=1", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	mma(&p, 2, 0, 1);
	/* There is room for it when the mma issues. */
	assert_int_equal(mld(&p, 3, B, 0), 111);
	mpu_expect(&p, 112 + 110);
}

static void nothing_passes_an_instruction_that_reads_its_register(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, A, 0);
	mma(&p, 2, 0, 1);
	mld(&p, 1, B, 0);
	/* The mma issues in 111, and has taken m1 in in 112. */
	mpu_expect(&p, 112 + 110);
}

static void two_instructions_issue_in_a_cycle(void **state)
{
	static const char *const issue[] = { "mpu.issue=1", "mpu.issue=2" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("base", issue[i], NULL);

		mpu_shape(&p, 1, 4, 1);
		mld(&p, 0, A, 0);
		mma(&p, 2, 0, 1);
		mpu_shape(&p, 1, 64, 1);
		mst(&p, 0, B, 0);
		/* Both wait for the load, which is there in 111. */
		mpu_expect(&p, (i ? 111 : 112) + 20);
	}
}

static void mcfg_takes_a_cycle_of_dispatch_and_no_entry(void **state)
{
	static const char *const entry[] = { "mpu.mcfg_entry=0", "mpu.mcfg_entry=1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("base", "mpu.window=1", entry[i], NULL);
		struct dare_dispatched mcfg = mpu_instruction(&p, DARE_MCFG, 0, 0, 0);

		mpu_shape(&p, 1, 4, 1);
		mld(&p, 0, A, 0);
		mma(&p, 2, 0, 1);
		assert_int_equal(mpu_put(&p, &mcfg), i ? 111 : 2);
		mpu_drain(&p);
		assert_int_equal(mpu_statistics(&p).issued, 3);
		dare_mpu_destroy(p.mpu);
	}
}

static void as_many_are_dispatched_in_a_cycle_as_is_said(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.dispatch=2", NULL);
	struct dare_dispatched load = mpu_instruction(&p, DARE_MLD, 0, 0, 0);

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		load.address[0] = A + i * LINE;
		load.fields.md = (unsigned int)i;
		assert_int_equal(dare_mpu_dispatch(p.mpu, &load, i / 2), i / 2);
	}
	assert_false(dare_mpu_put(p.mpu, &load, 1));
	dare_mpu_destroy(p.mpu);
}

/* --- array ----------------------------------------------------------------------------------- */

struct shape {
	unsigned int m, k, n;
	enum dare_operation operation;
	uint64_t latency, occupancy;
};

/* Two of them that need nothing of each other: the second begins when the first has taken its sources in. */
static void expect_shape(const struct shape *shape, const char *change)
{
	struct mpu_program p = mpu_begin("base", change, NULL);
	struct dare_dispatched instruction;

	mpu_shape(&p, shape->m, shape->k, shape->n);
	instruction = mpu_instruction(&p, shape->operation, 2, 0, 1);
	mpu_put(&p, &instruction);
	instruction.fields.md = 3;
	mpu_put(&p, &instruction);
	mpu_expect(&p, 1 + shape->occupancy + shape->latency);
}

static void an_mma_takes_what_its_shape_says(void **state)
{
	static const struct shape shapes[] = {
		{ 16, 64, 16, DARE_MMA, 16 + 16 + 16 - 2 + 16, 16 },
		{ 1, 4, 1, DARE_MMA, 1 + 1 + 1 - 2 + 16, 1 },
		{ 16, 4, 16, DARE_MMA, 1 + 16 + 16 - 2 + 16, 16 },
		{ 1, 64, 1, DARE_MMA, 16 + 1 + 1 - 2 + 16, 16 },
		{ 8, 32, 16, DARE_MMA, 8 + 8 + 16 - 2 + 16, 8 },
		{ 4, 64, 16, DARE_MMA, 16 + 4 + 16 - 2 + 16, 16 },
		{ 16, 64, 16, DARE_MMA_BF16, 32 + 16 + 16 - 2 + 16, 32 },
		{ 16, 64, 16, DARE_MMA_I8, 64 + 16 + 16 - 2 + 16, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		expect_shape(&shapes[i], "array.pipelined=1");
}

static void without_a_pipeline_one_mma_waits_for_another(void **state)
{
	(void)state;
	expect_shape(&(struct shape){ 16, 64, 16, DARE_MMA, 62, 62 }, "array.pipelined=0");
}

static void a_smaller_array_takes_several_passes(void **state)
{
	(void)state;
	/* Two passes of 8 rows, 16 cycles each; the second one's result is K + M + N - 2 + 16 behind its begin. */
	expect_shape(&(struct shape){ 16, 64, 16, DARE_MMA, 16 + 16 + 8 + 16 - 2 + 16, 32 }, "array.rows=8");
	expect_shape(&(struct shape){ 16, 64, 16, DARE_MMA, 16 + 16 + 16 + 8 - 2 + 16, 32 }, "array.columns=8");
}

static void an_mma_waits_for_one_on_its_register(void **state)
{
	static const char *const forward[] = { "mpu.forward=0", "mpu.forward=1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("base", forward[i], NULL);

		mpu_shape(&p, 16, 64, 16);
		mma(&p, 2, 0, 1);
		mma(&p, 2, 3, 4);
		/* Not so where results are forwarded: then for the array only. */
		mpu_expect(&p, 1 + (i ? 16 : 62) + 62);
	}
}

/* --- energy -------------------------------------------------------------------------- */

static void energy_is_that_of_rows_and_of_the_array(void **state)
{
	struct mpu_program p = mpu_begin("base", "energy.leakage=1000", NULL);
	struct dare_time_statistics t;

	(void)state;
	mpu_shape(&p, 4, 64, 8);
	mld(&p, 0, A, LINE);
	mma(&p, 2, 0, 1);
	mst(&p, 2, C, LINE);
	p.now = mpu_drain(&p);
	t = mpu_statistics(&p);
	assert_int_equal(t.energy_reads, 4 * 216000);
	assert_int_equal(t.energy_prefetches, 0);
	assert_int_equal(t.energy_writes, 4 * 276000);
	assert_int_equal(t.energy_mma, 432000);
	/* 64 bytes are 16 elements. */
	assert_int_equal(t.energy_macs, 4 * 16 * 8 * 2300);
	/* From cycle 0, in which the first one is dispatched. */
	assert_int_equal(t.energy_leakage, p.now * 1000);
	dare_mpu_destroy(p.mpu);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_row_that_misses_is_there_after_110_cycles),
		ON(a_row_that_hits_is_there_after_20_cycles),
		ON(a_row_is_sent_in_each_cycle),
		ON(memory_gives_a_line_in_two_cycles),
		ON(misses_wait_for_an_mshr),
		ON(rows_wait_for_an_entry_of_the_lq),
		ON(a_line_on_its_way_is_waited_for),
		ON(a_line_that_is_nearly_there_takes_what_a_hit_takes),
		ON(a_row_in_two_lines_is_two_accesses),
		ON(whole_rows_are_stored_without_a_fetch),
		ON(a_part_of_a_line_is_stored_when_the_line_is_there),
		ON(stores_wait_for_an_entry_of_the_sq),
		ON(a_written_line_is_written_back_when_it_is_replaced),
		ON(a_load_waits_for_a_store_of_its_line),
		ON(a_load_does_not_wait_for_a_store_of_another_line),
		ON(a_load_does_not_pass_a_store_of_its_line_that_waits),
		ON(a_mscatter_sends_a_row_in_each_cycle),
		ON(the_oldest_load_sends_its_rows_first),
		ON(two_ports_take_rows_of_different_banks_only),
		ON(the_oracle_has_every_line),
		ON(an_mma_waits_for_its_sources),
		ON(a_load_waits_for_a_load_of_its_register),
		ON(a_load_waits_until_an_mma_has_taken_its_register_in),
		ON(a_load_waits_for_the_result_of_an_mma),
		ON(a_store_waits_for_the_result_of_an_mma),
		ON(a_load_waits_until_a_store_has_read_its_register),
		ON(a_mgather_waits_for_its_addresses),
		ON(a_load_waits_until_a_mgather_has_sent_its_rows),
		ON(a_mgather_may_load_the_register_of_its_addresses),
		ON(a_mscatter_waits_for_its_addresses),
		ON(a_load_passes_an_mma_that_waits),
		ON(with_a_window_of_one_nothing_passes),
		ON(nothing_passes_an_instruction_that_reads_its_register),
		ON(two_instructions_issue_in_a_cycle),
		ON(mcfg_takes_a_cycle_of_dispatch_and_no_entry),
		ON(as_many_are_dispatched_in_a_cycle_as_is_said),
		ON(an_mma_takes_what_its_shape_says),
		ON(without_a_pipeline_one_mma_waits_for_another),
		ON(a_smaller_array_takes_several_passes),
		ON(an_mma_waits_for_one_on_its_register),
		ON(energy_is_that_of_rows_and_of_the_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
