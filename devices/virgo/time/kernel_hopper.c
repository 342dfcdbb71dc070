/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel of the operand-decoupled tensor cores, which this paper's version does not have (second-hand, docs/timing-virgo.md). A
 * core makes a part of the tile of C by operations of 16 x 16 x 16 that name operands in shared memory.
 */
#include "devices/virgo/time/internal.h"

#define POINTER 5	/* registers */
#define COUNTER 6
#define SIDE 16u
#define C_FIRST FLOAT(0)
#define C_REGISTERS 32	/* of a warp */

static void alu(struct code *code, unsigned int count, unsigned int lanes)
{
	virgo_time_code_alu(code, count, COUNTER, COUNTER, lanes);
}

static void order_load(struct code *code, int half_of, enum when when)
{
	struct item *item;

	for (unsigned int i = 0; i < 5; i++) {
		item = virgo_time_code_add(code, OP_STORE_UNIT, 1);
		item->instruction.from[0] = POINTER;
		item->when = (uint8_t)when;
	}
	virgo_time_code_command(code, REQUEST_NONE, when);
	item = virgo_time_code_add(code, OP_COMMAND, 1);
	item->instruction.request = REQUEST_LOAD;
	item->half_of = (int8_t)half_of;
	item->when = (uint8_t)when;
}

/* Blocks of C are dealt out to the cores; the first warp of each gives its unit the operations. */
static void multiply(const struct warp_place *place, struct code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int cores = place->all / (unsigned int)parameters->cluster_warps;
	const uint64_t columns = parameters->matrix_tile_n / SIDE;
	const uint64_t blocks = parameters->matrix_tile_m / SIDE * columns;

	for (uint64_t block = place->core; block < blocks; block += cores) {
		for (uint64_t depth = 0; depth < parameters->matrix_tile_k / SIDE; depth++) {
			struct item *item;

			alu(code, 4, 1);
			item = virgo_time_code_add(code, OP_DECOUPLED, (unsigned int)parameters->cluster_lanes);
			item->half_of = 1;
			item->instruction.address = virgo_time_buffer(place->timing, false, 0) +
						    (block / columns * parameters->matrix_tile_k + depth * SIDE) * SIDE * WORD;
			item->by_half = (int64_t)virgo_time_buffer(place->timing, false, 1) -
					virgo_time_buffer(place->timing, false, 0);
		}
	}
	virgo_time_code_add(code, OP_DECOUPLED_WAIT, (unsigned int)parameters->cluster_lanes);
}

static void meet(struct code *code, unsigned int lanes)
{
	virgo_time_code_add(code, OP_FENCE, lanes);
	virgo_time_code_add(code, OP_BARRIER, lanes);
}

/* C lies in the registers of the warps, each of which does the activation of its own. */
static void store_tile(const struct warp_place *place, struct code *code)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const unsigned int lanes = (unsigned int)parameters->cluster_lanes;
	const struct share share = virgo_time_share(parameters->matrix_tile_m * parameters->matrix_tile_n / lanes, place->all,
						    place->number);

	for (uint64_t i = 0; i < share.count; i++) {
		const uint8_t value = (uint8_t)(C_FIRST + i % C_REGISTERS);
		struct item *item;

		for (unsigned int n = 0; n < place->kernel->swish; n++) {
			item = virgo_time_code_add(code, OP_FPU, lanes);
			item->instruction.to = item->instruction.from[0] = value;
		}
		item = virgo_time_code_add(code, OP_STORE, lanes);
		item->instruction.from[0] = value;
		item->instruction.address = virgo_time_matrix_address(2) + (share.first + i) * lanes * WORD;
		item->by_row = (int64_t)(parameters->matrix_tile_m * place->kernel->n * WORD);
		item->by_column = (int64_t)(parameters->matrix_tile_n * WORD);
	}
}

void virgo_time_kernel_hopper(const struct warp_place *place, struct warp_code *code)
{
	const unsigned int lanes = (unsigned int)place->timing->parameters.cluster_lanes;
	struct code *begin = &code->part[PART_TILE_BEGIN], *step = &code->part[PART_STEP], *end = &code->part[PART_TILE_END];

	alu(begin, 4, lanes);
	if (!place->number) {
		order_load(begin, 1, ALWAYS);
		virgo_time_code_poll(begin, ALWAYS);
	}
	meet(begin, lanes);
	if (!place->number)
		order_load(step, 2, UNLESS_LAST_STEP);
	if (!place->warp)
		multiply(place, step);
	alu(step, 4, lanes);
	virgo_time_code_add(step, OP_BRANCH, lanes);
	if (!place->number)
		virgo_time_code_poll(step, ALWAYS);
	meet(step, lanes);
	store_tile(place, end);
	alu(end, 4, lanes);
	virgo_time_code_add(end, OP_BRANCH, lanes);
	virgo_time_code_add(&code->part[PART_END], OP_BARRIER, lanes);
}
