/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The device's memory, which programs write without a call of the model. */
#include <stdio.h>
#include <string.h>

#include "libmimic/replay/player.h"

void mimic_replay_memory_read(struct replay_player *player)
{
	uint64_t chunks = player->memory_size / RECORD_CHUNK, at = 0, same, count;

	for (;;) {
		same = mimic_replay_limited(&player->reader, "a place in the device's memory", chunks - at);
		at += same;
		count = mimic_replay_limited(&player->reader, "a piece of the device's memory", chunks - at);
		if (!count)
			return;
		mimic_replay_bytes(&player->reader, player->last + at * RECORD_CHUNK, count * RECORD_CHUNK);
		at += count;
	}
}

static void differ_at(struct replay_player *player, size_t at)
{
	char what[64], recorded[8], replayed[8];

	snprintf(what, sizeof(what), "byte %#zx of the device's memory", at);
	snprintf(recorded, sizeof(recorded), "0x%02x", player->last[at]);
	snprintf(replayed, sizeof(replayed), "0x%02x", player->memory[at]);
	mimic_replay_differ(player, what, recorded, replayed);
}

static bool compare_chunk(struct replay_player *player, const unsigned char *before, size_t chunk)
{
	for (size_t at = chunk; at < chunk + RECORD_CHUNK; at++) {
		if (player->memory[at] == player->last[at])
			continue;
		if (player->memory[at] != before[at]) {
			differ_at(player, at);
			return false;
		}
		player->result->shared_by_others++;
	}
	return true;
}

void mimic_replay_memory_compare(struct replay_player *player, const unsigned char *before)
{
	for (size_t at = 0; at < player->memory_size; at += RECORD_CHUNK) {
		if (memcmp(player->memory + at, player->last + at, RECORD_CHUNK) &&
		    !compare_chunk(player, before, at))
			return;
	}
	if (player->memory_size)
		memcpy(player->memory, player->last, player->memory_size);
}
