/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the table of parameters in docs/timing.md from their list. */
#include <stdio.h>

#include "sim/parameters.h"

int main(void)
{
	puts("| key | " SIM_PRESET_DEFAULT " | " SIM_PRESET_OTHER " | from | to | meaning | source |");
	puts("| --- | --- | --- | --- | --- | --- | --- |");
#define _(section, key, fpga, sim, minimum, maximum, meaning, source) \
	printf("| %s.%s | %llu | %llu | %llu | %llu | %s | %s |\n", #section, #key, (unsigned long long)(fpga), \
	       (unsigned long long)(sim), (unsigned long long)(minimum), (unsigned long long)(maximum), meaning, source);
	SIM_PARAMETERS(_)
#undef _
	return 0;
}
