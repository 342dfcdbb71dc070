/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport: names, order and waiting, memory. */
#include "tests/lib/embedded_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* --- names ---------------------------------------------------------------- */

static void free_instances_are_given_until_there_is_none(void **state)
{
	struct mimic_device *first, *second, *third;

	(void)state;
	assert_int_equal(mimic_device_open(&first, "maple", &embedded_options), 0);
	assert_int_equal(mimic_device_open(&second, "maple", &embedded_options), 0);
	assert_string_equal(mimic_device_name(first), "maple0");
	assert_string_equal(mimic_device_name(second), "maple1");
	assert_string_equal(mimic_device_transport(first), "embedded");
	assert_int_equal(mimic_device_open(&third, "maple", &embedded_options), -EBUSY);
	mimic_device_close(first);
	assert_int_equal(mimic_device_open(&third, "maple", &embedded_options), 0);
	assert_string_equal(mimic_device_name(third), "maple0");
	mimic_device_close(second);
	mimic_device_close(third);
}

static void a_held_instance_opens_as_itself(void **state)
{
	struct mimic_device *again, *tile, *same_tile;

	(void)state;
	assert_int_equal(mimic_device_open(&again, "maple0", &embedded_options), 0);
	assert_ptr_equal(again, device);
	mimic_device_close(again);
	/* Still held by the first open. */
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	assert_int_equal(mimic_device_open(&tile, "maple@63", &embedded_options), 0);
	assert_string_equal(mimic_device_name(tile), "maple@63");
	assert_int_equal(mimic_device_open(&same_tile, "maple@63", &embedded_options), 0);
	assert_ptr_equal(tile, same_tile);
	mimic_device_close(tile);
	mimic_device_close(same_tile);
}

static void names_that_mean_nothing_are_refused(void **state)
{
	static const struct {
		const char *name;
		int error;
	} cases[] = {
		{ "maple2", -ENODEV }, { "maple64", -ENODEV }, { "maple@64", -ENODEV },
		{ "pear", -ENOENT }, { "dare0", -ENODEV }, { "", -ENOENT }, { "map", -ENOENT }, { "maplex", -ENOENT },
		{ "maple-1", -ENOENT }, { "maple00", -ENOENT }, { "maple@", -ENOENT },
		{ "maple@x", -ENOENT }, { "maple99999999999999999999", -ENOENT },
	};
	struct mimic_device *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mimic_device_open(&none, cases[i].name, &embedded_options), cases[i].error);
		assert_non_null(strstr(mimic_error_text(), "device '"));
		assert_null(none);
	}
}

static void wrong_options_are_named(void **state)
{
	struct mimic_options options = embedded_options;
	struct mimic_device *none;

	(void)state;
	options.devices = "maple:1025";
	assert_int_equal(mimic_device_open(&none, "maple", &options), -EINVAL);
	assert_string_equal(mimic_error_text(), "devices 'maple:1025' is not 1 to 1024 devices");
	options = embedded_options;
	options.config_path = "/nowhere/x.ini";
	assert_int_equal(mimic_device_open(&none, "maple", &options), -ENOENT);
	assert_string_equal(mimic_error_text(), "/nowhere/x.ini: No such file or directory");
	options = embedded_options;
	options.transport = (enum mimic_transport)99;
	assert_int_equal(mimic_device_open(&none, "maple", &options), -EINVAL);
	assert_string_equal(mimic_error_text(), "transport 99 is unknown");
	options = (struct mimic_options) { .devices = "maple:2" };
	setenv("MIMIC_TRANSPORT", "pigeon", 1);
	assert_int_equal(mimic_device_open(&none, "maple", &options), -EINVAL);
	assert_string_equal(mimic_error_text(),
			    "MIMIC_TRANSPORT 'pigeon' is none of auto, kernel, daemon, embedded");
	unsetenv("MIMIC_TRANSPORT");
}

static void config_and_devices_are_wrong_with_transport_daemon(void **state)
{
	const struct mimic_options wrong[] = {
		{ .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = "/nowhere/socket", .config_path = "artifact" },
		{ .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = "/nowhere/socket", .devices = "maple:9" },
	};
	struct mimic_device *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(mimic_device_open(&none, "maple", &wrong[i]), -EINVAL);
		assert_non_null(strstr(mimic_error_text(), "config and devices belong to the embedded"));
		assert_null(none);
	}
}

