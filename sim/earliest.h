/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Finds the number with the earliest time: a tournament tree, whose last `leaves` nodes are the numbers.
 * Each other node is the earlier of its two children; of equal times, that of the lower number. Node 1 is
 * the root, the children of node n are 2n and 2n + 1.
 */
#ifndef MIMIC_SIM_EARLIEST_H
#define MIMIC_SIM_EARLIEST_H

#include <stdint.h>

#define SOC_EARLIEST_MAX 64

struct soc_earliest {
	struct {
		uint64_t time;		/* UINT64_MAX: never */
		unsigned int number;
	} node[2 * SOC_EARLIEST_MAX];
	unsigned int leaves;
};

static inline uint64_t soc_earliest_time(const struct soc_earliest *earliest)
{
	return earliest->node[1].time;
}

static inline unsigned int soc_earliest_number(const struct soc_earliest *earliest)
{
	return earliest->node[1].number;
}

static inline void soc_earliest_set(struct soc_earliest *earliest, unsigned int number, uint64_t time)
{
	unsigned int node = earliest->leaves + number;

	earliest->node[node].time = time;
	for (; node > 1; node /= 2) {
		uint64_t other = earliest->node[node ^ 1].time;
		uint64_t is_other = (other < time) | ((other == time) & node);

		/* By masks, without a jump: which of them it is cannot be predicted. */
		time ^= (time ^ other) & -is_other;
		number ^= (number ^ earliest->node[node ^ 1].number) & (unsigned int)-is_other;
		earliest->node[node / 2].time = time;
		earliest->node[node / 2].number = number;
	}
}

/* Of numbers below `count`, which is 1 to SOC_EARLIEST_MAX; all have no time. */
static inline void soc_earliest_init(struct soc_earliest *earliest, unsigned int count)
{
	for (earliest->leaves = 1; earliest->leaves < count; earliest->leaves *= 2)
		;
	for (unsigned int number = 0; number < earliest->leaves; number++)
		earliest->node[earliest->leaves + number].number = number;
	for (unsigned int number = 0; number < earliest->leaves; number++)
		soc_earliest_set(earliest, number, UINT64_MAX);
}

#endif
