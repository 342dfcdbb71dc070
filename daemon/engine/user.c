/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/user.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/program.h"

static struct mimicd_user *find(struct mimicd_engine *engine, uid_t uid)
{
	struct mimicd_user *user = engine->users;

	while (user && user->uid != uid)
		user = user->next;
	return user;
}

static struct mimicd_user *create(struct mimicd_engine *engine, uid_t uid)
{
	struct mimicd_user *user = calloc(1, sizeof(*user));

	if (!user)
		return NULL;
	user->engine = engine;
	user->uid = uid;
	/*
	 * Users that may stop us may hold us up, too. And in a virtual machine whose host has other things to do, what the
	 * kernel counts as our thread's time is not all work.
	 */
	user->is_exempt = mimicd_may_manage(uid);
	user->next = engine->users;
	engine->users = user;
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

static void destroy_unused(struct mimicd_engine *engine)
{
	struct mimicd_user **link = &engine->users;

	while (*link) {
		struct mimicd_user *user = *link;

		if (user->client_count || mimicd_wakes_any_throttled(user)) {
			link = &user->next;
			continue;
		}
		*link = user->next;
		free(user);
	}
}

struct mimicd_user *mimicd_user_get(struct mimicd_engine *engine, uid_t uid)
{
	struct mimicd_user *user = find(engine, uid);

	return user ? user : create(engine, uid);
}

int mimicd_user_join(struct mimicd_engine *engine, struct mimicd_client *client)
{
	struct mimicd_user *user = mimicd_user_get(engine, client->program.uid);
	int error;

	if (!user)
		return -ENOMEM;
	error = mimicd_quota_take(user, MIMICD_QUOTA_connections, 1);
	if (error) {
		destroy_unused(engine);
		return error;
	}
	client->user = client->memory.user = user;
	append(user, client);
	user->client_count++;
	return 0;
}

void mimicd_user_leave(struct mimicd_client *client)
{
	struct mimicd_user *user = client->user;
	struct mimicd_client *before = NULL;

	if (!user)
		return;
	for (struct mimicd_client *at = user->clients; at != client; at = at->next_of_user)
		before = at;
	if (before)
		before->next_of_user = client->next_of_user;
	else
		user->clients = client->next_of_user;
	if (user->last == client)
		user->last = before;
	client->user = client->memory.user = NULL;
	mimicd_quota_give_back(user, MIMICD_QUOTA_connections, 1);
	user->client_count--;
	destroy_unused(user->engine);
}

void mimicd_users_destroy(struct mimicd_engine *engine)
{
	while (engine->users) {
		struct mimicd_user *user = engine->users;

		engine->users = user->next;
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
