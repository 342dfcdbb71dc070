/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the instructions that the model's own streams have: design, warp, tiles of C, steps, kind, count. For count.py. */
#include <stdio.h>

#include "devices/virgo/time/internal.h"
#include "sim/parameters.h"

static const unsigned int products[][2] = { { 1, 2 }, { 1, 4 }, { 2, 2 } };	/* tiles, side by side, and their steps */

static const char *kind_of(const struct instruction *instruction)
{
	switch (instruction->operation) {
	case OP_ALU:
		return "ALU";
	case OP_FPU:
		return "FPU";
	case OP_BRANCH:
	case OP_BRANCH_BUSY:
		return "branch";
	case OP_CSR:
	case OP_COMMAND:
		return "CSR";
	case OP_WMMA:
		return "wmma";
	case OP_LOAD:
		return instruction->address < virgo_time_matrix_address(0) ? "reload" : "memory load";
	case OP_STORE:
		return instruction->address < virgo_time_matrix_address(0) ? "spill" : "memory store";
	case OP_LOAD_SHARED:
		return "shared load";
	case OP_STORE_SHARED:
		return "shared store";
	case OP_LOAD_BUSY:
		return "unit load";
	case OP_STORE_UNIT:
		return "unit store";
	case OP_FENCE:
		return "fence";
	case OP_BARRIER:
		return "barrier";
	default:
		return "other";
	}
}

/* A poll is one iteration: only a core that runs asks for it again. A line an instruction: count.py adds them up. */
static void walk(struct core *core, unsigned int warp, const char *role, unsigned int tiles, unsigned int steps)
{
	struct instruction instruction;

	while (virgo_time_stream_next(core, &core->warp[warp], &instruction))
		printf("%s,%s,%u,%u,%s\n", virgo_time_design_name(core->timing->unit[0].kernel.design), role, tiles, steps, kind_of(&instruction));
}

static int print(const struct virgo_time_parameters *parameters, enum virgo_time_design design, unsigned int tiles, unsigned int steps)
{
	struct virgo_time_kernel kernel = { .design = design, .m = parameters->matrix_tile_m, .n = tiles * parameters->matrix_tile_n,
					    .k = steps * parameters->matrix_tile_k };
	struct virgo_timing *timing = virgo_time_create(parameters, NULL, 0);
	int error = timing ? virgo_time_start(timing, &kernel, 0) : -1;

	if (!error) {
		walk(&timing->core[0], 0, "leader", tiles, steps);
		walk(&timing->core[1], 1, "each", tiles, steps);
	}
	virgo_time_destroy(timing);
	return error;
}

int main(void)
{
	struct sim_parameters preset;
	struct virgo_time_parameters parameters;
	char why[256];

	if (sim_parameters_load(&preset, SIM_PRESET_CLUSTER, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
#define _(section, key) parameters.section##_##key = preset.section##_##key;
	VIRGO_TIME_PARAMETERS(_)
#undef _
	for (unsigned int design = VIRGO_DESIGN_TC; design <= VIRGO_DESIGN_VIRGO_DMA; design++)
		for (size_t i = 0; i < sizeof(products) / sizeof(*products); i++)
			if (print(&parameters, (enum virgo_time_design)design, products[i][0], products[i][1]))
				return 1;
	return 0;
}
