/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ranges that a client shares. How they are read: memory_internal.h. */
#include "daemon/engine/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "daemon/engine/memory_internal.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/holes.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/quota.h"
#include "daemon/engine/user.h"
#include "daemon/loop/closer.h"
#include "libmimic/base/clock.h"
#include "mimic/access.h"
#include "mimic/protocol.h"

/*
 * Trust boundary: a mapping of a file that can shrink, or of one that can run
 * out of pages, is a SIGBUS in the daemon whenever the client likes. So only
 * memfds of the ordinary page size (hugetlbfs ones may lack pages) that are
 * sealed against shrinking; no truncation can take those away.
 */
static int check_file(int fd, uint64_t size, uint64_t offset, struct stat *status, const char **why)
{
	struct statfs filesystem;
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
	if (fstat(fd, status) < 0 || status->st_size < 0 || offset > (uint64_t)status->st_size ||
	    size > (uint64_t)status->st_size - offset) {
		*why = "the memfd is shorter than the range";
		return -EINVAL;
	}
	return 0;
}

int mimicd_memory_check_sparse(int fd, uint64_t size, uint64_t offset, const char **why)
{
	struct stat status;

	return check_file(fd, size, offset, &status, why);
}

/* We pay for pages that our access makes. holes.h says how pages that are punched out later are handled. */
int mimicd_memory_check(int fd, uint64_t size, uint64_t offset, const char **why)
{
	struct stat status;
	int error = check_file(fd, size, offset, &status, why);

	if (!error && (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size) {
		*why = "the memfd has holes: pages are to be made by the program, as by fallocate()";
		error = -EPERM;
	}
	return error;
}

int mimicd_memory_check_and_fix(struct mimicd_memory *memory, int fd, uint64_t size, uint64_t offset, const char **why)
{
	int error = mimicd_memory_check(fd, size, offset, why);

	if (!error)
		error = mimicd_memory_fix(memory, fd, why);
	/* Pages may have been punched out before it was immutable. */
	return error ? error : mimicd_memory_check(fd, size, offset, why);
}

/* More than this, and mappings would be had that no quota counts. */
#define UNMAP_BACKLOG 64u
#define NS_PER_S 1000000000u
/* Jobs have the lock for a piece of a block, and others wait for less than 2 ms. */
#define LOCK_NS 1000000u

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

const struct mimicd_range *mimicd_memory_find(const struct mimicd_memory *memory, uint64_t address,
					      uint64_t size)
{
	size_t index = first_after(memory, address);

	if (index == memory->count || !mimicd_range_holds(&memory->ranges[index], address, size))
		return NULL;
	return &memory->ranges[index];
}

void mimicd_memory_init(struct mimicd_memory *memory, struct mimicd_errands *errands, pid_t pid, int pidfd,
			bool may_read_process)
{
	pthread_rwlockattr_t attributes;

	memset(memory, 0, sizeof(*memory));
	memory->errands = errands;
	memory->pid = pid;
	memory->pidfd = pidfd;
	memory->may_read_process = may_read_process;
	pthread_rwlockattr_init(&attributes);
	/* Jobs read all the time, and all accesses wait for a thread that writes. */
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&memory->lock, &attributes);
	pthread_rwlockattr_destroy(&attributes);
}

/* With the lock. */
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

/* 0 or a positive error. ThreadSanitizer of gcc 12 knows only the one by the other clock. */
static int lock_until(pthread_rwlock_t *lock, uint64_t end)
{
#ifdef __SANITIZE_THREAD__
	struct timespec until;

	(void)end;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOCK_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	return pthread_rwlock_timedwrlock(lock, &until);
#else
	const struct timespec until = { (time_t)(end / NS_PER_S), (long)(end % NS_PER_S) };

	return pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &until);
#endif
}

/*
 * false: a job has it for longer than its piece of a block takes, as it sleeps in a page. The user's next messages are
 * answered 100 times as long later, so that waits that fail are less than 1 % of the time.
 */
static bool lock_to_change(struct mimicd_memory *memory)
{
	uint64_t begun = mimic_now();

	if (!lock_until(&memory->lock, begun + LOCK_NS))
		return true;
	if (memory->user)
		mimicd_wakes_note_wait(memory->user, MIMICD_WAKE_MESSAGE, mimic_now() - begun);
	return false;
}

/* With the lock. */
static int insert(struct mimicd_memory *memory, size_t index, const struct mimicd_range *range)
{
	int error = reserve(memory);

	if (error)
		return error;
	memmove(&memory->ranges[index + 1], &memory->ranges[index],
		(memory->count - index) * sizeof(memory->ranges[0]));
	memory->ranges[index] = *range;
	memory->count++;
	return 0;
}

