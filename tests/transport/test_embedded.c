/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport: names, threads, waiting, signals, forks, memory. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"

static const struct mimic_options embedded = {
	.transport = MIMIC_TRANSPORT_EMBEDDED,
	.config_path = "paper",
	.devices = "maple:2",
};

/* Size code of 32 words. */
#define WORDS 32
#define SIZE_CODE 2

static struct mimic_device *device;
static struct sigaction fault_actions[2];

static struct mimic_access pattern(unsigned int operation, unsigned int queue, uint8_t size)
{
	return (struct mimic_access) { .offset = MAPLE_OFFSET(operation, queue), .size = size };
}

__attribute__((noinline))	/* the tests leave it by longjmp */
static int try_load(unsigned int operation, unsigned int queue, uint8_t size, uint64_t *data)
{
	struct mimic_access access = pattern(operation, queue, size);
	int error = mimic_device_access(device, &access);

	*data = access.data;
	return error;
}

/* Calls of helper threads cannot use cmocka's asserts. */
static uint64_t load(unsigned int operation, unsigned int queue)
{
	uint64_t data;

	if (try_load(operation, queue, 8, &data))
		abort();
	return data;
}

__attribute__((noinline))
static uint32_t consume32(unsigned int queue)
{
	uint64_t data;

	if (try_load(MAPLE_LOAD_CONSUME, queue, 4, &data))
		abort();
	return (uint32_t)data;
}

__attribute__((noinline))
static void post(unsigned int operation, unsigned int queue, uint8_t size, const uint64_t *values,
		 size_t count)
{
	struct mimic_access access = pattern(operation, queue, size);

	if (mimic_device_post(device, &access, values, count) != (ssize_t)count)
		abort();
}

static void post_one(unsigned int operation, unsigned int queue, uint8_t size, uint64_t value)
{
	post(operation, queue, size, &value, 1);
}

static void take(unsigned int queue, uint8_t size, void *values, size_t count)
{
	struct mimic_access access = pattern(MAPLE_LOAD_CONSUME, queue, size);

	if (mimic_device_load(device, &access, values, count) != (ssize_t)count)
		abort();
}

static uint64_t counter(enum maple_counter which)
{
	uint64_t counters[MAPLE_COUNTER_COUNT];

	assert_int_equal(mimic_device_counters(device, counters, MAPLE_COUNTER_COUNT),
			 MAPLE_COUNTER_COUNT);
	return counters[which];
}

/* cmocka puts handlers of its own before every test. */
static void restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

static int open_device(void **state)
{
	(void)state;
	if (mimic_device_open(&device, "maple0", &embedded))
		return -1;
	return (load(MAPLE_LOAD_INIT, SIZE_CODE) & 2) ? 0 : -1;
}

static int close_device(void **state)
{
	(void)state;
	mimic_device_close(device);
	return 0;
}

static void open_both(unsigned int queue)
{
	load(MAPLE_LOAD_OPEN_PRODUCER, queue);
	load(MAPLE_LOAD_OPEN_CONSUMER, queue);
}

/* --- names ---------------------------------------------------------------- */

static void free_instances_are_given_until_there_is_none(void **state)
{
	struct mimic_device *first, *second, *third;

	(void)state;
	assert_int_equal(mimic_device_open(&first, "maple", &embedded), 0);
	assert_int_equal(mimic_device_open(&second, "maple", &embedded), 0);
	assert_string_equal(mimic_device_name(first), "maple0");
	assert_string_equal(mimic_device_name(second), "maple1");
	assert_string_equal(mimic_device_transport(first), "embedded");
	assert_int_equal(mimic_device_open(&third, "maple", &embedded), -EBUSY);
	mimic_device_close(first);
	assert_int_equal(mimic_device_open(&third, "maple", &embedded), 0);
	assert_string_equal(mimic_device_name(third), "maple0");
	mimic_device_close(second);
	mimic_device_close(third);
}

