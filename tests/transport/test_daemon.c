/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon transport at work: lanes, order, memory, signals, forks, many clients. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "libmimic/daemon_client.h"
#include "libmimic/memory.h"
#include "libmimic/mimic.h"
#include "tests/lib/daemon_fixture.h"

/* As the contract numbers them (docs/maple.md). */
enum { INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CLOSE_CONSUMER = 5, CONSUME = 7,
       PRODUCE = 8, SET_BASE32 = 57, ATOMIC_ADD = 32, FULL_POINTER32 = 16, FAULT_COUNT = 19, POINTER32 = 10,
       FAULT_ADDRESS = 18 };
#define AT(operation, field) ((operation) << 3 | (field) << 9)
#define WORDS_128 7
#define WORDS_32 2

static struct served served;
static struct mimic_device *device;

static int start_with(unsigned int devices)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON };

	alarm(120);
	if (!served_start(&served, devices, false))
		return -1;
	options.socket_path = served.socket;
	return mimic_device_open(&device, "maple0", &options);
}

static int start(void **state)
{
	(void)state;
	return start_with(2);
}

static int end(void **state)
{
	int status;

	(void)state;
	mimic_device_close(device);
	status = served_end(&served, SIGTERM);
	served_clean(&served);
	return status;
}

static uint64_t load(unsigned int operation, unsigned int field, unsigned int size)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = (uint8_t)size };

	assert_int_equal(mimic_device_access(device, &access), 0);
	return access.data;
}

static void store(unsigned int operation, unsigned int field, unsigned int size, uint64_t value)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = (uint8_t)size,
				       .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(device, &access), 0);
}

static void post(unsigned int operation, unsigned int field, unsigned int size,
		 const uint64_t *values, size_t count)
{
	struct mimic_access pattern = { .offset = AT(operation, field), .size = (uint8_t)size };

	assert_int_equal(mimic_device_post(device, &pattern, values, count), count);
}

static void init(unsigned int size_code)
{
	load(RESET, 0, 4);
	assert_int_equal(load(INIT, size_code, 4), 2);
}

static void open_both(unsigned int queue)
{
	assert_true(load(OPEN_PRODUCER, queue, 4) & 2);
	assert_true(load(OPEN_CONSUMER, queue, 4) & 1);
}

/* --- threads --------------------------------------------------------------- */

