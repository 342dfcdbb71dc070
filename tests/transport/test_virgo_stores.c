/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program's own stores to a cluster of a daemon, as mimic run makes them. Those of operands
 * do not wake the daemon; all that can show an operand find it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/transport.h"
#include "tests/lib/virgo_client.h"

#define NO_COMMAND 99u	/* an error: the unit keeps its operands */

static struct served served;
static struct mimic_device *cluster;

static int start(void **state)
{
	(void)state;
	if (virgo_daemon_start(&served, 1, 0))
		return -1;
	cluster = virgo_client_open(&served, "virgo0");
	return 0;
}

static int end(void **state)
{
	(void)state;
	mimic_device_close(cluster);
	return virgo_daemon_end(&served);
}

static void store(unsigned int offset, unsigned int size, uint64_t value)
{
	struct mimic_access access = {
		.page = VIRGO_PAGE_UNITS, .offset = offset, .size = (uint8_t)size, .is_write = 1, .data = value,
	};

	assert_int_equal(mimic_device_plain_access(cluster, &access), 0);
}

static void store_operands(uint64_t rs1, uint64_t rs2)
{
	store(VIRGO_RS1, 8, rs1);
	store(VIRGO_RS2, 8, rs2);
}

/* The operands that a command gets. */
static void expect_operands(uint64_t rs1, uint64_t rs2)
{
	store(VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(NO_COMMAND));
	assert_int_equal(virgo_client_fence(cluster, 0), VIRGO_ERROR_COMMAND);
	assert_int_equal(virgo_client_unit(cluster, 0, VIRGO_ERROR_RS1), rs1);
	assert_int_equal(virgo_client_unit(cluster, 0, VIRGO_ERROR_RS2), rs2);
}

/* This thread has a lane, and nothing is left to do. */
static void let_daemon_sleep(void)
{
	virgo_client_unit(cluster, 0, VIRGO_FENCE);
	test_sleep_ms(200);
}

/* How often the daemon's loop slept. */
static uint64_t sleeps(void)
{
	unsigned long long count = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)served.pid, (int)served.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		(void)sscanf(line, "voluntary_ctxt_switches: %llu", &count);
	fclose(file);
	return count;
}

static void operands_do_not_wake_a_daemon_that_sleeps(void **state)
{
	uint64_t before;

	(void)state;
	let_daemon_sleep();
	before = sleeps();
	for (unsigned int i = 0; i < 50; i++) {
		store_operands(i, i);
		store(VIRGO_RS1 + 4, 4, i);
		test_sleep_ms(2);
	}
	assert_in_range(sleeps() - before, 0, 10);
}

static void a_command_gets_the_operands_that_were_stored_while_the_daemon_slept(void **state)
{
	(void)state;
	let_daemon_sleep();
	store_operands(0x1111, 0x2222);
	test_sleep_ms(50);
	store(VIRGO_RS2 + 4, 4, 0x3333);
	expect_operands(0x1111, 0x333300002222);
}

/* The daemon sleeps, and the ring is full: a wait that woke nobody would not end. */
static void more_operands_than_the_ring_holds_do_not_wait_for_ever(void **state)
{
	const unsigned int count = 5 * MIMIC_LANE_COMMAND_WORDS;

	(void)state;
	let_daemon_sleep();
	for (unsigned int i = 0; i <= count; i++)
		store(VIRGO_RS1, 8, i);
	expect_operands(count, 0);
}

/* --- commands one by one ------------------------------------------------------------------- */

static void command(enum virgo_funct funct, uint64_t rs1, uint64_t rs2)
{
	store_operands(rs1, rs2);
	store(VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(funct));
}

static void expect_soon(const volatile uint32_t *word, uint32_t value)
{
	uint64_t since = virgo_client_now();

	while (*word != value) {
		if (virgo_client_now() - since > 10000000000ull)
			fail_msg("no command wrote %u", value);
	}
}

/* Once in 1 us to 400 us: while the daemon works, looks at the lanes, is about to sleep, and sleeps. */
static void pause_for(unsigned int turn)
{
	uint64_t until = virgo_client_now() + turn * 7919u % 400 * 1000;

	while (virgo_client_now() < until)
		;
}

/* Nothing but the stores themselves can wake the daemon: the program looks at memory only. */
static void commands_that_come_as_the_daemon_falls_asleep_are_done(void **state)
{
	volatile uint32_t *from = mimic_memory_alloc(cluster, 4096), *to = from + 64;
	const uint64_t one_row = 1ull << 48 | 8ull << 32;

	(void)state;
	command(VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD, 32);
	command(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 32);
	for (unsigned int turn = 1; turn <= 2000; turn++) {
		*from = turn;
		command(VIRGO_FUNCT_MVIN, (uintptr_t)from, one_row);
		pause_for(turn);
		command(VIRGO_FUNCT_MVOUT, (uintptr_t)to, one_row);
		expect_soon(to, turn);
		pause_for(turn + 1);
	}
	assert_int_equal(virgo_client_fence(cluster, 0), VIRGO_ERROR_NONE);
}

/* --- threads ----------------------------------------------------------------------------- */

