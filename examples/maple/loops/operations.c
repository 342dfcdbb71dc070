/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/maple/loops/operations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "maple.h"

/* Not exit(): its handlers would wait for threads that may never come back. */
static void check(int error)
{
	const char *text;

	if (__builtin_expect(error >= 0, 1))
		return;
	text = maple_error_text();
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, *text ? text : strerror(-error));
	_exit(1);
}

void produce32(struct maple *maple, unsigned int queue, uint32_t data)
{
	check(maple_produce32(maple, queue, data));
}

void produce64(struct maple *maple, unsigned int queue, uint64_t data)
{
	check(maple_produce64(maple, queue, data));
}

void produce_pointer32(struct maple *maple, unsigned int queue, const void *pointer)
{
	check(maple_produce_ptr32(maple, queue, pointer, MAPLE_DRAM));
}

void produce_pointer64(struct maple *maple, unsigned int queue, const void *pointer)
{
	check(maple_produce_ptr64(maple, queue, pointer, MAPLE_DRAM));
}

uint32_t consume32(struct maple *maple, unsigned int queue)
{
	uint32_t data = 0;

	check(maple_consume32(maple, queue, &data));
	return data;
}

uint64_t consume64(struct maple *maple, unsigned int queue)
{
	uint64_t data = 0;

	check(maple_consume64(maple, queue, &data));
	return data;
}

void lima_produce32(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b, uint32_t begin,
		    uint32_t end)
{
	check(maple_lima_produce32(maple, queue, a, b, begin, end, MAPLE_DRAM));
}

void lima_produce64(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b, uint32_t begin,
		    uint32_t end)
{
	check(maple_lima_produce64(maple, queue, a, b, begin, end, MAPLE_DRAM));
}
