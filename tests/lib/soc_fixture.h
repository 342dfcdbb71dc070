/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What tests of the modelled SoC begin with. What cannot be made fails the test. */
#ifndef TESTS_SOC_FIXTURE_H
#define TESTS_SOC_FIXTURE_H

#include "sim/soc.h"

struct sim_parameters soc_preset(const char *name);
struct soc *soc_make(const struct sim_parameters *parameters);
struct soc *soc_of_preset(const char *name);
struct soc_core_counters soc_counters_of_core(const struct soc *soc, unsigned int core);

#endif
