/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bus page: registers of the function that are not the device's (mimic/pci.h). */
#include <string.h>

#include "daemon/engine/instance.h"
#include "daemon/vfio/internal.h"

#define WORD sizeof(uint64_t)
#define SLOTS_END MIMIC_PCI_SLOT(MIMIC_PCI_SLOTS)
#define SPACES_BEGIN MIMIC_PCI_SPACE(1)
#define SPACES_END MIMIC_PCI_SPACE(MIMIC_PCI_SPACES + 1)
#define LANES_END MIMIC_PCI_LANE(MIMIC_PCI_LANES)

/* --- loads ------------------------------------------------------------------------- */

static uint64_t name_word(const char *name, unsigned int word)
{
	char letters[2 * WORD] = { 0 };
	uint64_t value;

	strncpy(letters, name, sizeof(letters) - 1);
	memcpy(&value, letters + WORD * word, WORD);
	return value;
}

static uint64_t slot_state(const struct mimicd_machine_access *slot)
{
	if (mimicd_access_waits(slot))
		return MIMIC_PCI_SLOT_WAITS;
	if (slot->state == MIMICD_ACCESS_DONE)
		return MIMIC_PCI_SLOT_DONE;
	return slot->state == MIMICD_ACCESS_REFUSED ? MIMIC_PCI_SLOT_REFUSED : MIMIC_PCI_SLOT_IDLE;
}

static uint64_t load_slot(const struct mimicd_machine *machine, unsigned int offset)
{
	const struct mimicd_machine_access *slot = &machine->slots[(offset - MIMIC_PCI_SLOT(0)) / 32];

	switch (offset % 32) {
	case MIMIC_PCI_SLOT_DATA:
		return slot->body.data;
	case MIMIC_PCI_SLOT_STATE:
		return slot_state(slot);
	default:
		return 0;
	}
}

static uint64_t load_space(const struct mimicd_machine *machine, unsigned int offset)
{
	const struct mimicd_machine_space *space = &machine->spaces[(offset - SPACES_BEGIN) / 16];

	return offset % 16 == MIMIC_PCI_SPACE_ROOT ? space->root : space->mode;
}

static uint64_t load_word(const struct mimicd_machine *machine, unsigned int offset)
{
	const struct mimic_kind *kind = machine->instance->kind;

	if (offset >= MIMIC_PCI_SLOT(0) && offset < SLOTS_END)
		return load_slot(machine, offset);
	if (offset >= SPACES_BEGIN && offset < SPACES_END)
		return load_space(machine, offset);
	if (offset >= MIMIC_PCI_LANE(0) && offset < LANES_END)
		return mimicd_rings_load(machine, (offset - MIMIC_PCI_LANE(0)) / WORD);
	switch (offset) {
	case MIMIC_PCI_MAGIC:
		return MIMIC_PCI_MAGIC_VALUE;
	case MIMIC_PCI_KIND:
		return name_word(kind->name, 0);
	case MIMIC_PCI_KIND + WORD:
		return name_word(kind->name, 1);
	case MIMIC_PCI_LAYOUT:
		return MIMIC_PCI_VERSION | kind->device_pages << 8 | MIMIC_PCI_SLOTS << 16 |
		       (uint64_t)MIMIC_PCI_SPACES << 24 | (machine->rings ? (uint64_t)MIMIC_PCI_LANES << 32 : 0);
	case MIMIC_PCI_MEMORY_SIZE:
		return machine->instance->device_memory.size;
	case MIMIC_PCI_STATUS:
		return machine->status;
	case MIMIC_PCI_NOT_READY:
		return machine->not_ready;
	case MIMIC_PCI_DONE:
		return machine->done;
	case MIMIC_PCI_LANE_LAYOUT:
		return machine->rings ? mimicd_rings_layout() : 0;
	case MIMIC_PCI_LANES_DONE:
		return mimicd_rings_done(machine);
	case MIMIC_PCI_PAIR:
		return machine->pair;
	default:
		return 0;
	}
}

/* The page of the function beside, if memory and lanes are that one's. */
static uint64_t load_memory_word(const struct mimicd_machine *machine, unsigned int offset)
{
	switch (offset) {
	case MIMIC_PCI_MAGIC:
		return MIMIC_PCI_MEMORY_MAGIC_VALUE;
	case MIMIC_PCI_LAYOUT:
		return MIMIC_PCI_VERSION;
	case MIMIC_PCI_KIND:
	case MIMIC_PCI_KIND + WORD:
	case MIMIC_PCI_MEMORY_SIZE:
	case MIMIC_PCI_PAIR:
		return load_word(machine, offset);
	default:
		return 0;
	}
}

/* The value of a load of all or half of a register. */
static uint64_t part_of(uint64_t word, unsigned int offset, unsigned int size)
{
	return size == WORD ? word : (uint32_t)(word >> 8 * (offset & 4));
}

uint64_t mimicd_bus_page_load(const struct mimicd_machine *machine, unsigned int offset, unsigned int size)
{
	return part_of(load_word(machine, offset & ~7u), offset, size);
}

