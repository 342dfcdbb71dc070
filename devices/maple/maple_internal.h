/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one MAPLE, and functions that several of its files call.
 *
 *   model.c    creation, decoding, the model's operations
 *   queue.c    the queue controller: allocation, roles, words, waiting accesses
 *   produce.c  the produce pipeline: data, pointers, prefetches
 *   atomic.c   atomics and compare-and-swap
 *   fetch.c    addresses to words: TLB, memory port, page faults
 *   lima.c     loops of indirect memory accesses
 *   mmu.c      the MMU page
 *   pace.c     steps in virtual time
 *   observe.c  statistics, debug words, counters, views
 *   custom.c   the custom accelerator page
 *   save.c     images of the state
 */
#ifndef MIMIC_MAPLE_INTERNAL_H
#define MIMIC_MAPLE_INTERNAL_H

#include <string.h>

#include "devices/maple/maple_model.h"
#include "devices/soc/tlb.h"

#define CUSTOM_MAX 64
#define FETCH_BLOCK 64		/* addresses handled in one go */
#define CHUNK_WORDS (MAPLE_LIMA_CHUNK_BYTES / 4)
#define PREFETCH_BUDGET 4096	/* LIMA prefetches in one call: about 50 us */

/* Outcome of one step of a store: acknowledged, or it has to wait. */
enum step { STEP_DONE, STEP_WAIT };

/* The result that LIMA makes of a word; the low bits of operations 48 to 54. */
enum lima_mode {
	LIMA_MODE_POINTER32 = 0,
	LIMA_MODE_POINTER64 = 1,
	LIMA_MODE_PRODUCE = 2,
	LIMA_MODE_LLC32 = 4,
	LIMA_MODE_LLC64 = 5,
	LIMA_MODE_PREFETCH64 = 6,
	LIMA_MODE_PREFETCH32 = 7,	/* paper profile only */
};

struct lima_loop {
	uint64_t a;
	uint64_t b;
	uint32_t next;
	uint32_t end;
	uint32_t mode;
	uint32_t coherent;	/* B is read through the LLC */
};

struct lima_chunk {
	uint64_t a;
	uint32_t mode;
	uint32_t count;
	uint32_t position;
	uint32_t index[CHUNK_WORDS];
};

/* Time a side of a queue spent open and idle, and waiting: statistics. */
struct side_clock {
	uint64_t since;
	uint64_t idle;
	uint64_t waiting;
	bool open;
	bool is_waiting;
};

struct parked {
	bool valid;
	bool abandoned;		/* the thread that could have ended the wait has ended */
	struct mimic_access access;
};

/* A fault that a driver has resolved: if the walk fails again the address is bad. */
struct resolved {
	bool valid;
	uint64_t page;
};

struct maple_queue {
	bool allocated;
	bool hung;
	bool base_set;
	bool cas1_valid;	/* the last operation of the queue was CAS1 */
	bool loop_active;
	bool half_done;		/* of store.access, a double pointer: it stalls, or was taken back */
	uint8_t base_shift;
	uint16_t first;		/* word of the scratchpad */
	uint16_t size;		/* words */
	uint16_t reserved_words;	/* of the scratchpad; more than size where depth_64 caps it */
	uint16_t head;		/* next word to pop, from `first` on */
	uint16_t tail;		/* next word to fill */
	uint16_t level;		/* words in use */
	uint16_t pending;	/* of these, words that memory still owes */
	uint64_t producer;
	uint64_t consumer;
	uint64_t base;
	uint64_t cas1;
	uint64_t lima_a;	/* paper profile: A and B of this queue */
	uint64_t lima_b;
	struct resolved resolved[2];	/* pipes, LIMA */
	uint64_t bad_half;	/* address of a split fetch whose first half reads 0, 0: none */
	struct parked store;
	struct parked load;
	struct side_clock producer_clock;
	struct side_clock consumer_clock;
	uint64_t popped;
	/* LIMA: loops that wait, the one at work, and its chunks of B */
	struct lima_loop active;
	uint32_t loops_first;
	uint32_t loops_count;
	uint32_t chunks_first;
	uint32_t chunks_count;
};

/* A fetch whose data is not there yet. */
struct pending_fetch {
	uint64_t tag;
	uint64_t address;
	uint16_t queue;
	uint16_t slot;		/* scratchpad word; the second one follows in the ring */
	uint16_t words;		/* 1 or 2; 0: free */
	uint16_t stale;		/* its queue was dropped since */
	uint32_t tlb_hit;	/* the walk was not this one's: mend the counters if it faults */
	uint32_t source;	/* enum maple_fault_source */
};

