/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/guest_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/engine/memory.h"
#include "daemon/loop/closer.h"
#include "mimic/access.h"

void mimicd_guest_memory_init(struct mimicd_guest_memory *memory, struct mimicd_closer *closer)
{
	pthread_rwlockattr_t attributes;

	memset(memory, 0, sizeof(*memory));
	memory->closer = closer;
	pthread_rwlockattr_init(&attributes);
	/* Jobs read all the time, and a guest waits for the answer to its unmap. */
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&memory->lock, &attributes);
	pthread_rwlockattr_destroy(&attributes);
}

/* The last end of a mapping frees a file's pages, which may take long: not in the loop. */
static void unmap(struct mimicd_guest_memory *memory, const struct mimicd_guest_range *range)
{
	if (range->base)
		mimicd_closer_unmap(memory->closer, memory->owner, range->base, range->size);
}

void mimicd_guest_memory_clear(struct mimicd_guest_memory *memory)
{
	pthread_rwlock_wrlock(&memory->lock);
	for (size_t i = 0; i < memory->count; i++)
		unmap(memory, &memory->ranges[i]);
	memory->count = 0;
	memory->removals++;
	pthread_rwlock_unlock(&memory->lock);
}

void mimicd_guest_memory_destroy(struct mimicd_guest_memory *memory)
{
	mimicd_guest_memory_clear(memory);
	free(memory->ranges);
	pthread_rwlock_destroy(&memory->lock);
}

/* The first range that ends after the address. */
static size_t first_after(const struct mimicd_guest_memory *memory, uint64_t address)
{
	size_t low = 0, high = memory->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mimicd_guest_range *range = &memory->ranges[middle];

		if (range->address + (range->size - 1) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mimicd_guest_range *mimicd_guest_memory_find(const struct mimicd_guest_memory *memory,
							  uint64_t address)
{
	size_t index = first_after(memory, address);

	if (index == memory->count || memory->ranges[index].address > address)
		return NULL;
	return &memory->ranges[index];
}

static int check(const struct mimicd_guest_memory *memory, const struct mimicd_guest_range *range,
		 size_t index, const char **why)
{
	uint64_t last = range->address + (range->size - 1);

	if (!range->size || (range->address | range->size) % MIMIC_PAGE_SIZE || last < range->address) {
		*why = "the range is not of whole pages";
		return -EINVAL;
	}
	if (memory->count == MIMICD_GUEST_RANGES_MAX) {
		*why = "there are too many ranges";
		return -ENOSPC;
	}
	if (index < memory->count && memory->ranges[index].address <= last) {
		*why = "the range overlaps another";
		return -EEXIST;
	}
	return 0;
}

static int map(struct mimicd_guest_range *range, int fd, uint64_t offset, const char **why)
{
	int protection = PROT_READ | (range->is_writable ? PROT_WRITE : 0);
	void *base;
	int error;

	range->base = NULL;
	if (fd < 0)
		return 0;
	if (offset % MIMIC_PAGE_SIZE) {
		*why = "the offset is not of whole pages";
		return -EINVAL;
	}
	/*
	 * A file that can shrink would be a SIGBUS here whenever the machine's owner likes. Pages that are not
	 * there yet are as usual in a machine's memory; it belongs to our own user, or to root.
	 */
	error = mimicd_memory_check_sparse(fd, range->size, offset, why);
	if (error)
		return error;
	base = mmap(NULL, range->size, protection, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	if (base == MAP_FAILED) {
		*why = "the descriptor cannot be mapped";
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	}
	range->base = base;
	return 0;
}

static int reserve(struct mimicd_guest_memory *memory)
{
	struct mimicd_guest_range *ranges;
	size_t capacity;

	if (memory->count < memory->capacity)
		return 0;
	capacity = memory->capacity ? 2 * memory->capacity : 16;
	ranges = realloc(memory->ranges, capacity * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	memory->ranges = ranges;
	memory->capacity = capacity;
	return 0;
}

int mimicd_guest_memory_add(struct mimicd_guest_memory *memory, int fd, uint64_t offset,
			    struct mimicd_guest_range range, const char **why)
{
	size_t index = first_after(memory, range.address);
	int error = check(memory, &range, index, why);

	if (!error)
		error = map(&range, fd, offset, why);
	if (error)
		return error;
	pthread_rwlock_wrlock(&memory->lock);
	error = reserve(memory);
	if (!error) {
		memmove(&memory->ranges[index + 1], &memory->ranges[index],
			(memory->count - index) * sizeof(range));
		memory->ranges[index] = range;
		memory->count++;
	}
	pthread_rwlock_unlock(&memory->lock);
	if (error) {
		*why = "there is no memory for it";
		unmap(memory, &range);
	}
	return error;
}

int mimicd_guest_memory_remove(struct mimicd_guest_memory *memory, uint64_t address, uint64_t size)
{
	size_t first = first_after(memory, address), end = first;
	uint64_t last = address + (size - 1);

	if (!size || last < address)
		return -EINVAL;
	while (end < memory->count && memory->ranges[end].address <= last) {
		const struct mimicd_guest_range *range = &memory->ranges[end++];

		if (range->address < address || range->address + (range->size - 1) > last)
			return -EINVAL;
	}
	if (first == end)
		return -ENOENT;
	pthread_rwlock_wrlock(&memory->lock);
	for (size_t i = first; i < end; i++)
		unmap(memory, &memory->ranges[i]);
	memmove(&memory->ranges[first], &memory->ranges[end], (memory->count - end) * sizeof(*memory->ranges));
	memory->count -= end - first;
	memory->removals++;
	pthread_rwlock_unlock(&memory->lock);
	return 0;
}
