/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random programs on timed devices: in any timing, each consumer gets the words
 * that plain loops over the same arrays say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define QUEUES 4
#define OPERATIONS 400
#define LOOP_MOST 40
#define SEEDS 12
#define WORDS_32 2
#define INDICES 3000
#define START 1000

#define TABLE_WORDS (2 * INDICES + 2)

/* Atomics work on the last words. */
static uint32_t table[TABLE_WORDS + QUEUES] __attribute__((aligned(4096)));
static uint32_t indices[INDICES];

struct operation {
	unsigned int code, size;
	uint64_t data;
};

/* One queue: its producer's stores, and the words that come out of them. */
struct script {
	struct operation operation[OPERATIONS];
	unsigned int operations, done;
	uint32_t word[OPERATIONS * LOOP_MOST];
	unsigned int words, consumed;
	uint32_t cell;
	unsigned int size;		/* of the load that is on its way */
	uint64_t next_store, next_load;
	bool stores, loads;		/* one is on its way */
};

static uint64_t random_state;

static unsigned int pick(unsigned int count)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 33) % count;
}

static void expect_words(struct script *script, const uint32_t *words, unsigned int count)
{
	memcpy(script->word + script->words, words, count * sizeof(*words));
	script->words += count;
}

static void add_operation(struct script *script, unsigned int code, unsigned int size, uint64_t data)
{
	script->operation[script->operations++] = (struct operation){ code, size, data };
}

static void add_produce(struct script *script)
{
	uint32_t words[2] = { pick(1000000), pick(1000000) };
	bool is_long = pick(2);

	add_operation(script, MAPLE_STORE_PRODUCE, is_long ? 8 : 4, words[0] | (uint64_t)words[1] << 32);
	expect_words(script, words, is_long ? 2 : 1);
}

/* The base counts words: an index of a load of 8 bytes may be odd. */
static void add_pointer(struct script *script)
{
	static const unsigned int codes[] = {
		MAPLE_STORE_POINTER32, MAPLE_STORE_LLC_POINTER32, MAPLE_STORE_POINTER64, MAPLE_STORE_LLC_POINTER64,
	};
	unsigned int which = pick(4), words = which < 2 ? 1 : 2;
	unsigned int low = pick(INDICES), high = pick(4) ? 0 : 1 + pick(INDICES - 1);

	add_operation(script, codes[which], 8, low | (uint64_t)high << 32);
	if (high)	/* a double load: upper index first */
		expect_words(script, &table[high], words);
	expect_words(script, &table[low], words);
}

static void add_atomic(struct script *script, unsigned int queue)
{
	uint32_t old = script->cell, operand = pick(1000);

	script->cell += operand;
	add_operation(script, MAPLE_STORE_ATOMIC_ADD, 8, (TABLE_WORDS + (uint64_t)queue) << 32 | operand);
	expect_words(script, &old, 1);
}

/* The tile's A: set once, of a mode for all queues. */
static void add_loop(struct script *script, unsigned int mode)
{
	unsigned int begin = pick(INDICES - LOOP_MOST), count = pick(LOOP_MOST);

	add_operation(script, MAPLE_STORE_LOOP, 8, (uint64_t)begin << 32 | (begin + count));
	for (unsigned int i = begin; i < begin + count; i++) {
		if (mode == MAPLE_STORE_LIMA_PRODUCE)
			expect_words(script, &indices[i], 1);
		else if (mode == MAPLE_STORE_LIMA_POINTER64)
			expect_words(script, &table[2 * indices[i]], 2);
		else
			expect_words(script, &table[indices[i]], 1);
	}
}

static void write_script(struct script *script, unsigned int queue, unsigned int mode)
{
	memset(script, 0, sizeof(*script));
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		switch (pick(mode ? 5 : 4)) {
		case 0:
		case 1:
			add_pointer(script);
			break;
		case 2:
			add_produce(script);
			break;
		case 3:
			add_atomic(script, queue);
			break;
		default:
			add_loop(script, mode);
		}
	}
}

/* Queue 0's base is B of all loops, so it has pointers of its own: whole ones would do, too. */
static void configure(struct timed_maple *timed, unsigned int mode)
{
	timed_open(timed, WORDS_32, 0);
	for (unsigned int queue = 0; queue < QUEUES; queue++) {
		timed_take_role(timed, 1 + 2 * queue, true, queue + 1);
		timed_take_role(timed, 2 + 2 * queue, false, queue + 1);
		timed_store(timed, 1, MAPLE_STORE_SET_BASE32, queue + 1, 8, (uintptr_t)table, 10);
	}
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 0, 8, (uintptr_t)indices, 11);
	if (mode)
		timed_store(timed, 1, mode, 1, 8, (uintptr_t)table, 12);
}

