/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo on the embedded transport: jobs, waiting, threads, the shared memory, events. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/virgo_embedded.h"

static void sleep_ms(unsigned int milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

static double cpu_seconds_of_this_thread(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void start_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
	assert_int_equal(pthread_create(thread, NULL, function, argument), 0);
}

/* --- jobs and waiting ------------------------------------------------------------------- */

static void commands_are_done_while_the_program_does_nothing(void **state)
{
	(void)state;
	unit_work(cluster, UNIT_FP32, 50);
	/* Nobody looks at the device meanwhile. */
	for (int i = 0; i < 1000 && unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED) < 52; i++)
		sleep_ms(20);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 52);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_BUSY), 0);
}

static void a_poll_of_busy_ends(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		unit_work(cluster, UNIT_INT8, 1);
		while (unit_load(cluster, UNIT_INT8, VIRGO_BUSY))
			;
		assert_int_equal(unit_load(cluster, UNIT_INT8, VIRGO_COMPLETED), 3 * (i + 1));
	}
}

static void a_fence_waits_for_all_that_was_posted(void **state)
{
	static unsigned char from[64 * ROW_BYTES], to[64 * ROW_BYTES];

	(void)state;
	unit_configure(cluster);
	for (unsigned int round = 0; round < 200; round++) {
		memset(from, (int)round, sizeof(from));
		for (uint32_t row = 0; row < 64; row++)
			unit_move_in(cluster, from + row * ROW_BYTES, row, 1);
		unit_move_out(cluster, to, 0, 64);
		unit_fence(cluster, UNIT_FP32);
		assert_memory_equal(to, from, sizeof(to));
	}
}

static void a_wait_for_loops_lets_so_many_be_left(void **state)
{
	(void)state;
	unit_work(cluster, UNIT_FP32, 12);
	assert_true(unit_load(cluster, UNIT_FP32, VIRGO_WAIT_LOOPS_3) <= 3);
	assert_true(unit_load(cluster, UNIT_FP32, VIRGO_WAIT_LOOPS_1) <= 1);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_WAIT_LOOPS_0), 0);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 14);
}

/* More than the queue and the thread's ring hold together. */
static void a_post_longer_than_everything_waits_for_room(void **state)
{
	enum { COMMANDS = 3000 };
	const struct mimic_access stream = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(UNIT_FP32, STREAM), .size = 8, .is_write = 1,
	};
	static uint64_t words[COMMANDS][3];
	static float value[COMMANDS], out[8];

	(void)state;
	unit_configure(cluster);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		value[i] = (float)i;
		words[i][0] = (uint64_t)(uintptr_t)&value[i];
		words[i][1] = 1ull << 48 | 1ull << 32 | 5;
		words[i][2] = VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN);
	}
	assert_int_equal(mimic_device_post(cluster, &stream, words[0], 3 * COMMANDS), 3 * COMMANDS);
	unit_move_out(cluster, out, 5, 1);
	unit_fence(cluster, UNIT_FP32);
	assert_true(out[0] == COMMANDS - 1);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), COMMANDS + 3);
}

static void a_bad_address_is_an_error_of_its_unit_alone(void **state)
{
	unsigned char *hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static unsigned char to[ROW_BYTES];

	(void)state;
	cluster_restore_handlers();
	assert_ptr_not_equal(hole, MAP_FAILED);
	assert_int_equal(munmap(hole + 4096, 4096), 0);
	unit_configure(cluster);
	/* Row 1 of 2 is behind the end. */
	unit_move_in(cluster, hole + 4096 - ROW_BYTES, 0, 2);
	unit_work(cluster, UNIT_INT8, 3);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_FENCE) & (VIRGO_STATUS_BUSY | VIRGO_STATUS_ERROR),
			 VIRGO_STATUS_ERROR);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_ERROR), VIRGO_ERROR_LOAD);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_ERROR_ADDRESS), (uint64_t)(uintptr_t)hole + 4096);
	unit_fence(cluster, UNIT_INT8);
	unit_store(cluster, UNIT_FP32, VIRGO_ERROR, 0);
	unit_move_out(cluster, to, 0, 1);
	unit_fence(cluster, UNIT_FP32);
	munmap(hole, 4096);
}

