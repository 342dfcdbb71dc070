/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon of the template device: puts it on the bus of mimic.ko and serves
 * it. One device and one thread, by read() and write(): the plainest way there
 * is. mimicd serves many, by shared slots and io_uring (daemon/bus).
 */
#ifndef MIMIC_TEMPLATE_DAEMON_H
#define MIMIC_TEMPLATE_DAEMON_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "devices/template/template_model.h"
#include "mimic/bus.h"

struct template_daemon {
	int fd;			/* /dev/mimic */
	uint32_t device;	/* its number there */
	int index;		/* N of templateN */
	struct mimic_model *model;
	bool is_parked[MIMIC_BUS_SLOTS];	/* accesses that wait in the model */
	int error;		/* an answer or interrupt that could not be given */
};

/*
 * Registers templateN for index N, or for -1 the first that is free. 0 or
 * -errno: of /dev/mimic, or of REGISTER (mimic/bus.h).
 */
int template_daemon_open(struct template_daemon *daemon, int index);
/* Serves until *stop, which a signal handler may set. 0 or -errno. */
int template_daemon_serve(struct template_daemon *daemon, const volatile sig_atomic_t *stop);
/* Takes the device from the bus. */
void template_daemon_close(struct template_daemon *daemon);

#endif
