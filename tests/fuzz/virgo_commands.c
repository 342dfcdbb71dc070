/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/fuzz/virgo_commands.h"

#include <string.h>

#define ACC VIRGO_LOCAL_ACCUMULATOR
#define ADD VIRGO_LOCAL_ACCUMULATE
#define ONE 0x3f800000ull

/* The configuration when all commands that were sent are done. */
static struct {
	struct {
		uint64_t stride;
		unsigned int block_stride, pixels;
		bool shrunk;
	} load[3];
	uint64_t store_stride;
	bool pools;
	unsigned int a_stride, c_stride;
} configured[UNITS];

static struct input *in;
static unsigned int u;
static const struct virgo_reference *r;
static unsigned int first_row, part_rows, element;	/* of the unit that is sent to */
static uint64_t part_address;
static struct sequence *out;

static unsigned int below(unsigned int limit)
{
	/* Nothing here has so many rows: more are a difference below 0, of a command that does not fit. */
	CHECK(limit <= 0x10000);
	return limit < 2 ? 0 : (limit > 256 ? (unsigned int)bytes(in, 2) : byte(in)) % limit;
}

static unsigned int from_1_to(unsigned int limit)
{
	return 1 + below(limit);
}

void add_command(struct sequence *s, unsigned int funct, uint64_t rs1, uint64_t rs2, bool is_valid)
{
	CHECK(s->count < SEQUENCE);
	s->entry[s->count++] = (struct entry){
		.rs1 = rs1, .rs2 = rs2, .funct = funct, .word = VIRGO_INSTRUCTION_WORD(funct & 0x7f),
		.is_valid = is_valid, .is_compared = true,
	};
}

static void add(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	add_command(out, funct, rs1, rs2, true);
}

static uint64_t pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

void commands_follow(unsigned int unit)
{
	const struct virgo_reference *reference = expected[unit].reference;

	for (unsigned int i = 0; i < 3; i++) {
		configured[unit].load[i].stride = reference->load[i].stride;
		configured[unit].load[i].block_stride = reference->load[i].block_stride;
		configured[unit].load[i].pixels = reference->load[i].pixels;
		configured[unit].load[i].shrunk = reference->load[i].shrunk;
	}
	configured[unit].store_stride = reference->store_stride;
	configured[unit].pools = reference->pool_stride != 0;
	configured[unit].a_stride = reference->a_stride;
	configured[unit].c_stride = reference->c_stride;
}

/* --- configurations ---------------------------------------------------------------------------- */

static uint64_t next_scale(void)
{
	static const uint32_t scales[] = {
		ONE, ONE, ONE, ONE, 0x3f000000, 0x3c23d70a, 0xbf800000, 0xc0490fdb, 0x4b000000, 0, 0x80000000,
		0x7f800000, 0x7fc00000, 0x00000001, 0x34000001, 0x7f7fffff,
	};
	unsigned int choice = byte(in);

	return choice >= 240 ? bytes(in, 4) : scales[choice % 16];
}

static uint64_t next_stride(void)
{
	unsigned int choice = byte(in), dim = r->dim;

	switch (choice % 8) {
	case 0:
		return 0;
	case 1:
		return byte(in);
	case 2:
		return bytes(in, 2) % 3000;
	case 3:
		return choice < 64 ? (uint64_t)-(int64_t)byte(in) : dim * 4;
	case 4:
		return dim * 4;
	case 5:
		return 3 * dim * element;
	default:
		return dim * element;
	}
}

static void load_configuration(unsigned int id, uint64_t stride, uint64_t scale, bool shrunk,
			       unsigned int block_stride, unsigned int pixels)
{
	configured[u].load[id].stride = stride;
	configured[u].load[id].block_stride = block_stride;
	configured[u].load[id].pixels = pixels ? pixels : 1;
	configured[u].load[id].shrunk = shrunk;
	add(VIRGO_FUNCT_CONFIG, scale << 32 | block_stride << 16 | pixels << 8 | id << 3 |
	    (unsigned int)shrunk << 2 | VIRGO_CONFIG_LD, stride);
}

static void any_load_configuration(void)
{
	unsigned int choice = byte(in), id = choice % 3;
	unsigned int pixels = choice >= 192 ? below(5) : choice >= 128;
	unsigned int block = choice & 64 ? below(40) : r->dim;

	load_configuration(id, next_stride(), next_scale(), choice & 32, block, pixels);
}

