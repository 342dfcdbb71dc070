/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A SIMT core of Virgo in cycles, counted by hand. Warps start in cycle 0. Warp 0's first instruction is
 * fetched in 1 and decoded 6 cycles later, in 7, where it issues; 3 cycles later, in 10, its unit takes it.
 * Unit to register is 6 cycles in an ALU and 9 in the FPU: 9 and 12 from issue on. A load of shared memory
 * has the LSU's head a cycle after the unit took it, and its word 11 later: 15 from issue on. A branch is
 * resolved 4 cycles after its unit took it. In a register's cycle an instruction that waits for it issues.
 */
#include "tests/lib/virgo_cycles.h"

#define R1 1u
#define R2 2u
#define R3 3u
#define R4 4u
#define F1 FLOAT(1)
#define F2 FLOAT(2)
#define F3 FLOAT(3)

/* --- fetch ---------------------------------------------------------------------------------------- */

static void instructions_of_one_warp_are_fetched_6_cycles_apart(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	alu(&c, R1, 0);
	alu(&c, R2, 0);
	alu(&c, R3, 0);
	cluster_run(&c);
	/* Fetched in 1, 7, 13; decode 6, to the unit 3, ALU 6. */
	assert_int_equal(register_at(&c, 0, 0, R1), 1 + 6 + 3 + 6);
	assert_int_equal(register_at(&c, 0, 0, R2), 7 + 6 + 3 + 6);
	assert_int_equal(register_at(&c, 0, 0, R3), 13 + 6 + 3 + 6);
	cluster_end(&c);
}

static void eight_warps_share_one_fetch_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int warp = 0; warp < 8; warp++) {
		of_warp(&c, 0, warp);
		fpu(&c, F1, 0);
		fpu(&c, F2, 0);
	}
	cluster_run(&c);
	/* Warp w in 1 + w, and in 9 + w when all have had their turn; decode 6, to the unit 3, FPU 9. */
	for (unsigned int warp = 0; warp < 8; warp++) {
		assert_int_equal(register_at(&c, 0, warp, F1), 1 + warp + 18);
		assert_int_equal(register_at(&c, 0, warp, F2), 9 + warp + 18);
	}
	cluster_end(&c);
}

static void cores_fetch_for_themselves(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int core = 0; core < 4; core++) {
		of_warp(&c, core, 0);
		alu(&c, R1, 0);
	}
	cluster_run(&c);
	for (unsigned int core = 0; core < 4; core++)
		assert_int_equal(register_at(&c, core, 0, R1), 16);
	cluster_end(&c);
}

