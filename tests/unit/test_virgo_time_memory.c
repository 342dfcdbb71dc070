/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shared memory, L1, coalescer, bus and L2 of Virgo in cycles, counted by hand. Warps start in cycle 0. A
 * warp's first instruction, fetched in 1, issues in 7, is the LSU's in 10 and its head in 11; the second one,
 * fetched 6 cycles later, is the head in 17. Shared memory has it in the core's registers 11 cycles after the
 * grant: 15 from issue on. The L1 has a line that is there after 4 cycles, the L2 after 45; from both it is
 * 11 cycles to the registers.
 */
#include "tests/lib/virgo_cycles.h"

#define F1 FLOAT(1)
#define F2 FLOAT(2)
#define F3 FLOAT(3)
#define R1 1u
#define SET_APART 0x1000 /* bytes between lines of one set: 8 banks of 16 sets of 32 bytes */
#define STACK_APART (-8208)

/* --- shared memory: banks ------------------------------------------------------------------------- */

static void a_load_of_shared_memory_takes_15_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	cluster_run(&c);
	/* To the unit 3, the head 1, the grant and the way back 11. */
	assert_int_equal(register_at(&c, 0, 0, F1), 7 + 3 + 1 + 11);
	assert_int_equal(cluster_statistics(&c).shared_reads, 8);
	cluster_end(&c);
}

static struct cluster two_cores(enum operation operation, uint32_t first, enum operation other,
				uint32_t second)
{
	struct cluster c = cluster_begin(NULL);

	access_line(&c, operation, 0, first);
	of_warp(&c, 1, 0);
	access_line(&c, other, 0, second);
	cluster_run(&c);
	return c;
}

static void a_conflict_of_two_cores_costs_the_higher_one_a_cycle(void **state)
{
	static const enum operation operations[] = { OP_LOAD_SHARED, OP_STORE_SHARED };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct cluster c = two_cores(operations[i], BANK, operations[i], 2 * BANK - LINE);

		assert_int_equal(answered_at(&c, 0), 11 + 11);
		assert_int_equal(answered_at(&c, 1), 12 + 11);
		assert_int_equal(cluster_statistics(&c).bank_conflicts, 1);
		assert_int_equal(cluster_statistics(&c).lsu_waits, 1);
		cluster_end(&c);
	}
}

static void banks_are_read_at_the_same_time(void **state)
{
	struct cluster c = two_cores(OP_LOAD_SHARED, BANK - LINE, OP_LOAD_SHARED, BANK);

	(void)state;
	assert_int_equal(answered_at(&c, 1), 11 + 11);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 0);
	cluster_end(&c);
}

static void a_read_and_a_write_of_a_bank_do_not_conflict(void **state)
{
	struct cluster c = two_cores(OP_LOAD_SHARED, 0, OP_STORE_SHARED, 0);

	(void)state;
	assert_int_equal(answered_at(&c, 0), 11 + 11);
	assert_int_equal(answered_at(&c, 1), 11 + 11);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 0);
	cluster_end(&c);
}

static void four_cores_that_read_one_bank_are_granted_in_their_order(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int core = 0; core < 4; core++) {
		of_warp(&c, core, 0);
		access_line(&c, OP_LOAD_SHARED, F1, 0);
	}
	cluster_run(&c);
	for (unsigned int core = 0; core < 4; core++)
		assert_int_equal(register_at(&c, core, 0, F1), 11 + core + 11);
	/* 3 + 2 + 1 */
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 6);
	cluster_end(&c);
}

static void without_conflicts_a_bank_serves_all_cores_at_once(void **state)
{
	struct cluster c = cluster_begin("shared.conflicts=0", NULL);

	(void)state;
	for (unsigned int core = 0; core < 4; core++) {
		of_warp(&c, core, 0);
		access_line(&c, OP_LOAD_SHARED, F1, 0);
	}
	cluster_run(&c);
	for (unsigned int core = 0; core < 4; core++)
		assert_int_equal(register_at(&c, core, 0, F1), 11 + 11);
	cluster_end(&c);
}

