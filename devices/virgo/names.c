/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses of Virgo as people read them. */
#include <stdio.h>

#include "devices/virgo/virgo_state.h"
#include "mimic/virgo_registers.h"

static const char *const counters[] = {
#define _(name, meaning) #name,
	VIRGO_COUNTERS(_)
#undef _
};

static const char *unit_name(uint32_t offset)
{
	switch (offset) {
#define _(offset, name, access, reset, meaning) case offset: return #name;
	VIRGO_UNIT_REGISTERS(_)
#undef _
	case VIRGO_RS1_HIGH:
		return "RS1 (high)";
	case VIRGO_RS2_HIGH:
		return "RS2 (high)";
	default:
		return NULL;
	}
}

static const char *control_name(uint32_t offset)
{
	uint32_t number = (offset - VIRGO_COUNTER_OFFSET) / sizeof(uint64_t);

	switch (offset) {
#define _(offset, name, access, reset, meaning) case offset: return #name;
	VIRGO_CONTROL_REGISTERS(_)
#undef _
	default:
		break;
	}
	if (offset < VIRGO_COUNTER_OFFSET || offset % sizeof(uint64_t) ||
	    number >= sizeof(counters) / sizeof(counters[0]))
		return NULL;
	return counters[number];
}

static const char *barrier_name(uint32_t offset)
{
	if (offset % sizeof(uint64_t) || offset % 0x100 >= 8 * VIRGO_BARRIERS)
		return NULL;
	switch (offset & ~0xffu) {
	case VIRGO_BARRIER_PARTICIPANTS(0):
		return "BARRIER_PARTICIPANTS";
	case VIRGO_BARRIER_WAIT(0):
		return "BARRIER_WAIT";
	case VIRGO_BARRIER_STATUS(0):
		return "BARRIER_STATUS";
	default:
		return NULL;
	}
}

static int name_of_control(const struct mimic_access *access, char *text, size_t size)
{
	const char *name = control_name(access->offset), *barrier = barrier_name(access->offset);

	if (name)
		return snprintf(text, size, "cluster %s", name);
	if (barrier)
		return snprintf(text, size, "cluster %s [%u]", barrier, access->offset % 0x100 / 8);
	return snprintf(text, size, "cluster 0x%03x", access->offset);
}

size_t virgo_access_name(const struct mimic_access *access, char *text, size_t size)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE, unit = access->offset / VIRGO_BLOCK_SIZE;
	const char *name = unit_name(offset);
	int length;

	if (access->page == VIRGO_PAGE_CONTROL)
		length = name_of_control(access, text, size);
	else if (access->page == VIRGO_PAGE_UNITS && name)
		length = snprintf(text, size, "unit %u %s", unit, name);
	else if (access->page == VIRGO_PAGE_UNITS)
		length = snprintf(text, size, "unit %u 0x%02x", unit, offset);
	else
		length = snprintf(text, size, "page %u 0x%03x", access->page, access->offset);
	return length < 0 ? 0 : (size_t)length;
}
