/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Matrix units of Virgo in cycles, counted by hand. Commands come in cycle 0, and 18 later the first row goes
 * to the array, the first request to the bus, or the first row out of the accumulator. The array takes in a
 * row a cycle, and is busy for 28 cycles behind the last one. A request of 64 bytes is two beats: the bus has
 * the first one 45 cycles after it, and shared memory the second one, 46 after it, in the next cycle. 16
 * requests are outstanding at once.
 */
#include "tests/lib/virgo_cycles.h"

#define R1 1u

static struct virgo_time_operation load(uint32_t requests, uint32_t to)
{
	return (struct virgo_time_operation){ .engine = VIRGO_ENGINE_LOAD,
					      .requests = requests,
					      .request_beats = 2,
					      .writes = { to, to + requests * 64 } };
}

/* Passes of 8 rows; A in bank 0, B in bank 2. */
static struct virgo_time_operation multiply(uint32_t passes, uint32_t reuse)
{
	return (struct virgo_time_operation){ .engine = VIRGO_ENGINE_EXECUTE,
					      .passes = passes,
					      .rows = 8,
					      .pass_reuse = reuse,
					      .a_base = 0,
					      .a_bytes = BANK,
					      .b_base = 2 * BANK,
					      .b_bytes = BANK };
}

/* The rows of an accumulator of 8 words to shared memory, or by requests of 64 bytes. */
static struct virgo_time_operation store(uint32_t rows, uint32_t requests, uint32_t to)
{
	return (struct virgo_time_operation){ .engine = VIRGO_ENGINE_STORE,
					      .moved_rows = rows,
					      .requests = requests,
					      .request_beats = requests ? 2 : 0,
					      .writes = { to, requests ? to : to + rows * LINE } };
}

static void put_at(struct cluster *c, unsigned int unit, struct virgo_time_operation operation, bool is_loop,
		   uint64_t now)
{
	struct virgo_time_command command = { .count = 1, .is_loop = is_loop, .operation = { operation } };

	virgo_time_put(c->timing, unit, &command, now);
}

static void command(struct cluster *c, struct virgo_time_operation operation)
{
	put_at(c, 0, operation, false, 0);
}

static void loop(struct cluster *c, struct virgo_time_operation operation)
{
	put_at(c, 0, operation, true, 0);
}

/* The cycle in which no more than `left` commands are there. */
static uint64_t over_in(struct cluster *c, unsigned int unit, unsigned int left)
{
	uint64_t cycle = c->timing->now;

	while (virgo_time_commands(c->timing, unit) > left) {
		assert_int_not_equal(virgo_time_next(c->timing), NEVER);
		cycle = virgo_time_advance_until(c->timing, 100000);
	}
	return cycle;
}

static void expect(struct cluster *c, uint64_t cycle)
{
	assert_int_equal(over_in(c, 0, 0), cycle);
	cluster_end(c);
}

/* --- DMA ------------------------------------------------------------------------------------------ */

static uint64_t load_of(const char *change, const char *other, uint32_t requests)
{
	struct cluster c = cluster_begin(change, other, NULL);
	struct virgo_time_statistics s;
	uint64_t cycle;

	command(&c, load(requests, 0));
	cycle = over_in(&c, 0, 0);
	s = cluster_statistics(&c);
	assert_int_equal(s.dma_read_bytes, requests * 64);
	assert_int_equal(s.shared_writes, requests * 16);
	assert_int_equal(s.l2_requests, requests);
	assert_in_range(s.dma_outstanding_most, 1, c.timing->parameters.dma_outstanding);
	cluster_end(&c);
	return cycle;
}

static void a_load_of_one_request_takes_its_latency(void **state)
{
	(void)state;
	/* Asked for in 18, the beats in 63 and 64, written in 65. */
	assert_int_equal(load_of(NULL, NULL, 1), 65);
}

static void requests_of_a_load_share_the_beats_of_the_bus(void **state)
{
	(void)state;
	/* Requests in 18 to 33; 32 beats from 63 on, the last in 94. */
	assert_int_equal(load_of(NULL, NULL, 16), 63 + 32);
}

