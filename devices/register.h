/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The table of a device's registers: a row for each, with all that code outside the device
 * has to know of it. The state of a device, the names in traces and recordings, the pages
 * of the docs, the dictionaries of the fuzzers, and the acts of the bus and its driver on a
 * register come from it; and so do loads and stores.
 *
 * The rows of a block are an array that the offset indexes (struct mimic_register_block). A device
 * makes it from the list of registers that programs include (mimic/NAME_registers.h) with
 * MIMIC_REGISTER_ROW(), which names the functions of a register after it: a readable
 * register without its peek function, or a writable one without its store function, does
 * not compile, and neither do two registers at one offset.
 */
#ifndef MIMIC_DEVICES_REGISTER_H
#define MIMIC_DEVICES_REGISTER_H

#include "devices/model.h"
#include "devices/state.h"

#define MIMIC_REGISTER_R 1u
#define MIMIC_REGISTER_W 2u
#define MIMIC_REGISTER_RW (MIMIC_REGISTER_R | MIMIC_REGISTER_W)

/* The meaning of a register to drivers, the same for all kinds of devices. */
enum mimic_role {
	MIMIC_ROLE_NONE,
	MIMIC_ROLE_IDENTIFY,	/* load: the kind and version of the device */
	MIMIC_ROLE_RESET,	/* gets through to a device that hangs, and mends it */
	MIMIC_ROLE_ATTACH,	/* store: context [7:0] belongs to address space [63:8]; 0: to none */
	MIMIC_ROLE_FAULT,	/* load: the page fault that waits */
	MIMIC_ROLE_RESOLVE,	/* store: it is over */
	MIMIC_ROLE_FAULT_COUNT,	/* load: faults that no driver could resolve */
	MIMIC_ROLE_MEMORY_SIZE,	/* load: bytes of the memory that programs map */
};

/* The two parts of a store to ATTACH. */
static inline unsigned int mimic_attach_context(uint64_t value)
{
	return value & 0xff;
}

static inline uint64_t mimic_attach_space(uint64_t value)
{
	return value >> 8;
}

enum mimic_peek {
	MIMIC_PEEK_VALUE,	/* a load would answer this */
	MIMIC_PEEK_WAITS,	/* a load would wait; the value is the answer that it would get now */
	MIMIC_PEEK_NONE,	/* the device, as it is configured, has no such unit or index */
};

/* Which of the registers that share a row: see struct mimic_register_block. */
struct mimic_register_place {
	unsigned int unit;	/* 0 to block->pages * block->units - 1 */
	unsigned int index;	/* 0 to row->count - 1 */
};

struct mimic_register {
	const char *name;	/* NULL: no row */
	const char *meaning;
	uint64_t reset;		/* value after power-on */
	uint32_t offset;	/* in a unit of its block, of index 0 */
	uint32_t stride;	/* bytes from one index to the next */
	uint16_t count;		/* of indices; 0 is one, too */
	uint8_t access;		/* MIMIC_REGISTER_R, W or RW */
	uint8_t role;		/* enum mimic_role */
	uint8_t role_index;	/* the index that has the role, MIMIC_REGISTER_ALL: each */
	uint8_t format;		/* enum mimic_state_format: as the state shows it */
	uint8_t shown;		/* enum mimic_shown */
	/* The answer that a load would give. Changes nothing. */
	enum mimic_peek (*peek)(const struct mimic_model *model, struct mimic_register_place place,
				uint64_t now, uint64_t *value);
	/* NULL: a load answers the value of peek(), and has no effect. */
	enum mimic_outcome (*load)(struct mimic_model *model, struct mimic_register_place place,
				   struct mimic_access *access);
	enum mimic_outcome (*store)(struct mimic_model *model, struct mimic_register_place place,
				    struct mimic_access *access);
};

#define MIMIC_REGISTER_ALL 0xff

enum mimic_shown {
	MIMIC_SHOWN_VALUE,	/* the state shows index 0, as one value */
	MIMIC_SHOWN_FOLDER,	/* a folder, with a value for each index up to the first MIMIC_PEEK_NONE */
	MIMIC_SHOWN_ELSEWHERE,	/* not in the folder of registers: counters have their own */
};

/*
 * Registers that are alike on several pages, or several times on one: the pages of contexts,
 * the control blocks of units. A unit is one of them. Loads and stores that share offsets
 * and have different names are two blocks, with `access` R and W.
 */
