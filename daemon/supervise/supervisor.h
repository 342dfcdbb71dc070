/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimicd --supervise: a process that starts the daemon as its child, keeps descriptors for it, and starts
 * another one when it is killed or fails. It speaks systemd's protocol (sd_notify(3),
 * sd_pid_notify_with_fds(3), sd_listen_fds(3)).
 */
#ifndef MIMICD_SUPERVISOR_H
#define MIMICD_SUPERVISOR_H

#include <stddef.h>

#include "daemon/recovery/store.h"

struct mimicd_supervisor_options {
	const char *program;
	char *const *arguments; /* of the program, with its name, up to NULL */
	unsigned int recovery_seconds;
	struct mimicd_stored *given; /* of our own service manager; taken over */
	size_t given_count;
	void (*ready)(void *context); /* the first child is ready; NULL: nothing is to be done then */
	void *context;
};

/*
 * SIGHUP lets the file that is at the program's path now take over, if its check (upgrade.h) says that it
 * fits.
 *
 * Until a child ends by itself, SIGTERM or SIGINT came, or no child becomes ready. The status that the
 * process has to exit with.
 */
int mimicd_supervise(const struct mimicd_supervisor_options *options);

#endif
