/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Inspections and lanes take turns in the daemon's loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/inspection.h"
#include "libmimic/base/clock.h"

#define MS 1000000ull
#define LENGTH (50 * MS)	/* of an inspection: far more than the test takes */

static struct mimicd_engine engine;

/* An inspection that ends now; lanes had work so long before it. Returns its end, or a little later. */
static uint64_t inspect(uint64_t since_work)
{
	uint64_t begun = mimic_now() - LENGTH;

	engine = (struct mimicd_engine){ .loop_shard.now = begun - since_work };
	mimicd_inspection_ended(&engine, begun);
	return mimic_now();
}

static void lanes_with_work_get_as_long_as_an_inspection_took(void **state)
{
	uint64_t end = inspect(0);

	(void)state;
	assert_false(mimicd_inspection_may_begin(&engine, end));
	assert_false(mimicd_inspection_may_begin(&engine, end + LENGTH - 10 * MS));
	assert_true(mimicd_inspection_may_begin(&engine, end + LENGTH + 10 * MS));
}

static void work_that_stops_during_an_inspection_still_has_its_turn(void **state)
{
	uint64_t end = inspect(MS / 20);

	(void)state;
	assert_false(mimicd_inspection_may_begin(&engine, end));
}

static void inspections_follow_each_other_while_the_lanes_are_idle(void **state)
{
	uint64_t end = inspect(MS);

	(void)state;
	assert_true(mimicd_inspection_may_begin(&engine, end));
}

static void a_second_inspection_makes_the_turn_longer(void **state)
{
	uint64_t end = inspect(0), begun = mimic_now() - LENGTH;

	(void)state;
	engine.loop_shard.now = begun;
	mimicd_inspection_ended(&engine, begun);
	assert_false(mimicd_inspection_may_begin(&engine, end + 2 * LENGTH - 10 * MS));
	assert_true(mimicd_inspection_may_begin(&engine, end + 2 * LENGTH + 10 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_with_work_get_as_long_as_an_inspection_took),
		cmocka_unit_test(work_that_stops_during_an_inspection_still_has_its_turn),
		cmocka_unit_test(inspections_follow_each_other_while_the_lanes_are_idle),
		cmocka_unit_test(a_second_inspection_makes_the_turn_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
