/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * MAPLE in cycles: the model of devices/maple, its pipelines and its memory in time.
 * With desc.enabled the same calls drive a DeSC (desc.h).
 *
 * `now` never goes back over all calls. Data is right at every moment: a word that a
 * consumer gets is the one that memory held when its fetch was done.
 */
#ifndef MIMIC_MAPLE_TIME_H
#define MIMIC_MAPLE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/maple/maple_model.h"
#include "devices/time.h"

/* Cycles of round_trip that are the device's own pipe: the way there and back is the rest. */
#define MAPLE_TIME_LOAD_PIPE 3
#define MAPLE_TIME_STORE_PIPE 4

struct maple_time;

/* The parameters of a modelled SoC that the device uses. _(section, key) */
#define MAPLE_TIME_PARAMETERS(_) \
	_(maple, store_interval) \
	_(maple, pointer_interval) \
	_(maple, lima_interval) \
	_(maple, queues) \
	_(maple, queue_entries) \
	_(maple, queue_values) \
	_(maple, lima_chunks) \
	_(maple, translation) \
	_(maple, tlb_entries) \
	_(maple, walk) \
	_(desc, enabled) \
	_(desc, queue_entries) \
	_(desc, terminal_loads)

struct maple_time_parameters {
#define _(section, key) uint64_t section##_##key;
	MAPLE_TIME_PARAMETERS(_)
#undef _
};

void maple_time_parameters(const struct mimic_time_host *host, struct maple_time_parameters *parameters);

/*
 * `config` NULL: of the parameters; a program that asks for queues of 32 words, which is
 * the default of libmaple, gets queues of maple.queue_entries. NULL with
 * errno: EINVAL if no size code of INIT says queue_entries.
 */
struct maple_time *maple_time_create(const struct maple_time_parameters *parameters,
				     const struct maple_config *config, const struct mimic_time_host *host);
void maple_time_destroy(struct maple_time *device);

/*
 * An access reaches the device at `now`. true: its answer (a load's in access->data)
 * or acknowledgement leaves the device at *done. false: it waits; complete() will be called.
 * The way there and back (round_trip, less the device's own pipe) is the caller's.
 * All work up to `now` is done before, so complete() may be called for others.
 */
bool maple_time_access(struct maple_time *device, struct mimic_access *access, uint64_t now, uint64_t *done);
/* Withdraws the access of `owner` that waits; complete() is not called for it. */
void maple_time_cancel(struct maple_time *device, uint64_t owner, uint64_t now);
void maple_time_owner_gone(struct maple_time *device, uint64_t owner, uint64_t now);
/* As after power-on. Accesses that wait are completed with 0. */
void maple_time_power_on(struct maple_time *device, uint64_t now);

/* Does all work up to and including `now`. */
void maple_time_advance(struct maple_time *device, uint64_t now);
/* When it next does something by itself; UINT64_MAX: only after another access. */
uint64_t maple_time_next(const struct maple_time *device);

/* The model inside: for its state, its counters, its trace. Not to be driven past these calls. */
struct mimic_model *maple_time_model(struct maple_time *device);

/* Beside the model's counters, which have TLB hits and misses. _(name, meaning); one value a queue. */
#define MAPLE_TIME_QUEUE_STATISTICS(_) \
	_(occupancy, "words times cycles, those that memory still owes included") \
	_(full, "cycles in which a store waited for room") \
	_(empty, "cycles in which a load waited for data")

/* _(name, it is the highest so far and no sum, meaning) */
#define MAPLE_TIME_STATISTICS(_) \
	_(cycles, false, "of which occupancy is the sum") \
	_(pipe, false, "cycles in which accesses waited for a pipeline") \
	_(issue, false, "cycles in which loads of pointers waited to be issued") \
	_(walks, false, "cycles in which the pipeline waited for a walk") \
	_(outstanding, false, "loads on their way, times cycles") \
	_(outstanding_most, true, "loads on their way at once, at most")

struct maple_time_statistics {
#define _(name, is_most, meaning) uint64_t name;
	MAPLE_TIME_STATISTICS(_)
#undef _
#define _(name, meaning) uint64_t name[MAPLE_MAX_QUEUES];
	MAPLE_TIME_QUEUE_STATISTICS(_)
#undef _
};
/* `now` not before that of any call. */
void maple_time_statistics(const struct maple_time *device, uint64_t now, struct maple_time_statistics *statistics);
/* They begin at 0 again; the model's counters do not. */
void maple_time_clear_statistics(struct maple_time *device, uint64_t now);

/* All this as struct mimic_kind has it. */
extern const struct mimic_time maple_kind_time;

#endif
