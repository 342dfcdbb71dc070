/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The models in a library by themselves, twice: with the hook of a trace, and compiled
 * without it. All else is the same, flags too.
 */
#ifndef MIMIC_BENCH_MODELS_H
#define MIMIC_BENCH_MODELS_H

#include "devices/kind.h"

struct bench_models {
#define KIND(name) const struct mimic_kind *name;
#include "devices/kinds.def"
#undef KIND
};

/* The one symbol that both export. */
extern const struct bench_models bench_models;

#endif
