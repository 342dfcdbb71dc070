/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * L1s, L2 and memory against plain lists, with everything quiet between two accesses; then
 * accesses that overlap, counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

#define CORES_MAX 64
#define SETS_MAX 16
#define WAYS_MAX 8
#define PARTS_MAX 4

static char why[200];
static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* --- the plain system ------------------------------------------------------ */

/*
 * Of the letters of MESI; an L2 has 'E' (clean) and 'M'. The L2 also knows, of each part of a line, which core was given
 * it alone and has not given it back (+ 1; 0: none): asking that one costs 30, whether it has written or not.
 */
struct plain_line {
	uint64_t address;
	char state;
	bool held[CORES_MAX];		/* cores that were given a part, and ... */
	bool given[PARTS_MAX];		/* parts that any was given */
	unsigned int owner[PARTS_MAX];
};

struct plain_cache {
	uint64_t line;
	unsigned int sets, ways;
	struct plain_line list[SETS_MAX][WAYS_MAX];	/* the latest used first */
	unsigned int length[SETS_MAX];
};

struct plain_system {
	unsigned int cores;
	struct plain_cache l1[CORES_MAX], l2;
	uint64_t l1_hits, l1_misses, l2_hits, l2_misses, forwards, invalidations, write_backs;
};

static unsigned int set_of(const struct plain_cache *cache, uint64_t address)
{
	return (unsigned int)(address / cache->line % cache->sets);
}

static struct plain_line *look(struct plain_cache *cache, uint64_t address)
{
	unsigned int set = set_of(cache, address);

	for (unsigned int i = 0; i < cache->length[set]; i++)
		if (cache->list[set][i].address == address / cache->line * cache->line)
			return &cache->list[set][i];
	return NULL;
}

static void take_out(struct plain_cache *cache, uint64_t address)
{
	unsigned int set = set_of(cache, address);
	struct plain_line *line = look(cache, address), *end = &cache->list[set][cache->length[set]];

	if (!line)
		return;
	memmove(line, line + 1, (size_t)(end - line - 1) * sizeof(*line));
	cache->length[set]--;
}

static struct plain_line *put_in_front(struct plain_cache *cache, uint64_t address, char state)
{
	unsigned int set = set_of(cache, address);
	struct plain_line before = { 0 };

	if (look(cache, address))
		before = *look(cache, address);
	take_out(cache, address);
	memmove(&cache->list[set][1], &cache->list[set][0], cache->length[set] * sizeof(struct plain_line));
	cache->list[set][0] = before;
	cache->list[set][0].address = address / cache->line * cache->line;
	cache->list[set][0].state = state;
	cache->length[set]++;
	return &cache->list[set][0];
}

static bool is_full(const struct plain_cache *cache, uint64_t address)
{
	return cache->length[set_of(cache, address)] == cache->ways;
}

static struct plain_line last_of(const struct plain_cache *cache, uint64_t address)
{
	unsigned int set = set_of(cache, address);

	return cache->list[set][cache->length[set] - 1];
}

static void plain_l2_evict(struct plain_system *system, uint64_t address)
{
	struct plain_line gone = last_of(&system->l2, address);
	bool modified = gone.state == 'M';

	for (unsigned int i = 0; i < system->cores; i++) {
		for (uint64_t at = 0; at < system->l2.line; at += system->l1[i].line) {
			struct plain_line *line = look(&system->l1[i], gone.address + at);

			modified |= line && line->state == 'M';
			take_out(&system->l1[i], gone.address + at);
		}
	}
	system->write_backs += modified;
	take_out(&system->l2, gone.address);
}

/* Cycles at the L2. */
static unsigned int plain_l2(struct plain_system *system, uint64_t address)
{
	struct plain_line *line = look(&system->l2, address);

	if (line) {
		system->l2_hits++;
		put_in_front(&system->l2, address, line->state);
		return 30;
	}
	system->l2_misses++;
	if (is_full(&system->l2, address))
		plain_l2_evict(system, address);
	put_in_front(&system->l2, address, 'E');
	return 30 + 300;
}

static unsigned int *owner_at(struct plain_system *system, uint64_t address)
{
	return &look(&system->l2, address)->owner[address % system->l2.line / system->l1[0].line];
}

