/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One instruction (paper, Table I). An instruction that fails has changed no register. */
#include "devices/dare/dare_internal.h"

bool dare_mpu_configure(struct dare_context *c, uint64_t csr, uint64_t value)
{
	static const uint32_t largest[DARE_CSR_COUNT] = {
#define _(number, name, value, meaning) [number] = value,
		DARE_CSRS(_)
#undef _
	};

	if (csr >= DARE_CSR_COUNT || !value || value > largest[csr])
		return false;
	c->csr[csr] = (uint32_t)value;
	return true;
}

static enum result configure(struct dare_context *c, const struct queue_entry *entry)
{
	if (dare_mpu_configure(c, entry->rs1, entry->rs2))
		return RESULT_COMPLETE;
	if (entry->rs1 >= DARE_CSR_COUNT)
		dare_mpu_queue_fail(c, DARE_ERROR_CSR, entry->rs1, 0);
	else
		dare_mpu_queue_fail(c, DARE_ERROR_SHAPE, entry->rs2, 0);
	return RESULT_FAILED;
}

static enum element_kind kind_of(unsigned int element)
{
	return element == 4 ? ELEMENT_FP32 : element == 2 ? ELEMENT_BF16 : ELEMENT_INT8;
}

bool dare_mpu_multiply(struct dare *d, struct dare_context *c, unsigned int operation, unsigned int md,
		       unsigned int ms1, unsigned int ms2)
{
	unsigned int element = dare_instructions[operation].element;
	uint32_t k = c->csr[DARE_CSR_MATRIX_K];
	unsigned int shift = element >> 1;	/* of 1, 2 and 4: a division takes as long as all of this */

	if (k & (element - 1))
		return false;
	dare_mpu_compute_mma(d, c, md, ms1, ms2, kind_of(element));
	count(c, DARE_COUNTER_macs_used,
	      (uint64_t)c->csr[DARE_CSR_MATRIX_M] * c->csr[DARE_CSR_MATRIX_N] * (k >> shift));
	count(c, DARE_COUNTER_macs_offered, DARE_ROWS * DARE_ROWS * (DARE_ROW_BYTES >> shift));
	return true;
}

static enum result multiply(struct dare *d, struct dare_context *c, const struct queue_entry *entry)
{
	if (dare_mpu_multiply(d, c, entry->operation, entry->md, entry->ms1, entry->ms2))
		return RESULT_COMPLETE;
	dare_mpu_queue_fail(c, DARE_ERROR_SHAPE, c->csr[DARE_CSR_MATRIX_K], 0);
	return RESULT_FAILED;
}

enum result dare_mpu_execute(struct dare *d, struct dare_context *c, struct queue_entry *entry)
{
	if (entry->operation == DARE_OPERATION_COUNT) {
		dare_mpu_queue_fail(c, DARE_ERROR_ILLEGAL, entry->word, 0);
		return RESULT_FAILED;
	}
	switch (dare_instructions[entry->operation].format) {
	case DARE_FORMAT_CONFIGURE:
		return configure(c, entry);
	case DARE_FORMAT_MULTIPLY:
		return multiply(d, c, entry);
	default:
		return dare_mpu_memory_execute(d, c, entry);
	}
}
