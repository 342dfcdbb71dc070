/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functional model and its time: accesses, those that wait, kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virgo/time/commands.h"
#include "devices/virgo/time/virgo_time.h"

#define WAITING_MAX 64		/* one of each core */
#define DIM_MAX 16		/* of the functional model */

enum waits { WAITS_FOR_ROOM, WAITS_FOR_UNIT, WAITS_FOR_LOOPS, WAITS_FOR_KERNEL };

/* An access, or a kernel, that is not answered yet. */
struct waiting {
	struct mimic_access access;	/* owner 0: it has gone; what it has dispatched stays */
	enum waits waits;
	unsigned int unit;
	unsigned int loops;
};

struct virgo_time {
	struct mimic_time_host host;
	struct virgo_time_parameters parameters;
	struct mimic_memory memory;
	struct virgo_watch watch;
	struct mimic_model *model;
	struct virgo_timing *timing;
	uint64_t now;
	struct virgo_time_command command[VIRGO_UNITS_MAX];	/* that is being executed */
	bool is_free[VIRGO_UNITS_MAX];	/* what it is asked for takes no time */
	struct waiting waiting[WAITING_MAX];	/* the one that came first, first */
	unsigned int waiting_count;
};

/* --- what the model asks for, and says --------------------------------------------------------------- */

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	struct virgo_time *device = context;

	return device->host.read_rows(device->host.context, addresses, count, size, rows);
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	struct virgo_time *device = context;

	return device->host.write_rows(device->host.context, addresses, count, size, rows);
}

/* Somebody who waited at a barrier: all else is answered at once. */
static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct virgo_time *device = context;

	device->host.complete(device->host.context, owner, data, device->now + device->parameters.cluster_barrier);
}

static unsigned int dim_of(const struct virgo_time *device, unsigned int unit)
{
	uint64_t dim = unit ? device->parameters.matrix_dim_others : device->parameters.matrix_dim;

	return dim < DIM_MAX ? (unsigned int)dim : DIM_MAX;
}

static void part_done(void *context, const struct virgo_watched *part)
{
	struct virgo_time *device = context;

	virgo_time_command_add(&device->command[part->unit], &device->parameters, dim_of(device, part->unit), part);
}

static void command_over(void *context, unsigned int unit, bool is_loop)
{
	struct virgo_time *device = context;

	virgo_time_command_end(&device->command[unit], is_loop);
	/* A store queues one command; a word of the CISC port a few, for which there is room where there is for one. */
	if (!device->is_free[unit])
		virgo_time_put(device->timing, unit, &device->command[unit], device->now);
	virgo_time_command_begin(&device->command[unit]);
}

/* Commands are executed when they are dispatched. */
static void run_jobs(struct virgo_time *device)
{
	struct virgo_job *job;

	while ((job = virgo_model_take_job(device->model))) {
		unsigned int unit = virgo_job_unit(job);

		virgo_job_run(job);
		virgo_model_job_done(device->model, job, device->now);
		/* Of one that failed nothing takes time. */
		if (!virgo_model_has_job(device->model))
			virgo_time_command_begin(&device->command[unit]);
	}
}

/* --- accesses ---------------------------------------------------------------------------------------------- */

static bool is_of_unit(const struct virgo_time *device, const struct mimic_access *access)
{
	return access->page == VIRGO_PAGE_UNITS && access->offset / VIRGO_BLOCK_SIZE < device->parameters.matrix_units;
}

static unsigned int unit_of(const struct mimic_access *access)
{
	unsigned int unit = access->offset / VIRGO_BLOCK_SIZE;

	/* A word of the CISC port says itself which unit does it. */
	if (access->is_write && access->offset % VIRGO_BLOCK_SIZE == VIRGO_CISC)
		unit = access->data >> 5 & 7;
	return unit;
}

static bool has_to_wait(const struct virgo_time *device, const struct waiting *waiting)
{
	if (waiting->waits == WAITS_FOR_KERNEL)
		return virgo_time_is_running(device->timing, waiting->unit);
	if (device->is_free[waiting->unit])
		return false;
	switch (waiting->waits) {
	case WAITS_FOR_ROOM:
		return !virgo_time_has_room(device->timing, waiting->unit);
	case WAITS_FOR_UNIT:
		return virgo_time_commands(device->timing, waiting->unit);
	default:
		return virgo_time_loops(device->timing, waiting->unit) > waiting->loops;
	}
}

