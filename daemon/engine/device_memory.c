/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/device_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/engine/memory_fix.h"
#include "libmimic/base/memory.h"

int mimicd_device_memory_create(struct mimicd_device_memory *memory, size_t size)
{
	void *base;

	*memory = (struct mimicd_device_memory){ .fd = -1 };
	if (!size)
		return 0;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	memory->base = base;
	memory->size = size;
	return 0;
}

void mimicd_device_memory_destroy(struct mimicd_device_memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	if (memory->base)
		munmap(memory->base, memory->size);
	*memory = (struct mimicd_device_memory){ .fd = -1 };
}

int mimicd_device_memory_open(struct mimicd_device_memory *memory, const struct mimicd_memory_fixes *fixes)
{
	int fd, error;

	if (!memory->base)
		return 0;
	fd = mimic_memory_file("mimic device memory", memory->size);
	if (fd < 0)
		return fd;
	/* The program gets this descriptor: it takes no page from under us, and seals nothing itself. */
	error = fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) < 0 ? -errno : mimicd_memory_fix_ours(fixes, fd);
	if (!error && mmap(memory->base, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		error = -errno;
	if (error) {
		close(fd);
		return error;
	}
	memory->fd = fd;
	return 0;
}

void mimicd_device_memory_close(struct mimicd_device_memory *memory)
{
	if (!memory->base)
		return;
	/* If there is no room for a new mapping the old one stays until the next open replaces it. */
	mmap(memory->base, memory->size, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}
