/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Clients that die at any point, and daemons that do. */
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/mimic.h"
#include "tests/lib/daemon_fixture.h"

enum { INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8 };
#define AT(operation, field) ((operation) << 3 | (field) << 9)
#define WORDS_8 0

static struct served served;

static int start(void **state)
{
	(void)state;
	alarm(120);
	return served_start(&served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	int status = 0;

	(void)state;
	if (served.pid > 0)
		status = served_end(&served, SIGTERM);
	served_clean(&served);
	return status;
}

/* --- clients --------------------------------------------------------------- */

static uint64_t command(enum mimic_command_kind kind, uint32_t device, unsigned int operation,
			unsigned int field, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device,
		.size = 4, .offset = (uint16_t)AT(operation, field), .count = count });
}

/* The last step of a client before it dies. */
enum step {
	CONNECTED, SENT_HALF_A_MESSAGE, GREETED, REPLY_UNREAD, OPENED, OPENED_PRIVATE, HAS_LANE, HAS_MEMORY,
	HOLDS_QUEUES, POSTED_HALF_A_COMMAND, STORE_WAITS, LOAD_WAITS, BOTH_WAIT, THREAD_GONE_STORES_WAIT,
	LANE_DROPPED, STEPS
};

static void load_now(struct raw_lane *lane, uint32_t device, unsigned int operation, unsigned int field)
{
	uint64_t word = command(MIMIC_COMMAND_LOAD, device, operation, field, 1);
	uint64_t answer;

	raw_post(lane, &word, 1);
	if (!raw_answer(lane, &answer))
		_exit(9);
}

static void fill_queue(struct raw_lane *lane, uint32_t device)
{
	uint64_t words[21] = { command(MIMIC_COMMAND_STORE, device, PRODUCE, 0, 20) };

	raw_post(lane, words, 21);
}

static void wait_for_word(struct raw_lane *lane, uint32_t device)
{
	uint64_t word = command(MIMIC_COMMAND_LOAD, device, CONSUME, 1, 100);

	raw_post(lane, &word, 1);
	test_sleep_ms(20);
}

static void hold_queues(int socket, uint32_t device, struct raw_lane *lane, int event_fd)
{
	if (raw_lane(socket, 0, 0, lane))
		_exit(8);
	lane->event_fd = event_fd;
	load_now(lane, device, INIT, WORDS_8);
	load_now(lane, device, OPEN_PRODUCER, 0);
	load_now(lane, device, OPEN_CONSUMER, 1);
}

static void go_far(enum step step, int socket, uint32_t device, int event_fd)
{
	struct raw_lane lane, other;
	uint64_t word;

	hold_queues(socket, device, &lane, event_fd);
	switch (step) {
	case POSTED_HALF_A_COMMAND:
		word = command(MIMIC_COMMAND_STORE, device, PRODUCE, 0, 3);
		raw_post(&lane, &word, 1);
		break;
	case STORE_WAITS:
		fill_queue(&lane, device);
		break;
	case LOAD_WAITS:
		wait_for_word(&lane, device);
		break;
	case BOTH_WAIT:
		fill_queue(&lane, device);
		raw_lane(socket, 0, 0, &other);
		other.event_fd = event_fd;
		wait_for_word(&other, device);
		break;
	case THREAD_GONE_STORES_WAIT:
		fill_queue(&lane, device);
		raw_number(socket, MIMIC_MESSAGE_THREAD_GONE, lane.thread);
		break;
	case LANE_DROPPED:
		wait_for_word(&lane, device);
		raw_number(socket, MIMIC_MESSAGE_LANE_DROP, lane.number);
		break;
	default:
		break;
	}
}

static void share_memory(int socket)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, 8192) || fallocate(fd, 0, 0, 8192) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ||
	    raw_memory(socket, MIMIC_MESSAGE_MEMORY_ADD, fd, 0x10000000, 8192, 0))
		_exit(7);
}

/* Goes as far as the step says and dies without a word. */
static void live_until(enum step step)
{
	struct mimic_message message;
	struct raw_lane lane;
	uint32_t device = 0;
	int event_fd;
	int socket = step == CONNECTED ? raw_connect(served.socket) :
		     raw_client_with_event(served.socket, &event_fd);

	if (step == SENT_HALF_A_MESSAGE)
		raw_send(socket, "half", 4, NULL, 0);
	if (step == REPLY_UNREAD) {
		raw_header(&message, sizeof(message), MIMIC_MESSAGE_LIST);
		raw_send(socket, &message, sizeof(message), NULL, 0);
	}
	if (step == OPENED_PRIVATE && raw_open(socket, "maple@3", &device))
		_exit(6);
	if (step >= OPENED && raw_open(socket, "maple0", &device))
		_exit(6);
	if (step == HAS_LANE)
		raw_lane(socket, 0, 0, &lane);
	if (step == HAS_MEMORY)
		share_memory(socket);
	if (step >= HOLDS_QUEUES)
		go_far(step, socket, device, event_fd);
	raise(SIGKILL);
}

static void expect_fresh_device(void)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_access access = { .offset = AT(INIT, WORDS_8), .size = 4 };
	struct mimic_device *device;
	int error = -EBUSY;

	for (int i = 0; i < 200 && error == -EBUSY; i++) {
		error = mimic_device_open(&device, "maple0", &options);
		if (error)
			test_sleep_ms(5);
	}
	assert_int_equal(error, 0);
	/* As after power-on there are no queues, so INIT makes some. */
	assert_int_equal(mimic_device_access(device, &access), 0);
	assert_int_equal(access.data, 2);
	mimic_device_close(device);
}

