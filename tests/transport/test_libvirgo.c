/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libvirgo on real clusters: each test on the embedded transport and on a daemon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/daemon_fixture.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/virgo_product.h"
#include "virgo.h"

#define UNITS 4	/* of a cluster as it is by default: fp32 8 x 8 and 4 x 4, int8, fp16 */

static struct virgo *virgo;
static struct virgo_options options;
static struct served served;
static uint64_t seed;
/* libmimic's, which cmocka replaces by its own when a test begins. */
static struct sigaction fault_actions[2];

static void restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

static int open_cluster(void **state)
{
	options = (struct virgo_options){ .transport = *state, .socket_path = served.socket };
	seed = 0x9e3779b97f4a7c15;
	if (virgo_open(&virgo, &options)) {
		fprintf(stderr, "%s\n", virgo_error_text());
		return -1;
	}
	return 0;
}

static int close_cluster(void **state)
{
	(void)state;
	virgo_close(virgo);
	return 0;
}

static struct virgo_unit_info info_of(unsigned int unit)
{
	struct virgo_unit_info info;

	assert_int_equal(virgo_unit_info(virgo, unit, &info), 0);
	return info;
}

static void the_handle_tells_device_and_transport(void **state)
{
	size_t size;

	assert_string_equal(virgo_transport(virgo), *state);
	assert_int_equal(strncmp(virgo_device_name(virgo), "virgo", 5), 0);
	assert_int_equal(virgo_unit_count(virgo), UNITS);
	assert_non_null(virgo_shared(virgo, &size));
	assert_int_equal(size, 128 << 10);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_FP32, 4), 1);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_INT8, 16), 2);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_FP16, 16), 3);
}

static void another_cluster_is_free_and_the_third_is_busy(void **state)
{
	struct virgo *second, *third;

	(void)state;
	assert_int_equal(virgo_open(&second, &options), 0);
	assert_string_not_equal(virgo_device_name(second), virgo_device_name(virgo));
	assert_int_equal(virgo_open(&third, &options), -EBUSY);
	assert_null(third);
	assert_true(virgo_error_text()[0] != '\0');
	virgo_close(second);
}

static void shared_memory_is_cleared_and_seen_by_units(void **state)
{
	const struct virgo_tile tile = { .m = 8, .n = 8, .k = 8, .a_row = 0, .b_end = 16 };
	float *shared = virgo_shared(virgo, NULL), *c = calloc(64, sizeof(float));

	(void)state;
	for (size_t i = 0; i < (128 << 10) / sizeof(float); i++)
		assert_true(shared[i] == 0);
	for (int i = 0; i < 64; i++) {
		shared[i] = (float)i;
		shared[64 + i] = i / 8 == i % 8 ? 2 : 0;
	}
	virgo_matmul_tile(virgo, 0, 0, &tile);
	virgo_store_shared(virgo, 0, &tile, 100, VIRGO_NO_ACTIVATION, 1);
	virgo_dma_store(virgo, 0, 0, &tile, c, 8, VIRGO_NO_ACTIVATION, 1);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (int i = 0; i < 64; i++)
		assert_true(c[i] == (float)(2 * i) && shared[800 + i] == (float)(2 * i));
	free(c);
}

static void products_of_random_shapes_are_those_of_the_plain_loop(void **state)
{
	(void)state;
	restore_handlers();
	for (unsigned int i = 0; i < UNLESS_SANITIZED(800); i++) {
		struct virgo_unit_info info = info_of(i % UNITS);
		struct product_case c = product_random(info.type, info.dim, i % 8 ? 50 : 110, &seed);

		c.specials = i % 16 < 4;
		product_check(virgo, i % UNITS, &c, &seed);
	}
}

