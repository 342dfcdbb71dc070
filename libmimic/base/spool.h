/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The spool of a trace: a file of mapped memory that threads, also of several
 * processes, write events into, and that is read when they have ended.
 *
 * It is made of chunks. The first holds the header. A thread that has something to
 * write claims a chunk by one atomic addition; its first entry names its owner, the
 * others are events. The file is sparse: unclaimed chunks cost nothing. When
 * all are claimed, events are counted and not kept.
 */
#ifndef LIBMIMIC_TRACE_SPOOL_H
#define LIBMIMIC_TRACE_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "devices/trace.h"

#define MIMIC_SPOOL_MAGIC 0x6c6f6f7073636d6dull	/* "mmcspool" */
#define MIMIC_SPOOL_VERSION 1
#define MIMIC_SPOOL_CHUNK 65536u
#define MIMIC_SPOOL_EVENTS (MIMIC_SPOOL_CHUNK / sizeof(struct mimic_trace_event))	/* the first is its owner */
#define MIMIC_SPOOL_DEVICES 512
#define MIMIC_SPOOL_NAME 24

/* The unit of `time`. */
enum mimic_spool_clock {
	MIMIC_SPOOL_NANOSECONDS,	/* of the monotonic clock */
	MIMIC_SPOOL_TSC,		/* of the processor, which takes half as long to read */
	MIMIC_SPOOL_CYCLES,		/* of a modelled SoC: the writer has a clock of its own */
};

struct mimic_spool_device {
	char name[MIMIC_SPOOL_NAME];	/* begins with the name of its kind */
	uint32_t unused;
	uint32_t pid;			/* of the program */
	_Atomic uint32_t is_open;	/* a daemon writes its events */
	uint32_t reserved;
};

struct mimic_spool_header {
	uint64_t magic;
	uint32_t version;
	uint32_t clock;
	uint64_t chunks;		/* that there can be, the header's among them */
	/* The same moment by both clocks. */
	uint64_t start_ticks;
	uint64_t start_nanoseconds;
	_Alignas(64) _Atomic uint64_t claimed;	/* may be more than `chunks` */
	_Atomic uint64_t lost;		/* events that found no room */
	_Atomic uint32_t devices;
	struct mimic_spool_device device[MIMIC_SPOOL_DEVICES];
};

_Static_assert(sizeof(struct mimic_spool_header) <= MIMIC_SPOOL_CHUNK, "it has one chunk");

/* The first entry of a chunk. */
struct mimic_spool_owner {
	uint32_t pid;
	uint32_t tid;
	uint8_t reserved[56];
};

/* Where a process writes. */
struct mimic_spool {
	struct mimic_trace trace;	/* first */
	struct mimic_spool_header *header;	/* of the mapping */
	uint64_t generation;		/* of this object, in this process: no other has had it */
	size_t size;
	uint64_t chunks;
	unsigned int slot;		/* of each thread's cursors */
};

/* Makes an empty spool of a file that is open for writing. 0 or -errno. */
int mimic_spool_create(int fd, uint64_t bytes);
/*
 * Maps a spool to write into it. 0 or -errno; -EINVAL: it is none. The descriptor may be
 * closed then. The file must not become shorter.
 */
int mimic_spool_attach(struct mimic_spool *spool, int fd);
/* No thread writes any more. */
void mimic_spool_detach(struct mimic_spool *spool);
/* A number for a device, for its source. The last one is shared by all that come too late. */
uint16_t mimic_spool_device(struct mimic_spool *spool, const char *name, pid_t pid);
/* Nothing more comes of it. */
void mimic_spool_device_closed(struct mimic_spool *spool, uint16_t device);
/* Is it the trace of a spool? NULL and others are not. */
bool mimic_spool_is(const struct mimic_trace *trace);
/* In the child of a fork: the threads of the parent keep their chunks. */
void mimic_spool_after_fork(struct mimic_spool *spool);

/* Now, by a clock of enum mimic_spool_clock. */
uint64_t mimic_spool_ticks(unsigned int clock);

/*
 * The trace of this process: MIMIC_TRACE of its environment names the spool. Devices of
 * the embedded transport ask for it when they open. NULL: there is none.
 */
struct mimic_spool *mimic_process_trace(void);
/* The file itself, for a daemon that asks for sealed memory: a descriptor, or -errno. */
int mimic_process_trace_file(void);
void mimic_process_trace_after_fork(void);

#endif
