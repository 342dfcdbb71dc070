/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/fake_dare.h"

#include <stdlib.h>
#include <string.h>

#include "libmimic/base/error.h"

static uint8_t *byte_at(struct fake_dare *fake, uint64_t address)
{
	for (size_t i = 0; i < FAKE_DARE_RANGES; i++) {
		uint64_t offset = address - (uintptr_t)fake->ranges[i].start;

		if (offset < fake->ranges[i].size)
			return fake->ranges[i].start + offset;
	}
	return NULL;
}

static int read_byte(void *context, uint64_t address, uint8_t *byte)
{
	const uint8_t *at = byte_at(context, address);

	if (!at)
		return -EFAULT;
	*byte = *at;
	return 0;
}

static int write_byte(void *context, uint64_t address, uint8_t byte)
{
	uint8_t *at = byte_at(context, address);

	if (!at)
		return -EFAULT;
	*at = byte;
	return 0;
}

void fake_dare_allow(struct fake_dare *fake, void *start, size_t size)
{
	for (size_t i = 0; i < FAKE_DARE_RANGES; i++) {
		if (fake->ranges[i].start)
			continue;
		fake->ranges[i].start = start;
		fake->ranges[i].size = size;
		return;
	}
	abort();
}

static uint64_t load_register(const struct dare_oracle *oracle, unsigned int offset)
{
	switch (offset) {
	case DARE_IDENTIFY:
		return DARE_MAGIC << 32 | DARE_VERSION << 24;
	case DARE_FENCE:
		return oracle->error ? DARE_STATUS_ERROR : 0;
	case DARE_ERROR:
		return oracle->error;
	case DARE_ERROR_INSTRUCTION:
		return oracle->error_instruction;
	case DARE_ERROR_POSITION:
		return oracle->error_position;
	case DARE_ERROR_ADDRESS:
		return oracle->error_address;
	case DARE_ERROR_ROW:
		return oracle->error_row;
	case DARE_MATRIX_M:
		return oracle->matrix_m;
	case DARE_MATRIX_K:
		return oracle->matrix_k;
	case DARE_MATRIX_N:
		return oracle->matrix_n;
	default:
		/* Each counter answers its place in the list and one thousand. */
		return 1000 + (offset - DARE_COUNTER_OFFSET) / 8;
	}
}

static void access_register(struct fake_device *device, struct mimic_access *access)
{
	struct dare_oracle *oracle = &((struct fake_dare *)device)->oracle;

	if (!access->is_write)
		access->data = load_register(oracle, access->offset);
	else if (access->offset == DARE_STREAM)
		dare_oracle_stream(oracle, access->data);
	else if (access->offset == DARE_ERROR)
		dare_oracle_clear_error(oracle);
	else if (access->offset == DARE_RESET)
		dare_oracle_reset(oracle);
}

static void *allocate(struct fake_device *device, size_t size)
{
	struct fake_dare *fake = (struct fake_dare *)device;
	void *memory = NULL;

	if (posix_memalign(&memory, 4096, size)) {
		errno = ENOMEM;
		return NULL;
	}
	memset(memory, 0, size);
	for (size_t i = 0; i < FAKE_DARE_RANGES; i++) {
		if (fake->ranges[i].start)
			continue;
		fake->ranges[i].start = memory;
		fake->ranges[i].size = size;
		fake->ranges[i].is_allocated = true;
		return memory;
	}
	abort();
}

static int release(struct fake_device *device, void *memory)
{
	struct fake_dare *fake = (struct fake_dare *)device;

	for (size_t i = 0; i < FAKE_DARE_RANGES; i++) {
		if (fake->ranges[i].start != memory || !fake->ranges[i].is_allocated)
			continue;
		memset(&fake->ranges[i], 0, sizeof(fake->ranges[i]));
		free(memory);
		return 0;
	}
	return mimic_error(-EINVAL, "not allocated");
}

static int share(struct fake_device *device, void *memory, size_t size)
{
	fake_dare_allow((struct fake_dare *)device, memory, size);
	return 0;
}

static int unshare(struct fake_device *device, void *memory, size_t size)
{
	struct fake_dare *fake = (struct fake_dare *)device;

	for (size_t i = 0; i < FAKE_DARE_RANGES; i++) {
		if (fake->ranges[i].start != memory || fake->ranges[i].size != size)
			continue;
		memset(&fake->ranges[i], 0, sizeof(fake->ranges[i]));
		return 0;
	}
	return mimic_error(-EINVAL, "not shared");
}

struct dare *fake_dare_open(struct fake_dare *fake)
{
	struct dare *dare;
	int error;

	memset(fake, 0, sizeof(*fake));
	fake->device = (struct fake_device){
		.kind = "dare", .access = access_register,
		.alloc = allocate, .free = release, .share = share, .unshare = unshare,
	};
	fake->memory = (struct dare_oracle_memory){ fake, read_byte, write_byte };
	dare_oracle_power_on(&fake->oracle, &fake->memory);
	fake_transport_offer(&fake->device);
	error = dare_open(&dare, NULL);
	fake_transport_offer(NULL);
	return error ? NULL : dare;
}
