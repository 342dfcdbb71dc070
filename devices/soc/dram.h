/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory in time: a transfer begins when the channel is free, occupies it for `gap`
 * cycles, and its data is there `latency` cycles behind its beginning.
 *
 * Requests need not come in the order of their times: one that was asked for late and
 * is to begin early takes a gap that is free between those that were asked for before.
 */
#ifndef MIMIC_DEVICES_DRAM_H
#define MIMIC_DEVICES_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#define MIMIC_DRAM_RUNS 1024

struct mimic_dram {
	uint64_t latency, gap;
	/* When the channel is occupied, ascending. Holes that are too short for a transfer count as occupied. */
	struct {
		uint64_t begin, end;
	} run[MIMIC_DRAM_RUNS];
	unsigned int runs;
};

void mimic_dram_init(struct mimic_dram *dram, uint64_t latency, uint64_t gap);
/* Behind all others, as most are. false: it is not, or there is no room. */
static inline bool mimic_dram_append(struct mimic_dram *dram, uint64_t when)
{
	unsigned int runs = dram->runs;

	if (runs && when < dram->run[runs - 1].end)
		return false;
	if (runs && when - dram->run[runs - 1].end < dram->gap) {
		dram->run[runs - 1].end = when + dram->gap;
		return true;
	}
	if (runs == MIMIC_DRAM_RUNS)
		return false;
	dram->run[runs].begin = when;
	dram->run[runs].end = when + dram->gap;
	dram->runs++;
	return true;
}

/* mimic_dram_transfer() of one that is not behind all others. */
uint64_t mimic_dram_transfer_between(struct mimic_dram *dram, uint64_t when);
/* mimic_dram_forget() where the first run is over. */
void mimic_dram_forget_first(struct mimic_dram *dram, uint64_t now);

/* A transfer that can begin at `when`. Returns when its data is there. */
static inline uint64_t mimic_dram_transfer(struct mimic_dram *dram, uint64_t when)
{
	return mimic_dram_append(dram, when) ? when + dram->latency : mimic_dram_transfer_between(dram, when);
}

/* No transfer will be asked for that begins before `now`. */
static inline void mimic_dram_forget(struct mimic_dram *dram, uint64_t now)
{
	if (!dram->runs || dram->run[0].end > now)
		return;
	if (dram->runs == 1)
		dram->runs = 0;
	else
		mimic_dram_forget_first(dram, now);
}

#endif
