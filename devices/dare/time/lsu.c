/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The load/store unit (IV-A): instructions are split into rows, which go to the LLC one after
 * the other. Of the loads that have issued the oldest instruction's rows go first, or, with
 * mpu.oldest_first=0, those of the one that issued first. A row that is loaded has an entry of
 * the LQ from when it is sent until its answer, a prefetch likewise; one that is stored has an
 * entry of the SQ until it is in the LLC. A load waits for older stores of the same line, and
 * with mpu.store_order a store for older loads.
 */
#include <string.h>

#include "devices/dare/time/internal.h"

static void remove_first(uint16_t *numbers, unsigned int *count)
{
	memmove(numbers, numbers + 1, --*count * sizeof(*numbers));
}

/* Behind those that issued before it, or behind those that are older. */
static void add_load(struct dare_mpu *mpu, struct entry *entry)
{
	unsigned int i = mpu->load_count++;

	for (; i && mpu->parameters.mpu_oldest_first; i--) {
		if (mpu->entry[mpu->loads[i - 1]].sequence < entry->sequence)
			break;
		mpu->loads[i] = mpu->loads[i - 1];
	}
	mpu->loads[i] = number_of(mpu, entry);
	mpu->loads_open++;
}

/*
 * Where stores wait for older loads they are kept in program order, as loads are: else one could wait for a load that waits
 * for an older store behind it.
 */
static void add_store(struct dare_mpu *mpu, const struct entry *entry)
{
	unsigned int i = mpu->store_count++;

	for (; i && mpu->parameters.mpu_store_order; i--) {
		if (mpu->entry[mpu->stores[i - 1]].sequence < entry->sequence)
			break;
		mpu->stores[i] = mpu->stores[i - 1];
	}
	mpu->stores[i] = number_of(mpu, entry);
}

void dare_time_lsu_issue(struct dare_mpu *mpu, struct entry *entry)
{
	entry->issued = entry->first_wait = mpu->now;
	hold_sources(mpu, entry->reads);
	if (is_load(entry)) {
		hold_register(mpu->loads_to, &mpu->written_by_loads, entry->md);
		add_load(mpu, entry);
		return;
	}
	add_store(mpu, entry);
	for (unsigned int i = 0; i < entry->uop_count; i++)
		mpu->store_filter[store_filter_of(entry->uop[i].line)]++;
}

/* --- answers ------------------------------------------------------------------- */

static void end_load(struct dare_mpu *mpu, struct entry *entry)
{
	if (++entry->back < entry->uop_count)
		return;
	release_register(mpu->loads_to, &mpu->written_by_loads, entry->md);
	mpu->may_issue = true;
	mpu->loads_open--;
	if (is_traced(mpu))
		dare_time_trace_load(mpu, entry);
	dare_time_queue_free(mpu, entry);
}

static void end_row(struct dare_mpu *mpu, const struct answer *answer)
{
	if (answer->is_prefetch || mpu->parameters.rfu_demand)
		dare_time_rfu_add(mpu, answer->latency);
	if (answer->is_prefetch)
		dare_time_riq_answer(mpu, answer);
	else
		end_load(mpu, &mpu->entry[answer->entry]);
}

void dare_time_lsu_answers(struct dare_mpu *mpu)
{
	while (answers_next(&mpu->lq) <= mpu->now)
		end_row(mpu, dare_time_answers_take(&mpu->lq));
	while (answers_next(&mpu->sq) <= mpu->now)
		mpu->store_filter[store_filter_of(dare_time_answers_take(&mpu->sq)->line)]--;
}

/* --- rows of loads --------------------------------------------------------------- */

static bool is_in_stores(const struct dare_mpu *mpu, uint64_t sequence, uint64_t line)
{
	for (unsigned int i = 0; i < mpu->sq.count; i++)
		if (answer_at(&mpu->sq, i)->line == line && answer_at(&mpu->sq, i)->sequence < sequence)
			return true;
	for (unsigned int i = 0; i < mpu->store_count; i++) {
		const struct entry *store = &mpu->entry[mpu->stores[i]];

		for (unsigned int row = store->sent; row < store->uop_count && store->sequence < sequence; row++)
			if (store->uop[row].line == line)
				return true;
	}
	return false;
}

