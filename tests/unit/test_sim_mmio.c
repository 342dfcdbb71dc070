/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's accesses to a device, counted by hand. The round trip is 26 cycles: with a pipe
 * of 3 for a load and 4 for a store in the device, 11 there and 12 or 11 back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

#define LOAD_PIPE 3
#define STORE_PIPE 4

/* An access that the device answers after `pipe` cycles. When the answer is back. */
static uint64_t access_device(struct soc *soc, bool is_store, uint64_t pipe)
{
	uint64_t issued;

	assert_true(soc_mmio_may_begin(soc, 0, is_store));
	issued = soc_mmio_begin(soc, 0, is_store);
	return soc_mmio_end(soc, 0, 0, is_store, issued, soc_mmio_arrival(soc, 0, 0, issued) + pipe);
}

static void test_a_store_holds_the_core_until_its_acknowledgement_is_back(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_execute(soc, 0, 100);
	assert_int_equal(access_device(soc, true, STORE_PIPE), 126);
	assert_int_equal(soc_now(soc, 0), 126);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stores, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).stores, 0);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 0);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stalls, 25);
	soc_destroy(soc);
}

static void test_a_load_takes_the_round_trip(void **state)
{
	struct soc *soc = soc_of_preset("maple-sim");

	(void)state;
	assert_int_equal(access_device(soc, false, LOAD_PIPE), 26);
	assert_int_equal(soc_now(soc, 0), 26);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_loads, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, 26);
	soc_destroy(soc);
}

static void test_instructions_go_on_behind_a_load_with_stall_on_use(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	access_device(soc, false, LOAD_PIPE);
	soc_execute(soc, 0, 20);
	assert_int_equal(soc_now(soc, 0), 26);
	soc_execute(soc, 0, 20);
	assert_int_equal(soc_now(soc, 0), 41);
	soc_destroy(soc);
}

static void test_a_load_that_the_device_holds_counts_as_waiting_for_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	access_device(soc, false, 500 + LOAD_PIPE);
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stalls, 525);
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, 0);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, 526 + 332);
	soc_destroy(soc);
}

static void test_an_access_waits_for_the_load_before_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_mmio_begin(soc, 0, true), 332);
	soc_destroy(soc);
}

/* A core whose MMIO stores wait in a buffer, as neither preset's do. */
static struct soc *with_buffered_stores(void)
{
	struct sim_parameters parameters = soc_preset("maple-sim");

	parameters.core_mmio_acknowledged = 0;
	return soc_make(&parameters);
}

static void test_a_buffered_store_lets_the_core_go_on(void **state)
{
	struct soc *soc = with_buffered_stores();

	(void)state;
	assert_int_equal(soc_mmio_begin(soc, 0, true), 0);
	assert_int_equal(soc_now(soc, 0), 1);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stalls, 0);
	soc_destroy(soc);
}

static void test_buffered_stores_leave_one_a_round_trip(void **state)
{
	struct soc *soc = with_buffered_stores();

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(soc_mmio_begin(soc, 0, true), i);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t arrival = soc_mmio_arrival(soc, 0, 0, i);

		assert_int_equal(arrival, i * 26 + 11);
		assert_int_equal(soc_mmio_end(soc, 0, 0, true, i, arrival + STORE_PIPE), (i + 1) * 26);
	}
	assert_int_equal(soc_now(soc, 0), 3);
	soc_destroy(soc);
}

static void test_a_full_buffer_of_stores_holds_the_core(void **state)
{
	struct soc *soc = with_buffered_stores();

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		soc_mmio_begin(soc, 0, true);
	assert_false(soc_mmio_may_begin(soc, 0, true));
	soc_mmio_end(soc, 0, 0, true, 0, soc_mmio_arrival(soc, 0, 0, 0) + STORE_PIPE);
	assert_true(soc_mmio_may_begin(soc, 0, true));
	assert_int_equal(soc_mmio_begin(soc, 0, true), 26);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stalls, 26 - 8);
	soc_destroy(soc);
}

