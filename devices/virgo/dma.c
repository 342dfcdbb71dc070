/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The DMA engine: rows between program memory and a unit. Rows go in runs as
 * long as nothing stands in their way; the row that cannot go is tried once more
 * page by page, which tells the address.
 */
#include <errno.h>

#include "devices/virgo/virgo_internal.h"

#define ROWS_PIECE 64	/* bytes of a row of read_rows and write_rows */
#define ROWS_MANY 16

static enum work fault(struct virgo_job *job, uint64_t address, bool writes)
{
	job->x.dma.fault_address = address;
	job->x.dma.fault_writes = writes;
	return WORK_FAULT;
}

static int translate(struct virgo_job *job, uint64_t address, uint64_t *physical)
{
	const struct mimic_memory *memory = &job->virgo->host.memory;
	uint32_t generation = __atomic_load_n(&job->virgo->generation, __ATOMIC_ACQUIRE);
	struct dma *dma = &job->x.dma;
	uint64_t page = address & ~PAGE_MASK, frame;
	int error;

	*physical = address;
	if (!memory->walk)
		return 0;
	if (dma->page != page || dma->generation != generation) {
		error = memory->walk(memory->context, page, &frame);
		count(job, VIRGO_COUNTER_walks, 1);
		dma->page = NO_PAGE;
		if (error)
			return error;
		dma->page = page;
		dma->frame = frame;
		dma->generation = generation;
	}
	*physical = dma->frame + (address & PAGE_MASK);
	return 0;
}

static uint64_t row_address(const struct transfer *t, size_t row)
{
	return t->address + row * t->stride;
}

/* Rows from `first` on whose pages are there and translate to themselves. */
static size_t plain_rows(struct virgo_job *job, const struct transfer *t, size_t first)
{
	uint64_t physical;

	if (!job->virgo->host.memory.walk)
		return t->count - first;
	for (size_t row = first; row < t->count; row++) {
		uint64_t address = row_address(t, row), last = address + t->size - 1;

		for (uint64_t page = address & ~PAGE_MASK;; page += PAGE_MASK + 1) {
			if (translate(job, page, &physical) || physical != page)
				return row - first;
			if (page == (last & ~PAGE_MASK))
				break;
		}
	}
	return t->count - first;
}

/* Bytes of one page. */
static bool read_piece(const struct mimic_memory *memory, uint64_t physical, unsigned char *to,
		       size_t size)
{
	unsigned char row[ROWS_PIECE];

	if (memory->read_block)
		return memory->read_block(memory->context, physical, size, size, 1, to, size) == 1;
	if (memory->read)
		return !memory->read(memory->context, physical, to, size);
	for (size_t n = 0; n < size; n += ROWS_PIECE) {
		size_t bytes = size - n < ROWS_PIECE ? size - n : ROWS_PIECE;
		uint64_t address = physical + n;

		if (memory->read_rows(memory->context, &address, 1, bytes, row) != 1)
			return false;
		memcpy(to + n, row, bytes);
	}
	return true;
}

static bool write_piece(const struct mimic_memory *memory, uint64_t physical,
			const unsigned char *from, size_t size)
{
	unsigned char row[ROWS_PIECE];

	if (memory->write_block)
		return memory->write_block(memory->context, physical, size, size, 1, from, size) == 1;
	for (size_t n = 0; n < size; n += ROWS_PIECE) {
		size_t bytes = size - n < ROWS_PIECE ? size - n : ROWS_PIECE;
		uint64_t address = physical + n;

		memcpy(row, from + n, bytes);
		if (memory->write_rows(memory->context, &address, 1, bytes, row) != 1)
			return false;
	}
	return true;
}

/* One row, page by page. */
static enum work one_row(struct virgo_job *job, uint64_t address, void *buffer, size_t size,
			 bool writes)
{
	const struct mimic_memory *memory = &job->virgo->host.memory;
	unsigned char *bytes = buffer;

	for (size_t n = 0; n < size;) {
		size_t in_page = PAGE_MASK + 1 - ((address + n) & PAGE_MASK);
		size_t piece = size - n < in_page ? size - n : in_page;
		uint64_t physical;
		bool moved;

		if (translate(job, address + n, &physical))
			return fault(job, address + n, writes);
		if (writes)
			moved = write_piece(memory, physical, bytes + n, piece);
		else
			moved = read_piece(memory, physical, bytes + n, piece);
		if (!moved) {
			job->x.dma.page = NO_PAGE;
			return fault(job, address + n, writes);
		}
		n += piece;
	}
	return WORK_DONE;
}

