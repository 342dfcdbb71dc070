/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functional model and its time: accesses, those that wait, kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virgo/time/commands.h"
#include "devices/virgo/time/notices.h"
#include "devices/virgo/time/program.h"
#include "devices/virgo/time/virgo_time.h"

/* A thread whose product a kernel of the modelled cluster makes. */
struct waiting {
	uint64_t owner;		/* 0: it has gone */
	bool is_there;
};

struct virgo_time {
	struct mimic_time_host host;
	struct virgo_time_parameters parameters;
	struct virgo_config config;
	struct mimic_memory memory;
	struct virgo_watch watch;
	struct mimic_model *model;
	struct virgo_timing *timing;
	struct virgo_notices notices;
	uint64_t now;
	struct virgo_time_command command[VIRGO_UNITS_MAX];	/* that is being executed */
	bool is_free[VIRGO_UNITS_MAX];		/* its accesses take no time */
	unsigned int free[VIRGO_UNITS_MAX];	/* commands of that kind which the model has to be told of */
	struct waiting waiting[VIRGO_UNITS_MAX];	/* for the kernel that uses the unit */
	const struct mimic_access *performed;	/* the access that the model is doing; NULL: none */
	bool is_answered;			/* this one was, before the model's call had ended */
	uint64_t answer;
	uint64_t completed;			/* accesses of others */
	struct virgo_program program;
	unsigned int threads;			/* that wait for a bank of the shared memory */
};

/* --- calls of the model ------------------------------------------------------------------------------ */

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

/* Threads leave a barrier together. */
static uint64_t delay_of(const struct virgo_time *device, const struct mimic_access *access)
{
	return virgo_program_delay(access, device->parameters.cluster_barrier);
}

/* A barrier's threads go on together, also the one that opens it. */
static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct virgo_time *device = context;
	uint64_t time;

	if (device->performed && device->performed->owner == owner) {
		device->is_answered = true;
		device->answer = data;
		return;
	}
	device->completed++;
	time = device->now + delay_of(device, device->performed);
	virgo_program_goes_on(&device->program, virgo_time_counted(device->timing), owner, time);
	device->host.complete(device->host.context, owner, data, time);
}

static void part_done(void *context, const struct virgo_watched *part)
{
	struct virgo_time *device = context;

	virgo_time_command_add(&device->command[part->unit], &device->parameters, device->config.unit[part->unit].dim, part);
}

/* The model keeps a place for it until it is over. */
static void command_executed(void *context, unsigned int unit, bool is_loop)
{
	struct virgo_time *device = context;

	virgo_time_command_end(&device->command[unit], is_loop);
	if (device->is_free[unit]) {
		device->free[unit]++;
	} else {
		virgo_notice_command(&device->notices, &device->host, &device->parameters, &device->config, &device->command[unit]);
		virgo_time_put(device->timing, unit, &device->command[unit], device->now);
	}
	virgo_time_command_begin(&device->command[unit]);
}

/* Nothing of it takes time. */
static void command_failed(void *context, unsigned int unit)
{
	struct virgo_time *device = context;

	virgo_time_command_begin(&device->command[unit]);
}

static void unit_reset(void *context, unsigned int unit)
{
	struct virgo_time *device = context;

	virgo_time_drop(device->timing, unit);
	virgo_time_command_begin(&device->command[unit]);
	device->free[unit] = 0;
}

static void end_commands(struct virgo_time *device, unsigned int unit, unsigned int count)
{
	while (count--)
		virgo_model_command_over(device->model, unit, device->now);
}

/* Commands are executed when they are dispatched. */
static void run_jobs(struct virgo_time *device)
{
	struct virgo_job *job;

	while ((job = virgo_model_take_job(device->model))) {
		unsigned int unit = virgo_job_unit(job), count;

		virgo_job_run(job);
		virgo_model_job_done(device->model, job, device->now);
		count = device->free[unit];
		device->free[unit] = 0;
		end_commands(device, unit, count);
	}
}

/* --- accesses ---------------------------------------------------------------------------------------------- */

/* false: it waits in the model. */
static bool perform(struct virgo_time *device, struct mimic_access *access)
{
	bool is_done;

	device->performed = access;
	device->is_answered = false;
	is_done = device->model->ops->access(device->model, access, device->now) == MIMIC_DONE;
	run_jobs(device);
	device->performed = NULL;
	if (!is_done && device->is_answered)
		access->data = device->answer;
	return is_done || device->is_answered;
}

/* --- waiting accesses ------------------------------------------------------------------------------- */

static bool kernel_is_waited_for(const struct virgo_time *device)
{
	for (unsigned int unit = 0; unit < device->config.units; unit++)
		if (device->waiting[unit].is_there)
			return true;
	return false;
}

