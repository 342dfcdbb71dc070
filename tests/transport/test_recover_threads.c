/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon that can be recovered serves programs on several threads. It is not killed: ThreadSanitizer sees it here. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"
#include "tests/lib/virgo_client.h"

#define PROGRAMS 8u
#define ROUNDS 10u
#define TURNS 10u
#define WORDS 16u
#define CLUSTERS 2u
#define SIDE 96u

static int start(void **state)
{
	(void)state;
	alarm(300);
	served.threads = 3;
	served.spreads = true;
	served.recovers = true;
	served.virgos = CLUSTERS;
	return served_start(&served, 2 * PROGRAMS, false) ? 0 : -1;
}

static int end(void **state)
{
	int status = served_end(&served, SIGTERM);

	(void)state;
	served_clean(&served);
	return status;
}

static bool has_words(const uint32_t *expected)
{
	bool is_right = true;

	for (unsigned int i = 0; i < WORDS; i++)
		is_right &= register_load(CONSUME, 0, 4) == expected[i];
	return is_right;
}

/* Words that it gives, and words of its memory. */
static bool use_device(uint32_t first)
{
	uint32_t words[WORDS];
	uint64_t values[WORDS], addresses[WORDS];
	bool is_right = true;

	served_init(WORDS_32);
	served_open_both(0);
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		for (unsigned int i = 0; i < WORDS; i++) {
			words[i] = first + turn * WORDS + i;
			values[i] = words[i];
			addresses[i] = (uint64_t)(uintptr_t)&words[i];
		}
		register_post(PRODUCE, 0, 4, values, WORDS);
		is_right &= has_words(words);
		register_post(FULL_POINTER32, 0, 8, addresses, WORDS);
		is_right &= has_words(words);
	}
	return is_right;
}

/* Devices come and go meanwhile, which the loop's thread does. Exits with 0 if each word came back. */
static void use_devices(unsigned int program)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	bool is_right = true;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		if (mimic_device_open(&served_device, "maple", &options))
			_exit(2);
		is_right &= use_device(program << 16 | round << 8);
		mimic_device_close(served_device);
	}
	_exit(is_right ? 0 : 1);
}

/* Exits with 0 if all products are right. */
static void multiply(unsigned int program)
{
	struct mimic_device *device = virgo_client_open(&served, "virgo");
	struct virgo_client_product product;
	bool is_right = true;

	virgo_client_alloc(device, &product, SIDE, program % 2);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		virgo_client_fill(&product, program * ROUNDS + round);
		virgo_client_post(device, UNIT_FP32, &product);
		is_right &= virgo_client_fence(device, UNIT_FP32) == VIRGO_ERROR_NONE && !virgo_client_wrong(&product);
	}
	mimic_device_close(device);
	_exit(is_right ? 0 : 1);
}

static void programs_on_several_threads_have_their_own_words_and_products(void **state)
{
	pid_t programs[PROGRAMS + CLUSTERS];

	(void)state;
	for (unsigned int i = 0; i < PROGRAMS + CLUSTERS; i++) {
		programs[i] = fork();
		assert_true(programs[i] >= 0);
		if (!programs[i])
			(i < PROGRAMS ? use_devices : multiply)(i);
	}
	for (unsigned int i = 0; i < PROGRAMS + CLUSTERS; i++) {
		int status = -1;

		assert_int_equal(waitpid(programs[i], &status, 0), programs[i]);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_on_several_threads_have_their_own_words_and_products),
	};

	return cmocka_run_group_tests(tests, start, end);
}
