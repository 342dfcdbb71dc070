/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Images of the whole state: a header, the configuration, the cluster, the units
 * with their accumulators, the shared memory. No job may be outstanding. An image is
 * restored only into a cluster of the same configuration, and only if every index
 * in it is one that the model could have written.
 */
#include <errno.h>
#include <stdlib.h>

#include "devices/image.h"
#include "devices/virgo/virgo_internal.h"

static const struct mimic_image_kind image_kind = {
	.magic = 0x454752495650494dull,	/* "MIPVIRGE" */
	.version = 4,
	.config_size = sizeof(struct virgo_config),
};

static size_t shared_size(const struct virgo *v)
{
	return (size_t)v->config.shared_kb << 10;
}

static size_t accumulator_size(const struct unit *u)
{
	return (size_t)u->config->accumulator_kb << 10;
}

static size_t state_size(const struct virgo *v)
{
	size_t size = sizeof(v->cluster) + shared_size(v);

	for (unsigned int i = 0; i < v->config.units; i++)
		size += sizeof(struct front) + sizeof(struct execution) + accumulator_size(&v->unit[i]);
	return size;
}

size_t virgo_save(const struct mimic_model *model, void *image, size_t size)
{
	const struct virgo *v = (const struct virgo *)model;
	size_t total = mimic_image_size(&image_kind, state_size(v));
	char *to;

	if (!image || size < total)
		return total;
	to = mimic_image_begin(&image_kind, &v->config, image, state_size(v));
	to = mimic_image_put(to, &v->cluster, sizeof(v->cluster));
	for (unsigned int i = 0; i < v->config.units; i++) {
		const struct unit *u = &v->unit[i];

		to = mimic_image_put(to, &u->front, sizeof(u->front));
		to = mimic_image_put(to, &u->job.x, sizeof(u->job.x));
		to = mimic_image_put(to, u->accumulator, accumulator_size(u));
	}
	mimic_image_put(to, v->shared, shared_size(v));
	return total;
}

/* --- images that the model could not have written --------------------------------------------- */

static unsigned int parked_of(const struct cluster *c, unsigned int kind, unsigned int number)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < c->parked_count; i++)
		n += c->parked[i].kind == kind && c->parked[i].unit == number;
	return n;
}

static bool cluster_is_sound(const struct virgo *v, const struct cluster *c)
{
	uint32_t at_units = 0;

	if (c->parked_count > PARKED_MAX || c->parked_at_units > PARKED_AT_UNITS_MAX)
		return false;
	for (uint32_t i = 0; i < c->parked_count; i++) {
		const struct parked *p = &c->parked[i];
		unsigned int limit = p->kind == PARKED_BARRIER ? VIRGO_BARRIERS : v->config.units;

		if (p->kind > PARKED_COMMAND || p->withdrawn > (p->kind == PARKED_COMMAND) || p->unit >= limit || p->over || p->size > 8)
			return false;
		at_units += p->kind != PARKED_BARRIER;
	}
	if (at_units != c->parked_at_units)
		return false;
	for (unsigned int i = 0; i < VIRGO_BARRIERS; i++) {
		if (c->barrier[i].arrived != parked_of(c, PARKED_BARRIER, i) ||
		    c->barrier[i].arrived >= PARTICIPANTS_MAX ||
		    c->barrier[i].participants > PARTICIPANTS_MAX)
			return false;
	}
	return true;
}

static bool front_is_sound(const struct virgo *v, const struct cluster *c, unsigned int unit,
			   const struct front *f)
{
	return f->parked_stores == parked_of(c, PARKED_INSTRUCTION, unit) && f->stream_level <= 2 &&
	       f->queue.first < VIRGO_MAX_QUEUE && f->queue.level <= v->config.queue_entries &&
	       f->taken <= BATCH_MAX && f->queue.level + f->taken <= v->config.queue_entries &&
	       f->job_state <= JOB_STALLED && f->job_state != JOB_OUTSTANDING && !f->reset_pending &&
	       (f->taken || !f->dropped_behind) && f->counter_select < VIRGO_COUNTER_COUNT &&
	       f->cisc_generation < VIRGO_CISC_GENERATIONS &&
	       !(f->cisc_tile >> 48) && (f->job_state == JOB_NONE) == !(f->queue.level + f->taken);
}