static void *produce_many(void *argument)
{
	const size_t count = *(size_t *)argument;
	uint64_t *values = malloc(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = i * 3 + 1;
	assert_true(load(OPEN_PRODUCER, 0, 4) & 2);
	post(PRODUCE, 0, 4, values, count);
	free(values);
	return NULL;
}

static void streams_longer_than_the_rings_arrive_whole_and_in_order(void **state)
{
	size_t count = 100000;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t *values = malloc(count * sizeof(*values));
	pthread_t producer;

	(void)state;
	init(WORDS_128);
	assert_true(load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_many, &count);
	assert_int_equal(mimic_device_load(device, &pattern, values, count), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(values[i], (uint32_t)(i * 3 + 1));
	pthread_join(producer, NULL);
	free(values);
}

static void what_a_thread_posted_before_it_ended_still_arrives(void **state)
{
	size_t count = 500;
	pthread_t producer;

	(void)state;
	init(WORDS_32);
	assert_true(load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_many, &count);
	pthread_join(producer, NULL);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(load(CONSUME, 0, 4), i * 3 + 1);
}

static void *take_producer(void *argument)
{
	(void)argument;
	assert_true(load(OPEN_PRODUCER, 0, 4) & 2);
	return NULL;
}

static void the_roles_of_a_thread_that_ended_are_free(void **state)
{
	pthread_t thread;

	(void)state;
	init(WORDS_32);
	pthread_create(&thread, NULL, take_producer, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(load(OPEN_PRODUCER, 0, 4), 2);
}

#define TURNS 2000

static pthread_barrier_t barrier;
static uint32_t *table;

/* Sets the base of queue 0 in every even turn; the main thread fetches in every odd one. */
static void *set_bases(void *argument)
{
	(void)argument;
	for (uint64_t i = 0; i < TURNS; i++) {
		uint64_t base = (uint64_t)(uintptr_t)&table[i];

		post(SET_BASE32, 0, 8, &base, 1);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void posts_of_two_threads_that_take_turns_take_effect_in_that_order(void **state)
{
	const uint64_t index = 1;
	pthread_t thread;

	(void)state;
	table = mimic_memory_alloc(device, (TURNS + 1) * sizeof(*table));
	for (uint32_t i = 0; i <= TURNS; i++)
		table[i] = i;
	init(WORDS_32);
	open_both(0);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, set_bases, NULL);
	for (uint32_t i = 0; i < TURNS; i++) {
		pthread_barrier_wait(&barrier);
		post(POINTER32, 0, 8, &index, 1);
		pthread_barrier_wait(&barrier);
		/* Consumed rarely, so that several turns are in the lanes at once. */
		for (uint32_t k = i - i % 16; i % 16 == 15 && k <= i; k++)
			assert_int_equal(load(CONSUME, 0, 4), k + 1);
	}
	pthread_join(thread, NULL);
	mimic_memory_free(device, table);
}

/* --- memory ------------------------------------------------------------------ */

static uint32_t fetch(const void *address)
{
	uint64_t pointer = (uint64_t)(uintptr_t)address;

	post(FULL_POINTER32, 0, 8, &pointer, 1);
	return (uint32_t)load(CONSUME, 0, 4);
}

static void memory_that_was_never_registered_is_read(void **state)
{
	uint64_t pointers[100];
	uint32_t values[100];

	(void)state;
	init(WORDS_128);
	open_both(0);
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = i ^ 0x5a5a;
		pointers[i] = (uint64_t)(uintptr_t)&values[99 - i];
	}
	post(FULL_POINTER32, 0, 8, pointers, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(load(CONSUME, 0, 4), (99 - i) ^ 0x5a5a);
	assert_int_equal(load(FAULT_COUNT, 0, 8), 0);
}

static void shared_and_other_addresses_mix_in_one_batch(void **state)
{
	uint32_t *shared = mimic_memory_alloc(device, 8192);
	uint32_t mine[64];
	uint64_t pointers[64];

	(void)state;
	init(WORDS_128);
	open_both(0);
	for (uint32_t i = 0; i < 64; i++) {
		shared[i] = 1000 + i;
		mine[i] = 2000 + i;
		pointers[i] = (uint64_t)(uintptr_t)(i % 3 ? &shared[i] : &mine[i]);
	}
	post(FULL_POINTER32, 0, 8, pointers, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(load(CONSUME, 0, 4), (i % 3 ? 1000 : 2000) + i);
	mimic_memory_free(device, shared);
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
	init(WORDS_32);
	open_both(0);
	assert_int_equal(fetch(NULL), 0);
	assert_int_equal(fetch(hidden), 0);
	assert_int_equal(fetch(beyond + 4096), 0);
	assert_int_equal(fetch((void *)0x7fff00000000), 0);
	assert_int_equal(load(FAULT_COUNT, 0, 8), 4);
	assert_int_equal(load(FAULT_ADDRESS, 0, 8), 0x7fff00000000);
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
	init(WORDS_128);
	open_both(0);
	for (uint32_t i = 0; i < 40; i++) {
		values[i] = 300 + i;
		pointers[i] = i % 13 == 7 ? 0x1000 : (uint64_t)(uintptr_t)&values[i];
	}
	post(FULL_POINTER32, 0, 8, pointers, 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(load(CONSUME, 0, 4), i % 13 == 7 ? 0 : 300 + i);
	assert_int_equal(load(FAULT_COUNT, 0, 8), 3);
}

/* Adds to memory[3] by ATOMIC_ADD and checks the old value. */
static void check_atomic(uint32_t *memory)
{
	memory[3] = 40;
	init(WORDS_32);
	open_both(0);
	store(SET_BASE32, 0, 8, (uint64_t)(uintptr_t)memory);
	store(ATOMIC_ADD, 0, 8, 3ull << 32 | 2);
	assert_int_equal(load(CONSUME, 0, 4), 40);
	assert_int_equal(memory[3], 42);
}

static void atomics_work_on_shared_and_on_other_memory(void **state)
{
	uint32_t *shared = mimic_memory_alloc(device, 4096);
	/* Bases have 40 bits in the artifact's profile. */
	uint32_t *mine = mimic_memory_map_low(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)state;
	check_atomic(shared);
	check_atomic(mine);
	munmap(mine, 4096);
	mimic_memory_free(device, shared);
}

static void allocated_memory_is_zeroed_aligned_and_below_2_to_the_40(void **state)
{
	const size_t sizes[] = { 1, 4096, 4097, 10000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *memory = mimic_memory_alloc(device, sizes[i]);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 4096, 0);
		assert_true((uintptr_t)memory + sizes[i] <= 1ull << 40);
		assert_int_equal(memory[0] | memory[sizes[i] - 1], 0);
		memset(memory, 1, sizes[i]);
		assert_int_equal(mimic_memory_free(device, memory), 0);
		assert_int_equal(mimic_memory_free(device, memory), -EINVAL);
	}
	assert_null(mimic_memory_alloc(device, 0));
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
	assert_int_equal(mimic_memory_register(device, memory + 100, 4 * 4096), 0);
	for (uint32_t i = 0; i < size / 4; i++)
		assert_int_equal(words[i], i * 7);
	init(WORDS_32);
	open_both(0);
	words[2000] = 77;
	assert_int_equal(fetch(&words[2000]), 77);
	assert_int_equal(fetch(&words[5]), 35);
	assert_int_equal(mimic_memory_register(device, memory + 4096, 4096), -EINVAL);
	assert_int_equal(mimic_memory_unregister(device, memory + 4096, 4096), -EINVAL);
	words[2001] = 78;
	assert_int_equal(mimic_memory_unregister(device, memory + 100, 4 * 4096), 0);
	assert_int_equal(words[2001], 78);
	assert_int_equal(mimic_memory_unregister(device, memory + 100, 4 * 4096), -EINVAL);
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
	assert_int_equal(mimic_memory_register(device, shared, 8192), -EINVAL);
	assert_int_equal(mimic_memory_register(device, file, 8192), -EINVAL);
	assert_int_equal(mimic_memory_register(device, hole, 3 * 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, (void *)-4096, 8192), -EINVAL);
	munmap(shared, 8192);
	munmap(file, 8192);
	munmap(hole, 3 * 4096);
	close(fd);
}

/* --- signals ------------------------------------------------------------------ */

static volatile uint64_t seen_by_handler;
static sigjmp_buf jump;
static volatile sig_atomic_t jump_wanted;

static void use_device(int signal_number)
{
	(void)signal_number;
	seen_by_handler = load(OPEN_PRODUCER, 1, 4);
	if (jump_wanted)
		siglongjmp(jump, 1);
}

static void only_jump(int signal_number)
{
	(void)signal_number;
	siglongjmp(jump, 1);
}

static void *interrupt_and_produce(void *argument)
{
	pthread_t waiter = *(pthread_t *)argument;
	const uint64_t value = 4711;

	assert_true(load(OPEN_PRODUCER, 0, 4) & 2);
	for (int i = 0; i < 5; i++) {
		test_sleep_ms(20);
		pthread_kill(waiter, SIGUSR1);
	}
	test_sleep_ms(20);
	post(PRODUCE, 0, 4, &value, 1);
	return NULL;
}

static void handle(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(signal_number, &action, NULL);
}

static void a_signal_handler_uses_the_device_while_its_thread_waits(void **state)
{
	pthread_t self = pthread_self();
	pthread_t thread;

	(void)state;
	jump_wanted = 0;
	seen_by_handler = 0;
	handle(SIGUSR1, use_device);
	init(WORDS_32);
	assert_true(load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&thread, NULL, interrupt_and_produce, &self);
	assert_int_equal(load(CONSUME, 0, 4), 4711);
	/* By our own thread: the handler has the same owner. */
	assert_int_equal(seen_by_handler, 2);
	pthread_join(thread, NULL);
}

static void a_handler_interrupts_a_batch_without_a_word_lost_or_doubled(void **state)
{
	size_t count = 30;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	pthread_t self = pthread_self();
	uint32_t values[31];
	pthread_t producer, interrupter;

	(void)state;
	jump_wanted = 0;
	handle(SIGUSR1, use_device);
	init(WORDS_32);
	assert_true(load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_many, &count);
	pthread_join(producer, NULL);
	/* The first 30 are there, the last comes after five signals. */
	pthread_create(&interrupter, NULL, interrupt_and_produce, &self);
	assert_int_equal(mimic_device_load(device, &pattern, values, 31), 31);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(values[i], i * 3 + 1);
	assert_int_equal(values[30], 4711);
	pthread_join(interrupter, NULL);
}

static void *signal_soon(void *argument)
{
	pthread_t waiter = *(pthread_t *)argument;

	test_sleep_ms(30);
	pthread_kill(waiter, SIGUSR1);
	return NULL;
}

static void wait_and_be_jumped_out(void)
{
	pthread_t self = pthread_self();
	pthread_t thread;

	pthread_create(&thread, NULL, signal_soon, &self);
	if (!sigsetjmp(jump, 1)) {
		load(CONSUME, 0, 4);
		fail();
	}
	pthread_join(thread, NULL);
}

static void check_nothing_was_stolen(void)
{
	for (uint32_t i = 0; i < 20; i++) {
		const uint64_t value = 900 + i;

		post(PRODUCE, 0, 4, &value, 1);
		assert_int_equal(load(CONSUME, 0, 4), 900 + i);
	}
}

static void a_wait_left_by_siglongjmp_takes_no_word(void **state)
{
	(void)state;
	handle(SIGUSR1, only_jump);
	init(WORDS_32);
	open_both(0);
	/* More often than there are levels of nesting. */
	for (int i = 0; i < 12; i++) {
		wait_and_be_jumped_out();
		check_nothing_was_stolen();
	}
}

__attribute__((noinline)) static void jump_deeper(int depth)
{
	volatile char filler[512];

	filler[0] = (char)depth;
	if (depth)
		jump_deeper(depth - 1);
	else
		wait_and_be_jumped_out();
	(void)filler[0];
}

static void waits_left_at_growing_depths_do_not_add_up(void **state)
{
	(void)state;
	handle(SIGUSR1, only_jump);
	init(WORDS_32);
	open_both(0);
	for (int depth = 0; depth < 12; depth++)
		jump_deeper(depth);
	check_nothing_was_stolen();
}

static void a_handler_that_used_the_device_may_leave_by_siglongjmp(void **state)
{
	(void)state;
	jump_wanted = 1;
	handle(SIGUSR1, use_device);
	init(WORDS_32);
	open_both(0);
	for (int i = 0; i < 4; i++) {
		wait_and_be_jumped_out();
		check_nothing_was_stolen();
	}
}

/* --- processes ------------------------------------------------------------------ */

static int in_child_of_fork(uint32_t *shared)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_access access = { .offset = AT(OPEN_PRODUCER, 0), .size = 4 };
	struct mimic_device *other;

	if (mimic_device_access(device, &access) != -ENODEV)
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
	uint32_t *shared = mimic_memory_alloc(device, 4096);
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
	init(WORDS_32);
	mimic_memory_free(device, shared);
}

/* One whole program: opens a private device, sends numbers through it, checks them. */
static int be_a_client(int seed)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	uint64_t out[64];
	uint32_t in[64];
	struct mimic_access produce = { .offset = AT(PRODUCE, 0), .size = 4 };
	struct mimic_access consume = { .offset = AT(CONSUME, 0), .size = 4 };

	if (mimic_device_open(&device, "maple", &options))
		return 1;
	init(WORDS_128);
	open_both(0);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 64; i++)
			out[i] = (uint32_t)(seed * 1000003 + round * 64 + i);
		if (mimic_device_post(device, &produce, out, 64) != 64 ||
		    mimic_device_load(device, &consume, in, 64) != 64)
			return 2;
		for (int i = 0; i < 64; i++) {
			if (in[i] != out[i])
				return 3;
		}
	}
	mimic_device_close(device);
	return 0;
}

static int start_for_eight(void **state)
{
	(void)state;
	return start_with(9);
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

static int start_idle(void **state)
{
	(void)state;
	return start_with(17);
}

static void an_idle_daemon_costs_next_to_nothing(void **state)
{
	struct raw_lane lanes[8];
	int clients[8];
	uint64_t before;

	(void)state;
	for (int i = 0; i < 8; i++) {
		int event_fd;
		uint32_t number;
		uint64_t answer, command;

		clients[i] = raw_client_with_event(served.socket, &event_fd);
		assert_int_equal(raw_open(clients[i], "maple", &number), 0);
		assert_int_equal(raw_open(clients[i], "maple", &number), 0);
		assert_int_equal(raw_lane(clients[i], 0, 0, &lanes[i]), 0);
		lanes[i].event_fd = event_fd;
		/* Every one has worked, the last waits in a device for ever. */
		command = mimic_command_pack(&(struct mimic_command){ .kind = MIMIC_COMMAND_LOAD,
			.device = (uint8_t)number, .size = 4, .offset = AT(INIT, 0), .count = 1 });
		raw_post(&lanes[i], &command, 1);
		assert_true(raw_answer(&lanes[i], &answer));
		assert_int_equal(answer, 2);
	}
	test_sleep_ms(100);
	before = served_cpu_ns(&served);
	test_sleep_ms(1000);
	/* 0.5 % of a second. */
	assert_true(served_cpu_ns(&served) - before < 5000000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(served_resident(&served) < 16u << 20);
#endif
	for (int i = 0; i < 8; i++) {
		close(lanes[i].event_fd);
		raw_lane_unmap(&lanes[i]);
		close(clients[i]);
	}
}

static void the_list_names_devices_and_their_users(void **state)
{
	struct json_object *list, *devices, *user, *value;
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
	json_object_put(list);
	free(text);
	assert_int_equal(mimic_daemon_list("/nowhere/at/all", &text), -ECONNREFUSED);
}

/* --- bad lanes -------------------------------------------------------------------- */

struct bad_client {
	int socket;
	struct raw_lane lane;
	uint32_t device;
};

static void bad_client_start(struct bad_client *client)
{
	int event_fd;

	client->socket = raw_client_with_event(served.socket, &event_fd);
	assert_int_equal(raw_open(client->socket, "maple1", &client->device), 0);
	assert_int_equal(raw_lane(client->socket, 0, 0, &client->lane), 0);
	client->lane.event_fd = event_fd;
}

/* The session ends with that reason, the device is free, and others are served. */
static void bad_client_expect_end(struct bad_client *client, const char *reason)
{
	char reply[MIMIC_MESSAGE_MAX];
	uint32_t number;
	int ignored, other;

	assert_int_equal(raw_receive(client->socket, reply, sizeof(reply), &ignored), 0);
	assert_true(served_said(&served, reason));
	close(client->socket);
	close(client->lane.event_fd);
	raw_lane_unmap(&client->lane);
	other = raw_client(served.socket);
	assert_int_equal(raw_open(other, "maple1", &number), 0);
	close(other);
	init(WORDS_32);
}

static uint64_t command_word(unsigned int kind, unsigned int number, unsigned int size, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = (enum mimic_command_kind)kind,
		.device = (uint8_t)number, .size = (uint8_t)size, .count = count,
		.offset = AT(OPEN_PRODUCER, 0) });
}

static void words_that_are_no_commands_end_the_session(void **state)
{
	const uint64_t words[] = {
		0, ~0ull, command_word(0, 0, 4, 1), command_word(5, 0, 4, 1), command_word(0xff, 0, 4, 1),
		command_word(MIMIC_COMMAND_LOAD, 0, 0, 1), command_word(MIMIC_COMMAND_LOAD, 0, 3, 1),
		command_word(MIMIC_COMMAND_LOAD, 0, 4, 0),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct bad_client client;

		bad_client_start(&client);
		raw_post(&client.lane, &words[i], 1);
		bad_client_expect_end(&client, "a word that is no command");
	}
}

static void a_command_for_a_device_of_somebody_else_ends_the_session(void **state)
{
	struct bad_client client;
	uint64_t word;

	(void)state;
	bad_client_start(&client);
	word = command_word(MIMIC_COMMAND_LOAD, client.device + 1, 4, 1);
	raw_post(&client.lane, &word, 1);
	bad_client_expect_end(&client, "a command for a device that it has not opened");
}

static void more_answers_than_the_ring_holds_end_the_session(void **state)
{
	const uint32_t counts[] = { MIMIC_LANE_RESPONSE_WORDS + 1, MIMIC_COMMAND_COUNT_MAX };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bad_client client;
		uint64_t word;

		bad_client_start(&client);
		word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, counts[i]);
		raw_post(&client.lane, &word, 1);
		bad_client_expect_end(&client, "more answers than its ring has room for");
	}
}

