/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one MPU in time, and functions that several of its files call.
 *
 *   mpu.c         creation, cycles
 *   queue.c       dispatch: the queue before issue
 *   issue.c       scoreboard and window
 *   array.c       the systolic array
 *   lsu.c         load/store unit: LQ, SQ, ports of the LLC
 *   llc.c         LLC and memory
 *   riq.c         which rows of the RIQ are prefetched
 *   dmu.c         addresses of mgathers ahead of time: VMR, chains
 *   rfu.c         the filter and its threshold
 *   answers.c     answers on their way, ordered by time
 *   statistics.c
 *   trace.c       events of a trace
 */
#ifndef MIMIC_DARE_TIME_INTERNAL_H
#define MIMIC_DARE_TIME_INTERNAL_H

#include "devices/dare/time/mpu.h"
#include "devices/soc/cache.h"
#include "devices/soc/dram.h"

#define NEVER UINT64_MAX
#define LINE_SHIFT 6			/* a line holds the longest row */
#define UOPS_MAX (2 * DARE_ROWS)	/* a row may lie in two lines */
#define LSU_LOADS DARE_REGISTERS	/* issued and not all sent: each writes a register of its own */
#define ENTRIES (DARE_TIME_RIQ_MAX + LSU_LOADS + DARE_TIME_STORES_MAX)
#define NONE UINT16_MAX
#define RUNNING_MAX 128			/* mmas: each occupies the array for a cycle at least */
#define STORE_FILTER 256
#define RFU_BINS 256

enum entry_kind { ENTRY_CONFIGURE, ENTRY_LOAD, ENTRY_GATHER, ENTRY_STORE, ENTRY_SCATTER, ENTRY_MULTIPLY };

/* Of an mgather: are the addresses known ahead of its issue? */
enum chain_state {
	CHAIN_NONE,		/* no, and they will not be: nothing is prefetched */
	CHAIN_WAITS,		/* the DMU has no VMR entry for its producer yet */
	CHAIN_FETCHES,		/* its producer's rows are being fetched to the VMR */
	CHAIN_READY,
	CHAIN_OVER,		/* it needs its VMR entry no longer */
};

/* One row, or the part of it that lies in one line. */
struct uop {
	uint64_t line;
	bool is_whole;		/* all of the line */
};

/* An instruction from its dispatch until its last row is back (load) or sent (store), or it issues (mma). */
struct entry {
	uint64_t sequence;	/* in program order */
	uint32_t generation;	/* of the entry in the place */
	uint16_t older, newer;	/* in the queue, or of free places: newer */
	uint16_t candidate_older, candidate_newer;
	uint8_t kind;		/* enum entry_kind */
	uint8_t md;
	uint8_t reads, writes;	/* registers, one bit each */
	uint8_t uop_count;
	uint8_t sent;		/* of the demand */
	uint8_t back;
	/* runahead */
	uint8_t next;		/* the next row to prefetch */
	uint8_t prefetched;	/* answers that count for the VMR */
	uint8_t restarts;	/* answers from before are of an older number */
	uint8_t chain;		/* enum chain_state */
	bool is_queued;
	bool is_candidate;
	bool tentative_sent, granted;
	uint16_t vmr_in;	/* where its addresses come from, NONE: nowhere */
	uint16_t vmr_out;	/* where its rows go to */
	uint16_t next_consumer;	/* of the same VMR entry */
	uint32_t occupancy, latency;	/* of an mma */
	uint32_t macs;
	uint64_t issued;	/* when a load issued */
	uint64_t first_wait;	/* since when the next row is the LSU's next */
	uint64_t lines;		/* a filter: one bit for each line, by a hash of its number */
	struct uop uop[UOPS_MAX];
};

/* A VMR entry holds the rows of one producer for the mgathers that read them. */
struct vmr {
	uint16_t producer;	/* NONE: it has issued */
	uint16_t consumers;	/* that need it */
	uint16_t first_consumer;
	bool is_taken;
	bool is_complete;	/* all rows are there */
};

struct answer {
	uint64_t line;		/* of a store */
	uint64_t sequence;	/* of a store's instruction */
	uint32_t generation;
	uint32_t latency;	/* from the port */
	uint16_t entry;
	uint8_t restarts;
	bool is_prefetch;
};

#define ANSWERS_MAX 256

/*
 * The earliest first; of two at one time, the one that was sent first. A ring of times, beside it where each
 * answer is: most are the last when they come, or among the first (a hit), and the answers between one
 * and the nearer end are moved by one. The rest of the ring has the places that are free.
 */
struct answers {
	uint64_t time[ANSWERS_MAX];
	uint16_t place[ANSWERS_MAX];
	struct answer answer[ANSWERS_MAX];
	unsigned int first, count;
};

_Static_assert(DARE_TIME_LQ_MAX <= ANSWERS_MAX && DARE_TIME_SQ_MAX <= ANSWERS_MAX, "room for all");

