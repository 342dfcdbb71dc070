/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* open and its relatives. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

/* The fortified forms have no declaration outside of glibc's inline functions. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int directory, const char *path, int flags);
EXPORT int __openat64_2(int directory, const char *path, int flags);

#define MODE_ARGUMENT(flags, mode) do { \
	va_list list_; \
	va_start(list_, flags); \
	if ((flags) & (O_CREAT | __O_TMPFILE)) \
		(mode) = va_arg(list_, mode_t); \
	va_end(list_); \
} while (0)

EXPORT int open(const char *path, int flags, ...)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	if (node.kind != NODE_NONE)
		return mimic_preload_files_open(AT_FDCWD, path, flags, &node);
	return NEXT(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	if (node.kind != NODE_NONE)
		return mimic_preload_files_open(AT_FDCWD, path, flags, &node);
	return NEXT(open64)(path, flags, mode);
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
	struct node node = mimic_preload_node_of_path(directory, path);
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	if (node.kind != NODE_NONE)
		return mimic_preload_files_open(directory, path, flags, &node);
	return NEXT(openat)(directory, path, flags, mode);
}

EXPORT int openat64(int directory, const char *path, int flags, ...)
{
	struct node node = mimic_preload_node_of_path(directory, path);
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	if (node.kind != NODE_NONE)
		return mimic_preload_files_open(directory, path, flags, &node);
	return NEXT(openat64)(directory, path, flags, mode);
}

EXPORT int __open_2(const char *path, int flags)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);

	return node.kind == NODE_NONE ? NEXT(__open_2)(path, flags) :
					mimic_preload_files_open(AT_FDCWD, path, flags, &node);
}

EXPORT int __open64_2(const char *path, int flags)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);

	return node.kind == NODE_NONE ? NEXT(__open64_2)(path, flags) :
					mimic_preload_files_open(AT_FDCWD, path, flags, &node);
}

EXPORT int __openat_2(int directory, const char *path, int flags)
{
	struct node node = mimic_preload_node_of_path(directory, path);

	return node.kind == NODE_NONE ? NEXT(__openat_2)(directory, path, flags) :
					mimic_preload_files_open(directory, path, flags, &node);
}

EXPORT int __openat64_2(int directory, const char *path, int flags)
{
	struct node node = mimic_preload_node_of_path(directory, path);

	return node.kind == NODE_NONE ? NEXT(__openat64_2)(directory, path, flags) :
					mimic_preload_files_open(directory, path, flags, &node);
}

EXPORT int creat(const char *path, mode_t mode)
{
	return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int creat64(const char *path, mode_t mode)
{
	return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* --- stdio opens files without calling open() --------------------------------- */

static FILE *open_stream(const char *path, const char *mode, const struct node *node)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
	FILE *stream;
	int file;

	file = mimic_preload_files_open(AT_FDCWD, path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), node);
	if (file < 0)
		return NULL;
	stream = fdopen(file, mode);
	if (!stream) {
		int error = errno;

		close(file);
		errno = error;
	}
	return stream;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);

	return node.kind == NODE_NONE ? NEXT(fopen)(path, mode) : open_stream(path, mode, &node);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	struct node node = mimic_preload_node_of_path(AT_FDCWD, path);

	return node.kind == NODE_NONE ? NEXT(fopen64)(path, mode) : open_stream(path, mode, &node);
}
