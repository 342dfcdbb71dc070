/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Looks and lanes take turns in the daemon's loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/inspection.h"
#include "libmimic/base/clock.h"

#define MS 1000000ull
#define LOOK (50 * MS)	/* far more than the test takes */

static struct mimicd_engine engine;

/* A look that ends now. The lanes have had work that long before it began. Returns its end, or a little later. */
static uint64_t look(uint64_t since_work)
{
	uint64_t begun = mimic_now() - LOOK;

	engine = (struct mimicd_engine){ .loop_shard.now = begun - since_work };
	mimicd_inspection_ended(&engine, begun);
	return mimic_now();
}

static void lanes_with_work_get_as_long_as_a_look_took(void **state)
{
	uint64_t end = look(0);

	(void)state;
	assert_false(mimicd_inspection_may_begin(&engine, end));
	assert_false(mimicd_inspection_may_begin(&engine, end + LOOK - 10 * MS));
	assert_true(mimicd_inspection_may_begin(&engine, end + LOOK + 10 * MS));
}

static void work_that_stops_during_a_look_still_has_its_turn(void **state)
{
	uint64_t end = look(MS / 20);

	(void)state;
	assert_false(mimicd_inspection_may_begin(&engine, end));
}

static void looks_follow_each_other_while_the_lanes_are_idle(void **state)
{
	uint64_t end = look(MS);

	(void)state;
	assert_true(mimicd_inspection_may_begin(&engine, end));
}

static void what_is_added_to_a_look_makes_the_turn_longer(void **state)
{
	uint64_t end = look(0), begun = mimic_now() - LOOK;

	(void)state;
	engine.loop_shard.now = begun;
	mimicd_inspection_ended(&engine, begun);
	assert_false(mimicd_inspection_may_begin(&engine, end + 2 * LOOK - 10 * MS));
	assert_true(mimicd_inspection_may_begin(&engine, end + 2 * LOOK + 10 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_with_work_get_as_long_as_a_look_took),
		cmocka_unit_test(work_that_stops_during_a_look_still_has_its_turn),
		cmocka_unit_test(looks_follow_each_other_while_the_lanes_are_idle),
		cmocka_unit_test(what_is_added_to_a_look_makes_the_turn_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
