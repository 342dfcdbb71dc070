/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functional model and the MPU in time: its life, and accesses that wait. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices/dare/time/dare_time.h"

#define OWNER_SYSTEM UINT64_MAX
#define CONTEXT 0
#define ADDRESS_SPACE 1
#define WAITING_MAX 64		/* one of each core */

/* An access that is not answered yet. */
struct waiting {
	uint64_t owner;		/* 0: it has gone; its instructions stay */
	uint64_t data;
	bool is_fence;
	struct dare_dispatched instruction;
};

struct dare_time {
	struct mimic_time_host host;
	struct mimic_memory memory;
	struct dare_watch watch;
	struct mimic_model *model;
	struct dare_mpu *mpu;
	uint64_t now;
	/* The instruction that the current access has dispatched: an access dispatches one at most. */
	struct dare_dispatched executed;
	bool has_executed;
	struct waiting waiting[WAITING_MAX];	/* the one that came first, first */
	unsigned int waiting_count;
};

/* --- calls of the model ------------------------------------------------------------------- */

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	struct dare_time *device = context;

	return address_space == ADDRESS_SPACE ? &device->memory : NULL;
}

/* Nothing of the model waits: there are no page faults that a driver would resolve. */
static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct dare_time *device = context;

	device->host.complete(device->host.context, owner, data, device->now);
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	struct dare_time *device = context;

	return device->host.read_rows(device->host.context, addresses, count, size, rows);
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	struct dare_time *device = context;

	return device->host.write_rows(device->host.context, addresses, count, size, rows);
}

static void executed(void *context, const struct dare_dispatched *instruction)
{
	struct dare_time *device = context;
	struct dare_dispatched *to = &device->executed;
	unsigned int rows = dare_has_rows(dare_instructions[instruction->fields.operation].format) ? instruction->m : 0;

	device->has_executed = true;
	to->fields = instruction->fields;
	to->m = instruction->m;
	to->k = instruction->k;
	to->n = instruction->n;
	for (unsigned int row = 0; row < rows; row++) {
		uint64_t address = instruction->address[row];

		to->address[row] = device->host.physical && address ?
				   device->host.physical(device->host.context, address) : address;
	}
}

/* --- accesses that wait ----------------------------------------------------------------------- */

static bool wait(struct dare_time *device, const struct mimic_access *access, bool is_fence)
{
	struct waiting *waiting;

	/* There are no more cores than this. */
	if (device->waiting_count == WAITING_MAX)
		return false;
	waiting = &device->waiting[device->waiting_count++];
	waiting->owner = access->owner;
	waiting->data = access->data;
	waiting->is_fence = is_fence;
	if (!is_fence)
		waiting->instruction = device->executed;
	return true;
}

static bool is_over(struct dare_time *device, const struct waiting *waiting)
{
	if (waiting->is_fence)
		return dare_mpu_is_idle(device->mpu);
	return dare_mpu_put(device->mpu, &waiting->instruction, device->now);
}

/* They go on in the order in which they came. false: none does. */
static bool settle(struct dare_time *device)
{
	bool has_ended = false;

	while (device->waiting_count && is_over(device, &device->waiting[0])) {
		struct waiting over = device->waiting[0];

		device->waiting_count--;
		memmove(device->waiting, device->waiting + 1, device->waiting_count * sizeof(device->waiting[0]));
		if (over.owner)
			device->host.complete(device->host.context, over.owner, over.data, device->now);
		has_ended = true;
	}
	return has_ended;
}

/* Does the MPU's next step. true: it ended an access that waited. */
static bool step(struct dare_time *device)
{
	device->now = dare_mpu_next(device->mpu);
	dare_mpu_advance(device->mpu, device->now);
	return settle(device);
}

void dare_time_advance(struct dare_time *device, uint64_t now)
{
	while (device->waiting_count && dare_mpu_next(device->mpu) <= now)
		step(device);
	dare_mpu_advance(device->mpu, now);
	if (now > device->now)
		device->now = now;
}

uint64_t dare_time_advance_until(struct dare_time *device, uint64_t until)
{
	while (device->waiting_count && dare_mpu_next(device->mpu) < until)
		if (step(device))
			break;
	return device->now;
}

/* Steps that no access waits for may be done later. */
uint64_t dare_time_next(const struct dare_time *device)
{
	return device->waiting_count ? dare_mpu_next(device->mpu) : UINT64_MAX;
}

/* --- accesses ------------------------------------------------------------------------------------ */

static bool is_fence(const struct mimic_access *access)
{
	return !access->is_write && access->offset == DARE_FENCE && access->page == DARE_PAGE_CONTEXT(CONTEXT);
}

static bool is_reset(const struct mimic_access *access)
{
	return access->is_write && access->offset == DARE_RESET && access->page == DARE_PAGE_CONTEXT(CONTEXT);
}

