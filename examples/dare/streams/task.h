/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One kernel on one input: its operands, and a run of it in one form, which is checked against a plain loop. */
#ifndef EXAMPLES_DARE_TASK_H
#define EXAMPLES_DARE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dare.h"
#include "examples/common/csr.h"
#include "examples/common/dare_matrix.h"
#include "examples/common/message.h"
#include "examples/dare/streams/measure.h"
#include "examples/dare/streams/streams.h"

enum task_kernel { TASK_SPMM, TASK_SDDMM, TASK_GEMM, TASK_KERNELS };
enum task_form { TASK_PLAIN, TASK_2X2, TASK_GSA, TASK_LIBDARE, TASK_LIBDARE_GSA, TASK_LIBDARE_AUTO, TASK_FORMS };

struct task {
	enum task_kernel kernel;
	struct dare *dare;
	struct sparse_matrix s;		/* by rows */
	size_t width;			/* of the dense operands */
	struct stream_code code;	/* of plain and gsa */
	float *a;			/* rows x width: A; of SpMM none */
	float *b;			/* columns x width: B, or D */
	float *result;			/* C; P of SDDMM: a value for each element of S */
	float *right;			/* the right result */
	size_t results;
	uint64_t macs;			/* that the result needs */
};

struct task_run {
	enum task_form form;
	unsigned int block;		/* 0: not in blocks */
	/* task_run() fills these in */
	struct dare_block_statistics statistics;
	size_t tiles;			/* of the streams' own forms */
	struct measure measure;
	bool is_verified;
	struct dare_statistics counters;	/* the increase by the run */
	struct message message;		/* why not verified, or why task_run() failed */
};

/* Has the kernel this form? */
bool task_has_form(enum task_kernel kernel, enum task_form form);
const char *task_form_name(enum task_form form);

/* kernel, dare, width and code are set by the caller. 0, or -errno with a message. */
int task_make(struct task *task, const struct csr *matrix, uint64_t seed, struct message *message);
void task_free(struct task *task);
/* 0, or -errno with run->message. */
int task_run(struct task *task, struct task_run *run);

#endif
