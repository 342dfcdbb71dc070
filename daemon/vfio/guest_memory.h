/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of a virtual machine, as its QEMU shares it by the descriptors of DMA_MAP: physical
 * addresses of the guest, and where they are seen here.
 */
#ifndef MIMICD_GUEST_MEMORY_H
#define MIMICD_GUEST_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimicd_closer;

/* With an IOMMU in the machine each page may be a range of its own. */
#define MIMICD_GUEST_RANGES_MAX 16384u

struct mimicd_guest_range {
	uint64_t address;
	uint64_t size;
	char *base;		/* NULL: the machine has something there, and does not share it */
	bool is_writable;
};

struct mimicd_guest_memory {
	/*
	 * Ranges come and go with the lock for writing, so that nothing uses one that is gone: a thread
	 * holds it for reading from the look-up of an address to its last access.
	 */
	pthread_rwlock_t lock;
	struct mimicd_guest_range *ranges;	/* sorted by address, disjoint */
	size_t count;
	size_t capacity;
	uint64_t removals;	/* so far: after one, no place that was found before is good any more */
	/* The mappings of these ranges end in its threads, on behalf of this owner (closer.h). */
	struct mimicd_closer *closer;
	uint32_t owner;
};

void mimicd_guest_memory_init(struct mimicd_guest_memory *memory, struct mimicd_closer *closer);
/* All ranges go. */
void mimicd_guest_memory_clear(struct mimicd_guest_memory *memory);
void mimicd_guest_memory_destroy(struct mimicd_guest_memory *memory);

/*
 * Maps a range of the guest; fd -1: one that is not shared. The descriptor stays the
 * caller's. 0; -EINVAL, -EPERM, -EEXIST (it overlaps another), -ENOSPC (too many), -ENOMEM, with *why
 * for a log line.
 */
int mimicd_guest_memory_add(struct mimicd_guest_memory *memory, int fd, uint64_t offset,
			    struct mimicd_guest_range range, const char **why);
/*
 * Takes away all ranges in [address, address + size), after the last access to them has
 * ended. -EINVAL: one lies there only in part, and nothing is taken away; -ENOENT: there is none.
 */
int mimicd_guest_memory_remove(struct mimicd_guest_memory *memory, uint64_t address, uint64_t size);

/* With the lock. The range of the address; NULL: there is none. */
const struct mimicd_guest_range *mimicd_guest_memory_find(const struct mimicd_guest_memory *memory,
							  uint64_t address);

#endif