uint64_t mimicd_bus_page_load_memory(const struct mimicd_machine *machine, unsigned int offset,
				     unsigned int size)
{
	return part_of(load_memory_word(machine, offset & ~7u), offset, size);
}

/* --- stores ------------------------------------------------------------------------ */

static void begin_slot(struct mimicd_machine *machine, unsigned int number, uint64_t word)
{
	struct mimicd_machine_access *slot = &machine->slots[number];

	unsigned int page = word >> 12 & 0xfff, size = word >> 24 & 0xf;

	if (mimicd_access_waits(slot))
		return;
	machine->done &= ~(1ull << number);
	slot->body = (struct mimic_access){
		.offset = word & 0xfff,
		/* No device has so many pages: it is refused. */
		.page = (uint8_t)(page < UINT8_MAX ? page : UINT8_MAX),
		.size = (uint8_t)size,
		.is_write = word >> 31 & 1,
		.data = size < WORD ? slot->body.data & ((1ull << 8 * size) - 1) : slot->body.data,
	};
	mimicd_posted_forget_before(slot);
	mimicd_access_begin(slot);
}

static void store_slot(struct mimicd_machine *machine, unsigned int offset, bool is_low, uint64_t value)
{
	unsigned int number = (offset - MIMIC_PCI_SLOT(0)) / 32;
	struct mimicd_machine_access *slot = &machine->slots[number];

	switch (offset % 32) {
	case MIMIC_PCI_SLOT_DATA:
		if (!mimicd_access_waits(slot))
			slot->body.data = value;
		break;
	case MIMIC_PCI_SLOT_ACCESS:
		if (is_low)
			begin_slot(machine, number, value);
		break;
	case MIMIC_PCI_SLOT_STATE:
		mimicd_access_withdraw(slot);
		machine->done &= ~(1ull << number);
		break;
	default:
		break;
	}
}

static void store_space(struct mimicd_machine *machine, unsigned int offset, bool is_low, uint64_t value)
{
	unsigned int number = (offset - SPACES_BEGIN) / 16;
	struct mimicd_machine_space *space = &machine->spaces[number];

	if (offset % 16 == MIMIC_PCI_SPACE_ROOT) {
		space->root = value;
	} else if (is_low) {
		space->mode = value;
		if (value == MIMIC_PCI_MODE_NONE)
			mimicd_posted_forget_space(machine, space);
		mimicd_spaces_set(machine, number);
	}
}

/* The register's value after a store of half of it. */
static uint64_t merge(uint64_t old, unsigned int offset, unsigned int size, uint64_t value)
{
	unsigned int shift = 8 * (offset & 4);

	if (size == WORD)
		return value;
	return (old & ~(0xffffffffull << shift)) | (value & 0xffffffff) << shift;
}

void mimicd_bus_page_store(struct mimicd_machine *machine, unsigned int offset, unsigned int size,
			   uint64_t value)
{
	unsigned int place = offset & ~7u;
	bool is_low = !(offset & 4);

	if (place >= MIMIC_PCI_SLOT(0) && place < SLOTS_END)
		store_slot(machine, place, is_low, merge(load_word(machine, place), offset, size, value));
	else if (place >= SPACES_BEGIN && place < SPACES_END)
		store_space(machine, place, is_low, merge(load_word(machine, place), offset, size, value));
	else if (place == MIMIC_PCI_STATUS)
		machine->status &= ~merge(0, offset, size, value);
	else if (place == MIMIC_PCI_DONE)
		machine->done &= ~merge(0, offset, size, value);
	else if (place == MIMIC_PCI_LANES_DONE)
		mimicd_rings_clear_done(machine, merge(0, offset, size, value));
	else if (place == MIMIC_PCI_LANE_CANCEL && is_low)
		mimicd_rings_cancel(machine, value);
	else if (place >= MIMIC_PCI_LANE(0) && place < LANES_END && is_low)
		mimicd_rings_store(machine, (place - MIMIC_PCI_LANE(0)) / WORD, value);
	else if (place == MIMIC_PCI_LANE_KICK)
		/* The message has woken the loop, which finds the lanes' commands by itself. */
		mimicd_rings_explain(machine);
}

/* --- slots that waited --------------------------------------------------------------- */

static void slot_is_done(struct mimicd_machine_access *slot)
{
	struct mimicd_machine *machine = slot->machine;

	machine->done |= 1ull << (slot - machine->slots);
	mimicd_interrupt_raise(machine, MIMIC_PCI_STATUS_SLOTS, MIMIC_PCI_VECTOR_SLOTS);
}

void mimicd_bus_page_reset(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS; i++) {
		struct mimicd_machine_access *slot = &machine->slots[i];

		mimicd_access_withdraw(slot);
		slot->body = (struct mimic_access){ 0 };
		slot->complete = slot_is_done;
	}
	machine->status = 0;
	machine->done = 0;
	machine->not_ready = 0;
	for (unsigned int i = 0; i < MIMIC_PCI_SPACES; i++)
		machine->spaces[i].root = machine->spaces[i].mode = 0;
}
