/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Threads of a program at Virgo's shared memory, in cycles counted by hand. A load that is granted at once takes 15 cycles, as a
 * warp's does from issue on; a store holds its thread for one. A warp whose first instruction is a load asks in cycle 11.
 */
#include "tests/lib/virgo_cycles.h"

#define LOAD_CYCLES 15u

/* When it is over; NEVER: it waits. */
static uint64_t ask(struct cluster *c, uint64_t owner, uint32_t address, uint32_t size, bool is_store, uint64_t now)
{
	const struct virgo_time_shared_access access = {
		.owner = owner, .address = address, .size = size, .is_store = is_store,
	};
	uint64_t over = 0;

	virgo_time_advance(c->timing, now);
	return virgo_time_shared_access(c->timing, &access, now, &over) ? over : NEVER;
}

static uint64_t load(struct cluster *c, uint64_t owner, uint32_t address, uint64_t now)
{
	return ask(c, owner, address, 4, false, now);
}

static uint64_t store(struct cluster *c, uint64_t owner, uint32_t address, uint64_t now)
{
	return ask(c, owner, address, 4, true, now);
}

/* When the thread's access, which waited, is over. */
static void assert_over(struct cluster *c, uint64_t owner, uint64_t expected)
{
	uint64_t whose, over;

	while (!virgo_time_take_shared(c->timing, &whose, &over)) {
		assert_true(virgo_time_next(c->timing) < expected);
		virgo_time_advance_until(c->timing, virgo_time_next(c->timing));
	}
	assert_int_equal(whose, owner);
	assert_int_equal(over, expected);
}

static void a_load_takes_15_cycles_and_a_store_one(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(load(&c, 1, 36, 100), 100 + LOAD_CYCLES);
	assert_int_equal(store(&c, 1, 36, 115), 115 + 1);
	assert_int_equal(cluster_statistics(&c).shared_reads, 1);
	assert_int_equal(cluster_statistics(&c).shared_writes, 1);
	assert_int_equal(cluster_statistics(&c).shared_unaligned, 0);
	assert_int_equal(virgo_time_next(c.timing), NEVER);
	cluster_end(&c);
}

static void two_threads_share_a_bank_in_the_order_in_which_they_come(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(load(&c, 1, BANK, 7), 7 + LOAD_CYCLES);
	assert_int_equal(load(&c, 2, 2 * BANK - 4, 7), NEVER);
	assert_int_equal(load(&c, 3, BANK + 32, 7), NEVER);
	assert_over(&c, 2, 8 + LOAD_CYCLES);
	assert_over(&c, 3, 9 + LOAD_CYCLES);
	/* Each was refused in 7, and the last one in 8, too. */
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 3);
	assert_int_equal(cluster_statistics(&c).bank_refused[1], 3);
	assert_int_equal(cluster_statistics(&c).bank_reads[1], 3);
	assert_int_equal(cluster_statistics(&c).bank_reads[0], 0);
	assert_int_equal(cluster_statistics(&c).thread_loads, 3);
	assert_int_equal(cluster_statistics(&c).thread_stall_bank, 1 + 2);
	cluster_end(&c);
}

static void a_store_that_is_refused_holds_its_thread(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(store(&c, 1, 0, 0), 1);
	assert_int_equal(store(&c, 2, 4, 0), NEVER);
	assert_over(&c, 2, 1 + 1);
	assert_int_equal(cluster_statistics(&c).bank_writes[0], 2);
	assert_int_equal(cluster_statistics(&c).thread_stores, 2);
	cluster_end(&c);
}

static void other_banks_and_the_other_direction_are_free(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(load(&c, 1, 0, 3), 3 + LOAD_CYCLES);
	assert_int_equal(load(&c, 2, BANK, 3), 3 + LOAD_CYCLES);
	assert_int_equal(store(&c, 3, 0, 3), 3 + 1);
	assert_int_equal(cluster_statistics(&c).bank_conflicts, 0);
	cluster_end(&c);
}

static void eight_bytes_are_two_words_of_one_request(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	assert_int_equal(ask(&c, 1, 64, 8, false, 0), LOAD_CYCLES);
	assert_int_equal(cluster_statistics(&c).shared_reads, 2);
	/* In two banks: the second one was free, and the first one is a cycle later. */
	assert_int_equal(load(&c, 1, 0, 50), 50 + LOAD_CYCLES);
	assert_int_equal(ask(&c, 2, BANK - 4, 8, false, 50), NEVER);
	assert_int_equal(load(&c, 3, BANK, 50), NEVER);
	assert_over(&c, 2, 51 + LOAD_CYCLES);
	cluster_end(&c);
}

static void a_warp_of_a_kernel_comes_first(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	access_line(&c, OP_LOAD_SHARED, FLOAT(1), 0);
	cluster_start(&c, 0);
	assert_int_equal(load(&c, 9, 4, 11), NEVER);
	assert_over(&c, 9, 12 + LOAD_CYCLES);
	cluster_finish(&c);
	assert_int_equal(register_at(&c, 0, 0, FLOAT(1)), 11 + 11);
	cluster_end(&c);
}

/* The array of the unit takes a line of A's bank in each cycle, from its fill on. */
static void an_array_at_work_leaves_its_banks_to_nobody_else(void **state)
{
	struct virgo_time_command multiply = {
		.count = 1,
		.operation = { { .engine = VIRGO_ENGINE_EXECUTE, .passes = 8, .rows = 8, .a_base = 0, .b_base = BANK,
				 .a_bytes = 256, .b_bytes = 256, .pass_reuse = 8 } },
	};
	struct cluster c = cluster_begin(NULL);
	uint64_t whose, over, begun;

	(void)state;
	virgo_time_put(c.timing, 0, &multiply, 0);
	while (!cluster_statistics(&c).matrix_busy)
		virgo_time_advance(c.timing, c.timing->now + 1);
	begun = c.timing->now;
	assert_int_equal(load(&c, 1, 128, begun), NEVER);
	assert_int_equal(load(&c, 2, 2 * BANK, begun), begun + LOAD_CYCLES);
	while (!virgo_time_take_shared(c.timing, &whose, &over))
		virgo_time_advance_until(c.timing, virgo_time_next(c.timing));
	/* Of 64 lines the first was taken in `begun`. */
	assert_int_equal(over, begun + 64 + LOAD_CYCLES);
	assert_int_equal(cluster_statistics(&c).matrix_stalls, 0);
	cluster_end(&c);
}

static void without_conflicts_nobody_waits(void **state)
{
	struct cluster c = cluster_begin("shared.conflicts=0", NULL);

	(void)state;
	assert_int_equal(load(&c, 1, 0, 0), LOAD_CYCLES);
	assert_int_equal(load(&c, 2, 0, 0), LOAD_CYCLES);
	cluster_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_takes_15_cycles_and_a_store_one),
		cmocka_unit_test(two_threads_share_a_bank_in_the_order_in_which_they_come),
		cmocka_unit_test(a_store_that_is_refused_holds_its_thread),
		cmocka_unit_test(other_banks_and_the_other_direction_are_free),
		cmocka_unit_test(eight_bytes_are_two_words_of_one_request),
		cmocka_unit_test(a_warp_of_a_kernel_comes_first),
		cmocka_unit_test(an_array_at_work_leaves_its_banks_to_nobody_else),
		cmocka_unit_test(without_conflicts_nobody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
