/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/array.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#define PAGE 4096ul

/* Where the next array is asked for; the kernel takes it as a hint only. */
static _Atomic uintptr_t next_address = 0x1000000000ul;

size_t array_whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static size_t array_bytes(size_t count, size_t element)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, element, &bytes) || bytes > SIZE_MAX - PAGE)
		return 0;
	return bytes ? array_whole_pages(bytes) : PAGE;
}

void *array_alloc(size_t count, size_t element)
{
	size_t bytes = array_bytes(count, element);
	uintptr_t hint;
	void *array;

	if (bytes == 0) {
		errno = ENOMEM;
		return NULL;
	}
	hint = atomic_fetch_add(&next_address, bytes + PAGE);
	if (hint + bytes > 1ul << 40)
		hint = 0;
	array = mmap((void *)hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return array == MAP_FAILED ? NULL : array;
}

void array_free(void *array, size_t count, size_t element)
{
	if (array)
		munmap(array, array_bytes(count, element));
}
