/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_WS and its configuration: the operations on tiles. */
#include <string.h>

#include "internal.h"

#define BLOCKS_MAX 0xffffu
#define TRANSPOSES (VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B)

/* --- one loop ----------------------------------------------------------------------------- */

static size_t size_of_results(const struct virgo_unit *unit, unsigned int flags)
{
	return flags & VIRGO_NARROW ? unit->info.element_size : 4;
}

static int put_bounds(struct virgo_unit *unit, const struct virgo_loop *loop)
{
	const uint64_t dim = unit->info.dim;
	const uint64_t i = virgo_blocks(unit, loop->m), j = virgo_blocks(unit, loop->n);
	const uint64_t k = virgo_blocks(unit, loop->k);

	return virgo_set(unit, VIRGO_SETTING_BOUNDS, VIRGO_FUNCT_LOOP_WS_BOUNDS,
			 (k * dim - loop->k) << 32 | (j * dim - loop->n) << 16 | (i * dim - loop->m),
			 k << 32 | j << 16 | i);
}

static int put_loads(struct virgo_unit *unit, const struct virgo_loop *loop)
{
	const size_t size = unit->info.element_size;
	int error = 0;

	if (loop->a)
		error = virgo_set_load(unit, 0, loop->lda * size, 1, false);
	if (loop->b && !error)
		error = virgo_set_load(unit, 1, loop->ldb * size, 1, false);
	if (!error)
		error = virgo_set(unit, VIRGO_SETTING_STRIDES_AB, VIRGO_FUNCT_LOOP_WS_STRIDES_AB,
				  loop->lda, loop->ldb);
	if (!error)
		error = virgo_set(unit, VIRGO_SETTING_ADDRESSES_AB, VIRGO_FUNCT_LOOP_WS_ADDRS_AB,
				  (uintptr_t)loop->a, (uintptr_t)loop->b);
	return error;
}

static int put_sums(struct virgo_unit *unit, const struct virgo_loop *loop)
{
	int error = 0;

	if (loop->d)
		error = virgo_set_load(unit, 2, loop->ldd * 4, 1, false);
	if (!error && (loop->c || loop->is_stored_shared))
		error = virgo_set_store(unit, loop->ldc * size_of_results(unit, loop->flags),
					loop->activation, loop->scale);
	if (!error)
		error = virgo_set(unit, VIRGO_SETTING_STRIDES_DC, VIRGO_FUNCT_LOOP_WS_STRIDES_DC,
				  loop->ldd, loop->ldc);
	if (!error)
		error = virgo_set(unit, VIRGO_SETTING_ADDRESSES_DC, VIRGO_FUNCT_LOOP_WS_ADDRS_DC,
				  (uintptr_t)loop->d, (uintptr_t)loop->c);
	return error;
}

static int put_places(struct virgo_unit *unit, const struct virgo_loop *loop)
{
	int error = 0;

	if (loop->a || loop->b || loop->is_multiplied)
		error = virgo_set(unit, VIRGO_SETTING_PLACES, VIRGO_FUNCT_LOOP_WS_SPAD_AB, loop->a_row,
				  loop->b_end);
	/* LOOP_WS names row 0 by naming none, and this one holds then. */
	if (!error && loop->is_stored_shared)
		error = virgo_set(unit, VIRGO_SETTING_PLACE_C, VIRGO_FUNCT_LOOP_WS_SPAD_C, loop->c_row, 0);
	return error;
}