static void store_configuration(uint64_t stride, uint64_t scale, unsigned int activation)
{
	configured[u].store_stride = (uint32_t)stride;
	configured[u].pools = false;
	add(VIRGO_FUNCT_CONFIG, activation << 2 | VIRGO_CONFIG_ST, scale << 32 | (uint32_t)stride);
}

static uint64_t next_store_scale(void)
{
	uint64_t scale = next_scale();

	return below(8) ? scale : 0xffffffff;
}

static void any_store_configuration(void)
{
	uint64_t stride = next_stride(), scale = next_store_scale();

	store_configuration(stride, scale, below(4));
}

static void execute_configuration(void)
{
	unsigned int choice = byte(in), strides = byte(in), shift = choice & 128 ? byte(in) : 0;
	uint64_t scale = next_scale();

	configured[u].a_stride = strides % 16 < 12 ? 1 : strides % 4;
	configured[u].c_stride = strides / 16 < 12 ? 1 : strides / 16 % 4;
	if (choice & 64 && shift > 200)
		shift = (unsigned int)bytes(in, 4);
	add(VIRGO_FUNCT_CONFIG, scale << 32 | configured[u].a_stride << 16 | (choice & 3) << 8 |
	    (choice >= 250) << 7 | (choice >> 2 & 3) << 3 | (choice >> 4 & 1) << 2,
	    (uint64_t)configured[u].c_stride << 48 | shift);
}

/* Constants as a library computes them, or any. */
static void norm_configuration(void)
{
	unsigned int choice = byte(in);
	uint64_t constant, qb, qc;

	if (side.config.unit[u].type == VIRGO_INT8) {
		constant = choice & 1 ? 5041 : 13;
		qb = 27;
		qc = 384;
	} else {
		constant = choice & 1 ? 0x3fb8aa3b : 0x3f317218;
		qb = 0x3fad2f1b;
		qc = 0x3f759a2f;
	}
	if (choice & 2)
		qb = (uint32_t)-(int32_t)qb;
	if (choice >= 192) {
		constant = bytes(in, 4);
		qb = bytes(in, 4);
		qc = bytes(in, 4);
	}
	add(VIRGO_FUNCT_CONFIG, constant << 32 | (choice & 1) << 18 | (choice >> 2 & 1) << 17 |
	    (choice >> 3 & 1) << 16 | (choice >> 4 & 3) << 8 | VIRGO_CONFIG_NORM, qc << 32 | qb);
}

/* --- moves ----------------------------------------------------------------------------------------- */

static unsigned int blocks_of(unsigned int columns)
{
	return (columns + r->dim - 1) / r->dim;
}

/* Rows of `bytes` each, all in the unit's part; fewer if they do not fit. */
static uint64_t next_address(unsigned int *rows, uint64_t stride, unsigned int size)
{
	uint64_t total;

	if (stride > PART_BYTES)
		*rows = 1;
	while (*rows > 1 && (*rows - 1) * stride + size > PART_BYTES)
		--*rows;
	total = (*rows - 1) * stride + size;
	CHECK(total <= PART_BYTES);
	return part_address + below((unsigned int)(PART_BYTES - total + 1));
}

struct extent {
	unsigned int rows, columns, first;
};

/* Rows of the accumulator, or of the unit's part of the scratchpad, with blocks so far apart. */
static struct extent next_extent(bool accumulator, unsigned int block_stride, unsigned int above)
{
	unsigned int limit = accumulator ? r->accumulator_rows : part_rows - above, span;
	struct extent e;

	e.rows = from_1_to(2 * r->dim);
	e.columns = from_1_to(3 * r->dim);
	span = e.rows + (blocks_of(e.columns) - 1) * block_stride;
	if (span > limit) {
		e.columns = e.columns < r->dim ? e.columns : r->dim;
		e.rows = e.rows < limit ? e.rows : limit;
		span = e.rows;
	}
	e.first = below(limit - span + 1);
	if (!accumulator)
		e.first += first_row + above;
	return e;
}

