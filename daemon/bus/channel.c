/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Requests out of the kernel and answers back, by the shared slots or by read()
 * and write().
 *
 * Order in a slot: status, data, fd, then `answered` (release), then a full
 * fence, then a look at waiter_sleeps. The kernel does it the other way round,
 * so one of the two sees the other.
 */
#include <errno.h>
#include <string.h>

#include "daemon/bus/bus.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"
#include "mimic/lane.h"

#define WORDS (MIMIC_BUS_SLOTS / 64)
#define READ_BATCH 16

static void cancel(struct mimicd_bus *bus, uint32_t slot)
{
	struct mimicd_request *request = &bus->requests[slot];
	uint64_t bit = 1ull << slot % 64;

	/* One that has been answered meanwhile: nothing is left to do. */
	if (request->state != MIMICD_REQUEST_NONE)
		mimicd_request_withdraw(bus, request);
	else if (bus->header && bus->slots[slot].request.kind == MIMIC_BUS_REQUEST_ACCESS &&
		 __atomic_fetch_and(&bus->header->pending[slot / 64], ~bit, __ATOMIC_ACQUIRE) & bit)
		mimicd_bus_answer(bus, slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
}

static bool take_slots(struct mimicd_bus *bus)
{
	struct mimic_bus_header *header = bus->header;
	/* acquire: a bit that is set after our look at it rings again */
	uint32_t doorbell = __atomic_load_n(&header->doorbell, __ATOMIC_ACQUIRE);
	bool worked = false;

	if (doorbell == bus->doorbell)
		return false;
	bus->doorbell = doorbell;
	/* Cancelled ones first: what has not begun does not begin. */
	for (unsigned int word = 0; word < WORDS; word++) {
		uint64_t bits = __atomic_load_n(&header->cancelled[word], __ATOMIC_RELAXED);

		if (!bits)
			continue;
		bits = __atomic_exchange_n(&header->cancelled[word], 0, __ATOMIC_ACQUIRE);
		for (; bits; bits &= bits - 1)
			cancel(bus, word * 64 + (uint32_t)__builtin_ctzll(bits));
		worked = true;
	}
	for (unsigned int word = 0; word < WORDS; word++) {
		uint64_t bits = __atomic_load_n(&header->pending[word], __ATOMIC_RELAXED);

		if (!bits)
			continue;
		/* acquire: the requests are there before their bits */
		bits = __atomic_exchange_n(&header->pending[word], 0, __ATOMIC_ACQUIRE);
		for (; bits; bits &= bits - 1) {
			uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
			struct mimic_bus_request body = bus->slots[slot].request;

			body.slot = slot;
			if (body.kind == MIMIC_BUS_REQUEST_ACCESS && !body.posted)
				bus->current = (int)slot;
			mimicd_request_do(bus, &body);
			bus->current = -1;
		}
		worked = true;
	}
	return worked;
}

static bool take_reads(struct mimicd_bus *bus)
{
	struct mimic_bus_request bodies[READ_BATCH];
	ssize_t got = bus->ops->read(bus->fd, bodies, sizeof(bodies));
	size_t count;

	if (got < 0) {
		bus->is_readable = false;
		if (got != -EAGAIN && got != -EINTR)
			mimicd_bus_lose(bus, (int)got);
		return false;
	}
	count = (size_t)got / sizeof(bodies[0]);
	for (size_t i = 0; i < count && !bus->is_lost; i++) {
		if (bodies[i].slot >= MIMIC_BUS_SLOTS)
			continue;
		/* A request that comes a second time with size 0 is to be cancelled. */
		if (bodies[i].kind == MIMIC_BUS_REQUEST_ACCESS && !bodies[i].size)
			cancel(bus, bodies[i].slot);
		else
			mimicd_request_do(bus, &bodies[i]);
	}
	bus->is_readable = count == READ_BATCH;
	return count;
}

bool mimicd_bus_round(struct mimicd_bus *bus, bool idle)
{
	bool worked = false;

	if (bus->is_lost)
		return false;
	if (bus->held)
		worked = mimicd_requests_release(bus, mimic_now());
	if (bus->header)
		worked |= take_slots(bus);
	else if (bus->is_readable || idle)
		worked |= take_reads(bus);
	bus->was_asleep = false;
	return worked;
}

bool mimicd_bus_has_work(struct mimicd_bus *bus)
{
	if (bus->is_lost)
		return false;
	if (!bus->header)
		return bus->is_readable;
	return __atomic_load_n(&bus->header->doorbell, __ATOMIC_RELAXED) != bus->doorbell;
}

static void commit(struct mimicd_bus *bus, uint32_t slot, bool has_descriptor)
{
	struct mimic_bus_commit commit = { .size = sizeof(commit), .slot = slot };
	int error;

	/* While no FETCH is out, one command does both. */
	if (bus->ring && !bus->fetch_is_parked && !has_descriptor &&
	    !bus->ops->ring_fetch(bus->ring, (int)slot)) {
		bus->fetch_is_parked = true;
		return;
	}
	error = bus->ops->ioctl(bus->fd, MIMIC_BUS_COMMIT, &commit);
	if (error)
		mimicd_bus_lose(bus, error);
}

static void answer_by_write(struct mimicd_bus *bus, uint32_t number, int status, uint64_t data, int fd)
{
	struct mimic_bus_answer answer = { .slot = number, .status = status, .data = data, .fd = fd };
	ssize_t written = bus->ops->write(bus->fd, &answer, sizeof(answer));

	if (written != sizeof(answer))
		mimicd_bus_lose(bus, written < 0 ? (int)written : -EIO);
}

void mimicd_bus_answer(struct mimicd_bus *bus, uint32_t number, int status, uint64_t data, int fd)
{
	struct mimicd_engine *engine = bus->engine;
	struct mimic_bus_slot *slot;

	if (bus->is_lost)
		return;
	if (!bus->header) {
		answer_by_write(bus, number, status, data, fd);
		return;
	}
	slot = &bus->slots[number];
	__atomic_store_n(&slot->status, status, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->data, data, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->fd, fd, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->answered, 1, __ATOMIC_RELEASE);
	mimic_lane_fence();
	if (!__atomic_load_n(&slot->waiter_sleeps, __ATOMIC_RELAXED))
		return;
	commit(bus, number, fd >= 0);
	/*
	 * We were awake and answered at once, and still the waiter did not spin: it
	 * shares our CPU.
	 */
	if (!bus->was_asleep && bus->current == (int)number)
		engine->crowded_until = engine->now + engine->settings.spin_microseconds * 1000ull;
}