static void a_17th_request_waits_for_the_first(void **state)
{
	(void)state;
	/* The first is back in 64; 46 cycles more to the second beat. */
	assert_int_equal(load_of(NULL, NULL, 17), 64 + 46 + 1);
}

static void a_load_of_a_step_is_bound_by_its_16_requests(void **state)
{
	(void)state;
	/*
	 * Each place is taken anew every 46 cycles, 32 times; the 16th place's first request is back in 94.
	 */
	assert_int_equal(load_of(NULL, NULL, 512), 94 + 31 * 46 + 1);
}

static void a_load_with_more_requests_is_bound_by_the_bus(void **state)
{
	(void)state;
	/* 32 bytes a cycle: 1024 beats from 63 on. */
	assert_int_equal(load_of("dma.outstanding=64", NULL, 512), 63 + 1024);
	/* And with a latency that 16 requests of two beats cover, from 18 + 30 on. */
	assert_int_equal(load_of("bus.latency=30", NULL, 512), 18 + 30 + 1024);
}

static void outstanding_requests_are_counted(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, load(16, 0));
	over_in(&c, 0, 0);
	/* Request i goes in 18 + i and is back in 64 + 2 i. */
	assert_int_equal(cluster_statistics(&c).dma_outstanding, 16 * 46 + 15 * 16 / 2);
	assert_int_equal(cluster_statistics(&c).dma_outstanding_most, 16);
	cluster_end(&c);
}

static void a_store_of_one_request_takes_rows_and_latency(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, store(2, 1, 0));
	/* Rows in 18 and 19, beats in 19 and 20, the answer 45 later. */
	assert_int_equal(over_in(&c, 0, 0), 20 + 45);
	assert_int_equal(cluster_statistics(&c).accumulator_rows, 2);
	assert_int_equal(cluster_statistics(&c).dma_written_bytes, 64);
	cluster_end(&c);
}

static void a_store_of_c_is_bound_by_its_16_requests(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, store(512, 256, 0));
	/*
	 * Request i of the first 16 goes in 19 + 2 i, two rows each, and is back 46 later. So is each that
	 * takes its place, 16 times in all: the last one in 19 + 30 + 16 * 46.
	 */
	assert_int_equal(over_in(&c, 0, 0), 19 + 30 + 16 * 46);
	assert_int_equal(cluster_statistics(&c).accumulator_rows, 512);
	assert_int_equal(cluster_statistics(&c).dma_written_bytes, 16384);
	assert_int_equal(cluster_statistics(&c).l2_requests, 256);
	cluster_end(&c);
}

static void loads_and_stores_share_the_requests(void **state)
{
	struct cluster c = cluster_begin("dma.outstanding=1", NULL);

	(void)state;
	command(&c, load(1, 0));
	command(&c, store(2, 1, 0));
	/* The load's goes in 18 and is back in 64, when the store's goes: two beats, and 45. */
	expect(&c, 64 + 1 + 45);
}

/* --- the accumulator to shared memory ------------------------------------------------------------- */

static void the_accumulator_moves_a_row_a_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, store(512, 0, 0));
	/* Rows in 18 to 529; the last one is in its sub-banks in 530, and that is over in 531. */
	assert_int_equal(over_in(&c, 0, 0), 18 + 512 + 1);
	assert_int_equal(cluster_statistics(&c).accumulator_rows, 512);
	assert_int_equal(cluster_statistics(&c).shared_writes, 4096);
	cluster_end(&c);
}

static void a_slower_accumulator_moves_a_row_every_few_cycles(void **state)
{
	struct cluster c = cluster_begin("matrix.move=4", NULL);

	(void)state;
	command(&c, store(512, 0, 0));
	expect(&c, 18 + 4 * 512 + 1);
}

static void a_row_waits_for_a_bank_that_the_dma_engine_writes(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, load(16, BANK));
	command(&c, store(64, 0, BANK + 1024));
	/* Lines of the load come in 63 to 94. 45 rows go before that, 19 from 95 on. */
	assert_int_equal(over_in(&c, 0, 0), 95 + 19 + 1);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 32);
	cluster_end(&c);
}

