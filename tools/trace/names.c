/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Registers and commands by their names. */
#include <stdio.h>

#include "devices/dare/dare_model.h"
#include "devices/dare/isa.h"
#include "libmimic/base/kinds.h"
#include "devices/virgo/virgo_model.h"
#include "mimic/virgo_commands.h"
#include "tools/trace/trace.h"

void trace_register_name(char *name, unsigned int kind, uint64_t page_and_offset, bool is_store)
{
	const struct mimic_access access = {
		.page = (uint8_t)(page_and_offset >> 12), .offset = page_and_offset & 0xfff, .size = 8,
		.is_write = is_store,
	};

	if (kind < mimic_kind_count())
		mimic_register_name(mimic_kinds[kind], &access, name, TRACE_NAME);
	else
		snprintf(name, TRACE_NAME, "page %u, 0x%03x", access.page, access.offset);
}

static const char *virgo_command_name(uint32_t word)
{
	if ((word & 0x7f) != VIRGO_OPCODE)
		return NULL;
	switch (word >> 25) {
#define _(funct, name, text, counter, meaning) case funct: return text;
	VIRGO_COMMANDS(_)
#undef _
	default:
		return NULL;
	}
}

void trace_command_name(char *name, unsigned int kind, uint32_t word)
{
	const char *known = NULL;
	struct dare_fields fields;

	if (kind == mimic_kind_index(&mimic_kind_dare) && !dare_decode(word, &fields))
		known = dare_instructions[fields.operation].name;
	else if (kind == mimic_kind_index(&mimic_kind_virgo))
		known = virgo_command_name(word);
	snprintf(name, TRACE_NAME, "%s", known ? known : "illegal");
}