/* --- threads -------------------------------------------------------------------------------- */

static void *work_and_fence(void *argument)
{
	unsigned int unit = (unsigned int)(uintptr_t)argument;

	for (int i = 0; i < 100; i++) {
		unit_work(cluster, unit, 2);
		unit_load(cluster, unit, VIRGO_WAIT_LOOPS_1);
	}
	unit_fence(cluster, unit);
	return NULL;
}

static void four_threads_use_four_units(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		start_thread(&threads[i], work_and_fence, (void *)i);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(unit_load(cluster, i, VIRGO_COMPLETED), 400);
		assert_int_equal(unit_load(cluster, i, VIRGO_BUSY), 0);
	}
}

static void one_thread_feeds_two_units_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		unit_work(cluster, UNIT_FP32, 1);
		unit_work(cluster, UNIT_INT8, 1);
		unit_load(cluster, UNIT_FP32, VIRGO_WAIT_LOOPS_1);
		unit_load(cluster, UNIT_INT8, VIRGO_WAIT_LOOPS_1);
	}
	unit_fence(cluster, UNIT_FP32);
	unit_fence(cluster, UNIT_INT8);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 300);
	assert_int_equal(unit_load(cluster, UNIT_INT8, VIRGO_COMPLETED), 300);
}

static float turn_values[2][400];

static void *take_a_turn(void *argument)
{
	const float *values = argument;

	for (int i = 0; i < 400; i++)
		unit_command(cluster, UNIT_FP32, VIRGO_FUNCT_MVIN, (uint64_t)(uintptr_t)&values[i],
			     1ull << 48 | 1ull << 32 | 7);
	return NULL;
}

/* The first one's commands are held up by a full queue when it returns; the second's come after them all the same. */
static void posts_of_threads_that_take_turns_keep_their_order(void **state)
{
	static float out[8];

	(void)state;
	unit_configure(cluster);
	for (int round = 0; round < 30; round++) {
		pthread_t thread;

		turn_values[0][399] = (float)round + 1000;
		turn_values[1][399] = (float)round + 2000;
		unit_work(cluster, UNIT_FP32, 4);
		start_thread(&thread, take_a_turn, turn_values[0]);
		pthread_join(thread, NULL);
		take_a_turn(turn_values[1]);
		start_thread(&thread, take_a_turn, turn_values[0]);
		pthread_join(thread, NULL);
		take_a_turn(turn_values[1]);
		unit_move_out(cluster, out, 7, 1);
		unit_fence(cluster, UNIT_FP32);
		assert_true(out[0] == (float)round + 2000);
	}
}

static void *fence_of_another(void *argument)
{
	unit_fence(cluster, UNIT_FP32);
	*(uint64_t *)argument = unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED);
	return NULL;
}

static void a_fence_waits_for_what_another_thread_has_posted(void **state)
{
	uint64_t before = 0, completed;
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 30; i++) {
		unit_work(cluster, UNIT_FP32, 60);
		before += 62;
		start_thread(&thread, fence_of_another, &completed);
		pthread_join(thread, NULL);
		assert_int_equal(completed, before);
	}
}

static void *arrive_late(void *argument)
{
	(void)argument;
	sleep_ms(300);
	cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(2));
	return NULL;
}

static void a_thread_at_a_barrier_sleeps(void **state)
{
	pthread_t thread;
	double seconds;

	(void)state;
	cluster_store(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(2), 2);
	start_thread(&thread, arrive_late, NULL);
	seconds = cpu_seconds_of_this_thread();
	assert_int_equal(cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(2)), 0);
	seconds = cpu_seconds_of_this_thread() - seconds;
	pthread_join(thread, NULL);
	assert_true(seconds < 0.1);
}

#define CROWD 260