static void do_store(struct timed_maple *timed, struct script *script, unsigned int queue, uint64_t now)
{
	const struct operation *operation = &script->operation[script->done++];

	script->stores = true;
	timed_store(timed, 1 + 2 * queue, operation->code, queue + 1, operation->size, operation->data, now);
}

static void do_load(struct timed_maple *timed, struct script *script, unsigned int queue, uint64_t now)
{
	script->size = script->words - script->consumed > 1 && pick(2) ? 8 : 4;
	script->loads = true;
	timed_load(timed, 2 + 2 * queue, MAPLE_LOAD_CONSUME, queue + 1, script->size, now);
}

static void check_load(struct script *script, uint64_t data)
{
	assert_int_equal((uint32_t)data, script->word[script->consumed++]);
	if (script->size == 8)
		assert_int_equal(data >> 32, script->word[script->consumed++]);
}

/* A thread whose access is over goes on some cycles later. */
static void collect(struct timed_maple *timed, struct script *script, unsigned int queue)
{
	unsigned int store = 1 + 2 * queue, load = 2 + 2 * queue;

	if (script->stores && timed->owner[store].is_over) {
		script->stores = false;
		script->next_store = timed->owner[store].time + pick(30);
	}
	if (script->loads && timed->owner[load].is_over) {
		check_load(script, timed->owner[load].data);
		script->loads = false;
		script->next_load = timed->owner[load].time + pick(40);
	}
}

/* The next thing of all threads and of the device. false: all is done. */
static bool step(struct timed_maple *timed, struct script *scripts)
{
	uint64_t first = maple_time_next(timed->device);
	unsigned int who = 2 * QUEUES;

	for (unsigned int i = 0; i < QUEUES; i++) {
		struct script *script = &scripts[i];

		if (!script->stores && script->done < script->operations && script->next_store < first) {
			first = script->next_store;
			who = 2 * i;
		}
		if (!script->loads && script->consumed < script->words && script->next_load < first) {
			first = script->next_load;
			who = 2 * i + 1;
		}
	}
	if (first == UINT64_MAX)
		return false;
	if (who == 2 * QUEUES)
		maple_time_advance(timed->device, first);
	else if (who % 2)
		do_load(timed, &scripts[who / 2], who / 2, first);
	else
		do_store(timed, &scripts[who / 2], who / 2, first);
	for (unsigned int i = 0; i < QUEUES; i++)
		collect(timed, &scripts[i], i);
	return true;
}

static void run(const struct sim_parameters *parameters, unsigned int mode)
{
	static struct script scripts[QUEUES];

	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct timed_maple *timed = timed_new(parameters, NULL);

		assert_non_null(timed);
		random_state = 0x9e3779b97f4a7c15ull * seed;
		for (unsigned int i = 0; i < INDICES; i++)
			indices[i] = pick(INDICES);
		for (unsigned int i = 0; i < TABLE_WORDS; i++)
			table[i] = 0x10000000 + i;
		memset(table + TABLE_WORDS, 0, QUEUES * sizeof(*table));
		timed->dram = 1 + pick(400);
		timed->llc = 1 + pick(100);
		configure(timed, mode);
		for (unsigned int i = 0; i < QUEUES; i++) {
			write_script(&scripts[i], i, mode);
			scripts[i].next_store = scripts[i].next_load = START;
		}
		while (step(timed, scripts))
			;
		for (unsigned int i = 0; i < QUEUES; i++) {
			assert_int_equal(scripts[i].done, scripts[i].operations);
			assert_int_equal(scripts[i].consumed, scripts[i].words);
		}
		timed_free(timed);
	}
}

static void words_are_right_without_loops(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	run(&parameters, 0);
}

static void words_are_right_with_loops_of_pointers(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	run(&parameters, MAPLE_STORE_LIMA_POINTER32);
}

static void words_are_right_with_loops_of_long_pointers(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	run(&parameters, MAPLE_STORE_LIMA_POINTER64);
}

static void words_are_right_with_loops_that_produce(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	run(&parameters, MAPLE_STORE_LIMA_PRODUCE);
}

static void words_are_right_with_walks(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.maple_translation = 1;
	parameters.maple_walk = 30;
	parameters.maple_tlb_entries = 2;
	run(&parameters, MAPLE_STORE_LIMA_POINTER32);
}

static void words_are_right_with_the_shortest_queues(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.maple_queue_entries = 8;
	run(&parameters, MAPLE_STORE_LIMA_POINTER64);
}

static void words_are_right_on_a_desc(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.desc_enabled = 1;
	run(&parameters, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_right_without_loops),
		cmocka_unit_test(words_are_right_with_loops_of_pointers),
		cmocka_unit_test(words_are_right_with_loops_of_long_pointers),
		cmocka_unit_test(words_are_right_with_loops_that_produce),
		cmocka_unit_test(words_are_right_with_walks),
		cmocka_unit_test(words_are_right_with_the_shortest_queues),
		cmocka_unit_test(words_are_right_on_a_desc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
