/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/dram.h"

#include <string.h>

void mimic_dram_init(struct mimic_dram *dram, uint64_t latency, uint64_t gap)
{
	memset(dram, 0, sizeof(*dram));
	dram->latency = latency;
	dram->gap = gap;
}

static void remove_run(struct mimic_dram *dram, unsigned int index)
{
	dram->runs--;
	memmove(&dram->run[index], &dram->run[index + 1], (dram->runs - index) * sizeof(dram->run[0]));
}

/* Returns where it is now. */
static unsigned int insert_run(struct mimic_dram *dram, unsigned int index, uint64_t begin)
{
	/* The earliest is the one that is least likely to be asked about. */
	if (dram->runs == MIMIC_DRAM_RUNS) {
		remove_run(dram, 0);
		index = index ? index - 1 : 0;
	}
	memmove(&dram->run[index + 1], &dram->run[index], (dram->runs - index) * sizeof(dram->run[0]));
	dram->run[index].begin = begin;
	dram->run[index].end = begin + dram->gap;
	dram->runs++;
	return index;
}

/* Where a run and the one behind it leave no room, they are one. */
static void join_runs(struct mimic_dram *dram, unsigned int index)
{
	if (index + 1 >= dram->runs || dram->run[index + 1].begin - dram->run[index].end >= dram->gap)
		return;
	dram->run[index].end = dram->run[index + 1].end;
	remove_run(dram, index + 1);
}

uint64_t mimic_dram_transfer_between(struct mimic_dram *dram, uint64_t when)
{
	unsigned int i;

	for (i = 0; i < dram->runs; i++) {
		if (when + dram->gap <= dram->run[i].begin)
			break;
		if (when < dram->run[i].end)
			when = dram->run[i].end;
	}
	i = insert_run(dram, i, when);
	join_runs(dram, i);
	if (i)
		join_runs(dram, i - 1);
	return when + dram->latency;
}

void mimic_dram_forget_first(struct mimic_dram *dram, uint64_t now)
{
	unsigned int past = 1;

	while (past < dram->runs && dram->run[past].end <= now)
		past++;
	dram->runs -= past;
	if (dram->runs)
		memmove(dram->run, &dram->run[past], dram->runs * sizeof(dram->run[0]));
}