static void the_environment_s_config_is_no_error_with_transport_daemon(void **state)
{
	const struct mimic_options options = {
		.transport = MIMIC_TRANSPORT_DAEMON, .socket_path = "/nowhere/socket",
	};
	struct mimic_device *none = NULL;

	(void)state;
	setenv("MIMIC_CONFIG", "artifact", 1);
	setenv("MIMIC_DEVICES", "maple:9", 1);
	assert_int_equal(mimic_device_open(&none, "maple", &options), -ECONNREFUSED);
	unsetenv("MIMIC_CONFIG");
	unsetenv("MIMIC_DEVICES");
}

static void the_environment_chooses_the_profile(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED };
	uint64_t identify;

	(void)state;
	setenv("MIMIC_CONFIG", "artifact", 1);
	assert_int_equal(mimic_device_open(&device, "maple0", &options), 0);
	assert_int_equal(device_try_load(MAPLE_LOAD_IDENTIFY, 0, 8, &identify), 0);
	assert_int_equal(identify, 0);
	mimic_device_close(device);
	setenv("MIMIC_CONFIG", "paper", 1);
	assert_int_equal(mimic_device_open(&device, "maple0", &options), 0);
	assert_int_equal(device_try_load(MAPLE_LOAD_IDENTIFY, 0, 8, &identify), 0);
	assert_int_equal(identify >> 32, MAPLE_IDENTIFY_MAGIC);
	mimic_device_close(device);
	unsetenv("MIMIC_CONFIG");
}

static void the_environment_says_how_many_devices_unless_an_option_does(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED, .config_path = "paper" };
	struct mimic_device *last;

	(void)state;
	setenv("MIMIC_DEVICES", "maple:3", 1);
	assert_int_equal(mimic_device_open(&last, "maple2", &options), 0);
	mimic_device_close(last);
	assert_int_equal(mimic_device_open(&last, "maple3", &options), -ENODEV);
	options.devices = "maple:4";
	assert_int_equal(mimic_device_open(&last, "maple3", &options), 0);
	mimic_device_close(last);
	unsetenv("MIMIC_DEVICES");
}

static void accesses_that_no_bus_has_are_refused(void **state)
{
	static const struct mimic_access wrong[] = {
		{ .offset = 4096, .size = 8 }, { .offset = 0, .size = 3 }, { .offset = 0, .size = 0 },
		{ .offset = 0, .size = 16 }, { .offset = 0, .size = 8, .page = 16 },
	};
	uint64_t value = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct mimic_access access = wrong[i];

		assert_int_equal(mimic_device_access(device, &access), -EINVAL);
		assert_int_equal(mimic_device_post(device, &access, &value, 1), -EINVAL);
		assert_int_equal(mimic_device_load(device, &access, &value, 1), -EINVAL);
	}
}

/* --- order and waiting ---------------------------------------------------- */

static void posts_take_effect_in_order_before_a_load(void **state)
{
	uint64_t values[WORDS];
	uint32_t answers[WORDS];

	(void)state;
	device_open_both(0);
	for (uint64_t i = 0; i < WORDS; i++)
		values[i] = i * 3;
	device_post(MAPLE_STORE_PRODUCE, 0, 4, values, 20);
	device_post(MAPLE_STORE_PRODUCE, 0, 4, values + 20, 12);
	device_take(0, 4, answers, WORDS);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(answers[i], i * 3);
}

static void pointers_are_fetched_when_they_are_consumed(void **state)
{
	uint64_t data[16], pointers[16], answers[16];

	(void)state;
	device_open_both(0);
	for (uint64_t i = 0; i < 16; i++) {
		data[i] = i * 0x123456789abcdefull;
		pointers[i] = (uint64_t)(uintptr_t)&data[15 - i];
	}
	device_post(MAPLE_STORE_FULL_POINTER64, 0, 8, pointers, 16);
	device_take(0, 8, answers, 16);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(answers[i], (15 - i) * 0x123456789abcdefull);
}

