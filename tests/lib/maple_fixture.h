/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tests of libmaple run on several settings: each test is named
 * "<setting>: <test>" and starts with a fresh device.
 */
#ifndef TESTS_MAPLE_FIXTURE_H
#define TESTS_MAPLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above */
#include <cmocka.h>
#include <stdbool.h>

#include "maple.h"

enum maple_settings { ON_PAPER = 1, ON_ARTIFACT = 2, ON_DAEMON = 4, ON_ALL = 7 };

struct maple_test {
	const char *name;
	void (*run)(void **state);
	unsigned int settings;
	unsigned int queue_words;	/* 0: the default */
};

#define MAPLE_TEST(function, settings) { #function, function, settings, 0 }

/* The device of the running test, and the options that it was opened with. */
extern struct maple *maple;
extern struct maple_options maple_test_options;
bool maple_is_artifact(void);

/* `count` elements of `size` bytes below 2^40; fails the test if there are none. */
void *maple_array(size_t count, size_t size);

/* The calling thread takes both roles of a queue; pops one or two words. They fail the test if they cannot. */
void maple_open_both(unsigned int queue);
uint32_t maple_pop32(unsigned int queue);
uint64_t maple_pop64(unsigned int queue);

/* Runs all tests on all their settings. Returns the status for main(). */
int maple_run_tests(const char *group, const struct maple_test *tests, size_t count);

#define maple_run(group, tests) maple_run_tests(group, tests, sizeof(tests) / sizeof((tests)[0]))

#endif
