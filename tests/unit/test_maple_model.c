/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The model's own operations: cancel, owners that are gone, batches, views, configuration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/model_fixture.h"

/* --- cancel, owners that are gone, power on ------------------------------------------ */

static void a_cancelled_load_takes_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->cancel(host->model, CONSUMER, host->now);
	produce(0, 5);
	assert_false(host->completed[CONSUMER]);
	assert_int_equal(consume(0), 5);
	stop();
}

static void a_cancelled_store_leaves_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 8; i++)
		produce(0, i);
	assert_false(produce(0, 99));
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(consume(0), i);
	assert_false(host->completed[PRODUCER]);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

static void cancel_of_an_owner_that_does_not_wait_changes_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	host->model->ops->cancel(host->model, 7, host->now);
	produce(0, 5);
	assert_int_equal(host->answer[CONSUMER], 5);
	stop();
}

static void a_consumer_whose_producer_is_gone_is_answered_0(void **state)
{
	(void)state;
	for EACH_PROFILE(profile) {
		start(*profile, FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		assert_int_equal(consume(0), FAKE_PARKED);
		host->model->ops->owner_gone(host->model, PRODUCER, host->now);
		assert_true(host->completed[CONSUMER]);
		assert_int_equal(host->answer[CONSUMER], 0);
		assert_int_equal(fake_load(host, 4, OPEN_PRODUCER, 0, 4), 2);
		stop();
	}
}

static void a_producer_whose_consumer_is_gone_is_acknowledged(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 8; i++)
		produce(0, i);
	assert_false(produce(0, 8));
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(fake_load(host, 4, OPEN_CONSUMER, 0, 4), 1);
	stop();
}

static void an_owner_that_is_gone_while_it_waits_is_not_completed(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->parked[CONSUMER] = false;
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	produce(0, 5);
	assert_int_equal(fake_load(host, 4, OPEN_CONSUMER, 0, 4), 1);
	assert_int_equal(fake_load(host, 4, CONSUME, 0, 4), 5);
	stop();
}

static void a_consumer_still_gets_what_loops_of_a_gone_producer_bring(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	fake_fill(host, 0);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0xf0000003);
	stop();
}

static void power_on_completes_waiters_and_forgets_everything(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	for (unsigned int i = 0; i < 8; i++)
		produce(1, i);
	fake_load(host, 3, STATISTICS, 0, 8);
	assert_false(produce(1, 8));
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->power_on(host->model, host->now);
	assert_true(host->completed[PRODUCER]);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0);
	for (unsigned int i = 0; i < MAPLE_COUNTER_COUNT; i++)
		assert_int_equal(fake_counter(host, (enum maple_counter)i), 0);
	assert_int_equal(fake_load(host, PRODUCER, RESET, 0, 4), 0);
	assert_int_equal(fake_load(host, 3, STATISTICS, 0, 8), 0);
	assert_int_equal(fake_load(host, PRODUCER, INIT, WORDS_8, 4), 2);
	stop();
}

/* --- batches ---------------------------------------------------------------------- */

static void store_many_stops_before_the_store_that_would_wait(void **state)
{
	struct mimic_access pattern = { .owner = PRODUCER, .offset = AT(PRODUCE, 0), .size = 4 };
	uint64_t values[12];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 12; i++)
		values[i] = 100 + i;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 12, host->now), 8);
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 12, host->now), 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(consume(0), 100 + i);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

static void store_many_wakes_a_waiting_consumer(void **state)
{
	struct mimic_access pattern = { .owner = PRODUCER, .offset = AT(PRODUCE, 0), .size = 4 };
	uint64_t values[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_true(host->model->ops->store_many(host->model, &pattern, values, 10, host->now) >= 8);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0);
	stop();
}

static void load_many_stops_before_the_load_that_would_wait(void **state)
{
	struct mimic_access pattern = { .owner = CONSUMER, .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t values[8];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 5; i++)
		produce(0, 10 + i);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 8, host->now), 5);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(values[i], 10 + i);
	produce(0, 77);
	assert_int_equal(consume(0), 77);
	stop();
}

