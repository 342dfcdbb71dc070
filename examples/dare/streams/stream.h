/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Instructions as a kernel dispatches them one by one, by libdare; mcfg only where a value changes. */
#ifndef EXAMPLES_DARE_STREAM_H
#define EXAMPLES_DARE_STREAM_H

#include <stdint.h>

#include "dare.h"

#define ELEMENT_BYTES 4u	/* fp32 */
#define CHUNK 16u		/* elements of a register's row */
#define ADDRESS_BYTES 8u

struct stream {
	struct dare *dare;
	int error;		/* the first one; nothing is dispatched after it */
	unsigned int m, k, n;	/* the CSRs: rows, bytes, rows; 0: not known */
};

static inline void stream_csr(struct stream *stream, enum dare_csr csr, unsigned int *known, unsigned int value)
{
	if (stream->error || *known == value)
		return;
	stream->error = dare_mcfg(stream->dare, csr, value);
	*known = value;
}

/* Rows of the next tiles, and bytes of a row. */
static inline void stream_shape(struct stream *stream, unsigned int rows, unsigned int bytes)
{
	stream_csr(stream, DARE_CSR_MATRIX_M, &stream->m, rows);
	stream_csr(stream, DARE_CSR_MATRIX_K, &stream->k, bytes);
}

static inline void stream_load(struct stream *stream, unsigned int md, const void *address, size_t stride)
{
	if (!stream->error)
		stream->error = dare_mld(stream->dare, md, address, (int64_t)stride);
}

static inline void stream_store(struct stream *stream, unsigned int ms3, void *address, size_t stride)
{
	if (!stream->error)
		stream->error = dare_mst(stream->dare, ms3, address, (int64_t)stride);
}

/* Loads `rows` addresses, and then the rows of `bytes` bytes that they point to. */
static inline void stream_gather(struct stream *stream, unsigned int md, unsigned int ms1, const uint64_t *addresses,
				 unsigned int rows, unsigned int bytes)
{
	stream_shape(stream, rows, ADDRESS_BYTES);
	stream_load(stream, ms1, addresses, ADDRESS_BYTES);
	stream_shape(stream, rows, bytes);
	if (!stream->error)
		stream->error = dare_mgather(stream->dare, md, ms1);
}

static inline void stream_scatter(struct stream *stream, unsigned int ms2, unsigned int ms1)
{
	if (!stream->error)
		stream->error = dare_mscatter(stream->dare, ms2, ms1);
}

/* md[rows][columns] += ms1[rows][bytes] * ms2[columns][bytes] */
static inline void stream_multiply(struct stream *stream, unsigned int md, unsigned int ms1, unsigned int ms2,
				   unsigned int rows, unsigned int bytes, unsigned int columns)
{
	stream_shape(stream, rows, bytes);
	stream_csr(stream, DARE_CSR_MATRIX_N, &stream->n, columns);
	if (!stream->error)
		stream->error = dare_mma(stream->dare, md, ms1, ms2);
}

/* Waits until all is complete. Returns the first error. */
static inline int stream_finish(struct stream *stream)
{
	int error = dare_fence(stream->dare);

	return stream->error ? stream->error : error;
}

#endif
