/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Lines that come into the L2 although no core asked for them. They wait in a queue, in
 * the order of their times, until an MSHR is free: misses of cores go first.
 */
#include <string.h>

#include "sim/soc_internal.h"

void soc_prefetch_add(struct soc *soc, uint64_t address, uint64_t when, bool is_index)
{
	struct prefetch_queue *queue = &soc->prefetches;
	unsigned int at = queue->count;

	if (queue->count == PREFETCH_QUEUE) {
		soc->counters.prefetches_dropped++;
		return;
	}
	while (at && queue->entry[at - 1].when > when)
		at--;
	memmove(&queue->entry[at + 1], &queue->entry[at], (queue->count - at) * sizeof(queue->entry[0]));
	queue->entry[at] = (struct prefetch){ .address = address, .when = when, .is_index = is_index };
	queue->count++;
	soc_schedule(soc);
}

uint64_t soc_prefetch_next(const struct soc *soc)
{
	const struct prefetch_queue *queue = &soc->prefetches;

	if (!queue->count)
		return UINT64_MAX;
	return queue->entry[0].when > queue->not_before ? queue->entry[0].when : queue->not_before;
}

void soc_prefetch_begin(struct soc *soc, uint64_t now)
{
	struct prefetch_queue *queue = &soc->prefetches;
	struct prefetch prefetch = queue->entry[0];
	uint64_t free, ready;

	if (!mimic_cache_peek(&soc->l2, prefetch.address)) {
		mimic_slots_forget(&soc->mshrs, soc->now);
		free = mimic_slots_free_at(&soc->mshrs, now);
		if (free > now) {
			queue->not_before = free;
			return;
		}
	}
	queue->count--;
	memmove(&queue->entry[0], &queue->entry[1], queue->count * sizeof(queue->entry[0]));
	ready = soc_l2_prefetch(soc, prefetch.address, now);
	if (prefetch.is_index)
		soc_droplet_arrived(soc, prefetch.address, ready);
}