static int take_quota(struct mimicd_memory *memory, uint64_t size, const char **why)
{
	int error = mimicd_quota_take(memory->user, MIMICD_QUOTA_maps, 1);

	if (!error) {
		error = mimicd_quota_take(memory->user, MIMICD_QUOTA_shared, size);
		if (error)
			mimicd_quota_give_back(memory->user, MIMICD_QUOTA_maps, 1);
	}
	if (error)
		*why = error == -EDQUOT ? "its user has as much as a user may" : "there is no room for more";
	return error;
}

static void give_quota_back(struct mimicd_memory *memory, uint64_t size)
{
	mimicd_quota_give_back(memory->user, MIMICD_QUOTA_maps, 1);
	mimicd_quota_give_back(memory->user, MIMICD_QUOTA_shared, size);
}

static struct mimicd_holes *holes_of(const struct mimicd_memory *memory)
{
	return &memory->user->engine->holes;
}

int mimicd_memory_adopt(struct mimicd_memory *memory, struct mimicd_range *mapping, const char **why)
{
	int error = take_quota(memory, mapping->size, why);

	if (error)
		return error;
	error = mimicd_holes_watch(holes_of(memory), memory, mapping->base, mapping->size, &mapping->watched);
	if (error) {
		*why = "there is no memory to watch it";
		give_quota_back(memory, mapping->size);
	}
	return error;
}

static int map_range(struct mimicd_memory *memory, int fd, struct mimicd_range *range, uint64_t offset,
		     const char **why)
{
	void *base = mmap(NULL, range->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	int error;

	if (base == MAP_FAILED) {
		*why = "it cannot be mapped for reading and writing";
		return -errno;
	}
	range->base = base;
	error = mimicd_memory_adopt(memory, range, why);
	if (error)
		munmap(base, range->size);
	return error;
}

void mimicd_memory_drop(struct mimicd_memory *memory, const struct mimicd_range *range)
{
	struct mimicd_closer *closer = memory->user ? memory->user->engine->loop->closer : NULL;

	mimicd_keep_drop(MIMICD_KEEP_RANGE, range->kept, 0);
	mimicd_holes_forget(range->watched);
	/* It may be the last end of the memfd, whose pages are freed then: as many as the client likes. */
	if (closer && mimicd_closer_backlog(closer, memory->user->uid) < UNMAP_BACKLOG)
		mimicd_closer_unmap(closer, memory->user->uid, range->base, range->size);
	else
		munmap(range->base, range->size);
	give_quota_back(memory, range->size);
}

/* With the lock. */
static int map_and_insert(struct mimicd_memory *memory, int fd, size_t index, struct mimicd_range *range,
			  uint64_t offset, const char **why)
{
	int error = map_range(memory, fd, range, offset, why);

	if (error)
		return error;
	error = insert(memory, index, range);
	if (error)
		mimicd_memory_drop(memory, range);
	return error;
}

int mimicd_memory_add(struct mimicd_memory *memory, int fd, uint64_t address, uint64_t size,
		      uint64_t offset, const char **why)
{
	const uint64_t page_mask = MIMIC_PAGE_SIZE - 1;
	struct mimicd_range range = { .start = address, .size = size, .offset = offset };
	size_t index;
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
	error = mimicd_memory_check_and_fix(memory, fd, size, offset, why);
	if (error)
		return error;
	if (!lock_to_change(memory))
		return -EINPROGRESS;
	error = map_and_insert(memory, fd, index, &range, offset, why);
	pthread_rwlock_unlock(&memory->lock);
	return error;
}

int mimicd_memory_remove(struct mimicd_memory *memory, uint64_t address, uint64_t size)
{
	size_t index = first_after(memory, address);
	struct mimicd_range range;

	if (index == memory->count)
		return -ENOENT;
	range = memory->ranges[index];
	if (range.start != address || range.size != size)
		return -ENOENT;
	/* Jobs lock the ranges that they read: none is in this range from here on. */
	if (!lock_to_change(memory))
		return -EINPROGRESS;
	memory->last.size = 0;
	memory->count--;
	memmove(&memory->ranges[index], &memory->ranges[index + 1],
		(memory->count - index) * sizeof(memory->ranges[0]));
	pthread_rwlock_unlock(&memory->lock);
	mimicd_memory_drop(memory, &range);
	return 0;
}

void mimicd_memory_destroy(struct mimicd_memory *memory)
{
	mimicd_memory_forget(memory, NULL);
	mimicd_memory_fix_forget(memory);
	for (size_t i = 0; i < memory->count; i++)
		mimicd_memory_drop(memory, &memory->ranges[i]);
	free(memory->ranges);
	pthread_rwlock_destroy(&memory->lock);
	memory->ranges = NULL;
	memory->count = memory->capacity = 0;
}
