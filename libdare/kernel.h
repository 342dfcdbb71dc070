/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the sparse kernels: element types, and a stream of instructions with its shape. */
#ifndef DARE_KERNEL_H
#define DARE_KERNEL_H

#include <sys/types.h>

#include "addresses.h"
#include "blocks.h"
#include "internal.h"
#include "profile.h"

#define DARE_RESULT_BYTES 4	/* fp32 or int32 */
#define DARE_ADDRESS_BYTES 8

/* The instructions for an element type. */
struct dare_element {
	unsigned int bytes;
	uint32_t one;		/* its bits, in the low bytes */
	int (*mld)(struct dare *dare, unsigned int md, const void *address, int64_t stride);
	int (*mma)(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2);
	int (*mgather)(struct dare *dare, unsigned int md, unsigned int ms1);
};

extern const struct dare_element dare_element_fp32;
extern const struct dare_element dare_element_bf16;
extern const struct dare_element dare_element_i8;

/*
 * Dispatches instructions and remembers the CSRs, so that mcfg is only sent for
 * a change. After the first error the rest does nothing.
 */
struct dare_stream {
	struct dare *dare;
	const struct dare_element *element;
	int error;
	unsigned int m;		/* 0: not known */
	unsigned int k;
	unsigned int n;
};

void dare_stream_shape(struct dare_stream *stream, enum dare_csr csr, unsigned int value);
/* CSRs as after reset, then waits for all. Returns the first error. */
int dare_stream_finish(struct dare_stream *stream);

static inline void dare_stream_m(struct dare_stream *stream, unsigned int rows)
{
	if (stream->m != rows)
		dare_stream_shape(stream, DARE_CSR_MATRIX_M, rows);
}

static inline void dare_stream_k(struct dare_stream *stream, unsigned int bytes)
{
	if (stream->k != bytes)
		dare_stream_shape(stream, DARE_CSR_MATRIX_K, bytes);
}

static inline void dare_stream_n(struct dare_stream *stream, unsigned int rows)
{
	if (stream->n != rows)
		dare_stream_shape(stream, DARE_CSR_MATRIX_N, rows);
}

/* Addresses are numbers here: rows of a tile may lie 2^63 bytes apart, which pointers must not. */
static inline const void *dare_pointer(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

/* fp32 and int32 tiles */
static inline void dare_stream_load(struct dare_stream *stream, unsigned int md, uint64_t address, uint64_t stride)
{
	if (!stream->error)
		stream->error = dare_mld(stream->dare, md, dare_pointer(address), (int64_t)stride);
}

static inline void dare_stream_store(struct dare_stream *stream, unsigned int ms3, uint64_t address, uint64_t stride)
{
	if (!stream->error)
		stream->error = dare_mst(stream->dare, ms3, (void *)(uintptr_t)address, (int64_t)stride);
}

/* tiles of the element type */
static inline void dare_stream_load_elements(struct dare_stream *stream, unsigned int md, uint64_t address,
					     uint64_t stride)
{
	if (!stream->error)
		stream->error = stream->element->mld(stream->dare, md, dare_pointer(address), (int64_t)stride);
}

static inline void dare_stream_multiply(struct dare_stream *stream, unsigned int md, unsigned int ms1,
					unsigned int ms2)
{
	if (!stream->error)
		stream->error = stream->element->mma(stream->dare, md, ms1, ms2);
}

/* One block column after the other, in one of the two forms. */
struct dare_walk {
	const struct dare_blocks *blocks;
	struct dare_stream stream;
	/* by the form */
	void (*tile)(const struct dare_blocks *blocks, uint64_t block, uint64_t end, struct dare_tile *tile);
	struct dare_addresses *addresses;	/* NULL: baseline */
};

/*
 * multiply_column(context) for each block column, up to the first error of the stream; with
 * GSA the address thread fills its tiles meanwhile. Returns after all is complete. 0 or -errno.
 */
int dare_walk_columns(struct dare_walk *walk, enum dare_form form,
		      void (*fill)(struct dare_addresses *addresses, const void *context),
		      void (*multiply_column)(void *context, size_t column), void *context);

/* Checks one operand of a kernel: 0, or -EINVAL with text. */
struct dare_operand {
	const char *name;
	const void *memory;
	size_t rows;
	size_t columns;
	size_t leading;
	unsigned int bytes;	/* of an element */
};
int dare_operand_check(const struct dare_operand *operand);

/*
 * The form that is used: DARE_AUTO is the form of the handle's profile, and where that has none GSA
 * for blocks under `threshold`. -EINVAL: no such form.
 */
int dare_form_choose(const struct dare *dare, enum dare_profiled kernel, enum dare_form form,
		     const struct dare_blocks *blocks, unsigned int threshold);

/* dare_alloc() of items * bytes, at least one page; NULL with text and -ENOMEM. */
void *dare_kernel_alloc(struct dare *dare, uint64_t items, size_t bytes, const char *what);

#endif
