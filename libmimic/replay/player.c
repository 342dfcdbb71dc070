/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One device's replay: differences, its calls, its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/replay/player.h"

struct mimic_replay {
	struct replay_file file;
};

/* --- differences --------------------------------------------------------------------------- */

bool mimic_replay_is_over(struct replay_player *player)
{
	return player->result->difference.exists || player->reader.is_over;
}

void mimic_replay_differ(struct replay_player *player, const char *what, const char *recorded,
			 const char *replayed)
{
	struct mimic_replay_difference *difference = &player->result->difference;

	if (mimic_replay_is_over(player))
		return;
	difference->exists = true;
	difference->call = player->call;
	difference->now = player->now;
	mimic_replay_call_text(player, difference->asked, sizeof(difference->asked));
	snprintf(difference->what, sizeof(difference->what), "%s", what);
	snprintf(difference->recorded, sizeof(difference->recorded), "%s", recorded);
	snprintf(difference->replayed, sizeof(difference->replayed), "%s", replayed);
}

static bool same(struct replay_player *player, const char *what, uint64_t recorded,
		 uint64_t replayed, const char *format)
{
	char before[32], after[32];

	/* Memory that was not there was not recorded. */
	if (mimic_replay_is_over(player))
		return false;
	if (recorded == replayed)
		return true;
	snprintf(before, sizeof(before), format, (unsigned long long)recorded);
	snprintf(after, sizeof(after), format, (unsigned long long)replayed);
	mimic_replay_differ(player, what, before, after);
	return false;
}

bool mimic_replay_same(struct replay_player *player, const char *what, uint64_t recorded,
		       uint64_t replayed)
{
	return same(player, what, recorded, replayed, "0x%llx");
}

bool mimic_replay_same_count(struct replay_player *player, const char *what, uint64_t recorded,
			     uint64_t replayed)
{
	return same(player, what, recorded, replayed, "%llu");
}

/* --- the end -------------------------------------------------------------------------------------- */

static void compare_counters(struct replay_player *player)
{
	uint64_t values[MIMIC_KIND_COUNTERS_MAX], recorded;
	size_t count = player->model->ops->counters(player->model, values, MIMIC_KIND_COUNTERS_MAX);
	char what[64];

	if (!mimic_replay_same_count(player, "number of counters", mimic_replay_number(&player->reader),
				     count))
		return;
	for (size_t i = 0; i < count; i++) {
		recorded = mimic_replay_number(&player->reader);
		if (recorded == values[i])
			continue;
		snprintf(what, sizeof(what), "counter %s", player->kind->counters[i]);
		mimic_replay_same_count(player, what, recorded, values[i]);
	}
}

/* Was the end reached? */
static bool play_end(struct replay_player *player)
{
	uint64_t calls = mimic_replay_number(&player->reader);
	uint64_t events = mimic_replay_number(&player->reader);

	player->code = RECORD_END;
	if (calls != player->call || events != player->events)
		mimic_replay_bad(&player->reader,
				 "the end counts %llu calls and %llu events, and there are %llu and %llu",
				 (unsigned long long)calls, (unsigned long long)events,
				 (unsigned long long)player->call, (unsigned long long)player->events);
	compare_counters(player);
	return !player->reader.is_over;
}

static enum mimic_replay_end play_all(struct replay_player *player)
{
	while (!player->result->difference.exists && mimic_replay_reader_more(&player->reader)) {
		unsigned int code = mimic_replay_byte(&player->reader);

		if (code == RECORD_END && play_end(player))
			return MIMIC_REPLAY_WHOLE;
		if (code != RECORD_END)
			mimic_replay_play(player, code);
		if (!player->result->start)
			player->result->start = player->now;
	}
	return player->reader.damage.exists ? MIMIC_REPLAY_BAD : MIMIC_REPLAY_CUT;
}

/* --- for the caller ----------------------------------------------------------------------------------- */

int mimic_replay_open(struct mimic_replay **replay, const char *path, char *text, size_t size)
{
	struct mimic_replay *made = calloc(1, sizeof(*made));
	int error = made ? mimic_replay_file_open(&made->file, path, text, size) : -ENOMEM;

	if (error) {
		free(made);
		return error;
	}
	*replay = made;
	return 0;
}

void mimic_replay_close(struct mimic_replay *replay)
{
	mimic_replay_file_close(&replay->file);
	free(replay);
}

unsigned int mimic_replay_count(const struct mimic_replay *replay)
{
	return replay->file.streams;
}

const struct mimic_replay_damage *mimic_replay_damage(const struct mimic_replay *replay)
{
	return &replay->file.damage;
}

int mimic_replay_run(struct mimic_replay *replay, unsigned int stream,
		     const struct mimic_replay_options *options, struct mimic_replay_result *result,
		     char *text, size_t size)
{
	struct replay_player *player = calloc(1, sizeof(*player));
	int error = 0;

	memset(result, 0, sizeof(*result));
	if (!player)
		return mimic_replay_fail(text, size, -ENOMEM);
	player->options = options;
	player->result = result;
	mimic_replay_reader_start(&player->reader, &replay->file, stream);
	mimic_replay_read_start(player);
	if (player->reader.is_over) {
		result->end = player->reader.damage.exists ? MIMIC_REPLAY_BAD : MIMIC_REPLAY_CUT;
	} else {
		error = mimic_replay_make(player, text, size);
		result->is_made = !error;
		if (!error)
			result->end = play_all(player);
	}
	result->damage = player->reader.damage;
	mimic_replay_unmake(player);
	free(player);
	return error;
}
