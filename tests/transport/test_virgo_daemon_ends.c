/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs, memory, devices or the daemon end while a unit works; others must not notice. */
#include <errno.h>
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

#include "libmimic/daemon/client.h"
#include "tests/lib/virgo_client.h"

#define SIDE 192u
#define FOREVER 100000u
#define PAGE 4096u

static struct served served;
static pid_t offender;

static int start(void **state)
{
	(void)state;
	return virgo_daemon_start(&served, 2, 1);
}

static void kill_offender(void)
{
	if (offender > 0) {
		kill(offender, SIGKILL);
		waitpid(offender, NULL, 0);
	}
	offender = 0;
}

static int end(void **state)
{
	(void)state;
	kill_offender();
	return virgo_daemon_end(&served);
}

static struct mimic_device *posted_to;

static void *post_all(void *product)
{
	virgo_client_post(posted_to, UNIT_FP32, product);
	return NULL;
}

/* Keeps two units of a cluster at work for good. */
static void work_forever(const char *name, bool shared, int ready)
{
	struct virgo_client_product products[2];
	pthread_t poster;

	posted_to = virgo_client_open(&served, name);
	for (unsigned int unit = 0; unit < 2; unit++) {
		virgo_client_alloc(posted_to, &products[unit], SIDE, shared);
		virgo_client_fill(&products[unit], unit);
		virgo_client_post(posted_to, unit, &products[unit]);
		products[unit].times = FOREVER;
	}
	(void)!write(ready, "", 1);
	/* One for each: a thread that waits at one unit's queue posts nothing to the other. */
	pthread_create(&poster, NULL, post_all, &products[UNIT_FP32]);
	virgo_client_post(posted_to, UNIT_FP32_SMALL, &products[UNIT_FP32_SMALL]);
	_exit(0);
}

/* A process of that kind that has begun. */
static pid_t start_worker(const char *name, bool shared)
{
	int ends[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[0]);
		work_forever(name, shared, ends[1]);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	/* There is an outstanding job from here on, one after the other. */
	test_sleep_ms(30);
	return child;
}

static void expect_cluster_works(const char *name)
{
	struct mimic_device *device = virgo_client_open(&served, name);
	struct virgo_client_product product;

	virgo_client_alloc(device, &product, 64, true);
	virgo_client_fill(&product, 5);
	virgo_client_post(device, UNIT_FP32, &product);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	assert_int_equal(virgo_client_wrong(&product), 0);
	mimic_device_close(device);
}

/* The daemon notices within a moment. */
static void expect_cluster_is_free(const char *name)
{
	int socket = raw_client(served.socket), error = -EBUSY;
	uint32_t number;

	for (unsigned int i = 0; i < 500 && error == -EBUSY; i++) {
		error = raw_open(socket, name, &number);
		if (error == -EBUSY)
			test_sleep_ms(10);
	}
	assert_int_equal(error, 0);
	close(socket);
	served_descriptors(&served);
}

/* --- programs --------------------------------------------------------------------------- */

static void a_killed_programs_cluster_is_free_while_its_jobs_are_out(void **state)
{
	int before;

	(void)state;
	expect_cluster_works("virgo0");
	before = served_descriptors(&served);
	for (unsigned int i = 0; i < 10; i++) {
		offender = start_worker("virgo0", i % 2);
		kill_offender();
		expect_cluster_is_free("virgo0");
	}
	expect_cluster_works("virgo0");
	expect_cluster_works("virgo1");
	assert_int_equal(served_await_descriptors(&served, before), before);
}

static void a_cluster_that_is_closed_at_work_is_as_after_power_on(void **state)
{
	struct mimic_device *device;
	struct virgo_client_product product;

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		device = virgo_client_open(&served, "virgo0");
		virgo_client_alloc(device, &product, SIDE, true);
		virgo_client_post(device, UNIT_FP32, &product);
		mimic_device_close(device);
		device = virgo_client_open(&served, "virgo0");
		assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_DISPATCHED), 0);
		assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_BUSY), 0);
		assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_ERROR), VIRGO_ERROR_NONE);
		mimic_memory_free(device, product.a);
		mimic_memory_free(device, product.b);
		mimic_memory_free(device, product.c);
		mimic_device_close(device);
	}
	expect_cluster_works("virgo0");
}

static void a_reset_ends_what_a_unit_does(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	struct virgo_client_product product;

	(void)state;
	virgo_client_alloc(device, &product, SIDE, true);
	virgo_client_fill(&product, 1);
	virgo_client_post(device, UNIT_FP32, &product);
	virgo_client_store(device, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(UNIT_FP32, RESET), 1);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	virgo_client_post(device, UNIT_FP32, &product);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	assert_int_equal(virgo_client_wrong(&product), 0);
	mimic_device_close(device);
}

