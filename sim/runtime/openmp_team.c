/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Parallel regions of OpenMP. The thread that comes to one is thread 0 of its team; the others are
 * threads of the run-time, which keep their cores and wait for the next region. A region inside another one that
 * has several threads has one thread.
 */
#include <errno.h>
#include <sys/mman.h>

#include "sim/runtime/openmp.h"
#include "sim/runtime/threads.h"

static struct sim_thread *workers[SIM_CORES];	/* in the order in which they were started */
static unsigned int worker_count;
static struct sim_openmp_team *free_teams;

/* Not malloc(): the program's own must not move. It is zero, and stays where it is, as its frames do. */
static struct sim_openmp_team *make_team(unsigned int size, const struct sim_openmp_team *outer)
{
	struct sim_openmp_team *team = free_teams;

	if (team)
		free_teams = team->next;
	else
		team = mmap(NULL, sizeof(*team), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (team == MAP_FAILED) {
		sim_say("no memory for a team of OpenMP");
		sim_end_with(SIM_REFUSED);
	}
	team->size = size;
	team->arrived = 0;
	team->level = outer ? outer->level + 1 : 0;
	team->active_level = (outer ? outer->active_level : 0) + (size > 1);
	for (unsigned int i = 0; i < SIM_OPENMP_SHARES; i++)
		team->shares[i].number = 0;
	return team;
}

struct sim_openmp_team *sim_openmp_team(struct sim_thread *self)
{
	if (!self->openmp.team)
		self->openmp.team = make_team(1, NULL);
	return self->openmp.team;
}

static void touch(struct sim_thread *self, const uint32_t *word, unsigned int instructions)
{
	soc_execute(sim.soc, self->core, instructions);
	sim_make_atomic(self, (uintptr_t)word, sizeof(*word));
}

/* true: the caller is the last to come. */
static bool arrive(struct sim_thread *self, struct sim_openmp_team *team)
{
	touch(self, &team->word, SIM_OPENMP_BARRIER);
	return ++team->arrived == team->size;
}

void sim_openmp_barrier(struct sim_thread *self)
{
	struct sim_openmp_team *team = sim_openmp_team(self);

	if (team->size == 1)
		return;
	if (arrive(self, team)) {
		team->arrived = 0;
		sim_wake_waiters(self, SIM_WAIT_TEAM, team, SIM_CORES);
		return;
	}
	sim_block(self, SIM_WAIT_TEAM, team, SIM_NEVER);
	/* The barrier's word, which another core has written, ends the wait. */
	sim_make_load(self, (uintptr_t)&team->word, sizeof(team->word));
}

/* --- the threads of the run-time ------------------------------------------------------------ */

/* Thread 0 alone waits for the end of a region; after that no other thread uses the team. */
static void *work(void *argument)
{
	struct sim_thread *self = sim_self;

	(void)argument;
	for (;;) {
		sim.is_busy = true;
		while (!self->openmp.function)
			sim_block(self, SIM_WAIT_WORK, NULL, SIM_NEVER);
		sim_make_load(self, (uintptr_t)&self->openmp.team->word, sizeof(uint32_t));
		sim_leave();
		sim_coroutine_at_page(self->openmp.function, self->openmp.data);
		sim.is_busy = true;
		if (arrive(self, self->openmp.team))
			sim_wake_waiters(self, SIM_WAIT_TEAM, self->openmp.team, 1);
		self->openmp.team = NULL;
		self->openmp.function = NULL;
	}
	return NULL;
}

static struct sim_thread *find_worker(struct sim_thread *self)
{
	struct sim_thread *worker;
	int error;

	for (unsigned int i = 0; i < worker_count; i++)
		if (!workers[i]->openmp.function)
			return workers[i];
	error = sim_thread_start(self, &worker, NULL, work, NULL);
	if (error) {
		sim_say("a thread of OpenMP cannot be started: error %d", error);
		sim_end_with(SIM_REFUSED);
	}
	worker->openmp.is_worker = true;
	return workers[worker_count++] = worker;
}

static void start_worker(struct sim_thread *self, unsigned int number)
{
	struct sim_openmp_team *team = self->openmp.team;
	struct sim_thread *worker = find_worker(self);

	worker->openmp.team = team;
	worker->openmp.number = number;
	worker->openmp.begun = self->openmp.begun;
	worker->openmp.share = self->openmp.share;
	worker->openmp.trip = 0;
	worker->openmp.data = self->openmp.data;
	worker->openmp.function = self->openmp.function;
	touch(self, &team->word, SIM_OPENMP_THREAD);
	if (worker->wait == SIM_WAIT_WORK)
		sim_wake(worker, soc_now(sim.soc, self->core));
}

static void end_team(struct sim_thread *self, struct sim_openmp_team *team)
{
	if (team->size > 1 && !arrive(self, team)) {
		sim_block(self, SIM_WAIT_TEAM, team, SIM_NEVER);
		sim_make_load(self, (uintptr_t)&team->word, sizeof(team->word));
	}
	team->next = free_teams;
	free_teams = team;
}

static unsigned int choose_size(const struct sim_openmp_team *outer, unsigned int wanted)
{
	unsigned int size = wanted ? wanted : sim_openmp_threads();

	if (outer->active_level)
		return 1;
	if (size <= sim.cores)
		return size;
	sim_say("a parallel region of OpenMP is to have %u threads, and the SoC has %u core%s: --cores N gives it N, at most %u",
		size, sim.cores, sim.cores == 1 ? "" : "s", SIM_CORES);
	sim_end_with(SIM_REFUSED);
}

void sim_openmp_run(struct sim_thread *self, sim_openmp_function function, void *data, unsigned int threads,
		    const struct sim_openmp_share *share)
{
	struct sim_openmp_team *outer = sim_openmp_team(self);
	const struct sim_openmp_member before = self->openmp;
	struct sim_openmp_team *team = make_team(choose_size(outer, threads), outer);

	sim_settle(self);
	soc_execute(sim.soc, self->core, SIM_OPENMP_FORK);
	self->openmp = (struct sim_openmp_member){ .team = team, .function = function, .data = data, .is_worker = before.is_worker };
	if (share) {
		/* The first construct of all is the one that they begin with. */
		self->openmp.begun = 1;
		self->openmp.share = &team->shares[1];
		team->shares[1] = *share;
		team->shares[1].number = 1;
	}
	for (unsigned int number = 1; number < team->size; number++)
		start_worker(self, number);
	sim_leave();
	sim_coroutine_at_page(function, data);
	sim.is_busy = true;
	end_team(self, team);
	self->openmp = before;
}
