/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the files of libdare share, and nobody else sees. */
#ifndef DARE_INTERNAL_H
#define DARE_INTERNAL_H

#include <errno.h>
#include <stdbool.h>

#include "dare.h"
#include "devices/dare/isa.h"

/*
 * Values that wait in a context for the next post: 4 KiB, some 160 loads. Posting
 * costs a lock and a look at the ring, which a batch of this size hides.
 */
#define DARE_BUFFER_VALUES 512
#define DARE_INSTRUCTION_VALUES 3	/* word, rs1, rs2 */

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/*
 * Where a context's stores and loads go: a device of libmimic, or, in tests, a
 * model or an interpreter. Each function returns 0 or -errno.
 */
struct dare_port_ops {
	/* stores to STREAM; whole instructions */
	int (*post)(void *port, const uint64_t *values, size_t count);
	/* see what was posted before */
	int (*load)(void *port, unsigned int offset, uint64_t *value);
	int (*store)(void *port, unsigned int offset, uint64_t value);
	void *(*alloc)(void *port, size_t size);	/* zeroed, page aligned; NULL with errno */
	int (*free)(void *port, void *memory);
	int (*share)(void *port, void *memory, size_t size);	/* dare_register() */
	int (*unshare)(void *port, void *memory, size_t size);
	const char *(*name)(void *port);
	const char *(*transport)(void *port);
	void (*close)(void *port);
};

struct dare {
	const struct dare_port_ops *ops;
	void *port;
	void *workspace;		/* of the matrix products; dare_alloc() */
	size_t workspace_size;
	size_t buffered;
	uint64_t buffer[DARE_BUFFER_VALUES];
};

/* dare_open() with the port given; it is closed by dare_close(), and also if this fails. */
int dare_open_port(struct dare **dare, const struct dare_port_ops *ops, void *port);

/* Sets the text of dare_error_text() and returns `error`. */
int dare_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* The same with libmimic's own text. */
int dare_device_error(int error) __attribute__((cold));

/* Memory for a matrix product, at least `size` bytes; it stays the context's. NULL: out of memory. */
void *dare_workspace(struct dare *dare, size_t size);

/* Room for `count` values in the buffer, which is sent if there is not enough. */
static inline int dare_make_room(struct dare *dare, size_t count)
{
	if (unlikely(dare->buffered + count > DARE_BUFFER_VALUES))
		return dare_flush(dare);
	return 0;
}

static inline void dare_put(struct dare *dare, uint64_t value)
{
	dare->buffer[dare->buffered++] = value;
}

#endif
