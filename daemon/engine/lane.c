/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes and threads of a session: made, retired, freed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/bus/binding.h"
#include "daemon/clients/session.h"
#include "daemon/engine/execute.h"
#include "libmimic/base/clock.h"

static int map_lane(struct mimicd_lane *lane, int *fd)
{
	int error = 0;
	void *memory;

	lane->size = mimic_lane_size(MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS);
	*fd = memfd_create("mimic lane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	/* The client gets this descriptor: nothing it does may take pages from under us. */
	if (ftruncate(*fd, (off_t)lane->size) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		error = -errno;
	memory = error ? MAP_FAILED :
		 mmap(NULL, lane->size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (memory == MAP_FAILED) {
		error = error ? error : -errno;
		close(*fd);
		*fd = -1;
		return error;
	}
	lane->memory = memory;
	mimic_ring_attach(&lane->commands, mimic_lane_commands(memory), MIMIC_LANE_COMMAND_WORDS);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(memory, MIMIC_LANE_COMMAND_WORDS),
			  MIMIC_LANE_RESPONSE_WORDS);
	atomic_store_explicit(&lane->memory->daemon_cpu, lane->session->engine->cpu,
			      memory_order_relaxed);
	atomic_store_explicit(&lane->memory->client_cpu, -1, memory_order_relaxed);
	return 0;
}

static int add_to_server(struct mimicd_engine *engine, struct mimicd_lane *lane)
{
	if (engine->lane_count == engine->lane_capacity) {
		unsigned int capacity = engine->lane_capacity ? 2 * engine->lane_capacity : 16;
		struct mimicd_lane **lanes = realloc(engine->lanes, capacity * sizeof(*lanes));

		if (!lanes)
			return -ENOMEM;
		engine->lanes = lanes;
		engine->lane_capacity = capacity;
	}
	engine->lanes[engine->lane_count++] = lane;
	return 0;
}

static void remove_from_server(struct mimicd_engine *engine, struct mimicd_lane *lane)
{
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		if (engine->lanes[i] != lane)
			continue;
		engine->lanes[i] = engine->lanes[--engine->lane_count];
		return;
	}
}

static uint64_t owner_of(const struct mimicd_thread *thread)
{
	/* A session of a process that came by the kernel has that process's devices only. */
	return thread->bound ? thread->bound->number : thread->owner;
}

uint64_t mimicd_lane_owner(const struct mimicd_lane *lane)
{
	return owner_of(lane->thread);
}

/* The thread of that number, or for 0 a new one. */
static int find_thread(struct mimicd_session *session, uint32_t number, uint32_t tid,
		       struct mimicd_thread **found)
{
	struct mimicd_thread *thread;

	if (number) {
		if (number > MIMIC_SESSION_THREADS || !session->threads[number] ||
		    session->threads[number]->gone)
			return -ENOENT;
		*found = session->threads[number];
		return 0;
	}
	for (number = 1; number <= MIMIC_SESSION_THREADS && session->threads[number]; number++)
		;
	if (number > MIMIC_SESSION_THREADS)
		return -EMFILE;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	if (session->process) {
		thread->bound = mimicd_process_join(session, thread,
						    mimicd_thread_id(session->pid, tid));
		if (!thread->bound) {
			free(thread);
			return -ENOMEM;
		}
	}
	thread->number = number;
	thread->owner = ++session->engine->last_owner << MIMICD_OWNER_SHIFT | number;
	session->threads[number] = thread;
	*found = thread;
	return 0;
}

static void free_thread(struct mimicd_session *session, struct mimicd_thread *thread)
{
	session->threads[thread->number] = NULL;
	if (thread->bound)
		mimicd_process_leave(session->process, thread->bound);
	free(thread);
}

int mimicd_lane_create(struct mimicd_session *session, uint32_t thread_number, uint32_t level,
		       uint32_t tid, struct mimicd_lane **created, int *fd)
{
	struct mimicd_thread *thread;
	struct mimicd_lane *lane;
	int error;

	if (level >= MIMIC_LANE_LEVELS)
		return -EINVAL;
	if (session->lane_count == MIMIC_SESSION_LANES)
		return -EMFILE;
	error = find_thread(session, thread_number, tid, &thread);
	if (error)
		return error;
	lane = calloc(1, sizeof(*lane));
	if (!lane) {
		error = -ENOMEM;
		goto free_thread;
	}
	lane->session = session;
	lane->thread = thread;
	lane->level = level;
	error = map_lane(lane, fd);
	if (error)
		goto free_lane;
	error = add_to_server(session->engine, lane);
	if (error)
		goto unmap;
	lane->number = ++session->last_lane;
	lane->next = session->lanes;
	session->lanes = lane;
	session->lane_count++;
	thread->lanes++;
	*created = lane;
	return 0;
unmap:
	munmap(lane->memory, lane->size);
	close(*fd);
	*fd = -1;
free_lane:
	free(lane);
free_thread:
	if (!thread->lanes)
		free_thread(session, thread);
	return error;
}

struct mimicd_lane *mimicd_lane_find(struct mimicd_session *session, uint32_t number)
{
	for (struct mimicd_lane *lane = session->lanes; lane; lane = lane->next) {
		if (lane->number == number && !lane->retired)
			return lane;
	}
	return NULL;
}

void mimicd_lane_destroy(struct mimicd_lane *lane)
{
	struct mimicd_session *session = lane->session;
	struct mimicd_lane **link = &session->lanes;

	if (lane->parked)
		mimicd_engine_withdraw(lane);
	while (*link != lane)
		link = &(*link)->next;
	*link = lane->next;
	session->lane_count--;
	lane->thread->lanes--;
	remove_from_server(session->engine, lane);
	munmap(lane->memory, lane->size);
	free(lane);
}

void mimicd_lane_retire(struct mimicd_lane *lane)
{
	if (lane->remaining && lane->command.kind != MIMIC_COMMAND_STORE)
		mimicd_engine_cancel(lane);
	lane->retired = true;
	mimicd_engine_drain_lane(lane);
	lane->session->engine->reap = true;
}

static void finish_thread(struct mimicd_session *session, struct mimicd_thread *thread)
{
	uint64_t now = mimic_now();

	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimic_model *model = session->devices[i].model;

		if (!session->devices[i].instance)
			continue;
		model->ops->owner_gone(model, owner_of(thread), now);
		/* Who waited goes on, and may have set off a loop. */
		session->engine->busy |= model->ops->busy(model);
	}
	free_thread(session, thread);
}

