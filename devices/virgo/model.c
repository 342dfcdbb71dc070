/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Creation, and the operations every model has. */
#include <errno.h>
#include <stdlib.h>

#include "devices/virgo/matmul_scratch.h"
#include "devices/virgo/virgo_internal.h"

static void begin_call(struct virgo *v, uint64_t now)
{
	if (now > v->cluster.now)
		v->cluster.now = now;
	mimic_trace_now(&v->model.trace);
}

static enum mimic_outcome access_one(struct virgo *v, struct mimic_access *access)
{
	enum mimic_outcome outcome = MIMIC_DONE;

	if (access->page == VIRGO_PAGE_CONTROL) {
		outcome = virgo_cluster_access(v, access);
	} else if (access->page == VIRGO_PAGE_UNITS) {
		outcome = virgo_unit_access(v, access);
	} else {
		v->cluster.illegal++;
		access->data = access->is_write ? access->data : 0;
	}
	virgo_parked_sweep(v);
	return outcome;
}

static enum mimic_outcome virgo_access(struct mimic_model *model, struct mimic_access *access,
				       uint64_t now)
{
	enum mimic_outcome outcome;
	uint64_t begin;

	begin_call(virgo_of(model), now);
	begin = model->trace.now;
	outcome = access_one(virgo_of(model), access);
	if (outcome == MIMIC_DONE)
		mimic_trace_accesses(&model->trace, begin, access, 1);
	else
		mimic_trace_blocks(&model->trace, begin, access);
	return outcome;
}

static bool virgo_busy(const struct mimic_model *model)
{
	const struct virgo *v = (const struct virgo *)model;

	return v->config.inline_jobs && virgo_model_has_job(model);
}

/* Takes back the access that would have parked. */
static bool take_back(struct virgo *v, uint64_t owner)
{
	uint64_t waits[VIRGO_UNITS_MAX];

	for (unsigned int i = 0; i < v->config.units; i++) {
		struct front *f = &v->unit[i].front;

		waits[i] = f->parked_stores;
	}
	virgo_parked_withdraw(v, owner);
	for (unsigned int i = 0; i < v->config.units; i++) {
		struct front *f = &v->unit[i].front;

		f->counters[VIRGO_COUNTER_queue_waits] -= waits[i] - f->parked_stores;
	}
	return true;
}

static size_t virgo_store_many(struct mimic_model *model, const struct mimic_access *pattern,
			       const uint64_t *values, size_t n, uint64_t now)
{
	struct virgo *v = virgo_of(model);
	struct mimic_access access = *pattern;
	uint64_t begin;
	size_t done;

	begin_call(v, now);
	begin = model->trace.now;
	access.is_write = 1;
	for (done = 0; done < n && !virgo_busy(model); done++) {
		access.data = low_bytes(values[done], access.size);
		if (access_one(v, &access) == MIMIC_PARKED) {
			take_back(v, access.owner);
			break;
		}
	}
	if (done)
		mimic_trace_accesses(&model->trace, begin, &access, done);
	return done;
}

static size_t virgo_load_many(struct mimic_model *model, const struct mimic_access *pattern,
			      void *values, size_t n, uint64_t now)
{
	struct virgo *v = virgo_of(model);
	struct mimic_access access = *pattern;
	uint64_t begin;
	size_t done;

	begin_call(v, now);
	begin = model->trace.now;
	access.is_write = 0;
	for (done = 0; done < n; done++) {
		if (access_one(v, &access) == MIMIC_PARKED) {
			take_back(v, access.owner);
			break;
		}
		memcpy((char *)values + done * access.size, &access.data, access.size);
	}
	if (done)
		mimic_trace_accesses(&model->trace, begin, &access, done);
	return done;
}

static void virgo_cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	begin_call(virgo_of(model), now);
	if (virgo_parked_withdraw(virgo_of(model), owner))
		mimic_trace_wakes(&model->trace, owner, 0, true);
}

/* Drops a command of the thread that has begun: it must not become the beginning of another one's. */
static void virgo_owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct virgo *v = virgo_of(model);

	virgo_cancel(model, owner, now);
	virgo_synchronous_forget(v, owner);
	for (unsigned int i = 0; i < v->config.units; i++) {
		struct front *f = &v->unit[i].front;

		if (f->stream_owner == owner)
			f->stream_level = 0;
	}
}

static void virgo_tick(struct mimic_model *model, uint64_t now)
{
	struct virgo *v = virgo_of(model);

	begin_call(v, now);
	if (v->config.inline_jobs)
		virgo_job_tick(v);
	virgo_parked_sweep(v);
}

