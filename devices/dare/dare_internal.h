/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one DARE, and functions that several of its files call.
 *
 *   model.c    creation, which page an access goes to, the model's operations
 *   context.c  registers of a context
 *   parked.c   accesses that wait
 *   queue.c    the instruction queue: dispatch, STREAM, dependencies, completion, errors
 *   direct.c   instructions that are never in the queue
 *   decoded.c  words that were decoded before
 *   execute.c  one instruction
 *   watch.c    tells virtual time of it
 *   memory.c   tiles to memory requests, TLB, page faults
 *   in_page.c  tiles that lie in one page
 *   compute.c  mma: operands, kernels of each kind of processor (compute_kernels.h)
 *   control.c  page 0
 *   observe.c  counters, descriptions, views
 *   save.c     images of the state
 *   isa.c      instruction words
 *
 * Models are linked into one library: functions that several files here use are called
 * mpu_something, or dare_something if others use it too.
 */
#ifndef MIMIC_DARE_INTERNAL_H
#define MIMIC_DARE_INTERNAL_H

#include <string.h>

#include "devices/dare/dare_model.h"
#include "devices/dare/isa.h"
#include "devices/soc/tlb.h"

#define PARKED_MAX 512
#define REQUESTS_MAX (2 * DARE_ROWS)	/* a row may lie in two pages */
#define CALL_BUDGET 16			/* instructions that one call finishes for others */
#define RETRIES_MAX 8			/* answers MIMIC_FAULT_RETRY to one request */

/* Outcome of one step of a store: acknowledged, or it has to wait. */
enum step { STEP_DONE, STEP_WAIT };

/* The result of one attempt to execute an instruction. */
enum result { RESULT_COMPLETE, RESULT_STALLED, RESULT_FAILED };

/* An instruction in the queue. */
struct queue_entry {
	uint64_t position;	/* its number since the last reset */
	uint64_t rs1;
	uint64_t rs2;
	uint32_t word;
	uint8_t operation;	/* enum dare_operation; DARE_OPERATION_COUNT: an illegal word */
	uint8_t md;
	uint8_t ms1;
	uint8_t ms2;
	uint8_t reads;		/* matrix registers, one bit each */
	uint8_t writes;
	uint8_t raw;		/* of these, the ones that an older entry has still to write or read */
	uint8_t war;
	uint8_t waw;
	uint8_t started;	/* its requests are in the context; it is the head */
	uint8_t rows;		/* that have requests; fewer than matrix_m: the next one is misaligned */
	uint8_t reserved;
};

#define DECODED_MAX 256

/* A word that was decoded before. */
struct decoded {
	uint32_t word;
	uint8_t is_filled;
	uint8_t operands;	/* values that follow it in STREAM */
	uint8_t operation;
	uint8_t format;		/* enum dare_format; not of an illegal word */
	uint8_t alignment;	/* bits of an address that must be 0 */
	uint8_t md;
	uint8_t ms1;
	uint8_t ms2;
	uint8_t reads;
	uint8_t writes;
};

/* A row of a tile, or the part of it that lies in one page. */
struct memory_request {
	uint64_t address;
	uint64_t physical;
	uint8_t row;
	uint8_t offset;		/* in the row */
	uint8_t bytes;
	uint8_t retries;
	uint32_t reserved;
};

/* Everything of a context that save() keeps. No pointers in here. */
struct dare_context {
	/*
	 * The matrix registers and one more: rows that a load has read so far lie there, for md changes when
	 * all of them are there. Then the two change places (struct places). In an image each register has
	 * its own place.
	 */
	uint8_t tile[DARE_REGISTERS + 1][DARE_ROWS][DARE_ROW_BYTES] __attribute__((aligned(64)));
	struct mimic_tlb tlb;
	uint64_t counters[DARE_COUNTER_COUNT];
	uint64_t address_space;		/* 0: detached */
	uint64_t rs1;
	uint64_t rs2;
	uint32_t csr[DARE_CSR_COUNT];
	uint32_t parked_stores;		/* of the device's list, the ones of this context */
	uint64_t dispatched;
	uint64_t completed;
	/* STREAM: an instruction of which values are still missing */
	uint64_t stream_owner;
	uint64_t stream_rs1;
	uint32_t stream_word;
	uint32_t stream_missing;
	uint32_t error;			/* enum dare_error */
	uint32_t error_instruction;
	uint64_t error_position;
	uint64_t error_address;
	uint32_t error_row;
	/* The head waits for RESOLVE, for this page. */
	uint32_t stalled;
	uint64_t stall_page;
	uint64_t stall_order;
	uint32_t stall_writes;
	/* Requests of the head: those before request_next are done. */
	uint32_t request_count;
	uint32_t request_next;
	uint32_t queue_first;
	uint32_t queue_level;
	uint32_t parked_fences;
	struct queue_entry queue[DARE_MAX_QUEUE];
	struct memory_request request[REQUESTS_MAX];
};

