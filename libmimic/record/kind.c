/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Kinds of devices whose models are recorded: their own functions, except those that take a model. */
#include <pthread.h>

#include "libmimic/record/stream.h"

static struct mimic_kind kinds[MIMIC_KINDS_MAX];
static struct mimic_contexts contexts[MIMIC_KINDS_MAX];
static struct mimic_jobs jobs[MIMIC_KINDS_MAX];

/* --- contexts ------------------------------------------------------------------------------ */

static void attach(struct mimic_model *model, unsigned int context, uint64_t address_space,
		   uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		mimic_record_call(stream, RECORD_ATTACH, now);
		sink_number(&stream->sink, context);
		sink_number(&stream->sink, address_space);
	}
	stream->kind->contexts->attach(stream->inner, context, address_space, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static size_t context_counters(const struct mimic_model *model, unsigned int context,
			       uint64_t *values, size_t count)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	return stream->kind->contexts->counters(stream->inner, context, values, count);
}

static size_t context_describe(const struct mimic_model *model, unsigned int context, char *text,
			       size_t size)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	return stream->kind->contexts->describe(stream->inner, context, text, size);
}

/* --- events ---------------------------------------------------------------------------------- */

static void enable_events(struct mimic_model *model, uint64_t events, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		mimic_record_call(stream, RECORD_ENABLE_EVENTS, now);
		sink_number(&stream->sink, events);
	}
	stream->kind->enable_events(stream->inner, events, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static uint64_t take_events(struct mimic_model *model, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	uint64_t events;

	if (!mimic_record_enter(stream))
		return stream->kind->take_events(stream->inner, now);
	mimic_record_call(stream, RECORD_TAKE_EVENTS, now);
	events = stream->kind->take_events(stream->inner, now);
	sink_byte(&stream->sink, RECORD_ANSWER);
	sink_number(&stream->sink, events);
	mimic_record_leave(stream);
	return events;
}

static uint64_t enabled_events(struct mimic_model *model, uint64_t now)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	return stream->kind->enabled_events(stream->inner, now);
}

/* --- memory that came later -------------------------------------------------------------------- */

static void retry(struct mimic_model *model, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded)
		mimic_record_call(stream, RECORD_RETRY, now);
	stream->kind->retry(stream->inner, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

/* --- jobs -------------------------------------------------------------------------------------- */

static bool has_job(const struct mimic_model *model)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	return stream->kind->jobs->has(stream->inner);
}

static struct record_job *free_slot(struct record_stream *stream)
{
	for (unsigned int i = 0; i < stream->job_count; i++) {
		if (!stream->jobs[i].is_out)
			return &stream->jobs[i];
	}
	return NULL;
}

/* The device's memory is now as the job finds it: the program has stored it before its command. */
static void *take_job(struct mimic_model *model)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	struct record_job *job = free_slot(stream);

	if (!job)
		return NULL;
	job->inner = stream->kind->jobs->take(stream->inner);
	if (!job->inner)
		return NULL;
	job->is_out = true;
	job->has_run = false;
	job->is_recorded = mimic_record_enter(stream);
	if (!job->is_recorded)
		return job;
	mimic_record_call(stream, RECORD_JOB_TAKE, stream->now);
	sink_number(&stream->sink, job->slot);
	mimic_record_memory(stream);
	mimic_record_leave(stream);
	return job;
}

static void run_job(void *opaque)
{
	struct record_job *job = opaque;

	mimic_record_host_job(job->is_recorded ? job : NULL);
	job->stream->kind->jobs->run(job->inner);
	mimic_record_host_job(NULL);
	job->has_run = true;
}

/* The requests of the job; then the memory as it left it. */
static void put_run(struct record_stream *stream, struct record_job *job)
{
	struct record_sink *sink = &stream->sink;

	mimic_record_call(stream, RECORD_JOB_RUN, stream->now);
	sink_number(sink, job->slot);
	sink_number(sink, stream->kind->jobs->steps(job->inner));
	sink_bytes(sink, job->log.start, (size_t)(job->log.at - job->log.start));
	sink_byte(sink, RECORD_ANSWER);
	mimic_record_memory(stream);
	sink->failed = sink->failed || job->log.failed;
}

static void job_done(struct mimic_model *model, void *opaque, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	struct record_job *job = opaque;
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		/* A driver takes jobs back that it has not begun, when a reset has dropped them. */
		if (job->has_run)
			put_run(stream, job);
		mimic_record_call(stream, RECORD_JOB_DONE, now);
		sink_number(&stream->sink, job->slot);
	}
	job->log.at = job->log.start;
	job->is_out = false;
	stream->kind->jobs->done(stream->inner, job->inner, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

/* --- the kinds ------------------------------------------------------------------------------------ */

static void state(const struct mimic_model *model, uint64_t now,
		  const struct mimic_state_visitor *visitor)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	stream->kind->state(stream->inner, now, visitor);
}

static void explain(const struct mimic_model *model, const struct mimic_access *access, struct mimic_text *text)
{
	const struct record_stream *stream = mimic_record_stream_of(model);

	stream->kind->explain(stream->inner, access, text);
}

static void make_kind(unsigned int i)
{
	const struct mimic_kind *from = mimic_kinds[i];
	struct mimic_kind *kind = &kinds[i];

	*kind = *from;
	kind->create = NULL;	/* mimic_record_create() */
	kind->destroy = mimic_record_model_destroy;
	kind->state = state;
	if (from->explain)
		kind->explain = explain;
	if (from->enable_events)
		kind->enable_events = enable_events;
	if (from->take_events)
		kind->take_events = take_events;
	if (from->enabled_events)
		kind->enabled_events = enabled_events;
	if (from->retry)
		kind->retry = retry;
	/* Calls of recordings are those that devices/model.h has for all: mimicd restores no recorded device. */
	kind->resume = NULL;
	if (from->contexts) {
		contexts[i] = *from->contexts;
		contexts[i].adopt = NULL;
		contexts[i].attach = attach;
		contexts[i].counters = context_counters;
		contexts[i].describe = context_describe;
		kind->contexts = &contexts[i];
	}
	if (from->jobs) {
		jobs[i] = *from->jobs;
		jobs[i].has = has_job;
		jobs[i].take = take_job;
		jobs[i].run = run_job;
		jobs[i].done = job_done;
		kind->jobs = &jobs[i];
	}
}

static void make_kinds(void)
{
	for (unsigned int i = 0; i < mimic_kind_count(); i++)
		make_kind(i);
}

const struct mimic_kind *mimic_record_kind_of(const struct mimic_kind *kind)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_kinds);
	return &kinds[mimic_kind_index(kind)];
}
