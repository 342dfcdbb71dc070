/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program of a machine that lies in its lane: it ends, and nothing else does. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_lanes.h"

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = 1;
	vfio_served.vfio[0] = "dare0,msi,rings";
	return served_start(&vfio_served, 0, false) ? 0 : -1;
}

static void wait_for_state(unsigned int number, unsigned int wanted)
{
	for (unsigned int i = 0; i < 5000 && lane_state(&vfio_guest, number) != wanted; i++)
		test_sleep_ms(1);
	assert_int_equal(lane_state(&vfio_guest, number), wanted);
}

static void attach(unsigned int context, unsigned int space)
{
	guest_set_register(&vfio_guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, (uint64_t)space << 8 | context);
}

/* Two programs, with a context each. */
static void start_dare(struct raw_lane lanes[2])
{
	guest_start_lanes(&vfio_guest, &vfio_served, "dare0", true);
	for (unsigned int i = 0; i < 2; i++) {
		guest_set_mode(&vfio_guest, 1 + i, MIMIC_PCI_MODE_PHYSICAL);
		attach(i, 1 + i);
		lanes[i] = lane_open(&vfio_guest, i, 1 + i, 1);
	}
}

/* All that the first program has ends, nothing of the second. */
static void look_at_broken(struct raw_lane lanes[2])
{
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_KICK, 0);
	wait_for_state(0, MIMIC_PCI_LANE_IS_BROKEN);
	assert_int_equal(atomic_load(&lanes[0].memory->client_sleeping), MIMIC_LANE_AWAKE);
	assert_true(mimic_lane_has_lost(lanes[0].memory, 0));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE) & 1, 1);
	assert_int_equal(lane_state(&vfio_guest, 1), MIMIC_PCI_LANE_IS_OPEN);
	assert_int_equal(lane_load(&vfio_guest, &lanes[1], 1, 0, DARE_IDENTIFY, 8) >> 32, DARE_MAGIC);
	/* The driver opens it again for the next one. */
	lanes[0] = lane_open(&vfio_guest, 0, 1, 1);
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 0, 0, DARE_IDENTIFY, 8) >> 32, DARE_MAGIC);
}

static void another_programs_context_cannot_be_named(void **state)
{
	const uint64_t word = lane_word(MIMIC_COMMAND_LOAD, 1, 0, DARE_RS1, 8, 1);
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	atomic_store(&lanes[0].memory->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER);
	raw_post(&lanes[0], &word, 1);
	look_at_broken(lanes);
}

static void garbage_ends_the_program(void **state)
{
	static const uint64_t garbage[] = {
		0, ~0ull, 0x1234567890abcdef,
		0x0000001000300005,	/* no such kind */
		0x0000000000800003,	/* no count */
		0x0000001000300003,	/* a size of 3 */
		0xfffffff000800003,	/* more answers than there is room */
	};
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		raw_post(&lanes[0], &garbage[i], 1);
		look_at_broken(lanes);
	}
}

static void positions_that_jump_end_the_program(void **state)
{
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	for (unsigned int i = 0; i < 3; i++) {
		const uint64_t word = lane_word(MIMIC_COMMAND_LOAD, 0, 0, DARE_IDENTIFY, 8, 1);

		if (i == 0) {
			atomic_store(&lanes[0].commands.ring->head, 1ull << 40);
		} else if (i == 1) {
			lane_load(&vfio_guest, &lanes[0], 0, 0, DARE_IDENTIFY, 8);
			atomic_store(&lanes[0].commands.ring->head, 0);
		} else {
			/* More answers were read than there were, which is looked at when room is short. */
			atomic_store(&lanes[0].responses.ring->tail, 1ull << 40);
			for (unsigned int j = 0; j < 2100; j++)
				raw_post(&lanes[0], &word, 1);
		}
		look_at_broken(lanes);
	}
}

static void bytes_at_random_harm_nobody_else(void **state)
{
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	srand(1);
	for (unsigned int i = 0; i < 200; i++) {
		uint64_t *words = (uint64_t *)(void *)lanes[0].memory;

		for (unsigned int j = 0; j < 400; j++)
			words[(unsigned int)rand() % (j % 2 ? 96 : lanes[0].size / 8)] = (uint64_t)rand() << (rand() % 33);
		guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_KICK, 0);
		assert_int_equal(lane_load(&vfio_guest, &lanes[1], 1, 0, DARE_IDENTIFY, 8) >> 32, DARE_MAGIC);
		if (lane_state(&vfio_guest, 0) == MIMIC_PCI_LANE_IS_BROKEN)
			lanes[0] = lane_open(&vfio_guest, 0, 1, 1);
	}
	lane_close(&vfio_guest, 0);
	lanes[0] = lane_open(&vfio_guest, 0, 1, 1);
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 0, 0, DARE_IDENTIFY, 8) >> 32, DARE_MAGIC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, vfio_fixture_end_guest)
	const struct CMUnitTest tests[] = {
		TEST(another_programs_context_cannot_be_named),
		TEST(garbage_ends_the_program),
		TEST(positions_that_jump_end_the_program),
		TEST(bytes_at_random_harm_nobody_else),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
