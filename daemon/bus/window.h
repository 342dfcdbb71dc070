/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The memory of a process that has a device through the kernel, mapped here in
 * granules as it is needed. A page that is not present there is not present
 * here, and reading it is -EFAULT: the device's own fault path makes it present.
 */
#ifndef MIMICD_WINDOW_H
#define MIMICD_WINDOW_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/model.h"

#define MIMICD_WINDOW_GRANULE_SHIFT 36
#define MIMICD_WINDOW_GRANULES 64u	/* mapped at a time: as many as their low bits tell apart */

struct mimicd_bus;

struct mimicd_granule {
	uint64_t number;	/* address >> shift */
	char *base;		/* NULL: nothing is mapped */
};

struct mimicd_window {
	struct mimicd_bus *bus;
	uint32_t binding;
	/*
	 * Of devices with jobs: workers use granules, and one makes room for another
	 * only while none does. Only they use the window of such a device.
	 */
	pthread_rwlock_t lock;
	struct mimicd_granule granules[MIMICD_WINDOW_GRANULES];
};

void mimicd_window_open(struct mimicd_window *window, struct mimicd_bus *bus, uint32_t binding);
void mimicd_window_close(struct mimicd_window *window);

/*
 * The window as a device reaches it. A row that lies in two granules counts as one that
 * faults: models ask for rows within a page.
 */
void mimicd_window_port(struct mimic_memory *port, struct mimicd_window *window);
/* The same for the workers of jobs, several at once: blocks only. */
void mimicd_window_job_port(struct mimic_memory *port, struct mimicd_window *window);

#endif