/* --- memory ------------------------------------------------------------------------------- */

static void memory_that_is_unregistered_at_work_is_still_read(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	struct virgo_client_product product;
	size_t size = SIDE * SIDE * sizeof(float);

	(void)state;
	virgo_client_alloc(device, &product, SIDE, false);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(mimic_memory_register(device, product.a, size), 0);
		assert_int_equal(mimic_memory_register(device, product.b, size), 0);
		virgo_client_fill(&product, i);
		virgo_client_post(device, UNIT_FP32, &product);
		assert_int_equal(mimic_memory_unregister(device, product.a, size), 0);
		assert_int_equal(mimic_memory_unregister(device, product.b, size), 0);
		assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
		assert_int_equal(virgo_client_wrong(&product), 0);
	}
	mimic_device_close(device);
}

static void memory_that_is_shared_at_work_changes_nothing(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	struct virgo_client_product product;

	(void)state;
	virgo_client_alloc(device, &product, SIDE, true);
	virgo_client_fill(&product, 3);
	product.times = 3;
	virgo_client_post(device, UNIT_FP32, &product);
	for (unsigned int i = 0; i < 50; i++) {
		void *memory = mimic_memory_alloc(device, 16 * PAGE);

		assert_non_null(memory);
		assert_int_equal(mimic_memory_free(device, memory), 0);
	}
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
	assert_int_equal(virgo_client_wrong(&product), 0);
	mimic_device_close(device);
}

static void expect_recovers(struct mimic_device *device)
{
	virgo_client_store(device, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(UNIT_FP32, ERROR), 0);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_NONE);
}

static void memory_that_is_freed_at_work_is_an_error_of_that_unit(void **state)
{
	struct virgo_client_product product;
	pthread_t poster;
	uint64_t address;

	(void)state;
	posted_to = virgo_client_open(&served, "virgo0");
	virgo_client_alloc(posted_to, &product, SIDE, true);
	product.times = 100;
	assert_int_equal(pthread_create(&poster, NULL, post_all, &product), 0);
	test_sleep_ms(20);
	assert_int_equal(mimic_memory_free(posted_to, product.a), 0);
	/* Commands after the error are dropped. */
	pthread_join(poster, NULL);
	assert_int_equal(virgo_client_fence(posted_to, UNIT_FP32), VIRGO_ERROR_LOAD);
	address = virgo_client_unit(posted_to, UNIT_FP32, VIRGO_ERROR_ADDRESS);
	assert_in_range(address, (uintptr_t)product.a, (uintptr_t)product.a + SIDE * SIDE * sizeof(float) - 1);
	expect_recovers(posted_to);
	mimic_device_close(posted_to);
}

static void configure_moves(struct mimic_device *device, unsigned int stride)
{
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG,
			     0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD, stride);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST,
			     0x3f800000ull << 32 | stride);
}

#define BLOCK_8X8 (8ull << 48 | 8ull << 32)

static void bad_addresses_are_errors_with_that_address(void **state)
{
	static const uint64_t addresses[] = {
		0x1000, 0x7ffffffff000, 0x800000000000, 0xffff800000000000, 0xffffffffffffffe0,
		0xfffffffffffff000,
	};
	struct mimic_device *device = virgo_client_open(&served, "virgo0");

	(void)state;
	configure_moves(device, 32);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVIN, addresses[i], BLOCK_8X8);
		assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_LOAD);
		assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_ERROR_ADDRESS), addresses[i]);
		expect_recovers(device);
		virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVOUT, addresses[i], BLOCK_8X8);
		assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_STORE);
		assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_ERROR_ADDRESS), addresses[i]);
		expect_recovers(device);
	}
	mimic_device_close(device);
}

/* Rows of 32 bytes, 8 of them: the third begins 16 bytes before a page that is not there. */
static void expect_stop_at_page(struct mimic_device *device, unsigned char *first, unsigned char *absent,
				unsigned char *scratchpad)
{
	for (unsigned int i = 0; i < 64; i++)
		first[i] = (unsigned char)(i + 1);
	memset(scratchpad, 0xee, 256);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVIN, (uintptr_t)first, BLOCK_8X8);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_LOAD);
	assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_ERROR_ADDRESS), (uintptr_t)absent);
	assert_memory_equal(scratchpad, first, 64);
	assert_int_equal(scratchpad[96], 0xee);
	expect_recovers(device);
	memset(scratchpad, 0x55, 256);
	virgo_client_command(device, UNIT_FP32, VIRGO_FUNCT_MVOUT, (uintptr_t)first, BLOCK_8X8);
	assert_int_equal(virgo_client_fence(device, UNIT_FP32), VIRGO_ERROR_STORE);
	assert_int_equal(virgo_client_unit(device, UNIT_FP32, VIRGO_ERROR_ADDRESS), (uintptr_t)absent);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(first[i], 0x55);
	expect_recovers(device);
}

