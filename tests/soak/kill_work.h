/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The programs that soak_kill runs while it kills mimicd: each computes something on a device, and sums up
 * all that it reads, so that a run on a killed daemon can be compared with one that was left alone.
 */
#ifndef TESTS_SOAK_KILL_WORK_H
#define TESTS_SOAK_KILL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KILL_PARTS 6
#define KILL_VARIANTS 4

/* The device's place. */
struct kill_place {
	const char *transport;	/* "embedded" or "daemon" */
	const char *socket;	/* NULL with "embedded" */
};

struct kill_result {
	uint64_t sums[KILL_PARTS];
};

struct kill_work {
	const char *name;
	const char *parts[KILL_PARTS];	/* NULL behind the last */
	/* variant: below KILL_VARIANTS. 0, or -1 after kill_fail(). */
	int (*run)(const struct kill_place *place, unsigned int variant, struct kill_result *result);
	bool needs_daemon;	/* it is not compared: what it says itself counts */
	bool needs_kernel;	/* it uses the kernel's nodes */
};

extern const struct kill_work *const kill_works[];
extern const unsigned int kill_work_count;

extern const struct kill_work kill_maple, kill_accesses, kill_threads, kill_dare, kill_virgo, kill_open,
	kill_processes, kill_list, kill_traps;

/* A program's report to the killer, in memory of both. */
struct kill_slot {
	_Atomic uint64_t marked_ns;	/* of the monotonic clock: the last answer */
	_Atomic(const char *) step;	/* what it did then */
	_Atomic uint64_t rounds;	/* complete ones, which were compared */
	atomic_bool stops;		/* set by the killer */
	char error[512];		/* "": none */
};

/* All further marks of this process and its children go there. */
void kill_use_slot(struct kill_slot *slot);
/* The device has answered. */
void kill_mark(const char *step);
/* Notes the first error. -1. */
int kill_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t kill_now_ns(void);
/* FNV-1a, behind an earlier sum; begin with 0. */
uint64_t kill_sum(uint64_t sum, const void *bytes, size_t size);
uint64_t kill_random(uint64_t *state);
/* Reproducible bytes. */
void kill_fill(void *bytes, size_t size, uint64_t seed);

#endif
