/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bytes that a target is given, taken from the front. Missing bytes are 0. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *data;
	size_t size;
};

static inline unsigned int byte(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->data++;
}

static inline uint64_t bytes(struct input *input, unsigned int count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | byte(input);
	return value;
}

#endif
