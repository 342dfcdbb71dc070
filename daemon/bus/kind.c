/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/kind.h"

#include <string.h>

#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"

static enum mimicd_bus_role maple_role(const struct mimic_access *access)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	unsigned int queue = access->offset >> MAPLE_QUEUE_SHIFT & 7;

	if (!access->is_write && operation == MAPLE_LOAD_RESET &&
	    (access->page == MAPLE_PAGE_MAPLE || access->page == MAPLE_PAGE_MMU))
		return MIMICD_BUS_RESET;
	if (access->page != MAPLE_PAGE_MMU)
		return MIMICD_BUS_ANY;
	if (access->is_write)
		return operation == MAPLE_STORE_MMU && queue == MAPLE_MMU_RESOLVE ? MIMICD_BUS_RESOLVE :
										    MIMICD_BUS_ANY;
	if (operation == MAPLE_LOAD_FAULT_STATUS ||
	    (operation == MAPLE_LOAD_DEBUG && queue == MAPLE_MMU_FAULT))
		return MIMICD_BUS_FAULT;
	return MIMICD_BUS_ANY;
}

/* RESET is a context's own: it does not mend a device that others have, too. */
static enum mimicd_bus_role dare_role(const struct mimic_access *access)
{
	if (access->page != DARE_PAGE_CONTROL)
		return MIMICD_BUS_ANY;
	if (access->is_write && access->offset == DARE_CONTROL_ATTACH)
		return MIMICD_BUS_ATTACH;
	if (access->is_write && access->offset == DARE_CONTROL_RESOLVE)
		return MIMICD_BUS_RESOLVE;
	if (!access->is_write && access->offset == DARE_CONTROL_FAULT_STATUS)
		return MIMICD_BUS_FAULT;
	return MIMICD_BUS_ANY;
}

/* RESET is a unit's own, too. A program may do what the driver does: it has the page as well. */
static enum mimicd_bus_role virgo_role(const struct mimic_access *access)
{
	if (access->page != VIRGO_PAGE_CONTROL)
		return MIMICD_BUS_ANY;
	if (access->is_write && access->offset == VIRGO_CONTROL_RESOLVE)
		return MIMICD_BUS_RESOLVE;
	if (!access->is_write && access->offset == VIRGO_CONTROL_FAULT_STATUS)
		return MIMICD_BUS_FAULT;
	return MIMICD_BUS_ANY;
}

enum mimicd_bus_role mimicd_bus_role(const struct mimic_kind *kind, const struct mimic_access *access)
{
	/* A kind without an entry has no such registers. */
	static const struct {
		const char *kind;
		enum mimicd_bus_role (*role)(const struct mimic_access *access);
	} roles[] = {
		{ "maple", maple_role }, { "dare", dare_role }, { "virgo", virgo_role },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (!strcmp(roles[i].kind, kind->name))
			return roles[i].role(access);
	}
	return MIMICD_BUS_ANY;
}