/* Is an older store of this line not in the LLC yet? */
static bool waits_for_store(const struct dare_mpu *mpu, const struct entry *entry, uint64_t line)
{
	return mpu->store_filter[store_filter_of(line)] && is_in_stores(mpu, entry->sequence, line);
}

/* As one bit. With one port of a kind no two rows are sent in a cycle that could meet. */
static uint64_t bank_of(const struct dare_mpu *mpu, uint64_t line)
{
	return mpu->has_ports ? 1ull << line % mpu->parameters.llc_banks : 0;
}

static void count_demand(struct dare_mpu *mpu, const struct entry *entry, uint64_t time, enum llc_place place)
{
	struct dare_time_statistics *statistics = &mpu->statistics;
	/* With several ports it may be the next one only from the next cycle on. */
	uint64_t since = entry->first_wait < mpu->now ? entry->first_wait : mpu->now;

	statistics->rows_demanded++;
	statistics->demand_hits += place == LLC_THERE;
	statistics->demand_merged += place == LLC_ON_ITS_WAY;
	statistics->demand_misses += place == LLC_MISS;
	statistics->port_waits += mpu->now - since;
	statistics->demand_latency += time - since;
	statistics->demand_since_issue += time - entry->issued;
}

static void add_to_lq(struct dare_mpu *mpu, uint64_t time, struct answer *answer)
{
	answer->latency = (uint32_t)(time - mpu->now);
	dare_time_answers_add(&mpu->lq, time, answer);
	if (mpu->lq.count > mpu->statistics.lq_most)
		mpu->statistics.lq_most = mpu->lq.count;
	mpu->has_progress = true;
}

/* An mgather has read its addresses when the last row is sent. */
static void end_sending(struct dare_mpu *mpu, struct entry *entry)
{
	release_sources(mpu, entry->reads);
	mpu->may_issue = true;
	remove_first(mpu->loads, &mpu->load_count);
	if (mpu->load_count)
		mpu->entry[mpu->loads[0]].first_wait = mpu->now + 1;
}

static bool send_demand(struct dare_mpu *mpu)
{
	struct entry *entry = mpu->load_count ? &mpu->entry[mpu->loads[0]] : NULL;
	const struct uop *uop = entry ? &entry->uop[entry->sent] : NULL;
	enum llc_place place;
	struct answer answer;
	uint64_t time;

	if (!entry || mpu->read_banks & bank_of(mpu, uop->line) || waits_for_store(mpu, entry, uop->line) ||
	    !dare_time_llc_may_send(mpu, uop, false))
		return false;
	mpu->read_banks |= bank_of(mpu, uop->line);
	time = dare_time_llc_read(mpu, uop, &place);
	answer = (struct answer){ .entry = number_of(mpu, entry) };
	count_demand(mpu, entry, time, place);
	entry->first_wait = mpu->now + 1;
	add_to_lq(mpu, time, &answer);
	if (++entry->sent == entry->uop_count)
		end_sending(mpu, entry);
	return true;
}

/* The RIQ says which row; false: it has none. */
static bool send_prefetch(struct dare_mpu *mpu)
{
	struct entry *entry = mpu->oldest_candidate == NONE ? NULL : &mpu->entry[mpu->oldest_candidate];
	const struct uop *uop = entry ? &entry->uop[entry->next] : NULL;
	enum llc_place place;
	struct answer answer;
	uint64_t time;

	if (!entry || mpu->read_banks & bank_of(mpu, uop->line) || !dare_time_llc_may_send(mpu, uop, false))
		return false;
	mpu->read_banks |= bank_of(mpu, uop->line);
	time = dare_time_llc_read(mpu, uop, &place);
	answer = (struct answer){
		.entry = number_of(mpu, entry), .generation = entry->generation, .restarts = entry->restarts,
		.is_prefetch = true,
	};
	mpu->statistics.rows_prefetched++;
	mpu->statistics.prefetch_redundant += place != LLC_MISS;
	add_to_lq(mpu, time, &answer);
	entry->tentative_sent = true;
	entry->next++;
	dare_time_riq_update(mpu, entry);
	return true;
}

