/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How products share the shared memory: which product waits, which gives up a part, and the results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/fake_virgo.h"

static struct fake_virgo fake;
static struct virgo *virgo;

/* Eight units as the paper's. */
static int open_cluster(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.units = 8;
	for (unsigned int i = 0; i < 8; i++)
		config.unit[i] = (struct virgo_unit_config){ VIRGO_FP32, 8, 16, 0, 0, 0 };
	virgo = fake_virgo_open(&fake, &config);
	return virgo ? 0 : -1;
}

static int close_cluster(void **state)
{
	(void)state;
	fake_virgo_close(&fake, virgo);
	return 0;
}

/* --- shares ---------------------------------------------------------------------------------- */

struct taker {
	pthread_t thread;
	struct virgo_unit *unit;
	size_t least;
	struct virgo_share share;
	int error;
	bool is_over;
};

static void *take_share(void *argument)
{
	struct taker *taker = argument;

	taker->error = virgo_share_take(taker->unit, taker->least, &taker->share);
	__atomic_store_n(&taker->is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void a_second_product_waits_until_the_first_has_given_up_half(void **state)
{
	struct taker second = { .unit = &virgo->unit[1], .least = 1024 };
	struct virgo_share first, guess;

	(void)state;
	assert_int_equal(virgo_share_take(&virgo->unit[0], 1024, &first), 0);
	assert_int_equal(first.count, 64);
	assert_int_equal(virgo_share_guess(virgo, 1024, &guess), 0);
	assert_int_equal(guess.count, 32);
	assert_int_equal(pthread_create(&second.thread, NULL, take_share, &second), 0);
	while (virgo_share_limit(virgo) == 64)
		;
	assert_int_equal(virgo_share_limit(virgo), 32);
	assert_false(__atomic_load_n(&second.is_over, __ATOMIC_ACQUIRE));
	virgo_share_shrink(&virgo->unit[0], &first, 32);
	pthread_join(second.thread, NULL);
	assert_int_equal(second.error, 0);
	assert_int_equal(first.first, 0);
	assert_int_equal(first.count, 32);
	assert_int_equal(second.share.first, 32);
	assert_int_equal(second.share.count, 32);
	/* When the first is over, the second may have all. */
	assert_false(virgo_share_grow(&virgo->unit[1], &second.share));
	virgo_share_give_back(&virgo->unit[0], &first);
	assert_true(virgo_share_grow(&virgo->unit[1], &second.share));
	assert_int_equal(second.share.first, 0);
	assert_int_equal(second.share.count, 64);
	virgo_share_give_back(&virgo->unit[1], &second.share);
}

static void eight_products_share_without_overlap(void **state)
{
	struct virgo_share shares[8];
	uint64_t used = 0;

	(void)state;
	/* Each product shrinks its share to the limit before the next one comes. */
	for (unsigned int i = 0; i < 8; i++) {
		struct taker taker = { .unit = &virgo->unit[i], .least = 1024 };

		assert_int_equal(pthread_create(&taker.thread, NULL, take_share, &taker), 0);
		while (!__atomic_load_n(&taker.is_over, __ATOMIC_ACQUIRE)) {
			for (unsigned int j = 0; j < i; j++)
				virgo_share_shrink(&virgo->unit[j], &shares[j],
						   virgo_share_limit(virgo));
		}
		pthread_join(taker.thread, NULL);
		shares[i] = taker.share;
	}
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t mask = 0xffull << shares[i].first;

		assert_int_equal(shares[i].count, 8);
		assert_int_equal(used & mask, 0);
		used |= mask;
	}
	for (unsigned int i = 0; i < 8; i++)
		virgo_share_give_back(&virgo->unit[i], &shares[i]);
	assert_int_equal(virgo->used, 0);
}

static bool is_over_soon(const struct taker *taker)
{
	const struct timespec moment = { 0, 1000000 };

	for (int i = 0; i < 5000 && !__atomic_load_n(&taker->is_over, __ATOMIC_ACQUIRE); i++)
		nanosleep(&moment, NULL);
	return __atomic_load_n(&taker->is_over, __ATOMIC_ACQUIRE);
}

/* Neither has anything that the other could wait for. */
static void two_products_that_find_no_room_do_not_wait_for_each_other(void **state)
{
	struct taker takers[2] = {
		{ .unit = &virgo->unit[1], .least = 4096 }, { .unit = &virgo->unit[2], .least = 4096 },
	};
	void *part = virgo_shared_alloc(virgo, 62 * 1024);
	struct virgo_share first;
	bool ended[2];

	(void)state;
	assert_int_equal(virgo_share_take(&virgo->unit[0], 1024, &first), 0);
	assert_int_equal(first.count, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&takers[i].thread, NULL, take_share, &takers[i]), 0);
	/* Both wait: the first one's part may be the one that is missing. */
	while (virgo_share_limit(virgo) != 16)
		;
	virgo_share_give_back(&virgo->unit[0], &first);
	for (int i = 0; i < 2; i++)
		ended[i] = is_over_soon(&takers[i]);
	virgo_shared_free(virgo, part);
	for (int i = 0; i < 2; i++) {
		pthread_join(takers[i].thread, NULL);
		assert_true(ended[i]);
		assert_int_equal(takers[i].error, -ENOSPC);
	}
	assert_int_equal(virgo_share_limit(virgo), 64);
}