int virgo_put_loop(struct virgo_unit *unit, const struct virgo_loop *loop)
{
	const bool is_stored = loop->c || loop->is_stored_shared;
	const bool is_full = !(loop->flags & VIRGO_NARROW) && unit->info.element_size != 4;
	uint64_t rs1 = (loop->flags & VIRGO_ADD || loop->d ? VIRGO_LOOP_ACCUMULATE : 0) |
		       (is_full ? VIRGO_LOOP_FULL_C : 0);
	uint64_t rs2 = (loop->flags & VIRGO_TRANSPOSE_A ? VIRGO_LOOP_A_TRANSPOSED : 0) |
		       (loop->flags & VIRGO_TRANSPOSE_B ? VIRGO_LOOP_B_TRANSPOSED : 0) |
		       (loop->a ? 0 : VIRGO_LOOP_SKIP_A) | (loop->b ? 0 : VIRGO_LOOP_SKIP_B) |
		       (loop->d ? 0 : VIRGO_LOOP_SKIP_D) |
		       (loop->is_multiplied ? 0 : VIRGO_LOOP_SKIP_EXECUTE) |
		       (is_stored ? 0 : VIRGO_LOOP_SKIP_C) |
		       (loop->is_stored_shared ? VIRGO_LOOP_SPAD_ONLY |
			(uint64_t)loop->c_row << VIRGO_LOOP_C_ROW_SHIFT : 0);
	int error = put_bounds(unit, loop);

	if (!error && (loop->a || loop->b))
		error = put_loads(unit, loop);
	if (!error && (loop->d || is_stored))
		error = put_sums(unit, loop);
	if (!error)
		error = put_places(unit, loop);
	if (!error && loop->is_multiplied)
		error = virgo_set_array(unit, VIRGO_WEIGHT_STATIONARY, loop->flags);
	return error ? error : virgo_put(unit, VIRGO_FUNCT_LOOP_WS, rs1, rs2);
}

/* --- checks of a tile ----------------------------------------------------------------------- */

size_t virgo_tile_rows(const struct virgo *virgo, unsigned int number, size_t rows, size_t columns)
{
	const struct virgo_unit *unit;
	size_t blocks, result;

	if (virgo_find_any(virgo, number, &unit))
		return 0;
	if (__builtin_mul_overflow(virgo_blocks(unit, rows), virgo_blocks(unit, columns), &blocks) ||
	    __builtin_mul_overflow(blocks, unit->info.dim, &result))
		return SIZE_MAX;
	return result;
}

void *virgo_tile_element(const struct virgo *virgo, unsigned int number, uint32_t local,
			 size_t columns, size_t row, size_t column)
{
	const struct virgo_unit *unit;
	size_t dim, at;

	if (virgo_find_any(virgo, number, &unit))
		return NULL;
	dim = unit->info.dim;
	if (local >= unit->info.rows || row >= dim * unit->info.rows || column >= columns ||
	    columns > dim * unit->info.rows) {
		virgo_fail(-EINVAL, "virgo_tile_element: row %zu, column %zu from row %u on: outside", row,
			   column, local);
		return NULL;
	}
	at = local + (row / dim * virgo_blocks(unit, columns) + column / dim) * dim + row % dim;
	if (at >= unit->info.rows) {
		virgo_fail(-EINVAL, "virgo_tile_element: row %zu, column %zu lies in row %zu of %u", row,
			   column, at, unit->info.rows);
		return NULL;
	}
	return virgo->shared + at * unit->info.row_bytes + column % dim * unit->info.element_size;
}

static int find_tile(struct virgo *virgo, unsigned int number, const struct virgo_tile *tile,
		     struct virgo_unit **unit)
{
	int error = virgo_find(virgo, number, unit);

	if (error)
		return error;
	if (!tile)
		return virgo_fail(-EINVAL, "the tile is NULL");
	if (!tile->m || !tile->n)
		return virgo_fail(-EINVAL, "a tile of %zu x %zu", tile->m, tile->n);
	if (tile->m > BLOCKS_MAX || tile->n > BLOCKS_MAX ||
	    virgo_tile_rows(virgo, number, tile->m, tile->n) > (*unit)->info.accumulator_rows)
		return virgo_fail(-EINVAL, "%zu x %zu sums do not fit into the accumulator: %u x %u", tile->m,
				  tile->n, (*unit)->info.accumulator_rows, (*unit)->info.dim);
	return 0;
}