static void virgo_invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
	mimic_trace_now(&model->trace);
	virgo_cluster_drop_translations(virgo_of(model));
}

static void cluster_power_on(struct virgo *v)
{
	uint64_t now = v->cluster.now;

	virgo_parked_release_all(v);
	memset(&v->cluster, 0, sizeof(v->cluster));
	v->cluster.now = now;
	for (unsigned int i = 0; i < v->config.units; i++)
		virgo_unit_reset(v, &v->unit[i], RESET_POWER_ON);
	__atomic_add_fetch(&v->generation, 1, __ATOMIC_RELEASE);
}

static void virgo_power_on(struct mimic_model *model, uint64_t now)
{
	begin_call(virgo_of(model), now);
	cluster_power_on(virgo_of(model));
}

static const struct mimic_model_ops virgo_ops = {
	.kind = "virgo",
	.access = virgo_access,
	.store_many = virgo_store_many,
	.load_many = virgo_load_many,
	.cancel = virgo_cancel,
	.owner_gone = virgo_owner_gone,
	.tick = virgo_tick,
	.busy = virgo_busy,
	.invalidate = virgo_invalidate,
	.power_on = virgo_power_on,
	.counters = virgo_counters_read,
	.clear_counters = virgo_counters_clear,
	.describe = virgo_describe,
	.save = virgo_save,
	.restore = virgo_restore,
};

/* --- creation --------------------------------------------------------------------------- */

static void *aligned(size_t size)
{
	return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void *zeroed(size_t size)
{
	void *memory = aligned(size);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

static bool unit_create(struct virgo *v, unsigned int number)
{
	struct unit *u = &v->unit[number];
	size_t bytes;

	u->number = number;
	u->config = &v->config.unit[number];
	u->type = virgo_element_type(u->config->type);
	u->dim = u->config->dim;
	u->row_bytes = u->dim * u->type.size;
	u->rows = (v->config.shared_kb << 10) / u->row_bytes;
	u->spad = v->shared;
	bytes = (size_t)u->config->accumulator_kb << 10;
	u->accumulator_rows = (unsigned int)(bytes / (sizeof(union lane) * u->dim));
	u->accumulator = zeroed(bytes);
	u->job.virgo = v;
	u->job.unit = u;
	/* Written before they are read, and mostly not at all: their pages cost nothing until then. */
	u->job.staging = aligned(STAGING_BYTES);
	u->job.matmul = aligned(sizeof(struct matmul_scratch));
	return u->accumulator && u->job.staging && u->job.matmul;
}

static bool host_is_complete(const struct mimic_host *host)
{
	const struct mimic_memory *memory = &host->memory;

	return host->complete && (memory->read_block || memory->read_rows) &&
	       (memory->write_block || memory->write_rows);
}

struct mimic_model *virgo_model_create(const struct virgo_config *config,
				       const struct mimic_host *host, void *shared)
{
	struct virgo *v;

	if (virgo_config_check(config) || !shared || (uintptr_t)shared % 64 ||
	    !host_is_complete(host)) {
		errno = EINVAL;
		return NULL;
	}
	v = zeroed(sizeof(*v));
	if (!v)
		return NULL;
	v->model.ops = &virgo_ops;
	v->host = *host;
	v->config = *config;
	v->shared = shared;
	v->kernels = virgo_kernels_best();
	for (unsigned int i = 0; i < config->units; i++) {
		if (unit_create(v, i))
			continue;
		virgo_model_destroy(&v->model);
		errno = ENOMEM;
		return NULL;
	}
	cluster_power_on(v);
	return &v->model;
}

void virgo_model_destroy(struct mimic_model *model)
{
	struct virgo *v = (struct virgo *)model;

	if (!v)
		return;
	for (unsigned int i = 0; i < VIRGO_UNITS_MAX; i++) {
		free(v->unit[i].accumulator);
		free(v->unit[i].job.staging);
		free(v->unit[i].job.matmul);
	}
	free(v);
}

const char *virgo_model_kernel_name(unsigned int index)
{
	return index < virgo_kernels_count ? virgo_kernels_list[index].name : NULL;
}

int virgo_model_choose_kernel(struct mimic_model *model, const char *name)
{
	for (size_t i = 0; i < virgo_kernels_count; i++) {
		const struct virgo_kernels *kernels = &virgo_kernels_list[i];

		if (strcmp(kernels->name, name) || !kernels->is_supported())
			continue;
		virgo_of(model)->kernels = kernels;
		return 0;
	}
	return -EINVAL;
}
