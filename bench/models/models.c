/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/models/models.h"

#define KIND(name) extern const struct mimic_kind mimic_kind_##name;
#include "devices/kinds.def"
#undef KIND

__attribute__((visibility("default"))) const struct bench_models bench_models = {
#define KIND(name) .name = &mimic_kind_##name,
#include "devices/kinds.def"
#undef KIND
};
