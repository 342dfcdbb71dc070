/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One binary for all processors of an architecture: the kernels are chosen when a
 * device is created. Must be compiled with -ffp-contract=off: where a processor
 * has a fused multiply-add, compilers use it otherwise.
 */
#include "devices/virgo/kernels.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#define UNROLL _Pragma("GCC unroll 16")

/* `n` is DIM as a constant. */
#define EACH_DIM(body) do { \
	if (dim == 32) { const size_t n = 32; body; } \
	else if (dim == 16) { const size_t n = 16; body; } \
	else if (dim == 8) { const size_t n = 8; body; } \
	else { const size_t n = 4; body; } \
} while (0)

typedef uint16_t alias_u16 __attribute__((may_alias));
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

#define VECTORS(kind, lanes) \
	typedef float floats_##kind __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias)); \
	typedef uint32_t unsigneds_##kind __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias)); \
	typedef int32_t integers_##kind __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias))

/* --- any processor: vectors are not wider than the smallest DIM ------------------------- */

VECTORS(plain, 4);

static inline floats_plain load_plain(const float *from, size_t next, size_t dim)
{
	(void)next;
	(void)dim;
	return *(const floats_plain *)from;
}

static inline void store_plain(float *to, size_t next, size_t dim, floats_plain vector)
{
	(void)next;
	(void)dim;
	*(floats_plain *)to = vector;
}

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_LANES 4
#define KERNEL_ROWS 4
#define KERNEL_IN_TURN(sum) ((void)(sum))
#ifdef __x86_64__
#define KERNEL_PAIRS(a, b) ((integers_plain)_mm_madd_epi16((__m128i)(a), (__m128i)(b)))
#else
#define KERNEL_PAIRS(a, b) (((a) << 16 >> 16) * ((b) << 16 >> 16) + ((a) >> 16) * ((b) >> 16))
#endif
#define KERNEL_HALVES(to, from) do { \
	for (size_t i = 0; i < 16; i++) \
		to[i] = wide_half(from[i]); \
} while (0)
#include "devices/virgo/kernel_template.h"

static bool always(void)
{
	return true;
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_IN_TURN
#undef KERNEL_PAIRS
#undef KERNEL_HALVES

/* --- AVX2 -------------------------------------------------------------------------------- */

#ifdef __x86_64__
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,f16c")))
#define KERNEL_LANES 8
#define KERNEL_ROWS 4
#define KERNEL_IN_TURN(sum) __asm__("" : "+x"(sum))
#define KERNEL_PAIRS(a, b) ((integers_avx2)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#define KERNEL_HALVES(to, from) do { \
	_mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from))); \
	_mm256_storeu_ps(to + 8, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 8)))); \
} while (0)

VECTORS(avx2, 8);

KERNEL_TARGET static inline floats_avx2 load_avx2(const float *from, size_t next, size_t dim)
{
	if (dim >= 8)
		return (floats_avx2)_mm256_loadu_ps(from);
	return (floats_avx2)_mm256_loadu2_m128(from + next, from);
}

KERNEL_TARGET static inline void store_avx2(float *to, size_t next, size_t dim, floats_avx2 vector)
{
	if (dim >= 8)
		_mm256_storeu_ps(to, (__m256)vector);
	else
		_mm256_storeu2_m128(to + next, to, (__m256)vector);
}

#include "devices/virgo/kernel_template.h"

/* __builtin_cpu_supports() does not know this one everywhere. */
static bool has_f16c(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && has_f16c();
}

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_ROWS
#undef KERNEL_IN_TURN
#undef KERNEL_PAIRS
#undef KERNEL_HALVES

/* --- AVX-512 ------------------------------------------------------------------------------ */

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512dq")))
#define KERNEL_LANES 16
#define KERNEL_ROWS 8
#define KERNEL_IN_TURN(sum) __asm__("" : "+v"(sum))
#define KERNEL_PAIRS(a, b) ((integers_avx512)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)))
#define KERNEL_HALVES(to, from) \
	_mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from)))

VECTORS(avx512, 16);

KERNEL_TARGET static inline floats_avx512 load_avx512(const float *from, size_t next, size_t dim)
{
	__m512 low;

	if (dim >= 16)
		return (floats_avx512)_mm512_loadu_ps(from);
	if (dim == 8)
		return (floats_avx512)_mm512_insertf32x8(
			_mm512_castps256_ps512(_mm256_loadu_ps(from)), _mm256_loadu_ps(from + next), 1);
	low = _mm512_castps256_ps512(_mm256_loadu2_m128(from + next, from));
	return (floats_avx512)_mm512_insertf32x8(
		low, _mm256_loadu2_m128(from + 3 * next, from + 2 * next), 1);
}

KERNEL_TARGET static inline void store_avx512(float *to, size_t next, size_t dim,
					      floats_avx512 vector)
{
	__m256 low = _mm512_castps512_ps256((__m512)vector);
	__m256 high = _mm512_extractf32x8_ps((__m512)vector, 1);

	if (dim >= 16) {
		_mm512_storeu_ps(to, (__m512)vector);
	} else if (dim == 8) {
		_mm256_storeu_ps(to, low);
		_mm256_storeu_ps(to + next, high);
	} else {
		_mm256_storeu2_m128(to + next, to, low);
		_mm256_storeu2_m128(to + 3 * next, to + 2 * next, high);
	}
}

#include "devices/virgo/kernel_template.h"

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq");
}

