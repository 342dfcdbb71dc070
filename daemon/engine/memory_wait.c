/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Moves whose page did not come in time. The model sees a page fault that is served; when the
 * helper comes back it makes the access again, which is then moved anew. A write may be done twice so,
 * before the program hears of it. An atomic may not: the model gets the result of the first one.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/memory_internal.h"
#include "libmimic/base/clock.h"
#include "mimic/access.h"

/* Helpers that a client may have lost. Its other errands wait until one of them is back. */
#define LEFT_MAX 4
#define HURRY_NS 1000000000u
/* A job that found that it has to wait tells its model so long afterwards at most. */
#define JOB_NS 10000000000ull

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(MIMIC_PAGE_SIZE - 1);
}

static struct mimicd_memory_wait *find(struct mimicd_memory *memory, const struct mimicd_memory_slot *slot,
				       uint64_t page)
{
	for (unsigned int i = 0; i < memory->wait_count; i++) {
		if (memory->waits[i].slot == slot && memory->waits[i].page == page)
			return &memory->waits[i];
	}
	return NULL;
}

static void drop(struct mimicd_memory *memory, struct mimicd_memory_wait *wait)
{
	*wait = memory->waits[--memory->wait_count];
}

/* Room for another one, perhaps that of the one that has been over longest. NULL: all of them wait. */
static struct mimicd_memory_wait *make_room(struct mimicd_memory *memory)
{
	struct mimicd_memory_wait *oldest = NULL;

	if (memory->wait_count < MIMICD_MEMORY_WAITS_MAX)
		return &memory->waits[memory->wait_count++];
	for (unsigned int i = 0; i < memory->wait_count; i++) {
		struct mimicd_memory_wait *wait = &memory->waits[i];

		if (wait->over && (!oldest || wait->over < oldest->over))
			oldest = wait;
	}
	return oldest;
}

/* A wait for which there is no room is a fault that is not served. */
static void add(struct mimicd_memory *memory, const struct mimicd_move *move)
{
	uint64_t page = page_of(move->address);
	struct mimicd_memory_wait *wait = find(memory, move->slot, page);

	if (!wait)
		wait = make_room(memory);
	if (!wait)
		return;
	*wait = (struct mimicd_memory_wait){ .slot = move->slot, .page = page };
}

static bool is_same(const struct mimicd_move *a, const struct mimicd_move *b)
{
	return a->address == b->address && a->operation == b->operation && a->operand == b->operand &&
	       a->expected == b->expected;
}

/* A page that came has ended the wait of another one: the model makes an access again whose helper is not back. */
static bool is_atomic_left(const struct mimicd_memory *memory, const struct mimicd_move *move)
{
	const struct mimicd_memory_errand *errand = memory->left;

	while (errand && !(errand->move.is_atomic && errand->move.slot == move->slot && is_same(&errand->move, move)))
		errand = errand->next;
	return errand;
}

bool mimicd_memory_must_wait(struct mimicd_memory *memory, const struct mimicd_move *move)
{
	const struct mimicd_memory_wait *wait = find(memory, move->slot, page_of(move->address));
	bool must_wait = wait && !wait->over;

	if (!must_wait && move->is_atomic && is_atomic_left(memory, move)) {
		add(memory, move);
		must_wait = true;
	}

	if (!must_wait && memory->left_count >= LEFT_MAX) {
		add(memory, move);
		must_wait = true;
	}
	if (must_wait && !move->slot->is_of_jobs)
		move->slot->waits = true;
	return must_wait;
}

static void hurry(struct mimicd_memory *memory)
{
	memory->hurry_until = mimic_now() + HURRY_NS;
}

void mimicd_memory_hurry(struct mimicd_memory *memory)
{
	pthread_mutex_lock(&memory->errands->lock);
	hurry(memory);
	pthread_mutex_unlock(&memory->errands->lock);
}

void mimicd_memory_leave(struct mimicd_errand *context)
{
	struct mimicd_memory_errand *errand = (struct mimicd_memory_errand *)context;
	struct mimicd_memory *memory = errand->memory;

	errand->next = memory->left;
	memory->left = errand;
	memory->left_count++;
	hurry(memory);
	/* The pieces are copies from here on: the caller's go. */
	errand->move.remote = errand->remote;
	errand->move.local = &errand->local;
	if (!errand->move.slot->is_of_jobs)
		errand->move.slot->waits = true;
	if (errand->move.is_atomic)
		atomic_store(&memory->had_atomics, true);
	add(memory, &errand->move);
}

struct mimicd_memory_errand *mimicd_memory_take_atomic(struct mimicd_memory *memory, const struct mimicd_move *again)
{
	struct mimicd_memory_errand **link = &memory->atomics, *atomic;

	while (*link && !((*link)->move.slot == again->slot && is_same(&(*link)->move, again)))
		link = &(*link)->next;
	atomic = *link;
	if (atomic)
		*link = atomic->next;
	return atomic;
}

/* Without an errand there is nothing to come back: one that has nothing to do. */
static bool send_note(struct mimicd_memory *memory, struct mimicd_memory_slot *slot)
{
	struct mimicd_memory_errand *errand = calloc(1, sizeof(*errand));

	if (!errand)
		return false;
	errand->memory = memory;
	errand->move.slot = slot;
	errand->next = memory->left;
	memory->left = errand;
	memory->left_count++;
	mimicd_errands_return(memory->errands, &errand->errand);
	return true;
}