/* The operands that are used: within shared memory? */
static int check_operands(const struct virgo_unit *unit, const struct virgo_tile *tile, bool a, bool b)
{
	const struct virgo *virgo = unit->virgo;
	const uint32_t rows = unit->info.rows;
	size_t a_rows, b_rows;

	if (!tile->k || virgo_blocks(unit, tile->k) > BLOCKS_MAX)
		return virgo_fail(-EINVAL, "a tile with k = %zu", tile->k);
	a_rows = virgo_tile_rows(virgo, unit->number, tile->m, tile->k);
	b_rows = virgo_tile_rows(virgo, unit->number, tile->k, tile->n);
	if (a && (tile->a_row >= rows || a_rows > rows - tile->a_row))
		return virgo_fail(-EINVAL, "A: %zu rows from row %u on; shared memory has %u", a_rows,
				  tile->a_row, rows);
	if (b && (tile->b_end > rows || b_rows > tile->b_end))
		return virgo_fail(-EINVAL, "B: %zu rows up to row %u; shared memory has %u", b_rows,
				  tile->b_end, rows);
	return 0;
}

static int check_flags(unsigned int flags, unsigned int known)
{
	return flags & ~known ? virgo_fail(-EINVAL, "flags 0x%x are not for this", flags & ~known) : 0;
}

static int check_activation(enum virgo_activation activation)
{
	if (activation != VIRGO_NO_ACTIVATION && activation != VIRGO_RELU)
		return virgo_fail(-EINVAL, "activation %u: not one of none and relu",
				  (unsigned int)activation);
	return 0;
}

static int check_scale(float scale)
{
	uint32_t bits;

	memcpy(&bits, &scale, sizeof(bits));
	return bits == UINT32_MAX ?
		       virgo_fail(-EINVAL, "the scale: this NaN would keep the one that is there") : 0;
}

/* Does a matrix in memory end within memory? */
static int check_leading(const char *name, size_t rows, size_t leading, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(rows, leading, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
	    bytes > PTRDIFF_MAX)
		return virgo_fail(-EINVAL, "%s: %zu rows of %zu elements are more than memory", name, rows,
				  leading);
	return 0;
}

static int check_loads(const struct virgo_unit *unit, unsigned int flags, const struct virgo_tile *tile,
		       size_t lda, size_t ldb)
{
	const size_t size = unit->info.element_size;
	int error = check_leading("A", flags & VIRGO_TRANSPOSE_A ? tile->k : tile->m, lda, size);

	return error ? error : check_leading("B", flags & VIRGO_TRANSPOSE_B ? tile->n : tile->k, ldb, size);
}

/* Of the sums, where there is no k. */
static struct virgo_loop loop_of_sums(const struct virgo_tile *tile, unsigned int flags)
{
	return (struct virgo_loop){
		.flags = flags, .m = tile->m, .n = tile->n, .k = 1, .scale = 1,
	};
}

static struct virgo_loop loop_of(const struct virgo_tile *tile, unsigned int flags)
{
	return (struct virgo_loop){
		.flags = flags, .m = tile->m, .n = tile->n, .k = tile->k,
		.a_row = tile->a_row, .b_end = tile->b_end, .scale = 1,
	};
}

/* --- the operations -------------------------------------------------------------------------- */

int virgo_dma_load(struct virgo *virgo, unsigned int number, unsigned int flags,
		   const struct virgo_tile *tile, const void *a, size_t lda, const void *b, size_t ldb)
{
	struct virgo_unit *unit;
	struct virgo_loop loop;
	int error = find_tile(virgo, number, tile, &unit);

	if (!error)
		error = check_flags(flags, TRANSPOSES);
	if (!error)
		error = check_operands(unit, tile, a, b);
	if (!error)
		error = check_loads(unit, flags, tile, a ? lda : 0, b ? ldb : 0);
	if (error)
		return error;
	if (!a && !b)
		return virgo_fail(-EINVAL, "virgo_dma_load: both matrices are NULL");
	loop = loop_of(tile, flags);
	/* Without an end of B the unit would ignore the begin of A. */
	if (!b && !loop.b_end)
		loop.b_end = unit->info.rows;
	loop.a = a;
	loop.lda = lda;
	loop.b = b;
	loop.ldb = ldb;
	return virgo_put_loop(unit, &loop);
}

