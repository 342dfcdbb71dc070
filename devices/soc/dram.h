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
/* A transfer that can begin at `when`. Returns when its data is there. */
uint64_t mimic_dram_transfer(struct mimic_dram *dram, uint64_t when);
/* No transfer will be asked for that begins before `now`. */
void mimic_dram_forget(struct mimic_dram *dram, uint64_t now);

#endif
