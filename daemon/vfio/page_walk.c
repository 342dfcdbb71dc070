/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/page_walk.h"

#include <errno.h>
#include <stddef.h>

#define PAGE_SHIFT 12
#define LEVEL_BITS 9
#define LEVELS_MAX 5
/* A table that changes under us this often is being rebuilt: the caller has other things to do. */
#define TRIES 16

/* Bits of an entry of x86-64. Protection keys and bits that are free for software are ignored. */
#define X86_PRESENT	(1ull << 0)
#define X86_WRITE	(1ull << 1)
#define X86_USER	(1ull << 2)
#define X86_ACCESSED	(1ull << 5)
#define X86_DIRTY	(1ull << 6)
#define X86_LARGE	(1ull << 7)
#define X86_ADDRESS	0x000ffffffffff000ull
/* Of a large page, bit 12 is no address but the memory's type (PAT). */
#define X86_LARGE_PAT	(1ull << 12)

/* Bits of an entry of RISC-V. */
#define RISCV_VALID	(1ull << 0)
#define RISCV_READ	(1ull << 1)
#define RISCV_WRITE	(1ull << 2)
#define RISCV_EXECUTE	(1ull << 3)
#define RISCV_USER	(1ull << 4)
#define RISCV_ACCESSED	(1ull << 6)
#define RISCV_DIRTY	(1ull << 7)
#define RISCV_NUMBER	0x003ffffffffffc00ull	/* of the page, from bit 10 on */
#define RISCV_RESERVED	0x1fc0000000000000ull
#define RISCV_PBMT	(3ull << 61)
#define RISCV_NAPOT	(1ull << 63)
#define RISCV_NAPOT_64K	(8ull << 10)	/* of the page's number the low four bits */
#define NAPOT_SHIFT 16

enum step {
	STEP_TABLE,	/* the entry leads to another table */
	STEP_PAGE,
	STEP_FAULT,
};

struct format {
	uint64_t accessed;	/* of the last entry */
	uint64_t dirty;
	uint64_t table_accessed;	/* of those above it; 0: they have none */
	enum step (*step)(uint64_t entry, unsigned int level);
	uint64_t (*target)(uint64_t entry, unsigned int level);	/* of a table or a page */
	bool (*is_user)(uint64_t entry);	/* may user space pass here? */
	bool (*is_writable)(uint64_t entry);
};

/* The last entry of a way down, and how to mark those that were used. */
struct way {
	uint64_t *places[LEVELS_MAX];
	uint64_t entries[LEVELS_MAX];
	unsigned int count;
	unsigned int level;	/* of the last: 0 is a page of 4 KB */
	bool is_writable;
};

static uint64_t level_size(unsigned int level)
{
	return 1ull << (PAGE_SHIFT + LEVEL_BITS * level);
}

/* --- x86-64 ------------------------------------------------------------------------ */

static uint64_t x86_target(uint64_t entry, unsigned int level)
{
	return level ? entry & X86_ADDRESS & ~X86_LARGE_PAT : entry & X86_ADDRESS;
}

static enum step x86_step(uint64_t entry, unsigned int level)
{
	if (!(entry & X86_PRESENT))
		return STEP_FAULT;
	if (!level)
		return STEP_PAGE;
	if (!(entry & X86_LARGE))
		return STEP_TABLE;
	/* There are 2 MB and 1 GB; bits of the address below their size are reserved. */
	if (level > 2 || x86_target(entry, level) & (level_size(level) - 1))
		return STEP_FAULT;
	return STEP_PAGE;
}

static uint64_t x86_table_or_page(uint64_t entry, unsigned int level)
{
	/* Of a table bit 12 belongs to its address. */
	return entry & X86_LARGE ? x86_target(entry, level) : entry & X86_ADDRESS;
}

static bool x86_is_user(uint64_t entry)
{
	return entry & X86_USER;
}

static bool x86_is_writable(uint64_t entry)
{
	return entry & X86_WRITE;
}

static const struct format x86 = {
	.accessed = X86_ACCESSED,
	.dirty = X86_DIRTY,
	.table_accessed = X86_ACCESSED,
	.step = x86_step,
	.target = x86_table_or_page,
	.is_user = x86_is_user,
	.is_writable = x86_is_writable,
};

/* --- RISC-V ------------------------------------------------------------------------ */

static uint64_t riscv_target(uint64_t entry, unsigned int level)
{
	(void)level;
	/* The four low bits of a page's number say how large it is, if it is of Svnapot. */
	if (entry & RISCV_NAPOT)
		entry &= ~(15ull << 10);
	return (entry & RISCV_NUMBER) << 2;
}

static enum step riscv_step(uint64_t entry, unsigned int level)
{
	bool is_leaf = entry & (RISCV_READ | RISCV_WRITE | RISCV_EXECUTE);

