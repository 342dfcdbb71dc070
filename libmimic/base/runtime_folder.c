/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/runtime_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not by a link: another user may have made it. */
static bool is_ours(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* After su, or in a container, the variable may name a folder of another user, or none. A link may be the system's. */
static bool is_session(const char *path)
{
	struct stat status;

	return path && *path && !stat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

int mimic_runtime_folder(char *path, size_t size)
{
	const char *session = secure_getenv("XDG_RUNTIME_DIR");
	unsigned int user = geteuid();
	char usual[64];
	int length;

	snprintf(usual, sizeof(usual), "/run/user/%u", user);
	if (user == 0)
		length = snprintf(path, size, "/run/mimic");
	else if (is_session(session))
		length = snprintf(path, size, "%s/mimic", session);
	else if (is_ours(usual))
		length = snprintf(path, size, "%s/mimic", usual);
	else
		length = snprintf(path, size, "/tmp/mimic-%u", user);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int mimic_runtime_folder_make(const char *path)
{
	if (!mkdir(path, 0755))
		return 0;
	if (errno != EEXIST)
		return -errno;
	return is_ours(path) ? 0 : -EPERM;
}
