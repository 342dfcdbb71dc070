/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Products of matrices of any size (section 4.3). Part of virgo.h.
 *
 *	C = epilogue(A x B), epilogue(A x B + bias) or epilogue(A x B + C)
 *
 *	unit  A, B      bias, sums    C      C with VIRGO_NARROW
 *	int8  int8      int32, wraps  int32  int8: sum x scale, rounded to even, saturated
 *	fp16  binary16  fp32          fp32   binary16: rounded once
 *	fp32  fp32      fp32          fp32   the same
 *
 * Sums of floats. An element of C begins with 0, with its bias, or with its value in C.
 * For each DIM successive k, from k = 0 on, their products are summed up from 0, in
 * ascending order, and that sum is added. Each product and each sum is rounded to the
 * nearest fp32, to even if there are two; nothing is fused. So the result depends on
 * the unit's DIM, and on nothing else: it is the same bits on every machine, for each
 * size of shared memory, however many products run. Products of two binary16 are
 * exact. int8 is exact. The epilogue is that of enum virgo_epilogue, in this order:
 * scale, activation, rounding.
 *
 * Tiles. C is cut into tiles that fill the accumulator. A and B of a tile come in
 * steps of k, each with a LOOP_WS that loads, multiplies, and at last stores, in two
 * halves of the unit's part of the shared memory in turn, as in section 4.3.2. The
 * DMA reads the matrices as they are, transposed or not, and nothing outside of the
 * matrices is read or written. virgo_gemm_sizes() tells the sizes. On the transport
 * daemon, A and B that are not both of virgo_alloc() or virgo_register() are copied part
 * by part, through at most 24 MiB for each unit that the library keeps until
 * virgo_close(); but not if k is so large (32768 for 64 elements of 4 bytes) that a
 * row of tiles does not fit in there.
 *
 * Shared memory. A product that runs alone has all of it that is free. If n run at
 * the same time, on different units, each has 1/2, 1/4 or 1/8 of it, the largest of
 * these that is not more than 1/n. A product that has more gives it up at its next step, or, if its
 * tile is too large for less, when its row of tiles is done. They never overlap.
 * virgo_shared_alloc() keeps parts for the program.
 */
#ifndef VIRGO_GEMM_H
#define VIRGO_GEMM_H

#include "virgo.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum virgo_epilogue {
	VIRGO_EPILOGUE_NONE,
	VIRGO_EPILOGUE_RELU,	/* the larger of x and 0 */
	VIRGO_EPILOGUE_SWISH,	/* x / (1 + exp(-beta x)): by the program's thread, while the unit goes on */
};

/* The matrices of a product. Members that are not needed are 0. */
struct virgo_product {
	enum virgo_type type;	/* of A and B; the unit must have it */
	unsigned int flags;	/* VIRGO_TRANSPOSE_A, VIRGO_TRANSPOSE_B, VIRGO_ADD, VIRGO_NARROW */
	size_t m, n, k;		/* C is m x n, A is m x k, B is k x n; 0, too */
	const void *a;		/* row by row */
	size_t lda;		/* elements from a row of A, as it is stored, to the next */
	const void *b;
	size_t ldb;
	void *c;		/* must not overlap A, B or the bias */
	size_t ldc;
	const void *bias;	/* n sums, added to each row; or NULL. Not with VIRGO_ADD */
	enum virgo_epilogue epilogue;
	float scale;		/* of VIRGO_NARROW and fp32: multiplies the sum; 0 stands for 1 */
	float beta;		/* of swish; 0 stands for 1. Of int32 sums it is finite */
};

