/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One binary for all processors of an architecture: the kernels are chosen when a
 * device is created. Must be compiled with -ffp-contract=off: where a processor
 * has a fused multiply-add, compilers use it otherwise.
 */
#include "devices/virgo/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define UNROLL _Pragma("GCC unroll 16")

typedef uint32_t alias_u32 __attribute__((may_alias));
typedef int32_t alias_i32 __attribute__((may_alias));

/* Without a branch, so that loops of it become vectors. */
static inline __attribute__((always_inline)) float wide_half(uint16_t half)
{
	uint32_t magnitude = half & 0x7fff, sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t normal = (magnitude << 13) + 0x38000000;
	uint32_t subnormal = bits_of((float)(int32_t)magnitude * 0x1p-24f);
	uint32_t finite = (magnitude < 0x400 ? subnormal : normal) | sign;
	uint32_t special = magnitude > 0x7c00 ? LANE_NAN : 0x7f800000 | sign;

	return float_of(magnitude >= 0x7c00 ? special : finite);
}

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_LANES 4
#define KERNEL_ROWS 4
#ifdef __x86_64__
#define KERNEL_PAIRS(a, b) ((integers_plain)_mm_madd_epi16((__m128i)(a), (__m128i)(b)))
#else
#define KERNEL_PAIRS(a, b) (((a) << 16 >> 16) * ((b) << 16 >> 16) + ((a) >> 16) * ((b) >> 16))
#endif
#include "devices/virgo/kernel_template.h"

static bool always(void)
{
	return true;
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_PAIRS

#ifdef __x86_64__
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_LANES 8
#define KERNEL_ROWS 4
#define KERNEL_PAIRS(a, b) ((integers_avx2)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#include "devices/virgo/kernel_template.h"

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_PAIRS

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw")))
#define KERNEL_LANES 16
#define KERNEL_ROWS 8
#define KERNEL_PAIRS(a, b) ((integers_avx512)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)))
#include "devices/virgo/kernel_template.h"

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}
#endif

#define KERNELS(kind, supported, lane_count, row_count) { \
	.name = #kind, \
	.is_supported = supported, \
	.lanes = lane_count, \
	.rows = row_count, \
	.multiply_float = multiply_float_##kind, \
	.multiply_pairs = multiply_pairs_##kind, \
	.widen_bytes = widen_bytes_##kind, \
	.interleave_bytes = interleave_bytes_##kind, \
	.widen_halves = widen_halves_##kind, \
}

const struct virgo_kernels virgo_kernels_list[] = {
	KERNELS(plain, always, 4, 4),
#ifdef __x86_64__
	KERNELS(avx2, has_avx2, 8, 4),
	KERNELS(avx512, has_avx512, 16, 8),
#endif
};

const size_t virgo_kernels_count = sizeof(virgo_kernels_list) / sizeof(virgo_kernels_list[0]);

const struct virgo_kernels *virgo_kernels_best(void)
{
	size_t i = virgo_kernels_count - 1;

	while (!virgo_kernels_list[i].is_supported())
		i--;
	return &virgo_kernels_list[i];
}
