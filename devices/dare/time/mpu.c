/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* An MPU in time: its life and its cycles. Those in which nothing can happen are left out. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "devices/dare/time/internal.h"

/* --- cycles ------------------------------------------------------------------------ */

bool dare_mpu_is_idle(const struct dare_mpu *mpu)
{
	return !mpu->queued && !mpu->loads_open && !mpu->store_count && !mpu->sq.count && !mpu->running_count;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* All waits end with one of these events. */
static uint64_t next_event(const struct dare_mpu *mpu)
{
	uint64_t next = mpu->running_count ? mpu->array_next : NEVER;

	return earlier(next, earlier(answers_next(&mpu->lq), answers_next(&mpu->sq)));
}

static void step(struct dare_mpu *mpu, uint64_t now)
{
	dare_time_count_until(mpu, now);
	mpu->now = now;
	mpu->has_progress = false;
	dare_time_lsu_answers(mpu);
	if (mpu->running_count && mpu->array_next <= now)
		dare_time_array_end(mpu);
	dare_time_issue(mpu);
	dare_time_lsu_send(mpu);
	mpu->next = mpu->has_progress ? now + 1 : next_event(mpu);
}

void dare_mpu_advance(struct dare_mpu *mpu, uint64_t now)
{
	while (mpu->next <= now)
		step(mpu, mpu->next);
	if (now > mpu->now)
		mpu->now = now;
}

uint64_t dare_mpu_next(const struct dare_mpu *mpu)
{
	return mpu->next;
}

/* --- dispatch ----------------------------------------------------------------------- */

bool dare_mpu_put(struct dare_mpu *mpu, const struct dare_dispatched *instruction, uint64_t now)
{
	dare_mpu_advance(mpu, now);
	if (mpu->dispatch_cycle != now)
		mpu->dispatches = 0;
	if (mpu->dispatches >= mpu->parameters.mpu_dispatch) {
		mpu->next = earlier(mpu->next, now + 1);
		return false;
	}
	if (!dare_time_queue_has_room(mpu, instruction))
		return false;
	dare_time_count_until(mpu, now);
	mpu->dispatch_cycle = now;
	mpu->dispatches++;
	dare_time_queue_put(mpu, instruction);
	if (mpu->queued > mpu->statistics.riq_most)
		mpu->statistics.riq_most = mpu->queued;
	mpu->next = earlier(mpu->next, now + 1);
	return true;
}

uint64_t dare_mpu_dispatch(struct dare_mpu *mpu, const struct dare_dispatched *instruction, uint64_t now)
{
	while (!dare_mpu_put(mpu, instruction, now))
		now = mpu->next;
	return now;
}

uint64_t dare_mpu_drain(struct dare_mpu *mpu, uint64_t now)
{
	dare_mpu_advance(mpu, now);
	while (!dare_mpu_is_idle(mpu)) {
		now = mpu->next;
		dare_mpu_advance(mpu, now);
	}
	return now;
}

/* --- life ----------------------------------------------------------------------------- */

static bool has_room(const struct dare_time_parameters *p)
{
	return p->mpu_dispatch && p->mpu_window && p->mpu_issue && p->mpu_window <= DARE_TIME_RIQ_MAX && p->mpu_lq &&
	       p->mpu_lq <= DARE_TIME_LQ_MAX && p->mpu_sq && p->mpu_sq <= DARE_TIME_SQ_MAX && p->mpu_stores &&
	       p->mpu_stores <= DARE_TIME_STORES_MAX && (!p->mpu_store_order || p->mpu_oldest_first) && p->mpu_riq &&
	       p->mpu_riq <= DARE_TIME_RIQ_MAX && p->mpu_vmr <= DARE_TIME_VMR_MAX && p->rfu_window &&
	       p->rfu_window <= DARE_TIME_RFU_WINDOW_MAX && p->rfu_bin && p->array_rows && p->array_columns &&
	       p->llc_banks && p->llc_banks <= DARE_TIME_BANKS_MAX && p->llc_latency && p->llc_reads &&
	       p->llc_writes && p->llc_mshrs && p->llc_mshrs <= DARE_TIME_MSHRS_MAX && p->dram_gap;
}

/* All but the LLC and the statistics. */
static void clear(struct dare_mpu *mpu)
{
	const size_t begin = offsetof(struct dare_mpu, entry), end = offsetof(struct dare_mpu, llc);

	memset((char *)mpu + begin, 0, end - begin);
	memset(mpu->vmr, 0, sizeof(mpu->vmr));
	mpu->vmr_taken = 0;
	dare_time_queue_init(mpu);
	dare_time_answers_init(&mpu->lq);
	dare_time_answers_init(&mpu->sq);
	mpu->has_ports = mpu->parameters.llc_reads > 1 || mpu->parameters.llc_writes > 1;
	dare_time_rfu_init(mpu);
	mpu->next = NEVER;
	/* A prefetch goes first where both could. */
	mpu->last_side = SIDE_DEMAND;
}

void dare_mpu_trace(struct dare_mpu *mpu, struct mimic_trace_source *source)
{
	mpu->trace = source;
}

void dare_mpu_drop(struct dare_mpu *mpu, uint64_t now)
{
	dare_mpu_advance(mpu, now);
	if (is_traced(mpu))
		dare_time_trace_drop(mpu);
	dare_time_count_until(mpu, now);
	clear(mpu);
	if (is_traced(mpu))
		dare_time_trace_threshold(mpu);
}

struct dare_mpu *dare_mpu_create(const struct dare_time_parameters *parameters)
{
	struct dare_mpu *mpu;
	int error;

	if (!has_room(parameters)) {
		errno = EINVAL;
		return NULL;
	}
	mpu = calloc(1, sizeof(*mpu));
	if (!mpu)
		return NULL;
	mpu->parameters = *parameters;
	mpu->dispatch_cycle = NEVER;
	error = dare_time_llc_init(mpu);
	if (error) {
		free(mpu);
		errno = -error;
		return NULL;
	}
	clear(mpu);
	mpu->statistics.threshold = mpu->rfu.threshold;
	return mpu;
}

void dare_mpu_destroy(struct dare_mpu *mpu)
{
	if (!mpu)
		return;
	dare_time_llc_free(mpu);
	free(mpu);
}
