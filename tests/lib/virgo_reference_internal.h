/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of the plain reference. */
#ifndef TESTS_VIRGO_REFERENCE_INTERNAL_H
#define TESTS_VIRGO_REFERENCE_INTERNAL_H

#include "tests/lib/virgo_reference.h"

#define ACCUMULATOR 0x80000000u
#define ACCUMULATE 0x40000000u
#define FULL 0x20000000u
#define GARBAGE 0xffffffffu

typedef struct virgo_reference ref;
typedef union reference_value value;

static inline unsigned int bits(uint64_t from, unsigned int low, unsigned int count)
{
	return (unsigned int)(from >> low & ((1ull << count) - 1));
}

static inline float as_float(unsigned int pattern)
{
	return (value){ .u = pattern }.f;
}

static inline bool floats(const ref *r)
{
	return r->type != REFERENCE_INT8;
}

static inline unsigned int element_bytes(const ref *r)
{
	return r->type == REFERENCE_INT8 ? 1 : r->type == REFERENCE_FP16 ? 2 : 4;
}

static inline void *memory_at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* Every NaN is one pattern. */
value reference_number(float f);
int32_t reference_nearest(float x);
int32_t reference_clip(int32_t x);
value reference_add(const ref *r, value a, value b);
value reference_difference(const ref *r, value a, value b);
value reference_read_element(const ref *r, const void *from);
void reference_write_element(const ref *r, void *to, value v);
value reference_scale_element(const ref *r, value v, float scale);
void *reference_spad_at(ref *r, unsigned int row, unsigned int column);
value *reference_accumulator_at(ref *r, unsigned int row, unsigned int column);

unsigned int reference_out_activation(const ref *r);
value reference_leave(const ref *r, value v, unsigned int activation, float scale);
void reference_forget_sums(ref *r, unsigned int id);
bool reference_statistics(ref *r, unsigned int row, unsigned int columns, unsigned int what);

void reference_mvin(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		    unsigned int id);
void reference_mvout(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		     unsigned int activation);
void reference_mvout_pooled(ref *r, uint64_t address, uint32_t local, unsigned int columns,
			    unsigned int activation);
void reference_mvout_spad(ref *r, uint32_t local, unsigned int rows, unsigned int columns, unsigned int to,
			  unsigned int stride, unsigned int activation);
void reference_compute(ref *r, uint64_t a, uint64_t bd, bool fill);
void reference_loop_ws(ref *r, uint64_t rs1, uint64_t rs2);
void reference_loop_conv(ref *r, uint64_t rs1, uint64_t rs2);

#endif
