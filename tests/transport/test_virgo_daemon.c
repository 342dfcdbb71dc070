/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo clusters of a daemon: work on several threads, memory of their own, events. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/daemon/client.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/session.h"
#include "tests/lib/virgo_client.h"

#define SIDE 192u

static struct served served;

static int start(void **state)
{
	(void)state;
	return virgo_daemon_start(&served, 2, 0);
}

static int end(void **state)
{
	(void)state;
	return virgo_daemon_end(&served);
}

/* --- products ----------------------------------------------------------------------- */

/* Exit status of a process that multiplies on a cluster of its own: 0 if all is right. */
static int multiply_in_child(unsigned int seed, bool shared)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo");
	struct virgo_client_product product;
	size_t wrong = 0;

	virgo_client_alloc(device, &product, SIDE, shared);
	for (unsigned int i = 0; i < 4; i++) {
		virgo_client_fill(&product, seed + i);
		virgo_client_post(device, UNIT_FP32, &product);
		if (virgo_client_fence(device, UNIT_FP32) != VIRGO_ERROR_NONE)
			return 2;
		wrong += virgo_client_wrong(&product);
	}
	mimic_device_close(device);
	return wrong ? 1 : 0;
}

static void expect_ends_well(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect_products_of_processes(bool shared)
{
	pid_t children[2];

	for (unsigned int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(multiply_in_child(i * 100, shared));
	}
	for (unsigned int i = 0; i < 2; i++)
		expect_ends_well(children[i]);
}

static void processes_with_a_cluster_each_multiply_at_once(void **state)
{
	(void)state;
	expect_products_of_processes(true);
}

static void processes_multiply_what_they_do_not_share(void **state)
{
	(void)state;
	expect_products_of_processes(false);
}

static void two_units_of_a_cluster_multiply_at_once(void **state)
{
	const unsigned int units[] = { UNIT_FP32, UNIT_FP32_SMALL };
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	struct virgo_client_product products[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		virgo_client_alloc(device, &products[i], SIDE, true);
		virgo_client_fill(&products[i], i);
	}
	for (unsigned int i = 0; i < 2; i++)
		virgo_client_post(device, units[i], &products[i]);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(virgo_client_fence(device, units[i]), VIRGO_ERROR_NONE);
		assert_int_equal(virgo_client_wrong(&products[i]), 0);
		assert_int_equal(virgo_client_unit(device, units[i], VIRGO_LOOPS), 0);
	}
	mimic_device_close(device);
}

/* --- whose cluster it is ---------------------------------------------------------------- */

static void a_cluster_belongs_to_one_process(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	int other = raw_client(served.socket);
	uint32_t number;

	(void)state;
	assert_int_equal(raw_open(other, "virgo0", &number), -EBUSY);
	assert_int_equal(raw_open(other, "virgo", &number), 0);
	assert_int_equal(raw_open(other, "virgo@0", &number), -ENOENT);
	assert_int_equal(raw_open(other, "virgo2", &number), -ENODEV);
	close(other);
	mimic_device_close(device);
}

static void the_list_names_a_cluster_its_program_and_its_counters(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo1");
	char *text = NULL;

	(void)state;
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	assert_non_null(strstr(text, "\"name\":\"virgo1\""));
	assert_non_null(strstr(text, "\"kind\":\"virgo\""));
	assert_non_null(strstr(text, "\"memory\":131072"));
	assert_non_null(strstr(text, "\"commands\":1"));
	assert_non_null(strstr(text, "\"program\":\"test_virgo_daem\""));
	free(text);
	mimic_device_close(device);
}

static void clusters_are_added_and_removed(void **state)
{
	char name[MIMIC_NAME_MAX];
	struct mimic_device *device;

	(void)state;
	assert_int_equal(mimic_daemon_add(served.socket, "virgo", name), 0);
	assert_string_equal(name, "virgo2");
	device = virgo_client_open(&served, "virgo2");
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	mimic_device_close(device);
	assert_int_equal(mimic_daemon_remove(served.socket, "virgo2"), 0);
	assert_int_equal(mimic_daemon_remove(served.socket, "virgo2"), -ENODEV);
}

/* --- shared memory ------------------------------------------------------------------------- */

static unsigned char *shared_memory(struct mimic_device *device)
{
	size_t size;
	void *address;

	assert_int_equal(mimic_device_memory(device, &address, &size), 0);
	assert_int_equal(size, 128 << 10);
	return address;
}

/* 8 rows of 8 fp32 from the scratchpad's start. */
static void configure_moves(struct mimic_device *device)
{
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG,
			     0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD, 32);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 32);
}

