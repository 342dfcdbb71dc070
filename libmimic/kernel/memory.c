/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory on the kernel transport. Nothing has to be shared: memory that is registered
 * is remembered, so that a program's mistakes get the answers that they get on
 * the daemon transport.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libmimic/base/memory.h"
#include "libmimic/kernel/kernel.h"

struct range {
	struct range *next;
	uintptr_t start;
	uintptr_t end;
	bool is_registered;	/* the program's own memory; else from alloc */
};

static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

/* With the lock. */
static bool overlaps(uintptr_t start, uintptr_t end)
{
	for (const struct range *range = ranges; range; range = range->next) {
		if (range->start < end && start < range->end)
			return true;
	}
	return false;
}

/* -EINVAL if some of it is known already. */
static int add_range(uintptr_t start, uintptr_t end, bool is_registered)
{
	struct range *range = malloc(sizeof(*range));
	int error = 0;

	if (!range)
		return -ENOMEM;
	*range = (struct range){ NULL, start, end, is_registered };
	pthread_mutex_lock(&ranges_lock);
	if (is_registered && overlaps(start, end)) {
		error = -EINVAL;
	} else {
		range->next = ranges;
		ranges = range;
	}
	pthread_mutex_unlock(&ranges_lock);
	if (error)
		free(range);
	return error;
}

/* -EINVAL if there is no such range. `end` 0: any. */
static int remove_range(uintptr_t start, uintptr_t end, bool is_registered)
{
	struct range **link, *found;

	pthread_mutex_lock(&ranges_lock);
	for (link = &ranges; (found = *link); link = &found->next) {
		if (found->start != start || found->is_registered != is_registered)
			continue;
		if (end && found->end != end)
			continue;
		*link = found->next;
		break;
	}
	pthread_mutex_unlock(&ranges_lock);
	free(found);
	return found ? 0 : -EINVAL;
}

void *mimic_kernel_memory_alloc(size_t size)
{
	void *address = mimic_memory_private_alloc(NULL, size);
	int error;

	if (!address)
		return NULL;
	error = add_range((uintptr_t)address, (uintptr_t)address + mimic_memory_round(size), false);
	if (!error)
		return address;
	mimic_memory_private_free(NULL, address);
	errno = -error;
	return NULL;
}

int mimic_kernel_memory_free(void *address)
{
	int error = remove_range((uintptr_t)address, 0, false);

	return error ? error : mimic_memory_private_free(NULL, address);
}

int mimic_kernel_memory_register(void *address, size_t size)
{
	uintptr_t start, end;
	int protection;
	int error = mimic_memory_check_range(address, size);

	if (error)
		return error;
	if (!mimic_memory_whole_pages(address, size, &start, &end))
		return 0;
	error = mimic_memory_check_private(start, end, &protection);
	return error ? error : add_range(start, end, true);
}

int mimic_kernel_memory_unregister(void *address, size_t size)
{
	uintptr_t start, end;
	int error = mimic_memory_check_range(address, size);

	if (error)
		return error;
	if (!mimic_memory_whole_pages(address, size, &start, &end))
		return 0;
	return remove_range(start, end, true);
}

void mimic_kernel_memory_after_fork(void)
{
	/* A thread that the child does not have may have held it. */
	pthread_mutex_init(&ranges_lock, NULL);
	while (ranges) {
		struct range *range = ranges;

		ranges = range->next;
		free(range);
	}
}
