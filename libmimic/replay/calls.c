/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The recorded calls, made again, and their answers compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/replay/player.h"

/* After the call: has the model made all of its recorded requests and completions? */
static bool expect_answer(struct replay_player *player)
{
	unsigned int recorded;

	if (mimic_replay_is_over(player))
		return false;
	recorded = mimic_replay_byte(&player->reader);
	if (player->reader.is_over)
		return false;
	player->is_gathered = recorded == RECORD_ANSWER_GATHERED && player->code == RECORD_LOADS;
	if (recorded == RECORD_ANSWER || player->is_gathered)
		return true;
	if (recorded >= RECORD_WALK && recorded < RECORD_EVENT_END)
		mimic_replay_differ(player, "the model's next call",
				    mimic_replay_code_name(recorded), "its answer");
	else
		mimic_replay_bad(&player->reader, "a record %u is not possible inside of a call", recorded);
	return false;
}

static void get_access(struct replay_player *player)
{
	struct replay_reader *reader = &player->reader;
	struct mimic_access *access = &player->access;

	*access = (struct mimic_access){ .owner = mimic_replay_number(reader) };
	access->page = (uint8_t)mimic_replay_byte(reader);
	access->size = (uint8_t)mimic_replay_byte(reader);
	access->is_write = (uint8_t)mimic_replay_byte(reader);
	access->offset = (uint32_t)mimic_replay_limited(reader, "an offset", MIMIC_PAGE_SIZE - 1);
	access->data = mimic_replay_number(reader);
	if (!access->size || access->size > 8 || access->size & (access->size - 1))
		mimic_replay_bad(reader, "an access of %u bytes is not possible", access->size);
	if (access->is_write > 1)
		mimic_replay_bad(reader, "an access of kind %u, which is neither a load nor a store", access->is_write);
	if (!access->owner)
		mimic_replay_bad(reader, "an access without an owner");
}

/* All of the call is read: is it one that can be made? */
static bool begin(struct replay_player *player)
{
	char text[160];

	if (player->reader.is_over)
		return false;
	player->call++;
	player->result->calls++;
	player->result->now = player->now;
	if (!player->options->call)
		return true;
	mimic_replay_call_text(player, text, sizeof(text));
	player->options->call(player->options->context, player->call, player->now, text);
	return true;
}

static void play_access(struct replay_player *player)
{
	struct mimic_access access;
	unsigned int recorded;
	enum mimic_outcome outcome;

	get_access(player);
	if (!begin(player))
		return;
	player->result->accesses++;
	access = player->access;
	outcome = player->model->ops->access(player->model, &access, player->now);
	if (!expect_answer(player))
		return;
	recorded = (unsigned int)mimic_replay_limited(&player->reader, "an outcome", MIMIC_PARKED);
	if (recorded != outcome)
		mimic_replay_differ(player, "outcome", recorded == MIMIC_DONE ? "done" : "waits",
				    outcome == MIMIC_DONE ? "done" : "waits");
	else if (recorded == MIMIC_DONE)
		mimic_replay_same(player, "answer", mimic_replay_number(&player->reader), access.data);
}

static void play_stores(struct replay_player *player)
{
	uint64_t values[RECORD_VALUES_MAX];
	size_t count, done;

	get_access(player);
	count = (size_t)mimic_replay_limited(&player->reader, "a number of values", RECORD_VALUES_MAX);
	player->detail = count;
	mimic_replay_bytes(&player->reader, values, count * sizeof(*values));
	if (!begin(player))
		return;
	done = player->model->ops->store_many(player->model, &player->access, values, count,
					      player->now);
	player->result->values += done;
	if (expect_answer(player))
		mimic_replay_same_count(player, "stores that are done", mimic_replay_number(&player->reader),
					done);
}

/* The recorded answer is of values that were gathered; their bytes. */
static bool get_gathered(struct replay_player *player, unsigned char *values, size_t size)
{
	uint64_t distance = mimic_replay_number(&player->reader), position = player->values.end - distance;

	if (distance <= player->values.end && history_has(&player->values, position, size)) {
		history_get(&player->values, position, values, size);
		return true;
	}
	mimic_replay_bad(&player->reader, "an answer of %zu bytes, %llu bytes back, was not gathered", size,
			 (unsigned long long)distance);
	return false;
}