static void end_kernel(struct virgo_time *device, unsigned int unit, uint64_t data)
{
	uint64_t owner = device->waiting[unit].owner;

	device->waiting[unit] = (struct waiting){ 0 };
	if (!owner)
		return;
	/* It now has the product computed. */
	device->is_free[unit] = !data;
	device->completed++;
	device->host.complete(device->host.context, owner, data, device->now);
}

/* Ends for the program the commands, kernels and waits that are over in virtual time. */
static void settle(struct virgo_time *device)
{
	uint64_t owner, over;

	for (unsigned int unit = 0; unit < device->config.units; unit++) {
		end_commands(device, unit, virgo_time_take_over(device->timing, unit));
		/* A store that waited for room has queued a command. */
		run_jobs(device);
	}
	for (unsigned int unit = 0; unit < device->config.units; unit++)
		if (device->waiting[unit].is_there && !virgo_time_is_running(device->timing, unit))
			end_kernel(device, unit, 0);
	while (virgo_time_take_shared(device->timing, &owner, &over)) {
		device->threads--;
		device->completed++;
		device->host.complete(device->host.context, owner, 0, over);
	}
}

/* A kernel whose warps wait for each other for ever: the program hears of it. */
static void give_up(struct virgo_time *device)
{
	char text[4096];

	for (unsigned int unit = 0; unit < device->config.units; unit++) {
		if (!device->waiting[unit].is_there)
			continue;
		virgo_time_describe(device->timing, text, sizeof(text));
		if (device->host.report)
			device->host.report(device->host.context, text);
		end_kernel(device, unit, (uint64_t)-EDEADLK);
	}
}

/* Nothing comes that could end the kernel. */
static bool is_stuck(const struct virgo_time *device)
{
	bool is_running = false;

	for (unsigned int unit = 0; unit < device->config.units; unit++)
		is_running |= device->waiting[unit].is_there && virgo_time_is_running(device->timing, unit);
	return is_running && virgo_time_next(device->timing) == UINT64_MAX;
}

/* Does the cluster's next step before `until`. */
static void step(struct virgo_time *device, uint64_t until)
{
	if (is_stuck(device)) {
		give_up(device);
		return;
	}
	device->now = virgo_time_advance_until(device->timing, until);
	settle(device);
}

static bool somebody_waits(const struct virgo_time *device)
{
	return device->threads || virgo_model_has_waiting(device->model) || kernel_is_waited_for(device);
}

static bool has_more(const struct virgo_time *device, uint64_t until)
{
	return is_stuck(device) || (somebody_waits(device) && virgo_time_next(device->timing) <= until);
}

void virgo_timed_advance(struct virgo_time *device, uint64_t now)
{
	while (has_more(device, now))
		step(device, now);
	virgo_time_advance(device->timing, now);
	if (now > device->now)
		device->now = now;
	settle(device);
}

uint64_t virgo_timed_advance_until(struct virgo_time *device, uint64_t until)
{
	uint64_t before = device->completed;

	while (device->completed == before && has_more(device, until - 1))
		step(device, until - 1);
	return device->now;
}

/* Steps that no access waits for may be done later. */
uint64_t virgo_timed_next(const struct virgo_time *device)
{
	if (is_stuck(device))
		return device->now;
	return somebody_waits(device) ? virgo_time_next(device->timing) : UINT64_MAX;
}

/* Is it a library's access to a unit whose time a kernel has taken already? */
static bool is_free(const struct virgo_time *device, const struct mimic_access *access)
{
	unsigned int unit = access->offset / VIRGO_BLOCK_SIZE;

	return access->page == VIRGO_PAGE_UNITS && unit < VIRGO_UNITS_MAX && device->is_free[unit];
}

bool virgo_timed_access(struct virgo_time *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	virgo_timed_advance(device, now);
	virgo_notice_access(&device->notices, &device->host, &device->config, access);
	if (!is_free(device, access))
		virgo_program_count(virgo_time_counted(device->timing), access);
	if (!perform(device, access)) {
		virgo_program_waits(&device->program, access, device->now);
		return false;
	}
	*done = device->now + delay_of(device, access);
	virgo_time_counted(device->timing)->thread_stall_barrier += *done - device->now;
	return true;
}

bool virgo_timed_memory(struct virgo_time *device, const struct virgo_time_shared_access *access, uint64_t now,
			uint64_t *over)
{
	virgo_timed_advance(device, now);
	if (virgo_time_shared_access(device->timing, access, device->now, over))
		return true;
	device->threads++;
	return false;
}