bool dare_time_access(struct dare_time *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	bool waits = false;

	dare_time_advance(device, now);
	device->has_executed = false;
	if (device->model->ops->access(device->model, access, now) != MIMIC_DONE)
		return false;
	if (is_reset(access))
		dare_mpu_drop(device->mpu, now);
	else if (is_fence(access))
		waits = device->waiting_count || !dare_mpu_is_idle(device->mpu);
	else if (device->has_executed)
		waits = device->waiting_count || !dare_mpu_put(device->mpu, &device->executed, now);
	if (waits && wait(device, access, is_fence(access)))
		return false;
	*done = now;
	return true;
}

/* Dispatches the instruction that has been executed, before `until` if it can. */
static bool dispatch_until(struct dare_time *device, uint64_t until)
{
	while (!dare_mpu_put(device->mpu, &device->executed, device->now)) {
		if (dare_mpu_next(device->mpu) >= until)
			return false;
		device->now = dare_mpu_next(device->mpu);
	}
	return true;
}

size_t dare_time_post(struct dare_time *device, const struct mimic_access *pattern, const uint64_t *values,
		      size_t count, uint64_t *now, uint64_t until, bool *waits)
{
	size_t done = 0, taken;

	*waits = false;
	/* A trace has each of them. */
	if (device->waiting_count || mimic_trace_is_on(&device->model->trace))
		return 0;
	dare_time_advance(device, *now);
	while (done < count && !*waits) {
		device->has_executed = false;
		taken = dare_model_stream(device->model, pattern, values + done, count - done, *now);
		if (!taken)
			break;
		done += taken;
		if (!device->has_executed)
			continue;
		*waits = !dispatch_until(device, until) && wait(device, pattern, false);
		if (!*waits)
			*now = device->now;
	}
	return done;
}

void dare_time_owner_gone(struct dare_time *device, uint64_t owner, uint64_t now)
{
	dare_time_advance(device, now);
	for (unsigned int i = 0; i < device->waiting_count; i++)
		if (device->waiting[i].owner == owner)
			device->waiting[i].owner = 0;
	device->model->ops->owner_gone(device->model, owner, now);
}

/* --- life ------------------------------------------------------------------------------------------- */

static void attach(struct dare_time *device)
{
	struct mimic_access access = {
		.owner = OWNER_SYSTEM, .data = ADDRESS_SPACE << 8 | CONTEXT, .offset = DARE_CONTROL_ATTACH,
		.page = DARE_PAGE_CONTROL, .size = sizeof(uint64_t), .is_write = 1,
	};

	device->model->ops->access(device->model, &access, device->now);
}

void dare_time_power_on(struct dare_time *device, uint64_t now)
{
	dare_time_advance(device, now);
	dare_mpu_drop(device->mpu, now);
	for (unsigned int i = 0; i < device->waiting_count; i++)
		if (device->waiting[i].owner)
			device->host.complete(device->host.context, device->waiting[i].owner, 0, now);
	device->waiting_count = 0;
	device->model->ops->power_on(device->model, now);
	attach(device);
}

struct mimic_model *dare_time_model(struct dare_time *device)
{
	return device->model;
}

void dare_time_statistics(struct dare_time *device, uint64_t now, struct dare_time_statistics *statistics)
{
	/* The device may be ahead of `now`: nothing is undone. */
	if (now < device->now)
		now = device->now;
	dare_time_advance(device, now);
	dare_mpu_statistics(device->mpu, now, statistics);
}

void dare_time_parameters(const struct mimic_time_host *host, struct dare_time_parameters *parameters)
{
#define _(section, key) parameters->section##_##key = host->parameter(host->context, #section, #key);
	DARE_TIME_PARAMETERS(_)
#undef _
}

static int make_parts(struct dare_time *device, const struct dare_time_parameters *parameters)
{
	struct mimic_host model_host = { .context = device, .complete = complete, .memory_of = memory_of };
	struct dare_config config;

	dare_config_default(&config);
	device->mpu = dare_mpu_create(parameters);
	device->model = device->mpu ? dare_model_create(&config, &model_host) : NULL;
	if (device->model)
		return 0;
	dare_mpu_destroy(device->mpu);
	return -errno;
}

struct dare_time *dare_time_create(const struct dare_time_parameters *parameters, const struct mimic_time_host *host)
{
	struct dare_time *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return NULL;
	device->host = *host;
	device->memory = (struct mimic_memory){ .context = device, .read_rows = read_rows, .write_rows = write_rows };
	device->watch = (struct dare_watch){ .context = device, .executed = executed };
	error = make_parts(device, parameters);
	if (error) {
		free(device);
		errno = -error;
		return NULL;
	}
	dare_model_watch(device->model, &device->watch);
	dare_mpu_trace(device->mpu, &device->model->trace);
	attach(device);
	return device;
}

void dare_time_destroy(struct dare_time *device)
{
	if (!device)
		return;
	dare_model_destroy(device->model);
	dare_mpu_destroy(device->mpu);
	free(device);
}
