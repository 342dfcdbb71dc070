/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What can be seen of the cluster beside its registers: counters, a description, views. */
#include <errno.h>
#include <stdio.h>

#include "devices/virgo/virgo_internal.h"

uint64_t unit_counter(const struct unit *u, unsigned int counter)
{
	return u->front.counters[counter] + u->front.published[counter];
}

size_t virgo_model_unit_counters(const struct mimic_model *model, unsigned int unit,
				 uint64_t *values, size_t n)
{
	const struct virgo *v = (const struct virgo *)model;

	for (size_t i = 0; i < n && i < VIRGO_COUNTER_COUNT; i++)
		values[i] = unit < v->config.units ? unit_counter(&v->unit[unit], (unsigned int)i) : 0;
	return VIRGO_COUNTER_COUNT;
}

size_t virgo_counters_read(const struct mimic_model *model, uint64_t *values, size_t n)
{
	const struct virgo *v = (const struct virgo *)model;

	for (size_t i = 0; i < n && i < VIRGO_COUNTER_COUNT; i++) {
		values[i] = 0;
		for (unsigned int u = 0; u < v->config.units; u++)
			values[i] += unit_counter(&v->unit[u], (unsigned int)i);
		if (i == VIRGO_COUNTER_illegal)
			values[i] += v->cluster.illegal;
		if (i == VIRGO_COUNTER_shootdowns)
			values[i] += v->cluster.shootdowns;
	}
	return VIRGO_COUNTER_COUNT;
}

static const char *error_name(unsigned int error)
{
	static const char *const names[] = {
#define _(number, name, meaning) [number] = #name,
		VIRGO_ERRORS(_)
#undef _
	};

	return error < sizeof(names) / sizeof(names[0]) ? names[error] : "?";
}

static size_t describe_unit(const struct unit *u, char *text, size_t size)
{
	const struct front *f = &u->front;
	int length = 0;

	if (f->job_state == JOB_STALLED)
		length = snprintf(text, size, "unit %u waits for page 0x%llx; ", u->number,
				  (unsigned long long)f->stall_page);
	else if (f->error)
		length = snprintf(text, size, "unit %u: error %s (command %llu, word 0x%x, 0x%llx); ",
				  u->number, error_name(f->error),
				  (unsigned long long)f->error_position, f->error_instruction,
				  (unsigned long long)f->error_address);
	return length > 0 ? (size_t)length : 0;
}

size_t virgo_describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct virgo *v = (const struct virgo *)model;
	size_t length = 0;

	if (size)
		text[0] = '\0';
	for (unsigned int i = 0; i < v->config.units; i++) {
		size_t room = length < size ? size - length : 0;

		length += describe_unit(&v->unit[i], room ? text + length : NULL, room);
	}
	/* The last unit's separator goes. */
	if (length >= 2) {
		length -= 2;
		if (length < size)
			text[length] = '\0';
	}
	return length;
}

int virgo_model_unit(const struct mimic_model *model, unsigned int unit, struct virgo_unit_view *view)
{
	const struct virgo *v = (const struct virgo *)model;
	const struct unit *u;

	if (unit >= v->config.units)
		return -EINVAL;
	u = &v->unit[unit];
	*view = (struct virgo_unit_view){
		.config = u->config,
		.queue_level = u->front.queue.level + u->front.taken,
		.loops = u->front.loops,
		.job_is_out = u->front.job_state == JOB_OUT,
		.stalled = u->front.job_state == JOB_STALLED,
		.accumulator_rows = u->accumulator_rows,
		.accumulator = u->accumulator,
	};
	return 0;
}