int virgo_dma_load_sums(struct virgo *virgo, unsigned int number, const struct virgo_tile *tile,
			const void *d, size_t ldd)
{
	struct virgo_unit *unit;
	struct virgo_loop loop;
	int error = find_tile(virgo, number, tile, &unit);

	if (!error)
		error = check_leading("the sums", tile->m, ldd, 4);
	if (error)
		return error;
	if (!d)
		return virgo_fail(-EINVAL, "virgo_dma_load_sums: the matrix is NULL");
	loop = loop_of_sums(tile, 0);
	loop.d = d;
	loop.ldd = ldd;
	return virgo_put_loop(unit, &loop);
}

int virgo_matmul_tile(struct virgo *virgo, unsigned int number, unsigned int flags,
		      const struct virgo_tile *tile)
{
	struct virgo_unit *unit;
	struct virgo_loop loop;
	int error = find_tile(virgo, number, tile, &unit);

	if (!error)
		error = check_flags(flags, TRANSPOSES | VIRGO_ADD);
	if (!error)
		error = check_operands(unit, tile, true, true);
	if (error)
		return error;
	loop = loop_of(tile, flags);
	loop.is_multiplied = true;
	return virgo_put_loop(unit, &loop);
}

int virgo_dma_store(struct virgo *virgo, unsigned int number, unsigned int flags,
		    const struct virgo_tile *tile, void *c, size_t ldc,
		    enum virgo_activation activation, float scale)
{
	struct virgo_unit *unit;
	struct virgo_loop loop;
	int error = find_tile(virgo, number, tile, &unit);

	if (!error)
		error = check_flags(flags, VIRGO_NARROW);
	if (!error)
		error = check_activation(activation);
	if (!error)
		error = check_scale(scale);
	if (error)
		return error;
	if (!c)
		return virgo_fail(-EINVAL, "virgo_dma_store: the matrix is NULL");
	if (ldc < tile->n && tile->m > 1)
		return virgo_fail(-EINVAL, "virgo_dma_store: a row has %zu elements, the next begins after %zu",
				  tile->n, ldc);
	if (ldc > UINT32_MAX / size_of_results(unit, flags))
		return virgo_fail(-EINVAL, "virgo_dma_store: a row of %zu elements; a stride has 32 bits", ldc);
	if (unit->info.element_size != 4 && !(flags & VIRGO_NARROW) &&
	    (activation != VIRGO_NO_ACTIVATION || scale != 1))
		return virgo_fail(-EINVAL, "virgo_dma_store: sums are stored as they are");
	loop = loop_of_sums(tile, flags);
	loop.c = c;
	loop.ldc = ldc;
	loop.activation = activation;
	loop.scale = scale;
	return virgo_put_loop(unit, &loop);
}

int virgo_store_shared(struct virgo *virgo, unsigned int number, const struct virgo_tile *tile,
		       uint32_t row, enum virgo_activation activation, float scale)
{
	struct virgo_unit *unit;
	struct virgo_loop loop;
	size_t rows;
	int error = find_tile(virgo, number, tile, &unit);

	if (!error)
		error = check_activation(activation);
	if (!error)
		error = check_scale(scale);
	if (error)
		return error;
	rows = virgo_tile_rows(virgo, number, tile->m, tile->n);
	if (row >= unit->info.rows || rows > unit->info.rows - row)
		return virgo_fail(-EINVAL, "C: %zu rows from row %u on; shared memory has %u", rows, row,
				  unit->info.rows);
	loop = loop_of_sums(tile, VIRGO_NARROW);
	loop.is_stored_shared = true;
	loop.c_row = row;
	loop.activation = activation;
	loop.scale = scale;
	return virgo_put_loop(unit, &loop);
}
