/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One device: its model, and the session that holds it. */
#ifndef MIMICD_INSTANCE_H
#define MIMICD_INSTANCE_H

#include "daemon/memory.h"
#include "mimic/protocol.h"

struct mimicd_server;
struct mimicd_session;

struct mimicd_instance {
	char name[MIMIC_NAME_MAX];
	struct mimic_model *model;
	struct mimicd_session *session;	/* who holds it; NULL: free */
	struct mimicd_memory_slot memory;
	unsigned int opens;
	bool is_private;
};

/* maple0 ... of the settings. 0 or -errno, with a log line. */
int mimicd_instances_create(struct mimicd_server *server);
void mimicd_instances_destroy(struct mimicd_server *server);

/*
 * Opens by name for a session; *number is the device's in the session.
 * -ENOENT, -ENODEV, -EBUSY, -EMFILE (limits), -ENOMEM.
 */
int mimicd_instance_open(struct mimicd_session *session, const char *name, uint32_t *number);
/* One open less; the last one gives the instance back as after power-on. -ENODEV. */
int mimicd_instance_close(struct mimicd_session *session, uint32_t number);
/* The session ends: all of them. */
void mimicd_instances_release(struct mimicd_session *session);

#endif
