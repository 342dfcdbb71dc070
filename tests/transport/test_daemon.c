/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon transport at work: threads, order, memory, forks, many programs. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "libmimic/base/memory.h"
#include "libmimic/daemon/client.h"
#include "libmimic/transport.h"
#include "tests/lib/daemon_device.h"

/* --- threads --------------------------------------------------------------- */

static void streams_longer_than_the_rings_arrive_whole_and_in_order(void **state)
{
	size_t count = 100000;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t *values = malloc(count * sizeof(*values));
	pthread_t producer;

	(void)state;
	served_init(WORDS_128);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &count);
	assert_int_equal(mimic_device_load(served_device, &pattern, values, count), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(values[i], (uint32_t)(i * 3 + 1));
	pthread_join(producer, NULL);
	free(values);
}

struct taken {
	uint64_t count, wrong;	/* words */
	unsigned int size;
};

static void take_words(void *context, const void *values, size_t count)
{
	struct taken *taken = context;

	for (size_t i = 0; i < count; i++) {
		uint32_t low, high = 0;

		memcpy(&low, (const char *)values + i * taken->size, sizeof(low));
		if (taken->size == 8)
			memcpy(&high, (const char *)values + i * 8 + 4, sizeof(high));
		taken->wrong += low != (uint32_t)(taken->count++ * 3 + 1);
		taken->wrong += taken->size == 8 && high != (uint32_t)(taken->count++ * 3 + 1);
	}
}

static void take_stream_by_pieces(unsigned int size)
{
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = (uint8_t)size };
	struct taken taken = { .size = size };
	size_t words = 100000, values = words * 4 / size;
	pthread_t producer;

	served_init(WORDS_128);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &words);
	assert_int_equal(mimic_device_load_pieces(served_device, &pattern, values, take_words, &taken), values);
	assert_int_equal(taken.count, words);
	assert_int_equal(taken.wrong, 0);
	pthread_join(producer, NULL);
}

static void streams_are_taken_by_pieces_whole_and_in_order(void **state)
{
	(void)state;
	take_stream_by_pieces(8);
}

static void narrow_answers_are_packed_for_pieces_too(void **state)
{
	(void)state;
	take_stream_by_pieces(4);
}

static void posts_of_a_thread_before_its_end_still_arrive(void **state)
{
	size_t count = 500;
	pthread_t producer;

	(void)state;
	served_init(WORDS_32);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &count);
	pthread_join(producer, NULL);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), i * 3 + 1);
}

static void *take_producer(void *argument)
{
	(void)argument;
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	return NULL;
}