/* Rows of at most 64 bytes through read_rows. Returns how many came. */
static size_t read_short_rows(const struct mimic_memory *memory, const struct transfer *t,
			      size_t first, size_t rows, unsigned char *to, size_t to_stride)
{
	unsigned char buffer[ROWS_MANY * ROWS_PIECE];
	uint64_t addresses[ROWS_MANY];
	size_t done = 0;

	while (done < rows) {
		size_t many = rows - done < ROWS_MANY ? rows - done : ROWS_MANY;
		long got;

		for (size_t n = 0; n < many; n++)
			addresses[n] = row_address(t, first + done + n);
		got = memory->read_rows(memory->context, addresses, many, t->size, buffer);
		for (long n = 0; n < got; n++)
			memcpy(to + (done + (size_t)n) * to_stride, buffer + n * ROWS_PIECE, t->size);
		done += got > 0 ? (size_t)got : 0;
		if (got != (long)many)
			break;
	}
	return done;
}

static size_t write_short_rows(const struct mimic_memory *memory, const struct transfer *t,
			       size_t first, size_t rows, const unsigned char *from,
			       size_t from_stride)
{
	unsigned char buffer[ROWS_MANY * ROWS_PIECE];
	uint64_t addresses[ROWS_MANY];
	size_t done = 0;

	while (done < rows) {
		size_t many = rows - done < ROWS_MANY ? rows - done : ROWS_MANY;
		long got;

		for (size_t n = 0; n < many; n++) {
			addresses[n] = row_address(t, first + done + n);
			memcpy(buffer + n * ROWS_PIECE, from + (done + n) * from_stride, t->size);
		}
		got = memory->write_rows(memory->context, addresses, many, t->size, buffer);
		done += got > 0 ? (size_t)got : 0;
		if (got != (long)many)
			break;
	}
	return done;
}

/* A run of rows at once; fewer than asked for if one is in the way. */
static size_t read_run(struct virgo_job *job, const struct transfer *t, size_t first, size_t rows,
		       unsigned char *to, size_t to_stride)
{
	const struct mimic_memory *memory = &job->virgo->host.memory;
	long got;

	if (!rows)
		return 0;
	if (memory->read_block) {
		got = memory->read_block(memory->context, row_address(t, first), t->stride, t->size,
					 rows, to, to_stride);
		return got > 0 ? (size_t)got : 0;
	}
	if (memory->read_rows && t->size <= ROWS_PIECE)
		return read_short_rows(memory, t, first, rows, to, to_stride);
	return 0;
}

static size_t write_run(struct virgo_job *job, const struct transfer *t, size_t first, size_t rows,
			const unsigned char *from, size_t from_stride)
{
	const struct mimic_memory *memory = &job->virgo->host.memory;
	long got;

	if (!rows)
		return 0;
	if (memory->write_block) {
		got = memory->write_block(memory->context, row_address(t, first), t->stride, t->size,
					  rows, from, from_stride);
		return got > 0 ? (size_t)got : 0;
	}
	if (t->size <= ROWS_PIECE)
		return write_short_rows(memory, t, first, rows, from, from_stride);
	return 0;
}

enum work virgo_dma_read(struct virgo_job *job, const struct transfer *t, void *to, size_t to_stride,
			 size_t *done)
{
	uint64_t begin = mimic_trace_now(&job->trace);
	unsigned char *bytes = to;
	enum work work = WORK_DONE;

	*done = 0;
	while (work == WORK_DONE && *done < t->count) {
		*done += read_run(job, t, *done, plain_rows(job, t, *done),
				  bytes + *done * to_stride, to_stride);
		if (*done == t->count)
			break;
		work = one_row(job, row_address(t, *done), bytes + *done * to_stride, t->size, false);
		*done += work == WORK_DONE;
	}
	count(job, VIRGO_COUNTER_dma_reads, *done);
	count(job, VIRGO_COUNTER_dma_bytes_read, *done * t->size);
	MIMIC_TRACE_FROM(&job->trace, begin, dma_read, 0ull, job->unit->number, t->address, *done * t->size,
			 0ull, (uint64_t)*done);
	return work;
}

enum work virgo_dma_write(struct virgo_job *job, const struct transfer *t, const void *from,
			  size_t from_stride, size_t *done)
{
	uint64_t begin = mimic_trace_now(&job->trace);
	const unsigned char *bytes = from;
	enum work work = WORK_DONE;

	*done = 0;
	while (work == WORK_DONE && *done < t->count) {
		*done += write_run(job, t, *done, plain_rows(job, t, *done),
				   bytes + *done * from_stride, from_stride);
		if (*done == t->count)
			break;
		/* one_row() only reads from the buffer when it writes to memory */
		work = one_row(job, row_address(t, *done), (void *)(bytes + *done * from_stride),
			       t->size, true);
		*done += work == WORK_DONE;
	}
	count(job, VIRGO_COUNTER_dma_writes, *done);
	count(job, VIRGO_COUNTER_dma_bytes_written, *done * t->size);
	MIMIC_TRACE_FROM(&job->trace, begin, dma_write, 0ull, job->unit->number, t->address,
			 *done * t->size, 0ull, (uint64_t)*done);
	return work;
}
