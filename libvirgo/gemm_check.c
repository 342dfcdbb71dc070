/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Checks a product before anything is sent. */
#include <math.h>

#include "gemm.h"

#define FLAGS (VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B | VIRGO_ADD | VIRGO_NARROW)

/* A matrix as it is stored: is there one, and does it end within memory? */
static int check_matrix(const char *name, const void *elements, size_t rows, size_t columns,
			size_t leading, size_t size)
{
	size_t bytes;

	if (rows == 0 || columns == 0)
		return 0;
	if (!elements)
		return virgo_fail(-EINVAL, "%s is NULL", name);
	if (leading < columns)
		return virgo_fail(-EINVAL, "%s: a row has %zu elements, the leading dimension is %zu", name,
				  columns, leading);
	if (__builtin_mul_overflow(rows, leading, &bytes) ||
	    __builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX)
		return virgo_fail(-EINVAL, "%s: %zu rows of %zu elements are more than memory", name, rows,
				  leading);
	if ((uintptr_t)elements % size != 0)
		return virgo_fail(-EINVAL, "%s: %p is no multiple of the element's %zu bytes", name,
				  elements, size);
	return 0;
}

static int check_matrices(const struct virgo_unit *unit, const struct virgo_product *p)
{
	const size_t size = unit->info.element_size;
	const bool a_turned = p->flags & VIRGO_TRANSPOSE_A, b_turned = p->flags & VIRGO_TRANSPOSE_B;
	int error = check_matrix("A", p->a, a_turned ? p->k : p->m, a_turned ? p->m : p->k, p->lda, size);

	if (!error)
		error = check_matrix("B", p->b, b_turned ? p->n : p->k, b_turned ? p->k : p->n, p->ldb,
				     size);
	if (!error)
		error = check_matrix("C", p->c, p->m, p->n, p->ldc, p->flags & VIRGO_NARROW ? size : 4);
	if (!error && p->bias)
		error = check_matrix("the bias", p->bias, 1, p->n, p->n, 4);
	return error;
}

static int check_epilogue(const struct virgo_unit *unit, const struct virgo_product *p)
{
	const bool is_sum = !(p->flags & VIRGO_NARROW) || unit->info.element_size == 4;

	if ((unsigned int)p->epilogue > VIRGO_EPILOGUE_SWISH)
		return virgo_fail(-EINVAL, "epilogue %u: not of enum virgo_epilogue",
				  (unsigned int)p->epilogue);
	if (p->scale != p->scale)
		return virgo_fail(-EINVAL, "the scale is not a number");
	if (unit->info.type == VIRGO_INT8 && is_sum && !isfinite(p->beta))
		return virgo_fail(-EINVAL, "beta is %g: sums of integers stay integers", (double)p->beta);
	if (p->flags & VIRGO_ADD && p->bias)
		return virgo_fail(-EINVAL, "VIRGO_ADD with a bias: sums begin with one of the two");
	if (p->flags & VIRGO_ADD && !is_sum)
		return virgo_fail(-EINVAL, "VIRGO_ADD with a narrow C: it holds no sums");
	if (p->scale != 0 && p->scale != 1 && is_sum && unit->info.element_size != 4)
		return virgo_fail(-EINVAL, "a scale of %g: sums are stored as they are",
				  (double)p->scale);
	return 0;
}

int virgo_gemm_check(const struct virgo_unit *unit, const struct virgo_product *product)
{
	static const char *const types[VIRGO_TYPES] = {
		[VIRGO_INT8] = "int8", [VIRGO_FP16] = "fp16", [VIRGO_FP32] = "fp32",
	};
	int error;

	if (!product)
		return virgo_fail(-EINVAL, "the product is NULL");
	if ((unsigned int)product->type >= VIRGO_TYPES)
		return virgo_fail(-EINVAL, "type %u: not of enum virgo_type", (unsigned int)product->type);
	if (product->type != unit->info.type)
		return virgo_fail(-EINVAL, "unit %u of %s is of type %s, the matrices are %s", unit->number,
				  virgo_device_name(unit->virgo), types[unit->info.type],
				  types[product->type]);
	if (product->flags & ~(unsigned int)FLAGS)
		return virgo_fail(-EINVAL, "flags 0x%x are not for products",
				  product->flags & ~(unsigned int)FLAGS);
	error = check_epilogue(unit, product);
	if (error || product->m == 0 || product->n == 0)
		return error;
	return check_matrices(unit, product);
}
