/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The instances of the embedded transport: their names, and their beginning and end. */
#ifndef LIBMIMIC_EMBEDDED_INSTANCE_H
#define LIBMIMIC_EMBEDDED_INSTANCE_H

#include "libmimic/transport.h"

/* All under the device table's lock, or where no other thread is. */
int embedded_open(struct mimic_device **device, const char *name,
		  const struct mimic_options *options);
void embedded_close(struct mimic_device *device);
void embedded_after_fork(void);
/* On the thread that ends. */
void embedded_thread_gone(void);

#endif
