/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which shard a client belongs to, with its lanes and devices. The loop's has those that only the loop's thread
 * can serve: clients whose devices have jobs, tell events, are traced or recorded, or are reached by a driver or
 * a machine; clients that share a device; and all while there are few of them, because threads that spin
 * beside few programs take the processors that these need.
 */
#ifndef MIMICD_PLACEMENT_H
#define MIMICD_PLACEMENT_H

struct mimicd_client;
struct mimicd_engine;
struct mimicd_instance;

/*
 * All of these on the loop's thread; those that change a client or a device beyond its shard, with all shards
 * held.
 */

/* The client's devices or its needs have changed. */
void mimicd_placement_note(struct mimicd_client *client);
/* The device has a client more, or one less. */
void mimicd_placement_of_device(struct mimicd_instance *instance);
/* Clients go where they belong. */
void mimicd_placement_update(struct mimicd_engine *engine);
/* The client ends: its eventfd is not watched any more. */
void mimicd_placement_end(struct mimicd_client *client);

#endif
