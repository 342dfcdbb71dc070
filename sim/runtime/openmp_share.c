/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The work that a team of OpenMP shares: loops, sections, single. All its threads come to the same
 * constructs in the same order. One without a wait may be left while others are not there yet, so a team has several at a time.
 */
#include "sim/runtime/openmp.h"

bool sim_openmp_share_begin(struct sim_thread *self)
{
	struct sim_openmp_team *team = sim_openmp_team(self);
	uint64_t number = ++self->openmp.begun;
	struct sim_openmp_share *share = &team->shares[number % SIM_OPENMP_SHARES];

	if (team->size > 1)
		sim_make_atomic(self, (uintptr_t)&share->word, sizeof(share->word));
	/* An older one that others are still in. */
	while (share->number && share->number != number)
		sim_block(self, SIM_WAIT_TEAM, share, SIM_NEVER);
	self->openmp.share = share;
	self->openmp.trip = 0;
	if (share->number)
		return false;
	share->number = number;
	share->left = 0;
	share->next = 0;
	return true;
}

void sim_openmp_share_end(struct sim_thread *self)
{
	struct sim_openmp_share *share = self->openmp.share;

	self->openmp.share = NULL;
	if (!share || ++share->left < self->openmp.team->size)
		return;
	share->number = 0;
	share->left = 0;
	sim_wake_waiters(self, SIM_WAIT_TEAM, share, SIM_CORES);
}

/* As the OpenMP standard and libgomp divide them: without a chunk's size one piece each, else chunks in turn. */
static bool take_static(struct sim_thread *self, const struct sim_openmp_share *share, uint64_t *first, uint64_t *end)
{
	uint64_t size = self->openmp.team->size, number = self->openmp.number, trip = self->openmp.trip++;

	if (!share->chunk) {
		uint64_t each = share->count / size, more = share->count % size;

		*first = number * each + (number < more ? number : more);
		*end = *first + each + (number < more);
		return trip == 0 && *first < *end;
	}
	if (trip * size + number > share->count / share->chunk)
		return false;
	*first = (trip * size + number) * share->chunk;
	*end = share->count - *first < share->chunk ? share->count : *first + share->chunk;
	return *first < share->count;
}

static uint64_t chunk_size(const struct sim_openmp_share *share, unsigned int threads)
{
	uint64_t left = share->count - share->next, size = share->chunk ? share->chunk : 1;
	uint64_t part = (left + threads - 1) / threads;

	if (share->schedule == SIM_OPENMP_GUIDED && part > size)
		size = part;
	return size < left ? size : left;
}

static bool take_next(struct sim_thread *self, struct sim_openmp_share *share, uint64_t *first, uint64_t *end)
{
	if (self->openmp.team->size > 1)
		sim_make_atomic(self, (uintptr_t)&share->word, sizeof(share->word));
	if (share->next >= share->count)
		return false;
	*first = share->next;
	share->next += chunk_size(share, self->openmp.team->size);
	*end = share->next;
	return true;
}

bool sim_openmp_share_take(struct sim_thread *self, uint64_t *first, uint64_t *end)
{
	struct sim_openmp_share *share = self->openmp.share;

	soc_execute(sim.soc, self->core, SIM_OPENMP_CHUNK);
	sim_settle(self);
	if (share->schedule == SIM_OPENMP_STATIC)
		return take_static(self, share, first, end);
	return take_next(self, share, first, end);
}
