/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon with a thousand devices, hundreds of which programs have at once. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"

#define PROGRAMS 64u
#define DEVICES_EACH 4u
#define WORDS 16u
#define TURNS 50u

static int start(void **state)
{
	(void)state;
	alarm(300);
	return served_start(&served, 1024, false) ? 0 : -1;
}

static int end(void **state)
{
	int status = served_end(&served, SIGTERM);

	(void)state;
	served_clean(&served);
	return status;
}

static int open_at(const char *name, struct mimic_device **device)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	return mimic_device_open(device, name, &options);
}

static void the_last_of_1024_devices_works(void **state)
{
	(void)state;
	assert_int_equal(open_at("maple1023", &served_device), 0);
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 77);
	assert_int_equal(register_load(CONSUME, 0, 4), 77);
	mimic_device_close(served_device);
	assert_int_equal(open_at("maple1024", &served_device), -ENODEV);
}

/* Words that no other program and no other device has. */
static uint64_t word_of(unsigned int program, unsigned int device, unsigned int turn, unsigned int number)
{
	return ((program * DEVICES_EACH + device) * TURNS + turn) * WORDS + number + 1;
}

static bool gives_back_what_it_gets(unsigned int program, unsigned int device, unsigned int turn)
{
	uint64_t values[WORDS];
	bool is_right = true;

	for (unsigned int i = 0; i < WORDS; i++)
		values[i] = word_of(program, device, turn, i);
	register_post(PRODUCE, 0, 4, values, WORDS);
	for (unsigned int i = 0; i < WORDS; i++)
		is_right &= register_load(CONSUME, 0, 4) == values[i];
	return is_right;
}

/* Exits with 0 if each of its devices has given back its own words in their order. */
static void use_devices(unsigned int program)
{
	struct mimic_device *devices[DEVICES_EACH];
	bool is_right = true;

	for (unsigned int i = 0; i < DEVICES_EACH; i++) {
		if (open_at("maple", &devices[i]))
			_exit(2);
		served_device = devices[i];
		served_init(WORDS_32);
		served_open_both(0);
	}
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		for (unsigned int i = 0; i < DEVICES_EACH; i++) {
			served_device = devices[i];
			is_right &= gives_back_what_it_gets(program, i, turn);
		}
	}
	for (unsigned int i = 0; i < DEVICES_EACH; i++)
		mimic_device_close(devices[i]);
	_exit(is_right ? 0 : 1);
}

static void programs_have_256_devices_at_once_and_each_its_own_words(void **state)
{
	pid_t programs[PROGRAMS];

	(void)state;
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		programs[i] = fork();
		assert_true(programs[i] >= 0);
		if (!programs[i])
			use_devices(i);
	}
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		int status = -1;

		assert_int_equal(waitpid(programs[i], &status, 0), programs[i]);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_of_1024_devices_works),
		cmocka_unit_test(programs_have_256_devices_at_once_and_each_its_own_words),
	};

	return cmocka_run_group_tests(tests, start, end);
}
