/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/current.h"

#include <string.h>

#include "daemon/engine/turn.h"

void mimicd_lane_access(const struct mimicd_lane *lane, struct mimic_access *pattern)
{
	*pattern = (struct mimic_access){
		.owner = mimicd_thread_owner(lane->thread),
		.offset = lane->command.offset,
		.page = (uint8_t)(lane->target->first_page + lane->command.page),
		.size = lane->command.size,
		.is_write = mimicd_is_store(lane->command.kind),
	};
}

void mimicd_lane_copy_payload(struct mimicd_lane *lane, uint64_t *values, uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint64_t piece;
		const uint64_t *slots = mimic_ring_piece(&lane->commands, done, count - done, &piece);

		memcpy(values + done, slots, piece * sizeof(*values));
		done += piece;
	}
}

int64_t mimicd_lane_copy_singles(struct mimicd_lane *lane, uint64_t *values, uint64_t limit)
{
	int64_t level = mimic_ring_level(&lane->commands, 2 * limit - 1);
	uint64_t word = mimic_command_pack(&lane->command), count = 1;

	if (level <= 0)
		return level;
	values[0] = mimic_ring_get(&lane->commands, 0);
	while (count < limit && 2 * count < (uint64_t)level &&
	       mimic_ring_get(&lane->commands, 2 * count - 1) == word) {
		values[count] = mimic_ring_get(&lane->commands, 2 * count);
		count++;
	}
	return (int64_t)count;
}
