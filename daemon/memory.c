/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ranges that a client shares. How they are read: memory_port.c. */
#include "daemon/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "mimic/access.h"
#include "mimic/protocol.h"

/*
 * Trust boundary: a mapping of a file that can shrink, or of one that can run
 * out of pages, is a SIGBUS in the daemon whenever the client likes. So only
 * memfds of the ordinary page size (hugetlbfs ones may lack pages) that are
 * sealed against shrinking; no hole or truncation can take those away.
 */
static int check_descriptor(int fd, uint64_t size, uint64_t offset, const char **why)
{
	struct statfs filesystem;
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0) {
		*why = "the descriptor is no memfd";
		return -EINVAL;
	}
	if (fstatfs(fd, &filesystem) < 0 || filesystem.f_type != TMPFS_MAGIC) {
		*why = "the memfd has huge pages";
		return -EINVAL;
	}
	if (!(seals & F_SEAL_SHRINK)) {
		*why = "the memfd is not sealed against shrinking";
		return -EPERM;
	}
	if (fstat(fd, &status) < 0 || status.st_size < 0 || offset > (uint64_t)status.st_size ||
	    size > (uint64_t)status.st_size - offset) {
		*why = "the memfd is shorter than the range";
		return -EINVAL;
	}
	return 0;
}

/* Index of the first range that ends after `address`. */
static size_t first_after(const struct mimicd_memory *memory, uint64_t address)
{
	size_t low = 0;
	size_t high = memory->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memory->ranges[middle].start + (memory->ranges[middle].size - 1) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int reserve(struct mimicd_memory *memory)
{
	struct mimicd_range *ranges;
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

int mimicd_memory_add(struct mimicd_memory *memory, int fd, uint64_t address, uint64_t size,
		      uint64_t offset, const char **why)
{
	const uint64_t page_mask = MIMIC_PAGE_SIZE - 1;
	size_t index;
	void *base;
	int error;

	*why = NULL;
	if (!size || ((address | size | offset) & page_mask) || address + (size - 1) < address) {
		*why = "the range is not made of whole pages";
		return -EINVAL;
	}
	if (memory->count == MIMIC_SESSION_RANGES) {
		*why = "too many ranges";
		return -ENOSPC;
	}
	index = first_after(memory, address);
	if (index < memory->count && memory->ranges[index].start <= address + (size - 1)) {
		*why = "the range overlaps another";
		return -EEXIST;
	}
	error = check_descriptor(fd, size, offset, why);
	if (error)
		return error;
	error = reserve(memory);
	if (error)
		return error;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	if (base == MAP_FAILED) {
		*why = "it cannot be mapped for reading and writing";
		return -errno;
	}
	memmove(&memory->ranges[index + 1], &memory->ranges[index],
		(memory->count - index) * sizeof(memory->ranges[0]));
	memory->ranges[index] = (struct mimicd_range){ address, size, base };
	memory->count++;
	return 0;
}

int mimicd_memory_remove(struct mimicd_memory *memory, uint64_t address, uint64_t size)
{
	size_t index = first_after(memory, address);
	struct mimicd_range *range;

	if (index == memory->count)
		return -ENOENT;
	range = &memory->ranges[index];
	if (range->start != address || range->size != size)
		return -ENOENT;
	memory->last.size = 0;
	munmap(range->base, range->size);
	memory->count--;
	memmove(range, range + 1, (memory->count - index) * sizeof(*range));
	return 0;
}

void mimicd_memory_clear(struct mimicd_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		munmap(memory->ranges[i].base, memory->ranges[i].size);
	free(memory->ranges);
	memory->ranges = NULL;
	memory->last.size = 0;
	memory->count = memory->capacity = 0;
}
