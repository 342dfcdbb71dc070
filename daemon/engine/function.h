/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices that programs get from a function driver, not from us. Front ends embed both structures. */
#ifndef MIMICD_FUNCTION_H
#define MIMICD_FUNCTION_H

#include "daemon/engine/memory.h"
#include "daemon/engine/process.h"
#include "daemon/engine/program.h"
#include "devices/model.h"

struct mimicd_binding;
struct mimicd_function;
struct mimicd_instance;

struct mimicd_function_ops {
	const char *transport;	/* as programs know the way: "kernel" */
	/* Raises the device's interrupt. 0 or -errno. */
	int (*interrupt)(struct mimicd_function *function);
	/*
	 * The device goes away: it is taken off the bus, its bindings are closed, and accesses
	 * that wait in it are answered. The function is gone then.
	 */
	void (*remove)(struct mimicd_function *function);
	/*
	 * The rest is of a bus whose devices can be recovered; else NULL. Maps the device's memory, as the process that
	 * has it sees it, at this address in place of what is there. 0 or -errno.
	 */
	int (*map_memory)(struct mimicd_function *function, void *address);
	/* Asks for the page, to be written; it may come later. 0 or -errno. */
	int (*fault_in)(struct mimicd_binding *binding, uint64_t address);
	/* The process has the device no more: further accesses of it fail. The binding is gone then. */
	void (*lose)(struct mimicd_binding *binding);
};

/* A device as a bus outside shows it to its function driver, to which its interrupts go. */
struct mimicd_function {
	struct mimicd_function *next;	/* of the instance */
	struct mimicd_instance *instance;
	const struct mimicd_function_ops *ops;
};

/*
 * A process has a device by a function driver. A device with contexts has a binding for each
 * process that has some of them. Which these are is the function driver's to say: it
 * attaches each context to the binding's number, as an address space.
 */
struct mimicd_binding {
	/* The front end fills these in. */
	struct mimicd_function *function;
	struct mimicd_process *process;
	struct mimicd_program program;
	uint64_t number;		/* that the function driver attaches contexts to */
	struct mimic_memory port;	/* the process's memory; blocks only, where the device has jobs */

	struct mimicd_binding *next;		/* of the engine, the newest first */
	struct mimicd_binding *next_on_device;	/* of instance->binding */
	struct mimicd_instance *instance;
	uint64_t accesses;		/* trapped ones, for `mimic list` */

	/* The rest is of a daemon that can be recovered: the same memory, with a log of what is changed there. */
	struct mimicd_memory_slot slot;
	struct mimic_memory logged_port;
	bool has_changed;		/* it differs from its record (step.h) */
};

#endif
