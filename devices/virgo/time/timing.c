/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A cluster in cycles: creation, and one cycle after the other, but for those in which nothing can happen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/virgo/time/internal.h"

static const char *const design_names[VIRGO_DESIGNS] = {
	[VIRGO_DESIGN_TC] = "tc",
	[VIRGO_DESIGN_TC_DMA] = "tc-dma",
	[VIRGO_DESIGN_VIRGO] = "virgo",
	[VIRGO_DESIGN_VIRGO_DMA] = "virgo-dma",
	[VIRGO_DESIGN_HOPPER] = "hopper",
};

const char *virgo_time_design_name(unsigned int design)
{
	return design < VIRGO_DESIGNS ? design_names[design] : NULL;
}

int virgo_time_design_number(const char *name)
{
	for (int i = 0; i < VIRGO_DESIGNS; i++)
		if (!strcmp(name, design_names[i]))
			return i;
	return -1;
}

/* --- life -------------------------------------------------------------------------------------------- */

static int init_cores(struct virgo_timing *timing)
{
	int error = 0;

	for (unsigned int number = 0; number < timing->parameters.cluster_cores && !error; number++) {
		struct core *core = &timing->core[number];

		core->timing = timing;
		core->number = number;
		virgo_time_core_reset(core);
		error = virgo_time_l1_create(&core->l1, &timing->parameters);
	}
	return error;
}

struct virgo_timing *virgo_time_create(const struct virgo_time_parameters *parameters, char *why, size_t size)
{
	const char *wrong = virgo_time_check(parameters);
	struct virgo_timing *timing;

	if (wrong) {
		snprintf(why, why ? size : 0, "%s", wrong);
		errno = EINVAL;
		return NULL;
	}
	timing = calloc(1, sizeof(*timing));
	if (!timing)
		return NULL;
	timing->parameters = *parameters;
	timing->trace = &timing->no_trace;
	virgo_time_shared_init(timing);
	for (unsigned int number = 0; number < parameters->matrix_units; number++)
		virgo_time_unit_init(timing, number);
	if (init_cores(timing)) {
		virgo_time_destroy(timing);
		errno = ENOMEM;
		return NULL;
	}
	return timing;
}

void virgo_time_destroy(struct virgo_timing *timing)
{
	for (unsigned int core = 0; core < VIRGO_TIME_CORES_MAX; core++) {
		virgo_time_l1_destroy(&timing->core[core].l1);
		for (unsigned int warp = 0; warp < VIRGO_TIME_WARPS_MAX; warp++)
			virgo_time_code_free(&timing->code[core][warp]);
	}
	free(timing);
}

bool virgo_time_is_running(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].has_kernel;
}

uint64_t virgo_time_began(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].began;
}

uint64_t virgo_time_ended(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].ended;
}

/* --- cycles -------------------------------------------------------------------------------------------- */

static uint64_t cores_next(const struct virgo_timing *timing)
{
	uint64_t next = NEVER;

	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++)
		next = earlier(next, timing->core[i].next);
	return next;
}

static uint64_t units_next(const struct virgo_timing *timing)
{
	uint64_t next = NEVER;

	for (unsigned int i = 0; i < timing->parameters.matrix_units; i++) {
		next = earlier(next, timing->unit[i].next);
		next = earlier(next, timing->unit[i].barrier.opens);
	}
	return next;
}

uint64_t virgo_time_next(const struct virgo_timing *timing)
{
	return earlier(earlier(cores_next(timing), units_next(timing)), virgo_time_threads_next(timing));
}

/* Until when this unit's array alone asks for shared memory. */
static uint64_t quiet_until(const struct virgo_timing *timing, const struct matrix_unit *unit, uint64_t until)
{
	uint64_t quiet = earlier(earlier(cores_next(timing), virgo_time_threads_next(timing)), until + 1);

	for (unsigned int i = 0; i < timing->parameters.matrix_units; i++) {
		const struct matrix_unit *other = &timing->unit[i];

		if (other != unit)
			quiet = earlier(quiet, earlier(other->next, other->barrier.opens));
	}
	return earlier(quiet, unit->barrier.opens);
}

static void step(struct virgo_timing *timing, uint64_t now, uint64_t until)
{
	virgo_time_count_until(timing, now);
	timing->now = now;
	for (unsigned int i = 0; i < timing->parameters.matrix_units; i++) {
		struct matrix_unit *unit = &timing->unit[i];

		virgo_time_barrier_step(unit, now);
		if (unit->next <= now)
			virgo_time_unit_step(unit, now, quiet_until(timing, unit, until));
	}
	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++)
		if (timing->core[i].next <= now)
			virgo_time_core_step(&timing->core[i], now);
	virgo_time_threads_step(timing, now);
	virgo_time_kernel_settle(timing, now);
}

uint64_t virgo_time_advance_until(struct virgo_timing *timing, uint64_t until)
{
	uint64_t last = timing->now, next;

	timing->something_ended = false;
	while (!timing->something_ended && (next = virgo_time_next(timing)) <= until) {
		last = next;
		step(timing, next, until);
	}
	return last;
}

void virgo_time_advance(struct virgo_timing *timing, uint64_t now)
{
	while (virgo_time_next(timing) <= now)
		virgo_time_advance_until(timing, now);
	timing->now = later(timing->now, now);
}
