/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The operations of a recorded model: records calls and their answers. */
#include <errno.h>
#include <stdlib.h>

#include "libmimic/record/stream.h"

#define PIECE_FIRST 16

static void put_access(struct record_sink *sink, const struct mimic_access *access)
{
	sink_number(sink, access->owner);
	sink_byte(sink, access->page);
	sink_byte(sink, access->size);
	sink_byte(sink, access->is_write);
	sink_number(sink, access->offset);
	sink_number(sink, access->data);
}

static enum mimic_outcome record_access(struct mimic_model *model, struct mimic_access *access,
					uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	struct record_sink *sink = &stream->sink;
	enum mimic_outcome outcome;

	if (!mimic_record_enter(stream))
		return stream->inner->ops->access(stream->inner, access, now);
	mimic_record_call(stream, RECORD_ACCESS, now);
	put_access(sink, access);
	outcome = stream->inner->ops->access(stream->inner, access, now);
	sink_byte(sink, RECORD_ANSWER);
	sink_byte(sink, outcome);
	if (outcome == MIMIC_DONE)
		sink_number(sink, access->data);
	mimic_record_leave(stream);
	return outcome;
}

/* Whole values: a model may use bytes that a narrow store does not have. */
static size_t store_some(struct record_stream *stream, const struct mimic_access *pattern,
			 const uint64_t *values, size_t count, uint64_t now)
{
	struct record_sink *sink = &stream->sink;
	size_t done;

	mimic_record_call(stream, RECORD_STORES, now);
	put_access(sink, pattern);
	sink_number(sink, count);
	sink_bytes(sink, values, count * sizeof(*values));
	done = stream->inner->ops->store_many(stream->inner, pattern, values, count, now);
	sink_byte(sink, RECORD_ANSWER);
	sink_number(sink, done);
	return done;
}

/*
 * In pieces, which is the same to a model: a reader knows how many values there can be. Small
 * ones at first: a full queue takes few, and the others would be written each time.
 */
static size_t next_piece(size_t before, size_t left)
{
	size_t piece = before ? 2 * before : PIECE_FIRST;

	if (piece > RECORD_VALUES_MAX)
		piece = RECORD_VALUES_MAX;
	return piece < left ? piece : left;
}

static size_t record_store_many(struct mimic_model *model, const struct mimic_access *pattern,
				const uint64_t *values, size_t count, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	size_t done = 0, piece = 0, taken;

	if (!mimic_record_enter(stream))
		return stream->inner->ops->store_many(stream->inner, pattern, values, count, now);
	do {
		piece = next_piece(piece, count - done);
		taken = store_some(stream, pattern, values + done, piece, now);
		done += taken;
	} while (taken == piece && done < count);
	mimic_record_leave(stream);
	return done;
}

static size_t load_some(struct record_stream *stream, const struct mimic_access *pattern,
			void *values, size_t count, uint64_t now)
{
	struct record_sink *sink = &stream->sink;
	uint64_t distance;
	size_t done;

	mimic_record_call(stream, RECORD_LOADS, now);
	put_access(sink, pattern);
	sink_number(sink, count);
	stream->values_at_call = stream->values.end;
	done = stream->inner->ops->load_many(stream->inner, pattern, values, count, now);
	if (mimic_record_find_values(stream, values, done * pattern->size, &distance)) {
		sink_byte(sink, RECORD_ANSWER_GATHERED);
		sink_number(sink, done);
		sink_number(sink, distance);
		return done;
	}
	sink_byte(sink, RECORD_ANSWER);
	sink_number(sink, done);
	sink_bytes(sink, values, done * pattern->size);
	return done;
}

static size_t record_load_many(struct mimic_model *model, const struct mimic_access *pattern,
			       void *values, size_t count, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	size_t done = 0, piece, got;

	if (!mimic_record_enter(stream))
		return stream->inner->ops->load_many(stream->inner, pattern, values, count, now);
	do {
		piece = next_piece(RECORD_VALUES_MAX, count - done);
		got = load_some(stream, pattern, (char *)values + done * pattern->size, piece, now);
		done += got;
	} while (got == piece && done < count);
	mimic_record_leave(stream);
	return done;
}

