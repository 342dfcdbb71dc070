/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The file of a recording (docs/record.md): a header, then blocks. The payloads of a
 * stream's blocks, one after the other, are its records; a record may begin in one
 * block and end in another. All numbers are little endian; in records they are varints:
 * seven bits a byte, the lowest first, bit 7 set in all but the last.
 */
#ifndef LIBMIMIC_RECORD_FORMAT_H
#define LIBMIMIC_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_MAGIC "MIMICREC"
#define RECORD_MAGIC_CUT "MIMICCUT"	/* of one that could not be written to its end */
#define RECORD_VERSION 2u
#define RECORD_VERSION_OLDEST 1u	/* that can be read: it lacks the records by the history (history.h) */
#define RECORD_BLOCK_MAGIC 0x6b6c6263u	/* "cblk" */
#define RECORD_BLOCK_MAX 524288u	/* bytes of payload; 65536 in version 1 */
#define RECORD_STREAMS_MAX 65536u

#define RECORD_TEXT_MAX 16384u		/* of the parameters */
#define RECORD_NAME_MAX 64u
#define RECORD_VALUES_MAX 4096u		/* of one call */
#define RECORD_PORTS_MAX 128u		/* memories of address spaces; 0 is the host's own */
#define RECORD_JOBS_MAX 64u
#define RECORD_IMAGE_MAX (64u << 20)
#define RECORD_MEMORY_MAX (16u << 20)	/* of a device */
#define RECORD_CHUNK 64u		/* shared memory is compared and written by so many bytes */

struct record_file_header {
	char magic[8];
	uint32_t version;
	uint32_t checksum;	/* of the bytes before it */
};

struct record_block_header {
	uint32_t magic;
	uint32_t stream;	/* a device, from its making to its end */
	uint32_t sequence;	/* of the block in its stream */
	uint32_t length;	/* of the payload, 1 to RECORD_BLOCK_MAX */
	uint32_t checksum;	/* of the header before this field, and the payload */
};

/*
 * A call is its record, then the requests and reports of the model to its host meanwhile, then
 * RECORD_ANSWER. The requests of a job are between RECORD_JOB_RUN and RECORD_ANSWER; it ran
 * beside the calls since its RECORD_JOB_TAKE. One that was handed back and never ran has none.
 */
enum record_code {
	RECORD_START = 1,
	RECORD_END,
	RECORD_ANSWER,
	RECORD_ANSWER_GATHERED,	/* of loads: the values are those that were gathered */

	/* Calls: the time since the last one, signed, comes first. */
	RECORD_ACCESS = 16,
	RECORD_STORES,
	RECORD_LOADS,
	RECORD_CANCEL,
	RECORD_OWNER_GONE,
	RECORD_TICK,
	RECORD_INVALIDATE,
	RECORD_POWER_ON,
	RECORD_CLEAR_COUNTERS,
	RECORD_RESTORE,
	RECORD_ATTACH,
	RECORD_ENABLE_EVENTS,
	RECORD_TAKE_EVENTS,
	RECORD_JOB_TAKE,
	RECORD_JOB_RUN,
	RECORD_JOB_DONE,
	RECORD_RETRY,
	RECORD_CALL_END,	/* none, but the end of their numbers */

	/* Requests and reports of the model to its host. */
	RECORD_WALK = 64,
	RECORD_GATHER,
	RECORD_READ,
	RECORD_READ_ROWS,
	RECORD_WRITE_ROWS,
	RECORD_READ_BLOCK,
	RECORD_WRITE_BLOCK,
	RECORD_ATOMIC,
	RECORD_COMPLETE,
	RECORD_INTERRUPT,
	RECORD_REPORT,
	RECORD_PAGE_FAULT,
	RECORD_MEMORY_OF,
	RECORD_CONTEXT_FAULT,
	RECORD_GATHER_INDEXED,	/* the addresses are a base and indices that were read */
	RECORD_EVENT_END,
};

/* The functions that a host has, by bit, in RECORD_START and, of the memory of an address space, in RECORD_MEMORY_OF. */
enum record_ability {
	RECORD_HAS_WALK = 1u << 0,
	RECORD_HAS_GATHER = 1u << 1,
	RECORD_HAS_READ = 1u << 2,
	RECORD_HAS_READ_ROWS = 1u << 3,
	RECORD_HAS_WRITE_ROWS = 1u << 4,
	RECORD_HAS_READ_BLOCK = 1u << 5,
	RECORD_HAS_WRITE_BLOCK = 1u << 6,
	RECORD_HAS_ATOMIC = 1u << 7,
	RECORD_HAS_COMPLETE = 1u << 8,
	RECORD_HAS_INTERRUPT = 1u << 9,
	RECORD_HAS_REPORT = 1u << 10,
	RECORD_HAS_PAGE_FAULT = 1u << 11,
	RECORD_HAS_MEMORY_OF = 1u << 12,
	RECORD_HAS_CONTEXT_FAULT = 1u << 13,
	RECORD_HAS_JOBS = 1u << 14,	/* the model's driver takes its jobs */
	RECORD_ABILITIES = (1u << 15) - 1,
};

/* Small differences of both signs become small numbers. */
static inline uint64_t mimic_record_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t mimic_record_unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* crc32c.c; before anything else is asked of it, and from no signal handler */
void mimic_record_crc32c_prepare(void);
/* Of `size` bytes more; the first time `crc` is 0. */
uint32_t mimic_record_crc32c(uint32_t crc, const void *bytes, size_t size);
/* Without the processor's help; for tests. */
uint32_t mimic_record_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

#endif
