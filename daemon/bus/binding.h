/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Processes that have devices through the kernel. A process has one binding for
 * each device, and may have sessions (CONNECT), whose lanes work on the same
 * devices. A thread is one owner, whichever way its accesses come.
 *
 * A device with contexts has a binding for each process that has some of them. Which
 * these are is the function driver's to say: it attaches each context to the binding's
 * number, as an address space.
 */
#ifndef MIMICD_BINDING_H
#define MIMICD_BINDING_H

#include "daemon/bus/bus.h"
#include "daemon/bus/window.h"
#include "daemon/engine/memory.h"

#define MIMICD_THREAD_CHAINS 64u	/* a power of two */

struct mimicd_client;
struct mimicd_thread;

/* The function driver's number; those of threads are larger (client.h). */
#define MIMICD_OWNER_DRIVER 1u

/* A thread of a bound process. It is there while it has traps or lanes. */
struct mimicd_owner {
	struct mimicd_owner *next;	/* of its chain in the process */
	uint64_t number;
	pid_t tid;			/* in our pid namespace, 0: not known */
	unsigned int traps;		/* bindings on which it has made accesses */
	struct mimicd_thread *thread;	/* its lanes, or NULL */
	struct mimicd_request *parked;	/* its trapped access that waits in a device */
};

/* The name that the kernel has for a thread on one binding. */
struct mimicd_trap_thread {
	struct mimicd_trap_thread *next;
	uint32_t number;
	struct mimicd_owner *owner;
};

struct mimicd_process {
	struct mimicd_process *next;
	uint32_t number;
	unsigned int bindings;
	unsigned int clients;
	struct mimicd_owner *owners[MIMICD_THREAD_CHAINS];
};

struct mimicd_binding {
	struct mimicd_binding *next;
	struct mimicd_binding *next_on_device;	/* of instance->binding */
	uint32_t number;
	struct mimicd_instance *instance;
	struct mimicd_process *process;
	pid_t pid;	/* 0: not in our namespace */
	uid_t uid;
	char program[MIMIC_BUS_PROGRAM_MAX];
	bool reported;	/* a device's report is in the log */
	uint64_t accesses;	/* trapped ones, for `mimic list` */
	struct mimicd_window window;
	struct mimic_memory port;	/* of the window */
	struct mimicd_trap_thread *threads[MIMICD_THREAD_CHAINS];
};

/* OPEN: -EBUSY, a session or, if it has no contexts, another process has it; -ENOMEM. */
int mimicd_binding_create(struct mimicd_bus *bus, struct mimicd_instance *instance,
			  const struct mimic_bus_request *request);
/* CLOSE: all accesses are withdrawn, sessions lose the device, it or its contexts are as after power-on. */
void mimicd_binding_close(struct mimicd_bus *bus, struct mimicd_binding *binding);
struct mimicd_binding *mimicd_binding_find(struct mimicd_bus *bus, uint32_t number);

/* The memory of the process whose binding of this device has the number. NULL: there is none. */
const struct mimic_memory *mimicd_binding_memory(const struct mimicd_instance *instance,
						 uint64_t number);
/* Is the context one of this process's? */
bool mimicd_binding_may_use(const struct mimicd_instance *instance,
			    const struct mimicd_process *process, unsigned int context);
/* Who has the context through the kernel. NULL: nobody. */
struct mimicd_binding *mimicd_binding_of_context(const struct mimicd_instance *instance,
						 unsigned int context);
/*
 * The function driver has attached a context to an address space, or (0) to none: sessions
 * that had it before have it no more.
 */
void mimicd_binding_attached(struct mimicd_instance *instance, unsigned int context,
			     uint64_t address_space);
/* A thread of some process that has the device. NULL: no such owner. */
struct mimicd_owner *mimicd_binding_find_owner(const struct mimicd_instance *instance,
					       uint64_t number);

/* The owner that a trapped access of this thread has. NULL: no memory. */
struct mimicd_owner *mimicd_binding_owner(struct mimicd_bus *bus, struct mimicd_binding *binding,
					  uint32_t thread, pid_t tid);
/* A thread that made accesses has ended. */
void mimicd_binding_thread_gone(struct mimicd_bus *bus, struct mimicd_binding *binding,
				uint32_t thread);

/* NULL: the process has no such owner. */
struct mimicd_owner *mimicd_process_find(struct mimicd_process *process, uint64_t number);
/*
 * The owner of a session's thread; tid 0: one of its own. It is the same as the
 * thread's traps have, unless other lanes have that one already. NULL: no memory.
 */
struct mimicd_owner *mimicd_process_join(struct mimicd_client *client,
					 struct mimicd_thread *thread, pid_t tid);
/* The thread has no lanes any more. */
void mimicd_process_leave(struct mimicd_process *process, struct mimicd_owner *owner);
/* A session came or went. */
void mimicd_process_add_client(struct mimicd_process *process);
void mimicd_process_drop_client(struct mimicd_bus *bus, struct mimicd_process *process);

/*
 * A thread's number in our pid namespace. It says `tid`, which means something
 * in its own. 0: it has no such thread that we can see.
 */
pid_t mimicd_thread_id(pid_t process, uint32_t tid);

#endif
