/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one timed MAPLE, and functions that several of its files call.
 *
 *   maple_time.c  creation, time
 *   access.c      accesses, those that wait
 *   events.c      future events, ordered by time
 *   memory.c      the model's memory port and its pace
 *   lima.c        the pace of LIMA
 *   statistics.c  statistics beside the model's counters
 *   kind.c        as struct mimic_kind has it
 *   desc.c        how a DeSC differs (desc.h)
 *
 * The model works at the cycle in which an operation takes or frees slots of its queue;
 * the cycles before and after that are added here.
 */
#ifndef MIMIC_MAPLE_TIME_INTERNAL_H
#define MIMIC_MAPLE_TIME_INTERNAL_H

#include "devices/maple/time/maple_time.h"

#define MAPLE_TIME_ACCESSES 64		/* held back at once; more are not held back */
#define MAPLE_TIME_EVENTS (MAPLE_MAX_WORDS + MAPLE_TIME_ACCESSES + 4 * MAPLE_MAX_QUEUES)
#define STEP_WALKS 4			/* more than one request of the model has: one for each half of a load */
#define NEVER UINT64_MAX

enum event_kind {
	EVENT_FILL,	/* memory has the data of a load */
	EVENT_LIMA,	/* a queue's loops may go on */
	EVENT_ACCESS,	/* an access that was held back enters its pipeline */
};

struct event {
	uint64_t time;
	uint64_t order;		/* of two at one time: the one that was thought of first */
	uint8_t kind;		/* enum event_kind */
	uint8_t queue;
	uint8_t size;		/* of a load */
	uint8_t access;		/* which of those that are held back */
	uint64_t address;
	uint64_t tag;
};

/* Cycles of the device itself. */
struct maple_time_pipes {
	unsigned int reply;	/* to a load or store of the configuration */
	unsigned int load;	/* from a consume to its data */
	unsigned int visible;	/* from a produce to when its words can be consumed */
	unsigned int store;	/* from a store to its request to memory, and to its acknowledgement */
	unsigned int chunk;	/* from a chunk's arrival to its first word */
	uint64_t store_interval;	/* between stores that one queue accepts */
	uint64_t pointer_interval;	/* between requests for pointers */
	unsigned int values;	/* of any size that a queue holds; 0: words count */
	unsigned int loads;	/* on their way at once, of one producer; 0: no limit but the queue's */
	bool is_shared;		/* one store and one load a cycle, for all queues */
	bool through_l2;	/* every load is looked for in the LLC */
};

/* A load or a store that is parked in the model, or held back here. */
struct waiting {
	uint64_t owner;		/* 0: none */
	uint64_t since;
	unsigned int operation;
	unsigned int words;
};

/* Chunks of B, in the model's order. */
struct chunk_time {
	uint64_t ready;		/* its first word may go on */
	uint32_t words;		/* left */
};

/* Where each value of a queue ends, in words ever pushed, where queues count values. */
struct value_ends {
	uint64_t end[MAPLE_MAX_WORDS];
	unsigned int first, count;
};

struct queue_time {
	uint64_t store_next;		/* accepts its next store */
	uint64_t lima_next;		/* its next word of LIMA */
	uint64_t lima_slot;		/* the cycle of LIMA's port that it has, if it is not over */
	uint64_t lima_wake;		/* NEVER, or when it is tried again */
	struct chunk_time chunk[MAPLE_MAX_LIMA_CHUNKS];
	unsigned int chunk_first, chunk_count;
	uint64_t ready[MAPLE_MAX_WORDS];	/* of words that are there for the model, by number */
	struct waiting store, load;	/* parked in the model */
	unsigned int loads;		/* on their way */
	struct value_ends values;
	struct mimic_access held;	/* waits for a value's room, or for a load to end */
	uint64_t held_since;
	bool is_held;
};

/* The step that the model is at. */
struct step_time {
	unsigned int queue;
	enum maple_step step;
	bool is_on;
	unsigned int walks;		/* that its next request waits for */
	uint64_t walked[STEP_WALKS];	/* their pages */
	uint64_t half;			/* the later of a load's halves */
	uint64_t chunk;			/* when the chunk's words may go on */
	uint64_t issued;		/* the last request of a store; 0: none */
};

