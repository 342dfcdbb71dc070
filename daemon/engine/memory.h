/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A client's memory as the daemon reaches it: ranges that the client shares by
 * memfd directly, everything else by process_vm_readv, on threads that may be lost
 * (errands.h). An access that has to wait for its page there is a page fault, and is made
 * again when the page has come.
 */
#ifndef MIMICD_MEMORY_H
#define MIMICD_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "devices/model.h"

struct mimicd_errand;
struct mimicd_errands;
struct mimicd_memory_errand;
struct mimicd_memory_fix;
struct mimicd_memory_slot;
struct mimicd_user;
struct mimicd_watched;

struct mimicd_range {
	uint64_t start;
	uint64_t size;
	char *base;	/* where it is mapped here */
	struct mimicd_watched *watched;	/* holes.h */
	uint64_t offset;	/* in its memfd */
	uint64_t kept;		/* that has this number in the store of a daemon that can be recovered; 0: none */
};

/* A page that an access could not wait for. */
struct mimicd_memory_wait {
	const struct mimicd_memory_slot *slot;
	uint64_t page;
	uint64_t over;	/* when it may have come; 0: not yet */
	unsigned int asked;	/* how often since then */
};

#define MIMICD_MEMORY_WAITS_MAX 64

struct mimicd_memory {
	struct mimicd_user *user;	/* whose quotas the ranges count for; NULL: no user's */
	struct mimicd_errands *errands;
	/*
	 * Ranges come and go by the thread that holds the engine's lock (jobs.h), which
	 * takes this one for that. It reads them without; jobs, which run beside it, lock
	 * them for reading.
	 */
	pthread_rwlock_t lock;
	struct mimicd_range *ranges;	/* sorted by start, disjoint */
	size_t count;
	size_t capacity;
	struct mimicd_range last;	/* a copy of the range that it used last; size 0: none */
	uint64_t client;	/* its number, see struct mimicd_client */
	uid_t uid;
	pid_t pid;
	int pidfd;
	/*
	 * May we read memory that the client did not share? Not for another user: a
	 * daemon of root could be led to read a program that the client's process
	 * has become since by exec.
	 */
	bool may_read_process;
	/* Makes the memfd immutable that is being shared, or NULL (memory_fix.h). With the engine's lock. */
	struct mimicd_memory_fix *fix;
	bool wants_fix;		/* too many of its user's are on their way */
	atomic_bool has_hole;	/* see holes.h: the client is to end */
	atomic_bool refusal_logged;
	/* An atomic access was left, ever. Set with errands->lock, and read without it. */
	atomic_bool had_atomics;
	_Atomic uint64_t remote_reads;	/* elements, rows and blocks read from the process, for `mimic list` */
	_Atomic uint64_t refused;	/* reads that the kernel did not allow */

	/* All of these with errands->lock. */
	struct mimicd_memory_errand *left;	/* moves that are not over */
	unsigned int left_count;
	struct mimicd_memory_errand *atomics;	/* that are over, and that the model makes again */
	struct mimicd_memory_wait waits[MIMICD_MEMORY_WAITS_MAX];
	unsigned int wait_count;
	uint64_t hurry_until;	/* it has just made us wait */
};

/*
 * A page's rest that was read from the process, for more reads of the same call of the model: loops
 * read chunk after chunk.
 */
struct mimicd_ahead {
	uint64_t call;		/* the engine's count of calls */
	uint64_t start;
	size_t size;		/* of the bytes that could be read; the rest of the page cannot */
	char bytes[4096];
};

/*
 * The memory port of one device. It passes from program to program, so the port goes
 * through these pointers; both NULL: no program has it, and nothing can be read.
 */
struct mimicd_memory_slot {
	struct mimicd_memory *memory;	/* of a client */
	const struct mimic_memory *port;	/* instead: a front end's own way to a program's memory */
	uint64_t binding;	/* then: the number of the program's binding */
	struct mimicd_ahead *ahead;	/* NULL: there was no need yet */
	const char *device;	/* its name, for the journal; NULL: a context's */
	bool is_of_jobs;	/* threads beside the engine's use it */
	bool can_wait;		/* the model makes an access again that has failed */
	bool is_stalled;	/* one was put off (stalls.h) */
	bool waits;		/* the last call of the port failed because a page has to be waited for */
};

/* Can a process's memory be read without its doing? 0 or -errno. */
int mimicd_memory_try_remote(void);
void mimicd_memory_init(struct mimicd_memory *memory, struct mimicd_errands *errands, pid_t pid, int pidfd,
			bool may_read_process);
/* Can we map these bytes and not be hurt, but for pages that are punched out later? 0, or -EINVAL or -EPERM and *why. */
int mimicd_memory_check(int fd, uint64_t size, uint64_t offset, const char **why);
/* The same of memory whose pages need not be there: those that we touch are ours to pay. */
int mimicd_memory_check_sparse(int fd, uint64_t size, uint64_t offset, const char **why);
/* As mimicd_memory_check(), and no page can be punched out any more (memory_fix.h). -EINPROGRESS as of mimicd_memory_add(). */
int mimicd_memory_check_and_fix(struct mimicd_memory *memory, int fd, uint64_t size, uint64_t offset, const char **why);
/*
 * Checks and maps a memfd as [address, address + size). The descriptor stays
 * the caller's. NULL in *why, or the reason for a log line. -EINPROGRESS: ask again when
 * mimicd_memory_fix_waits() no longer says so; if it does not, a job is at work in that memory, and sleeps.
 */
int mimicd_memory_add(struct mimicd_memory *memory, int fd, uint64_t address, uint64_t size,
		      uint64_t offset, const char **why);
/* -ENOENT; -EINPROGRESS: a job is at work in it, and sleeps. */
int mimicd_memory_remove(struct mimicd_memory *memory, uint64_t address, uint64_t size);
/*
 * The same of a mapping of a memfd that was checked, and that no device reaches: it counts for the
 * user, and holes end the client. 0 or -errno and *why; then it stays the caller's.
 */
int mimicd_memory_adopt(struct mimicd_memory *memory, struct mimicd_range *mapping, const char **why);
/* Unmaps it. */
void mimicd_memory_drop(struct mimicd_memory *memory, const struct mimicd_range *mapping);
/*
 * An access of the slot has failed at this address: a bad one, or one that waits until it is made
 * again (mimicd_memory_came()).
 */
enum mimic_fault_answer mimicd_memory_answer(struct mimicd_memory_slot *slot, uint64_t address);
/* An errand comes back. The memory whose accesses are to be made again; NULL: it is gone. */
struct mimicd_memory *mimicd_memory_came(struct mimicd_errand *errand);
/* The device is as after power-on, and waits for nothing of its program. */
void mimicd_memory_slot_reset(struct mimicd_memory_slot *slot);
/*
 * The device may forget its waits: a register of it that resets is accessed. An atomic of
 * before is then no answer to one of the same words behind it. By the holder of the engine's lock.
 */
void mimicd_memory_slot_forget_atomics(struct mimicd_memory_slot *slot);
/* No program has the slot any more: drops the waits of its model. */
void mimicd_memory_slot_clear(struct mimicd_memory_slot *slot);
/* All of it, for good. */
void mimicd_memory_destroy(struct mimicd_memory *memory);

/* For models whose calls read and write memory themselves. */
void mimicd_memory_port(struct mimic_memory *port, struct mimicd_memory_slot *slot);
/* For models whose jobs do; jobs of several threads use it at once. */
void mimicd_memory_job_port(struct mimic_memory *port, struct mimicd_memory_slot *slot);

#endif
