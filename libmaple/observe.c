/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Counters, debug words, statistics, faults; and memory, which libmimic does. */
#include "internal.h"

static int check_handle(struct maple *maple, const void *place)
{
	if (!maple)
		return maple_error(-EINVAL, "the handle is NULL");
	if (!place)
		return maple_error(-EINVAL, "no place for the answer");
	return 0;
}

int maple_counters(struct maple *maple, struct maple_counters *counters)
{
	uint64_t values[MAPLE_COUNTER_COUNT] = { 0 };
	int error = check_handle(maple, counters);
	ssize_t got;

	if (error)
		return error;
	got = mimic_device_counters(maple->device, values, MAPLE_COUNTER_COUNT);
	if (got < 0)
		return mimic_library_error((int)got);
#define _(name, meaning) counters->name = values[MAPLE_COUNTER_##name];
	MAPLE_COUNTERS(_)
#undef _
	return 0;
}

int maple_debug(struct maple *maple, unsigned int word, uint64_t *value)
{
	int error = check_handle(maple, value);

	if (error)
		return error;
	if (word > 7)
		return maple_error(-EINVAL, "debug word %u: there are eight, 0 to 7", word);
	return maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_DEBUG, word, 8, value);
}

/* Four reads always, so that the device's index is at 0 again for the next call. */
int maple_statistics(struct maple *maple, unsigned int queue, uint64_t words[4])
{
	int error = check_handle(maple, words);

	if (error)
		return error;
	if (queue >= maple->queue_count)
		return maple_error(-EINVAL, "queue %u: %s has %u queues", queue,
				   maple_device_name(maple), maple->queue_count);
	pthread_mutex_lock(&maple->statistics_lock);
	for (unsigned int i = 0; i < 4 && !error; i++)
		error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_STATISTICS, queue,
					    8, &words[i]);
	pthread_mutex_unlock(&maple->statistics_lock);
	return error;
}

int maple_fault(struct maple *maple, uint64_t *address, uint64_t *count)
{
	int error = check_handle(maple, address);

	if (!error)
		error = check_handle(maple, count);
	return error ? error : maple->encoding->fault(maple, address, count);
}

void *maple_alloc(struct maple *maple, size_t size)
{
	if (!maple || size == 0) {
		errno = EINVAL;
		maple_error(-EINVAL, maple ? "maple_alloc: no bytes" : "the handle is NULL");
		return NULL;
	}
	return mimic_library_alloc(maple->device, size);
}

int maple_free(struct maple *maple, void *memory)
{
	if (!memory)
		return 0;
	if (!maple)
		return maple_error(-EINVAL, "the handle is NULL");
	return mimic_library_result(mimic_memory_free(maple->device, memory));
}

int maple_register(struct maple *maple, void *memory, size_t size)
{
	int error = check_handle(maple, memory);

	return error ? error : mimic_library_result(mimic_memory_register(maple->device, memory, size));
}

int maple_unregister(struct maple *maple, void *memory, size_t size)
{
	int error = check_handle(maple, memory);

	return error ? error : mimic_library_result(mimic_memory_unregister(maple->device, memory, size));
}