/* --- the array ------------------------------------------------------------------------------------ */

static void an_array_takes_18_to_fill_and_28_to_drain(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, multiply(1, 1));
	expect(&c, 18 + 8 + 28);
}

static void a_product_of_64_cubed_is_4096_lines(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_statistics s;

	(void)state;
	/* 8 x 8 x 8 blocks of 8 rows; B's block stays for 8 of A. */
	command(&c, multiply(512, 8));
	assert_int_equal(over_in(&c, 0, 0), 18 + 4096 + 28);
	s = cluster_statistics(&c);
	assert_int_equal(s.matrix_busy, 4096);
	assert_int_equal(s.matrix_stalls, 0);
	assert_int_equal(s.matrix_macs, 64 * 64 * 64);
	/* Lines of 8 words: 4096 of A, 512 of B. */
	assert_int_equal(s.shared_reads, (4096 + 512) * 8);
	assert_int_equal(s.accumulator_rows, 2 * 4096);
	cluster_end(&c);
}

static void an_array_is_no_further_than_the_cycle_that_is_asked_for(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, multiply(512, 8));
	for (unsigned int cycle = 1; cycle < 100; cycle++) {
		virgo_time_advance(c.timing, cycle);
		assert_int_equal(cluster_statistics(&c).matrix_busy, cycle < 18 ? 0 : cycle - 17);
	}
	cluster_end(&c);
}

static void a_and_b_in_one_bank_take_turns(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(4, 2);

	(void)state;
	operation.b_base = 0;
	command(&c, operation);
	/* 32 lines of A; in the first and third pass 8 of B beside them. */
	assert_int_equal(over_in(&c, 0, 0), 18 + 32 + 16 + 28);
	assert_int_equal(cluster_statistics(&c).matrix_busy, 32);
	assert_int_equal(cluster_statistics(&c).matrix_stalls, 16);
	cluster_end(&c);
}

static void rows_of_a_lie_one_behind_the_other(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(2, 2);

	(void)state;
	/* The first pass reads A in bank 1, beside B in bank 2; the second one A in bank 2, but no B. */
	operation.a_base = 2 * BANK - 8 * LINE;
	command(&c, operation);
	assert_int_equal(over_in(&c, 0, 0), 18 + 16 + 28);
	/* If B is loaded for each pass, they meet in the second one. */
	operation.pass_reuse = 1;
	put_at(&c, 0, operation, false, 1000);
	assert_int_equal(over_in(&c, 0, 0), 1000 + 18 + 16 + 8 + 28);
	cluster_end(&c);
}

static void rows_of_a_are_read_again(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(2, 1);

	(void)state;
	/* Both passes read the same eight lines. */
	operation.a_base = 2 * BANK - 8 * LINE;
	operation.a_bytes = 8 * LINE;
	command(&c, operation);
	expect(&c, 18 + 16 + 28);
}

static void a_core_that_waits_does_not_hold_up_the_array(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, multiply(8, 8));
	access_line(&c, OP_LOAD_SHARED, FLOAT(1), 0);
	cluster_start(&c, 20);
	/* The core's head in 31 waits for A's 64 lines, 18 to 81. */
	assert_int_equal(over_in(&c, 0, 0), 18 + 64 + 28);
	assert_int_equal(register_at(&c, 0, 0, FLOAT(1)), 82 + 11);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 82 - 31);
	cluster_end(&c);
}

static void the_array_meets_a_core_that_was_at_a_barrier(void **state)
{
	struct cluster c = cluster_begin("cluster.cores=1", NULL);

	(void)state;
	command(&c, multiply(512, 512));
	put(&c, OP_BARRIER, 0, 0);
	access_line(&c, OP_LOAD_SHARED, FLOAT(1), 0);
	/* The core arrives in 30, when nobody else has anything to do, and its load is the head in 46. */
	cluster_start(&c, 20);
	cluster_finish(&c);
	assert_int_equal(register_at(&c, 0, 0, FLOAT(1)), 18 + 4096 + 11);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 18 + 4096 - 46);
	cluster_end(&c);
}

