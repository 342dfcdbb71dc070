/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions that the files of mimic trace share. */
#ifndef TOOLS_TRACE_H
#define TOOLS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libmimic/base/spool.h"

/* --- spool.c: a spool, read ------------------------------------------------------ */

/* An event on its way to the output. Times are nanoseconds from the trace's begin. */
struct trace_record {
	const struct mimic_trace_event *event;
	uint64_t time;
	uint64_t end;		/* of slices, and of those that BEGIN begins */
	bool is_open;		/* it has no END */
	bool is_idle;		/* END, whose BEGIN has it all; or of a BEGIN that is not in the trace */
};

struct trace_input {
	const struct mimic_spool_header *header;
	size_t size;
	unsigned int devices;
	struct trace_record *records;	/* by time */
	size_t count;
	uint64_t lost;		/* events that found no room */
	bool is_short;		/* not because of the limit: there was no more room for the spool */
	uint64_t end;		/* of the whole */
};

/* 0 or -errno. */
int trace_read(struct trace_input *input, int fd);
/* Waits, but not for long, until the daemon, which learns of a program's end as we do, has ended its work. */
void trace_await_daemon(int fd);
void trace_free(struct trace_input *input);
/* The writer of an event: a thread of the program, or a worker of the library. */
const struct mimic_spool_owner *trace_writer(const struct trace_input *input, const struct trace_record *record);

/* --- names.c --------------------------------------------------------------------- */

#define TRACE_NAME 64

struct mimic_kind;
struct mimic_spool_device;

/* By the device's name; NULL: a kind that we do not know, of a plugin. */
const struct mimic_kind *trace_kind_of(const struct mimic_spool_device *device);
/* The register of an access; of an unknown kind its place. */
void trace_register_name(char *name, const struct mimic_kind *kind, uint64_t page_and_offset, bool is_store);
/* Of an instruction or command word. */
void trace_command_name(char *name, const struct mimic_kind *kind, uint32_t word);

/* --- json.c: the output ----------------------------------------------------------- */

/* 0, or -errno of the file. */
int trace_write_json(const struct trace_input *input, FILE *file, const char *program);

/* --- queues.c: words and commands on their way ------------------------------------ */

/* So many numbers from `first` on that came at `time`. */
struct trace_run {
	uint64_t first;
	uint64_t count;
	uint64_t time;
};

struct trace_queue {
	struct trace_run *runs;
	size_t first, count, capacity;
};

/* false: no memory. */
bool trace_queue_put(struct trace_queue *queue, uint64_t first, uint64_t count, uint64_t time);
/*
 * Takes the numbers from `first` on out, as far as they follow each other and came together:
 * *run gets them. false: the queue has none of them.
 */
bool trace_queue_take(struct trace_queue *queue, uint64_t first, uint64_t count, struct trace_run *run);

#endif
