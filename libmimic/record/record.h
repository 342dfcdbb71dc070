/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Recordings: all that the models of this process are asked and answer, and all that
 * they ask, in the file that MIMIC_RECORD names. docs/record.md describes it.
 *
 * A recorded model stands in front of a real one, which knows nothing of it: calls go
 * through it, and so does the model's memory port. It writes from inside of these calls,
 * so also in signal handlers: with system calls alone, into memory that is there before.
 */
#ifndef LIBMIMIC_RECORD_H
#define LIBMIMIC_RECORD_H

#include "libmimic/base/kinds.h"

struct record_file;

/*
 * Is this process to be recorded (MIMIC_RECORD)? Then it has its file, from here on. 0, 1 or
 * -errno with a text: there can be no such file. Under the device table's lock.
 */
int mimic_record_start(void);
/* In the child of a fork: the file is the parent's. */
void mimic_record_after_fork(void);

/* The kind, but for recorded models and for them only; `kind` itself if this process is not recorded. */
const struct mimic_kind *mimic_record_kind(const struct mimic_kind *kind);

/* As the kind's create(): a recorded model, named as the device. NULL with errno. */
struct mimic_model *mimic_record_create(const struct mimic_kind *kind, const char *name,
					const void *parameters,
					const struct mimic_host *host, void *memory);

/* --- the same, step by step, for tests ------------------------------------------------ */

/* The arguments for making a model, and the file that it is recorded in. */
struct record_model {
	const struct mimic_kind *kind;
	const char *name;
	const void *parameters;		/* the kind's own */
	const struct mimic_host *host;
	void *memory;			/* of the device; NULL: none */
	size_t memory_size;
	/* Makes the real model, for the host that it is given; NULL: the kind's create(). */
	struct mimic_model *(*create)(void *context, const struct mimic_host *host);
	void (*destroy)(struct mimic_model *model);	/* NULL: the kind's */
	void *context;
};

/* A new file. NULL with errno. */
struct record_file *mimic_record_file_make(const char *path);
/* Its models are destroyed. */
void mimic_record_file_free(struct record_file *file);
struct mimic_model *mimic_record_model_make(struct record_file *file, const struct record_model *what);
/* Ends the stream, whether the model is in use or not: later calls are not recorded. */
void mimic_record_model_end(struct mimic_model *model);
void mimic_record_model_destroy(struct mimic_model *model);
/*
 * Where the events of the real model go, for a driver that changes that in the middle. The recorded model's
 * own trace is for one that is given before the first call, and stays.
 */
struct mimic_trace_source *mimic_record_trace(struct mimic_model *model);
/* For a process whose descriptors are its own: the file stays open, wherever its path leads later. 0 or -errno. */
int mimic_record_file_keep_open(struct record_file *file);
/* Could something not be written, so that the recording has ended? */
bool mimic_record_file_is_cut(const struct record_file *file);
/* The kind, but for recorded models. */
const struct mimic_kind *mimic_record_kind_of(const struct mimic_kind *kind);

#endif