static void move_in(void)
{
	static const unsigned int functs[] = { VIRGO_FUNCT_MVIN, VIRGO_FUNCT_MVIN2, VIRGO_FUNCT_MVIN3 };
	unsigned int choice = byte(in), id = choice % 3, pixels = configured[u].load[id].pixels;
	bool accumulator = choice & 64;
	struct extent e = next_extent(accumulator, configured[u].load[id].block_stride, pixels - 1);
	unsigned int size = accumulator && !configured[u].load[id].shrunk ? 4 : element;
	uint64_t address = next_address(&e.rows, configured[u].load[id].stride, e.columns * size);

	if (choice >= 240)
		address = 0;
	add(functs[id], address, pack(e.rows, e.columns, e.first | (accumulator ? ACC : 0) |
				      (accumulator && choice & 32 ? ADD : 0)));
}

static void move_out(void)
{
	unsigned int choice = byte(in);
	bool accumulator = choice & 3, full = accumulator && choice % 16 == 5;
	struct extent e = next_extent(accumulator, r->dim, 0);
	uint32_t local = e.first | (accumulator ? ACC : 0) | (full ? VIRGO_LOCAL_FULL : 0);
	uint64_t address;

	if (configured[u].pools)
		any_store_configuration();
	address = next_address(&e.rows, configured[u].store_stride, e.columns * (full ? 4 : element));
	if (accumulator && choice >= 160)
		local |= (choice & 7u) << VIRGO_LOCAL_NORM_SHIFT;
	add(VIRGO_FUNCT_MVOUT, address, pack(e.rows, e.columns, local));
}

static void move_out_pooled(void)
{
	unsigned int choice = byte(in), stride = from_1_to(3), size = from_1_to(3), top = below(3), left = below(3);
	unsigned int rows = from_1_to(6), columns = from_1_to(6), prows = from_1_to(5), pcolumns = from_1_to(5);
	unsigned int width = pcolumns + below(3), channels = from_1_to(r->dim), cells = prows * width;
	bool accumulator = choice & 3;
	unsigned int limit = accumulator ? r->accumulator_rows : part_rows, first;
	uint64_t step = r->dim * element + (choice & 4), address;

	if (rows * columns > limit)
		return;
	first = below(limit - rows * columns + 1);
	address = next_address(&cells, step, channels * element);
	if (cells != prows * width)
		return;
	add(VIRGO_FUNCT_CONFIG, (uint64_t)columns << 56 | (uint64_t)rows << 48 | (uint64_t)pcolumns << 40 |
	    (uint64_t)prows << 32 | width << 24 | left << 10 | top << 8 | size << 6 | stride << 4 |
	    (choice >> 3 & 3) << 2 | VIRGO_CONFIG_ST, next_store_scale() << 32 | step);
	configured[u].store_stride = step;
	configured[u].pools = true;
	add(VIRGO_FUNCT_MVOUT, address, pack(from_1_to(9), channels, accumulator ? ACC | first : first_row + first));
}

static void move_out_spad(void)
{
	struct extent e = next_extent(true, r->dim, 0);
	unsigned int choice = byte(in), stride = from_1_to(3);
	unsigned int span = e.rows + (blocks_of(e.columns) - 1) * r->dim;
	uint32_t local = ACC | e.first;

	if (choice >= 192)
		local |= (choice & 7u) << VIRGO_LOCAL_NORM_SHIFT;
	if (stride * span > part_rows)
		stride = 0;
	add(VIRGO_FUNCT_MVOUT_SPAD, (uint64_t)stride << 32 | (first_row + below(part_rows - stride * span)),
	    pack(e.rows, e.columns, local));
}

/* --- the array ------------------------------------------------------------------------------------------ */

static uint64_t next_operand(unsigned int choice, unsigned int stride)
{
	unsigned int rows = from_1_to(r->dim), columns = from_1_to(r->dim), span = (r->dim - 1) * stride + 1;

	if (choice % 8 == 0)
		return pack(rows, columns, VIRGO_GARBAGE);
	/* An accumulator of 4 KB can have fewer rows than the array's, so far apart, span. */
	if (choice % 8 == 1 && span <= r->accumulator_rows)
		return pack(rows, columns, ACC | below(r->accumulator_rows - span + 1));
	CHECK(span <= part_rows);
	return pack(rows, columns, first_row + below(part_rows - span + 1));
}

