/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shows the cluster's state beside its registers: counters, a description, views. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "devices/virgo/virgo_internal.h"

uint64_t virgo_unit_counter(const struct unit *u, unsigned int counter)
{
	return u->front.counters[counter] + u->front.published[counter];
}

size_t virgo_model_unit_counters(const struct mimic_model *model, unsigned int unit,
				 uint64_t *values, size_t n)
{
	const struct virgo *v = (const struct virgo *)model;

	for (size_t i = 0; i < n && i < VIRGO_COUNTER_COUNT; i++)
		values[i] = unit < v->config.units ? virgo_unit_counter(&v->unit[unit], (unsigned int)i) : 0;
	return VIRGO_COUNTER_COUNT;
}

size_t virgo_counters_read(const struct mimic_model *model, uint64_t *values, size_t n)
{
	const struct virgo *v = (const struct virgo *)model;

	for (size_t i = 0; i < n && i < VIRGO_COUNTER_COUNT; i++) {
		values[i] = 0;
		for (unsigned int u = 0; u < v->config.units; u++)
			values[i] += virgo_unit_counter(&v->unit[u], (unsigned int)i);
		if (i == VIRGO_COUNTER_illegal)
			values[i] += v->cluster.illegal;
		if (i == VIRGO_COUNTER_shootdowns)
			values[i] += v->cluster.shootdowns;
	}
	return VIRGO_COUNTER_COUNT;
}

void virgo_counters_clear(struct mimic_model *model)
{
	struct virgo *v = virgo_of(model);

	v->cluster.illegal = 0;
	v->cluster.shootdowns = 0;
	for (unsigned int i = 0; i < v->config.units; i++)
		virgo_job_clear_counters(&v->unit[i]);
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

/* Appends; the length counts characters without room, too, as snprintf's. */
static void append(char *text, size_t size, size_t *length, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void append(char *text, size_t size, size_t *length, const char *format, ...)
{
	size_t room = *length < size ? size - *length : 0;
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(room ? text + *length : NULL, room, format, arguments);
	va_end(arguments);
	*length += more > 0 ? (size_t)more : 0;
}

static void describe_unit(const struct unit *u, char *text, size_t size, size_t *length)
{
	const struct front *f = &u->front;

	if (f->job_state == JOB_STALLED)
		append(text, size, length, "; unit %u waits for page 0x%llx", u->number,
		       (unsigned long long)f->stall_page);
	else if (f->error)
		append(text, size, length, "; unit %u: error %s (command %llu, word 0x%x, 0x%llx)",
		       u->number, error_name(f->error), (unsigned long long)f->error_position,
		       f->error_instruction, (unsigned long long)f->error_address);
}

size_t virgo_describe(const struct mimic_model *model, char *text, size_t size)
{
	static const char *const types[VIRGO_TYPES] = {
		[VIRGO_INT8] = "int8", [VIRGO_FP16] = "fp16", [VIRGO_FP32] = "fp32",
	};
	const struct virgo *v = (const struct virgo *)model;
	size_t length = 0;

	append(text, size, &length, "%u KB", v->config.shared_kb);
	for (unsigned int i = 0; i < v->config.units; i++)
		append(text, size, &length, ", %s %ux%u", types[v->config.unit[i].type],
		       v->config.unit[i].dim, v->config.unit[i].dim);
	for (unsigned int i = 0; i < v->config.units; i++)
		describe_unit(&v->unit[i], text, size, &length);
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
		.queue_level = virgo_queue_unfinished(u),
		.loops = u->front.loops,
		.job_is_out = u->front.job_state == JOB_OUTSTANDING,
		.stalled = u->front.job_state == JOB_STALLED,
		.accumulator_rows = u->accumulator_rows,
		.accumulator = u->accumulator,
	};
	return 0;
}
