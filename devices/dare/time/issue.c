/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Scoreboard and issue (IV-B). Each register has a count of those that will write it and of
 * those that still read it. Of the oldest instructions of the queue, as many as the window
 * has, any may issue that has no conflict with one under way and none with an older one
 * that waits. There is no renaming.
 */
#include "devices/dare/time/internal.h"

/* The registers and lines that older instructions of the window have still to read or write. */
struct waiting {
	uint8_t reads, writes;
	const struct entry *memory[DARE_TIME_RIQ_MAX];
	unsigned int memory_count;
};

static bool share_a_line(const struct entry *a, const struct entry *b)
{
	if (!(a->lines & b->lines))
		return false;
	for (unsigned int i = 0; i < a->uop_count; i++)
		for (unsigned int j = 0; j < b->uop_count; j++)
			if (a->uop[i].line == b->uop[j].line)
				return true;
	return false;
}

/* Accesses of one line stay in their order if one of them is a store. */
static bool has_memory_conflict(const struct waiting *waiting, const struct entry *entry)
{
	for (unsigned int i = 0; i < waiting->memory_count; i++) {
		const struct entry *older = waiting->memory[i];

		if ((is_store(older) || is_store(entry)) && share_a_line(older, entry))
			return true;
	}
	return false;
}

static bool has_unit(const struct dare_mpu *mpu, const struct entry *entry)
{
	if (entry->kind == ENTRY_MULTIPLY)
		return mpu->array_free <= mpu->now && mpu->running_count < RUNNING_MAX;
	/* For each register there is room for a load, and there are no two loads of one register. */
	return !is_store(entry) || mpu->store_count < mpu->parameters.mpu_stores;
}

static bool may_issue(const struct dare_mpu *mpu, const struct entry *entry, const struct waiting *waiting)
{
	uint8_t written = mpu->written_by_loads | mpu->written_by_mmas;
	uint8_t raw = entry->reads & written;
	uint8_t war_waw = entry->writes & (written | mpu->read);

	/* An mma can add to the result of another one in the array, as that comes out. */
	if (entry->kind == ENTRY_MULTIPLY && mpu->parameters.mpu_forward) {
		uint8_t md = (uint8_t)(1u << entry->md);

		if (!(mpu->written_by_loads & md))
			war_waw &= (uint8_t)~md;
	}
	if (raw || war_waw)
		return false;
	if (entry->reads & waiting->writes || entry->writes & (waiting->writes | waiting->reads))
		return false;
	return has_unit(mpu, entry) &&
	       !((is_load(entry) || is_store(entry)) && has_memory_conflict(waiting, entry));
}

static void add_waiting(struct waiting *waiting, const struct entry *entry)
{
	waiting->reads |= entry->reads;
	waiting->writes |= entry->writes;
	if (is_load(entry) || is_store(entry))
		waiting->memory[waiting->memory_count++] = entry;
}

static void begin(struct dare_mpu *mpu, struct entry *entry)
{
	dare_time_queue_remove(mpu, entry);
	mpu->statistics.issued++;
	mpu->has_progress = true;
	if (entry->kind == ENTRY_MULTIPLY)
		dare_time_array_begin(mpu, entry);
	if (is_load(entry) || is_store(entry))
		dare_time_lsu_issue(mpu, entry);
	else
		dare_time_queue_free(mpu, entry);
}

void dare_time_issue(struct dare_mpu *mpu)
{
	struct waiting waiting;
	uint16_t number = mpu->oldest, newer;
	unsigned int issued = 0;

	if (!mpu->may_issue)
		return;
	mpu->may_issue = false;
	/* Its list is long, and empty. */
	waiting.reads = waiting.writes = 0;
	waiting.memory_count = 0;
	for (uint64_t i = 0; i < mpu->parameters.mpu_window && number != NONE; i++, number = newer) {
		struct entry *entry = &mpu->entry[number];

		newer = entry->newer;
		if (!may_issue(mpu, entry, &waiting)) {
			add_waiting(&waiting, entry);
			continue;
		}
		begin(mpu, entry);
		/* Others come into the window, and it may be enough for this cycle. */
		mpu->may_issue = true;
		if (++issued == mpu->parameters.mpu_issue)
			return;
	}
}