/* The L1s of others lose it, or share it. Returns whether one was ever given it, as far as the L2 knows. */
static bool plain_others(struct plain_system *system, unsigned int core, uint64_t address, bool write, bool *asked)
{
	struct plain_line *behind = look(&system->l2, address);
	bool may_have = false;

	*asked = *owner_at(system, address) && *owner_at(system, address) != core + 1;
	*owner_at(system, address) = 0;
	for (unsigned int i = 0; i < system->cores; i++) {
		struct plain_line *line = look(&system->l1[i], address);

		if (i == core)
			continue;
		may_have |= behind->held[i] && behind->given[address % system->l2.line / system->l1[0].line];
		if (!line)
			continue;
		if (line->state == 'M')
			behind->state = 'M';
		line->state = 'S';
		if (write) {
			system->invalidations++;
			take_out(&system->l1[i], address);
		}
	}
	return may_have;
}

/* The cycles that the access takes. */
static unsigned int plain_access(struct plain_system *system, unsigned int core, uint64_t address, bool write)
{
	struct plain_cache *l1 = &system->l1[core];
	struct plain_line *line = look(l1, address);
	bool asked, any;
	unsigned int cycles = 2;

	if (line && (!write || line->state != 'S')) {
		system->l1_hits++;
		put_in_front(l1, address, write ? 'M' : line->state);
		return cycles;
	}
	system->l1_misses++;
	cycles += plain_l2(system, address);
	any = plain_others(system, core, address, write, &asked);
	if (asked) {
		system->forwards++;
		cycles += 30;
	}
	if (!look(l1, address) && is_full(l1, address)) {
		struct plain_line gone = last_of(l1, address);

		if (gone.state == 'M') {
			look(&system->l2, gone.address)->state = 'M';
			*owner_at(system, gone.address) = 0;
		}
		take_out(l1, gone.address);
	}
	put_in_front(l1, address, write ? 'M' : any ? 'S' : 'E');
	if (write || !any)
		*owner_at(system, address) = core + 1;
	look(&system->l2, address)->held[core] = true;
	look(&system->l2, address)->given[address % system->l2.line / l1->line] = true;
	return cycles;
}

/* --- side by side ------------------------------------------------------------ */

static struct sim_parameters small_caches(unsigned int cores, uint64_t l1_line)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");

	parameters.core_count = cores;
	parameters.l1_size = 8 * 2 * l1_line;
	parameters.l1_ways = 2;
	parameters.l1_line = l1_line;
	parameters.l2_size = 8 * 4 * 64;
	parameters.l2_ways = 4;
	assert_int_equal(sim_parameters_check(&parameters, why, sizeof(why)), 0);
	return parameters;
}

static void expect_counters(const struct soc *soc, const struct plain_system *system)
{
	struct soc_counters all;
	uint64_t hits = 0, misses = 0;

	for (unsigned int i = 0; i < system->cores; i++) {
		struct soc_core_counters counters;

		soc_core_counters(soc, i, &counters);
		hits += counters.l1_hits;
		misses += counters.l1_misses;
	}
	soc_counters(soc, &all);
	assert_int_equal(hits, system->l1_hits);
	assert_int_equal(misses, system->l1_misses);
	assert_int_equal(all.l2_hits, system->l2_hits);
	assert_int_equal(all.l2_misses, system->l2_misses);
	assert_int_equal(all.dram_lines, system->l2_misses);
	assert_int_equal(all.l2_forwards, system->forwards);
	assert_int_equal(all.invalidations, system->invalidations);
	assert_int_equal(all.write_backs, system->write_backs);
}

static void access_both(struct soc *soc, struct plain_system *system, uint64_t time)
{
	unsigned int core = (unsigned int)(next_random() % system->cores);
	uint64_t address = next_random() % 4096 & ~3ull;
	unsigned int kind = (unsigned int)(next_random() % 4);
	unsigned int cycles = plain_access(system, core, address, kind < 2);

	soc_sleep_until(soc, core, time);
	if (kind == 0)
		soc_store(soc, core, address, 4);
	else if (kind == 1)
		soc_atomic(soc, core, address, 4);
	else
		soc_load(soc, core, address, 4);
	assert_int_equal(soc_now(soc, core), time + (kind ? cycles : 1));
	expect_counters(soc, system);
}

