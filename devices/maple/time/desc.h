/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DeSC (Ham et al., MICRO 2015) as MAPLE's paper compares with it (section 5.2): queues
 * between pairs of cores, beside the cores, with loads that only the queue waits for.
 *
 * It is driven as a timed MAPLE (devices/maple/time/maple_time.h): the same operations, so that the same
 * programs run. The differences, all of them assumptions but the depth:
 *   - no pipe of its own: desc.latency is the whole way between a core and its queue
 *   - a queue holds desc.queue_entries values, of 4 or 8 bytes
 *   - desc.terminal_loads loads of a producer are on their way at most
 *   - loads go through the L2, as other loads of that core; one a cycle
 */
#ifndef MIMIC_MAPLE_TIME_DESC_H
#define MIMIC_MAPLE_TIME_DESC_H

#include "devices/maple/time/internal.h"

struct maple_time_pipes maple_desc_pipes(const struct maple_time_parameters *parameters);
/* The configuration of a model that can be a DeSC; the size code of its queues, for any program. */
void maple_desc_config(const struct maple_time_parameters *parameters, struct maple_config *config,
		       int *size_code);
/* May this store enter its queue? */
bool maple_desc_has_room(const struct maple_time *device, unsigned int queue,
			 const struct mimic_access *access);
/* A store was done: its words are those from `first_word` on. */
void maple_desc_pushed(struct maple_time *device, unsigned int queue, uint64_t first_word,
		       const struct mimic_access *access);
/* Words may have been popped. */
void maple_desc_popped(struct maple_time *device, unsigned int queue);

#endif