static void a_warp_whose_buffer_is_full_is_not_fetched(void **state)
{
	struct cluster c = cluster_begin("simt.buffer=2", NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	for (unsigned int i = 0; i < 3; i++)
		fpu(&c, i ? FLOAT(10 + i) : F2, i ? 0 : F1);
	cluster_run(&c);
	/*
	 * The load issues in 7, its word is there in 22. Fetched in 7, 13: two that wait. The third one is
	 * fetched when the first has issued, in 22, and not in 19; decode 6, to the unit 3, FPU 9.
	 */
	assert_int_equal(register_at(&c, 0, 0, FLOAT(12)), 22 + 6 + 3 + 9);
	cluster_end(&c);
}

/* --- issue ---------------------------------------------------------------------------------------- */

static void an_instruction_waits_for_a_register_that_it_reads(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction *instruction;

	(void)state;
	fpu(&c, F1, 0);
	alu(&c, R1, F1);
	instruction = put(&c, OP_ALU, R2, 0);
	instruction->from[1] = R1;
	cluster_run(&c);
	/* The FPU's result: 7 + 12 = 19. Then an ALU twice. */
	assert_int_equal(register_at(&c, 0, 0, F1), 19);
	assert_int_equal(register_at(&c, 0, 0, R1), 19 + 9);
	assert_int_equal(register_at(&c, 0, 0, R2), 28 + 9);
	cluster_end(&c);
}

static void an_instruction_waits_for_a_register_that_it_writes(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	fpu(&c, R1, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	/* Decoded in 13, it issues when the FPU has written, in 19. */
	assert_int_equal(register_at(&c, 0, 0, R1), 19 + 9);
	cluster_end(&c);
}

static void a_warp_issues_in_order(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	fpu(&c, F2, F1);
	alu(&c, R1, 0);
	cluster_run(&c);
	/* The word is there in 22; the fpu waits for it. The alu issues behind the fpu: in 23, not in 19. */
	assert_int_equal(register_at(&c, 0, 0, R1), 23 + 9);
	cluster_end(&c);
}

static void registers_are_those_of_a_warp(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	of_warp(&c, 0, 1);
	alu(&c, R1, F1);
	cluster_run(&c);
	/* Fetched in 2. */
	assert_int_equal(register_at(&c, 0, 1, R1), 2 + 6 + 9);
	cluster_end(&c);
}

static void a_csr_access_waits_until_nothing_is_in_flight(void **state)
{
	static const enum operation before[] = { OP_FPU, OP_LOAD_SHARED, OP_STORE_SHARED };
	static const unsigned int cycles[] = { 12, 15, 15 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct cluster c = cluster_begin(NULL);

		access_line(&c, before[i], before[i] == OP_STORE_SHARED ? 0 : F1, 0);
		put(&c, OP_CSR, R1, 0);
		alu(&c, R2, 0);
		cluster_run(&c);
		/*
		 * Decoded in 13, it issues in 7 + cycles; to the unit 3, there 4. Then the next one is
		 * fetched.
		 */
		assert_int_equal(register_at(&c, 0, 0, R1), 7 + cycles[i] + 3 + 4);
		assert_int_equal(register_at(&c, 0, 0, R2), 7 + cycles[i] + 3 + 4 + 6 + 9);
		cluster_end(&c);
	}
}

static void a_csr_access_waits_for_a_load_that_waits_in_the_lsu(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_apart(&c, OP_STORE_SHARED, 0, 0, 64 * WORD);
	of_warp(&c, 0, 1);
	access_line(&c, OP_LOAD_SHARED, F1, BANK);
	put(&c, OP_CSR, R1, 0);
	cluster_run(&c);
	/* The store, 7 words through the port, is the head from 11 to 17, the load in 18: its word comes in 29. */
	assert_int_equal(register_at(&c, 0, 1, R1), 29 + 3 + 4);
	cluster_end(&c);
}

static void a_branch_holds_the_fetch(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_BRANCH, 0, 0);
	alu(&c, R1, 0);
	of_warp(&c, 0, 1);
	alu(&c, R1, 0);
	alu(&c, R2, 0);
	cluster_run(&c);
	/* The ALU takes it in 10; resolved in 14, when the next one is fetched. */
	assert_int_equal(register_at(&c, 0, 0, R1), 14 + 6 + 9);
	/* Other warps are fetched meanwhile, in 2 and 8. */
	assert_int_equal(register_at(&c, 0, 1, R1), 2 + 6 + 9);
	assert_int_equal(register_at(&c, 0, 1, R2), 8 + 6 + 9);
	cluster_end(&c);
}

/* --- dispatch, units ------------------------------------------------------------------------------ */

/*
 * Two instructions that issue one cycle after the other: they wait in the buffer behind one that
 * waits for a word, which is there in 22. They issue in 23 and 24.
 */
static void hold_two(struct cluster *c)
{
	access_line(c, OP_LOAD_SHARED, F1, 0);
	alu(c, R1, F1);
}

static void a_unit_has_an_instruction_of_a_warp_in_every_second_cycle(void **state)
{
	struct cluster c = cluster_begin("simt.fetch=2", NULL);

	(void)state;
	/* The load is fetched in 1, and issues in 3; its word is there in 18. The others are fetched by 9. */
	hold_two(&c);
	fpu(&c, F2, 0);
	fpu(&c, F3, 0);
	cluster_run(&c);
	/* The ALU's issues in 18, the FPU's in 19 and 20. The first one is dispatched in 21, taken in 22. */
	assert_int_equal(register_at(&c, 0, 0, F2), 19 + 12);
	/* The second one would be dispatched in 22, but it is in 23. */
	assert_int_equal(register_at(&c, 0, 0, F3), 20 + 12 + 1);
	cluster_end(&c);
}

static void units_have_instructions_of_a_warp_in_every_cycle(void **state)
{
	struct cluster c = cluster_begin("simt.fetch=2", NULL);

	(void)state;
	hold_two(&c);
	fpu(&c, F2, 0);
	alu(&c, R2, 0);
	cluster_run(&c);
	/* Two cycles behind the other one of the ALU. */
	assert_int_equal(register_at(&c, 0, 0, R1), 18 + 9);
	assert_int_equal(register_at(&c, 0, 0, F2), 19 + 12);
	assert_int_equal(register_at(&c, 0, 0, R2), 20 + 9);
	cluster_end(&c);
}

static void an_instruction_that_waits_for_a_unit_stays_in_order_with_others(void **state)
{
	struct cluster c = cluster_begin("simt.fetch=2", NULL);

	(void)state;
	hold_two(&c);
	fpu(&c, F2, 0);
	fpu(&c, F3, 0);
	alu(&c, R2, 0);
	cluster_run(&c);
	/* Issued in 21, it would be dispatched in 23, in which the second one of the FPU is: 24. */
	assert_int_equal(register_at(&c, 0, 0, R2), 21 + 9 + 1);
	cluster_end(&c);
}

/*
 * Warps 0 and `other` issue an instruction in the same cycle, 20. The first is fetched behind a branch, in
 * 14; the other one, fetched in 2, issues an instruction of the FPU in 8, whose result it waits for: 8 + 12.
 */
static struct cluster both_in_20(unsigned int other, enum operation operation, unsigned int to)
{
	struct cluster c = cluster_begin(NULL);

	put(&c, OP_BRANCH, 0, 0);
	put(&c, operation, to, 0);
	of_warp(&c, 0, other);
	fpu(&c, F1, 0);
	put(&c, operation, to, F1);
	cluster_run(&c);
	return c;
}

static void two_alus_work_for_a_pair_of_warps(void **state)
{
	struct cluster c = both_in_20(1, OP_ALU, R1);

	(void)state;
	assert_int_equal(register_at(&c, 0, 0, R1), 20 + 9);
	assert_int_equal(register_at(&c, 0, 1, R1), 20 + 9);
	cluster_end(&c);
}

static void warps_of_different_pairs_have_the_alus_in_turn(void **state)
{
	struct cluster c = both_in_20(2, OP_ALU, R1);

	(void)state;
	/* The first pair had them last, for the branch. */
	assert_int_equal(register_at(&c, 0, 2, R1), 20 + 9);
	assert_int_equal(register_at(&c, 0, 0, R1), 20 + 9 + 1);
	cluster_end(&c);
}

static void one_fpu_works_for_all_warps_in_turn(void **state)
{
	struct cluster c = both_in_20(1, OP_FPU, F2);

	(void)state;
	/* Warp 1 had it last. */
	assert_int_equal(register_at(&c, 0, 0, F2), 20 + 12);
	assert_int_equal(register_at(&c, 0, 1, F2), 20 + 12 + 1);
	cluster_end(&c);
}

/* --- tensor core ---------------------------------------------------------------------------------- */

#define C0 FLOAT(16)
#define C1 FLOAT(24)
#define WMMA 64u /* cycles: 32 micro-operations of a warp alone, one in every second cycle */

static void a_wmma_alone_takes_64_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	cluster_run(&c);
	/* Micro-operation i is taken in 10 + 2 i, the last one in 72; its result is there 5 cycles later. */
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(register_at(&c, 0, 0, C0 + i), 10 + WMMA - 2 + 5);
	assert_int_equal(cluster_statistics(&c).micro_ops, 32);
	/* 8 x 8 x 8 */
	assert_int_equal(cluster_statistics(&c).tensor_macs, 512);
	cluster_end(&c);
}

