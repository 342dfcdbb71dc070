/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libdare's sparse kernels: sparse matrix times dense matrix (SpMM) and sampled
 * product of two dense matrices (SDDMM). Included by dare.h.
 *
 * Both cut the sparse matrix into blocks of B x B elements, B = 1, 2, 4, 8 or 16,
 * of which those that hold an element are stored and computed densely. Both have
 * two forms. The baseline loads and stores tiles of evenly spaced rows, as
 * mld and mst want them. The densified form (GSA, section III-B of the paper) packs
 * up to 16 rows of a block column into one tile, by mgather and mscatter.
 *
 * Threads. One thread at a time may use a context. Any number of threads may use the
 * same blocks, which no function changes.
 */
#ifndef DARE_SPARSE_H
#define DARE_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct dare;

enum dare_layout {
	DARE_CSR,	/* start[] has rows + 1 entries, index[] holds columns */
	DARE_CSC,	/* start[] has columns + 1 entries, index[] holds rows */
};

/*
 * Where the elements of a sparse matrix are. Line i, which is a row or a column, has
 * the elements start[i] to start[i + 1] - 1; start[0] is 0. In a line indices may come
 * in any order, but none twice.
 */
struct dare_sparse {
	enum dare_layout layout;
	size_t rows;
	size_t columns;
	const uint64_t *start;
	const uint32_t *index;
};

enum dare_form {
	DARE_AUTO,	/* the profile's form; else GSA for B < 8 (SpMM) and B < 4 (SDDMM), as in the paper */
	DARE_BASELINE,
	DARE_GSA,
};

#define DARE_BLOCK_MAX 16
#define DARE_FILL_CLASSES 16

struct dare_block_statistics {
	unsigned int block;		/* B */
	uint64_t nonzeros;
	uint64_t blocks;		/* that hold an element */
	uint64_t block_rows;		/* blocks from top to bottom, empty ones too */
	uint64_t block_columns;
	double fill;			/* nonzeros / (blocks * B * B); 0 without blocks */
	uint64_t histogram[DARE_FILL_CLASSES];	/* [i]: blocks that are filled to over i/16, up to (i + 1)/16 */
	uint64_t runs;			/* tiles of evenly spaced rows, which the baseline computes */
	uint64_t groups;		/* tiles of up to 16 rows of a block column, which GSA computes */
};

/* A sparse matrix cut into blocks. Holds no values, and nothing of the caller's. */
struct dare_blocks;

/**
 * dare_blockify() - cuts a sparse matrix into blocks
 * @blocks: where the blocks go; dare_blocks_free() frees them
 * @matrix: where the matrix has elements
 * @block: rows and columns of a block: 1, 2, 4, 8 or 16
 *
 * Blocks lie on a grid that begins at row 0, column 0. Those at the lower and right
 * edge may be cut off. The kernels take the result for any number of products with
 * matrices of this structure.
 *
 * Returns 0, or
 * -EINVAL: no such block size or layout, start[] does not begin at 0 or decreases, an
 *          index is out of range or in its line twice, or an argument is NULL
 * -ENOMEM: out of memory
 *
 * See also: dare_blocks_free(), dare_blocks_statistics(), dare_spmm(), dare_sddmm().
 */
int dare_blockify(struct dare_blocks **blocks, const struct dare_sparse *matrix, unsigned int block);

/**
 * dare_blocks_free() - frees the blocks that dare_blockify() made
 * @blocks: the blocks, or NULL
 *
 * Threads. No other thread may use the blocks.
 */
void dare_blocks_free(struct dare_blocks *blocks);

/**
 * dare_profile_read() - takes the choice between the two forms from a profile
 * @dare: the handle
 * @path: the file
 *
 * The paper chooses the faster form by kernel and B, by profiling. A profile is the file
 * that `mimic sim --profile` writes of a program that has run products in both forms. From
 * then on DARE_AUTO is, on this handle, the form that the profile names for the kernel and
 * B of the product; where it names none DARE_AUTO is as without a profile. An earlier profile
 * of the handle is dropped. dare_open() reads the profile that the environment
 * variable MIMIC_DARE_PROFILE names, and fails if it cannot.
 *
 * The first line of the file is "mimic-profile 1". Each further line has a kernel, spmm or
 * sddmm, a block size and a form, baseline or gsa; text after a # is a comment.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or a line is not so: dare_error_text() names the file and
 *          the line. The handle keeps the profile that it had
 * -ENOENT and others: as open() and read() of the file
 *
 * See also: dare_spmm(), dare_sddmm(), mimic-sim(1).
 */