static void a_held_instance_opens_as_itself(void **state)
{
	struct mimic_device *again, *tile, *same_tile;

	(void)state;
	assert_int_equal(mimic_device_open(&again, "maple0", &embedded), 0);
	assert_ptr_equal(again, device);
	mimic_device_close(again);
	/* Still held by the first open. */
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	assert_int_equal(mimic_device_open(&tile, "maple@63", &embedded), 0);
	assert_string_equal(mimic_device_name(tile), "maple@63");
	assert_int_equal(mimic_device_open(&same_tile, "maple@63", &embedded), 0);
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
		{ "dare", -ENOENT }, { "", -ENOENT }, { "map", -ENOENT }, { "maplex", -ENOENT },
		{ "maple-1", -ENOENT }, { "maple00", -ENOENT }, { "maple@", -ENOENT },
		{ "maple@x", -ENOENT }, { "maple99999999999999999999", -ENOENT },
	};
	struct mimic_device *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mimic_device_open(&none, cases[i].name, &embedded), cases[i].error);
		assert_non_null(strstr(mimic_error_text(), "device '"));
		assert_null(none);
	}
}

static void wrong_options_are_named(void **state)
{
	struct mimic_options options = embedded;
	struct mimic_device *none;

	(void)state;
	options.devices = "maple:65";
	assert_int_equal(mimic_device_open(&none, "maple", &options), -EINVAL);
	assert_string_equal(mimic_error_text(), "devices 'maple:65' is not 1 to 64 devices");
	options = embedded;
	options.config_path = "/nowhere/x.ini";
	assert_int_equal(mimic_device_open(&none, "maple", &options), -ENOENT);
	assert_string_equal(mimic_error_text(), "/nowhere/x.ini: No such file or directory");
	options = (struct mimic_options) { .devices = "maple:2" };
	setenv("MIMIC_TRANSPORT", "pigeon", 1);
	assert_int_equal(mimic_device_open(&none, "maple", &options), -EINVAL);
	assert_string_equal(mimic_error_text(),
			    "MIMIC_TRANSPORT 'pigeon' is none of auto, embedded, daemon");
	unsetenv("MIMIC_TRANSPORT");
}

static void the_environment_chooses_the_profile(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED };
	uint64_t identify;

	(void)state;
	setenv("MIMIC_CONFIG", "artifact", 1);
	assert_int_equal(mimic_device_open(&device, "maple0", &options), 0);
	assert_int_equal(try_load(MAPLE_LOAD_IDENTIFY, 0, 8, &identify), 0);
	assert_int_equal(identify, 0);
	mimic_device_close(device);
	setenv("MIMIC_CONFIG", "paper", 1);
	assert_int_equal(mimic_device_open(&device, "maple0", &options), 0);
	assert_int_equal(try_load(MAPLE_LOAD_IDENTIFY, 0, 8, &identify), 0);
	assert_int_equal(identify >> 32, MAPLE_IDENTIFY_MAGIC);
	mimic_device_close(device);
	unsetenv("MIMIC_CONFIG");
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
	open_both(0);
	for (uint64_t i = 0; i < WORDS; i++)
		values[i] = i * 3;
	post(MAPLE_STORE_PRODUCE, 0, 4, values, 20);
	post(MAPLE_STORE_PRODUCE, 0, 4, values + 20, 12);
	take(0, 4, answers, WORDS);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(answers[i], i * 3);
}

static void pointers_are_fetched_when_they_are_consumed(void **state)
{
	uint64_t data[16], pointers[16], answers[16];

	(void)state;
	open_both(0);
	for (uint64_t i = 0; i < 16; i++) {
		data[i] = i * 0x123456789abcdefull;
		pointers[i] = (uint64_t)(uintptr_t)&data[15 - i];
	}
	post(MAPLE_STORE_FULL_POINTER64, 0, 8, pointers, 16);
	take(0, 8, answers, 16);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(answers[i], (15 - i) * 0x123456789abcdefull);
}

