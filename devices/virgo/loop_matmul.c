/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The multiplication of LOOP_WS: as PRELOAD and COMPUTE for each k, j, i, but with
 * panels of C that a processor keeps in its registers. Operands are used where they
 * lie if their elements are multiplied as they are (fp32); else, or if they are to be
 * transposed or padded, blocks are made of them first. Long sums go in chunks of k,
 * from the first on.
 */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/matmul_scratch.h"

/* The most multiplications of one call. */
#define CHUNK_MACS (4u << 20)

_Static_assert(VIRGO_MAX_DIM <= KERNEL_DIM_MAX, "a panel's rows are in the scratch memory, DIM lanes each");

struct chunk {
	struct virgo_job *job;
	const struct loop_blocks *l;
	const struct virgo_kernels *kernels;
	struct matmul_scratch *scratch;
	uint32_t dim;
	uint32_t block_lanes;	/* of operands: int8 has several elements in a lane */
	uint32_t first;		/* block of k */
	uint32_t count;		/* blocks of k */
	bool has_pads;		/* of k: the last block lacks some */
	const union lane *b;
	size_t b_block;		/* lanes to the next block of k */
	size_t b_next;		/* lanes to the next block of columns */
};

static const unsigned char *a_block(const struct chunk *c, uint32_t i, uint32_t k)
{
	const struct loop_blocks *l = c->l;

	return spad_row(c->job->unit, l->a + (l->a_by_k ? k * l->i + i : i * l->k + k) * c->dim);
}

static const unsigned char *b_block(const struct chunk *c, uint32_t k, uint32_t j)
{
	const struct loop_blocks *l = c->l;

	return spad_row(c->job->unit, l->b + (l->b_by_j ? j * l->k + k : k * l->j + j) * c->dim);
}

/* --- blocks of the scratch memory ---------------------------------------------------------- */

enum side { SIDE_A, SIDE_B };

static bool is_transposed(const struct chunk *c, enum side side)
{
	const struct execute_configuration *e = &c->job->x.execute;

	return side == SIDE_A ? e->a_transposed : e->b_transposed;
}

/* Elements of k in this block of the chunk. */
static uint32_t depth_of(const struct chunk *c, uint32_t k)
{
	return lesser(c->l->depth - (c->first + k) * c->dim, c->dim);
}

/* A block with rows and columns exchanged. */
static void transpose(const struct chunk *c, unsigned char *to, const unsigned char *from)
{
	uint32_t dim = c->dim, size = c->job->unit->type.size;

	for (uint32_t i = 0; i < dim; i++) {
		for (uint32_t j = 0; j < dim; j++) {
			/* Copies of a known size */
			if (size == 1)
				to[i * dim + j] = from[j * dim + i];
			else if (size == 2)
				memcpy(to + 2 * (i * dim + j), from + 2 * (j * dim + i), 2);
			else
				memcpy(to + 4 * (i * dim + j), from + 4 * (j * dim + i), 4);
		}
	}
}

/* Fills the part of the last block that lies beyond k with 0: columns of A, rows of B. */
static void clear_pads(const struct chunk *c, unsigned char *block, enum side side, uint32_t depth)
{
	uint32_t dim = c->dim, size = c->job->unit->type.size;

	if (side == SIDE_B) {
		memset(block + depth * dim * size, 0, (size_t)(dim - depth) * dim * size);
		return;
	}
	for (uint32_t row = 0; row < dim; row++)
		memset(block + (row * dim + depth) * size, 0, (size_t)(dim - depth) * size);
}

static void make_block(const struct chunk *c, union lane *to, const unsigned char *from,
		       enum side side, uint32_t depth)
{
	const struct unit *u = c->job->unit;
	uint32_t dim = c->dim, elements = dim * dim;
	unsigned char changed[VIRGO_MAX_DIM * VIRGO_MAX_DIM * sizeof(union lane)]
		__attribute__((aligned(64)));

	if (is_transposed(c, side))
		transpose(c, changed, from);
	else if (depth < dim)
		memcpy(changed, from, (size_t)elements * u->type.size);
	if (depth < dim)
		clear_pads(c, changed, side, depth);
	if (is_transposed(c, side) || depth < dim)
		from = changed;
	if (u->type.kind == VIRGO_FP32)
		memcpy(to, from, elements * sizeof(*to));
	else if (u->type.kind == VIRGO_FP16)
		c->kernels->widen_halves(&to->f, from, elements);
	else if (side == SIDE_A)
		c->kernels->lanes_of_a(to, (const int8_t *)from, elements);
	else
		c->kernels->lanes_of_b(to, (const int8_t *)from, dim, dim);
}

static bool is_used_in_place(const struct chunk *c, enum side side)
{
	return c->job->unit->type.kind == VIRGO_FP32 && !is_transposed(c, side) && !c->has_pads;
}

/* All of B that the chunk multiplies with. */
static void choose_b(struct chunk *c)
{
	const struct loop_blocks *l = c->l;

	if (is_used_in_place(c, SIDE_B)) {
		c->b = (const union lane *)b_block(c, c->first, 0);
		c->b_block = (l->b_by_j ? 1 : l->j) * c->block_lanes;
		c->b_next = (l->b_by_j ? l->k : 1) * c->block_lanes;
		return;
	}
	for (uint32_t j = 0; j < l->j; j++)
		for (uint32_t k = 0; k < c->count; k++)
			make_block(c, c->scratch->b + (j * c->count + k) * c->block_lanes,
				   b_block(c, c->first + k, j), SIDE_B, depth_of(c, k));
	c->b = c->scratch->b;
	c->b_block = c->block_lanes;
	c->b_next = c->count * c->block_lanes;
}

