/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A ring of address tiles between two threads: the address thread computes the
 * base addresses that mgather and mscatter need, the dispatch thread, which called
 * the kernel, loads them by mld (section III-B: "decoupling address generation from
 * MPU execution into two threads").
 *
 * The ring has segments, which are handed over as a whole. The device reads a tile
 * some time after its mld was dispatched, so the dispatch thread gives a segment
 * back only after a fence.
 */
#ifndef DARE_ADDRESSES_H
#define DARE_ADDRESSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mimic/dare_isa.h"

#define DARE_ADDRESS_SEGMENTS 4u
#define DARE_ADDRESS_TILES 512u		/* of a segment */

struct dare;

struct dare_address_tile {
	uint64_t address[DARE_ROWS];
};

struct dare_addresses {
	struct dare *dare;
	struct dare_address_tile *tiles;	/* DARE_ADDRESS_SEGMENTS x DARE_ADDRESS_TILES; dare_alloc() */
	void (*fill)(struct dare_addresses *addresses, const void *context);
	const void *context;
	pthread_t thread;

	/* Guards the members below; held by neither thread while it works on tiles. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled;	/* segments that the address thread has handed over */
	uint64_t emptied;	/* of these, the ones it has got back */
	bool is_stopped;

	/* The address thread's own: tiles put. The dispatch thread's own: tiles taken. */
	_Alignas(128) uint64_t put;
	_Alignas(128) uint64_t taken;
};

/*
 * Starts the thread, which calls fill(addresses, context). 0, -ENOMEM or -EAGAIN
 * with text. After 0, dare_addresses_stop() must be called.
 */
int dare_addresses_start(struct dare_addresses *addresses, struct dare *dare,
			 void (*fill)(struct dare_addresses *addresses, const void *context),
			 const void *context);

/* Ends the thread, wherever it is, and frees the ring. No instruction may be on its way. */
void dare_addresses_stop(struct dare_addresses *addresses);

/* For fill(): hands the last tiles over and waits for an empty segment. false: stopped. */
bool dare_addresses_turn(struct dare_addresses *addresses);

/* For the dispatch thread: gives the last segment back and waits for the next. 0 or -errno. */
int dare_addresses_next(struct dare_addresses *addresses);

static inline struct dare_address_tile *dare_addresses_tile(const struct dare_addresses *addresses, uint64_t number)
{
	return &addresses->tiles[number % (DARE_ADDRESS_SEGMENTS * DARE_ADDRESS_TILES)];
}

/* For fill(): the next tile to write. NULL: stopped, return. */
static inline uint64_t *dare_addresses_put(struct dare_addresses *addresses)
{
	if (addresses->put % DARE_ADDRESS_TILES == 0 && !dare_addresses_turn(addresses))
		return NULL;
	return dare_addresses_tile(addresses, addresses->put++)->address;
}

/* For the dispatch thread: where the next tile is. 0 or -errno. */
static inline int dare_addresses_take(struct dare_addresses *addresses, uint64_t *tile)
{
	int error = 0;

	if (addresses->taken % DARE_ADDRESS_TILES == 0)
		error = dare_addresses_next(addresses);
	if (!error)
		*tile = (uintptr_t)dare_addresses_tile(addresses, addresses->taken++);
	return error;
}

#endif
