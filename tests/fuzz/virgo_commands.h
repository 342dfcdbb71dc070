/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Commands that are made from the bytes of fuzz_virgo. Those for a unit stay in its
 * parts of the memories, and are valid: nothing but their pages can make them fail.
 */
#ifndef TESTS_FUZZ_VIRGO_COMMANDS_H
#define TESTS_FUZZ_VIRGO_COMMANDS_H

#include "tests/fuzz/input.h"
#include "tests/fuzz/virgo_side.h"

#define SEQUENCE 20

struct sequence {
	struct entry entry[SEQUENCE];
	unsigned int count;
};

void add_command(struct sequence *s, unsigned int funct, uint64_t rs1, uint64_t rs2, bool is_valid);
/* Takes the configuration from the reference. The unit is idle. */
void commands_follow(unsigned int unit);
/* Valid ones, that belong together. */
void next_commands(struct input *input, unsigned int unit, struct sequence *s);
/* Any command with any operands. */
void next_wild_command(struct input *input, unsigned int unit, struct sequence *s);
/* A whole convolution: somewhere in the scratchpad, and in all of the program's memory. */
void next_convolution(struct input *input, unsigned int unit, struct sequence *s);
/* A word of the CISC port as the commands that it stands for. false: it stands for none. */
bool expand_word(unsigned int unit, unsigned int generation, uint64_t tile, uint32_t word,
		 struct sequence *s);

#endif
