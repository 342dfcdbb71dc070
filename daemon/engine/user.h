/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A user of the machine with programs that have devices from us, in one shard. Turns go to users first, then
 * to programs of each: a user that starts more of them gets no more of mimicd's time.
 */
#ifndef MIMICD_USER_H
#define MIMICD_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine/quota.h"
#include "daemon/engine/wakes.h"

struct mimicd_client;
struct mimicd_engine;
struct mimicd_shard;

struct mimicd_user {
	struct mimicd_engine *engine;
	struct mimicd_shard *shard;
	struct mimicd_user *home;	/* the same user in the loop's shard: quotas, and all that is of messages and events */
	unsigned int shares;	/* of that one: other shards that have the user, too */
	struct mimicd_user *next;	/* of the shard */
	uid_t uid;
	struct mimicd_client *clients;	/* by `next_of_user`: the one first whose turn comes next */
	struct mimicd_client *last;
	unsigned int client_count;
	uint64_t used[MIMICD_QUOTA_COUNT];
	uint64_t message_turn;	/* when a message of it that was put off was tried last */
	uint64_t message_poll;	/* the last of the loop that has given it messages, */
	uint64_t message_ns;	/* and for how long */
	struct mimicd_wake_throttle throttles[MIMICD_WAKES];
	bool is_exempt;		/* never throttled */
	bool is_stalled;	/* accesses or ticks were put off (stalls.h) */
	uint64_t stall_begun;	/* sleeps since then, for so long in all */
	uint64_t stall_ns;
	uint64_t event_turn;	/* the last of its turns (events.c), */
	uint64_t event_ns;	/* and how much of it is used */
};

/* Makes the user if there was none. -ENOMEM; -EDQUOT, -ENOSPC: no more connections (quota.h). */
int mimicd_user_join(struct mimicd_engine *engine, struct mimicd_client *client);
/* In the loop's shard, for work of the user without clients. NULL: no memory. */
struct mimicd_user *mimicd_user_get(struct mimicd_engine *engine, uid_t uid);
/* Its last client takes the user along, but for one that is throttled: it would only have to connect again. */
void mimicd_user_leave(struct mimicd_client *client);
/* No client is left. */
void mimicd_users_destroy(struct mimicd_shard *shard);
/* The client goes on in another shard. 0 or -ENOMEM. */
int mimicd_user_move(struct mimicd_client *client, struct mimicd_shard *shard);
/* The first client goes to the end. There is one. */
void mimicd_user_rotate(struct mimicd_user *user);

#endif
