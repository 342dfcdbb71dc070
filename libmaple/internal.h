/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of libmaple, and not public. */
#ifndef MAPLE_INTERNAL_H
#define MAPLE_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libmimic/library/library.h"
#include "libmimic/transport.h"
#include "maple.h"
#include "mimic/maple_registers.h"

#define MAPLE_QUEUES_MAX 8

/* The answers of OPEN and CLOSE (contract A2). */
#define MAPLE_FLAG_CONSUMER 1u
#define MAPLE_FLAG_PRODUCER 2u

/* Values that go to mimic_device_post() at once: 2 KiB of stack. */
#define MAPLE_PIECE 256

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/*
 * One hardware queue as the library knows it. The producer's and the
 * consumer's fields are on cache lines of their own, because their threads
 * write them for every call.
 *
 * Only the owner of a role writes the fields of that role. Roles change hands
 * through maple_close() (release) and maple_open() (acquire), which orders the
 * plain fields.
 */
struct maple_queue {
	/* 128: adjacent lines are fetched in pairs */
	_Alignas(128) _Atomic uint64_t producer;	/* maple_self() of its thread, 0: none */
	_Atomic uint64_t produced;	/* words that were asked for since maple_init() */
	uint64_t lima_a;		/* last value of QUEUE_LIMA_A and _B */
	uint64_t lima_b;
	bool lima_is_set;
	bool base_is_set;
	unsigned int base_shift;	/* 2 or 3 */
	uint64_t base;			/* last value of SET_BASE32 or 64 */

	_Alignas(128) _Atomic uint64_t consumer;
	_Atomic uint64_t consumed;

	_Alignas(128) atomic_bool is_claimed;	/* a kernel of ours works with it */
};

struct maple;

/*
 * How a profile of the device encodes operations. Roles and alignment are checked
 * already. indices() counts the words it produced; for the others the caller does.
 */
struct maple_encoding {
	int (*pointer)(struct maple *maple, unsigned int queue, uint64_t address,
		       unsigned int element, enum maple_path path);
	ssize_t (*indices)(struct maple *maple, unsigned int queue, uint64_t base,
			   unsigned int element, const uint32_t *indices, size_t count,
			   enum maple_path path);
	int (*prefetch)(struct maple *maple, unsigned int queue, const uint64_t *addresses,
			size_t count);
	/* begin < end in both */
	int (*lima_prefetch)(struct maple *maple, unsigned int queue, const void *a,
			     unsigned int element, const uint32_t *b, uint32_t begin,
			     uint32_t end);
	int (*lima_produce)(struct maple *maple, unsigned int queue, const void *a,
			    unsigned int element, const uint32_t *b, uint32_t begin,
			    uint32_t end, enum maple_path path);
	int (*fault)(struct maple *maple, uint64_t *address, uint64_t *count);
};

extern const struct maple_encoding maple_paper_encoding;
extern const struct maple_encoding maple_artifact_encoding;

struct maple {
	struct mimic_device *device;
	const struct maple_encoding *encoding;
	bool is_embedded;
	unsigned int queue_count;
	unsigned int queue_words;
	pid_t process;
	struct maple *next;		/* all of this process; instances_lock */
	uint64_t faults_before;		/* device counter at maple_init() */
	pthread_mutex_t statistics_lock;	/* the device's statistics index is one for all */
	/*
	 * Artifact profile: A and queue 0's base register serve the LIMA of every
	 * queue. Held from setting them to the push that uses them, and never
	 * while a store may have to wait for a consumer.
	 */
	pthread_mutex_t tile_lock;
	struct maple_queue queues[MAPLE_QUEUES_MAX];
};

/* Sets the text of maple_error_text() and returns `error`. */
int maple_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* A number for the calling thread that no other thread of the process ever has. */
uint64_t maple_self(void);

/* 0, or -EINVAL (no such queue), -EPERM (the caller lacks that role), with text. */
int maple_check_role(struct maple *maple, unsigned int queue, enum maple_role role);

/* One load or store of a register. */
int maple_load_register(struct maple *maple, unsigned int page, unsigned int operation,
			unsigned int field, unsigned int size, uint64_t *value);
int maple_store_register(struct maple *maple, unsigned int operation, unsigned int field,
			 uint64_t value);
/* Posts values to an 8-byte register of the MAPLE page; count or -errno. */
ssize_t maple_post(struct maple *maple, unsigned int operation, unsigned int queue,
		   const uint64_t *values, size_t count);

/* Pops that many 64-bit values and gives them to a function, which must not use the device. 0 or -errno with text. */
int maple_consume64_pieces(struct maple *maple, unsigned int queue, size_t count, mimic_take take, void *context);

/* Roles without regard to is_claimed, for the kernels. */
int maple_open_role(struct maple *maple, unsigned int queue, enum maple_role role);

/* Words in the queue or on their way to it. */
static inline uint64_t maple_queue_level(const struct maple_queue *queue)
{
	uint64_t consumed = atomic_load_explicit(&queue->consumed, memory_order_acquire);

	return atomic_load_explicit(&queue->produced, memory_order_relaxed) - consumed;
}

/* There is one writer only, so no read-modify-write is needed. */
static inline void maple_count(_Atomic uint64_t *counter, uint64_t words)
{
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + words,
			      memory_order_release);
}

#endif
