/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Virgo's cluster in cycles: SIMT cores with their warps, shared memory, L1 caches,
 * bus and L2, matrix units with their DMA, barriers.
 *
 * It has no data. A kernel of one of the designs (struct virgo_time_kernel) is a set of
 * instruction streams of all warps; a matrix unit can also be given operations one by one
 * (virgo_time_put), which is how the commands of the functional model get their time.
 *
 * In each cycle, in this order: matrix units, then the cores from core 0 on; of a core: the
 * LSU's head, the units, dispatch, issue, fetch. A bank of shared memory grants one reader
 * and one writer a cycle: the first ones in this order.
 *
 * docs/timing-soc.md says where the parameters come from and which of them are assumptions.
 */
#ifndef MIMIC_VIRGO_TIME_TIMING_H
#define MIMIC_VIRGO_TIME_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/trace.h"
#include "mimic/virgo_registers.h"

/* The parameters of a modelled SoC that the cluster uses. _(section, key) */
#define VIRGO_TIME_PARAMETERS(_) \
	_(cluster, design) \
	_(cluster, cores) \
	_(cluster, warps) \
	_(cluster, lanes) \
	_(cluster, barrier) \
	_(simt, fetch) \
	_(simt, buffer) \
	_(simt, operands) \
	_(simt, dispatch) \
	_(simt, alus) \
	_(simt, alu) \
	_(simt, fpu) \
	_(simt, branch) \
	_(tensor, latency) \
	_(tensor, oldest) \
	_(lsu, queue) \
	_(lsu, outstanding) \
	_(lsu, latency) \
	_(lsu, mmio) \
	_(lsu, merged) \
	_(shared, size) \
	_(shared, banks) \
	_(shared, words) \
	_(shared, conflicts) \
	_(shared, unaligned) \
	_(dcache, enabled) \
	_(dcache, size) \
	_(dcache, ways) \
	_(dcache, banks) \
	_(dcache, line) \
	_(dcache, mshrs) \
	_(dcache, latency) \
	_(bus, beat) \
	_(bus, interval) \
	_(bus, latency) \
	_(dma, request) \
	_(dma, outstanding) \
	_(matrix, units) \
	_(matrix, type) \
	_(matrix, queue) \
	_(matrix, synchronous) \
	_(matrix, dim) \
	_(matrix, dim_others) \
	_(matrix, accumulator) \
	_(matrix, tile_m) \
	_(matrix, tile_n) \
	_(matrix, tile_k) \
	_(matrix, fill) \
	_(matrix, drain) \
	_(matrix, move) \
	_(matrix, loops) \
	_(kernel, reloads) \
	_(kernel, double_buffer) \
	_(kernel, warps_store) \
	_(kernel, swish) \
	_(joule, instruction) \
	_(joule, lane) \
	_(joule, micro_op) \
	_(joule, core_factor) \
	_(joule, mac) \
	_(joule, array_mac) \
	_(joule, tensor_mac) \
	_(joule, shared_word) \
	_(joule, crossbar_word) \
	_(joule, accumulator_row) \
	_(joule, l1) \
	_(joule, l2)

struct virgo_time_parameters {
#define _(section, key) uint64_t section##_##key;
	VIRGO_TIME_PARAMETERS(_)
#undef _
};

/* The most that there is room for. */
#define VIRGO_TIME_CORES_MAX 16
#define VIRGO_TIME_WARPS_MAX 16		/* of a core */
#define VIRGO_TIME_LANES_MAX 16
#define VIRGO_TIME_BANKS_MAX 16
#define VIRGO_TIME_THREADS_MAX 64	/* of the program, at the shared memory at once */
#define VIRGO_TIME_QUEUE_MAX 64		/* of an LSU */
#define VIRGO_TIME_REQUESTS_MAX 64	/* that are outstanding, of an LSU, a bank of an L1, a DMA engine */