/* Lanes 0 to 3 in one bank, 4 to 7 in the next one, each in its sub-bank. */
static void access_two_banks(struct cluster *c)
{
	struct instruction *instruction = access_line(c, OP_LOAD_SHARED, F1, 0);

	instruction->group = 4;
	instruction->far = BANK + 4 * WORD;
}

static void words_of_two_banks_are_granted_at_once(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_two_banks(&c);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 11);
	assert_int_equal(cluster_statistics(&c).shared_unaligned, 0);
	cluster_end(&c);
}

static void words_of_two_banks_are_granted_each_when_its_bank_is_free(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	of_warp(&c, 1, 0);
	access_two_banks(&c);
	of_warp(&c, 2, 0);
	access_line(&c, OP_LOAD_SHARED, F1, BANK);
	cluster_run(&c);
	/* Core 1 has the second bank in 11, the first one in 12; core 2 then has the second one. */
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 11);
	assert_int_equal(register_at(&c, 1, 0, F1), 12 + 11);
	assert_int_equal(register_at(&c, 2, 0, F1), 12 + 11);
	cluster_end(&c);
}

/* --- shared memory: the unit goes first ----------------------------------------------------------- */

/* A pass of the array that begins in 18, of `rows` lines of A in bank 0 and 8 of B in bank 2. */
static void multiply(struct cluster *c, uint32_t passes, uint32_t reuse)
{
	struct virgo_time_command command = { .count = 1,
					      .operation = { {
						      .engine = VIRGO_ENGINE_EXECUTE,
						      .passes = passes,
						      .rows = 8,
						      .pass_reuse = reuse,
						      .a_base = 0,
						      .b_base = 2 * BANK,
						      .a_bytes = BANK,
						      .b_bytes = BANK,
					      } } };

	virgo_time_put(c->timing, 0, &command, 0);
}

/* The LSU has it at its head in 21. */
static uint64_t load_beside_the_array(uint32_t passes, uint32_t reuse, enum operation operation,
				      uint32_t address)
{
	struct cluster c = cluster_begin(NULL);
	uint64_t answered;

	multiply(&c, passes, reuse);
	access_line(&c, operation, 0, address);
	cluster_start(&c, 10);
	cluster_finish(&c);
	answered = answered_at(&c, 0);
	/* The array is not held up. */
	assert_int_equal(virgo_time_ended(c.timing, 0), 18 + passes * 8 + 28);
	assert_int_equal(cluster_statistics(&c).matrix_stalls, 0);
	cluster_end(&c);
	return answered;
}

static void the_unit_has_a_bank_before_a_core_has_it(void **state)
{
	(void)state;
	/* A's lines are read in 18 to 25, or 18 to 33. */
	assert_int_equal(load_beside_the_array(1, 1, OP_LOAD_SHARED, 0), 26 + 11);
	assert_int_equal(load_beside_the_array(2, 1, OP_LOAD_SHARED, 0), 34 + 11);
	/* Nobody reads bank 1; nobody writes bank 0. */
	assert_int_equal(load_beside_the_array(2, 1, OP_LOAD_SHARED, BANK), 21 + 11);
	assert_int_equal(load_beside_the_array(2, 1, OP_STORE_SHARED, 0), 21 + 11);
}

static void the_unit_reads_bs_lines_in_the_first_pass_that_needs_them(void **state)
{
	(void)state;
	assert_int_equal(load_beside_the_array(2, 1, OP_LOAD_SHARED, 2 * BANK), 34 + 11);
	assert_int_equal(load_beside_the_array(2, 2, OP_LOAD_SHARED, 2 * BANK), 26 + 11);
}

static void a_line_of_the_dma_engine_is_written_before_that_of_a_core(void **state)
{
	static const enum operation operations[] = { OP_STORE_SHARED, OP_LOAD_SHARED };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct cluster c = cluster_begin(NULL);
		struct virgo_time_command command = { .count = 1,
						      .operation = { {
							      .engine = VIRGO_ENGINE_LOAD,
							      .requests = 1,
							      .request_beats = 2,
							      .writes = { BANK, BANK + 64 },
						      } } };

		virgo_time_put(c.timing, 0, &command, 0);
		access_line(&c, operations[i], 0, BANK + 1024);
		/* The request leaves in 18, its beats come in 63 and 64. The core's head: 52 + 11 = 63. */
		cluster_start(&c, 52);
		cluster_finish(&c);
		assert_int_equal(answered_at(&c, 0), (i ? 63 : 65) + 11);
		assert_int_equal(cluster_statistics(&c).bank_conflicts, i ? 0 : 2);
		cluster_end(&c);
	}
}