static bool words_are_below(const void *words, size_t size, uint32_t limit)
{
	for (size_t n = 0; n < size; n += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, (const char *)words + n, sizeof(word));
		if (word >= limit)
			return false;
	}
	return true;
}

/* Fields of the loops have 16 bits at most: products of them do not overflow. */
static bool loops_are_sound(const struct loop_ws *w, const struct loop_conv *c)
{
	size_t ws = offsetof(struct loop_ws, i), conv = offsetof(struct loop_conv, batch_size);

	return words_are_below((const char *)w + ws, offsetof(struct loop_ws, spad_a) - ws, 0x10000) &&
	       words_are_below((const char *)c + conv, sizeof(*c) - conv, 0x10000);
}

/*
 * How far a command is needs no check: a command that goes on checks its sizes again,
 * and stays within them wherever it begins.
 */
static bool execution_is_sound(const struct front *f, const struct execution *x)
{
	if (x->count > BATCH_MAX || x->next > x->count || x->count - x->next != f->taken)
		return false;
	for (unsigned int i = 0; i < VIRGO_PERFORMANCE_COUNTERS; i++) {
		if (x->performance.event[i] > VIRGO_COUNTER_COUNT)
			return false;
	}
	for (unsigned int i = 0; i < LOADS; i++) {
		if (!x->load[i].pixels || x->load[i].pixels > 0xff || x->load[i].block_stride > 0xffff)
			return false;
	}
	if (!loops_are_sound(&x->loop_ws, &x->loop_conv))
		return false;
	return x->norm.statistic < NORM_STATISTICS && x->norm.activation_high <= 1 &&
	       x->store.activation < 4 && x->store.pool_size < 4 && x->store.pool_stride < 4 &&
	       x->store.pool_rows < 256 && x->store.pool_columns < 256 && x->store.rows < 256 &&
	       x->store.columns < 256 && x->execute.a_stride < 0x10000 &&
	       x->execute.c_stride < 0x10000;
}

/* `cluster` has room for the image's, which is too large for a stack. */
static int restore(struct virgo *v, struct cluster *cluster, const char *from)
{
	const char *units = mimic_image_get(from, cluster, sizeof(*cluster));

	if (!cluster_is_sound(v, cluster))
		return -EINVAL;
	from = units;
	for (unsigned int i = 0; i < v->config.units; i++) {
		struct front front;
		struct execution x;

		from = mimic_image_get(from, &front, sizeof(front));
		from = mimic_image_get(from, &x, sizeof(x)) + accumulator_size(&v->unit[i]);
		if (!front_is_sound(v, cluster, i, &front) || !execution_is_sound(&front, &x))
			return -EINVAL;
	}
	from = units;
	v->cluster = *cluster;
	for (unsigned int i = 0; i < v->config.units; i++) {
		struct unit *u = &v->unit[i];

		from = mimic_image_get(from, &u->front, sizeof(u->front));
		from = mimic_image_get(from, &u->job.x, sizeof(u->job.x));
		from = mimic_image_get(from, u->accumulator, accumulator_size(u));
		u->job.x.dma.page = NO_PAGE;
	}
	mimic_image_get(from, v->shared, shared_size(v));
	return 0;
}

int virgo_restore(struct mimic_model *model, const void *image, size_t size)
{
	struct virgo *v = virgo_of(model);
	const char *from = mimic_image_state(&image_kind, &v->config, image, size, state_size(v));
	struct cluster *cluster;
	int error;

	if (!from)
		return -EINVAL;
	cluster = malloc(sizeof(*cluster));
	if (!cluster)
		return -ENOMEM;
	error = restore(v, cluster, from);
	free(cluster);
	return error;
}

void virgo_model_resume(struct mimic_model *model, uint64_t now)
{
	virgo_of(model)->cluster.now = now;
}
