/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runahead issue queue (IV-C): rows of loads that wait for their issue are prefetched into
 * the LLC, those of the oldest first. Candidates are the entries that have a row to prefetch
 * now; they are kept in program order. When an instruction issues, all of its rows are loaded
 * again: a prefetch fills the LLC, and no register.
 */
#include "devices/dare/time/internal.h"

static bool has_addresses(const struct entry *entry)
{
	return entry->kind == ENTRY_LOAD || entry->chain == CHAIN_READY;
}

/* The filter suppresses all rows but the first one of a load that is not granted (IV-E). */
static bool is_allowed(const struct dare_mpu *mpu, const struct entry *entry)
{
	return !mpu->parameters.rfu_enabled || entry->granted || !entry->tentative_sent;
}

static void remove_candidate(struct dare_mpu *mpu, struct entry *entry)
{
	if (entry->candidate_older == NONE)
		mpu->oldest_candidate = entry->candidate_newer;
	else
		mpu->entry[entry->candidate_older].candidate_newer = entry->candidate_newer;
	if (entry->candidate_newer == NONE)
		mpu->newest_candidate = entry->candidate_older;
	else
		mpu->entry[entry->candidate_newer].candidate_older = entry->candidate_older;
	entry->is_candidate = false;
}

static void add_candidate(struct dare_mpu *mpu, struct entry *entry)
{
	uint16_t number = number_of(mpu, entry), older = mpu->newest_candidate, newer = NONE;

	while (older != NONE && mpu->entry[older].sequence > entry->sequence) {
		newer = older;
		older = mpu->entry[older].candidate_older;
	}
	entry->candidate_older = older;
	entry->candidate_newer = newer;
	if (older == NONE)
		mpu->oldest_candidate = number;
	else
		mpu->entry[older].candidate_newer = number;
	if (newer == NONE)
		mpu->newest_candidate = number;
	else
		mpu->entry[newer].candidate_older = number;
	entry->is_candidate = true;
}

void dare_time_riq_update(struct dare_mpu *mpu, struct entry *entry)
{
	bool wanted = entry->is_queued && is_load(entry) && entry->next < entry->uop_count &&
		      has_addresses(entry) && is_allowed(mpu, entry);

	if (wanted && !entry->is_candidate)
		add_candidate(mpu, entry);
	else if (!wanted && entry->is_candidate)
		remove_candidate(mpu, entry);
	if (entry->next == entry->uop_count)
		dare_time_dmu_release(mpu, entry);
}

void dare_time_riq_enter(struct dare_mpu *mpu, struct entry *entry)
{
	if (!is_load(entry))
		return;
	if (entry->kind == ENTRY_GATHER)
		dare_time_dmu_enter(mpu, entry);
	dare_time_riq_update(mpu, entry);
}

void dare_time_riq_leave(struct dare_mpu *mpu, struct entry *entry)
{
	if (!is_load(entry))
		return;
	if (entry->is_candidate)
		remove_candidate(mpu, entry);
	dare_time_dmu_leave(mpu, entry);
}

/* Decides by the first row whether to prefetch the others: only those of a granted entry are sent. */
static void judge(struct dare_mpu *mpu, struct entry *entry, uint32_t latency)
{
	if (entry->granted || !mpu->parameters.rfu_enabled)
		return;
	/* Kept for reports: after a drop they show the last threshold, until there is work again. */
	mpu->statistics.threshold = mpu->rfu.threshold;
	if (latency > mpu->rfu.threshold) {
		entry->granted = true;
		mpu->statistics.granted++;
	} else {
		mpu->statistics.suppressed++;
		dare_time_dmu_release(mpu, entry);
	}
	if (is_traced(mpu))
		dare_time_trace_first_row(mpu, entry, latency);
	dare_time_riq_update(mpu, entry);
}

void dare_time_riq_answer(struct dare_mpu *mpu, const struct answer *answer)
{
	struct entry *entry = &mpu->entry[answer->entry];

	if (entry->generation != answer->generation || !entry->is_queued)
		return;
	judge(mpu, entry, answer->latency);
	if (entry->restarts == answer->restarts && ++entry->prefetched == entry->uop_count)
		dare_time_dmu_fetched(mpu, entry);
}
