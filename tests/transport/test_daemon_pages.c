/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A page of a program that does not come, or comes late, holds up that program's device and nobody else. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/told.h"
#include "tests/lib/virgo_client.h"

#define PAGE 4096u
#define MOST_MS 2000	/* far below the time of a daemon that hangs, and far above an answer */
#define ASKS 50
#define CLIENTS 5

/* A page that nobody serves, and the descriptor that serves it. */
struct stuck {
	uint32_t *page;
	int fd;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct stuck make_stuck(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = PAGE };
	struct stuck stuck = { .fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC) };

	if (stuck.fd < 0)
		skip();
	stuck.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(stuck.page, MAP_FAILED);
	range.range.start = (uintptr_t)stuck.page;
	assert_int_equal(ioctl(stuck.fd, UFFDIO_API, &api), 0);
	assert_int_equal(ioctl(stuck.fd, UFFDIO_REGISTER, &range), 0);
	return stuck;
}

/* The page comes, full of this value. */
static void give(const struct stuck *stuck, uint32_t value)
{
	static _Alignas(PAGE) uint32_t contents[PAGE / 4];
	struct uffdio_copy copy = { .dst = (uintptr_t)stuck->page, .src = (uintptr_t)contents, .len = PAGE };

	for (unsigned int i = 0; i < PAGE / 4; i++)
		contents[i] = value;
	assert_int_equal(ioctl(stuck->fd, UFFDIO_COPY, &copy), 0);
}

static void end_stuck(struct stuck *stuck)
{
	close(stuck->fd);
	munmap(stuck->page, PAGE);
}

/* All from the connection to the end, and memory that it does not share. The status of a process. */
static int use_maple1(void)
{
	static uint32_t values[ASKS];
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	alarm(60);
	if (mimic_device_open(&served_device, "maple1", &options))
		return 1;
	served_init(WORDS_32);
	served_open_both(0);
	for (uint32_t i = 0; i < ASKS; i++) {
		values[i] = i * 7 + 1;
		register_store(FULL_POINTER32, 0, 8, (uintptr_t)&values[i]);
		if (register_load(CONSUME, 0, 4) != i * 7 + 1)
			return 2;
	}
	mimic_device_close(served_device);
	return 0;
}

static int use_virgo1(void)
{
	struct virgo_client_product product;
	struct mimic_device *device;

	alarm(60);
	device = virgo_client_open(&served, "virgo1");
	virgo_client_alloc(device, &product, 32, false);
	for (unsigned int i = 0; i < 10; i++) {
		virgo_client_fill(&product, i);
		virgo_client_post(device, UNIT_FP32, &product);
		if (virgo_client_fence(device, UNIT_FP32) != VIRGO_ERROR_NONE || virgo_client_wrong(&product))
			return 1;
	}
	mimic_device_close(device);
	return 0;
}

/* Another program is served at once. */
static void expect_program(int (*use)(void))
{
	uint64_t begun = now_ms();
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(use());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(now_ms() - begun < MOST_MS);
}

static void expect_served(void)
{
	expect_program(use_maple1);
}

static void point_at(const void *address)
{
	register_post(FULL_POINTER32, 0, 8, (uint64_t[]){ (uintptr_t)address }, 1);
}

static void begin_maple(void)
{
	served_init(WORDS_128);
	served_open_both(0);
}

