/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The fixture of tests of the modelled SoC. An error while it is made fails the test. */
#ifndef TESTS_SOC_FIXTURE_H
#define TESTS_SOC_FIXTURE_H

#include "sim/soc.h"

/*
 * The preset without TLBs: tested cycles do not hold walks of the page table, and
 * each access is made at once. test_sim_translation.c turns them on. And with an L1 that is written back, the same in both
 * presets: further parts of the prototype are tested in test_sim_prototype.c.
 */
struct sim_parameters soc_preset(const char *name);
struct soc *soc_make(const struct sim_parameters *parameters);
struct soc *soc_of_preset(const char *name);
struct soc_core_counters soc_counters_of_core(const struct soc *soc, unsigned int core);

#endif
