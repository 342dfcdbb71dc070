/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How an instruction that has trapped is replaced by a jump, and the code that the jump
 * leads to. Pure functions of bytes and addresses: nothing here reads the
 * program's text or writes it. patch_plan_x86.c is x86-64's; another
 * architecture has a file of its own beside it.
 *
 * Only bytes of the instruction itself change. An address that is the start of
 * any other instruction keeps its bytes, so any jump to it works as before. Those
 * behind it that are replaced for its sake have jumps of their own, at their own starts.
 */
#ifndef MIMIC_PRELOAD_PATCH_PLAN_H
#define MIMIC_PRELOAD_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmimic/base/decode.h"

#define PATCH_JUMP_MAX 8u /* bytes that a jump has, with those that it borrows */
#define PATCH_CODE_MAX 128u /* bytes of a trampoline */
#define PATCH_WINDOWS_MAX 5u

/* By which the program waits while a jump is written: it faults, and comes again. */
#define PATCH_STOP_BYTE 0xf4u

enum patch_way {
	PATCH_DIRECT, /* the instruction has room for the jump */
	PATCH_PUNNED, /* the jump's last bytes are the bytes that follow, which stay */
	PATCH_PADDED, /* the same behind prefixes without effect */
	PATCH_WAYS,
};

/* Why an instruction keeps trapping. */
enum patch_refusal {
	PATCH_FITS,
	PATCH_FORM, /* an operand that no trampoline can have */
	PATCH_NO_PLACE, /* no address that a jump could lead to is free */
	PATCH_NO_FILE, /* the text is not a file's, mapped private and executable */
	PATCH_TEXT_DIFFERS, /* the bytes are not the file's: a breakpoint, or changed by the program */
	PATCH_TEXT_CLOSED, /* the system lets no text be changed */
	PATCH_FULL, /* too many already */
	PATCH_DEBUGGER, /* a tracer sets breakpoints in bytes that the jump would borrow */
	PATCH_REFUSALS,
};

/* Where a jump at an instruction may lead. */
struct patch_window {
	uintptr_t first, last; /* the least and the highest address that it reaches */
	enum patch_way way;
	uint8_t prefixes;
	uint8_t changed; /* bytes that are written, from the instruction's first on */
	uint8_t borrowed; /* bytes behind the instruction that the jump reads as its own */
	uint8_t prefix; /* each of them; any of those that change nothing will do */
};

/* Addresses that agree in all but their low `shift` bits. */
struct patch_block {
	uint64_t key; /* address >> shift */
	uint8_t shift;
};

struct patch_target {
	uintptr_t address; /* of the instruction */
	struct mimic_instruction instruction;
	uint8_t bytes[MIMIC_INSTRUCTION_MAX];
};

/* Can a trampoline have this instruction? PATCH_FITS or PATCH_FORM. */
enum patch_refusal mimic_preload_patch_form(const struct mimic_instruction *instruction);

/*
 * The jumps that fit over an instruction of `length` bytes at `address`, the best first. `bytes`
 * are those at the address, `available` of them: the ones that follow count, too. Returns how many.
 */
unsigned int mimic_preload_patch_windows(uintptr_t address, const uint8_t *bytes, size_t available,
					 unsigned int length, struct patch_window windows[PATCH_WINDOWS_MAX]);

/* But for the prefix. */
bool mimic_preload_patch_is_same_window(const struct patch_window *window, const struct patch_window *other);

/* The bytes of a jump to `place`, which lies in the window: window->changed of them. */
void mimic_preload_patch_jump(const struct patch_window *window, uintptr_t address, uintptr_t place,
			      uint8_t bytes[PATCH_JUMP_MAX]);

/* How long the trampoline of an instruction of `length` bytes is. */
size_t mimic_preload_patch_code_size(unsigned int length);

/*
 * The trampoline for `target` at `place`: the original instruction if its address lies outside of
 * `block`; else it calls `enter` with `site`, and the original if that did not do the access.
 * false: it would reach too far.
 */
bool mimic_preload_patch_code(const struct patch_target *target, uintptr_t place, struct patch_block block,
			      uintptr_t enter, uintptr_t site, uint8_t code[PATCH_CODE_MAX]);

/* The state of the program's registers while a thread stands `offset` bytes into a trampoline. */
struct patch_moment {
	bool is_after; /* the instruction is complete: the program stands behind it */
	bool has_frame; /* the stack pointer is PATCH_ROOM too low */
	bool has_saved; /* rcx, which the check needs, lies PATCH_RCX_OFFSET above the stack pointer */
};
struct patch_moment mimic_preload_patch_moment(unsigned int length, unsigned int offset, uint64_t scratch);
/* Where in the trampoline the original instruction stands. */
unsigned int mimic_preload_patch_original(void);

/*
 * The length of the instruction at `bytes` if it can be carried out elsewhere: it computes with registers
 * only, or is a jump by a distance. 0: it cannot. patch_move_x86.c.
 */
unsigned int mimic_preload_patch_movable(const uint8_t *bytes, size_t available);

struct patch_branch {
	int32_t distance; /* from the instruction's end */
	bool is_conditional;
	uint8_t condition; /* the low four bits of the opcode */
};

/* The length of the jump at `bytes`, conditional or not. 0: there is none of a known distance. */
unsigned int mimic_preload_patch_branch(const uint8_t *bytes, size_t available, struct patch_branch *branch);

/*
 * The trampoline of one that was moved: itself, and a jump back. false: it would reach too far. A short
 * jump is a long one there: moved_length() is the length of what does the instruction's work.
 */
unsigned int mimic_preload_patch_moved_length(const struct patch_target *target);
size_t mimic_preload_patch_moved_size(const struct patch_target *target);
bool mimic_preload_patch_moved_code(const struct patch_target *target, uintptr_t place,
				    uint8_t code[PATCH_CODE_MAX]);

/* Below the stack pointer: the red zone of the ABI, and all registers that a call of `enter` keeps. */
#define PATCH_ROOM 256 /* not more: a processor may know loads and stores apart by eight bits and a sign */
#define PATCH_RCX_OFFSET 8
/* From the return address of the call of `enter` to the place where the trampoline has `site`. */
#define PATCH_SITE_OFFSET 30

#endif