static void multiply(void)
{
	unsigned int choice = byte(in), where = byte(in);
	uint64_t weights, output;

	/* Of any command */
	if (configured[u].a_stride > 3 || configured[u].c_stride > 3)
		execute_configuration();
	weights = next_operand(where & 7, 1);
	output = next_operand(choice & 32 ? 1 : where >> 3 & 7, configured[u].c_stride);

	if ((uint32_t)output != VIRGO_GARBAGE && output & ACC && choice & 16)
		output |= ADD;
	add(VIRGO_FUNCT_PRELOAD, weights, output);
	for (unsigned int n = 0; n <= (choice & 3); n++) {
		uint64_t a = next_operand(byte(in), configured[u].a_stride), bd = next_operand(byte(in), 1);

		add(n || choice >= 192 ? VIRGO_FUNCT_COMPUTE_ACCUMULATED : VIRGO_FUNCT_COMPUTE_PRELOADED, a, bd);
	}
}

/* --- LOOP_WS ---------------------------------------------------------------------------------------------- */

struct loop {
	unsigned int i, j, k, flags;
	uint64_t rs1, rs2;
	bool full;
	unsigned int d_size;
};

static bool next_loop(struct loop *l)
{
	unsigned int dim = r->dim, activation;

	l->i = from_1_to(4);
	l->j = from_1_to(4);
	l->k = from_1_to(5);
	l->flags = (unsigned int)bytes(in, 2);
	activation = l->flags >> 13;
	if (l->i * l->j * dim > r->accumulator_rows / 2 || (l->i * l->k + l->k * l->j) * dim > part_rows)
		return false;
	l->full = l->flags & 2;
	l->d_size = l->flags & 4 ? element : 4;
	l->rs1 = (l->flags & 7) | activation << VIRGO_LOOP_ACTIVATION_SHIFT;
	/* transposes, residual add, skips, next half, to the scratchpad */
	l->rs2 = l->flags >> 3 & 3;
	l->rs2 |= (uint64_t)(byte(in) & byte(in)) << 3 & 0x7f8;
	if (l->flags >= 0xf000 || (l->flags & 0x700) == 0x700)
		l->rs2 |= VIRGO_LOOP_RESIDUAL_ADD;
	if (l->rs2 & VIRGO_LOOP_SPAD_ONLY && !(l->rs2 & VIRGO_LOOP_SKIP_C))
		l->rs1 &= ~(uint64_t)VIRGO_LOOP_FULL_C;
	l->full = l->rs1 & VIRGO_LOOP_FULL_C;
	return true;
}

static uint64_t matrix(unsigned int rows, unsigned int stride, unsigned int size)
{
	unsigned int fit = rows;
	uint64_t address = next_address(&fit, (uint64_t)stride * size, stride * size);

	return fit == rows ? address : 0;
}

static void configure_loop(const struct loop *l)
{
	unsigned int dim = r->dim, m = l->i * dim, n = l->j * dim, d = l->k * dim;
	bool residual = l->rs2 & VIRGO_LOOP_RESIDUAL_ADD;
	unsigned int a_rows = residual ? m : l->rs2 & 1 ? d : m, a_columns = residual ? n : l->rs2 & 1 ? m : d;
	unsigned int b_rows = residual ? m : l->rs2 & 2 ? n : d, b_columns = residual ? n : l->rs2 & 2 ? d : n;
	unsigned int c_size = l->full ? 4 : element;
	/* An fp32 that is not shrunk is as long. */
	unsigned int wide = residual ? element : 0;
	uint64_t a, b;

	load_configuration(0, a_columns * element, next_scale(), wide, dim, 1);
	load_configuration(1, b_columns * element, next_scale(), wide, dim, 1);
	load_configuration(2, l->flags & 0x80 ? 0 : n * l->d_size, next_scale(), l->d_size == element, dim, 1);
	store_configuration(n * c_size, next_store_scale(), l->flags >> 11 & 3);
	a = matrix(a_rows, a_columns, element);
	b = matrix(b_rows, b_columns, element);
	add(VIRGO_FUNCT_LOOP_WS_ADDRS_AB, l->flags & 0x20 ? a : 0, b);
	a = matrix(m, n, l->d_size);
	b = matrix(m, n, c_size);
	add(VIRGO_FUNCT_LOOP_WS_ADDRS_DC, l->flags & 0x40 ? a : 0, b);
	add(VIRGO_FUNCT_LOOP_WS_STRIDES_AB, a_columns, b_columns);
	add(VIRGO_FUNCT_LOOP_WS_STRIDES_DC, l->flags & 0x80 ? 0 : n, n);
}

