/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE's MPU in cycles: dispatch, scoreboard, issue window, load/store unit, LLC and
 * memory, array, and the runahead parts of the paper (RIQ, DMU with VMR, RFU).
 *
 * It has no data. Instructions come in program order, each with its shape and the
 * addresses of its rows, and it says when they are done. The functional model
 * (devices/dare) executes them when they are dispatched; nothing else writes their
 * operands until the program has waited for them.
 *
 * In each cycle, in this order: answers of the LLC and results of the array arrive;
 * instructions issue; rows are sent to the LLC; an instruction is dispatched, which
 * can issue from the next cycle on. Sections IV-A to IV-E are those of the paper;
 * docs/timing-soc.md says which parameters are assumptions.
 */
#ifndef MIMIC_DARE_TIME_MPU_H
#define MIMIC_DARE_TIME_MPU_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/dare/isa.h"
#include "devices/trace.h"

/* The parameters of a modelled SoC that the MPU uses. _(section, key) */
#define DARE_TIME_PARAMETERS(_) \
	_(mpu, dispatch) \
	_(mpu, window) \
	_(mpu, issue) \
	_(mpu, forward) \
	_(mpu, mcfg_entry) \
	_(mpu, oldest_first) \
	_(mpu, stores) \
	_(mpu, store_order) \
	_(mpu, lq) \
	_(mpu, sq) \
	_(mpu, runahead) \
	_(mpu, riq) \
	_(mpu, vmr) \
	_(rfu, enabled) \
	_(rfu, dynamic) \
	_(rfu, threshold) \
	_(rfu, window) \
	_(rfu, bin) \
	_(rfu, peak) \
	_(rfu, margin) \
	_(rfu, slack) \
	_(rfu, demand) \
	_(array, rows) \
	_(array, columns) \
	_(array, drain) \
	_(array, pipelined) \
	_(llc, size) \
	_(llc, ways) \
	_(llc, banks) \
	_(llc, latency) \
	_(llc, reads) \
	_(llc, writes) \
	_(llc, mshrs) \
	_(llc, demand_first) \
	_(llc, warm) \
	_(llc, oracle) \
	_(dram, latency) \
	_(dram, gap) \
	_(energy, read) \
	_(energy, write) \
	_(energy, mma) \
	_(energy, mac) \
	_(energy, leakage)

struct dare_time_parameters {
#define _(section, key) uint64_t section##_##key;
	DARE_TIME_PARAMETERS(_)
#undef _
};

/* Ranges of parameters for which there is room. */
#define DARE_TIME_RIQ_MAX 256
#define DARE_TIME_VMR_MAX 256
#define DARE_TIME_LQ_MAX 256
#define DARE_TIME_SQ_MAX 256
#define DARE_TIME_STORES_MAX 64
#define DARE_TIME_RFU_WINDOW_MAX 256
#define DARE_TIME_BANKS_MAX 64
#define DARE_TIME_MSHRS_MAX 256

struct dare_mpu;

/* As after power-on, the LLC empty. NULL with errno: EINVAL if there is no room for a parameter, ENOMEM. */
struct dare_mpu *dare_mpu_create(const struct dare_time_parameters *parameters);
void dare_mpu_destroy(struct dare_mpu *mpu);
/* Where its events come from, from now on; NULL: nothing is traced. */
void dare_mpu_trace(struct dare_mpu *mpu, struct mimic_trace_source *source);
/* Drops the work in progress; the LLC and the statistics stay. */
void dare_mpu_drop(struct dare_mpu *mpu, uint64_t now);

/*
 * Does all up to and including cycle `now`, which does not go back over all calls, and
 * dispatches an instruction in it. false: there is no room, or others were dispatched
 * in this cycle; it can be tried again in dare_mpu_next().
 */
bool dare_mpu_put(struct dare_mpu *mpu, const struct dare_dispatched *instruction, uint64_t now);
void dare_mpu_advance(struct dare_mpu *mpu, uint64_t now);
/* The next cycle in which something can happen; UINT64_MAX: only after another put(). */
uint64_t dare_mpu_next(const struct dare_mpu *mpu);
/* All that was dispatched is done, the last row of a store in the LLC. Prefetches may be in flight. */
bool dare_mpu_is_idle(const struct dare_mpu *mpu);
/* Runs on until it is dispatched, and returns the cycle; `now` as above. */
uint64_t dare_mpu_dispatch(struct dare_mpu *mpu, const struct dare_dispatched *instruction, uint64_t now);
/* Runs on until it is idle, and returns the cycle in which it became so, or `now` if that was before. */
uint64_t dare_mpu_drain(struct dare_mpu *mpu, uint64_t now);

/* _(name, it is a state or the highest so far and no sum, meaning) */
#define DARE_TIME_STATISTICS(_) \
	_(busy, false, "cycles in which something that was dispatched was not done") \
	_(rows_demanded, false, "rows that instructions loaded: reads of the LLC; one in two lines counts twice") \
	_(rows_stored, false, "rows that instructions stored: writes of the LLC, likewise") \
	_(rows_prefetched, false, "rows that were read ahead: reads of the LLC, likewise") \
	_(prefetch_redundant, false, "of these, rows whose line was in the LLC, or on its way to it") \
	_(demand_hits, false, "demanded rows whose line was there") \
	_(demand_merged, false, "demanded rows whose line was on its way") \
	_(demand_misses, false, "demanded rows for which a line was fetched") \
	_(demand_latency, false, "cycles from when a demanded row was the next one of the LSU to its answer") \
	_(demand_since_issue, false, "cycles from when the instruction of a demanded row issued to the row's answer") \
	_(port_waits, false, "cycles of demand_latency before the row was sent") \
	_(store_misses, false, "stored rows whose line was not there") \
	_(dram_reads, false, "lines that memory was read for") \
	_(dram_writes, false, "lines that were written back to memory") \
	_(issued, false, "instructions that issued") \
	_(array_busy, false, "cycles in which the array took in the rows of an mma") \
	_(queue_full, false, "cycles in which the queue before issue was full") \
	_(riq, false, "entries of the queue before issue, times cycles") \
	_(riq_most, true, "the most at once") \
	_(vmr, false, "entries of the VMR, times cycles") \
	_(vmr_most, true, "the most at once") \
	_(lq, false, "entries of the LQ, times cycles") \
	_(lq_most, true, "the most at once") \
	_(sq, false, "entries of the SQ, times cycles") \
	_(sq_most, true, "the most at once") \
	_(chains, false, "mgathers whose addresses the DMU has fetched ahead") \
	_(chains_dropped, false, "mgathers whose addresses were not there in time") \
	_(vmr_waits, false, "mgathers that found the VMR full") \
	_(granted, false, "instructions whose first row was a miss: all rows are prefetched") \
	_(suppressed, false, "instructions whose first row was a hit: nothing else is prefetched") \
	_(threshold, true, "of the RFU, in cycles") \
	_(energy_reads, false, "fJ of rows_demanded") \
	_(energy_prefetches, false, "fJ of rows_prefetched") \
	_(energy_writes, false, "fJ of rows_stored") \
	_(energy_mma, false, "fJ of each mma that the array began") \
	_(energy_macs, false, "fJ of their multiplications and additions") \
	_(energy_leakage, false, "fJ of busy")

struct dare_time_statistics {
#define _(name, is_state, meaning) uint64_t name;
	DARE_TIME_STATISTICS(_)
#undef _
};
/* `now` not before that of any call. */
void dare_mpu_statistics(struct dare_mpu *mpu, uint64_t now, struct dare_time_statistics *statistics);

#endif
