/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads from and stores to memory, which the emulation of all processors shares. */
#ifndef MIMIC_EMULATE_TRANSFER_H
#define MIMIC_EMULATE_TRANSFER_H

#include "libmimic/base/emulate.h"

/* `size` bytes to or from the bus, in naturally aligned pieces of at most 8. 0, or the first error. */
int mimic_emulate_transfer(mimic_bus_access access, void *bus, uintptr_t address, unsigned int size,
			   bool is_write, uint8_t *bytes);

#endif
