/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory that the device reaches, and conversions of its elements. */
#include <string.h>

#include "internal.h"

void *dare_alloc(struct dare *dare, size_t size)
{
	if (!dare || size == 0) {
		errno = EINVAL;
		dare_fail(-EINVAL, "dare_alloc: %s", dare ? "0 bytes" : "the handle is NULL");
		return NULL;
	}
	return mimic_library_alloc(dare->device, size);
}

int dare_free(struct dare *dare, void *memory)
{
	if (!dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	return memory ? mimic_library_result(mimic_memory_free(dare->device, memory)) : 0;
}

static int check_range(struct dare *dare, const void *memory)
{
	if (!dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	if (!memory)
		return dare_fail(-EINVAL, "the memory is NULL");
	return 0;
}

int dare_register(struct dare *dare, void *memory, size_t size)
{
	int error = check_range(dare, memory);

	return error ? error : mimic_library_result(mimic_memory_register(dare->device, memory, size));
}

int dare_unregister(struct dare *dare, void *memory, size_t size)
{
	int error = check_range(dare, memory);

	return error ? error : mimic_library_result(mimic_memory_unregister(dare->device, memory, size));
}

void *dare_workspace(struct dare *dare, size_t size)
{
	if (dare->workspace_size >= size)
		return dare->workspace;
	if (dare->workspace)
		mimic_memory_free(dare->device, dare->workspace);
	dare->workspace_size = 0;
	dare->workspace = mimic_library_alloc(dare->device, size);
	if (dare->workspace)
		dare->workspace_size = size;
	return dare->workspace;
}

uint16_t dare_bf16(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	/* Rounding could turn a NaN into an infinity; the quiet bit keeps it one. */
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float dare_from_bf16(uint16_t bits)
{
	const uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}
