/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of libvirgo, and not public. */
#ifndef VIRGO_INTERNAL_H
#define VIRGO_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <sys/types.h>

#include "libmimic/library/library.h"
#include "virgo.h"

/*
 * Values that wait in a unit's buffer for the next post. A tile operation has up to
 * eight commands of three values; programs that send single ones profit from more.
 */
#define VIRGO_BUFFER_VALUES 192
#define VIRGO_COMMAND_VALUES 3	/* RS1, RS2, word */

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Commands that set something which stays, and whether the unit has it already. */
enum virgo_setting {
	VIRGO_SETTING_ARRAY,
	VIRGO_SETTING_LOAD,	/* three of them */
	VIRGO_SETTING_STORE = VIRGO_SETTING_LOAD + 3,
	VIRGO_SETTING_BOUNDS,
	VIRGO_SETTING_ADDRESSES_AB,
	VIRGO_SETTING_ADDRESSES_DC,
	VIRGO_SETTING_STRIDES_AB,
	VIRGO_SETTING_STRIDES_DC,
	VIRGO_SETTING_PLACES,
	VIRGO_SETTING_PLACE_C,
	VIRGO_SETTINGS
};

struct virgo_gemm_thread;
struct virgo_range;

/* Used by one thread at a time; virgo_gemm_start() has it from is_taken on. */
struct virgo_unit {
	struct virgo *virgo;
	unsigned int number;
	struct virgo_unit_info info;
	bool overflows;			/* a store to its full queue is an error */
	bool is_taken;			/* atomic */
	bool uses_halves;		/* of the accumulator: a loop since the reset may have changed to the other */

	uint64_t given;			/* commands since virgo_open() */
	uint64_t start;			/* of these, before the last reset */
	uint64_t last_loops[4];		/* `given` just behind the last loops, the newest first */
	size_t buffered;
	uint64_t buffer[VIRGO_BUFFER_VALUES];

	struct {
		bool is_known;
		uint64_t rs1, rs2;
	} settings[VIRGO_SETTINGS];

	char *copies;			/* of operands; virgo_alloc() */
	size_t copies_size;
	void *workspace;		/* of epilogues; virgo_alloc() */
	size_t workspace_size;
	struct virgo_gemm_thread *thread;	/* made at the first virgo_gemm_start() */
};

/* Shared memory is given out in as many parts as a word has bits. */
#define VIRGO_PARTS 64

struct virgo_share {
	unsigned int first, count;	/* parts; count is a power of two */
	unsigned int changes;		/* that have been checked */
};

struct virgo {
	struct mimic_device *device;
	pid_t owner;
	unsigned char *shared;
	size_t shared_size;
	unsigned int unit_count;
	struct virgo_unit unit[VIRGO_UNITS_MAX];

	/* One lock for the state that units share; a holder waits for nothing but `given_back`. */
	pthread_mutex_t lock;
	pthread_cond_t given_back;		/* parts became free, or a product ended */
	uint64_t used;				/* parts, by bit */
	unsigned char allocated[VIRGO_PARTS];	/* parts of the allocation that begins here */
	unsigned int products;			/* that have, or want, a share */
	unsigned int sharing[VIRGO_UNITS_MAX];	/* parts of each unit's share */
	unsigned int largest;			/* parts of the largest share that is allowed; atomic */
	unsigned int changes;			/* parts became free so often; atomic */
	int event_fd;				/* -1: none */
	struct virgo_range *ranges;		/* of virgo_alloc() and virgo_register() */

	pthread_mutex_t counter_lock;		/* COUNTER_SELECT and COUNTER_VALUE belong together */
};

/* Sets the text of virgo_error_text() and returns `error`. */
int virgo_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Finds a unit that is the caller's to use. */
int virgo_find(struct virgo *virgo, unsigned int number, struct virgo_unit **unit);
/* The same, also of a unit that a product has. */
int virgo_find_any(const struct virgo *virgo, unsigned int number, const struct virgo_unit **unit);

/* 0; -ENODEV: it is the parent's, and so are threads and locks. */
int virgo_check_owner(const struct virgo *virgo);

/* Is this memory that the daemon shares? */
bool virgo_is_shared(struct virgo *virgo, const void *start, size_t size);
void virgo_forget_ranges(struct virgo *virgo);

