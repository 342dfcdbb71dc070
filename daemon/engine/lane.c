/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/placement.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/wait.h"

static int map_lane(const struct mimicd_memory_fixes *fixes, struct mimicd_lane_place *place, int *fd)
{
	size_t size = mimic_lane_size(MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS);
	int error = 0;
	void *memory;

	*fd = memfd_create("mimic lane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	/* The client gets this descriptor: nothing it does may take pages from under us. */
	if (ftruncate(*fd, (off_t)size) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		error = -errno;
	if (!error)
		error = mimicd_memory_fix_ours(fixes, *fd);
	memory = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (memory == MAP_FAILED) {
		error = error ? error : -errno;
		close(*fd);
		*fd = -1;
		return error;
	}
	*place = (struct mimicd_lane_place){ memory, MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS };
	return 0;
}

static void unmap_lane(const struct mimicd_lane_place *place)
{
	munmap(place->memory, mimic_lane_size(place->command_words, place->response_words));
}

static void lay_out(struct mimicd_lane *lane, const struct mimicd_lane_place *place)
{
	struct mimic_lane *memory = place->memory;
	int cpu = lane->is_lent ? MIMIC_CPU_UNKNOWN : lane->client->shard->cpu;

	lane->memory = memory;
	lane->size = mimic_lane_size(place->command_words, place->response_words);
	mimic_ring_attach(&lane->commands, mimic_lane_commands(memory), place->command_words);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(memory, place->command_words),
			  place->response_words);
	atomic_store_explicit(&memory->daemon_cpu, cpu, memory_order_relaxed);
	atomic_store_explicit(&memory->daemon_sleeping, lane->client->shard->sleeps, memory_order_relaxed);
	atomic_store_explicit(&memory->client_cpu, -1, memory_order_relaxed);
	mimicd_crowd_tell(&lane->client->shard->crowd, lane);
}

/* Wherever the client goes. */
static int make_room(struct mimicd_client *client)
{
	struct mimicd_engine *engine = client->engine;
	unsigned int elsewhere = 0;

	for (unsigned int i = 0; i < engine->shard_count; i++)
		elsewhere += engine->shards[i].lane_count;
	if (mimicd_shard_make_room(&engine->loop_shard, elsewhere + 1))
		return -ENOMEM;
	return mimicd_shard_make_room(client->shard, 1);
}

/* The thread of that number, or for 0 a new one. */
static int find_thread(struct mimicd_client *client, uint32_t number, pid_t tid,
		       struct mimicd_thread **found)
{
	struct mimicd_thread *thread;

	if (number) {
		if (number > MIMIC_SESSION_THREADS || !client->threads[number] ||
		    client->threads[number]->gone)
			return -ENOENT;
		*found = client->threads[number];
		return 0;
	}
	for (number = 1; number <= MIMIC_SESSION_THREADS && client->threads[number]; number++)
		;
	if (number > MIMIC_SESSION_THREADS)
		return -EMFILE;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	if (client->process) {
		thread->bound = mimicd_process_join(client->engine, client->process, thread, tid);
		if (!thread->bound) {
			free(thread);
			return -ENOMEM;
		}
	}
	thread->number = number;
	thread->owner = ++client->engine->last_owner << MIMICD_OWNER_SHIFT | number;
	client->threads[number] = thread;
	*found = thread;
	return 0;
}

static void free_thread(struct mimicd_client *client, struct mimicd_thread *thread)
{
	client->threads[thread->number] = NULL;
	if (thread->bound)
		mimicd_process_leave(client->process, thread->bound);
	free(thread);
}

static int take_quota(struct mimicd_user *user)
{
	int error = mimicd_quota_take(user, MIMICD_QUOTA_maps, 1);

	if (error)
		return error;
	error = mimicd_quota_take(user, MIMICD_QUOTA_lanes, 1);
	if (error)
		mimicd_quota_give_back(user, MIMICD_QUOTA_maps, 1);
	return error;
}

static void give_quota_back(struct mimicd_user *user)
{
	mimicd_quota_give_back(user, MIMICD_QUOTA_maps, 1);
	mimicd_quota_give_back(user, MIMICD_QUOTA_lanes, 1);
}

static int check_lane(const struct mimicd_client *client, uint32_t level)
{
	if (level >= MIMIC_LANE_LEVELS)
		return -EINVAL;
	return client->lane_count == MIMIC_SESSION_LANES ? -EMFILE : 0;
}

_Static_assert(MIMIC_SESSION_LANES < MIMIC_LANE_NUMBERS, "low bits for each lane");

/* Order words name a lane by its low bits: no two lanes of a client have the same. */
static uint32_t next_number(struct mimicd_client *client)
{
	const struct mimicd_lane *lane;

	do {
		client->last_lane++;
		lane = client->lanes;
		while (lane && (lane->number - client->last_lane) % MIMIC_LANE_NUMBERS)
			lane = lane->next;
	} while (lane);
	return client->last_lane;
}

/* In memory that is there; nothing is left of it if it fails. */
static int create(struct mimicd_client *client, struct mimicd_thread *thread, uint32_t level,
		  const struct mimicd_lane_place *place, bool is_lent, struct mimicd_lane **created)
{
	struct mimicd_lane *lane = calloc(1, sizeof(*lane));
	int error;

	if (!lane)
		return -ENOMEM;
	lane->client = client;
	lane->thread = thread;
	lane->level = level;
	lane->is_lent = is_lent;
	error = make_room(client);
	if (error) {
		free(lane);
		return error;
	}
	mimicd_shard_add_lane(client->shard, lane);
	lay_out(lane, place);
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].lost)
			atomic_fetch_or_explicit(&lane->memory->lost[i / 64], 1ull << i % 64, memory_order_relaxed);
	}
	lane->number = next_number(client);
	lane->fd = -1;
	lane->next = client->lanes;
	client->lanes = lane;
	client->lane_count++;
	thread->lanes++;
	mimicd_placement_note(client);
	*created = lane;
	return 0;
}