static void the_roles_of_a_thread_that_ended_are_free(void **state)
{
	pthread_t thread;

	(void)state;
	served_init(WORDS_32);
	pthread_create(&thread, NULL, take_producer, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(register_load(OPEN_PRODUCER, 0, 4), 2);
}

#define TURNS 2000

static pthread_barrier_t barrier;
static uint32_t *table;

/* Past libmimic/device/device.c, which would wait for each SET_BASE32. */
static void post_unwaited(unsigned int operation, const uint64_t *value)
{
	struct mimic_access pattern = { .offset = AT(operation, 0), .size = 8 };

	assert_int_equal(served_device->transport->post(served_device, &pattern, value, 1), 1);
}

/* Two threads in turn set the base of queue 0; the main thread fetches from each. */
static void *set_bases(void *first)
{
	for (uint64_t i = 0; i < TURNS; i++) {
		uint64_t base = (uint64_t)(uintptr_t)&table[i];

		if (i % 2 == *(const uint64_t *)first)
			post_unwaited(SET_BASE32, &base);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void posts_of_three_threads_that_take_turns_take_effect_in_that_order(void **state)
{
	const uint64_t index = 1, first[2] = { 0, 1 };
	pthread_t threads[2];

	(void)state;
	table = mimic_memory_alloc(served_device, (TURNS + 1) * sizeof(*table));
	for (uint32_t i = 0; i <= TURNS; i++)
		table[i] = i;
	served_init(WORDS_32);
	served_open_both(0);
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, set_bases, (void *)&first[i]);
	for (uint32_t i = 0; i < TURNS; i++) {
		pthread_barrier_wait(&barrier);
		post_unwaited(POINTER32, &index);
		pthread_barrier_wait(&barrier);
		/* Consumed rarely, so that several turns are in the lanes at once. */
		for (uint32_t k = i - i % 16; i % 16 == 15 && k <= i; k++)
			assert_int_equal(register_load(CONSUME, 0, 4), k + 1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	mimic_memory_free(served_device, table);
}

static void *post_ten(void *argument)
{
	const uint64_t values[10] = { 0 };

	(void)argument;
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	register_post(PRODUCE, 0, 4, values, 10);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *wake_daemon(void *argument)
{
	(void)argument;
	test_sleep_ms(50);
	kill(served.pid, SIGCONT);
	return NULL;
}

static void a_load_comes_after_what_other_threads_posted_before_it(void **state)
{
	pthread_t producer, waker;
	uint64_t counters[1];

	(void)state;
	/* Our lane is the older one, so the daemon looks at it first. */
	served_init(WORDS_32);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&producer, NULL, post_ten, NULL);
	pthread_barrier_wait(&barrier);
	/* While it stands still, both a post and a later load get into the lanes. */
	kill(served.pid, SIGSTOP);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_create(&waker, NULL, wake_daemon, NULL);
	assert_true(mimic_device_counters(served_device, counters, 1) > 0);
	/* The first counter: words produced. */
	assert_int_equal(counters[0], 10);
	pthread_join(waker, NULL);
	pthread_join(producer, NULL);
}

/* --- memory ------------------------------------------------------------------ */

static uint32_t fetch(const void *address)
{
	uint64_t pointer = (uint64_t)(uintptr_t)address;

	register_post(FULL_POINTER32, 0, 8, &pointer, 1);
	return (uint32_t)register_load(CONSUME, 0, 4);
}

static void memory_that_was_never_registered_is_read(void **state)
{
	uint64_t pointers[100];
	uint32_t values[100];

	(void)state;
	served_init(WORDS_128);
	served_open_both(0);
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = i ^ 0x5a5a;
		pointers[i] = (uint64_t)(uintptr_t)&values[99 - i];
	}
	register_post(FULL_POINTER32, 0, 8, pointers, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), (99 - i) ^ 0x5a5a);
	assert_int_equal(register_load(FAULT_COUNT, 0, 8), 0);
}

static void shared_and_other_addresses_mix_in_one_batch(void **state)
{
	uint32_t *shared = mimic_memory_alloc(served_device, 8192);
	uint32_t mine[64];
	uint64_t pointers[64];

	(void)state;
	served_init(WORDS_128);
	served_open_both(0);
	for (uint32_t i = 0; i < 64; i++) {
		shared[i] = 1000 + i;
		mine[i] = 2000 + i;
		pointers[i] = (uint64_t)(uintptr_t)(i % 3 ? &shared[i] : &mine[i]);
	}
	register_post(FULL_POINTER32, 0, 8, pointers, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), (i % 3 ? 1000 : 2000) + i);
	mimic_memory_free(served_device, shared);
}

static void addresses_that_cannot_be_read_give_0_and_count_as_faults(void **state)
{
	int fd = memfd_create("short", MFD_CLOEXEC);
	char *hidden = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *beyond;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	beyond = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*(uint32_t *)hidden = 7;
	*(uint32_t *)(hidden + 4096) = 8;
	mprotect(hidden, 4096, PROT_NONE);
	served_init(WORDS_32);
	served_open_both(0);
	assert_int_equal(fetch(NULL), 0);
	assert_int_equal(fetch(hidden), 0);
	assert_int_equal(fetch(beyond + 4096), 0);
	assert_int_equal(fetch((void *)0x7fff00000000), 0);
	assert_int_equal(register_load(FAULT_COUNT, 0, 8), 4);
	assert_int_equal(register_load(FAULT_ADDRESS, 0, 8), 0x7fff00000000);
	/* The device goes on. */
	assert_int_equal(fetch(hidden + 4096), 8);
	munmap(hidden, 8192);
	munmap(beyond, 8192);
	close(fd);
}

static void a_bad_address_in_a_batch_is_the_only_one_that_gives_0(void **state)
{
	uint64_t pointers[40];
	uint32_t values[40];

	(void)state;
	served_init(WORDS_128);
	served_open_both(0);
	for (uint32_t i = 0; i < 40; i++) {
		values[i] = 300 + i;
		pointers[i] = i % 13 == 7 ? 0x1000 : (uint64_t)(uintptr_t)&values[i];
	}
	register_post(FULL_POINTER32, 0, 8, pointers, 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), i % 13 == 7 ? 0 : 300 + i);
	assert_int_equal(register_load(FAULT_COUNT, 0, 8), 3);
}

/* Adds to memory[3] by ATOMIC_ADD and checks the old value. */
static void check_atomic(uint32_t *memory)
{
	memory[3] = 40;
	served_init(WORDS_32);
	served_open_both(0);
	register_store(SET_BASE32, 0, 8, (uint64_t)(uintptr_t)memory);
	register_store(ATOMIC_ADD, 0, 8, 3ull << 32 | 2);
	assert_int_equal(register_load(CONSUME, 0, 4), 40);
	assert_int_equal(memory[3], 42);
}

