/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the bytes of fuzz_dare mean: numbers, addresses, instructions. Missing bytes are 0. */
#ifndef TESTS_FUZZ_DARE_INPUT_H
#define TESTS_FUZZ_DARE_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *data;
	size_t size;
};

struct instruction {
	uint64_t value[3];
	unsigned int count;	/* of values in STREAM */
};

unsigned int byte(struct input *input);
uint64_t bytes(struct input *input, unsigned int count);
/* An address in or near the pages; mostly a multiple of 4. */
uint64_t next_address(struct input *input);
/* Mostly a legal one with operands that make sense. */
struct instruction next_instruction(struct input *input);

#endif