/* Not the end of a thread: what it does by traps goes on. */
static void leave_thread(struct mimicd_session *session, struct mimicd_thread *thread)
{
	if (thread->bound && !thread->bound->traps)
		finish_thread(session, thread);
	else
		free_thread(session, thread);
}

void mimicd_threads_leave(struct mimicd_session *session)
{
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		if (session->threads[i])
			leave_thread(session, session->threads[i]);
	}
}

int mimicd_thread_end(struct mimicd_session *session, uint32_t number)
{
	struct mimicd_thread *thread = NULL;

	if (number && number <= MIMIC_SESSION_THREADS)
		thread = session->threads[number];
	if (!thread || thread->gone)
		return -ENOENT;
	thread->gone = true;
	for (struct mimicd_lane *lane = session->lanes; lane; lane = lane->next) {
		if (lane->thread == thread && !lane->retired)
			mimicd_lane_retire(lane);
	}
	mimicd_lanes_reap(session);
	return 0;
}

void mimicd_lanes_reap(struct mimicd_session *session)
{
	struct mimicd_lane *lane = session->lanes;

	while (lane) {
		struct mimicd_lane *next = lane->next;

		if (lane->retired && mimicd_engine_is_done(lane))
			mimicd_lane_destroy(lane);
		lane = next;
	}
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		struct mimicd_thread *thread = session->threads[i];

		if (thread && thread->gone && !thread->lanes)
			finish_thread(session, thread);
	}
}
