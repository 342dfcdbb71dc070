/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/vfio_virgo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#define ONE 0x3f800000ull	/* 1.0f, by which moves scale */

static unsigned int unit_offset(unsigned int offset)
{
	return MIMIC_PCI_DEVICE_PAGE(VIRGO_PAGE_UNITS) + offset;
}

void guest_virgo_command(struct guest *guest, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	guest_post(guest, 0, unit_offset(VIRGO_RS1), 8, rs1);
	guest_post(guest, 0, unit_offset(VIRGO_RS2), 8, rs2);
	guest_post(guest, 0, unit_offset(VIRGO_INSTRUCTION), 4, VIRGO_INSTRUCTION_WORD(funct));
}

void guest_virgo_configure(struct guest *guest)
{
	guest_virgo_command(guest, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | ONE << 32, VIRGO_ROW_BYTES);
	guest_virgo_command(guest, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, VIRGO_ROW_BYTES | ONE << 32);
}

uint64_t guest_virgo_rows_at(unsigned int row)
{
	return (uint64_t)VIRGO_ROWS << 48 | (uint64_t)(VIRGO_ROW_BYTES / 4) << 32 | row;
}

void guest_virgo_wait(struct guest *guest)
{
	for (unsigned int i = 0; i < 10000 && guest_register(guest, VIRGO_PAGE_UNITS, VIRGO_BUSY, 8); i++)
		usleep(1000);
	assert_int_equal(guest_register(guest, VIRGO_PAGE_UNITS, VIRGO_BUSY, 8), 0);
}
