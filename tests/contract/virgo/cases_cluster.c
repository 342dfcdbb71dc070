/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Barriers and events. The cluster has three cores: A, B and C. */
#include "tests/contract/virgo/contract.h"

static void wait_begin(enum bus_thread who, unsigned int barrier)
{
	load_begin(who, PAGE_CLUSTER, BARRIER_WAIT + 8 * barrier, 8);
}

static uint64_t status_of(unsigned int barrier)
{
	return cluster_get(BARRIER_STATUS + 8 * barrier);
}

/* --- barriers -------------------------------------------------------------------------- */

CASE(a_barrier_opens_when_all_cores_have_arrived, EITHER)
{
	for (unsigned int id = 0; id < BARRIERS; id++) {
		if (is_left_out(id + 1))
			continue;
		wait_begin(A, id);
		EXPECT_TRUE(still_waits(A));
		wait_begin(B, id);
		EXPECT_TRUE(still_waits(B));
		EXPECT_TRUE(still_waits(A));
		wait_begin(C, id);
		EXPECT(finish(C), 0);
		EXPECT(finish(A), 0);
		EXPECT(finish(B), 0);
		EXPECT(status_of(id), 1u << 8);
	}
}

CASE(a_barrier_answers_how_often_it_has_opened_before, EITHER)
{
	for (unsigned int round = 0; round < 5; round++) {
		wait_begin(A, 7);
		wait_begin(B, 7);
		wait_begin(C, 7);
		EXPECT(finish(A), round);
		EXPECT(finish(B), round);
		EXPECT(finish(C), round);
	}
	EXPECT(status_of(7), 5u << 8);
}

CASE(barriers_of_different_ids_know_nothing_of_each_other, EITHER)
{
	cluster_put(PARTICIPANTS + 8 * 3, 2);
	cluster_put(PARTICIPANTS + 8 * 4, 2);
	wait_begin(B, 3);
	wait_begin(C, 4);
	EXPECT_TRUE(still_waits(B));
	EXPECT_TRUE(still_waits(C));
	EXPECT(status_of(3), 1);
	EXPECT(status_of(4), 1);
	EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT + 8 * 4, 8), 0);
	finish(C);
	EXPECT_TRUE(still_waits(B));
	EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT + 8 * 3, 8), 0);
	finish(B);
}

CASE(a_register_says_how_many_have_to_arrive, EITHER)
{
	cluster_put(PARTICIPANTS, 1);
	EXPECT(cluster_get(PARTICIPANTS), 1);
	EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT, 8), 0);
	EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT, 8), 1);
	cluster_put(PARTICIPANTS, 2);
	wait_begin(B, 0);
	EXPECT_TRUE(still_waits(B));
	EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT, 8), 2);
	EXPECT(finish(B), 2);
	cluster_put(PARTICIPANTS, 255);
	EXPECT(cluster_get(PARTICIPANTS), 255);
	/* all cores again */
	cluster_put(PARTICIPANTS, 0);
	wait_begin(A, 0);
	wait_begin(B, 0);
	EXPECT_TRUE(still_waits(A));
	EXPECT(load(C, PAGE_CLUSTER, BARRIER_WAIT, 8), 3);
	finish(A);
	finish(B);
}

CASE(waiters_can_become_enough, EITHER)
{
	wait_begin(B, 15);
	wait_begin(C, 15);
	EXPECT_TRUE(still_waits(B));
	EXPECT_TRUE(still_waits(C));
	EXPECT(status_of(15), 2);
	cluster_put(PARTICIPANTS + 8 * 15, 2);
	EXPECT(finish(B), 0);
	EXPECT(finish(C), 0);
	EXPECT(status_of(15), 1u << 8);
}

/* As the authors' kernels: data for another thread, the barrier, the other half. */
CASE(stores_before_a_barrier_are_seen_behind_it, EITHER)
{
	cluster_put(PARTICIPANTS, 2);
	for (unsigned int round = 0; round < 20; round++) {
		wait_begin(B, 0);
		shared_memory()[round] = (uint8_t)(round + 1);
		EXPECT(load(A, PAGE_CLUSTER, BARRIER_WAIT, 8), round);
		EXPECT(finish(B), round);
		EXPECT(shared_memory()[round], round + 1);
	}
}

/* --- events -------------------------------------------------------------------------------- */

static uint64_t bit(unsigned int event)
{
	return 1ull << event;
}

CASE(a_unit_that_became_idle_is_an_event, EITHER)
{
	FOR_EACH_UNIT {
		cluster_put(EVENT_STATUS, ~0u);
		EXPECT(cluster_get(EVENT_STATUS), 0);
		rocc(CLOCK_GATE, 0, 0);
		COMPLETE();
		EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_IDLE + unit.number));
	}
}

CASE(an_error_is_an_event, EITHER)
{
	FOR_EACH_UNIT {
		cluster_put(EVENT_STATUS, ~0u);
		rocc(99, 0, 0);
		wait_for_unit();
		EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_IDLE + unit.number) | bit(EVENT_ERROR + unit.number));
	}
}

CASE(a_loop_that_is_over_is_an_event, EITHER)
{
	FOR_EACH_UNIT {
		cluster_put(EVENT_STATUS, ~0u);
		rocc(LOOP_WS, 0, 0);
		COMPLETE();
		EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_IDLE + unit.number) | bit(EVENT_LOOP + unit.number));
	}
}

CASE(a_barrier_that_opens_is_an_event, EITHER)
{
	cluster_put(PARTICIPANTS, 1);
	EXPECT(cluster_get(EVENT_STATUS), 0);
	load(A, PAGE_CLUSTER, BARRIER_WAIT, 8);
	EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_BARRIER));
}

CASE(a_store_to_event_status_clears_the_bits_that_are_1, EITHER)
{
	cluster_put(PARTICIPANTS, 1);
	load(A, PAGE_CLUSTER, BARRIER_WAIT, 8);
	use_unit(0);
	rocc(99, 0, 0);
	wait_for_unit();
	cluster_put(EVENT_STATUS, bit(EVENT_BARRIER) | bit(EVENT_IDLE));
	EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_ERROR));
	cluster_put(EVENT_STATUS, 0);
	EXPECT(cluster_get(EVENT_STATUS), bit(EVENT_ERROR));
	cluster_put(EVENT_STATUS, bit(EVENT_ERROR));
	EXPECT(cluster_get(EVENT_STATUS), 0);
}