static void three_micro_operations_wait_before_dispatch(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	cluster_run(&c);
	/*
	 * One is dispatched in 9, 11 and so on. They issue in 7 to 11, when there are three before that, and then
	 * in each cycle in which one leaves: the 27 others in 13 to 65. In the cycles between there is no room.
	 */
	assert_int_equal(cluster_statistics(&c).stall_dispatch, 27);
	cluster_end(&c);
}

static void two_warps_fill_the_tensor_core(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	of_warp(&c, 0, 1);
	put(&c, OP_WMMA, C0, 0);
	cluster_run(&c);
	/* The second one's are taken in the cycles between, 11 to 73. */
	assert_int_equal(register_at(&c, 0, 0, C0), 72 + 5);
	assert_int_equal(register_at(&c, 0, 1, C0), 73 + 5);
	cluster_end(&c);
}

static void three_wmmas(struct cluster *c)
{
	for (unsigned int warp = 0; warp < 3; warp++) {
		of_warp(c, 0, warp);
		put(c, OP_WMMA, C0, 0);
	}
	cluster_run(c);
}

static void a_third_warp_has_the_tensor_core_when_the_first_two_leave_it(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	three_wmmas(&c);
	/*
	 * 10 to 73 are those of the first two. In 74 it has the micro-operation that has waited in the
	 * dispatch buffer; the next one comes there in the same cycle, and is taken in 75, and from then on
	 * there is one in every second cycle.
	 */
	assert_int_equal(register_at(&c, 0, 1, C0), 73 + 5);
	assert_int_equal(register_at(&c, 0, 2, C0), 75 + 2 * 30 + 5);
	cluster_end(&c);
}

