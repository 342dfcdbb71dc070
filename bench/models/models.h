/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The models in a library by themselves, twice: with the hook of a trace, and compiled
 * without it. All else is the same, flags too.
 */
#ifndef MIMIC_BENCH_MODELS_H
#define MIMIC_BENCH_MODELS_H

#include "devices/maple/maple_model.h"

struct bench_models {
	int (*profile)(struct maple_config *config, const char *profile);
	struct mimic_model *(*create)(const struct maple_config *config, const struct mimic_host *host);
	void (*destroy)(struct mimic_model *model);
};

/* The one symbol that both export. */
extern const struct bench_models bench_models;

#endif
