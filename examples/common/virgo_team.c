/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/virgo_team.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BARRIER 0

enum gate { GATE_CLOSED, GATE_OPEN, GATE_NEVER };

/* Threads begin when all are there: the barrier counts on each of them. */
struct start {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	enum gate gate;
	virgo_warp_function function;
	void *context;
};

struct member {
	struct virgo_warp warp;
	struct start *start;
	pthread_t thread;
};

static void keep_message(struct virgo_team *team, int error)
{
	const char *text = virgo_error_text();

	/* The text is the thread's own. */
	if (!atomic_flag_test_and_set(&team->has_message))
		message_set(&team->message, error, "%s", *text ? text : strerror(-error));
}

int virgo_warp_meet(struct virgo_warp *warp, int error)
{
	/*
	 * A warp that is already on its way to the next meeting may fail before another
	 * has looked at this one's result; so they use two places in turn.
	 */
	atomic_int *shared = &warp->team->error[warp->meetings++ % 2];

	if (error) {
		keep_message(warp->team, error);
		atomic_store(shared, error);
	}
	error = virgo_barrier(warp->team->virgo, BARRIER);
	if (error) {
		keep_message(warp->team, error);
		return error;
	}
	return atomic_load(shared);
}

/* The last meeting: its result is the team's. */
static void run_warp(struct member *member)
{
	int error = member->start->function(&member->warp, member->start->context);

	if (error) {
		keep_message(member->warp.team, error);
		atomic_store(&member->warp.team->error[0], error);
	}
}

static void *thread_main(void *argument)
{
	struct member *member = argument;
	struct start *start = member->start;
	enum gate gate;

	pthread_mutex_lock(&start->lock);
	while (start->gate == GATE_CLOSED)
		pthread_cond_wait(&start->opened, &start->lock);
	gate = start->gate;
	pthread_mutex_unlock(&start->lock);
	if (gate == GATE_OPEN)
		run_warp(member);
	return NULL;
}

static void open_gate(struct start *start, enum gate gate)
{
	pthread_mutex_lock(&start->lock);
	start->gate = gate;
	pthread_cond_broadcast(&start->opened);
	pthread_mutex_unlock(&start->lock);
}

static int run_members(struct virgo_team *team, struct member *members, struct start *start)
{
	unsigned int started = 1;
	int error = 0;

	for (unsigned int i = 0; i < team->warps; i++) {
		members[i].warp = (struct virgo_warp){ .team = team, .number = i };
		members[i].start = start;
	}
	for (; started < team->warps && !error; started += !error)
		error = pthread_create(&members[started].thread, NULL, thread_main, &members[started]);
	open_gate(start, error ? GATE_NEVER : GATE_OPEN);
	if (!error)
		run_warp(&members[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(members[i].thread, NULL);
	if (error)
		return message_set(&team->message, -error, "no thread for warp %u: %s", started, strerror(error));
	return atomic_load(&team->error[0]) ? atomic_load(&team->error[0]) : atomic_load(&team->error[1]);
}

int virgo_team_run(struct virgo *virgo, unsigned int warps, virgo_warp_function function, void *context,
		   struct message *message)
{
	struct virgo_team team = { .virgo = virgo, .warps = warps, .has_message = ATOMIC_FLAG_INIT };
	struct start start = { .function = function, .context = context };
	struct member *members = calloc(warps, sizeof(*members));
	int error = virgo_barrier_participants(virgo, BARRIER, warps);

	if (!members)
		return message_set(message, -ENOMEM, "out of memory");
	pthread_mutex_init(&start.lock, NULL);
	pthread_cond_init(&start.opened, NULL);
	if (error)
		keep_message(&team, error);
	else
		error = run_members(&team, members, &start);
	pthread_cond_destroy(&start.opened);
	pthread_mutex_destroy(&start.lock);
	free(members);
	if (error)
		*message = team.message;
	return error;
}