/**
 * virgo_gemm() - multiplies two matrices
 * @virgo: the handle
 * @unit: its number
 * @product: the matrices and the epilogue
 *
 * Waits for all commands that the unit was given before, and until C is complete. The unit is
 * configured anew, and its accumulator is overwritten; if VIRGO_LOOP_NEXT_ACCUMULATOR was
 * given to it, it is reset, as by virgo_reset(). A matrix without elements may be NULL. VIRGO_ADD is for a C of sums, and is not to be used with VIRGO_NARROW unless
 * the unit's type is fp32.
 *
 * If the product itself fails, the contents of C are undefined, and the unit can be used again at
 * once; virgo_error_text() tells which command failed, and where. An error that the
 * unit had before stays.
 *
 * Swish is computed in fp64, from the sum before it is rounded to int8 or binary16, and
 * rounded once, to the nearest, in any rounding mode of the thread. fp32 tiles go through
 * shared memory, others through memory of the library's own, at most 256 KB for each
 * unit, which it keeps until virgo_close().
 *
 * Returns 0, or
 * -EINVAL: the product or a matrix is NULL, the unit has another type, an unknown
 *          flag or epilogue, a row is longer than its leading dimension, a matrix is
 *          larger than memory or not aligned to its elements, VIRGO_ADD with a bias or
 *          a narrow C, a scale without VIRGO_NARROW, or a beta that is not finite for
 *          int32 sums
 * -EFAULT: a matrix is in memory that is not there
 * -EINVAL, -EILSEQ, -EOVERFLOW, -EFAULT: as virgo_fence(), of commands given before
 * -ENOSPC: too little of the shared memory is free
 * -ENOMEM: out of memory
 *
 * See also: virgo_gemm_sizes().
 */
int virgo_gemm(struct virgo *virgo, unsigned int unit, const struct virgo_product *product);

/**
 * virgo_gemm_start() - begins to multiply two matrices
 * @virgo: the handle
 * @unit: its number
 * @product: the matrices and the epilogue; the structure is copied
 *
 * As virgo_gemm(), by a thread of the library, one for each unit, which blocks all
 * signals. The unit is that thread's until virgo_gemm_wait(). Start a product on
 * each of several units, then wait for each: they run at the same time.
 *
 * Returns 0, or
 * -EINVAL: as virgo_gemm(), of the product
 * -ENOMEM: out of memory, or no thread
 *
 * See also: virgo_gemm_done().
 */
int virgo_gemm_start(struct virgo *virgo, unsigned int unit, const struct virgo_product *product);

/**
 * virgo_gemm_done() - asks whether a product is over
 * @virgo: the handle
 * @unit: its number
 *
 * Threads. Any thread may call it at any time.
 *
 * Returns 1 (it is, or failed: virgo_gemm_wait() does not wait), 0 (not yet), or
 * -EINVAL: the handle is NULL, no such unit, or nothing was started there
 *
 * See also: virgo_gemm_start().
 */
int virgo_gemm_done(struct virgo *virgo, unsigned int unit);

/**
 * virgo_gemm_wait() - waits until a product is over
 * @virgo: the handle
 * @unit: its number
 *
 * Threads. Any thread may call it, once for each virgo_gemm_start().
 *
 * Returns the result of virgo_gemm(), or
 * -EINVAL: the handle is NULL, no such unit, or nothing was started there
 *
 * See also: virgo_gemm_done().
 */
int virgo_gemm_wait(struct virgo *virgo, unsigned int unit);

/* How a product is cut. */
struct virgo_gemm_sizes {
	size_t m, n;		/* elements of a tile of C */
	size_t k;		/* of a step */
	size_t shared_bytes;	/* of the shared memory */
};

/**
 * virgo_gemm_sizes() - tells how a product would be cut
 * @virgo: the handle
 * @unit: its number
 * @product: the matrices and the epilogue; their addresses are not used
 * @sizes: where they go
 *
 * If it were started now. The last tiles of a matrix, and its last step, may be smaller.
 *
 * Threads. Any thread may call it at any time.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, no such unit, or the unit has another type
 * -ENODEV: the handle belongs to the parent of a fork
 * -ENOSPC: too little of the shared memory is free
 *
 * See also: virgo_gemm(), virgo_shared_alloc().
 */
int virgo_gemm_sizes(struct virgo *virgo, unsigned int unit, const struct virgo_product *product,
		     struct virgo_gemm_sizes *sizes);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
