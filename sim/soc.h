/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Cores, caches and memory in time. It holds no data: the program's own memory does.
 *
 * Calls are made in an order in which `now` never goes back. Each answers with the
 * cycle at which the data or the effect is there; no other call is needed for that.
 * Addresses are physical.
 */
#ifndef MIMIC_SIM_SOC_H
#define MIMIC_SIM_SOC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/parameters.h"

struct soc;

/* The counters of cores and caches. */
#define SOC_CORE_COUNTERS(_) \
	_(instructions, "those of accesses included") \
	_(loads, "loads, of MMIO and of software prefetches too") \
	_(load_cycles, "cycles from issue to data, of all of them") \
	_(stores, "stores, MMIO not included") \
	_(mmio_loads, "") \
	_(mmio_stores, "") \
	_(prefetches, "software prefetches") \
	_(l1_hits, "") \
	_(l1_misses, "") \
	_(l15_hits, "loads that missed in the L1 and found their line in the L1.5") \
	_(store_merges, "stores that joined one that waited in the store buffer") \
	_(store_stalls, "cycles in which a store waited for the store buffer") \
	_(load_stalls, "cycles in which the core waited for data of memory") \
	_(mmio_stalls, "cycles in which it waited for a device") \
	_(pipeline_stalls, "cycles that branches and multiplications take more than other instructions") \
	_(tlb_misses, "walks of the page table that began") \
	_(walks, "that ended") \
	_(walk_cycles, "cycles in which the core waited for them") \
	_(walk_misses, "reads of page tables that missed in the L1") \
	_(sleeps, "cycles in which it had nothing to do; all cycles are instructions, stalls, walk_cycles and these")

#define SOC_COUNTERS(_) \
	_(l2_hits, "") \
	_(l2_misses, "") \
	_(l2_forwards, "lines that another L1 had alone, and may have written") \
	_(invalidations, "lines that a store of another core took from an L1") \
	_(write_backs, "lines written to memory") \
	_(dram_lines, "lines read from memory") \
	_(mshr_stalls, "cycles in which a miss waited for an MSHR") \
	_(prefetched, "lines that a device or DROPLET brought into the L2") \
	_(prefetches_dropped, "prefetches that found their queue full")

struct soc_core_counters {
#define _(name, meaning) uint64_t name;
	SOC_CORE_COUNTERS(_)
#undef _
};

struct soc_counters {
#define _(name, meaning) uint64_t name;
	SOC_COUNTERS(_)
#undef _
};

/* NULL with errno ENOMEM or EINVAL (of sim_parameters_check()). */
struct soc *soc_create(const struct sim_parameters *parameters);
void soc_destroy(struct soc *soc);

/*
 * An in-order core executes `instructions`, one a cycle, then the access, which is one
 * more. soc_now() is when its next access can begin: behind its instructions and behind
 * the data of the load before. The scheduler of the cores calls soc_execute() first, lets
 * those go on whose soc_now() is smaller, and then makes the access. Hot: 20 million a
 * second and more.
 *
 * With core.translation an access answers false as long as its page is not in the core's
 * TLB: a walk of the page table has made its next reads instead. The scheduler lets those go
 * on whose soc_now() is smaller now, and makes the same access again.
 */
void soc_execute(struct soc *soc, unsigned int core, uint64_t instructions);
/* Some of these instructions take so many extra cycles: sim_parameters_pipeline(). */
void soc_execute_longer(struct soc *soc, unsigned int core, uint64_t cycles);
bool soc_load(struct soc *soc, unsigned int core, uint64_t address, unsigned int size);
bool soc_store(struct soc *soc, unsigned int core, uint64_t address, unsigned int size);
/* The same of one access whose bytes lie in two pages: physical addresses need not go on from one to the next. */
struct soc_parts {
	uint64_t first, second;
	unsigned int first_size, second_size;
};
bool soc_load_across(struct soc *soc, unsigned int core, const struct soc_parts *parts);
bool soc_store_across(struct soc *soc, unsigned int core, const struct soc_parts *parts);
/* An atomic: both, and the core waits for it. */
bool soc_atomic(struct soc *soc, unsigned int core, uint64_t address, unsigned int size);
/* Into the L1. It counts as a load, but with core.prefetches the core goes on at once. */
bool soc_prefetch(struct soc *soc, unsigned int core, uint64_t address);