/* --- shared memory: words that are not aligned ---------------------------------------------------- */

static void an_aligned_row_is_one_grant(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_STORE_SHARED, 0, 5 * LINE);
	cluster_run(&c);
	assert_int_equal(answered_at(&c, 0), 11 + 11);
	assert_int_equal(cluster_statistics(&c).shared_unaligned, 0);
	assert_int_equal(cluster_statistics(&c).shared_writes, 8);
	cluster_end(&c);
}

static void sixteen_lanes_have_eight_sub_banks(void **state)
{
	struct cluster c = cluster_begin("cluster.lanes=16", NULL);

	(void)state;
	put(&c, OP_LOAD_SHARED, 0, 0)->lanes = 16;
	c.code->item[0].instruction.group = 16;
	cluster_run(&c);
	/* Lane 8's is that of lane 0. */
	assert_int_equal(cluster_statistics(&c).shared_reads, 16);
	assert_int_equal(cluster_statistics(&c).shared_unaligned, 0);
	cluster_end(&c);
}

static void a_transposed_store_is_one_word_and_7_through_the_port(void **state)
{
	(void)state;
	for (unsigned int column = 0; column < 8; column++) {
		struct cluster c = cluster_begin(NULL);

		access_apart(&c, OP_STORE_SHARED, 0, column * WORD, 64 * WORD);
		cluster_run(&c);
		/* Lane `column` has its sub-bank; the words of the 7 others go in 11 to 17. */
		assert_int_equal(answered_at(&c, 0), 17 + 11);
		assert_int_equal(cluster_statistics(&c).shared_unaligned, 7);
		assert_int_equal(cluster_statistics(&c).shared_writes, 8);
		cluster_end(&c);
	}
}

static void a_row_that_begins_at_a_wrong_word_goes_through_the_port(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, F1, WORD);
	cluster_run(&c);
	/* All 8, in 11 to 18. */
	assert_int_equal(register_at(&c, 0, 0, F1), 18 + 11);
	assert_int_equal(cluster_statistics(&c).shared_unaligned, 8);
	cluster_end(&c);
}

static struct cluster two_transposed(const char *change, enum operation first, enum operation second)
{
	struct cluster c = cluster_begin(change, NULL);

	access_apart(&c, first, 0, 0, 64 * WORD);
	of_warp(&c, 1, 0);
	access_apart(&c, second, 0, BANK, 64 * WORD);
	cluster_run(&c);
	return c;
}

static void two_cores_share_the_port(void **state)
{
	struct cluster c = two_transposed(NULL, OP_STORE_SHARED, OP_STORE_SHARED);

	(void)state;
	/* Core 0's seven in 11 to 17, core 1's in 18 to 24, although they go to different banks. */
	assert_int_equal(answered_at(&c, 0), 17 + 11);
	assert_int_equal(answered_at(&c, 1), 24 + 11);
	cluster_end(&c);
}

static void the_port_reads_and_writes_at_the_same_time(void **state)
{
	struct cluster c = two_transposed(NULL, OP_STORE_SHARED, OP_LOAD_SHARED);

	(void)state;
	assert_int_equal(answered_at(&c, 0), 17 + 11);
	assert_int_equal(answered_at(&c, 1), 17 + 11);
	cluster_end(&c);
}

static void a_wider_port_takes_several_words_in_a_cycle(void **state)
{
	struct cluster c = two_transposed("shared.unaligned=2", OP_STORE_SHARED, OP_STORE_SHARED);

	(void)state;
	/* Seven and seven, two a cycle: in 14 the last one of core 0 and the first one of core 1. */
	assert_int_equal(answered_at(&c, 0), 14 + 11);
	assert_int_equal(answered_at(&c, 1), 17 + 11);
	cluster_end(&c);
}