static void three_warps_may_have_the_tensor_core_in_turn(void **state)
{
	struct cluster c = cluster_begin("tensor.oldest=0", NULL);

	(void)state;
	three_wmmas(&c);
	/* 96 micro-operations, one in each cycle from 10 on: each warp has every third one. */
	assert_int_equal(register_at(&c, 0, 0, C0), 10 + 3 * 31 + 5);
	assert_int_equal(register_at(&c, 0, 1, C0), 11 + 3 * 31 + 5);
	assert_int_equal(register_at(&c, 0, 2, C0), 12 + 3 * 31 + 5);
	cluster_end(&c);
}

static void a_wmma_follows_another_one_without_a_gap(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	put(&c, OP_WMMA, C1, 0);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, C1), 10 + 2 * WMMA - 2 + 5);
	cluster_end(&c);
}

static void a_wmma_waits_for_the_sums_of_another_one(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	put(&c, OP_WMMA, C0, 0);
	cluster_run(&c);
	/* They are there in 77, when its first micro-operation issues; the unit takes that 3 later. */
	assert_int_equal(register_at(&c, 0, 0, C0), 77 + 3 + WMMA - 2 + 5);
	cluster_end(&c);
}

static void a_wmma_waits_for_each_of_its_registers(void **state)
{
	(void)state;
	/* A, B and C. */
	for (unsigned int number = 0; number < 24; number++) {
		struct cluster c = cluster_begin(NULL);

		access_line(&c, OP_LOAD_SHARED, FLOAT(number), 0);
		put(&c, OP_WMMA, C0, 0);
		cluster_run(&c);
		/* The word is there in 22. */
		assert_int_equal(register_at(&c, 0, 0, C0), 22 + 3 + WMMA - 2 + 5);
		cluster_end(&c);
	}
}