static void atomics_work_on_shared_and_on_other_memory(void **state)
{
	uint32_t *shared = mimic_memory_alloc(served_device, 4096);
	/* Bases have 40 bits in the artifact's profile. */
	uint32_t *mine = mimic_memory_map_low(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)state;
	check_atomic(shared);
	check_atomic(mine);
	munmap(mine, 4096);
	mimic_memory_free(served_device, shared);
}

static void allocated_memory_is_zeroed_aligned_and_below_2_to_the_40(void **state)
{
	const size_t sizes[] = { 1, 4096, 4097, 10000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *memory = mimic_memory_alloc(served_device, sizes[i]);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 4096, 0);
		assert_true((uintptr_t)memory + sizes[i] <= 1ull << 40);
		assert_int_equal(memory[0] | memory[sizes[i] - 1], 0);
		memset(memory, 1, sizes[i]);
		assert_int_equal(mimic_memory_free(served_device, memory), 0);
		assert_int_equal(mimic_memory_free(served_device, memory), -EINVAL);
	}
	assert_null(mimic_memory_alloc(served_device, 0));
	assert_int_equal(errno, EINVAL);
}

static void registered_memory_keeps_its_contents_and_is_shared_both_ways(void **state)
{
	const size_t size = 5 * 4096;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *words = (uint32_t *)memory;

	(void)state;
	for (uint32_t i = 0; i < size / 4; i++)
		words[i] = i * 7;
	/* Not whole pages: the three between are. */
	assert_int_equal(mimic_memory_register(served_device, memory + 100, 4 * 4096), 0);
	for (uint32_t i = 0; i < size / 4; i++)
		assert_int_equal(words[i], i * 7);
	served_init(WORDS_32);
	served_open_both(0);
	words[2000] = 77;
	assert_int_equal(fetch(&words[2000]), 77);
	assert_int_equal(fetch(&words[5]), 35);
	assert_int_equal(mimic_memory_register(served_device, memory + 4096, 4096), -EINVAL);
	assert_int_equal(mimic_memory_unregister(served_device, memory + 4096, 4096), -EINVAL);
	words[2001] = 78;
	assert_int_equal(mimic_memory_unregister(served_device, memory + 100, 4 * 4096), 0);
	assert_int_equal(words[2001], 78);
	assert_int_equal(mimic_memory_unregister(served_device, memory + 100, 4 * 4096), -EINVAL);
	assert_int_equal(fetch(&words[2001]), 78);
	munmap(memory, size);
}

static void only_private_anonymous_memory_can_be_registered(void **state)
{
	char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *hole = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *file = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);

	(void)state;
	munmap(hole + 4096, 4096);
	assert_int_equal(mimic_memory_register(served_device, shared, 8192), -EINVAL);
	assert_int_equal(mimic_memory_register(served_device, file, 8192), -EINVAL);
	assert_int_equal(mimic_memory_register(served_device, hole, 3 * 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(served_device, (void *)-4096, 8192), -EINVAL);
	munmap(shared, 8192);
	munmap(file, 8192);
	munmap(hole, 3 * 4096);
	close(fd);
}

/* --- processes ------------------------------------------------------------------ */

static int in_child_of_fork(uint32_t *shared)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_access access = { .offset = AT(OPEN_PRODUCER, 0), .size = 4 };
	struct mimic_device *other;

	if (mimic_device_access(served_device, &access) != -ENODEV)
		return 1;
	if (mimic_device_open(&other, "maple0", &options) != -EBUSY)
		return 2;
	if (mimic_device_open(&other, "maple1", &options) != 0)
		return 3;
	if (mimic_device_access(other, &access) != 0)
		return 4;
	if (shared[0] != 5)
		return 5;
	shared[0] = 6;	/* a copy of ours */
	return 0;
}

static void a_child_of_fork_has_no_devices_and_its_own_memory(void **state)
{
	uint32_t *shared = mimic_memory_alloc(served_device, 4096);
	int status;
	pid_t child;

	(void)state;
	shared[0] = 5;
	child = fork();
	if (!child)
		_exit(in_child_of_fork(shared));
	waitpid(child, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(shared[0], 5);
	served_init(WORDS_32);
	mimic_memory_free(served_device, shared);
}

/* One whole program: opens a private device, sends numbers through it, checks them. */
static int be_a_client(int seed)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	uint64_t out[64];
	uint32_t in[64];
	struct mimic_access produce = { .offset = AT(PRODUCE, 0), .size = 4 };
	struct mimic_access consume = { .offset = AT(CONSUME, 0), .size = 4 };

	if (mimic_device_open(&served_device, "maple", &options))
		return 1;
	served_init(WORDS_128);
	served_open_both(0);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 64; i++)
			out[i] = (uint32_t)(seed * 1000003 + round * 64 + i);
		if (mimic_device_post(served_device, &produce, out, 64) != 64 ||
		    mimic_device_load(served_device, &consume, in, 64) != 64)
			return 2;
		for (int i = 0; i < 64; i++) {
			if (in[i] != out[i])
				return 3;
		}
	}
	mimic_device_close(served_device);
	return 0;
}