static void without_the_port_words_go_at_once(void **state)
{
	struct cluster c = two_transposed("shared.unaligned=0", OP_STORE_SHARED, OP_STORE_SHARED);

	(void)state;
	assert_int_equal(answered_at(&c, 0), 11 + 11);
	assert_int_equal(answered_at(&c, 1), 11 + 11);
	cluster_end(&c);
}

/* --- the queue ------------------------------------------------------------------------------------ */

static void nothing_passes_a_head_that_waits(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_apart(&c, OP_STORE_SHARED, 0, 0, 64 * WORD);
	of_warp(&c, 0, 1);
	access_line(&c, OP_LOAD_SHARED, F1, BANK);
	cluster_run(&c);
	/* The store is over in 17; the load, the LSU's from 11 on, is the head in 18. */
	assert_int_equal(register_at(&c, 0, 1, F1), 18 + 11);
	cluster_end(&c);
}

/* Cycle of the second ALU instruction of a warp whose loads wait behind another warp's fence. */
static uint64_t behind_two_loads(const char *change)
{
	struct cluster c = cluster_begin(change, NULL);
	uint64_t cycle;

	access_line(&c, OP_STORE, 0, MEMORY);
	put(&c, OP_FENCE, 0, 0);
	of_warp(&c, 0, 1);
	for (unsigned int i = 0; i < 3; i++)
		access_line(&c, OP_LOAD_SHARED, FLOAT(i), 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	cycle = register_at(&c, 0, 1, R1);
	cluster_end(&c);
	return cycle;
}

static void the_queue_holds_as_many_as_is_said(void **state)
{
	(void)state;
	/*
	 * The fence is the LSU's from 16 to 67. The first load is before it. With room for one, the second
	 * load waits in the dispatch buffer, and the third, with the ALU's behind it, before that until 67.
	 * Then the ALU's instruction is dispatched in the cycle behind the third load, 68, taken in 69.
	 */
	assert_int_equal(behind_two_loads("lsu.queue=1"), 69 + 6);
	/* With room for two the third load waits in the buffer: fetched in 20, nothing holds up the ALU's. */
	assert_int_equal(behind_two_loads("lsu.queue=2"), 20 + 6 + 9);
}

static void only_so_many_requests_are_outstanding(void **state)
{
	struct cluster c = cluster_begin("lsu.outstanding=2", NULL);

	(void)state;
	for (unsigned int warp = 0; warp < 3; warp++) {
		of_warp(&c, 0, warp);
		access_line(&c, OP_LOAD_SHARED, F1, 0);
	}
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 11);
	assert_int_equal(register_at(&c, 0, 1, F1), 12 + 11);
	/* The third one's turn is when the first one is back. */
	assert_int_equal(register_at(&c, 0, 2, F1), 22 + 11);
	cluster_end(&c);
}

/* --- L1 ------------------------------------------------------------------------------------------- */

static void lanes_in_one_line_are_one_request(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l1_accesses, 1);
	assert_int_equal(cluster_statistics(&c).l1_misses, 1);
	assert_int_equal(cluster_statistics(&c).l2_requests, 1);
	cluster_end(&c);
}

static void lanes_in_two_lines_are_two_requests(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY + 4 * WORD);
	cluster_run(&c);
	/* Merged ones leave one a cycle: in 11 and 12. */
	assert_int_equal(register_at(&c, 0, 0, F1), 12 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l2_requests, 2);
	cluster_end(&c);
}

/* A load of lines that hit, behind one of the same lines that is back in `back`; cycles from its head on. */
static uint64_t again(struct cluster *c, uint64_t back, const struct instruction *like)
{
	uint64_t cycles;

	*put(c, OP_LOAD, F1, 0) = *like;
	put(c, OP_ALU, R1, F1);
	*put(c, OP_LOAD, F2, R1) = *like;
	c->code->item[2].instruction.to = F2;
	c->code->item[2].instruction.from[0] = R1;
	cluster_run(c);
	assert_int_equal(register_at(c, 0, 0, F1), back);
	/* The ALU takes 9 from issue on, and the load is the head 4 cycles after its issue. */
	cycles = register_at(c, 0, 0, F2) - (back + 9 + 4);
	cluster_end(c);
	return cycles;
}

