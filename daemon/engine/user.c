/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/user.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/program.h"

static struct mimicd_user *find(const struct mimicd_shard *shard, uid_t uid)
{
	struct mimicd_user *user = shard->users;

	while (user && user->uid != uid)
		user = user->next;
	return user;
}

/* `home`: NULL in the loop's shard. */
static struct mimicd_user *create(struct mimicd_shard *shard, uid_t uid, struct mimicd_user *home)
{
	struct mimicd_user *user = calloc(1, sizeof(*user));

	if (!user)
		return NULL;
	user->engine = shard->engine;
	user->shard = shard;
	user->home = home ? home : user;
	user->uid = uid;
	/*
	 * Users that may stop us may hold us up, too. And in a virtual machine whose host has other work,
	 * the time that the kernel counts for our thread is not all work.
	 */
	user->is_exempt = mimicd_may_manage(uid);
	user->next = shard->users;
	shard->users = user;
	return user;
}

static void append(struct mimicd_user *user, struct mimicd_client *client)
{
	client->next_of_user = NULL;
	if (user->clients)
		user->last->next_of_user = client;
	else
		user->clients = client;
	user->last = client;
}

static void detach(struct mimicd_client *client)
{
	struct mimicd_user *user = client->user;
	struct mimicd_client *before = NULL;

	for (struct mimicd_client *at = user->clients; at != client; at = at->next_of_user)
		before = at;
	if (before)
		before->next_of_user = client->next_of_user;
	else
		user->clients = client->next_of_user;
	if (user->last == client)
		user->last = before;
	user->client_count--;
	client->user = client->memory.user = NULL;
}

static void attach(struct mimicd_client *client, struct mimicd_user *user)
{
	client->user = client->memory.user = user;
	append(user, client);
	user->client_count++;
}

static void destroy_unused(struct mimicd_shard *shard)
{
	struct mimicd_user **link = &shard->users;

	while (*link) {
		struct mimicd_user *user = *link;

		if (user->client_count || user->shares || mimicd_wakes_any_throttled(user)) {
			link = &user->next;
			continue;
		}
		*link = user->next;
		if (user->home != user)
			user->home->shares--;
		free(user);
	}
}

struct mimicd_user *mimicd_user_get(struct mimicd_engine *engine, uid_t uid)
{
	struct mimicd_user *user = find(&engine->loop_shard, uid);

	return user ? user : create(&engine->loop_shard, uid, NULL);
}

int mimicd_user_join(struct mimicd_engine *engine, struct mimicd_client *client)
{
	struct mimicd_user *user = mimicd_user_get(engine, client->program.uid);
	int error;

	if (!user)
		return -ENOMEM;
	error = mimicd_quota_take(user, MIMICD_QUOTA_connections, 1);
	if (error) {
		destroy_unused(&engine->loop_shard);
		return error;
	}
	attach(client, user);
	return 0;
}

int mimicd_user_move(struct mimicd_client *client, struct mimicd_shard *shard)
{
	struct mimicd_user *home = client->user->home, *user = find(shard, home->uid);
	struct mimicd_shard *before = client->user->shard;

	if (!user) {
		user = create(shard, home->uid, shard == home->shard ? NULL : home);
		if (!user)
			return -ENOMEM;
		if (user != home)
			home->shares++;
	}
	detach(client);
	attach(client, user);
	destroy_unused(before);
	return 0;
}

void mimicd_user_leave(struct mimicd_client *client)
{
	struct mimicd_user *user = client->user;
	struct mimicd_engine *engine = client->engine;

	if (!user)
		return;
	mimicd_quota_give_back(user, MIMICD_QUOTA_connections, 1);
	detach(client);
	for (unsigned int i = 0; engine->held && i < engine->shard_count; i++)
		destroy_unused(&engine->shards[i]);
	destroy_unused(&engine->loop_shard);
}

void mimicd_users_destroy(struct mimicd_shard *shard)
{
	while (shard->users) {
		struct mimicd_user *user = shard->users;

		shard->users = user->next;
		free(user);
	}
}

void mimicd_user_rotate(struct mimicd_user *user)
{
	struct mimicd_client *first = user->clients;

	if (first == user->last)
		return;
	user->clients = first->next_of_user;
	append(user, first);
}