static void a_bad_pointer_reads_0_and_is_counted(void **state)
{
	static const uint64_t bad[] = { 0x10, 0x00007ffffffff000ull };
	uint64_t good = 77, pointer = (uint64_t)(uintptr_t)&good, answers[3], faults;

	(void)state;
	restore_handlers();
	open_both(0);
	faults = counter(MAPLE_COUNTER_faults);
	post(MAPLE_STORE_FULL_POINTER64, 0, 8, bad, 2);
	post(MAPLE_STORE_FULL_POINTER64, 0, 8, &pointer, 1);
	take(0, 8, answers, 3);
	assert_int_equal(answers[0], 0);
	assert_int_equal(answers[1], 0);
	assert_int_equal(answers[2], 77);
	assert_int_equal(counter(MAPLE_COUNTER_faults), faults + 2);
}

static void *post_later(void *microseconds)
{
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep((useconds_t)(uintptr_t)microseconds);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	return NULL;
}

static void a_load_waits_for_a_post(void **state)
{
	static const uintptr_t delays[] = { 0, 10, 200, 20000 };
	pthread_t thread;

	(void)state;
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	for (size_t i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, post_later, (void *)delays[i]);
		assert_int_equal(consume32(0), 42);
		pthread_join(thread, NULL);
	}
}

static void *only_post(void *unused)
{
	(void)unused;
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep(20000);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	/* Far too long for anybody who waits for more than the post. */
	usleep(300000);
	return NULL;
}

static void a_post_wakes_who_sleeps_for_it(void **state)
{
	struct timespec start, end;
	pthread_t thread;

	(void)state;
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, only_post, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(consume32(0), 42);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 < 250);
	pthread_join(thread, NULL);
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

	load(MAPLE_LOAD_OPEN_PRODUCER, flow->queue);
	pthread_barrier_wait(flow->start);
	for (size_t done = 0; done < flow->count;) {
		size_t batch = batch_of(&seed, flow->count - done);

		for (size_t i = 0; i < batch; i++)
			values[i] = (uint32_t)((done + i) * 2654435761u + flow->queue);
		post(MAPLE_STORE_PRODUCE, flow->queue, 4, values, batch);
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

	load(MAPLE_LOAD_OPEN_CONSUMER, flow->queue);
	pthread_barrier_wait(flow->start);
	for (size_t done = 0; done < flow->count;) {
		size_t batch = batch_of(&seed, flow->count - done);

		take(flow->queue, 4, values, batch);
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
	assert_int_equal(counter(MAPLE_COUNTER_produced), 160000);
	assert_int_equal(counter(MAPLE_COUNTER_consumed), 160000);
}

static void *trapped_flow(void *argument)
{
	struct flow *flow = argument;
	struct mimic_access store = pattern(MAPLE_STORE_PRODUCE, flow->queue, 8);

	load(MAPLE_LOAD_OPEN_PRODUCER, flow->queue);
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
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, trapped_flow, &flow);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t value;

		if (i % 1000 == 0)
			usleep(2000);
		assert_int_equal(try_load(MAPLE_LOAD_CONSUME, 0, 8, &value), 0);
		assert_int_equal(value, i * 0x9e3779b97f4a7c15ull);
	}
	pthread_join(thread, NULL);
}

static void *consume_all(void *count)
{
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	/* The other thread is to get ahead of us. */
	usleep(20000);
	for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
		if (consume32(0) != i)
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
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	for (uint64_t i = 0; i < 100; i++)
		values[i] = i;
	/* Three times what the queue holds: the rest waits in the ring. */
	post(MAPLE_STORE_PRODUCE, 0, 4, values, 100);
	pthread_create(&thread, NULL, consume_all, (void *)100);
	load(MAPLE_LOAD_CLOSE_PRODUCER, 0);
	assert_in_range(counter(MAPLE_COUNTER_produced), 100, 100);
	pthread_join(thread, &wrong);
	assert_null(wrong);
}

/* --- the ends of threads, devices, processes ------------------------------ */

static void *take_producer_role(void *unused)
{
	(void)unused;
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	return NULL;
}

static void a_thread_s_roles_are_free_when_it_ends(void **state)
{
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, take_producer_role, NULL);
		pthread_join(thread, NULL);
	}
	assert_int_equal(load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 3, 2);
}

