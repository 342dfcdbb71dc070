/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/device_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/engine/keep.h"
#include "daemon/engine/memory_fix.h"
#include "daemon/journal/journal.h"
#include "libmimic/base/memory.h"

/* The journal has what is changed in it, so it has a place there. */
static void *map_anonymous(size_t size)
{
	void *place = mimicd_journal_is_on() ? mimicd_journal_place_take(size) : NULL;

	if (mimicd_journal_is_on() && !place) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return mmap(place, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
}

int mimicd_device_memory_create(struct mimicd_device_memory *memory, size_t size)
{
	void *base;

	*memory = (struct mimicd_device_memory){ .fd = -1 };
	if (!size)
		return 0;
	base = map_anonymous(size);
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
	mimicd_keep_drop(MIMICD_KEEP_MEMORY, memory->kept, 0);
	if (memory->base)
		munmap(memory->base, memory->size);
	if (memory->base && mimicd_journal_is_on())
		mimicd_journal_place_give_back(memory->base);
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
	error = mimicd_keep(MIMICD_KEEP_MEMORY, &memory->kept, 0, fd);
	memory->fd = fd;
	return error;
}

int mimicd_device_memory_adopt(struct mimicd_device_memory *memory, int fd)
{
	if (mmap(memory->base, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -errno;
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
	mimicd_keep_drop(MIMICD_KEEP_MEMORY, memory->kept, 0);
	memory->kept = 0;
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}
