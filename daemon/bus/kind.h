/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers that the kernel transport itself has to know of each kind of
 * device: those between the device and its function driver.
 */
#ifndef MIMICD_BUS_KIND_H
#define MIMICD_BUS_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/kind.h"

enum mimicd_bus_role {
	MIMICD_BUS_ANY,		/* nothing special */
	MIMICD_BUS_RESET,	/* gets through to a device that hangs */
	MIMICD_BUS_FAULT,	/* the driver looks for a page fault */
	MIMICD_BUS_RESOLVE,	/* and ends it */
	MIMICD_BUS_ATTACH,	/* gives a context to an address space */
};

/* What the access is to a device of this kind. */
enum mimicd_bus_role mimicd_bus_role(const struct mimic_kind *kind, const struct mimic_access *access);

/* The two parts of an ATTACH. */
static inline unsigned int mimicd_bus_attach_context(uint64_t value)
{
	return value & 0xff;
}

static inline uint64_t mimicd_bus_attach_space(uint64_t value)
{
	return value >> 8;
}

#endif
