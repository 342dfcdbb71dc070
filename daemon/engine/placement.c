/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/placement.h"

#include <limits.h>
#include <sys/epoll.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/shards.h"

/* Fewer clients that a thread would have are served by one thread less. */
#define CLIENTS_PER_SHARD 4u

/* --- which may leave the loop's shard ------------------------------------------------ */

static bool is_shared(const struct mimicd_instance *instance, const struct mimicd_client *client)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client && instance->contexts[i].client != client)
			return true;
	}
	return false;
}

/* Jobs of other threads come back to the loop's. In a daemon that can be recovered there are none (device.c). */
static bool is_movable_device(const struct mimicd_instance *instance, const struct mimicd_client *client)
{
	return !instance->jobs.ops && !instance->events.wanted && !instance->functions &&
	       !mimicd_instance_is_bound(instance) && !instance->leaves && !is_shared(instance, client);
}

static bool is_movable(const struct mimicd_client *client)
{
	bool has_device = false;

	if (!client->ops->kick || client->process || client->broken || client->trace.memory ||
	    client->engine->recording || !client->lane_count)
		return false;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = client->devices[i].instance;

		if (client->devices[i].leaving || (instance && !is_movable_device(instance, client)))
			return false;
		has_device |= instance != NULL;
	}
	return has_device;
}

/* --- moves -------------------------------------------------------------------------- */

static bool is_of_loop(const struct mimicd_shard *shard)
{
	return shard == &shard->engine->loop_shard;
}

