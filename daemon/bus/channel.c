/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Requests out of the kernel, by the shared slots or by read(). */
#include <errno.h>

#include "daemon/bus/internal.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/step.h"
#include "libmimic/base/clock.h"

#define WORDS (MIMIC_BUS_SLOTS / 64)
#define READ_BATCH 16

/*
 * Would it have an effect if it is begun? A successor finds requests that no thread waits for: also an OPEN,
 * whose CLOSE may come first. One that only frees something is done.
 */
static bool can_be_cancelled(const struct mimicd_bus *bus, uint32_t kind)
{
	return kind == MIMIC_BUS_REQUEST_ACCESS ||
	       (bus->record && (kind == MIMIC_BUS_REQUEST_OPEN || kind == MIMIC_BUS_REQUEST_CONNECT));
}

static void cancel(struct mimicd_bus *bus, uint32_t slot)
{
	struct mimicd_request *request = &bus->requests[slot];
	uint64_t bit = 1ull << slot % 64;

	/* One that has been answered meanwhile: nothing is left to do. */
	if (request->state != MIMICD_REQUEST_NONE) {
		mimicd_request_withdraw(request);
		return;
	}
	if (!bus->header || !can_be_cancelled(bus, bus->slots[slot].request.kind) ||
	    !(__atomic_fetch_and(&bus->header->pending[slot / 64], ~bit, __ATOMIC_ACQUIRE) & bit))
		return;
	bus->serials[slot] = bus->slots[slot].serial;
	if (!mimicd_bus_answers_again(bus, slot))
		mimicd_bus_answer(bus, slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
}

/* true: it was, and is no longer. */
static bool is_cancelled(struct mimicd_bus *bus, uint32_t slot)
{
	uint64_t bit = 1ull << slot % 64;
	__u64 *word = &bus->header->cancelled[slot / 64];

	return __atomic_load_n(word, __ATOMIC_RELAXED) & bit && __atomic_fetch_and(word, ~bit, __ATOMIC_ACQUIRE) & bit;
}

/* Each request is a step, whose answer is shown at its end. */
static void serve(struct mimicd_bus *bus, uint32_t slot)
{
	struct mimic_bus_request body = bus->slots[slot].request;

	body.slot = slot;
	bus->serials[slot] = bus->slots[slot].serial;
	if (mimicd_bus_answers_again(bus, slot))
		return;
	if (body.kind == MIMIC_BUS_REQUEST_ACCESS && !body.posted)
		bus->current = (int)slot;
	/* The bit may have come since we looked: behind a takeover the two are set one after the other. */
	if (bus->record && can_be_cancelled(bus, body.kind) && is_cancelled(bus, slot))
		mimicd_bus_answer(bus, slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
	else
		mimicd_bus_serve(bus, &body);
	if (bus->record)
		mimicd_step_commit(bus->engine);
	bus->current = -1;
}

static bool take_slots(struct mimicd_bus *bus)
{
	struct mimic_bus_header *header = bus->header;
	/* acquire: a bit that is set after we have read it rings again */
	uint32_t doorbell = __atomic_load_n(&header->doorbell, __ATOMIC_ACQUIRE);
	bool worked = false;

	if (doorbell == bus->doorbell)
		return false;
	bus->doorbell = doorbell;
	/* Cancelled ones first: a request that has not begun does not begin. */
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
		for (; bits; bits &= bits - 1)
			serve(bus, word * 64 + (uint32_t)__builtin_ctzll(bits));
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
			mimicd_bus_serve(bus, &bodies[i]);
	}
	bus->is_readable = count == READ_BATCH;
	return count;
}

bool mimicd_bus_poll(void *context, bool is_idle)
{
	struct mimicd_bus *bus = context;
	bool worked = false;

	if (bus->is_lost)
		return false;
	if (bus->held)
		worked = mimicd_bus_accesses_release(bus, mimic_now());
	if (bus->header)
		worked |= take_slots(bus);
	else if (bus->is_readable || is_idle)
		worked |= take_reads(bus);
	bus->was_asleep = false;
	return worked;
}

bool mimicd_bus_has_work(void *context)
{
	const struct mimicd_bus *bus = context;

	if (bus->is_lost)
		return false;
	if (!bus->header)
		return bus->is_readable;
	return __atomic_load_n(&bus->header->doorbell, __ATOMIC_RELAXED) != bus->doorbell;
}