static void loop(void)
{
	unsigned int dim = r->dim, a_rows, b_rows, c_row;
	struct loop l = { .i = 0 };
	uint64_t pads;

	if (!next_loop(&l))
		return;
	configure_loop(&l);
	pads = below(dim) | below(dim) << 16 | (uint64_t)below(dim) << 32;
	if (l.flags & 0x100)
		pads = 0;
	add(VIRGO_FUNCT_LOOP_WS_BOUNDS, pads, (uint64_t)l.k << 32 | l.j << 16 | l.i);
	a_rows = l.i * l.k * dim;
	b_rows = l.k * l.j * dim;
	add(VIRGO_FUNCT_LOOP_WS_SPAD_AB, first_row + below(part_rows - a_rows - b_rows + 1),
	    first_row + part_rows - below(part_rows - a_rows - b_rows + 1));
	c_row = first_row + below(part_rows - l.i * l.j * dim);
	add(VIRGO_FUNCT_LOOP_WS_SPAD_C, c_row, 0);
	if (l.flags & 0x200)
		l.rs2 |= (uint64_t)c_row << VIRGO_LOOP_C_ROW_SHIFT;
	add(VIRGO_FUNCT_LOOP_WS, l.rs1, l.rs2);
	if (l.flags & 0x1000)
		add(VIRGO_FUNCT_LOOP_WS, l.rs1 | VIRGO_LOOP_ACCUMULATE, l.rs2);
}

/* --- the choice --------------------------------------------------------------------------------------------- */

static void choose_unit(struct input *input, unsigned int unit, struct sequence *s)
{
	static const unsigned int sizes[] = { 1, 2, 4 };

	in = input;
	u = unit;
	out = s;
	out->count = 0;
	r = expected[unit].reference;
	element = sizes[side.config.unit[unit].type];
	part_rows = r->rows / side.config.units;
	first_row = unit * part_rows;
	part_address = ARENA_ADDRESS + unit * PART_BYTES;
}

void next_commands(struct input *input, unsigned int unit, struct sequence *s)
{
	unsigned int choice;

	choose_unit(input, unit, s);
	choice = byte(in);
	switch (choice % 16) {
	case 0: case 1: case 2:
		move_in();
		return;
	case 3: case 4:
		move_out();
		return;
	case 5: case 6:
		multiply();
		return;
	case 7: case 8:
		loop();
		return;
	case 9:
		any_load_configuration();
		return;
	case 10:
		any_store_configuration();
		return;
	case 11:
		execute_configuration();
		return;
	case 12:
		norm_configuration();
		return;
	case 13:
		move_out_pooled();
		return;
	case 14:
		move_out_spad();
		return;
	default:
		if (choice & 16)
			add(VIRGO_FUNCT_COUNTER, (uint64_t)byte(in) & 0x77, 0);
		else
			add(choice & 32 ? VIRGO_FUNCT_FLUSH : VIRGO_FUNCT_CLOCK_GATE, bytes(in, 2), 0);
	}
}

static uint64_t next_wild_value(void)
{
	unsigned int choice = byte(in);

	switch (choice % 8) {
	case 0: case 1:
		return ARENA_ADDRESS + bytes(in, 3) % (ARENA_BYTES + 100) - 50;
	case 2: case 3:
		return pack(byte(in) % 40, byte(in) % 40, (uint32_t)bytes(in, 2) | (uint32_t)byte(in) >> 4 << 28);
	case 4:
		return pack((unsigned int)bytes(in, 2), (unsigned int)bytes(in, 2), (uint32_t)bytes(in, 4));
	case 5:
		return byte(in);
	case 6:
		return bytes(in, 4);
	default:
		return bytes(in, 8);
	}
}

void next_wild_command(struct input *input, unsigned int unit, struct sequence *s)
{
	unsigned int funct;
	uint64_t rs1, rs2;

	choose_unit(input, unit, s);
	funct = byte(in);
	rs1 = next_wild_value();
	rs2 = next_wild_value();
	add_command(out, funct < 250 ? funct % 27 : funct % 128, rs1, rs2, false);
	if (funct >= 240 && funct < 250) {
		out->entry[0].word ^= 1u << byte(in) % 7;
		out->entry[0].funct = 127;
	}
}