	if (!(entry & RISCV_VALID) || entry & RISCV_RESERVED)
		return STEP_FAULT;
	if (!is_leaf) {
		/* All these are reserved in an entry that leads to a table. */
		uint64_t reserved = RISCV_USER | RISCV_ACCESSED | RISCV_DIRTY | RISCV_PBMT | RISCV_NAPOT;

		return level && !(entry & reserved) ? STEP_TABLE : STEP_FAULT;
	}
	if ((entry & (RISCV_READ | RISCV_WRITE)) == RISCV_WRITE || (entry & RISCV_PBMT) == RISCV_PBMT)
		return STEP_FAULT;
	if (entry & RISCV_NAPOT && (level || (entry & (15ull << 10)) != RISCV_NAPOT_64K))
		return STEP_FAULT;
	return riscv_target(entry, level) & (level_size(level) - 1) ? STEP_FAULT : STEP_PAGE;
}

/* Above the last entry there is no such bit. A page that can only be executed is not for loads. */
static bool riscv_is_user(uint64_t entry)
{
	bool is_leaf = entry & (RISCV_READ | RISCV_WRITE | RISCV_EXECUTE);

	return !is_leaf || (entry & (RISCV_USER | RISCV_READ)) == (RISCV_USER | RISCV_READ);
}

static bool riscv_is_writable(uint64_t entry)
{
	bool is_leaf = entry & (RISCV_READ | RISCV_WRITE | RISCV_EXECUTE);

	return !is_leaf || entry & RISCV_WRITE;
}

static const struct format riscv = {
	.accessed = RISCV_ACCESSED,
	.dirty = RISCV_DIRTY,
	.step = riscv_step,
	.target = riscv_target,
	.is_user = riscv_is_user,
	.is_writable = riscv_is_writable,
};

/* --- a walk ------------------------------------------------------------------------ */

static unsigned int levels_of(enum mimicd_walk_mode mode)
{
	switch (mode) {
	case MIMICD_WALK_X86_4:
	case MIMICD_WALK_SV48:
		return 4;
	case MIMICD_WALK_X86_5:
	case MIMICD_WALK_SV57:
		return 5;
	case MIMICD_WALK_SV39:
		return 3;
	default:
		return 0;
	}
}

bool mimicd_walk_is_mode(uint64_t mode)
{
	return mode <= MIMICD_WALK_SV57 && levels_of((enum mimicd_walk_mode)mode);
}

/* All bits above those that are translated equal the highest of these. */
static bool is_canonical(uint64_t address, unsigned int levels)
{
	unsigned int unused = 64 - (PAGE_SHIFT + LEVEL_BITS * levels);

	return (uint64_t)((int64_t)(address << unused) >> unused) == address;
}

static int go_down(const struct mimicd_page_tables *tables, const struct format *format,
		   uint64_t address, struct way *way)
{
	unsigned int level = levels_of(tables->mode);
	uint64_t table = tables->root;

	*way = (struct way){ .is_writable = true };
	for (;;) {
		uint64_t index, entry, *place;
		enum step step;

		level--;
		index = address >> (PAGE_SHIFT + LEVEL_BITS * level) & ((1u << LEVEL_BITS) - 1);
		place = tables->entry(tables->context, table + index * sizeof(uint64_t));
		if (!place)
			return -ENXIO;
		entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		step = format->step(entry, level);
		if (step == STEP_FAULT || !format->is_user(entry))
			return -EFAULT;
		way->places[way->count] = place;
		way->entries[way->count++] = entry;
		way->is_writable &= format->is_writable(entry);
		way->level = level;
		if (step == STEP_PAGE)
			return 0;
		table = format->target(entry, level);
	}
}

/* false: an entry has changed; the bits of those above it may be set, which is harmless. */
static bool mark(const struct format *format, struct way *way, bool is_store)
{
	for (unsigned int i = 0; i < way->count; i++) {
		bool is_last = i + 1 == way->count;
		uint64_t bits = is_last ? format->accessed : format->table_accessed;
		uint64_t entry = way->entries[i];

		if (is_last && is_store)
			bits |= format->dirty;
		if ((entry & bits) == bits)
			continue;
		if (!__atomic_compare_exchange_n(way->places[i], &entry, entry | bits, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return false;
		way->entries[i] |= bits;
	}
	return true;
}

static void describe(const struct format *format, const struct way *way, uint64_t address,
		     struct mimicd_walk *walk)
{
	uint64_t entry = way->entries[way->count - 1];

	walk->size = level_size(way->level);
	if (format == &riscv && entry & RISCV_NAPOT)
		walk->size = 1ull << NAPOT_SHIFT;
	walk->physical = format->target(entry, way->level) | (address & (walk->size - 1));
	walk->is_writable = way->is_writable;
	walk->is_dirty = entry & format->dirty;
}

int mimicd_page_walk(const struct mimicd_page_tables *tables, uint64_t address, bool is_store,
		     struct mimicd_walk *walk)
{
	const struct format *format = tables->mode >= MIMICD_WALK_SV39 ? &riscv : &x86;
	unsigned int levels = levels_of(tables->mode);
	struct way way;

	if (!levels || !is_canonical(address, levels))
		return -EFAULT;
	for (unsigned int i = 0; i < TRIES; i++) {
		int error = go_down(tables, format, address, &way);

		if (error)
			return error;
		if (is_store && !way.is_writable)
			return -EFAULT;
		if (mark(format, &way, is_store)) {
			describe(format, &way, address, walk);
			return 0;
		}
	}
	return -EAGAIN;
}