#define BLOCK_8X8 (8ull << 48 | 8ull << 32)

static void the_programs_shared_memory_is_the_devices_scratchpad(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	unsigned char *shared = shared_memory(device);
	unsigned char *buffer = mimic_memory_alloc(device, 4096);

	(void)state;
	configure_moves(device);
	for (unsigned int i = 0; i < 256; i++)
		shared[i] = (unsigned char)(i * 7 + 1);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVOUT, (uintptr_t)buffer, BLOCK_8X8);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	for (unsigned int i = 0; i < 256; i++) {
		assert_int_equal(buffer[i], (unsigned char)(i * 7 + 1));
		buffer[i] = (unsigned char)(i * 5 + 2);
	}
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVIN, (uintptr_t)buffer, BLOCK_8X8 | 64);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	for (unsigned int i = 0; i < 256; i++)
		assert_int_equal(shared[64 * 32 + i], (unsigned char)(i * 5 + 2));
	mimic_device_close(device);
}

/* OPEN by hand: the memory that came along, mapped. */
static unsigned char *open_and_map(int socket, uint32_t *number)
{
	struct mimic_open message = { .name = "virgo0" };
	struct mimic_open_reply reply;
	unsigned char *shared;
	int fd;

	assert_int_equal(raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_OPEN, -1, &reply,
				     sizeof(reply), &fd), 0);
	assert_int_equal(reply.memory_size, 128 << 10);
	assert_true(fd >= 0);
	/* Neither side can take pages from under the other. */
	assert_int_equal(ftruncate(fd, 4096), -1);
	assert_int_equal(ftruncate(fd, 1 << 20), -1);
	shared = mmap(NULL, reply.memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(shared != MAP_FAILED);
	close(fd);
	*number = reply.device;
	return shared;
}

static void a_mapping_left_by_a_program_is_not_the_next_ones_memory(void **state)
{
	int socket = raw_client(served.socket);
	struct mimic_device *device;
	unsigned char *left, *shared;
	uint32_t number;

	(void)state;
	left = open_and_map(socket, &number);
	memset(left, 0xa5, 128 << 10);
	assert_int_equal(raw_number(socket, MIMIC_MESSAGE_CLOSE, number), 0);
	device = virgo_client_open(&served, "virgo0");
	shared = shared_memory(device);
	for (unsigned int i = 0; i < 128 << 10; i++)
		assert_int_equal(shared[i], 0);
	left[0] = 1;
	assert_int_equal(shared[0], 0);
	shared[1] = 2;
	assert_int_equal(left[1], 0xa5);
	munmap(left, 128 << 10);
	close(socket);
	mimic_device_close(device);
}

static void an_instance_without_memory_comes_without_a_descriptor(void **state)
{
	struct mimic_open message = { .name = "maple0" };
	struct mimic_open_reply reply;
	struct served maples;
	int socket, fd;

	(void)state;
	assert_int_equal(virgo_daemon_start(&maples, 0, 1), 0);
	socket = raw_client(maples.socket);
	assert_int_equal(raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_OPEN, -1, &reply,
				     sizeof(reply), &fd), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(reply.memory_size, 0);
	close(socket);
	assert_int_equal(virgo_daemon_end(&maples), 0);
}

/* --- order ------------------------------------------------------------------------------------ */

#define TURNS 64u
#define TURN_COMMANDS 12u

static struct mimic_device *ordered;
static unsigned char *ordered_shared;

static void open_ordered(void)
{
	ordered = virgo_client_open(&served, "virgo0");
	ordered_shared = mimic_memory_alloc(ordered, 16384);
}

static void *post_turn(void *argument)
{
	uint64_t turn = (uintptr_t)argument;

	/* Each has a row of its own; the last to write row 0 is the last of all. */
	for (unsigned int i = 0; i < TURN_COMMANDS; i++)
		virgo_client_command(ordered, UNIT_FP32, VIRGO_FUNCT_MVIN,
				     (uintptr_t)(ordered_shared + 4096 + 64 * turn), 1ull << 48 | 8ull << 32);
	return NULL;
}