static void compare_values(struct replay_player *player, const unsigned char *values, size_t count)
{
	unsigned char gathered[HISTORY_BYTES];
	size_t size = player->access.size;
	char what[64];

	if (player->is_gathered && !get_gathered(player, gathered, count * size))
		return;

	for (size_t i = 0; i < count && !mimic_replay_is_over(player); i++) {
		uint64_t recorded = 0, replayed = 0;

		if (player->is_gathered)
			memcpy(&recorded, gathered + i * size, size);
		else
			mimic_replay_bytes(&player->reader, &recorded, size);
		memcpy(&replayed, values + i * size, size);
		if (recorded == replayed)
			continue;
		snprintf(what, sizeof(what), "value %zu of the answer", i);
		mimic_replay_same(player, what, recorded, replayed);
	}
}

static void play_loads(struct replay_player *player)
{
	unsigned char values[RECORD_VALUES_MAX * sizeof(uint64_t)];
	size_t count, done;

	get_access(player);
	count = (size_t)mimic_replay_limited(&player->reader, "a number of values", RECORD_VALUES_MAX);
	player->detail = count;
	if (!begin(player))
		return;
	done = player->model->ops->load_many(player->model, &player->access, values, count,
					     player->now);
	player->result->values += done;
	if (expect_answer(player) &&
	    mimic_replay_same_count(player, "loads that are done",
				    mimic_replay_number(&player->reader), done))
		compare_values(player, values, done);
}

static void play_owner(struct replay_player *player)
{
	const struct mimic_model_ops *ops = player->model->ops;

	player->detail = mimic_replay_number(&player->reader);
	if (!begin(player))
		return;
	(player->code == RECORD_CANCEL ? ops->cancel : ops->owner_gone)(player->model, player->detail,
									 player->now);
	expect_answer(player);
}

static void play_tick(struct replay_player *player)
{
	bool works = mimic_replay_limited(&player->reader, "a kind of a tick", player->memory_size ? 1 : 0);

	if (works) {
		mimic_replay_memory_read(player);
		memcpy(player->memory, player->last, player->memory_size);
		memcpy(player->before, player->last, player->memory_size);
	}
	if (!begin(player))
		return;
	player->model->ops->tick(player->model, player->now);
	if (!expect_answer(player) || !works)
		return;
	mimic_replay_memory_read(player);
	if (!player->reader.is_over)
		mimic_replay_memory_compare(player, player->before);
}

static void play_invalidate(struct replay_player *player)
{
	uint64_t start = mimic_replay_number(&player->reader);
	uint64_t end = mimic_replay_number(&player->reader);

	player->detail = start;
	if (!begin(player))
		return;
	if (player->model->ops->invalidate)
		player->model->ops->invalidate(player->model, start, end);
	expect_answer(player);
}

static void play_plain(struct replay_player *player)
{
	if (!begin(player))
		return;
	if (player->code == RECORD_POWER_ON)
		player->model->ops->power_on(player->model, player->now);
	else
		player->model->ops->clear_counters(player->model);
	expect_answer(player);
}

static void play_retry(struct replay_player *player)
{
	if (!player->kind->retry) {
		mimic_replay_bad(&player->reader, "a %s does not ask for memory again", player->kind->name);
		return;
	}
	if (!begin(player))
		return;
	player->kind->retry(player->model, player->now);
	expect_answer(player);
}

static bool has_outstanding_jobs(const struct replay_player *player)
{
	for (unsigned int i = 0; i < player->job_count; i++) {
		if (player->jobs[i].job)
			return true;
	}
	return false;
}

static void play_restore(struct replay_player *player)
{
	size_t size = (size_t)mimic_replay_limited(&player->reader, "an image's size", RECORD_IMAGE_MAX);
	unsigned char *image = mimic_replay_reader_more(&player->reader) ? malloc(size + 1) : NULL;
	int error;

	if (!image)
		return;
	mimic_replay_bytes(&player->reader, image, size);
	if (has_outstanding_jobs(player))
		mimic_replay_bad(&player->reader, "a state is restored while a job is outstanding");
	if (begin(player)) {
		error = player->model->ops->restore(player->model, image, size);
		if (expect_answer(player))
			mimic_replay_same_count(player, "outcome", mimic_replay_byte(&player->reader),
						error != 0);
	}
	free(image);
}

static void play_attach(struct replay_player *player)
{
	const struct mimic_contexts *contexts = player->kind->contexts;
	unsigned int count = contexts ? contexts->count(&player->parameters) : 0;
	unsigned int context;

	if (!count) {
		mimic_replay_bad(&player->reader, "a %s has no contexts", player->kind->name);
		return;
	}
	context = (unsigned int)mimic_replay_limited(&player->reader, "a context", count - 1);
	player->detail = mimic_replay_number(&player->reader);
	if (!begin(player))
		return;
	contexts->attach(player->model, context, player->detail, player->now);
	expect_answer(player);
}