static void products_of_several_tiles_and_steps_are_those_of_the_plain_loop(void **state)
{
	static const struct {
		unsigned int unit, flags;
		enum virgo_epilogue epilogue;
		size_t m, n, k;
	} cases[] = {
		{ 0, VIRGO_ADD, VIRGO_EPILOGUE_NONE, 150, 90, 700 },
		{ 0, VIRGO_TRANSPOSE_A, VIRGO_EPILOGUE_SWISH, 200, 140, 333 },
		{ 0, 0, VIRGO_EPILOGUE_RELU, 3, 1500, 100 },
		{ 1, VIRGO_TRANSPOSE_B, VIRGO_EPILOGUE_SWISH, 1300, 5, 70 },
		{ 2, VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B, VIRGO_EPILOGUE_NONE, 130, 120, 1500 },
		{ 2, VIRGO_NARROW, VIRGO_EPILOGUE_SWISH, 133, 77, 600 },
		{ 2, 0, VIRGO_EPILOGUE_RELU, 133, 77, 600 },
		{ 3, VIRGO_NARROW, VIRGO_EPILOGUE_RELU, 90, 160, 900 },
		{ 3, VIRGO_TRANSPOSE_B, VIRGO_EPILOGUE_SWISH, 90, 160, 600 },
		/* More of B than is copied at once for a daemon, and more of k than is copied at all. */
		{ 0, VIRGO_TRANSPOSE_A, VIRGO_EPILOGUE_NONE, 140, 600, 5000 },
		{ 2, VIRGO_TRANSPOSE_B, VIRGO_EPILOGUE_NONE, 20, 500, 20000 },
		{ 0, 0, VIRGO_EPILOGUE_NONE, 5, 70, 40000 },
	};

	(void)state;
	restore_handlers();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct virgo_unit_info info = info_of(cases[i].unit);
		struct product_case c = product_random(info.type, info.dim, 1, &seed);
		struct virgo_product *p = &c.product;

		if (IS_SANITIZED && cases[i].k > 1500)
			continue;
		p->flags = cases[i].flags;
		p->epilogue = cases[i].epilogue;
		p->m = cases[i].m;
		p->n = cases[i].n;
		p->k = cases[i].k;
		p->scale = p->flags & VIRGO_NARROW ? 0.001f : 0;
		p->lda = (p->flags & VIRGO_TRANSPOSE_A ? p->m : p->k) + 3;
		p->ldb = p->flags & VIRGO_TRANSPOSE_B ? p->k : p->n;
		p->ldc = p->n + 1;
		c.has_bias = i % 2;
		product_check(virgo, cases[i].unit, &c, &seed);
	}
}

/* --- several units ------------------------------------------------------------------------- */

static void units_work_at_the_same_time_for_one_thread(void **state)
{
	(void)state;
	restore_handlers();
	for (int round = 0; round < UNLESS_SANITIZED(25); round++) {
		struct product_case cases[UNITS];

		for (unsigned int i = 0; i < UNITS; i++) {
			struct virgo_unit_info info = info_of(i);

			cases[i] = product_random(info.type, info.dim, 160, &seed);
			product_make(&cases[i], &seed);
			assert_int_equal(virgo_gemm_start(virgo, i, &cases[i].product), 0);
		}
		for (unsigned int i = 0; i < UNITS; i++) {
			const char *wrong;

			assert_int_equal(virgo_gemm_wait(virgo, i), 0);
			wrong = product_wrong(&cases[i]);
			if (*wrong)
				fail_msg("%s", wrong);
			product_free(&cases[i]);
		}
	}
}

struct worker {
	pthread_t thread;
	unsigned int unit;
	uint64_t seed;
	int wrong;
};

/* No assertion of cmocka's may be in here: it is another thread. */
static void *multiply_some(void *argument)
{
	struct worker *worker = argument;
	struct virgo_unit_info info;

	virgo_unit_info(virgo, worker->unit, &info);
	for (int i = 0; i < 25; i++) {
		struct product_case c = product_random(info.type, info.dim, 160, &worker->seed);

		product_make(&c, &worker->seed);
		worker->wrong += virgo_gemm(virgo, worker->unit, &c.product) || *product_wrong(&c);
		product_free(&c);
	}
	return NULL;
}

