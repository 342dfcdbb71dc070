/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The machine of fuzz_vfio.c: its state, its messages, and the actions of an input.
 *
 *   vfio_stream.c    messages and their replies; a header of any kind
 *   vfio_ranges.c    memory of the guest that is mapped
 *   vfio_regions.c   configuration space, device memory, address spaces, registers
 *   vfio_lanes.c     lanes in a BAR
 *   vfio_second.c    the second function of a split device; interrupts
 */
#ifndef FUZZ_VFIO_MACHINE_H
#define FUZZ_VFIO_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/server.h"
#include "daemon/vfio/protocol.h"
#include "mimic/pci.h"
#include "tests/fuzz/input.h"

#define PAGE 4096u
#define PAGES 32u		/* of the guest that ranges may lie in, and of the file */
#define DEVICE_MEMORY_PAGES 4u	/* of the device's memory that are looked at */
#define LANES 6u			/* that are used */
#define LANE_SIZE (13 * PAGE)		/* 4096 and 2048 words, and their headers */
#define BAR5_SIZE 0x400000u		/* 64 of these, up to a power of two */
#define BAR0_SIZE 0x4000u	/* a Virgo: two pages and the bus page, up to a power of two */

/* The state that the machine should see. */
struct machine {
	bool is_split;
	int fds[2];	/* of the registers, or of all; of the memory */
	int ram_fd, event_fd;
	size_t memory_size;	/* of the device */
	int fd;		/* the one of these that is spoken to */
	uint16_t id;
	bool is_cut_off;
	bool is_mapped[PAGES];
	bool begins[PAGES];	/* a range begins at this page */
	uint8_t config[256];
	uint64_t roots[MIMIC_PCI_SPACES], modes[MIMIC_PCI_SPACES];
	uint8_t memory[DEVICE_MEMORY_PAGES * PAGE];
	bool lies;	/* something was written to lanes: a program may be broken */
};
extern struct machine machine;

struct transfer {
	struct mimicd_vfio_region_access access;
	uint8_t data[4096];
};

/* --- vfio_stream.c ---------------------------------------------------------------------- */

/* Waits until the daemon has nothing to do. In fuzz_vfio.c. */
void machine_settle(void);
/*
 * A command and its reply: 0 or the errno in it. fd: -1: none goes along. reply: NULL: of no interest; *size is its
 * room, then its size.
 */
int machine_ask(unsigned int command, const void *body, size_t body_size, int fd, void *reply, size_t *size);
/* An access of a region; a load's bytes come into it. As above. */
int machine_transfer(bool is_store, struct transfer *body);
void machine_send_anything(struct input *input);

/* --- vfio_ranges.c ---------------------------------------------------------------------- */

void machine_map(struct input *input);
void machine_unmap(struct input *input);

/* --- vfio_regions.c --------------------------------------------------------------------- */

/* Which bits of the configuration space a machine may change: the PCI specification's, and those of MSI-X. */
uint8_t machine_config_mask(unsigned int offset);
void machine_access_config(struct input *input, bool is_store);
void machine_access_memory(struct input *input, bool is_store);
void machine_access_space(struct input *input, bool is_store);
void machine_access_anything(struct input *input, bool is_store);

/* --- vfio_lanes.c ----------------------------------------------------------------------- */

uint64_t machine_lane_register(unsigned int number);
void machine_use_lanes(struct input *input);

/* --- vfio_second.c ---------------------------------------------------------------------- */

void machine_set_interrupts(struct input *input);
void machine_use_memory_function(struct input *input);

#endif
