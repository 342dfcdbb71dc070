/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DROPLET: which lines it brings into the L2, and when. Indices are at virtual VIRTUAL, which
 * is physical PHYSICAL page by page in descending order; elements likewise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/soc.h"

#define INDICES 0x7f0000000040ull	/* not at the start of a page */
#define DATA 0x7f0001000000ull
#define COUNT 4096
#define PER_LINE 16

static char why[200];
static uint32_t indices[COUNT];

static uint64_t translate(void *context, uint64_t address)
{
	(void)context;
	/* Far from identity: neighbours in virtual memory are not neighbours here. */
	return (0x7f0002000ull - (address >> 12)) << 12 | (address & 4095);
}

static uint32_t read_index(void *context, uint64_t address)
{
	(void)context;
	assert_in_range(address, INDICES, INDICES + 4 * COUNT - 4);
	return indices[(address - INDICES) / 4];
}

static const struct soc_program program = { .translate = translate, .read_index = read_index };

static struct sim_parameters with_droplet(void)
{
	struct sim_parameters parameters;

	assert_int_equal(sim_parameters_load(&parameters, "maple-sim", why, sizeof(why)), 0);
	parameters.core_translation = 0;
	parameters.droplet_enabled = 1;
	parameters.droplet_lines = 2;
	parameters.l2_size = 1024 * 1024;	/* nothing is evicted */
	parameters.l2_mshrs = 256;		/* nothing waits */
	return parameters;
}

static struct soc *make(const struct sim_parameters *parameters, unsigned int element_size)
{
	struct soc_indirect indirect = { INDICES, COUNT, DATA, element_size };
	struct soc *soc = soc_create(parameters);

	assert_non_null(soc);
	assert_int_equal(soc_droplet_watch(soc, &program, &indirect), 0);
	return soc;
}

static uint64_t prefetched(const struct soc *soc)
{
	struct soc_counters counters;

	soc_counters(soc, &counters);
	return counters.prefetched;
}

/* How long a load takes, with everything that was asked for long done. */
static uint64_t time_of_load(struct soc *soc, uint64_t virtual)
{
	uint64_t begin = soc_now(soc, 0) + 100000;

	soc_sleep_until(soc, 0, begin);
	soc_load(soc, 0, translate(NULL, virtual), 4);
	return soc_now(soc, 0) - begin;
}

/* Element i of index i lies in a line of its own, in no order. */
static void scatter(void)
{
	for (uint32_t i = 0; i < COUNT; i++)
		indices[i] = (i * 2654435761u >> 16 & 0xfff) * 16;
}

static void test_a_load_of_an_index_fetches_the_next_lines_and_their_elements(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 4);

	(void)state;
	scatter();
	assert_int_equal(time_of_load(soc, INDICES), 332);
	/* Two lines of indices and 16 elements of each, that only now are looked at. */
	assert_int_equal(time_of_load(soc, DATA + 4ull * indices[PER_LINE]), 32);
	assert_int_equal(time_of_load(soc, DATA + 4ull * indices[3 * PER_LINE - 1]), 32);
	assert_int_equal(time_of_load(soc, DATA + 4ull * indices[3 * PER_LINE]), 332);
	assert_int_equal(prefetched(soc), 2 + 2 * PER_LINE);
	soc_destroy(soc);
}

static void test_a_stream_goes_on_line_by_line(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 0);

	(void)state;
	assert_int_equal(time_of_load(soc, INDICES), 332);
	for (uint64_t line = 1; line < COUNT / PER_LINE; line++)
		assert_int_equal(time_of_load(soc, INDICES + 64 * line), 32);
	/* All but the first, and none behind the end. */
	assert_int_equal(prefetched(soc), COUNT / PER_LINE - 1);
	soc_destroy(soc);
}

static void test_elements_are_asked_for_when_their_indices_are_there(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc;
	uint64_t begin = 1000;

	(void)state;
	scatter();
	soc = make(&parameters, 4);
	soc_sleep_until(soc, 0, begin);
	soc_load(soc, 0, translate(NULL, INDICES), 4);
	/*
	 * The load's line is read at 1032. The next one is asked for then and read a cycle
	 * later, is there at 1333, and its first element at 1633.
	 */
	soc_sleep_until(soc, 0, 1400);
	soc_load(soc, 0, translate(NULL, DATA + 4ull * indices[PER_LINE]), 4);
	assert_int_equal(soc_now(soc, 0), 1633);
	soc_destroy(soc);
}

static void test_a_size_of_zero_fetches_indices_alone(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 0);

	(void)state;
	scatter();
	time_of_load(soc, INDICES);
	assert_int_equal(time_of_load(soc, INDICES + 64), 32);
	assert_int_equal(time_of_load(soc, DATA + 4ull * indices[PER_LINE]), 332);
	soc_destroy(soc);
}

