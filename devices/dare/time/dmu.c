/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dependency management unit (IV-D): where the addresses of an mgather come from. When an
 * mgather enters the RIQ, the newest older entry there that writes its address register is
 * its producer. A load or another mgather that is one gets an entry of the VMR, and all of
 * its rows are fetched there, unfiltered; when they are, the mgather's rows can be prefetched.
 * In a chain of mgathers so each wakes the next one.
 *
 * An mgather without such a producer is not prefetched: its addresses are in the register,
 * or will be soon. If a producer issues before its rows are back, the chain is dropped.
 */
#include "devices/dare/time/internal.h"

static struct entry *find_producer(struct dare_mpu *mpu, const struct entry *gather)
{
	uint16_t number;

	/* gather itself is the newest. */
	for (number = mpu->newest; number != NONE; number = mpu->entry[number].older) {
		struct entry *entry = &mpu->entry[number];

		if (entry != gather && entry->sequence < gather->sequence && entry->writes & gather->reads)
			return entry;
	}
	return NULL;
}

/* Rows that came back before the VMR had a place for them are fetched again. */
static void fetch_rows(struct dare_mpu *mpu, struct entry *producer)
{
	if (producer->prefetched) {
		producer->prefetched = 0;
		producer->next = 0;
		producer->restarts++;
	}
	producer->granted = true;
	dare_time_riq_update(mpu, producer);
}

static uint16_t free_vmr(const struct dare_mpu *mpu)
{
	for (uint16_t i = 0; i < mpu->parameters.mpu_vmr; i++)
		if (!mpu->vmr[i].is_taken)
			return i;
	return NONE;
}

static void take_vmr(struct dare_mpu *mpu, struct entry *producer, uint16_t number)
{
	mpu->vmr[number] = (struct vmr){ .producer = number_of(mpu, producer), .first_consumer = NONE,
					 .is_taken = true };
	producer->vmr_out = number;
	mpu->vmr_taken++;
	if (mpu->vmr_taken > mpu->statistics.vmr_most)
		mpu->statistics.vmr_most = mpu->vmr_taken;
	fetch_rows(mpu, producer);
}

/*
 * An mgather whose addresses are not ahead of time can be no producer, nor one that has given them back.
 * Other instructions have no chain.
 */
static bool has_source(const struct entry *producer)
{
	return producer->kind == ENTRY_LOAD || (producer->chain != CHAIN_NONE && producer->chain != CHAIN_OVER);
}

/* false: the VMR is full. */
static bool connect(struct dare_mpu *mpu, struct entry *gather)
{
	struct entry *producer = find_producer(mpu, gather);
	uint16_t number;
	struct vmr *vmr;

	gather->chain = CHAIN_NONE;
	if (!producer || !has_source(producer))
		return true;
	number = producer->vmr_out;
	if (number == NONE) {
		number = free_vmr(mpu);
		gather->chain = CHAIN_WAITS;
		if (number == NONE)
			return false;
		take_vmr(mpu, producer, number);
	}
	vmr = &mpu->vmr[number];
	gather->vmr_in = number;
	gather->next_consumer = vmr->first_consumer;
	vmr->first_consumer = number_of(mpu, gather);
	vmr->consumers++;
	gather->chain = vmr->is_complete ? CHAIN_READY : CHAIN_FETCHES;
	mpu->statistics.chains += vmr->is_complete;
	return true;
}

/* Those that found the VMR full, the oldest first. */
static void retry(struct dare_mpu *mpu)
{
	for (uint16_t number = mpu->oldest; number != NONE; number = mpu->entry[number].newer) {
		struct entry *entry = &mpu->entry[number];

		if (entry->chain != CHAIN_WAITS)
			continue;
		if (!connect(mpu, entry))
			return;
		dare_time_riq_update(mpu, entry);
	}
}

void dare_time_dmu_enter(struct dare_mpu *mpu, struct entry *entry)
{
	/* While some wait the VMR is full, so that no other comes before them. */
	connect(mpu, entry);
	mpu->statistics.vmr_waits += entry->chain == CHAIN_WAITS;
}

static void give_back(struct dare_mpu *mpu, uint16_t number)
{
	struct vmr *vmr = &mpu->vmr[number];

	if (vmr->producer != NONE)
		mpu->entry[vmr->producer].vmr_out = NONE;
	vmr->is_taken = false;
	mpu->vmr_taken--;
	retry(mpu);
}

static void unlink_consumer(struct dare_mpu *mpu, struct vmr *vmr, const struct entry *entry)
{
	uint16_t *link = &vmr->first_consumer;

	while (*link != number_of(mpu, entry))
		link = &mpu->entry[*link].next_consumer;
	*link = entry->next_consumer;
	vmr->consumers--;
}

void dare_time_dmu_release(struct dare_mpu *mpu, struct entry *entry)
{
	uint16_t number = entry->vmr_in;

	if (entry->kind != ENTRY_GATHER || number == NONE)
		return;
	entry->vmr_in = NONE;
	entry->chain = CHAIN_OVER;
	unlink_consumer(mpu, &mpu->vmr[number], entry);
	if (!mpu->vmr[number].consumers)
		give_back(mpu, number);
}

/* The producer has issued too early: no mgather will get addresses from it. */
static void drop_chain(struct dare_mpu *mpu, uint16_t number)
{
	uint16_t consumer = mpu->vmr[number].first_consumer;

	for (; consumer != NONE; consumer = mpu->entry[consumer].next_consumer) {
		mpu->entry[consumer].vmr_in = NONE;
		mpu->entry[consumer].chain = CHAIN_NONE;
		mpu->statistics.chains_dropped++;
	}
	give_back(mpu, number);
}

void dare_time_dmu_leave(struct dare_mpu *mpu, struct entry *entry)
{
	uint16_t number = entry->vmr_out;

	if (number != NONE) {
		/* Its place will be another instruction's. */
		mpu->vmr[number].producer = NONE;
		entry->vmr_out = NONE;
		if (!mpu->vmr[number].is_complete)
			drop_chain(mpu, number);
	}
	dare_time_dmu_release(mpu, entry);
}

void dare_time_dmu_fetched(struct dare_mpu *mpu, struct entry *entry)
{
	struct vmr *vmr = entry->vmr_out == NONE ? NULL : &mpu->vmr[entry->vmr_out];

	if (!vmr)
		return;
	vmr->is_complete = true;
	for (uint16_t number = vmr->first_consumer; number != NONE; number = mpu->entry[number].next_consumer) {
		mpu->entry[number].chain = CHAIN_READY;
		mpu->statistics.chains++;
		dare_time_riq_update(mpu, &mpu->entry[number]);
	}
}