static void record_cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		mimic_record_call(stream, RECORD_CANCEL, now);
		sink_number(&stream->sink, owner);
	}
	stream->inner->ops->cancel(stream->inner, owner, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static void record_owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		mimic_record_call(stream, RECORD_OWNER_GONE, now);
		sink_number(&stream->sink, owner);
	}
	stream->inner->ops->owner_gone(stream->inner, owner, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

/* A model may do its jobs itself here: bytes that they find in the device's memory are recorded, too. */
static void record_tick(struct mimic_model *model, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool works;

	if (!mimic_record_enter(stream)) {
		stream->inner->ops->tick(stream->inner, now);
		return;
	}
	works = stream->memory && stream->inner->ops->busy(stream->inner);
	mimic_record_call(stream, RECORD_TICK, now);
	sink_byte(&stream->sink, works);
	if (works)
		mimic_record_memory(stream);
	stream->inner->ops->tick(stream->inner, now);
	sink_byte(&stream->sink, RECORD_ANSWER);
	if (works)
		mimic_record_memory(stream);
	mimic_record_leave(stream);
}

static bool record_busy(const struct mimic_model *model)
{
	const struct mimic_model *inner = mimic_record_stream_of(model)->inner;

	return inner->ops->busy(inner);
}

static void record_invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded) {
		mimic_record_call(stream, RECORD_INVALIDATE, stream->now);
		sink_number(&stream->sink, start);
		sink_number(&stream->sink, end);
	}
	stream->inner->ops->invalidate(stream->inner, start, end);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static void record_power_on(struct mimic_model *model, uint64_t now)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded)
		mimic_record_call(stream, RECORD_POWER_ON, now);
	stream->inner->ops->power_on(stream->inner, now);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static size_t record_counters(const struct mimic_model *model, uint64_t *values, size_t count)
{
	const struct mimic_model *inner = mimic_record_stream_of(model)->inner;

	return inner->ops->counters(inner, values, count);
}

static void record_clear_counters(struct mimic_model *model)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	bool is_recorded = mimic_record_enter(stream);

	if (is_recorded)
		mimic_record_call(stream, RECORD_CLEAR_COUNTERS, stream->now);
	stream->inner->ops->clear_counters(stream->inner);
	if (!is_recorded)
		return;
	sink_byte(&stream->sink, RECORD_ANSWER);
	mimic_record_leave(stream);
}

static size_t record_describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct mimic_model *inner = mimic_record_stream_of(model)->inner;

	return inner->ops->describe(inner, text, size);
}

static size_t record_save(const struct mimic_model *model, void *image, size_t size)
{
	const struct mimic_model *inner = mimic_record_stream_of(model)->inner;

	return inner->ops->save(inner, image, size);
}

static int record_restore(struct mimic_model *model, const void *image, size_t size)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	int error;

	if (!mimic_record_enter(stream))
		return stream->inner->ops->restore(stream->inner, image, size);
	mimic_record_call(stream, RECORD_RESTORE, stream->now);
	sink_number(&stream->sink, size);
	sink_bytes(&stream->sink, image, size);
	error = stream->inner->ops->restore(stream->inner, image, size);
	sink_byte(&stream->sink, RECORD_ANSWER);
	sink_byte(&stream->sink, error != 0);
	mimic_record_leave(stream);
	return error;
}

const struct mimic_model_ops mimic_record_ops = {
	.access = record_access,
	.store_many = record_store_many,
	.load_many = record_load_many,
	.cancel = record_cancel,
	.owner_gone = record_owner_gone,
	.tick = record_tick,
	.busy = record_busy,
	.invalidate = record_invalidate,
	.power_on = record_power_on,
	.counters = record_counters,
	.clear_counters = record_clear_counters,
	.describe = record_describe,
	.save = record_save,
	.restore = record_restore,
};

struct mimic_model *mimic_record_model_make(struct record_file *file, const struct record_model *what)
{
	struct record_stream *stream = mimic_record_stream_make(file, what);
	struct mimic_host host;
	int error;

	if (!stream)
		return NULL;
	mimic_record_host_make(stream, &host);
	/* Its requests to the host while it is made are recorded, too. */
	mimic_record_enter(stream);
	stream->inner = what->create ? what->create(what->context, &host) :
				       stream->kind->create(what->parameters, &host, what->memory);
	error = errno;
	mimic_record_leave(stream);
	if (stream->inner)
		return &stream->model;
	mimic_record_model_end(&stream->model);
	mimic_record_stream_free(stream);
	errno = error;
	return NULL;
}

struct mimic_trace_source *mimic_record_trace(struct mimic_model *model)
{
	return &mimic_record_stream_of(model)->inner->trace;
}

void mimic_record_model_destroy(struct mimic_model *model)
{
	struct record_stream *stream = mimic_record_stream_of(model);

	if (!model)
		return;
	mimic_record_model_end(model);
	stream->destroy(stream->inner);
	mimic_record_stream_free(stream);
}
