/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "kernel.h"

#include <string.h>

const struct dare_element dare_element_fp32 = {
	.bytes = 4, .one = 0x3f800000, .mld = dare_mld, .mma = dare_mma, .mgather = dare_mgather,
};

const struct dare_element dare_element_bf16 = {
	.bytes = 2, .one = 0x3f80, .mld = dare_mld_h, .mma = dare_mma_bf16, .mgather = dare_mgather_h,
};

const struct dare_element dare_element_i8 = {
	.bytes = 1, .one = 1, .mld = dare_mld_b, .mma = dare_mma_i8, .mgather = dare_mgather_b,
};

void dare_stream_shape(struct dare_stream *stream, enum dare_csr csr, unsigned int value)
{
	if (csr == DARE_CSR_MATRIX_M)
		stream->m = value;
	else if (csr == DARE_CSR_MATRIX_K)
		stream->k = value;
	else
		stream->n = value;
	if (!stream->error)
		stream->error = dare_mcfg(stream->dare, csr, value);
}

int dare_stream_finish(struct dare_stream *stream)
{
	int error;

	dare_stream_m(stream, DARE_ROWS);
	dare_stream_k(stream, DARE_ROW_BYTES);
	dare_stream_n(stream, DARE_ROWS);
	/* Also after an error: no instruction may be in flight when the caller frees its operands. */
	error = dare_fence(stream->dare);
	return stream->error ? stream->error : error;
}

int dare_walk_columns(struct dare_walk *walk, enum dare_form form,
		      void (*fill)(struct dare_addresses *addresses, const void *context),
		      void (*multiply_column)(void *context, size_t column), void *context)
{
	struct dare_addresses addresses;
	int error;

	walk->tile = dare_tile_run;
	if (form == DARE_GSA) {
		error = dare_addresses_start(&addresses, walk->stream.dare, fill, context);
		if (error)
			return error;
		walk->addresses = &addresses;
		walk->tile = dare_tile_group;
	}
	for (size_t column = 0; column < walk->blocks->block_columns && !walk->stream.error; column++)
		multiply_column(context, column);
	error = dare_stream_finish(&walk->stream);
	if (form == DARE_GSA)
		dare_addresses_stop(&addresses);
	walk->addresses = NULL;
	return error;
}

int dare_operand_check(const struct dare_operand *operand)
{
	size_t bytes;

	if (operand->rows == 0 || operand->columns == 0)
		return 0;
	if (!operand->memory)
		return dare_fail(-EINVAL, "%s is NULL", operand->name);
	if ((uintptr_t)operand->memory % operand->bytes)
		return dare_fail(-EINVAL, "%s is at %p, which is no multiple of %u", operand->name, operand->memory,
				 operand->bytes);
	if (operand->leading < operand->columns)
		return dare_fail(-EINVAL, "a row of %s has %zu elements, but its leading dimension is %zu",
				 operand->name, operand->columns, operand->leading);
	if (__builtin_mul_overflow(operand->rows, operand->leading, &bytes) ||
	    __builtin_mul_overflow(bytes, operand->bytes, &bytes) || bytes > PTRDIFF_MAX)
		return dare_fail(-EINVAL, "%s of %zu rows, %zu elements apart, is larger than memory", operand->name,
				 operand->rows, operand->leading);
	return 0;
}

int dare_form_choose(const struct dare *dare, enum dare_profiled kernel, enum dare_form form,
		     const struct dare_blocks *blocks, unsigned int threshold)
{
	if (form == DARE_AUTO)
		form = dare_profile_form(dare, kernel, blocks->block);
	if (form == DARE_AUTO)
		return blocks->block < threshold ? DARE_GSA : DARE_BASELINE;
	if (form == DARE_BASELINE || form == DARE_GSA)
		return (int)form;
	return dare_fail(-EINVAL, "there is no form %d", (int)form);
}

void *dare_kernel_alloc(struct dare *dare, uint64_t items, size_t bytes, const char *what)
{
	size_t size;
	void *memory = NULL;

	if (__builtin_mul_overflow(items ? items : 1, bytes, &size) || size > PTRDIFF_MAX)
		errno = ENOMEM;
	else
		memory = dare_alloc(dare, size);
	if (!memory)
		dare_fail(-ENOMEM, "no memory for %s: %s", what, strerror(errno));
	return memory;
}