static void threads_with_units_of_their_own_do_not_disturb_each_other(void **state)
{
	struct worker workers[UNITS];

	(void)state;
	restore_handlers();
	for (unsigned int i = 0; i < UNITS; i++) {
		workers[i] = (struct worker){ .unit = i, .seed = seed + i };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, multiply_some, &workers[i]), 0);
	}
	for (unsigned int i = 0; i < UNITS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].wrong, 0);
	}
}

/* The second product comes in the middle of the first one, which has to give up half of its share. */
static void a_product_that_comes_later_changes_no_result(void **state)
{
	struct product_case long_one = product_random(VIRGO_FP32, 8, 1, &seed), alone, late;

	(void)state;
	restore_handlers();
	long_one.product = (struct virgo_product){
		.type = VIRGO_FP32, .m = 256, .n = 256, .k = 600, .lda = 600, .ldb = 256, .ldc = 256,
		.epilogue = VIRGO_EPILOGUE_SWISH,
	};
	long_one.has_bias = false;
	product_make(&long_one, &seed);
	assert_int_equal(virgo_gemm_start(virgo, 0, &long_one.product), 0);
	for (int i = 0; i < 10; i++) {
		late = product_random(VIRGO_INT8, 16, 80, &seed);
		product_check(virgo, 2, &late, &seed);
	}
	assert_int_equal(virgo_gemm_wait(virgo, 0), 0);
	alone = long_one;
	alone.product.c = calloc(256 * 256, sizeof(float));
	assert_int_equal(virgo_gemm(virgo, 0, &alone.product), 0);
	assert_memory_equal(alone.product.c, long_one.product.c, 256 * 256 * sizeof(float));
	free(alone.product.c);
	product_free(&long_one);
}

/* --- waiting ---------------------------------------------------------------------------------- */

struct meeting {
	int arrived;	/* atomic */
	int early;
};

static void *meet(void *argument)
{
	struct meeting *meeting = argument;

	for (int round = 1; round <= 50; round++) {
		__atomic_add_fetch(&meeting->arrived, 1, __ATOMIC_RELAXED);
		if (virgo_barrier(virgo, 3) ||
		    __atomic_load_n(&meeting->arrived, __ATOMIC_RELAXED) < 4 * round)
			__atomic_add_fetch(&meeting->early, 1, __ATOMIC_RELAXED);
		if (virgo_barrier(virgo, 4))
			__atomic_add_fetch(&meeting->early, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* By default a barrier is for the four cores of the cluster. */
static void threads_meet_at_barriers(void **state)
{
	struct meeting meeting = { 0 };
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, meet, &meeting), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(meeting.arrived, 200);
	assert_int_equal(meeting.early, 0);
}

static void an_event_makes_the_descriptor_readable(void **state)
{
	int fd = virgo_event_fd(virgo, VIRGO_EVENT_LOOP(1));
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t count;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(poll(&poll_fd, 1, 20), 0);
	virgo_command(virgo, 1, VIRGO_FUNCT_LOOP_WS, 0, 0);
	virgo_flush(virgo, 1);
	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	assert_int_equal(read(fd, &count, 8), 8);
	assert_true(count >= 1);
	assert_int_equal(virgo_done(virgo, 1, virgo_ticket(virgo, 1)), 1);
	assert_int_equal(virgo_event_fd(virgo, 0), fd);
	virgo_command(virgo, 1, VIRGO_FUNCT_LOOP_WS, 0, 0);
	virgo_fence(virgo, 1);
	assert_int_equal(poll(&poll_fd, 1, 20), 0);
}

static void a_command_goes_on_while_the_program_does_not_wait(void **state)
{
	const struct virgo_tile tile = { .m = 64, .n = 64, .k = 64, .a_row = 0, .b_end = 1024 };
	uint64_t ticket;

	(void)state;
	virgo_matmul_tile(virgo, 0, 0, &tile);
	ticket = virgo_ticket(virgo, 0);
	virgo_flush(virgo, 0);
	for (int i = 0; i < 10000 && virgo_done(virgo, 0, ticket) == 0; i++)
		test_sleep_ms(1);
	assert_int_equal(virgo_done(virgo, 0, ticket), 1);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void memory_that_is_not_there_is_told_and_the_unit_goes_on(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static float good[100 * 100], c[100 * 100];
	struct virgo_product p = {
		.type = VIRGO_FP32, .m = 60, .n = 20, .k = 20, .lda = 20, .ldb = 20, .ldc = 20,
		.a = pages + 4096 - 3000, .b = good, .c = c,
	};
	char address[32];

	(void)state;
	restore_handlers();
	memset(pages, 0, 8192);
	/* Not unmapped: a later mapping of the library would be put there. */
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	snprintf(address, sizeof(address), "address 0x%lx", (unsigned long)(uintptr_t)pages + 4096);
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), address));
	assert_non_null(strstr(virgo_error_text(), "read"));
	assert_int_equal(virgo_fence(virgo, 0), 0);
	p.a = good;
	p.c = pages + 4096 - 400;
	assert_int_equal(virgo_gemm_start(virgo, 0, &p), 0);
	assert_int_equal(virgo_gemm_wait(virgo, 0), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), address));
	assert_non_null(strstr(virgo_error_text(), "written"));
	/* A C that the program's own thread would store. */
	p.epilogue = VIRGO_EPILOGUE_SWISH;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), address));
	p.c = c;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	munmap(pages, 8192);
}