/* A daemon that can be recovered keeps the lane's memory, and writes how far it is. */
static int keep(struct mimicd_lane *lane, int fd)
{
	int error;

	if (!mimicd_journal_is_on())
		return 0;
	lane->record = mimicd_journal_alloc(sizeof(*lane->record));
	lane->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	error = lane->record && lane->fd >= 0 ? mimicd_keep(MIMICD_KEEP_LANE, &lane->client->number, lane->number, fd) :
						-ENOMEM;
	mimicd_step_note(lane);
	mimicd_step_note_client(lane->client);
	return error;
}

static void forget(struct mimicd_lane *lane)
{
	if (!mimicd_journal_is_on())
		return;
	mimicd_step_note_client(lane->client);
	mimicd_step_forget(lane);
	mimicd_keep_drop(MIMICD_KEEP_LANE, lane->client->number, lane->number);
	mimicd_journal_free(lane->record);
	if (lane->fd >= 0)
		close(lane->fd);
}

void mimicd_lane_destroy(struct mimicd_lane *lane)
{
	struct mimicd_client *client = lane->client;
	struct mimicd_lane **link = &client->lanes;

	if (lane->parked)
		mimicd_lane_withdraw(lane);
	forget(lane);
	while (*link != lane)
		link = &(*link)->next;
	*link = lane->next;
	if (client->turn == lane)
		client->turn = lane->next;
	client->lane_count--;
	lane->thread->lanes--;
	mimicd_shard_remove_lane(client->shard, lane);
	mimicd_placement_note(client);
	if (!lane->is_lent)
		munmap(lane->memory, lane->size);
	else if (client->ops->lane_gone)
		client->ops->lane_gone(lane);
	give_quota_back(client->user);
	free(lane);
}

