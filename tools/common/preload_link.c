/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LD_PRELOAD cannot name a path with a space or a colon, which separate its words. Then a link in this user's
 * runtime folder, where no other user can write, names the folder of our library.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/base/runtime_folder.h"
#include "tools/common/tools.h"

/* FNV-1a: a link for each folder that is used, and the same one each time. */
static uint64_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325;

	while (*text)
		value = (value ^ (unsigned char)*text++) * 0x100000001b3;
	return value;
}

static bool leads_to(const char *link, const char *folder)
{
	char there[PATH_MAX];
	ssize_t length = readlink(link, there, sizeof(there));

	return length > 0 && (size_t)length == strlen(folder) && !memcmp(there, folder, (size_t)length);
}

/* Beside one of the same name, which another process may be using: rename() puts it in place. */
static int make_link(const char *link, const char *folder)
{
	char beside[PATH_MAX + 32];
	int error;

	if (leads_to(link, folder))
		return 0;
	snprintf(beside, sizeof(beside), "%s.%d", link, (int)getpid());
	if (symlink(folder, beside))
		return -errno;
	if (!rename(beside, link))
		return 0;
	error = -errno;
	unlink(beside);
	return error;
}

int tool_preload_folder(char *folder)
{
	char runtime[PATH_MAX - 32], link[PATH_MAX];
	int error;

	if (!strpbrk(folder, ": "))
		return 0;
	error = mimic_runtime_folder(runtime, sizeof(runtime));
	snprintf(link, sizeof(link), "%s/lib-%016llx", runtime, (unsigned long long)hash(folder));
	if (!error && strpbrk(link, ": "))
		error = -EINVAL;
	if (!error)
		error = mimic_runtime_folder_make(runtime);
	if (!error)
		error = make_link(link, folder);
	if (error)
		return tool_error(EXIT_BAD_INPUT, "LD_PRELOAD cannot name '%s', which has a space or a colon, and there can be "
				  "no link %s: %s", folder, link, strerror(-error));
	strcpy(folder, link);
	return 0;
}
