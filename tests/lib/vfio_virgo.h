/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Unit 0 of a virtual machine's Virgo moves rows, as its driver says by registers. For cmocka programs. */
#ifndef TESTS_VFIO_VIRGO_H
#define TESTS_VFIO_VIRGO_H

#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_guest.h"

#define VIRGO_ROW_BYTES 32u	/* of unit 0: 8 elements of fp32 */
#define VIRGO_ROWS 8u		/* that are moved at once */
#define VIRGO_BYTES (VIRGO_ROWS * VIRGO_ROW_BYTES)

/* Posted, as QEMU posts stores of a function without memory that it maps: nobody waits for an answer. */
void guest_virgo_command(struct guest *guest, unsigned int funct, uint64_t rs1, uint64_t rs2);
/* Moves do not scale. */
void guest_virgo_configure(struct guest *guest);
/* rs2 of MVIN and MVOUT: rows of the scratchpad. */
uint64_t guest_virgo_rows_at(unsigned int row);
/* All commands have been done. */
void guest_virgo_wait(struct guest *guest);

#endif