static void two_units_that_share_a_bank_lose(void **state)
{
	struct cluster c = cluster_begin("matrix.units=2", "matrix.tile_m=32", "matrix.tile_n=32", NULL);

	(void)state;
	put_at(&c, 0, multiply(1, 1), false, 0);
	put_at(&c, 1, multiply(1, 1), false, 0);
	assert_int_equal(over_in(&c, 0, 0), 18 + 8 + 28);
	/* Unit 0 has the bank first. */
	assert_int_equal(over_in(&c, 1, 0), 18 + 8 + 8 + 28);
	assert_int_equal(cluster_statistics(&c).matrix_stalls, 8);
	/* 8 x 8 a row in the one, 4 x 4 in the other. */
	assert_int_equal(cluster_statistics(&c).matrix_macs, 8 * 64 + 8 * 16);
	cluster_end(&c);
}

/* --- engines, the unroller ------------------------------------------------------------------------ */

static void a_load_and_a_product_overlap(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, multiply(512, 8));
	assert_int_equal(over_in(&c, 0, 1), 1521);
	expect(&c, 18 + 4096 + 28);
}

static void a_product_waits_for_what_a_load_writes(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(1, 1);

	(void)state;
	operation.reads = (struct virgo_time_range){ 16 * 64 - 1, 16 * 64 + 100 };
	command(&c, load(16, 0));
	command(&c, operation);
	/* The load is there in 95. */
	expect(&c, 95 + 8 + 28);
}

static void a_product_does_not_wait_for_what_a_load_does_not_write(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(1, 1);

	(void)state;
	operation.reads = (struct virgo_time_range){ 16 * 64, 16 * 64 + 100 };
	command(&c, load(16, 0));
	command(&c, operation);
	/* The product is over in 54, and waits for the load before it only as commands are over in order. */
	over_in(&c, 0, 0);
	assert_int_equal(c.timing->now, 95);
	assert_int_equal(cluster_statistics(&c).matrix_busy, 8);
	cluster_end(&c);
}

static void a_load_waits_until_a_product_has_read(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation operation = multiply(1, 1);

	(void)state;
	operation.reads = (struct virgo_time_range){ 0, 256 };
	command(&c, operation);
	command(&c, load(1, 128));
	/* The product is over in 54, when the request goes. */
	expect(&c, 54 + 46 + 1);
}

static void a_store_waits_for_rows_that_a_product_writes(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation product = multiply(1, 1), move = store(8, 0, BANK);

	(void)state;
	product.writes_rows = (struct virgo_time_range){ 0, 8 };
	move.reads_rows = (struct virgo_time_range){ 7, 15 };
	command(&c, product);
	command(&c, move);
	expect(&c, 54 + 8 + 1);
}

static void a_store_does_not_wait_for_rows_that_are_only_read(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation product = multiply(8, 8), move = store(8, 0, BANK);

	(void)state;
	product.reads_rows = (struct virgo_time_range){ 0, 8 };
	move.reads_rows = (struct virgo_time_range){ 0, 8 };
	command(&c, product);
	command(&c, move);
	/* Rows in 18 to 25. */
	virgo_time_advance(c.timing, 27);
	assert_int_equal(cluster_statistics(&c).shared_writes, 64);
	cluster_end(&c);
}

static void a_product_waits_until_a_store_has_read_the_rows(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation product = multiply(1, 1), move = store(8, 0, BANK);

	(void)state;
	move.reads_rows = (struct virgo_time_range){ 0, 8 };
	product.writes_rows = (struct virgo_time_range){ 0, 8 };
	command(&c, move);
	command(&c, product);
	/* The rows are there in 18 + 8 + 1. */
	expect(&c, 27 + 8 + 28);
}

