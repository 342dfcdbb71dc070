/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mmap, munmap, mremap, mprotect: device pages are reserved, everything else passes through. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmimic/transport.h"
#include "patch.h"
#include "preload.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* x86's */
#endif
#define REPLACED_FLAGS (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset);
EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset);
EXPORT int munmap(void *address, size_t length);
EXPORT int mprotect(void *address, size_t length, int protection);
EXPORT void *mremap(void *old, size_t old_size, size_t new_size, int flags, ...);

static size_t round_up(size_t length)
{
	return (length + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* The checks of the kernel's and the driver's mmap, in their order. */
static int check_request(int descriptor, size_t length, int protection, int flags, off_t offset)
{
	int type = flags & MAP_TYPE;
	int mode = fcntl(descriptor, F_GETFL) & O_ACCMODE;

	if (length == 0 || length > (size_t)1 << 40 || offset & (off_t)(PAGE_BYTES - 1))
		return -EINVAL;
	if (type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (protection & ~(PROT_READ | PROT_WRITE))
		return -EINVAL;
	if (mode == O_WRONLY || (mode == O_RDONLY && protection & PROT_WRITE))
		return -EACCES;
	return 0;
}

/* Address space without memory: every access comes to the fault handler. */
static void *reserve(void *address, size_t length, int flags)
{
	void *start = address || flags & REPLACED_FLAGS ? NULL : mimic_preload_arena_take(length);

	if (start)
		return start;
	return NEXT(mmap)(address, length, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (flags & REPLACED_FLAGS), -1, 0);
}

static void *give_up(void *start, size_t length, int error)
{
	mimic_preload_mapping_remove((uintptr_t)start, length);
	NEXT(munmap)(start, length);
	mimic_preload_arena_give_back((uintptr_t)start, length);
	errno = -error;
	return MAP_FAILED;
}

/* Into the table, page by page; all of them `step` after the one before. */
static void *insert_pages(struct holder *holder, char *start, size_t length, int protection,
			  unsigned int first, unsigned int step)
{
	size_t i;

	mimic_preload_mapping_remove((uintptr_t)start, length);
	for (i = 0; i < length >> PAGE_SHIFT; i++) {
		struct mapping mapping = { holder, first + (unsigned int)i * step, protection };
		int error = mimic_preload_mapping_insert((uintptr_t)start + i * PAGE_BYTES, &mapping);

		if (error)
			return give_up(start, length, error);
	}
	return start;
}

/* The device's memory: a mapping of the file that holds it, with no more rights than the node was opened with. */
static void *map_file(const struct mimic_memory_file *file, void *address, size_t length,
		      int protection, int flags, off_t offset, int mode)
{
	int fixed = flags & REPLACED_FLAGS;
	char path[32];
	void *start;
	int again;

	if (mode == O_RDWR)
		return NEXT(mmap)(address, length, protection, MAP_SHARED | fixed, file->fd, offset);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	again = NEXT(open)(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return MAP_FAILED;
	start = NEXT(mmap)(address, length, protection, MAP_SHARED | fixed, again, offset);
	close(again);
	return start;
}

static void *map_device_memory(struct holder *holder, void *address, size_t length, int protection,
			       int flags, off_t offset, int mode)
{
	uint64_t first = (uint64_t)offset - holder->node.device_kind->memory_offset;
	struct mimic_memory_file file;
	int error = mimic_device_memory_file(atomic_load(&holder->device), &file);
	void *start;

	if (!error && (first >= file.size || length > file.size - first))
		error = -EINVAL;
	if (error) {
		errno = error == -ENXIO ? EINVAL : -error;
		return MAP_FAILED;
	}
	start = map_file(&file, address, length, protection, flags, (off_t)(file.offset + first), mode);
	if (start == MAP_FAILED)
		return MAP_FAILED;
	start = insert_pages(holder, start, length, protection, MEMORY_PAGE, 0);
	if (start != MAP_FAILED)
		mimic_device_memory_mapped(atomic_load(&holder->device), (uintptr_t)start, length, first);
	return start;
}

static void *map_node(struct holder *holder, void *address, size_t length, int protection,
		      int flags, off_t offset, int mode)
{
	const struct mimic_kind *kind = holder->node.device_kind;
	size_t first = (size_t)offset >> PAGE_SHIFT;
	size_t count = length >> PAGE_SHIFT;
	bool is_memory = kind->memory_size && (uint64_t)offset >= kind->memory_offset;
	char *start;

	if (!is_memory && (first >= kind->pages || count > kind->pages - first)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	if (atomic_load(&holder->inherited)) {
		errno = ENODEV;	/* the instance belongs to the parent */
		return MAP_FAILED;
	}
	if (is_memory)
		return map_device_memory(holder, address, length, protection, flags, offset, mode);
	start = reserve(address, length, flags);
	if (start == MAP_FAILED)
		return MAP_FAILED;
	return insert_pages(holder, start, length, protection, (unsigned int)first, 1);
}

/* Pages of registers of a node of the kernel's. true: *result is the answer; false: it is the kernel's. Lock held. */
static bool map_kernels(void *address, size_t length, int protection, int flags, int descriptor, off_t offset,
			void **result)
{
	const struct mimic_kind *kind = mimic_preload_nodes_of_kernel(descriptor);
	size_t first = (size_t)offset >> PAGE_SHIFT;
	size_t count = length >> PAGE_SHIFT;
	struct holder *holder;

	/* The driver refuses these by itself. */
	if (!kind || check_request(descriptor, length, protection, flags, offset) || first >= kind->pages ||
	    count > kind->pages - first)
		return false;
	holder = mimic_preload_files_hold_node(kind, descriptor);
	if (!holder)
		return false;
	*result = reserve(address, length, flags);
	if (*result != MAP_FAILED)
		*result = insert_pages(holder, *result, length, protection, (unsigned int)first, 1);
	if (*result == MAP_FAILED)
		mimic_preload_files_release_unused(false);
	return true;
}

struct window {
	uint64_t start;
	size_t length;
};

static bool window_has(const struct window *window, unsigned int tile, unsigned int page)
{
	return mimic_preload_physical_kind->physical->address(tile, page) - window->start < window->length;
}

static bool window_has_device(const struct window *window)
{
	unsigned int tile, page;

	for (tile = 0; mimic_preload_physical_kind && tile < mimic_preload_physical_kind->private_count;
	     tile++)
		for (page = 0; page < mimic_preload_physical_kind->pages; page++)
			if (window_has(window, tile, page))
				return true;
	return false;
}

static int map_tile_page(const struct window *window, char *start, unsigned int tile,
			 unsigned int page, int protection)
{
	struct mapping mapping = { NULL, page, protection };
	int error = mimic_preload_holder_open_tile(tile, &mapping.holder);

	if (error)
		return error;
	return mimic_preload_mapping_insert(
		(uintptr_t)start + mimic_preload_physical_kind->physical->address(tile, page) - window->start,
		&mapping);
}

static void *map_memory(const struct window *window, void *address, int protection, int flags)
{
	char *start = reserve(address, window->length, flags);
	unsigned int i;

	if (start == MAP_FAILED)
		return MAP_FAILED;
	mimic_preload_mapping_remove((uintptr_t)start, window->length);
	for (i = 0; i < mimic_preload_physical_kind->private_count * mimic_preload_physical_kind->pages;
	     i++) {
		unsigned int tile = i / mimic_preload_physical_kind->pages;
		unsigned int page = i % mimic_preload_physical_kind->pages;
		int error = 0;

		if (window_has(window, tile, page))
			error = map_tile_page(window, start, tile, page, protection);
		if (error)
			return give_up(start, window->length, error);
	}
	return start;
}

/* true: *result is the answer; false: not ours. Lock held. */
static bool map_device(void *address, size_t length, int protection, int flags, int descriptor,
		       off_t offset, void **result)
{
	struct window window = { (uint64_t)offset, round_up(length) };
	struct holder *holder = mimic_preload_files_holder(descriptor);
	int memory_error = 0;
	bool is_memory = mimic_preload_files_is_memory(descriptor, &memory_error);
	int error;

	if (!holder && !is_memory)
		return map_kernels(address, window.length, protection, flags, descriptor, offset, result);
	if (is_memory && !window_has_device(&window)) {
		if (!memory_error)
			return false;
		errno = -memory_error;
		*result = MAP_FAILED;
		return true;
	}
	error = check_request(descriptor, window.length, protection, flags, offset);
	if (error) {
		errno = -error;
		*result = MAP_FAILED;
		return true;
	}
	if (is_memory)
		*result = map_memory(&window, address, protection, flags);
	else
		*result = map_node(holder, address, window.length, protection, flags, offset,
				   fcntl(descriptor, F_GETFL) & O_ACCMODE);
	return true;
}

static bool is_device(int descriptor)
{
	int error;

	return descriptor >= 0 && !mimic_preload_is_inside() &&
	       (mimic_preload_files_holder(descriptor) || mimic_preload_files_is_memory(descriptor, &error) ||
		mimic_preload_nodes_of_kernel(descriptor));
}

enum way {
	WAY_NEW, /* only if nothing is there: text is not */
	WAY_MAPPED, /* in place of what is there */
	WAY_UNMAPPED,
};

/*
 * The program is about to unmap the range, or to map something there: trampolines lie where it has chosen no address,
 * and no device's page comes to its memory. A jump that borrows bytes there would lead astray as soon as they change.
 */
static void make_way(void *address, size_t length, enum way way)
{
	uintptr_t start = (uintptr_t)address;
	struct mimic_preload_lock lock;

	length = round_up(length);
	if (mimic_preload_is_inside() || start % PAGE_BYTES || start + length <= start)
		return;
	if (way != WAY_NEW)
		mimic_preload_patch_forget(start, length, false);
	mimic_preload_patch_make_way(start, length);
	if (way != WAY_MAPPED || !mimic_preload_arena_overlaps(start, length))
		return;
	mimic_preload_lock(&lock);
	mimic_preload_arena_leave(start, length);
	mimic_preload_unlock(&lock);
}

/* The range is unmapped now, or other memory is mapped there. */
static void forget(void *address, size_t length, bool is_unmapped)
{
	struct mimic_preload_lock lock;

	if (mimic_preload_is_inside())
		return;
	mimic_preload_patch_forget((uintptr_t)address, round_up(length), true);
	if (!mimic_preload_mapping_overlaps((uintptr_t)address, length) &&
	    !(is_unmapped && mimic_preload_arena_overlaps((uintptr_t)address, round_up(length))))
		return;
	mimic_preload_lock(&lock);
	if (mimic_preload_mapping_remove((uintptr_t)address, length))
		mimic_preload_files_release_unused(false);
	if (is_unmapped)
		mimic_preload_arena_give_back((uintptr_t)address, round_up(length));
	mimic_preload_unlock(&lock);
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
	struct mimic_preload_lock lock;
	void *result;
	bool ours;

	if (flags & MAP_FIXED_NOREPLACE)
		make_way(address, length, WAY_NEW);
	else if (flags & MAP_FIXED)
		make_way(address, length, WAY_MAPPED);
	if (!(flags & MAP_ANONYMOUS) && is_device(descriptor)) {
		mimic_preload_threads_attach();
		mimic_preload_lock(&lock);
		ours = map_device(address, length, protection, flags, descriptor, offset, &result);
		mimic_preload_unlock(&lock);
		if (ours)
			return result;
	}
	result = NEXT(mmap)(address, length, protection, flags, descriptor, offset);
	/* Only a fixed mapping can replace pages that are in the table. */
	if (result != MAP_FAILED && (flags & MAP_FIXED))
		forget(result, length, false);
	return result;
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset)
{
	return mmap(address, length, protection, flags, descriptor, offset);
}

EXPORT int munmap(void *address, size_t length)
{
	int result;

	make_way(address, length, WAY_UNMAPPED);
	result = NEXT(munmap)(address, length);
	if (result == 0)
		forget(address, length, true);
	return result;
}

/* Device pages stay PROT_NONE for the kernel; the table keeps the program's protection. */
static int protect_pages(char *start, size_t length, int protection)
{
	size_t offset;

	if (protection & ~(PROT_READ | PROT_WRITE)) {
		errno = EINVAL;
		return -1;
	}
	for (offset = 0; offset < length; offset += PAGE_BYTES)
		if (!mimic_preload_mapping_set_protection((uintptr_t)start + offset, protection) &&
		    NEXT(mprotect)(start + offset, PAGE_BYTES, protection))
			return -1;
	return 0;
}

EXPORT int mprotect(void *address, size_t length, int protection)
{
	uintptr_t start = (uintptr_t)address;
	struct mimic_preload_lock lock;
	int result;

	/* Nor may a jump borrow bytes that the processor cannot fetch. */
	if ((protection & PROT_WRITE || !(protection & PROT_EXEC)) && !mimic_preload_is_inside())
		mimic_preload_patch_forget(start, round_up(length), false);
	if (mimic_preload_is_inside() || start % PAGE_BYTES || !mimic_preload_mapping_overlaps(start, length))
		return NEXT(mprotect)(address, length, protection);
	mimic_preload_lock(&lock);
	result = protect_pages(address, round_up(length), protection);
	mimic_preload_unlock(&lock);
	return result;
}

/* Device pages can be cut off at the end, and neither grown nor moved. */
static void *remap_device(char *old, size_t old_size, size_t new_size, int flags)
{
	if (new_size > old_size) {
		errno = EFAULT;	/* as the kernel answers for VM_DONTEXPAND */
		return MAP_FAILED;
	}
	if (new_size == 0 || (flags & ~MREMAP_MAYMOVE) || (uintptr_t)old % PAGE_BYTES) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	if (new_size < old_size && munmap(old + new_size, old_size - new_size))
		return MAP_FAILED;
	return old;
}

EXPORT void *mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
	void *fixed = NULL;
	void *result;
	va_list list;

	va_start(list, flags);
	if (flags & MREMAP_FIXED)
		fixed = va_arg(list, void *);
	va_end(list);
	if (!mimic_preload_is_inside() && mimic_preload_mapping_overlaps((uintptr_t)old, old_size))
		return remap_device(old, round_up(old_size), round_up(new_size), flags);
	make_way(old, old_size, WAY_UNMAPPED);
	if (fixed)
		make_way(fixed, new_size, WAY_MAPPED);
	result = NEXT(mremap)(old, old_size, new_size, flags, fixed);
	if (result != MAP_FAILED && fixed)
		forget(fixed, new_size, false);
	/* Other text may come there next, and memory of its own may have lain among the devices' pages. */
	if (result != MAP_FAILED && result != old)
		forget(old, old_size, true);
	return result;
}