/* --- products that have to give up some ------------------------------------------------------- */

#define M 100
#define N 72
#define K 512

static float *a, *b, *c;

static struct virgo_product make_product(void)
{
	a = (float *)fake.fixture->arena;
	b = a + M * K;
	c = b + K * N;
	for (size_t i = 0; i < M * K + K * N; i++)
		a[i] = (float)(i * 7 % 17) - 8;
	return (struct virgo_product){
		.type = VIRGO_FP32, .m = M, .n = N, .k = K, .a = a, .lda = K, .b = b, .ldb = N,
		.c = c, .ldc = N,
	};
}

/* Whole numbers: exact in any order. */
static void check_product(void)
{
	for (size_t i = 0; i < M; i++) {
		for (size_t j = 0; j < N; j++) {
			float sum = 0;

			for (size_t k = 0; k < K; k++)
				sum += a[i * K + k] * b[k * N + j];
			assert_true(c[i * N + j] == sum);
		}
	}
}

static void allow(unsigned int parts)
{
	__atomic_store_n(&virgo->largest, parts, __ATOMIC_RELEASE);
}

/* The first step has been sent. */
static void a_second_product_comes(struct fake_device *device)
{
	if (device->posts == 1)
		allow(32);
}

/* In its middle a tile of 64 x 64 may not be cut anew, and does not fit into this. */
static void many_more_come(struct fake_virgo *p)
{
	if (p->waits > 1 && virgo->largest == 32)
		allow(2);
}

static void products_that_come_while_one_waits_to_give_up_change_no_result(void **state)
{
	struct virgo_product product = make_product();

	(void)state;
	fake.device.on_post = a_second_product_comes;
	fake.on_wait = many_more_come;
	assert_int_equal(virgo_gemm(virgo, 0, &product), 0);
	/* It was the hook's turn. */
	assert_true(fake.waits > 2);
	check_product();
	assert_int_equal(virgo->used, 0);
}

/* --- a child of a fork --------------------------------------------------------------------------- */

static int status_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* The alarm is for a call that waits for a thread that is not there. */
static int use_as_a_child(void)
{
	struct virgo_product product = make_product();
	struct virgo_gemm_sizes sizes;
	struct virgo_statistics statistics;

	signal(SIGALRM, SIG_DFL);
	alarm(20);
	if (virgo_gemm_done(virgo, 0) != -ENODEV || virgo_gemm_wait(virgo, 0) != -ENODEV)
		return 1;
	if (virgo_gemm_start(virgo, 1, &product) != -ENODEV)
		return 2;
	if (virgo_counters(virgo, 0, &statistics) != -ENODEV || virgo_event_fd(virgo, 1) != -ENODEV)
		return 3;
	if (virgo_gemm_sizes(virgo, 0, &product, &sizes) != -ENODEV || virgo_shared_alloc(virgo, 1))
		return 4;
	virgo_close(virgo);
	return 0;
}

static void a_child_is_told_that_products_are_the_parents(void **state)
{
	const struct timespec moment = { 0, 50000000 };
	struct virgo_product product = make_product();
	struct virgo_share all;
	pid_t child;
	int status;

	(void)state;
	/* The library's thread waits for its share, with a lock of the handle. */
	assert_int_equal(virgo_share_take(&virgo->unit[1], 1024, &all), 0);
	assert_int_equal(virgo_gemm_start(virgo, 0, &product), 0);
	while (virgo_share_limit(virgo) == 64)
		;
	nanosleep(&moment, NULL);
	child = fork();
	if (!child)
		_exit(use_as_a_child());
	status = status_of(child);
	virgo_share_give_back(&virgo->unit[1], &all);
	assert_int_equal(virgo_gemm_wait(virgo, 0), 0);
	assert_int_equal(status, 0);
	check_product();
}

#define ON(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_second_product_waits_until_the_first_has_given_up_half),
		ON(eight_products_share_without_overlap),
		ON(two_products_that_find_no_room_do_not_wait_for_each_other),
		ON(products_that_come_while_one_waits_to_give_up_change_no_result),
		ON(a_child_is_told_that_products_are_the_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