static void a_load_of_the_accumulator_waits_for_a_product_that_writes_it(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_operation product = multiply(1, 1), to_accumulator = load(1, 0);

	(void)state;
	product.writes_rows = to_accumulator.writes_rows = (struct virgo_time_range){ 0, 8 };
	to_accumulator.writes = (struct virgo_time_range){ 0, 0 };
	command(&c, product);
	command(&c, to_accumulator);
	/* The product is over in 54. */
	expect(&c, 54 + 46 + 1);
}

static void a_load_waits_for_a_store_to_the_same_place(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, store(8, 0, 0));
	command(&c, load(1, 0));
	expect(&c, 27 + 46 + 1);
}

static void operations_of_a_command_wait_for_each_other(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_command all = { .count = 3,
					  .is_loop = true,
					  .operation = { load(1, 0), multiply(1, 1), store(8, 0, BANK) } };

	(void)state;
	all.operation[1].reads = all.operation[0].writes;
	all.operation[1].writes_rows = all.operation[2].reads_rows = (struct virgo_time_range){ 0, 8 };
	virgo_time_put(c.timing, 0, &all, 0);
	/* Load, array and drain, rows. */
	expect(&c, 65 + 8 + 28 + 8 + 1);
}

static void a_third_loop_waits_until_the_unroller_has_room(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, multiply(1, 1));
	loop(&c, store(8, 0, 0));
	assert_int_equal(virgo_time_loops(c.timing, 0), 3);
	/* The first one is over in 1521, and with it the second: the store, whose engine was free, begins. */
	assert_int_equal(over_in(&c, 0, 1), 1521);
	assert_int_equal(cluster_statistics(&c).accumulator_rows, 2 * 8 + 1);
	assert_int_equal(virgo_time_loops(c.timing, 0), 1);
	expect(&c, 1521 + 8 + 1);
}

static void two_loops_are_at_work_at_once(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, store(8, 0, 0));
	expect(&c, 1521);
}

static void the_unroller_may_have_room_for_more(void **state)
{
	struct cluster c = cluster_begin("matrix.loops=3", NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, multiply(1, 1));
	loop(&c, store(8, 0, 0));
	expect(&c, 1521);
}

static void a_single_command_needs_no_room_in_the_unroller(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, multiply(1, 1));
	command(&c, store(8, 0, 0));
	expect(&c, 1521);
}

static void a_single_command_is_no_loop(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, load(1, BANK));
	loop(&c, multiply(512, 8));
	assert_int_equal(over_in(&c, 0, 1), 65);
	assert_int_equal(virgo_time_loops(c.timing, 0), 1);
	cluster_end(&c);
}

static void commands_are_over_in_order(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, load(1, BANK));
	command(&c, multiply(1, 1));
	/* The product ends in 54, the load in 65. */
	virgo_time_advance(c.timing, 64);
	assert_int_equal(virgo_time_commands(c.timing, 0), 2);
	virgo_time_advance(c.timing, 65);
	assert_int_equal(virgo_time_commands(c.timing, 0), 0);
	cluster_end(&c);
}

static void a_command_takes_18_from_when_it_comes(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	put_at(&c, 0, multiply(1, 1), false, 0);
	put_at(&c, 0, load(1, BANK), false, 30);
	expect(&c, 30 + 18 + 46 + 1);
}

static void a_command_that_only_sets_something_is_over_in_the_next_cycle(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_command nothing = { .count = 0 };

	(void)state;
	virgo_time_put(c.timing, 0, &nothing, 5);
	virgo_time_advance(c.timing, 5);
	assert_int_equal(virgo_time_commands(c.timing, 0), 1);
	assert_int_equal(over_in(&c, 0, 0), 6);
	/* So it is, too, if the unit has something else to do in the cycle in which it comes. */
	put_at(&c, 0, multiply(1, 1), false, 100);
	virgo_time_advance(c.timing, 153);
	virgo_time_put(c.timing, 0, &nothing, 154);
	assert_int_equal(over_in(&c, 0, 1), 154);
	expect(&c, 155);
}

