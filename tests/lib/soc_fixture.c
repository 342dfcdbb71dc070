/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

struct sim_parameters soc_preset(const char *name)
{
	struct sim_parameters parameters;
	char why[200];

	assert_int_equal(sim_parameters_load(&parameters, name, why, sizeof(why)), 0);
	parameters.core_translation = 0;
	parameters.core_pipelined_hits = 0;
	parameters.core_store_merging = 0;
	parameters.l15_size = 0;
	return parameters;
}

struct soc *soc_make(const struct sim_parameters *parameters)
{
	struct soc *soc = soc_create(parameters);

	assert_non_null(soc);
	return soc;
}

struct soc *soc_of_preset(const char *name)
{
	struct sim_parameters parameters = soc_preset(name);

	return soc_make(&parameters);
}

struct soc_core_counters soc_counters_of_core(const struct soc *soc, unsigned int core)
{
	struct soc_core_counters counters;

	soc_core_counters(soc, core, &counters);
	return counters;
}
