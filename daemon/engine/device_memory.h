/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device's own memory that programs map (a cluster's shared memory).
 *
 * The model has it at one address for as long as it lives; the mapping there
 * changes: memory of ours while no program has the device, a new file for each
 * program that opens it, or the bus's pages. So memory that a program has left, or
 * still has mapped, is never the next one's.
 */
#ifndef MIMICD_DEVICE_MEMORY_H
#define MIMICD_DEVICE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct mimicd_memory_fixes;

struct mimicd_device_memory {
	void *base;	/* NULL: the device has none */
	size_t size;
	int fd;		/* for the program that has the device; -1: none has, or it maps the bus's */
	uint64_t kept;	/* the number of that file in the store of a daemon that can be recovered; 0: none */
};

/* Whole pages; 0: none. 0 or -errno. */
int mimicd_device_memory_create(struct mimicd_device_memory *memory, size_t size);
void mimicd_device_memory_destroy(struct mimicd_device_memory *memory);
/* A new file of zeros for a program, of which it can punch nothing out if that is possible. 0 or -errno. */
int mimicd_device_memory_open(struct mimicd_device_memory *memory, const struct mimicd_memory_fixes *fixes);
/* The file that a predecessor has made for the program, which is `fd`, and ours from now on. 0 or -errno. */
int mimicd_device_memory_adopt(struct mimicd_device_memory *memory, int fd);
/* No program has the device: zeros of ours. No job is in flight. */
void mimicd_device_memory_close(struct mimicd_device_memory *memory);

#endif