static void compare(unsigned int cores, uint64_t l1_line)
{
	struct sim_parameters parameters = small_caches(cores, l1_line);
	struct plain_system system = {
		.cores = cores, .l2 = { .line = 64, .sets = 8, .ways = 4 }
	};
	struct soc *soc = soc_create(&parameters);

	assert_non_null(soc);
	random_state = 88172645463325252ull;
	for (unsigned int i = 0; i < cores; i++)
		system.l1[i] = (struct plain_cache){ .line = l1_line, .sets = 8, .ways = 2 };
	for (uint64_t i = 1; i <= 20000; i++)
		access_both(soc, &system, i * 1000);
	assert_true(system.write_backs > 100);
	assert_true(cores == 1 || system.forwards > 100);
	soc_destroy(soc);
}

static void test_one_core_behaves_as_lists(void **state)
{
	(void)state;
	compare(1, 16);
	compare(1, 64);
}

static void test_two_cores_behave_as_lists(void **state)
{
	(void)state;
	compare(2, 16);
	compare(2, 64);
}

static void test_eight_cores_behave_as_lists(void **state)
{
	(void)state;
	compare(8, 16);
}

static void test_64_cores_behave_as_lists(void **state)
{
	(void)state;
	compare(64, 16);
}

/* --- overlapping accesses, by hand -------------------------------------------- */

static struct soc_counters counters_of(const struct soc *soc)
{
	struct soc_counters counters;

	soc_counters(soc, &counters);
	return counters;
}

static void test_a_second_miss_of_a_line_waits_for_the_first(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_execute(soc, 1, 100);
	soc_load(soc, 1, 32, 8);
	assert_int_equal(soc_now(soc, 1), 332);
	assert_int_equal(counters_of(soc).dram_lines, 1);
	soc_destroy(soc);
}

static void test_misses_at_once_are_a_dram_gap_apart(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_load(soc, 1, 4096, 8);
	assert_int_equal(soc_now(soc, 0), 332);
	assert_int_equal(soc_now(soc, 1), 336);
	soc_destroy(soc);
}

static void test_a_miss_without_an_mshr_waits_for_one(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.l2_mshrs = 1;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 0, 8);
	soc_execute(soc, 1, 5);
	soc_load(soc, 1, 4096, 8);
	/* The first has it from 32 to 332. */
	assert_int_equal(soc_now(soc, 1), 332 + 300);
	assert_int_equal(counters_of(soc).mshr_stalls, 332 - (5 + 2 + 30));
	soc_destroy(soc);
}

static void test_a_hit_passes_misses_that_wait_for_mshrs(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.l2_mshrs = 1;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	soc_store(soc, 0, 4096, 8);
	soc_sleep_until(soc, 1, 1001);
	soc_load(soc, 1, 0, 8);
	/* The other core was the first to read it. */
	assert_int_equal(soc_now(soc, 1), 1001 + 32 + 30);
	soc_destroy(soc);
}

static void test_a_line_that_another_core_has_written_comes_from_there(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 400);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 400 + 2 + 30 + 30);
	assert_int_equal(counters_of(soc).l2_forwards, 1);
	soc_destroy(soc);
}

/* The L2 has given it to the first reader alone: that one may have written it. */
static void test_a_line_that_another_core_has_alone_comes_from_there(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-sim");
	struct soc *soc;

	(void)state;
	parameters.core_count = 3;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 400);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 400 + 2 + 30 + 30);
	/* Both share it now, and the L2 knows that. */
	soc_sleep_until(soc, 2, 500);
	soc_load(soc, 2, 0, 8);
	assert_int_equal(soc_now(soc, 2), 500 + 2 + 30);
	assert_int_equal(counters_of(soc).l2_forwards, 1);
	assert_int_equal(counters_of(soc).write_backs, 0);
	soc_destroy(soc);
}

/* Four other lines of its set of the L1 replace it, and nobody tells the L2. */
static void test_a_line_that_was_replaced_unwritten_is_asked_for_all_the_same(void **state)
{
	struct soc *soc = soc_of_preset("maple-sim");

	(void)state;
	for (unsigned int i = 0; i <= 4; i++)
		soc_load(soc, 0, i * 2048ull, 8);
	soc_sleep_until(soc, 1, 5000);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 5000 + 2 + 30 + 30);
	/* To its owner it comes as a line that nobody else has. */
	soc_sleep_until(soc, 0, 6000);
	soc_load(soc, 0, 2048, 8);
	soc_load(soc, 0, 4096, 8);
	assert_int_equal(counters_of(soc).l2_forwards, 1);
	soc_destroy(soc);
}

