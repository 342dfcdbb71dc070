/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Creation, which page an access goes to, and the operations every model has. */
#include <errno.h>
#include <stdlib.h>

#include "devices/dare/dare_internal.h"

void dare_config_default(struct dare_config *config)
{
	*config = (struct dare_config){ .contexts = 8, .queue_entries = 32, .tlb_entries = 32 };
}

static bool outside(unsigned int value, unsigned int low, unsigned int high)
{
	return value < low || value > high;
}

const char *dare_config_check(const struct dare_config *config)
{
	if (outside(config->contexts, 1, DARE_CONTEXTS_MAX))
		return "contexts must be 1 to 15";
	if (outside(config->queue_entries, 1, DARE_MAX_QUEUE))
		return "queue_entries must be 1 to 64";
	if (outside(config->tlb_entries, 2, DARE_MAX_TLB) ||
	    config->tlb_entries & (config->tlb_entries - 1))
		return "tlb_entries must be a power of two from 2 to 64";
	return NULL;
}

static void begin_call(struct dare *d, uint64_t now)
{
	if (now > d->state.now)
		d->state.now = now;
	mimic_trace_now(&d->model.trace);
}

/* NULL: no context has this page. */
static struct dare_context *context_of_page(struct dare *d, unsigned int page)
{
	if (page < DARE_PAGE_CONTEXT(0) || page >= DARE_PAGE_CONTEXT(d->config.contexts))
		return NULL;
	return &d->context[page - DARE_PAGE_CONTEXT(0)];
}

static enum mimic_outcome access_page(struct dare *d, struct mimic_access *access)
{
	struct dare_context *c = context_of_page(d, access->page);

	if (c)
		return dare_mpu_context_access(d, c, access);
	if (access->page == DARE_PAGE_CONTROL) {
		dare_mpu_control_access(d, access);
	} else {
		d->state.illegal++;
		access->data = 0;
	}
	return MIMIC_DONE;
}

static enum mimic_outcome dare_access(struct mimic_model *model, struct mimic_access *access,
				      uint64_t now)
{
	enum mimic_outcome outcome;
	uint64_t begin;

	begin_call(dare_of(model), now);
	begin = model->trace.now;
	outcome = access_page(dare_of(model), access);
	dare_mpu_compute_end(dare_of(model));
	if (outcome == MIMIC_DONE)
		mimic_trace_accesses(&model->trace, begin, access, 1);
	else
		mimic_trace_blocks(&model->trace, begin, access);
	return outcome;
}

/* A dispatch that would have to wait is not even tried: a batch never parks. */
static bool store_would_wait(const struct dare *d, const struct dare_context *c,
			     const struct mimic_access *pattern)
{
	if (!c || !register_access_is_legal(pattern))
		return false;
	return pattern->offset == DARE_INSTRUCTION && (c->parked_stores || dare_mpu_queue_is_full(d, c));
}

static size_t store_each(struct dare *d, struct dare_context *c, struct mimic_access *access,
			 const uint64_t *values, size_t n)
{
	size_t done = 0;

	for (; done < n && !d->unfinished && !store_would_wait(d, c, access); done++) {
		access->data = low_bytes(values[done], access->size);
		access_page(d, access);
	}
	return done;
}

static size_t dare_store_many(struct mimic_model *model, const struct mimic_access *pattern,
			      const uint64_t *values, size_t n, uint64_t now)
{
	struct dare *d = dare_of(model);
	struct dare_context *c = context_of_page(d, pattern->page);
	struct mimic_access access = *pattern;
	size_t done = 0;
	uint64_t begin;

	begin_call(d, now);
	begin = model->trace.now;
	access.is_write = 1;
	if (c && access.offset == DARE_STREAM && register_access_is_legal(&access))
		done = dare_mpu_queue_stream(d, c, access.owner, values, n, false);
	else
		done = store_each(d, c, &access, values, n);
	dare_mpu_compute_end(d);
	if (done) {
		access.data = values[done - 1];
		mimic_trace_accesses(&model->trace, begin, &access, done);
	}
	return done;
}

size_t dare_model_stream(struct mimic_model *model, const struct mimic_access *pattern, const uint64_t *values,
			 size_t count, uint64_t now)
{
	struct dare *d = dare_of(model);
	struct dare_context *c = context_of_page(d, pattern->page);
	size_t done;

	if (!c || !pattern->is_write || pattern->offset != DARE_STREAM || !register_access_is_legal(pattern))
		return 0;
	begin_call(d, now);
	done = dare_mpu_queue_stream(d, c, pattern->owner, values, count, true);
	dare_mpu_compute_end(d);
	return done;
}

