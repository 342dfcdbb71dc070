/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libdare on real devices: each test on the embedded transport and on a daemon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dare.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/gemm_check.h"
#include "tests/lib/sanitized.h"

#define CONTEXTS 8	/* of a device, as it is configured by default */

static struct dare *dare;
static struct dare_options options;
static struct served served;
static uint64_t seed;
/* libmimic's, which cmocka replaces by its own when a test begins. */
static struct sigaction fault_actions[2];

static void restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

static int open_context(void **state)
{
	options = (struct dare_options){ .transport = *state, .socket_path = served.socket };
	seed = 0x9e3779b97f4a7c15;
	if (dare_open(&dare, &options)) {
		fprintf(stderr, "%s\n", dare_error_text());
		return -1;
	}
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	dare_close(dare);
	return 0;
}

static void the_handle_tells_device_and_transport(void **state)
{
	assert_string_equal(dare_transport(dare), *state);
	assert_int_equal(strncmp(dare_device_name(dare), "dare", 4), 0);
}

static void a_new_context_has_zeros_and_whole_shapes(void **state)
{
	static const uint8_t zeros[8][1024];
	uint8_t stored[8][1024];
	uint64_t value;

	(void)state;
	memset(stored, 1, sizeof(stored));
	for (unsigned int i = 0; i < 8; i++)
		dare_mst(dare, i, stored[i], 64);
	assert_int_equal(dare_fence(dare), 0);
	assert_memory_equal(stored, zeros, sizeof(stored));
	dare_read_csr(dare, DARE_CSR_MATRIX_M, &value);
	assert_int_equal(value, 16);
	dare_read_csr(dare, DARE_CSR_MATRIX_K, &value);
	assert_int_equal(value, 64);
	dare_read_csr(dare, DARE_CSR_MATRIX_N, &value);
	assert_int_equal(value, 16);
}

static void products_of_random_shapes_are_those_of_the_plain_loop(void **state)
{
	(void)state;
	for (int i = 0; i < UNLESS_SANITIZED(150); i++) {
		struct gemm_case c = gemm_random_case(i % 5 ? 70 : 200, &seed);

		gemm_check(dare, &c, i % 3 == 0, &seed);
	}
}

static void products_of_several_blocks_are_those_of_the_plain_loop(void **state)
{
	static const struct gemm_case cases[] = {
		{ GEMM_FP32, DARE_ADD, 530, 290, 2200, 2200, 290, 290 },
		{ GEMM_BF16, DARE_TRANSPOSE_B, 100, 600, 4200, 4200, 4200, 600 },
		{ GEMM_INT8, DARE_TRANSPOSE_A, 257, 113, 8400, 257, 113, 113 },
	};

	(void)state;
	for (int i = IS_SANITIZED ? 2 : 0; i < 3; i++)
		gemm_check(dare, &cases[i], false, &seed);
}

/*
 * One element by OpenBLAS in fp64, and the usual bound of a recursive fp32 sum of
 * k + 1 terms: (k + 1) u / (1 - (k + 1) u) times the sum of the magnitudes, u = 2^-24.
 */
static void check_bound(const struct gemm_case *c, const float *got, const double *right,
			const double *magnitude)
{
	double n = ((double)c->k + 1) * 0x1p-24, factor = n / (1 - n) * (1 + 0x1p-20);

	for (size_t i = 0; i < c->m * c->n; i++) {
		if (!(fabs((double)got[i] - right[i]) <= factor * magnitude[i]))
			fail_msg("%zux%zux%zu: element %zu is %.9g, but must be %.9g", c->m, c->n, c->k,
				 i, (double)got[i], right[i]);
	}
}

static void widen(const float *from, double *to, double *magnitudes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		magnitudes[i] = fabs(to[i]);
	}
}