static bool watch_kick(struct mimicd_client *client, struct mimicd_shard *shard)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct mimicd_source *source;
	int fd = client->ops->kick(client, &source);

	if (is_of_loop(shard))
		return !mimicd_loop_watch(shard->engine->loop, fd, EPOLLIN | EPOLLET, source);
	return !epoll_ctl(shard->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void forget_kick(struct mimicd_client *client, struct mimicd_shard *shard)
{
	struct mimicd_source *source;
	int fd = client->ops->kick(client, &source);

	if (is_of_loop(shard))
		mimicd_loop_forget(shard->engine->loop, fd);
	else
		epoll_ctl(shard->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static struct mimicd_memory_slot *memory_of(const struct mimicd_device_slot *slot)
{
	struct mimicd_instance *instance = slot->instance;

	return instance->contexts ? &instance->contexts[slot->context].memory : &instance->memory;
}

static void move_device(struct mimicd_client *client, const struct mimicd_device_slot *slot)
{
	struct mimicd_memory_slot *memory = memory_of(slot);

	mimicd_placement_of_device(slot->instance);
	/* Counted by the other shard. */
	if (memory->ahead)
		memory->ahead->call = 0;
	/* Accesses that were put off on the old shard are made again on the new one. */
	if (memory->is_stalled)
		client->user->is_stalled = client->shard->resumes = true;
	client->shard->busy |= slot->model->ops->busy(slot->model);
}

/* There is room in the lists. Its user is there. */
static void move_all(struct mimicd_client *client, struct mimicd_shard *shard)
{
	struct mimicd_shard *before = client->shard;

	client->shard = shard;
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		mimicd_shard_remove_lane(before, lane);
		mimicd_shard_add_lane(shard, lane);
		atomic_store_explicit(&lane->memory->daemon_cpu, shard->cpu, memory_order_relaxed);
		atomic_store_explicit(&lane->memory->daemon_sleeping, shard->sleeps, memory_order_relaxed);
		lane->member = (struct mimicd_crowd_member){ 0 };
		mimicd_crowd_tell(&shard->crowd, lane);
	}
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			move_device(client, &client->devices[i]);
	}
}

/* false: there is no memory for it, or no thread, and it stays. */
static bool move_out(struct mimicd_client *client, struct mimicd_shard *shard)
{
	if (mimicd_shard_start(shard) || mimicd_shard_make_room(shard, client->lane_count) || !watch_kick(client, shard))
		return false;
	if (mimicd_user_move(client, shard)) {
		forget_kick(client, shard);
		return false;
	}
	forget_kick(client, &client->engine->loop_shard);
	move_all(client, shard);
	return true;
}

/* Nothing of this fails but the watch: a client whose eventfd is not watched ends. */
static void move_home(struct mimicd_client *client)
{
	struct mimicd_shard *before = client->shard, *loop_shard = &client->engine->loop_shard;

	if (is_of_loop(before))
		return;
	forget_kick(client, before);
	if (!watch_kick(client, loop_shard))
		mimicd_client_break(client, "there is no memory to listen to it");
	mimicd_user_move(client, loop_shard);
	move_all(client, loop_shard);
}

/* --- where they go ------------------------------------------------------------------- */

static void look_at(struct mimicd_client *client)
{
	bool is_movable_now = is_movable(client);

	client->has_moved_on = false;
	if (client->is_placed == is_movable_now)
		return;
	client->is_placed = is_movable_now;
	if (is_movable_now) {
		client->shard->clients++;
		return;
	}
	client->shard->clients--;
	move_home(client);
}

static struct mimicd_shard *shard_at(struct mimicd_engine *engine, unsigned int number)
{
	return number ? &engine->shards[number - 1] : &engine->loop_shard;
}

static void move(struct mimicd_client *client, struct mimicd_shard *shard)
{
	struct mimicd_shard *before = client->shard;

	if (!is_of_loop(before))
		move_home(client);
	if (!is_of_loop(shard))
		move_out(client, shard);
	before->clients--;
	client->shard->clients++;
}

static struct mimicd_client *find_placed(struct mimicd_engine *engine, const struct mimicd_shard *shard)
{
	struct mimicd_client *client = engine->clients;

	while (client && !(client->is_placed && client->shard == shard))
		client = client->next;
	return client;
}

/* How many shards so many clients are divided among. */
static unsigned int shards_for(const struct mimicd_engine *engine, unsigned int clients)
{
	unsigned int count = clients / CLIENTS_PER_SHARD;

	/* A thread that has its turn needs a CPU, too. */
	if (mimicd_crowd_is_anywhere(engine) && count > (engine->shard_count + 2) / 2)
		count = (engine->shard_count + 2) / 2;
	if (engine->spreads_at_once)
		return engine->shard_count + 1;
	if (count > engine->shard_count + 1)
		count = engine->shard_count + 1;
	return count ? count : 1;
}

/*
 * The fullest gives one to the emptiest; those that are not used give all away. false: all have alike, or
 * it cannot.
 */
static bool level(struct mimicd_engine *engine, unsigned int used)
{
	const unsigned int first = engine->spreads_at_once;
	struct mimicd_shard *most = NULL, *least = shard_at(engine, first);
	unsigned int highest = 0;
	struct mimicd_client *client;

	for (unsigned int i = 0; i <= engine->shard_count; i++) {
		struct mimicd_shard *shard = shard_at(engine, i);
		bool is_used = i >= first && i < used;
		unsigned int count = !is_used && shard->clients ? UINT_MAX : shard->clients;

		if (count > highest) {
			highest = count;
			most = shard;
		}
		if (is_used && shard->clients < least->clients)
			least = shard;
	}
	if (!most || highest < least->clients + 2)
		return false;
	client = find_placed(engine, most);
	move(client, least);
	return client->shard == least;
}

void mimicd_placement_update(struct mimicd_engine *engine)
{
	unsigned int clients = 0;

	if (!engine->shards || engine->shards_stop)
		return;
	if (!atomic_exchange(&engine->crowd_changed, false) && !engine->must_place)
		return;
	engine->must_place = false;
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (client->has_moved_on)
			look_at(client);
		clients += client->is_placed;
	}
	while (level(engine, shards_for(engine, clients)))
		;
}

/* --- changes of clients and devices ---------------------------------------------------- */

void mimicd_placement_note(struct mimicd_client *client)
{
	client->has_moved_on = client->engine->must_place = true;
}

/* NULL: it has none. Several are in one shard, or go to the loop's soon. */
static struct mimicd_client *client_of(const struct mimicd_instance *instance)
{
	struct mimicd_client *client = instance->client;

	for (unsigned int i = 0; !client && i < instance->context_count; i++)
		client = instance->contexts[i].client;
	return client;
}

void mimicd_placement_of_device(struct mimicd_instance *instance)
{
	struct mimicd_client *client = client_of(instance);
	struct mimicd_shard *shard = client ? client->shard : &instance->engine->loop_shard;

	if (shard != instance->shard) {
		mimicd_shard_remove_device(instance);
		mimicd_shard_add_device(shard, instance);
	}
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client)
			mimicd_placement_note(instance->contexts[i].client);
	}
}

void mimicd_placement_end(struct mimicd_client *client)
{
	if (client->is_placed)
		client->shard->clients--;
	client->is_placed = false;
	client->engine->must_place = true;
	if (!is_of_loop(client->shard))
		forget_kick(client, client->shard);
}
