/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense products. While the device multiplies one block, the next operands are
 * packed: operands and sums have two places each, and the device works on one
 * block at a time, so that one place of the two is always free.
 */
#include <string.h>

#include "gemm.h"

#define BLOCK_ROWS (DARE_BLOCK_TILES_M * DARE_ROWS)
#define BLOCK_COLUMNS (DARE_BLOCK_TILES_N * DARE_ROWS)
#define BLOCK_BYTES (DARE_BLOCK_CHUNKS * DARE_ROW_BYTES)

/* 2 x 2 tiles of sums, two of each operand: one load for each multiplication. */
#define SUMS(i, j) (2 * (i) + (j))
#define SOURCE_A(i) (4 + (i))
#define SOURCE_B(j) (6 + (j))
/* Values of one step in k at its longest: four loads, four mma, and a CSR before each of them, and two for mma. */
#define STEP_VALUES (4 * 3 + 4 * 1 + 4 * 6 + 4 * 6)

/* Where a part of an operand lies as tiles. */
struct place {
	char *tiles;
	bool is_filled;
	size_t row, column;
};

struct block {
	struct dare_part a, b, c;	/* c.rows is a.rows, c.columns is b.rows */
	char *a_tiles, *b_tiles, *c_tiles;
	bool is_first, is_last;		/* in k */
};

struct gemm {
	struct dare *dare;
	struct dare_operand a, b;
	char *c;
	size_t ldc;
	size_t m, n, k;
	unsigned int element;
	bool adds;

	char *zero;			/* a tile of zeros */
	struct place a_places[2], b_places[2];
	char *c_places[2];
	unsigned int c_turn;

	uint32_t mcfg, mld[DARE_REGISTERS], mst[4], mma[2][2];
	uint64_t csr[DARE_CSR_COUNT];	/* their values after the instructions so far */
	int error;
};

static void put_csr(struct gemm *gemm, enum dare_csr csr, uint64_t value)
{
	if (gemm->csr[csr] == value)
		return;
	dare_put(gemm->dare, gemm->mcfg);
	dare_put(gemm->dare, csr);
	dare_put(gemm->dare, value);
	gemm->csr[csr] = value;
}

static void put_load(struct gemm *gemm, unsigned int md, const char *tile)
{
	dare_put(gemm->dare, gemm->mld[md]);
	dare_put(gemm->dare, (uintptr_t)tile);
	dare_put(gemm->dare, DARE_ROW_BYTES);
}

/* Up to 2 x 2 tiles of a block. Sizes are those of the matrix: the last ones may be smaller. */
struct quad {
	unsigned int height, width;		/* tiles: 1 or 2 */
	uint64_t rows[2], columns[2];
	const char *a[2], *b[2];		/* chunk 0 */
	char *sums[2][2];
};

static void put_sums(struct gemm *gemm, const struct quad *quad, bool is_store, bool is_zero)
{
	put_csr(gemm, DARE_CSR_MATRIX_K, DARE_ROW_BYTES);
	for (unsigned int i = 0; i < quad->height; i++) {
		put_csr(gemm, DARE_CSR_MATRIX_M, quad->rows[i]);
		for (unsigned int j = 0; j < quad->width; j++) {
			if (!is_store) {
				put_load(gemm, SUMS(i, j), is_zero ? gemm->zero : quad->sums[i][j]);
				continue;
			}
			dare_put(gemm->dare, gemm->mst[SUMS(i, j)]);
			dare_put(gemm->dare, (uintptr_t)quad->sums[i][j]);
			dare_put(gemm->dare, DARE_ROW_BYTES);
		}
	}
}

static void put_step(struct gemm *gemm, const struct quad *quad, size_t chunk, uint64_t bytes)
{
	const size_t at = chunk * DARE_REGISTER_BYTES;

	put_csr(gemm, DARE_CSR_MATRIX_K, bytes);
	for (unsigned int j = 0; j < quad->width; j++) {
		put_csr(gemm, DARE_CSR_MATRIX_M, quad->columns[j]);
		put_load(gemm, SOURCE_B(j), quad->b[j] + at);
	}
	for (unsigned int i = 0; i < quad->height; i++) {
		put_csr(gemm, DARE_CSR_MATRIX_M, quad->rows[i]);
		put_load(gemm, SOURCE_A(i), quad->a[i] + at);
		for (unsigned int j = 0; j < quad->width; j++) {
			put_csr(gemm, DARE_CSR_MATRIX_N, quad->columns[j]);
			dare_put(gemm->dare, gemm->mma[i][j]);
		}
	}
}

