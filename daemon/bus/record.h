/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kernel's bus in the window of a daemon that can be recovered, see daemon/engine/record.h. */
#ifndef MIMICD_BUS_RECORD_H
#define MIMICD_BUS_RECORD_H

#include <stdint.h>

#include "daemon/engine/program.h"
#include "mimic/bus.h"

enum mimicd_answer_state {
	MIMICD_ANSWER_NONE,
	MIMICD_ANSWER_GIVEN,	/* the request is done, and was answered so or is to be */
	MIMICD_ANSWER_PARKED,	/* its access waits in the model */
};

/* Of each slot: the request that was served last, by its serial. */
struct mimicd_answer_record {
	uint64_t serial;
	uint64_t data;
	int32_t status;
	uint32_t state;
	uint64_t owner;		/* PARKED: of the access */
	uint32_t device;	/* the same: its number on the bus */
	uint32_t reserved;
};

struct mimicd_trap_thread_record {
	uint32_t number;
	int32_t tid;
	uint64_t owner;
};

struct mimicd_binding_record {
	uint32_t number;
	uint32_t device;	/* on the bus */
	uint32_t process;
	int32_t pid;
	uint32_t uid;
	char name[sizeof(((struct mimicd_program *)0)->name)];
	uint64_t accesses;
	uint64_t contexts;	/* bit N: it has context N */
	uint64_t threads;
	struct mimicd_trap_thread_record thread[];
};

struct mimicd_bindings_record {
	uint64_t count;
	struct mimicd_binding_record *binding[];	/* the newest first */
};

struct mimicd_bus_record {
	uint64_t kept;		/* the node's number in the store */
	uint8_t token[MIMIC_BUS_TOKEN_SIZE];
	struct mimicd_answer_record *answers;		/* MIMIC_BUS_SLOTS */
	struct mimicd_bindings_record *bindings;	/* NULL: none */
};

#endif