/* An mma in the array. */
struct running {
	uint64_t read_end, write_end;
	uint8_t sources;	/* registers, one bit each */
	uint8_t md;
	bool reads;		/* read_end is not over */
};

struct llc {
	struct mimic_cache cache;
	struct mimic_dram dram;
	uint64_t miss_end[1024];	/* when the misses on their way end, ascending: a ring */
	unsigned int miss_first, misses;
};

struct rfu {
	uint64_t threshold;
	uint16_t count[RFU_BINS];
	uint64_t peak_count;	/* a bin with as many is a peak */
	uint64_t peaks[RFU_BINS / 64];	/* one bit each */
	uint8_t ring[DARE_TIME_RFU_WINDOW_MAX];		/* bins of the latest latencies */
	unsigned int at, filled;
};

/* Of an entry, while there is a trace. */
struct traced {
	uint64_t since;		/* it is in this place */
	uint32_t word;
	uint16_t riq_place;	/* of the queue's places, the lowest that was free */
	enum { TRACED_NOWHERE, TRACED_QUEUE, TRACED_LSU } place;
};

enum side { SIDE_DEMAND, SIDE_PREFETCH };

struct dare_mpu {
	struct dare_time_parameters parameters;
	unsigned int queue_room;	/* places before issue */
	uint64_t now;			/* the last cycle that was done */
	uint64_t next;			/* the next one in which something can happen */
	uint64_t sequence;
	uint64_t dispatch_cycle;	/* of the latest dispatch */
	unsigned int dispatches;	/* in it */
	/* the queue before issue: the RIQ, or the base's queue in its place */
	struct entry entry[ENTRIES];
	uint16_t free_entry;
	uint16_t oldest, newest;
	unsigned int queued;
	/* scoreboard, by register, and those that have any as one bit each */
	uint16_t loads_to[DARE_REGISTERS];	/* loads that write it */
	uint16_t mmas_to[DARE_REGISTERS];	/* mmas that do */
	uint16_t readers[DARE_REGISTERS];
	uint8_t written_by_loads, written_by_mmas, read;
	bool may_issue;			/* something has changed since nothing could */
	bool has_progress;		/* in this cycle */
	/* array */
	struct running running[RUNNING_MAX];
	unsigned int running_count;
	uint64_t array_next;		/* if any runs: when one next ends to read or to write */
	uint64_t array_free;
	/* load/store unit */
	uint16_t loads[LSU_LOADS], stores[DARE_TIME_STORES_MAX];	/* issued and not all sent, the next one first */
	unsigned int load_count, store_count;
	unsigned int loads_open;	/* instructions whose rows are not all back */
	struct answers lq, sq;
	uint16_t store_filter[STORE_FILTER];	/* rows of issued stores that are not in the LLC, by their lines */
	enum side last_side;
	bool has_ports;			/* more than one to read or to write, so that banks matter */
	uint64_t read_banks, write_banks;	/* whose ports were taken in this cycle */
	struct llc llc;
	/* runahead */
	uint16_t oldest_candidate, newest_candidate;
	struct vmr vmr[DARE_TIME_VMR_MAX];
	unsigned int vmr_taken;
	struct rfu rfu;
	struct dare_time_statistics statistics;
	uint64_t mma, macs;		/* that the array began */
	uint64_t counted_until;
	struct mimic_trace_source *trace;	/* of the model; NULL: it has none */
	struct traced traced[ENTRIES];
	uint64_t traced_stores;		/* when the rows of the last store were sent */
};

/* One more or less that holds a register: `held` has a bit for each that is held. */
static inline void hold_register(uint16_t *holders, uint8_t *held, unsigned int number)
{
	holders[number]++;
	*held |= (uint8_t)(1u << number);
}

static inline void release_register(uint16_t *holders, uint8_t *held, unsigned int number)
{
	if (!--holders[number])
		*held &= (uint8_t)~(1u << number);
}

/* Of the registers whose bits are set. */
static inline void hold_sources(struct dare_mpu *mpu, uint8_t registers)
{
	for (; registers; registers &= (uint8_t)(registers - 1))
		hold_register(mpu->readers, &mpu->read, (unsigned int)__builtin_ctz(registers));
}

static inline void release_sources(struct dare_mpu *mpu, uint8_t registers)
{
	for (; registers; registers &= (uint8_t)(registers - 1))
		release_register(mpu->readers, &mpu->read, (unsigned int)__builtin_ctz(registers));
}

/* When the first of them is there. */
static inline uint64_t answers_next(const struct answers *answers)
{
	return answers->count ? answers->time[answers->first] : NEVER;
}

/* The n-th of them. */
static inline const struct answer *answer_at(const struct answers *answers, unsigned int n)
{
	return &answers->answer[answers->place[(answers->first + n) % ANSWERS_MAX]];
}

static inline unsigned int store_filter_of(uint64_t line)
{
	return (unsigned int)(line ^ line >> 8) % STORE_FILTER;
}

