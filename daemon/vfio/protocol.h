/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages of vfio-user, as far as QEMU 11 needs them. Source: the specification in QEMU's
 * documentation (docs/interop/vfio-user.rst), version 0.0. All is little endian.
 */
#ifndef MIMICD_VFIO_PROTOCOL_H
#define MIMICD_VFIO_PROTOCOL_H

#include <stdint.h>

enum mimicd_vfio_command {
	MIMICD_VFIO_VERSION = 1,
	MIMICD_VFIO_DMA_MAP = 2,
	MIMICD_VFIO_DMA_UNMAP = 3,
	MIMICD_VFIO_GET_INFO = 4,
	MIMICD_VFIO_GET_REGION_INFO = 5,
	MIMICD_VFIO_GET_IRQ_INFO = 7,
	MIMICD_VFIO_SET_IRQS = 8,
	MIMICD_VFIO_REGION_READ = 9,
	MIMICD_VFIO_REGION_WRITE = 10,
	MIMICD_VFIO_RESET = 13,
};

#define MIMICD_VFIO_TYPE 0xfu		/* of the flags */
#define MIMICD_VFIO_REPLY 1u
#define MIMICD_VFIO_NO_REPLY 0x10u
#define MIMICD_VFIO_ERROR 0x20u

struct mimicd_vfio_header {
	uint16_t id;
	uint16_t command;
	uint32_t size;		/* with the header */
	uint32_t flags;
	uint32_t error;		/* an errno, in a reply with MIMICD_VFIO_ERROR */
};

/* JSON follows, with its NUL. */
struct mimicd_vfio_version {
	uint16_t major, minor;
};

#define MIMICD_VFIO_MAP_READ 1u
#define MIMICD_VFIO_MAP_WRITE 2u

struct mimicd_vfio_dma_map {
	uint32_t argsz, flags;
	uint64_t offset, address, size;
};

#define MIMICD_VFIO_UNMAP_ALL 2u

struct mimicd_vfio_dma_unmap {
	uint32_t argsz, flags;
	uint64_t address, size;
};

#define MIMICD_VFIO_DEVICE_RESET 1u
#define MIMICD_VFIO_DEVICE_PCI 2u

struct mimicd_vfio_info {
	uint32_t argsz, flags, regions, interrupts;
};

enum mimicd_vfio_region {
	MIMICD_VFIO_REGION_BAR0 = 0,
	MIMICD_VFIO_REGION_BAR5 = 5,
	MIMICD_VFIO_REGION_ROM = 6,
	MIMICD_VFIO_REGION_CONFIG = 7,
	MIMICD_VFIO_REGION_VGA = 8,
	MIMICD_VFIO_REGIONS = 9,
};

#define MIMICD_VFIO_REGION_MAY_READ 1u
#define MIMICD_VFIO_REGION_MAY_WRITE 2u
#define MIMICD_VFIO_REGION_MAY_MAP 4u

struct mimicd_vfio_region_info {
	uint32_t argsz, flags, index, capabilities;
	uint64_t size, offset;
};

enum mimicd_vfio_interrupt {
	MIMICD_VFIO_INTX = 0,
	MIMICD_VFIO_MSI = 1,
	MIMICD_VFIO_MSIX = 2,
	MIMICD_VFIO_INTERRUPTS = 5,	/* errors and requests besides, which we do not have */
};

#define MIMICD_VFIO_IRQ_EVENTFD 1u
#define MIMICD_VFIO_IRQ_NO_RESIZE 8u

struct mimicd_vfio_irq_info {
	uint32_t argsz, flags, index, count;
};

#define MIMICD_VFIO_SET_DATA_NONE 1u
#define MIMICD_VFIO_SET_DATA_EVENTFD 4u
#define MIMICD_VFIO_SET_ACTION_TRIGGER 0x20u

struct mimicd_vfio_irq_set {
	uint32_t argsz, flags, index, start, count;
};

struct mimicd_vfio_region_access {
	uint64_t offset;
	uint32_t region, count;
};

#endif
