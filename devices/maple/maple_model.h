/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The MAPLE device model: create it, drive it through model.ops, throw it away.
 *
 * Contract: docs/maple.md. All calls for one model must be serialised by the
 * caller (devices/model.h).
 */
#ifndef MIMIC_MAPLE_MODEL_H
#define MIMIC_MAPLE_MODEL_H

#include "devices/model.h"
#include "mimic/maple_registers.h"

#define MAPLE_MAX_QUEUES 8
#define MAPLE_MAX_WORDS 1024
#define MAPLE_MAX_TLB 64
#define MAPLE_MAX_LIMA_CHUNKS 64
#define MAPLE_MAX_LIMA_LOOPS 1024
#define MAPLE_LIMA_CHUNK_BYTES 64

/*
 * Where the artifact's RTL differs from the paper's text or a program's
 * needs. Each is one line in docs/maple.md. The paper profile has none of them.
 * _(bit, name, meaning)
 */
#define MAPLE_QUIRKS(_) \
	_(0, depth_64, "a queue holds 64 words at most, whatever its size code") \
	_(1, loops_dropped, "a LIMA loop that finds the loop FIFO full is lost") \
	_(2, statistics_index_survives_reset, "RESET leaves the statistics index alone") \
	_(3, custom_byte_swapped, "the custom page returns each 32-bit word byte-swapped") \
	_(4, custom_hijacks_loads, "while a custom response is pending every config load returns it") \
	_(5, coherent_load64_hangs, "LLC_POINTER64 at 4 mod 8 hangs its queue for good") \
	_(6, init_after_reset_lost, "INIT with loads of before RESET outstanding allocates nothing") \
	_(7, prefetch_needs_room, "PREFETCH waits until its queue has two free words") \
	_(8, no_extension, "no IDENTIFY and no operation that the paper profile adds")

enum maple_quirk {
#define _(bit, name, meaning) MAPLE_QUIRK_##name = 1u << (bit),
	MAPLE_QUIRKS(_)
#undef _
};

struct mimic_kind;

/* Listed in devices/kinds.def. */
extern const struct mimic_kind mimic_kind_maple;

struct maple_config {
	char profile[16];		/* "paper" or "artifact", for people */
	unsigned int queues;		/* 1 to 8 */
	unsigned int scratchpad_words;	/* 32-bit words all queues share */
	unsigned int tlb_entries;	/* power of two, 2 to 64 */
	unsigned int address_bits;	/* of SET_BASE, LIMA A and full pointers: 32 to 64 */
	unsigned int lima_loops;	/* loops waiting, each queue */
	unsigned int lima_chunks;	/* 64-byte chunks of B, shared by the queues */
	unsigned int custom_commands;	/* depth of the custom command FIFO */
	unsigned int custom_responses;	/* depth of the custom response FIFO */
	unsigned int quirks;		/* enum maple_quirk */
};

/* Fills in a profile. 0, or -EINVAL if there is no profile of that name. */
int maple_config_profile(struct maple_config *config, const char *profile);

/* NULL if the values are in range and fit each other, else a text about one that does not. */
const char *maple_config_check(const struct maple_config *config);

/*
 * A new device as after power-on. NULL with errno EINVAL (configuration) or
 * ENOMEM. `host` is copied; the objects that it points to must outlive the model.
 */
struct mimic_model *maple_model_create(const struct maple_config *config,
				       const struct mimic_host *host);
void maple_model_destroy(struct mimic_model *model);

/* A load that gather() answered with -EINPROGRESS arrives. status: 0 or -EFAULT (reads 0). */
void maple_model_fill(struct mimic_model *model, uint64_t tag, int status, uint64_t value,
		      uint64_t now);

/* Pages that faulted and stalled have come: mimic_kind.retry. */
void maple_model_retry(struct mimic_model *model, uint64_t now);
/* mimic_kind.resume */
void maple_model_resume(struct mimic_model *model, uint64_t now);

/* Steps of struct mimic_pace; the unit is the queue. */
enum maple_step {
	MAPLE_STEP_POINTER,		/* a load for a store's pointer, past the LLC */
	MAPLE_STEP_LLC_POINTER,
	MAPLE_STEP_ATOMIC,
	MAPLE_STEP_PREFETCH,
	MAPLE_STEP_LIMA_CHUNK,		/* B, in words of one chunk, past the LLC */
	MAPLE_STEP_LIMA_LLC_CHUNK,
	MAPLE_STEP_LIMA_POINTER,	/* an element of A, past the LLC */
	MAPLE_STEP_LIMA_LLC_POINTER,
	MAPLE_STEP_LIMA_PRODUCE,
	MAPLE_STEP_LIMA_PREFETCH,
};

/* The queue goes on with steps that its pace held up. */
void maple_model_progress(struct mimic_model *model, unsigned int queue, uint64_t now);

/* Which way an access would take now: of *queue, if it is not that of the configuration. */
enum maple_pipe { MAPLE_PIPE_CONFIGURATION, MAPLE_PIPE_PRODUCE, MAPLE_PIPE_CONSUME };
enum maple_pipe maple_model_pipe(const struct mimic_model *model, const struct mimic_access *access,
				 unsigned int *queue);

/* State that tests and state views read, beside the registers. */
struct maple_queue_view {
	bool allocated;
	bool hung;
	unsigned int size;	/* words */
	unsigned int level;	/* words in use */
	uint64_t popped;	/* words, since the queue is there */
	unsigned int loops;	/* LIMA loops not finished */
	uint64_t producer;	/* owner, 0: none */
	uint64_t consumer;
	uint64_t store_waiting;	/* owner of the parked store, 0: none */
	uint64_t load_waiting;
};
int maple_model_queue(const struct mimic_model *model, unsigned int queue,
		      struct maple_queue_view *view);
/* Parts that are read often: adds each queue's level times `cycles` to its sum; words popped, words in use. */
void maple_model_add_levels(const struct mimic_model *model, uint64_t cycles, uint64_t sums[MAPLE_MAX_QUEUES]);
/* Where in memory this store would make the device read a word now; 0: nowhere. A hint: nothing is checked. */
uint64_t maple_model_pointer(const struct mimic_model *model, const struct mimic_access *access);
uint64_t maple_model_popped(const struct mimic_model *model, unsigned int queue, unsigned int *level);

#endif
