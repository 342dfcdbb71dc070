/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The common part of the DARE example programs: read the options, load the matrix,
 * open a context, run each form and block size, report. A program adds its kernel.
 */
#ifndef EXAMPLES_DARE_PROGRAM_H
#define EXAMPLES_DARE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dare.h"
#include "examples/common/csr.h"
#include "examples/common/dare_options.h"
#include "examples/common/message.h"

struct dare_program {
	const struct dare_program_options *options;
	struct dare *dare;		/* NULL: only the plain form is wanted */
	char transport[16];
	char device[32];
	struct csr matrix;		/* empty if the program generates its own */
	bool has_matrix;
};

/* One form's run, and its results. */
struct dare_run {
	enum dare_program_form form;
	unsigned int block;		/* 0: not in blocks */
	enum dare_program_type type;
	/* the kernel fills these in */
	double seconds;
	double blockify_seconds;
	uint64_t macs;			/* that the result needs */
	bool verified;
	struct dare_block_statistics statistics;	/* with blocks */
	struct message message;		/* why not verified, or why run() failed */
	/* the rest is ours */
	const char *transport;
	struct dare_statistics counters;	/* the increase by this run */
};

struct dare_kernel {
	const char *name;
	const char *summary;
	bool is_sparse;			/* runs for each form and block, else for each form and type */
	/* State for one input. NULL with a message. */
	void *(*create)(struct dare_program *program, struct message *message);
	void (*destroy)(void *state);
	/* Runs, takes the time, verifies. 0, or -errno with run->message set or dare_error_text(). */
	int (*run)(void *state, struct dare_run *run);
	/* For the report: "2048 by 2048, 65536 non-zeros, times 64 columns" */
	void (*describe)(void *state, char *text, size_t size);
};

int dare_program_main(const struct dare_kernel *kernel, int argc, char **argv);

/* Zeroed memory that the device reaches directly; plain memory if there is no device. NULL with a message. */
void *dare_program_alloc(struct dare_program *program, size_t items, size_t size, const char *what,
			 struct message *message);
void dare_program_free(struct dare_program *program, void *memory);

/* The form of the library that is meant; of all but the plain one. */
enum dare_form dare_program_form(enum dare_program_form form);

double dare_program_seconds(void);

#endif
