/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of a replay: one device's. */
#ifndef LIBMIMIC_REPLAY_PLAYER_H
#define LIBMIMIC_REPLAY_PLAYER_H

#include "libmimic/record/history.h"
#include "libmimic/replay/reader.h"

struct replay_player;

struct replay_port {
	struct mimic_memory memory;
	struct replay_player *player;	/* NULL: not made */
	unsigned int number;
	uint32_t abilities;
};

struct replay_job {
	void *job;		/* NULL: not out */
	bool has_run;
	unsigned char *found;	/* the device's memory when it was taken */
};

struct replay_player {
	struct replay_reader reader;
	const struct mimic_replay_options *options;
	struct mimic_replay_result *result;
	const struct mimic_kind *kind;
	struct mimic_own_parameters parameters;
	uint32_t abilities;
	struct mimic_model *model;
	void (*destroy)(struct mimic_model *model);
	uint64_t call;
	uint64_t now;
	uint64_t events;	/* but for those of jobs */
	bool in_job;
	/* Bytes that were read last, but for those of jobs. */
	struct record_history words, values;
	uint64_t last_base;
	bool is_indexed;		/* the gather that was recorded is by indices */
	bool is_gathered;		/* the answer that was recorded is of gathered values */
	/* The call that is made now, for people. */
	enum record_code code;
	struct mimic_access access;
	uint64_t detail;

	unsigned char *memory;		/* of the device */
	void *own_memory;		/* if it is ours */
	size_t memory_size;
	unsigned char *last;		/* as the recording had it last */
	unsigned char *before;		/* the bytes that a job of a tick finds */
	struct replay_job *jobs;
	unsigned int job_count;
	struct replay_port ports[RECORD_PORTS_MAX];
};

/* player.c */

/* Is there nothing more to do? Then all answers are those of memory that is not there. */
bool mimic_replay_is_over(struct replay_player *player);
/* Once, the first one. */
void mimic_replay_differ(struct replay_player *player, const char *what, const char *recorded,
			 const char *replayed);
/* Is it as recorded? Else it is the difference. */
bool mimic_replay_same(struct replay_player *player, const char *what, uint64_t recorded,
		       uint64_t replayed);
bool mimic_replay_same_count(struct replay_player *player, const char *what, uint64_t recorded,
			     uint64_t replayed);
/* The call, for people. */
void mimic_replay_call_text(const struct replay_player *player, char *text, size_t size);
const char *mimic_replay_code_name(unsigned int code);

/* begin.c */

/* The stream's first record: the device. */
void mimic_replay_read_start(struct replay_player *player);
/* The device. 0, or -errno with a text. */
int mimic_replay_make(struct replay_player *player, char *text, size_t size);
void mimic_replay_unmake(struct replay_player *player);
/* The text of an error, which it returns. */
int mimic_replay_fail(char *text, size_t size, int error);

/* host.c */

void mimic_replay_host_make(struct replay_player *player, struct mimic_host *host);

/* calls.c */

/* A record that is a call; all of it. */
void mimic_replay_play(struct replay_player *player, unsigned int code);
/* Jobs that are outstanding at the end of the recording: a model must have them back. */
void mimic_replay_end_jobs(struct replay_player *player);

/* memory.c */

/* The changes of the device's memory that the recording has, into player->last. */
void mimic_replay_memory_read(struct replay_player *player);
/* A job has run that found `before`: are its changes as recorded? Then all of it is as recorded. */
void mimic_replay_memory_compare(struct replay_player *player, const unsigned char *before);

#endif
