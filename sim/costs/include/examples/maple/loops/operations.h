/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MAPLE's operations as the stores and loads that they are on RISC-V: the header for
 * compiling the loops to count their instructions. A page of the device is mapped at
 * `maple`; bits 3 to 8 of an address are the operation, the ones above the queue.
 *
 * The marks are read by ../../../../count.awk.
 */
#ifndef EXAMPLES_OPERATIONS_H
#define EXAMPLES_OPERATIONS_H

#include <stdint.h>

struct maple;

static inline volatile char *operation(struct maple *maple, unsigned int queue, unsigned int number)
{
	return (volatile char *)maple + (queue << 9 | number << 3);
}

#define STORE(instruction, maple, queue, number, data) \
	asm volatile(instruction " %1,%0 # mmio" : "=m"(*operation(maple, queue, number)) : "r"(data))

/* The numbers are those of the artifact. */
static inline void produce32(struct maple *maple, unsigned int queue, uint32_t data)
{
	STORE("sw", maple, queue, 8, data);
}

static inline void produce64(struct maple *maple, unsigned int queue, uint64_t data)
{
	STORE("sd", maple, queue, 8, data);
}

static inline void produce_pointer32(struct maple *maple, unsigned int queue, const void *pointer)
{
	STORE("sd", maple, queue, 10, pointer);
}

static inline void produce_pointer64(struct maple *maple, unsigned int queue, const void *pointer)
{
	STORE("sd", maple, queue, 11, pointer);
}

static inline uint32_t consume32(struct maple *maple, unsigned int queue)
{
	uint32_t data;

	asm volatile("lw %0,%1 # mmio" : "=r"(data) : "m"(*operation(maple, queue, 7)));
	return data;
}

static inline uint64_t consume64(struct maple *maple, unsigned int queue)
{
	uint64_t data;

	asm volatile("ld %0,%1 # mmio" : "=r"(data) : "m"(*operation(maple, queue, 7)));
	return data;
}

/* libmaple sets A and B where they are others than before: the loops set B once, before them. */
static inline void lima_produce64(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
				  uint32_t begin, uint32_t end)
{
	(void)a;
	(void)b;
	STORE("sd", maple, queue, 14, (uint64_t)begin << 32 | end);
}

static inline void lima_produce32(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
				  uint32_t begin, uint32_t end)
{
	STORE("sd", maple, queue, 48, a);
	lima_produce64(maple, queue, a, b, begin, end);
}

#endif