static void *post_much_and_end(void *unused)
{
	uint64_t values[500];

	(void)unused;
	for (uint64_t i = 0; i < 500; i++)
		values[i] = i;
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	post(MAPLE_STORE_PRODUCE, 0, 4, values, 500);
	return NULL;
}

static void what_a_thread_posted_outlives_it(void **state)
{
	pthread_t thread;

	(void)state;
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, post_much_and_end, NULL);
	/* It need not wait for us to end. */
	pthread_join(thread, NULL);
	/* Its role is not free before its words are in the queue. */
	assert_int_equal(load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 2, 0);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(consume32(0), i);
	assert_int_equal(load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 3, 3);
}

static void *consume_one(void *answer)
{
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	*(uint32_t *)answer = consume32(0);
	return NULL;
}

static void the_last_close_answers_who_waits_and_resets_the_device(void **state)
{
	uint32_t answer = 99;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, consume_one, &answer);
	usleep(20000);
	mimic_device_close(device);
	pthread_join(thread, NULL);
	assert_int_equal(answer, 0);
	assert_int_equal(mimic_device_open(&device, "maple0", &embedded), 0);
	/* No queue is left: INIT succeeds, and the counters begin again. */
	assert_int_equal(counter(MAPLE_COUNTER_load_waits), 0);
	assert_int_equal(load(MAPLE_LOAD_INIT, SIZE_CODE) & 2, 2);
	assert_int_equal(load(MAPLE_LOAD_OPEN_CONSUMER, 0) & 3, 1);
}

static int in_child(void)
{
	struct mimic_access access = pattern(MAPLE_LOAD_STATISTICS, 0, 8);
	struct mimic_device *parents = device, *fresh;
	uint64_t value = 1;

	if (mimic_device_access(parents, &access) != -ENODEV ||
	    mimic_device_post(parents, &access, &value, 1) != -ENODEV ||
	    mimic_device_load(parents, &access, &value, 1) != -ENODEV ||
	    mimic_device_counters(parents, &value, 1) != -ENODEV)
		return 1;
	mimic_device_close(parents);
	if (mimic_device_open(&fresh, "maple0", &embedded))
		return 2;
	/* The old handle stays dead beside a fresh one of the same instance. */
	if (mimic_device_access(parents, &access) != -ENODEV)
		return 3;
	device = fresh;
	if (!(load(MAPLE_LOAD_INIT, SIZE_CODE) & 2))
		return 4;
	open_both(0);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, 5);
	if (consume32(0) != 5)
		return 5;
	mimic_device_close(fresh);
	return 0;
}

static void a_forked_child_has_no_devices_but_can_open_its_own(void **state)
{
	int status;
	pid_t child;

	(void)state;
	open_both(0);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, 17);
	child = fork();
	if (!child)
		_exit(in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(consume32(0), 17);
}

/* --- signals -------------------------------------------------------------- */

static sigjmp_buf back;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void set_alarm(void (*handler)(int), unsigned int microseconds)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGALRM, &action, NULL);
	ualarm(microseconds, 0);
}

static void a_handler_may_jump_out_of_a_load_that_waits(void **state)
{
	uint32_t answers[3];

	(void)state;
	open_both(0);
	for (int i = 0; i < 20; i++) {
		if (!sigsetjmp(back, 1)) {
			set_alarm(jump_out, 3000);
			consume32(0);
			fail_msg("nothing was there to consume");
		}
	}
	/* The abandoned loads are withdrawn: none takes a word. */
	for (uint32_t i = 0; i < 3; i++)
		post_one(MAPLE_STORE_PRODUCE, 0, 4, i);
	take(0, 4, answers, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(answers[i], i);
}

#define MARKER 0xffffffffu

/* The words in order up to the marker; how many, or -1. */
static void *consume_to_marker(void *count)
{
	uint32_t word, expected = 0;

	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	while ((word = consume32(0)) != MARKER) {
		if (word != expected++)
			abort();
	}
	*(uint32_t *)count = expected;
	return NULL;
}

static void a_handler_may_jump_out_of_a_post_that_waits(void **state)
{
	static uint64_t values[10000];
	uint32_t count = 0;
	pthread_t thread;

	(void)state;
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	for (uint64_t i = 0; i < 10000; i++)
		values[i] = i;
	if (!sigsetjmp(back, 1)) {
		set_alarm(jump_out, 5000);
		post(MAPLE_STORE_PRODUCE, 0, 4, values, 10000);
		fail_msg("there was room for all");
	}
	pthread_create(&thread, NULL, consume_to_marker, &count);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, MARKER);
	pthread_join(thread, NULL);
	/* What had been accepted, all of it and no more. */
	assert_in_range(count, WORDS, 9999);
}

