/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bindings of processes that have devices through the kernel. */
#ifndef MIMICD_BUS_BINDING_H
#define MIMICD_BUS_BINDING_H

#include "daemon/bus/internal.h"
#include "daemon/bus/window.h"
#include "daemon/engine/binding.h"

/* The name that the kernel has for a thread on one binding. */
struct mimicd_trap_thread {
	struct mimicd_trap_thread *next;
	uint32_t number;
	struct mimicd_owner *owner;
};

struct mimicd_bus_binding {
	struct mimicd_binding binding;	/* first: the engine knows only this part */
	struct mimicd_bus *bus;
	struct mimicd_bus_binding *next;
	uint32_t number;
	struct mimicd_window window;
	struct mimicd_trap_thread *threads[MIMICD_THREAD_CHAINS];

	/* Of a daemon that can be recovered. */
	struct mimicd_binding_record *record;	/* in the window; NULL: there is none yet */
	size_t record_size;
};

/* OPEN: -EBUSY, a client or, if it has no contexts, another process has it; -EINVAL, -ENOMEM, -EAGAIN. */
int mimicd_bus_binding_open(struct mimicd_bus_function *function, const struct mimic_bus_request *request);
/* One that was opened for this: its threads and contexts are those that it had at the daemon before. 0 or -ENOMEM. */
int mimicd_bus_binding_adopt(struct mimicd_bus_binding *binding, const struct mimicd_binding_record *record);
/* CLOSE: all its accesses are withdrawn. */
void mimicd_bus_binding_close(struct mimicd_bus_binding *binding);
/* The same of all processes that have the device. */
void mimicd_bus_bindings_close(struct mimicd_bus_function *function);
/* As those of struct mimicd_function_ops. */
int mimicd_bus_binding_map_memory(struct mimicd_function *function, void *address);
int mimicd_bus_binding_fault_in(struct mimicd_binding *binding, uint64_t address);
void mimicd_bus_binding_lose(struct mimicd_binding *binding);
struct mimicd_bus_binding *mimicd_bus_binding_find(struct mimicd_bus *bus, uint32_t number);

/* The owner that a trapped access of this thread has. NULL: no memory. */
struct mimicd_owner *mimicd_bus_binding_owner(struct mimicd_bus_binding *binding, uint32_t thread,
					      pid_t tid);
/* A thread that made accesses has ended. */
void mimicd_bus_binding_thread_gone(struct mimicd_bus_binding *binding, uint32_t thread);

#endif
