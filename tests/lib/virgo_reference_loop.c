/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_WS, as the commands that it stands for. */
#include "tests/lib/virgo_reference_internal.h"

struct ws {
	unsigned int I, J, K, pad_i, pad_j, pad_k;
	uint64_t a, b, d, c, a_stride, b_stride, d_stride, c_stride;
};

static unsigned int edge(const ref *r, unsigned int at, unsigned int count, unsigned int pad)
{
	return r->dim - (at + 1 == count ? pad : 0);
}

static uint64_t pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

/* The single block moves of one matrix, column blocks innermost. */
static void block_moves(ref *r, unsigned int id, uint64_t address, uint64_t stride, unsigned int size,
			uint32_t local, unsigned int rows, unsigned int row_pad, unsigned int columns,
			unsigned int column_pad)
{
	for (unsigned int i = 0; i < rows; i++)
		for (unsigned int j = 0; j < columns; j++) {
			unsigned int keep = r->load[id].pixels;

			r->load[id].pixels = 1;
			reference_mvin(r, address + (i * stride + j) * r->dim * size,
			     local + (i * columns + j) * r->dim, edge(r, i, rows, row_pad),
			     edge(r, j, columns, column_pad), id);
			r->load[id].pixels = keep;
		}
}

/* One row of one block of C; `what` is the step of layernorm or softmax. */
static void store_row(ref *r, const struct ws *w, unsigned int i, unsigned int j, unsigned int row,
		      unsigned int what, uint64_t rs1, uint64_t rs2, unsigned int activation)
{
	unsigned int full = bits(rs1, 1, 1), size = full ? 4 : element_bytes(r);
	unsigned int c_row = bits(rs2, 32, 32) ? bits(rs2, 32, 32) : (unsigned int)r->ws[12];
	unsigned int block = (i * w->J + j) * r->dim + row, columns = edge(r, j, w->J, w->pad_j);
	uint32_t local = ACCUMULATOR | (full ? FULL : 0) | what << 26 | (r->accumulator_base + block);

	if (bits(rs2, 9, 1))
		reference_mvout_spad(r, local, 1, columns, c_row + block, 1, activation);
	else
		reference_mvout(r, w->c + (i * w->c_stride + j) * r->dim * size + row * r->store_stride, local,
				1, columns, activation);
}

/* Rows are visited three times for layernorm and softmax; in the last block a visit ends a sum. */
static void ws_store(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2)
{
	static const unsigned int visits[2][3][2] = { { { 1, 2 }, { 3, 4 }, { 0, 0 } },
						      { { 5, 5 }, { 6, 7 }, { 0, 0 } } };
	unsigned int activation = bits(rs1, 8, 3);
	bool norm = (activation == 2 || activation == 4) && !bits(rs1, 1, 1);

	for (unsigned int n = 0; n < w->I * r->dim - w->pad_i; n++) {
		if (norm)
			r->statistic = n % r->dim % 4;
		for (unsigned int visit = norm ? 0 : 2; visit < 3; visit++)
			for (unsigned int j = 0; j < w->J; j++)
				store_row(r, w, n / r->dim, j, n % r->dim,
					  visits[activation == 4][visit][j + 1 == w->J], rs1, rs2,
					  norm ? activation : reference_out_activation(r));
	}
}

static void ws_execute(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2, unsigned int a,
		       unsigned int b)
{
	unsigned int a_stride = r->a_stride, c_stride = r->c_stride;
	bool weight_stationary = r->weight_stationary;

	r->a_stride = 1;
	r->c_stride = 1;
	r->weight_stationary = true;
	for (unsigned int k = 0; k < w->K; k++)
		for (unsigned int j = 0; j < w->J; j++)
			for (unsigned int i = 0; i < w->I; i++) {
				unsigned int rows = edge(r, i, w->I, w->pad_i);
				unsigned int columns = edge(r, j, w->J, w->pad_j);
				unsigned int depth = edge(r, k, w->K, w->pad_k);
				unsigned int ab = (rs2 & 1 ? k * w->I + i : i * w->K + k) * r->dim;
				unsigned int bb = (rs2 & 2 ? j * w->K + k : k * w->J + j) * r->dim;
				uint32_t out = ACCUMULATOR | (rs1 & 1 || k ? ACCUMULATE : 0) |
					       (r->accumulator_base + (i * w->J + j) * r->dim);

				r->preload = pack(depth, columns, i ? GARBAGE : b + bb);
				r->output = pack(rows, columns, out);
				reference_compute(r, pack(rows, depth, a + ab), pack(rows, columns, GARBAGE), !i);
			}
	r->a_stride = a_stride;
	r->c_stride = c_stride;
	r->weight_stationary = weight_stationary;
}

