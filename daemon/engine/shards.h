/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Threads of the engine beside the loop's, one for each further shard. A shard belongs to the holder of its
 * lock: its thread, but for the time that this sleeps or the loop's thread holds all of them. That does so
 * for all that it does beside the lanes of its own shard: messages, inspection, management, timers, errands
 * that come back, the end of clients.
 *
 * Lock order: the engine's lock (jobs.h), the shards' locks by their numbers, then those that are held for
 * a few instructions (of errands, workers, the closer, the log, a memory's ranges). A shard's thread takes
 * none of the first two kinds but its own.
 */
#ifndef MIMICD_SHARDS_H
#define MIMICD_SHARDS_H

#include "daemon/engine/shard.h"

struct mimicd_client;

/*
 * `count`: of all threads, the loop's too; 0 as 1. Threads start when they have clients. 0 or -errno; after
 * either, mimicd_shards_destroy().
 */
int mimicd_shards_create(struct mimicd_engine *engine, unsigned int count);
/* All threads end. Afterwards everything is the caller's. */
void mimicd_shards_stop(struct mimicd_engine *engine);
void mimicd_shards_destroy(struct mimicd_engine *engine);

/*
 * On the loop's thread: all shards are its own until mimicd_shards_release(), which ends the step (step.h). May be
 * nested.
 */
void mimicd_shards_hold(struct mimicd_engine *engine);
void mimicd_shards_release(struct mimicd_engine *engine);

/* Does any thread but the loop's serve clients? On the loop's thread. */
bool mimicd_shards_have_clients(const struct mimicd_engine *engine);
/* With all held. When any of them, or the loop's, last worked. */
uint64_t mimicd_shards_worked(const struct mimicd_engine *engine);
/* With all held. Starts the shard's thread, if it has none. 0 or -errno. */
int mimicd_shard_start(struct mimicd_shard *shard);

#endif
