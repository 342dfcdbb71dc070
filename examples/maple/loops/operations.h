/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MAPLE's operations as the paper's API has them: consumed words are returned, and
 * nothing can fail. They are calls of libmaple; an error of the device ends the
 * program. sim/costs has this header as stores and loads, which the paper's API is.
 */
#ifndef EXAMPLES_OPERATIONS_H
#define EXAMPLES_OPERATIONS_H

#include <stdint.h>

struct maple;

void produce32(struct maple *maple, unsigned int queue, uint32_t data);
void produce64(struct maple *maple, unsigned int queue, uint64_t data);
void produce_pointer32(struct maple *maple, unsigned int queue, const void *pointer);
void produce_pointer64(struct maple *maple, unsigned int queue, const void *pointer);
uint32_t consume32(struct maple *maple, unsigned int queue);
uint64_t consume64(struct maple *maple, unsigned int queue);
/* a[b[i]] for i from begin to end: one store, and one more for each of a and b that is another than before. */
void lima_produce32(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b, uint32_t begin,
		    uint32_t end);
void lima_produce64(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b, uint32_t begin,
		    uint32_t end);

#endif