static struct instruction load_of(uint64_t address, unsigned int group, int far)
{
	return (struct instruction){ .operation = OP_LOAD,
				     .to = F1,
				     .lanes = LANES,
				     .group = (uint8_t)group,
				     .far = far,
				     .address = address };
}

static void a_line_that_is_there_takes_4_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction like = load_of(MEMORY, 8, 0);

	(void)state;
	assert_int_equal(again(&c, 67, &like), 4 + 11);
}

static void merged_requests_leave_one_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction like = load_of(MEMORY, 2, LINE);

	(void)state;
	/* Four lines of two lanes: the last request in 14, and a hit 3 cycles later than that of one line. */
	assert_int_equal(again(&c, 14 + 45 + 11, &like), 3 + 4 + 11);
}

static void a_merged_request_does_not_go_with_a_lane_that_is_alone(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction like = load_of(MEMORY + LINE - WORD, 8, 0);

	(void)state;
	/* Lane 0 has the last word of a line, the others a line of another bank: in 11 and 12, and so when
	 * they hit. */
	assert_int_equal(again(&c, 12 + 45 + 11, &like), 1 + 4 + 11);
}

static void lanes_that_are_alone_leave_together_if_their_banks_differ(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction like = load_of(MEMORY, 1, LINE);

	(void)state;
	/* The bus has one request a cycle, 11 to 18; the banks have all eight at once. */
	assert_int_equal(again(&c, 18 + 45 + 11, &like), 4 + 11);
}

static void lanes_of_one_bank_leave_one_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction like = load_of(MEMORY, 1, 8 * LINE);

	(void)state;
	assert_int_equal(again(&c, 18 + 45 + 11, &like), 7 + 4 + 11);
}

static void a_stack_access_is_8_over_4_banks(void **state)
{
	(void)state;
	for (unsigned int word = 0; word < 8; word++) {
		struct cluster c = cluster_begin(NULL);
		struct instruction like = load_of(MEMORY + word * WORD, 1, STACK_APART);
		unsigned int banks[8] = { 0 }, most = 0;

		/*

		 * Stacks are 256 lines and a half apart: two of one bank, or, in the first half of a line,

		 * one, two, two, two, one.

		 */
		for (unsigned int lane = 0; lane < 8; lane++) {
			unsigned int bank = (unsigned int)((MEMORY + word * WORD - lane * 8208) / LINE % 8);

			banks[bank]++;
			most = banks[bank] > most ? banks[bank] : most;
		}
		assert_int_equal(most, 2);
		/* So they leave in 2 cycles; the bus has one request a cycle. */
		assert_int_equal(again(&c, 18 + 45 + 11, &like), 1 + 4 + 11);
	}
}

static void a_line_on_its_way_is_waited_for(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	access_word(&c, OP_LOAD, F2, MEMORY + 12);
	cluster_run(&c);
	/* The head in 17; the line, asked for in 11, is there in 56. */
	assert_int_equal(register_at(&c, 0, 0, F2), 56 + 11);
	assert_int_equal(cluster_statistics(&c).l1_accesses, 2);
	assert_int_equal(cluster_statistics(&c).l1_misses, 1);
	assert_int_equal(cluster_statistics(&c).l2_requests, 1);
	cluster_end(&c);
}

static void a_load_of_two_lines_is_over_with_the_later_one(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction *instruction;

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY + LINE);
	alu(&c, R1, F1);
	instruction = access_apart(&c, OP_LOAD, F2, MEMORY, LINE);
	instruction->from[0] = R1;
	instruction->lanes = 2;
	cluster_run(&c);
	/* The load issues in 67 + 9, is the head 4 later. The first lane misses, the second one hits. */
	assert_int_equal(register_at(&c, 0, 0, F2), 80 + 45 + 11);
	cluster_end(&c);
}

