/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Loads and stores of the shared memory that threads of the program make. A thread stands for a warp, so that
 * a word goes by the lane that its sub-bank has. Units and cores come first: an access that a bank refuses
 * tries again in each cycle, and of two threads the one that came first has it.
 */
#include "devices/virgo/time/internal.h"

static unsigned int words_of(const struct virgo_time_shared_access *access)
{
	return (access->address % WORD + access->size + WORD - 1) / WORD;
}

/* All words that lie in one bank come in one cycle; an access of 8 bytes may lie in two. */
static uint16_t banks_of(const struct virgo_timing *timing, const struct virgo_time_shared_access *access)
{
	unsigned int first = virgo_time_bank(timing, access->address);
	unsigned int last = virgo_time_bank(timing, access->address + access->size - 1);

	return (uint16_t)(1u << first | 1u << last);
}

/* As of a warp's load: to the LSU, its head, and from the grant to the register. */
static uint64_t load_cycles(const struct virgo_timing *timing)
{
	return timing->parameters.simt_operands + 1 + timing->parameters.lsu_latency;
}

static void ask(struct virgo_timing *timing, struct shared_request *request, uint64_t now)
{
	for (unsigned int bank = 0; request->banks >> bank; bank++) {
		if (!(request->banks >> bank & 1))
			continue;
		if (request->is_store ? virgo_time_shared_write(timing, bank, now) : virgo_time_shared_read(timing, bank, now))
			request->banks &= (uint16_t)~(1u << bank);
	}
	if (!request->banks)
		request->over = now + (request->is_store ? 1 : load_cycles(timing));
}

static void count(struct virgo_time_statistics *statistics, const struct virgo_time_shared_access *access)
{
	if (access->is_store) {
		statistics->thread_stores++;
		statistics->shared_writes += words_of(access);
	} else {
		statistics->thread_loads++;
		statistics->shared_reads += words_of(access);
	}
}

bool virgo_time_shared_access(struct virgo_timing *timing, const struct virgo_time_shared_access *access, uint64_t now,
			      uint64_t *over)
{
	struct shared_request request = {
		.owner = access->owner, .is_store = access->is_store, .banks = banks_of(timing, access), .over = NEVER,
	};

	count(&timing->statistics, access);
	ask(timing, &request, now);
	if (request.over == NEVER && timing->thread_count < VIRGO_TIME_THREADS_MAX) {
		timing->thread[timing->thread_count++] = request;
		return false;
	}
	*over = request.over != NEVER ? request.over : now + 1;
	return true;
}

void virgo_time_threads_step(struct virgo_timing *timing, uint64_t now)
{
	for (unsigned int i = 0; i < timing->thread_count; i++) {
		struct shared_request *request = &timing->thread[i];

		if (request->over != NEVER)
			continue;
		timing->statistics.thread_stall_bank++;
		ask(timing, request, now);
		timing->something_ended |= request->over != NEVER;
	}
}

uint64_t virgo_time_threads_next(const struct virgo_timing *timing)
{
	return timing->thread_count ? timing->now + 1 : NEVER;
}

bool virgo_time_take_shared(struct virgo_timing *timing, uint64_t *owner, uint64_t *over)
{
	for (unsigned int i = 0; i < timing->thread_count; i++) {
		if (timing->thread[i].over == NEVER)
			continue;
		*owner = timing->thread[i].owner;
		*over = timing->thread[i].over;
		timing->thread_count--;
		for (; i < timing->thread_count; i++)
			timing->thread[i] = timing->thread[i + 1];
		return true;
	}
	return false;
}
