/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/soak/kill_work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const struct kill_work *const kill_works[] = {
	&kill_maple, &kill_accesses, &kill_threads, &kill_dare, &kill_virgo, &kill_open, &kill_processes, &kill_list,
	&kill_traps,
};
const unsigned int kill_work_count = sizeof(kill_works) / sizeof(kill_works[0]);

static struct kill_slot none;
static struct kill_slot *slot = &none;
static atomic_flag has_failed = ATOMIC_FLAG_INIT;

void kill_use_slot(struct kill_slot *used)
{
	slot = used;
	kill_mark("begins");
}

void kill_mark(const char *step)
{
	atomic_store(&slot->step, step);
	atomic_store(&slot->marked_ns, kill_now_ns());
}

int kill_fail(const char *format, ...)
{
	va_list arguments;

	if (atomic_flag_test_and_set(&has_failed))
		return -1;
	va_start(arguments, format);
	vsnprintf(slot->error, sizeof(slot->error), format, arguments);
	va_end(arguments);
	return -1;
}

uint64_t kill_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t kill_sum(uint64_t sum, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;

	if (!sum)
		sum = 0xcbf29ce484222325u;
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ byte[i]) * 0x100000001b3u;
	return sum;
}

uint64_t kill_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void kill_fill(void *bytes, size_t size, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;

	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] = (unsigned char)(kill_random(&state) >> 32);
}
