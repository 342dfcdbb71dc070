/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/maple_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/base/context.h"
#include "libmimic/mimic.h"
#include "tests/lib/programs.h"

#define TESTS_MAX 512

struct setting {
	unsigned int bit;
	const char *name;
	const char *transport;
	const char *config;
};

static const struct setting settings[] = {
	{ ON_PAPER, "paper", "embedded", "paper" },
	{ ON_ARTIFACT, "artifact", "embedded", "artifact" },
	{ ON_DAEMON, "daemon", "daemon", NULL },
};

struct run {
	const struct setting *setting;
	const struct maple_test *test;
	char name[160];
};

struct maple *maple;
struct maple_options maple_test_options;

static struct run runs[TESTS_MAX];
static struct CMUnitTest cases[TESTS_MAX];
static bool is_artifact;

bool maple_is_artifact(void)
{
	return is_artifact;
}

void *maple_array(size_t count, size_t size)
{
	void *memory = maple_alloc(maple, count * size + 1);

	if (!memory)
		fail_msg("maple_alloc: %s", maple_error_text());
	return memory;
}

void maple_open_both(unsigned int queue)
{
	assert_int_equal(maple_open(maple, queue, MAPLE_PRODUCER), 0);
	assert_int_equal(maple_open(maple, queue, MAPLE_CONSUMER), 0);
}

uint32_t maple_pop32(unsigned int queue)
{
	uint32_t word = 0;

	assert_int_equal(maple_consume32(maple, queue, &word), 0);
	return word;
}

uint64_t maple_pop64(unsigned int queue)
{
	uint64_t words = 0;

	assert_int_equal(maple_consume64(maple, queue, &words), 0);
	return words;
}

static int open_device(void **state)
{
	const struct run *run = *state;

	maple_test_options = (struct maple_options){
		.transport = run->setting->transport,
		.config_path = run->setting->config,
		.queue_words = run->test->queue_words,
	};
	is_artifact = run->setting->bit == ON_ARTIFACT;
	if (maple_init(&maple, &maple_test_options) == 0)
		return 0;
	print_error("maple_init: %s\n", maple_error_text());
	return -1;
}

static int close_device(void **state)
{
	(void)state;
	maple_fini(maple);
	maple = NULL;
	return 0;
}

/*
 * cmocka puts its own handlers in place for each test, over libmimic's, so the
 * tests do the same as a program with its own handlers.
 */
static void on_fault(int number, siginfo_t *information, void *context)
{
	uintptr_t fixup = mimic_fault_fixup(mimic_context_instruction(context));

	(void)information;
	if (fixup)
		mimic_context_go_to(context, fixup);
	else
		signal(number, SIG_DFL);
}

static void run_guarded(void **state)
{
	const struct run *run = *state;
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	run->test->run(state);
}

static bool have_daemon(void)
{
	char path[512];

	program_path(path, sizeof(path), "bin/mimicd");
	return access(path, X_OK) == 0;
}

int maple_run_tests(const char *group, const struct maple_test *tests, size_t count)
{
	unsigned int wanted = have_daemon() ? ON_ALL : ON_ALL & ~ON_DAEMON;
	struct daemon_process daemon = { 0 };
	size_t n = 0;
	int failed;

	mimic_faults_are_handled();
	if ((wanted & ON_DAEMON) && daemon_start(&daemon, "paper"))
		return 1;
	for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
		for (size_t i = 0; i < count && n < TESTS_MAX; i++) {
			struct run *run = &runs[n];

			if (!(tests[i].settings & settings[s].bit & wanted))
				continue;
			run->setting = &settings[s];
			run->test = &tests[i];
			snprintf(run->name, sizeof(run->name), "%s: %s", settings[s].name,
				 tests[i].name);
			cases[n++] = (struct CMUnitTest){ run->name, run_guarded, open_device,
							  close_device, run };
		}
	}
	failed = _cmocka_run_group_tests(group, cases, n, NULL, NULL);
	if (daemon.pid > 0 && daemon_stop(&daemon))
		failed++;
	return failed;
}
