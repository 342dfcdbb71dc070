/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where the files lie that mimic came with: the same in the build directory and where it is installed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/tools.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Where distributions have libraries, beside bin. */
static const char *const library_folders[] = {
	"lib",
#if defined(__x86_64__)
	"lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"lib/aarch64-linux-gnu",
#elif defined(__riscv)
	"lib/riscv64-linux-gnu",
#endif
	"lib64",
};

/* The folder of this command, into PATH_MAX bytes. */
static int find_self(char *folder)
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (length < 0)
		return tool_error(EXIT_FAILURE, "/proc/self/exe: %s", strerror(errno));
	folder[length] = '\0';
	*strrchr(folder, '/') = '\0';
	return 0;
}

static bool has_file(const char *self, const char *name, const char *file)
{
	char path[2 * PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/../%s/%s", self, name, file);
	return stat(path, &status) == 0;
}

/* The first of these folders that has the file. */
static int find_one_of(const char *const *names, size_t count, const char *file, char *folder)
{
	char self[PATH_MAX], path[2 * PATH_MAX];
	int status = find_self(self);
	size_t i = 0;

	if (status)
		return status;
	while (i < count && !has_file(self, names[i], file))
		i++;
	if (i == count)
		return tool_error(EXIT_FAILURE, "%s/../%s/%s is not there; is mimic installed whole?", self, names[0], file);
	snprintf(path, sizeof(path), "%s/../%s", self, names[i]);
	if (!realpath(path, folder))
		return tool_error(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	return 0;
}

int tool_find_folder(const char *name, const char *file, char *folder)
{
	return find_one_of(&name, 1, file, folder);
}

int tool_find_library(const char *file, char *folder)
{
	return find_one_of(library_folders, LENGTH(library_folders), file, folder);
}