/* The one that is asked last goes last, or, if neither can go, is the one that did. */
static bool send_of(struct dare_mpu *mpu, enum side side)
{
	mpu->last_side = side;
	return side == SIDE_DEMAND ? send_demand(mpu) : send_prefetch(mpu);
}

/* The side that did not go last goes first; if it has nothing that can go, the other does. */
static bool send_load(struct dare_mpu *mpu)
{
	enum side first = mpu->last_side == SIDE_DEMAND && !mpu->parameters.llc_demand_first ? SIDE_PREFETCH :
											       SIDE_DEMAND;

	if (mpu->lq.count >= mpu->parameters.mpu_lq)
		return false;
	return send_of(mpu, first) || send_of(mpu, first == SIDE_DEMAND ? SIDE_PREFETCH : SIDE_DEMAND);
}

/* --- rows of stores -------------------------------------------------------------- */

static void end_store(struct dare_mpu *mpu, struct entry *entry)
{
	release_sources(mpu, entry->reads);
	mpu->may_issue = true;
	remove_first(mpu->stores, &mpu->store_count);
	if (is_traced(mpu))
		dare_time_trace_store(mpu, entry);
	dare_time_queue_free(mpu, entry);
}

static bool has_row_to_send(const struct entry *load, uint64_t line)
{
	for (unsigned int row = load->sent; row < load->uop_count; row++)
		if (load->uop[row].line == line)
			return true;
	return false;
}

/* Has an older load that has issued a row to send that mpu.store_order puts first? */
static bool waits_for_load(const struct dare_mpu *mpu, const struct entry *store, uint64_t line)
{
	/* In program order: mpu.store_order needs mpu.oldest_first. */
	for (unsigned int i = 0; mpu->parameters.mpu_store_order && i < mpu->load_count; i++) {
		const struct entry *load = &mpu->entry[mpu->loads[i]];

		if (load->sequence > store->sequence)
			return false;
		if (mpu->parameters.mpu_store_order > 1 || has_row_to_send(load, line))
			return true;
	}
	return false;
}

static bool send_store(struct dare_mpu *mpu)
{
	struct entry *entry = mpu->store_count ? &mpu->entry[mpu->stores[0]] : NULL;
	const struct uop *uop = entry ? &entry->uop[entry->sent] : NULL;
	struct answer answer;

	if (!entry || mpu->sq.count >= mpu->parameters.mpu_sq || mpu->write_banks & bank_of(mpu, uop->line) ||
	    waits_for_load(mpu, entry, uop->line) || !dare_time_llc_may_send(mpu, uop, true))
		return false;
	mpu->write_banks |= bank_of(mpu, uop->line);
	answer = (struct answer){ .line = uop->line, .sequence = entry->sequence };
	dare_time_answers_add(&mpu->sq, dare_time_llc_write(mpu, uop), &answer);
	if (mpu->sq.count > mpu->statistics.sq_most)
		mpu->statistics.sq_most = mpu->sq.count;
	mpu->statistics.rows_stored++;
	mpu->has_progress = true;
	if (++entry->sent == entry->uop_count)
		end_store(mpu, entry);
	return true;
}

void dare_time_lsu_send(struct dare_mpu *mpu)
{
	mpu->read_banks = mpu->write_banks = 0;
	for (uint64_t port = 0; port < mpu->parameters.llc_reads; port++)
		if (!send_load(mpu))
			break;
	for (uint64_t port = 0; port < mpu->parameters.llc_writes; port++)
		if (!send_store(mpu))
			break;
}
