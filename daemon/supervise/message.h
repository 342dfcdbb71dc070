/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The messages of a daemon to its service manager, as sd_notify(3) describes them. */
#ifndef MIMICD_SUPERVISE_MESSAGE_H
#define MIMICD_SUPERVISE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/recovery/store.h"

#define MIMICD_MESSAGE_SIZE_MAX 4096u
/* Of a mimicd that could take over (--check); systemd does not know it, and leaves it out. */
#define MIMICD_MESSAGE_FITS "X_MIMIC_FITS=1"

struct mimicd_manager_message {
	bool is_ready, is_stopping, is_alive; /* READY=1, STOPPING=1, WATCHDOG=1 */
	bool is_fit;	/* MIMICD_MESSAGE_FITS */
	bool is_put, is_drop; /* one of them at most, with a name */
	char name[MIMICD_STORE_NAME_MAX + 1];
};

/*
 * Lines that are not known are left out, as systemd's other ones. -EINVAL: there is a byte 0; a put and a
 * drop; a name twice; or a put or a drop without a name that the store's client would send.
 */
int mimicd_message_parse(struct mimicd_manager_message *message, const char *text, size_t length);

#endif