static uint32_t nested_answer;

static void access_in_handler(int number)
{
	uint64_t data;

	(void)number;
	nested_answer = try_load(MAPLE_LOAD_CONSUME, 1, 4, &data) ? 0 : (uint32_t)data;
}

static void *feed_after_nested(void *unused)
{
	(void)unused;
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep(40000);
	post_one(MAPLE_STORE_PRODUCE, 0, 4, 11);
	return NULL;
}

static void a_handler_s_access_does_not_disturb_the_one_it_interrupts(void **state)
{
	pthread_t thread;
	sigset_t alarm_only;

	(void)state;
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	open_both(1);
	post_one(MAPLE_STORE_PRODUCE, 1, 4, 22);
	/* The alarm is for this thread. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	pthread_create(&thread, NULL, feed_after_nested, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	nested_answer = 0;
	set_alarm(access_in_handler, 10000);
	assert_int_equal(consume32(0), 11);
	assert_int_equal(nested_answer, 22);
	pthread_join(thread, NULL);
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

static void there_is_nothing_to_register(void **state)
{
	char memory[8192];

	(void)state;
	assert_int_equal(mimic_memory_register(device, memory, sizeof(memory)), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, sizeof(memory)), 0);
	assert_int_equal(mimic_memory_register(device, NULL, 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, 0), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, SIZE_MAX), -EINVAL);
}

#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_instances_are_given_until_there_is_none),
		DEVICE_TEST(a_held_instance_opens_as_itself),
		cmocka_unit_test(names_that_mean_nothing_are_refused),
		cmocka_unit_test(wrong_options_are_named),
		cmocka_unit_test(the_environment_chooses_the_profile),
		DEVICE_TEST(accesses_that_no_bus_has_are_refused),
		DEVICE_TEST(posts_take_effect_in_order_before_a_load),
		DEVICE_TEST(pointers_are_fetched_when_they_are_consumed),
		DEVICE_TEST(a_bad_pointer_reads_0_and_is_counted),
		DEVICE_TEST(a_load_waits_for_a_post),
		DEVICE_TEST(a_post_wakes_who_sleeps_for_it),
		DEVICE_TEST(a_pair_of_threads_loses_and_swaps_nothing),
		DEVICE_TEST(eight_pairs_of_threads_lose_and_swap_nothing),
		DEVICE_TEST(single_stores_wait_while_the_queue_is_full),
		DEVICE_TEST(a_close_waits_for_the_thread_s_own_posts),
		DEVICE_TEST(a_thread_s_roles_are_free_when_it_ends),
		DEVICE_TEST(what_a_thread_posted_outlives_it),
		DEVICE_TEST(the_last_close_answers_who_waits_and_resets_the_device),
		DEVICE_TEST(a_forked_child_has_no_devices_but_can_open_its_own),
		DEVICE_TEST(a_handler_may_jump_out_of_a_load_that_waits),
		DEVICE_TEST(a_handler_may_jump_out_of_a_post_that_waits),
		DEVICE_TEST(a_handler_s_access_does_not_disturb_the_one_it_interrupts),
		DEVICE_TEST(allocated_memory_is_zeroed_and_below_2_to_40),
		DEVICE_TEST(there_is_nothing_to_register),
	};

	/* The first open installs the handlers; cmocka replaces them in every test. */
	if (mimic_device_open(&device, "maple0", &embedded))
		return 1;
	mimic_device_close(device);
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
