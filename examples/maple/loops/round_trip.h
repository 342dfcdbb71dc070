/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef EXAMPLES_ROUND_TRIP_H
#define EXAMPLES_ROUND_TRIP_H

#include <stdint.h>

struct maple;

/* Consumes so many words, and adds them up. */
uint32_t round_trips(struct maple *maple, unsigned int queue, uint32_t count);
/* Follows so many pointers, each to the next. Where it ends. */
void *const *follow_pointers(void *const *pointer, uint32_t count);

#endif
