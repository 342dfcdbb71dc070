/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/adder.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 1024

int adder_create(struct adder *adder, uint64_t columns)
{
	memset(adder, 0, sizeof(*adder));
	adder->columns = columns;
	adder->sum = calloc(columns + 1, sizeof(*adder->sum));
	adder->row_of = calloc(columns + 1, sizeof(*adder->row_of));
	adder->touched = calloc(columns + 1, sizeof(*adder->touched));
	return adder->sum && adder->row_of && adder->touched ? 0 : -ENOMEM;
}

void adder_free(struct adder *adder)
{
	free(adder->sum);
	free(adder->row_of);
	free(adder->touched);
	free(adder->column);
	free(adder->value);
	memset(adder, 0, sizeof(*adder));
}

void adder_reset(struct adder *adder)
{
	memset(adder->row_of, 0, adder->columns * sizeof(*adder->row_of));
	adder->touched_count = 0;
	adder->count = 0;
}

static int grow(struct adder *adder, uint64_t needed)
{
	uint64_t room = adder->room ? adder->room : FIRST_ROOM;
	union csr_value *value;
	uint32_t *column;

	while (room < needed)
		room *= 2;
	if (room == adder->room)
		return 0;
	column = reallocarray(adder->column, room, sizeof(*column));
	if (!column)
		return -ENOMEM;
	adder->column = column;
	value = reallocarray(adder->value, room, sizeof(*value));
	if (!value)
		return -ENOMEM;
	adder->value = value;
	adder->room = room;
	return 0;
}

int adder_finish_row(struct adder *adder)
{
	int error = grow(adder, adder->count + adder->touched_count);

	if (error)
		return error;
	for (uint64_t i = 0; i < adder->touched_count; i++) {
		adder->column[adder->count] = adder->touched[i];
		adder->value[adder->count++] = adder->sum[adder->touched[i]];
	}
	adder->touched_count = 0;
	return 0;
}