enum parked_kind { PARKED_INSTRUCTION, PARKED_STREAM, PARKED_FENCE };

/* An access that waits. */
struct parked {
	uint64_t owner;
	uint64_t value;		/* stored; a fence: the position before which all must be complete */
	uint64_t rs1;		/* of INSTRUCTION, as they were when it was stored */
	uint64_t rs2;
	uint8_t context;
	uint8_t kind;
	uint8_t size;
	uint8_t over;		/* answered; off the list when the call ends */
	uint32_t reserved;
};

struct dare_state {
	uint64_t now;
	uint64_t fault_count;
	uint64_t stall_order;
	uint64_t illegal;			/* accesses that concern no context */
	uint64_t retired[DARE_COUNTER_COUNT];	/* of contexts, before they were attached anew */
	uint32_t parked_count;
	uint32_t reserved;
	struct parked parked[PARKED_MAX];	/* the one that came first, first */
};

enum element_kind { ELEMENT_FP32, ELEMENT_BF16, ELEMENT_INT8, ELEMENT_KINDS };

#define ELEMENTS_MAX DARE_ROW_BYTES	/* of a row */

/* A second source, turned: values[k][n]. int8 is exact in fp32, and so are its sums. */
struct turned {
	float values[ELEMENTS_MAX][DARE_ROWS] __attribute__((aligned(64)));
};

/* The same arithmetic for different processors; results are the same bit for bit. */
struct dare_kernels {
	const char *name;
	bool (*is_supported)(void);
	void (*turn[ELEMENT_KINDS])(struct turned *to, const void *source);
	/* The first `rows` rows of md, all 16 columns, with `count` elements of K. */
	void (*multiply[ELEMENT_KINDS])(void *md, const void *ms1, const struct turned *b,
					unsigned int rows, unsigned int count);
};

#define PLACE_FREE DARE_REGISTERS

/* Which tile of its context each matrix register is, and which one is free. */
struct places {
	uint8_t of[DARE_REGISTERS + 1];
};

/* A second source is often used again: which one this is, or NULL. */
struct turned_slot {
	const void *source;
	uint32_t kind;
	struct turned b;
};

struct dare {
	struct mimic_model model;	/* first: others hold a pointer to it */
	struct mimic_host host;
	struct dare_config config;
	const struct dare_kernels *kernels;
	const struct dare_watch *watch;		/* NULL: none */
	struct dare_context *context;	/* config.contexts of them */
	bool has_float_mode;		/* this call has computed, and `float_mode` is the caller's */
	uint64_t float_mode;
	uint32_t unfinished;		/* contexts that go on without any access, one bit each */
	const struct mimic_memory *memory[DARE_CONTEXTS_MAX];	/* NULL: detached */
	struct dare_state state;
	struct places places[DARE_CONTEXTS_MAX];
	struct turned_slot turned[DARE_REGISTERS];	/* by register number, of any context */
	struct decoded decoded[DECODED_MAX];
};

static inline struct dare *dare_of(struct mimic_model *model)
{
	return (struct dare *)model;
}

static inline void count(struct dare_context *c, enum dare_counter counter, uint64_t n)
{
	c->counters[counter] += n;
}

static inline unsigned int context_number(const struct dare *d, const struct dare_context *c)
{
	return (unsigned int)(c - d->context);
}

/* For more than one register: the number takes a multiplication. */
static inline struct places *places_of(struct dare *d, const struct dare_context *c)
{
	return &d->places[context_number(d, c)];
}

/* A matrix register, or PLACE_FREE. */
static inline uint8_t (*matrix_of(const struct dare *d, struct dare_context *c,
				  unsigned int number))[DARE_ROW_BYTES]
{
	return c->tile[d->places[context_number(d, c)].of[number]];
}

