/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes of a virtual machine's programs, as a driver opens them and a program writes them. */
#ifndef TESTS_VFIO_LANES_H
#define TESTS_VFIO_LANES_H

#include "mimic/lane.h"
#include "tests/lib/vfio_guest.h"

/* As guest_start(), with both vectors of MSI-X or MSI, and BAR 5 mapped (guest->rings, guest_end() unmaps it). */
void guest_start_lanes(struct guest *guest, const struct served *served, const char *device, bool has_msi);
/* BAR 5 of the function, which may be another one than the guest's registers. */
void guest_map_rings(struct guest *guest, struct guest *function);
void guest_set_mode(struct guest *guest, unsigned int space, uint64_t mode);

/* The state that the lane's register shows, MIMIC_PCI_LANE_IS_..., also after a store that opens it. */
unsigned int lane_state(struct guest *guest, unsigned int number);
unsigned int lane_try(struct guest *guest, unsigned int number, unsigned int space, unsigned int thread,
		      unsigned int level);
/* One that must open, or is open. */
struct raw_lane lane_open(struct guest *guest, unsigned int number, unsigned int space, unsigned int thread);
struct raw_lane lane_at(struct guest *guest, unsigned int number);
void lane_close(struct guest *guest, unsigned int number);

/* A command word. */
uint64_t lane_word(enum mimic_command_kind kind, unsigned int device, unsigned int page, unsigned int offset,
		   unsigned int size, uint32_t count);
/* Words, and the kick if the daemon sleeps. */
void lane_post(struct guest *guest, struct raw_lane *lane, const uint64_t *words, size_t count);
/* One load with its answer, one posted store. */
uint64_t lane_load(struct guest *guest, struct raw_lane *lane, unsigned int device, unsigned int page,
		   unsigned int offset, unsigned int size);
void lane_store(struct guest *guest, struct raw_lane *lane, unsigned int device, unsigned int page,
		unsigned int offset, unsigned int size, uint64_t value);

#endif
