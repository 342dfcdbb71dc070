/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Decodes the input bytes of fuzz_dare: addresses, instructions. */
#ifndef TESTS_FUZZ_DARE_INPUT_H
#define TESTS_FUZZ_DARE_INPUT_H

#include "tests/fuzz/input.h"

struct instruction {
	uint64_t value[3];
	unsigned int count;	/* of values in STREAM */
};

/* An address in or near the pages; mostly a multiple of 4. */
uint64_t next_address(struct input *input);
/* Mostly a legal one with operands that make sense. */
struct instruction next_instruction(struct input *input);

#endif