static void a_move_stops_at_a_page_that_is_not_there(void **state)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo0");
	unsigned char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *shared;
	void *scratchpad;
	size_t size;

	(void)state;
	assert_int_equal(mimic_device_memory(device, &scratchpad, &size), 0);
	configure_moves(device, 32);
	munmap(pages + PAGE, PAGE);
	expect_stop_at_page(device, pages + PAGE - 80, pages + PAGE, scratchpad);
	mmap(pages + PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	expect_stop_at_page(device, pages + PAGE - 80, pages + PAGE, scratchpad);
	/* The same behind memory that is shared with the daemon. */
	shared = mimic_memory_alloc(device, PAGE);
	munmap(mmap(shared + PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
	       PAGE);
	expect_stop_at_page(device, shared + PAGE - 80, shared + PAGE, scratchpad);
	mimic_device_close(device);
}

/* --- the daemon --------------------------------------------------------------------------------- */

static void a_daemon_that_is_told_to_stop_does_so_while_jobs_are_out(void **state)
{
	uint64_t begun;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		offender = start_worker("virgo0", i % 2);
		begun = virgo_client_now();
		assert_int_equal(served_end(&served, SIGTERM), 0);
		assert_true(virgo_client_now() - begun < 2000000000ull);
		kill_offender();
		assert_true(served_restart(&served, 1));
	}
}

static void a_cluster_is_removed_while_its_jobs_are_out(void **state)
{
	char name[MIMIC_NAME_MAX];

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		offender = start_worker("virgo1", i % 2);
		assert_int_equal(mimic_daemon_remove(served.socket, "virgo1"), 0);
		test_sleep_ms(10);
		kill_offender();
		assert_int_equal(mimic_daemon_add(served.socket, "virgo", name), 0);
		assert_string_equal(name, "virgo1");
		expect_cluster_works("virgo1");
	}
}

static void an_idle_daemon_uses_no_cpu_after_work(void **state)
{
	uint64_t before;

	(void)state;
	expect_cluster_works("virgo0");
	test_sleep_ms(100);
	before = virgo_daemon_cpu_ns(&served);
	test_sleep_ms(1000);
	/* 0.5 % */
	assert_true(virgo_daemon_cpu_ns(&served) - before < 5000000);
}

/* --- others ------------------------------------------------------------------------------------- */

#define ACCESSES 300u
/* Two workers of the daemon, its loop and we share the machine's CPUs with all that runs there. */
#define TYPICAL_NS 20000000ull

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void expect_others_are_served(bool shared)
{
	static uint64_t times[ACCESSES];
	struct mimic_device *device;

	offender = start_worker("virgo0", shared);
	device = virgo_client_open(&served, "maple0");
	for (unsigned int i = 0; i < ACCESSES; i++) {
		uint64_t begun = virgo_client_now();

		virgo_client_load(device, 0, 0);
		times[i] = virgo_client_now() - begun;
	}
	qsort(times, ACCESSES, sizeof(times[0]), compare);
	printf("    accesses of another program: median %llu us, 99 %% within %llu us, longest %llu us\n",
	       (unsigned long long)times[ACCESSES / 2] / 1000,
	       (unsigned long long)times[ACCESSES * 99 / 100] / 1000,
	       (unsigned long long)times[ACCESSES - 1] / 1000);
	assert_true(times[ACCESSES / 2] < TYPICAL_NS);
	mimic_device_close(device);
	kill_offender();
}

static void work_on_a_cluster_does_not_hold_up_other_programs(void **state)
{
	(void)state;
	expect_others_are_served(true);
	expect_others_are_served(false);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(a_killed_programs_cluster_is_free_while_its_jobs_are_out),
		TEST(a_cluster_that_is_closed_at_work_is_as_after_power_on),
		TEST(a_reset_ends_what_a_unit_does),
		TEST(memory_that_is_unregistered_at_work_is_still_read),
		TEST(memory_that_is_shared_at_work_changes_nothing),
		TEST(memory_that_is_freed_at_work_is_an_error_of_that_unit),
		TEST(bad_addresses_are_errors_with_that_address),
		TEST(a_move_stops_at_a_page_that_is_not_there),
		TEST(a_daemon_that_is_told_to_stop_does_so_while_jobs_are_out),
		TEST(a_cluster_is_removed_while_its_jobs_are_out),
		TEST(an_idle_daemon_uses_no_cpu_after_work),
		TEST(work_on_a_cluster_does_not_hold_up_other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
