/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kind of memory that a range is. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "libmimic/base/memory.h"
#include "mimic/access.h"

#define PAGE_MASK ((uintptr_t)MIMIC_PAGE_SIZE - 1)

/* One line of /proc/self/maps: is it memory that can be replaced by a shared copy? */
static bool is_private_anonymous(const char *line)
{
	char flags[5], name[32] = "";
	unsigned long inode;

	if (sscanf(line, "%*x-%*x %4s %*x %*s %lu %31s", flags, &inode, name) < 2)
		return false;
	if (flags[0] != 'r' || flags[3] != 'p' || inode)
		return false;
	return !*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon:", 6);
}

static int protection_of(const char *line)
{
	char flags[5] = "";

	sscanf(line, "%*x-%*x %4s", flags);
	return (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
	       (flags[2] == 'x' ? PROT_EXEC : 0);
}

int mimic_memory_check_private(uintptr_t start, uintptr_t end, int *protection)
{
	FILE *file = fopen("/proc/self/maps", "re");
	uintptr_t covered = start;
	char line[512];
	int error = 0;

	if (!file)
		return -errno;
	while (!error && covered < end && fgets(line, sizeof(line), file)) {
		uintptr_t low, high;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || high <= covered)
			continue;
		if (low > covered || !is_private_anonymous(line))
			error = -EINVAL;
		else if (covered == start)
			*protection = protection_of(line);
		else if (*protection != protection_of(line))
			error = -EINVAL;
		covered = high;
	}
	fclose(file);
	return error ? error : covered < end ? -EINVAL : 0;
}

bool mimic_memory_whole_pages(const void *address, size_t size, uintptr_t *start, uintptr_t *end)
{
	*start = ((uintptr_t)address + PAGE_MASK) & ~PAGE_MASK;
	*end = ((uintptr_t)address + size) & ~PAGE_MASK;
	return *start < *end;
}