static int start_for_eight(void **state)
{
	(void)state;
	return daemon_device_start(9);
}

static void eight_programs_at_once_each_get_their_own_answers(void **state)
{
	pid_t children[8];

	(void)state;
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(be_a_client(i + 1));
	}
	for (int i = 0; i < 8; i++) {
		int status;

		waitpid(children[i], &status, 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void the_list_names_devices_and_their_users(void **state)
{
	struct json_object *list, *devices, *sessions, *user, *value;
	char *text;

	(void)state;
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	list = json_tokener_parse(text);
	assert_non_null(list);
	assert_true(json_object_object_get_ex(list, "devices", &devices));
	assert_int_equal(json_object_array_length(devices), 2);
	json_object_object_get_ex(json_object_array_get_idx(devices, 0), "name", &value);
	assert_string_equal(json_object_get_string(value), "maple0");
	json_object_object_get_ex(json_object_array_get_idx(devices, 0), "user", &user);
	json_object_object_get_ex(user, "pid", &value);
	assert_int_equal(json_object_get_int(value), getpid());
	json_object_object_get_ex(json_object_array_get_idx(devices, 1), "user", &user);
	assert_null(user);
	/* We with our device, and not the connection that asks. */
	assert_true(json_object_object_get_ex(list, "sessions", &sessions));
	assert_int_equal(json_object_array_length(sessions), 1);
	json_object_object_get_ex(json_object_array_get_idx(sessions, 0), "devices", &devices);
	assert_int_equal(json_object_array_length(devices), 1);
	json_object_put(list);
	free(text);
	assert_int_equal(mimic_daemon_list("/nowhere/at/all", &text), -ECONNREFUSED);
}

static void the_list_names_programs_without_a_device_too(void **state)
{
	struct json_object *list, *sessions;
	int idle = raw_client(served.socket);
	char *text;

	(void)state;
	assert_true(idle >= 0);
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	list = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(list, "sessions", &sessions));
	assert_int_equal(json_object_array_length(sessions), 2);
	json_object_put(list);
	free(text);
	close(idle);
}

/* --- options ---------------------------------------------------------------- */

static void given_devices_or_a_configuration_make_auto_embedded_beside_a_daemon(void **state)
{
	const struct mimic_options given[] = {
		{ .socket_path = served.socket, .devices = "maple:9" },
		{ .socket_path = served.socket, .config_path = "artifact" },
	};
	struct mimic_device *embedded;

	(void)state;
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		assert_int_equal(mimic_device_open(&embedded, "maple1", &given[i]), 0);
		assert_string_equal(mimic_device_transport(embedded), "embedded");
		mimic_device_close(embedded);
	}
}

static void empty_devices_and_configuration_are_not_given(void **state)
{
	const struct mimic_options options = {
		.transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket, .config_path = "", .devices = "",
	};
	struct mimic_device *second;

	(void)state;
	assert_int_equal(mimic_device_open(&second, "maple1", &options), 0);
	assert_string_equal(mimic_device_transport(second), "daemon");
	mimic_device_close(second);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, daemon_device_setup, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		TEST(streams_longer_than_the_rings_arrive_whole_and_in_order),
		TEST(streams_are_taken_by_pieces_whole_and_in_order),
		TEST(narrow_answers_are_packed_for_pieces_too),
		TEST(posts_of_a_thread_before_its_end_still_arrive),
		TEST(the_roles_of_a_thread_that_ended_are_free),
		TEST(posts_of_three_threads_that_take_turns_take_effect_in_that_order),
		TEST(a_load_comes_after_what_other_threads_posted_before_it),
		TEST(memory_that_was_never_registered_is_read),
		TEST(shared_and_other_addresses_mix_in_one_batch),
		TEST(addresses_that_cannot_be_read_give_0_and_count_as_faults),
		TEST(a_bad_address_in_a_batch_is_the_only_one_that_gives_0),
		TEST(atomics_work_on_shared_and_on_other_memory),
		TEST(allocated_memory_is_zeroed_aligned_and_below_2_to_the_40),
		TEST(registered_memory_keeps_its_contents_and_is_shared_both_ways),
		TEST(only_private_anonymous_memory_can_be_registered),
		TEST(a_child_of_fork_has_no_devices_and_its_own_memory),
		cmocka_unit_test_setup_teardown(eight_programs_at_once_each_get_their_own_answers, start_for_eight,
						daemon_device_teardown),
		TEST(the_list_names_devices_and_their_users),
		TEST(the_list_names_programs_without_a_device_too),
		TEST(given_devices_or_a_configuration_make_auto_embedded_beside_a_daemon),
		TEST(empty_devices_and_configuration_are_not_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
