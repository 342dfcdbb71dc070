/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The configuration space of a PCI function: 256 bytes, of which a table has the values and
 * the bits that the machine may change. Source of the layout: the PCI Local Bus Specification,
 * 3.0, sections 6.1, 6.2 and 6.8 (MSI and MSI-X).
 */
#ifndef MIMICD_CONFIG_SPACE_H
#define MIMICD_CONFIG_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIMICD_CONFIG_SIZE 256u
#define MIMICD_BARS 6u

enum mimicd_config_interrupts {
	MIMICD_CONFIG_MSIX,
	MIMICD_CONFIG_MSI,
	MIMICD_CONFIG_NO_INTERRUPTS,
};

struct mimicd_config_description {
	uint16_t device;
	uint32_t class;
	enum mimicd_config_interrupts interrupts;
	uint64_t bar_sizes[MIMICD_BARS];	/* powers of two, from a page on; 0: there is no such BAR */
	unsigned int wide_bars;		/* by bit: 64 bits wide and prefetchable; has the next one's place, too */
};

struct mimicd_config_space {
	uint8_t bytes[MIMICD_CONFIG_SIZE];
	uint8_t writable[MIMICD_CONFIG_SIZE];
	unsigned int wide_bars;
};

/* As after power-on. */
void mimicd_config_init(struct mimicd_config_space *config,
			const struct mimicd_config_description *description);
/* false: the range is not in it. */
bool mimicd_config_read(const struct mimicd_config_space *config, uint64_t offset, void *buffer, size_t size);
bool mimicd_config_write(struct mimicd_config_space *config, uint64_t offset, const void *buffer, size_t size);
/* Where the machine has placed a BAR; 0: nowhere, or it is switched off. */
uint64_t mimicd_config_bar(const struct mimicd_config_space *config, unsigned int bar);

#endif