/* What an access may have to wait for. false: for nothing. */
static bool may_wait(const struct virgo_time *device, const struct mimic_access *access, struct waiting *waiting)
{
	unsigned int offset = access->offset % VIRGO_BLOCK_SIZE;

	if (!is_of_unit(device, access) || unit_of(access) >= device->parameters.matrix_units)
		return false;
	*waiting = (struct waiting){ .access = *access, .unit = unit_of(access) };
	if (access->is_write) {
		waiting->waits = WAITS_FOR_ROOM;
		return offset == VIRGO_INSTRUCTION || offset == VIRGO_STREAM || offset == VIRGO_CISC;
	}
	if (offset == VIRGO_FENCE) {
		waiting->waits = WAITS_FOR_UNIT;
		return true;
	}
	waiting->waits = WAITS_FOR_LOOPS;
	waiting->loops = (offset - VIRGO_WAIT_LOOPS_0) / 8;
	return offset >= VIRGO_WAIT_LOOPS_0 && offset <= VIRGO_WAIT_LOOPS_3 + 7;
}

/* Progress is that of the timed unit. */
static void answer(const struct virgo_time *device, struct mimic_access *access)
{
	unsigned int unit = access->offset / VIRGO_BLOCK_SIZE, commands;

	if (access->is_write || !is_of_unit(device, access) || device->is_free[unit])
		return;
	commands = virgo_time_commands(device->timing, unit);
	switch (access->offset % VIRGO_BLOCK_SIZE) {
	case VIRGO_BUSY:
		access->data = commands != 0;
		break;
	case VIRGO_LOOPS:
	case VIRGO_WAIT_LOOPS_0:
	case VIRGO_WAIT_LOOPS_1:
	case VIRGO_WAIT_LOOPS_2:
	case VIRGO_WAIT_LOOPS_3:
		access->data = virgo_time_loops(device->timing, unit);
		break;
	case VIRGO_STATUS:
		access->data |= (commands != 0) | (uint64_t)commands << VIRGO_STATUS_LEVEL_SHIFT;
		break;
	case VIRGO_COMPLETED:
		access->data -= commands;
		break;
	default:
		break;
	}
}

static bool is_reset(const struct virgo_time *device, const struct mimic_access *access)
{
	return access->is_write && is_of_unit(device, access) && access->offset % VIRGO_BLOCK_SIZE == VIRGO_RESET;
}

/* false: it waits in the model, at a barrier. */
static bool perform(struct virgo_time *device, struct mimic_access *access)
{
	bool is_done = device->model->ops->access(device->model, access, device->now) == MIMIC_DONE;

	run_jobs(device);
	if (is_reset(device, access))
		virgo_time_drop(device->timing, access->offset / VIRGO_BLOCK_SIZE);
	if (is_done)
		answer(device, access);
	return is_done;
}

/* --- what waits ------------------------------------------------------------------------------------------------ */

static bool add_waiting(struct virgo_time *device, const struct waiting *waiting)
{
	/* There are no more cores than this. */
	if (device->waiting_count == WAITING_MAX)
		return false;
	device->waiting[device->waiting_count++] = *waiting;
	return true;
}

static void end_waiting(struct virgo_time *device, unsigned int place, uint64_t data)
{
	uint64_t owner = device->waiting[place].access.owner;

	device->waiting_count--;
	memmove(device->waiting + place, device->waiting + place + 1,
		(device->waiting_count - place) * sizeof(device->waiting[0]));
	if (owner)
		device->host.complete(device->host.context, owner, data, device->now);
}

/* Those that can go on do, in the order in which they came. false: none does. */
static bool settle(struct virgo_time *device)
{
	bool has_ended = false;
	unsigned int place = 0;

	while (place < device->waiting_count) {
		struct waiting *waiting = &device->waiting[place];

		if (has_to_wait(device, waiting)) {
			place++;
			continue;
		}
		has_ended = true;
		if (waiting->waits != WAITS_FOR_KERNEL && waiting->access.owner)
			perform(device, &waiting->access);
		else
			waiting->access.data = 0;
		end_waiting(device, place, waiting->access.data);
	}
	return has_ended;
}

