/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The trace of this process, if `mimic trace` has started it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmimic/base/new_libc.h"
#include "libmimic/base/spool.h"

static struct mimic_spool spool;
static struct mimic_spool *process_spool;
static bool was_tried;

/*
 * A daemon that writes into it for another program may have made it immutable: then it cannot be opened
 * for writing any more, but the process whose descriptor the path names has it open.
 */
static int copy_descriptor(const char *path)
{
	int process, number, length = 0, pidfd, fd;

	if (sscanf(path, "/proc/%d/fd/%d%n", &process, &number, &length) != 2 || path[length])
		return -EPERM;
	pidfd = (int)syscall(SYS_pidfd_open, process, 0);
	if (pidfd < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (fd < 0)
		fd = -errno;
	close(pidfd);
	return fd;
}

int mimic_process_trace_file(void)
{
	const char *path = secure_getenv("MIMIC_TRACE");
	int fd;

	if (!path || !*path)
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == EPERM ? copy_descriptor(path) : -errno;
}

/* Callers hold the lock of the device table. */
struct mimic_spool *mimic_process_trace(void)
{
	int fd;

	if (was_tried)
		return process_spool;
	was_tried = true;
	fd = mimic_process_trace_file();
	if (fd < 0)
		return NULL;
	if (!mimic_spool_attach(&spool, fd))
		process_spool = &spool;
	close(fd);
	return process_spool;
}

void mimic_process_trace_after_fork(void)
{
	if (process_spool)
		mimic_spool_after_fork(process_spool);
}
