/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For tests that also run in a virtual machine whose devices are functions of PCI: those are there
 * already, and loads that would have to wait are answered with all ones at once (docs/pci.md).
 */
#ifndef MIMIC_TESTS_ON_PCI_H
#define MIMIC_TESTS_ON_PCI_H

#include <stdbool.h>
#include <stdint.h>

#define NOT_READY_TRIES 20000

/* Is the device of this name ("dare0") a function of PCI? */
bool on_pci(const char *name);

/* A load that was not ready had no effect. On mimic's own bus none says so. */
static inline uint64_t load_when_ready(const volatile uint64_t *place)
{
	uint64_t value = *place;

	for (int i = 0; value == UINT64_MAX && i < NOT_READY_TRIES; i++)
		value = *place;
	return value;
}

#endif
