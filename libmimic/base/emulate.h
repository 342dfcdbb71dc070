/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A trapped access, carried out in user space: the work of a SIGSEGV handler for
 * a load or store of a device's page.
 */
#ifndef MIMIC_EMULATE_H
#define MIMIC_EMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The preload library calls these from outside of libmimic. */
#pragma GCC visibility push(default)

/*
 * One access of the bus: `size` is 1, 2, 4 or 8, `address` a multiple of it.
 * A write takes the low `size` bytes of *data, the rest is 0; a read leaves
 * them there. 0 or -errno.
 */
typedef int (*mimic_bus_access)(void *context, uintptr_t address, unsigned int size,
				bool is_write, uint64_t *data);

/*
 * Carries out the instruction that `context`, of a signal handler, stands at:
 * memory through `access`, registers and flags in the context, and moves on to
 * the next instruction.
 *
 * An access that is unaligned or wider than 8 bytes reaches the bus in
 * naturally aligned pieces of at most 8 bytes, in ascending order.
 *
 * An update (add to memory and the like) is a load, then a store: other threads, and handlers of
 * signals, may come between.
 *
 * 0; -EOPNOTSUPP: no instruction that decode.h (load_store.h) lists, nothing was done (but of a store of x87
 * that raises an exception that the program wants to see); -ENOLCK: one that locks memory,
 * nothing was done; else the first error of `access`: the registers are as before. Pieces of a
 * store that came before the failing one were written, and the load of an update was done.
 *
 * Async-signal-safe. x86-64, arm64 and RISC-V; there the caller sees to it that the instruction can be read.
 */
int mimic_emulate(ucontext_t *context, mimic_bus_access access, void *bus);

/* The same with an instruction that the caller has decoded: its bytes may be others by now. */
struct mimic_instruction;
int mimic_emulate_instruction(ucontext_t *context, const struct mimic_instruction *instruction,
			      mimic_bus_access access, void *bus);

/*
 * The bytes of that instruction in hex, "48 8b 07", for an error line; as many
 * as may be one if it is none that we know, "" if they cannot be read. Returns
 * the length of the text. Async-signal-safe.
 */
size_t mimic_instruction_text(const ucontext_t *context, char *text, size_t size);

#pragma GCC visibility pop

#endif
