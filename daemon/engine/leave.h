/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Devices that a program has no more, and one of whose jobs still runs.
 *
 * A job may sleep in a page of its program's, as long as that likes. So the loop does not wait for it: the device
 * leaves. Its model is as after power-on, no command reaches it, and no program may open it. The client that
 * had it, with the memory that the job uses, stays until the job has come back.
 */
#ifndef MIMICD_LEAVE_H
#define MIMICD_LEAVE_H

#include <stdbool.h>

struct mimicd_client;
struct mimicd_engine;
struct mimicd_instance;

/*
 * instance->client has no slot with it any more; if the instance ends (is_ending), nobody else finds it. true: its jobs are
 * back, and it is free, or destroyed. false: it leaves, and so it will be, by the loop. It may leave already.
 */
bool mimicd_device_leave(struct mimicd_instance *instance, bool is_ending);
/* Jobs have come back: devices that left for them are free, or destroyed. */
void mimicd_devices_left(struct mimicd_engine *engine);
/* Does a device leave that the client had? */
bool mimicd_client_has_leaving(const struct mimicd_client *client);
/* Waits for the jobs of those, or (NULL) of all: nothing else is to be served any more. */
void mimicd_devices_wait_to_leave(struct mimicd_engine *engine, const struct mimicd_client *client);

#endif