static void sums_are_there_with_the_last_micro_operation(void **state)
{
	struct cluster c = cluster_begin("tensor.latency=1", NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	put(&c, OP_WMMA, C0, 0);
	cluster_run(&c);
	/* The last one is taken in 72: the second wmma issues in 73, though earlier ones have written. */
	assert_int_equal(register_at(&c, 0, 0, C0), 73 + 3 + WMMA - 2 + 1);
	cluster_end(&c);
}

static void a_wmma_holds_the_issue_of_its_warp(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_WMMA, C0, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	/*
	 * Of the micro-operations one is dispatched in every second cycle, 9, 11, ... 71. Three wait before
	 * that, so the last one issues in 65. In 67 there is room for the next instruction, which is
	 * dispatched behind the last of them, in 72, and taken in 73.
	 */
	assert_int_equal(register_at(&c, 0, 0, R1), 73 + 6);
	cluster_end(&c);
}

/* --- barrier -------------------------------------------------------------------------------------- */

static void a_barrier_opens_6_cycles_after_the_last_arrival(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=2", NULL);

	(void)state;
	for (unsigned int core = 0; core < 2; core++) {
		of_warp(&c, core, 0);
		if (core)
			alu(&c, R1, 0);
		put(&c, OP_BARRIER, 0, 0);
		alu(&c, R2, 0);
	}
	cluster_run(&c);
	/* Arrived in 10 and, fetched 6 cycles later, in 16. All are fetched from 22 on. */
	assert_int_equal(register_at(&c, 0, 0, R2), 16 + 6 + 6 + 9);
	assert_int_equal(register_at(&c, 1, 0, R2), 16 + 6 + 6 + 9);
	assert_int_equal(cluster_statistics(&c).barriers, 1);
	/* 10 to 22, and 16 to 22. */
	assert_int_equal(cluster_statistics(&c).stall_barrier, 12 + 6);
	cluster_end(&c);
}

static void a_barrier_waits_for_all_warps_of_a_core(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=1", NULL);

	(void)state;
	for (unsigned int warp = 0; warp < 8; warp++) {
		of_warp(&c, 0, warp);
		put(&c, OP_BARRIER, 0, 0);
		alu(&c, R1, 0);
	}
	cluster_run(&c);
	/* Warp 7 is fetched in 8 and arrives 9 cycles later; all are then fetched one after the other. */
	for (unsigned int warp = 0; warp < 8; warp += 2)
		assert_in_range(register_at(&c, 0, warp, R1), 17 + 6 + 6 + 9, 17 + 6 + 6 + 9 + 7);
	assert_int_equal(cluster_statistics(&c).barriers, 1);
	cluster_end(&c);
}

static void a_barrier_can_be_used_again(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=1", NULL);

	(void)state;
	put(&c, OP_BARRIER, 0, 0);
	put(&c, OP_BARRIER, 0, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	/* Opens in 16; the next one arrives in 16 + 9 and opens in 31. */
	assert_int_equal(register_at(&c, 0, 0, R1), 16 + 9 + 6 + 6 + 9);
	assert_int_equal(cluster_statistics(&c).barriers, 2);
	cluster_end(&c);
}

/* Of two warps, the one that comes first or last has no barrier. */
static void one_stays_away(unsigned int alus_of_the_other)
{
	struct cluster c = cluster_begin("cluster.cores=1", NULL);
	char text[256];

	for (unsigned int i = 0; i < alus_of_the_other; i++)
		alu(&c, R1, 0);
	put(&c, OP_BARRIER, 0, 0);
	of_warp(&c, 0, 3);
	for (unsigned int i = 0; i < 4; i++)
		alu(&c, R1, 0);
	cluster_start(&c, 0);
	cluster_finish(&c);
	assert_true(virgo_time_is_running(c.timing, 0));
	assert_int_equal(virgo_time_next(c.timing), NEVER);
	virgo_time_describe(c.timing, text, sizeof(text));
	assert_string_equal(text, "warp 0 of core 0 waits at the barrier\n");
	cluster_end(&c);
}

static void a_kernel_whose_warp_never_reaches_the_barrier_is_described(void **state)
{
	(void)state;
	one_stays_away(0);
}

static void a_barrier_waits_for_a_warp_that_has_ended(void **state)
{
	(void)state;
	one_stays_away(20);
}

static void a_description_says_how_long_it_would_be(void **state)
{
	static const char both[] =
		"warp 1 of core 0 waits at the barrier\nwarp 2 of core 1 waits at the barrier\n";
	struct cluster c = cluster_begin("cluster.cores=2", NULL);
	char text[8];

	(void)state;
	of_warp(&c, 0, 1);
	put(&c, OP_BARRIER, 0, 0);
	of_warp(&c, 1, 1);
	alu(&c, R1, 0);
	of_warp(&c, 1, 2);
	put(&c, OP_BARRIER, 0, 0);
	cluster_start(&c, 0);
	cluster_finish(&c);
	assert_int_equal(virgo_time_describe(c.timing, NULL, 0), strlen(both));
	assert_int_equal(virgo_time_describe(c.timing, text, sizeof(text)), strlen(both));
	assert_memory_equal(text, both, sizeof(text) - 1);
	assert_int_equal(text[sizeof(text) - 1], 0);
	cluster_end(&c);
}

/* --- polls, commands ------------------------------------------------------------------------------ */

/* A store of `rows` rows to shared memory, of which one moves in a cycle. */
static void occupy(struct cluster *c, uint32_t rows)
{
	struct virgo_time_command command = { .count = 1,
					      .operation = { {
						      .engine = VIRGO_ENGINE_STORE,
						      .moved_rows = rows,
						      .writes = { 0, LINE },
					      } } };

	virgo_time_put(c->timing, 0, &command, 0);
}

static void an_iteration_of_a_poll_takes_46_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	occupy(&c, 1000);
	virgo_time_code_poll(c.code, ALWAYS);
	cluster_start(&c, 0);
	/*
	 * A nop is fetched in 1, the load 6 cycles later; that is decoded 6 later, the LSU's 3 later, its
	 * head 1 later, and has its answer, with 12 for the unit's register, 11 + 12 later: 7 + 6 + 3 + 1 +
	 * 23 = 40. The branch, decoded by then, is in the ALU 3 later and resolved 4 later, in 47, when the
	 * nop is fetched again.
	 */
	for (unsigned int i = 0; i < 10; i++) {
		virgo_time_advance(c.timing, 7 + 46 * i - 1);
		assert_int_equal(cluster_statistics(&c).polls, i);
		virgo_time_advance(c.timing, 7 + 46 * i);
		assert_int_equal(cluster_statistics(&c).polls, i + 1);
	}
	cluster_finish(&c);
	assert_false(virgo_time_is_running(c.timing, 0));
	cluster_end(&c);
}

static void a_poll_ends_when_the_unit_is_not_busy(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	virgo_time_code_poll(c.code, ALWAYS);
	alu(&c, R1, 0);
	cluster_run(&c);
	/* The branch is resolved in 47. */
	assert_int_equal(register_at(&c, 0, 0, R1), 47 + 6 + 9);
	assert_int_equal(cluster_statistics(&c).polls, 1);
	cluster_end(&c);
}

static void a_command_is_the_units_when_the_csr_is_written(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	virgo_time_code_command(c.code, REQUEST_MULTIPLY, ALWAYS);
	cluster_start(&c, 0);
	virgo_time_advance(c.timing, 9);
	assert_int_equal(virgo_time_commands(c.timing, 0), 0);
	virgo_time_advance(c.timing, 10);
	assert_int_equal(virgo_time_commands(c.timing, 0), 1);
	assert_int_equal(virgo_time_loops(c.timing, 0), 1);
	cluster_finish(&c);
	/* 18 to the first row, 64 x 64 x 64 / 64, 28 behind the last one. */
	assert_int_equal(virgo_time_ended(c.timing, 0), 10 + 18 + 4096 + 28);
	cluster_end(&c);
}

static void a_store_to_the_units_registers_leaves_with_the_lsus_head(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_STORE_UNIT, 0, 0)->request = REQUEST_MULTIPLY;
	cluster_start(&c, 0);
	virgo_time_advance(c.timing, 10);
	assert_int_equal(virgo_time_commands(c.timing, 0), 0);
	virgo_time_advance(c.timing, 11);
	assert_int_equal(virgo_time_commands(c.timing, 0), 1);
	assert_int_equal(answered_at(&c, 0), 11 + 12);
	cluster_end(&c);
}

