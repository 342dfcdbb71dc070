/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

static void *checked(void *memory)
{
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static char *map(size_t size)
{
	return checked(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void *memory_map(size_t size)
{
	void *memory = map(size);

	/* A kernel without huge pages (PREEMPT_RT) does not know that advice either. */
	if (madvise(memory, size, MADV_NOHUGEPAGE) && errno != EINVAL)
		abort();
	return memory;
}

void *memory_map_huge(void)
{
	char *memory = map(2 * HUGE_PAGE);
	char *base = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

	if (madvise(base, HUGE_PAGE, MADV_HUGEPAGE)) {
		if (errno != EINVAL)
			abort();
		munmap(memory, 2 * HUGE_PAGE);
		return NULL;
	}
	return base;
}

int memory_file(size_t size)
{
	int file = memfd_create("test", MFD_CLOEXEC);

	if (file < 0 || ftruncate(file, (off_t)size))
		abort();
	return file;
}

void *memory_map_file(int file, size_t size)
{
	return checked(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
}

double memory_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

unsigned long memory_number(const char *name)
{
	FILE *file = fopen(name, "re");
	unsigned long value = 0;

	if (file && fscanf(file, "%lu", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

unsigned long memory_named_number(const char *name, const char *wanted)
{
	FILE *file = fopen(name, "re");
	unsigned long value = 0;
	size_t length = strlen(wanted);
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, wanted, length) == 0 && strchr(" :\t", line[length]))
			value = strtoul(line + length + 1, NULL, 10);
	}
	if (file)
		fclose(file);
	return value;
}

bool memory_write_text(const char *name, const char *text)
{
	int file = open(name, O_WRONLY | O_CLOEXEC);
	bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		close(file);
	return done;
}

static uint64_t word(const char *name, uint64_t number)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;

	if (file < 0 || pread(file, &value, sizeof(value), (off_t)(number * sizeof(value))) !=
				sizeof(value))
		abort();
	close(file);
	return value;
}

uint64_t memory_frame(const volatile void *address)
{
	uint64_t entry = word("/proc/self/pagemap", (uintptr_t)address / PAGE);

	return entry >> 63 ? entry & ((1ull << 55) - 1) : 0;
}

uint64_t memory_frame_word(const char *file, uint64_t frame)
{
	return word(file, frame);
}