struct stall {
	bool stalled;
	bool writes;
	uint8_t queue;		/* whose operation waits; MAPLE_MAX_QUEUES: it was withdrawn */
	uint64_t page;
};

/* The part of the device that asks for an address. */
struct requester {
	uint8_t queue;
	uint8_t source;		/* enum maple_fault_source */
	bool writes;
};

struct custom_fifo {
	uint64_t data[CUSTOM_MAX];
	uint32_t first;
	uint32_t count;
};

/* Everything that save() keeps. No pointers in here. */
struct maple_state {
	struct mimic_tlb tlb;
	uint64_t now;
	uint64_t counters[MAPLE_COUNTER_COUNT];
	struct maple_queue queue[MAPLE_MAX_QUEUES];
	uint32_t words[MAPLE_MAX_WORDS];
	bool word_pending[MAPLE_MAX_WORDS];
	uint32_t pending_count;
	uint32_t stale_count;
	uint64_t next_tag;
	struct pending_fetch pending[MAPLE_MAX_WORDS];
	/* LIMA as the artifact has it: one A for all queues */
	uint64_t tile_a;
	uint32_t tile_mode;
	bool tile_a_set;
	bool tile_b_coherent;
	/* MMU */
	bool translation;
	bool interrupt_waived;
	uint8_t armed;			/* sources whose fault was read */
	uint8_t fault_source;		/* of the last fault that nobody resolved, 0: none */
	bool fault_writes;
	uint32_t interrupt_route;
	uint64_t root;
	uint64_t fault_page;
	uint64_t fault_address;
	uint64_t faults_since_reset;
	struct stall stall[2];		/* pipes, LIMA */
	uint32_t snoop_index;
	uint32_t statistics_index;
	uint64_t tile_pops;
	uint32_t lima_turn;		/* round robin */
	struct custom_fifo commands;
	struct custom_fifo responses;
};

struct maple {
	struct mimic_model model;	/* first: others hold a pointer to it */
	struct mimic_host host;
	struct maple_config config;
	unsigned int queue_mask;	/* the bits of an offset's field that say which queue */
	/* By bit, operations of stores, of which a store asks each time: those of the produce pipeline, and those that may wait. */
	uint64_t produces;
	uint64_t may_wait;
	struct maple_state state;
	/* config.queues times config.lima_chunks chunks, then config.lima_loops loops */
	struct lima_chunk *chunks;
	struct lima_loop *loops;
	unsigned int prefetch_budget;	/* left of this call's; other work ends with the queue's room */
	bool unfinished;		/* it was used up */
	uint64_t pushed[MAPLE_MAX_QUEUES];	/* words, ever: their numbers in a trace */
};

static inline struct maple *maple_of(struct mimic_model *model)
{
	return (struct maple *)model;
}

static inline bool has_quirk(const struct maple *m, enum maple_quirk quirk)
{
	return m->config.quirks & quirk;
}

static inline void count(struct maple *m, enum maple_counter counter, uint64_t n)
{
	m->state.counters[counter] += n;
}

/* Words of a queue in a trace: after they were pushed, after they were popped, before they are dropped. */
static inline void trace_produce(struct maple *m, const struct maple_queue *q, unsigned int words)
{
	unsigned int number = (unsigned int)(q - m->state.queue);

	MIMIC_TRACE(&m->model.trace, produce, q->producer, number, 0ull, words, q->level,
		    m->pushed[number]);
	m->pushed[number] += words;
}

static inline void trace_consume(struct maple *m, const struct maple_queue *q, unsigned int words)
{
	unsigned int number = (unsigned int)(q - m->state.queue);

	MIMIC_TRACE(&m->model.trace, consume, q->consumer, number, 0ull, words, q->level,
		    m->pushed[number] - q->level - words);
}

static inline void trace_drop(struct maple *m, const struct maple_queue *q, enum mimic_trace_drop by)
{
	unsigned int number = (unsigned int)(q - m->state.queue);

	if (q->level)
		MIMIC_TRACE(&m->model.trace, drop, 0ull, number, 0ull, q->level, by,
			    m->pushed[number] - q->level);
}

static inline void trace_shootdown(struct maple *m, uint64_t start, uint64_t end)
{
	MIMIC_TRACE(&m->model.trace, shootdown, 0ull, 0, start, 0u, end, 0ull);
}