static void a_queue_has_room_for_64_commands(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		assert_true(virgo_time_has_room(c.timing, 0));
		command(&c, load(1, i * 64));
	}
	assert_false(virgo_time_has_room(c.timing, 0));
	over_in(&c, 0, 63);
	assert_true(virgo_time_has_room(c.timing, 0));
	over_in(&c, 0, 0);
	/* Each begins when the one before it is over: 47 cycles from 18 on. */
	assert_int_equal(c.timing->now, 18 + 64 * 47);
	cluster_end(&c);
}

static void dropped_commands_are_forgotten(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	loop(&c, load(512, BANK));
	loop(&c, multiply(512, 8));
	loop(&c, multiply(512, 8));
	virgo_time_advance(c.timing, 100);
	virgo_time_drop(c.timing, 0);
	assert_int_equal(virgo_time_commands(c.timing, 0), 0);
	assert_int_equal(virgo_time_loops(c.timing, 0), 0);
	assert_int_equal(virgo_time_next(c.timing), NEVER);
	virgo_time_advance(c.timing, 1000);
	/* The unroller has room for both. */
	put_at(&c, 0, multiply(1, 1), true, 1000);
	put_at(&c, 0, load(1, BANK), true, 1000);
	expect(&c, 1000 + 65);
}

static void a_wait_ends_with_the_command_that_is_over(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	command(&c, multiply(1, 1));
	put_at(&c, 0, load(1, BANK), false, 0);
	assert_int_equal(virgo_time_advance_until(c.timing, 1000000), 54);
	assert_int_equal(virgo_time_commands(c.timing, 0), 1);
	assert_int_equal(virgo_time_advance_until(c.timing, 60), 54);
	assert_int_equal(virgo_time_advance_until(c.timing, 1000000), 65);
	cluster_end(&c);
}

/* --- the kernels' requests ------------------------------------------------------------------------ */

static uint64_t request(enum request request)
{
	struct cluster c = cluster_begin(NULL);
	uint64_t cycle;

	virgo_time_code_command(c.code, request, ALWAYS);
	cluster_run(&c);
	cycle = virgo_time_ended(c.timing, 0);
	cluster_end(&c);
	return cycle;
}

static void a_kernel_loads_multiplies_and_stores_tiles_of_64(void **state)
{
	(void)state;
	/* The command is the unit's in 10. 32 KB, 4096 lines, 16 KB, 512 rows. */
	assert_int_equal(request(REQUEST_LOAD), 10 + 1521);
	assert_int_equal(request(REQUEST_MULTIPLY), 10 + 4142);
	assert_int_equal(request(REQUEST_STORE), 10 + 785);
	assert_int_equal(request(REQUEST_MOVE), 10 + 531);
}

static uint64_t multiply_with(const char *dim)
{
	struct cluster c = cluster_begin(dim, NULL);
	uint64_t cycles;

	virgo_time_code_command(c.code, REQUEST_MULTIPLY, ALWAYS);
	cluster_run(&c);
	cycles = virgo_time_ended(c.timing, 0) - (10 + 18 + 28);
	cluster_end(&c);
	return cycles;
}

static void a_product_takes_what_the_array_makes_of_it(void **state)
{
	(void)state;
	/*
	 * Blocks of dim^3 take dim cycles each; a row of 16 or 32 words is two or four lines of shared
	 * memory.
	 */
	assert_int_equal(multiply_with("matrix.dim=4"), 16 * 16 * 16 * 4);
	assert_int_equal(multiply_with("matrix.dim=8"), 8 * 8 * 8 * 8);
	assert_int_equal(multiply_with("matrix.dim=16"), 4 * 4 * 4 * 16 * 2);
	assert_int_equal(multiply_with("matrix.dim=32"), 2 * 2 * 2 * 32 * 4);
}

/* --- the operand-decoupled tensor core ------------------------------------------------------------ */

static uint64_t decoupled(unsigned int operations)
{
	struct cluster c = cluster_begin("cluster.design=4", NULL);
	uint64_t cycle;

	for (unsigned int i = 0; i < operations; i++)
		put(&c, OP_DECOUPLED, 0, 0)->address = i * 1024;
	put(&c, OP_DECOUPLED_WAIT, 0, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	assert_int_equal(cluster_statistics(&c).tensor_macs, operations * 16 * 16 * 16);
	/* 32 lines of A and of B. */
	assert_int_equal(cluster_statistics(&c).shared_reads, operations * 64 * 8);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 0);
	cycle = register_at(&c, 0, 0, R1);
	cluster_end(&c);
	return cycle;
}

