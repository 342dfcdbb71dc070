/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses of regions: the values that they read, and those that are refused. */
#include "tests/fuzz/vfio_machine.h"

#include <errno.h>
#include <string.h>

#include "tests/fuzz/check.h"

/* 0, or the errno of an access of a region that has this size. */
static int error_of(uint64_t offset, uint64_t count, uint64_t size)
{
	return !count || count > 4096 || offset > size || count > size - offset ? EINVAL : 0;
}

uint8_t machine_config_mask(unsigned int offset)
{
	static const struct { uint8_t offset, mask; } bits[] = {
		{ 0x04, 0x46 }, { 0x05, 0x05 }, { 0x0c, 0xff }, { 0x3c, 0xff }, { 0x43, 0xc0 },
		{ 0x11, (uint8_t)~((BAR0_SIZE - 1) >> 8) }, { 0x12, 0xff }, { 0x13, 0xff },
		{ 0x21, 0xf0 }, { 0x22, 0xff }, { 0x23, 0xff }, { 0x26, (uint8_t)~((BAR5_SIZE - 1) >> 16) }, { 0x27, 0xff },
	};

	if (machine.is_split && ((offset >= 0x18 && offset < 0x20) || offset >= 0x24) && offset < 0x28)
		return 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (bits[i].offset == offset)
			return bits[i].mask;
	}
	/* BAR 2, whose size is the device's. */
	if (offset >= 0x18 && offset < 0x20) {
		uint64_t size = PAGE;

		while (size < machine.memory_size)
			size *= 2;
		return (uint8_t)(~(size - 1) >> 8 * (offset - 0x18));
	}
	return 0;
}

void machine_access_config(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int offset = byte(input), count = 1 + byte(input) % 8;
	int error = error_of(offset, count, sizeof(machine.config));

	body.access = (struct mimicd_vfio_region_access){ offset, MIMICD_VFIO_REGION_CONFIG, count };
	for (unsigned int i = 0; i < count; i++)
		body.data[i] = (uint8_t)byte(input);
	CHECK(machine_transfer(is_store, &body) == error);
	for (unsigned int i = 0; !error && i < count; i++) {
		uint8_t mask = machine_config_mask(offset + i), *place = &machine.config[offset + i];

		if (is_store)
			*place = (uint8_t)((*place & ~mask) | (body.data[i] & mask));
		else
			CHECK(body.data[i] == *place);
	}
}

void machine_access_memory(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int offset = (unsigned int)bytes(input, 2) % sizeof(machine.memory), count = (unsigned int)bytes(input, 2) % 4200;
	uint8_t seed = (uint8_t)byte(input);
	int error = count ? 0 : EINVAL;

	if (count > sizeof(machine.memory) - offset)
		count = (unsigned int)(sizeof(machine.memory) - offset);
	if (count > 4096) {
		if (is_store)
			return;
		error = EINVAL;
	}
	body.access = (struct mimicd_vfio_region_access){ offset, MIMIC_PCI_BAR_MEMORY, count };
	for (unsigned int i = 0; is_store && i < count; i++)
		body.data[i] = (uint8_t)(seed + i * 7);
	CHECK(machine_transfer(is_store, &body) == error);
	if (error)
		return;
	if (is_store)
		memcpy(machine.memory + offset, body.data, count);
	else
		CHECK(!memcmp(machine.memory + offset, body.data, count));
}

void machine_access_space(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int number = byte(input) % MIMIC_PCI_SPACES, half = byte(input);
	bool is_mode = half & 1, is_half = half & 2, is_high = half & 4;
	uint64_t *word = is_mode ? &machine.modes[number] : &machine.roots[number], value;
	unsigned int size = is_half ? 4 : 8, shift = is_half && is_high ? 32 : 0;
	uint64_t mask = is_half ? 0xffffffffull << shift : ~0ull;

	body.access = (struct mimicd_vfio_region_access){
		MIMIC_PCI_SPACE(number + 1) + (is_mode ? 8 : 0) + shift / 8, MIMIC_PCI_BAR_REGISTERS, size,
	};
	value = is_mode ? byte(input) % 64 : bytes(input, 8);
	memcpy(body.data, &value, size);
	CHECK(!machine_transfer(is_store, &body));
	if (!is_store) {
		value = 0;
		memcpy(&value, body.data, size);
		CHECK(value == (*word & mask) >> shift);
	} else if (!is_mode || !shift) {
		/* The upper half of MODE begins nothing, and is not kept. */
		*word = (*word & ~mask) | (value << shift & mask);
	}
}

/* The device must answer, or refuse an access outside; its answer is not checked. */
void machine_access_anything(struct input *input, bool is_store)
{
	static struct transfer body;
	uint32_t region = byte(input) % 16, count = byte(input) % 16;
	uint64_t offset = bytes(input, 2), value = bytes(input, 4);
	int error;

	/* These regions have actions of their own, which know their content. */
	if (region == MIMICD_VFIO_REGION_CONFIG || region == MIMIC_PCI_BAR_MEMORY || region == MIMIC_PCI_BAR_RINGS)
		return;
	/* As do spaces and lanes; a barrier of the device holds up no other program. */
	if (region == MIMIC_PCI_BAR_REGISTERS && is_store && offset + count > MIMIC_PCI_SPACE(1) &&
	    offset < MIMIC_PCI_LANE(MIMIC_PCI_LANES))
		return;
	body.access = (struct mimicd_vfio_region_access){ offset, region, count };
	memcpy(body.data, &value, sizeof(value));
	error = machine_transfer(is_store, &body);
	if (region == MIMIC_PCI_BAR_REGISTERS && !error_of(offset, count, BAR0_SIZE))
		CHECK(error == (count == 1 || count == 2 || count == 4 || count == 8 ? 0 : EINVAL) || offset >= PAGE);
	else if (region == MIMIC_PCI_BAR_MSIX)
		CHECK(error == error_of(offset, count, PAGE));
	else
		CHECK(error == EINVAL);
}
