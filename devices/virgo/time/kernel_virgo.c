/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernels of the matrix unit. With DMA one thread drives it, and the other warps have nothing to do but to meet
 * at the end; without, all warps copy the operands of the next step while the unit multiplies. Numbers of
 * instructions are those of the published kernels, compiled (docs/timing-virgo.md).
 */
#include "devices/virgo/time/internal.h"

#define RELOAD_STRIDE 9	/* words of the stack from one reload to the next */
#define POINTER 5	/* registers */
#define RELOADED 10
#define COUNTER 6

/* Registers of the unit: addresses and sizes, 32 bits at a time. */
static void store_registers(struct code *code, unsigned int count, enum request last, enum when when)
{
	for (unsigned int i = 0; i < count; i++) {
		struct item *item = virgo_time_code_add(code, OP_STORE_UNIT, 1);

		item->instruction.from[0] = POINTER;
		item->when = (uint8_t)when;
		if (i + 1 == count)
			item->instruction.request = (uint8_t)last;
	}
}

static void alu(struct code *code, unsigned int count, unsigned int lanes)
{
	virgo_time_code_alu(code, count, COUNTER, COUNTER, lanes);
}

/* --- with DMA ------------------------------------------------------------------------------------------------- */

/* `half_of`: 1 this step's half, 2 the next one's */
static void order_load(struct code *code, int half_of, enum when when)
{
	struct item *item;

	for (unsigned int i = 0; i < 4; i++) {
		item = virgo_time_code_add(code, OP_ALU, 1);
		item->instruction.to = POINTER;
		item->instruction.from[0] = POINTER;
		item->when = (uint8_t)when;
	}
	store_registers(code, 5, REQUEST_NONE, when);
	virgo_time_code_command(code, REQUEST_NONE, when);	/* the strides */
	item = virgo_time_code_add(code, OP_COMMAND, 1);
	item->instruction.request = REQUEST_LOAD;
	item->half_of = (int8_t)half_of;
	item->when = (uint8_t)when;
}

static void order_multiply(struct code *code)
{
	struct item *item = virgo_time_code_add(code, OP_COMMAND, 1);

	item->instruction.request = REQUEST_MULTIPLY;
	item->half_of = 1;
}

static void branch(struct code *code, unsigned int lanes)
{
	virgo_time_code_add(code, OP_BRANCH, lanes)->instruction.from[0] = COUNTER;
}

static void barrier(struct code *code, unsigned int lanes)
{
	virgo_time_code_add(code, OP_BARRIER, lanes);
}

/*
 * The operands of a step are loaded while the step before it is multiplied, and a poll then waits for both.
 * Without a second buffer the load waits for the multiplication.
 */
static void drive_step(const struct warp_place *place, struct code *code)
{
	const bool is_double = place->timing->parameters.kernel_double_buffer;

	alu(code, 3, 1);
	order_multiply(code);
	if (!is_double)
		virgo_time_code_poll(code, ALWAYS);
	order_load(code, 2, UNLESS_LAST_STEP);
	alu(code, 3, 1);
	branch(code, 1);
	virgo_time_code_poll(code, ALWAYS);
}

/* C goes to memory, and no warp waits for that. */
static void store_out(struct code *code)
{
	alu(code, 4, 1);
	store_registers(code, 20, REQUEST_STORE, ALWAYS);
	branch(code, 1);
}

/* C by way of shared memory: warp `number` of `all` takes its part out, with an activation of `swish` FPU instructions for each element. */
static void take_out(const struct warp_place *place, struct code *code, unsigned int number, unsigned int all, unsigned int swish)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int lanes = (unsigned int)parameters->cluster_lanes;
	const struct share share = virgo_time_share(parameters->matrix_tile_m * parameters->matrix_tile_n / lanes, all, number);

	for (uint64_t i = 0; i < share.count; i++) {
		const uint64_t offset = (share.first + i) * lanes * WORD;
		const uint8_t value = (uint8_t)FLOAT(i % 8);
		struct item *item = virgo_time_code_add(code, OP_LOAD_SHARED, lanes);

		item->instruction.to = value;
		item->instruction.address = offset;
		for (unsigned int n = 0; n < swish; n++) {
			item = virgo_time_code_add(code, OP_FPU, lanes);
			item->instruction.to = item->instruction.from[0] = value;
		}
		item = virgo_time_code_add(code, OP_STORE, lanes);
		item->instruction.from[0] = value;
		item->instruction.address = virgo_time_matrix_address(2 + place->kernel->unit) + offset;
	}
	alu(code, 2, lanes);
	branch(code, lanes);
}

/*
 * All warps take C out, and meet again, unless one drives on: it goes on with the next tile, and the others have all of C.
 * In the fused kernel with DMA that is so: a chain of FPU instructions before the next multiplication would hold up the
 * unit, which the kernel keeps busy. A warp that is alone does all.
 */
static void move_out(const struct warp_place *place, struct warp_code *code, bool one_drives_on)
{
	const unsigned int swish = place->kernel->swish;
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	struct code *end = &code->part[PART_TILE_END];

	if (!place->number) {
		virgo_time_code_command(end, REQUEST_MOVE, ALWAYS);
		virgo_time_code_poll(end, ALWAYS);
		virgo_time_code_add(end, OP_FENCE, 1);
	}
	barrier(end, lanes);
	if (!one_drives_on) {
		take_out(place, end, place->number, place->all, swish);
		barrier(end, lanes);
	} else if (place->number) {
		take_out(place, end, place->number - 1, place->all - 1, swish);
	} else if (place->all == 1) {
		take_out(place, end, 0, 1, swish);
	}
}

