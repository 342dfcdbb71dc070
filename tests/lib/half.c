/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/half.h"

#include <math.h>

/* 1 bit of sign, 5 of exponent, 10 of mantissa; 2^-24 is the last place of the smallest numbers. */
float half_value(uint16_t half)
{
	int exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
	float magnitude;

	if (exponent == 0x1f)
		magnitude = mantissa ? NAN : INFINITY;
	else if (!exponent)
		magnitude = ldexpf((float)mantissa, -24);
	else
		magnitude = ldexpf((float)(mantissa + 0x400), exponent - 25);
	return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t half_of(float value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	int exponent, places;

	if (isnan(value))
		return 0x7e00;
	value = fabsf(value);
	if (isinf(value))
		return sign | 0x7c00;
	if (value == 0)
		return sign;
	frexpf(value, &exponent);
	if (exponent < -13)
		exponent = -13;
	/* the number in units of its last place: 1024 to 2048, or below for the smallest */
	places = (int)nearbyint(ldexp((double)value, 11 - exponent));
	/* a carry goes into the exponent by itself */
	places += (exponent + 13) * 0x400;
	return sign | (uint16_t)(places > 0x7c00 ? 0x7c00 : places);
}