static void allocated_and_registered_memory_works(void **state)
{
	float *a = virgo_alloc(virgo, 5000 * sizeof(float)), *own, *c;
	struct virgo_product p = {
		.type = VIRGO_FP32, .m = 40, .n = 40, .k = 40, .lda = 40, .ldb = 40, .ldc = 40,
	};

	(void)state;
	assert_non_null(a);
	assert_int_equal((uintptr_t)a % 4096, 0);
	own = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c = own + 2048;
	for (int i = 0; i < 1600; i++) {
		assert_true(a[i] == 0);
		a[i] = i % 41 == 0 ? 3 : 0;
		own[i] = (float)i;
	}
	assert_int_equal(virgo_register(virgo, own, 16384), 0);
	p.a = a;
	p.b = own;
	p.c = c;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	for (int i = 0; i < 1600; i++)
		assert_true(c[i] == (float)(3 * i));
	assert_int_equal(virgo_unregister(virgo, own, 16384), 0);
	assert_true(c[1599] == 4797);
	assert_int_equal(virgo_free(virgo, a), 0);
	assert_int_equal(virgo_free(virgo, a), -EINVAL);
	assert_int_equal(virgo_free(virgo, &p), -EINVAL);
	assert_int_equal(virgo_unregister(virgo, own, 16384), -EINVAL);
	munmap(own, 16384);
}

