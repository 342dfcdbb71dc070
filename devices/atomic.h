/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The value that a device's 32-bit atomic leaves in memory. */
#ifndef MIMIC_DEVICES_ATOMIC_H
#define MIMIC_DEVICES_ATOMIC_H

#include "devices/model.h"

static inline uint32_t mimic_atomic_result(enum mimic_atomic operation, uint32_t old,
					   uint32_t operand, uint32_t expected)
{
	switch (operation) {
	case MIMIC_ATOMIC_ADD:
		return old + operand;
	case MIMIC_ATOMIC_AND:
		return old & operand;
	case MIMIC_ATOMIC_OR:
		return old | operand;
	case MIMIC_ATOMIC_XOR:
		return old ^ operand;
	case MIMIC_ATOMIC_MAX:
		return (int32_t)old > (int32_t)operand ? old : operand;
	case MIMIC_ATOMIC_MAXU:
		return old > operand ? old : operand;
	case MIMIC_ATOMIC_MIN:
		return (int32_t)old < (int32_t)operand ? old : operand;
	case MIMIC_ATOMIC_MINU:
		return old < operand ? old : operand;
	case MIMIC_ATOMIC_SWAP:
		return operand;
	case MIMIC_ATOMIC_CAS:
		return old == expected ? operand : old;
	}
	return old;
}

#endif
