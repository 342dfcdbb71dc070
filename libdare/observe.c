/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Waiting, errors, CSRs and counters. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const char *const meanings[] = {
#define _(number, name, meaning) [number] = meaning,
	DARE_ERRORS(_)
#undef _
};

#define ERRORS (sizeof(meanings) / sizeof(meanings[0]))

static int error_number(uint64_t error)
{
	switch (error) {
	case DARE_ERROR_ILLEGAL:
		return -EILSEQ;
	case DARE_ERROR_CSR:
	case DARE_ERROR_SHAPE:
	case DARE_ERROR_MISALIGNED:
		return -EINVAL;
	case DARE_ERROR_LOAD:
	case DARE_ERROR_STORE:
		return -EFAULT;
	case DARE_ERROR_DETACHED:
		return -ENXIO;
	default:
		return -EIO;	/* a newer device knows more of them */
	}
}

/* Answers the context's status when all is complete, or an error stopped it. */
static int wait_for_all(struct dare *dare, uint64_t *status)
{
	int error = dare_flush(dare);

	return error ? error : dare_load_register(dare, DARE_FENCE, status);
}

static void write_text(struct dare_error_info *info)
{
	const char *meaning = info->error < ERRORS ? meanings[info->error] : "unknown error";
	char instruction[DARE_TEXT_SIZE];
	int length;

	dare_disassemble(info->instruction, instruction, sizeof(instruction));
	length = snprintf(info->text, sizeof(info->text), "instruction %llu, %s: ",
			  (unsigned long long)info->position, instruction);
	switch (info->error) {
	case DARE_ERROR_LOAD:
	case DARE_ERROR_STORE:
	case DARE_ERROR_MISALIGNED:
		snprintf(info->text + length, sizeof(info->text) - (size_t)length,
			 "row %u, address 0x%llx: %s", info->row,
			 (unsigned long long)info->address, meaning);
		break;
	case DARE_ERROR_CSR:
	case DARE_ERROR_SHAPE:
		snprintf(info->text + length, sizeof(info->text) - (size_t)length, "value %llu: %s",
			 (unsigned long long)info->address, meaning);
		break;
	default:
		snprintf(info->text + length, sizeof(info->text) - (size_t)length, "%s", meaning);
	}
}

static int read_error(struct dare *dare, struct dare_error_info *info)
{
	const struct {
		unsigned int offset;
		uint64_t *value;
	} registers[] = {
		{ DARE_ERROR, &(uint64_t){ 0 } },
		{ DARE_ERROR_INSTRUCTION, &(uint64_t){ 0 } },
		{ DARE_ERROR_POSITION, &info->position },
		{ DARE_ERROR_ADDRESS, &info->address },
		{ DARE_ERROR_ROW, &(uint64_t){ 0 } },
	};
	int error;

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		error = dare_load_register(dare, registers[i].offset, registers[i].value);
		if (error)
			return error;
	}
	info->error = (enum dare_error)*registers[0].value;
	info->instruction = (uint32_t)*registers[1].value;
	info->row = (unsigned int)*registers[4].value;
	write_text(info);
	return 0;
}

int dare_fence(struct dare *dare)
{
	struct dare_error_info info = { 0 };
	uint64_t status;
	int error;

	if (!dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	error = wait_for_all(dare, &status);
	if (error || !(status & DARE_STATUS_ERROR))
		return error;
	error = read_error(dare, &info);
	if (error)
		return error;
	return dare_fail(error_number(info.error), "%s: %s", dare_device_name(dare), info.text);
}

int dare_error(struct dare *dare, struct dare_error_info *info)
{
	uint64_t status;
	int error;

	if (!dare || !info)
		return dare_fail(-EINVAL, "dare_error: an argument is NULL");
	memset(info, 0, sizeof(*info));
	error = wait_for_all(dare, &status);
	if (error || !(status & DARE_STATUS_ERROR))
		return error;
	return read_error(dare, info);
}

int dare_clear_error(struct dare *dare)
{
	uint64_t status;
	int error;

	if (!dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	/* Instructions that are still on their way belong to the time before the error was cleared. */
	error = wait_for_all(dare, &status);
	return error ? error : dare_store_register(dare, DARE_ERROR, 0);
}

int dare_reset(struct dare *dare)
{
	uint64_t status;
	int error;

	if (!dare)
		return dare_fail(-EINVAL, "the handle is NULL");
	error = wait_for_all(dare, &status);
	return error ? error : dare_store_register(dare, DARE_RESET, 0);
}

int dare_read_csr(struct dare *dare, enum dare_csr csr, uint64_t *value)
{
	static const unsigned int offsets[DARE_CSR_COUNT] = {
#define _(number, name, largest, meaning) [number] = DARE_##name,
		DARE_CSRS(_)
#undef _
	};
	uint64_t status;
	int error;

	if (!dare || !value)
		return dare_fail(-EINVAL, "dare_read_csr: an argument is NULL");
	if ((unsigned int)csr >= DARE_CSR_COUNT)
		return dare_fail(-EINVAL, "CSR %u: there are 0 to %u", (unsigned int)csr,
				 DARE_CSR_COUNT - 1);
	error = wait_for_all(dare, &status);
	return error ? error : dare_load_register(dare, offsets[csr], value);
}

int dare_counters(struct dare *dare, struct dare_statistics *statistics)
{
	uint64_t status;
	int error;

	if (!dare || !statistics)
		return dare_fail(-EINVAL, "dare_counters: an argument is NULL");
	error = wait_for_all(dare, &status);
#define _(name, meaning) \
	if (!error) \
		error = dare_load_register(dare, DARE_COUNTER_OFFSET + 8 * DARE_COUNTER_##name, \
					   &statistics->name);
	DARE_COUNTERS(_)
#undef _
	return error;
}