/* --- AVX-512 with VNNI: sums of the products of four bytes ------------------------------- */

#define KERNEL_TARGET_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni")))

/*
 * The instruction multiplies unsigned bytes by signed ones: A has 128 added to each element, and 128 times
 * the sum of B's column is taken away. Each product of four fits into 32 bits, and sums wrap there, so all of
 * it is exact.
 */
KERNEL_TARGET_VNNI static inline __attribute__((always_inline)) void
quads_of_dim(const struct kernel_panel *p, const size_t dim)
{
	const size_t rows = dim < 8 ? dim : 8, quads = dim / 4;
	const __m512i more = _mm512_set1_epi8((char)0x80);
	const alias_i32 *a = &p->a->i;
	const float *b = &p->b->f;
	__m512i total[8], excess = _mm512_setzero_si512(), values;

	UNROLL
	for (size_t m = 0; m < rows; m++)
		total[m] = p->from_zero ? _mm512_setzero_si512() :
			   (__m512i)load_avx512(&p->c[m * dim].f, p->c_next, dim);
	for (size_t blocks = p->blocks; blocks; blocks--, a += p->a_block, b += p->b_block) {
		UNROLL
		for (size_t k = 0; k < quads; k++) {
			values = (__m512i)load_avx512(b + k * dim, p->b_next, dim);
			excess = _mm512_dpbusd_epi32(excess, more, values);
			UNROLL
			for (size_t m = 0; m < rows; m++)
				total[m] = _mm512_dpbusd_epi32(total[m], _mm512_set1_epi32(a[m * quads + k]),
							       values);
		}
	}
	UNROLL
	for (size_t m = 0; m < rows; m++)
		store_avx512(&p->c[m * dim].f, p->c_next, dim,
			     (floats_avx512)_mm512_sub_epi32(total[m], excess));
}

KERNEL_TARGET_VNNI static void multiply_quads_vnni(const struct kernel_panel *panel, size_t dim)
{
	EACH_DIM(quads_of_dim(panel, n));
}

KERNEL_TARGET_VNNI static void shift_bytes_vnni(void *lanes, const int8_t *from, size_t count)
{
	const __m128i more = _mm_set1_epi8((char)0x80);
	int8_t *to = lanes;

	for (; count; count -= 16, to += 16, from += 16)
		_mm_storeu_si128((__m128i *)to, _mm_xor_si128(_mm_loadu_si128((const __m128i *)from), more));
}

/* 16 columns of four rows. */
KERNEL_TARGET_VNNI static inline void quad_columns(alias_u32 *to, const int8_t *from, size_t dim)
{
	__m128i row0 = _mm_loadu_si128((const __m128i *)from);
	__m128i row1 = _mm_loadu_si128((const __m128i *)(from + dim));
	__m128i row2 = _mm_loadu_si128((const __m128i *)(from + 2 * dim));
	__m128i row3 = _mm_loadu_si128((const __m128i *)(from + 3 * dim));
	__m128i low01 = _mm_unpacklo_epi8(row0, row1), high01 = _mm_unpackhi_epi8(row0, row1);
	__m128i low23 = _mm_unpacklo_epi8(row2, row3), high23 = _mm_unpackhi_epi8(row2, row3);

	_mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi16(low01, low23));
	_mm_storeu_si128((__m128i *)(to + 4), _mm_unpackhi_epi16(low01, low23));
	_mm_storeu_si128((__m128i *)(to + 8), _mm_unpacklo_epi16(high01, high23));
	_mm_storeu_si128((__m128i *)(to + 12), _mm_unpackhi_epi16(high01, high23));
}

KERNEL_TARGET_VNNI static void quad_bytes_vnni(void *lanes, const int8_t *from, size_t rows, size_t dim)
{
	alias_u32 *to = lanes;

	for (; rows; rows -= 4, to += dim, from += 4 * dim) {
		size_t i = 0;

		for (; i + 16 <= dim; i += 16)
			quad_columns(to + i, from + i, dim);
		for (; i < dim; i++)
			to[i] = (uint8_t)from[i] | (uint32_t)(uint8_t)from[dim + i] << 8 |
				(uint32_t)(uint8_t)from[2 * dim + i] << 16 |
				(uint32_t)(uint8_t)from[3 * dim + i] << 24;
	}
}

static bool has_vnni(void)
{
	return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#define KERNELS(kind, supported, lane_count, row_count) { \
	.name = #kind, \
	.is_supported = supported, \
	.lanes = lane_count, \
	.rows = row_count, \
	.multiply_floats = multiply_floats_##kind, \
	.bytes = 2, \
	.multiply_bytes = multiply_pairs_##kind, \
	.widen_halves = widen_halves_##kind, \
	.lanes_of_a = widen_bytes_##kind, \
	.lanes_of_b = pair_bytes_##kind, \
}

const struct virgo_kernels virgo_kernels_list[] = {
	KERNELS(plain, always, 4, 4),
#ifdef __x86_64__
	KERNELS(avx2, has_avx2, 8, 4),
	KERNELS(avx512, has_avx512, 16, 8),
	{
		.name = "vnni",
		.is_supported = has_vnni,
		.lanes = 16,
		.rows = 8,
		.multiply_floats = multiply_floats_avx512,
		.bytes = 4,
		.multiply_bytes = multiply_quads_vnni,
		.widen_halves = widen_halves_avx512,
		.lanes_of_a = shift_bytes_vnni,
		.lanes_of_b = quad_bytes_vnni,
	},
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
