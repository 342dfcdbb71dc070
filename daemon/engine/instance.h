/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One device: its model, and the programs that have it: a client, or a process by a
 * function driver. A device of a kind with contexts belongs to as many as it has contexts,
 * all of them clients or all of them processes by a driver: either we give the contexts
 * away, or the driver does.
 */
#ifndef MIMICD_INSTANCE_H
#define MIMICD_INSTANCE_H

#include "daemon/engine/device_memory.h"
#include "daemon/engine/events.h"
#include "daemon/engine/function.h"
#include "daemon/engine/inject.h"
#include "daemon/engine/jobs.h"
#include "daemon/engine/memory.h"
#include "libmimic/base/kinds.h"
#include "mimic/protocol.h"

struct mimicd_engine;
struct mimicd_client;
struct mimicd_restored;

/* A context that we give away. */
struct mimicd_context {
	struct mimicd_client *client;	/* that has it; NULL: none */
	uint64_t address_space;		/* as the model knows it */
	bool is_restored;		/* it waits for a program, with its state (restored.h) */
	struct mimicd_memory_slot memory;
	struct mimic_memory port;	/* of that memory */
};

/* An access that waits in a model, by its owner. The maker of the access has the structure. */
struct mimicd_waiter {
	struct mimicd_waiter *next;	/* of the instance */
	uint64_t owner;
	/* The access is over; for a load `data` is its answer. The waiter is not in the list any more. */
	void (*complete)(void *context, uint64_t data);
	void *context;
};

struct mimicd_instance {
	struct mimicd_engine *engine;
	struct mimicd_shard *shard;	/* its clients'; the loop's if it has none */
	struct mimicd_instance *next_of_shard;	/* not of private ones */
	const struct mimic_kind *kind;
	char name[MIMIC_NAME_MAX];
	struct mimic_model *model;
	struct mimicd_device_memory device_memory;	/* that programs map */
	struct mimicd_device_jobs jobs;
	struct mimicd_device_events events;
	unsigned int index;		/* N of mapleN */
	unsigned int place;		/* among the engine's; not of private ones */
	struct mimicd_instance *next_named;	/* the engine's next */
	struct mimicd_client *client;	/* that has it whole, or had it while it leaves; NULL: none, or a binding has it */
	struct mimicd_binding *binding;	/* the first; clients of its process may work on the device too */
	struct mimicd_memory_slot memory;	/* of the program that has it whole */
	struct mimicd_context *contexts;
	unsigned int context_count;	/* 0: the kind has none */
	bool is_private;
	bool leaves;			/* no program has it, and a job of the last one runs (leave.h) */
	bool is_ending;			/* then it is destroyed */
	struct mimicd_instance *next_leaving;
	struct mimicd_function *functions;	/* of buses that show it; NULL: it is on none */
	struct mimicd_waiter *waiters;	/* an owner has one at most */
	struct mimicd_injection injection;
	struct mimicd_restored *restored;	/* restored.h; NULL: no restored state waits for a program */
	bool is_restoring;			/* the model checks an image: address spaces that no program has have a memory, too */
};

/* Those of its kind in the settings. */
const void *mimicd_instance_parameters(const struct mimicd_instance *instance);
/* Where a device is among the engine's. */
unsigned int mimicd_instance_place(const struct mimic_kind *kind, unsigned int number);
/* A number of one kind; *found NULL and -ENODEV: there is none. */
int mimicd_instance_of(const struct mimicd_engine *engine, const struct mimic_kind *kind,
		       unsigned int number, struct mimicd_instance **found);
/* By name, private ones not. -ENOENT: no such kind; -ENODEV: no such device. */
int mimicd_instance_find(struct mimicd_engine *engine, const char *name,
			 struct mimicd_instance **found);

/* Has a client got it, or a context of it? */
bool mimicd_instance_is_held(const struct mimicd_instance *instance);
/* Has a process got it by a driver? */
static inline bool mimicd_instance_is_bound(const struct mimicd_instance *instance)
{
	return instance->binding != NULL;
}

/* An access of that owner waits in the model from now on. */
void mimicd_instance_add_waiter(struct mimicd_instance *instance, struct mimicd_waiter *waiter);
/* It is not to be told any more. */
void mimicd_instance_remove_waiter(struct mimicd_instance *instance, struct mimicd_waiter *waiter);
/* The access is taken back from the model: it has no effect, and is not told. */
void mimicd_instance_withdraw(struct mimicd_instance *instance, struct mimicd_waiter *waiter);
/* NULL: no access of that owner waits. */
struct mimicd_waiter *mimicd_instance_find_waiter(const struct mimicd_instance *instance, uint64_t owner);

/* A thread has ended: its roles are free, and threads that waited for it are answered. */
void mimicd_instance_owner_gone(struct mimicd_instance *instance, uint64_t owner);

/* A bus shows it from now on. */
void mimicd_instance_add_function(struct mimicd_instance *instance, struct mimicd_function *function);
void mimicd_instance_remove_function(struct mimicd_instance *instance, struct mimicd_function *function);
/* Does a bus of that name ("kernel") show it? */
bool mimicd_instance_is_on(const struct mimicd_instance *instance, const char *transport);
/* NULL: no process has it by a binding of that number. */
struct mimicd_binding *mimicd_instance_find_binding(const struct mimicd_instance *instance, uint64_t number);
/* NULL: no process has that context by a driver. */
struct mimicd_binding *mimicd_instance_context_binding(const struct mimicd_instance *instance,
						       unsigned int context);

#endif
