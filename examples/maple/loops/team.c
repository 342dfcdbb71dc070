/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The threads of one form. The caller is one of them, so that there are as many as cores. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/common/array.h"
#include "examples/common/pairs.h"
#include "examples/maple/loops/task.h"
#include <mimic/sim.h>

struct team;

struct member {
	struct team *team;
	struct loop_part part;
	pthread_t thread;
};

struct team {
	const struct loop_kernel *kernel;
	void *state;
	const char *phase;
	bool is_again;
	unsigned int threads;
	pthread_barrier_t barrier;
	struct member *member;
	double seconds;
	uint64_t cycles;
};

static uint64_t now_cycles(void)
{
	return mimic_sim_cycles ? mimic_sim_cycles() : 0;
}

static void measure_begin(struct team *team)
{
	if (mimic_sim_phase_begin)
		mimic_sim_phase_begin(team->phase);
	team->cycles = now_cycles();
	team->seconds = clock_seconds();
}

static void measure_end(struct team *team)
{
	team->seconds = clock_seconds() - team->seconds;
	team->cycles = now_cycles() - team->cycles;
	if (mimic_sim_phase_end)
		mimic_sim_phase_end();
}

/* The other threads wait for us and cannot be called back. */
static void check(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(error));
	_exit(1);
}

static bool uses_queues(const struct team *team, enum loop_form form)
{
	return form == LOOP_LIMA || ((form == LOOP_DECOUPLED || form == LOOP_DESC) && team->kernel->is_decoupled(form));
}

static void open_queues(const struct member *member)
{
	const struct loop_part *part = &member->part;
	enum maple_role here = part->is_access ? MAPLE_PRODUCER : MAPLE_CONSUMER;

	if (!uses_queues(member->team, part->form))
		return;
	check("queue", -maple_open(part->maple, part->queue, here));
	if (part->form == LOOP_LIMA)
		check("queue", -maple_open(part->maple, part->queue, MAPLE_PRODUCER));
	if (part->form == LOOP_DESC)
		check("queue", -maple_open(part->maple, part->back,
					   part->is_access ? MAPLE_CONSUMER : MAPLE_PRODUCER));
}

static void close_queues(const struct member *member)
{
	const struct loop_part *part = &member->part;

	if (!uses_queues(member->team, part->form))
		return;
	maple_close(part->maple, part->queue, part->is_access ? MAPLE_PRODUCER : MAPLE_CONSUMER);
	if (part->form == LOOP_LIMA)
		maple_close(part->maple, part->queue, MAPLE_PRODUCER);
	if (part->form == LOOP_DESC)
		maple_close(part->maple, part->back, part->is_access ? MAPLE_CONSUMER : MAPLE_PRODUCER);
}

static void *work(void *argument)
{
	struct member *member = argument;
	struct team *team = member->team;
	bool is_first = member == team->member;
	bool merges = team->kernel->merges && team->kernel->merges(team->state);

	open_queues(member);
	pthread_barrier_wait(&team->barrier);
	if (is_first)
		measure_begin(team);
	do {
		pthread_barrier_wait(&team->barrier);
		team->kernel->run(team->state, &member->part);
		pthread_barrier_wait(&team->barrier);
		if (merges) {
			team->kernel->merge(team->state, (unsigned int)(member - team->member), team->threads);
			pthread_barrier_wait(&team->barrier);
		}
		if (is_first)
			team->is_again = team->kernel->again && team->kernel->again(team->state);
		pthread_barrier_wait(&team->barrier);
	} while (team->is_again);
	if (is_first)
		measure_end(team);
	close_queues(member);
	return NULL;
}

static void set_part(struct team *team, unsigned int number, enum loop_form form, struct maple *maple,
		     struct shared_queue *shared)
{
	bool is_decoupled = team->kernel->is_decoupled(form);
	unsigned int share = is_decoupled ? number / 2 : number;

	team->member[number].team = team;
	team->member[number].part = (struct loop_part){
		.form = form,
		.is_access = is_decoupled && number % 2 == 0,
		.share = share,
		.shares = is_decoupled ? team->threads / 2 : team->threads,
		.maple = maple,
		.queue = form == LOOP_DESC ? 2 * share : share,
		.back = 2 * share + 1,
		.shared = &shared[share],
	};
}

static void run_members(struct team *team)
{
	pthread_barrier_init(&team->barrier, NULL, team->threads);
	for (unsigned int i = 1; i < team->threads; i++)
		check("cannot start a thread", pthread_create(&team->member[i].thread, NULL, work, &team->member[i]));
	work(&team->member[0]);
	for (unsigned int i = 1; i < team->threads; i++)
		pthread_join(team->member[i].thread, NULL);
	pthread_barrier_destroy(&team->barrier);
}

/* Of a prefetcher that `mimic sim` models; others take no notice. */
static void tell_indirect(const struct loop_kernel *kernel, const void *state)
{
	struct loop_indirect indirect;

	if (!mimic_sim_indirect)
		return;
	kernel->indirect(state, &indirect);
	mimic_sim_indirect(indirect.indices, indirect.count, indirect.data, indirect.element_size);
}

int team_run(const struct loop_kernel *kernel, void *state, enum loop_form form, const char *phase,
	     unsigned int threads, struct maple *maple, double *seconds, uint64_t *cycles, struct message *message)
{
	struct team team = { .kernel = kernel, .state = state, .phase = phase, .threads = threads };
	struct shared_queue *shared;

	if (kernel->is_decoupled(form) && threads % 2 == 1)
		return message_set(message, -EINVAL, "--threads %u: a decoupled form needs an even number", threads);
	/* Whole pages, and zeroed: in virtual time nothing may depend on earlier allocations. */
	shared = array_alloc(threads, sizeof(*shared));
	team.member = calloc(threads, sizeof(*team.member));
	if (!shared || !team.member) {
		array_free(shared, threads, sizeof(*shared));
		free(team.member);
		return message_set(message, -ENOMEM, "out of memory for %u threads", threads);
	}
	for (unsigned int i = 0; i < threads; i++)
		set_part(&team, i, form, maple, shared);
	tell_indirect(kernel, state);
	run_members(&team);
	*seconds = team.seconds;
	*cycles = team.cycles;
	array_free(shared, threads, sizeof(*shared));
	free(team.member);
	return 0;
}