/* --- statistics ----------------------------------------------------------------------------------- */

static void instructions_are_counted_by_kind(void **state)
{
	static const enum operation operations[] = {
		OP_ALU, OP_FPU, OP_LOAD, OP_LOAD_SHARED, OP_STORE, OP_STORE_SHARED, OP_LOAD_BUSY,
		OP_STORE_UNIT, OP_WMMA, OP_BRANCH, OP_CSR, OP_FENCE, OP_BARRIER,
	};
	struct cluster c = cluster_begin("cluster.cores=1", NULL);
	struct virgo_time_statistics s;

	(void)state;
	for (unsigned int i = 0; i < 13; i++)
		access_line(&c, operations[i], operations[i] == OP_WMMA ? C0 : 0, 0);
	c.code->item[0].instruction.lanes = 1;
	cluster_run(&c);
	s = cluster_statistics(&c);
	assert_int_equal(s.warp_instructions, 13);
	assert_int_equal(s.lane_instructions, 1 + 12 * 8);
	assert_int_equal(s.alu, 1);
	assert_int_equal(s.fpu, 1);
	assert_int_equal(s.loads, 2);
	assert_int_equal(s.stores, 2);
	assert_int_equal(s.mmio, 2);
	assert_int_equal(s.polls, 1);
	assert_int_equal(s.wmma, 1);
	assert_int_equal(s.control, 4);
	cluster_end(&c);
}

