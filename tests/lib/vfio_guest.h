/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A virtual machine's side of a device's socket, spoken by hand: the messages of QEMU and of a guest's
 * driver. For cmocka programs; a call that must work fails the test if it does not.
 */
#ifndef TESTS_VFIO_GUEST_H
#define TESTS_VFIO_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/vfio/protocol.h"
#include "mimic/pci.h"
#include "tests/lib/daemon_fixture.h"

/* Where the guest's memory lies in its physical addresses, and how much there is. */
#define GUEST_RAM 0x40000000ull
#define GUEST_RAM_SIZE (4u << 20)

struct guest {
	int fd;
	int ram_fd;
	char *ram;
	int eventfds[MIMIC_PCI_VECTORS];	/* once guest_take_interrupts() was called */
	uint16_t last_id;
	char *rings;			/* BAR 5, if it is mapped (vfio_lanes.h) */
	size_t rings_size;
	int rings_fd;
};

/* Connects to the device's socket. VERSION is said, the memory is shared. */
void guest_start(struct guest *guest, const struct served *served, const char *device);
/* Only the connection. */
void guest_connect(struct guest *guest, const struct served *served, const char *device);
void guest_end(struct guest *guest);

/* A command and its reply: 0 or its errno; -1: the connection is over. *size: in, room; out, bytes. */
int guest_ask(struct guest *guest, unsigned int command, const void *payload, size_t payload_size,
	      const int *fds, unsigned int fd_count, void *reply, size_t *size, int *reply_fd);
/* Bytes as they are. false: the connection is over. */
bool guest_send(struct guest *guest, const void *bytes, size_t size, const int *fds, unsigned int fd_count);
/* Has the daemon closed the connection, within a second? */
bool guest_is_cut_off(struct guest *guest);
/* Reads until nothing more comes. 0: the end of the stream; or the errno. */
int guest_read_end(struct guest *guest);

int guest_map(struct guest *guest, int fd, uint64_t offset, uint64_t address, uint64_t size);
int guest_unmap(struct guest *guest, uint64_t address, uint64_t size);
/* Eventfds for both vectors. */
void guest_take_interrupts(struct guest *guest, unsigned int index);
/* How often the vector was raised since the last call; waits up to `milliseconds` for the first. */
uint64_t guest_interrupts(struct guest *guest, unsigned int vector, int milliseconds);

/* The answer of GET_REGION_INFO; *fd, if not NULL, is the memory's, if it has one. */
struct mimicd_vfio_region_info guest_region(struct guest *guest, unsigned int index, int *fd);
uint64_t guest_load(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size);
void guest_store(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size, uint64_t value);
/* Without a reply, as QEMU sends most stores. */
void guest_post(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size, uint64_t value);

/* Of the bus page, and of a page of the device. */
uint64_t guest_bus(struct guest *guest, unsigned int offset);
void guest_set_bus(struct guest *guest, unsigned int offset, uint64_t value);
uint64_t guest_register(struct guest *guest, unsigned int page, unsigned int offset, unsigned int size);
void guest_set_register(struct guest *guest, unsigned int page, unsigned int offset, unsigned int size,
			uint64_t value);

/* 8 bytes of the guest's memory at a physical address. */
uint64_t *guest_word(struct guest *guest, uint64_t physical);
/*
 * Page tables of x86-64 with 4 levels, from GUEST_RAM on: maps the page of `address` to a
 * physical page with these bits of the last entry. Returns that entry.
 */
uint64_t *guest_map_page(struct guest *guest, uint64_t address, uint64_t physical, uint64_t bits);
#define GUEST_PAGE_PRESENT 7ull		/* present, writable, of user space */
/* The device walks these tables as space `number`. */
void guest_use_tables(struct guest *guest, unsigned int number);

#endif
