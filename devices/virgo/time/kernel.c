/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Kernels: the instructions of each warp, the places of their operands, the commands to the matrix units. */
#include <errno.h>
#include <string.h>

#include "devices/virgo/time/internal.h"

#define MATRIX_SPACE 0x100000000ull	/* between the program's matrices */
#define STACK_TOP 0xff000000ull

uint64_t virgo_time_matrix_address(unsigned int which)
{
	return MATRIX_SPACE * (which + 1);
}

uint64_t virgo_time_stack_address(const struct virgo_timing *timing, unsigned int core, unsigned int warp)
{
	uint64_t thread = (core * timing->parameters.cluster_warps + warp) * timing->parameters.cluster_lanes;

	return STACK_TOP - thread * VIRGO_TIME_STACK_BYTES;
}

/*
 * Double buffers of a unit's share of the shared memory: A, A, B, B, each in a quarter. Of several units each has
 * an equal part.
 */
static uint32_t share_of(const struct virgo_timing *timing)
{
	return (uint32_t)(timing->parameters.shared_size / timing->parameters.matrix_units);
}

static uint32_t buffer(const struct virgo_timing *timing, unsigned int unit, bool is_b, unsigned int half)
{
	uint32_t share = share_of(timing);

	return unit * share + (is_b * 2 + half) * (share / 4);
}

uint32_t virgo_time_buffer(const struct virgo_timing *timing, bool is_b, unsigned int half)
{
	return buffer(timing, 0, is_b, half);
}

struct share virgo_time_share(uint64_t lines, unsigned int all, unsigned int number)
{
	uint64_t each = lines / all, more = lines % all;

	return (struct share){ number * each + earlier(number, more), each + (number < more) };
}

/* Line `which` of the tile of A or B that the first step of the first tile of C needs. */
void virgo_time_operand_line(const struct warp_place *place, struct item *item, bool is_b, uint64_t which)
{
	const struct virgo_time_parameters *parameters = &place->timing->parameters;
	const struct virgo_time_kernel *kernel = place->kernel;
	uint64_t lanes = parameters->cluster_lanes;
	uint64_t of_row = (is_b ? parameters->matrix_tile_n : parameters->matrix_tile_k) / lanes;
	uint64_t stride = is_b ? kernel->n : kernel->k;

	item->instruction.address = virgo_time_matrix_address(is_b) +
				    (which / of_row * stride + which % of_row * lanes) * WORD;
	item->by_step = (int64_t)((is_b ? parameters->matrix_tile_k * kernel->n : parameters->matrix_tile_k) * WORD);
	item->by_row = is_b ? 0 : (int64_t)(parameters->matrix_tile_m * kernel->k * WORD);
	item->by_column = is_b ? (int64_t)(parameters->matrix_tile_n * WORD) : 0;
}

/* --- commands of a kernel to its unit --------------------------------------------------------------- */

static struct virgo_time_range range(uint32_t first, uint64_t size)
{
	return (struct virgo_time_range){ first, first + (uint32_t)size };
}

static void load(const struct matrix_unit *unit, unsigned int half, struct virgo_time_operation *operation)
{
	const struct virgo_time_parameters *parameters = &unit->timing->parameters;
	uint64_t bytes = (parameters->matrix_tile_m + parameters->matrix_tile_n) * parameters->matrix_tile_k * WORD;

	operation->engine = VIRGO_ENGINE_LOAD;
	operation->requests = (uint32_t)(bytes / parameters->dma_request);
	operation->request_beats = (uint32_t)(parameters->dma_request / parameters->bus_beat);
	operation->writes = range(buffer(unit->timing, unit->number, false, half),
				  parameters->matrix_tile_m * parameters->matrix_tile_k * WORD);
	operation->writes_b = range(buffer(unit->timing, unit->number, true, half),
				    parameters->matrix_tile_n * parameters->matrix_tile_k * WORD);
}

