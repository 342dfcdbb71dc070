/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * close and its relatives. The last descriptor of a node may give its instance back. Descriptors of the library itself
 * stay open: a program that closes all that it does not know goes on having the pages that it has mapped.
 */
#include <errno.h>
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

/* The kernel has no close_range(), or does not allow it. */
static void close_each(unsigned int first)
{
	long end = sysconf(_SC_OPEN_MAX);

	for (unsigned int i = first; (long)i < end; i++) {
		if (!mimic_descriptor_is_kept((int)i))
			NEXT(close)((int)i);
	}
}

EXPORT void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : (unsigned int)first;

	if (close_between(from, UINT_MAX, 0))
		close_each(from);
	mimic_preload_files_reap();
}
