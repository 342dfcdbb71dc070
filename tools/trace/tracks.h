/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The tracks of a trace that is written: the number of each, and its open slices. */
#ifndef TOOLS_TRACE_TRACKS_H
#define TOOLS_TRACE_TRACKS_H

#include "tools/trace/trace.h"

#define TRACE_DEPTH 16

struct trace_open {
	uint64_t end;
	bool is_pair;		/* of B, which needs an E */
};

struct trace_track {
	uint16_t device;
	enum mimic_trace_track kind;
	uint64_t who;		/* unit, or owner */
	unsigned int pid;
	unsigned int tid;
	uint64_t last;		/* time; it does not go back */
	struct trace_open open[TRACE_DEPTH];
	unsigned int depth;
	/* Of tracks of queues: the words or commands in flight. */
	struct trace_queue queue;
	uint64_t level;
	uint64_t last_level;
	bool goes_on;		/* of engines: the last command runs again */
};

struct trace_thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t owner;
};

struct trace_tracks {
	struct trace_track **list;
	size_t count;
	size_t capacity;
	struct trace_track **table;	/* by hash; a power of two */
	size_t size;
	struct trace_thread *threads;
	size_t thread_count;
};

/* NULL: no memory. They do not move. */
struct trace_track *trace_track_get(struct trace_tracks *tracks, uint16_t device, enum mimic_trace_track kind,
				    uint64_t who, unsigned int pid);
/* Is there one for each unit of the device? */
bool trace_track_has_units(enum mimic_trace_track kind);
void trace_track_name(const struct trace_tracks *tracks, const struct trace_track *track, const char *device,
		      char *name);
void trace_tracks_free(struct trace_tracks *tracks);

/* Learns of an event which thread an owner is. */
void trace_thread_note(struct trace_tracks *tracks, const struct mimic_trace_event *event, uint32_t pid);
/* Its thread number; the owner itself if it is not known. */
uint64_t trace_thread_of(const struct trace_tracks *tracks, uint32_t pid, uint64_t owner);

/* Devices are "processes", too, with numbers that no process has. */
unsigned int trace_device_pid(unsigned int device);

#endif
