/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Replays a recording: a model of the recorded kind and parameters gets every call that
 * was recorded, its memory has the recorded bytes, and all of its answers are compared.
 */
#ifndef LIBMIMIC_REPLAY_H
#define LIBMIMIC_REPLAY_H

#include "libmimic/base/kinds.h"

struct mimic_replay;

/* Where the file is not a whole recording any more. */
struct mimic_replay_damage {
	bool exists;
	uint64_t offset;	/* of the first byte that is wrong, or missing */
	char text[128];
};

struct mimic_replay_difference {
	bool exists;
	uint64_t call;		/* its number, from 1 */
	uint64_t now;		/* the device's time */
	char asked[128];	/* the call */
	char what[64];		/* of it */
	char recorded[128];
	char replayed[128];
};

enum mimic_replay_end {
	MIMIC_REPLAY_WHOLE,	/* up to the device's end */
	MIMIC_REPLAY_CUT,	/* there is no more, but the end is missing */
	MIMIC_REPLAY_BAD,	/* the bytes are no recording: see the damage */
};

/* The outcome of one device. */
struct mimic_replay_result {
	char kind[64];
	char name[64];		/* "maple0" */
	char version[64];	/* of the mimic that recorded it */
	bool is_made;		/* there was a device to replay; else nothing was compared */
	enum mimic_replay_end end;
	struct mimic_replay_damage damage;	/* inside of the records of this device */
	struct mimic_replay_difference difference;
	uint64_t calls;
	uint64_t accesses;	/* single ones */
	uint64_t values;	/* stored and loaded by those of many */
	uint64_t completions;
	uint64_t interrupts;
	uint64_t jobs;
	uint64_t bytes_read;	/* of the program's memory */
	uint64_t bytes_written;
	uint64_t shared_by_others;	/* bytes of the device's memory that changed while a job ran, not by it */
	uint64_t start, now;	/* the device's time, first and last */
};

struct mimic_replay_options {
	/* Parameters that are to be others than recorded: "queue_entries=4". */
	const char *const *settings;
	size_t setting_count;
	/* Is called before each call; or NULL. */
	void (*call)(void *context, uint64_t number, uint64_t now, const char *text);
	void *context;
	/* For tests. The model; NULL: of its kind. */
	struct mimic_model *(*create)(void *context, const struct mimic_host *host);
	void (*destroy)(struct mimic_model *model);
	void *memory;		/* of the device; NULL: its own */
};

/* Reads the whole file. 0, or -errno with a text of why it is no recording at all. */
int mimic_replay_open(struct mimic_replay **replay, const char *path, char *text, size_t size);
void mimic_replay_close(struct mimic_replay *replay);
/* Streams of devices that have a beginning are 0 to this less 1; all before the damage. */
unsigned int mimic_replay_count(const struct mimic_replay *replay);
const struct mimic_replay_damage *mimic_replay_damage(const struct mimic_replay *replay);
/* Is the file a recording that could not be written to its end? Its header is all that is read. */
bool mimic_replay_is_cut(const char *path);
/* 0, or -errno with a text: it could not even begin. */
int mimic_replay_run(struct mimic_replay *replay, unsigned int stream,
		     const struct mimic_replay_options *options, struct mimic_replay_result *result,
		     char *text, size_t size);

#endif