/* In a process of its own: its pointer is on its way when this returns. */
static pid_t start_client(const char *name, const struct stuck *stuck)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	int ends[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (!child) {
		struct stuck own = stuck ? *stuck : make_stuck();

		alarm(60);
		if (mimic_device_open(&served_device, name, &options))
			_exit(1);
		begin_maple();
		point_at(own.page);
		(void)!write(ends[1], "", 1);
		register_load(CONSUME, 0, 4);
		_exit(2);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return child;
}

static void kill_client(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* --- it does not come ------------------------------------------------------------- */

static void others_go_on_while_a_page_does_not_come(void **state)
{
	struct stuck stuck = make_stuck();

	(void)state;
	begin_maple();
	point_at(stuck.page);
	test_sleep_ms(50);
	expect_served();
	expect_served();
	end_stuck(&stuck);
}

static void others_go_on_beside_many_pages_that_do_not_come(void **state)
{
	pid_t children[CLIENTS];
	char name[] = "maple@0";

	(void)state;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		name[6] = (char)('0' + i);
		children[i] = start_client(name, NULL);
	}
	test_sleep_ms(50);
	expect_served();
	for (unsigned int i = 0; i < CLIENTS; i++)
		kill_client(children[i]);
	expect_served();
}

static void the_daemon_ends_while_a_page_does_not_come(void **state)
{
	struct stuck stuck = make_stuck();
	uint64_t begun;

	(void)state;
	begin_maple();
	point_at(stuck.page);
	test_sleep_ms(50);
	begun = now_ms();
	assert_int_equal(served_end(&served, SIGTERM), 0);
	assert_true(now_ms() - begun < 2 * MOST_MS);
	mimic_device_close(served_device);
	end_stuck(&stuck);
	assert_true(served_restart(&served, 2));
	served_device = NULL;
}

static void a_device_is_closed_while_its_page_does_not_come(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct stuck stuck = make_stuck();
	uint64_t begun = now_ms();

	(void)state;
	begin_maple();
	point_at(stuck.page);
	mimic_device_close(served_device);
	assert_int_equal(mimic_device_open(&served_device, "maple0", &options), 0);
	assert_true(now_ms() - begun < MOST_MS);
	begin_maple();
	give(&stuck, 17);
	test_sleep_ms(20);
	/* It was forgotten with the device. */
	register_store(PRODUCE, 0, 4, 5);
	assert_int_equal(register_load(CONSUME, 0, 4), 5);
	end_stuck(&stuck);
}

static void a_client_is_killed_while_its_page_does_not_come(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *mine = served_device;
	pid_t child = start_client("maple1", NULL);
	uint64_t begun;

	(void)state;
	test_sleep_ms(20);
	kill_client(child);
	begun = now_ms();
	while (mimic_device_open(&served_device, "maple1", &options) == -EBUSY && now_ms() - begun < MOST_MS)
		test_sleep_ms(5);
	mimic_device_close(served_device);
	served_device = mine;
	expect_served();
}

/* --- a thread that waits for it says so ----------------------------------------------- */

static void *give_when_told(void *stuck)
{
	told_wait(1);
	give(stuck, 9);
	return NULL;
}

/* The last line: so, and then that it waits for the page. */
static void expect_told(const char *device, const char *before, const struct stuck *stuck)
{
	char wanted[300];

	assert_int_equal(told_count(), 1);
	snprintf(wanted, sizeof(wanted), "%s waits for the page at 0x%llx (page fault)", before,
		 (unsigned long long)(uintptr_t)stuck->page);
	assert_string_equal(told_wait_of(device), wanted);
}

static void a_queue_whose_page_does_not_come_says_so(void **state)
{
	struct stuck stuck = make_stuck();
	pthread_t giver;

	(void)state;
	told_begin(200);
	begin_maple();
	point_at(stuck.page);
	assert_int_equal(pthread_create(&giver, NULL, give_when_told, &stuck), 0);
	assert_int_equal(register_load(CONSUME, 0, 4), 9);
	pthread_join(giver, NULL);
	/* The pointer is the earlier one, and the load behind it has not reached the device. */
	expect_told("maple0", "its earlier store of MAPLE FULL_POINTER32 [0]: the device", &stuck);
	told_end();
	end_stuck(&stuck);
}

/* The program knows its own page only; which context that is, mimicd says. */
static void a_context_whose_page_does_not_come_says_so(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *first, *second;
	struct stuck stuck = make_stuck();
	pthread_t giver;

	(void)state;
	told_begin(200);
	assert_int_equal(mimic_device_open(&first, "dare0", &options), 0);
	assert_int_equal(mimic_device_open(&second, "dare0", &options), 0);
	context_dispatch(second, WORD_MLD(0), address_of(stuck.page), 64);
	assert_int_equal(pthread_create(&giver, NULL, give_when_told, &stuck), 0);
	context_fence(second);
	pthread_join(giver, NULL);
	expect_told("dare0", "a load of context 1 FENCE: context 1 has not executed all (1 instruction is left), and the oldest",
		    &stuck);
	told_end();
	mimic_device_close(second);
	mimic_device_close(first);
	end_stuck(&stuck);
}

/* --- it comes late ------------------------------------------------------------------ */

static void words_behind_a_late_page_come_in_order(void **state)
{
	static uint32_t here[2] = { 31, 33 };
	struct stuck stuck = make_stuck();

	(void)state;
	begin_maple();
	register_post(FULL_POINTER32, 0, 8, (uint64_t[]){ (uintptr_t)&here[0], (uintptr_t)&stuck.page[3],
							  (uintptr_t)&here[1] }, 3);
	test_sleep_ms(50);
	give(&stuck, 32);
	assert_int_equal(register_load(CONSUME, 0, 4), 31);
	assert_int_equal(register_load(CONSUME, 0, 4), 32);
	assert_int_equal(register_load(CONSUME, 0, 4), 33);
	assert_int_equal(register_load(FAULT_COUNT, 0, 8), 0);
	end_stuck(&stuck);
}

static void an_atomic_on_a_late_page_happens_once(void **state)
{
	struct stuck stuck = make_stuck();

	(void)state;
	begin_maple();
	register_store(SET_BASE32, 0, 8, (uintptr_t)stuck.page);
	register_post(ATOMIC_ADD, 0, 8, (uint64_t[]){ 5ull << 32 | 100 }, 1);
	test_sleep_ms(50);
	give(&stuck, 7);
	assert_int_equal(register_load(CONSUME, 0, 4), 7);
	test_sleep_ms(20);
	assert_int_equal(stuck.page[5], 107);
	assert_int_equal(stuck.page[4], 7);
	end_stuck(&stuck);
}

/* Another device of this program, by another thread: this one's store waits. */
static void *point_thread(void *address)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *mine = served_device;

	if (mimic_device_open(&served_device, "maple1", &options))
		return NULL;
	begin_maple();
	point_at(address);
	test_sleep_ms(50);
	address = served_device;
	served_device = mine;
	return address;
}