static void ring_positions_that_cannot_be_end_the_session(void **state)
{
	const uint64_t heads[] = { MIMIC_LANE_COMMAND_WORDS + 1, 1ull << 40, ~0ull };
	const uint64_t one = 1;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bad_client client;

		bad_client_start(&client);
		atomic_store(&client.lane.commands.ring->head, heads[i]);
		(void)!write(client.lane.event_fd, &one, sizeof(one));
		bad_client_expect_end(&client, "a ring position that cannot be");
	}
}

static void a_response_position_that_cannot_be_ends_the_session(void **state)
{
	struct bad_client client;
	uint64_t word;

	(void)state;
	bad_client_start(&client);
	atomic_store(&client.lane.responses.ring->tail, 1000);
	word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, MIMIC_LANE_RESPONSE_WORDS);
	raw_post(&client.lane, &word, 1);
	/* That many there is room for by any count; the next look finds the lie. */
	raw_post(&client.lane, &word, 1);
	bad_client_expect_end(&client, "lane");
}

static void half_a_command_is_waited_for_at_no_cost(void **state)
{
	struct bad_client client;
	uint64_t words[2], answer, before;

	(void)state;
	bad_client_start(&client);
	words[0] = command_word(MIMIC_COMMAND_STORE_ACKNOWLEDGED, client.device, 8, 2);
	words[1] = 0;
	raw_post(&client.lane, words, 2);
	test_sleep_ms(50);
	before = served_cpu_ns(&served);
	test_sleep_ms(300);
	assert_true(served_cpu_ns(&served) - before < 5000000);
	raw_post(&client.lane, words + 1, 1);
	assert_true(raw_answer(&client.lane, &answer));
	assert_int_equal(answer, 0);
	close(client.socket);
	close(client.lane.event_fd);
	raw_lane_unmap(&client.lane);
}

