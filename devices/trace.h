/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Events inside of a model, for a trace and for USDT probes.
 *
 * The driver that makes a model may give it a trace (`trace` of its struct mimic_model). A
 * model without one pays a branch that is never taken at a few places of each call.
 * Arguments are evaluated more than once: they are values that are at hand.
 *
 * A probe is where its event is written. All probes have one semaphore: when a tracer
 * attaches to any of them, a model's next call gives it a trace that writes nothing, if
 * it has none.
 *
 * docs/trace.md explains the events to a reader of a trace.
 */
#ifndef MIMIC_DEVICES_TRACE_H
#define MIMIC_DEVICES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mimic/access.h"

/*
 * MIMIC_WITHOUT_TRACE: neither; only for a benchmark that compares with it. MIMIC_WITHOUT_SDT: <sys/sdt.h> is of no
 * use.
 */
#if defined(__has_include) && !defined(MIMIC_WITHOUT_TRACE) && !defined(MIMIC_WITHOUT_SDT)
#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#endif
#endif

#ifdef STAP_PROBEV
#define MIMIC_TRACE_PROBE(name, ...) STAP_PROBEV(mimic, name, __VA_ARGS__)
#else
#define MIMIC_TRACE_PROBE(name, ...) do { } while (0)
#endif

/*
 * How an event stands in time:
 *   SLICE    has a duration, and is written when it is over
 *   BEGIN    of something that another event ends
 *   END      of it; its number is that of the BEGIN and 1
 *   MOMENT   words or commands that come or go: arrows lead from one to the other
 *   INSTANT  none of these
 */
enum mimic_trace_phase {
	MIMIC_TRACE_SLICE = 1,
	MIMIC_TRACE_BEGIN,
	MIMIC_TRACE_END,
	MIMIC_TRACE_MOMENT,
	MIMIC_TRACE_INSTANT,
};

/* Where it is drawn: of the device, but for threads, which are the program's. _(NAME, text, has units) */
#define MIMIC_TRACE_TRACKS(_) \
	_(THREAD, "thread", 0) \
	_(QUEUE_IN, "queue %u in", 1) \
	_(QUEUE_OUT, "queue %u out", 1) \
	_(LIMA, "LIMA of queue %u", 1) \
	_(MMU, "MMU", 0) \
	_(MEMORY, "memory", 0) \
	_(DISPATCH, "instructions of context %u", 1) \
	_(CONTEXT, "matrix unit of context %u", 1) \
	_(COMMANDS, "commands of unit %u", 1) \
	_(UNIT, "unit %u", 1) \
	_(CLUSTER, "cluster", 0) \
	_(RIQ, "RIQ place %u", 1) \
	_(LSU_LOADS, "LSU: loads to m%u", 1) \
	_(LSU_STORES, "LSU: stores", 0) \
	_(ARRAY, "array", 0) \
	_(RFU, "RFU", 0) \
	_(WARP, "warp %u", 1) \
	_(ENGINE_LOAD, "DMA loads of unit %u", 1) \
	_(ENGINE_ARRAY, "array of unit %u", 1) \
	_(ENGINE_STORE, "stores of unit %u", 1) \
	_(BANK, "bank %u", 1) \
	_(BANK_READS, "bank %u reads", 1) \
	_(BANK_WRITES, "bank %u writes", 1) \
	_(BANK_DMA, "bank %u DMA writes", 1) \
	_(KERNEL, "kernel of unit %u", 1)

enum mimic_trace_track {
#define _(NAME, text, has_units) MIMIC_TRACE_TRACK_##NAME,
	MIMIC_TRACE_TRACKS(_)
#undef _
	MIMIC_TRACE_TRACK_COUNT
};

/*
 * _(number, name, category, phase, track, names of: unit, address, size, value, id; meaning)
 * A name of "" is not shown; behind a colon: x hexadecimal, r the name of the register,
 * w the reason for dropped words, o how work ended, f the answer to a page fault, l level of a queue.
 * A number is never used for another event.
 */
