/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Registers and commands by their names. */
#include <stdio.h>

#include "libmimic/base/kinds.h"
#include "tools/trace/trace.h"

const struct mimic_kind *trace_kind_of(const struct mimic_spool_device *device)
{
	char name[sizeof(device->name) + 1];
	const char *rest;

	/* The program that writes the spool may not have ended the name. */
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(device->name), device->name);
	return mimic_kind_of_device(name, &rest);
}

void trace_register_name(char *name, const struct mimic_kind *kind, uint64_t page_and_offset, bool is_store)
{
	const struct mimic_access access = {
		.page = (uint8_t)(page_and_offset >> 12), .offset = page_and_offset & 0xfff, .size = 8,
		.is_write = is_store,
	};

	if (kind)
		mimic_register_name(kind, &access, name, TRACE_NAME);
	else
		snprintf(name, TRACE_NAME, "page %u, 0x%03x", access.page, access.offset);
}

void trace_command_name(char *name, const struct mimic_kind *kind, uint32_t word)
{
	const char *known = kind && kind->command_name ? kind->command_name(word) : NULL;

	if (known || (kind && kind->command_name))
		snprintf(name, TRACE_NAME, "%s", known ? known : "illegal");
	else
		snprintf(name, TRACE_NAME, "0x%08x", word);
}
