/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The LLC, to which the MPU is connected without other caches (IV-A), and memory behind it.
 * A miss takes the hit's latency and memory's; an access of a line that is on its way waits
 * for it. It is write-back and write-allocate; a store of a whole line fetches nothing.
 *
 * With llc.warm a place that nothing has been put into yet is not empty: it has the line that
 * is asked for first, as if that had been there at the start.
 */
#include <errno.h>

#include "devices/dare/time/internal.h"

#define MISS_RING (sizeof(((struct llc *)0)->miss_end) / sizeof(((struct llc *)0)->miss_end[0]))

int dare_time_llc_init(struct dare_mpu *mpu)
{
	const struct dare_time_parameters *parameters = &mpu->parameters;

	mimic_dram_init(&mpu->llc.dram, parameters->dram_latency, parameters->dram_gap);
	return mimic_cache_init(&mpu->llc.cache, parameters->llc_size, parameters->llc_ways, 1u << LINE_SHIFT);
}

void dare_time_llc_free(struct dare_mpu *mpu)
{
	mimic_cache_free(&mpu->llc.cache);
}

static uint64_t address_of(const struct uop *uop)
{
	return uop->line << LINE_SHIFT;
}

/* Transfers are asked for in order, so they end in order. */
static void forget_misses(struct dare_mpu *mpu)
{
	struct llc *llc = &mpu->llc;

	while (llc->misses && llc->miss_end[llc->miss_first] <= mpu->now) {
		llc->miss_first = (unsigned int)((llc->miss_first + 1) % MISS_RING);
		llc->misses--;
	}
}

/* Of a line that is not there: it was at the start, and nothing has told so yet. */
static bool is_warm(const struct dare_mpu *mpu, uint64_t address)
{
	return mpu->parameters.llc_warm && mimic_cache_victim(&mpu->llc.cache, address)->state == MIMIC_CACHE_INVALID;
}

/* A use of the line. NULL: it is not there. */
static struct mimic_cache_line *find(struct dare_mpu *mpu, uint64_t address)
{
	struct mimic_cache *cache = &mpu->llc.cache;
	struct mimic_cache_line *line = mimic_cache_find(cache, address);

	if (line || !is_warm(mpu, address))
		return line;
	line = mimic_cache_victim(cache, address);
	mimic_cache_fill(cache, line, address, MIMIC_CACHE_EXCLUSIVE, 0);
	return line;
}

bool dare_time_llc_may_send(struct dare_mpu *mpu, const struct uop *uop, bool is_write)
{
	if (mpu->parameters.llc_oracle || (is_write && uop->is_whole))
		return true;
	forget_misses(mpu);
	return mpu->llc.misses < mpu->parameters.llc_mshrs || mimic_cache_peek(&mpu->llc.cache, address_of(uop)) ||
	       is_warm(mpu, address_of(uop));
}

/* A place for a line that will be there at `ready`; the old line is written back if it has to be. */
static struct mimic_cache_line *fill(struct dare_mpu *mpu, uint64_t address, enum mimic_cache_state state,
				     uint64_t ready)
{
	struct llc *llc = &mpu->llc;
	struct mimic_cache_line *line = mimic_cache_victim(&llc->cache, address);

	if (line->state == MIMIC_CACHE_MODIFIED) {
		mimic_dram_transfer(&llc->dram, mpu->now + mpu->parameters.llc_latency);
		mpu->statistics.dram_writes++;
	}
	mimic_cache_fill(&llc->cache, line, address, state, ready);
	return line;
}

static uint64_t fetch(struct dare_mpu *mpu, uint64_t address, enum mimic_cache_state state)
{
	struct llc *llc = &mpu->llc;
	uint64_t ready;

	mimic_dram_forget(&llc->dram, mpu->now);
	ready = mimic_dram_transfer(&llc->dram, mpu->now + mpu->parameters.llc_latency);
	llc->miss_end[(llc->miss_first + llc->misses++) % MISS_RING] = ready;
	mpu->statistics.dram_reads++;
	fill(mpu, address, state, ready);
	return ready;
}

static uint64_t hit_time(const struct dare_mpu *mpu, const struct mimic_cache_line *line)
{
	uint64_t time = mpu->now + mpu->parameters.llc_latency;

	return line->ready > time ? line->ready : time;
}

uint64_t dare_time_llc_read(struct dare_mpu *mpu, const struct uop *uop, enum llc_place *place)
{
	struct mimic_cache_line *line;

	*place = LLC_THERE;
	if (mpu->parameters.llc_oracle)
		return mpu->now + mpu->parameters.llc_latency;
	line = find(mpu, address_of(uop));
	if (!line) {
		*place = LLC_MISS;
		return fetch(mpu, address_of(uop), MIMIC_CACHE_EXCLUSIVE);
	}
	if (line->ready > mpu->now)
		*place = LLC_ON_ITS_WAY;
	return hit_time(mpu, line);
}

uint64_t dare_time_llc_write(struct dare_mpu *mpu, const struct uop *uop)
{
	struct mimic_cache_line *line;
	uint64_t time = mpu->now + mpu->parameters.llc_latency;

	if (mpu->parameters.llc_oracle)
		return time;
	line = find(mpu, address_of(uop));
	if (line) {
		line->state = MIMIC_CACHE_MODIFIED;
		return hit_time(mpu, line);
	}
	mpu->statistics.store_misses++;
	if (!uop->is_whole)
		return fetch(mpu, address_of(uop), MIMIC_CACHE_MODIFIED);
	fill(mpu, address_of(uop), MIMIC_CACHE_MODIFIED, time);
	return time;
}
