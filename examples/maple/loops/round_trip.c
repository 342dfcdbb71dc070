/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads from MAPLE, or from memory, one behind the other. */
#include "examples/maple/loops/round_trip.h"

#include "examples/maple/loops/operations.h"

uint32_t round_trips(struct maple *maple, unsigned int queue, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += consume32(maple, queue);
	return sum;
}

void *const *follow_pointers(void *const *pointer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pointer = *pointer;
	return pointer;
}