/* Two words in different lines; the cycle in which the second one is there. */
static uint64_t two_misses(const char *change, uint64_t apart)
{
	struct cluster c = cluster_begin(change, NULL);
	uint64_t cycle;

	access_word(&c, OP_LOAD, F1, MEMORY);
	access_word(&c, OP_LOAD, F2, MEMORY + apart);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 67);
	assert_int_equal(cluster_statistics(&c).l1_misses, 2);
	cycle = register_at(&c, 0, 0, F2);
	cluster_end(&c);
	return cycle;
}

static void a_miss_waits_for_an_mshr_of_its_bank(void **state)
{
	(void)state;
	/* The head in 17. With one MSHR, whose line is there in 56, it asks then. */
	assert_int_equal(two_misses(NULL, 8 * LINE), 17 + 45 + 11);
	assert_int_equal(two_misses("dcache.mshrs=2", 8 * LINE), 17 + 45 + 11);
	assert_int_equal(two_misses("dcache.mshrs=1", 8 * LINE), 56 + 45 + 11);
	assert_int_equal(two_misses("dcache.mshrs=1", LINE), 17 + 45 + 11);
}

static void so_many_merged_requests_are_outstanding(void **state)
{
	struct cluster c = cluster_begin("lsu.merged=1", NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	access_line(&c, OP_LOAD, F2, MEMORY + LINE);
	cluster_run(&c);
	/* The first one's line is there in 56. */
	assert_int_equal(register_at(&c, 0, 0, F2), 56 + 45 + 11);
	cluster_end(&c);
}

static void requests_of_a_lane_alone_are_not_the_coalescers(void **state)
{
	(void)state;
	assert_int_equal(two_misses("lsu.merged=1", LINE), 17 + 45 + 11);
}

static void stores_do_not_allocate(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_STORE, 0, MEMORY);
	access_line(&c, OP_LOAD, F1, MEMORY);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 17 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l1_accesses, 2);
	assert_int_equal(cluster_statistics(&c).l1_misses, 1);
	assert_int_equal(cluster_statistics(&c).l2_requests, 2);
	cluster_end(&c);
}

static void stores_are_written_through(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	put(&c, OP_FENCE, 0, 0);
	access_line(&c, OP_STORE, 0, MEMORY);
	cluster_run(&c);
	/* The fence is over in 67, and the store, the LSU's by then, is the head in 68. */
	assert_int_equal(answered_at(&c, 0), 68 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l2_requests, 2);
	cluster_end(&c);
}

static void a_store_of_a_fragment_of_c_is_4_lines(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct instruction *instruction = access_line(&c, OP_STORE, 0, MEMORY);

	(void)state;
	/* Two words of each of four rows. */
	instruction->group = 2;
	instruction->far = 256 * WORD;
	cluster_run(&c);
	assert_int_equal(answered_at(&c, 0), 14 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l1_accesses, 4);
	assert_int_equal(cluster_statistics(&c).l2_requests, 4);
	cluster_end(&c);
}

/* The first of `lines` lines of one set, twice: misses. */
static uint64_t misses_of_a_set(unsigned int lines)
{
	struct cluster c = cluster_begin(NULL);
	uint64_t misses;

	for (unsigned int i = 0; i <= lines; i++) {
		access_word(&c, OP_LOAD, F1, MEMORY + i % lines * SET_APART);
		put(&c, OP_FENCE, 0, 0);
	}
	cluster_run(&c);
	misses = cluster_statistics(&c).l1_misses;
	cluster_end(&c);
	return misses;
}

static void a_set_has_4_lines(void **state)
{
	(void)state;
	assert_int_equal(misses_of_a_set(4), 4);
	assert_int_equal(misses_of_a_set(5), 5 + 1);
}

static void cores_have_caches_of_their_own(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	of_warp(&c, 1, 0);
	access_line(&c, OP_LOAD, F1, MEMORY);
	cluster_run(&c);
	/* Both ask in 11, the bus takes one request a cycle. */
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 45 + 11);
	assert_int_equal(register_at(&c, 1, 0, F1), 12 + 45 + 11);
	assert_int_equal(cluster_statistics(&c).l1_misses, 2);
	cluster_end(&c);
}