static void a_bad_pointer_reads_0_and_is_counted(void **state)
{
	static const uint64_t bad[] = { 0x10, 0x00007ffffffff000ull };
	uint64_t good = 77, pointer = (uint64_t)(uintptr_t)&good, answers[3], faults;

	(void)state;
	device_restore_handlers();
	device_open_both(0);
	faults = device_counter(MAPLE_COUNTER_faults);
	device_post(MAPLE_STORE_FULL_POINTER64, 0, 8, bad, 2);
	device_post(MAPLE_STORE_FULL_POINTER64, 0, 8, &pointer, 1);
	device_take(0, 8, answers, 3);
	assert_int_equal(answers[0], 0);
	assert_int_equal(answers[1], 0);
	assert_int_equal(answers[2], 77);
	assert_int_equal(device_counter(MAPLE_COUNTER_faults), faults + 2);
}

static void *post_later(void *microseconds)
{
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep((useconds_t)(uintptr_t)microseconds);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	return NULL;
}

static void a_load_waits_for_a_post(void **state)
{
	static const uintptr_t delays[] = { 0, 10, 200, 20000 };
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	for (size_t i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, post_later, (void *)delays[i]);
		assert_int_equal(device_consume32(0), 42);
		pthread_join(thread, NULL);
	}
}

static void *only_post(void *unused)
{
	(void)unused;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep(20000);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	/* Far too long for a thread that waits for more than the post. */
	usleep(1000000);
	return NULL;
}

static void a_post_wakes_a_thread_that_sleeps_for_it(void **state)
{
	struct timespec start, end;
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, only_post, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(device_consume32(0), 42);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 < 950);
	pthread_join(thread, NULL);
}

/* A prefetch loop goes on in pieces between accesses: a thread that waits must drive it. */
static void a_load_waits_through_a_long_prefetch_loop(void **state)
{
	static const uint32_t table[20000] = { [5] = 0x1234 };

	(void)state;
	alarm(60);
	device_open_both(0);
	device_post_one(MAPLE_STORE_QUEUE_LIMA_A, 0, 8, (uint64_t)(uintptr_t)table);
	device_post_one(MAPLE_STORE_QUEUE_LIMA_B, 0, 8, (uint64_t)(uintptr_t)table);
	device_post_one(MAPLE_STORE_QUEUE_LOOP_PREFETCH32, 0, 8, 20000);
	/* A of 0: the loop brings B[5] itself. */
	device_post_one(MAPLE_STORE_QUEUE_LIMA_A, 0, 8, 0);
	device_post_one(MAPLE_STORE_QUEUE_LOOP_POINTER32, 0, 8, 5ull << 32 | 6);
	assert_int_equal(device_consume32(0), 0x1234);
	assert_int_equal(device_counter(MAPLE_COUNTER_prefetched), 20000);
	alarm(0);
}

struct flow {
	unsigned int queue;
	size_t count;
	uint64_t seed;
	size_t wrong;
	pthread_barrier_t *start;
};

/* A batch size of 1 to 700: within a queue, more than it, more than a piece of the ring. */
static size_t batch_of(uint64_t *seed, size_t left)
{
	size_t batch;

	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	batch = (*seed >> 60) < 12 ? 1 + (*seed >> 33) % 40 : 1 + (*seed >> 33) % 700;
	return batch < left ? batch : left;
}

static void *produce_flow(void *argument)
{
	struct flow *flow = argument;
	uint64_t seed = flow->seed, values[700];

	device_load(MAPLE_LOAD_OPEN_PRODUCER, flow->queue);
	pthread_barrier_wait(flow->start);
	for (size_t done = 0; done < flow->count;) {
		size_t batch = batch_of(&seed, flow->count - done);

		for (size_t i = 0; i < batch; i++)
			values[i] = (uint32_t)((done + i) * 2654435761u + flow->queue);
		device_post(MAPLE_STORE_PRODUCE, flow->queue, 4, values, batch);
		done += batch;
		if (seed >> 56 == 0)
			usleep(100);
	}
	return NULL;
}

static void *consume_flow(void *argument)
{
	struct flow *flow = argument;
	uint64_t seed = flow->seed * 3 + 1;
	uint32_t values[700];

	device_load(MAPLE_LOAD_OPEN_CONSUMER, flow->queue);
	pthread_barrier_wait(flow->start);
	for (size_t done = 0; done < flow->count;) {
		size_t batch = batch_of(&seed, flow->count - done);

		device_take(flow->queue, 4, values, batch);
		for (size_t i = 0; i < batch; i++)
			flow->wrong += values[i] !=
				(uint32_t)((done + i) * 2654435761u + flow->queue);
		done += batch;
		if (seed >> 56 == 0)
			usleep(100);
	}
	return NULL;
}

