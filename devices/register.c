/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/register.h"

#include "devices/kind.h"
#include "devices/text.h"

/* --- looking a register up ------------------------------------------------------------ */

const struct mimic_register *mimic_register_search(const struct mimic_register_block *block, uint32_t offset,
						   unsigned int *index)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct mimic_register *row = &block->rows[i];

		if (row->count < 2 || offset < row->offset || (offset - row->offset) % row->stride)
			continue;
		*index = (offset - row->offset) / row->stride;
		if (*index < row->count)
			return row;
	}
	return NULL;
}

static bool block_has(const struct mimic_register_block *block, const struct mimic_access *access)
{
	unsigned int direction = access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R;

	return block->access & direction && access->page >= block->page &&
	       access->page - block->page < block->pages;
}

/* The first block of the access's page; they all have one name. */
static const struct mimic_register_block *block_of(const struct mimic_kind *kind,
						   const struct mimic_access *access)
{
	for (size_t i = 0; i < kind->block_count; i++) {
		if (block_has(kind->blocks[i], access))
			return kind->blocks[i];
	}
	return NULL;
}

static const struct mimic_register *row_of(const struct mimic_kind *kind, const struct mimic_access *access,
					   struct mimic_register_place *place)
{
	for (size_t i = 0; i < kind->block_count; i++) {
		const struct mimic_register_block *block = kind->blocks[i];
		const struct mimic_register *row = NULL;

		if (block_has(block, access))
			row = mimic_register_at(block, access->page - block->page, access->offset, place);
		if (row)
			return row;
	}
	return NULL;
}

/* --- roles ------------------------------------------------------------------------------ */

/* An access that the register does not have is none of the driver's. */
enum mimic_role mimic_register_role(const struct mimic_kind *kind, const struct mimic_access *access)
{
	struct mimic_register_place place;
	const struct mimic_register *row = row_of(kind, access, &place);
	unsigned int direction = access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R;

	if (!row || !(row->access & direction) ||
	    (row->role_index != MIMIC_REGISTER_ALL && row->role_index != place.index))
		return MIMIC_ROLE_NONE;
	return (enum mimic_role)row->role;
}

bool mimic_register_of_role(const struct mimic_kind *kind, enum mimic_role role, struct mimic_access *access)
{
	for (size_t i = 0; i < kind->block_count; i++) {
		const struct mimic_register_block *block = kind->blocks[i];

		for (size_t n = 0; n < block->count; n++) {
			const struct mimic_register *row = &block->rows[n];
			unsigned int index = row->role_index == MIMIC_REGISTER_ALL ? 0 : row->role_index;

			if (!row->name || row->role != role)
				continue;
			access->page = block->page;
			access->offset = row->offset + index * row->stride;
			return true;
		}
	}
	return false;
}

/* --- names ------------------------------------------------------------------------------ */

static void add_place(const struct mimic_register_block *block, const struct mimic_access *access,
		      struct mimic_text *text)
{
	unsigned int unit = (access->page - block->page) * block->units + access->offset / block->size;

	mimic_text_add(text, block->name);
	mimic_text_add(text, " ");
	if (!block->is_numbered)
		return;
	mimic_text_add_decimal(text, unit);
	mimic_text_add(text, " ");
}

size_t mimic_register_name(const struct mimic_kind *kind, const struct mimic_access *access, char *name,
			   size_t size)
{
	const struct mimic_register_block *block = block_of(kind, access);
	const struct mimic_register *row;
	struct mimic_register_place place;
	struct mimic_text text;

	mimic_text_begin(&text, name, size);
	if (!block) {
		mimic_text_add(&text, "page ");
		mimic_text_add_decimal(&text, access->page);
		mimic_text_add(&text, " ");
		mimic_text_add_hex(&text, access->offset, 3);
		return text.length;
	}
	add_place(block, access, &text);
	row = row_of(kind, access, &place);
	if (!row) {
		mimic_text_add_hex(&text, access->offset % block->size, block->size > 0x100 ? 3 : 2);
		return text.length;
	}
	mimic_text_add(&text, row->name);
	if (row->count < 2 && !block->has_indices)
		return text.length;
	mimic_text_add(&text, " [");
	mimic_text_add_decimal(&text, place.index);
	mimic_text_add(&text, "]");
	return text.length;
}

/* --- the state -------------------------------------------------------------------------- */

static void show_folder(const struct mimic_state_visitor *visitor, const struct mimic_register *row,
			const struct mimic_model *model, unsigned int unit, uint64_t now)
{
	mimic_state_enter(visitor, row->name);
	for (unsigned int i = 0; i < row->count; i++) {
		uint64_t value = 0;
		enum mimic_peek peek = row->peek(model, (struct mimic_register_place){ unit, i }, now, &value);

		if (peek == MIMIC_PEEK_NONE)
			break;
		if (peek == MIMIC_PEEK_WAITS)
			mimic_state_text_at(visitor, i, MIMIC_STATE_WAITS, row->meaning);
		else
			mimic_state_hex_at(visitor, i, value, row->meaning);
	}
	mimic_state_leave(visitor, row->name);
}

static void show_value(const struct mimic_state_visitor *visitor, const struct mimic_register *row,
		       const struct mimic_model *model, unsigned int unit, uint64_t now)
{
	uint64_t value = 0;
	enum mimic_peek peek = row->peek(model, (struct mimic_register_place){ unit, 0 }, now, &value);

	if (peek == MIMIC_PEEK_WAITS)
		mimic_state_text(visitor, row->name, MIMIC_STATE_WAITS, row->meaning);
	else if (peek == MIMIC_PEEK_VALUE)
		visitor->number(visitor->context, row->name, value, (enum mimic_state_format)row->format,
				row->meaning);
}

void mimic_state_register_rows(const struct mimic_state_visitor *visitor,
			       const struct mimic_register_block *block, const struct mimic_model *model,
			       unsigned int unit, uint64_t now)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct mimic_register *row = &block->rows[i];

		if (!row->name || !(row->access & MIMIC_REGISTER_R) || row->shown == MIMIC_SHOWN_ELSEWHERE)
			continue;
		if (row->shown == MIMIC_SHOWN_FOLDER)
			show_folder(visitor, row, model, unit, now);
		else
			show_value(visitor, row, model, unit, now);
	}
}

void mimic_state_registers(const struct mimic_state_visitor *visitor,
			   const struct mimic_register_block *block, const struct mimic_model *model,
			   unsigned int unit, uint64_t now)
{
	mimic_state_enter(visitor, "registers");
	mimic_state_register_rows(visitor, block, model, unit, now);
	mimic_state_leave(visitor, "registers");
}
