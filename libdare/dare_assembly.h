/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Assembly text of DARE's instructions to words and back. Part of libdare; needs
 * no device and no handle. docs/dare-isa.md has the instructions.
 *
 * A line of text has an instruction as in Table I of the paper, or `.word NUMBER`,
 * or nothing; then perhaps a comment, from # or // on. Matrix registers are m0 to
 * m7, scalar registers x0 to x31 or their names in the RISC-V calling convention
 * (zero, ra, sp, a0 and so on).
 */
#ifndef DARE_ASSEMBLY_H
#define DARE_ASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The mistake in a line. */
struct dare_assembly_error {
	unsigned int column;	/* of its first byte that is wrong, from 1 */
	char text[160];		/* for people; names the expected and the found text */
};

/**
 * dare_assemble() - makes the instruction word of a line of assembly text
 * @line: the text; ends at the first newline or null byte
 * @word: where the word goes
 * @error: where the reason goes if the line is wrong, or NULL
 *
 * Returns 1: the line has an instruction, or
 * 0: the line is empty, or has only a comment; *word is not written
 * -EINVAL: the line is wrong, or line or word is NULL; *word is not written
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: dare_disassemble(), dare_scalar_register(), dare_dispatch(), mimic-asm(1).
 */
int dare_assemble(const char *line, uint32_t *word, struct dare_assembly_error *error);

/* Room for the text of any word, with its null byte. */
#define DARE_TEXT_SIZE 32

/**
 * dare_disassemble() - makes the assembly text of an instruction word
 * @word: any 32 bits
 * @text: where the text goes; NULL only if size is 0
 * @size: bytes there
 *
 * dare_assemble() makes the same word of the text. Of a word that is no
 * instruction it is `.word` with the word in hexadecimal. Scalar registers have
 * their names in the calling convention. DARE_TEXT_SIZE bytes are enough for any word.
 *
 * Returns the length of the text without its null byte. As for snprintf(), a
 * text that does not fit is cut.
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: mimic-dis(1).
 */
int dare_disassemble(uint32_t word, char *text, size_t size);

/**
 * dare_scalar_register() - finds a scalar register by its name
 * @name: such as "x10" or "a0"; needs no null byte
 * @length: bytes of the name
 *
 * Names are x0 to x31, and those of the RISC-V calling convention: zero, ra, sp, gp, tp,
 * t0 to t6, s0 or fp, s1 to s11, a0 to a7.
 *
 * Returns its number, 0 to 31, or
 * -EINVAL: there is none of that name
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: dare_assemble().
 */
int dare_scalar_register(const char *name, size_t length);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
