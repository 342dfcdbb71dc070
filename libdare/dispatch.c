/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One function for each instruction, and the buffer that they share. */
#include "internal.h"

/* The words name scalar registers as an assembler would: a0 and a1. */
#define RS1 10
#define RS2 11

static int no_handle(void)
{
	return dare_fail(-EINVAL, "the handle is NULL");
}

int dare_flush(struct dare *dare)
{
	ssize_t posted;
	size_t count;

	if (unlikely(!dare))
		return no_handle();
	count = dare->buffered;
	if (count == 0)
		return 0;
	/* Also if it fails: the device is gone then, and the same values would fail again. */
	dare->buffered = 0;
	posted = mimic_library_post(dare->device, 0, DARE_STREAM, dare->buffer, count);
	return posted < 0 ? (int)posted : 0;
}

int dare_dispatch(struct dare *dare, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	int error;

	if (unlikely(!dare))
		return no_handle();
	error = dare_make_room(dare, DARE_INSTRUCTION_VALUES);
	if (unlikely(error))
		return error;
	dare_put(dare, word);
	if (dare_operand_count(word) == 0)
		return 0;
	dare_put(dare, rs1);
	dare_put(dare, rs2);
	return 0;
}

/* An instruction with two scalar operands. */
static int dispatch_scalar(struct dare *dare, const struct dare_fields *fields, uint64_t rs1,
			   uint64_t rs2)
{
	uint32_t word;
	int error;

	if (unlikely(!dare))
		return no_handle();
	if (unlikely(dare_encode(fields, &word)))
		return dare_fail(-EINVAL, "%s: register m%u: there are m0 to m7",
				 dare_instructions[fields->operation].name,
				 fields->md | fields->ms2);
	error = dare_make_room(dare, DARE_INSTRUCTION_VALUES);
	if (unlikely(error))
		return error;
	dare_put(dare, word);
	dare_put(dare, rs1);
	dare_put(dare, rs2);
	return 0;
}

/* An instruction without any. */
static int dispatch_matrix(struct dare *dare, const struct dare_fields *fields)
{
	uint32_t word;
	int error;

	if (unlikely(!dare))
		return no_handle();
	if (unlikely(dare_encode(fields, &word))) {
		unsigned int wrong = fields->md >= DARE_REGISTERS    ? fields->md
				     : fields->ms1 >= DARE_REGISTERS ? fields->ms1
								     : fields->ms2;

		return dare_fail(-EINVAL, "%s: register m%u: there are m0 to m7",
				 dare_instructions[fields->operation].name, wrong);
	}
	error = dare_make_room(dare, 1);
	if (unlikely(error))
		return error;
	dare_put(dare, word);
	return 0;
}

int dare_mcfg(struct dare *dare, enum dare_csr csr, uint64_t value)
{
	const struct dare_fields fields = { .operation = DARE_MCFG, .rs1 = RS1, .rs2 = RS2 };

	return dispatch_scalar(dare, &fields, (uint64_t)csr, value);
}

static int load_tile(struct dare *dare, enum dare_operation operation, unsigned int md,
		     const void *address, int64_t stride)
{
	const struct dare_fields fields = { .operation = operation, .md = md, .rs1 = RS1,
					    .rs2 = RS2 };

	return dispatch_scalar(dare, &fields, (uintptr_t)address, (uint64_t)stride);
}

int dare_mld(struct dare *dare, unsigned int md, const void *address, int64_t stride)
{
	return load_tile(dare, DARE_MLD, md, address, stride);
}

int dare_mld_h(struct dare *dare, unsigned int md, const void *address, int64_t stride)
{
	return load_tile(dare, DARE_MLD_H, md, address, stride);
}

int dare_mld_b(struct dare *dare, unsigned int md, const void *address, int64_t stride)
{
	return load_tile(dare, DARE_MLD_B, md, address, stride);
}

static int store_tile(struct dare *dare, enum dare_operation operation, unsigned int ms3,
		      void *address, int64_t stride)
{
	const struct dare_fields fields = { .operation = operation, .ms2 = ms3, .rs1 = RS1,
					    .rs2 = RS2 };

	return dispatch_scalar(dare, &fields, (uintptr_t)address, (uint64_t)stride);
}

int dare_mst(struct dare *dare, unsigned int ms3, void *address, int64_t stride)
{
	return store_tile(dare, DARE_MST, ms3, address, stride);
}

int dare_mst_h(struct dare *dare, unsigned int ms3, void *address, int64_t stride)
{
	return store_tile(dare, DARE_MST_H, ms3, address, stride);
}

int dare_mst_b(struct dare *dare, unsigned int ms3, void *address, int64_t stride)
{
	return store_tile(dare, DARE_MST_B, ms3, address, stride);
}

static int multiply(struct dare *dare, enum dare_operation operation, unsigned int md,
		    unsigned int ms1, unsigned int ms2)
{
	const struct dare_fields fields = { .operation = operation, .md = md, .ms1 = ms1,
					    .ms2 = ms2 };

	return dispatch_matrix(dare, &fields);
}

int dare_mma(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	return multiply(dare, DARE_MMA, md, ms1, ms2);
}

int dare_mma_bf16(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	return multiply(dare, DARE_MMA_BF16, md, ms1, ms2);
}

int dare_mma_i8(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	return multiply(dare, DARE_MMA_I8, md, ms1, ms2);
}

static int gather(struct dare *dare, enum dare_operation operation, unsigned int md,
		  unsigned int ms1)
{
	const struct dare_fields fields = { .operation = operation, .md = md, .ms1 = ms1 };

	return dispatch_matrix(dare, &fields);
}

int dare_mgather(struct dare *dare, unsigned int md, unsigned int ms1)
{
	return gather(dare, DARE_MGATHER, md, ms1);
}

int dare_mgather_h(struct dare *dare, unsigned int md, unsigned int ms1)
{
	return gather(dare, DARE_MGATHER_H, md, ms1);
}

int dare_mgather_b(struct dare *dare, unsigned int md, unsigned int ms1)
{
	return gather(dare, DARE_MGATHER_B, md, ms1);
}

static int scatter(struct dare *dare, enum dare_operation operation, unsigned int ms2,
		   unsigned int ms1)
{
	const struct dare_fields fields = { .operation = operation, .ms1 = ms1, .ms2 = ms2 };

	return dispatch_matrix(dare, &fields);
}

int dare_mscatter(struct dare *dare, unsigned int ms2, unsigned int ms1)
{
	return scatter(dare, DARE_MSCATTER, ms2, ms1);
}

int dare_mscatter_h(struct dare *dare, unsigned int ms2, unsigned int ms1)
{
	return scatter(dare, DARE_MSCATTER_H, ms2, ms1);
}

int dare_mscatter_b(struct dare *dare, unsigned int ms2, unsigned int ms1)
{
	return scatter(dare, DARE_MSCATTER_B, ms2, ms1);
}
