/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The fixture of tests of the bare model: one fake host, owner 1 produces, owner 2 consumes. */
#ifndef TESTS_MODEL_FIXTURE_H
#define TESTS_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the three above */
#include <cmocka.h>

#include "tests/lib/fake_host.h"

/* on the MMU page */
enum { FLUSH = 0, GET_FAULT = 1, SNOOP = 2 };
enum { OFF = 0, ROOT = 1, RESOLVE = 2, INSTALL = 6 };
enum { PIPES = 1, LIMA = 2 };

enum { PRODUCER = 1, CONSUMER = 2 };

#define EACH_PROFILE(i) (const char *const *i = both_profiles; *i; i++)

static const char *const both_profiles[] __attribute__((unused)) = { "paper", "artifact", NULL };

static struct fake_host *host;

static inline void start(const char *profile, unsigned int options)
{
	host = fake_host_profile(profile, options);
	assert_non_null(host);
}

static inline void stop(void)
{
	assert_int_equal(host->unexpected, 0);
	fake_host_destroy(host);
}

static inline bool pointer32(unsigned int queue, unsigned int word)
{
	return fake_store(host, PRODUCER, POINTER32, queue, 8, fake_address(word));
}

static inline bool produce(unsigned int queue, uint32_t value)
{
	return fake_store(host, PRODUCER, PRODUCE, queue, 4, value);
}

static inline uint64_t consume(unsigned int queue)
{
	return fake_load(host, CONSUMER, CONSUME, queue, 4);
}

#endif