static inline bool is_load(const struct entry *entry)
{
	return entry->kind == ENTRY_LOAD || entry->kind == ENTRY_GATHER;
}

static inline bool is_store(const struct entry *entry)
{
	return entry->kind == ENTRY_STORE || entry->kind == ENTRY_SCATTER;
}

static inline uint16_t number_of(const struct dare_mpu *mpu, const struct entry *entry)
{
	return (uint16_t)(entry - mpu->entry);
}

/* queue.c */
void dare_time_queue_init(struct dare_mpu *mpu);
bool dare_time_queue_has_room(const struct dare_mpu *mpu, const struct dare_dispatched *instruction);
void dare_time_queue_put(struct dare_mpu *mpu, const struct dare_dispatched *instruction);
/* It is no longer before issue; its place stays taken. */
void dare_time_queue_remove(struct dare_mpu *mpu, struct entry *entry);
void dare_time_queue_free(struct dare_mpu *mpu, struct entry *entry);

/* issue.c */
void dare_time_issue(struct dare_mpu *mpu);

/* array.c */
void dare_time_array_shape(const struct dare_mpu *mpu, const struct dare_dispatched *instruction,
			   struct entry *entry);
void dare_time_array_begin(struct dare_mpu *mpu, const struct entry *entry);
void dare_time_array_end(struct dare_mpu *mpu);

/* lsu.c */
void dare_time_lsu_issue(struct dare_mpu *mpu, struct entry *entry);
void dare_time_lsu_answers(struct dare_mpu *mpu);
void dare_time_lsu_send(struct dare_mpu *mpu);

/* llc.c */
enum llc_place { LLC_THERE, LLC_ON_ITS_WAY, LLC_MISS };
int dare_time_llc_init(struct dare_mpu *mpu);
void dare_time_llc_free(struct dare_mpu *mpu);
/* Could a row go to the LLC now? Not if it would miss and all MSHRs are taken. */
bool dare_time_llc_may_send(struct dare_mpu *mpu, const struct uop *uop, bool is_write);
uint64_t dare_time_llc_read(struct dare_mpu *mpu, const struct uop *uop, enum llc_place *place);
uint64_t dare_time_llc_write(struct dare_mpu *mpu, const struct uop *uop);

/* riq.c */
void dare_time_riq_enter(struct dare_mpu *mpu, struct entry *entry);
void dare_time_riq_leave(struct dare_mpu *mpu, struct entry *entry);
/* It may have become one of those whose rows are prefetched, or have ceased to be. */
void dare_time_riq_update(struct dare_mpu *mpu, struct entry *entry);
void dare_time_riq_answer(struct dare_mpu *mpu, const struct answer *answer);

/* dmu.c */
void dare_time_dmu_enter(struct dare_mpu *mpu, struct entry *entry);
void dare_time_dmu_leave(struct dare_mpu *mpu, struct entry *entry);
/* All rows of a producer are in the VMR. */
void dare_time_dmu_fetched(struct dare_mpu *mpu, struct entry *entry);
/* An mgather needs its addresses no longer. */
void dare_time_dmu_release(struct dare_mpu *mpu, struct entry *entry);

/* rfu.c */
void dare_time_rfu_init(struct dare_mpu *mpu);
void dare_time_rfu_add(struct dare_mpu *mpu, uint64_t latency);

/* answers.c */
void dare_time_answers_init(struct answers *answers);
void dare_time_answers_add(struct answers *answers, uint64_t time, const struct answer *answer);
/* The earliest one, which stays where it is until the next one is added. */
const struct answer *dare_time_answers_take(struct answers *answers);

/* trace.c: only if it is traced */
static inline bool is_traced(const struct dare_mpu *mpu)
{
	return __builtin_expect(mpu->trace && mimic_trace_is_on(mpu->trace), 0);
}
__attribute__((cold)) void dare_time_trace_dispatch(struct dare_mpu *mpu, const struct entry *entry,
						    const struct dare_fields *fields);
__attribute__((cold)) void dare_time_trace_issue(struct dare_mpu *mpu, const struct entry *entry);
__attribute__((cold)) void dare_time_trace_load(struct dare_mpu *mpu, const struct entry *entry);
__attribute__((cold)) void dare_time_trace_store(struct dare_mpu *mpu, const struct entry *entry);
__attribute__((cold)) void dare_time_trace_array(struct dare_mpu *mpu, const struct entry *entry);
/* The filter has judged it. */
__attribute__((cold)) void dare_time_trace_first_row(struct dare_mpu *mpu, const struct entry *entry,
						     uint32_t latency);
__attribute__((cold)) void dare_time_trace_threshold(struct dare_mpu *mpu);
__attribute__((cold)) void dare_time_trace_drop(struct dare_mpu *mpu);

/* statistics.c */
/* Before anything changes at a later time. */
void dare_time_count_until(struct dare_mpu *mpu, uint64_t now);

#endif
