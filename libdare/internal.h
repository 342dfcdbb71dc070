/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of libdare, and not public. */
#ifndef DARE_INTERNAL_H
#define DARE_INTERNAL_H

#include <errno.h>
#include <stdbool.h>

#include "dare.h"
#include "devices/dare/isa.h"
#include "libmimic/library/library.h"

/*
 * Values that wait in a context for the next post: 4 KiB, some 160 loads. Posting
 * costs a lock and a read of the ring, which a batch of this size hides.
 */
#define DARE_BUFFER_VALUES 512
#define DARE_INSTRUCTION_VALUES 3	/* word, rs1, rs2 */

/* Kernels whose form a profile can choose, and their block sizes: 1 << number. */
enum dare_profiled { DARE_PROFILED_SPMM, DARE_PROFILED_SDDMM, DARE_PROFILED };
#define DARE_PROFILE_BLOCKS 5

#define unlikely(condition) __builtin_expect(!!(condition), 0)

struct dare {
	struct mimic_device *device;
	void *workspace;		/* of the matrix products; dare_alloc() */
	size_t workspace_size;
	uint8_t forms[DARE_PROFILED][DARE_PROFILE_BLOCKS];	/* enum dare_form, of a profile; DARE_AUTO: it has none */
	size_t buffered;
	uint64_t buffer[DARE_BUFFER_VALUES];
};

/* Sets the text of dare_error_text() and returns `error`. */
int dare_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

static inline int dare_load_register(struct dare *dare, unsigned int offset, uint64_t *value)
{
	return mimic_library_load(dare->device, 0, offset, 8, value);
}

static inline int dare_store_register(struct dare *dare, unsigned int offset, uint64_t value)
{
	return mimic_library_store(dare->device, 0, offset, value);
}

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