static void without_the_l1_every_load_asks_the_l2(void **state)
{
	struct cluster c = cluster_begin("dcache.enabled=0", NULL);
	struct instruction like = load_of(MEMORY, 8, 0);

	(void)state;
	assert_int_equal(again(&c, 67, &like), 45 + 11);
}

/* --- fences --------------------------------------------------------------------------------------- */

static void a_fence_waits_for_stores_of_its_core(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_STORE, 0, MEMORY);
	put(&c, OP_FENCE, 0, 0);
	of_warp(&c, 0, 1);
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	access_line(&c, OP_LOAD_SHARED, F2, 0);
	of_warp(&c, 1, 0);
	for (unsigned int i = 0; i < 3; i++)
		access_line(&c, OP_LOAD_SHARED, FLOAT(i), BANK);
	cluster_run(&c);
	/* The store is acknowledged in 11 + 45 + 11. The fence is the LSU's in 16 and its head in 17. */
	assert_int_equal(answered_at(&c, 0), 68 + 11);
	assert_int_equal(register_at(&c, 0, 1, F1), 12 + 11);
	/* Another warp's load behind the fence waits, too: the head in 68. Other cores do not. */
	assert_int_equal(register_at(&c, 0, 1, F2), 68 + 11);
	assert_int_equal(register_at(&c, 1, 0, FLOAT(2)), 23 + 11);
	cluster_end(&c);
}

static void a_fence_behind_nothing_takes_the_head_for_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put(&c, OP_FENCE, 0, 0);
	of_warp(&c, 0, 1);
	access_line(&c, OP_LOAD_SHARED, F1, 0);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 1, F1), 12 + 11);
	cluster_end(&c);
}

/* --- bus, L2 -------------------------------------------------------------------------------------- */

static void a_request_has_its_first_beat_after_45_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(virgo_time_bus_read(c.timing, 1, 100), 145);
	assert_int_equal(virgo_time_bus_read(c.timing, 2, 200), 246);
	assert_int_equal(virgo_time_bus_write(c.timing, 1, 300), 345);
	/* The second beat of data is there a cycle later. */
	assert_int_equal(virgo_time_bus_write(c.timing, 2, 400), 446);
	cluster_end(&c);
}

static void the_bus_takes_one_request_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(virgo_time_bus_read(c.timing, 1, 100), 145 + i);
	/* Requests in 100 to 107 are past. */
	assert_int_equal(virgo_time_bus_read(c.timing, 1, 108), 153);
	cluster_end(&c);
}

static void a_write_of_two_beats_keeps_the_requests_for_two_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	/* Beats in 100 and 101, 102 and 103; the L2 has the request with the second one. */
	assert_int_equal(virgo_time_bus_write(c.timing, 2, 100), 101 + 45);
	assert_int_equal(virgo_time_bus_write(c.timing, 2, 100), 103 + 45);
	assert_int_equal(virgo_time_bus_read(c.timing, 1, 100), 104 + 45);
	cluster_end(&c);
}

static void a_read_of_two_beats_keeps_the_answers_for_two_cycles(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(virgo_time_bus_read(c.timing, 2, 100), 146);
	/* Asked for in 101: its beats would come in 146 and 147, and do in 147 and 148. */
	assert_int_equal(virgo_time_bus_read(c.timing, 2, 100), 148);
	assert_int_equal(virgo_time_bus_write(c.timing, 1, 100), 149);
	cluster_end(&c);
}

static void the_l2_may_take_a_request_less_often(void **state)
{
	struct cluster c = cluster_begin("bus.interval=3", NULL);

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(virgo_time_bus_read(c.timing, 1, 100), 145 + 3 * i);
	assert_int_equal(cluster_statistics(&c).l2_requests, 4);
	cluster_end(&c);
}

static void the_l2_has_a_write_with_its_last_beat(void **state)
{
	struct cluster c = cluster_begin("bus.interval=3", NULL);

	(void)state;
	/* In 101, and the next request 3 later. */
	assert_int_equal(virgo_time_bus_write(c.timing, 2, 100), 101 + 45);
	assert_int_equal(virgo_time_bus_read(c.timing, 1, 100), 104 + 45);
	cluster_end(&c);
}

