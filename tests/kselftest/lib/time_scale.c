/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "time_scale.h"

#include <stdlib.h>

unsigned int __real_alarm(unsigned int seconds);
unsigned int __wrap_alarm(unsigned int seconds);

unsigned int time_scale(void)
{
	const char *text = getenv("MIMIC_TIME_SCALE");
	int scale = text ? atoi(text) : 1;

	return scale > 1 ? (unsigned int)scale : 1;
}

/* The harness limits each test by alarm(), with a number fixed when it is compiled. */
unsigned int __wrap_alarm(unsigned int seconds)
{
	return __real_alarm(seconds * time_scale());
}
