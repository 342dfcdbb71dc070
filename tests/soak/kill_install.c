/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/soak/kill_install.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECOVERABLE "mimicd-recoverable"

static const char *const names[] = { "mimicd", RECOVERABLE, "copy-0", "copy-1", "next" };

static void path_of(const char *directory, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", directory, name);
}

static bool copy_file(const char *from, const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat status;
	int source = open(from, O_RDONLY | O_CLOEXEC), target;
	bool is_whole = false;

	path_of(directory, name, path);
	target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (source >= 0 && target >= 0 && !fstat(source, &status)) {
		off_t left = status.st_size;
		ssize_t sent = 1;

		while (left > 0 && sent > 0) {
			sent = sendfile(target, source, NULL, (size_t)left);
			left -= sent > 0 ? sent : 0;
		}
		is_whole = !left;
	}
	if (source >= 0)
		close(source);
	if (target >= 0)
		close(target);
	return is_whole;
}

bool kill_install(const char *mimicd, const char *directory)
{
	char recoverable[2 * PATH_MAX], folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", mimicd);
	snprintf(recoverable, sizeof(recoverable), "%s/" RECOVERABLE, dirname(folder));
	return copy_file(mimicd, directory, "mimicd") && copy_file(recoverable, directory, "copy-0") &&
	       copy_file(recoverable, directory, "copy-1") && kill_install_copy(directory, 0);
}

void kill_installed_path(const char *directory, char *path, size_t size)
{
	snprintf(path, size, "%s/mimicd", directory);
}

bool kill_install_copy(const char *directory, unsigned int copy)
{
	char from[PATH_MAX], next[PATH_MAX], path[PATH_MAX];

	path_of(directory, copy ? "copy-1" : "copy-0", from);
	path_of(directory, "next", next);
	path_of(directory, RECOVERABLE, path);
	/* A link that is renamed to another of the same file stays. */
	return !link(from, next) && !rename(next, path);
}

void kill_uninstall(const char *directory)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(directory, names[i], path);
		unlink(path);
	}
}