static void multiply_quad(struct gemm *gemm, const struct block *block, const struct quad *quad)
{
	const size_t bytes = block->a.columns * gemm->element;
	const size_t chunks = dare_pieces(bytes, DARE_ROW_BYTES);
	int error = dare_make_room(gemm->dare, STEP_VALUES);

	put_sums(gemm, quad, false, block->is_first && !gemm->adds);
	for (size_t chunk = 0; chunk < chunks && !error; chunk++) {
		error = dare_make_room(gemm->dare, STEP_VALUES);
		put_step(gemm, quad, chunk,
			 dare_smaller(bytes - chunk * DARE_ROW_BYTES, DARE_ROW_BYTES));
	}
	if (!error)
		error = dare_make_room(gemm->dare, STEP_VALUES);
	put_sums(gemm, quad, true, false);
	if (error)
		gemm->error = error;
}

static void set_quad(const struct block *block, struct quad *quad, size_t chunks, size_t row,
		     size_t column)
{
	const size_t width = dare_pieces(block->b.rows, DARE_ROWS);

	memset(quad, 0, sizeof(*quad));
	for (size_t i = 0; i < 2 && row + i * DARE_ROWS < block->a.rows; i++) {
		size_t tile = row / DARE_ROWS + i;

		quad->rows[i] = dare_smaller(block->a.rows - tile * DARE_ROWS, DARE_ROWS);
		quad->a[i] = dare_packed_tile(block->a_tiles, chunks, tile);
		quad->height++;
		for (size_t j = 0; j < 2; j++)
			quad->sums[i][j] = block->c_tiles + (tile * width + column / DARE_ROWS + j) *
								    DARE_REGISTER_BYTES;
	}
	for (size_t j = 0; j < 2 && column + j * DARE_ROWS < block->b.rows; j++) {
		size_t tile = column / DARE_ROWS + j;

		quad->columns[j] = dare_smaller(block->b.rows - tile * DARE_ROWS, DARE_ROWS);
		quad->b[j] = dare_packed_tile(block->b_tiles, chunks, tile);
		quad->width++;
	}
}

static void multiply_block(struct gemm *gemm, const struct block *block)
{
	const size_t chunks = dare_pieces(block->a.columns * gemm->element, DARE_ROW_BYTES);
	struct quad quad;

	for (size_t column = 0; column < block->b.rows; column += 2 * DARE_ROWS) {
		for (size_t row = 0; row < block->a.rows && !gemm->error; row += 2 * DARE_ROWS) {
			set_quad(block, &quad, chunks, row, column);
			multiply_quad(gemm, block, &quad);
		}
	}
}

/* The part of the operand as tiles; in the place that the device does not work on, `busy`, or that has it. */
static char *find_tiles(struct place places[2], const char *busy, const struct dare_operand *operand,
			const struct dare_part *part)
{
	struct place *place = &places[places[0].tiles == busy];

	for (int i = 0; i < 2; i++) {
		if (places[i].is_filled && places[i].row == part->row &&
		    places[i].column == part->column)
			return places[i].tiles;
	}
	dare_pack(place->tiles, operand, part);
	place->is_filled = true;
	place->row = part->row;
	place->column = part->column;
	return place->tiles;
}

/* Packs `next` while the device works on `current`; then lets it work on that, and unpacks complete tiles. */
static void advance(struct gemm *gemm, struct block *current, struct block *next)
{
	next->a_tiles = find_tiles(gemm->a_places, current->a_tiles, &gemm->a, &next->a);
	next->b_tiles = find_tiles(gemm->b_places, current->b_tiles, &gemm->b, &next->b);
	if (next->is_first)
		gemm->c_turn ^= 1;
	next->c_tiles = gemm->c_places[gemm->c_turn];
	if (next->is_first && gemm->adds)
		dare_pack_sums(next->c_tiles, gemm->c, gemm->ldc, &next->c);
	gemm->error = dare_fence(gemm->dare);
	if (gemm->error)
		return;
	multiply_block(gemm, next);
	if (!gemm->error)
		gemm->error = dare_flush(gemm->dare);
	if (current->is_last)
		dare_unpack_sums(current->c_tiles, gemm->c, gemm->ldc, &current->c);
	*current = *next;
}