void virgo_time_kernel_virgo_dma(const struct warp_place *place, struct warp_code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const bool moves_out = place->kernel->swish || parameters->kernel_warps_store;
	struct code *begin = &code->part[PART_TILE_BEGIN];

	if (!place->number) {
		alu(begin, 4, 1);
		order_load(begin, 1, ALWAYS);
		virgo_time_code_poll(begin, ALWAYS);
		drive_step(place, &code->part[PART_STEP]);
	}
	if (moves_out)
		move_out(place, code, place->kernel->swish);
	else if (!place->number)
		store_out(&code->part[PART_TILE_END]);
	barrier(&code->part[PART_END], (unsigned int)parameters->cluster_lanes);
}

/* --- without DMA ---------------------------------------------------------------------------------------------- */

#define LINES 4		/* that are loaded, and then stored, in a group */
#define RELOADS 23	/* for 8 groups: words of the stack that were spilled */
#define GROUPS 8

/*
 * A register that was spilled. Each thread has a stack of its own. Which word comes when is the compiler's affair;
 * here they come in an order that does not go through lines one by one (docs/timing-virgo.md).
 */
static void reload(const struct warp_place *place, struct code *code, unsigned int number)
{
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	struct item *item = virgo_time_code_add(code, OP_LOAD, lanes);

	item->instruction.to = RELOADED;
	item->instruction.group = 1;
	item->instruction.far = -VIRGO_TIME_STACK_BYTES;
	item->instruction.address = virgo_time_stack_address(place->timing, place->core, place->warp) +
				    (uint64_t)number * RELOAD_STRIDE % RELOADS * WORD;
}

/* Lines of one matrix's tile that each warp copies. */
static struct share share_of(const struct warp_place *place, bool is_b)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	uint64_t words = (is_b ? parameters->matrix_tile_n : parameters->matrix_tile_m) * parameters->matrix_tile_k;

	return virgo_time_share(words / parameters->cluster_lanes, place->all, place->number);
}

/* One line of A's tile or of B's for the next step, to or from a register. */
static void copy_line(const struct warp_place *place, struct code *code, unsigned int line, bool is_store)
{
	const struct share of_a = share_of(place, false);
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	bool is_b = line >= of_a.count;
	uint64_t which = is_b ? share_of(place, true).first + line - of_a.count : of_a.first + line;
	struct item *item = virgo_time_code_add(code, is_store ? OP_STORE_SHARED : OP_LOAD, lanes);

	if (!is_store) {
		item->instruction.to = FLOAT(line % LINES);
		item->instruction.from[0] = POINTER;
		virgo_time_operand_line(place, item, is_b, which);
		return;
	}
	item->instruction.from[0] = FLOAT(line % LINES);
	item->instruction.address = virgo_time_buffer(place->timing, is_b, 0) + which * lanes * WORD;
	item->half_of = 2;
	item->by_half = (int64_t)virgo_time_buffer(place->timing, is_b, 1) - virgo_time_buffer(place->timing, is_b, 0);
}

/* For the tile of 64: 32 loads, 32 stores, 23 reloads, 92 ALU, 3 CSRs, 5 branches. */
static void copy(const struct warp_place *place, struct code *code, enum when when)
{
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	const unsigned int lines = (unsigned int)(share_of(place, false).count + share_of(place, true).count);
	const unsigned int groups = (lines + LINES - 1) / LINES;
	const unsigned int first = code->count;
	unsigned int reloads = 0;

	for (unsigned int group = 0; group < groups; group++) {
		unsigned int from = group * LINES, to = from + LINES < lines ? from + LINES : lines;

		for (; place->timing->parameters.kernel_reloads && reloads < (group + 1) * RELOADS / GROUPS; reloads++)
			reload(place, code, reloads);
		virgo_time_code_alu(code, 4, POINTER, RELOADED, lanes);
		alu(code, 7, lanes);
		for (unsigned int line = from; line < to; line++)
			copy_line(place, code, line, false);
		for (unsigned int line = from; line < to; line++)
			copy_line(place, code, line, true);
		if (group % 2)
			branch(code, lanes);
	}
	for (unsigned int i = 0; i < 3; i++)
		virgo_time_code_add(code, OP_CSR, lanes)->instruction.to = COUNTER;
	alu(code, 4, lanes);
	branch(code, lanes);
	for (unsigned int i = first; i < code->count; i++)
		code->item[i].when = (uint8_t)when;
}

/* The first step's operands are copied before any multiplication, to the first half. */
static void copy_first(const struct warp_place *place, struct code *code)
{
	copy(place, code, ALWAYS);
	for (unsigned int i = 0; i < code->count; i++) {
		code->item[i].half_of = 0;
		code->item[i].by_step = 0;
	}
}

static void copy_next(const struct warp_place *place, struct code *code)
{
	unsigned int first = code->count;

	copy(place, code, UNLESS_LAST_STEP);
	for (unsigned int i = first; i < code->count; i++)
		code->item[i].instruction.address += (uint64_t)code->item[i].by_step;
}

void virgo_time_kernel_virgo(const struct warp_place *place, struct warp_code *code)
{
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	struct code *begin = &code->part[PART_TILE_BEGIN], *step = &code->part[PART_STEP];

	copy_first(place, begin);
	virgo_time_code_add(begin, OP_FENCE, lanes);
	barrier(begin, lanes);
	if (!place->number) {
		virgo_time_code_poll(step, ALWAYS);
		alu(step, 4, 1);
		order_multiply(step);
	}
	copy_next(place, step);
	virgo_time_code_add(step, OP_FENCE, lanes);
	barrier(step, lanes);
	if (!place->number)
		virgo_time_code_poll(&code->part[PART_TILE_END], ALWAYS);
	/* All copy the next tile's first operands, to where C is: no warp goes on before it has left. */
	move_out(place, code, false);
}