/* pace.c: cold, so that they lie apart from the code that has no pace. */
__attribute__((cold)) size_t maple_pace_ask(struct maple *m, unsigned int number, enum maple_step step,
					    size_t n);
__attribute__((cold)) void maple_pace_tell(struct maple *m, unsigned int number, enum maple_step step,
					   size_t n);
__attribute__((cold)) size_t maple_pace_fetch(struct maple *m, unsigned int number, uint64_t *addresses,
					      size_t n, unsigned int size, enum maple_step step);
__attribute__((cold)) void maple_pace_drop(struct maple *m, unsigned int number);

static inline bool is_paced(const struct maple *m)
{
	return __builtin_expect(m->host.pace != NULL, 0);
}

/* How many of `n` steps may be done now. */
static inline size_t pace_begin(struct maple *m, unsigned int number, enum maple_step step, size_t n)
{
	return is_paced(m) ? maple_pace_ask(m, number, step, n) : n;
}

static inline void pace_end(struct maple *m, unsigned int number, enum maple_step step, size_t n)
{
	if (is_paced(m))
		maple_pace_tell(m, number, step, n);
}

static inline uint64_t address_mask(const struct maple *m)
{
	return m->config.address_bits >= 64 ? ~0ull : (1ull << m->config.address_bits) - 1;
}

static inline uint64_t low_bytes(uint64_t value, unsigned int size)
{
	return size >= 8 ? value : value & ((1ull << (8 * size)) - 1);
}

static inline bool lima_backlog(const struct maple_queue *q)
{
	return q->loop_active || q->loops_count || q->chunks_count;
}

/* queue.c */
/* The artifact decodes as many bits as its queues need: with four, bits [10:9]. NULL: there is no such queue. */
static inline struct maple_queue *maple_queue_of(struct maple *m, unsigned int field, unsigned int *number)
{
	*number = field & m->queue_mask;
	if (*number >= m->config.queues)
		return NULL;
	return m->state.queue[*number].allocated ? &m->state.queue[*number] : NULL;
}

unsigned int maple_queues_allocated(const struct maple *m);
uint64_t maple_connection_answer(const struct maple *m, const struct maple_queue *q, uint64_t owner,
				 uint64_t low);
uint64_t maple_queue_init_all(struct maple *m, unsigned int size_code);
uint64_t maple_queue_add(struct maple *m, unsigned int size_code);
uint64_t maple_queue_clear(struct maple *m, unsigned int number, uint64_t owner);
uint64_t maple_queue_open(struct maple *m, unsigned int number, uint64_t owner, bool producer);
uint64_t maple_queue_close(struct maple *m, unsigned int number, uint64_t owner, bool producer);
void maple_queue_drop(struct maple *m, unsigned int number, uint64_t load_answer, enum mimic_trace_drop by);
static inline unsigned int maple_queue_room(const struct maple_queue *q)
{
	return q->size - (unsigned int)q->level;
}

void maple_queue_push(struct maple *m, struct maple_queue *q, uint32_t word, bool pending);
/* `n` values of `size` (4 or 8) bytes; the queue must have room. */
void maple_queue_push_many(struct maple *m, struct maple_queue *q, unsigned int size,
			   const uint64_t *values, size_t n);
size_t maple_queue_pop_many(struct maple *m, struct maple_queue *q, unsigned int words, void *values,
			    size_t wanted);
void maple_queue_park_store(struct maple *m, struct maple_queue *q, const struct mimic_access *access);
void maple_queue_park_load(struct maple *m, struct maple_queue *q, const struct mimic_access *access);
/* It ends, and leaves undone what it has not done: its fault is nobody's any more. */
void maple_queue_abandon_store(struct maple *m, unsigned int number);
/* Everything of this queue that can go on goes on: LIMA, the waiting store, the waiting load. */
void maple_queue_progress(struct maple *m, unsigned int number);
/* The same after a load or a store, where mostly there is nothing. */
static inline void maple_queue_progress_if_waits(struct maple *m, struct maple_queue *q, unsigned int number)
{
	if (q->store.valid || q->load.valid || lima_backlog(q))
		maple_queue_progress(m, number);
}
void maple_progress_all(struct maple *m);
void maple_queue_clocks(struct maple *m, struct maple_queue *q);

/* produce.c */
bool maple_store_is_produce(const struct maple *m, unsigned int operation);
enum step maple_produce_step(struct maple *m, unsigned int number, const struct mimic_access *access);
size_t maple_produce_many(struct maple *m, unsigned int number, const struct mimic_access *pattern,
			  const uint64_t *values, size_t n);