/*
 * The rows of a register from `first` on become 0. Row by row: for an unknown number of bytes compilers take
 * a string instruction, which takes longer to start than all of this.
 */
static inline void clear_rows(uint8_t (*rows)[DARE_ROW_BYTES], size_t first)
{
	for (; first < DARE_ROWS; first++)
		memset(rows[first], 0, DARE_ROW_BYTES);
}

/* Dispatched instructions that will not execute. */
static inline void trace_dropped(struct dare *d, const struct dare_context *c, unsigned int n)
{
	if (n)
		MIMIC_TRACE(&d->model.trace, instruction_dropped, 0ull, context_number(d, c), 0ull, n, 0ull,
			    0ull);
}

static inline void trace_shootdown(struct dare *d, const struct dare_context *c, uint64_t start,
				   uint64_t end)
{
	MIMIC_TRACE(&d->model.trace, shootdown, 0ull, context_number(d, c), start, 0u, end, 0ull);
}

static inline uint64_t low_bytes(uint64_t value, unsigned int size)
{
	return size >= 8 ? value : value & ((1ull << (8 * size)) - 1);
}

static inline bool register_access_is_legal(const struct mimic_access *access)
{
	if (access->offset % 8)
		return false;
	return access->size == 8 || (access->size == 4 && !access->is_write);
}

/* context.c */
void dare_mpu_context_power_on(struct dare *d, struct dare_context *c);
void dare_mpu_context_reset(struct dare *d, struct dare_context *c);
/* Each matrix register is the tile of its number. */
void dare_mpu_context_place(struct dare *d, const struct dare_context *c);
enum mimic_outcome dare_mpu_context_access(struct dare *d, struct dare_context *c,
					   struct mimic_access *access);
uint64_t dare_mpu_context_status(const struct dare *d, const struct dare_context *c);
/* Executes instructions that can go on, then accesses that wait. */
void dare_mpu_context_settle(struct dare *d, struct dare_context *c);

/* parked.c */
enum mimic_outcome dare_mpu_parked_add(struct dare *d, struct dare_context *c, struct mimic_access *access,
				       enum parked_kind kind, uint64_t value);
/* Fences that are over are answered, stores go on while there is room. true: one of them did. */
bool dare_mpu_parked_advance(struct dare *d, struct dare_context *c);
void dare_mpu_parked_withdraw(struct dare *d, uint64_t owner);
/* Every access that waits for this context is answered: stores with 0, fences with `status`. */
void dare_mpu_parked_release(struct dare *d, struct dare_context *c, uint64_t status);

/* decoded.c */
__attribute__((cold)) void dare_mpu_decoded_fill(struct decoded *decoded, uint32_t word);

/* Programs repeat a few words, which differ in a few bits: a multiplicative hash spreads them. */
static inline const struct decoded *dare_mpu_decode(struct dare *d, uint32_t word)
{
	struct decoded *decoded = &d->decoded[word * 0x9e3779b1u / (UINT32_MAX / DECODED_MAX + 1)];

	if (__builtin_expect(decoded->word != word || !decoded->is_filled, 0))
		dare_mpu_decoded_fill(decoded, word);
	return decoded;
}

/* direct.c */
/* Values of STREAM, from the first one of an instruction on. Returns how many of them, of whole instructions. */
size_t dare_mpu_direct(struct dare *d, struct dare_context *c, const uint64_t *values, size_t count);

/* queue.c */
extern const uint8_t dare_mpu_counter_of_format[];
/* One more instruction, which is not executed yet; while there is an error it is dropped. */
enum step dare_mpu_queue_put(struct dare *d, struct dare_context *c, uint32_t word, uint64_t rs1,
			     uint64_t rs2);
/* A store to STREAM, the same; nothing has changed if it has to wait. */
enum step dare_mpu_queue_put_stream(struct dare *d, struct dare_context *c, uint64_t owner, uint64_t value);
/*
 * Values of one STREAM: how many were acknowledged before one that has to wait, or there is other work, or, with
 * `is_one`, up to the last one of an instruction.
 */
size_t dare_mpu_queue_stream(struct dare *d, struct dare_context *c, uint64_t owner, const uint64_t *values,
			     size_t count, bool is_one);
