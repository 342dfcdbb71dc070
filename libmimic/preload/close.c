/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * close and its relatives. The last descriptor of a node may give its instance back. Descriptors of the library itself
 * stay open: a program that closes all that it does not know goes on having the pages that it has mapped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <unistd.h>

#include "libmimic/base/descriptor.h"
#include "libmimic/base/new_libc.h"
#include "preload.h"

/* Headers of Linux 5.10 (Debian 11) lack it. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

EXPORT int fclose(FILE *stream)
{
	bool ours = mimic_preload_files_keeps(fileno(stream));
	int result = NEXT(fclose)(stream);

	if (ours)
		mimic_preload_files_reap();
	return result;
}

EXPORT int close(int descriptor)
{
	bool ours = mimic_preload_files_keeps(descriptor);
	int result;

	if (!mimic_preload_is_inside() && mimic_descriptor_is_kept(descriptor)) {
		errno = EBADF;
		return -1;
	}
	result = NEXT(close)(descriptor);
	if (ours)
		mimic_preload_files_reap();
	return result;
}

EXPORT int dup2(int from, int to)
{
	bool ours = mimic_preload_files_keeps(to);
	int result = NEXT(dup2)(from, to);

	if (ours)
		mimic_preload_files_reap();
	return result;
}

EXPORT int dup3(int from, int to, int flags)
{
	bool ours = mimic_preload_files_keeps(to);
	int result = NEXT(dup3)(from, to, flags);

	if (ours)
		mimic_preload_files_reap();
	return result;
}

/* C libraries before glibc 2.34 have no function of it, kernels before 5.9 no system call (ENOSYS). */
static int kernel_close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)NEXT(syscall)(SYS_close_range, first, last, flags);
}

/* With `flags`, the ranges between the library's descriptors. The first error, as -1 with errno. */
static int close_between(unsigned int first, unsigned int last, int flags)
{
	int kept;

	while ((kept = mimic_descriptor_next_kept(first)) >= 0 && (unsigned int)kept <= last) {
		if ((unsigned int)kept > first && kernel_close_range(first, (unsigned int)kept - 1, flags))
			return -1;
		if ((unsigned int)kept == last)
			return 0;
		first = (unsigned int)kept + 1;
	}
	return kernel_close_range(first, last, flags);
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	/* These are errors, which the kernel reports. */
	bool is_bad = first > last || flags & ~(int)(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE);
	int result = is_bad || mimic_preload_is_inside() ? kernel_close_range(first, last, flags) :
							   close_between(first, last, flags);

	mimic_preload_files_reap();
	return result;
}

/* The number that a name in /proc/self/fd is, or -1: it is "." or "..". */
static int number_of(const char *name)
{
	int number = 0;

	if (*name < '0' || *name > '9')
		return -1;
	while (*name)
		number = number * 10 + (*name++ - '0');
	return number;
}

/* One part of /proc/self/fd: closes its descriptors from `first` on. true: it has closed one. */
static bool close_listed(const char *entries, long size, int folder, unsigned int first)
{
	bool has_closed = false;

	for (long at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
		int number = number_of(entry->d_name);

		at += entry->d_reclen;
		if (number < 0 || (unsigned int)number < first || number == folder || mimic_descriptor_is_kept(number))
			continue;
		NEXT(close)(number);
		has_closed = true;
	}
	return has_closed;
}

/* Where no /proc is mounted. */
static void close_up_to_the_limit(unsigned int first)
{
	long end = sysconf(_SC_OPEN_MAX);

	for (unsigned int i = first; (long)i < end; i++) {
		if (!mimic_descriptor_is_kept((int)i))
			NEXT(close)((int)i);
	}
}

/*
 * The kernel has no close_range(), or does not allow it. The limit of descriptors may be a billion, so that only those
 * that are open are closed; from the beginning again, as each close changes the list. No opendir(): a child of a
 * program with threads may be the caller, which must not allocate.
 */
static void close_each(unsigned int first)
{
	_Alignas(struct dirent64) char entries[1024];
	long folder = NEXT(syscall)(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has_closed;
	long size;

	if (folder < 0) {
		close_up_to_the_limit(first);
		return;
	}
	do {
		has_closed = false;
		lseek((int)folder, 0, SEEK_SET);
		while (!has_closed && (size = NEXT(syscall)(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
			has_closed = close_listed(entries, size, (int)folder, first);
	} while (has_closed);
	NEXT(close)((int)folder);
}

EXPORT void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : (unsigned int)first;

	if (close_between(from, UINT_MAX, 0))
		close_each(from);
	mimic_preload_files_reap();
}
