/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The parts of probe.c: probe_x86.c; elsewhere probe_steps.c, and the steps of an architecture. */
#ifndef LIBMIMIC_PROBE_INTERNAL_H
#define LIBMIMIC_PROBE_INTERNAL_H

#include <stdbool.h>

#include "libmimic/base/probe.h"

#if defined(__x86_64__)
#define MIMIC_PROBE_X86 1
#define MIMIC_PROBE_STEPS 0
#else
#define MIMIC_PROBE_X86 0
#define MIMIC_PROBE_STEPS 1
#endif

/* Bytes that could not be copied. */
size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size);
int mimic_probe_load32(uint64_t address, uint32_t *value);
int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old);

#if MIMIC_PROBE_X86
/* Rows of 64 bytes, on any processor; `last` is 0. */
size_t mimic_probe_read_rows64(const uint64_t *addresses, size_t count, size_t last, void *rows);
size_t mimic_probe_write_rows64(const uint64_t *addresses, size_t count, size_t last, const void *rows);
#endif

#if MIMIC_PROBE_STEPS
/* Bytes that could not be copied; each of the two may be memory that is not there. */
size_t mimic_probe_step_copy(void *to, const void *from, size_t size);
/* Of those below: 0, or something else after a fault. */
long mimic_probe_step_load32(uint64_t address, uint32_t *value);
long mimic_probe_step_load64(uint64_t address, uint64_t *value);
long mimic_probe_step_add32(uint64_t address, uint32_t operand, uint32_t *old);
long mimic_probe_step_swap32(uint64_t address, uint32_t operand, uint32_t *old);
long mimic_probe_step_cas32(uint64_t address, uint32_t desired, uint32_t *old, uint32_t expected);
/* Their instructions; from `bytes` on none copies more than a byte; where a step goes on that has failed. */
extern const char mimic_probe_steps_start[], mimic_probe_steps_bytes[], mimic_probe_steps_failed[],
	mimic_probe_steps_end[];
#endif

#endif
