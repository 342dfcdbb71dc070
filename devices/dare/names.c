/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses of DARE as people read them. */
#include <stdio.h>

#include "devices/dare/dare_state.h"
#include "mimic/dare_registers.h"

static const char *const counters[] = {
#define _(name, meaning) #name,
	DARE_COUNTERS(_)
#undef _
};

static const char *context_name(uint32_t offset)
{
	switch (offset) {
#define _(offset, name, access, reset, meaning) case offset: return #name;
	DARE_CONTEXT_REGISTERS(_)
#undef _
	default:
		return NULL;
	}
}

static const char *control_name(uint32_t offset)
{
	switch (offset) {
#define _(offset, name, access, reset, meaning) case offset: return #name;
	DARE_CONTROL_REGISTERS(_)
#undef _
	default:
		return NULL;
	}
}

static const char *counter_name(uint32_t offset)
{
	uint32_t number = (offset - DARE_COUNTER_OFFSET) / sizeof(uint64_t);

	if (offset < DARE_COUNTER_OFFSET || offset % sizeof(uint64_t) ||
	    number >= sizeof(counters) / sizeof(counters[0]))
		return NULL;
	return counters[number];
}

size_t dare_access_name(const struct mimic_access *access, char *text, size_t size)
{
	bool is_control = access->page == DARE_PAGE_CONTROL;
	const char *name = is_control ? control_name(access->offset) : context_name(access->offset);
	char page[24] = "control";
	int length;

	if (!is_control)
		snprintf(page, sizeof(page), "context %u", access->page - DARE_PAGE_CONTEXT(0));
	if (!name)
		name = counter_name(access->offset);
	if (name)
		length = snprintf(text, size, "%s %s", page, name);
	else
		length = snprintf(text, size, "%s 0x%03x", page, access->offset);
	return length < 0 ? 0 : (size_t)length;
}