static void run_flows(unsigned int pairs, size_t count)
{
	pthread_t producers[8], consumers[8];
	pthread_barrier_t start;
	struct flow flows[8];

	pthread_barrier_init(&start, NULL, 2 * pairs);
	for (unsigned int i = 0; i < pairs; i++) {
		flows[i] = (struct flow) { i, count, 1000 + i, 0, &start };
		pthread_create(&producers[i], NULL, produce_flow, &flows[i]);
		pthread_create(&consumers[i], NULL, consume_flow, &flows[i]);
	}
	for (unsigned int i = 0; i < pairs; i++) {
		pthread_join(producers[i], NULL);
		pthread_join(consumers[i], NULL);
		assert_int_equal(flows[i].wrong, 0);
	}
	pthread_barrier_destroy(&start);
}

static void a_pair_of_threads_loses_and_swaps_nothing(void **state)
{
	(void)state;
	run_flows(1, 300000);
}

static void eight_pairs_of_threads_lose_and_swap_nothing(void **state)
{
	(void)state;
	run_flows(8, 20000);
	assert_int_equal(device_counter(MAPLE_COUNTER_produced), 160000);
	assert_int_equal(device_counter(MAPLE_COUNTER_consumed), 160000);
}

static void *trapped_flow(void *argument)
{
	struct flow *flow = argument;
	struct mimic_access store = device_pattern(MAPLE_STORE_PRODUCE, flow->queue, 8);

	device_load(MAPLE_LOAD_OPEN_PRODUCER, flow->queue);
	store.is_write = 1;
	for (uint64_t i = 0; i < flow->count; i++) {
		store.data = i * 0x9e3779b97f4a7c15ull;
		if (mimic_device_access(device, &store))
			abort();
	}
	return NULL;
}

static void single_stores_wait_while_the_queue_is_full(void **state)
{
	struct flow flow = { .queue = 0, .count = 5000 };
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, trapped_flow, &flow);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t value;

		if (i % 1000 == 0)
			usleep(2000);
		assert_int_equal(device_try_load(MAPLE_LOAD_CONSUME, 0, 8, &value), 0);
		assert_int_equal(value, i * 0x9e3779b97f4a7c15ull);
	}
	pthread_join(thread, NULL);
}

static void *consume_all(void *count)
{
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	/* The other thread is to get ahead of us. */
	usleep(20000);
	for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
		if (device_consume32(0) != i)
			return (void *)1;
	}
	return NULL;
}

static void a_close_waits_for_the_thread_s_own_posts(void **state)
{
	uint64_t values[100];
	pthread_t thread;
	void *wrong;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	for (uint64_t i = 0; i < 100; i++)
		values[i] = i;
	/* Three times the queue's words: the rest waits in the ring. */
	device_post(MAPLE_STORE_PRODUCE, 0, 4, values, 100);
	pthread_create(&thread, NULL, consume_all, (void *)100);
	device_load(MAPLE_LOAD_CLOSE_PRODUCER, 0);
	assert_in_range(device_counter(MAPLE_COUNTER_produced), 100, 100);
	pthread_join(thread, &wrong);
	assert_null(wrong);
}

/* --- memory --------------------------------------------------------------- */

static void allocated_memory_is_zeroed_and_below_2_to_40(void **state)
{
	static const size_t sizes[] = { 1, 4096, 100000, 64 << 20 };
	unsigned char *memory[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		memory[i] = mimic_memory_alloc(device, sizes[i]);
		assert_non_null(memory[i]);
		assert_int_equal((uintptr_t)memory[i] % 4096, 0);
		assert_true((uintptr_t)memory[i] + sizes[i] <= 1ull << 40);
		assert_int_equal(memory[i][0] | memory[i][sizes[i] - 1], 0);
		memset(memory[i], 0xff, sizes[i]);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(mimic_memory_free(device, memory[i]), 0);
		assert_int_equal(mimic_memory_free(device, memory[i]), -EINVAL);
	}
	errno = 0;
	assert_null(mimic_memory_alloc(device, 0));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(mimic_memory_alloc(device, SIZE_MAX - 5));
	assert_int_equal(errno, ENOMEM);
}