void virgo_timed_owner_gone(struct virgo_time *device, uint64_t owner, uint64_t now)
{
	virgo_timed_advance(device, now);
	for (unsigned int unit = 0; unit < device->config.units; unit++)
		if (device->waiting[unit].owner == owner)
			device->waiting[unit].owner = 0;
	virgo_program_goes_on(&device->program, virgo_time_counted(device->timing), owner, device->now);
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
	struct virgo_time_kernel kernel = { .design = (enum virgo_time_design)parameters->cluster_design, .unit = unit };
	int error;

	if (count != VIRGO_KERNEL_SHAPE || unit >= parameters->matrix_units)
		return -EINVAL;
	virgo_timed_advance(device, now);
	kernel.m = round_up(shape[VIRGO_KERNEL_M], parameters->matrix_tile_m);
	kernel.n = round_up(shape[VIRGO_KERNEL_N], parameters->matrix_tile_n);
	kernel.k = round_up(shape[VIRGO_KERNEL_K], parameters->matrix_tile_k);
	kernel.macs = shape[VIRGO_KERNEL_M] * shape[VIRGO_KERNEL_N] * shape[VIRGO_KERNEL_K];
	kernel.swish = (unsigned int)shape[VIRGO_KERNEL_SWISH];
	if (kernel.swish && parameters->kernel_swish)
		kernel.swish = (unsigned int)parameters->kernel_swish;
	error = virgo_time_start(device->timing, &kernel, device->now);
	if (!error)
		device->waiting[unit] = (struct waiting){ .owner = owner, .is_there = true };
	return error;
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
	for (unsigned int unit = 0; unit < device->config.units; unit++) {
		if (device->waiting[unit].is_there)
			end_kernel(device, unit, 0);
		device->is_free[unit] = false;
	}
	device->model->ops->power_on(device->model, now);
}

struct mimic_model *virgo_timed_model(struct virgo_time *device)
{
	return device->model;
}

void virgo_timed_statistics(struct virgo_time *device, uint64_t now, struct virgo_time_statistics *statistics)
{
	/* The device may be ahead of `now`: nothing is undone. */
	if (now < device->now)
		now = device->now;
	virgo_timed_advance(device, now);
	if (device->host.instructions)
		virgo_time_counted(device->timing)->thread_instructions = device->host.instructions(device->host.context);
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
	config->cores = between(parameters->cluster_cores * parameters->cluster_warps, 1, 255);
	config->shared_kb = between(parameters->shared_size >> 10, 64, 256);
	config->queue_entries = (unsigned int)parameters->matrix_queue;
	config->synchronous = parameters->matrix_synchronous != 0;
	for (unsigned int i = 0; i < config->units; i++) {
		struct virgo_unit_config *unit = &config->unit[i];

		unit->type = (unsigned int)parameters->matrix_type;
		unit->dim = between(i ? parameters->matrix_dim_others : parameters->matrix_dim, 4, VIRGO_MAX_DIM);
		unit->accumulator_kb = between(parameters->matrix_accumulator >> 10, 4, 256);
		unit->tile_i = (unsigned int)(parameters->matrix_tile_m / unit->dim);
		unit->tile_j = (unsigned int)(parameters->matrix_tile_n / unit->dim);
		unit->tile_k = (unsigned int)(parameters->matrix_tile_k / unit->dim);
	}
}

static int make_parts(struct virgo_time *device)
{
	struct mimic_host model_host = { .context = device, .memory = device->memory, .complete = complete };
	char why[128] = "";

	device->timing = virgo_time_create(&device->parameters, why, sizeof(why));
	if (!device->timing && device->host.report && why[0])
		device->host.report(device->host.context, why);
	device->model = device->timing ? virgo_model_create(&device->config, &model_host, device->host.memory) : NULL;
	if (device->model)
		return 0;
	if (device->timing)
		virgo_time_destroy(device->timing);
	return -errno;
}

/* Their sizes in time are those of the configuration. */
static void use_config(struct virgo_time *device, const struct virgo_config *config)
{
	if (!config) {
		virgo_timed_config(&device->parameters, &device->config);
		return;
	}
	device->config = *config;
	device->notices.of_sizes = true;
	device->parameters.matrix_units = config->units;
	device->parameters.matrix_queue = config->queue_entries;
	device->parameters.shared_size = (uint64_t)config->shared_kb << 10;
}

struct virgo_time *virgo_timed_create(const struct virgo_time_parameters *parameters, const struct virgo_config *config,
				      const struct mimic_time_host *host)
{
	struct virgo_time *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return NULL;
	device->host = *host;
	device->parameters = *parameters;
	use_config(device, config);
	device->memory = (struct mimic_memory){ .context = device, .read_rows = read_rows, .write_rows = write_rows };
	device->watch = (struct virgo_watch){
		.context = device, .done = part_done, .executed = command_executed, .failed = command_failed, .reset = unit_reset,
	};
	error = make_parts(device);
	if (error) {
		free(device);
		errno = -error;
		return NULL;
	}
	for (unsigned int unit = 0; unit < VIRGO_UNITS_MAX; unit++)
		virgo_time_command_begin(&device->command[unit]);
	for (unsigned int unit = 0; config && unit < config->units; unit++)
		virgo_time_set_dim(device->timing, unit, config->unit[unit].dim);
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