static void *wait_in_the_crowd(void *argument)
{
	const unsigned int barrier = *(const unsigned int *)argument;

	cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(barrier));
	return NULL;
}

static unsigned int arrived_at(unsigned int barrier)
{
	return cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_STATUS(barrier)) & 0xff;
}

/* 254 at one barrier, 6 at another, and then one more. */
static void a_barrier_waits_also_if_many_wait_elsewhere(void **state)
{
	static const unsigned int barriers[] = { 0, 1, 2 }, counts[] = { 254, 6, 1 };
	pthread_t threads[CROWD + 1];
	pthread_attr_t small;

	(void)state;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	for (unsigned int b = 0, t = 0; b < 3; b++) {
		cluster_store(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(b), counts[b] + 1);
		for (unsigned int i = 0; i < counts[b]; i++)
			assert_int_equal(pthread_create(&threads[t++], &small, wait_in_the_crowd,
							(void *)&barriers[b]), 0);
		for (int i = 0; i < 10000 && arrived_at(b) < counts[b]; i++)
			sleep_ms(1);
		assert_int_equal(arrived_at(b), counts[b]);
	}
	unit_work(cluster, UNIT_FP32, 100);
	unit_fence(cluster, UNIT_FP32);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_BUSY), 0);
	for (unsigned int b = 0; b < 3; b++)
		assert_int_equal(cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(b)), 0);
	for (unsigned int t = 0; t < CROWD + 1; t++)
		pthread_join(threads[t], NULL);
	pthread_attr_destroy(&small);
}

/* --- clusters and their memory ----------------------------------------------------------------- */

static void two_clusters_work_side_by_side_and_there_is_no_third(void **state)
{
	struct mimic_device *other, *third;
	size_t size, other_size;
	unsigned char *memory = cluster_memory(cluster, &size), *other_memory;

	(void)state;
	assert_int_equal(mimic_device_open(&other, "virgo", &cluster_options), 0);
	assert_string_equal(mimic_device_name(other), "virgo1");
	assert_int_equal(mimic_device_open(&third, "virgo", &cluster_options), -EBUSY);
	assert_int_equal(mimic_device_open(&third, "virgo@0", &cluster_options), -ENOENT);
	other_memory = cluster_memory(other, &other_size);
	assert_ptr_not_equal(memory, other_memory);
	memory[10] = 1;
	assert_int_equal(other_memory[10], 0);
	unit_work(cluster, UNIT_FP32, 40);
	unit_work(other, UNIT_FP32, 40);
	unit_fence(cluster, UNIT_FP32);
	unit_fence(other, UNIT_FP32);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 42);
	assert_int_equal(unit_load(other, UNIT_FP32, VIRGO_COMPLETED), 42);
	mimic_device_close(other);
}

static void the_shared_memory_is_the_scratchpad(void **state)
{
	static unsigned char from[4 * ROW_BYTES], to[4 * ROW_BYTES];
	size_t size;
	unsigned char *memory = cluster_memory(cluster, &size);

	(void)state;
	assert_int_equal(size, cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_SHARED_SIZE));
	assert_ptr_equal(cluster_memory(cluster, NULL), memory);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(memory[i], 0);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)(i + 1);
	unit_configure(cluster);
	unit_move_in(cluster, from, 100, 4);
	unit_fence(cluster, UNIT_FP32);
	assert_memory_equal(memory + 100 * ROW_BYTES, from, sizeof(from));
	memory[101 * ROW_BYTES] = 200;
	unit_move_out(cluster, to, 100, 4);
	unit_fence(cluster, UNIT_FP32);
	from[ROW_BYTES] = 200;
	assert_memory_equal(to, from, sizeof(to));
}