/* How a product is made. The names are those of mimic sim --design. */
enum virgo_time_design {
	VIRGO_DESIGN_TC,	/* "tc": a tensor core in each core, operands copied by the warps (Volta-style) */
	VIRGO_DESIGN_TC_DMA,	/* "tc-dma": the same with DMA (Ampere-style) */
	VIRGO_DESIGN_VIRGO,	/* "virgo": the matrix unit, operands copied by the warps */
	VIRGO_DESIGN_VIRGO_DMA,	/* "virgo-dma": the same with DMA */
	VIRGO_DESIGN_HOPPER,	/* "hopper": an operand-decoupled tensor core in each core, with DMA */
	VIRGO_DESIGNS
};

/* NULL: there is no such design. */
const char *virgo_time_design_name(unsigned int design);
/* -1: none of this name. */
int virgo_time_design_number(const char *name);

/* A product in the words of the kernel; m, n and k are multiples of the tile's. */
struct virgo_time_kernel {
	enum virgo_time_design design;
	unsigned int unit;	/* of the matrix units, by those designs that have them */
	uint64_t m, n, k;
	uint64_t macs;		/* of the product before it was rounded up to tiles; 0: m x n x k */
	unsigned int swish;	/* FPU instructions of an activation for each element; 0: there is none */
};

struct virgo_timing;

/*
 * As after power-on. NULL with errno: ENOMEM, or EINVAL and in `why` one line that names the key.
 * `why` may be NULL.
 */
struct virgo_timing *virgo_time_create(const struct virgo_time_parameters *parameters, char *why, size_t size);
void virgo_time_destroy(struct virgo_timing *timing);
/* For units that differ; it has nothing yet. */
void virgo_time_set_dim(struct virgo_timing *timing, unsigned int unit, unsigned int dim);
/* Multiplications in a cycle, of all matrix units or, in the designs that have none, of all cores. */
uint64_t virgo_time_macs(const struct virgo_time_parameters *parameters);
/* NULL: they fit each other; else one line that names the key that does not. */
const char *virgo_time_check(const struct virgo_time_parameters *parameters);

/* Where its events come from, from now on; NULL: nothing is traced. Their times are the cycles of its work. */
void virgo_time_trace(struct virgo_timing *timing, struct mimic_trace_source *source);

/*
 * Starts a kernel at `now`. -EBUSY: its unit has one; -EINVAL: its sizes are no multiples of the tile's, its
 * design does not fit the parameters, or there is no such unit.
 */
int virgo_time_start(struct virgo_timing *timing, const struct virgo_time_kernel *kernel, uint64_t now);
/* Of the kernel that uses `unit`; kernels of cores use unit 0. */
bool virgo_time_is_running(const struct virgo_timing *timing, unsigned int unit);
/* When the last kernel of this unit began, and when it ended. */
uint64_t virgo_time_began(const struct virgo_timing *timing, unsigned int unit);
uint64_t virgo_time_ended(const struct virgo_timing *timing, unsigned int unit);

/* --- operations of a matrix unit ----------------------------------------------------------------- */

enum virgo_time_engine { VIRGO_ENGINE_LOAD, VIRGO_ENGINE_EXECUTE, VIRGO_ENGINE_STORE, VIRGO_ENGINES };

/* Bytes of shared memory, or rows of the accumulator: from first to last, or none if first is last. */
struct virgo_time_range {
	uint32_t first, last;
};

/* One engine's part of one command. */
struct virgo_time_operation {
	enum virgo_time_engine engine;
	/* Load and store: rows between memory and the unit, by DMA requests. */
	uint32_t requests;
	uint32_t request_beats;		/* of the data of each, on the bus */
	/* Execute: passes of the array, of `rows` rows of A each; B's are loaded in every pass_reuse-th. */
	uint32_t passes;
	uint32_t rows;
	uint32_t a_base, b_base;	/* bytes of shared memory where rows of A and of B begin */
	uint32_t a_bytes, b_bytes;	/* of these, that the passes go through again and again */
	uint32_t pass_reuse;
	uint32_t element_bytes;		/* of operands, and of rows that are moved to shared memory; 0: 4 */
	/* Store: rows that leave the accumulator, to memory or, without requests, to shared memory. */
	uint32_t moved_rows;
	struct virgo_time_range reads, writes;			/* of shared memory */
	struct virgo_time_range writes_b;			/* that a load of both operands goes on with */
	struct virgo_time_range reads_rows, writes_rows;	/* of the accumulator */
};

