/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/virgo/element.h"

#include <string.h>

#include "mimic/virgo_registers.h"

struct element_type virgo_element_type(unsigned int kind)
{
	static const unsigned int sizes[VIRGO_TYPES] = {
		[VIRGO_INT8] = 1, [VIRGO_FP16] = 2, [VIRGO_FP32] = 4,
	};

	return (struct element_type){ kind, sizes[kind], kind != VIRGO_INT8 };
}

int32_t virgo_round_to_int32(float value)
{
	if (value != value || value >= 0x1p31f)
		return INT32_MAX;
	if (value < -0x1p31f)
		return INT32_MIN;
	/* Above 2^23 there are no fractions; below, adding and taking away 2^23 rounds. */
	if (value < 0x1p23f && value > -0x1p23f) {
		float shifted = value < 0 ? value - 0x1p23f : value + 0x1p23f;

		value = value < 0 ? shifted + 0x1p23f : shifted - 0x1p23f;
	}
	return (int32_t)value;
}

static uint16_t float_to_half(float value)
{
	uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return 0x7e00;
	/* 65520 and more round to infinity. */
	if (magnitude >= 0x477ff000)
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) {
		/* Subnormal: 2^-24 is the last place; adding 0.5 leaves it at the end of the mantissa. */
		float shifted = float_of(magnitude) + 0.5f;

		return (uint16_t)(sign | (bits_of(shifted) - bits_of(0.5f)));
	}
	magnitude += 0xfff + (magnitude >> 13 & 1);
	return (uint16_t)(sign | ((magnitude - 0x38000000) >> 13));
}

static float half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;

	if (magnitude > 0x7c00)
		return float_of(LANE_NAN);
	if (magnitude == 0x7c00)
		return float_of(sign | 0x7f800000);
	/* Read as an fp32 the exponent is too small by 112. */
	return float_of(sign | bits_of(float_of(magnitude << 13) * 0x1p112f));
}

void virgo_elements_widen(struct element_type type, union lane *to, const void *from, size_t count)
{
	const int8_t *bytes = from;

	if (type.kind == VIRGO_FP32) {
		memcpy(to, from, 4 * count);
		return;
	}
	if (type.kind == VIRGO_INT8) {
		for (size_t n = 0; n < count; n++)
			to[n].i = bytes[n];
		return;
	}
	for (size_t n = 0; n < count; n++) {
		uint16_t half;

		memcpy(&half, (const char *)from + 2 * n, 2);
		to[n].f = half_to_float(half);
	}
}

static int8_t saturate(int32_t value)
{
	return (int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
}

void virgo_elements_narrow(struct element_type type, void *to, const union lane *from, size_t count)
{
	int8_t *bytes = to;

	if (type.kind == VIRGO_FP32) {
		memcpy(to, from, 4 * count);
		return;
	}
	if (type.kind == VIRGO_INT8) {
		for (size_t n = 0; n < count; n++)
			bytes[n] = saturate(from[n].i);
		return;
	}
	for (size_t n = 0; n < count; n++) {
		uint16_t half = float_to_half(from[n].f);

		memcpy((char *)to + 2 * n, &half, 2);
	}
}

void virgo_elements_scale(struct element_type type, union lane *lanes, size_t count, uint32_t scale)
{
	float factor = float_of(scale);

	if (scale == SCALE_ONE)
		return;
	for (size_t n = 0; n < count; n++) {
		if (type.kind == VIRGO_INT8)
			lanes[n].i = saturate(virgo_round_to_int32((float)lanes[n].i * factor));
		else
			lanes[n].f = one_nan(lanes[n].f * factor);
		if (type.kind == VIRGO_FP16)
			lanes[n].f = half_to_float(float_to_half(lanes[n].f));
	}
}

void virgo_lanes_add(struct element_type type, union lane *to, const union lane *from, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		if (type.is_float)
			to[n].f = one_nan(to[n].f + from[n].f);
		else
			to[n].bits += from[n].bits;
	}
}
