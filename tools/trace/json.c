/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A trace in the Chrome trace event format, which Perfetto and chrome://tracing read:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * A "process" is the program, with a track for each of its threads and devices; or a
 * device, with a track for each of its engines and a counter for each of its queues.
 * Per track the events are in the order of time, and slices lie inside of each other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/trace/trace.h"
#include "tools/trace/tracks.h"

/* The drawn length of an instant: arrows need a slice to begin at. */
#define MOMENT_NANOSECONDS 1

struct output {
	const struct trace_input *input;
	FILE *file;
	const char *program;
	bool has_events;
	bool out_of_memory;
	struct trace_tracks tracks;
	uint64_t arrows;
	const struct mimic_kind *kind[MIMIC_SPOOL_DEVICES];	/* of each device */
	/* By device: no two moments of a device have the same time, so that arrows go forward. */
	uint64_t last_moment[MIMIC_SPOOL_DEVICES];
};

/* --- pieces of JSON --------------------------------------------------------------------- */

static void put_text(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < ' ' || c >= 127)	/* other alphabets are not worth an error */
			fprintf(file, "\\u%04x", c);
		else
			putc(c, file);
	}
	putc('"', file);
}

/* Up to its time, without the closing brace. */
static void begin(struct output *out, const char *phase, const struct trace_track *track, uint64_t time)
{
	fprintf(out->file, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ".%03u",
		out->has_events ? "," : "", phase, track->pid, track->tid, time / 1000, (unsigned int)(time % 1000));
	out->has_events = true;
}

static void put_name(struct output *out, const char *name, const char *category)
{
	fputs(",\"name\":", out->file);
	put_text(out->file, name);
	if (category)
		fprintf(out->file, ",\"cat\":\"%s\"", category);
}

static void metadata(struct output *out, const char *what, unsigned int pid, unsigned int tid, const char *name)
{
	fprintf(out->file, "%s\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":",
		out->has_events ? "," : "", pid, tid, what);
	put_text(out->file, name);
	fputs("}}", out->file);
	out->has_events = true;
}

/* --- tracks --------------------------------------------------------------------------------- */

static const struct mimic_spool_device *device_of(const struct output *out, const struct mimic_trace_event *event)
{
	return &out->input->header->device[event->device];
}

static struct trace_track *track_at(struct output *out, const struct mimic_trace_event *event,
				    enum mimic_trace_track kind)
{
	uint64_t who = kind == MIMIC_TRACE_TRACK_THREAD ? event->owner :
		       trace_track_has_units(kind) ? event->unit : 0;
	struct trace_track *track = trace_track_get(&out->tracks, event->device, kind, who,
						    device_of(out, event)->pid);

	if (!track)
		out->out_of_memory = true;
	return track;
}

static struct trace_track *track_of(struct output *out, const struct mimic_trace_event *event)
{
	return track_at(out, event, mimic_trace_descriptions[event->kind].track);
}

/* Ends slices that are over by then; returns the time that is left for a new one. */
static uint64_t close_until(struct output *out, struct trace_track *track, uint64_t time)
{
	if (time < track->last)
		time = track->last;
	while (track->depth && track->open[track->depth - 1].end <= time) {
		const struct trace_open *top = &track->open[--track->depth];

		if (!top->is_pair)
			continue;
		begin(out, "E", track, top->end);
		fputs("}", out->file);
	}
	track->last = time;
	return time;
}

/*
 * A slice from the record's time on, up to its arguments. Clocks of two processors
 * may make it longer than the slice that contains it.
 */
static void begin_slice(struct output *out, struct trace_track *track, uint64_t from, uint64_t end, bool is_pair)
{
	uint64_t time = close_until(out, track, from);

	end = end < time ? time : end;
	if (track->depth && end > track->open[track->depth - 1].end)
		end = track->open[track->depth - 1].end;
	is_pair = is_pair && track->depth < TRACE_DEPTH;
	begin(out, is_pair ? "B" : "X", track, time);
	if (!is_pair)
		fprintf(out->file, ",\"dur\":%" PRIu64 ".%03u", (end - time) / 1000,
			(unsigned int)((end - time) % 1000));
	if (track->depth < TRACE_DEPTH)
		track->open[track->depth++] = (struct trace_open){ end, is_pair };
}