#define MIMIC_TRACE_EVENTS(_) \
	_(1, access, "access", SLICE, THREAD, "store", "register:r", "bytes", "data:x", "count", \
	  "an access that did not wait, or a run of them; data if it is one") \
	_(2, access_begin, "access", BEGIN, THREAD, "store", "register:r", "bytes", "data:x", "", \
	  "an access that has to wait") \
	_(3, access_end, "access", END, THREAD, "withdrawn", "", "", "data:x", "", \
	  "its answer; or its thread did not want it any more") \
	_(4, block, "wait", BEGIN, THREAD, "", "", "", "", "", \
	  "the access waits in the device") \
	_(5, wake, "wait", END, THREAD, "", "", "", "", "", \
	  "it can go on") \
	_(6, ring_block, "wait", BEGIN, THREAD, "", "", "", "reason", "", \
	  "a thread waits for room in its ring (2), or its turn among threads (3)") \
	_(7, ring_wake, "wait", END, THREAD, "", "", "", "", "", \
	  "it goes on") \
	_(8, produce, "queue", MOMENT, QUEUE_IN, "", "", "words", "level:l", "first", \
	  "words enter a queue; first is the number of the first of them") \
	_(9, consume, "queue", MOMENT, QUEUE_OUT, "", "", "words", "level:l", "first", \
	  "words leave it") \
	_(10, drop, "queue", MOMENT, QUEUE_OUT, "", "", "words", "by:w", "first", \
	  "an operation threw words away") \
	_(11, fetch, "memory", SLICE, MEMORY, "unit", "address:x", "bytes", "", "count", \
	  "a read of program memory") \
	_(12, store, "memory", SLICE, MEMORY, "unit", "address:x", "bytes", "", "count", \
	  "a write of program memory") \
	_(13, atomic, "memory", SLICE, MEMORY, "unit", "address:x", "bytes", "operation", "", \
	  "an atomic operation on program memory") \
	_(14, prefetch, "memory", INSTANT, MEMORY, "unit", "address:x", "", "", "count", \
	  "prefetches; the address is the first one's") \
	_(15, tlb_miss, "mmu", INSTANT, MMU, "unit", "address:x", "", "", "count", \
	  "translations that were not in the TLB; the address is the first one's") \
	_(16, page_fault, "mmu", INSTANT, MMU, "unit", "address:x", "writes", "answer:f", "", \
	  "an address that could not be translated or read") \
	_(17, resolve, "mmu", INSTANT, MMU, "unit", "address:x", "present", "", "", \
	  "a driver has resolved a fault that waited") \
	_(18, shootdown, "mmu", INSTANT, MMU, "unit", "start:x", "", "end:x", "", \
	  "translations of a range are dropped; end 0: all") \
	_(19, lima_begin, "lima", BEGIN, LIMA, "", "a:x", "mode", "b:x", "range:x", \
	  "a loop goes to work; range is begin << 32 | end") \
	_(20, lima_end, "lima", END, LIMA, "", "", "", "", "", \
	  "all of its indices are read, or it was dropped") \
	_(21, instruction_queued, "instruction", MOMENT, DISPATCH, "", "rs1:x", "", "word:x", "position", \
	  "an instruction is dispatched") \
	_(22, instruction, "instruction", SLICE, CONTEXT, "", "rs1:x", "outcome:o", "word:x", "position", \
	  "it executes") \
	_(23, instruction_dropped, "instruction", MOMENT, CONTEXT, "", "", "count", "", "", \
	  "instructions behind an error, or a reset") \
	_(24, command_queued, "command", MOMENT, COMMANDS, "", "rs1:x", "", "word:x", "number", \
	  "a command is dispatched") \
	_(25, command, "command", SLICE, UNIT, "", "rs1:x", "outcome:o", "word:x", "number", \
	  "it is at work; more than once, if it took long or had to wait") \
	_(26, command_dropped, "command", MOMENT, UNIT, "", "", "count", "", "number", \
	  "commands behind an error, or a reset; number is of the first") \
	_(27, dma_read, "dma", SLICE, UNIT, "", "address:x", "bytes", "", "rows", \
	  "the DMA of a unit reads program memory") \
	_(28, dma_write, "dma", SLICE, UNIT, "", "address:x", "bytes", "", "rows", \
	  "it writes program memory") \
	_(29, matrix, "matrix", SLICE, UNIT, "", "", "rows", "columns", "depth", \
	  "the array multiplies") \
	_(30, barrier_arrive, "barrier", INSTANT, CLUSTER, "barrier", "", "arrived", "participants", "", \
	  "a thread arrives at a barrier") \
	_(31, barrier_open, "barrier", INSTANT, CLUSTER, "barrier", "", "", "opened", "", \
	  "all have arrived") \
	_(32, thread, "thread", INSTANT, THREAD, "", "", "", "tid", "", \
	  "which thread of the program an owner is") \
	_(33, riq, "riq", SLICE, RIQ, "", "address:x", "prefetched", "word:x", "number", \
	  "an instruction waits in the queue before issue; how many of its rows were read ahead, and where the first one is") \
	_(34, lsu_load, "lsu", SLICE, LSU_LOADS, "", "address:x", "rows", "word:x", "number", \
	  "its rows are loaded: from its issue to the last answer") \
	_(35, lsu_store, "lsu", SLICE, LSU_STORES, "", "address:x", "rows", "word:x", "number", \
	  "its rows are sent to the LLC") \
	_(36, array, "array", SLICE, ARRAY, "", "", "latency", "word:x", "number", \
	  "the array takes the sources of an mma in; its result is there after the latency") \
	_(37, rfu_first_row, "rfu", INSTANT, RFU, "granted", "", "latency", "threshold", "number", \
	  "the first row that was read ahead is there: are the others worth it?") \
	_(38, rfu_threshold, "rfu", INSTANT, RFU, "", "", "", "threshold", "", \
	  "the filter has moved its threshold") \
	_(39, kernel, "kernel", SLICE, KERNEL, "", "m", "design", "n", "k", \
	  "a kernel of the modelled cluster, from its begin to its end") \
	_(40, warp_barrier, "warp", SLICE, WARP, "", "", "", "", "", \
	  "a warp waits at the barrier") \
	_(41, warp_wmma, "warp", SLICE, WARP, "", "", "", "", "", \
	  "it issues the micro-operations of a wmma") \
	_(42, warp_fence, "warp", SLICE, WARP, "", "", "", "", "", \
	  "its fence is the head of the LSU, and waits for answers") \
	_(43, engine_load, "engine", SLICE, ENGINE_LOAD, "", "to:x", "requests", "", "", \
	  "the DMA engine loads to shared memory, or to the accumulator") \
	_(44, engine_multiply, "engine", SLICE, ENGINE_ARRAY, "", "a:x", "passes", "b:x", "", \
	  "passes of the array; where A and B lie in shared memory") \
	_(45, engine_store, "engine", SLICE, ENGINE_STORE, "", "", "rows", "", "requests", \
	  "rows leave the accumulator, for memory or, without requests, for shared memory") \
	_(46, bank_conflict, "bank", INSTANT, BANK, "", "", "writes", "", "", \
	  "a bank of shared memory refuses a request") \
	_(47, bank_reads, "bank", SLICE, BANK_READS, "", "", "grants", "", "", \
	  "a bank grants reads: an array's, warps', threads'; gaps of up to 8 cycles are in it") \
	_(48, bank_writes, "bank", SLICE, BANK_WRITES, "", "", "grants", "", "", \
	  "likewise, writes") \
	_(49, bank_dma, "bank", SLICE, BANK_DMA, "", "", "grants", "", "", \
	  "likewise, writes of a DMA engine")

