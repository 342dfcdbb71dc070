/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/daemon/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmimic/base/memory.h"
#include "libmimic/daemon/session.h"

/* Bytes copied at once when private memory becomes shared. */
#define COPY_MAX (1u << 30)

struct range {
	struct range *next;
	char *address;
	size_t size;
	struct mimic_descriptor file;
	int protection;
	bool is_registered;	/* the program's own memory; else from alloc */
};

static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

static int tell(uint32_t generation, uint16_t type, const struct range *range)
{
	struct mimic_memory_request message = {
		.address = (uintptr_t)range->address,
		.size = range->size,
	};
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = type,
		.fd = type == MIMIC_MESSAGE_MEMORY_ADD ? range->file.fd : -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	return mimic_daemon_session_request(generation, &request);
}

static void free_range(struct range *range)
{
	mimic_descriptor_close(&range->file);
	free(range);
}

static void add_range(struct range *range)
{
	pthread_mutex_lock(&ranges_lock);
	range->next = ranges;
	ranges = range;
	pthread_mutex_unlock(&ranges_lock);
}

/* Takes it out of the list. NULL if there is none of that kind; size 0: any. */
static struct range *take_range(const char *address, size_t size, bool is_registered)
{
	struct range **link, *found;

	pthread_mutex_lock(&ranges_lock);
	for (link = &ranges; (found = *link); link = &found->next) {
		if (found->address != address || found->is_registered != is_registered)
			continue;
		if (size && found->size != size)
			continue;
		*link = found->next;
		break;
	}
	pthread_mutex_unlock(&ranges_lock);
	return found;
}

/* mimicd refuses holes: their pages would be made, and counted as memory of the process that touches them first. */
static int make_file(size_t size)
{
	int fd = mimic_memory_file("mimic memory", size);
	int error = fd < 0 ? fd : mimic_memory_make_pages(fd, size);

	if (error && fd >= 0)
		close(fd);
	return error ? error : fd;
}

static struct range *make_range(size_t size)
{
	struct range *range = calloc(1, sizeof(*range));
	int fd;

	if (!range) {
		errno = ENOMEM;
		return NULL;
	}
	fd = make_file(size);
	if (fd < 0) {
		free(range);
		errno = -fd;
		return NULL;
	}
	range->file = mimic_descriptor_keep(fd);
	range->size = size;
	range->protection = PROT_READ | PROT_WRITE;
	return range;
}

void *mimic_daemon_memory_alloc(uint32_t generation, size_t size)
{
	size_t rounded = mimic_memory_round(size);
	struct range *range;
	int error;

	if (!rounded) {
		errno = EINVAL;
		return NULL;
	}
	range = make_range(rounded);
	if (!range)
		return NULL;
	range->address = mimic_memory_map_low(rounded, MAP_SHARED, range->file.fd);
	if (!range->address) {
		error = errno;
		free_range(range);
		errno = error;
		return NULL;
	}
	error = tell(generation, MIMIC_MESSAGE_MEMORY_ADD, range);
	if (error) {
		munmap(range->address, rounded);
		free_range(range);
		errno = -error;
		return NULL;
	}
	add_range(range);
	return range->address;
}

int mimic_daemon_memory_free(uint32_t generation, void *address)
{
	struct range *range = take_range(address, 0, false);

	if (!range)
		return -EINVAL;
	/* The daemon first, so that it never takes this for memory that the program maps there next. */
	tell(generation, MIMIC_MESSAGE_MEMORY_REMOVE, range);
	munmap(range->address, range->size);
	free_range(range);
	return 0;
}

static int copy_to_memfd(int fd, const char *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t piece = size - done < COPY_MAX ? size - done : COPY_MAX;
		ssize_t written = pwrite(fd, from + done, piece, (off_t)done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		done += (size_t)written;
	}
	return 0;
}

static int share(struct range *range, uint32_t generation)
{
	int error = copy_to_memfd(range->file.fd, range->address, range->size);

	if (error)
		return error;
	/* The daemon first: if it refuses, nothing has changed here. */
	error = tell(generation, MIMIC_MESSAGE_MEMORY_ADD, range);
	if (error)
		return error;
	if (mmap(range->address, range->size, range->protection, MAP_SHARED | MAP_FIXED, range->file.fd, 0) ==
	    MAP_FAILED) {
		error = -errno;
		tell(generation, MIMIC_MESSAGE_MEMORY_REMOVE, range);
	}
	return error;
}

int mimic_daemon_memory_register(uint32_t generation, void *address, size_t size)
{
	struct range *range;
	uintptr_t start, end;
	int protection = 0;
	int error = mimic_memory_check_range(address, size);

	if (error)
		return error;
	if (!mimic_memory_whole_pages(address, size, &start, &end))
		return 0;
	error = mimic_memory_check_private(start, end, &protection);
	if (error)
		return error;
	range = make_range(end - start);
	if (!range)
		return -errno;
	range->address = (char *)start;
	range->protection = protection;
	range->is_registered = true;
	error = share(range, generation);
	if (error)
		free_range(range);
	else
		add_range(range);
	return error;
}

/* Back to memory that is the program's alone, with the same contents. */
static int make_private(const struct range *range)
{
	char *copy = mmap(NULL, range->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, range->address, range->size);
	mprotect(copy, range->size, range->protection);
	if (mremap(copy, range->size, range->size, MREMAP_MAYMOVE | MREMAP_FIXED, range->address) ==
	    MAP_FAILED) {
		int error = -errno;

		munmap(copy, range->size);
		return error;
	}
	return 0;
}

int mimic_daemon_memory_unregister(uint32_t generation, void *address, size_t size)
{
	struct range *range;
	uintptr_t start, end;
	int error = mimic_memory_check_range(address, size);

	if (error)
		return error;
	if (!mimic_memory_whole_pages(address, size, &start, &end))
		return 0;
	range = take_range((char *)start, end - start, true);
	if (!range)
		return -EINVAL;
	error = make_private(range);
	if (error) {
		add_range(range);
		return error;
	}
	tell(generation, MIMIC_MESSAGE_MEMORY_REMOVE, range);
	free_range(range);
	return 0;
}

int mimic_daemon_memory_announce(uint32_t generation)
{
	int error = 0;

	pthread_mutex_lock(&ranges_lock);
	for (struct range *range = ranges; range && !error; range = range->next) {
		/* The program has closed it: the daemon reads this memory as any other. */
		if (!mimic_descriptor_is_ours(&range->file))
			continue;
		error = tell(generation, MIMIC_MESSAGE_MEMORY_ADD, range);
	}
	pthread_mutex_unlock(&ranges_lock);
	return error;
}

/* The same bytes, as this process's own. */
static void remap_private(const struct range *range)
{
	if (mimic_descriptor_is_ours(&range->file))
		mmap(range->address, range->size, range->protection, MAP_PRIVATE | MAP_FIXED, range->file.fd, 0);
	else if (range->protection & PROT_READ)
		make_private(range);
}

void mimic_daemon_memory_after_fork(void)
{
	pthread_mutex_init(&ranges_lock, NULL);
	/* Copy on write, for a child that writes; cheap for one that only calls exec. */
	while (ranges) {
		struct range *range = ranges;

		ranges = range->next;
		remap_private(range);
		free_range(range);
	}
}