/* One that was written says so as it leaves. */
static void test_a_line_that_was_written_back_to_the_l2_is_not_asked_for(void **state)
{
	struct soc *soc = soc_of_preset("maple-sim");

	(void)state;
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	for (unsigned int i = 1; i <= 4; i++)
		soc_load(soc, 0, i * 2048ull, 8);
	soc_sleep_until(soc, 1, 5000);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 5000 + 2 + 30);
	soc_destroy(soc);
}

static void test_dirty_lines_are_those_that_nobody_has_written_back(void **state)
{
	struct sim_parameters parameters = small_caches(2, 16);
	struct soc *soc = soc_make(&parameters);

	(void)state;
	assert_int_equal(soc_dirty_lines(soc), 0);
	soc_load(soc, 0, 0, 8);
	/* Two parts of a line by two cores, and one line of another core. */
	soc_atomic(soc, 0, 64, 8);
	soc_atomic(soc, 1, 64 + 16, 8);
	soc_atomic(soc, 1, 128, 8);
	assert_int_equal(soc_dirty_lines(soc), 2);
	/* In the L2 itself it is as dirty. */
	soc_sleep_until(soc, 0, 4000);
	soc_load(soc, 0, 128, 8);
	assert_int_equal(soc_dirty_lines(soc), 2);
	soc_destroy(soc);
}

static void test_a_store_behind_one_that_misses_makes_a_line_dirty(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	/* The core alone has the first line, and nobody has written it. The first store waits for memory, the other one hits. */
	soc_load(soc, 0, 0, 8);
	soc_store(soc, 0, 0x10000, 8);
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 4000);
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 2);
	assert_int_equal(soc_dirty_lines(soc), 2);
	soc_destroy(soc);
}

static void test_a_line_that_another_core_is_about_to_write_comes_when_it_has(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 100);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 332 + 30);
	soc_destroy(soc);
}

static void test_a_line_goes_on_when_it_has_come_from_another_core(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_count = 3;
	soc = soc_make(&parameters);
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 400);
	soc_store(soc, 1, 0, 8);
	/* Core 1 has it at 462. */
	soc_sleep_until(soc, 2, 405);
	soc_load(soc, 2, 0, 8);
	assert_int_equal(soc_now(soc, 2), 462 + 30);
	soc_destroy(soc);
}

static void test_a_store_that_waits_in_the_buffer_takes_no_line_before_its_time(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_load(soc, 1, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	/* Misses until 1332; the next, of the line that core 1 has, begins then. */
	soc_store(soc, 0, 4096, 8);
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 1300);
	soc_load(soc, 1, 0, 8);
	assert_int_equal(soc_now(soc, 1), 1302);
	assert_int_equal(counters_of(soc).invalidations, 0);
	soc_sleep_until(soc, 1, 1332);
	soc_load(soc, 1, 0, 8);
	/* Taken at 1332 from core 1, which had it alone, written at 1394, 30 more to come back. */
	assert_int_equal(soc_now(soc, 1), 1332 + 32 + 30 + 30);
	assert_int_equal(counters_of(soc).invalidations, 1);
	soc_destroy(soc);
}

static void test_a_write_back_occupies_memory(void **state)
{
	struct sim_parameters parameters = small_caches(2, 16);
	struct soc *soc;

	(void)state;
	parameters.l1_size = 64;
	parameters.l1_ways = 1;
	parameters.l2_size = 128;
	parameters.l2_ways = 1;
	soc = soc_make(&parameters);
	soc_store(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	/* The same set of the L2: line 0 is written back behind this read, which begins at 1032. */
	soc_load(soc, 0, 128, 8);
	assert_int_equal(counters_of(soc).write_backs, 1);
	soc_sleep_until(soc, 1, 1001);
	soc_load(soc, 1, 64, 8);
	assert_int_equal(soc_now(soc, 1), 1032 + 4 + 4 + 300);
	soc_destroy(soc);
}

static void test_a_device_reads_memory_past_the_caches(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_device_read_memory(soc, 0, 4, 1000), 1300);
	assert_int_equal(soc_device_read_memory(soc, 0, 4, 1001), 1304);
	/* Two lines. */
	assert_int_equal(soc_device_read_memory(soc, 60, 8, 2000), 2304);
	assert_int_equal(counters_of(soc).dram_lines, 5);
	soc_destroy(soc);
}

