/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of the run-time: code linked into it calls these in place of malloc() and the
 * others (ld's --wrap). The program's own heap must not depend on the model.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HEADER 64u	/* keeps blocks on cache lines */
#define PAGE 4096u

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

/* In front of each block. */
struct header {
	void *mapping;
	size_t mapped;
	size_t size;
};

static struct header *header_of(void *block)
{
	return (struct header *)((char *)block - HEADER);
}

/* There are some dozens, most of them large. `alignment`: a power of two, HEADER at least. */
static void *allocate(size_t alignment, size_t size)
{
	size_t room = HEADER + alignment + PAGE, mapped;
	uintptr_t block;
	void *mapping;

	if (size > SIZE_MAX - room) {
		errno = ENOMEM;
		return NULL;
	}
	mapped = (size + room - 1) & ~(size_t)(PAGE - 1);
	mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED)
		return NULL;
	block = ((uintptr_t)mapping + HEADER + alignment - 1) & ~(alignment - 1);
	*header_of((void *)block) = (struct header){ mapping, mapped, size };
	return (void *)block;
}

void *__wrap_malloc(size_t size)
{
	return allocate(HEADER, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate(HEADER, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return allocate(alignment < HEADER ? HEADER : alignment, size);
}

void __wrap_free(void *block)
{
	if (block)
		munmap(header_of(block)->mapping, header_of(block)->mapped);
}

void *__wrap_realloc(void *block, size_t size)
{
	void *larger = allocate(HEADER, size);
	size_t old = block ? header_of(block)->size : 0;

	if (!larger)
		return NULL;
	if (block)
		memcpy(larger, block, old < size ? old : size);
	__wrap_free(block);
	return larger;
}