static void multiply(const struct matrix_unit *unit, unsigned int half, struct virgo_time_operation *operation)
{
	const struct virgo_time_parameters *parameters = &unit->timing->parameters;
	uint64_t dim = unit->dim;
	uint64_t i = parameters->matrix_tile_m / dim, j = parameters->matrix_tile_n / dim, k = parameters->matrix_tile_k / dim;
	uint64_t words = parameters->shared_words;

	operation->engine = VIRGO_ENGINE_EXECUTE;
	operation->passes = (uint32_t)(i * j * k);
	operation->rows = (uint32_t)(dim * (dim > words ? dim / words : 1));
	operation->pass_reuse = (uint32_t)i;
	operation->a_base = buffer(unit->timing, unit->number, false, half);
	operation->b_base = buffer(unit->timing, unit->number, true, half);
	operation->a_bytes = (uint32_t)(parameters->matrix_tile_m * parameters->matrix_tile_k * WORD);
	operation->b_bytes = (uint32_t)(parameters->matrix_tile_n * parameters->matrix_tile_k * WORD);
	operation->reads_rows = operation->writes_rows = range(0, parameters->matrix_tile_m * j);
}

/* C leaves to memory by requests, or to shared memory, where A's and B's first halves were. */
static void store(const struct matrix_unit *unit, bool to_memory, struct virgo_time_operation *operation)
{
	const struct virgo_time_parameters *parameters = &unit->timing->parameters;
	uint64_t bytes = parameters->matrix_tile_m * parameters->matrix_tile_n * WORD;

	operation->engine = VIRGO_ENGINE_STORE;
	operation->moved_rows = (uint32_t)(bytes / WORD / unit->dim);
	operation->reads_rows = range(0, operation->moved_rows);
	if (!to_memory) {
		operation->writes = range(buffer(unit->timing, unit->number, false, 0), bytes);
		return;
	}
	operation->requests = (uint32_t)(bytes / parameters->dma_request);
	operation->request_beats = (uint32_t)(parameters->dma_request / parameters->bus_beat);
}

void virgo_time_kernel_request(struct core *core, const struct instruction *instruction, uint64_t now)
{
	struct matrix_unit *unit = &core->timing->unit[core->unit];
	struct virgo_time_command command = { .count = 1, .is_loop = true, .is_kernels = true };

	switch (instruction->request) {
	case REQUEST_LOAD:
		load(unit, instruction->half, &command.operation[0]);
		break;
	case REQUEST_MULTIPLY:
		multiply(unit, instruction->half, &command.operation[0]);
		break;
	case REQUEST_STORE:
	case REQUEST_MOVE:
		store(unit, instruction->request == REQUEST_STORE, &command.operation[0]);
		break;
	default:
		return;
	}
	/* The kernels poll before they ask for more than the unit has room for. */
	if (virgo_time_has_room(core->timing, core->unit))
		virgo_time_put(core->timing, core->unit, &command, now);
}

/* --- life -------------------------------------------------------------------------------------------------------- */

static void write_code(const struct warp_place *place, struct warp_code *code)
{
	switch (place->kernel->design) {
	case VIRGO_DESIGN_VIRGO:
		virgo_time_kernel_virgo(place, code);
		return;
	case VIRGO_DESIGN_VIRGO_DMA:
		virgo_time_kernel_virgo_dma(place, code);
		return;
	case VIRGO_DESIGN_HOPPER:
		virgo_time_kernel_hopper(place, code);
		return;
	default:
		virgo_time_kernel_tensor(place, code);
	}
}

static bool has_failed(const struct warp_code *code)
{
	bool failed = false;

	for (unsigned int part = 0; part < PARTS; part++)
		failed = failed || code->part[part].failed;
	return failed;
}

static int write_core(struct virgo_timing *timing, struct matrix_unit *unit, unsigned int core)
{
	const unsigned int warps = (unsigned int)timing->parameters.cluster_warps;

	for (unsigned int warp = 0; warp < warps; warp++) {
		struct warp_place place = {
			.timing = timing, .kernel = &unit->kernel, .core = core - unit->first_core, .warp = warp,
			.number = (core - unit->first_core) * warps + warp, .all = unit->cores * warps,
		};

		virgo_time_code_free(&timing->code[core][warp]);
		write_code(&place, &timing->code[core][warp]);
		if (has_failed(&timing->code[core][warp]))
			return -ENOMEM;
	}
	return 0;
}

static bool has_code(const struct warp_code *code)
{
	for (unsigned int part = 0; part < PARTS; part++)
		if (code->part[part].count)
			return true;
	return false;
}

