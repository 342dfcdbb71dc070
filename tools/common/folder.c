/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where the files lie that mimic came with: the same in the build directory and where it is installed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/tools.h"

int tool_find_folder(const char *name, const char *file, char *folder)
{
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat status;

	if (length < 0)
		return tool_error(EXIT_FAILURE, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../%s/%s", self, name, file);
	if (stat(path, &status))
		return tool_error(EXIT_FAILURE, "%s is not there; is mimic installed whole?", path);
	snprintf(path, sizeof(path), "%s/../%s", self, name);
	if (!realpath(path, folder))
		return tool_error(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	return 0;
}
