/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A trapped access of user space, on the registers that the kernel saved at the
 * fault. The access itself, which comes between, is in trap.c.
 *
 * All of it is for the current task, in process context.
 */
#ifndef MIMIC_DRIVER_EMULATE_H
#define MIMIC_DRIVER_EMULATE_H

#include <linux/ptrace.h>
#include <linux/types.h>

#include "libmimic/base/decode.h"
#include "libmimic/base/operate.h"

/*
 * The instruction at regs->ip and the address that it accesses. Never sleeps:
 * the mmap lock may be held. 0; -EOPNOTSUPP: no load, store or update with general
 * registers, or not 64-bit code; -ENOLCK: it locks memory; -EFAULT: its bytes are not there
 * any more, as the page was reclaimed since the processor fetched them. Then drop the locks,
 * call mimic_emulate_fault_in() and try again; a second -EFAULT is for good (code
 * that may be executed but not read).
 *
 * Vector and x87 registers are refused. A task's may live in
 * the processor or in its fpu area, in a format of the kernel's own, and the
 * functions that find and move them (fpregs_lock's friends, get_xsave_addr) are not exported
 * to modules.
 */
int mimic_emulate_decode(struct pt_regs *regs, struct mimic_instruction *instruction,
			 u64 *address);

/* Brings the code page in. Sleeps, and takes the mmap lock. 0 or -EFAULT. */
int mimic_emulate_fault_in(struct pt_regs *regs);

/* The value that the instruction, a store, writes: its low memory_size bytes, the rest is 0. */
u64 mimic_emulate_store_value(const struct mimic_instruction *instruction,
			      struct pt_regs *regs);

/* The value that an update (is_update) writes whose load read `memory`. */
u64 mimic_emulate_update_value(const struct mimic_instruction *instruction,
			       struct pt_regs *regs, u64 memory);

/*
 * After the access, when nothing can fail any more: the destination register
 * and the flags of a load (`memory` is the value that it read; a store's is ignored), the
 * step to the next instruction, and the trap after it of a program that is
 * single-stepped.
 */
void mimic_emulate_finish(const struct mimic_instruction *instruction, struct pt_regs *regs,
			  u64 memory);

#endif
