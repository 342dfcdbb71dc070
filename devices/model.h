/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface between a device model and its driver, the program that calls the model.
 *
 * A model is a state machine: accesses go in, completions come out. It does no
 * system call, starts no thread, takes no lock, allocates nothing after its
 * creation, and reaches a program's memory only through struct mimic_memory.
 * Its driver (the embedded transport, the daemon, a unit test, a fuzzer, later
 * virtual time) serialises all calls for one model.
 *
 * `now` is the device's time in cycles. It never goes back. In functional mode
 * a cycle is one nanosecond of the host's monotonic clock.
 */
#ifndef MIMIC_DEVICES_MODEL_H
#define MIMIC_DEVICES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/trace.h"
#include "mimic/access.h"

struct mimic_model;

enum mimic_outcome {
	MIMIC_DONE,	/* answered (load) or acknowledged (store) */
	MIMIC_PARKED,	/* waits; host->complete() will be called for its owner */
};

enum mimic_atomic {
	MIMIC_ATOMIC_ADD,
	MIMIC_ATOMIC_AND,
	MIMIC_ATOMIC_OR,
	MIMIC_ATOMIC_XOR,
	MIMIC_ATOMIC_MAX,	/* signed */
	MIMIC_ATOMIC_MAXU,
	MIMIC_ATOMIC_MIN,	/* signed */
	MIMIC_ATOMIC_MINU,
	MIMIC_ATOMIC_SWAP,
	MIMIC_ATOMIC_CAS,	/* writes `operand` if memory holds `expected` */
};

enum mimic_fault_answer {
	MIMIC_FAULT_BAD,	/* no such page: the device reads 0 */
	MIMIC_FAULT_RETRY,	/* the page is there now: walk again */
	MIMIC_FAULT_STALL,	/* a driver will write the resolve register */
};

/*
 * The memory port. Addresses are physical ones of the device's world: the
 * result of walk(), or the virtual address where walk is NULL (identity).
 * A range that cannot be read is an answer (-EFAULT), never a signal.
 */
struct mimic_memory {
	void *context;
	/*
	 * Page table walk: the frame of the page that holds `address`, without
	 * making it present. 0, or -EFAULT. NULL: identity, and a missing page is
	 * found by the read itself.
	 */
	int (*walk)(void *context, uint64_t address, uint64_t *frame_address);
	/*
	 * Reads `count` values of `size` (4 or 8) bytes into values[], zero
	 * extended. Returns how many were read before the first that faulted
	 * (`count`: all), or -EINPROGRESS: all will come later, each by
	 * the model's own function for that, with tag, tag + 1, ...
	 */
	long (*gather)(void *context, const uint64_t *addresses, size_t count,
		       unsigned int size, uint64_t tag, uint64_t *values);
	/* Reads `size` bytes. 0 or -EFAULT; then the buffer holds the bytes that could be read, and zeros. */
	int (*read)(void *context, uint64_t address, void *buffer, size_t size);
	/*
	 * Reads `count` rows of `size` (1 to 64) bytes each: row i from addresses[i] to
	 * rows + 64 * i, the rest of those 64 bytes 0. Returns how many were read before
	 * the first that faulted. Devices that load tiles use it; NULL where none is.
	 */
	long (*read_rows)(void *context, const uint64_t *addresses, size_t count, size_t size,
			  void *rows);
	/* The same the other way. Of the row that faulted some bytes may have been written. */
	long (*write_rows)(void *context, const uint64_t *addresses, size_t count, size_t size,
			   const void *rows);
	/*
	 * Reads `count` rows of `size` bytes, the first from `address`, each `stride` bytes
	 * after the one before, to rows `buffer_stride` apart. Returns how many were read
	 * before the first that faulted. NULL: read_rows is used.
	 */
	long (*read_block)(void *context, uint64_t address, uint64_t stride, size_t size,
			   size_t count, void *buffer, size_t buffer_stride);
	/* The same the other way. Of the row that faulted some bytes may have been written. */
	long (*write_block)(void *context, uint64_t address, uint64_t stride, size_t size,
			    size_t count, const void *buffer, size_t buffer_stride);
	/* A 32-bit atomic; *old gets the value before it. 0 or -EFAULT. */
	int (*atomic)(void *context, uint64_t address, enum mimic_atomic operation,
		      uint32_t operand, uint32_t expected, uint32_t *old);
	/* A hint. May be NULL. */
	void (*prefetch)(void *context, uint64_t address);
	/* A hint, too: gather() of these follows, and the model has something to do before. May be NULL. */
	void (*announce)(void *context, const uint64_t *addresses, size_t count);
};

/*
 * For virtual time: work that a model would do at once, in steps whose times a pacer
 * knows. `step` is the kind of step: a number of the device. Memory is asked between begin() and
 * end(), for that step.
 */
