/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A stream: the records of one model, and the block that they wait in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "libmimic/base/raw_syscall.h"
#include "libmimic/record/stream.h"

#define BLOCK_AGE 100000000u	/* ns; older records are written, should the program be killed */
#define LOG_BYTES 65536u	/* of a job, at first */
#define PAGE_BYTES 4096u
#define END_LOOKS 200		/* for a call that does not come back, a tenth of a millisecond each */

/* --- the block ---------------------------------------------------------------------------- */

/* The block, as it is, into the file. Room for its header is before it, so that both are written at once. */
static void flush(struct record_stream *stream)
{
	struct record_sink *sink = &stream->sink;
	struct record_block_header header = {
		.magic = RECORD_BLOCK_MAGIC,
		.stream = stream->number,
		.sequence = stream->sequence,
		.length = (uint32_t)(sink->at - sink->start),
	};
	unsigned char *block = sink->start - sizeof(header);

	sink->at = sink->start;
	if (!header.length || sink->failed)
		return;
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_block_header, checksum));
	header.checksum = mimic_record_crc32c(header.checksum, sink->start, header.length);
	memcpy(block, &header, sizeof(header));
	stream->sequence++;
	stream->totals.bytes += header.length;
	sink->failed = mimic_record_file_append(stream->file, block, sizeof(header) + header.length) != 0;
}

static void block_full(struct record_sink *sink)
{
	flush((struct record_stream *)((char *)sink - offsetof(struct record_stream, sink)));
}

/* --- the log of a job ------------------------------------------------------------------------ */

static void log_full(struct record_sink *sink)
{
	size_t size = (size_t)(sink->end - sink->start), used = (size_t)(sink->at - sink->start);
	long moved = mimic_raw_syscall(SYS_mremap, (long)sink->start, (long)size, (long)(2 * size),
				       MREMAP_MAYMOVE, 0, 0);

	if (moved < 0 && moved > -4096) {
		sink->failed = true;
		sink->at = sink->start;
		return;
	}
	sink->start = (unsigned char *)moved;
	sink->at = sink->start + used;
	sink->end = sink->start + 2 * size;
}

static bool make_jobs(struct record_stream *stream, const void *parameters)
{
	stream->job_count = stream->kind->jobs->count(parameters);
	if (stream->job_count > RECORD_JOBS_MAX)
		return false;
	stream->jobs = calloc(stream->job_count, sizeof(*stream->jobs));
	for (unsigned int i = 0; stream->jobs && i < stream->job_count; i++) {
		struct record_job *job = &stream->jobs[i];

		job->stream = stream;
		job->slot = i;
		job->log.full = log_full;
		job->log.start = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (job->log.start == MAP_FAILED) {
			job->log.start = NULL;
			return false;
		}
		job->log.at = job->log.start;
		job->log.end = job->log.start + LOG_BYTES;
	}
	return stream->jobs != NULL;
}

/* --- calls -------------------------------------------------------------------------------------- */