/* Operations of one command, one for each engine at most; in `count` of them the order in which the command does them. */
struct virgo_time_command {
	unsigned int count;
	bool is_loop;
	bool is_kernels;	/* a kernel's, and nobody waits for it by virgo_time_take_over() */
	struct virgo_time_operation operation[VIRGO_ENGINES];
};

/* Is there room for a command in the unit's queue? */
bool virgo_time_has_room(const struct virgo_timing *timing, unsigned int unit);
/* Queues a command at `now`. There is room. */
void virgo_time_put(struct virgo_timing *timing, unsigned int unit, const struct virgo_time_command *command,
		    uint64_t now);
/* Commands, and loops, that are not over. */
unsigned int virgo_time_commands(const struct virgo_timing *timing, unsigned int unit);
unsigned int virgo_time_loops(const struct virgo_timing *timing, unsigned int unit);
/* Commands that were put and are over since the last call. */
unsigned int virgo_time_take_over(struct virgo_timing *timing, unsigned int unit);
/* Drops the unit's commands; statistics stay. */
void virgo_time_drop(struct virgo_timing *timing, unsigned int unit);

/* --- threads of the program ---------------------------------------------------------------------- */

struct virgo_time_shared_access {
	uint64_t owner;
	uint32_t address;	/* in shared memory */
	uint32_t size;		/* 1, 2, 4 or 8 bytes that lie in it */
	bool is_store;
};

/*
 * A load or store of shared memory at `now`, up to which all has been done. true: it is over at *over: a load when its data is
 * there, a store when the next access may follow. false: a bank has refused it; virgo_time_take_shared() tells when it is over.
 */
bool virgo_time_shared_access(struct virgo_timing *timing, const struct virgo_time_shared_access *access, uint64_t now,
			      uint64_t *over);
/* Of those that were refused, one that has been granted since. false: there is none. */
bool virgo_time_take_shared(struct virgo_timing *timing, uint64_t *owner, uint64_t *over);

/* --- cycles --------------------------------------------------------------------------------------- */

/* Does all up to and including cycle `now`, which does not go back over all calls. */
void virgo_time_advance(struct virgo_timing *timing, uint64_t now);
/* Up to `until`, but ends behind a cycle in which a command or kernel ended. Returns the last step's cycle. */
uint64_t virgo_time_advance_until(struct virgo_timing *timing, uint64_t until);
/* The next cycle in which something can happen; UINT64_MAX: only after another call. */
uint64_t virgo_time_next(const struct virgo_timing *timing);
/*
 * Can the kernels that run still end? If not, one line for each waiting warp says the reason. Returns how
 * many bytes the text has, as snprintf().
 */
size_t virgo_time_describe(const struct virgo_timing *timing, char *text, size_t size);

/* --- statistics ----------------------------------------------------------------------------------- */