static void a_cycle_in_which_a_warp_waits_for_a_register_is_counted(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	alu(&c, R1, F1);
	cluster_run(&c);
	/* Decoded in 13, it issues in 22. */
	assert_int_equal(cluster_statistics(&c).stall_operands, 9);
	cluster_end(&c);
}

static void a_cycle_in_which_the_lsu_waits_for_a_fence_is_counted(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_STORE, 0, MEMORY);
	put(&c, OP_FENCE, 0, 0);
	cluster_run(&c);
	/*
	 * The store is the LSU's head in 11; the bus has its answer 45 later, the core 11 later, in 67. The
	 * fence is its head from 17 on.
	 */
	assert_int_equal(answered_at(&c, 0), 67);
	assert_int_equal(cluster_statistics(&c).fence_waits, 67 - 17);
	assert_int_equal(cluster_statistics(&c).lsu_waits, 67 - 17);
	cluster_end(&c);
}

static void a_cycle_in_which_a_warp_has_no_instruction_is_counted(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_BRANCH, 0, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	/*
	 * Before the first one is fetched, in 1. The branch issues in 7, the next one is fetched in 14;
	 * issued in 20 it leaves nothing, but then the warp's end is seen.
	 */
	assert_int_equal(cluster_statistics(&c).stall_fetch, 1 + 14 - 7);
	cluster_end(&c);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(instructions_of_one_warp_are_fetched_6_cycles_apart),
		ON(eight_warps_share_one_fetch_a_cycle),
		ON(cores_fetch_for_themselves),
		ON(a_warp_whose_buffer_is_full_is_not_fetched),
		ON(an_instruction_waits_for_a_register_that_it_reads),
		ON(an_instruction_waits_for_a_register_that_it_writes),
		ON(a_warp_issues_in_order),
		ON(registers_are_those_of_a_warp),
		ON(a_csr_access_waits_until_nothing_is_in_flight),
		ON(a_csr_access_waits_for_a_load_that_waits_in_the_lsu),
		ON(a_branch_holds_the_fetch),
		ON(a_unit_has_an_instruction_of_a_warp_in_every_second_cycle),
		ON(units_have_instructions_of_a_warp_in_every_cycle),
		ON(an_instruction_that_waits_for_a_unit_stays_in_order_with_others),
		ON(two_alus_work_for_a_pair_of_warps),
		ON(warps_of_different_pairs_have_the_alus_in_turn),
		ON(one_fpu_works_for_all_warps_in_turn),
		ON(a_wmma_alone_takes_64_cycles),
		ON(three_micro_operations_wait_before_dispatch),
		ON(two_warps_fill_the_tensor_core),
		ON(a_third_warp_has_the_tensor_core_when_the_first_two_leave_it),
		ON(three_warps_may_have_the_tensor_core_in_turn),
		ON(a_wmma_follows_another_one_without_a_gap),
		ON(a_wmma_waits_for_the_sums_of_another_one),
		ON(a_wmma_waits_for_each_of_its_registers),
		ON(sums_are_there_with_the_last_micro_operation),
		ON(a_wmma_holds_the_issue_of_its_warp),
		ON(a_barrier_opens_6_cycles_after_the_last_arrival),
		ON(a_barrier_waits_for_all_warps_of_a_core),
		ON(a_barrier_can_be_used_again),
		ON(a_kernel_whose_warp_never_reaches_the_barrier_is_described),
		ON(a_barrier_waits_for_a_warp_that_has_ended),
		ON(a_description_says_how_long_it_would_be),
		ON(an_iteration_of_a_poll_takes_46_cycles),
		ON(a_poll_ends_when_the_unit_is_not_busy),
		ON(a_command_is_the_units_when_the_csr_is_written),
		ON(a_store_to_the_units_registers_leaves_with_the_lsus_head),
		ON(instructions_are_counted_by_kind),
		ON(a_cycle_in_which_a_warp_waits_for_a_register_is_counted),
		ON(a_cycle_in_which_the_lsu_waits_for_a_fence_is_counted),
		ON(a_cycle_in_which_a_warp_has_no_instruction_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
