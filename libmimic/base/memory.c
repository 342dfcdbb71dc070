/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/base/probe.h"

/* Above the range of 32-bit mappings and a non-PIE program. */
#define LOW_START 0x200000000ull
#define LOW_STEP 0x40000000ull
#define HUGE_PAGE 0x200000ull

struct allocation {
	struct allocation *next;
	const void *owner;
	void *address;
	size_t size;
	bool is_registered;	/* the program's own memory */
};

static pthread_mutex_t allocations_lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;

size_t mimic_memory_round(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!size || size > SIZE_MAX - page)
		return 0;
	return (size + page - 1) & ~(page - 1);
}

static void *map_at(uint64_t address, size_t size, int flags, int fd)
{
	void *hint = (void *)(uintptr_t)address;
	void *memory = mmap(hint, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (memory == hint)
		return memory;
	/* Before Linux 4.17 the flag is unknown, and the address a mere hint. */
	munmap(memory, size);
	errno = EEXIST;
	return NULL;
}

void *mimic_memory_map_low(size_t size, int flags, int fd)
{
	/* Where the last one ended; a race makes two threads try the same place, and one of them the next. */
	static _Atomic uint64_t cursor = LOW_START;
	size_t rounded = mimic_memory_round(size);
	uint64_t start = cursor;
	void *memory;

	if (!rounded || rounded > MIMIC_MEMORY_LIMIT - LOW_START) {
		errno = size ? ENOMEM : EINVAL;
		return NULL;
	}
	for (uint64_t tried = 0; tried < MIMIC_MEMORY_LIMIT; tried += LOW_STEP) {
		if (start + rounded > MIMIC_MEMORY_LIMIT)
			start = LOW_START;
		memory = map_at(start, rounded, flags, fd);
		if (memory) {
			/* Aligned so that the kernel may use huge pages. */
			cursor = (start + rounded + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
			return memory;
		}
		if (errno != EEXIST)
			return NULL;
		start = (start & ~(LOW_STEP - 1)) + LOW_STEP;
	}
#ifdef MAP_32BIT
	/* A sanitizer's shadow takes all but the lowest 2 GiB. */
	memory = mmap(NULL, rounded, PROT_READ | PROT_WRITE, flags | MAP_32BIT, fd, 0);
	if (memory != MAP_FAILED)
		return memory;
#endif
	errno = ENOMEM;
	return NULL;
}

/*
 * Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ, too, which would end the program. Only
 * this thread's signal is discarded, and only if none was pending before.
 */
static int without_signal(int fd, off_t size, int (*call)(int fd, off_t size))
{
	const struct timespec now = { 0 };
	sigset_t one, before, pending;
	int result, error;

	sigemptyset(&one);
	sigaddset(&one, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	result = call(fd, size);
	error = errno;
	if (result && error == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&one, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return result;
}

int mimic_memory_resize(int fd, off_t size)
{
	return without_signal(fd, size, ftruncate);
}

static int make_pages(int fd, off_t size)
{
	int result;

	do {
		result = fallocate(fd, 0, 0, size);
	} while (result && errno == EINTR);
	return result;
}

int mimic_memory_make_pages(int fd, size_t size)
{
	return without_signal(fd, (off_t)size, make_pages) ? -errno : 0;
}

int mimic_memory_file(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (fd < 0)
		return -errno;
	if (mimic_memory_resize(fd, (off_t)size) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static void add_allocation(struct allocation *allocation)
{
	pthread_mutex_lock(&allocations_lock);
	allocation->next = allocations;
	allocations = allocation;
	pthread_mutex_unlock(&allocations_lock);
}

/* Takes it out of the list. NULL: there is none; size 0: of any size. */
static struct allocation *take_allocation(const void *owner, const void *address, size_t size,
					  bool is_registered)
{
	struct allocation **link, *found;

	pthread_mutex_lock(&allocations_lock);
	for (link = &allocations; (found = *link); link = &found->next) {
		if (found->owner != owner || found->address != address ||
		    found->is_registered != is_registered || (size && found->size != size))
			continue;
		*link = found->next;
		break;
	}
	pthread_mutex_unlock(&allocations_lock);
	return found;
}

static void free_allocation(struct allocation *allocation)
{
	if (!allocation->is_registered)
		munmap(allocation->address, allocation->size);
	free(allocation);
}

void *mimic_memory_private_alloc(const void *owner, size_t size)
{
	struct allocation *allocation = malloc(sizeof(*allocation));
	void *address;

	if (!allocation)
		return NULL;
	address = mimic_memory_map_low(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!address) {
		free(allocation);
		return NULL;
	}
	*allocation = (struct allocation){
		.owner = owner, .address = address, .size = mimic_memory_round(size),
	};
	add_allocation(allocation);
	return address;
}

int mimic_memory_private_free(const void *owner, void *address)
{
	struct allocation *found = take_allocation(owner, address, 0, false);

	if (!found)
		return -EINVAL;
	free_allocation(found);
	return 0;
}

int mimic_memory_private_register(const void *owner, const void *address, size_t size)
{
	struct allocation *allocation;
	uintptr_t start, end;
	int error = mimic_memory_check_range(address, size);

	if (error || !mimic_memory_whole_pages(address, size, &start, &end))
		return error;
	allocation = malloc(sizeof(*allocation));
	if (!allocation)
		return -ENOMEM;
	*allocation = (struct allocation){
		.owner = owner, .address = (void *)start, .size = end - start, .is_registered = true,
	};
	add_allocation(allocation);
	return 0;
}

int mimic_memory_private_unregister(const void *owner, const void *address, size_t size)
{
	struct allocation *found;
	uintptr_t start, end;
	int error = mimic_memory_check_range(address, size);

	if (error || !mimic_memory_whole_pages(address, size, &start, &end))
		return error;
	found = take_allocation(owner, (void *)start, end - start, true);
	if (!found)
		return -EINVAL;
	free_allocation(found);
	return 0;
}

static struct allocation *take_any(const void *owner)
{
	struct allocation **link, *found;

	pthread_mutex_lock(&allocations_lock);
	for (link = &allocations; *link && (*link)->owner != owner; link = &(*link)->next)
		;
	found = *link;
	if (found)
		*link = found->next;
	pthread_mutex_unlock(&allocations_lock);
	return found;
}

void mimic_memory_private_end(const void *owner)
{
	struct allocation *allocation;

	while ((allocation = take_any(owner)))
		free_allocation(allocation);
}

void mimic_memory_after_fork(void)
{
	/* A thread that the child does not have may have held it. */
	pthread_mutex_init(&allocations_lock, NULL);
}

int mimic_memory_check_range(const void *address, size_t size)
{
	if (!address || !size || size > UINTPTR_MAX - (uintptr_t)address)
		return -EINVAL;
	return 0;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			uint64_t tag, uint64_t *values)
{
	(void)context;
	(void)tag;
	if (size == 8)
		return (long)mimic_probe_gather64(addresses, count, values);
	return (long)mimic_probe_gather32(addresses, count, values);
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context;
	return mimic_probe_read(address, buffer, size);
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			   void *rows)
{
	(void)context;
	return (long)mimic_probe_read_rows(addresses, count, size, rows);
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	(void)context;
	return (long)mimic_probe_write_rows(addresses, count, size, rows);
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			    void *buffer, size_t buffer_stride)
{
	(void)context;
	return (long)mimic_probe_read_block(address, stride, size, count, buffer, buffer_stride);
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			     const void *buffer, size_t buffer_stride)
{
	(void)context;
	return (long)mimic_probe_write_block(address, stride, size, count, buffer, buffer_stride);
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	(void)context;
	return mimic_probe_atomic(address, operation, operand, expected, old);
}

static void port_prefetch(void *context, uint64_t address)
{
	(void)context;
	mimic_probe_prefetch(address);
}

static void port_announce(void *context, const uint64_t *addresses, size_t count)
{
	(void)context;
#pragma GCC unroll 4
	for (size_t i = 0; i < count; i++)
		mimic_probe_prefetch(addresses[i]);
}

void mimic_memory_port(struct mimic_memory *memory)
{
	*memory = (struct mimic_memory) {
		.gather = port_gather,
		.read = port_read,
		.read_rows = port_read_rows,
		.write_rows = port_write_rows,
		.read_block = port_read_block,
		.write_block = port_write_block,
		.atomic = port_atomic,
		.prefetch = port_prefetch,
		.announce = port_announce,
	};
}