enum mimic_trace_kind {
	MIMIC_TRACE_KIND_NONE,
#define _(number, name, ...) MIMIC_TRACE_##name = number,
	MIMIC_TRACE_EVENTS(_)
#undef _
	MIMIC_TRACE_KIND_COUNT
};

/* Which operation dropped words: `value` of drop. _(number, NAME, text) */
#define MIMIC_TRACE_DROPS(_) \
	_(1, RESET, "RESET") \
	_(2, FIFO_CLEAR, "FIFO_CLEAR") \
	_(3, POWER_ON, "POWER_ON") \
	_(4, CLOSE, "CLOSE")

enum mimic_trace_drop {
#define _(number, NAME, text) MIMIC_TRACE_DROP_##NAME = number,
	MIMIC_TRACE_DROPS(_)
#undef _
};

/* How work ended: `size` of instruction and command. _(number, NAME, text) */
#define MIMIC_TRACE_OUTCOMES(_) \
	_(0, DONE, "done") \
	_(1, MORE, "goes on later") \
	_(2, FAULT, "page fault") \
	_(3, ERROR, "error")

enum mimic_trace_outcome {
#define _(number, NAME, text) MIMIC_TRACE_OUTCOME_##NAME = number,
	MIMIC_TRACE_OUTCOMES(_)
#undef _
};