static void play_events(struct replay_player *player)
{
	bool enables = player->code == RECORD_ENABLE_EVENTS;
	uint64_t events;

	if (!player->kind->take_events) {
		mimic_replay_bad(&player->reader, "a %s has no events", player->kind->name);
		return;
	}
	player->detail = enables ? mimic_replay_number(&player->reader) : 0;
	if (!begin(player))
		return;
	if (enables) {
		player->kind->enable_events(player->model, player->detail, player->now);
		expect_answer(player);
		return;
	}
	events = player->kind->take_events(player->model, player->now);
	if (expect_answer(player))
		mimic_replay_same(player, "events", mimic_replay_number(&player->reader), events);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static struct replay_job *get_job(struct replay_player *player)
{
	if (!player->job_count) {
		mimic_replay_bad(&player->reader, "a job of a device that has none");
		return NULL;
	}
	player->detail = mimic_replay_limited(&player->reader, "a job", player->job_count - 1);
	return player->reader.is_over ? NULL : &player->jobs[player->detail];
}

static void play_take(struct replay_player *player)
{
	struct replay_job *job = get_job(player);

	if (!job)
		return;
	if (job->job) {
		mimic_replay_bad(&player->reader, "a job is taken twice");
		return;
	}
	mimic_replay_memory_read(player);
	if (!begin(player))
		return;
	job->job = player->kind->jobs->take(player->model);
	job->has_run = false;
	memcpy(job->found, player->last, player->memory_size);
	if (!job->job)
		mimic_replay_differ(player, "job that there is to do", "1", "none");
}

/* Its own answer is that it has come back. */
static void play_run(struct replay_player *player)
{
	struct replay_job *job = get_job(player);
	unsigned int steps =
		(unsigned int)mimic_replay_limited(&player->reader, "a number of steps", UINT32_MAX);

	if (!job)
		return;
	if (!job->job || job->has_run) {
		mimic_replay_bad(&player->reader, "a job that was not taken runs");
		return;
	}
	if (!begin(player))
		return;
	player->result->jobs++;
	memcpy(player->memory, job->found, player->memory_size);
	player->kind->jobs->limit(job->job, steps);
	player->in_job = true;
	player->kind->jobs->run(job->job);
	player->in_job = false;
	job->has_run = true;
	if (!expect_answer(player) ||
	    !mimic_replay_same_count(player, "steps of the job", steps, player->kind->jobs->steps(job->job)))
		return;
	mimic_replay_memory_read(player);
	if (!player->reader.is_over)
		mimic_replay_memory_compare(player, job->found);
}

static void play_done(struct replay_player *player)
{
	struct replay_job *job = get_job(player);
	void *done;

	if (!job)
		return;
	if (!job->job) {
		mimic_replay_bad(&player->reader, "a job that was not taken is done");
		return;
	}
	if (!begin(player))
		return;
	done = job->job;
	job->job = NULL;
	player->kind->jobs->done(player->model, done, player->now);
	expect_answer(player);
}

void mimic_replay_end_jobs(struct replay_player *player)
{
	for (unsigned int i = 0; i < player->job_count; i++) {
		struct replay_job *job = &player->jobs[i];

		if (!job->job)
			continue;
		if (!job->has_run)
			player->kind->jobs->run(job->job);
		player->kind->jobs->done(player->model, job->job, player->now);
		job->job = NULL;
	}
}

/* --- all of them ------------------------------------------------------------------------------- */

static void (*const calls[RECORD_CALL_END])(struct replay_player *player) = {
	[RECORD_ACCESS] = play_access,
	[RECORD_STORES] = play_stores,
	[RECORD_LOADS] = play_loads,
	[RECORD_CANCEL] = play_owner,
	[RECORD_OWNER_GONE] = play_owner,
	[RECORD_TICK] = play_tick,
	[RECORD_INVALIDATE] = play_invalidate,
	[RECORD_POWER_ON] = play_plain,
	[RECORD_CLEAR_COUNTERS] = play_plain,
	[RECORD_RESTORE] = play_restore,
	[RECORD_ATTACH] = play_attach,
	[RECORD_ENABLE_EVENTS] = play_events,
	[RECORD_TAKE_EVENTS] = play_events,
	[RECORD_JOB_TAKE] = play_take,
	[RECORD_JOB_RUN] = play_run,
	[RECORD_JOB_DONE] = play_done,
	[RECORD_RETRY] = play_retry,
};

void mimic_replay_play(struct replay_player *player, unsigned int code)
{
	if (code >= RECORD_CALL_END || !calls[code]) {
		mimic_replay_bad(&player->reader, "a record %u in the place of a call", code);
		return;
	}
	player->code = (enum record_code)code;
	player->now += mimic_record_unzigzag(mimic_replay_number(&player->reader));
	calls[code](player);
}
