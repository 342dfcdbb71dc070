/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* No access holds up whoever drives the model, whatever the program asks for. */
#include "tests/lib/model_fixture.h"

#define WHOLE_RANGE 0xffffffffull	/* begin 0, end 2^32 - 1 */
#define AT_ONCE 100000u			/* far less than the range, far more than one call should do */

static void start_endless_prefetch(void)
{
	start("paper", FAKE_IDENTITY);
	fake_open(host, 2, 1);
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_B, 0, 8, fake_address(0));
	assert_true(fake_store(host, 1, MAPLE_STORE_QUEUE_LOOP_PREFETCH64, 0, 8, WHOLE_RANGE));
}

static void a_prefetch_loop_over_everything_returns_soon(void **state)
{
	(void)state;
	start_endless_prefetch();
	assert_in_range(fake_counter(host, MAPLE_COUNTER_prefetched), 1, AT_ONCE);
	assert_true(host->model->ops->busy(host->model));
	stop();
}

static void it_goes_on_with_each_tick(void **state)
{
	uint64_t before;

	(void)state;
	start_endless_prefetch();
	before = fake_counter(host, MAPLE_COUNTER_prefetched);
	fake_tick(host);
	assert_in_range(fake_counter(host, MAPLE_COUNTER_prefetched), before + 1, before + AT_ONCE);
	assert_true(host->model->ops->busy(host->model));
	stop();
}

static void reset_ends_it(void **state)
{
	(void)state;
	start_endless_prefetch();
	fake_load(host, 1, MAPLE_LOAD_RESET, 0, 4);
	fake_tick(host);
	assert_false(host->model->ops->busy(host->model));
	stop();
}

static void a_loop_that_ends_leaves_the_model_idle(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, 2, 1);
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_B, 0, 8, fake_address(0));
	fake_store(host, 1, MAPLE_STORE_QUEUE_LOOP_PREFETCH32, 0, 8, 16);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 16);
	assert_false(host->model->ops->busy(host->model));
	stop();
}

static void a_waiting_load_gets_what_comes_after_a_long_prefetch(void **state)
{
	unsigned int ticks = 0;

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, 2, 1);
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_B, 0, 8, fake_address(0));
	fake_store(host, 1, MAPLE_STORE_QUEUE_LOOP_PREFETCH32, 0, 8, 20000);
	fake_store(host, 1, MAPLE_STORE_QUEUE_LIMA_A, 0, 8, 0);
	fake_store(host, 1, MAPLE_STORE_QUEUE_LOOP_POINTER32, 0, 8, 5ull << 32 | 6);
	assert_int_equal(fake_load(host, 2, MAPLE_LOAD_CONSUME, 0, 4), FAKE_PARKED);
	while (!host->completed[2] && ticks++ < 1000)
		fake_tick(host);
	assert_int_equal(host->answer[2], 0xf0000000u + 5);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefetch_loop_over_everything_returns_soon),
		cmocka_unit_test(it_goes_on_with_each_tick),
		cmocka_unit_test(reset_ends_it),
		cmocka_unit_test(a_loop_that_ends_leaves_the_model_idle),
		cmocka_unit_test(a_waiting_load_gets_what_comes_after_a_long_prefetch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
