/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses of MAPLE as people read them. */
#include <stdio.h>

#include "devices/maple/maple_state.h"
#include "mimic/maple_registers.h"

static const char *load_name(unsigned int operation)
{
	switch (operation) {
#define _(code, name, meaning) case code: return #name;
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
	default:
		return NULL;
	}
}

static const char *store_name(unsigned int operation)
{
	switch (operation) {
#define _(code, name, meaning) case code: return #name;
	MAPLE_STORES(_)
	MAPLE_EXTENSION_STORES(_)
#undef _
	default:
		return NULL;
	}
}

static const char *page_name(unsigned int page)
{
	switch (page) {
#define _(number, name, meaning) case number: return #name;
	MAPLE_PAGES(_)
#undef _
	default:
		return "no page";
	}
}

size_t maple_access_name(const struct mimic_access *access, char *text, size_t size)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	const char *name = access->is_write ? store_name(operation) : load_name(operation);
	int length;

	if (name)
		length = snprintf(text, size, "%s %s [%u]", page_name(access->page), name,
				  access->offset >> MAPLE_QUEUE_SHIFT & 7);
	else
		length = snprintf(text, size, "%s 0x%03x", page_name(access->page), access->offset);
	return length < 0 ? 0 : (size_t)length;
}
