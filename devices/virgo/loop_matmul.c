/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The multiplication of LOOP_WS: as PRELOAD and COMPUTE for each k, j, i, but the
 * blocks are first laid out as the processor's vectors want them. B becomes panels
 * of as many columns as a vector has lanes, A strips of as many rows as a kernel
 * works on at once. Long sums go in chunks of k, from the first on.
 */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/matmul_scratch.h"

/* What one call works on at most, in multiplications. */
#define CHUNK_MACS (4u << 20)

struct chunk {
	struct virgo_job *job;
	const struct loop_blocks *l;
	const struct virgo_kernels *kernels;
	struct matmul_scratch *scratch;
	uint32_t first;		/* block of k */
	uint32_t count;		/* blocks of k */
	uint32_t depth;		/* count * dim */
	uint32_t columns;	/* of all panels: lanes are a divisor */
};

static struct unit *unit_of(const struct chunk *c)
{
	return c->job->unit;
}

static uint32_t a_block(const struct chunk *c, uint32_t i, uint32_t k)
{
	const struct loop_blocks *l = c->l;

	return l->a + (l->a_by_k ? k * l->i + i : i * l->k + k) * unit_of(c)->dim;
}

static uint32_t b_block(const struct chunk *c, uint32_t k, uint32_t j)
{
	const struct loop_blocks *l = c->l;

	return l->b + (l->b_by_j ? j * l->k + k : k * l->j + j) * unit_of(c)->dim;
}

/* --- panels of B -------------------------------------------------------------------- */

/* The lane of row k (of this chunk) and this column; int8 has two rows in one. */
static union lane *b_lane(const struct chunk *c, uint32_t k, uint32_t column)
{
	uint32_t lanes = c->kernels->lanes;
	size_t panel = (size_t)(column / lanes) * c->depth;

	return c->scratch->b + (panel + k) * lanes + column % lanes;
}

static int16_t *b_pair(const struct chunk *c, uint32_t k, uint32_t column)
{
	uint32_t lanes = c->kernels->lanes;
	size_t panel = (size_t)(column / lanes) * (c->depth / 2);

	return (int16_t *)(c->scratch->b + (panel + k / 2) * lanes + column % lanes);
}

static void b_put(const struct chunk *c, uint32_t k, uint32_t column, union lane value)
{
	if (unit_of(c)->type.is_float)
		*b_lane(c, k, column) = value;
	else
		b_pair(c, k, column)[k & 1] = (int16_t)value.i;
}

static void b_block_transposed(const struct chunk *c, uint32_t row, uint32_t k, uint32_t column)
{
	struct unit *u = unit_of(c);
	union lane lanes[VIRGO_MAX_DIM];

	for (uint32_t j = 0; j < u->dim; j++) {
		elements_widen(u->type, lanes, spad_row(u, row + j), u->dim);
		for (uint32_t d = 0; d < u->dim; d++)
			b_put(c, k + d, column + j, lanes[d]);
	}
}

/* Some columns of a block, all in one panel. */
static void b_columns(const struct chunk *c, const unsigned char *from, uint32_t k, uint32_t column,
		      uint32_t count)
{
	struct unit *u = unit_of(c);

	for (uint32_t d = 0; d < u->dim; d++, from += u->row_bytes) {
		if (u->type.kind == VIRGO_FP32) {
			memcpy(b_lane(c, k + d, column), from, sizeof(float) * count);
		} else if (u->type.kind == VIRGO_FP16) {
			c->kernels->widen_halves(&b_lane(c, k + d, column)->f,
						 (const uint16_t *)from, count);
		} else if (d % 2 == 0) {
			c->kernels->interleave_bytes(b_pair(c, k + d, column), (const int8_t *)from,
						     (const int8_t *)from + u->row_bytes, count);
		}
	}
}

static void pack_b(const struct chunk *c)
{
	struct unit *u = unit_of(c);
	const struct loop_blocks *l = c->l;
	uint32_t piece = lesser(u->dim, c->kernels->lanes);
	uint32_t depth = l->depth - c->first * u->dim;

	for (uint32_t n = 0; n < c->count * l->j; n++) {
		uint32_t k = n / l->j, j = n % l->j, row = b_block(c, c->first + k, j);

		if (c->job->x.execute.b_transposed) {
			b_block_transposed(c, row, k * u->dim, j * u->dim);
			continue;
		}
		for (uint32_t at = 0; at < u->dim; at += piece)
			b_columns(c, spad_row(u, row) + at * u->type.size, k * u->dim,
				  j * u->dim + at, piece);
	}
	for (uint32_t k = 0; k < c->depth; k++) {
		/* What the last block lacks, and the rest of the last panel. */
		for (uint32_t column = k < depth ? l->columns : 0; column < c->columns; column++)
			b_put(c, k, column, (union lane){ .bits = 0 });
	}
}

/* --- strips of A ------------------------------------------------------------------------ */

static void a_block_row(const struct chunk *c, void *to, const unsigned char *from)
{
	struct unit *u = unit_of(c);

	if (u->type.kind == VIRGO_INT8)
		c->kernels->widen_bytes(to, (const int8_t *)from, u->dim);
	else if (u->type.kind == VIRGO_FP16)
		c->kernels->widen_halves(to, (const uint16_t *)from, u->dim);
	else
		memcpy(to, from, sizeof(float) * u->dim);
}

static void a_block_row_transposed(const struct chunk *c, void *to, uint32_t block, uint32_t row)
{
	struct unit *u = unit_of(c);
	union lane lanes[VIRGO_MAX_DIM];

	for (uint32_t d = 0; d < u->dim; d++)
		elements_widen(u->type, &lanes[d],
			       spad_row(u, block + d) + (size_t)row * u->type.size, 1);
	if (u->type.is_float) {
		memcpy(to, lanes, sizeof(float) * u->dim);
		return;
	}
	for (uint32_t d = 0; d < u->dim; d++)
		((int16_t *)to)[d] = (int16_t)lanes[d].i;
}