/* One event, as it lies in a spool (libmimic/base/spool.h). */
struct mimic_trace_event {
	uint64_t time;		/* of the trace's clock */
	uint64_t duration;
	uint64_t owner;
	uint64_t address;
	uint64_t value;
	uint64_t id;
	uint32_t size;
	uint32_t order;		/* among those of one source that have one time */
	uint16_t device;
	uint16_t unit;
	uint16_t kind;		/* enum mimic_trace_kind; 0: nothing was written here */
	uint16_t reserved;
};

_Static_assert(sizeof(struct mimic_trace_event) == 64, "an event is a cache line");

/* Takes events, from any thread. */
struct mimic_trace {
	/* Never goes back on one thread. */
	uint64_t (*clock)(struct mimic_trace *trace);
	void (*write)(struct mimic_trace *trace, const struct mimic_trace_event *event);
};

/* Where events come from: a model, or its work on another thread. Its calls are serialised. */
struct mimic_trace_source {
	struct mimic_trace *trace;	/* NULL: there is none */
	uint64_t now;			/* the clock when it was last read */
	uint32_t order;
	uint16_t device;		/* the number that the trace has given it */
};

struct mimic_trace_description {
	const char *name;
	const char *category;
	enum mimic_trace_phase phase;
	enum mimic_trace_track track;
	const char *unit, *address, *size, *value, *id;
	const char *meaning;
};

/* By enum mimic_trace_kind. */
extern const struct mimic_trace_description mimic_trace_descriptions[MIMIC_TRACE_KIND_COUNT];

#ifdef STAP_PROBEV
/* How many have attached to a probe: tracers change it in our memory. */
extern uint16_t mimic_trace_semaphore __attribute__((visibility("hidden")));
/* <sys/sdt.h> has one for each probe: all are that one. */
#define _(number, name, ...) \
	extern uint16_t mimic_##name##_semaphore __attribute__((visibility("hidden")));
MIMIC_TRACE_EVENTS(_)
#undef _

static inline bool mimic_trace_has_probes(void)
{
	return __builtin_expect(__atomic_load_n(&mimic_trace_semaphore, __ATOMIC_RELAXED) != 0, 0);
}
#else
static inline bool mimic_trace_has_probes(void)
{
	return false;
}
#endif

static inline bool mimic_trace_is_on(const struct mimic_trace_source *source)
{
#ifdef MIMIC_WITHOUT_TRACE
	(void)source;
	return false;
#else
	return __builtin_expect(source->trace != NULL, 0);
#endif
}

