/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below the limit, so that it is not the program that finds no number any more. */
#define FROM_THE_END 128u
#define HIGHEST 65536u

static int move_up(int fd)
{
	struct rlimit limit;
	int moved;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= 2 * FROM_THE_END)
		return fd;
	if (limit.rlim_cur > HIGHEST)
		limit.rlim_cur = HIGHEST;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur - FROM_THE_END));
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

struct mimic_descriptor mimic_descriptor_keep(int fd)
{
	struct mimic_descriptor kept = MIMIC_DESCRIPTOR_NONE;
	struct stat status;
	int saved = errno;

	if (fd < 0)
		return kept;
	kept.fd = move_up(fd);
	if (!fstat(kept.fd, &status)) {
		kept.device = status.st_dev;
		kept.inode = status.st_ino;
	}
	errno = saved;
	return kept;
}

bool mimic_descriptor_is_ours(const struct mimic_descriptor *descriptor)
{
	struct stat status;
	int saved = errno;
	bool is_it = descriptor->fd >= 0 && !fstat(descriptor->fd, &status) &&
		     status.st_dev == descriptor->device && status.st_ino == descriptor->inode;

	errno = saved;
	return is_it;
}

void mimic_descriptor_close(struct mimic_descriptor *descriptor)
{
	if (mimic_descriptor_is_ours(descriptor))
		close(descriptor->fd);
	descriptor->fd = -1;
}