struct maple_time {
	struct maple_time_parameters parameters;
	struct maple_time_pipes pipes;
	struct mimic_time_host host;
	struct mimic_pace pace;
	struct mimic_model *model;
	unsigned int queue_count;
	int size_code;			/* of queues for a program that asks for 32 words; -1: as it asks */
	int any_size_code;		/* of queues for any number that it asks for; -1: as it asks */
	uint64_t now;
	uint64_t store_pipe, load_pipe;	/* the next cycle in which one can enter */
	uint64_t issue_next;		/* the next request for a pointer */
	uint64_t lima_port;		/* the next word of LIMA, of any queue */
	uint64_t chunk_port;		/* the next request for a chunk */
	uint64_t blocked_until;		/* a walk holds all requests up */
	struct step_time step;
	struct queue_time queue[MAPLE_MAX_QUEUES];
	unsigned int loads;		/* on their way */
	struct mimic_access access[MAPLE_TIME_ACCESSES];	/* of events; owner 0: free */
	struct event event[MAPLE_TIME_EVENTS];	/* a heap */
	unsigned int event_count;
	uint64_t order;
	struct maple_time_statistics statistics;
	uint64_t statistics_since, counted_until;
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline unsigned int operation_of(const struct mimic_access *access)
{
	return access->offset >> MAPLE_OPERATION_SHIFT & 63;
}

static inline unsigned int words_of(const struct mimic_access *access)
{
	return access->size == 8 ? 2 : 1;
}

/* Words of a queue have numbers: how many were pushed before them. */
static inline uint64_t first_word(const struct maple_time *device, unsigned int queue)
{
	unsigned int level;

	return maple_model_popped(device->model, queue, &level);
}

/* The number of the next word that is pushed. */
static inline uint64_t next_word(const struct maple_time *device, unsigned int queue)
{
	unsigned int level;
	uint64_t first = maple_model_popped(device->model, queue, &level);

	return first + level;
}

/* events.c */
/* false: there is no room. */
bool maple_time_event_add(struct maple_time *device, const struct event *event);
/* The earliest, NULL: none. Gone with the next change. */
const struct event *maple_time_event_first(const struct maple_time *device);
void maple_time_event_take(struct maple_time *device, struct event *event);
/* Drops accesses of `owner` that are held back. */
void maple_time_event_drop(struct maple_time *device, uint64_t owner);

/* access.c */
/* The model's complete(). */
void maple_time_complete(void *context, uint64_t owner, uint64_t data);
/* DeSC: does this store have to wait for a value's room, or for a load to end? Then it is held. */
bool maple_time_must_hold(struct maple_time *device, const struct mimic_access *access);
/* It enters its pipe, later than it came. */
void maple_time_finish_held(struct maple_time *device, struct mimic_access *access);
/* DeSC: stores that are held go on. */
void maple_time_let_in_held(struct maple_time *device);
void maple_time_mark_ready(struct maple_time *device, unsigned int queue, uint64_t first, unsigned int count,
			   uint64_t time);

/* memory.c */
struct mimic_memory maple_time_memory(struct maple_time *device);
struct mimic_pace maple_time_pace(struct maple_time *device);
void maple_time_fill(struct maple_time *device, const struct event *event);
/* A request of the step leaves; walks that it needed come first. */
uint64_t maple_time_step_walks(struct maple_time *device, uint64_t time);

/* lima.c */
bool maple_time_step_is_lima(enum maple_step step);
size_t maple_time_lima_begin(struct maple_time *device, unsigned int queue, enum maple_step step,
			     size_t count);
void maple_time_lima_end(struct maple_time *device, unsigned int queue, enum maple_step step, size_t count);
uint64_t maple_time_lima_chunk_issue(struct maple_time *device);
void maple_time_lima_forget(struct maple_time *device, unsigned int queue);
void maple_time_lima_go_on(struct maple_time *device, unsigned int queue);

/* statistics.c */
/* Before anything changes at a later time. */
void maple_time_count_until(struct maple_time *device, uint64_t now);

#endif