/* --- arguments -------------------------------------------------------------------------------- */

static const char *text_of(char format, uint64_t value)
{
	static const char *const drops[] = {
#define _(number, NAME, text) [number] = text,
		MIMIC_TRACE_DROPS(_)
#undef _
	};
	static const char *const outcomes[] = {
#define _(number, NAME, text) [number] = text,
		MIMIC_TRACE_OUTCOMES(_)
#undef _
	};
	static const char *const answers[] = {
		[MIMIC_FAULT_BAD] = "bad address", [MIMIC_FAULT_RETRY] = "try again",
		[MIMIC_FAULT_STALL] = "waits for the driver",
	};

	if (format == 'w')
		return value < sizeof(drops) / sizeof(drops[0]) && drops[value] ? drops[value] : "?";
	if (format == 'o')
		return value < sizeof(outcomes) / sizeof(outcomes[0]) ? outcomes[value] : "?";
	return value < sizeof(answers) / sizeof(answers[0]) ? answers[value] : "?";
}

/* `name` is one of struct mimic_trace_description. */
static void put_argument(struct output *out, const struct mimic_trace_event *event, const char *name, uint64_t value,
			 bool *is_first)
{
	size_t length = strcspn(name, ":");
	char format = name[length] ? name[length + 1] : '\0';
	char text[TRACE_NAME];

	if (!length)
		return;
	fprintf(out->file, "%s\"%.*s\":", *is_first ? "" : ",", (int)length, name);
	*is_first = false;
	switch (format) {
	case 'x':	/* a text: numbers of JSON are doubles to many */
		fprintf(out->file, "\"0x%" PRIx64 "\"", value);
		break;
	case 'r':
		trace_register_name(text, out->kind[event->device], value, event->unit);
		put_text(out->file, text);
		break;
	case 'w':
	case 'o':
	case 'f':
		put_text(out->file, text_of(format, value));
		break;
	default:
		fprintf(out->file, "%" PRId64, (int64_t)value);
	}
}

static void put_arguments(struct output *out, const struct trace_record *record)
{
	const struct mimic_trace_event *event = record->event;
	const struct mimic_trace_description *is = &mimic_trace_descriptions[event->kind];
	bool is_first = true;

	fputs(",\"args\":{", out->file);
	put_argument(out, event, is->unit, event->unit, &is_first);
	put_argument(out, event, is->address, event->address, &is_first);
	put_argument(out, event, is->size, event->size, &is_first);
	/* A run of accesses has many. */
	if (event->kind != MIMIC_TRACE_access || event->id == 1)
		put_argument(out, event, is->value, event->value, &is_first);
	put_argument(out, event, is->id, event->id, &is_first);
	if (is->track != MIMIC_TRACE_TRACK_THREAD && event->owner)
		put_argument(out, event, "thread",
			     trace_thread_of(&out->tracks, device_of(out, event)->pid, event->owner), &is_first);
	if (is->track == MIMIC_TRACE_TRACK_UNIT)
		put_argument(out, event, "by thread", trace_writer(out->input, record)->tid, &is_first);
	if (record->is_open)
		fprintf(out->file, "%s\"open\":\"it had not ended when the trace did\"", is_first ? "" : ",");
	fputs("}}", out->file);
}

static void name_of(struct output *out, const struct mimic_trace_event *event, char *name)
{
	char what[TRACE_NAME];

	switch (event->kind) {
	case MIMIC_TRACE_access:
	case MIMIC_TRACE_access_begin:
		trace_register_name(what, out->kind[event->device], event->address, event->unit);
		snprintf(name, 2 * TRACE_NAME, "%s %s", event->unit ? "store" : "load", what);
		break;
	case MIMIC_TRACE_block:
		strcpy(name, "waits");
		break;
	case MIMIC_TRACE_ring_block:
		strcpy(name, event->value == 3 ? "waits for its turn" : "waits for room");
		break;
	case MIMIC_TRACE_lima_begin:
		strcpy(name, "loop");
		break;
	case MIMIC_TRACE_rfu_first_row:
		strcpy(name, event->unit ? "granted" : "suppressed");
		break;
	case MIMIC_TRACE_instruction:
	case MIMIC_TRACE_instruction_queued:
	case MIMIC_TRACE_command:
	case MIMIC_TRACE_command_queued:
	case MIMIC_TRACE_riq:
	case MIMIC_TRACE_lsu_load:
	case MIMIC_TRACE_lsu_store:
	case MIMIC_TRACE_array:
		trace_command_name(name, out->kind[event->device], (uint32_t)event->value);
		break;
	default:
		strcpy(name, mimic_trace_descriptions[event->kind].name);
	}
}