/*
 * A job has found that it has to wait, and perhaps the page has come since. Each unit of a device
 * asks once so; if more do, the page is bad.
 */
static bool may_wait(struct mimicd_memory *memory, struct mimicd_memory_slot *slot, uint64_t page)
{
	struct mimicd_memory_wait *wait = find(memory, slot, page);

	if (wait && wait->over && ++wait->asked > MIMICD_MEMORY_WAITS_MAX) {
		drop(memory, wait);
		wait = NULL;
	}
	return wait && (!wait->over || send_note(memory, slot));
}

enum mimic_fault_answer mimicd_memory_answer(struct mimicd_memory_slot *slot, uint64_t address)
{
	struct mimicd_memory *memory = slot->memory;
	bool waits;

	if (!memory || slot->port)
		return MIMIC_FAULT_BAD;
	/* The model asks right after the access that failed, by the program's address of it. */
	waits = slot->waits;
	if (slot->is_of_jobs) {
		pthread_mutex_lock(&memory->errands->lock);
		waits = may_wait(memory, slot, page_of(address));
		pthread_mutex_unlock(&memory->errands->lock);
	}
	return waits ? MIMIC_FAULT_STALL : MIMIC_FAULT_BAD;
}

/* Models are told. A job may not have come to its model yet, which will ask. */
static void end_waits(struct mimicd_memory *memory, uint64_t now)
{
	unsigned int i = 0;

	while (i < memory->wait_count) {
		struct mimicd_memory_wait *wait = &memory->waits[i];

		if (!wait->slot->is_of_jobs || (wait->over && now - wait->over > JOB_NS)) {
			drop(memory, wait);
			continue;
		}
		if (!wait->over)
			wait->over = now;
		i++;
	}
}

static void unlink_left(struct mimicd_memory *memory, struct mimicd_memory_errand *errand)
{
	struct mimicd_memory_errand **link = &memory->left;

	while (*link != errand)
		link = &(*link)->next;
	*link = errand->next;
	memory->left_count--;
}

struct mimicd_memory *mimicd_memory_came(struct mimicd_errand *context)
{
	struct mimicd_memory_errand *errand = (struct mimicd_memory_errand *)context;
	struct mimicd_memory *memory = errand->memory;
	bool is_kept;

	if (!memory) {
		free(errand);
		return NULL;
	}
	pthread_mutex_lock(&memory->errands->lock);
	unlink_left(memory, errand);
	end_waits(memory, mimic_now());
	is_kept = errand->move.is_atomic && errand->move.slot;
	if (is_kept) {
		errand->next = memory->atomics;
		memory->atomics = errand;
	}
	pthread_mutex_unlock(&memory->errands->lock);
	if (!is_kept)
		free(errand);
	return memory;
}

/* Those that are over. NULL: of all slots. With errands->lock. */
static void free_atomics(struct mimicd_memory *memory, const struct mimicd_memory_slot *slot)
{
	struct mimicd_memory_errand **link = &memory->atomics, *errand;

	while ((errand = *link)) {
		if (slot && errand->move.slot != slot) {
			link = &errand->next;
			continue;
		}
		*link = errand->next;
		free(errand);
	}
}

void mimicd_memory_slot_forget_atomics(struct mimicd_memory_slot *slot)
{
	struct mimicd_memory *memory = slot->memory;
	struct mimicd_memory_errand *errand;

	if (!memory || !atomic_load(&memory->had_atomics))
		return;
	pthread_mutex_lock(&memory->errands->lock);
	free_atomics(memory, slot);
	for (errand = memory->left; errand; errand = errand->next) {
		if (errand->move.is_atomic && errand->move.slot == slot)
			errand->move.slot = NULL;
	}
	pthread_mutex_unlock(&memory->errands->lock);
}

/* Drops the waits of a model that has forgotten its accesses (a reset). NULL: those of all slots. */
void mimicd_memory_forget(struct mimicd_memory *memory, const struct mimicd_memory_slot *slot)
{
	struct mimicd_memory_errand *errand;
	unsigned int i = 0;

	pthread_mutex_lock(&memory->errands->lock);
	free_atomics(memory, slot);
	while (i < memory->wait_count) {
		if (!slot || memory->waits[i].slot == slot)
			drop(memory, &memory->waits[i]);
		else
			i++;
	}
	for (errand = memory->left; errand; errand = errand->next) {
		if (!slot)
			errand->memory = NULL;
		if (!slot || errand->move.slot == slot)
			errand->move.slot = NULL;
	}
	pthread_mutex_unlock(&memory->errands->lock);
}

void mimicd_memory_slot_reset(struct mimicd_memory_slot *slot)
{
	if (slot->memory)
		mimicd_memory_forget(slot->memory, slot);
}

void mimicd_memory_slot_clear(struct mimicd_memory_slot *slot)
{
	mimicd_memory_slot_reset(slot);
	slot->is_stalled = false;
	slot->memory = NULL;
	free(slot->ahead);
	slot->ahead = NULL;
}
