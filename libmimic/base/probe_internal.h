/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What probe.c is made of: probe_x86.c by instructions, elsewhere probe_portable.c by system calls. */
#ifndef LIBMIMIC_PROBE_INTERNAL_H
#define LIBMIMIC_PROBE_INTERNAL_H

#include <stdbool.h>

#include "libmimic/base/probe.h"

#if defined(__x86_64__) && !defined(MIMIC_PROBE_PORTABLE)
#define MIMIC_PROBE_X86 1
#else
#define MIMIC_PROBE_X86 0
#endif

/* Bytes that could not be copied. */
size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size);
int mimic_probe_load32(uint64_t address, uint32_t *value);
int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old);

/* A fault at an instruction of ours: goes on behind it. `context`: the handler's. */
bool mimic_probe_recover(void *context);

#endif
