/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Letters to a supervisor, and the descriptors that they put or drop. */
#ifndef MIMICD_SUPERVISE_DELIVER_H
#define MIMICD_SUPERVISE_DELIVER_H

#include <sys/types.h>

#include "daemon/supervise/inbox.h"
#include "daemon/supervise/kept.h"
#include "daemon/supervise/message.h"

/*
 * Keeps or drops the descriptors that the letter says. All others that came with it are closed, also on an
 * error. -EPERM: it is of another process than the daemon; -EMSGSIZE: it is cut; -EINVAL: it is malformed;
 * each with a log line.
 */
int mimicd_letter_deliver(struct mimicd_letter *letter, pid_t daemon, struct mimicd_kept *kept,
			  struct mimicd_manager_message *message);

#endif
