/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How many accesses can wait in a Virgo model, and the answer to one more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/lib/virgo_fixture.h"

#define BARRIERS 16
#define PARTICIPANTS 255	/* the most that a barrier can have */
#define AT_UNITS 256		/* that can wait for units */
#define FIRST_OWNER 10
#define FIRST_AT_UNITS (FIRST_OWNER + BARRIERS * PARTICIPANTS)

static struct virgo_fixture *f;

static int create(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.inline_jobs = 1;
	f = virgo_fixture_create(&config, 0);
	return 0;
}

static int destroy(void **state)
{
	(void)state;
	virgo_fixture_destroy(f);
	return 0;
}

static struct mimic_access load_of(unsigned int owner, unsigned int page, unsigned int offset)
{
	return (struct mimic_access){
		.owner = owner, .page = (uint8_t)page, .offset = (uint16_t)offset, .size = 8,
	};
}

static unsigned int owner_at(unsigned int barrier, unsigned int i)
{
	return FIRST_OWNER + PARTICIPANTS * barrier + i;
}

static bool waits_at_barrier(unsigned int owner, unsigned int barrier)
{
	struct mimic_access access = load_of(owner, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(barrier));

	return virgo_fixture_access(f, &access) == MIMIC_PARKED;
}

static uint64_t status_of_barrier(unsigned int barrier)
{
	return virgo_load(f, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_STATUS(barrier), 8);
}

/* As many fences as can wait for a unit that is busy. */
static void fill_with_fences(void)
{
	virgo_send(f, 0, VIRGO_FUNCT_CLOCK_GATE, 0, 0);
	for (unsigned int i = 0; i < AT_UNITS; i++) {
		struct mimic_access access = load_of(FIRST_AT_UNITS + i, VIRGO_PAGE_UNITS,
						     VIRGO_UNIT_OFFSET(0, FENCE));

		assert_int_equal(virgo_fixture_access(f, &access), MIMIC_PARKED);
	}
}

static void a_fence_that_finds_no_room_answers_that_the_unit_is_busy(void **state)
{
	struct mimic_access access = load_of(1, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, FENCE));

	(void)state;
	fill_with_fences();
	assert_int_equal(virgo_fixture_access(f, &access), MIMIC_DONE);
	assert_true(access.data & VIRGO_STATUS_BUSY);
	virgo_run(f);
	for (unsigned int i = 0; i < AT_UNITS; i++)
		assert_true(f->completed[FIRST_AT_UNITS + i]);
	access = load_of(1, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, FENCE));
	assert_int_equal(virgo_fixture_access(f, &access), MIMIC_DONE);
	assert_false(access.data & VIRGO_STATUS_BUSY);
}

/* All of 16 barriers of 255, besides those that wait for a unit. */
static void a_barrier_lets_nobody_through_however_many_wait(void **state)
{
	(void)state;
	fill_with_fences();
	for (unsigned int barrier = 0; barrier < BARRIERS; barrier++) {
		virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(barrier), 8, PARTICIPANTS);
		for (unsigned int i = 1; i < PARTICIPANTS; i++)
			assert_true(waits_at_barrier(owner_at(barrier, i), barrier));
		assert_int_equal(status_of_barrier(barrier), PARTICIPANTS - 1);
	}
	for (unsigned int barrier = 0; barrier < BARRIERS; barrier++) {
		assert_false(f->completed[owner_at(barrier, 1)]);
		assert_false(waits_at_barrier(owner_at(barrier, 0), barrier));
		for (unsigned int i = 1; i < PARTICIPANTS; i++)
			assert_true(f->completed[owner_at(barrier, i)]);
		assert_int_equal(status_of_barrier(barrier), 1 << 8);
	}
}

static void all_that_wait_are_saved_and_restored(void **state)
{
	const struct mimic_model_ops *ops = f->model->ops;
	size_t size = ops->save(f->model, NULL, 0);
	void *image = malloc(size);

	(void)state;
	assert_non_null(image);
	fill_with_fences();
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(3), 8, PARTICIPANTS);
	for (unsigned int i = 1; i < PARTICIPANTS; i++)
		assert_true(waits_at_barrier(owner_at(3, i), 3));
	assert_int_equal(ops->save(f->model, image, size), size);
	assert_int_equal(ops->restore(f->model, image, size), 0);
	virgo_run(f);
	assert_true(f->completed[FIRST_AT_UNITS + AT_UNITS - 1]);
	assert_false(f->completed[owner_at(3, 1)]);
	assert_false(waits_at_barrier(owner_at(3, 0), 3));
	assert_true(f->completed[owner_at(3, 1)] && f->completed[owner_at(3, PARTICIPANTS - 1)]);
	free(image);
}

#define ON(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_fence_that_finds_no_room_answers_that_the_unit_is_busy),
		ON(a_barrier_lets_nobody_through_however_many_wait),
		ON(all_that_wait_are_saved_and_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