struct other {
	pthread_t thread;
	sem_t stored, over;
};

static void *store_and_stay(void *argument)
{
	struct other *other = argument;

	store_operands(0x4444, 0x5555);
	sem_post(&other->stored);
	sem_wait(&other->over);
	return NULL;
}

static void a_command_gets_the_operands_of_another_thread_that_does_nothing_more(void **state)
{
	struct other other;

	(void)state;
	let_daemon_sleep();
	sem_init(&other.stored, 0, 0);
	sem_init(&other.over, 0, 0);
	assert_int_equal(pthread_create(&other.thread, NULL, store_and_stay, &other), 0);
	sem_wait(&other.stored);
	test_sleep_ms(50);
	expect_operands(0x4444, 0x5555);
	sem_post(&other.over);
	pthread_join(other.thread, NULL);
	sem_destroy(&other.stored);
	sem_destroy(&other.over);
}

static void *store_and_end(void *argument)
{
	(void)argument;
	store_operands(0x6666, 0x7777);
	return NULL;
}

static void operands_of_a_thread_that_has_ended_are_there(void **state)
{
	pthread_t thread;

	(void)state;
	let_daemon_sleep();
	assert_int_equal(pthread_create(&thread, NULL, store_and_end, NULL), 0);
	pthread_join(thread, NULL);
	expect_operands(0x6666, 0x7777);
}

/* Each thread stores one operand; operands and commands of many turns stay in their order. */
static void *store_rs2(void *argument)
{
	store(VIRGO_RS2, 8, *(const uint64_t *)argument);
	return NULL;
}

static void operands_of_threads_in_turn_stay_in_order(void **state)
{
	(void)state;
	for (uint64_t turn = 1; turn <= 200; turn++) {
		pthread_t thread;

		store_operands(turn, 0xffff);
		assert_int_equal(pthread_create(&thread, NULL, store_rs2, &turn), 0);
		pthread_join(thread, NULL);
		store(VIRGO_RS1, 8, turn + 1);
		expect_operands(turn + 1, turn);
		virgo_client_store(cluster, VIRGO_PAGE_UNITS, VIRGO_RESET, 1);
	}
}

/* --- signals -------------------------------------------------------------------------------- */

static void store_in_handler(int number)
{
	(void)number;
	store_operands(0x8888, 0x9999);
}

static void operands_of_a_signal_handler_are_there(void **state)
{
	(void)state;
	let_daemon_sleep();
	signal(SIGUSR1, store_in_handler);
	store_operands(1, 2);
	raise(SIGUSR1);
	expect_operands(0x8888, 0x9999);
	signal(SIGUSR1, SIG_DFL);
}

/* --- other ways to look -------------------------------------------------------------------- */

static void a_dump_shows_operands_that_woke_nobody(void **state)
{
	struct mimic_state_request message = { .name = "virgo0" };
	struct mimic_list_reply reply;
	int socket = raw_client(served.socket), fd = -1;
	char *text;

	(void)state;
	let_daemon_sleep();
	store_operands(0xabcdef12, 0);
	test_sleep_ms(50);
	assert_int_equal(raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_STATE, -1, &reply,
				     sizeof(reply), &fd), 0);
	text = calloc(1, reply.size + 1);
	assert_int_equal(pread(fd, text, reply.size, 0), (ssize_t)reply.size);
	assert_non_null(strcasestr(text, "abcdef12"));
	free(text);
	close(fd);
	close(socket);
}

static void operands_do_not_outlive_the_device(void **state)
{
	(void)state;
	let_daemon_sleep();
	store_operands(3, 4);
	mimic_device_close(cluster);
	cluster = virgo_client_open(&served, "virgo0");
	expect_operands(0, 0);
}

/* The daemon is killed with operands in the ring: the next access says so. */
static void a_daemon_that_is_gone_is_told_when_the_ring_is_full(void **state)
{
	struct mimic_access operand = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_RS1, .size = 8, .is_write = 1,
	};
	int error = 0;

	(void)state;
	let_daemon_sleep();
	served_end(&served, SIGKILL);
	for (unsigned int i = 0; i < 2 * MIMIC_LANE_COMMAND_WORDS && !error; i++)
		error = mimic_device_plain_access(cluster, &operand);
	assert_int_equal(error, -ENOTCONN);
	assert_true(served_restart(&served, 0));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(operands_do_not_wake_a_daemon_that_sleeps),
		TEST(a_command_gets_the_operands_that_were_stored_while_the_daemon_slept),
		TEST(more_operands_than_the_ring_holds_do_not_wait_for_ever),
		TEST(commands_that_come_as_the_daemon_falls_asleep_are_done),
		TEST(a_command_gets_the_operands_of_another_thread_that_does_nothing_more),
		TEST(operands_of_a_thread_that_has_ended_are_there),
		TEST(operands_of_threads_in_turn_stay_in_order),
		TEST(operands_of_a_signal_handler_are_there),
		TEST(a_dump_shows_operands_that_woke_nobody),
		TEST(operands_do_not_outlive_the_device),
		TEST(a_daemon_that_is_gone_is_told_when_the_ring_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