static void a_client_killed_at_any_step_leaves_the_device_as_new(void **state)
{
	int before;

	(void)state;
	expect_fresh_device();
	before = served_descriptors(&served);
	for (enum step step = CONNECTED; step < STEPS; step++) {
		int status;
		pid_t child = fork();

		if (!child)
			live_until(step);
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status))
			fail_msg("step %d: the client ended with %d by itself", (int)step, WEXITSTATUS(status));
		expect_fresh_device();
	}
	assert_int_equal(served_await_descriptors(&served, before), before);
}

static void the_end_of_a_process_counts_while_a_child_has_its_socket(void **state)
{
	int ends[2], status;
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		uint32_t device;
		int socket = raw_client(served.socket);

		raw_open(socket, "maple0", &device);
		if (fork())
			raise(SIGKILL);
		/* The grandchild keeps a copy of the socket until the test is over. */
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	waitpid(child, &status, 0);
	expect_fresh_device();
	close(ends[1]);
}

/* --- daemons --------------------------------------------------------------- */

static struct mimic_device *device;

enum waiting { LOADS, STORES, POSTS, BATCHES, WAYS };

struct waiter {
	enum waiting way;
	int error;	/* of the call that waited */
	int after;	/* of the next one */
	uint64_t woken;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int access_device(unsigned int operation, unsigned int field, bool is_write)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = 4, .is_write = is_write };

	return mimic_device_access(device, &access);
}

static int wait_in_device(enum waiting way)
{
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	static uint64_t values[30000];
	uint32_t answers[10];
	unsigned int queue = (unsigned int)way;

	access_device(way == LOADS || way == BATCHES ? OPEN_CONSUMER : OPEN_PRODUCER, queue, false);
	switch (way) {
	case LOADS:
		return access_device(CONSUME, queue, false);
	case BATCHES:
		pattern.offset = AT(CONSUME, queue);
		return (int)mimic_device_load(device, &pattern, answers, 10);
	case STORES:
		for (int i = 0; i < 8; i++)
			access_device(PRODUCE, queue, true);
		return access_device(PRODUCE, queue, true);
	default:
		pattern.offset = AT(PRODUCE, queue);
		return (int)mimic_device_post(device, &pattern, values, 30000);
	}
}

static void *be_a_waiter(void *argument)
{
	struct waiter *waiter = argument;

	waiter->error = wait_in_device(waiter->way);
	waiter->woken = now_ns();
	waiter->after = access_device(CONSUME, 0, false);
	return NULL;
}

static void open_device(const char *name)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	assert_int_equal(mimic_device_open(&device, name, &options), 0);
}

static void end_daemon_under_waiters(int signal_number)
{
	struct waiter waiters[WAYS];
	pthread_t threads[WAYS];
	uint64_t killed;

	open_device("maple0");
	assert_int_equal(access_device(INIT, WORDS_8, false), 0);
	for (int way = 0; way < WAYS; way++) {
		waiters[way] = (struct waiter){ .way = (enum waiting)way };
		pthread_create(&threads[way], NULL, be_a_waiter, &waiters[way]);
	}
	test_sleep_ms(300);
	killed = now_ns();
	served_end(&served, signal_number);
	for (int way = 0; way < WAYS; way++) {
		pthread_join(threads[way], NULL);
		assert_int_equal(waiters[way].error, -ENOTCONN);
		assert_int_equal(waiters[way].after, -ENOTCONN);
		/* Said within 200 ms; a loaded machine gets some more. */
		assert_true(waiters[way].woken - killed < 400000000);
	}
	assert_int_equal(access_device(INIT, 0, false), -ENOTCONN);
	assert_null(mimic_memory_alloc(device, 4096));
	assert_int_equal(errno, ENOTCONN);
	mimic_device_close(device);
}

static void clients_that_wait_learn_that_the_daemon_was_killed(void **state)
{
	(void)state;
	end_daemon_under_waiters(SIGKILL);
}

static void clients_that_wait_learn_that_the_daemon_was_stopped(void **state)
{
	(void)state;
	end_daemon_under_waiters(SIGTERM);
	assert_int_equal(access(served.socket, F_OK), -1);
}

static void nobody_to_connect_to_is_said_so(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	(void)state;
	served_end(&served, SIGKILL);
	assert_int_equal(mimic_device_open(&device, "maple0", &options), -ECONNREFUSED);
	assert_non_null(strstr(mimic_error_text(), served.socket));
}

static void a_new_daemon_serves_the_same_process(void **state)
{
	struct mimic_device *old;
	uint32_t *memory;

	(void)state;
	open_device("maple0");
	memory = mimic_memory_alloc(device, 4096);
	assert_int_equal(access_device(INIT, WORDS_8, false), 0);
	old = device;
	served_end(&served, SIGKILL);
	assert_true(served_restart(&served, 1));
	assert_int_equal(access_device(INIT, WORDS_8, false), -ENOTCONN);
	mimic_device_close(old);
	open_device("maple0");
	assert_int_equal(access_device(INIT, WORDS_8, false), 0);
	/* It was told about memory that is older than itself. */
	assert_int_equal(mimic_memory_free(device, memory), 0);
	assert_false(served_said(&served, "MEMORY_REMOVE was refused"));
	mimic_device_close(device);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(a_client_killed_at_any_step_leaves_the_device_as_new),
		TEST(the_end_of_a_process_counts_while_a_child_has_its_socket),
		TEST(clients_that_wait_learn_that_the_daemon_was_killed),
		TEST(clients_that_wait_learn_that_the_daemon_was_stopped),
		TEST(nobody_to_connect_to_is_said_so),
		TEST(a_new_daemon_serves_the_same_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