/* A kernel whose warps wait for each other for ever: the program hears of it. */
static void give_up(struct virgo_time *device)
{
	char text[4096];

	for (unsigned int place = 0; place < device->waiting_count;) {
		if (device->waiting[place].waits != WAITS_FOR_KERNEL) {
			place++;
			continue;
		}
		virgo_time_describe(device->timing, text, sizeof(text));
		if (device->host.report)
			device->host.report(device->host.context, text);
		end_waiting(device, place, (uint64_t)-EDEADLK);
	}
}

/* What the cluster does next, before `until`; false: no access has ended by it. */
static bool step(struct virgo_time *device, uint64_t until)
{
	if (virgo_time_next(device->timing) == UINT64_MAX) {
		give_up(device);
		return true;
	}
	device->now = virgo_time_advance_until(device->timing, until);
	return settle(device);
}

static bool has_more(const struct virgo_time *device, uint64_t until)
{
	return device->waiting_count && virgo_time_next(device->timing) <= until;
}

void virgo_timed_advance(struct virgo_time *device, uint64_t now)
{
	while (has_more(device, now))
		step(device, now);
	virgo_time_advance(device->timing, now);
	if (now > device->now)
		device->now = now;
}

uint64_t virgo_timed_advance_until(struct virgo_time *device, uint64_t until)
{
	while (has_more(device, until - 1))
		if (step(device, until - 1))
			break;
	return device->now;
}

/* What nobody waits for need not be done in its time. */
uint64_t virgo_timed_next(const struct virgo_time *device)
{
	return device->waiting_count ? virgo_time_next(device->timing) : UINT64_MAX;
}

bool virgo_timed_access(struct virgo_time *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	struct waiting waiting;

	virgo_timed_advance(device, now);
	if (may_wait(device, access, &waiting) && has_to_wait(device, &waiting) && add_waiting(device, &waiting))
		return false;
	if (!perform(device, access))
		return false;
	*done = device->now;
	return true;
}

void virgo_timed_owner_gone(struct virgo_time *device, uint64_t owner, uint64_t now)
{
	virgo_timed_advance(device, now);
	for (unsigned int i = 0; i < device->waiting_count; i++)
		if (device->waiting[i].access.owner == owner)
			device->waiting[i].access.owner = 0;
	device->model->ops->owner_gone(device->model, owner, now);
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t size, uint64_t tile)
{
	return (size + tile - 1) / tile * tile;
}

int virgo_timed_begin_kernel(struct virgo_time *device, uint64_t owner, unsigned int unit, const uint64_t *shape,
			     size_t count, uint64_t now)
{
	const struct virgo_time_parameters *parameters = &device->parameters;
	struct waiting waiting = { .access = { .owner = owner }, .waits = WAITS_FOR_KERNEL, .unit = unit };
	struct virgo_time_kernel kernel = { .design = (enum virgo_time_design)parameters->cluster_design, .unit = unit };
	int error;

	if (count != VIRGO_KERNEL_SHAPE || unit >= parameters->matrix_units)
		return -EINVAL;
	/* The cores' kernels are the cluster's, whichever unit was meant. */
	if (kernel.design != VIRGO_DESIGN_VIRGO_DMA)
		kernel.unit = waiting.unit = 0;
	virgo_timed_advance(device, now);
	kernel.m = round_up(shape[VIRGO_KERNEL_M], parameters->matrix_tile_m);
	kernel.n = round_up(shape[VIRGO_KERNEL_N], parameters->matrix_tile_n);
	kernel.k = round_up(shape[VIRGO_KERNEL_K], parameters->matrix_tile_k);
	kernel.swish = (unsigned int)shape[VIRGO_KERNEL_SWISH];
	error = virgo_time_start(device->timing, &kernel, device->now);
	if (error)
		return error;
	device->is_free[unit] = true;
	return add_waiting(device, &waiting) ? 0 : -EBUSY;
}

void virgo_timed_end_kernel(struct virgo_time *device, unsigned int unit, uint64_t now)
{
	virgo_timed_advance(device, now);
	if (unit < VIRGO_UNITS_MAX)
		device->is_free[unit] = false;
}

