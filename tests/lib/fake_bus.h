/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel's side of /dev/mimic in plain memory: a test puts requests into
 * slots and looks at the answers. A program's memory is a file, of which a
 * window shows the pages that are present.
 */
#ifndef TESTS_FAKE_BUS_H
#define TESTS_FAKE_BUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/bus/bus.h"
#include "daemon/server.h"
#include "mimic/bus.h"

#define FAKE_ARENA 0x7f0000000000ull	/* a program's memory */
#define FAKE_ARENA_PAGES 16u
#define FAKE_DEVICES 4u
#define FAKE_STILL_WAITING 1		/* no status is positive */

enum fake_page { FAKE_ABSENT, FAKE_READ_ONLY, FAKE_PRESENT };

struct fake_bus {
	int open_error;			/* of the next open */
	int ring_error;			/* of ring_create */
	int fetch_error;		/* of the commands */
	uint32_t version;
	unsigned int dares;		/* of the next server, behind its MAPLEs */
	unsigned int virgos;
	struct mimicd_server *server;
	pthread_t thread;
	bool is_serving;

	struct mimic_bus_register registered[FAKE_DEVICES];
	bool is_registered[FAKE_DEVICES];
	unsigned int interrupts[FAKE_DEVICES];
	unsigned int commits;
	unsigned int reads;
	int connected;			/* the test's copy of the descriptor of CONNECT's answer */
	struct mimic_bus_header *header;
	struct mimic_bus_slot *slots;
	/* read and write */
	_Atomic bool uses_slots;	/* the daemon has mapped them */
	struct mimic_bus_request queue[MIMIC_BUS_SLOTS];
	unsigned int queued;
	struct mimic_bus_answer answers[MIMIC_BUS_SLOTS];
	bool answered[MIMIC_BUS_SLOTS];	/* by write, or committed where that is needed */
	uint32_t next_slot;
	int node;			/* eventfds */
	int ring;
	bool fetch_is_out;
	int memory_file[FAKE_DEVICES];	/* of devices that have memory; the daemon and tests map it */
	int map_error;			/* of the next map_at */
	int arena_file;
	uint32_t *arena;		/* as the program sees it, at an address of ours */
	enum fake_page pages[FAKE_ARENA_PAGES];
};

extern struct fake_bus fake_bus;

/* A server with `devices` on this bus. Returns the result of mimicd_server_create(). */
int fake_bus_start(unsigned int devices, enum mimicd_kernel kernel, enum mimicd_channel channel);
/* The server runs in a thread of its own from now on. */
void fake_bus_serve(void);
/* And no more: it works when a request is put. */
void fake_bus_pause(void);
void fake_bus_stop(void);

/* Puts a request into a slot of its own, and lets the server work. Returns the slot. */
uint32_t fake_bus_put(const struct mimic_bus_request *request);
/* Its answer; FAKE_STILL_WAITING if there is none (5 s for one, if the server runs by itself). */
int fake_bus_status(uint32_t slot, uint64_t *data);
/* Does it still wait after a moment? */
bool fake_bus_waits(uint32_t slot);
/* The thread of a waiting access has a signal. */
void fake_bus_cancel(uint32_t slot);
void fake_bus_settle(void);

/* The requests that tests make most. */
int fake_bus_open(uint32_t device, uint32_t binding, uint32_t process);
int fake_bus_request(enum mimic_bus_request_kind kind, uint32_t device, uint32_t binding, uint32_t thread);
/* An access of a thread that may wait; its slot. Binding 0: the driver's. */
uint32_t fake_bus_load_begin(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
			 unsigned int size);
uint32_t fake_bus_store_begin(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
			  unsigned int size, uint64_t value);
/* One that may not. On the device with the binding's number less 1; the driver's: device 0. */
uint64_t fake_bus_load(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
		       unsigned int size);
void fake_bus_store(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
		    unsigned int size, uint64_t value);

/* HELLO on a session's socket. */
void fake_bus_greet(int fd);
/* Sockets of sessions of our own, beside the bus. The server begins to serve with them. */
void fake_bus_sessions(int *sockets, unsigned int count);
int fake_bus_session(void);

/* Page of the arena, in the windows there are and in those to come. */
void fake_bus_page(unsigned int page, enum fake_page state);

#endif
