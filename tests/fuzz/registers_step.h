/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The flag byte of a step of fuzz_registers.c, for it and for its dictionary. */
#ifndef TESTS_FUZZ_REGISTERS_STEP_H
#define TESTS_FUZZ_REGISTERS_STEP_H

#define STEP_WRITE 1u
#define STEP_SIZE 1u		/* first of two bits: 1, 2, 4, 8 bytes */
#define STEP_OWNER 3u		/* first of two bits */
#define STEP_LATER 0x20u	/* a microsecond after the step before */
#define STEP_RARE 0xc0u		/* both: no access, but another event of a device */

#endif
