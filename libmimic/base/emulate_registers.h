/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Registers in the context of a signal, for emulate_load_store.c: emulate_arm64.c, emulate_riscv.c. */
#ifndef MIMIC_EMULATE_REGISTERS_H
#define MIMIC_EMULATE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "libmimic/base/load_store.h"

#if defined(__aarch64__) || defined(__riscv)
#define MIMIC_HAS_LOAD_STORE 1
#else
#define MIMIC_HAS_LOAD_STORE 0
#endif

/* Was it the instruction itself that could not be read? RISC-V's context does not tell: false. */
bool mimic_registers_is_fetch(const ucontext_t *context);
size_t mimic_registers_length(const uint8_t *instruction);
int mimic_registers_decode(uintptr_t instruction, struct mimic_load_store *decoded);

/* As operands: the register that is always 0 has no place in the context. */
uint64_t mimic_registers_general(const ucontext_t *context, unsigned int number);
void mimic_registers_set_general(ucontext_t *context, unsigned int number, uint64_t value);
/* As bases of addresses. */
uint64_t mimic_registers_base(const ucontext_t *context, unsigned int number);
void mimic_registers_set_base(ucontext_t *context, unsigned int number, uint64_t value);
/* false: the context has no such registers. */
bool mimic_registers_get_vector(const ucontext_t *context, unsigned int number, uint8_t value[16]);
/* `size` bytes were loaded; the rest of `value` is 0. */
void mimic_registers_set_vector(ucontext_t *context, unsigned int number, const uint8_t value[16],
				unsigned int size);

#endif
