/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int mimicd_program_open(struct mimicd_program *program, const char *path)
{
	program->path = path;
	program->fd = open(path, O_PATH | O_CLOEXEC);
	return program->fd < 0 ? -errno : 0;
}

void mimicd_program_close(struct mimicd_program *program)
{
	if (program->fd >= 0)
		close(program->fd);
	program->fd = -1;
}

/* A file that runs cannot be written to, so its number is enough. */
bool mimicd_program_is_same(const struct mimicd_program *a, const struct mimicd_program *b)
{
	struct stat first, second;

	return !fstat(a->fd, &first) && !fstat(b->fd, &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}
