/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Steps of a daemon that can be recovered (daemon/journal). Answers, room in rings, wake-ups and replies are
 * shown to programs after the step's commit, because the next daemon does a step once more that was not
 * committed. A daemon without a journal shows them at once.
 *
 * Each thread of the engine does steps of its own, with a log of its own: the loop's has the first. It changes other
 * shards' lanes and devices only while it holds them (shards.h). A thread commits before it gives a shard to another
 * one, so all changes of a shard that are not committed are in one log.
 */
#ifndef MIMICD_STEP_H
#define MIMICD_STEP_H

#include "daemon/engine/client.h"
#include "daemon/journal/journal.h"

/* Of a lane, in the window: how far a successor finds it, besides the rings themselves. */
struct mimicd_lane_record {
	uint64_t commands;	/* positions of ours in the two rings */
	uint64_t responses;
	uint64_t follows;
	uint64_t client_commands;	/* of all lanes of the client: the highest is its count */
	struct mimic_command command;
	uint32_t remaining;
	uint8_t has_target;
	uint8_t target;		/* the number of the device that the command is for */
	uint8_t parked;
	uint8_t withdrawn;
	uint8_t cancel_pending;
	uint8_t retired;
};

/* The front end that has the records of clients and devices. */
struct mimicd_recorder {
	/* Writes those anew that have changed. */
	void (*record)(void *context);
};

/* The lane differs from its record from now on. It may be known already. */
void mimicd_step_note(struct mimicd_lane *lane);
/*
 * The client's devices, threads, lanes or memory differ from its record. Only the loop's thread calls this
 * function and the two that follow.
 */
void mimicd_step_note_client(struct mimicd_client *client);
/* The same of a binding, its threads and contexts. */
void mimicd_step_note_binding(struct mimicd_binding *binding);
/* There are other devices than before. */
void mimicd_step_note_devices(struct mimicd_engine *engine);

/* Ends the step of this thread: all that it has changed stays, and is shown. */
void mimicd_step_commit(struct mimicd_engine *engine);
/* The lane is about to be freed, by the loop's thread. */
void mimicd_step_forget(struct mimicd_lane *lane);

/* `count` answers that are in the ring. */
static inline void mimicd_lane_publish(struct mimicd_lane *lane, uint64_t count)
{
	if (!mimicd_journal_is_on()) {
		mimic_ring_publish(&lane->responses, count);
		return;
	}
	lane->responses.position += count;
	lane->unpublished += count;
	mimicd_step_note(lane);
}

/* `count` words that were read are no longer needed. */
static inline void mimicd_lane_release(struct mimicd_lane *lane, uint64_t count)
{
	if (!mimicd_journal_is_on()) {
		mimic_ring_release(&lane->commands, count);
		return;
	}
	lane->commands.position += count;
	mimicd_step_note(lane);
}

#endif