/*
 * MMIO: devices have numbers from 0 on, as cores have. An access is issued by the core (begin), arrives at the device, is answered or
 * acknowledged there, and the answer is back at the core (end). Between begin and end the
 * core makes no other call. But where stores are buffered (core.mmio_acknowledged 0) the core
 * goes on behind begin at once; its stores leave one by one, each when the one before it has
 * ended, also if they go to several devices. So the driver of the devices keeps them in order until then.
 */
/* false: not before the next soc_mmio_end() of this core; the core waits until then. */
bool soc_mmio_may_begin(struct soc *soc, unsigned int core, bool is_store);
/* When it was issued. */
uint64_t soc_mmio_begin(struct soc *soc, unsigned int core, bool is_store);
/* When it reaches this device; asked when all before it have ended. */
uint64_t soc_mmio_arrival(const struct soc *soc, unsigned int core, unsigned int device, uint64_t issued);
/* The device answered at `answered`. When that is back at the core. */
uint64_t soc_mmio_end(struct soc *soc, unsigned int core, unsigned int device, bool is_store, uint64_t issued,
		      uint64_t answered);

/*
 * Is the device a part of the core, do stores wait until they are acknowledged, and take instructions no
 * time? Then a driver may make several stores in a row, and report them afterwards: the first was issued
 * at soc_now(), the last ended at `end`.
 */
bool soc_mmio_may_post(const struct soc *soc);
void soc_mmio_posted(struct soc *soc, unsigned int core, uint64_t count, uint64_t end);

/*
 * A load or store of a device's own memory, which the device schedules: begins, and is over at `over`.
 * Between begin and end the core makes no other call. Before begin soc_mmio_may_begin() of a load is true.
 */
uint64_t soc_device_memory_begin(struct soc *soc, unsigned int core, bool is_store);
uint64_t soc_device_memory_end(struct soc *soc, unsigned int core, bool is_store, uint64_t issued, uint64_t over);

uint64_t soc_now(const struct soc *soc, unsigned int core);
/* The core slept until then, if that is later than soc_now(). */
void soc_sleep_until(struct soc *soc, unsigned int core, uint64_t time);

/* Reads by a device: past the caches, or through the L2. When the data is there. */
uint64_t soc_device_read_memory(struct soc *soc, uint64_t address, unsigned int size, uint64_t now);
uint64_t soc_device_read_l2(struct soc *soc, uint64_t address, unsigned int size, uint64_t now);
/* A write or an atomic of a device, at the L2. */
uint64_t soc_device_write(struct soc *soc, uint64_t address, unsigned int size, uint64_t now);
/*
 * A device's walk of the page table: three reads, each behind the one before, through the L2 and with
 * maple.walk_cache through the device's own cache before it. When the last one's data is there.
 */
uint64_t soc_device_walk(struct soc *soc, unsigned int device, uint64_t address, uint64_t now);
/* A line into the L2, as soon as an MSHR is free; no core waits. */
void soc_device_prefetch(struct soc *soc, uint64_t address, uint64_t now);

/*
 * For DROPLET: `count` indices of 4 bytes from virtual `indices`, each of an element of
 * `element_size` bytes from `data`; size 0: only the indices are fetched ahead. `translate`
 * gives physical addresses, `read_index` an index.
 */
struct soc_indirect {
	uint64_t indices, count, data;
	unsigned int element_size;
};
struct soc_program {
	void *context;
	uint64_t (*translate)(void *context, uint64_t address);
	uint32_t (*read_index)(void *context, uint64_t address);
};
int soc_droplet_watch(struct soc *soc, const struct soc_program *program, const struct soc_indirect *indirect);

void soc_core_counters(const struct soc *soc, unsigned int core, struct soc_core_counters *counters);
void soc_counters(const struct soc *soc, struct soc_counters *counters);
/* Dirty lines of the L2, and those of which a part in an L1 is dirty. */
uint64_t soc_dirty_lines(const struct soc *soc);

#endif
