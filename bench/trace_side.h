/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A model that is driven directly, with or without the hook of a trace, and steps of each kind. */
#ifndef MIMIC_BENCH_TRACE_SIDE_H
#define MIMIC_BENCH_TRACE_SIDE_H

#include "bench/models/models.h"

struct side {
	const struct mimic_kind *kind;
	struct mimic_model *model;
	uint64_t now;
};

typedef void step_function(struct side *side);

/* With the kind's defaults. */
void bench_side_create(struct side *side, const struct mimic_kind *kind, const struct mimic_host *host,
		       void *memory);

void bench_start_dare(struct side *side, const struct bench_models *models);
/* Two tiles come, are multiplied, and the sum goes. */
void bench_step_dare(struct side *side);

void bench_start_virgo(struct side *side, const struct bench_models *models);
/* A tile comes and goes. */
void bench_step_virgo(struct side *side);

#endif