static void multiply_by_blas(const struct gemm_case *c, const double *a, const double *b, double *sums)
{
	cblas_dgemm(CblasRowMajor, c->flags & DARE_TRANSPOSE_A ? CblasTrans : CblasNoTrans,
		    c->flags & DARE_TRANSPOSE_B ? CblasTrans : CblasNoTrans, (int)c->m, (int)c->n,
		    (int)c->k, 1, a, (int)c->lda, b, (int)c->ldb, c->flags & DARE_ADD ? 1 : 0, sums,
		    (int)c->ldc);
}

#define SIDE 130

static void products_are_those_of_openblas_within_the_bound(void **state)
{
	static float numbers[3][SIDE * SIDE];
	static double wide[3][SIDE * SIDE], magnitudes[3][SIDE * SIDE];

	(void)state;
	for (int i = 0; i < UNLESS_SANITIZED(100); i++) {
		struct gemm_case c = { .flags = (unsigned int)i % 8 };

		c.m = 1 + gemm_random(&seed) % SIDE;
		c.n = 1 + gemm_random(&seed) % SIDE;
		c.k = 1 + gemm_random(&seed) % SIDE;
		c.lda = c.flags & DARE_TRANSPOSE_A ? c.m : c.k;
		c.ldb = c.flags & DARE_TRANSPOSE_B ? c.k : c.n;
		c.ldc = c.n;
		for (size_t j = 0; j < 3 * SIDE * SIDE; j++)
			numbers[j / (SIDE * SIDE)][j % (SIDE * SIDE)] =
				(float)((double)gemm_random(&seed) * 0x1p-63 - 1);
		for (int j = 0; j < 3; j++)
			widen(numbers[j], wide[j], magnitudes[j], SIDE * SIDE);
		assert_int_equal(dare_gemm(dare, c.flags, c.m, c.n, c.k, numbers[0], c.lda, numbers[1],
					   c.ldb, numbers[2], c.ldc), 0);
		multiply_by_blas(&c, wide[0], wide[1], wide[2]);
		multiply_by_blas(&c, magnitudes[0], magnitudes[1], magnitudes[2]);
		check_bound(&c, numbers[2], wide[2], magnitudes[2]);
	}
}

static void counters_are_those_of_the_context(void **state)
{
	static float a[40 * 30], b[30 * 20], c[40 * 20];
	struct dare_statistics mine, others;
	struct dare *other;

	(void)state;
	assert_int_equal(dare_open(&other, &options), 0);
	assert_int_equal(dare_gemm(dare, 0, 40, 20, 30, a, 30, b, 20, c, 20), 0);
	assert_int_equal(dare_counters(dare, &mine), 0);
	assert_int_equal(dare_counters(other, &others), 0);
	assert_int_equal(mine.macs_used, 40 * 20 * 30);
	assert_true(mine.macs_offered > mine.macs_used);
	assert_int_equal(mine.instructions, mine.mcfg + mine.mld + mine.mst + mine.mma);
	assert_int_equal(others.instructions, 0);
	dare_close(other);
}

static void contexts_have_registers_of_their_own(void **state)
{
	uint8_t tiles[2][1024], stored[2][1024];
	struct dare *other;

	(void)state;
	memset(tiles[0], 3, 1024);
	memset(tiles[1], 4, 1024);
	assert_int_equal(dare_open(&other, &options), 0);
	dare_mld(dare, 5, tiles[0], 64);
	dare_flush(dare);
	dare_mld(other, 5, tiles[1], 64);
	dare_mst(other, 5, stored[1], 64);
	dare_mst(dare, 5, stored[0], 64);
	assert_int_equal(dare_fence(other), 0);
	assert_int_equal(dare_fence(dare), 0);
	assert_memory_equal(stored, tiles, sizeof(tiles));
	dare_close(other);
}

struct worker {
	pthread_t thread;
	uint64_t seed;
	int wrong;
};

