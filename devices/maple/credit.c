/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Credits (devices/kind.h): a queue takes as many words at once as it has room for. Only its producer fills it,
 * and only consumers empty it, so room that the producer has seen stays.
 *
 * Posted are data, pointers and prefetches. A program cannot tell, but by reading or changing memory that the
 * device has not fetched yet, of which the hardware promises nothing either. An atomic changes memory, and a loop
 * fills the queue later, so their stores wait for the answer; so do the stores that configure.
 */
#include "devices/kind.h"
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"

static unsigned int operation_of(const struct mimic_access *access)
{
	return access->offset >> MAPLE_OPERATION_SHIFT & 63;
}

static unsigned int cost(const struct mimic_access *store, unsigned int *part)
{
	unsigned int pointers = store->size == 8 && store->data >> 32 ? 2 : 1;

	*part = store->offset >> MAPLE_QUEUE_SHIFT & 7;
	if (store->page != MAPLE_PAGE_MAPLE)
		return 0;
	switch (operation_of(store)) {
	case MAPLE_STORE_PRODUCE:
		return store->size == 8 ? 2 : 1;
	case MAPLE_STORE_POINTER32:
	case MAPLE_STORE_LLC_POINTER32:
		return pointers;
	case MAPLE_STORE_POINTER64:
	case MAPLE_STORE_LLC_POINTER64:
		return 2 * pointers;
	case MAPLE_STORE_FULL_POINTER64:
	case MAPLE_STORE_FULL_LLC_POINTER64:
		return 2;
	case MAPLE_STORE_FULL_POINTER32:
	case MAPLE_STORE_FULL_LLC_POINTER32:
	/* No word, but a queue that is not ready for words is not ready for it either. */
	case MAPLE_STORE_PREFETCH:
	case MAPLE_STORE_FULL_PREFETCH:
		return 1;
	default:
		return 0;
	}
}

static unsigned int left(const struct mimic_model *model, const struct mimic_access *store, unsigned int *most)
{
	struct maple *m = (struct maple *)model;
	/* prefetch_needs_room: that many are free when the credits are used up */
	unsigned int kept = has_quirk(m, MAPLE_QUIRK_prefetch_needs_room) ? 2 : 0, number, part, room;
	const struct maple_queue *q = maple_queue_of(m, store->offset >> MAPLE_QUEUE_SHIFT & 7, &number);

	*most = 0;
	/* With four queues a part's number may be an alias: two parts would have credits for one queue's room. */
	if (!q || !cost(store, &part) || part != number || q->producer != store->owner)
		return 0;
	if (q->hung || lima_backlog(q) || maple_mmu_stall(m, MAPLE_FAULT_PIPES)->stalled)
		return 0;
	if (q->consumer && q->consumer != q->producer)
		*most = q->size - kept;
	room = maple_queue_room(q);
	return room > kept ? room - kept : 0;
}

const struct mimic_credits maple_credits = {
	.cost = cost,
	.left = left,
};