struct mimic_pace {
	void *context;
	/*
	 * `unit` could do `count` such steps now. Returns how many it may: with fewer, the
	 * pacer lets it go on later, by a call of the device.
	 */
	size_t (*begin)(void *context, unsigned int unit, unsigned int step, size_t count);
	/* It did `count` of those. */
	void (*end)(void *context, unsigned int unit, unsigned int step, size_t count);
	/* All work of the unit is thrown away. */
	void (*drop)(void *context, unsigned int unit);
};

/* Functions that the driver of a model provides. Called from inside the model's calls. */
struct mimic_host {
	void *context;
	/* The parked access of `owner` is over; for a load `data` is its answer. */
	void (*complete)(void *context, uint64_t owner, uint64_t data);
	/* The device raises its interrupt (a page fault). May be NULL. */
	void (*interrupt)(void *context);
	/*
	 * Something that a person should hear of, such as a hang of the hardware.
	 * A constant text. May be NULL.
	 */
	void (*report)(void *context, const char *text);
	/* A walk or read failed at `address`. NULL: always MIMIC_FAULT_BAD. */
	enum mimic_fault_answer (*page_fault)(void *context, uint64_t address, unsigned int source);
	struct mimic_memory memory;
	/*
	 * For devices whose contexts belong to different programs: the memory of an
	 * address space, by the number that was written to the device's ATTACH register.
	 * NULL: there is none of that number. The port outlives the context's use of it.
	 * A device without contexts uses `memory` and never asks.
	 */
	const struct mimic_memory *(*memory_of)(void *context, uint64_t address_space);
	/* As page_fault, of a context's address space. NULL: always MIMIC_FAULT_BAD. */
	enum mimic_fault_answer (*context_fault)(void *context, unsigned int device_context,
						 uint64_t address, bool writes);
	/* NULL: all work is done at once. A device need not have steps. */
	const struct mimic_pace *pace;
	/*
	 * The time of this moment, for models that ask for it (asks_now of struct mimic_model_ops). NULL: it
	 * is that of the call.
	 */
	uint64_t (*now)(void *context);
};

struct mimic_model_ops {
	const char *kind;	/* "maple" */
	/*
	 * Few of its calls need the time, and those ask the host for it: so a driver whose host has now() need
	 * not read a clock for each access, and may give an earlier `now`.
	 */
	bool asks_now;
	enum mimic_outcome (*access)(struct mimic_model *model, struct mimic_access *access,
				     uint64_t now);
	/*
	 * `count` stores of values[] to the register of `pattern`, exactly as that
	 * many access() calls, but never parks: returns how many were
	 * acknowledged, and stops before the first that would have to wait, or
	 * while the model is busy().
	 */
	size_t (*store_many)(struct mimic_model *model, const struct mimic_access *pattern,
			     const uint64_t *values, size_t count, uint64_t now);
	/* The same for loads; answers are packed, pattern->size bytes each. */
	size_t (*load_many)(struct mimic_model *model, const struct mimic_access *pattern,
			    void *values, size_t count, uint64_t now);
	/* Withdraws the parked access of `owner`, if it has one; complete() is not called. */
	void (*cancel)(struct mimic_model *model, uint64_t owner, uint64_t now);
	/* A thread ended without closing: its roles are free, accesses that wait for it are answered. */
	void (*owner_gone)(struct mimic_model *model, uint64_t owner, uint64_t now);
	/* Time passes; work that could not go on is tried again. */
	void (*tick)(struct mimic_model *model, uint64_t now);
	/*
	 * No call works for long, at any request of a program. true: there is work
	 * that goes on without any access; tick() until there is none.
	 */
	bool (*busy)(const struct mimic_model *model);
	/* A shootdown: no translation of [start, end) survives. */
	void (*invalidate)(struct mimic_model *model, uint64_t start, uint64_t end);
	/* As after power-on. Parked accesses are completed with 0. */
	void (*power_on)(struct mimic_model *model, uint64_t now);
	/* Counters in the order of the device's counter list. Returns how many there are. */
	size_t (*counters)(const struct mimic_model *model, uint64_t *values, size_t count);
	/* Sets all counters to 0 and changes nothing else. Outstanding jobs count when they come back. */
	void (*clear_counters)(struct mimic_model *model);
	/* Free text of one line, for people: hangs and latched faults. Returns its length. */
	size_t (*describe)(const struct mimic_model *model, char *text, size_t size);
	/* Versioned image of the whole state. save returns its size; restore 0, -EINVAL or -ENOMEM. */
	size_t (*save)(const struct mimic_model *model, void *image, size_t size);
	int (*restore)(struct mimic_model *model, const void *image, size_t size);
};

struct mimic_model {
	const struct mimic_model_ops *ops;
	/* Set, if at all, by the model's creator; nothing of the device's state. */
	struct mimic_trace_source trace;
};

/*
 * store_many and load_many by as many calls of access(), for models that have no faster way. An
 * access that would wait is tried and withdrawn, and is counted as one that waited.
 */
size_t mimic_store_each(struct mimic_model *model, const struct mimic_access *pattern, const uint64_t *values,
			size_t count, uint64_t now);
size_t mimic_load_each(struct mimic_model *model, const struct mimic_access *pattern, void *values,
		       size_t count, uint64_t now);

#endif