static size_t dare_load_many(struct mimic_model *model, const struct mimic_access *pattern,
			     void *values, size_t n, uint64_t now)
{
	struct dare *d = dare_of(model);
	struct dare_context *c = context_of_page(d, pattern->page);
	bool is_fence = c && pattern->offset == DARE_FENCE;
	struct mimic_access access = *pattern;
	uint64_t begin;
	size_t done;

	begin_call(d, now);
	begin = model->trace.now;
	access.is_write = 0;
	for (done = 0; done < n; done++) {
		if (is_fence && c->queue_level && register_access_is_legal(&access))
			break;
		access.data = 0;
		access_page(d, &access);
		memcpy((char *)values + done * access.size, &access.data, access.size);
	}
	if (done)
		mimic_trace_accesses(&model->trace, begin, &access, done);
	return done;
}

static void dare_cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	begin_call(dare_of(model), now);
	dare_mpu_parked_withdraw(dare_of(model), owner);
}

static void dare_owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct dare *d = dare_of(model);

	dare_cancel(model, owner, now);
	/* No thread will bring the values that its instruction still misses. */
	for (unsigned int i = 0; i < d->config.contexts; i++) {
		if (d->context[i].stream_missing && d->context[i].stream_owner == owner)
			d->context[i].stream_missing = 0;
	}
}

static void dare_tick(struct mimic_model *model, uint64_t now)
{
	struct dare *d = dare_of(model);

	begin_call(d, now);
	for (unsigned int i = 0; i < d->config.contexts; i++) {
		if (d->unfinished >> i & 1)
			dare_mpu_context_settle(d, &d->context[i]);
	}
	dare_mpu_compute_end(d);
}

static bool dare_busy(const struct mimic_model *model)
{
	return ((const struct dare *)model)->unfinished != 0;
}

static void invalidate(struct dare *d, struct dare_context *c, uint64_t start, uint64_t end)
{
	if (!c->address_space)
		return;
	mimic_tlb_invalidate(&c->tlb, start, end);
	count(c, DARE_COUNTER_shootdowns, 1);
	mimic_trace_now(&d->model.trace);
	trace_shootdown(d, c, start, end);
}

static void dare_invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	struct dare *d = dare_of(model);

	for (unsigned int i = 0; i < d->config.contexts; i++)
		invalidate(d, &d->context[i], start, end);
}

void dare_model_invalidate(struct mimic_model *model, unsigned int context, uint64_t start,
			   uint64_t end)
{
	struct dare *d = dare_of(model);

	if (context < d->config.contexts)
		invalidate(d, &d->context[context], start, end);
}

static void dare_power_on(struct mimic_model *model, uint64_t now)
{
	struct dare *d = dare_of(model);
	uint64_t time;

	begin_call(d, now);
	time = d->state.now;
	for (unsigned int i = 0; i < d->config.contexts; i++) {
		dare_mpu_parked_release(d, &d->context[i], 0);
		dare_mpu_context_power_on(d, &d->context[i]);
	}
	memset(&d->state, 0, sizeof(d->state));
	memset(d->memory, 0, sizeof(d->memory));
	d->state.now = time;
	d->unfinished = 0;
}

static const struct mimic_model_ops dare_ops = {
	.kind = "dare",
	.access = dare_access,
	.store_many = dare_store_many,
	.load_many = dare_load_many,
	.cancel = dare_cancel,
	.owner_gone = dare_owner_gone,
	.tick = dare_tick,
	.busy = dare_busy,
	.invalidate = dare_invalidate,
	.power_on = dare_power_on,
	.counters = dare_mpu_counters_read,
	.clear_counters = dare_mpu_counters_clear,
	.describe = dare_mpu_describe,
	.save = dare_mpu_save,
	.restore = dare_mpu_restore,
};

static void *zeroed(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) / 64 * 64);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

struct mimic_model *dare_model_create(const struct dare_config *config, const struct mimic_host *host)
{
	struct dare *d;

	if (dare_config_check(config)) {
		errno = EINVAL;
		return NULL;
	}
	d = zeroed(sizeof(*d));
	if (!d)
		return NULL;
	d->context = zeroed(config->contexts * sizeof(*d->context));
	if (!d->context) {
		free(d);
		errno = ENOMEM;
		return NULL;
	}
	d->model.ops = &dare_ops;
	d->host = *host;
	d->config = *config;
	d->kernels = dare_mpu_compute_kernels();
	for (unsigned int i = 0; i < config->contexts; i++)
		dare_mpu_context_power_on(d, &d->context[i]);
	return &d->model;
}

void dare_model_destroy(struct mimic_model *model)
{
	struct dare *d = (struct dare *)model;

	if (!d)
		return;
	free(d->context);
	free(d);
}