/* More commands than the queue holds: the earlier thread's wait in its ring when the next one posts. */
static void posts_of_threads_in_turn_stay_in_order_while_the_queue_is_full(void **state)
{
	unsigned char *buffer;

	(void)state;
	open_ordered();
	configure_moves(ordered);
	buffer = ordered_shared;
	for (uint64_t turn = 0; turn < TURNS; turn++)
		buffer[4096 + 64 * turn] = (unsigned char)(turn + 1);
	for (unsigned int round = 0; round < 20; round++) {
		for (uint64_t turn = 0; turn < TURNS; turn++) {
			pthread_t thread;

			assert_int_equal(pthread_create(&thread, NULL, post_turn, (void *)(uintptr_t)turn), 0);
			pthread_join(thread, NULL);
		}
		assert_int_equal(virgo_client_fence(ordered, UNIT_FP32), VIRGO_ERROR_NONE);
		assert_int_equal(shared_memory(ordered)[0], TURNS);
	}
	mimic_device_close(ordered);
}

#define TURN_THREADS 3u
#define RANDOM_TURNS 4000u
/* Turns until the last value is looked at: more commands than the queue holds. */
#define TURNS_TO_CHECK 40u

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int turn, wrong_values;

/* A turn is over when its commands are posted; the last one's value is that of all. */
static void take_turn(void)
{
	post_turn((void *)(uintptr_t)(turn % TURNS));
	if (turn % TURNS_TO_CHECK == 0) {
		wrong_values += virgo_client_fence(ordered, UNIT_FP32) != VIRGO_ERROR_NONE;
		wrong_values += shared_memory(ordered)[0] != turn % TURNS + 1;
	}
	turn++;
}

/* `argument` is the seed. */
static void *take_random_turns(void *argument)
{
	unsigned int seed = (unsigned int)(uintptr_t)argument;

	for (bool is_over = false; !is_over;) {
		pthread_mutex_lock(&turn_lock);
		for (unsigned int left = rand_r(&seed) % 3; left && turn < RANDOM_TURNS; left--)
			take_turn();
		is_over = turn >= RANDOM_TURNS;
		pthread_mutex_unlock(&turn_lock);
		sched_yield();
	}
	return NULL;
}

static void posts_of_threads_that_take_turns_at_random_stay_in_order(void **state)
{
	pthread_t threads[TURN_THREADS];

	(void)state;
	open_ordered();
	configure_moves(ordered);
	for (unsigned int i = 0; i < TURNS; i++)
		ordered_shared[4096 + 64 * i] = (unsigned char)(i + 1);
	turn = 1;
	for (uintptr_t i = 0; i < TURN_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_random_turns, (void *)(i + 1)), 0);
	/* This thread's lane is the first. */
	take_random_turns(NULL);
	for (unsigned int i = 0; i < TURN_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wrong_values, 0);
	mimic_device_close(ordered);
}

/* --- lanes of the same low bits ------------------------------------------------------------------ */

static pthread_barrier_t met;

static uint32_t number_of_first_lane(void)
{
	return atomic_load(&mimic_daemon_device(ordered)->first_lane);
}

/* Lanes of threads that are gone at once, until the next one has these low bits. */
static void use_up_lanes_before(uint32_t low)
{
	uint32_t generation = mimic_daemon_device(ordered)->generation;
	struct daemon_lane_place place;

	do {
		assert_int_equal(mimic_daemon_session_lane(generation, 0, 0, &place), 0);
		close(place.fd);
		assert_int_equal(
			mimic_daemon_session_tell(generation, MIMIC_MESSAGE_THREAD_GONE, place.thread), 0);
	} while ((place.number + 1 - low) % MIMIC_LANE_NUMBERS);
}

/* Has the next lane, and posts nothing. */
static void *hold_lane(void *argument)
{
	(void)argument;
	virgo_client_load(ordered, VIRGO_PAGE_CONTROL, 0);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	return NULL;
}

static void *post_and_fence(void *argument)
{
	post_turn(argument);
	assert_int_equal(virgo_client_fence(ordered, UNIT_FP32), VIRGO_ERROR_NONE);
	return NULL;
}

static void expect_ends_soon(pthread_t thread)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 10;
	assert_int_equal(pthread_timedjoin_np(thread, NULL, &limit), 0);
}

static void post_by_a_thread_that_ends(void *(*function)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
	expect_ends_soon(thread);
}

/* With a thread that has the low bits of the first lane. */
static void expect_posts_go_on(void)
{
	pthread_t holder;

	use_up_lanes_before(number_of_first_lane());
	pthread_barrier_init(&met, NULL, 2);
	assert_int_equal(pthread_create(&holder, NULL, hold_lane, NULL), 0);
	pthread_barrier_wait(&met);
	post_by_a_thread_that_ends(post_and_fence);
	pthread_barrier_wait(&met);
	pthread_join(holder, NULL);
	mimic_device_close(ordered);
}

