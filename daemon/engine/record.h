/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Records of devices and clients, in the window of a daemon that can be recovered. Another process of the same
 * program reads them: pointers are addresses in the window, at which the successor maps it. An array
 * follows its structure.
 */
#ifndef MIMICD_RECORD_H
#define MIMICD_RECORD_H

#include "daemon/engine/client.h"
#include "daemon/engine/step.h"

struct mimicd_device_record {
	char kind[MIMIC_KIND_MAX];
	uint32_t number;
	uint32_t is_private;
	uint32_t is_held;	/* a program has it whole, or by a driver */
	uint64_t client;	/* that has a private one; 0: it is not private */
	struct mimic_model *model;
	void *memory;		/* the device's own, where it was mapped; NULL: it has none */
	uint64_t memory_size;
	uint64_t memory_kept;	/* 0: no program has it, so it is not in a file, or it is a bus's */
	uint64_t events;	/* that an eventfd is to be told */
	uint64_t event_kept;
	struct mimicd_restored *restored;	/* no program has opened it since; NULL: it has no restored state */
	uint64_t waiting;	/* contexts whose restored state waits for a program, by their bits */
};

struct mimicd_devices_record {
	uint64_t sum;		/* of all that follows: nothing tells a model from other memory */
	uint64_t count;
	struct mimicd_device_record device[];
};

struct mimicd_slot_record {
	uint32_t number;	/* at the client */
	char kind[MIMIC_KIND_MAX];	/* of the device; "": it is gone */
	uint32_t device;	/* its number among its kind's, or the client's private ones */
	uint32_t is_private;
	uint32_t context;
	uint32_t opens;
	uint64_t address_space;	/* of the context */
	uint8_t lost, closed, closing;
};

struct mimicd_thread_record {
	uint32_t number;
	uint32_t gone;
	uint64_t owner;
	uint64_t bound;		/* of a process that has devices by a driver: the number of the thread's owner; else 0 */
	int64_t tid;		/* this owner's */
};

struct mimicd_lane_place_record {
	uint32_t number, thread, level;
	struct mimicd_lane_record *record;
};

struct mimicd_range_record {
	uint64_t start, size, offset, kept;
};

/* A client's part that the engine knows; the arrays are in this order. */
struct mimicd_client_record {
	uint64_t number;
	uint32_t last_lane;
	uint32_t is_shown;
	uint64_t commands;
	uint32_t process;	/* that has its devices by a driver; 0: none */
	uint32_t reserved;
	uint32_t slots, threads, lanes, ranges;
};

/* The root of the window. */
struct mimicd_root_record {
	uint64_t last_owner;
	uint64_t last_address_space;
	struct mimicd_devices_record *devices;
	void *clients;		/* a list of the front end's */
	void *bus;		/* the same of the kernel's bus; NULL: it is on none */
};

/* Bytes of a client's record with its arrays. */
size_t mimicd_client_record_size(const struct mimicd_client *client);
/* Writes it to memory that no record points to yet. */
void mimicd_client_record_fill(const struct mimicd_client *client, struct mimicd_client_record *record);
/* Writes the record of devices anew. false: there is no memory. */
bool mimicd_devices_record_write(struct mimicd_engine *engine, struct mimicd_root_record *root);

uint64_t mimicd_devices_record_sum(const struct mimicd_devices_record *record);

/* Where the arrays of a record are. */
struct mimicd_client_arrays {
	struct mimicd_slot_record *slots;
	struct mimicd_thread_record *threads;
	struct mimicd_lane_place_record *lanes;
	struct mimicd_range_record *ranges;
	void *end;
};

void mimicd_client_record_arrays(struct mimicd_client_record *record, struct mimicd_client_arrays *arrays);

#endif
