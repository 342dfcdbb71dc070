/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The beginning of a replay: the recorded parameters, the memory, the model. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/replay/player.h"

#define PAGE_BYTES 4096u

static int set_key(struct replay_player *player, const char *name, size_t length,
		   unsigned int value)
{
	const struct mimic_kind *kind = player->kind;
	unsigned char *own = player->parameters.bytes;

	for (size_t i = 0; i < kind->key_count; i++) {
		const struct mimic_key *key = &kind->keys[i];
		unsigned int *place = (unsigned int *)(own + key->offset);

		if (strlen(key->name) != length || strncmp(key->name, name, length))
			continue;
		if (!key->bit)
			*place = value;
		else
			*place = value ? *place | key->bit : *place & ~key->bit;
		return 0;
	}
	return -EINVAL;
}

/* "name = 3\n", as it was written. */
static const char *take_line(struct replay_player *player, const char *line)
{
	size_t length = strcspn(line, " \n");
	char *end;
	unsigned long value;

	if (strncmp(line + length, " = ", 3))
		return NULL;
	errno = 0;
	value = strtoul(line + length + 3, &end, 10);
	if (*end != '\n' || errno || value > UINT32_MAX ||
	    set_key(player, line, length, (unsigned int)value))
		return NULL;
	return end + 1;
}

static void take_parameters(struct replay_player *player, const char *text)
{
	const char *next;

	player->kind->defaults(&player->parameters);
	for (; *text; text = next) {
		next = take_line(player, text);
		if (next)
			continue;
		mimic_replay_bad(&player->reader, "parameter '%.*s' of a %s is not known",
				 (int)strcspn(text, "\n"), text, player->kind->name);
		return;
	}
}

/* "queues=4" of the caller. */
static int take_setting(struct replay_player *player, const char *setting, char *text, size_t size)
{
	size_t length = strcspn(setting, "=");
	unsigned long value;
	char *end;

	if (!setting[length] || !setting[length + 1] || setting[length + 1] == '-') {
		snprintf(text, size, "'%s' is not KEY=NUMBER", setting);
		return -EINVAL;
	}
	value = strtoul(setting + length + 1, &end, 10);
	if (*end || value > UINT32_MAX || set_key(player, setting, length, (unsigned int)value)) {
		snprintf(text, size, "'%s': no such parameter of a %s, or no number", setting,
			 player->kind->name);
		return -EINVAL;
	}
	return 0;
}

void mimic_replay_read_start(struct replay_player *player)
{
	struct mimic_replay_result *result = player->result;
	struct replay_reader *reader = &player->reader;
	char text[RECORD_TEXT_MAX];

	if (mimic_replay_byte(reader) != RECORD_START)
		mimic_replay_bad(reader, "the stream does not begin with its device");
	mimic_replay_text(reader, result->kind, sizeof(result->kind));
	player->kind = mimic_kind_find(result->kind, strlen(result->kind));
	if (!player->kind)
		mimic_replay_bad(reader, "a device of a kind that is not known; those that are: %s", mimic_kind_names());
	mimic_replay_text(reader, result->name, sizeof(result->name));
	mimic_replay_text(reader, result->version, sizeof(result->version));
	mimic_replay_text(reader, text, sizeof(text));
	if (!reader->is_over)
		take_parameters(player, text);
	player->abilities = (uint32_t)mimic_replay_limited(reader, "abilities", RECORD_ABILITIES);
	player->memory_size = (size_t)mimic_replay_limited(reader, "a memory's size", RECORD_MEMORY_MAX);
	/* It is compared piece by piece. */
	if (player->memory_size % RECORD_CHUNK)
		mimic_replay_bad(reader, "a memory of %zu bytes is not possible", player->memory_size);
}

int mimic_replay_fail(char *text, size_t size, int error)
{
	snprintf(text, size, "%s", strerror(-error));
	return error;
}

static int make_memory(struct replay_player *player)
{
	const struct mimic_kind *kind = player->kind;
	size_t size = kind->memory_size ? kind->memory_size(&player->parameters) : 0;

	if (size < player->memory_size)
		size = player->memory_size;
	if (!size)
		return 0;
	size = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	if (!player->options->memory)
		player->own_memory = aligned_alloc(PAGE_BYTES, size);
	player->memory = player->own_memory ? player->own_memory : player->options->memory;
	player->last = calloc(1, size);
	player->before = calloc(1, size);
	if (!player->memory || !player->last || !player->before)
		return -ENOMEM;
	memset(player->memory, 0, player->own_memory ? size : player->memory_size);
	return 0;
}

static int make_jobs(struct replay_player *player)
{
	const struct mimic_jobs *jobs = player->kind->jobs;

	if (!(player->abilities & RECORD_HAS_JOBS))
		return 0;
	if (!jobs)
		return -EINVAL;
	jobs->enable(&player->parameters);
	player->job_count = jobs->count(&player->parameters);
	player->jobs = calloc(player->job_count, sizeof(*player->jobs));
	if (!player->jobs)
		return -ENOMEM;
	for (unsigned int i = 0; i < player->job_count; i++) {
		player->jobs[i].found = calloc(1, player->memory_size + 1);
		if (!player->jobs[i].found)
			return -ENOMEM;
	}
	return 0;
}

static int make_model(struct replay_player *player)
{
	const struct mimic_replay_options *options = player->options;
	struct mimic_host host;

	mimic_replay_host_make(player, &host);
	player->destroy = options->create ? options->destroy : player->kind->destroy;
	player->model = options->create ? options->create(options->context, &host) :
					  player->kind->create(&player->parameters, &host, player->memory);
	return player->model ? 0 : -errno;
}

int mimic_replay_make(struct replay_player *player, char *text, size_t size)
{
	char wrong[MIMIC_KIND_REASON_MAX];
	int error = 0;

	for (size_t i = 0; !error && i < player->options->setting_count; i++)
		error = take_setting(player, player->options->settings[i], text, size);
	if (error)
		return error;
	if (!mimic_kind_takes(player->kind, &player->parameters, wrong, sizeof(wrong))) {
		snprintf(text, size, "parameter %s", wrong);
		return -EINVAL;
	}
	error = make_memory(player);
	if (!error)
		error = make_jobs(player);
	if (!error)
		error = make_model(player);
	return error ? mimic_replay_fail(text, size, error) : 0;
}

void mimic_replay_unmake(struct replay_player *player)
{
	if (player->model) {
		/* Later requests of a model have no answer. */
		player->reader.is_over = true;
		mimic_replay_end_jobs(player);
		player->destroy(player->model);
	}
	for (unsigned int i = 0; player->jobs && i < player->job_count; i++)
		free(player->jobs[i].found);
	free(player->jobs);
	free(player->own_memory);
	free(player->last);
	free(player->before);
}
