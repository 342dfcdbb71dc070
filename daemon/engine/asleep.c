/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/asleep.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool mimicd_thread_is_asleep(int tid)
{
	char path[48], text[256];
	const char *state;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return true;
	text[size] = 0;
	/* "TID (NAME) STATE ...": a name may have parentheses of its own. */
	state = strrchr(text, ')');
	return !state || state[1] != ' ' || state[2] != 'R';
}
