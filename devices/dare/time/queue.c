/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dispatch (IV-B): the queue between decode and issue. With runahead it is the RIQ (IV-C),
 * without it is as long as the window of instructions that can issue.
 */
#include <stddef.h>
#include <string.h>

#include "devices/dare/time/internal.h"

void dare_time_queue_init(struct dare_mpu *mpu)
{
	mpu->queue_room = (unsigned int)(mpu->parameters.mpu_runahead ? mpu->parameters.mpu_riq :
									mpu->parameters.mpu_window);
	mpu->oldest = mpu->newest = NONE;
	mpu->oldest_candidate = mpu->newest_candidate = NONE;
	for (unsigned int i = 0; i < ENTRIES; i++)
		mpu->entry[i].newer = (uint16_t)(i + 1 < ENTRIES ? i + 1 : NONE);
	mpu->free_entry = 0;
}

static void set_registers(struct entry *entry, const struct dare_fields *fields)
{
	uint8_t md = (uint8_t)(1u << fields->md), ms1 = (uint8_t)(1u << fields->ms1);
	uint8_t ms2 = (uint8_t)(1u << fields->ms2);

	entry->md = (uint8_t)fields->md;
	switch ((enum entry_kind)entry->kind) {
	case ENTRY_CONFIGURE:
		break;
	case ENTRY_LOAD:
		entry->writes = md;
		break;
	case ENTRY_GATHER:
		entry->reads = ms1;
		entry->writes = md;
		break;
	case ENTRY_STORE:
		entry->reads = ms2;
		break;
	case ENTRY_SCATTER:
		entry->reads = ms1 | ms2;
		break;
	case ENTRY_MULTIPLY:
		/* And md, which it writes for as long as it reads it or longer. */
		entry->reads = ms1 | ms2;
		entry->writes = md;
		break;
	}
}

static void add_uop(struct entry *entry, uint64_t address, unsigned int bytes)
{
	uint64_t line = address >> LINE_SHIFT;

	entry->uop[entry->uop_count++] = (struct uop){ .line = line, .is_whole = bytes == 1u << LINE_SHIFT };
	/* By a multiplicative hash: rows of a matrix are a power of two apart. */
	entry->lines |= 1ull << (line * 0x9e3779b97f4a7c15ull >> 58);
}

/* A row that lies in two lines is two accesses. */
static void add_rows(struct entry *entry, const struct dare_dispatched *instruction)
{
	for (unsigned int row = 0; row < instruction->m; row++) {
		uint64_t address = instruction->address[row];
		unsigned int room = (1u << LINE_SHIFT) - (unsigned int)(address & ((1u << LINE_SHIFT) - 1));

		if (instruction->k <= room) {
			add_uop(entry, address, instruction->k);
			continue;
		}
		add_uop(entry, address, room);
		add_uop(entry, address + room, instruction->k - room);
	}
}

static enum entry_kind kind_of(enum dare_operation operation)
{
	switch (dare_instructions[operation].format) {
	case DARE_FORMAT_LOAD:
		return ENTRY_LOAD;
	case DARE_FORMAT_STORE:
		return ENTRY_STORE;
	case DARE_FORMAT_MULTIPLY:
		return ENTRY_MULTIPLY;
	case DARE_FORMAT_GATHER:
		return ENTRY_GATHER;
	case DARE_FORMAT_SCATTER:
		return ENTRY_SCATTER;
	default:
		return ENTRY_CONFIGURE;
	}
}

/* mcfg executes when it is decoded. */
static bool needs_entry(const struct dare_mpu *mpu, const struct dare_dispatched *instruction)
{
	return mpu->parameters.mpu_mcfg_entry || kind_of(instruction->fields.operation) != ENTRY_CONFIGURE;
}

static struct entry *take_entry(struct dare_mpu *mpu)
{
	struct entry *entry = &mpu->entry[mpu->free_entry];
	uint32_t generation = entry->generation;

	mpu->free_entry = entry->newer;
	/* All before its rows, of which uop_count says how many there are. */
	memset(entry, 0, offsetof(struct entry, uop));
	entry->generation = generation;
	entry->vmr_in = entry->vmr_out = entry->next_consumer = NONE;
	entry->candidate_older = entry->candidate_newer = NONE;
	return entry;
}

static void append(struct dare_mpu *mpu, struct entry *entry)
{
	uint16_t number = number_of(mpu, entry);

	entry->older = mpu->newest;
	entry->newer = NONE;
	if (mpu->newest == NONE)
		mpu->oldest = number;
	else
		mpu->entry[mpu->newest].newer = number;
	mpu->newest = number;
	entry->is_queued = true;
	mpu->queued++;
}

bool dare_time_queue_has_room(const struct dare_mpu *mpu, const struct dare_dispatched *instruction)
{
	if (!needs_entry(mpu, instruction))
		return true;
	return mpu->queued < mpu->queue_room && mpu->free_entry != NONE;
}

/* The caller has seen that there is room. */
void dare_time_queue_put(struct dare_mpu *mpu, const struct dare_dispatched *instruction)
{
	enum entry_kind kind = kind_of(instruction->fields.operation);
	struct entry *entry;

	if (!needs_entry(mpu, instruction)) {
		mpu->statistics.issued++;
		return;
	}
	entry = take_entry(mpu);
	entry->kind = (uint8_t)kind;
	entry->sequence = mpu->sequence++;
	set_registers(entry, &instruction->fields);
	if (is_load(entry) || is_store(entry))
		add_rows(entry, instruction);
	if (kind == ENTRY_MULTIPLY)
		dare_time_array_shape(mpu, instruction, entry);
	append(mpu, entry);
	if (is_traced(mpu))
		dare_time_trace_dispatch(mpu, entry, &instruction->fields);
	if (mpu->parameters.mpu_runahead)
		dare_time_riq_enter(mpu, entry);
	mpu->may_issue = true;
}

void dare_time_queue_remove(struct dare_mpu *mpu, struct entry *entry)
{
	if (entry->older == NONE)
		mpu->oldest = entry->newer;
	else
		mpu->entry[entry->older].newer = entry->newer;
	if (entry->newer == NONE)
		mpu->newest = entry->older;
	else
		mpu->entry[entry->newer].older = entry->older;
	entry->is_queued = false;
	mpu->queued--;
	if (is_traced(mpu))
		dare_time_trace_issue(mpu, entry);
	/* No mgather may find it as its producer any more. */
	if (mpu->parameters.mpu_runahead)
		dare_time_riq_leave(mpu, entry);
}

void dare_time_queue_free(struct dare_mpu *mpu, struct entry *entry)
{
	/* Answers to its prefetches find another one. */
	entry->generation++;
	entry->newer = mpu->free_entry;
	mpu->free_entry = number_of(mpu, entry);
}
