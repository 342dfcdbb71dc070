/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Elements of the three types, and the values that are computed with: a lane
 * holds an int32 or an fp32. Every NaN that arithmetic makes is the same one
 * (0x7fc00000, and 0x7e00 in binary16), so that results do not depend on the
 * processor or on the order in which a compiler puts operands.
 */
#ifndef MIMIC_VIRGO_ELEMENT_H
#define MIMIC_VIRGO_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

union lane {
	int32_t i;
	uint32_t bits;
	float f;
};

#define LANE_NAN 0x7fc00000u
#define SCALE_ONE 0x3f800000u

struct element_type {
	unsigned int kind;	/* enum virgo_type */
	unsigned int size;	/* bytes */
	bool is_float;
};

struct element_type virgo_element_type(unsigned int kind);

static inline uint32_t bits_of(float value)
{
	return (union lane){ .f = value }.bits;
}

/* Not in files without vector registers (Makefile): gcc 10 compiles there no function that returns a float. */
#if !defined(__x86_64__) || defined(__SSE__)
static inline float float_of(uint32_t bits)
{
	return (union lane){ .bits = bits }.f;
}

static inline float one_nan(float value)
{
	return value != value ? float_of(LANE_NAN) : value;
}
#endif

/* Rounds to the nearest integer, ties to even; values that do not fit saturate. */
int32_t virgo_round_to_int32(float value);

/* Elements to lanes, as they are. */
void virgo_elements_widen(struct element_type type, union lane *to, const void *from, size_t count);
/* Lanes to elements: saturated or rounded. */
void virgo_elements_narrow(struct element_type type, void *to, const union lane *from, size_t count);
/* Lanes that hold elements, times a scale, still elements. */
void virgo_elements_scale(struct element_type type, union lane *lanes, size_t count, uint32_t scale);
/* Adds lanes of the accumulator: int32 that wrap, or fp32. */
void virgo_lanes_add(struct element_type type, union lane *to, const union lane *from, size_t count);

#endif
