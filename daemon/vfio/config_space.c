/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/config_space.h"

#include <string.h>

#include "mimic/pci.h"

enum offset {
	VENDOR = 0x00, DEVICE = 0x02, COMMAND = 0x04, STATUS = 0x06, REVISION = 0x08, CLASS = 0x09,
	CACHE_LINE = 0x0c, BAR = 0x10, SUBSYSTEM_VENDOR = 0x2c, SUBSYSTEM = 0x2e, CAPABILITIES = 0x34,
	INTERRUPT_LINE = 0x3c, FIRST_CAPABILITY = 0x40,
};

#define COMMAND_MEMORY 0x0002u
#define COMMAND_WRITABLE 0x0546u	/* memory, bus master, parity, SERR, no INTx */
#define STATUS_CAPABILITIES 0x0010u
#define BAR_64_PREFETCHABLE 0x0cu
#define MSI_ID 0x05u
#define MSI_TWO_VECTORS_64 0x0082u	/* of its control: two vectors are wanted, addresses of 64 bits */
#define MSI_WRITABLE 0x0071u		/* enabled, how many are given */
#define MSIX_ID 0x11u
#define MSIX_WRITABLE 0xc000u		/* enabled, all masked */
#define MSIX_PENDING 0x800u		/* where the pending bits lie in the BAR of the table */

struct field {
	uint8_t offset, size;
	uint32_t value, writable;
};

static void put(struct mimicd_config_space *config, struct field field)
{
	for (unsigned int i = 0; i < field.size; i++) {
		config->bytes[field.offset + i] = (uint8_t)(field.value >> 8 * i);
		config->writable[field.offset + i] = (uint8_t)(field.writable >> 8 * i);
	}
}

static void put_all(struct mimicd_config_space *config, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(config, fields[i]);
}

static void put_bar(struct mimicd_config_space *config, unsigned int bar, uint64_t size, bool is_wide)
{
	uint64_t mask = ~(size - 1);
	uint8_t offset = (uint8_t)(BAR + 4 * bar);

	put(config, (struct field){ offset, 4, is_wide ? BAR_64_PREFETCHABLE : 0, (uint32_t)mask });
	if (is_wide)
		put(config, (struct field){ (uint8_t)(offset + 4), 4, 0, (uint32_t)(mask >> 32) });
}

void mimicd_config_init(struct mimicd_config_space *config,
			const struct mimicd_config_description *description)
{
	bool has_interrupts = description->interrupts != MIMICD_CONFIG_NO_INTERRUPTS;
	const struct field header[] = {
		{ VENDOR, 2, MIMIC_PCI_VENDOR, 0 },
		{ DEVICE, 2, description->device, 0 },
		{ COMMAND, 2, 0, COMMAND_WRITABLE },
		{ STATUS, 2, has_interrupts ? STATUS_CAPABILITIES : 0, 0 },
		{ REVISION, 1, MIMIC_PCI_VERSION, 0 },
		{ CLASS, 3, description->class, 0 },
		{ CACHE_LINE, 1, 0, 0xff },
		{ SUBSYSTEM_VENDOR, 2, MIMIC_PCI_VENDOR, 0 },
		{ SUBSYSTEM, 2, description->device, 0 },
		{ CAPABILITIES, 1, has_interrupts ? FIRST_CAPABILITY : 0, 0 },
		{ INTERRUPT_LINE, 1, 0, 0xff },
	};
	const struct field msi[] = {
		{ FIRST_CAPABILITY, 2, MSI_ID, 0 },
		{ FIRST_CAPABILITY + 2, 2, MSI_TWO_VECTORS_64, MSI_WRITABLE },
		{ FIRST_CAPABILITY + 4, 4, 0, 0xfffffffc },
		{ FIRST_CAPABILITY + 8, 4, 0, 0xffffffff },
		{ FIRST_CAPABILITY + 12, 2, 0, 0xffff },
	};
	const struct field msix[] = {
		{ FIRST_CAPABILITY, 2, MSIX_ID, 0 },
		{ FIRST_CAPABILITY + 2, 2, MIMIC_PCI_VECTORS - 1, MSIX_WRITABLE },
		{ FIRST_CAPABILITY + 4, 4, MIMIC_PCI_BAR_MSIX, 0 },
		{ FIRST_CAPABILITY + 8, 4, MSIX_PENDING | MIMIC_PCI_BAR_MSIX, 0 },
	};

	memset(config, 0, sizeof(*config));
	config->wide_bars = description->wide_bars;
	put_all(config, header, sizeof(header) / sizeof(header[0]));
	if (description->interrupts == MIMICD_CONFIG_MSI)
		put_all(config, msi, sizeof(msi) / sizeof(msi[0]));
	else if (has_interrupts)
		put_all(config, msix, sizeof(msix) / sizeof(msix[0]));
	for (unsigned int i = 0; i < MIMICD_BARS; i++) {
		if (description->bar_sizes[i])
			put_bar(config, i, description->bar_sizes[i], description->wide_bars >> i & 1);
	}
}

static bool is_inside(uint64_t offset, size_t size)
{
	return offset <= MIMICD_CONFIG_SIZE && size <= MIMICD_CONFIG_SIZE - offset;
}

bool mimicd_config_read(const struct mimicd_config_space *config, uint64_t offset, void *buffer, size_t size)
{
	if (!is_inside(offset, size))
		return false;
	memcpy(buffer, config->bytes + offset, size);
	return true;
}

bool mimicd_config_write(struct mimicd_config_space *config, uint64_t offset, const void *buffer, size_t size)
{
	const uint8_t *from = buffer;

	if (!is_inside(offset, size))
		return false;
	for (size_t i = 0; i < size; i++) {
		uint8_t mask = config->writable[offset + i];

		config->bytes[offset + i] = (uint8_t)((config->bytes[offset + i] & ~mask) | (from[i] & mask));
	}
	return true;
}

static uint64_t get(const struct mimicd_config_space *config, unsigned int offset, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)config->bytes[offset + i] << 8 * i;
	return value;
}

uint64_t mimicd_config_bar(const struct mimicd_config_space *config, unsigned int bar)
{
	bool is_wide = config->wide_bars >> bar & 1;

	if (!(get(config, COMMAND, 2) & COMMAND_MEMORY))
		return 0;
	return get(config, BAR + 4 * bar, is_wide ? 8 : 4) & ~0xfull;
}