/* While the unit fills one half, the program reads the other. */
static void program_and_device_use_the_shared_memory_at_the_same_time(void **state)
{
	static unsigned char from[2][512 * ROW_BYTES];
	unsigned char *memory = cluster_memory(cluster, NULL);
	const size_t half = sizeof(from[0]);

	(void)state;
	unit_configure(cluster);
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int now = round % 2;

		memset(from[now], (int)round, half);
		for (uint32_t i = 0; i < 8; i++)
			unit_move_in(cluster, from[now] + i * half / 8, now * 512 + i * 64, 64);
		if (round)
			assert_memory_equal(memory + half * !now, from[!now], half);
		unit_fence(cluster, UNIT_FP32);
	}
}

static void a_reopened_cluster_is_cleared(void **state)
{
	unsigned char *memory = cluster_memory(cluster, NULL);

	(void)state;
	memory[77] = 77;
	cluster_store(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(0), 9);
	mimic_device_close(cluster);
	assert_int_equal(mimic_device_open(&cluster, "virgo0", &cluster_options), 0);
	assert_int_equal(cluster_memory(cluster, NULL)[77], 0);
	assert_int_equal(cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(0)), 0);
}

static void a_device_of_another_kind_has_neither_memory_nor_events(void **state)
{
	struct mimic_device *maple;
	void *memory;
	size_t size;

	(void)state;
	assert_int_equal(mimic_device_open(&maple, "maple", &cluster_options), 0);
	assert_int_equal(mimic_device_memory(maple, &memory, &size), -ENXIO);
	assert_int_equal(mimic_device_eventfd(maple, -1, 0), -ENXIO);
	mimic_device_close(maple);
}

/* --- events ------------------------------------------------------------------------------------- */

static bool is_counted(int fd, int timeout_ms)
{
	struct pollfd state = { .fd = fd, .events = POLLIN };

	return poll(&state, 1, timeout_ms) == 1;
}

static uint64_t take_count(int fd)
{
	uint64_t count = 0;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

static uint64_t event_status(void)
{
	return cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS);
}

static void an_eventfd_counts_when_a_unit_becomes_idle(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	(void)state;
	assert_int_equal(mimic_device_eventfd(cluster, fd, VIRGO_EVENT_IDLE(UNIT_FP32)), 0);
	for (int i = 0; i < 20; i++) {
		unit_work(cluster, UNIT_INT8, 1);
		unit_fence(cluster, UNIT_INT8);
		assert_false(is_counted(fd, 0));
		unit_configure(cluster);
		assert_true(is_counted(fd, 10000));
		unit_fence(cluster, UNIT_FP32);
		assert_in_range(take_count(fd), 1, 2);
		while (is_counted(fd, 0))
			take_count(fd);
		/* Cleared, and the others left alone. */
		assert_int_equal(event_status() & VIRGO_EVENT_IDLE(UNIT_FP32), 0);
		assert_int_equal(event_status() & VIRGO_EVENT_IDLE(UNIT_INT8), VIRGO_EVENT_IDLE(UNIT_INT8));
	}
	close(fd);
}

static void events_before_the_eventfd_count(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	(void)state;
	unit_work(cluster, UNIT_FP32, 1);
	unit_fence(cluster, UNIT_FP32);
	assert_int_equal(mimic_device_eventfd(cluster, fd, VIRGO_EVENT_LOOP(UNIT_FP32)), 0);
	assert_true(is_counted(fd, 0));
	assert_int_equal(take_count(fd), 1);
	close(fd);
}

static void an_eventfd_takes_the_place_of_the_one_before(void **state)
{
	int first = eventfd(0, EFD_CLOEXEC), second = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(mimic_device_eventfd(cluster, first, VIRGO_EVENT_ERROR(UNIT_FP32)), 0);
	assert_int_equal(mimic_device_eventfd(cluster, second, VIRGO_EVENT_ERROR(UNIT_FP32)), 0);
	unit_command(cluster, UNIT_FP32, 99, 0, 0);
	assert_true(is_counted(second, 10000));
	assert_false(is_counted(first, 0));
	take_count(second);
	unit_load(cluster, UNIT_FP32, VIRGO_FENCE);
	unit_store(cluster, UNIT_FP32, VIRGO_ERROR, 0);
	assert_int_equal(mimic_device_eventfd(cluster, -1, 0), 0);
	unit_command(cluster, UNIT_FP32, 99, 0, 0);
	unit_load(cluster, UNIT_FP32, VIRGO_FENCE);
	assert_false(is_counted(second, 0));
	/* Without one, the events are the program's to see. */
	assert_true(event_status() & VIRGO_EVENT_ERROR(UNIT_FP32));
	close(first);
	close(second);
}

