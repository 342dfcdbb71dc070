/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Answers to requests of the kernel, by the shared slots or by write().
 *
 * Order in a slot: status, data, fd, then `answered` (release), then a full
 * fence, then waiter_sleeps is read. The kernel does it the other way round,
 * so one of the two sees the other.
 *
 * A daemon that can be recovered gives them after the commit of the step.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/bus/internal.h"
#include "daemon/bus/record.h"
#include "daemon/engine/engine.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"
#include "mimic/lane.h"

void mimicd_bus_lose(struct mimicd_bus *bus, int error)
{
	if (bus->is_lost)
		return;
	bus->is_lost = true;
	bus->engine->reap = true;
	mimicd_log(MIMICD_LOG_ERROR, "the kernel's bus is gone: %s", strerror(-error));
	/* It would wake us for ever. */
	mimicd_loop_forget(bus->engine->loop, bus->ring ? bus->ring_fd : bus->fd);
}

static void commit(struct mimicd_bus *bus, uint32_t slot, bool has_descriptor)
{
	struct mimic_bus_commit commit = { .size = sizeof(commit), .slot = slot };
	int error;

	/* While no FETCH is in flight, one command does both. */
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

static void answer_by_slot(struct mimicd_bus *bus, uint32_t number, int status, uint64_t data, int fd)
{
	struct mimic_bus_slot *slot = &bus->slots[number];

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
		mimicd_shard_note_crowded(&bus->engine->loop_shard);
}

void mimicd_bus_answer(struct mimicd_bus *bus, uint32_t number, int status, uint64_t data, int fd)
{
	if (bus->is_lost)
		return;
	if (bus->record)
		mimicd_bus_note_answer(bus, number, status, data, fd);
	else if (bus->header)
		answer_by_slot(bus, number, status, data, fd);
	else
		answer_by_write(bus, number, status, data, fd);
}

bool mimicd_bus_answers_again(struct mimicd_bus *bus, uint32_t number)
{
	const struct mimicd_answer_record *record = mimicd_bus_last_answer(bus, number);

	if (!record)
		return false;
	answer_by_slot(bus, number, record->status, record->data, -1);
	return true;
}

void mimicd_bus_publish(void *context)
{
	struct mimicd_bus *bus = context;

	for (unsigned int i = 0; i < bus->late_count; i++) {
		const struct mimicd_late_answer *late = &bus->late[i];

		mimicd_journal_place();
		if (!bus->is_lost)
			answer_by_slot(bus, late->slot, late->status, late->data, late->fd);
		if (late->fd >= 0)
			close(late->fd);
	}
	bus->late_count = 0;
	mimicd_journal_place();
}