/* --- life ------------------------------------------------------------------------------------------------------------ */

void virgo_timed_power_on(struct virgo_time *device, uint64_t now)
{
	virgo_timed_advance(device, now);
	for (unsigned int unit = 0; unit < device->parameters.matrix_units; unit++) {
		virgo_time_drop(device->timing, unit);
		device->is_free[unit] = false;
	}
	while (device->waiting_count)
		end_waiting(device, 0, 0);
	device->model->ops->power_on(device->model, now);
}

struct mimic_model *virgo_timed_model(struct virgo_time *device)
{
	return device->model;
}

void virgo_timed_statistics(struct virgo_time *device, uint64_t now, struct virgo_time_statistics *statistics)
{
	/* Where a look comes late nothing is undone. */
	if (now < device->now)
		now = device->now;
	virgo_timed_advance(device, now);
	virgo_time_statistics(device->timing, now, statistics);
}

void virgo_time_parameters(const struct mimic_time_host *host, struct virgo_time_parameters *parameters)
{
#define _(section, key) parameters->section##_##key = host->parameter(host->context, #section, #key);
	VIRGO_TIME_PARAMETERS(_)
#undef _
}

static unsigned int between(uint64_t value, unsigned int least, unsigned int most)
{
	return value < least ? least : value > most ? most : (unsigned int)value;
}

void virgo_timed_config(const struct virgo_time_parameters *parameters, struct virgo_config *config)
{
	virgo_config_default(config);
	config->units = (unsigned int)parameters->matrix_units;
	config->cores = (unsigned int)(parameters->cluster_cores * parameters->cluster_warps);
	config->shared_kb = between(parameters->shared_size >> 10, 64, 256);
	config->queue_entries = VIRGO_MAX_QUEUE;
	for (unsigned int i = 0; i < config->units; i++) {
		struct virgo_unit_config *unit = &config->unit[i];

		unit->type = (unsigned int)parameters->matrix_type;
		unit->dim = between(i ? parameters->matrix_dim_others : parameters->matrix_dim, 4, DIM_MAX);
		unit->accumulator_kb = between(parameters->matrix_accumulator >> 10, 4, 256);
		unit->tile_i = (unsigned int)(parameters->matrix_tile_m / unit->dim);
		unit->tile_j = (unsigned int)(parameters->matrix_tile_n / unit->dim);
		unit->tile_k = (unsigned int)(parameters->matrix_tile_k / unit->dim);
	}
}

static int make_parts(struct virgo_time *device)
{
	struct mimic_host model_host = { .context = device, .memory = device->memory, .complete = complete };
	struct virgo_config config;
	char why[128] = "";

	virgo_timed_config(&device->parameters, &config);
	device->timing = virgo_time_create(&device->parameters, why, sizeof(why));
	if (!device->timing && device->host.report && why[0])
		device->host.report(device->host.context, why);
	device->model = device->timing ? virgo_model_create(&config, &model_host, device->host.memory) : NULL;
	if (device->model)
		return 0;
	if (device->timing)
		virgo_time_destroy(device->timing);
	return -errno;
}

struct virgo_time *virgo_timed_create(const struct virgo_time_parameters *parameters, const struct mimic_time_host *host)
{
	struct virgo_time *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return NULL;
	device->host = *host;
	device->parameters = *parameters;
	device->memory = (struct mimic_memory){ .context = device, .read_rows = read_rows, .write_rows = write_rows };
	device->watch = (struct virgo_watch){ .context = device, .done = part_done, .over = command_over };
	error = make_parts(device);
	if (error) {
		free(device);
		errno = -error;
		return NULL;
	}
	for (unsigned int unit = 0; unit < VIRGO_UNITS_MAX; unit++)
		virgo_time_command_begin(&device->command[unit]);
	virgo_model_watch(device->model, &device->watch);
	virgo_time_trace(device->timing, &device->model->trace);
	return device;
}

void virgo_timed_destroy(struct virgo_time *device)
{
	if (!device)
		return;
	virgo_model_destroy(device->model);
	virgo_time_destroy(device->timing);
	free(device);
}