struct mimic_register_block {
	const char *name;	/* "context" */
	bool is_numbered;	/* names say which unit: "context 3 STATUS" */
	bool has_indices;	/* names say the index also where there is one only */
	uint8_t access;		/* of the block; MIMIC_REGISTER_RW: both */
	uint16_t page, pages;	/* it is on these */
	uint16_t units;		/* on each of them */
	uint32_t size;		/* bytes of a unit */
	uint32_t ignored;	/* bits of an offset that the device does not decode */
	/* Indices are these high bits of an offset, in all rows; 0: each row has a stride of its own. */
	unsigned int index_shift;
	/* The row of offset N is rows[N >> shift], of index 0. */
	unsigned int shift;
	const struct mimic_register *rows;
	size_t count;
};

/*
 * A row of the list _(offset, name, access, reset, role, format, meaning). `block` is the
 * prefix of its functions: block_peek_NAME(), block_store_NAME(). Other fields (a load
 * function, a count) may be added by designated initializers of their own.
 */
#define MIMIC_REGISTER_ROW(block, at, NAME, access_, reset_, role_, format_, meaning_) \
	.name = #NAME, .meaning = meaning_, .reset = reset_, .offset = at, \
	.access = MIMIC_REGISTER_##access_, .role = MIMIC_ROLE_##role_, .role_index = MIMIC_REGISTER_ALL, \
	.format = MIMIC_STATE_##format_, .peek = MIMIC_REGISTER_PEEK_##access_(block, NAME), \
	.store = MIMIC_REGISTER_STORE_##access_(block, NAME)

#define MIMIC_REGISTER_PEEK_R(block, NAME) block##_peek_##NAME
#define MIMIC_REGISTER_PEEK_RW(block, NAME) block##_peek_##NAME
#define MIMIC_REGISTER_PEEK_W(block, NAME) NULL
#define MIMIC_REGISTER_STORE_R(block, NAME) NULL
#define MIMIC_REGISTER_STORE_RW(block, NAME) block##_store_##NAME
#define MIMIC_REGISTER_STORE_W(block, NAME) block##_store_##NAME

/* The row of an offset of a unit that indexes no row, or another register's; NULL: there is none. For mimic_register_at(). */
const struct mimic_register *mimic_register_search(const struct mimic_register_block *block, uint32_t offset,
						   unsigned int *index);

/* The row at this offset of a unit, which is of index 0. */
static inline const struct mimic_register *mimic_register_first(const struct mimic_register_block *block,
								uint32_t offset)
{
	const struct mimic_register *row;

	if (offset >> block->shift >= block->count)
		return NULL;
	row = &block->rows[offset >> block->shift];
	return row->name && row->offset == offset ? row : NULL;
}

/*
 * The row of this offset on a page of the block, of any access; NULL: there is none.
 * `page` counts from block->page on. *place is filled in only if there is a row. Inline, as each access of a device
 * comes here: the place stays in a processor's register, and the first unit needs no division.
 */
static inline const struct mimic_register *mimic_register_at(const struct mimic_register_block *block,
							     unsigned int page, uint32_t offset,
							     struct mimic_register_place *place)
{
	unsigned int unit = offset < block->size ? 0 : offset / block->size;
	uint32_t within = (offset - unit * block->size) & ~block->ignored;
	const struct mimic_register *row;
	unsigned int index = 0;

	if (unit >= block->units)
		return NULL;
	if (block->index_shift) {
		index = within >> block->index_shift;
		row = mimic_register_first(block, within & ((1u << block->index_shift) - 1));
		if (row && index && index >= row->count)
			row = NULL;
	} else {
		row = mimic_register_first(block, within);
		if (!row) {
			unsigned int other = 0;	/* whose address is taken: `index` stays in a processor's register */

			row = mimic_register_search(block, within, &other);
			index = other;
		}
	}
	if (row)
		*place = (struct mimic_register_place){ page * block->units + unit, index };
	return row;
}

/* The block's folder "registers" in the state of a device: all that can be loaded. */
void mimic_state_registers(const struct mimic_state_visitor *visitor,
			   const struct mimic_register_block *block, const struct mimic_model *model,
			   unsigned int unit, uint64_t now);
/* The same without the folder. */
void mimic_state_register_rows(const struct mimic_state_visitor *visitor,
			       const struct mimic_register_block *block, const struct mimic_model *model,
			       unsigned int unit, uint64_t now);

struct mimic_kind;

/*
 * The register that an access names, for people: "context 3 STATUS", "MAPLE CONSUME [3]".
 * As snprintf(), for signal handlers, too.
 */
size_t mimic_register_name(const struct mimic_kind *kind, const struct mimic_access *access, char *name,
			   size_t size);
/* The role of the register that the access names. */
enum mimic_role mimic_register_role(const struct mimic_kind *kind, const struct mimic_access *access);
/* Page and offset of the register that has this role. false: the kind has none. */
bool mimic_register_of_role(const struct mimic_kind *kind, enum mimic_role role, struct mimic_access *access);

#endif
