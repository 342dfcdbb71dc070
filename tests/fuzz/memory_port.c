/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/fuzz/memory_port.h"

#include <errno.h>
#include <string.h>

#define ROW_STRIDE 64	/* devices/model.h */

static unsigned char memory[FUZZ_MEMORY_BYTES];

void fuzz_memory_reset(void)
{
	for (unsigned int i = 0; i < FUZZ_MEMORY_BYTES; i++)
		memory[i] = (unsigned char)(i * 37 + (i >> 8));
}

static unsigned char *at(uint64_t address, size_t size)
{
	uint64_t offset = address - FUZZ_MEMORY;

	return offset < FUZZ_MEMORY_BYTES && size <= FUZZ_MEMORY_BYTES - offset ? memory + offset : NULL;
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	unsigned char *from = at(address, size);

	(void)context;
	memset(buffer, 0, size);
	if (!from)
		return -EFAULT;
	memcpy(buffer, from, size);
	return 0;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
		   uint64_t *values)
{
	(void)tag;
	for (size_t i = 0; i < count; i++) {
		values[i] = 0;
		if (read_bytes(context, addresses[i], &values[i], size))
			return (long)i;
	}
	return (long)count;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char *row = (unsigned char *)rows + ROW_STRIDE * i;

		memset(row, 0, ROW_STRIDE);
		if (read_bytes(context, addresses[i], row, size))
			return (long)i;
	}
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		unsigned char *to = at(addresses[i], size);

		if (!to)
			return (long)i;
		memcpy(to, (const unsigned char *)rows + ROW_STRIDE * i, size);
	}
	return (long)count;
}

/* An addition is all that is needed of atomics here: fuzz_maple checks their results. */
static int atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		  uint32_t expected, uint32_t *old)
{
	unsigned char *to = at(address, sizeof(*old));
	uint32_t sum;

	(void)context;
	(void)operation;
	(void)expected;
	if (!to)
		return -EFAULT;
	memcpy(old, to, sizeof(*old));
	sum = *old + operand;
	memcpy(to, &sum, sizeof(sum));
	return 0;
}

const struct mimic_memory fuzz_memory_port = {
	.gather = gather,
	.read = read_bytes,
	.read_rows = read_rows,
	.write_rows = write_rows,
	.atomic = atomic,
};
