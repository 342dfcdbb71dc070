/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mma: one binary for all processors of an architecture, with kernels that are
 * chosen when a device is created. Must be compiled with -ffp-contract=off: where
 * a processor has a fused multiply-add, compilers use it otherwise.
 */
#include "devices/changes.h"
#include "devices/dare/dare_internal.h"
#include "devices/float_mode.h"
#include "mimic/shuffle.h"

typedef float alias_float __attribute__((may_alias));
typedef uint32_t alias_u32 __attribute__((may_alias));
typedef uint16_t alias_u16 __attribute__((may_alias));

/* A register as floats, row by row without gaps. */
struct wide {
	float values[DARE_ROWS * ELEMENTS_MAX] __attribute__((aligned(64)));
};

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_LANES 4
#define KERNEL_ROWS 2
#define KERNEL_FIRST_HALVES(a, b) MIMIC_SHUFFLE(a, b, 0, 4, 1, 5)
#define KERNEL_SECOND_HALVES(a, b) MIMIC_SHUFFLE(a, b, 2, 6, 3, 7)
#include "devices/dare/compute_kernels.h"

static bool always(void)
{
	return true;
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_FIRST_HALVES
#undef KERNEL_SECOND_HALVES

#ifdef __x86_64__
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_LANES 8
#define KERNEL_ROWS 4
#define KERNEL_FIRST_HALVES(a, b) MIMIC_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define KERNEL_SECOND_HALVES(a, b) MIMIC_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#include "devices/dare/compute_kernels.h"

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_FIRST_HALVES
#undef KERNEL_SECOND_HALVES

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f")))
#define KERNEL_LANES 16
#define KERNEL_ROWS 8
#define KERNEL_FIRST_HALVES(a, b) \
	MIMIC_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define KERNEL_SECOND_HALVES(a, b) \
	MIMIC_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#include "devices/dare/compute_kernels.h"

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}
#endif

#define KERNELS(kind, supported) { \
	.name = #kind, \
	.is_supported = supported, \
	.turn = { turn_fp32_##kind, turn_bf16_##kind, turn_int8_##kind }, \
	.multiply = { multiply_fp32_##kind, multiply_bf16_##kind, multiply_int8_##kind }, \
}

/* The fastest one last. */
const struct dare_kernels dare_mpu_kernels_list[] = {
	KERNELS(plain, always),
#ifdef __x86_64__
	KERNELS(avx2, has_avx2),
	KERNELS(avx512, has_avx512),
#endif
};

const size_t dare_mpu_kernels_count = sizeof(dare_mpu_kernels_list) / sizeof(dare_mpu_kernels_list[0]);

const struct dare_kernels *dare_mpu_compute_kernels(void)
{
	size_t i = dare_mpu_kernels_count - 1;

	while (!dare_mpu_kernels_list[i].is_supported())
		i--;
	return &dare_mpu_kernels_list[i];
}

void dare_mpu_compute_forget(struct dare *d, unsigned int number, const void *tile)
{
	if (d->turned[number].source == tile)
		d->turned[number].source = NULL;
}

void dare_mpu_compute_forget_all(struct dare *d)
{
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		d->turned[i].source = NULL;
}

static const struct turned *turned_source(struct dare *d, const void *source, unsigned int number,
					  enum element_kind kind)
{
	struct turned_slot *slot = &d->turned[number];

	if (slot->source == source && slot->kind == kind)
		return &slot->b;
	d->kernels->turn[kind](&slot->b, source);
	slot->source = source;
	slot->kind = kind;
	return &slot->b;
}

/* Elements of md outside M x N are 0 (XuanTie convention). */
static void clear_outside(uint8_t md[DARE_ROWS][DARE_ROW_BYTES], size_t rows, size_t columns)
{
	uint32_t kept[DARE_ROWS];

	if (columns < DARE_ROWS) {
		/* A row of known size is four vectors, and not a call for each. */
		for (size_t n = 0; n < DARE_ROWS; n++)
			kept[n] = n < columns ? UINT32_MAX : 0;
		for (size_t m = 0; m < rows; m++) {
			alias_u32 *row = (alias_u32 *)md[m];

			for (size_t n = 0; n < DARE_ROWS; n++)
				row[n] &= kept[n];
		}
	}
	clear_rows(md, rows);
}

/* A processor finishes all it does before it changes the mode: once for a call, not for each mma. */
static void begin_floats(struct dare *d)
{
	if (d->has_float_mode)
		return;
	mimic_changes(&d->has_float_mode, sizeof(d->has_float_mode));
	d->has_float_mode = true;
	d->float_mode = mimic_float_mode_begin();
}

void dare_mpu_compute_end(struct dare *d)
{
	if (!d->has_float_mode)
		return;
	mimic_changes(&d->has_float_mode, sizeof(d->has_float_mode));
	d->has_float_mode = false;
	mimic_float_mode_end(d->float_mode);
}

void dare_mpu_compute_mma(struct dare *d, struct dare_context *c, unsigned int md, unsigned int ms1,
			  unsigned int ms2, enum element_kind kind)
{
	static const uint8_t shift[ELEMENT_KINDS] = { [ELEMENT_FP32] = 2, [ELEMENT_BF16] = 1, [ELEMENT_INT8] = 0 };
	unsigned int rows = c->csr[DARE_CSR_MATRIX_M], columns = c->csr[DARE_CSR_MATRIX_N];
	const struct places *places = places_of(d, c);
	uint8_t (*sums)[DARE_ROW_BYTES] = c->tile[places->of[md]];
	const struct turned *b;

	/* (The other thing that changes here, turned registers, is made anew when a state is restored.) */
	mimic_changes(sums, DARE_REGISTER_BYTES);
	b = turned_source(d, c->tile[places->of[ms2]], ms2, kind);
	begin_floats(d);
	d->kernels->multiply[kind](sums, c->tile[places->of[ms1]], b, rows,
				  c->csr[DARE_CSR_MATRIX_K] >> shift[kind]);
	clear_outside(sums, rows, columns);
	dare_mpu_compute_forget(d, md, sums);
}
