/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the table of parameters in docs/timing-soc.md from their list. */
#include <stdio.h>
#include <string.h>

#include "sim/parameters.h"

static unsigned long long of_mpu(const char *section, const char *key, unsigned long long otherwise)
{
#define _(other_section, other_key, value) \
	if (!strcmp(section, #other_section) && !strcmp(key, #other_key)) \
		return value;
	SIM_MPU_PRESET(_)
#undef _
	return otherwise;
}

static unsigned long long of_cluster(const char *section, const char *key, unsigned long long otherwise)
{
#define _(other_section, other_key, value) \
	if (!strcmp(section, #other_section) && !strcmp(key, #other_key)) \
		return value;
	SIM_CLUSTER_PRESET(_)
#undef _
	return otherwise;
}

int main(void)
{
	puts("| key | " SIM_PRESET_DEFAULT " | " SIM_PRESET_OTHER " | " SIM_PRESET_MPU " | " SIM_PRESET_CLUSTER " | from | to | meaning | source |");
	puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
#define _(section, key, fpga, sim, minimum, maximum, meaning, source) \
	printf("| %s.%s | %llu | %llu | %llu | %llu | %llu | %llu | %s | %s |\n", #section, #key, (unsigned long long)(fpga), \
	       (unsigned long long)(sim), of_mpu(#section, #key, fpga), of_cluster(#section, #key, fpga), \
	       (unsigned long long)(minimum), (unsigned long long)(maximum), meaning, source);
	SIM_PARAMETERS(_)
#undef _
	return 0;
}
