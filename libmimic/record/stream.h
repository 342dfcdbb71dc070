/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of the recorder. */
#ifndef LIBMIMIC_RECORD_STREAM_H
#define LIBMIMIC_RECORD_STREAM_H

#include <stdatomic.h>

#include "libmimic/record/history.h"
#include "libmimic/record/record.h"
#include "libmimic/record/sink.h"

struct record_stream;

/* The memory interface that a model calls, and the one behind it. */
struct record_port {
	struct mimic_memory inner;
	struct mimic_memory port;
	const struct mimic_memory *of;	/* as memory_of() gave it; NULL: the host's own */
	struct record_stream *stream;
	unsigned int number;
};

struct record_job {
	struct record_stream *stream;
	void *inner;
	struct record_sink log;		/* its calls while it runs */
	unsigned int slot;
	bool is_out;
	bool is_recorded;
	bool has_run;
};

/* A call comes in while a stream is free; a thread that ends the stream waits for that. */
enum record_gate { RECORD_FREE, RECORD_BUSY, RECORD_OVER };

struct record_totals {
	uint64_t calls;
	uint64_t events;
	uint64_t bytes;		/* of records */
};

struct record_stream {
	struct mimic_model model;	/* first */
	struct mimic_model_ops ops;
	const struct mimic_kind *kind;
	struct mimic_model *inner;
	void (*destroy)(struct mimic_model *model);
	struct mimic_host host;		/* the real one */
	struct record_file *file;
	struct record_stream *next;	/* in the file's list */
	uint32_t number;
	uint32_t sequence;

	_Atomic int gate;		/* enum record_gate */
	bool recording;			/* within a call that is recorded */
	uint64_t now;			/* of the last call */
	uint64_t block_since;		/* of the first one in the block */
	struct record_totals totals;
	struct record_sink sink;	/* the block */

	/* Of reads and gathers that are no job's. */
	struct record_history words, values;
	uint64_t last_read;		/* where its words begin */
	uint64_t next_index;		/* behind the words that the last gather used */
	uint64_t last_base;		/* of that gather */
	uint64_t next_value;		/* behind the values of the last answer */
	uint64_t values_at_call;	/* the end of `values` when the call began */

	void *memory;			/* of the device; NULL: none */
	unsigned char *last;		/* its bytes that were written last */
	size_t memory_size;

	struct record_job *jobs;
	unsigned int job_count;
	unsigned int port_count;
	struct record_port ports[RECORD_PORTS_MAX];
};

static inline struct record_stream *mimic_record_stream_of(const struct mimic_model *model)
{
	return (struct record_stream *)model;
}

/* file.c */

/* Adds it to the file's list, with a number. 0 or -errno. */
int mimic_record_file_add(struct record_file *file, struct record_stream *stream);
/* The number of the last one: its first block is not there, so the next has to have that number. */
void mimic_record_file_take_back(struct record_file *file);
void mimic_record_file_remove(struct record_file *file, struct record_stream *stream);
/* In a signal handler, too. 0 or -errno. */
int mimic_record_file_append(struct record_file *file, const void *bytes, size_t size);

/* stream.c */

/* The begin of a call. false: it is not recorded. */
bool mimic_record_enter(struct record_stream *stream);
void mimic_record_leave(struct record_stream *stream);
/* Within: the kind of call, and its time. */
void mimic_record_call(struct record_stream *stream, enum record_code code, uint64_t now);
/* Records the changes of the device's memory since the last time. */
void mimic_record_memory(struct record_stream *stream);
struct record_stream *mimic_record_stream_make(struct record_file *file, const struct record_model *what);
void mimic_record_stream_free(struct record_stream *stream);

/* history.c */

/* Of a gather's addresses: how far before the end of the words that were read they begin, and the base's difference. */
struct record_indices {
	uint64_t distance;
	uint64_t base;
};
/* Are these addresses a base and indices that were read? */
bool mimic_record_find_indices(struct record_stream *stream, const uint64_t *addresses, size_t count,
			       unsigned int size, struct record_indices *found);
/* Is this answer made of values that were gathered? *distance: from their end. */
bool mimic_record_find_values(struct record_stream *stream, const void *answer, size_t size, uint64_t *distance);

/* host.c */

/* The host that the real model gets. */
void mimic_record_host_make(struct record_stream *stream, struct mimic_host *host);
uint32_t mimic_record_abilities(const struct record_stream *stream);
/* The thread's job, so that its calls go into its log; NULL: none. */
void mimic_record_host_job(struct record_job *job);

/* calls.c */

extern const struct mimic_model_ops mimic_record_ops;

#endif