static void test_a_device_reads_the_l2(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	assert_int_equal(soc_device_read_l2(soc, 0, 64, 1000), 1330);
	assert_int_equal(soc_device_read_l2(soc, 0, 64, 2000), 2030);
	soc_store(soc, 0, 16, 8);
	assert_int_equal(soc_device_read_l2(soc, 0, 64, 3000), 3060);
	assert_int_equal(counters_of(soc).l2_forwards, 1);
	soc_destroy(soc);
}

static void test_a_write_of_a_device_takes_lines_from_the_l1s(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_load(soc, 0, 16, 8);
	assert_int_equal(soc_device_write(soc, 0, 4, 1000), 1030 + 30);
	assert_int_equal(counters_of(soc).invalidations, 2);
	soc_sleep_until(soc, 0, 2000);
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), 2032);
	soc_destroy(soc);
}

static void test_a_line_that_a_device_has_written_is_written_back(void **state)
{
	struct sim_parameters parameters = small_caches(2, 16);
	struct soc *soc;

	(void)state;
	parameters.l1_size = 64;
	parameters.l1_ways = 1;
	parameters.l2_size = 128;
	parameters.l2_ways = 1;
	soc = soc_make(&parameters);
	soc_device_write(soc, 0, 4, 0);
	soc_device_read_l2(soc, 128, 64, 1000);
	assert_int_equal(counters_of(soc).write_backs, 1);
	soc_destroy(soc);
}

static void test_a_device_prefetches_into_the_l2(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc = soc_make(&parameters);

	(void)state;
	soc_device_prefetch(soc, 0, 0);
	soc_sleep_until(soc, 0, 100);
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), 330);
	assert_int_equal(counters_of(soc).prefetched, 1);
	assert_int_equal(counters_of(soc).l2_hits, 1);
	soc_destroy(soc);
}

static void test_prefetches_wait_for_mshrs_and_let_cores_go_first(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.l2_mshrs = 1;
	soc = soc_make(&parameters);
	soc_device_prefetch(soc, 0, 0);
	soc_device_prefetch(soc, 4096, 0);
	/* The MSHR is taken until 330. The core has it then, until 630. */
	soc_sleep_until(soc, 0, 100);
	soc_load(soc, 0, 8192, 8);
	assert_int_equal(soc_now(soc, 0), 630);
	soc_sleep_until(soc, 0, 2000);
	soc_load(soc, 0, 4096, 8);
	assert_int_equal(soc_now(soc, 0), 2032);
	assert_int_equal(counters_of(soc).prefetched, 2);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_core_behaves_as_lists),
		cmocka_unit_test(test_two_cores_behave_as_lists),
		cmocka_unit_test(test_eight_cores_behave_as_lists),
		cmocka_unit_test(test_64_cores_behave_as_lists),
		cmocka_unit_test(test_a_second_miss_of_a_line_waits_for_the_first),
		cmocka_unit_test(test_misses_at_once_are_a_dram_gap_apart),
		cmocka_unit_test(test_a_miss_without_an_mshr_waits_for_one),
		cmocka_unit_test(test_a_hit_passes_misses_that_wait_for_mshrs),
		cmocka_unit_test(test_a_line_that_another_core_has_written_comes_from_there),
		cmocka_unit_test(test_a_line_that_another_core_has_alone_comes_from_there),
		cmocka_unit_test(test_a_line_that_was_replaced_unwritten_is_asked_for_all_the_same),
		cmocka_unit_test(test_a_line_that_was_written_back_to_the_l2_is_not_asked_for),
		cmocka_unit_test(test_dirty_lines_are_those_that_nobody_has_written_back),
		cmocka_unit_test(test_a_store_behind_one_that_misses_makes_a_line_dirty),
		cmocka_unit_test(test_a_line_that_another_core_is_about_to_write_comes_when_it_has),
		cmocka_unit_test(test_a_line_goes_on_when_it_has_come_from_another_core),
		cmocka_unit_test(test_a_store_that_waits_in_the_buffer_takes_no_line_before_its_time),
		cmocka_unit_test(test_a_write_back_occupies_memory),
		cmocka_unit_test(test_a_device_reads_memory_past_the_caches),
		cmocka_unit_test(test_a_device_reads_the_l2),
		cmocka_unit_test(test_a_write_of_a_device_takes_lines_from_the_l1s),
		cmocka_unit_test(test_a_line_that_a_device_has_written_is_written_back),
		cmocka_unit_test(test_a_device_prefetches_into_the_l2),
		cmocka_unit_test(test_prefetches_wait_for_mshrs_and_let_cores_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