/* --- slices and instants --------------------------------------------------------------------------- */

static void put_slice(struct output *out, const struct trace_record *record, bool is_pair)
{
	struct trace_track *track = track_of(out, record->event);
	char name[2 * TRACE_NAME];

	if (!track)
		return;
	begin_slice(out, track, record->time, record->end, is_pair);
	name_of(out, record->event, name);
	put_name(out, name, mimic_trace_descriptions[record->event->kind].category);
	put_arguments(out, record);
}

static void put_instant(struct output *out, const struct trace_record *record)
{
	struct trace_track *track = track_of(out, record->event);
	char name[2 * TRACE_NAME];

	if (!track || record->event->kind == MIMIC_TRACE_thread)
		return;
	begin(out, "i", track, close_until(out, track, record->time));
	name_of(out, record->event, name);
	put_name(out, name, mimic_trace_descriptions[record->event->kind].category);
	fputs(",\"s\":\"t\"", out->file);
	put_arguments(out, record);
}

/* --- words and commands on their way ------------------------------------------------------------------ */

static void put_counter(struct output *out, const struct mimic_trace_event *event, enum mimic_trace_track kind,
			const char *format, uint64_t time, uint64_t value)
{
	const struct trace_track *track = track_at(out, event, kind);
	char name[TRACE_NAME];

	if (!track)
		return;
	snprintf(name, sizeof(name), format, event->unit);
	begin(out, "C", track, time);
	put_name(out, name, NULL);
	fprintf(out->file, ",\"args\":{\"level\":%" PRIu64 "}}", value);
}