static void a_descriptor_that_is_no_eventfd_is_refused(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC), ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mimic_device_eventfd(cluster, ends[1], VIRGO_EVENT_BARRIER), -EINVAL);
	assert_int_equal(mimic_device_eventfd(cluster, 12345, VIRGO_EVENT_BARRIER), -EBADF);
	assert_int_equal(mimic_device_eventfd(cluster, fd, 1ull << 25), -EINVAL);
	assert_int_equal(mimic_device_eventfd(cluster, fd, 0), 0);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* The program closes its descriptor, and the number becomes another file's. */
static void a_closed_descriptor_does_no_harm(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC), ends[2];

	(void)state;
	assert_int_equal(mimic_device_eventfd(cluster, fd, VIRGO_EVENT_IDLE(UNIT_FP32)), 0);
	close(fd);
	assert_int_equal(pipe(ends), 0);
	unit_configure(cluster);
	unit_fence(cluster, UNIT_FP32);
	assert_false(is_counted(ends[0], 0));
	close(ends[0]);
	close(ends[1]);
}

/* A write to a full counter would wait for a reader. */
static void a_full_counter_does_not_hold_the_device_up(void **state)
{
	const uint64_t most = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, &most, sizeof(most)), sizeof(most));
	assert_int_equal(mimic_device_eventfd(cluster, fd, VIRGO_EVENT_IDLE(UNIT_FP32)), 0);
	unit_configure(cluster);
	unit_fence(cluster, UNIT_FP32);
	assert_int_equal(take_count(fd), most);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLUSTER_TEST(commands_are_done_while_the_program_does_nothing),
		CLUSTER_TEST(a_poll_of_busy_ends),
		CLUSTER_TEST(a_fence_waits_for_all_that_was_posted),
		CLUSTER_TEST(a_wait_for_loops_lets_so_many_be_left),
		CLUSTER_TEST(a_post_longer_than_everything_waits_for_room),
		CLUSTER_TEST(a_bad_address_is_an_error_of_its_unit_alone),
		CLUSTER_TEST(four_threads_use_four_units),
		CLUSTER_TEST(one_thread_feeds_two_units_at_once),
		CLUSTER_TEST(posts_of_threads_that_take_turns_keep_their_order),
		CLUSTER_TEST(a_fence_waits_for_what_another_thread_has_posted),
		CLUSTER_TEST(a_thread_at_a_barrier_sleeps),
		CLUSTER_TEST(a_barrier_waits_also_if_many_wait_elsewhere),
		CLUSTER_TEST(two_clusters_work_side_by_side_and_there_is_no_third),
		CLUSTER_TEST(the_shared_memory_is_the_scratchpad),
		CLUSTER_TEST(program_and_device_use_the_shared_memory_at_the_same_time),
		CLUSTER_TEST(a_reopened_cluster_is_cleared),
		CLUSTER_TEST(a_device_of_another_kind_has_neither_memory_nor_events),
		CLUSTER_TEST(an_eventfd_counts_when_a_unit_becomes_idle),
		CLUSTER_TEST(events_before_the_eventfd_count),
		CLUSTER_TEST(an_eventfd_takes_the_place_of_the_one_before),
		CLUSTER_TEST(a_descriptor_that_is_no_eventfd_is_refused),
		CLUSTER_TEST(a_closed_descriptor_does_no_harm),
		CLUSTER_TEST(a_full_counter_does_not_hold_the_device_up),
	};

	return cluster_run_tests("virgo embedded", tests, sizeof(tests) / sizeof(tests[0]));
}
