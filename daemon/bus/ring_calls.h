/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* io_uring's part of struct mimicd_bus_ops (bus.h). A mimicd that is built without liburing has without/ring_calls.c. */
#ifndef MIMICD_BUS_RING_CALLS_H
#define MIMICD_BUS_RING_CALLS_H

int mimicd_ring_create(int fd, void **created, int *poll_fd);
int mimicd_ring_fetch(void *context, int slot);
int mimicd_ring_reap(void *context);
void mimicd_ring_destroy(void *context);

#endif