static void load_many_lets_the_waiting_store_and_loops_follow(void **state)
{
	struct mimic_access pattern = { .owner = CONSUMER, .offset = AT(CONSUME, 0), .size = 8 };
	uint64_t values[32];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_PRODUCE, 1, 8, 0);
	fake_store(host, PRODUCER, LOOP, 0, 8, 40);
	assert_false(produce(0, 1));
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 32, host->now), 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(values[i], (0xf0000001ull + 2 * i) << 32 | (0xf0000000 + 2 * i));
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 1);
	stop();
}

static void load_many_answers_any_register(void **state)
{
	struct mimic_access pattern = { .owner = 5, .offset = AT(IDENTIFY, 0), .size = 8 };
	uint64_t values[3];

	(void)state;
	start("paper", FAKE_IDENTITY);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 3, host->now), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(values[i], 0x4d41504c01080100);
	stop();
}

/* --- counters and views -------------------------------------------------------------- */

static void counters_count(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	produce(0, 1);
	fake_store(host, PRODUCER, PRODUCE, 0, 8, 1);
	pointer32(0, 0);
	pointer32(0, 1);
	fake_store(host, PRODUCER, PREFETCH, 0, 8, fake_address(5000));
	fake_store(host, PRODUCER, ATOMIC_ADD, 0, 8, fake_address(2048) << 32 | 1);
	for (unsigned int i = 0; i < 6; i++)
		consume(0);
	assert_int_equal(consume(0), FAKE_PARKED);
	produce(0, 1);
	fake_store(host, 6, PRODUCE, 0, 4, 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_produced), 7);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_consumed), 7);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_fetched), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_atomics), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_load_waits), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_store_waits), 0);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_illegal), 1);
	/* pages 0 (twice), 4 and 2 */
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_misses), 3);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_hits), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 0);
	stop();
}

static void cleared_counters_count_from_0_and_nothing_else_changes(void **state)
{
	uint64_t values[MAPLE_COUNTER_COUNT];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	produce(0, 1);
	produce(0, 2);
	pointer32(0, 0);
	assert_int_equal(consume(0), 1);
	host->model->ops->clear_counters(host->model);
	assert_int_equal(host->model->ops->counters(host->model, values, MAPLE_COUNTER_COUNT),
			 MAPLE_COUNTER_COUNT);
	for (unsigned int i = 0; i < MAPLE_COUNTER_COUNT; i++)
		assert_int_equal(values[i], 0);
	assert_int_equal(consume(0), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_consumed), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_produced), 0);
	stop();
}

static void lima_counters_count(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_48, 2);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_PRODUCE, 1, 8, 0);
	for (unsigned int i = 0; i < 48; i++)
		produce(1, i);
	for (uint64_t i = 0; i < 24; i++)
		fake_store(host, PRODUCER, LOOP, 1, 8, (16 * i) << 32 | (16 * i + 1));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_loops), 13);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_dropped), 11);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_chunks), 8);
	stop();
}

static void a_hang_of_the_artifact_is_counted_and_described(void **state)
{
	struct maple_queue_view view;
	char text[256];

	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_null(strstr(text, "hang"));
	assert_true(fake_store(host, PRODUCER, LLC_POINTER64, 1, 8, fake_address(5)));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_hangs), 1);
	assert_int_equal(maple_model_queue(host->model, 1, &view), 0);
	assert_true(view.hung);
	assert_int_equal(maple_model_queue(host->model, 0, &view), 0);
	assert_false(view.hung);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_non_null(strstr(text, "queue 1 hangs"));
	stop();
}

/* Of an idle device, "0 queues" would say that it has none. */
static void describe_says_how_many_of_the_queues_are_in_use(void **state)
{
	char text[256];

	(void)state;
	start("paper", FAKE_IDENTITY);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_non_null(strstr(text, "0 of 8 queues in use"));
	fake_open(host, WORDS_8, 2);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_null(strstr(text, "0 of 8"));
	assert_non_null(strstr(text, "of 8 queues in use"));
	stop();
}