static void test_a_load_waits_for_buffered_stores(void **state)
{
	struct soc *soc = with_buffered_stores();

	(void)state;
	soc_mmio_begin(soc, 0, true);
	soc_mmio_begin(soc, 0, true);
	assert_false(soc_mmio_may_begin(soc, 0, false));
	soc_mmio_end(soc, 0, 0, true, 0, soc_mmio_arrival(soc, 0, 0, 0) + STORE_PIPE);
	assert_false(soc_mmio_may_begin(soc, 0, false));
	soc_mmio_end(soc, 0, 0, true, 1, soc_mmio_arrival(soc, 0, 0, 1) + STORE_PIPE);
	assert_true(soc_mmio_may_begin(soc, 0, false));
	assert_int_equal(soc_mmio_begin(soc, 0, false), 52);
	soc_destroy(soc);
}

static void test_a_round_trip_may_be_shorter_than_the_pipe(void **state)
{
	static const uint64_t round_trips[] = { 2, 3, 6, 16, 36, 100 };

	(void)state;
	for (size_t i = 0; i < sizeof(round_trips) / sizeof(round_trips[0]); i++) {
		struct sim_parameters parameters = soc_preset("maple-fpga");
		struct soc *soc;

		parameters.maple_round_trip = round_trips[i];
		soc = soc_make(&parameters);
		assert_int_equal(access_device(soc, false, LOAD_PIPE), round_trips[i]);
		soc_sleep_until(soc, 0, 1000);
		assert_int_equal(access_device(soc, true, STORE_PIPE), 1000 + round_trips[i]);
		soc_destroy(soc);
	}
}

/* Cores 0 and 1 above 2 and 3, MAPLE below 2: so many hops, of which the round trip holds one. */
static void test_a_core_that_is_further_away_waits_a_cycle_for_each_hop(void **state)
{
	static const unsigned int hops[] = { 2, 3, 1, 2 };
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_count = 4;
	parameters.noc_width = 2;
	soc = soc_make(&parameters);
	for (unsigned int core = 0; core < 4; core++) {
		uint64_t issued, arrived;

		assert_true(soc_mmio_may_begin(soc, core, false));
		issued = soc_mmio_begin(soc, core, false);
		arrived = soc_mmio_arrival(soc, core, 0, issued);
		assert_int_equal(soc_mmio_end(soc, core, 0, false, issued, arrived + LOAD_PIPE) - issued, 25 + hops[core]);
	}
	soc_destroy(soc);
}

/* The second MAPLE is in the tile behind the first one, below core 3. */
static void test_each_device_is_as_far_from_a_core_as_its_tile(void **state)
{
	static const unsigned int hops[] = { 3, 2, 2, 1 };
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_count = 4;
	parameters.maple_count = 2;
	parameters.noc_width = 2;
	soc = soc_make(&parameters);
	for (unsigned int core = 0; core < 4; core++) {
		uint64_t issued = soc_mmio_begin(soc, core, false), arrived = soc_mmio_arrival(soc, core, 1, issued);

		assert_int_equal(soc_mmio_end(soc, core, 1, false, issued, arrived + LOAD_PIPE) - issued, 25 + hops[core]);
	}
	soc_destroy(soc);
}

static void test_the_queues_of_desc_are_as_near_as_they_say(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-sim");
	struct soc *soc;

	(void)state;
	parameters.desc_enabled = 1;
	soc = soc_make(&parameters);
	/* DeSC answers at once. */
	assert_int_equal(access_device(soc, false, 0), 2);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_store_holds_the_core_until_its_acknowledgement_is_back),
		cmocka_unit_test(test_a_load_takes_the_round_trip),
		cmocka_unit_test(test_instructions_go_on_behind_a_load_with_stall_on_use),
		cmocka_unit_test(test_a_load_that_the_device_holds_counts_as_waiting_for_it),
		cmocka_unit_test(test_an_access_waits_for_the_load_before_it),
		cmocka_unit_test(test_a_buffered_store_lets_the_core_go_on),
		cmocka_unit_test(test_buffered_stores_leave_one_a_round_trip),
		cmocka_unit_test(test_a_full_buffer_of_stores_holds_the_core),
		cmocka_unit_test(test_a_load_waits_for_buffered_stores),
		cmocka_unit_test(test_a_round_trip_may_be_shorter_than_the_pipe),
		cmocka_unit_test(test_a_core_that_is_further_away_waits_a_cycle_for_each_hop),
		cmocka_unit_test(test_each_device_is_as_far_from_a_core_as_its_tile),
		cmocka_unit_test(test_the_queues_of_desc_are_as_near_as_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