/* The lane has its thread, its place and its quota by now. */
static int keep_or_destroy(struct mimicd_lane *lane, int *fd)
{
	struct mimicd_client *client = lane->client;
	struct mimicd_thread *thread = lane->thread;
	int error = keep(lane, *fd);

	if (!error)
		return 0;
	mimicd_lane_destroy(lane);
	if (!thread->lanes)
		free_thread(client, thread);
	close(*fd);
	*fd = -1;
	return error;
}

int mimicd_lane_create(struct mimicd_client *client, uint32_t thread_number, uint32_t level,
		       pid_t tid, struct mimicd_lane **created, int *fd)
{
	struct mimicd_lane_place place;
	struct mimicd_thread *thread;
	int error = check_lane(client, level);

	if (!error)
		error = find_thread(client, thread_number, tid, &thread);
	if (error)
		return error;
	error = take_quota(client->user);
	if (error)
		goto free_thread;
	error = map_lane(&client->engine->memory_fixes, &place, fd);
	if (error)
		goto give_back;
	error = create(client, thread, level, &place, false, created);
	if (!error)
		return keep_or_destroy(*created, fd);
	unmap_lane(&place);
	close(*fd);
	*fd = -1;
give_back:
	give_quota_back(client->user);
free_thread:
	if (!thread->lanes)
		free_thread(client, thread);
	return error;
}

int mimicd_lane_create_in(struct mimicd_client *client, uint32_t thread_number, uint32_t level,
			  const struct mimicd_lane_place *place, struct mimicd_lane **created)
{
	struct mimicd_thread *thread;
	int error = check_lane(client, level);

	if (!error)
		error = find_thread(client, thread_number, 0, &thread);
	if (error)
		return error;
	error = take_quota(client->user);
	if (!error) {
		error = create(client, thread, level, place, true, created);
		if (error)
			give_quota_back(client->user);
	}
	if (error && !thread->lanes)
		free_thread(client, thread);
	return error;
}

struct mimicd_lane *mimicd_lane_find(struct mimicd_client *client, uint32_t number)
{
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		if (lane->number == number && !lane->retired)
			return lane;
	}
	return NULL;
}

void mimicd_lane_retire(struct mimicd_lane *lane)
{
	if (lane->remaining && lane->command.kind != MIMIC_COMMAND_STORE)
		mimicd_lane_cancel(lane);
	mimicd_step_note(lane);
	lane->retired = true;
	mimicd_lane_drain(lane);
	mimicd_shard_call_reap(lane->client->shard);
}

static void finish_thread(struct mimicd_client *client, struct mimicd_thread *thread)
{
	mimicd_step_note_client(client);
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			mimicd_instance_owner_gone(client->devices[i].instance, mimicd_thread_owner(thread));
	}
	free_thread(client, thread);
}

/* Not the end of a thread: its traps go on. */
static void leave_thread(struct mimicd_client *client, struct mimicd_thread *thread)
{
	if (thread->bound && !thread->bound->traps)
		finish_thread(client, thread);
	else
		free_thread(client, thread);
}

void mimicd_threads_leave(struct mimicd_client *client)
{
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		if (client->threads[i])
			leave_thread(client, client->threads[i]);
	}
}

int mimicd_thread_end(struct mimicd_client *client, uint32_t number)
{
	struct mimicd_thread *thread = NULL;

	if (number && number <= MIMIC_SESSION_THREADS)
		thread = client->threads[number];
	if (!thread || thread->gone)
		return -ENOENT;
	thread->gone = true;
	mimicd_step_note_client(client);
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		if (lane->thread == thread && !lane->retired)
			mimicd_lane_retire(lane);
	}
	mimicd_lanes_reap(client);
	return 0;
}

void mimicd_lanes_reap(struct mimicd_client *client)
{
	struct mimicd_lane *lane = client->lanes;

	while (lane) {
		struct mimicd_lane *next = lane->next;

		if (lane->retired && mimicd_lane_is_done(lane))
			mimicd_lane_destroy(lane);
		lane = next;
	}
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		struct mimicd_thread *thread = client->threads[i];

		if (thread && thread->gone && !thread->lanes)
			finish_thread(client, thread);
	}
}