static void describe_never_writes_past_its_buffer(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	fake_store(host, PRODUCER, LLC_POINTER64, 0, 8, fake_address(5));
	fake_store(host, PRODUCER, LLC_POINTER64, 1, 8, fake_address(5));
	fake_store(host, PRODUCER, POINTER32, 1, 8, 0x70000000);
	for (size_t size = 0; size < 128; size++) {
		char *text = malloc(size + 1);

		text[size] = 0x5a;
		host->model->ops->describe(host->model, text, size);
		assert_int_equal(text[size], 0x5a);
		free(text);
	}
	stop();
}

static void a_queue_can_be_viewed(void **state)
{
	struct maple_queue_view view;

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	for (unsigned int i = 0; i < 16; i++)
		produce(0, i);
	produce(0, 16);
	assert_int_equal(maple_model_queue(host->model, 0, &view), 0);
	assert_true(view.allocated);
	assert_int_equal(view.size, 16);
	assert_int_equal(view.level, 16);
	assert_int_equal(view.producer, PRODUCER);
	assert_int_equal(view.consumer, CONSUMER);
	assert_int_equal(view.store_waiting, PRODUCER);
	assert_int_equal(view.load_waiting, 0);
	assert_int_equal(maple_model_queue(host->model, 8, &view), -EINVAL);
	stop();
}

/* --- configuration ---------------------------------------------------------------------- */

static void there_are_two_profiles(void **state)
{
	struct maple_config config;

	(void)state;
	assert_int_equal(maple_config_profile(&config, "paper"), 0);
	assert_int_equal(config.queues, 8);
	assert_int_equal(config.scratchpad_words, 256);
	assert_int_equal(config.tlb_entries, 16);
	assert_int_equal(config.quirks, 0);
	assert_int_equal(maple_config_profile(&config, "artifact"), 0);
	assert_int_equal(config.queues, 4);
	assert_int_equal(config.scratchpad_words, 128);
	assert_int_equal(config.tlb_entries, 16);
	assert_int_equal(config.address_bits, 40);
	assert_int_equal(config.lima_loops, 4);
	assert_int_equal(config.lima_chunks, 16);
	assert_true(config.quirks != 0);
	assert_int_equal(maple_config_profile(&config, "Paper"), -EINVAL);
	assert_int_equal(maple_config_profile(&config, ""), -EINVAL);
}

static void expect_refused(size_t field, unsigned int value)
{
	struct maple_config config;

	maple_config_profile(&config, "paper");
	memcpy((char *)&config + field, &value, sizeof(value));
	assert_non_null(maple_config_check(&config));
	assert_null(fake_host_create(&config, FAKE_IDENTITY));
	assert_int_equal(errno, EINVAL);
}

static void values_out_of_range_are_refused_with_a_text(void **state)
{
	(void)state;
	expect_refused(offsetof(struct maple_config, queues), 0);
	expect_refused(offsetof(struct maple_config, queues), 9);
	expect_refused(offsetof(struct maple_config, scratchpad_words), 0);
	expect_refused(offsetof(struct maple_config, scratchpad_words), 1025);
	expect_refused(offsetof(struct maple_config, tlb_entries), 1);
	expect_refused(offsetof(struct maple_config, tlb_entries), 24);
	expect_refused(offsetof(struct maple_config, tlb_entries), 128);
	expect_refused(offsetof(struct maple_config, address_bits), 31);
	expect_refused(offsetof(struct maple_config, address_bits), 65);
	expect_refused(offsetof(struct maple_config, lima_loops), 0);
	expect_refused(offsetof(struct maple_config, lima_loops), 1u << 20);
	expect_refused(offsetof(struct maple_config, lima_chunks), 0);
	expect_refused(offsetof(struct maple_config, lima_chunks), 65);
	expect_refused(offsetof(struct maple_config, custom_commands), 0);
	expect_refused(offsetof(struct maple_config, custom_responses), 1u << 20);
	expect_refused(offsetof(struct maple_config, quirks), 1u << 31);
}

