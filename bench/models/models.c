/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/models/models.h"

__attribute__((visibility("default"))) const struct bench_models bench_models = {
	.profile = maple_config_profile,
	.create = maple_model_create,
	.destroy = maple_model_destroy,
};
