/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A DARE model and its memory. */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/dare_side.h"

#define TICKS_MAX 1000

static const uint64_t virtual_pages[PAGES] = {
	0x10000, 0x11000, 0x12000, 0xfffffffffffff000ull, 0,
};
/* Pages that follow each other in virtual memory do not in the other one. */
static const uint64_t frames[PAGES] = {
	0x700004000ull, 0x700000000ull, 0x700009000ull, 0x700002000ull, 0x700007000ull,
};

#define MOVED 0x800000000ull	/* where a page goes that moves to another frame, and back */

uint64_t page_address(unsigned int page)
{
	return virtual_pages[page % PAGES];
}

static int find(const uint64_t *pages, uint64_t address)
{
	for (int i = 0; i < PAGES; i++) {
		if (pages[i] == (address & ~(uint64_t)(PAGE_BYTES - 1)))
			return i;
	}
	return -1;
}

int page_of(uint64_t address)
{
	return find(virtual_pages, address);
}

/* --- the model's port ---------------------------------------------------------------- */

static bool has_translation(enum page_state state)
{
	return state == PRESENT || state == READ_ONLY || state == COPY_ON_WRITE || state == HOLE;
}

static int walk(void *context, uint64_t address, uint64_t *frame_address)
{
	struct dare_memory *memory = context;
	int page = page_of(address);

	if (page < 0 || !has_translation(memory->state[page]))
		return -EFAULT;
	*frame_address = frames[page] + (memory->has_moved[page] ? MOVED : 0);
	return 0;
}

/* The page of an address of the port. A frame that is no page's any more: the model has kept a translation. */
static int page_of_port(const struct dare_memory *memory, uint64_t address)
{
	int page;

	if (!memory->walks)
		return page_of(address);
	page = find(frames, address % MOVED);
	CHECK(page >= 0 && has_translation(memory->state[page]));
	CHECK(memory->has_moved[page] == (address >= MOVED));
	return page;
}

/* The bytes of a row, or NULL if they cannot be reached. */
static uint8_t *row_bytes(struct dare_memory *memory, uint64_t address, size_t size, bool writes)
{
	int page = page_of_port(memory, address);

	CHECK(size >= 1 && size <= 64);
	CHECK(address % PAGE_BYTES + size <= PAGE_BYTES);
	if (page < 0 || memory->state[page] == HOLE || !has_translation(memory->state[page]))
		return NULL;
	if (writes && memory->state[page] != PRESENT)
		return NULL;
	return memory->model[page] + address % PAGE_BYTES;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *bytes = row_bytes(context, addresses[i], size, false);

		if (!bytes)
			return (long)i;
		memset((uint8_t *)rows + 64 * i, 0, 64);
		memcpy((uint8_t *)rows + 64 * i, bytes, size);
	}
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes = row_bytes(context, addresses[i], size, true);

		if (!bytes)
			return (long)i;
		memcpy(bytes, (const uint8_t *)rows + 64 * i, size);
	}
	return (long)count;
}

/* --- the model's host ------------------------------------------------------------------- */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct side *side = context;

	CHECK(owner < OWNERS && side->is_parked[owner]);
	side->is_parked[owner] = false;
	side->answer[owner] = data;
}

/* Context 0 has address space 1, and so on. */
static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	struct side *side = context;

	return address_space >= 1 && address_space <= CONTEXTS ? &side->port[address_space - 1] : NULL;
}

static enum mimic_fault_answer context_fault(void *context, unsigned int device_context, uint64_t address,
					     bool writes)
{
	struct side *side = context;
	struct dare_memory *memory = &side->memory[device_context];
	int page = page_of(address);

	if (page < 0)
		return MIMIC_FAULT_BAD;
	switch (memory->state[page]) {
	case LAZY:
		memory->state[page] = PRESENT;
		return MIMIC_FAULT_RETRY;
	case STUBBORN:
		return MIMIC_FAULT_RETRY;
	case ABSENT:
	case COPY_ON_WRITE:
		CHECK(memory->state[page] == ABSENT || writes);
		memory->stalled_address = address;
		memory->stalled_writes = writes;
		return MIMIC_FAULT_STALL;
	case READ_ONLY:
		CHECK(writes);
		return MIMIC_FAULT_BAD;
	default:
		CHECK(memory->state[page] != PRESENT);
		return MIMIC_FAULT_BAD;
	}
}

/* An input makes and frees megabytes: kept for long they cost a page fault for each page. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

/* --- life ---------------------------------------------------------------------------------- */

void dare_side_start(struct side *side, const struct dare_config *config, bool walks)
{
	const struct mimic_host host = {
		.context = side, .complete = complete, .memory_of = memory_of, .context_fault = context_fault,
	};

	memset(side, 0, sizeof(*side));
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		side->memory[i].refused = -1;
		side->memory[i].walks = walks;
		side->port[i] = (struct mimic_memory){
			.context = &side->memory[i],
			.walk = walks ? walk : NULL,
			.read_rows = read_rows,
			.write_rows = write_rows,
		};
	}
	side->current = dare_model_create(config, &host);
	side->spare = dare_model_create(config, &host);
	CHECK(side->current && side->spare);
}

void dare_side_stop(struct side *side)
{
	dare_model_destroy(side->current);
	dare_model_destroy(side->spare);
}

enum mimic_outcome dare_side_access(struct side *side, struct mimic_access *access)
{
	enum mimic_outcome outcome = side->current->ops->access(side->current, access, side->now);

	if (outcome == MIMIC_PARKED)
		side->is_parked[access->owner] = true;
	return outcome;
}

void dare_side_save_and_restore(struct side *side)
{
	struct mimic_model *from = side->current, *to = side->spare;
	size_t size = from->ops->save(from, NULL, 0);
	void *image = malloc(size);

	CHECK(image && from->ops->save(from, image, size) == size);
	CHECK(to->ops->restore(to, image, size) == 0);
	side->current = to;
	side->spare = from;
	free(image);
}

void dare_side_settle(struct side *side)
{
	for (unsigned int i = 0; side->current->ops->busy(side->current); i++) {
		CHECK(i < TICKS_MAX);
		side->current->ops->tick(side->current, side->now);
	}
}