static void a_child_has_no_cluster(void **state)
{
	struct virgo_product p = { .type = VIRGO_FP32 };
	pid_t pid;
	int status;

	(void)state;
	/* So that there is a thread that the child has not got. */
	assert_int_equal(virgo_gemm_start(virgo, 0, &p), 0);
	assert_int_equal(virgo_gemm_wait(virgo, 0), 0);
	pid = fork();
	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(30);	/* for a call that waits for that thread */
		virgo_command(virgo, 0, VIRGO_FUNCT_FLUSH, 0, 0);
		status = virgo_fence(virgo, 0);
		if (virgo_gemm(virgo, 1, &p) != -ENODEV || virgo_gemm_start(virgo, 1, &p) != -ENODEV ||
		    virgo_gemm_start(virgo, 0, &p) != -ENODEV || virgo_gemm_wait(virgo, 0) != -ENODEV)
			_exit(2);
		virgo_close(virgo);
		_exit(status == -ENODEV ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
}

static void bad_options_are_told(void **state)
{
	struct virgo_options other = { .transport = "daemon", .socket_path = "/nonexistent/socket" };
	struct virgo *none;

	(void)state;
	assert_int_equal(virgo_open(&none, &other), -ECONNREFUSED);
	assert_null(none);
	other = (struct virgo_options){ .transport = "embedded", .config_path = "/nonexistent.ini" };
	assert_int_equal(virgo_open(&none, &other), -ENOENT);
	other.transport = "daemon";
	assert_int_equal(virgo_open(&none, &other), -EINVAL);
	other = (struct virgo_options){ .transport = "carrier pigeon" };
	assert_int_equal(virgo_open(&none, &other), -EINVAL);
	assert_non_null(strstr(virgo_error_text(), "carrier pigeon"));
	other = (struct virgo_options){ .transport = "embedded", .device = "maple0" };
	assert_int_equal(virgo_open(&none, &other), -EINVAL);
	other.device = "virgo63";
	assert_int_equal(virgo_open(&none, &other), -ENODEV);
	assert_int_equal(virgo_open(NULL, &other), -EINVAL);
	assert_true(virgo_error_text()[0] != '\0');
}

static void a_daemon_that_ends_is_told(void **state)
{
	static float a[400 * 400], c[400 * 400];
	struct virgo_product p = {
		.type = VIRGO_FP32, .m = 400, .n = 400, .k = 400, .lda = 400, .ldb = 400, .ldc = 400,
		.a = a, .b = a, .c = c,
	};
	struct served mortal = { .virgos = 1 };
	struct virgo_options other = { .transport = "daemon", .socket_path = mortal.socket };
	struct virgo *lost;

	(void)state;
	assert_true(served_start(&mortal, 1, false));
	assert_int_equal(virgo_open(&lost, &other), 0);
	served_end(&mortal, SIGKILL);
	assert_int_equal(virgo_gemm(lost, 0, &p), -ENOTCONN);
	assert_int_equal(virgo_gemm_start(lost, 0, &p), 0);
	assert_int_equal(virgo_gemm_wait(lost, 0), -ENOTCONN);
	assert_int_equal(virgo_fence(lost, 1), -ENOTCONN);
	virgo_close(lost);
	served_clean(&mortal);
}

#define ON(name, transport) \
	{ #name " (" transport ")", name, open_cluster, close_cluster, (void *)transport }
#define BOTH(name) ON(name, "embedded"), ON(name, "daemon")

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(the_handle_tells_device_and_transport),
		BOTH(another_cluster_is_free_and_the_third_is_busy),
		BOTH(shared_memory_is_cleared_and_seen_by_units),
		BOTH(products_of_random_shapes_are_those_of_the_plain_loop),
		BOTH(products_of_several_tiles_and_steps_are_those_of_the_plain_loop),
		BOTH(units_work_at_the_same_time_for_one_thread),
		BOTH(threads_with_units_of_their_own_do_not_disturb_each_other),
		BOTH(a_product_that_comes_later_changes_no_result),
		BOTH(threads_meet_at_barriers),
		BOTH(an_event_makes_the_descriptor_readable),
		BOTH(a_command_goes_on_while_the_program_does_not_wait),
		BOTH(memory_that_is_not_there_is_told_and_the_unit_goes_on),
		BOTH(allocated_and_registered_memory_works),
		BOTH(a_child_has_no_cluster),
		cmocka_unit_test(bad_options_are_told),
		cmocka_unit_test(a_daemon_that_ends_is_told),
	};
	struct virgo *first;
	int failed;

	served.virgos = 2;
	if (!served_start(&served, 1, false) ||
	    virgo_open(&first, &(struct virgo_options){ .transport = "embedded" }))
		return 1;
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	virgo_close(first);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	served_end(&served, SIGTERM);
	served_clean(&served);
	return failed;
}
