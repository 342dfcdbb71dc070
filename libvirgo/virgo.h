/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libvirgo: the commands of a Virgo cluster in C, and matrix products made of
 * them. This header is its manual; there is a man page for each function, and
 * docs/libvirgo.md is the tutorial.
 *
 * Virgo ("Virgo: Cluster-level Matrix Unit Integration in GPUs for Scalability
 * and Energy Efficiency", ASPLOS 2025) puts matrix units beside the cores of a
 * cluster. They share a memory with the cores, are driven by stores to control
 * registers, and work while the cores go on. Section numbers below are the
 * paper's. The units' commands are Gemmini's; docs/virgo.md lists them.
 *
 * A cluster (section 3) has shared memory of 64, 128 or 256 KB, which the program
 * reads and writes as its own, up to 8 units, and 16 barriers. Each unit has an
 * element type and an array of DIM x DIM, and sums up in an accumulator memory
 * that only it reaches. A cluster belongs to one process: another handle of the
 * same cluster in this process has the same units, and does not know this one's commands.
 *
 * Rows. Shared memory is rows of DIM elements to a unit: row r begins at byte
 * r x row_bytes. Units of different types or sizes see the same bytes as rows of
 * different lengths. A local address is a row, or a row of the accumulator with
 * VIRGO_LOCAL_ACCUMULATOR set (mimic/virgo_commands.h).
 *
 * Commands are asynchronous (section 4.1). A call puts a command into a buffer of
 * the unit, from where it goes to the device in batches. One unit's commands are
 * done in order; different units' are not ordered. virgo_flush() sends
 * the buffer; virgo_wait() and virgo_fence() send it and wait. Until then the
 * program must not read memory that a command writes, nor change or free memory
 * that it reads.
 * Waiting takes no processor time, but for the first moments.
 *
 * Threads. Different threads may use different units of a handle at the same time;
 * one thread at a time may use a unit. Functions without a unit may be called
 * by any thread at any time, but for virgo_close().
 *
 * Errors. Functions return 0 or a negative errno value; nothing is printed,
 * nothing exits. virgo_error_text() says more. Each function lists its own errors;
 * beside these, every function that talks to the device may return
 *	-ENOTCONN	the daemon is gone (transport daemon)
 *	-ENODEV		the handle belongs to the parent of a fork
 * and every function with a unit
 *	-EINVAL		the handle is NULL, or there is no such unit
 *	-EBUSY		virgo_gemm_start() has the unit; virgo_gemm_wait() gives it back. Not of virgo_gemm_done(), virgo_gemm_wait(), virgo_gemm_sizes() and virgo_counters()
 *
 * Errors of commands. An error that the device finds is known later than the call that
 * sent the command: virgo_wait() and virgo_fence() return it, and virgo_error() tells
 * which command failed, and why. The command and all behind it are
 * dropped until virgo_clear_error() or virgo_reset(). Other units go on.
 *
 * Addresses are the program's own. The units read and write any memory of the
 * program; memory of virgo_alloc(), or passed to virgo_register(), is faster on the
 * transport daemon.
 *
 * Operations on whole tiles are in virgo_tile.h, products of matrices in
 * virgo_gemm.h; this header includes both.
 */
#ifndef VIRGO_H
#define VIRGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lists are expanded by a macro `_`, which may be a program's gettext. */
#pragma push_macro("_")
#undef _
#include <mimic/virgo_commands.h>
#include <mimic/virgo_registers.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A cluster. */
struct virgo;

/* All zero, or no options at all: the defaults. */
struct virgo_options {
	const char *device;		/* NULL or "virgo": any that is free; "virgo0", ...: that one */
	const char *transport;		/* "kernel", "daemon" or "embedded"; NULL or "auto": the first that is there */
	const char *socket_path;	/* of mimicd; NULL: MIMIC_SOCKET, else the usual one */
	const char *config_path;	/* INI file, transport embedded; NULL: MIMIC_CONFIG, else the defaults */
};

/**
 * virgo_open() - finds a cluster and takes it
 * @virgo: where the handle goes; NULL goes there if the call fails
 * @options: settings of the device, NULL for the defaults
 *
 * Units, barriers and shared memory are as after power-on, all zero. A config_path
 * is for the embedded transport: it makes "auto" choose that, and is -EINVAL with
 * "daemon" and "kernel". The strings of options are not used after the call. The
 * caller gives the handle back by virgo_close().
 *
 * Returns 0, or
 * -EINVAL: an option has no valid value, or the configuration file is wrong
 * -EBUSY: no cluster is free
 * -ENODEV: there is no cluster of that number
 * -ENOENT: there is no such configuration file
 * -ECONNREFUSED: no daemon answers (transport daemon), or no device (transport kernel)
 * -EACCES: it is another user's
 * -EPROTO: the daemon or the device speaks another version
 * -ENOMEM: out of memory
 *
 * See also: virgo_error_text(), virgo_unit_info(), virgo_gemm().
 */
int virgo_open(struct virgo **virgo, const struct virgo_options *options);

/**
 * virgo_close() - gives the cluster back
 * @virgo: the handle, or NULL
 *
 * Waits for products of virgo_gemm_start(), and for nothing else: call virgo_fence()
 * before, if commands may still be on their way. The pointer of virgo_shared(),
 * memory of virgo_alloc() that was not freed, and the descriptor of
 * virgo_event_fd() are lost with it. In a child of a fork it only frees the handle. No other thread may use the handle.
 *
 * See also: virgo_open().
 */
void virgo_close(struct virgo *virgo);

/**
 * virgo_error_text() - says more about an error
 *
 * Returns a line for people about the last error that a function of the library
 * returned to this thread, "" if there was none. It gives the reason. The
 * string is the library's and changes with the thread's next error.
 *
 * See also: virgo_error().
 */
const char *virgo_error_text(void);

/**
 * virgo_transport() - tells how the cluster is reached
 * @virgo: the handle
 *
 * Returns "embedded", "daemon" or "kernel". The string is the library's.
 *
 * See also: virgo_open(), virgo_device_name().
 */
const char *virgo_transport(const struct virgo *virgo);

/**
 * virgo_device_name() - tells which cluster this is
 * @virgo: the handle
 *
 * Returns "virgo0", "virgo1" and so on. The string lives as long as the handle.
 *
 * See also: virgo_open(), virgo_transport().
 */
const char *virgo_device_name(const struct virgo *virgo);

/**
 * virgo_unit_count() - tells how many units the cluster has
 * @virgo: the handle
 *
 * Returns 1 to 8. Units are numbered from 0.
 *
 * See also: virgo_unit_info(), virgo_find_unit().
 */
unsigned int virgo_unit_count(const struct virgo *virgo);

/* The type and the sizes of a unit. */
struct virgo_unit_info {
	enum virgo_type type;		/* of its elements: VIRGO_INT8, VIRGO_FP16 or VIRGO_FP32 */
	unsigned int dim;		/* DIM: 4, 8, 16 or 32 */
	unsigned int element_size;	/* bytes: 1, 2 or 4 */
	unsigned int row_bytes;		/* of a row of shared memory: DIM elements */
	uint32_t rows;			/* of shared memory */
	uint32_t accumulator_rows;	/* of DIM int32 or fp32 */
	unsigned int queue_entries;	/* commands that the unit's queue holds */
};

/**
 * virgo_unit_info() - tells the type and the sizes of a unit
 * @virgo: the handle
 * @unit: its number
 * @info: where it goes
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or there is no such unit
 *
 * See also: virgo_unit_count(), virgo_find_unit().
 */
int virgo_unit_info(const struct virgo *virgo, unsigned int unit, struct virgo_unit_info *info);

/**
 * virgo_find_unit() - finds a unit by type and size
 * @virgo: the handle
 * @type: VIRGO_INT8, VIRGO_FP16 or VIRGO_FP32
 * @dim: 4, 8, 16 or 32; 0: any
 *
 * Returns the lowest number of such a unit, or
 * -EINVAL: the handle is NULL
 * -ENXIO: the cluster has none
 *
 * See also: virgo_unit_info().
 */
int virgo_find_unit(const struct virgo *virgo, enum virgo_type type, unsigned int dim);

/**
 * virgo_shared() - gives the shared memory of the cluster
 * @virgo: the handle
 * @size: where its size goes, in bytes; or NULL
 *
 * It is memory: the program loads and stores, the units do, too. It is page aligned,
 * the same for every call, and valid until virgo_close(). Products of virgo_gemm()
 * use all of it that virgo_shared_alloc() has not given out.
 *
 * Returns the memory; NULL if the handle is NULL.
 *
 * See also: virgo_tile_element().
 */
void *virgo_shared(const struct virgo *virgo, size_t *size);

/**
 * virgo_shared_alloc() - takes a part of the shared memory
 * @virgo: the handle
 * @size: bytes, at least 1
 *
 * The program may use the shared memory as it likes. This is for programs that use it
 * while a product of virgo_gemm() runs, or in several parts that do not know
 * each other: the memory is the caller's until virgo_shared_free(). It is not
 * cleared, its address is a multiple of 1/64 of the shared memory, and so is the
 * size that it takes. It comes from the end of the shared memory, where there is room.
 *
 * Returns memory inside of virgo_shared(), or NULL with errno:
 * EINVAL: the handle is NULL, or size is 0
 * ENODEV: the handle belongs to the parent of a fork
 * ENOSPC: no part of that size is free; products that run have some, too
 */
void *virgo_shared_alloc(struct virgo *virgo, size_t size);

/**
 * virgo_shared_free() - gives a part of the shared memory back
 * @virgo: the handle
 * @memory: memory of virgo_shared_alloc(), or NULL
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or the memory is not of virgo_shared_alloc()
 * -ENODEV: the handle belongs to the parent of a fork
 */
int virgo_shared_free(struct virgo *virgo, void *memory);

/**
 * virgo_alloc() - allocates memory that the units reach directly
 * @virgo: the handle
 * @size: bytes, at least 1
 *
 * The memory is zeroed and page aligned. The daemon shares it, so that a load from
 * it costs no system call. It is the caller's until virgo_free(). It is program
 * memory, not shared memory of the cluster.
 *
 * Returns the memory, or NULL with errno:
 * EINVAL: size is 0, or the handle is NULL
 * ENOMEM: out of memory
 *
 * See also: virgo_register().
 */
void *virgo_alloc(struct virgo *virgo, size_t size);

/**
 * virgo_free() - frees memory of virgo_alloc()
 * @virgo: the handle
 * @memory: memory of virgo_alloc(), or NULL
 *
 * No command that uses it may be on its way.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or the memory is not of virgo_alloc()
 */
int virgo_free(struct virgo *virgo, void *memory);

/**
 * virgo_register() - lets the units reach the program's own memory directly
 * @virgo: the handle
 * @memory: the first byte
 * @size: bytes
 *
 * The units read and write any memory of the program without this; the daemon does
 * it faster with it. The whole pages inside the range are replaced in place by shared
 * ones with the same contents. No other thread may write to them during the call.
 * Only private anonymous memory can be registered (malloc or anonymous mmap; not
 * files, not the main stack). On the embedded transport there is nothing to do.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the memory cannot be registered
 * -ENOMEM: out of memory
 *
 * See also: virgo_unregister(), virgo_alloc().
 */
int virgo_register(struct virgo *virgo, void *memory, size_t size);

/**
 * virgo_unregister() - takes virgo_register() back
 * @virgo: the handle
 * @memory: the same as there
 * @size: the same as there
 *
 * The memory keeps its contents. No command that uses it may be on its way. Call it
 * before the memory is freed.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the range is not registered
 */
int virgo_unregister(struct virgo *virgo, void *memory, size_t size);

/**
 * virgo_half() - converts to fp16
 * @value: any number
 *
 * Returns the bits of the IEEE binary16 that is nearest to value, of two the even
 * one; 65520 and more become infinite. A NaN becomes 0x7e00, as the units make them.
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: virgo_from_half().
 */
uint16_t virgo_half(float value);

/**
 * virgo_from_half() - converts from fp16
 * @bits: of an IEEE binary16
 *
 * Returns the same number as a float; the conversion is exact.
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: virgo_half().
 */
float virgo_from_half(uint16_t bits);

/* --- barriers ---------------------------------------------------------------- */

/**
 * virgo_barrier_participants() - says how many threads meet at a barrier
 * @virgo: the handle
 * @barrier: 0 to 15
 * @count: 1 to 255; 0: as many as the cluster has cores (4 in the paper)
 *
 * Section 3.3; host threads stand for warps. After virgo_open() it is 0. Change it
 * while no thread waits there.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, no such barrier, or the count is out of range
 *
 * See also: virgo_barrier().
 */
int virgo_barrier_participants(struct virgo *virgo, unsigned int barrier, unsigned int count);

/**
 * virgo_barrier() - waits until all participants are there
 * @virgo: the handle
 * @barrier: 0 to 15
 *
 * Stores to shared memory that any of them made before are seen by all of them
 * after. A barrier orders threads, not commands: a thread that sent some waits for them first.
 * A thread that ends while it waits has not arrived.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such barrier
 *
 * See also: virgo_barrier_participants().
 */
int virgo_barrier(struct virgo *virgo, unsigned int barrier);

/**
 * virgo_event_fd() - gives a descriptor to wait for events with poll(2)
 * @virgo: the handle
 * @events: VIRGO_EVENT_* (mimic/virgo_registers.h), joined by |; 0: none any more
 *
 * The descriptor is an eventfd(2) that does not block, and is the library's; it becomes
 * readable when any of the events happens. A cluster has one: another call changes
 * its events, and returns it again. Read it before reading the units' state. Send
 * buffered commands (virgo_flush()) before waiting.
 *
 * Returns the descriptor, or
 * -EINVAL: the handle is NULL, or there is no such event
 * -EMFILE: the process has too many files open
 *
 * See also: virgo_done().
 */
int virgo_event_fd(struct virgo *virgo, uint64_t events);

/* --- counters ---------------------------------------------------------------- */

/* Names and meanings: VIRGO_COUNTERS in mimic/virgo_registers.h. */
struct virgo_statistics {
#define _(name, meaning) uint64_t name;
	VIRGO_COUNTERS(_)
#undef _
};

/* In place of a unit's number: all units of the cluster together. */
#define VIRGO_ALL_UNITS 0xffffffffu

/**
 * virgo_counters() - reads counters
 * @virgo: the handle
 * @unit: its number, or VIRGO_ALL_UNITS
 * @statistics: where they go
 *
 * Since virgo_open(); they only grow. Commands that are not over count in part: call
 * virgo_fence() before.
 *
 * Threads. Any thread may call it at any time, also while virgo_gemm_start() has the unit.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or there is no such unit
 */
int virgo_counters(struct virgo *virgo, unsigned int unit, struct virgo_statistics *statistics);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include "virgo_command.h"
#include "virgo_gemm.h"
#include "virgo_tile.h"

#pragma pop_macro("_")
#endif
