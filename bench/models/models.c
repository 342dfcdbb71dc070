/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/models/models.h"

__attribute__((visibility("default"))) const struct bench_models bench_models = {
	.kind = {
#define _(NAME, name) [MIMIC_KIND_##NAME] = &mimic_kind_##name,
		MIMIC_KINDS(_)
#undef _
	},
};