static void put_arrow_end(struct output *out, const char *phase, const struct trace_track *track, uint64_t time,
			  const char *category)
{
	begin(out, phase, track, time);
	put_name(out, category, category);
	fprintf(out->file, ",\"id\":%" PRIu64 "%s}", out->arrows, *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void put_arrow(struct output *out, const struct trace_track *from, uint64_t from_time,
		      const struct trace_track *to, uint64_t to_time, const char *category)
{
	out->arrows++;
	put_arrow_end(out, "s", from, from_time, category);
	put_arrow_end(out, "f", to, to_time, category);
}

/* Its time, and that of no other moment of the device. */
static uint64_t put_moment(struct output *out, struct trace_track *track, const struct trace_record *record)
{
	uint64_t *last = &out->last_moment[record->event->device], time = record->time;
	char name[2 * TRACE_NAME];

	if (time <= *last)
		time = *last + MOMENT_NANOSECONDS;
	time = close_until(out, track, time);
	*last = time;
	begin_slice(out, track, time, time + MOMENT_NANOSECONDS, false);
	name_of(out, record->event, name);
	put_name(out, name, mimic_trace_descriptions[record->event->kind].category);
	put_arguments(out, record);
	return time;
}

/* Of `count` numbers from `first` on, those that have come leave now. */
static void take_all(struct output *out, struct trace_track *from, uint64_t first, uint64_t count,
		     const struct trace_track *to, uint64_t time, const char *arrow)
{
	struct trace_run run;

	while (count && trace_queue_take(&from->queue, first, count, &run)) {
		if (arrow)
			put_arrow(out, from, run.time, to, time, arrow);
		count -= run.first + run.count - first;
		first = run.first + run.count;
	}
}

static void put_words(struct output *out, const struct trace_record *record)
{
	const struct mimic_trace_event *event = record->event;
	struct trace_track *in = track_at(out, event, MIMIC_TRACE_TRACK_QUEUE_IN);
	struct trace_track *track = track_of(out, event);
	bool is_drop = event->kind == MIMIC_TRACE_drop;
	uint64_t time;

	if (!in || !track)
		return;
	time = put_moment(out, track, record);
	if (event->kind != MIMIC_TRACE_produce)
		take_all(out, in, event->id, event->size, track, time, is_drop ? NULL : "word");
	else if (!trace_queue_put(&in->queue, event->id, event->size, time))
		out->out_of_memory = true;
	put_counter(out, event, MIMIC_TRACE_TRACK_QUEUE_IN, "queue %u words", time, is_drop ? 0 : event->value);
}

static void put_waiting(struct output *out, const struct mimic_trace_event *event, struct trace_track *queue,
			int64_t change, uint64_t time)
{
	bool is_of_context = queue->kind == MIMIC_TRACE_TRACK_DISPATCH;

	/* A command that an error drops may be at work already. */
	queue->level = (int64_t)queue->level + change > 0 ? queue->level + (uint64_t)change : 0;
	if (time < queue->last_level)
		time = queue->last_level;
	queue->last_level = time;
	put_counter(out, event, queue->kind, is_of_context ? "context %u instructions" : "unit %u commands", time,
		    queue->level);
}

static enum mimic_trace_track dispatch_track(const struct mimic_trace_event *event)
{
	return mimic_trace_descriptions[event->kind].track == MIMIC_TRACE_TRACK_CONTEXT ||
	       event->kind == MIMIC_TRACE_instruction_queued ? MIMIC_TRACE_TRACK_DISPATCH :
							       MIMIC_TRACE_TRACK_COMMANDS;
}

/* A command or an instruction that is dispatched, or dropped. */
static void put_command(struct output *out, const struct trace_record *record)
{
	const struct mimic_trace_event *event = record->event;
	struct trace_track *queue = track_at(out, event, dispatch_track(event));
	struct trace_track *track = track_of(out, event);
	bool is_queued = event->kind == MIMIC_TRACE_command_queued || event->kind == MIMIC_TRACE_instruction_queued;
	uint64_t time;

	if (!queue || !track)
		return;
	time = put_moment(out, track, record);
	if (event->kind == MIMIC_TRACE_command_queued && !trace_queue_put(&queue->queue, event->id, 1, time))
		out->out_of_memory = true;
	if (event->kind == MIMIC_TRACE_command_dropped)
		take_all(out, queue, event->id, event->size, track, time, NULL);
	put_waiting(out, event, queue, is_queued ? 1 : -(int64_t)event->size, time);
}

/* It is at work: for the first time, or again. */
static void put_work(struct output *out, const struct trace_record *record)
{
	const struct mimic_trace_event *event = record->event;
	struct trace_track *queue = track_at(out, event, dispatch_track(event));
	struct trace_track *track = track_of(out, event);
	bool goes_on = event->size == MIMIC_TRACE_OUTCOME_MORE || event->size == MIMIC_TRACE_OUTCOME_FAULT;

	if (!queue || !track)
		return;
	put_slice(out, record, false);
	if (event->kind == MIMIC_TRACE_command)
		take_all(out, queue, event->id, 1, track, track->last, "command");
	if (!track->goes_on)
		put_waiting(out, event, queue, -1, track->last);
	track->goes_on = goes_on;
}

static void put_record(struct output *out, const struct trace_record *record)
{
	if (record->is_idle)
		return;
	switch (record->event->kind) {
	case MIMIC_TRACE_produce:
	case MIMIC_TRACE_consume:
	case MIMIC_TRACE_drop:
		put_words(out, record);
		return;
	case MIMIC_TRACE_instruction_queued:
	case MIMIC_TRACE_instruction_dropped:
	case MIMIC_TRACE_command_queued:
	case MIMIC_TRACE_command_dropped:
		put_command(out, record);
		return;
	case MIMIC_TRACE_instruction:
	case MIMIC_TRACE_command:
		put_work(out, record);
		return;
	case MIMIC_TRACE_rfu_threshold:
		put_counter(out, record->event, MIMIC_TRACE_TRACK_RFU, "RFU threshold", record->time, record->event->value);
		return;
	default:
		break;
	}
	switch (mimic_trace_descriptions[record->event->kind].phase) {
	case MIMIC_TRACE_SLICE:
		put_slice(out, record, false);
		return;
	case MIMIC_TRACE_BEGIN:
		put_slice(out, record, true);
		return;
	default:
		put_instant(out, record);
	}
}

/* --- the end ---------------------------------------------------------------------------------------------- */

/* Words that were not consumed. */
static void put_left_over(struct output *out, struct trace_track *in)
{
	struct mimic_trace_event event = { .device = in->device, .unit = (uint16_t)in->who };
	struct trace_track *track = track_at(out, &event, MIMIC_TRACE_TRACK_QUEUE_OUT);

	for (size_t i = 0; track && i < in->queue.count; i++) {
		const struct trace_run *run = &in->queue.runs[in->queue.first + i];

		begin_slice(out, track, out->input->end, out->input->end, false);
		put_name(out, "left over", "queue");
		fprintf(out->file, ",\"args\":{\"words\":%" PRIu64 ",\"first\":%" PRId64 "}}", run->count,
			(int64_t)run->first);
	}
}

static void put_end(struct output *out)
{
	/* A track may be made meanwhile: it has no queue. */
	for (size_t i = 0; i < out->tracks.count; i++) {
		if (out->tracks.list[i]->kind == MIMIC_TRACE_TRACK_QUEUE_IN)
			put_left_over(out, out->tracks.list[i]);
	}
	for (size_t i = 0; i < out->tracks.count; i++)
		close_until(out, out->tracks.list[i], UINT64_MAX);
}

static void name_tracks(struct output *out)
{
	for (size_t i = 0; i < out->tracks.count; i++) {
		const struct trace_track *track = out->tracks.list[i];
		char name[TRACE_NAME];

		trace_track_name(&out->tracks, track, out->input->header->device[track->device].name, name);
		metadata(out, "thread_name", track->pid, track->tid, name);
	}
}

static void name_devices(struct output *out)
{
	const struct mimic_spool_device *device = out->input->header->device;

	for (unsigned int i = 0; i < out->input->devices; i++) {
		bool is_named = false;
		char name[MIMIC_SPOOL_NAME + 1] = "";

		for (unsigned int j = 0; j < i; j++)
			is_named |= device[j].pid == device[i].pid;
		/* The first process is the program on the command line. */
		if (!is_named && !i)
			metadata(out, "process_name", device[i].pid, 0, out->program);
		else if (!is_named)
			metadata(out, "process_name", device[i].pid, 0, "a process of the program");
		memcpy(name, device[i].name, MIMIC_SPOOL_NAME);
		metadata(out, "process_name", trace_device_pid(i), 0, name);
	}
}

int trace_write_json(const struct trace_input *input, FILE *file, const char *program)
{
	struct output *out = calloc(1, sizeof(*out));

	if (!out)
		return -ENOMEM;
	out->input = input;
	out->file = file;
	out->program = program;
	fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"mimic " MIMIC_VERSION
		"\",\"events\":%zu,\"events_not_kept\":%" PRIu64 "},\n\"traceEvents\":[", input->count, input->lost);
	for (unsigned int i = 0; i < input->devices; i++)
		out->kind[i] = trace_kind_of(&input->header->device[i]);
	name_devices(out);
	for (size_t i = 0; i < input->count; i++)
		trace_thread_note(&out->tracks, input->records[i].event,
				  device_of(out, input->records[i].event)->pid);
	for (size_t i = 0; i < input->count && !out->out_of_memory && !ferror(file); i++)
		put_record(out, &input->records[i]);
	put_end(out);
	name_tracks(out);
	fputs("\n]}\n", file);
	trace_tracks_free(&out->tracks);
	if (out->out_of_memory) {
		free(out);
		return -ENOMEM;
	}
	free(out);
	errno = 0;
	if (fflush(file) || ferror(file))
		return errno ? -errno : -EIO;
	return 0;
}