/* One row, all k of the chunk. */
static void pack_a_row(const struct chunk *c, unsigned char *to, uint32_t row)
{
	struct unit *u = unit_of(c);
	size_t size = u->type.is_float ? sizeof(float) : sizeof(int16_t);
	uint32_t depth = lesser(c->l->depth - c->first * u->dim, c->depth);

	if (row >= c->l->rows) {
		memset(to, 0, size * c->depth);
		return;
	}
	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t block = a_block(c, row / u->dim, c->first + k);
		unsigned char *at = to + size * k * u->dim;

		if (c->job->x.execute.a_transposed)
			a_block_row_transposed(c, at, block, row % u->dim);
		else
			a_block_row(c, at, spad_row(u, block + row % u->dim));
	}
	memset(to + size * depth, 0, size * (c->depth - depth));
}

/* --- C --------------------------------------------------------------------------------------- */

/* One row of a panel, from the accumulator or back to it. */
static void c_row(const struct chunk *c, union lane *panel, uint32_t row, uint32_t column, bool back)
{
	struct unit *u = unit_of(c);
	const struct loop_blocks *l = c->l;
	uint32_t end = lesser(column + c->kernels->lanes, l->columns);

	while (column < end) {
		uint32_t in_block = column % u->dim, some = lesser(u->dim - in_block, end - column);
		uint32_t block = row / u->dim * l->j + column / u->dim;
		union lane *lanes = accumulator_row(u, l->c + block * u->dim + row % u->dim) +
				    in_block;

		if (back)
			memcpy(lanes, panel, sizeof(*lanes) * some);
		else
			memcpy(panel, lanes, sizeof(*lanes) * some);
		panel += some;
		column += some;
	}
}

static void multiply_panel(const struct chunk *c, uint32_t row, uint32_t column)
{
	const struct virgo_kernels *kernels = c->kernels;
	struct matmul_scratch *scratch = c->scratch;
	uint32_t rows = lesser(kernels->rows, c->l->rows - row);
	bool is_sum = c->l->accumulate || c->first;

	for (uint32_t m = 0; m < rows && is_sum; m++)
		c_row(c, scratch->c + m * kernels->lanes, row + m, column, false);
	if (!is_sum)
		memset(scratch->c, 0, sizeof(union lane) * kernels->rows * kernels->lanes);
	if (unit_of(c)->type.is_float)
		kernels->multiply_float(scratch->c, (const float *)scratch->a, c->depth,
					&b_lane(c, 0, column)->f, c->count, unit_of(c)->dim);
	else
		kernels->multiply_pairs(scratch->c, (const int32_t *)scratch->a, c->depth / 2,
					(const int32_t *)b_pair(c, 0, column), c->depth / 2);
	for (uint32_t m = 0; m < rows; m++)
		c_row(c, scratch->c + m * kernels->lanes, row + m, column, true);
}

static void multiply_chunk(const struct chunk *c)
{
	size_t size = unit_of(c)->type.is_float ? sizeof(float) : sizeof(int16_t);

	pack_b(c);
	for (uint32_t row = 0; row < c->l->rows; row += c->kernels->rows) {
		for (uint32_t m = 0; m < c->kernels->rows; m++)
			pack_a_row(c, (unsigned char *)c->scratch->a + size * m * c->depth, row + m);
		for (uint32_t column = 0; column < c->l->columns; column += c->kernels->lanes)
			multiply_panel(c, row, column);
	}
}

/* How many blocks of k go into the scratch memory, and into one call's time. */
static uint32_t chunk_blocks(const struct chunk *c)
{
	uint32_t dim = unit_of(c)->dim, most = SCRATCH_DEPTH / dim;
	uint64_t macs = (uint64_t)c->l->rows * c->columns * dim;

	most = lesser(most, SCRATCH_B / (c->columns * dim));
	if (macs * most > CHUNK_MACS)
		most = (uint32_t)(CHUNK_MACS / macs);
	return most ? most : 1;
}

static void count_all(struct virgo_job *job, const struct loop_blocks *l)
{
	uint64_t size = job->unit->type.size;

	count(job, VIRGO_COUNTER_tiles, (uint64_t)l->i * l->j * l->k);
	count(job, VIRGO_COUNTER_macs, (uint64_t)l->rows * l->columns * l->depth);
	count(job, VIRGO_COUNTER_shared_bytes_read,
	      ((uint64_t)l->rows * l->j + l->columns) * l->depth * size);
	count(job, VIRGO_COUNTER_accumulator_rows_written, (uint64_t)l->rows * l->j * l->k);
}

enum work loop_matmul(struct virgo_job *job, const struct loop_blocks *l)
{
	struct progress *p = &job->x.progress;
	struct chunk c = {
		.job = job, .l = l, .kernels = job->virgo->kernels, .scratch = job->matmul,
	};
	uint32_t most, lanes = c.kernels->lanes;

	c.columns = (l->j * job->unit->dim + lanes - 1) / lanes * lanes;
	most = chunk_blocks(&c);
	while (p->at[0] < l->k) {
		c.first = p->at[0];
		c.count = lesser(most, l->k - c.first);
		c.depth = c.count * job->unit->dim;
		multiply_chunk(&c);
		p->at[0] += c.count;
		if (!spend(job, (int64_t)l->rows * c.columns * c.depth / 64) && p->at[0] < l->k)
			return WORK_MORE;
	}
	p->at[0] = 0;
	count_all(job, l);
	return WORK_DONE;
}