/* No assertion of cmocka's may be in here: it is another thread. */
static void *multiply_some(void *argument)
{
	struct worker *worker = argument;
	const size_t side = 100;
	float *numbers = malloc(4 * side * side * sizeof(float));
	const struct gemm_case c = { GEMM_FP32, 0, side, side, side, side, side, side };
	float *a = numbers, *b = a + side * side, *got = b + side * side;
	float *expected = got + side * side;
	struct dare *own;
	size_t row, column;

	worker->wrong = 1;
	if (dare_open(&own, &options))
		return NULL;
	worker->wrong = 0;
	for (int i = 0; i < 10; i++) {
		for (size_t j = 0; j < 2 * side * side; j++)
			numbers[j] = (float)(gemm_random(&worker->seed) >> 40);
		gemm_reference(&c, a, b, expected);
		worker->wrong += dare_gemm(own, 0, side, side, side, a, side, b, side, got, side) ||
				 !gemm_same(&c, got, expected, &row, &column);
	}
	dare_close(own);
	free(numbers);
	return NULL;
}

static void threads_with_contexts_of_their_own_do_not_disturb_each_other(void **state)
{
	struct worker workers[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		workers[i].seed = (uint64_t)i + 1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, multiply_some, &workers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].wrong, 0);
	}
}

static void memory_that_is_not_there_is_told_and_the_context_goes_on(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dare_error_info info;
	uint8_t stored[1024];

	(void)state;
	restore_handlers();
	memset(pages, 7, 8192);
	assert_int_equal(munmap(pages + 4096, 4096), 0);
	dare_mld(dare, 2, pages, 64);
	dare_mld(dare, 2, pages + 4096 - 3 * 64, 64);
	dare_mst(dare, 2, stored, 64);
	memset(stored, 1, sizeof(stored));
	assert_int_equal(dare_fence(dare), -EFAULT);
	assert_int_equal(dare_error(dare, &info), 0);
	assert_int_equal(info.error, DARE_ERROR_LOAD);
	assert_int_equal(info.position, 1);
	assert_int_equal(info.row, 3);
	assert_true(info.address == (uintptr_t)pages + 4096);
	assert_int_equal(stored[0], 1);
	assert_int_equal(dare_clear_error(dare), 0);
	dare_mst(dare, 2, stored, 64);	/* the tile of the earlier load */
	assert_int_equal(dare_fence(dare), 0);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(stored[i], 7);
	munmap(pages, 4096);
}

static void a_store_to_what_cannot_be_written_is_told(void **state)
{
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dare_error_info info;

	(void)state;
	restore_handlers();
	dare_mst(dare, 0, page + 128, 64);
	assert_int_equal(dare_fence(dare), -EFAULT);
	dare_error(dare, &info);
	assert_int_equal(info.error, DARE_ERROR_STORE);
	assert_int_equal(info.row, 0);
	assert_true(info.address == (uintptr_t)page + 128);
	munmap(page, 4096);
}

static void allocated_and_registered_memory_works(void **state)
{
	uint8_t *shared = dare_alloc(dare, 5000), *own;
	uint8_t stored[1024];

	(void)state;
	assert_non_null(shared);
	assert_int_equal((uintptr_t)shared % 4096, 0);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(shared[i], 0);
	own = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(own, 9, 16384);
	assert_int_equal(dare_register(dare, own, 16384), 0);
	dare_mld(dare, 1, own + 5000, 256);
	dare_mst(dare, 1, shared + 100, 64);
	dare_mld(dare, 2, shared + 100, 64);
	dare_mst(dare, 2, stored, 64);
	assert_int_equal(dare_fence(dare), 0);
	for (int i = 0; i < 1024; i++)
		assert_true(shared[100 + i] == 9 && stored[i] == 9);
	assert_int_equal(dare_unregister(dare, own, 16384), 0);
	assert_int_equal(own[16383], 9);
	assert_int_equal(dare_free(dare, shared), 0);
	assert_int_equal(dare_free(dare, stored), -EINVAL);
	assert_true(dare_error_text()[0] != '\0');
	munmap(own, 16384);
}

