/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The program's memory as the embedded device reaches it, and memory that every profile can address. */
#ifndef LIBMIMIC_MEMORY_H
#define LIBMIMIC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "devices/model.h"

/* Addresses that fit the artifact's 40 bits. */
#define MIMIC_MEMORY_LIMIT (1ull << 40)

/*
 * As mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0), at an address
 * below MIMIC_MEMORY_LIMIT. NULL with errno. `size` is rounded up to whole
 * pages: give munmap() the rounded size.
 */
void *mimic_memory_map_low(size_t size, int flags, int fd);
size_t mimic_memory_round(size_t size);	/* 0 if it cannot be rounded */

/* A file of zeroed memory that keeps its size. Its descriptor (close-on-exec), or -errno. */
int mimic_memory_file(const char *name, size_t size);
/* All of its pages, at the cost of this program. 0 or -errno. */
int mimic_memory_make_pages(int fd, size_t size);
/* ftruncate() that ends with EFBIG at RLIMIT_FSIZE, and never in SIGXFSZ. */
int mimic_memory_resize(int fd, off_t size);

/*
 * Memory of mimic_memory_alloc() on the embedded transport. It has an owner: another one
 * cannot free it.
 */
void *mimic_memory_private_alloc(const void *owner, size_t size);
int mimic_memory_private_free(const void *owner, void *address);
/* A registered range is only remembered, by its whole pages. 0, -EINVAL or -ENOMEM. */
int mimic_memory_private_register(const void *owner, const void *address, size_t size);
int mimic_memory_private_unregister(const void *owner, const void *address, size_t size);
/* Frees and forgets all of the owner's. */
void mimic_memory_private_end(const void *owner);
void mimic_memory_after_fork(void);

/* 0 if the pages of [address, address + size) are a range at all, else -EINVAL. */
int mimic_memory_check_range(const void *address, size_t size);

/* The whole pages of a range. false: there are none. */
bool mimic_memory_whole_pages(const void *address, size_t size, uintptr_t *start, uintptr_t *end);
/* Is all of [start, end) private anonymous memory of one protection? 0, -EINVAL, or -errno. */
int mimic_memory_check_private(uintptr_t start, uintptr_t end, int *protection);

/* The memory port of a device that lives in this process. */
void mimic_memory_port(struct mimic_memory *memory);

#endif
