/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The contract of the template device: the registers that its cases use. Offsets are written a second
 * time, so that a slip in template_registers.h shows.
 */
#ifndef TESTS_CONTRACT_TEMPLATE_H
#define TESTS_CONTRACT_TEMPLATE_H

#include "tests/contract/harness.h"

#define ANY 1u	/* the one profile */

enum { REGISTER_A = 0x00, REGISTER_B = 0x08, REGISTER_START = 0x10, REGISTER_SUM = 0x18, REGISTER_COUNT = 0x20 };

#endif
