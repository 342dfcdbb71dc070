/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory that the units reach, and conversions of their elements. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct virgo_range {
	struct virgo_range *next;
	uintptr_t start;
	size_t size;
};

static void add_range(struct virgo *virgo, struct virgo_range *range)
{
	pthread_mutex_lock(&virgo->lock);
	range->next = virgo->ranges;
	virgo->ranges = range;
	pthread_mutex_unlock(&virgo->lock);
}

/* Without memory for the note the range is not known: then its products are slower. */
static void note_range(struct virgo *virgo, const void *start, size_t size)
{
	struct virgo_range *range = malloc(sizeof(*range));

	if (!range)
		return;
	range->start = (uintptr_t)start;
	range->size = size;
	add_range(virgo, range);
}

/* NULL: it is not known. */
static struct virgo_range *take_range(struct virgo *virgo, const void *start)
{
	struct virgo_range **link, *found;

	pthread_mutex_lock(&virgo->lock);
	for (link = &virgo->ranges; *link && (*link)->start != (uintptr_t)start; link = &(*link)->next)
		;
	found = *link;
	if (found)
		*link = found->next;
	pthread_mutex_unlock(&virgo->lock);
	return found;
}

/* The memory was freed or unregistered; or that failed, and it goes on. */
static void forget_range(struct virgo *virgo, struct virgo_range *range, bool goes_on)
{
	if (range && goes_on)
		add_range(virgo, range);
	else
		free(range);
}

bool virgo_is_shared(struct virgo *virgo, const void *start, size_t size)
{
	const struct virgo_range *range;

	pthread_mutex_lock(&virgo->lock);
	for (range = virgo->ranges; range; range = range->next) {
		size_t offset = (uintptr_t)start - range->start;

		if (offset < range->size && size <= range->size - offset)
			break;
	}
	pthread_mutex_unlock(&virgo->lock);
	return range;
}

void virgo_forget_ranges(struct virgo *virgo)
{
	while (virgo->ranges) {
		struct virgo_range *next = virgo->ranges->next;

		free(virgo->ranges);
		virgo->ranges = next;
	}
}

void *virgo_alloc(struct virgo *virgo, size_t size)
{
	void *memory;

	if (!virgo || size == 0) {
		errno = EINVAL;
		virgo_fail(-EINVAL, "virgo_alloc: %s", virgo ? "0 bytes" : "the handle is NULL");
		return NULL;
	}
	memory = mimic_library_alloc(virgo->device, size);
	if (memory)
		note_range(virgo, memory, size);
	return memory;
}

int virgo_free(struct virgo *virgo, void *memory)
{
	struct virgo_range *range;
	int error;

	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	if (!memory)
		return 0;
	error = virgo_check_owner(virgo);
	if (error)
		return error;
	/* First: once it is free, another thread may get, and note, the same addresses. */
	range = take_range(virgo, memory);
	error = mimic_library_result(mimic_memory_free(virgo->device, memory));
	forget_range(virgo, range, error);
	return error;
}

static int check_range(struct virgo *virgo, const void *memory)
{
	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	if (!memory)
		return virgo_fail(-EINVAL, "the memory is NULL");
	return 0;
}

int virgo_register(struct virgo *virgo, void *memory, size_t size)
{
	int error = check_range(virgo, memory);

	if (!error)
		error = mimic_library_result(mimic_memory_register(virgo->device, memory, size));
	if (!error)
		note_range(virgo, memory, size);
	return error;
}

int virgo_unregister(struct virgo *virgo, void *memory, size_t size)
{
	struct virgo_range *range;
	int error = check_range(virgo, memory);

	if (!error)
		error = virgo_check_owner(virgo);
	if (error)
		return error;
	range = take_range(virgo, memory);
	error = mimic_library_result(mimic_memory_unregister(virgo->device, memory, size));
	forget_range(virgo, range, error);
	return error;
}

#define QUIET_HALF 0x7e00
#define QUIET_FLOAT 0x7fc00000u

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint16_t virgo_half(float value)
{
	uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
	uint32_t exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffff) | 0x800000;
	unsigned int dropped = 13;
	uint32_t result;

	if (magnitude > 0x7f800000)
		return QUIET_HALF;
	if (exponent >= 127 + 16)
		return (uint16_t)(sign | 0x7c00);
	/* Below 2^-14 the last place stays 2^-24, so more bits are dropped. */
	if (exponent < 127 - 14)
		dropped += 127 - 14 - exponent;
	if (dropped > 24)
		return (uint16_t)sign;
	result = mantissa >> dropped;
	mantissa &= (1u << dropped) - 1;
	if (mantissa > 1u << (dropped - 1) || (mantissa == 1u << (dropped - 1) && result & 1))
		result++;
	/* A carry out of the mantissa makes the exponent one more, up to infinity. */
	if (dropped == 13)
		result += (exponent - (127 - 14)) << 10;
	return (uint16_t)(sign | result);
}

float virgo_from_half(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f;
	uint32_t mantissa = bits & 0x3ff;

	if (exponent == 0x1f)
		return float_of(mantissa ? QUIET_FLOAT : sign | 0x7f800000);
	if (exponent)
		return float_of(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
	return sign ? -((float)mantissa * 0x1p-24f) : (float)mantissa * 0x1p-24f;
}
