/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernels of the core-coupled tensor cores. Each warp makes 16 x 8 of the tile of C, by two wmmas for each 8 of the
 * tile's depth; operands come out of shared memory by the lanes. With DMA one thread orders the next step's operands;
 * without, all warps copy a step's operands before it, A transposed. Numbers of instructions are those of the
 * published kernels, compiled (docs/timing-virgo.md).
 */
#include "devices/virgo/time/internal.h"

#define POINTER 5	/* registers */
#define COUNTER 6
#define FRAGMENT 8	/* registers of a wmma's operand, and rows and columns of it */
#define WARP_ROWS 16
#define A_FIRST FLOAT(0)
#define B_FIRST FLOAT(8)
#define C_FIRST FLOAT(16)
#define COPIED 4	/* lines that are loaded, and then stored */

static unsigned int lanes_of(const struct warp_place *place)
{
	return (unsigned int)place->timing->parameters.cluster_lanes;
}

static void add_simple(struct code *code, enum operation operation, unsigned int lanes, enum when when)
{
	struct item *item = virgo_time_code_add(code, operation, lanes);

	item->instruction.from[0] = operation == OP_BRANCH ? COUNTER : 0;
	item->when = (uint8_t)when;
}

/* --- the product ---------------------------------------------------------------------------------------------- */

/* The warp's place in the tile: warps of different cores are neighbours. */
static unsigned int identity(const struct warp_place *place)
{
	unsigned int cores = place->all / (unsigned int)place->timing->parameters.cluster_warps;

	return cores * place->warp + place->core;
}

/* A fragment's lines, one for each register; `row` and `column` in the tile, in words. */
static void load_fragment(const struct warp_place *place, struct code *code, bool is_b, uint64_t row, uint64_t column)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	uint64_t width = is_b ? parameters->matrix_tile_n : parameters->matrix_tile_k;
	const bool is_double = place->kernel->design != VIRGO_DESIGN_TC;

	for (unsigned int i = 0; i < FRAGMENT; i++) {
		struct item *item = virgo_time_code_add(code, OP_LOAD_SHARED, lanes_of(place));

		item->instruction.to = (uint8_t)((is_b ? B_FIRST : A_FIRST) + i);
		item->instruction.from[0] = POINTER;
		item->instruction.address = virgo_time_buffer(place->timing, is_b, 0) + ((row + i) * width + column) * WORD;
		item->half_of = is_double;
		item->by_half = (int64_t)virgo_time_buffer(place->timing, is_b, 1) - virgo_time_buffer(place->timing, is_b, 0);
	}
}

static void wmma(const struct warp_place *place, struct code *code, unsigned int which)
{
	struct item *item = virgo_time_code_add(code, OP_WMMA, lanes_of(place));

	item->instruction.to = (uint8_t)(C_FIRST + which * FRAGMENT);
}

/* For a tile of 64: 192 loads, 16 wmmas, 84 ALU, 4 branches; the fifth is the loop's. */
static void multiply(const struct warp_place *place, struct code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int columns = (unsigned int)(parameters->matrix_tile_n / FRAGMENT), id = identity(place);
	const uint64_t row = id / columns * WARP_ROWS, column = id % columns * FRAGMENT;

	for (unsigned int depth = 0; depth < parameters->matrix_tile_k; depth += FRAGMENT) {
		virgo_time_code_alu(code, depth ? 4 : 3, POINTER, POINTER, lanes_of(place));
		load_fragment(place, code, true, depth, column);
		virgo_time_code_alu(code, 3, POINTER, POINTER, lanes_of(place));
		load_fragment(place, code, false, row, depth);
		wmma(place, code, 0);
		virgo_time_code_alu(code, 2, POINTER, POINTER, lanes_of(place));
		load_fragment(place, code, false, row + FRAGMENT, depth);
		wmma(place, code, 1);
		if (depth / FRAGMENT % 2)
			add_simple(code, OP_BRANCH, lanes_of(place), ALWAYS);
	}
	virgo_time_code_alu(code, 13, COUNTER, COUNTER, lanes_of(place));
	add_simple(code, OP_BRANCH, lanes_of(place), ALWAYS);
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static struct share share_of(const struct warp_place *place, bool is_b)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	uint64_t words = (is_b ? parameters->matrix_tile_n : parameters->matrix_tile_m) * parameters->matrix_tile_k;

	return virgo_time_share(words / parameters->cluster_lanes, place->all, place->number);
}

/* A is stored transposed: its lane's words lie a row apart, all in one sub-bank. */
static void copy_line(const struct warp_place *place, struct code *code, bool is_b, unsigned int line, bool is_store)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	uint64_t which = share_of(place, is_b).first + line, of_row = parameters->matrix_tile_k / lanes_of(place);
	struct item *item = virgo_time_code_add(code, is_store ? OP_STORE_SHARED : OP_LOAD, lanes_of(place));

	if (!is_store) {
		item->instruction.to = (uint8_t)(A_FIRST + line % COPIED);
		item->instruction.from[0] = POINTER;
		virgo_time_operand_line(place, item, is_b, which);
		return;
	}
	item->instruction.from[0] = (uint8_t)(A_FIRST + line % COPIED);
	item->instruction.address = virgo_time_buffer(place->timing, is_b, 0) + which * lanes_of(place) * WORD;
	if (is_b)
		return;
	item->instruction.group = 1;
	item->instruction.far = (int32_t)(parameters->matrix_tile_m * WORD);
	item->instruction.address = virgo_time_buffer(place->timing, false, 0) +
				    (which % of_row * lanes_of(place) * parameters->matrix_tile_m + which / of_row) * WORD;
}