static bool is_mapped(void *memory)
{
	unsigned char page;

	return mincore(memory, 4096, &page) == 0;
}

static void memory_that_is_not_freed_goes_with_its_device(void **state)
{
	struct mimic_device *other;
	char *memory, *own = mimic_memory_alloc(device, 4096);

	(void)state;
	assert_int_equal(mimic_device_open(&other, "maple1", &embedded_options), 0);
	memory = mimic_memory_alloc(other, 1 << 20);
	assert_non_null(memory);
	memset(memory, 1, 1 << 20);
	assert_true(is_mapped(memory + 4096));
	/* Another device's. */
	assert_int_equal(mimic_memory_free(device, memory), -EINVAL);
	assert_int_equal(mimic_memory_free(other, own), -EINVAL);
	mimic_device_close(other);
	assert_false(is_mapped(memory + 4096));
	assert_true(is_mapped(own));
	assert_int_equal(mimic_memory_free(device, own), 0);
}

static void registered_memory_is_only_remembered(void **state)
{
	static _Alignas(4096) char memory[3 * 4096];
	struct mimic_device *other;

	(void)state;
	assert_int_equal(mimic_memory_unregister(device, memory, sizeof(memory)), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, sizeof(memory)), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, 4096 + 2048), -EINVAL);
	assert_int_equal(mimic_memory_unregister(device, memory, sizeof(memory)), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, sizeof(memory)), -EINVAL);
	/* No whole page. */
	assert_int_equal(mimic_memory_register(device, memory, 100), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, 100), 0);
	assert_int_equal(mimic_device_open(&other, "maple1", &embedded_options), 0);
	assert_int_equal(mimic_memory_register(other, memory, sizeof(memory)), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, sizeof(memory)), -EINVAL);
	mimic_device_close(other);
	assert_int_equal(mimic_device_open(&other, "maple1", &embedded_options), 0);
	assert_int_equal(mimic_memory_unregister(other, memory, sizeof(memory)), -EINVAL);
	mimic_device_close(other);
	memory[0] = 1;
}

static void an_invalid_range_is_not_registered(void **state)
{
	char memory[8192];

	(void)state;
	assert_int_equal(mimic_memory_register(device, NULL, 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, 0), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, SIZE_MAX), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_instances_are_given_until_there_is_none),
		DEVICE_TEST(a_held_instance_opens_as_itself),
		cmocka_unit_test(names_that_mean_nothing_are_refused),
		cmocka_unit_test(wrong_options_are_named),
		cmocka_unit_test(config_and_devices_are_wrong_with_transport_daemon),
		cmocka_unit_test(the_environment_s_config_is_no_error_with_transport_daemon),
		cmocka_unit_test(the_environment_chooses_the_profile),
		cmocka_unit_test(the_environment_says_how_many_devices_unless_an_option_does),
		DEVICE_TEST(accesses_that_no_bus_has_are_refused),
		DEVICE_TEST(posts_take_effect_in_order_before_a_load),
		DEVICE_TEST(pointers_are_fetched_when_they_are_consumed),
		DEVICE_TEST(a_bad_pointer_reads_0_and_is_counted),
		DEVICE_TEST(a_load_waits_for_a_post),
		DEVICE_TEST(a_post_wakes_a_thread_that_sleeps_for_it),
		DEVICE_TEST(a_load_waits_through_a_long_prefetch_loop),
		DEVICE_TEST(a_pair_of_threads_loses_and_swaps_nothing),
		DEVICE_TEST(eight_pairs_of_threads_lose_and_swap_nothing),
		DEVICE_TEST(single_stores_wait_while_the_queue_is_full),
		DEVICE_TEST(a_close_waits_for_the_thread_s_own_posts),
		DEVICE_TEST(allocated_memory_is_zeroed_and_below_2_to_40),
		DEVICE_TEST(memory_that_is_not_freed_goes_with_its_device),
		DEVICE_TEST(registered_memory_is_only_remembered),
		DEVICE_TEST(an_invalid_range_is_not_registered),
	};

	return device_run_tests("embedded", tests, sizeof(tests) / sizeof(tests[0]));
}