static void start_core(struct virgo_timing *timing, struct matrix_unit *unit, unsigned int number, uint64_t now)
{
	struct core *core = &timing->core[number];

	virgo_time_core_reset(core);
	core->unit = unit->number;
	core->next = core->counted_until = now + 1;
	for (unsigned int warp = 0; warp < timing->parameters.cluster_warps; warp++) {
		if (!has_code(&timing->code[number][warp]))
			continue;
		virgo_time_stream_begin(&core->warp[warp], &timing->code[number][warp]);
		core->warp[warp].fetch_at = now + 1;
		core->running++;
	}
	core->started = core->running;
}

static int check_kernel(const struct virgo_timing *timing, const struct virgo_time_kernel *kernel)
{
	struct virgo_time_parameters parameters = timing->parameters;

	if (kernel->unit >= parameters.matrix_units || kernel->design >= VIRGO_DESIGNS || !kernel->m || !kernel->n || !kernel->k)
		return -EINVAL;
	if (kernel->m % parameters.matrix_tile_m || kernel->n % parameters.matrix_tile_n || kernel->k % parameters.matrix_tile_k)
		return -EINVAL;
	/* It may be of another design than the cluster's, which has to fit the cluster, too. */
	parameters.cluster_design = kernel->design;
	if (virgo_time_check(&parameters))
		return -EINVAL;
	return timing->unit[kernel->unit].has_kernel ? -EBUSY : 0;
}

/* With several units each has an equal part of the cores. */
static void give_cores(struct virgo_timing *timing, struct matrix_unit *unit)
{
	const struct virgo_time_parameters *parameters = &timing->parameters;

	unit->cores = (unsigned int)(parameters->cluster_cores / parameters->matrix_units);
	if (unit->kernel.design != VIRGO_DESIGN_VIRGO_DMA || parameters->matrix_units == 1)
		unit->cores = (unsigned int)parameters->cluster_cores;
	unit->first_core = unit->number * unit->cores;
}

void virgo_time_start_code(struct virgo_timing *timing, struct matrix_unit *unit, uint64_t now)
{
	for (unsigned int core = unit->first_core; core < unit->first_core + unit->cores; core++)
		start_core(timing, unit, core, now);
	unit->barrier = (struct barrier_state){ .opens = NEVER };
	unit->has_kernel = true;
	if (!timing->kernels++) {
		timing->kernel_design = unit->kernel.design;
		timing->kernels_since = now;
	}
	unit->began = now;
}

int virgo_time_start(struct virgo_timing *timing, const struct virgo_time_kernel *kernel, uint64_t now)
{
	int error = check_kernel(timing, kernel);
	struct matrix_unit *unit;

	if (error)
		return error;
	unit = &timing->unit[kernel->unit];
	unit->kernel = *kernel;
	give_cores(timing, unit);
	for (unsigned int core = unit->first_core; core < unit->first_core + unit->cores && !error; core++)
		error = write_core(timing, unit, core);
	if (error)
		return error;
	virgo_time_start_code(timing, unit, now);
	return 0;
}

static bool is_over(const struct virgo_timing *timing, const struct matrix_unit *unit)
{
	for (unsigned int core = unit->first_core; core < unit->first_core + unit->cores; core++)
		if (timing->core[core].running || timing->core[core].lsu.last_answer > timing->now)
			return false;
	return !virgo_time_unit_is_busy(unit);
}

void virgo_time_kernel_settle(struct virgo_timing *timing, uint64_t now)
{
	for (unsigned int number = 0; number < timing->parameters.matrix_units; number++) {
		struct matrix_unit *unit = &timing->unit[number];
		const struct virgo_time_kernel *kernel = &unit->kernel;

		if (!unit->has_kernel || !is_over(timing, unit))
			continue;
		virgo_time_count_kernels(timing, now);
		timing->kernels--;
		unit->has_kernel = false;
		unit->ended = now;
		virgo_time_trace_kernel(unit, now);
		timing->something_ended = true;
		timing->statistics.kernels++;
		timing->statistics.kernel_cycles += now - unit->began;
		timing->statistics.kernel_macs += kernel->macs ? kernel->macs : kernel->m * kernel->n * kernel->k;
	}
}