static void set_block(const struct gemm *gemm, struct block *block, size_t row, size_t column,
		      size_t at)
{
	size_t rows = dare_smaller(gemm->m - row, BLOCK_ROWS);
	size_t columns = dare_smaller(gemm->n - column, BLOCK_COLUMNS);
	size_t depth = dare_smaller(gemm->k - at, BLOCK_BYTES / gemm->element);

	*block = (struct block){
		.a = { row, at, rows, depth },
		.b = { column, at, columns, depth },
		.c = { row, column, rows, columns },
		.is_first = at == 0,
		.is_last = at + depth == gemm->k,
	};
}

/* B's part of a block stays for all rows: to pack it takes longest, if it is stored as k rows. */
static void multiply_matrices(struct gemm *gemm)
{
	struct block current = { .is_last = false }, next;

	for (size_t column = 0; column < gemm->n; column += BLOCK_COLUMNS) {
		for (size_t row = 0; row < gemm->m; row += BLOCK_ROWS) {
			for (size_t at = 0; at < gemm->k; at += BLOCK_BYTES / gemm->element) {
				set_block(gemm, &next, row, column, at);
				advance(gemm, &current, &next);
				if (gemm->error)
					return;
			}
		}
	}
	gemm->error = dare_fence(gemm->dare);
	if (!gemm->error)
		dare_unpack_sums(current.c_tiles, gemm->c, gemm->ldc, &current.c);
}

static int divide_workspace(struct gemm *gemm)
{
	const size_t height = dare_smaller(dare_pieces(gemm->m, DARE_ROWS), DARE_BLOCK_TILES_M);
	const size_t width = dare_smaller(dare_pieces(gemm->n, DARE_ROWS), DARE_BLOCK_TILES_N);
	const size_t chunks = dare_smaller(dare_pieces(gemm->k, DARE_ROW_BYTES / gemm->element),
					   DARE_BLOCK_CHUNKS);
	const size_t tiles = 1 + 2 * (height * chunks + width * chunks + height * width);
	char *workspace = dare_workspace(gemm->dare, tiles * DARE_REGISTER_BYTES);

	if (!workspace)
		return dare_fail(-ENOMEM, "dare_gemm: no memory for the tiles");
	gemm->zero = memset(workspace, 0, DARE_REGISTER_BYTES);
	workspace += DARE_REGISTER_BYTES;
	for (int i = 0; i < 2; i++) {
		gemm->a_places[i].tiles = workspace;
		workspace += height * chunks * DARE_REGISTER_BYTES;
		gemm->b_places[i].tiles = workspace;
		workspace += width * chunks * DARE_REGISTER_BYTES;
		gemm->c_places[i] = workspace;
		workspace += height * width * DARE_REGISTER_BYTES;
	}
	return 0;
}

static uint32_t word_of(enum dare_operation operation, unsigned int md, unsigned int ms1,
			unsigned int ms2)
{
	const struct dare_fields fields = { .operation = operation, .md = md, .ms1 = ms1,
					    .ms2 = ms2 };
	uint32_t word = 0;

	dare_encode(&fields, &word);
	return word;
}

static void encode_words(struct gemm *gemm)
{
	static const enum dare_operation mld[] = { [1] = DARE_MLD_B, [2] = DARE_MLD_H, [4] = DARE_MLD };
	static const enum dare_operation mma[] = { [1] = DARE_MMA_I8, [2] = DARE_MMA_BF16,
						   [4] = DARE_MMA };

	gemm->mcfg = word_of(DARE_MCFG, 0, 0, 0);
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		gemm->mld[i] = word_of(i < 4 ? DARE_MLD : mld[gemm->element], i, 0, 0);
	for (unsigned int i = 0; i < 4; i++)
		gemm->mst[i] = word_of(DARE_MST, 0, 0, i);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < 2; j++)
			gemm->mma[i][j] = word_of(mma[gemm->element], SUMS(i, j), SOURCE_A(i),
						  SOURCE_B(j));
	}
}

/* The CSRs as after reset; the caller may have left them otherwise, and they are never 0. */
static int restore_shape(struct gemm *gemm)
{
	int error = dare_make_room(gemm->dare, STEP_VALUES);

	if (error)
		return error;
	put_csr(gemm, DARE_CSR_MATRIX_M, DARE_ROWS);
	put_csr(gemm, DARE_CSR_MATRIX_K, DARE_ROW_BYTES);
	put_csr(gemm, DARE_CSR_MATRIX_N, DARE_ROWS);
	return 0;
}