static void add_residuals(ref *r, const struct ws *w, uint64_t rs2)
{
	uint32_t local = ACCUMULATOR + r->accumulator_base;

	if (w->a && !bits(rs2, 3, 1))
		block_moves(r, 0, w->a, w->a_stride, element_bytes(r), local, w->I, w->pad_i, w->J, w->pad_j);
	if (w->b && !bits(rs2, 4, 1))
		block_moves(r, 1, w->b, w->b_stride, element_bytes(r), local + ACCUMULATE, w->I, w->pad_i,
			    w->J, w->pad_j);
}

/* D, A and B, which begin with rows a and b of the scratchpad. */
static void load_operands(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2, unsigned int a,
			  unsigned int b)
{
	unsigned int size = element_bytes(r);

	if (w->d && !bits(rs2, 5, 1))
		block_moves(r, 2, w->d, w->d_stride, bits(rs1, 2, 1) ? size : 4,
			    ACCUMULATOR + r->accumulator_base, w->I, w->pad_i, w->J, w->pad_j);
	if (w->a && !bits(rs2, 3, 1) && rs2 & 1)
		block_moves(r, 0, w->a, w->a_stride, size, a, w->K, w->pad_k, w->I, w->pad_i);
	else if (w->a && !bits(rs2, 3, 1))
		block_moves(r, 0, w->a, w->a_stride, size, a, w->I, w->pad_i, w->K, w->pad_k);
	if (w->b && !bits(rs2, 4, 1) && rs2 & 2)
		block_moves(r, 1, w->b, w->b_stride, size, b, w->J, w->pad_j, w->K, w->pad_k);
	else if (w->b && !bits(rs2, 4, 1))
		block_moves(r, 1, w->b, w->b_stride, size, b, w->K, w->pad_k, w->J, w->pad_j);
}

static void run_loop(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2)
{
	unsigned int a_id = bits(rs1, 18, 2), b_id = bits(rs1, 16, 2), half = r->rows / 2;
	unsigned int a = a_id == 2 ? half : 0, b_end = b_id == 2 ? r->rows : half;

	/* SPAD_AB */
	if (r->ws[11]) {
		a = (unsigned int)r->ws[10];
		b_end = (unsigned int)r->ws[11];
	}
	if (bits(rs2, 2, 1)) {
		add_residuals(r, w, rs2);
	} else {
		unsigned int b = b_end - w->K * w->J * r->dim;

		load_operands(r, w, rs1, rs2, a, b);
		if (!bits(rs2, 6, 1))
			ws_execute(r, w, rs1, rs2, a, b);
	}
	if (!bits(rs2, 7, 1) && (w->c || bits(rs2, 9, 1)))
		ws_store(r, w, rs1, rs2);
}

void reference_loop_ws(ref *r, uint64_t rs1, uint64_t rs2)
{
	const uint64_t *p = r->ws;
	struct ws w = {
		bits(p[1], 0, 16), bits(p[1], 16, 16), bits(p[1], 32, 16),
		bits(p[0], 0, 16), bits(p[0], 16, 16), bits(p[0], 32, 16),
		p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9],
	};
	unsigned int blocks[3];

	for (unsigned int n = 0; n < 3; n++) {
		blocks[n] = r->load[n].block_stride;
		r->load[n].block_stride = r->dim;
	}
	/* Of no blocks it is nothing; a residual add has no K. */
	if (w.I && w.J && (w.K || bits(rs2, 2, 1)))
		run_loop(r, &w, rs1, rs2);
	for (unsigned int n = 0; n < 3; n++)
		r->load[n].block_stride = blocks[n];
	if (bits(rs2, 8, 1))
		r->accumulator_base = r->accumulator_base ? 0 : r->accumulator_rows / 2;
}
