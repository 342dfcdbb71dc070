/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A timed MAPLE under accesses that make no sense: it never loses one, and never works for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define OWNERS 8
#define ACCESSES 20000
#define SMALL 1000		/* indices, and addresses that cannot be read */
#define RESET_EACH 300
#define FAR 10000000

static uint64_t table[2 * SMALL];
static uint64_t random_state;

static unsigned int pick(unsigned int count)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 33) % count;
}

static bool takes_address(unsigned int operation)
{
	return operation == MAPLE_STORE_SET_BASE32 || operation == MAPLE_STORE_SET_BASE64 ||
	       (operation >= MAPLE_STORE_LIMA_POINTER32 && operation <= MAPLE_STORE_LIMA_PREFETCH) ||
	       operation == MAPLE_STORE_QUEUE_LIMA_A || operation == MAPLE_STORE_QUEUE_LIMA_B;
}

/* Queues and roles more often than chance would have it. */
static struct mimic_access any_access(void)
{
	static const unsigned int useful[] = { 0, 2, 3, 7, 7, 7, 8, 10, 11, 14, 24, 32, 44, 45, 48, 49, 57, 58 };
	struct mimic_access access = { .page = (uint8_t)(pick(8) ? 0 : pick(5)), .is_write = (uint8_t)pick(2) };
	unsigned int operation = pick(4) ? useful[pick(sizeof(useful) / sizeof(useful[0]))] : pick(64);

	access.size = (uint8_t)(pick(4) ? 8 : 1u << pick(4));
	if (operation <= 7)
		access.is_write = false;
	access.offset = MAPLE_OFFSET(operation, pick(8) ? pick(2) : pick(8));
	access.data = pick(SMALL) | (pick(3) ? 0 : (uint64_t)pick(SMALL) << 32);
	if (takes_address(operation) && pick(8)) {
		access.data = (uintptr_t)table;
		access.size = 8;
	}
	return access;
}

/* RESET answers all that wait. */
static void reset(struct timed_maple *timed, uint64_t *now)
{
	*now = timed_run(timed) + *now + 1;
	timed_load(timed, OWNERS + 1, MAPLE_LOAD_RESET, 0, 4, *now);
	*now += FAR;
	maple_time_advance(timed->device, *now);
	for (unsigned int owner = 1; owner <= OWNERS; owner++)
		assert_true(timed->owner[owner].is_over);
	assert_int_equal(maple_time_next(timed->device), UINT64_MAX);
}

static void run(struct sim_parameters *parameters)
{
	struct timed_maple *timed = timed_new(parameters, NULL);
	uint64_t now = 1;

	random_state = 0x9e3779b97f4a7c15ull;
	assert_non_null(timed);
	timed->memory = (uintptr_t)table;
	timed->memory_size = sizeof(table);
	for (unsigned int i = 0; i < 2 * SMALL; i++)
		table[i] = pick(SMALL) | (uint64_t)pick(SMALL) << 32;
	for (unsigned int owner = 1; owner <= OWNERS; owner++)
		timed->owner[owner].is_over = true;
	for (unsigned int i = 0; i < ACCESSES; i++) {
		unsigned int owner = 1 + pick(OWNERS);

		now += pick(20);
		maple_time_advance(timed->device, now);
		if (!timed->owner[owner].is_over && !pick(3)) {
			maple_time_cancel(timed->device, owner, now);
			timed->owner[owner].is_over = true;
		}
		if (timed->owner[owner].is_over)
			timed_access(timed, owner, any_access(), now);
		if (i % RESET_EACH == RESET_EACH - 1)
			reset(timed, &now);
	}
	timed_free(timed);
}

static void a_maple_answers_whatever_is_asked(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	run(&parameters);
}

static void a_maple_with_walks_answers_whatever_is_asked(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.maple_translation = 1;
	parameters.maple_walk = 30;
	run(&parameters);
}

static void a_desc_answers_whatever_is_asked(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.desc_enabled = 1;
	run(&parameters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_maple_answers_whatever_is_asked),
		cmocka_unit_test(a_maple_with_walks_answers_whatever_is_asked),
		cmocka_unit_test(a_desc_answers_whatever_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