static void a_posting_thread_that_ended_is_not_waited_for_in_a_lane_of_its_low_bits(void **state)
{
	(void)state;
	open_ordered();
	post_by_a_thread_that_ends(post_turn);
	post_by_a_thread_that_ends(post_and_fence);
	expect_posts_go_on();
}

static void no_lane_has_the_low_bits_of_one_that_is_there(void **state)
{
	(void)state;
	open_ordered();
	post_turn(NULL);
	expect_posts_go_on();
}

/* --- events -------------------------------------------------------------------------------------- */

/* Within 5 s; 0: it did not count. */
static uint64_t wait_for_count(int fd)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < 500 && !count; i++) {
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			test_sleep_ms(10);
	}
	return count;
}

static void an_eventfd_counts_that_a_unit_became_idle(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	(void)state;
	assert_int_equal(mimic_device_eventfd(device, fd, VIRGO_EVENT_IDLE(0) | VIRGO_EVENT_ERROR(0)), 0);
	for (unsigned int i = 0; i < 20; i++) {
		virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
		assert_int_equal(wait_for_count(fd), 1);
		assert_int_equal(virgo_client_load(device, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS) &
				 VIRGO_EVENT_IDLE(0), 0);
	}
	/* Events that nobody asked for stay where they are. */
	virgo_client_command(device, UNIT_INT8, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_client_fence(device, UNIT_INT8), VIRGO_ERROR_NONE);
	assert_true(virgo_client_load(device, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS) &
		    VIRGO_EVENT_IDLE(UNIT_INT8));
	assert_int_equal(mimic_device_eventfd(device, -1, 0), 0);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	test_sleep_ms(50);
	assert_int_equal(read(fd, &(uint64_t){ 0 }, 8), -1);
	mimic_device_close(device);
	close(fd);
}

static void a_descriptor_that_is_no_eventfd_is_refused(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mimic_device_eventfd(device, ends[1], 1), -EINVAL);
	assert_int_equal(mimic_device_eventfd(device, 12345, 1), -EBADF);
	close(ends[0]);
	close(ends[1]);
	mimic_device_close(device);
}

static void an_eventfd_that_is_full_does_not_stop_the_daemon(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	const uint64_t most = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_CLOEXEC);
	int other;

	(void)state;
	assert_int_equal(write(fd, &most, sizeof(most)), sizeof(most));
	assert_int_equal(mimic_device_eventfd(device, fd, VIRGO_EVENT_IDLE(0)), 0);
	for (unsigned int i = 0; i < 5; i++) {
		virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
		assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	}
	other = raw_client(served.socket);
	assert_true(other >= 0);
	close(other);
	mimic_device_close(device);
	close(fd);
}

static void descriptors_of_events_go_with_the_device(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	int before, fd = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(mimic_device_eventfd(device, fd, 1), 0);
	assert_int_equal(mimic_device_eventfd(device, fd, 3), 0);
	mimic_device_close(device);
	before = served_descriptors(&served);
	for (unsigned int i = 0; i < 10; i++) {
		device = virgo_client_open(&served, "virgo0");
		assert_int_equal(mimic_device_eventfd(device, fd, 1), 0);
		mimic_device_close(device);
	}
	assert_int_equal(served_await_descriptors(&served, before), before);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(processes_with_a_cluster_each_multiply_at_once),
		TEST(processes_multiply_what_they_do_not_share),
		TEST(two_units_of_a_cluster_multiply_at_once),
		TEST(a_cluster_belongs_to_one_process),
		TEST(the_list_names_a_cluster_its_program_and_its_counters),
		TEST(clusters_are_added_and_removed),
		TEST(the_programs_shared_memory_is_the_devices_scratchpad),
		TEST(a_mapping_left_by_a_program_is_not_the_next_ones_memory),
		TEST(an_instance_without_memory_comes_without_a_descriptor),
		TEST(posts_of_threads_that_take_turns_at_random_stay_in_order),
		TEST(a_posting_thread_that_ended_is_not_waited_for_in_a_lane_of_its_low_bits),
		TEST(no_lane_has_the_low_bits_of_one_that_is_there),
		TEST(posts_of_threads_in_turn_stay_in_order_while_the_queue_is_full),
		TEST(an_eventfd_counts_that_a_unit_became_idle),
		TEST(a_descriptor_that_is_no_eventfd_is_refused),
		TEST(an_eventfd_that_is_full_does_not_stop_the_daemon),
		TEST(descriptors_of_events_go_with_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
