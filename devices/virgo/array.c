/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The systolic array: preload and compute, in both dataflows. Rows and columns of
 * an operand are those of the matrix as it is multiplied, after its transposition.
 * Elements outside of them are 0, and every sum runs over all DIM of them.
 */
#include "devices/virgo/virgo_internal.h"

typedef union lane matrix[VIRGO_MAX_DIM][VIRGO_MAX_DIM];

static struct operand operand_of(uint64_t value)
{
	return (struct operand){
		.local = (uint32_t)value,
		.columns = value >> 32 & 0xffff,
		.rows = (uint32_t)(value >> 48),
	};
}

void virgo_array_preload(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	job->x.array.preload = rs1;
	job->x.array.output = rs2;
}

/* --- operands -------------------------------------------------------------------------- */

static bool is_nothing(struct operand o)
{
	return o.local == VIRGO_GARBAGE;
}

static enum work operand_check(struct virgo_job *job, struct operand o, bool transposed,
			       uint32_t stride)
{
	const struct unit *u = job->unit;
	uint64_t limit = rows_of(u, o.local), first = local_row(o.local);
	uint32_t rows = transposed ? o.columns : o.rows;

	if (is_nothing(o))
		return WORK_DONE;
	if (o.rows > u->dim || o.columns > u->dim)
		return fail(job, VIRGO_ERROR_SIZE, o.rows > u->dim ? o.rows : o.columns);
	if (!o.rows || !o.columns)
		return WORK_DONE;
	if (first >= limit)
		return fail(job, VIRGO_ERROR_RANGE, first);
	if (first + (uint64_t)(rows - 1) * stride >= limit)
		return fail(job, VIRGO_ERROR_RANGE, limit);
	return WORK_DONE;
}

/* An operand in the accumulator becomes elements on its way to the array. */
static void from_accumulator(struct virgo_job *job, union lane *to, uint32_t row, uint32_t columns)
{
	const struct execute_configuration *e = &job->x.execute;
	unsigned char elements[VIRGO_MAX_DIM * sizeof(union lane)];
	struct unit *u = job->unit;

	memcpy(to, accumulator_row(u, row), sizeof(union lane) * columns);
	virgo_activate_row(u, &job->x, to, columns,
			   e->activation == VIRGO_RELU ? VIRGO_RELU : VIRGO_NO_ACTIVATION, e->scale);
	virgo_elements_narrow(u->type, elements, to, columns);
	virgo_elements_widen(u->type, to, elements, columns);
}

static void operand_row(struct virgo_job *job, union lane *to, struct operand o, uint32_t row,
			uint32_t columns)
{
	struct unit *u = job->unit;

	if (o.local & VIRGO_LOCAL_ACCUMULATOR) {
		from_accumulator(job, to, (o.local & VIRGO_LOCAL_ROW) + row, columns);
		return;
	}
	virgo_elements_widen(u->type, to, spad_row(u, o.local + row), columns);
	count(job, VIRGO_COUNTER_shared_bytes_read, (uint64_t)columns * u->type.size);
}

static void fetch(struct virgo_job *job, matrix to, struct operand o, bool transposed,
		  uint32_t stride)
{
	union lane row[VIRGO_MAX_DIM];

	memset(to, 0, job->unit->dim * sizeof(to[0]));
	if (is_nothing(o))
		return;
	if (!transposed) {
		for (uint32_t i = 0; i < o.rows; i++)
			operand_row(job, to[i], o, i * stride, o.columns);
		return;
	}
	for (uint32_t i = 0; i < o.columns; i++) {
		operand_row(job, row, o, i * stride, o.rows);
		for (uint32_t j = 0; j < o.rows; j++)
			to[j][i] = row[j];
	}
}

/* --- multiplication ---------------------------------------------------------------------- */

/*
 * sums += a * b; over ascending k, a product is rounded before it is added. The matrices
 * are the job's own copies: the thread sanitizer would only make this ten times slower.
 */