static void the_context_after_the_last_is_busy(void **state)
{
	struct dare_options one = options;
	struct dare *others[CONTEXTS], *beyond;
	char name[32];

	(void)state;
	snprintf(name, sizeof(name), "%s", dare_device_name(dare));
	one.device = name;
	for (int i = 1; i < CONTEXTS; i++)
		assert_int_equal(dare_open(&others[i], &one), 0);
	assert_int_equal(dare_open(&beyond, &one), -EBUSY);
	assert_null(beyond);
	assert_non_null(strstr(dare_error_text(), name));
	dare_close(others[3]);
	assert_int_equal(dare_open(&others[3], &one), 0);
	for (int i = 1; i < CONTEXTS; i++)
		dare_close(others[i]);
}

static void a_device_that_is_not_there_is_told(void **state)
{
	struct dare_options other = options;
	struct dare *none;

	(void)state;
	other.device = "dare63";
	assert_int_equal(dare_open(&none, &other), -ENODEV);
	assert_true(dare_error_text()[0] != '\0');
}

static void a_child_has_no_context(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	pid = fork();
	if (!pid) {
		dare_mma(dare, 0, 0, 0);
		_exit(dare_fence(dare) == -ENODEV ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(dare_fence(dare), 0);
}

static void no_daemon_and_no_configuration_are_told(void **state)
{
	struct dare_options other = { .transport = "daemon", .socket_path = "/nonexistent/socket" };
	struct dare *none;

	(void)state;
	assert_int_equal(dare_open(&none, &other), -ECONNREFUSED);
	other = (struct dare_options){ .transport = "embedded", .config_path = "/nonexistent.ini" };
	assert_int_equal(dare_open(&none, &other), -ENOENT);
	other.transport = "daemon";
	assert_int_equal(dare_open(&none, &other), -EINVAL);
}

static void a_daemon_that_ends_is_told(void **state)
{
	static float a[400 * 400], c[400 * 400];
	struct served mortal = { .dares = 1 };
	struct dare_options other = { .transport = "daemon", .socket_path = mortal.socket };
	struct dare *lost;

	(void)state;
	assert_true(served_start(&mortal, 1, false));
	assert_int_equal(dare_open(&lost, &other), 0);
	served_end(&mortal, SIGKILL);
	assert_int_equal(dare_gemm(lost, 0, 400, 400, 400, a, 400, a, 400, c, 400), -ENOTCONN);
	dare_mma(lost, 0, 0, 0);
	assert_int_equal(dare_fence(lost), -ENOTCONN);
	dare_close(lost);
	served_clean(&mortal);
}

#define ON(name, transport) \
	{ #name " (" transport ")", name, open_context, close_context, (void *)transport }
#define BOTH(name) ON(name, "embedded"), ON(name, "daemon")

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(the_handle_tells_device_and_transport),
		BOTH(a_new_context_has_zeros_and_whole_shapes),
		BOTH(products_of_random_shapes_are_those_of_the_plain_loop),
		BOTH(products_of_several_blocks_are_those_of_the_plain_loop),
		BOTH(products_are_those_of_openblas_within_the_bound),
		BOTH(counters_are_those_of_the_context),
		BOTH(contexts_have_registers_of_their_own),
		BOTH(threads_with_contexts_of_their_own_do_not_disturb_each_other),
		BOTH(memory_that_is_not_there_is_told_and_the_context_goes_on),
		BOTH(a_store_to_what_cannot_be_written_is_told),
		BOTH(allocated_and_registered_memory_works),
		BOTH(the_context_after_the_last_is_busy),
		BOTH(a_device_that_is_not_there_is_told),
		BOTH(a_child_has_no_context),
		cmocka_unit_test(no_daemon_and_no_configuration_are_told),
		cmocka_unit_test(a_daemon_that_ends_is_told),
	};
	struct dare *first;
	int failed;

	openblas_set_num_threads(1);
	served.dares = 2;
	if (!served_start(&served, 1, false) ||
	    dare_open(&first, &(struct dare_options){ .transport = "embedded" }))
		return 1;
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	dare_close(first);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	served_end(&served, SIGTERM);
	served_clean(&served);
	return failed;
}