static void clear_sums(struct gemm *gemm)
{
	for (size_t row = 0; row < gemm->m && !gemm->adds; row++)
		memset(gemm->c + row * gemm->ldc * 4, 0, gemm->n * 4);
}

static int run(struct gemm *gemm)
{
	int error = dare_fence(gemm->dare);

	if (error || gemm->m == 0 || gemm->n == 0)
		return error;
	if (gemm->k == 0) {
		clear_sums(gemm);
		return 0;
	}
	error = divide_workspace(gemm);
	if (error)
		return error;
	encode_words(gemm);
	error = restore_shape(gemm);
	if (error)
		return error;
	multiply_matrices(gemm);
	if (gemm->error)
		return gemm->error;
	error = restore_shape(gemm);
	return error ? error : dare_fence(gemm->dare);
}

/* A matrix as it is stored: is there one, and does it end within memory? */
static int check_matrix(const char *name, const void *elements, size_t rows, size_t columns,
			size_t leading, size_t element)
{
	size_t size;

	if (rows == 0 || columns == 0)
		return 0;
	if (!elements)
		return dare_fail(-EINVAL, "%s is NULL", name);
	if (leading < columns)
		return dare_fail(-EINVAL, "%s: a row has %zu elements, the leading dimension is %zu",
				 name, columns, leading);
	if (__builtin_mul_overflow(rows, leading, &size) ||
	    __builtin_mul_overflow(size, element, &size) || size > PTRDIFF_MAX)
		return dare_fail(-EINVAL, "%s: %zu rows of %zu elements are more than memory", name,
				 rows, leading);
	if ((uintptr_t)elements % element != 0)
		return dare_fail(-EINVAL, "%s: %p is no multiple of the element's %zu bytes", name,
				 elements, element);
	return 0;
}

static int check(const struct gemm *gemm, unsigned int flags)
{
	int error;

	if (!gemm->dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	if (flags & ~(unsigned int)(DARE_TRANSPOSE_A | DARE_TRANSPOSE_B | DARE_ADD))
		return dare_fail(-EINVAL, "flags 0x%x: not of enum dare_gemm_flags", flags);
	if (gemm->m == 0 || gemm->n == 0)
		return 0;
	error = flags & DARE_TRANSPOSE_A
			? check_matrix("A", gemm->a.elements, gemm->k, gemm->m, gemm->a.leading,
				       gemm->element)
			: check_matrix("A", gemm->a.elements, gemm->m, gemm->k, gemm->a.leading,
				       gemm->element);
	if (error)
		return error;
	error = flags & DARE_TRANSPOSE_B
			? check_matrix("B", gemm->b.elements, gemm->n, gemm->k, gemm->b.leading,
				       gemm->element)
			: check_matrix("B", gemm->b.elements, gemm->k, gemm->n, gemm->b.leading,
				       gemm->element);
	return error ? error : check_matrix("C", gemm->c, gemm->m, gemm->n, gemm->ldc, 4);
}

static int multiply(struct dare *dare, unsigned int flags, unsigned int element, size_t m, size_t n,
		    size_t k, const void *a, size_t lda, const void *b, size_t ldb, void *c,
		    size_t ldc)
{
	struct gemm gemm = {
		.dare = dare,
		.a = { a, lda, element, (flags & DARE_TRANSPOSE_A) != 0 },
		.b = { b, ldb, element, (flags & DARE_TRANSPOSE_B) == 0 },
		.c = c,
		.ldc = ldc,
		.m = m,
		.n = n,
		.k = k,
		.element = element,
		.adds = (flags & DARE_ADD) != 0,
	};
	int error = check(&gemm, flags);

	return error ? error : run(&gemm);
}

int dare_gemm(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k, const float *a,
	      size_t lda, const float *b, size_t ldb, float *c, size_t ldc)
{
	return multiply(dare, flags, 4, m, n, k, a, lda, b, ldb, c, ldc);
}

int dare_gemm_bf16(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k,
		   const uint16_t *a, size_t lda, const uint16_t *b, size_t ldb, float *c,
		   size_t ldc)
{
	return multiply(dare, flags, 2, m, n, k, a, lda, b, ldb, c, ldc);
}

int dare_gemm_i8(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k,
		 const int8_t *a, size_t lda, const int8_t *b, size_t ldb, int32_t *c, size_t ldc)
{
	return multiply(dare, flags, 1, m, n, k, a, lda, b, ldb, c, ldc);
}