static void words_of_order_may_name_anything(void **state)
{
	struct bad_client client;
	uint64_t answer, load_word;

	(void)state;
	bad_client_start(&client);
	load_word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, 1);
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t words[2] = { mimic_lane_order(i * 977, i * 0x123456789abull), load_word };

		raw_post(&client.lane, words, 2);
		assert_true(raw_answer(&client.lane, &answer));
	}
	close(client.socket);
	close(client.lane.event_fd);
	raw_lane_unmap(&client.lane);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(streams_longer_than_the_rings_arrive_whole_and_in_order),
		TEST(what_a_thread_posted_before_it_ended_still_arrives),
		TEST(the_roles_of_a_thread_that_ended_are_free),
		TEST(posts_of_two_threads_that_take_turns_take_effect_in_that_order),
		TEST(memory_that_was_never_registered_is_read),
		TEST(shared_and_other_addresses_mix_in_one_batch),
		TEST(addresses_that_cannot_be_read_give_0_and_count_as_faults),
		TEST(a_bad_address_in_a_batch_is_the_only_one_that_gives_0),
		TEST(atomics_work_on_shared_and_on_other_memory),
		TEST(allocated_memory_is_zeroed_aligned_and_below_2_to_the_40),
		TEST(registered_memory_keeps_its_contents_and_is_shared_both_ways),
		TEST(only_private_anonymous_memory_can_be_registered),
		TEST(a_signal_handler_uses_the_device_while_its_thread_waits),
		TEST(a_handler_interrupts_a_batch_without_a_word_lost_or_doubled),
		TEST(a_wait_left_by_siglongjmp_takes_no_word),
		TEST(waits_left_at_growing_depths_do_not_add_up),
		TEST(a_handler_that_used_the_device_may_leave_by_siglongjmp),
		TEST(a_child_of_fork_has_no_devices_and_its_own_memory),
		cmocka_unit_test_setup_teardown(eight_programs_at_once_each_get_their_own_answers,
						start_for_eight, end),
		cmocka_unit_test_setup_teardown(an_idle_daemon_costs_next_to_nothing, start_idle, end),
		TEST(the_list_names_devices_and_their_users),
		TEST(words_that_are_no_commands_end_the_session),
		TEST(a_command_for_a_device_of_somebody_else_ends_the_session),
		TEST(more_answers_than_the_ring_holds_end_the_session),
		TEST(ring_positions_that_cannot_be_end_the_session),
		TEST(a_response_position_that_cannot_be_ends_the_session),
		TEST(half_a_command_is_waited_for_at_no_cost),
		TEST(words_of_order_may_name_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
