/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef LIBMIMIC_CLOCK_H
#define LIBMIMIC_CLOCK_H

#include <stdint.h>

/* Nanoseconds of the monotonic clock: the device's `now` in functional mode. */
uint64_t mimic_now(void);

#endif
