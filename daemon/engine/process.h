/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Processes that have devices by a driver. A process has a binding for each device
 * (binding.h), and may have clients besides, whose lanes work on the same devices. A
 * thread is one owner, whichever way its accesses come.
 */
#ifndef MIMICD_PROCESS_H
#define MIMICD_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* Owner numbers: serial << OWNER_SHIFT | number of the thread at its client. */
#define MIMICD_OWNER_SHIFT 12
#define MIMICD_THREAD_CHAINS 64u	/* a power of two */

struct mimicd_engine;
struct mimicd_thread;
struct mimicd_trap;

/* A thread of such a process. It is there while it has traps or lanes. */
struct mimicd_owner {
	struct mimicd_owner *next;	/* of its chain in the process */
	uint64_t number;
	pid_t tid;			/* in our pid namespace, 0: not known */
	unsigned int traps;		/* bindings on which it has made accesses */
	struct mimicd_thread *thread;	/* its lanes, or NULL */
	struct mimicd_trap *trap;	/* its trapped access that waits in a device, or NULL */
};

struct mimicd_process {
	struct mimicd_process **list, *next;	/* of the front end */
	uint32_t number;		/* that it has there */
	unsigned int bindings;
	unsigned int clients;
	struct mimicd_owner *owners[MIMICD_THREAD_CHAINS];
};

/* The one of that number in the list, made if there is none. NULL: no memory. */
struct mimicd_process *mimicd_process_get(struct mimicd_process **list, uint32_t number);
/* The one of that number that has a binding. NULL: there is none. */
struct mimicd_process *mimicd_process_find(const struct mimicd_engine *engine, uint32_t number);
/* Frees it, if it has neither bindings nor clients. */
void mimicd_process_free_unused(struct mimicd_process *process);

/* NULL: no memory. */
struct mimicd_owner *mimicd_owner_create(struct mimicd_engine *engine, struct mimicd_process *process,
					 pid_t tid);
/* One that the daemon before had, by its number; it may be there already. NULL: no memory. */
struct mimicd_owner *mimicd_owner_adopt(struct mimicd_process *process, uint64_t number, pid_t tid);
/* NULL: none is known by this number in our pid namespace. */
struct mimicd_owner *mimicd_owner_of_tid(struct mimicd_process *process, pid_t tid);
/* Frees it, if it has neither traps nor lanes. */
void mimicd_owner_free_unused(struct mimicd_process *process, struct mimicd_owner *owner);

/*
 * The owner of a client's thread; tid 0: one of its own. It is the same as the
 * thread's traps have, unless other lanes have that one already. NULL: no memory.
 */
struct mimicd_owner *mimicd_process_join(struct mimicd_engine *engine, struct mimicd_process *process,
					 struct mimicd_thread *thread, pid_t tid);
/* The thread has no lanes any more. */
void mimicd_process_leave(struct mimicd_process *process, struct mimicd_owner *owner);

#endif