int dare_profile_read(struct dare *dare, const char *path);

/**
 * dare_blocks_statistics() - tells how full the blocks are and how many tiles they take
 * @blocks: the blocks
 * @statistics: where the numbers go
 *
 * A run is a tile that the baseline loads by one mld: up to 16 rows of one block column with
 * equal distances. Runs are taken from top to bottom, each as long as it can be; two
 * rows are always a run. A group is a tile that GSA loads by one mgather: the next blocks of
 * a block column, up to 16 rows.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL
 *
 * See also: dare_blockify(), dare_spmm(), dare_sddmm(), dare_counters().
 */
int dare_blocks_statistics(const struct dare_blocks *blocks,
			   struct dare_block_statistics *statistics);

/**
 * dare_spmm() - multiplies a sparse matrix S by a dense one, C = S x D
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[]; NULL: all 1
 * @columns: of D and C
 * @d: D, row by row; as many rows as S has columns
 * @ldd: elements from a row of D to the next
 * @c: C, row by row; as many rows as S has; must not overlap D
 * @ldc: elements from a row of C to the next
 *
 * An outer product: for each block column of S and each 16 columns of D, the rows of
 * C that the blocks touch are loaded, added to, and stored.
 *
 * Each element of C is one chain of sums: it starts from 0, and for each element of
 * the row of S in ascending order of columns the product, rounded, is added, and
 * the sum is rounded (to nearest even, nothing fused). Where a block has no element it
 * adds a product by 0. So the result is that of the plain loop bit for bit, in both
 * forms and for all B, as long as D is finite; only the sign of a 0 may differ. The
 * payload of a NaN is not defined.
 *
 * D and C are worked on where they lie (faster in memory of dare_alloc()), except
 * that D is copied for B > 1. Takes memory for the blocks' elements, and 256 KiB and a
 * thread for the addresses (GSA). Uses all registers; afterwards the CSRs are 16, 64 and
 * 16. Waits for earlier instructions. If the call fails the contents of C are undefined.
 *
 * Returns 0, or
 * -EINVAL: no such form, an argument is NULL or misaligned, a row is longer than its
 *          leading dimension, a matrix is larger than memory; or as dare_fence()
 * -EFAULT: memory that the device cannot reach; or as dare_fence()
 * -EILSEQ, -ENXIO: as dare_fence(), of an instruction dispatched before
 * -ENOMEM: out of memory
 * -EAGAIN: no thread could be started
 *
 * See also: dare_blockify(), dare_sddmm().
 */
int dare_spmm(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
	      const float *value, size_t columns, const float *d, size_t ldd, float *c,
	      size_t ldc);

/**
 * dare_spmm_bf16() - multiplies a sparse matrix S by a dense one, of bf16
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[], bf16; NULL: all 1
 * @columns: of D and C
 * @d: D, row by row, bf16; as many rows as S has columns
 * @ldd: elements from a row of D to the next
 * @c: C, row by row, fp32; as many rows as S has; must not overlap D
 * @ldc: elements from a row of C to the next
 *
 * As dare_spmm(). Elements of S and D are converted to fp32, which is exact.
 *
 * Returns 0, or the errors of dare_spmm().
 *
 * See also: dare_spmm_i8(), dare_blockify(), dare_bf16().
 */
int dare_spmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		   const uint16_t *value, size_t columns, const uint16_t *d, size_t ldd, float *c,
		   size_t ldc);

