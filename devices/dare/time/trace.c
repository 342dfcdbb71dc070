/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trace events of the MPU: the place of each instruction from its dispatch on, and the filter's
 * decisions. Times are the MPU's own cycles: its work may be done later than the clock of the
 * modelled SoC. All of it is called only if there is a trace.
 */
#include "devices/dare/time/internal.h"

static struct traced *traced_of(struct dare_mpu *mpu, const struct entry *entry)
{
	return &mpu->traced[number_of(mpu, entry)];
}

static uint64_t address_of(const struct entry *entry)
{
	return entry->uop_count ? entry->uop[0].line << LINE_SHIFT : 0;
}

/* Entries are more than the queue has places, as they are kept until their rows are back. */
static uint16_t free_place(const struct dare_mpu *mpu, const struct entry *but)
{
	uint64_t taken[(DARE_TIME_RIQ_MAX + 63) / 64] = { 0 };
	unsigned int part = 0;

	for (uint16_t number = mpu->oldest; number != NONE; number = mpu->entry[number].newer) {
		const struct traced *traced = &mpu->traced[number];

		if (&mpu->entry[number] != but && traced->place == TRACED_QUEUE)
			taken[traced->riq_place / 64] |= 1ull << traced->riq_place % 64;
	}
	while (!~taken[part])
		part++;
	return (uint16_t)(64 * part + (unsigned int)__builtin_ctzll(~taken[part]));
}

void dare_time_trace_dispatch(struct dare_mpu *mpu, const struct entry *entry, const struct dare_fields *fields)
{
	struct traced *traced = traced_of(mpu, entry);

	*traced = (struct traced){ .since = mpu->now, .place = TRACED_QUEUE, .riq_place = free_place(mpu, entry) };
	dare_encode(fields, &traced->word);
}

void dare_time_trace_issue(struct dare_mpu *mpu, const struct entry *entry)
{
	struct traced *traced = traced_of(mpu, entry);

	/* It may have been dispatched before a tracer attached to a probe. */
	if (traced->place == TRACED_QUEUE)
		MIMIC_TRACE_AT(mpu->trace, traced->since, mpu->now, riq, 0ull, traced->riq_place, address_of(entry),
			       entry->next, traced->word, entry->sequence);
	traced->since = mpu->now;
	traced->place = is_load(entry) || is_store(entry) ? TRACED_LSU : TRACED_NOWHERE;
}

void dare_time_trace_load(struct dare_mpu *mpu, const struct entry *entry)
{
	struct traced *traced = traced_of(mpu, entry);

	if (traced->place == TRACED_LSU)
		MIMIC_TRACE_AT(mpu->trace, traced->since, mpu->now, lsu_load, 0ull, entry->md, address_of(entry),
			       entry->uop_count, traced->word, entry->sequence);
	traced->place = TRACED_NOWHERE;
}

/* Stores follow one another: one that issues while another one's rows are sent begins behind it. */
void dare_time_trace_store(struct dare_mpu *mpu, const struct entry *entry)
{
	struct traced *traced = traced_of(mpu, entry);
	uint64_t begin = traced->since > mpu->traced_stores ? traced->since : mpu->traced_stores;

	if (traced->place == TRACED_LSU)
		MIMIC_TRACE_AT(mpu->trace, begin, mpu->now + 1, lsu_store, 0ull, 0, address_of(entry), entry->uop_count,
			       traced->word, entry->sequence);
	traced->place = TRACED_NOWHERE;
	mpu->traced_stores = mpu->now + 1;
}

void dare_time_trace_array(struct dare_mpu *mpu, const struct entry *entry)
{
	MIMIC_TRACE_AT(mpu->trace, mpu->now, mpu->now + entry->occupancy, array, 0ull, 0, 0ull, entry->latency,
		       traced_of(mpu, entry)->word, entry->sequence);
}

void dare_time_trace_first_row(struct dare_mpu *mpu, const struct entry *entry, uint32_t latency)
{
	MIMIC_TRACE_AT(mpu->trace, mpu->now, mpu->now, rfu_first_row, 0ull, entry->granted, 0ull, latency,
		       mpu->rfu.threshold, entry->sequence);
}

void dare_time_trace_threshold(struct dare_mpu *mpu)
{
	MIMIC_TRACE_AT(mpu->trace, mpu->now, mpu->now, rfu_threshold, 0ull, 0, 0ull, 0u, mpu->rfu.threshold, 0ull);
}

/* All that is under way ends now. */
void dare_time_trace_drop(struct dare_mpu *mpu)
{
	for (unsigned int i = 0; i < ENTRIES; i++) {
		const struct entry *entry = &mpu->entry[i];

		if (mpu->traced[i].place == TRACED_QUEUE)
			dare_time_trace_issue(mpu, entry);
		if (mpu->traced[i].place != TRACED_LSU)
			continue;
		if (is_load(entry))
			dare_time_trace_load(mpu, entry);
		mpu->traced[i].place = TRACED_NOWHERE;
	}
}
