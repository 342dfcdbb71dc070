/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The accesses and waits of the program's threads, each of which stands for a warp of the cluster. */
#include "devices/virgo/time/program.h"

#include <stddef.h>

#include "devices/virgo/virgo_model.h"

static bool is_barrier(const struct mimic_access *access)
{
	return access->page == VIRGO_PAGE_CONTROL && !access->is_write && access->offset >= VIRGO_BARRIER_WAIT(0) &&
	       access->offset < VIRGO_BARRIER_WAIT(VIRGO_BARRIERS);
}

/* Of the unit's registers, those that a program asks again and again. */
static bool is_poll(const struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE;

	return access->page == VIRGO_PAGE_UNITS && !access->is_write &&
	       (offset == VIRGO_BUSY || offset == VIRGO_LOOPS || offset == VIRGO_STATUS);
}

static enum virgo_program_wait wait_of(const struct mimic_access *access)
{
	if (is_barrier(access))
		return VIRGO_WAIT_BARRIER;
	return access->is_write ? VIRGO_WAIT_QUEUE : VIRGO_WAIT_UNIT;
}

uint64_t virgo_program_delay(const struct mimic_access *access, uint64_t barrier_cycles)
{
	return access && is_barrier(access) ? barrier_cycles : 0;
}

void virgo_program_count(struct virgo_time_statistics *statistics, const struct mimic_access *access)
{
	statistics->thread_mmio++;
	statistics->thread_polls += is_poll(access);
	statistics->thread_barriers += is_barrier(access);
}

void virgo_program_waits(struct virgo_program *program, const struct mimic_access *access, uint64_t now)
{
	if (program->count == VIRGO_TIME_THREADS_MAX)
		return;
	program->waiting[program->count++] = (struct virgo_program_thread){
		.owner = access->owner, .since = now, .wait = wait_of(access),
	};
}

void virgo_program_goes_on(struct virgo_program *program, struct virgo_time_statistics *statistics, uint64_t owner,
			   uint64_t now)
{
	uint64_t *const stall[] = {
		[VIRGO_WAIT_BARRIER] = &statistics->thread_stall_barrier,
		[VIRGO_WAIT_QUEUE] = &statistics->thread_stall_queue,
		[VIRGO_WAIT_UNIT] = &statistics->thread_stall_unit,
	};

	for (unsigned int i = 0; i < program->count; i++) {
		const struct virgo_program_thread thread = program->waiting[i];

		if (thread.owner != owner)
			continue;
		*stall[thread.wait] += now - thread.since;
		program->waiting[i] = program->waiting[--program->count];
		return;
	}
}
