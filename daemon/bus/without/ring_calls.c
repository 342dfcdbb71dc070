/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A mimicd that is built without liburing: read() and write() mean the same as a ring. */
#include "daemon/bus/ring_calls.h"

#include <errno.h>

int mimicd_ring_create(int fd, void **created, int *poll_fd)
{
	(void)fd, (void)created, (void)poll_fd;
	return -ENOSYS;
}

int mimicd_ring_fetch(void *context, int slot)
{
	(void)context, (void)slot;
	return -ENOSYS;
}

int mimicd_ring_reap(void *context)
{
	(void)context;
	return -ENOSYS;
}

void mimicd_ring_destroy(void *context)
{
	(void)context;
}