static void copy(const struct warp_place *place, struct code *code, bool is_b)
{
	const unsigned int lines = (unsigned int)share_of(place, is_b).count;

	for (unsigned int line = 0; line < lines; line += COPIED) {
		unsigned int end = line + COPIED < lines ? line + COPIED : lines;

		virgo_time_code_alu(code, 6, POINTER, POINTER, lanes_of(place));
		for (unsigned int i = line; i < end; i++)
			copy_line(place, code, is_b, i, false);
		for (unsigned int i = line; i < end; i++)
			copy_line(place, code, is_b, i, true);
	}
	add_simple(code, OP_BRANCH, lanes_of(place), ALWAYS);
}

/* One thread: addresses, strides, the load of a step's operands. */
static void order_load(struct code *code, int half_of, enum when when)
{
	struct item *item;

	for (unsigned int i = 0; i < 10; i++)
		add_simple(code, OP_ALU, 1, when);
	for (unsigned int i = 0; i < 5; i++)
		add_simple(code, OP_STORE_UNIT, 1, when);
	virgo_time_code_command(code, REQUEST_NONE, when);
	item = virgo_time_code_add(code, OP_COMMAND, 1);
	item->instruction.request = REQUEST_LOAD;
	item->half_of = (int8_t)half_of;
	item->when = (uint8_t)when;
}

static void meet(const struct warp_place *place, struct code *code)
{
	add_simple(code, OP_FENCE, lanes_of(place), ALWAYS);
	add_simple(code, OP_BARRIER, lanes_of(place), ALWAYS);
}

/* --- the end of a tile ------------------------------------------------------------------------------------------- */

/* Half of the warps do the activation of the whole tile. */
static void activate(const struct warp_place *place, struct code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int half = (place->all + 1) / 2;
	uint64_t values;

	if (place->number >= half)
		return;
	values = virgo_time_share(parameters->matrix_tile_m * parameters->matrix_tile_n / lanes_of(place), half, place->number).count;
	for (uint64_t value = 0; value < values; value++)
		for (unsigned int i = 0; i < place->kernel->swish; i++) {
			struct item *item = virgo_time_code_add(code, OP_FPU, lanes_of(place));

			item->instruction.to = item->instruction.from[0] = (uint8_t)(A_FIRST + value % FRAGMENT);
		}
}

/* A register of C has two words of each of four rows. */
static void store_tile(const struct warp_place *place, struct code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int columns = (unsigned int)(parameters->matrix_tile_n / FRAGMENT), id = identity(place);
	const uint64_t row = id / columns * WARP_ROWS, column = id % columns * FRAGMENT, n = place->kernel->n;

	for (unsigned int i = 0; i < 2 * FRAGMENT; i++) {
		struct item *item;
		uint64_t at = (row + i / FRAGMENT * FRAGMENT + i % 2 * 4) * n + column + i % FRAGMENT / 2 * 2;

		if (i % FRAGMENT == 0) {
			item = virgo_time_code_add(code, OP_LOAD, lanes_of(place));
			item->instruction.to = POINTER;
			item->instruction.group = 1;
			item->instruction.far = -VIRGO_TIME_STACK_BYTES;
			item->instruction.address = virgo_time_stack_address(place->timing, place->core, place->warp);
		}
		item = virgo_time_code_add(code, OP_STORE, lanes_of(place));
		item->instruction.from[0] = (uint8_t)(C_FIRST + i);
		item->instruction.from[1] = POINTER;
		item->instruction.group = 2;
		item->instruction.far = (int32_t)(n * WORD);
		item->instruction.address = virgo_time_matrix_address(2) + at * WORD;
		item->by_row = (int64_t)(parameters->matrix_tile_m * n * WORD);
		item->by_column = (int64_t)(parameters->matrix_tile_n * WORD);
	}
}

/* --- both ------------------------------------------------------------------------------------------------------------ */

static void clear(const struct warp_place *place, struct code *code)
{
	for (unsigned int i = 0; i < 2 * FRAGMENT; i++)
		virgo_time_code_add(code, OP_FPU, lanes_of(place))->instruction.to = (uint8_t)(C_FIRST + i);
}

static void step_with_dma(const struct warp_place *place, struct code *code)
{
	const bool leads = !place->number, is_double = place->timing->parameters.kernel_double_buffer;

	if (leads && is_double)
		order_load(code, 2, UNLESS_LAST_STEP);
	multiply(place, code);
	if (!is_double)
		meet(place, code);
	if (leads && !is_double)
		order_load(code, 2, UNLESS_LAST_STEP);
	if (leads)
		virgo_time_code_poll(code, ALWAYS);
	meet(place, code);
}

void virgo_time_kernel_tensor(const struct warp_place *place, struct warp_code *code)
{
	struct code *begin = &code->part[PART_TILE_BEGIN], *step = &code->part[PART_STEP], *end = &code->part[PART_TILE_END];

	clear(place, begin);
	if (place->kernel->design == VIRGO_DESIGN_TC) {
		copy(place, step, false);
		copy(place, step, true);
		meet(place, step);
		multiply(place, step);
		meet(place, step);
	} else {
		if (!place->number) {
			order_load(begin, 1, ALWAYS);
			virgo_time_code_poll(begin, ALWAYS);
		}
		meet(place, begin);
		step_with_dma(place, step);
	}
	if (place->kernel->swish) {
		activate(place, end);
		meet(place, end);
	}
	store_tile(place, end);
	virgo_time_code_alu(end, 4, COUNTER, COUNTER, lanes_of(place));
	add_simple(end, OP_BRANCH, lanes_of(place), ALWAYS);
	add_simple(&code->part[PART_END], OP_BARRIER, lanes_of(place), ALWAYS);
}