/* atomic.c */
enum step maple_atomic_step(struct maple *m, unsigned int number, unsigned int operation,
			    uint64_t payload);

/* fetch.c */
enum fetch_path { FETCH_DRAM, FETCH_LLC };
/*
 * Fetches `n` (up to FETCH_BLOCK) values of `size` bytes into the queue, which
 * must have room. Returns how many are done: fewer only when a fault stalls.
 * Destroys addresses[].
 */
size_t maple_fetch_into_queue(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
			      unsigned int size, enum maple_fault_source source);
/* The same for one value. false: a fault stalls it. */
bool maple_fetch_value(struct maple *m, unsigned int number, uint64_t address, unsigned int size,
		       enum maple_fault_source source);
/* As the first, as far as its pace lets it go. */
static inline size_t fetch_at_pace(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
				   unsigned int size, enum maple_step step)
{
	if (is_paced(m))
		return maple_pace_fetch(m, number, addresses, n, size, step);
	return maple_fetch_into_queue(m, number, addresses, n, size,
				      step < MAPLE_STEP_LIMA_CHUNK ? MAPLE_FAULT_PIPES : MAPLE_FAULT_LIMA);
}
/* 0: *physical is set; -EFAULT: bad address, counted; -EAGAIN: stalled. */
int maple_translate(struct maple *m, uint64_t address, struct requester who, uint64_t *physical,
		    bool *hit);
/* A read of a translated address failed. -EFAULT: bad; -EAGAIN: stalled; 0: try again. */
int maple_read_failed(struct maple *m, uint64_t address, struct requester who);
/* It did not: a later fault on this page is a new one, for a driver to see. */
void maple_read_succeeded(struct maple *m, uint64_t address, struct requester who);
void maple_prefetch_address(struct maple *m, uint64_t address, enum maple_fault_source source);

/* lima.c */
void maple_lima_configure_tile(struct maple *m, unsigned int operation, unsigned int field, uint64_t a);
/* The payload of a LOOP store, with the tile's or the queue's own A and B. */
enum step maple_lima_push_tile(struct maple *m, unsigned int number, uint64_t payload);
enum step maple_lima_push_queue(struct maple *m, unsigned int number, unsigned int operation,
				uint64_t payload);
bool maple_lima_advance(struct maple *m, unsigned int number);
void maple_lima_drop(struct maple_queue *q);

/* mmu.c */
uint64_t maple_mmu_load(struct maple *m, unsigned int field);
void maple_mmu_store(struct maple *m, unsigned int field, uint64_t payload);
void maple_mmu_reset(struct maple *m);
struct stall *maple_mmu_stall(struct maple *m, enum maple_fault_source source);
void maple_mmu_latch(struct maple *m, uint64_t address, enum maple_fault_source source, bool writes);
/* Tries stalled accesses again. None has made progress yet. */
void maple_mmu_retry(struct maple *m);
/* As the fault load, with MAPLE_FAULT_WRITES and MAPLE_FAULT_STALLED. */
uint64_t maple_mmu_fault_status(struct maple *m);
/* Forgets the access of this source on which the queue is stalled. */
void maple_mmu_forget(struct maple *m, unsigned int number, enum maple_fault_source source);

/* observe.c */
uint64_t maple_statistics_load(struct maple *m, const struct maple_queue *q);
uint64_t maple_debug_load(const struct maple *m, unsigned int field);
uint64_t maple_extension_load(const struct maple *m, unsigned int operation, unsigned int number);
size_t maple_counters_read(const struct mimic_model *model, uint64_t *values, size_t n);
void maple_counters_clear(struct mimic_model *model);
size_t maple_describe(const struct mimic_model *model, char *text, size_t size);

/* custom.c */
void maple_custom_store(struct maple *m, uint64_t data);
uint64_t maple_custom_load(struct maple *m);
bool maple_custom_hijack(const struct maple *m, uint64_t *answer);

/* save.c */
size_t maple_save(const struct mimic_model *model, void *image, size_t size);
int maple_restore(struct mimic_model *model, const void *image, size_t size);

/* loads.c: any register but the words of a queue to its consumer. An offset without a register answers 0. */
uint64_t maple_configuration_load(struct maple *m, struct mimic_access *access);
/* stores.c: any register but those of a queue to its producer. */
void maple_configuration_store(struct maple *m, struct mimic_access *access);

#endif