/* Cold: their calls lie apart from the code that has no trace. */
__attribute__((cold)) uint64_t mimic_trace_look(struct mimic_trace_source *source);
__attribute__((cold)) void mimic_trace_write(struct mimic_trace_source *source, enum mimic_trace_kind kind,
					     uint64_t begin, const struct mimic_trace_event *event);

__attribute__((cold)) void mimic_trace_write_at(struct mimic_trace_source *source, enum mimic_trace_kind kind,
						uint64_t begin, uint64_t end, const struct mimic_trace_event *event);

/* A call of the model begins. Returns the time, which is 0 without a trace. */
static inline uint64_t mimic_trace_now(struct mimic_trace_source *source)
{
	return mimic_trace_is_on(source) || mimic_trace_has_probes() ? mimic_trace_look(source) : 0;
}

/* `begin_time`: of a slice, from mimic_trace_now(); of others 0, or their time. */
#define MIMIC_TRACE_FROM(source, begin_time, name, owner_, unit_, address_, size_, value_, id_) \
	do { \
		if (!mimic_trace_is_on(source)) \
			break; \
		MIMIC_TRACE_PROBE(name, (source)->device, owner_, unit_, address_, size_, value_, id_); \
		mimic_trace_write(source, MIMIC_TRACE_##name, begin_time, \
				  &(struct mimic_trace_event){ \
					  .owner = (owner_), .unit = (uint16_t)(unit_), \
					  .address = (address_), .size = (uint32_t)(size_), \
					  .value = (uint64_t)(value_), .id = (id_) }); \
	} while (0)

#define MIMIC_TRACE(source, name, owner, unit, address, size, value, id) \
	MIMIC_TRACE_FROM(source, 0, name, owner, unit, address, size, value, id)

/* Of a device that does its work later than the time in which it is: from `begin` to `end`, which are the same of an instant. */
#define MIMIC_TRACE_AT(source, begin, end, name, owner_, unit_, address_, size_, value_, id_) \
	do { \
		if (!mimic_trace_is_on(source)) \
			break; \
		MIMIC_TRACE_PROBE(name, (source)->device, owner_, unit_, address_, size_, value_, id_); \
		mimic_trace_write_at(source, MIMIC_TRACE_##name, begin, end, \
				     &(struct mimic_trace_event){ \
					     .owner = (owner_), .unit = (uint16_t)(unit_), \
					     .address = (address_), .size = (uint32_t)(size_), \
					     .value = (uint64_t)(value_), .id = (id_) }); \
	} while (0)

/* Page and offset of a register, in one argument. */
#define MIMIC_TRACE_REGISTER(access) ((uint64_t)(access)->page << 12 | (access)->offset)

/* `count` accesses to one register that are over. */
static inline void mimic_trace_accesses(struct mimic_trace_source *source, uint64_t begin,
					const struct mimic_access *access, uint64_t count)
{
	MIMIC_TRACE_FROM(source, begin, access, access->owner, access->is_write,
			 MIMIC_TRACE_REGISTER(access), access->size, access->data, count);
}

static inline void mimic_trace_blocks(struct mimic_trace_source *source, uint64_t begin,
				      const struct mimic_access *access)
{
	MIMIC_TRACE_FROM(source, begin, access_begin, access->owner, access->is_write,
			 MIMIC_TRACE_REGISTER(access), access->size, access->data, 0ull);
	MIMIC_TRACE(source, block, access->owner, 0, 0ull, 0u, 0ull, 0ull);
}

/* The access of `owner` that waited has its answer, or was withdrawn. */
static inline void mimic_trace_wakes(struct mimic_trace_source *source, uint64_t owner, uint64_t data,
				     bool is_withdrawn)
{
	MIMIC_TRACE(source, wake, owner, 0, 0ull, 0u, 0ull, 0ull);
	MIMIC_TRACE(source, access_end, owner, is_withdrawn, 0ull, 0u, data, 0ull);
}

#endif
