/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/daemon/credit.h"

/* Of a part; a byte of daemon_credit.parts. */
#define PART_BITS 8
#define PART_MOST 255u

_Static_assert(MIMIC_KIND_ORDERS * PART_BITS <= 64, "a byte for each part");

/* The device's place. Its credits may be another device's. */
static struct daemon_credit *place_of(const struct daemon_device *device, const struct daemon_lane *lane)
{
	return &lane->thread->credits[device->number % DAEMON_CREDIT_DEVICES];
}

static bool is_in_handler(const struct daemon_lane *lane)
{
	return lane != &lane->thread->lanes[0];
}

static uint64_t byte_of(unsigned int part)
{
	return (uint64_t)PART_MOST << part * PART_BITS;
}

/* A signal handler that takes all credits away in between has the last word. */
static void change(struct daemon_thread *thread, struct daemon_credit *credit, uint64_t clear, uint64_t set)
{
	unsigned int losses = thread->credit_losses;

	*(volatile uint64_t *)&credit->parts = (credit->parts & ~clear) | set;
	if (thread->credit_losses != losses)
		credit->parts = 0;
}

bool mimic_daemon_credit_take(const struct daemon_device *device, const struct daemon_lane *lane,
			      const struct mimic_access *store)
{
	struct daemon_credit *credit = place_of(device, lane);
	unsigned int part, cost = device->base.kind->credits->cost(store, &part);

	if (!cost || is_in_handler(lane) || credit->number != device->number)
		return false;
	if ((credit->parts >> part * PART_BITS & PART_MOST) < cost)
		return false;
	credit->parts -= (uint64_t)cost << part * PART_BITS;
	return true;
}

bool mimic_daemon_credit_ask(const struct daemon_device *device, const struct daemon_lane *lane,
			     const struct mimic_access *store)
{
	struct daemon_credit *credit = place_of(device, lane);
	unsigned int part;

	if (is_in_handler(lane) || !device->base.kind->credits->cost(store, &part))
		return false;
	if (credit->number != device->number)
		*credit = (struct daemon_credit){ .number = device->number };
	change(lane->thread, credit, byte_of(part), 0);
	return true;
}

void mimic_daemon_credit_give(const struct daemon_device *device, const struct daemon_lane *lane,
			      const struct mimic_access *store, uint64_t answer)
{
	struct daemon_credit *credit = place_of(device, lane);
	unsigned int part;

	device->base.kind->credits->cost(store, &part);
	if (answer > PART_MOST)
		answer = PART_MOST;
	/* Without credits: the device may know the part by another number, too. */
	change(lane->thread, credit, answer ? byte_of(part) : UINT64_MAX, answer << part * PART_BITS);
}

void mimic_daemon_credit_leave(const struct daemon_device *device, const struct daemon_lane *lane,
			       const struct mimic_access *access)
{
	const struct mimic_kind *kind = device->base.kind;
	struct daemon_credit *credit = place_of(device, lane);

	if (!kind->credits || !(access->is_write || kind->is_for_stores(access)))
		return;
	if (is_in_handler(lane))
		mimic_daemon_credits_drop(lane->thread);
	else if (credit->number == device->number)
		credit->parts = 0;
}

void mimic_daemon_credits_drop(struct daemon_thread *thread)
{
	for (unsigned int i = 0; i < DAEMON_CREDIT_DEVICES; i++)
		*(volatile uint64_t *)&thread->credits[i].parts = 0;
	thread->credit_losses++;
}