/* _(name, it is the highest so far and no sum, meaning) */
#define VIRGO_TIME_STATISTICS(_) \
	_(cycles, false, "cycles that passed") \
	_(kernels, false, "kernels that have ended") \
	_(kernel_cycles, false, "cycles from the begin of a kernel to its end, of all kernels") \
	_(kernel_time, false, "cycles in which one or more kernels ran") \
	_(kernel_macs_offered, false, "multiplications that the cluster could have done in these, with all units") \
	_(kernel_macs, false, "multiplications of these products, without those that fill tiles up") \
	_(warp_instructions, false, "instructions that were fetched, each for a warp") \
	_(lane_instructions, false, "the same, each lane that is active one") \
	_(alu, false, "of warp_instructions: ALU") \
	_(fpu, false, "FPU") \
	_(loads, false, "loads of memory and shared memory") \
	_(stores, false, "stores of memory and shared memory") \
	_(mmio, false, "loads and stores of the units' registers") \
	_(wmma, false, "operations of tensor cores") \
	_(control, false, "branches, CSR accesses, fences, barriers") \
	_(micro_ops, false, "micro-operations of tensor cores") \
	_(stall_operands, false, "warps times cycles that waited for a register") \
	_(stall_dispatch, false, "likewise, for room before a unit") \
	_(stall_fetch, false, "likewise, for an instruction") \
	_(stall_barrier, false, "likewise, at a barrier") \
	_(lsu_waits, false, "cycles in which the head of an LSU could not go on, of all cores") \
	_(fence_waits, false, "of these, for a fence") \
	_(bank_conflicts, false, "requests that a bank of shared memory refused") \
	_(shared_reads, false, "words that were read from shared memory") \
	_(shared_writes, false, "words that were written to it") \
	_(shared_unaligned, false, "of both, words that went through the port for unaligned ones") \
	_(l1_accesses, false, "accesses of the L1 caches") \
	_(l1_misses, false, "of these, loads whose line was not there") \
	_(l2_requests, false, "requests that reached the L2") \
	_(dma_read_bytes, false, "bytes that the units loaded") \
	_(dma_written_bytes, false, "bytes that they stored to memory") \
	_(dma_outstanding, false, "DMA requests times cycles that they were on their way") \
	_(dma_outstanding_most, true, "the most at once") \
	_(matrix_busy, false, "units times cycles in which the array took in a row") \
	_(matrix_stalls, false, "likewise, in which a bank refused a row") \
	_(matrix_macs, false, "multiplications of matrix units, with those of padding") \
	_(accumulator_rows, false, "rows that were read from, or written to, an accumulator") \
	_(tensor_macs, false, "multiplications of tensor cores") \
	_(polls, false, "loads of BUSY by kernels") \
	_(barriers, false, "barriers of kernels that opened") \
	_(thread_instructions, false, "instructions of the program's threads, each of which stands for a warp") \
	_(thread_loads, false, "of these, loads of shared memory") \
	_(thread_stores, false, "stores of shared memory") \
	_(thread_mmio, false, "loads and stores of registers") \
	_(thread_polls, false, "of these, loads of BUSY, LOOPS and STATUS") \
	_(thread_barriers, false, "and threads that came to a barrier") \
	_(thread_stall_bank, false, "threads times cycles that a bank of shared memory refused") \
	_(thread_stall_barrier, false, "likewise, at a barrier") \
	_(thread_stall_queue, false, "likewise, for room in a unit's queue") \
	_(thread_stall_unit, false, "likewise, at FENCE and WAIT_LOOPS") \
	_(energy_core, false, "fJ of instructions: fetch, issue, registers") \
	_(energy_mac, false, "fJ of multiplications and additions") \
	_(energy_unit, false, "fJ of the array's registers, operand queues and accumulators") \
	_(energy_shared, false, "fJ of shared memory") \
	_(energy_memory, false, "fJ of L1 caches and L2") \
	_(energy_threads, false, "fJ of the threads' instructions, as of a warp's; in no other energy")

/* Likewise, of each bank of shared memory. Words that go through the port for unaligned ones are in no bank's. */
#define VIRGO_TIME_BANK_STATISTICS(_) \
	_(bank_reads, false, "reads that a bank granted") \
	_(bank_writes, false, "writes that it granted") \
	_(bank_refused, false, "of bank_conflicts, those of each bank")

struct virgo_time_statistics {
#define _(name, is_most, meaning) uint64_t name;
	VIRGO_TIME_STATISTICS(_)
#undef _
#define _(name, is_most, meaning) uint64_t name[VIRGO_TIME_BANKS_MAX];
	VIRGO_TIME_BANK_STATISTICS(_)
#undef _
};
/* Those of threads of the program, which the caller counts: at any time. */
struct virgo_time_statistics *virgo_time_counted(struct virgo_timing *timing);
void virgo_time_statistics(struct virgo_timing *timing, uint64_t now, struct virgo_time_statistics *statistics);

#endif