/* The page that comes first ends the wait for the other one, too: that access is made again. */
static void an_atomic_happens_once_when_another_page_comes_first(void **state)
{
	struct stuck first = make_stuck(), second = make_stuck();
	pthread_t thread;
	void *other;

	(void)state;
	begin_maple();
	register_store(SET_BASE32, 0, 8, (uintptr_t)second.page);
	register_post(ATOMIC_ADD, 0, 8, (uint64_t[]){ 5ull << 32 | 100 }, 1);
	test_sleep_ms(50);
	assert_int_equal(pthread_create(&thread, NULL, point_thread, first.page), 0);
	assert_int_equal(pthread_join(thread, &other), 0);
	assert_non_null(other);
	give(&first, 3);
	test_sleep_ms(50);
	give(&second, 7);
	assert_int_equal(register_load(CONSUME, 0, 4), 7);
	test_sleep_ms(20);
	assert_int_equal(second.page[5], 107);
	mimic_device_close(other);
	end_stuck(&first);
	end_stuck(&second);
}

static void *reset_thread(void *unused)
{
	(void)unused;
	register_load(RESET, 0, 4);
	return NULL;
}

/* By another thread: this one's store waits. */
static void reset_elsewhere(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, reset_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* An answer that was waited for before RESET does not answer an atomic after it. */
static void an_atomic_behind_a_reset_happens_anew(void **state)
{
	struct stuck stuck = make_stuck();

	(void)state;
	begin_maple();
	register_store(SET_BASE32, 0, 8, (uintptr_t)stuck.page);
	register_post(ATOMIC_ADD, 0, 8, (uint64_t[]){ 5ull << 32 | 100 }, 1);
	test_sleep_ms(50);
	reset_elsewhere();
	begin_maple();
	give(&stuck, 7);
	test_sleep_ms(50);
	assert_int_equal(stuck.page[5], 107);
	register_store(SET_BASE32, 0, 8, (uintptr_t)stuck.page);
	register_post(ATOMIC_ADD, 0, 8, (uint64_t[]){ 5ull << 32 | 100 }, 1);
	assert_int_equal(register_load(CONSUME, 0, 4), 107);
	assert_int_equal(stuck.page[5], 207);
	end_stuck(&stuck);
}

static void tiles_on_late_pages_are_loaded_and_stored(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct stuck from = make_stuck(), to = make_stuck();
	struct mimic_device *device;

	(void)state;
	assert_int_equal(mimic_device_open(&device, "dare0", &options), 0);
	context_dispatch(device, WORD_MLD(1), address_of(from.page), 64);
	test_sleep_ms(50);
	expect_served();
	give(&from, 9);
	context_dispatch(device, WORD_MST(1), address_of(to.page), 64);
	test_sleep_ms(50);
	expect_served();
	give(&to, 1);
	assert_int_equal(context_fence(device) & 0xff00, 0);
	for (unsigned int i = 0; i < 256; i++)
		assert_int_equal(to.page[i], 9);
	assert_int_equal(to.page[256], 1);
	mimic_device_close(device);
	end_stuck(&from);
	end_stuck(&to);
}

static void another_context_of_a_device_goes_on_while_a_page_does_not_come(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *device, *other;
	struct stuck stuck = make_stuck();
	struct tile a, b, c, expected;

	(void)state;
	assert_int_equal(mimic_device_open(&device, "dare0", &options), 0);
	assert_int_equal(mimic_device_open(&other, "dare0", &options), 0);
	context_dispatch(device, WORD_MLD(1), address_of(stuck.page), 64);
	test_sleep_ms(20);
	tile_fill(&a, 1);
	tile_fill(&b, 2);
	tile_fill(&c, 3);
	expected = c;
	tile_multiply(&expected, &a, &b);
	context_multiply(other, &c, &a, &b);
	assert_memory_equal(&c, &expected, sizeof(c));
	mimic_device_close(other);
	mimic_device_close(device);
	end_stuck(&stuck);
}

/* C's page is late, and the jobs that want it do not keep the threads that do other jobs. */
static void a_product_on_a_late_page_holds_up_no_other_cluster(void **state)
{
	struct mimic_device *late = virgo_client_open(&served, "virgo0");
	struct virgo_client_product product;
	struct stuck stuck = make_stuck();
	float *own;

	(void)state;
	virgo_client_alloc(late, &product, 32, false);
	virgo_client_fill(&product, 1);
	own = product.c;
	product.c = (float *)(void *)stuck.page;
	virgo_client_post(late, UNIT_FP32, &product);
	test_sleep_ms(50);
	expect_program(use_virgo1);
	give(&stuck, 3);
	assert_int_equal(virgo_client_fence(late, UNIT_FP32), VIRGO_ERROR_NONE);
	assert_int_equal(virgo_client_wrong(&product), 0);
	product.c = own;
	mimic_device_close(late);
	end_stuck(&stuck);
}

static void a_cluster_is_closed_while_its_page_does_not_come(void **state)
{
	struct mimic_device *late = virgo_client_open(&served, "virgo0");
	struct virgo_client_product product;
	struct stuck stuck = make_stuck();
	uint64_t begun;

	(void)state;
	virgo_client_alloc(late, &product, 32, false);
	virgo_client_fill(&product, 1);
	product.a = (float *)(void *)stuck.page;
	virgo_client_post(late, UNIT_FP32, &product);
	test_sleep_ms(20);
	begun = now_ms();
	mimic_device_close(late);
	late = virgo_client_open(&served, "virgo0");
	expect_served();
	assert_true(now_ms() - begun < 2 * MOST_MS);
	mimic_device_close(late);
	end_stuck(&stuck);
}

static int start(void **state)
{
	(void)state;
	served.dares = 1;
	served.virgos = 2;
	return daemon_device_start(2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		TEST(others_go_on_while_a_page_does_not_come),
		TEST(others_go_on_beside_many_pages_that_do_not_come),
		TEST(the_daemon_ends_while_a_page_does_not_come),
		TEST(a_device_is_closed_while_its_page_does_not_come),
		TEST(a_client_is_killed_while_its_page_does_not_come),
		TEST(a_queue_whose_page_does_not_come_says_so),
		TEST(a_context_whose_page_does_not_come_says_so),
		TEST(words_behind_a_late_page_come_in_order),
		TEST(an_atomic_on_a_late_page_happens_once),
		TEST(an_atomic_happens_once_when_another_page_comes_first),
		TEST(an_atomic_behind_a_reset_happens_anew),
		TEST(tiles_on_late_pages_are_loaded_and_stored),
		TEST(another_context_of_a_device_goes_on_while_a_page_does_not_come),
		TEST(a_product_on_a_late_page_holds_up_no_other_cluster),
		TEST(a_cluster_is_closed_while_its_page_does_not_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
