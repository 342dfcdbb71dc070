/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes written by hand that give DARE work without end: other programs are served all the same. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_registers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/dare_context.h"

#define STORES 999	/* of one command */
#define PAGE 4096

static struct served served = { .dares = 1 };

struct feeder {
	struct raw_lane lane;
	uint32_t device;
	atomic_bool stop;
};

static uint64_t command_word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device, .size = 8,
		.offset = (uint16_t)offset, .count = count });
}

/* Keeps the ring of a lane full of loads of rows that are not shared: each is a system call of the daemon. */
static void *feed(void *argument)
{
	static const char rows[16][PAGE];
	struct feeder *feeder = argument;
	uint64_t words[1 + STORES];

	words[0] = command_word(MIMIC_COMMAND_STORE, feeder->device, DARE_STREAM, STORES);
	for (unsigned int i = 1; i < STORES; i += 3) {
		words[i] = WORD_MLD(0);
		words[i + 1] = address_of(rows);
		words[i + 2] = PAGE;
	}
	while (!atomic_load(&feeder->stop)) {
		if (mimic_ring_room(&feeder->lane.commands, 1 + STORES) >= 1 + STORES)
			raw_post(&feeder->lane, words, 1 + STORES);
	}
	return NULL;
}

static bool is_answered(struct raw_lane *lane, uint32_t device, unsigned int offset)
{
	uint64_t load = command_word(MIMIC_COMMAND_LOAD, device, offset, 1), answer;

	raw_post(lane, &load, 1);
	return raw_answer(lane, &answer);
}

/* Orders that name a position which the other lane will not reach for hours. */
static void orders_behind_a_lane_that_is_always_full_do_not_hold_up_others(void **state)
{
	struct raw_lane orders, other;
	struct feeder feeder = { .stop = false };
	int hostile, quiet, hostile_event, quiet_event;
	uint64_t words[64];
	uint32_t number;
	pthread_t thread;
	bool answered = true;

	(void)state;
	hostile = raw_client_with_event(served.socket, &hostile_event);
	assert_int_equal(raw_open(hostile, "dare0", &feeder.device), 0);
	assert_int_equal(raw_lane(hostile, 0, 0, &orders), 0);
	assert_int_equal(raw_lane(hostile, 0, 0, &feeder.lane), 0);
	feeder.lane.event_fd = orders.event_fd = hostile_event;
	quiet = raw_client_with_event(served.socket, &quiet_event);
	assert_int_equal(raw_open(quiet, "dare0", &number), 0);
	assert_int_equal(raw_lane(quiet, 0, 0, &other), 0);
	other.event_fd = quiet_event;

	assert_int_equal(pthread_create(&thread, NULL, feed, &feeder), 0);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = mimic_lane_order(feeder.lane.number, 1ull << 38);
	for (unsigned int i = 0; answered && i < 20; i++) {
		raw_post(&orders, words, sizeof(words) / sizeof(words[0]));
		answered = is_answered(&other, number, DARE_STATUS);
	}
	atomic_store(&feeder.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(answered);
	close(hostile);
	close(quiet);
	close(quiet_event);
	close(hostile_event);
	raw_lane_unmap(&other);
	raw_lane_unmap(&orders);
	raw_lane_unmap(&feeder.lane);
}

static int start(void **state)
{
	(void)state;
	return served_start(&served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	int failed = served_end(&served, SIGTERM) != 0;

	(void)state;
	served_clean(&served);
	return failed;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_behind_a_lane_that_is_always_full_do_not_hold_up_others),
	};

	return cmocka_run_group_tests(tests, start, end);
}