static void test_a_jump_begins_a_stream_anew(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 0);

	(void)state;
	time_of_load(soc, INDICES);
	assert_int_equal(time_of_load(soc, INDICES + 64 * 100), 332);
	assert_int_equal(time_of_load(soc, INDICES + 64 * 101), 32);
	assert_int_equal(time_of_load(soc, INDICES + 64 * 50), 332);
	assert_int_equal(time_of_load(soc, INDICES + 64 * 51), 32);
	soc_destroy(soc);
}

static void test_each_core_has_its_stream(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 0);

	(void)state;
	for (uint64_t line = 0; line < 10; line++) {
		soc_sleep_until(soc, 0, line * 1000);
		soc_load(soc, 0, translate(NULL, INDICES + 64 * line), 4);
		soc_sleep_until(soc, 1, line * 1000 + 500);
		soc_load(soc, 1, translate(NULL, INDICES + 64 * (line + 100)), 4);
		assert_int_equal(soc_now(soc, 0), line * 1000 + (line ? 32 : 332));
		assert_int_equal(soc_now(soc, 1), line * 1000 + 500 + (line ? 32 : 332));
	}
	soc_destroy(soc);
}

static void test_other_addresses_fetch_nothing(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc = make(&parameters, 4);

	(void)state;
	time_of_load(soc, DATA);
	/* The line before the first index, in its page. */
	time_of_load(soc, INDICES - 64);
	/* Behind the last index. */
	time_of_load(soc, INDICES + 4 * COUNT);
	time_of_load(soc, DATA + 64);
	assert_int_equal(prefetched(soc), 0);
	soc_destroy(soc);
}

static void test_without_droplet_nothing_is_watched(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc;

	(void)state;
	parameters.droplet_enabled = 0;
	soc = make(&parameters, 4);
	time_of_load(soc, INDICES);
	assert_int_equal(time_of_load(soc, INDICES + 64), 332);
	assert_int_equal(prefetched(soc), 0);
	soc_destroy(soc);
}

static void test_a_word_behind_the_last_index_is_no_index(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc_indirect indirect = { INDICES, PER_LINE + 3, DATA, 4 };
	struct soc *soc = soc_create(&parameters);

	(void)state;
	scatter();
	assert_non_null(soc);
	assert_int_equal(soc_droplet_watch(soc, &program, &indirect), 0);
	time_of_load(soc, INDICES);
	assert_int_equal(time_of_load(soc, INDICES + 64), 32);
	assert_int_equal(prefetched(soc), 1 + 3);
	soc_destroy(soc);
}

static void test_a_prefetch_of_now_passes_elements_of_later(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc;

	(void)state;
	scatter();
	soc = make(&parameters, 4);
	soc_load(soc, 0, translate(NULL, INDICES), 4);
	/* The elements wait for their indices, until 333. */
	soc_device_prefetch(soc, 1 << 20, 100);
	soc_sleep_until(soc, 1, 200);
	soc_load(soc, 1, 1 << 20, 4);
	assert_int_equal(soc_now(soc, 1), 100 + 30 + 300);
	soc_destroy(soc);
}

static void test_elements_wait_for_mshrs(void **state)
{
	struct sim_parameters parameters = with_droplet();
	struct soc *soc;

	(void)state;
	scatter();
	parameters.l2_mshrs = 1;
	parameters.droplet_lines = 1;
	soc = make(&parameters, 4);
	soc_load(soc, 0, translate(NULL, INDICES), 4);
	/* One line of indices from 332 to 632, then the 16 elements, 300 cycles each. */
	soc_sleep_until(soc, 0, 632 + 15 * 300 + 10);
	soc_load(soc, 0, translate(NULL, DATA + 4ull * indices[2 * PER_LINE - 1]), 4);
	assert_int_equal(soc_now(soc, 0), 632 + 16 * 300);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_load_of_an_index_fetches_the_next_lines_and_their_elements),
		cmocka_unit_test(test_a_stream_goes_on_line_by_line),
		cmocka_unit_test(test_elements_are_asked_for_when_their_indices_are_there),
		cmocka_unit_test(test_a_size_of_zero_fetches_indices_alone),
		cmocka_unit_test(test_a_jump_begins_a_stream_anew),
		cmocka_unit_test(test_each_core_has_its_stream),
		cmocka_unit_test(test_other_addresses_fetch_nothing),
		cmocka_unit_test(test_without_droplet_nothing_is_watched),
		cmocka_unit_test(test_a_word_behind_the_last_index_is_no_index),
		cmocka_unit_test(test_a_prefetch_of_now_passes_elements_of_later),
		cmocka_unit_test(test_elements_wait_for_mshrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
