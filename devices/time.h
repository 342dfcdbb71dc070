/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device in cycles, for virtual time: the model, with its pipelines and its memory in
 * time. A kind that has this (kind->time) can be beside the cores of a modelled SoC
 * (sim/runtime).
 *
 * `now` never goes back over all calls. Data is right at every moment: a program gets
 * the value that memory held when it was read.
 */
#ifndef MIMIC_DEVICES_TIME_H
#define MIMIC_DEVICES_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "devices/model.h"

/* Functions that a device's driver provides. Addresses are virtual ones of the program. */
struct mimic_time_host {
	void *context;
	/* Of the modelled SoC, when the device is created. */
	uint64_t (*parameter)(void *context, const char *section, const char *key);
	/* When the data of a read would be there; through_l2: at the LLC, else past it. */
	uint64_t (*read_time)(void *context, uint64_t address, unsigned int size, bool through_l2, uint64_t now);
	uint64_t (*write_time)(void *context, uint64_t address, unsigned int size, uint64_t now);
	void (*prefetch)(void *context, uint64_t address, uint64_t now);
	/* A walk of the page table for an address that begins at `now`: when it ends. May be NULL: it takes no time. */
	uint64_t (*walk_time)(void *context, uint64_t address, uint64_t now);
	/*
	 * The address that it has in the modelled memory, where a device brings its own caches: it does not
	 * change from run to run. NULL: as it is.
	 */
	uint64_t (*physical)(void *context, uint64_t address);
	/* As those of struct mimic_memory. NULL: for devices that do not move rows. */
	long (*read_rows)(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows);
	long (*write_rows)(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows);
	/* The bytes themselves. 0 or -EFAULT; then the buffer holds the bytes that could be read, and zeros. */
	int (*read)(void *context, uint64_t address, void *buffer, unsigned int size);
	int (*atomic)(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		      uint32_t expected, uint32_t *old);
	/* The access of `owner` that waited has its answer, which leaves the device at `time`: not before now. */
	void (*complete)(void *context, uint64_t owner, uint64_t data, uint64_t time);
	/* A hang of the hardware, in words. May be NULL. */
	void (*report)(void *context, const char *text);
	/* Instructions of all cores so far. NULL: not known. */
	uint64_t (*instructions)(void *context);
	/* Of a device that has memory that programs map: memory_size() bytes, aligned to a page, all zeros. */
	void *memory;
};

/* A statistic of a device, beside the model's counters. */
struct mimic_time_statistic {
	const char *name;
	unsigned int values;	/* one, or one for each of its queues or the like */
	bool is_most;		/* the highest so far or a state, and no sum */
};

#define MIMIC_TIME_VALUES_MAX 128	/* of all statistics of a kind */

struct mimic_timed;

/* Of the device's memory, by an instruction of the program. */
struct mimic_time_memory_access {
	uint64_t owner;
	uint64_t offset;
	uint32_t size;		/* 1, 2, 4 or 8 bytes, within a page */
	bool is_store;
};

struct mimic_time {
	/* Is it the device of the modelled SoC? */
	bool (*is_there)(const struct mimic_time_host *host);
	/* NULL: the parameters of the device fit each other; else a line that begins with the key that does not. NULL: they always do. */
	const char *(*check)(const struct mimic_time_host *host);
	/* Bytes of its memory that programs map; asked before create(). NULL: it has none. */
	uint64_t (*memory_size)(const struct mimic_time_host *host);
	/* With the host's parameters. NULL with errno. */
	struct mimic_timed *(*create)(const struct mimic_time_host *host);
	void (*destroy)(struct mimic_timed *device);
	/*
	 * An access reaches the device at `now`. true: its answer (a load's in access->data)
	 * or acknowledgement leaves the device at *done. false: it waits; complete() will be called.
	 * All work up to `now` is done before, so complete() may be called for others.
	 */
	bool (*access)(struct mimic_timed *device, struct mimic_access *access, uint64_t now, uint64_t *done);
	/*
	 * A load or store of the device's memory at `now`, which a core makes by itself; as access(), with no data. A store is
	 * over when the core can go on. NULL: the cores' caches have such memory as any other.
	 */
	bool (*memory)(struct mimic_timed *device, const struct mimic_time_memory_access *access, uint64_t now,
		       uint64_t *done);
	/*
	 * The access will reach the device soon. The device may prefetch the memory that it will read for the
	 * access into the host's caches; nothing that can be seen may change. May be NULL.
	 */
	void (*expect)(const struct mimic_timed *device, const struct mimic_access *access);
	/*
	 * Stores of `count` values to one register; each reaches the device when the one before it has been
	 * acknowledged, the first at *now. Does those that can be before `until`. Returns how many, and in *now when
	 * the last one was acknowledged; or, with *waits, when it came: complete() will be called for it. 0: the
	 * first one has to be an access(). May be NULL.
	 */
	size_t (*post)(struct mimic_timed *device, const struct mimic_access *pattern, const uint64_t *values,
		       size_t count, uint64_t *now, uint64_t until, bool *waits);
	/*
	 * A kernel that the modelled hardware has for the next work of a library, of a shape in the device's
	 * own terms, begins at `now`. 0: complete() will be called for `owner`, with data 0 or -errno; the
	 * library then does the work, and until end_kernel() its accesses to this part of the device take no
	 * time. -ENOSYS: there is no such kernel, or another -errno. NULL: -ENOSYS.
	 */
	int (*begin_kernel)(struct mimic_timed *device, uint64_t owner, unsigned int part, const uint64_t *shape,
			    size_t count, uint64_t now);
	void (*end_kernel)(struct mimic_timed *device, unsigned int part, uint64_t now);
	void (*owner_gone)(struct mimic_timed *device, uint64_t owner, uint64_t now);
	/* As after power-on. Accesses that wait are completed with 0. */
	void (*power_on)(struct mimic_timed *device, uint64_t now);
	/* Does all work up to and including `now`. */
	void (*advance)(struct mimic_timed *device, uint64_t now);
	/*
	 * Does all work that comes before `until`, but ends when it has called complete(). Returns the time
	 * of its last step. May be NULL: advance() is called for each time that next() says.
	 */
	uint64_t (*advance_until)(struct mimic_timed *device, uint64_t until);
	/* When it next does something by itself; UINT64_MAX: only after another access. */
	uint64_t (*next)(const struct mimic_timed *device);
	/* The model inside: for its state, its counters, its trace. Not to be driven past these calls. */
	struct mimic_model *(*model)(struct mimic_timed *device);

	const struct mimic_time_statistic *statistics;
	unsigned int statistic_count;
	/* In the order of statistics[]. `now` not before that of any call. */
	void (*count)(struct mimic_timed *device, uint64_t now, uint64_t *values);
	/* Writes the counters and statistics of a phase, for people. `soc`: as of is_there(). */
	void (*print)(FILE *file, const struct mimic_time_host *soc, const uint64_t *counters, const uint64_t *values);
	/* Counters that a sweep has columns for, up to a NULL. */
	const char *const *columns;
	/* Statistics that it has (of one with several values their sum), and those of one value that are shown over time. Likewise, or NULL: none. */
	const char *const *time_columns;
	const char *const *interval_columns;
};

#endif
