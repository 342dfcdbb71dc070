/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runahead filter unit (IV-E): the first row that is prefetched for an instruction is tentative;
 * only if it takes longer than the threshold are the others prefetched, too. The threshold lies
 * between the latencies of hits and of misses: in a histogram of the latest latencies it is
 * behind the emptiest bin between the outermost peaks, and it stays where there is but one peak.
 */
#include <string.h>

#include "devices/dare/time/internal.h"

void dare_time_rfu_init(struct dare_mpu *mpu)
{
	memset(&mpu->rfu, 0, sizeof(mpu->rfu));
	mpu->rfu.threshold = mpu->parameters.rfu_threshold;
	mpu->statistics.threshold = mpu->rfu.threshold;
}

/* Longer ones than there are bins for are in the last one. */
static unsigned int bin_of(const struct dare_mpu *mpu, uint64_t latency)
{
	uint64_t bin = latency / mpu->parameters.rfu_bin;

	return bin < RFU_BINS ? (unsigned int)bin : RFU_BINS - 1;
}

static bool is_peak(const struct dare_mpu *mpu, unsigned int bin)
{
	return mpu->rfu.count[bin] * 100ull > mpu->parameters.rfu_peak * mpu->parameters.rfu_window;
}

/* The emptiest bin between two others, the first of several. */
static unsigned int emptiest(const struct rfu *rfu, unsigned int low, unsigned int high)
{
	unsigned int bin = low + 1;

	for (unsigned int i = low + 2; i < high; i++)
		if (rfu->count[i] < rfu->count[bin])
			bin = i;
	return bin;
}

static void update(struct dare_mpu *mpu)
{
	struct rfu *rfu = &mpu->rfu;
	unsigned int low = RFU_BINS, high = 0;
	uint64_t before = rfu->threshold;

	/* A peak holds some of the latest latencies, so there are no others. */
	for (unsigned int i = 0; i < mpu->parameters.rfu_window; i++) {
		unsigned int bin = rfu->ring[i];

		if ((bin < low || bin > high) && is_peak(mpu, bin)) {
			low = bin < low ? bin : low;
			high = bin > high ? bin : high;
		}
	}
	if (low > high || high - low <= mpu->parameters.rfu_margin || high - low < 2)
		return;
	rfu->threshold = emptiest(rfu, low, high) * mpu->parameters.rfu_bin + mpu->parameters.rfu_slack;
	mpu->statistics.threshold = rfu->threshold;
	if (rfu->threshold != before && is_traced(mpu))
		dare_time_trace_threshold(mpu);
}

void dare_time_rfu_add(struct dare_mpu *mpu, uint64_t latency)
{
	struct rfu *rfu = &mpu->rfu;
	unsigned int bin = bin_of(mpu, latency);

	if (!mpu->parameters.rfu_dynamic || !mpu->parameters.rfu_enabled)
		return;
	if (rfu->filled == mpu->parameters.rfu_window)
		rfu->count[rfu->ring[rfu->at]]--;
	else
		rfu->filled++;
	rfu->ring[rfu->at] = (uint8_t)bin;
	rfu->count[bin]++;
	rfu->at = rfu->at + 1 < mpu->parameters.rfu_window ? rfu->at + 1 : 0;
	if (rfu->filled == mpu->parameters.rfu_window)
		update(mpu);
}
