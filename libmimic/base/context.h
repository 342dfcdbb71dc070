/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The instruction at which a signal came, in the context that its handler gets. */
#ifndef MIMIC_CONTEXT_H
#define MIMIC_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t mimic_context_instruction(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.pc;
#elif defined(__riscv)
	return (uintptr_t)context->uc_mcontext.__gregs[REG_PC];
#else
#error "a signal's context is known of x86-64, arm64 and RISC-V"
#endif
}

static inline void mimic_context_go_to(ucontext_t *context, uintptr_t instruction)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)instruction;
#elif defined(__aarch64__)
	context->uc_mcontext.pc = instruction;
#elif defined(__riscv)
	context->uc_mcontext.__gregs[REG_PC] = instruction;
#endif
}

/* Of a page fault at `address`: was it the instruction that could not be read? */
static inline bool mimic_context_is_fetch(const ucontext_t *context, uintptr_t address)
{
#if defined(__x86_64__)
	(void)address;
	return context->uc_mcontext.gregs[REG_ERR] & 16;
#else
	/* An instruction has four bytes at most, and where it could be read none of its loads fails there. */
	return address - mimic_context_instruction(context) < 4;
#endif
}

#endif
