/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One device: its model, and who holds it: a session, or a process through the kernel. */
#ifndef MIMICD_INSTANCE_H
#define MIMICD_INSTANCE_H

#include "daemon/inject.h"
#include "daemon/memory.h"
#include "mimic/protocol.h"

struct mimicd_binding;
struct mimicd_request;
struct mimicd_server;
struct mimicd_session;

struct mimicd_instance {
	struct mimicd_server *server;
	char name[MIMIC_NAME_MAX];
	struct mimic_model *model;
	unsigned int index;		/* N of mapleN */
	struct mimicd_session *session;	/* who holds it; NULL: nobody, or the kernel's binding */
	struct mimicd_binding *binding;	/* sessions of its process may work on the device too */
	struct mimicd_memory_slot memory;
	bool is_private;
	bool on_bus;
	uint32_t bus_device;		/* its number there */
	struct mimicd_request *driver_parked;	/* the function driver's access that waits in the model */
	struct mimicd_injection injection;
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
/* The session has the device no more, if it had it; the device itself is left alone. */
void mimicd_instance_detach(struct mimicd_session *session, struct mimicd_instance *instance);

/* By name, private ones not. -ENOENT: no such kind; -ENODEV: no such device. */
int mimicd_instance_find(struct mimicd_server *server, const char *name,
			 struct mimicd_instance **found);
/*
 * Another device, at the lowest free number; `name` has room for MIMIC_NAME_MAX.
 * -ENOENT: no such kind; -ENOSPC: too many; -ENOMEM; what the kernel's bus says.
 */
int mimicd_instance_add(struct mimicd_server *server, const char *kind, char *name);
/* Away it goes, whoever has it: accesses to it are those to a device that is closed. */
int mimicd_instance_remove(struct mimicd_server *server, const char *name);

#endif