int virgo_load_register(struct virgo_unit *unit, unsigned int offset, uint64_t *value);
int virgo_store_register(struct virgo_unit *unit, unsigned int offset, uint64_t value);

/* --- memory of the program ---------------------------------------------------- */

/* 0; -EFAULT: some of it cannot be read; or why that cannot be found out. */
int virgo_probe_read(const void *start, size_t size);
/* 0; -EFAULT: the page of `*where` cannot be written. Contents stay. */
int virgo_probe_write(const void *start, size_t size, uintptr_t *where);

/* --- commands ---------------------------------------------------------------- */

int virgo_put(struct virgo_unit *unit, unsigned int funct, uint64_t rs1, uint64_t rs2);
/* Only if the unit does not have it already. */
int virgo_set(struct virgo_unit *unit, enum virgo_setting setting, unsigned int funct, uint64_t rs1,
	      uint64_t rs2);
/* The configuration of the unit is not known any more. */
void virgo_forget_settings(struct virgo_unit *unit);
int virgo_post_buffer(struct virgo_unit *unit);

int virgo_set_array(struct virgo_unit *unit, enum virgo_dataflow dataflow, unsigned int flags);
int virgo_set_load(struct virgo_unit *unit, unsigned int which, uint64_t stride, float scale,
		   bool is_shrunk);
int virgo_set_store(struct virgo_unit *unit, uint64_t stride, enum virgo_activation activation,
		    float scale);

/* Waits until all that was sent is over. */
int virgo_load_fence(struct virgo_unit *unit, uint64_t *status);
int virgo_wait_loops(struct virgo_unit *unit, unsigned int loops);
int virgo_wait_ticket(struct virgo_unit *unit, uint64_t ticket);
int virgo_wait_all(struct virgo_unit *unit);
/* The error of the unit: 0, or an errno value and a text. */
int virgo_check_error(struct virgo_unit *unit);
int virgo_forget_error(struct virgo_unit *unit);
/* Nothing may be on its way. */
int virgo_reset_unit(struct virgo_unit *unit);

/* --- tiles ------------------------------------------------------------------- */

/* One LOOP_WS. Sizes in elements; a NULL matrix is left out. */
struct virgo_loop {
	unsigned int flags;		/* VIRGO_TRANSPOSE_A and _B, VIRGO_ADD, VIRGO_NARROW */
	size_t m, n, k;
	uint32_t a_row, b_end;
	const void *a, *b, *d;
	size_t lda, ldb, ldd, ldc;	/* elements */
	bool is_multiplied;
	void *c;
	bool is_stored_shared;
	uint32_t c_row;
	enum virgo_activation activation;
	float scale;
};

int virgo_put_loop(struct virgo_unit *unit, const struct virgo_loop *loop);

static inline size_t virgo_blocks(const struct virgo_unit *unit, size_t elements)
{
	return elements / unit->info.dim + (elements % unit->info.dim != 0);
}

/* --- shares of the shared memory --------------------------------------------- */

/* Waits until other units have given up their surplus. -ENOSPC: less than `least` bytes. */
int virgo_share_take(struct virgo_unit *unit, size_t least, struct virgo_share *share);
void virgo_share_give_back(struct virgo_unit *unit, const struct virgo_share *share);
/* The share that a product would have now. */
int virgo_share_guess(struct virgo *virgo, size_t least, struct virgo_share *share);
/* How large it may be, in parts. A product that has more lets the unit finish, and shrinks the share. */
unsigned int virgo_share_limit(const struct virgo *virgo);
/* To `count` parts: less may be allowed by now, but the caller has checked only this. */
void virgo_share_shrink(struct virgo_unit *unit, struct virgo_share *share, unsigned int count);
/* Takes free parts beside it, if allowed. Answers whether it did. */
bool virgo_share_grow(struct virgo_unit *unit, struct virgo_share *share);

static inline size_t virgo_part_bytes(const struct virgo *virgo)
{
	return virgo->shared_size / VIRGO_PARTS;
}

/* --- products ---------------------------------------------------------------- */

int virgo_gemm_check(const struct virgo_unit *unit, const struct virgo_product *product);
/* All of it, by this thread. */
int virgo_gemm_run(struct virgo_unit *unit, const struct virgo_product *product);
/* Ends the thread, after its current product. */
void virgo_gemm_thread_end(struct virgo_unit *unit);

#endif
