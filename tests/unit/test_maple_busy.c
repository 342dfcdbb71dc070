/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* No access of a program holds up the model's driver. */
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

/* 20000 elements take several ticks. */
static void start_long_prefetch(unsigned int queue)
{
	fake_store(host, PRODUCER, QUEUE_LIMA_A, queue, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LIMA_B, queue, 8, fake_address(0));
	assert_true(fake_store(host, PRODUCER, QUEUE_LOOP_PREFETCH32, queue, 8, 20000));
	assert_true(host->model->ops->busy(host->model));
}

static void tick_until_idle(void)
{
	for (unsigned int ticks = 0; ticks < 1000 && host->model->ops->busy(host->model); ticks++)
		fake_tick(host);
	assert_false(host->model->ops->busy(host->model));
}

/* Word i of B is 0xf0000000 + i. */
static void no_element_is_left_out_or_done_twice_between_two_ticks(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	start_long_prefetch(0);
	for (unsigned int ticks = 0, next = 0; ticks < 1000 && next < 20000; ticks++) {
		unsigned int end = host->prefetched_count;

		/* The host remembers the newest ones only. */
		next = end > next + FAKE_DEFERRED ? end - FAKE_DEFERRED : next;
		for (; next < end; next++)
			assert_int_equal(host->prefetched[next % FAKE_DEFERRED],
					 fake_address(0) + 4 * (0xf0000000ull + next));
		fake_tick(host);
	}
	tick_until_idle();
	assert_int_equal(host->prefetched_count, 20000);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 20000);
	stop();
}

static void a_store_behind_a_long_prefetch_waits_for_it(void **state)
{
	unsigned int ticks = 0;

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	start_long_prefetch(0);
	assert_false(fake_store(host, PRODUCER, PRODUCE, 0, 4, 77));
	while (!host->completed[PRODUCER] && ticks++ < 1000)
		fake_tick(host);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 20000);
	assert_int_equal(consume(0), 77);
	stop();
}

static void a_batch_of_stores_stops_while_the_model_is_busy(void **state)
{
	static const uint64_t loops[3] = { 20000, 16, 16 };
	struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(QUEUE_LOOP_PREFETCH32, 0), .size = 8, .is_write = 1,
	};

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(0));
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, loops, 3, host->now), 1);
	tick_until_idle();
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 20000);
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, loops + 1, 2, host->now), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 20032);
	stop();
}

static void power_on_ends_it(void **state)
{
	(void)state;
	start_endless_prefetch();
	host->model->ops->power_on(host->model, host->now);
	assert_false(host->model->ops->busy(host->model));
	stop();
}

static void an_endless_prefetch_does_not_starve_the_one_of_another_queue(void **state)
{
	(void)state;
	for (unsigned int endless = 0; endless < 2; endless++) {
		unsigned int other = !endless, ticks = 0;

		start("paper", FAKE_IDENTITY);
		fake_open(host, WORDS_8, 2);
		start_long_prefetch(endless);
		fake_store(host, PRODUCER, QUEUE_LOOP_PREFETCH32, endless, 8, WHOLE_RANGE);
		start_long_prefetch(other);
		assert_false(fake_store(host, PRODUCER, PRODUCE, other, 4, 77));
		while (!host->completed[PRODUCER] && ticks++ < 1000)
			fake_tick(host);
		assert_int_equal(consume(other), 77);
		assert_true(host->model->ops->busy(host->model));
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefetch_loop_over_everything_returns_soon),
		cmocka_unit_test(it_goes_on_with_each_tick),
		cmocka_unit_test(reset_ends_it),
		cmocka_unit_test(a_loop_that_ends_leaves_the_model_idle),
		cmocka_unit_test(a_waiting_load_gets_what_comes_after_a_long_prefetch),
		cmocka_unit_test(no_element_is_left_out_or_done_twice_between_two_ticks),
		cmocka_unit_test(a_store_behind_a_long_prefetch_waits_for_it),
		cmocka_unit_test(a_batch_of_stores_stops_while_the_model_is_busy),
		cmocka_unit_test(power_on_ends_it),
		cmocka_unit_test(an_endless_prefetch_does_not_starve_the_one_of_another_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