/* A row of blocks. */
static void choose_a(const struct chunk *c, struct kernel_panel *panel, uint32_t i)
{
	const struct loop_blocks *l = c->l;

	if (is_used_in_place(c, SIDE_A)) {
		panel->a = (const union lane *)a_block(c, i, c->first);
		panel->a_block = (l->a_by_k ? l->i : 1) * c->block_lanes;
		return;
	}
	for (uint32_t k = 0; k < c->count; k++)
		make_block(c, c->scratch->a + k * c->block_lanes, a_block(c, i, c->first + k), SIDE_A,
			   depth_of(c, k));
	panel->a = c->scratch->a;
	panel->a_block = c->block_lanes;
}

/* --- panels of C ------------------------------------------------------------------------------ */

static void multiply(const struct chunk *c, const struct kernel_panel *panel)
{
	if (c->job->unit->type.is_float)
		c->kernels->multiply_floats(panel, c->dim);
	else
		c->kernels->multiply_bytes(panel, c->dim);
}

/* A panel that is not all inside of C: bytes outside must stay as they are. */
static void multiply_edge(const struct chunk *c, const struct kernel_panel *panel, uint32_t rows,
			  uint32_t columns)
{
	struct kernel_panel edge = *panel;
	uint32_t width = lesser(c->dim, c->kernels->lanes);

	edge.c = c->scratch->c;
	edge.c_next = KERNEL_ROWS_MAX * c->dim;
	for (uint32_t at = 0; at < columns && !panel->from_zero; at += width)
		for (uint32_t m = 0; m < rows; m++)
			memcpy(edge.c + at / width * edge.c_next + m * c->dim,
			       panel->c + at / width * panel->c_next + m * c->dim,
			       sizeof(union lane) * lesser(width, columns - at));
	multiply(c, &edge);
	for (uint32_t at = 0; at < columns; at += width)
		for (uint32_t m = 0; m < rows; m++)
			memcpy(panel->c + at / width * panel->c_next + m * c->dim,
			       edge.c + at / width * edge.c_next + m * c->dim,
			       sizeof(union lane) * lesser(width, columns - at));
}

/* Rows of one row of blocks, all columns. */
static void multiply_strip(const struct chunk *c, struct kernel_panel *panel, uint32_t first_row,
			   uint32_t rows)
{
	const struct loop_blocks *l = c->l;
	uint32_t dim = c->dim, lanes = c->kernels->lanes, strip = lesser(c->kernels->rows, dim);

	for (uint32_t column = 0; column < l->columns;) {
		uint32_t block = column / dim, width = lanes;

		/* Fewer blocks than a vector takes: the first of them, again and again. */
		if (lanes > dim && (l->j - block) * dim < lanes)
			width = dim;
		panel->b = c->b + block * c->b_next + column % dim;
		panel->b_next = width < lanes ? 0 : c->b_next;
		panel->c = accumulator_row(c->job->unit, l->c + block * dim + first_row) + column % dim;
		if (rows == strip && width == lanes && column + width <= l->columns)
			multiply(c, panel);
		else
			multiply_edge(c, panel, rows, lesser(width, l->columns - column));
		column += width;
	}
}

static void multiply_chunk(struct chunk *c)
{
	const struct loop_blocks *l = c->l;
	uint32_t dim = c->dim, strip = lesser(c->kernels->rows, dim);
	struct kernel_panel panel = {
		.b_block = 0, .c_next = dim * dim, .blocks = c->count,
		.from_zero = !l->accumulate && !c->first,
	};

	choose_b(c);
	panel.b_block = c->b_block;
	for (uint32_t i = 0; i < l->i; i++) {
		uint32_t rows = lesser(l->rows - i * dim, dim);

		choose_a(c, &panel, i);
		for (uint32_t row = 0; row < rows; row += strip) {
			multiply_strip(c, &panel, i * l->j * dim + row, lesser(rows - row, strip));
			panel.a += strip * c->block_lanes / dim;
		}
	}
}

/* --- chunks ---------------------------------------------------------------------------------------- */

/* How many blocks of k go into the scratch memory, and into one call's time. */
static uint32_t chunk_blocks(const struct chunk *c)
{
	const struct loop_blocks *l = c->l;
	uint64_t macs = (uint64_t)l->i * l->j * c->dim * c->dim * c->dim;
	uint32_t most = lesser(SCRATCH_A, SCRATCH_B / l->j) / c->block_lanes;

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

enum work virgo_loop_matmul(struct virgo_job *job, const struct loop_blocks *l)
{
	struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim, whole = l->depth / dim, most;
	struct chunk c = {
		.job = job, .l = l, .kernels = job->virgo->kernels, .scratch = job->matmul, .dim = dim,
		.block_lanes = dim * dim / (job->unit->type.is_float ? 1 : job->virgo->kernels->bytes),
	};
	uint64_t begin;

	most = chunk_blocks(&c);
	while (p->at[0] < l->k) {
		c.first = p->at[0];
		c.has_pads = c.first >= whole;
		c.count = c.has_pads ? 1 : lesser(most, whole - c.first);
		begin = mimic_trace_now(&job->trace);
		multiply_chunk(&c);
		MIMIC_TRACE_FROM(&job->trace, begin, matrix, 0ull, job->unit->number, 0ull, l->rows,
				 l->columns, (uint64_t)c.count * dim);
		p->at[0] += c.count;
		if (!spend(job, (int64_t)l->rows * l->columns * c.count * dim / 64) && p->at[0] < l->k)
			return WORK_MORE;
	}
	p->at[0] = 0;
	count_all(job, l);
	virgo_watch_loop(job, l);
	return WORK_DONE;
}
