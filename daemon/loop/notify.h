/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages to the service manager that $NOTIFY_SOCKET names: systemd, or mimicd's own supervisor
 * (sd_notify(3)).
 */
#ifndef MIMICD_NOTIFY_H
#define MIMICD_NOTIFY_H

#include <stdbool.h>

/* There is a manager, and its socket's address has a form that is known. */
bool mimicd_notify_has_manager(void);
/*
 * With this descriptor, which stays the caller's; -1: without. 0 once the message is in the manager's
 * queue, or -errno.
 */
int mimicd_notify_with(const char *state, int fd);
/* Without a manager nothing happens; an error is a line of the log. */
void mimicd_notify(const char *state);

#endif
