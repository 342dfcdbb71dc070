/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The trace of this process, if `mimic trace` has started it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmimic/base/spool.h"

static struct mimic_spool spool;
static struct mimic_spool *process_spool;
static bool was_tried;

int mimic_process_trace_file(void)
{
	const char *path = secure_getenv("MIMIC_TRACE");
	int fd;

	if (!path || !*path)
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
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