__attribute__((no_sanitize("thread")))
static void multiply_float(matrix sums, matrix a, matrix b, unsigned int dim)
{
	for (unsigned int i = 0; i < dim; i++) {
		for (unsigned int k = 0; k < dim; k++) {
			for (unsigned int j = 0; j < dim; j++)
				sums[i][j].f += a[i][k].f * b[k][j].f;
		}
		for (unsigned int j = 0; j < dim; j++)
			sums[i][j].f = one_nan(sums[i][j].f);
	}
}

__attribute__((no_sanitize("thread")))
static void multiply_int(matrix sums, matrix a, matrix b, unsigned int dim)
{
	for (unsigned int i = 0; i < dim; i++)
		for (unsigned int k = 0; k < dim; k++)
			for (unsigned int j = 0; j < dim; j++)
				sums[i][j].bits += a[i][k].bits * b[k][j].bits;
}

static void multiply(struct virgo_job *job, matrix sums, matrix a, matrix b)
{
	if (job->unit->type.is_float)
		multiply_float(sums, a, b, job->unit->dim);
	else
		multiply_int(sums, a, b, job->unit->dim);
}

/* --- results --------------------------------------------------------------------------------- */

/* A division by 2^shift that rounds to the nearest, ties to even. */
static int32_t shift_right(int32_t value, uint32_t shift)
{
	int64_t quotient, rest, half;

	if (!shift)
		return value;
	if (shift > 32)
		return 0;
	quotient = (int64_t)value >> shift;
	rest = (int64_t)value - quotient * (1ll << shift);
	half = 1ll << (shift - 1);
	return (int32_t)(quotient + (rest > half || (rest == half && quotient & 1)));
}

static float shift_right_float(float value, uint32_t shift)
{
	/* A double holds every quotient, so it is rounded once. 2^300 leaves nothing of the largest number. */
	uint64_t bits = (uint64_t)(1023 - lesser(shift, 300)) << 52;
	double factor;

	if (!shift)
		return value;
	memcpy(&factor, &bits, sizeof(factor));
	return one_nan((float)(value * factor));
}

static void shift_row(const struct unit *u, union lane *row, uint32_t columns, uint32_t shift)
{
	for (uint32_t j = 0; j < columns; j++) {
		if (u->type.is_float)
			row[j].f = shift_right_float(row[j].f, shift);
		else
			row[j].i = shift_right(row[j].i, shift);
	}
}

static void relu_row(const struct unit *u, union lane *row, uint32_t columns)
{
	for (uint32_t j = 0; j < columns; j++) {
		if (u->type.is_float ? row[j].f < 0 : row[j].i < 0)
			row[j].bits = 0;
	}
}

static void result_row(struct virgo_job *job, const struct operand *output, uint32_t row,
		       const union lane *from, uint32_t shift)
{
	struct unit *u = job->unit;
	const struct execute_configuration *e = &job->x.execute;
	union lane lanes[VIRGO_MAX_DIM], *to;

	memcpy(lanes, from, sizeof(lanes));
	shift_row(u, lanes, output->columns, shift);
	if (!(output->local & VIRGO_LOCAL_ACCUMULATOR)) {
		if (e->activation == VIRGO_RELU)
			relu_row(u, lanes, output->columns);
		virgo_elements_narrow(u->type, spad_row(u, output->local + row), lanes, output->columns);
		count(job, VIRGO_COUNTER_shared_bytes_written,
		      (uint64_t)output->columns * u->type.size);
		return;
	}
	to = accumulator_row(u, (output->local & VIRGO_LOCAL_ROW) + row);
	if (output->local & VIRGO_LOCAL_ACCUMULATE)
		virgo_lanes_add(u->type, to, lanes, output->columns);
	else
		memcpy(to, lanes, sizeof(union lane) * output->columns);
	count(job, VIRGO_COUNTER_accumulator_rows_written, 1);
}

