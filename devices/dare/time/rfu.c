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
	/* The least number of which a hundredth is more than that share of the window. */
	mpu->rfu.peak_count = mpu->parameters.rfu_peak * mpu->parameters.rfu_window / 100 + 1;
}

/* Longer ones than there are bins for are in the last one. */
static unsigned int bin_of(const struct dare_mpu *mpu, uint64_t latency)
{
	uint64_t bin = latency / mpu->parameters.rfu_bin;

	return bin < RFU_BINS ? (unsigned int)bin : RFU_BINS - 1;
}

static void add_to_bin(struct rfu *rfu, unsigned int bin)
{
	if (++rfu->count[bin] == rfu->peak_count)
		rfu->peaks[bin / 64] |= 1ull << bin % 64;
}

static void take_from_bin(struct rfu *rfu, unsigned int bin)
{
	if (rfu->count[bin]-- == rfu->peak_count)
		rfu->peaks[bin / 64] &= ~(1ull << bin % 64);
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

/* The outermost peaks; false: there is none. */
static bool find_peaks(const struct rfu *rfu, unsigned int *low, unsigned int *high)
{
	bool found = false;

	for (unsigned int i = 0; i < RFU_BINS / 64; i++) {
		if (!rfu->peaks[i])
			continue;
		if (!found)
			*low = 64 * i + (unsigned int)__builtin_ctzll(rfu->peaks[i]);
		*high = 64 * i + 63 - (unsigned int)__builtin_clzll(rfu->peaks[i]);
		found = true;
	}
	return found;
}

static void update(struct dare_mpu *mpu)
{
	struct rfu *rfu = &mpu->rfu;
	unsigned int low, high;
	uint64_t before = rfu->threshold;

	if (!find_peaks(rfu, &low, &high) || high - low <= mpu->parameters.rfu_margin || high - low < 2)
		return;
	rfu->threshold = emptiest(rfu, low, high) * mpu->parameters.rfu_bin + mpu->parameters.rfu_slack;
	mpu->statistics.threshold = rfu->threshold;
	if (rfu->threshold != before && is_traced(mpu))
		dare_time_trace_threshold(mpu);
}

void dare_time_rfu_add(struct dare_mpu *mpu, uint64_t latency)
{
	struct rfu *rfu = &mpu->rfu;
	unsigned int bin, oldest;

	if (!mpu->parameters.rfu_dynamic || !mpu->parameters.rfu_enabled)
		return;
	bin = bin_of(mpu, latency);
	oldest = rfu->ring[rfu->at];
	rfu->ring[rfu->at] = (uint8_t)bin;
	rfu->at = rfu->at + 1 < mpu->parameters.rfu_window ? rfu->at + 1 : 0;
	if (rfu->filled == mpu->parameters.rfu_window) {
		/* The histogram stays as it is, and with it the threshold. */
		if (oldest == bin)
			return;
		take_from_bin(rfu, oldest);
	} else {
		rfu->filled++;
	}
	add_to_bin(rfu, bin);
	if (rfu->filled == mpu->parameters.rfu_window)
		update(mpu);
}