/**
 * dare_spmm_i8() - multiplies a sparse matrix S by a dense one, of signed bytes
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[]; NULL: all 1
 * @columns: of D and C
 * @d: D, row by row; as many rows as S has columns
 * @ldd: elements from a row of D to the next
 * @c: C, row by row, int32; as many rows as S has; must not overlap D
 * @ldc: elements from a row of C to the next
 *
 * As dare_spmm(). Sums have 32 bits and wrap.
 *
 * Returns 0, or the errors of dare_spmm().
 *
 * See also: dare_spmm_bf16(), dare_blockify().
 */
int dare_spmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		 const int8_t *value, size_t columns, const int8_t *d, size_t ldd, int32_t *c,
		 size_t ldc);

/**
 * dare_sddmm() - multiplies two dense matrices where a sparse one S has elements
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[]; NULL: all 1
 * @inner: columns of A and B
 * @a: A, row by row; as many rows as S has
 * @lda: elements from a row of A to the next
 * @b: B, row by row; as many rows as S has columns
 * @ldb: elements from a row of B to the next
 * @p: results, one for each element of S, in the order of its index[]
 *
 * P = S .* (A x transposed B): for the element of S in row i and column j, its value
 * times the inner product of row i of A and row j of B.
 *
 * An inner product is one chain of sums from 0, in ascending order, rounded as by
 * dare_spmm(); then it is multiplied by the value, on the host. So the result is that
 * of the plain loop bit for bit, in both forms and for all B. All products of a block are
 * computed, also those where S has no element.
 *
 * A and B are worked on where they lie (faster in memory of dare_alloc()). Takes
 * memory for the blocks' elements, and 256 KiB and a thread for the addresses (GSA).
 * Uses all registers; afterwards the CSRs are 16, 64 and 16. Waits for earlier
 * instructions. If the call fails the contents of p are undefined.
 *
 * Returns 0, or
 * -EINVAL: no such form, an argument is NULL or misaligned, a row is longer than its
 *          leading dimension, a matrix is larger than memory; or as dare_fence()
 * -EFAULT: memory that the device cannot reach; or as dare_fence()
 * -EILSEQ, -ENXIO: as dare_fence(), of an instruction dispatched before
 * -ENOMEM: out of memory
 * -EAGAIN: no thread could be started
 *
 * See also: dare_blockify().
 */
int dare_sddmm(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
	       const float *value, size_t inner, const float *a, size_t lda, const float *b,
	       size_t ldb, float *p);

/**
 * dare_sddmm_bf16() - multiplies two dense matrices of bf16 where S has elements
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[], fp32; NULL: all 1
 * @inner: columns of A and B
 * @a: A, row by row, bf16; as many rows as S has
 * @lda: elements from a row of A to the next
 * @b: B, row by row, bf16; as many rows as S has columns
 * @ldb: elements from a row of B to the next
 * @p: results, fp32, one for each element of S, in the order of its index[]
 *
 * As dare_sddmm(). Elements of A and B are converted to fp32, which is exact.
 *
 * Returns 0, or the errors of dare_sddmm().
 *
 * See also: dare_sddmm_i8(), dare_blockify(), dare_bf16().
 */
int dare_sddmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		    const float *value, size_t inner, const uint16_t *a, size_t lda,
		    const uint16_t *b, size_t ldb, float *p);

/**
 * dare_sddmm_i8() - multiplies two dense matrices of signed bytes where S has elements
 * @dare: the handle
 * @form: how
 * @blocks: S, cut into blocks
 * @value: elements of S in the order of its index[], int32; NULL: all 1
 * @inner: columns of A and B
 * @a: A, row by row; as many rows as S has
 * @lda: elements from a row of A to the next
 * @b: B, row by row; as many rows as S has columns
 * @ldb: elements from a row of B to the next
 * @p: results, int32, one for each element of S, in the order of its index[]
 *
 * As dare_sddmm(). Sums and products have 32 bits and wrap.
 *
 * Returns 0, or the errors of dare_sddmm().
 *
 * See also: dare_sddmm_bf16(), dare_blockify().
 */
int dare_sddmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		  const int32_t *value, size_t inner, const int8_t *a, size_t lda, const int8_t *b,
		  size_t ldb, int32_t *p);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