/* --- a pass ------------------------------------------------------------------------------------ */

static void run_pass(struct virgo_job *job, const struct pass *pass, bool weight_stationary)
{
	uint64_t begin = mimic_trace_now(&job->trace);
	struct array *array = &job->x.array;
	matrix a, b, sums;

	fetch(job, a, pass->a, pass->a_transposed, pass->a_stride);
	if (pass->fill)
		fetch(job, array->state, pass->preload, weight_stationary && pass->b_transposed, 1);
	fetch(job, weight_stationary ? sums : b, pass->bd,
	      !weight_stationary && pass->b_transposed, 1);
	if (weight_stationary)
		multiply(job, sums, a, array->state);
	else
		multiply(job, array->state, a, b);
	for (uint32_t i = 0; !is_nothing(pass->output) && i < pass->output.rows; i++)
		result_row(job, &pass->output, i * pass->c_stride,
			   weight_stationary ? sums[i] : array->state[i],
			   weight_stationary ? 0 : job->x.execute.shift);
	count(job, VIRGO_COUNTER_tiles, 1);
	MIMIC_TRACE_FROM(&job->trace, begin, matrix, 0ull, job->unit->number, 0ull, pass->a.rows,
			 pass->output.columns, (uint64_t)pass->a.columns);
	if (!is_nothing(pass->a))
		count(job, VIRGO_COUNTER_macs, (uint64_t)pass->a.rows * pass->a.columns *
						       pass->output.columns);
}

void virgo_array_fill(struct virgo_job *job, struct operand weights, bool transposed)
{
	fetch(job, job->x.array.state, weights, transposed, 1);
}

static enum work pass_check(struct virgo_job *job, const struct pass *pass, bool weight_stationary)
{
	enum work work = operand_check(job, pass->a, pass->a_transposed, pass->a_stride);

	if (work == WORK_DONE)
		work = operand_check(job, pass->bd, !weight_stationary && pass->b_transposed, 1);
	if (work == WORK_DONE && pass->fill)
		work = operand_check(job, pass->preload, weight_stationary && pass->b_transposed, 1);
	if (work == WORK_DONE)
		work = operand_check(job, pass->output, false, pass->c_stride);
	return work;
}

static uint64_t value_of(struct operand o)
{
	return (uint64_t)o.rows << 48 | (uint64_t)o.columns << 32 | o.local;
}

/* The weight stationary dataflow, in any configuration. */
enum work virgo_array_pass(struct virgo_job *job, const struct pass *pass)
{
	enum work work = pass_check(job, pass, true);
	struct operand preload = pass->preload;

	if (work != WORK_DONE)
		return work;
	if (!pass->fill)
		preload.local = VIRGO_GARBAGE;
	virgo_array_preload(job, value_of(preload), value_of(pass->output));
	run_pass(job, pass, true);
	virgo_watch_pass(job, pass);
	return WORK_DONE;
}

enum work virgo_array_compute(struct virgo_job *job, uint64_t rs1, uint64_t rs2, bool fill)
{
	const struct execute_configuration *e = &job->x.execute;
	bool weight_stationary = e->dataflow == VIRGO_WEIGHT_STATIONARY;
	struct pass pass = {
		.a = operand_of(rs1),
		.bd = operand_of(rs2),
		.preload = operand_of(job->x.array.preload),
		.output = operand_of(job->x.array.output),
		.a_stride = e->a_stride,
		.c_stride = e->c_stride,
		.a_transposed = e->a_transposed,
		.b_transposed = e->b_transposed,
		.fill = fill,
	};
	enum work work = pass_check(job, &pass, weight_stationary);

	if (work != WORK_DONE)
		return work;
	run_pass(job, &pass, weight_stationary);
	virgo_watch_pass(job, &pass);
	spend(job, (int64_t)job->unit->dim * job->unit->dim);
	return WORK_DONE;
}
