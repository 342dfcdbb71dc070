/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A client's memory as the daemon reaches it: ranges that the client shares by
 * memfd directly, everything else by process_vm_readv.
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

struct mimicd_user;

struct mimicd_range {
	uint64_t start;
	uint64_t size;
	char *base;	/* where it is mapped here */
};

struct mimicd_memory {
	struct mimicd_user *user;	/* whose quotas the ranges count for; NULL: nobody's */
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
	uid_t uid;
	pid_t pid;
	int pidfd;
	/*
	 * May we read what the client did not share? Not for another user: a
	 * daemon of root could be led to read a program that the client's process
	 * has become since by exec.
	 */
	bool may_read_process;
	atomic_bool refusal_logged;
	_Atomic uint64_t remote_reads;	/* elements, rows and blocks read from the process, for `mimic list` */
	_Atomic uint64_t refused;	/* reads that the kernel did not allow */
};

/*
 * The memory port of one device. It passes from program to program, so the port goes
 * through these pointers; both NULL: no program has it, and nothing can be read.
 */
struct mimicd_memory_slot {
	struct mimicd_memory *memory;	/* of a client */
	const struct mimic_memory *port;	/* instead: a front end's own way to a program's memory */
};

void mimicd_memory_init(struct mimicd_memory *memory, pid_t pid, int pidfd, bool may_read_process);
/* Can we map these bytes and not be hurt? 0, or -EINVAL or -EPERM and *why. */
int mimicd_memory_check(int fd, uint64_t size, uint64_t offset, const char **why);
/*
 * Checks and maps a memfd as [address, address + size). The descriptor stays
 * the caller's. NULL in *why, or what is wrong for a log line.
 */
int mimicd_memory_add(struct mimicd_memory *memory, int fd, uint64_t address, uint64_t size,
		      uint64_t offset, const char **why);
int mimicd_memory_remove(struct mimicd_memory *memory, uint64_t address, uint64_t size);
/* All of it, for good. */
void mimicd_memory_destroy(struct mimicd_memory *memory);

/* For models whose calls read and write memory themselves. */
void mimicd_memory_port(struct mimic_memory *port, struct mimicd_memory_slot *slot);
/* For models whose jobs do; jobs of several threads use it at once. */
void mimicd_memory_job_port(struct mimic_memory *port, struct mimicd_memory_slot *slot);

#endif