static void a_line_of_64_bytes_is_two_beats(void **state)
{
	struct cluster c = cluster_begin("dcache.line=64", NULL);

	(void)state;
	access_line(&c, OP_LOAD, F1, MEMORY);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, F1), 11 + 46 + 11);
	cluster_end(&c);
}

static void a_kernel_ends_when_its_stores_are_acknowledged(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_STORE, 0, MEMORY);
	cluster_run(&c);
	assert_int_equal(virgo_time_ended(c.timing, 0), 67);
	assert_int_equal(cluster_statistics(&c).kernels, 1);
	assert_int_equal(cluster_statistics(&c).kernel_cycles, 67);
	cluster_end(&c);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_load_of_shared_memory_takes_15_cycles),
		ON(a_conflict_of_two_cores_costs_the_higher_one_a_cycle),
		ON(banks_are_read_at_the_same_time),
		ON(a_read_and_a_write_of_a_bank_do_not_conflict),
		ON(four_cores_that_read_one_bank_are_granted_in_their_order),
		ON(without_conflicts_a_bank_serves_all_cores_at_once),
		ON(words_of_two_banks_are_granted_at_once),
		ON(words_of_two_banks_are_granted_each_when_its_bank_is_free),
		ON(the_unit_has_a_bank_before_a_core_has_it),
		ON(the_unit_reads_bs_lines_in_the_first_pass_that_needs_them),
		ON(a_line_of_the_dma_engine_is_written_before_that_of_a_core),
		ON(an_aligned_row_is_one_grant),
		ON(sixteen_lanes_have_eight_sub_banks),
		ON(a_transposed_store_is_one_word_and_7_through_the_port),
		ON(a_row_that_begins_at_a_wrong_word_goes_through_the_port),
		ON(two_cores_share_the_port),
		ON(the_port_reads_and_writes_at_the_same_time),
		ON(a_wider_port_takes_several_words_in_a_cycle),
		ON(without_the_port_words_go_at_once),
		ON(nothing_passes_a_head_that_waits),
		ON(the_queue_holds_as_many_as_is_said),
		ON(only_so_many_requests_are_outstanding),
		ON(lanes_in_one_line_are_one_request),
		ON(lanes_in_two_lines_are_two_requests),
		ON(a_line_that_is_there_takes_4_cycles),
		ON(merged_requests_leave_one_a_cycle),
		ON(a_merged_request_does_not_go_with_a_lane_that_is_alone),
		ON(lanes_that_are_alone_leave_together_if_their_banks_differ),
		ON(lanes_of_one_bank_leave_one_a_cycle),
		ON(a_stack_access_is_8_over_4_banks),
		ON(a_line_on_its_way_is_waited_for),
		ON(a_load_of_two_lines_is_over_with_the_later_one),
		ON(a_miss_waits_for_an_mshr_of_its_bank),
		ON(so_many_merged_requests_are_outstanding),
		ON(requests_of_a_lane_alone_are_not_the_coalescers),
		ON(stores_do_not_allocate),
		ON(stores_are_written_through),
		ON(a_store_of_a_fragment_of_c_is_4_lines),
		ON(a_set_has_4_lines),
		ON(cores_have_caches_of_their_own),
		ON(without_the_l1_every_load_asks_the_l2),
		ON(a_fence_waits_for_stores_of_its_core),
		ON(a_fence_behind_nothing_takes_the_head_for_a_cycle),
		ON(a_request_has_its_first_beat_after_45_cycles),
		ON(the_bus_takes_one_request_a_cycle),
		ON(a_write_of_two_beats_keeps_the_requests_for_two_cycles),
		ON(a_read_of_two_beats_keeps_the_answers_for_two_cycles),
		ON(the_l2_may_take_a_request_less_often),
		ON(the_l2_has_a_write_with_its_last_beat),
		ON(a_line_of_64_bytes_is_two_beats),
		ON(a_kernel_ends_when_its_stores_are_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