bool mimic_record_enter(struct record_stream *stream)
{
	int gate = RECORD_FREE;

	if (!atomic_compare_exchange_strong_explicit(&stream->gate, &gate, RECORD_BUSY,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	stream->recording = true;
	/* The trace is that of the model that records. */
	if (stream->inner && !mimic_trace_is_on(&stream->inner->trace))
		stream->inner->trace = stream->model.trace;
	return true;
}

void mimic_record_leave(struct record_stream *stream)
{
	if (stream->now - stream->block_since > BLOCK_AGE)
		flush(stream);
	stream->recording = false;
	atomic_store_explicit(&stream->gate, stream->sink.failed ? RECORD_OVER : RECORD_FREE,
			      memory_order_release);
}

void mimic_record_call(struct record_stream *stream, enum record_code code, uint64_t now)
{
	struct record_sink *sink = &stream->sink;

	if (sink->at == sink->start)
		stream->block_since = now;
	sink_byte(sink, code);
	sink_number(sink, mimic_record_zigzag(now - stream->now));
	stream->now = now;
	stream->totals.calls++;
}

/* --- the device's memory ---------------------------------------------------------------------------- */

/*
 * Word by word: the program writes it at any time, and the compared words have to be the recorded
 * ones. That is a race by design, which a sanitizer need not report.
 */
__attribute__((no_sanitize("thread"), noinline)) static void take_chunk(uint64_t *to, const void *from)
{
	const volatile uint64_t *words = from;

	for (size_t i = 0; i < RECORD_CHUNK / sizeof(*to); i++)
		to[i] = words[i];
}

/* Most of it is as it was: a quick comparison of a whole page. */
__attribute__((no_sanitize("thread"), noinline)) static bool is_as_before(const uint64_t *now,
									  const uint64_t *before)
{
	uint64_t difference = 0;

	for (size_t i = 0; i < PAGE_BYTES / sizeof(*now); i++)
		difference |= now[i] ^ before[i];
	return !difference;
}

/* Runs of chunks: how many stay, how many follow (0: that is all), their bytes. */
void mimic_record_memory(struct record_stream *stream)
{
	uint64_t chunk[RECORD_CHUNK / sizeof(uint64_t)];
	struct record_sink *sink = &stream->sink;
	size_t same = 0;

	for (size_t at = 0; at < stream->memory_size; at += RECORD_CHUNK) {
		const char *now = (const char *)stream->memory + at;

		if (at % PAGE_BYTES == 0 && stream->memory_size - at >= PAGE_BYTES &&
		    is_as_before((const uint64_t *)now, (const uint64_t *)(stream->last + at))) {
			same += PAGE_BYTES / RECORD_CHUNK;
			at += PAGE_BYTES - RECORD_CHUNK;
			continue;
		}
		take_chunk(chunk, now);
		if (!memcmp(stream->last + at, chunk, RECORD_CHUNK)) {
			same++;
			continue;
		}
		memcpy(stream->last + at, chunk, RECORD_CHUNK);
		sink_number(sink, same);
		sink_number(sink, 1);
		sink_bytes(sink, chunk, RECORD_CHUNK);
		same = 0;
	}
	sink_number(sink, 0);
	sink_number(sink, 0);
}

/* --- begin and end --------------------------------------------------------------------------------------- */

static void write_parameters(struct record_stream *stream, const void *parameters)
{
	const struct mimic_kind *kind = stream->kind;
	char text[RECORD_TEXT_MAX];
	size_t length = 0;

	for (size_t i = 0; i < kind->key_count && length < sizeof(text); i++) {
		const struct mimic_key *key = &kind->keys[i];
		unsigned int value = *(const unsigned int *)((const char *)parameters + key->offset);

		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s = %u\n", key->name,
					   key->bit ? (value & key->bit) != 0 : value);
	}
	sink_text(&stream->sink, text, sizeof(text) - 1);
}

static void write_start(struct record_stream *stream, const struct record_model *what)
{
	struct record_sink *sink = &stream->sink;

	sink_byte(sink, RECORD_START);
	sink_text(sink, what->kind->name, RECORD_NAME_MAX);
	sink_text(sink, what->name ? what->name : "", RECORD_NAME_MAX);
	sink_text(sink, MIMIC_VERSION, RECORD_NAME_MAX);
	write_parameters(stream, what->parameters);
	sink_number(sink, mimic_record_abilities(stream));
	sink_number(sink, stream->memory_size);
	/* At once: a reader may list the devices of the file meanwhile, and the first shows a file that cannot be written. */
	flush(stream);
}

static void write_end(struct record_stream *stream)
{
	struct record_sink *sink = &stream->sink;
	uint64_t values[MIMIC_KIND_COUNTERS_MAX];
	size_t count = 0;

	if (stream->inner)
		count = stream->inner->ops->counters(stream->inner, values, MIMIC_KIND_COUNTERS_MAX);
	sink_byte(sink, RECORD_END);
	sink_number(sink, stream->totals.calls);
	sink_number(sink, stream->totals.events);
	sink_number(sink, count);
	for (size_t i = 0; i < count; i++)
		sink_number(sink, values[i]);
	flush(stream);
}

/* Does the driver of the model take its jobs? Then enabling them changes nothing. */
static bool has_jobs(const struct record_model *what)
{
	struct mimic_own_parameters enabled;

	if (!what->kind->jobs)
		return false;
	memcpy(&enabled, what->parameters, what->kind->parameters_size);
	what->kind->jobs->enable(&enabled);
	return !memcmp(&enabled, what->parameters, what->kind->parameters_size);
}

static bool make_block(struct record_stream *stream)
{
	unsigned char *block = malloc(sizeof(struct record_block_header) + RECORD_BLOCK_MAX);

	if (!block)
		return false;
	stream->sink.start = block + sizeof(struct record_block_header);
	stream->sink.at = stream->sink.start;
	stream->sink.end = stream->sink.start + RECORD_BLOCK_MAX;
	stream->sink.full = block_full;
	return true;
}

static bool make_memory(struct record_stream *stream, const struct record_model *what)
{
	if (!what->memory || !what->memory_size)
		return true;
	stream->memory = what->memory;
	stream->memory_size = what->memory_size / RECORD_CHUNK * RECORD_CHUNK;
	stream->last = calloc(1, stream->memory_size);
	return stream->last != NULL;
}

struct record_stream *mimic_record_stream_make(struct record_file *file, const struct record_model *what)
{
	struct record_stream *stream = calloc(1, sizeof(*stream));
	int error = -ENOMEM;

	if (!stream)
		return NULL;
	stream->kind = mimic_kinds[mimic_kind_index(what->kind)];
	stream->ops = mimic_record_ops;
	stream->ops.kind = stream->kind->name;
	stream->model.ops = &stream->ops;
	stream->host = *what->host;
	stream->destroy = what->destroy ? what->destroy : stream->kind->destroy;
	if (make_block(stream) && make_memory(stream, what) &&
	    (!has_jobs(what) || make_jobs(stream, what->parameters)))
		error = mimic_record_file_add(file, stream);
	if (!error) {
		write_start(stream, what);
		if (stream->sink.failed)
			mimic_record_file_take_back(file);
		/* A program that has got this far has its device, recorded or not. */
		error = stream->sink.failed && !stream->number ? -EIO : 0;
	}
	if (!error)
		return stream;
	mimic_record_stream_free(stream);
	errno = -error;
	return NULL;
}

void mimic_record_stream_free(struct record_stream *stream)
{
	if (stream->file)
		mimic_record_file_remove(stream->file, stream);
	for (unsigned int i = 0; stream->jobs && i < stream->job_count; i++) {
		struct record_sink *log = &stream->jobs[i].log;

		if (log->start)
			munmap(log->start, (size_t)(log->end - log->start));
	}
	free(stream->jobs);
	free(stream->last);
	if (stream->sink.start)
		free(stream->sink.start - sizeof(struct record_block_header));
	free(stream);
}

void mimic_record_model_end(struct mimic_model *model)
{
	struct record_stream *stream = mimic_record_stream_of(model);
	const struct timespec pause = { .tv_nsec = 100000 };
	int gate = RECORD_FREE;

	/* Not for ever: the thread of that call may be gone, or be the one that ends the process. */
	for (unsigned int i = 0; i < END_LOOKS; i++) {
		if (atomic_compare_exchange_strong_explicit(&stream->gate, &gate, RECORD_OVER,
							    memory_order_acquire, memory_order_relaxed)) {
			write_end(stream);
			return;
		}
		if (gate == RECORD_OVER)
			return;
		gate = RECORD_FREE;
		nanosleep(&pause, NULL);
	}
}