/* Executes up to *budget instructions from the head on. */
void dare_mpu_queue_advance(struct dare *d, struct dare_context *c, unsigned int *budget);
bool dare_mpu_queue_is_full(const struct dare *d, const struct dare_context *c);
/* The head ends in an error; instructions behind it are dropped. */
void dare_mpu_queue_fail(struct dare_context *c, enum dare_error error, uint64_t address, unsigned int row);
void dare_mpu_queue_clear_error(struct dare_context *c);

/* execute.c */
/* false: it fails, and nothing has happened. */
bool dare_mpu_configure(struct dare_context *c, uint64_t csr, uint64_t value);
bool dare_mpu_multiply(struct dare *d, struct dare_context *c, unsigned int operation, unsigned int md,
		       unsigned int ms1, unsigned int ms2);
enum result dare_mpu_execute(struct dare *d, struct dare_context *c, struct queue_entry *entry);

/* watch.c */
/* As it is before it is executed: rows that it loads may replace its addresses. */
void dare_mpu_watch_take(const struct dare *d, struct dare_context *c, const struct queue_entry *entry,
			 struct dare_dispatched *instruction);

/* memory.c */
/* A load or store, from its start or from where a page was missing. */
enum result dare_mpu_memory_execute(struct dare *d, struct dare_context *c, struct queue_entry *entry);
/* The page that the head waits for is bad. */
void dare_mpu_memory_fail(struct dare *d, struct dare_context *c);

/* in_page.c */
/* false: the tile is not in one page, or that is not there; nothing has happened. The context has a memory. */
bool dare_mpu_load_in_page(struct dare *d, struct dare_context *c, unsigned int md, uint64_t address,
			   uint64_t stride);
bool dare_mpu_store_in_page(struct dare *d, struct dare_context *c, unsigned int ms, uint64_t address,
			    uint64_t stride);

/* compute.c */
extern const struct dare_kernels dare_mpu_kernels_list[];
extern const size_t dare_mpu_kernels_count;
/* The fastest that this processor has. */
const struct dare_kernels *dare_mpu_compute_kernels(void);
/* matrixK is a multiple of the element's bytes. */
void dare_mpu_compute_mma(struct dare *d, struct dare_context *c, unsigned int md, unsigned int ms1,
			  unsigned int ms2, enum element_kind kind);
/* A call of the model ends. */
void dare_mpu_compute_end(struct dare *d);
/* A register has changed, which is this tile. */
void dare_mpu_compute_forget(struct dare *d, unsigned int number, const void *tile);
void dare_mpu_compute_forget_all(struct dare *d);

/* `rows` rows of the free tile have been read: it becomes md, and md the free one. */
static inline void dare_mpu_loaded(struct dare *d, struct dare_context *c, struct places *places, unsigned int md,
				   unsigned int rows)
{
	uint8_t tile = places->of[PLACE_FREE];

	clear_rows(c->tile[tile], rows);
	dare_mpu_compute_forget(d, md, c->tile[places->of[md]]);
	places->of[PLACE_FREE] = places->of[md];
	places->of[md] = tile;
	count(c, DARE_COUNTER_rows_loaded, rows);
	count(c, DARE_COUNTER_bytes_loaded, (uint64_t)rows * c->csr[DARE_CSR_MATRIX_K]);
}

static inline void dare_mpu_stored(struct dare_context *c, unsigned int rows)
{
	count(c, DARE_COUNTER_rows_stored, rows);
	count(c, DARE_COUNTER_bytes_stored, (uint64_t)rows * c->csr[DARE_CSR_MATRIX_K]);
}

/* control.c */
void dare_mpu_control_access(struct dare *d, struct mimic_access *access);
/* The memory port of an address space, or NULL. */
const struct mimic_memory *dare_mpu_control_memory_of(const struct dare *d, uint64_t address_space);

/* observe.c */
size_t dare_mpu_counters_read(const struct mimic_model *model, uint64_t *values, size_t count);
void dare_mpu_counters_clear(struct mimic_model *model);
size_t dare_mpu_describe(const struct mimic_model *model, char *text, size_t size);

/* save.c */
size_t dare_mpu_save(const struct mimic_model *model, void *image, size_t size);
int dare_mpu_restore(struct mimic_model *model, const void *image, size_t size);

#endif