static void an_operation_of_a_decoupled_core_takes_128_cycles(void **state)
{
	(void)state;
	/*
	 * The unit has it in 10, the first lines are read in 11, and 4 cycles later the first products are
	 * made. The warp waits, its wait resolved 4 later; then fetch to register 6 + 9.
	 */
	for (unsigned int operations = 1; operations < 7; operations++)
		assert_int_equal(decoupled(operations), 15 + 128 * operations + 4 + 6 + 9);
}

static void a_warp_goes_on_beside_its_decoupled_core(void **state)
{
	struct cluster c = cluster_begin("cluster.design=4", NULL);

	(void)state;
	put(&c, OP_DECOUPLED, 0, 0);
	alu(&c, R1, 0);
	cluster_run(&c);
	assert_int_equal(register_at(&c, 0, 0, R1), 7 + 6 + 9);
	cluster_end(&c);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_load_of_one_request_takes_its_latency),
		ON(requests_of_a_load_share_the_beats_of_the_bus),
		ON(a_17th_request_waits_for_the_first),
		ON(a_load_of_a_step_is_bound_by_its_16_requests),
		ON(a_load_with_more_requests_is_bound_by_the_bus),
		ON(outstanding_requests_are_counted),
		ON(a_store_of_one_request_takes_rows_and_latency),
		ON(a_store_of_c_is_bound_by_its_16_requests),
		ON(loads_and_stores_share_the_requests),
		ON(the_accumulator_moves_a_row_a_cycle),
		ON(a_slower_accumulator_moves_a_row_every_few_cycles),
		ON(a_row_waits_for_a_bank_that_the_dma_engine_writes),
		ON(an_array_takes_18_to_fill_and_28_to_drain),
		ON(a_product_of_64_cubed_is_4096_lines),
		ON(an_array_is_no_further_than_the_cycle_that_is_asked_for),
		ON(a_and_b_in_one_bank_take_turns),
		ON(rows_of_a_lie_one_behind_the_other),
		ON(rows_of_a_are_read_again),
		ON(a_core_that_waits_does_not_hold_up_the_array),
		ON(the_array_meets_a_core_that_was_at_a_barrier),
		ON(two_units_that_share_a_bank_lose),
		ON(a_load_and_a_product_overlap),
		ON(a_product_waits_for_what_a_load_writes),
		ON(a_product_does_not_wait_for_what_a_load_does_not_write),
		ON(a_load_waits_until_a_product_has_read),
		ON(a_store_waits_for_rows_that_a_product_writes),
		ON(a_store_does_not_wait_for_rows_that_are_only_read),
		ON(a_product_waits_until_a_store_has_read_the_rows),
		ON(a_load_of_the_accumulator_waits_for_a_product_that_writes_it),
		ON(a_load_waits_for_a_store_to_the_same_place),
		ON(operations_of_a_command_wait_for_each_other),
		ON(a_third_loop_waits_until_the_unroller_has_room),
		ON(two_loops_are_at_work_at_once),
		ON(the_unroller_may_have_room_for_more),
		ON(a_single_command_needs_no_room_in_the_unroller),
		ON(a_single_command_is_no_loop),
		ON(commands_are_over_in_order),
		ON(a_command_takes_18_from_when_it_comes),
		ON(a_command_that_only_sets_something_is_over_in_the_next_cycle),
		ON(a_queue_has_room_for_64_commands),
		ON(dropped_commands_are_forgotten),
		ON(a_wait_ends_with_the_command_that_is_over),
		ON(a_kernel_loads_multiplies_and_stores_tiles_of_64),
		ON(a_product_takes_what_the_array_makes_of_it),
		ON(an_operation_of_a_decoupled_core_takes_128_cycles),
		ON(a_warp_goes_on_beside_its_decoupled_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