static void both_profiles_pass_their_own_check(void **state)
{
	struct maple_config config;

	(void)state;
	for EACH_PROFILE(profile) {
		assert_int_equal(maple_config_profile(&config, *profile), 0);
		assert_null(maple_config_check(&config));
	}
}

static void a_small_device_works(void **state)
{
	struct maple_config config;

	(void)state;
	maple_config_profile(&config, "paper");
	config.queues = 1;
	config.scratchpad_words = 8;
	config.tlb_entries = 2;
	config.lima_loops = 1;
	config.lima_chunks = 1;
	host = fake_host_create(&config, FAKE_IDENTITY);
	assert_non_null(host);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_POINTER32, 1, 8, fake_address(64));
	for (unsigned int i = 0; i < 64; i++)
		host->words[i] = 63 - i;
	assert_true(fake_store(host, PRODUCER, LOOP, 0, 8, 64));
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(consume(0), 0xf0000000 + 64 + 63 - i);
	stop();
}

static void elements_of_a_loop_are_announced_before_they_are_read(void **state)
{
	(void)state;
	host = fake_host_profile("paper", FAKE_IDENTITY);
	assert_non_null(host);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_POINTER32, 1, 8, fake_address(64));
	for (unsigned int i = 0; i < 8; i++)
		host->words[i] = 7 - i;
	assert_true(fake_store(host, PRODUCER, LOOP, 0, 8, 8));
	assert_int_equal(host->announced_count, 8);
	assert_int_equal(host->announced[0], fake_address(64 + 7));
	assert_int_equal(host->unannounced_count, 0);
	assert_int_equal(consume(0), 0xf0000000 + 64 + 7);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cancelled_load_takes_nothing),
		cmocka_unit_test(a_cancelled_store_leaves_nothing),
		cmocka_unit_test(cancel_of_an_owner_that_does_not_wait_changes_nothing),
		cmocka_unit_test(a_consumer_whose_producer_is_gone_is_answered_0),
		cmocka_unit_test(a_producer_whose_consumer_is_gone_is_acknowledged),
		cmocka_unit_test(an_owner_that_is_gone_while_it_waits_is_not_completed),
		cmocka_unit_test(a_consumer_still_gets_what_loops_of_a_gone_producer_bring),
		cmocka_unit_test(power_on_completes_waiters_and_forgets_everything),
		cmocka_unit_test(store_many_stops_before_the_store_that_would_wait),
		cmocka_unit_test(store_many_wakes_a_waiting_consumer),
		cmocka_unit_test(load_many_stops_before_the_load_that_would_wait),
		cmocka_unit_test(load_many_lets_the_waiting_store_and_loops_follow),
		cmocka_unit_test(load_many_answers_any_register),
		cmocka_unit_test(counters_count),
		cmocka_unit_test(cleared_counters_count_from_0_and_nothing_else_changes),
		cmocka_unit_test(lima_counters_count),
		cmocka_unit_test(a_hang_of_the_artifact_is_counted_and_described),
		cmocka_unit_test(describe_says_how_many_of_the_queues_are_in_use),
		cmocka_unit_test(describe_never_writes_past_its_buffer),
		cmocka_unit_test(a_queue_can_be_viewed),
		cmocka_unit_test(there_are_two_profiles),
		cmocka_unit_test(values_out_of_range_are_refused_with_a_text),
		cmocka_unit_test(both_profiles_pass_their_own_check),
		cmocka_unit_test(a_small_device_works),
		cmocka_unit_test(elements_of_a_loop_are_announced_before_they_are_read),
	};

	return cmocka_run_group_tests_name("maple model", tests, NULL, NULL);
}
