/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * stat() and access() of our nodes: each is a character device that any user may
 * read and write. On x86-64 struct stat and struct stat64 are one layout.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "preload.h"

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout");

/* Programs built against glibc before 2.33 call these. */
EXPORT int __xstat(int version, const char *path, struct stat *status);
EXPORT int __xstat64(int version, const char *path, struct stat64 *status);
EXPORT int __lxstat(int version, const char *path, struct stat *status);
EXPORT int __lxstat64(int version, const char *path, struct stat64 *status);
EXPORT int __fxstat(int version, int descriptor, struct stat *status);
EXPORT int __fxstat64(int version, int descriptor, struct stat64 *status);
EXPORT int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags);
EXPORT int __fxstatat64(int version, int directory, const char *path, struct stat64 *status, int flags);

/*
 * glibc before 2.33 has neither of these functions, and calls the kernel itself, whose struct stat is the same. It has
 * the one if it has the other.
 */
static bool has_functions(void)
{
	static atomic_int known;	/* 1: yes, -1: no */

	if (!atomic_load_explicit(&known, memory_order_relaxed))
		atomic_store_explicit(&known, dlsym(RTLD_NEXT, "fstatat") ? 1 : -1, memory_order_relaxed);
	return atomic_load_explicit(&known, memory_order_relaxed) > 0;
}

static int next_fstatat(int directory, const char *path, struct stat *status, int flags)
{
	long result;

	if (has_functions())
		return NEXT(fstatat)(directory, path, status, flags);
	result = mimic_raw_syscall(SYS_newfstatat, directory, (long)path, (long)status, flags, 0, 0);
	if (result >= 0)
		return 0;
	errno = (int)-result;
	return -1;
}

static int next_fstat(int descriptor, struct stat *status)
{
	return has_functions() ? NEXT(fstat)(descriptor, status) : next_fstatat(descriptor, "", status, AT_EMPTY_PATH);
}

/* true: *result is the answer for a path of ours. A real /dev/mem speaks for itself. */
static bool node_status(int directory, const char *path, struct stat *status, int *result)
{
	struct node node = mimic_preload_node_of_path(directory, path);
	int error;

	if (node.kind == NODE_NONE)
		return false;
	if (node.kind == NODE_MEMORY && next_fstatat(directory, path, status, 0) == 0) {
		*result = 0;
		return true;
	}
	error = mimic_preload_node_exists(&node);
	*result = error ? -1 : 0;
	if (error)
		errno = -error;
	else
		mimic_preload_files_describe_node(&node, status);
	return true;
}

static int path_status(int directory, const char *path, struct stat *status, int flags)
{
	int result;

	if (node_status(directory, path, status, &result))
		return result;
	result = next_fstatat(directory, path, status, flags);
	if (result == 0 && (flags & AT_EMPTY_PATH))
		mimic_preload_files_fix_stat(status);
	return result;
}

static int descriptor_status(int descriptor, struct stat *status)
{
	int result = next_fstat(descriptor, status);

	if (result == 0)
		mimic_preload_files_fix_stat(status);
	return result;
}

EXPORT int stat(const char *restrict path, struct stat *restrict status)
{
	return path_status(AT_FDCWD, path, status, 0);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict status)
{
	return path_status(AT_FDCWD, path, (struct stat *)status, 0);
}

EXPORT int lstat(const char *restrict path, struct stat *restrict status)
{
	return path_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int lstat64(const char *restrict path, struct stat64 *restrict status)
{
	return path_status(AT_FDCWD, path, (struct stat *)status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int directory, const char *restrict path, struct stat *restrict status, int flags)
{
	return path_status(directory, path, status, flags);
}

EXPORT int fstatat64(int directory, const char *restrict path, struct stat64 *restrict status, int flags)
{
	return path_status(directory, path, (struct stat *)status, flags);
}

EXPORT int fstat(int descriptor, struct stat *status)
{
	return descriptor_status(descriptor, status);
}

EXPORT int fstat64(int descriptor, struct stat64 *status)
{
	return descriptor_status(descriptor, (struct stat *)status);
}

EXPORT int __xstat(int version, const char *path, struct stat *status)
{
	(void)version;
	return path_status(AT_FDCWD, path, status, 0);
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *status)
{
	return __xstat(version, path, (struct stat *)status);
}

EXPORT int __lxstat(int version, const char *path, struct stat *status)
{
	(void)version;
	return path_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *status)
{
	return __lxstat(version, path, (struct stat *)status);
}

EXPORT int __fxstat(int version, int descriptor, struct stat *status)
{
	(void)version;
	return descriptor_status(descriptor, status);
}

EXPORT int __fxstat64(int version, int descriptor, struct stat64 *status)
{
	return __fxstat(version, descriptor, (struct stat *)status);
}

EXPORT int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags)
{
	(void)version;
	return path_status(directory, path, status, flags);
}

EXPORT int __fxstatat64(int version, int directory, const char *path, struct stat64 *status, int flags)
{
	return __fxstatat(version, directory, path, (struct stat *)status, flags);
}

static void widen_status(const struct stat *from, struct statx *to)
{
	memset(to, 0, sizeof(*to));
	to->stx_mask = STATX_BASIC_STATS;
	to->stx_blksize = (uint32_t)from->st_blksize;
	to->stx_nlink = (uint32_t)from->st_nlink;
	to->stx_mode = (uint16_t)from->st_mode;
	to->stx_ino = from->st_ino;
	to->stx_rdev_major = major(from->st_rdev);
	to->stx_rdev_minor = minor(from->st_rdev);
}

EXPORT int statx(int directory, const char *restrict path, int flags, unsigned int mask,
		 struct statx *restrict status)
{
	struct stat ours;
	int result;

	if ((flags & AT_EMPTY_PATH) && !path[0] && mimic_preload_files_holder(directory)) {
		result = descriptor_status(directory, &ours);
	} else if (!node_status(directory, path, &ours, &result)) {
		return NEXT(statx)(directory, path, flags, mask, status);
	}
	if (result == 0)
		widen_status(&ours, status);
	return result;
}

/* --- access ------------------------------------------------------------------- */

static bool node_access(int directory, const char *path, int mode, int *result)
{
	struct node node = mimic_preload_node_of_path(directory, path);
	int error;

	if (node.kind == NODE_NONE)
		return false;
	error = mimic_preload_node_exists(&node);
	if (!error && (mode & X_OK))
		error = -EACCES;
	*result = error ? -1 : 0;
	if (error)
		errno = -error;
	return true;
}

EXPORT int access(const char *path, int mode)
{
	int result;

	return node_access(AT_FDCWD, path, mode, &result) ? result : NEXT(access)(path, mode);
}

EXPORT int eaccess(const char *path, int mode)
{
	int result;

	return node_access(AT_FDCWD, path, mode, &result) ? result : NEXT(eaccess)(path, mode);
}

EXPORT int euidaccess(const char *path, int mode)
{
	int result;

	return node_access(AT_FDCWD, path, mode, &result) ? result : NEXT(euidaccess)(path, mode);
}

EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
	int result;

	return node_access(directory, path, mode, &result) ? result :
							     NEXT(faccessat)(directory, path, mode, flags);
}
