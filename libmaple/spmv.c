/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrix times vector. x[column[k]] is the irregular access; row starts,
 * columns and values are read in order. All forms add in the plain loop's order,
 * so that y is the same bit for bit.
 */
#include "lane.h"

#define LOOP_MAX (1ull << 30)	/* elements of one LIMA loop; its bounds have 32 bits */
#define AHEAD 1024		/* elements between a prefetch and its use */
#define SEGMENT (1ull << 31)	/* elements of column that one B serves */

struct product {
	const uint64_t *row_start;
	const uint32_t *column;
	const double *value;
	const double *x;
	double *y;
	size_t rows;
	/* where the sum is */
	uint64_t first;
	uint64_t last;
	uint64_t at;
	size_t row;
	double sum;
};

/* The next `count` products; gathered[] holds x of their columns. */
static void add_block(struct product *p, const double *gathered, uint64_t count)
{
	const double *value = p->value + p->at;
	uint64_t left = count, row_left, piece;
	size_t row = p->row;
	double sum = p->sum;

	row_left = p->row_start[row + 1] - p->at;
	while (left > 0) {
		piece = row_left < left ? row_left : left;
		for (uint64_t i = 0; i < piece; i++)
			sum += value[i] * gathered[i];
		value += piece;
		gathered += piece;
		left -= piece;
		row_left -= piece;
		if (row_left > 0)
			break;
		p->y[row++] = sum;
		sum = 0.0;
		if (row == p->rows)
			break;
		row_left = p->row_start[row + 1] - p->row_start[row];
	}
	p->at += count;
	p->row = row;
	p->sum = sum;
}

/* Rows after the last element are empty. */
static void finish_rows(struct product *p)
{
	for (; p->row < p->rows; p->row++) {
		p->y[p->row] = p->sum;
		p->sum = 0.0;
	}
}

/* The device delivers the bits of doubles. */
static void take_products(void *context, const void *values, size_t count)
{
	add_block(context, values, count);
}

static int feed_products(struct maple_lane *lane, void *argument)
{
	const struct product *p = argument;
	uint64_t count = p->last - p->first;
	uint64_t before = maple_lane_produced(lane);
	ssize_t done;

	done = maple_produce_ptr64_batch(lane->maple, lane->queue, p->x, p->column + p->first,
					 count, MAPLE_DRAM);
	if (done >= 0)
		return 0;
	return maple_lane_fill(lane, 2 * count - (maple_lane_produced(lane) - before), (int)done);
}

static int multiply_decoupled(struct product *p, struct maple *maple)
{
	struct maple_lane lane;
	int error, access_error;

	error = maple_lane_open(&lane, maple, true);
	if (error)
		return error;
	maple_lane_feed(&lane, feed_products, p);
	error = maple_consume64_pieces(maple, lane.queue, p->last - p->first, take_products, p);
	access_error = maple_lane_wait(&lane);
	/* The consumer's own error, if any, is the same: the device's. */
	return maple_lane_close(&lane, access_error ? access_error : error);
}

static int multiply_lima(struct product *p, struct maple *maple)
{
	struct maple_lane lane;
	uint64_t piece;
	int error;

	error = maple_lane_open(&lane, maple, false);
	if (error)
		return error;
	for (uint64_t k = p->first; k < p->last && !error; k += piece) {
		piece = p->last - k < LOOP_MAX ? p->last - k : LOOP_MAX;
		error = maple_lima_produce64(maple, lane.queue, p->x, p->column + k, 0,
					     (uint32_t)piece, MAPLE_DRAM);
		if (!error)
			error = maple_consume64_pieces(maple, lane.queue, piece, take_products, p);
	}
	return maple_lane_close(&lane, error);
}

static void multiply_row(struct product *p)
{
	uint64_t end = p->row_start[p->row + 1];
	double sum = 0.0;

	for (uint64_t k = p->row_start[p->row]; k < end; k++)
		sum += p->value[k] * p->x[p->column[k]];
	p->y[p->row++] = sum;
}

static int multiply_plain(struct product *p)
{
	while (p->row < p->rows)
		multiply_row(p);
	return 0;
}

/* maple_lima() for positions of 64 bits: B moves in large steps only, as each move is a store to the device. */
static int prefetch_range(const struct product *p, struct maple_lane *lane, uint64_t begin,
			  uint64_t end)
{
	int error = 0;

	while (begin < end && !error) {
		uint64_t first = begin & ~(SEGMENT - 1);
		uint64_t stop = end - first < SEGMENT ? end : first + SEGMENT;

		error = maple_lima(lane->maple, lane->queue, p->x, sizeof(double),
				   p->column + first, (uint32_t)(begin - first),
				   (uint32_t)(stop - first));
		begin = stop;
	}
	return error;
}

/* Figure 4 of the paper, with the distance in elements: rows are of any length. */
static int multiply_prefetch(struct product *p, struct maple *maple)
{
	struct maple_lane lane;
	uint64_t ahead = p->first, until;
	int error;

	error = maple_lane_open(&lane, maple, false);
	if (error)
		return error;
	for (; p->row < p->rows && !error; multiply_row(p)) {
		if (ahead >= p->last || p->row_start[p->row] + AHEAD < ahead)
			continue;
		until = p->last - ahead < AHEAD ? p->last : ahead + AHEAD;
		if (until < p->row_start[p->row + 1])
			until = p->row_start[p->row + 1];
		error = prefetch_range(p, &lane, ahead, until);
		ahead = until;
	}
	return maple_lane_close(&lane, error);
}

static int check_arguments(const struct product *p)
{
	if (!p->row_start || (!p->y && p->rows > 0))
		return maple_error(-EINVAL, "maple_spmv_csr: row_start or y is NULL");
	if (p->row_start[p->rows] > p->row_start[0] && (!p->column || !p->value || !p->x))
		return maple_error(-EINVAL, "maple_spmv_csr: column, value or x is NULL");
	return maple_check_rows(p->rows, p->row_start);
}

int maple_spmv_csr(struct maple *maple, enum maple_form form, size_t rows,
		   const uint64_t *row_start, const uint32_t *column, const double *value,
		   const double *x, double *y)
{
	struct product p = {
		.row_start = row_start, .column = column, .value = value, .x = x, .y = y,
		.rows = rows,
	};
	int error = check_arguments(&p);

	if (error)
		return error;
	p.first = row_start[0];
	p.last = row_start[rows];
	p.at = p.first;
	switch (form) {
	case MAPLE_PLAIN:
		return multiply_plain(&p);
	case MAPLE_DECOUPLED:
		error = multiply_decoupled(&p, maple);
		break;
	case MAPLE_LIMA:
		error = multiply_lima(&p, maple);
		break;
	case MAPLE_PREFETCH:
		return multiply_prefetch(&p, maple);
	default:
		return maple_error(-EINVAL, "form %d: not one of plain, decoupled, LIMA, prefetch",
				   (int)form);
	}
	if (!error)
		finish_rows(&p);
	return error;
}
