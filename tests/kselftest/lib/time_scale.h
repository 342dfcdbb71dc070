/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_KSELFTEST_TIME_SCALE_H
#define MIMIC_KSELFTEST_TIME_SCALE_H

/*
 * How much slower than usual this kernel is: 1, and more on the debug kernel
 * (MIMIC_TIME_SCALE). A test multiplies the longest time it allows by it.
 */
unsigned int time_scale(void);

#endif
