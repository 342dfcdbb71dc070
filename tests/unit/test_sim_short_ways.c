/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The short ways of an access against the long ones: two SoCs in step, of which one has to go the long way
 * each time. It forgets where walks found the upper levels, takes no number of ways for granted, and makes no
 * load in steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core_inline.h"

#define OPERATIONS 200000
#define CORES_MOST 4
#define BYTES (1u << 25) /* more tables of the last level than a core remembers */

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct soc *make(const char *preset, unsigned int cores, unsigned int line)
{
	struct sim_parameters parameters;
	struct soc *soc;
	char why[200];

	assert_int_equal(sim_parameters_load(&parameters, preset, why, sizeof(why)), 0);
	parameters.core_count = cores;
	parameters.l1_size = 64 * line;
	parameters.l1_line = line;
	if (parameters.l15_size)
		parameters.l15_size = 64 * line * (cores > 1 ? 2 : 1);
	parameters.l2_size = 16384;
	soc = soc_create(&parameters);
	assert_non_null(soc);
	return soc;
}

static void go_the_long_way(struct soc *soc)
{
	for (unsigned int i = 0; i < soc->cores; i++)
		for (unsigned int upper = 0; upper < SOC_UPPER_LEVELS; upper++)
			soc->core[i].upper[upper].above = UINT64_MAX;
}

static bool load(struct soc *soc, unsigned int number, uint64_t address, unsigned int size, bool is_short)
{
	struct soc_core *core = &soc->core[number];

	if (!is_short || !core_load_begins_quickly(soc, core, address, size))
		return soc_load(soc, number, address, size);
	if (!core_load_ends_quickly(soc, core, address))
		soc_load_behind(soc, core, address, size);
	return true;
}

struct operation {
	unsigned int kind, core, size;
	uint64_t address;
};

/* false: the page was not there, and the core has to try again when it is its turn. */
static bool do_operation(struct soc *soc, const struct operation *operation, bool is_short)
{
	switch (operation->kind) {
	case 0:
		return soc_store(soc, operation->core, operation->address, operation->size);
	case 1:
		return soc_atomic(soc, operation->core, operation->address, operation->size);
	case 2:
		return soc_prefetch(soc, operation->core, operation->address);
	case 3:
		soc_device_write(soc, operation->address, operation->size, soc_now(soc, operation->core));
		return true;
	default:
		return load(soc, operation->core, operation->address, operation->size, is_short);
	}
}

/* Most lie in a few pages, or follow each other; some are anywhere. */
static uint64_t next_address(uint64_t before)
{
	switch (next_random() % 8) {
	case 0:
		return next_random() % (next_random() % 8 ? BYTES / 4 : BYTES);
	case 1:
	case 2:
		return next_random() % 16384;
	case 3:
		return (next_random() % 40 << 12) + next_random() % 64;
	default:
		return (before + 8) % BYTES;
	}
}

static void choose(const struct soc *soc, struct operation *operation)
{
	unsigned int size = 1u << next_random() % 4;

	operation->core = 0;
	for (unsigned int i = 1; i < soc->cores; i++)
		if (soc_now(soc, i) < soc_now(soc, operation->core))
			operation->core = i;
	operation->kind = (unsigned int)next_random() % 24;
	operation->size = size;
	operation->address = next_address(operation->address) & ~(uint64_t)(size - 1);
}

static void compare(const char *preset, unsigned int cores, unsigned int line)
{
	struct soc *quick = make(preset, cores, line), *slow = make(preset, cores, line);
	struct operation operation = { 0 };
	struct soc_counters counters[2];

	soc_choose_l1_miss(slow, true);
	assert_ptr_not_equal(quick->l1_miss, slow->l1_miss);
	random_state = 88172645463325252ull;
	for (int i = 0; i < OPERATIONS; i++) {
		bool is_done;

		choose(quick, &operation);
		go_the_long_way(slow);
		is_done = do_operation(quick, &operation, true);
		assert_int_equal(do_operation(slow, &operation, false), is_done);
		assert_int_equal(soc_now(quick, operation.core), soc_now(slow, operation.core));
	}
	for (unsigned int i = 0; i < cores; i++) {
		struct soc_core_counters of_core[2];

		soc_core_counters(quick, i, &of_core[0]);
		soc_core_counters(slow, i, &of_core[1]);
		assert_memory_equal(&of_core[0], &of_core[1], sizeof(of_core[0]));
	}
	soc_counters(quick, &counters[0]);
	soc_counters(slow, &counters[1]);
	assert_memory_equal(&counters[0], &counters[1], sizeof(counters[0]));
	assert_int_equal(soc_dirty_lines(quick), soc_dirty_lines(slow));
	soc_destroy(quick);
	soc_destroy(slow);
}

static void test_they_are_the_same_on_the_prototype(void **state)
{
	(void)state;
	compare("maple-fpga", 1, 16);
	compare("maple-fpga", CORES_MOST, 16);
}

static void test_they_are_the_same_on_the_simulated_system(void **state)
{
	(void)state;
	compare("maple-sim", 1, 64);
	compare("maple-sim", CORES_MOST, 16);
	compare("maple-sim", 2, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_they_are_the_same_on_the_prototype),
		cmocka_unit_test(test_they_are_the_same_on_the_simulated_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
