/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The work of the host on sums where the unit cannot: swish, activations of sums
 * that stay sums, and products without any k. Else the same as the unit does, with
 * the same bits.
 */
#include <math.h>
#include <string.h>

#include "gemm.h"

#define SMALLEST_PAGE 4096

void virgo_finish_begin(fenv_t *saved)
{
	fegetenv(saved);
	fesetenv(FE_DFL_ENV);
}

void virgo_finish_end(const fenv_t *saved)
{
	fesetenv(saved);
}

/* In fp64: an exponential of fp32 would be wrong by as many units as its argument is large. */
static double swish(const struct virgo_product *product, double x)
{
	const double beta = product->beta != 0 ? (double)product->beta : 1;
	const double power = exp(-x * beta);

	/* Then x may be infinite, too, and the quotient no number. */
	return isinf(power) ? copysign(0, x) : x / (1 + power);
}

static float one_nan(float value)
{
	return value == value ? value : __builtin_nanf("");
}

static float activate(const struct virgo_product *product, float x)
{
	switch (product->epilogue) {
	case VIRGO_EPILOGUE_RELU:
		return x < 0 ? 0 : x;
	case VIRGO_EPILOGUE_SWISH:
		return one_nan((float)swish(product, (double)x));
	default:
		return x;
	}
}

static int8_t to_int8(float value)
{
	/* A NaN becomes the largest number, as in the unit. */
	if (!(value < 127))
		return 127;
	if (value < -128)
		return -128;
	return (int8_t)nearbyintf(value);
}

static int8_t finish_int8(const struct virgo_product *product, int32_t sum)
{
	const float scale = product->scale != 0 ? product->scale : 1;

	if (product->epilogue == VIRGO_EPILOGUE_SWISH)
		return to_int8(activate(product, (float)sum * scale));
	/* Large sums are no floats: they are only converted if they are scaled. */
	if (scale == 1)
		sum = sum > 127 ? 127 : sum < -128 ? -128 : sum;
	else
		sum = to_int8((float)sum * scale);
	return (int8_t)(product->epilogue == VIRGO_EPILOGUE_RELU && sum < 0 ? 0 : sum);
}

static int32_t finish_int32(const struct virgo_product *product, int32_t sum)
{
	if (product->epilogue == VIRGO_EPILOGUE_RELU)
		return sum < 0 ? 0 : sum;
	/* Every int32 is a double, and no result is larger than the sum. */
	if (product->epilogue == VIRGO_EPILOGUE_SWISH)
		return (int32_t)nearbyint(swish(product, sum));
	return sum;
}

static float finish_float(const struct virgo_product *product, float sum)
{
	const float scale = product->scale != 0 ? product->scale : 1;

	return activate(product, scale == 1 ? sum : one_nan(sum * scale));
}

static bool has_narrow_c(const struct virgo_product *product)
{
	return product->flags & VIRGO_NARROW && product->type != VIRGO_FP32;
}

size_t virgo_result_size(const struct virgo_product *product)
{
	return !has_narrow_c(product) ? 4 : product->type == VIRGO_INT8 ? 1 : 2;
}

void virgo_finish_row(const struct virgo_product *product, void *c, const void *sums, size_t count)
{
	const bool is_narrow = has_narrow_c(product);
	const int32_t *integers = sums;
	const float *floats = sums;

	if (product->type == VIRGO_INT8 && is_narrow) {
		for (size_t i = 0; i < count; i++)
			((int8_t *)c)[i] = finish_int8(product, integers[i]);
	} else if (product->type == VIRGO_INT8) {
		for (size_t i = 0; i < count; i++)
			((int32_t *)c)[i] = finish_int32(product, integers[i]);
	} else if (is_narrow) {
		for (size_t i = 0; i < count; i++)
			((uint16_t *)c)[i] = virgo_half(finish_float(product, floats[i]));
	} else {
		for (size_t i = 0; i < count; i++)
			((float *)c)[i] = finish_float(product, floats[i]);
	}
}

void virgo_finish_empty(const struct virgo_product *product)
{
	static const uint32_t zero;
	const size_t size = virgo_result_size(product);

	for (size_t row = 0; row < product->m; row++) {
		char *c = (char *)product->c + row * product->ldc * size;

		for (size_t column = 0; column < product->n; column++, c += size) {
			const void *sum = product->bias ? (const char *)product->bias + 4 * column
					  : product->flags & VIRGO_ADD ? (const void *)c : &zero;

			virgo_finish_row(product, c, sum, 1);
		}
	}
}

int virgo_probe_c(const struct virgo_product *product, uintptr_t *where)
{
	const size_t size = virgo_result_size(product), row_bytes = product->n * size;
	const size_t stride = product->ldc * size;
	int error = 0;

	/* No page lies between two rows. */
	if (stride - row_bytes < SMALLEST_PAGE)
		return virgo_probe_write(product->c, (product->m - 1) * stride + row_bytes, where);
	for (size_t row = 0; row < product->m && !error; row++)
		error = virgo_probe_write((const char *)product->c + row * stride, row_bytes, where);
	return error;
}

int virgo_finish_check(const struct virgo_product *product)
{
	uintptr_t where;

	if (virgo_probe_c(product, &where))
		return virgo_fail(-EFAULT, "C: address 0x%lx: program memory that cannot be written",
				  (unsigned long)where);
	if (!product->k && product->bias && virgo_probe_read(product->bias, 4 * product->n) == -EFAULT)
		return virgo_fail(-EFAULT, "the bias: address %p: program memory that cannot be read",
				  product->bias);
	return 0;
}
