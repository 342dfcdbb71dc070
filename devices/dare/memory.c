/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tiles to memory requests: one for each row, two for a row that lies in two
 * pages. Requests are translated in their order and then made in their order.
 * One whose page is missing may stall its context: it and those after it are
 * tried again, with fresh translations, when the page is resolved.
 */
#include "devices/changes.h"
#include "devices/dare/dare_internal.h"

#define PAGE_BYTES 4096u

struct transfer {
	struct dare *d;
	struct dare_context *c;
	struct queue_entry *entry;
	const struct mimic_memory *memory;
	uint8_t (*rows)[DARE_ROW_BYTES];	/* rows of a store, or rows that a load has read */
	unsigned int width;			/* bytes of a row */
	bool writes;
	uint64_t begin;				/* of a trace */
};

static bool is_indexed(const struct queue_entry *entry)
{
	enum dare_format format = dare_instructions[entry->operation].format;

	return format == DARE_FORMAT_GATHER || format == DARE_FORMAT_SCATTER;
}

static bool is_store(const struct queue_entry *entry)
{
	enum dare_format format = dare_instructions[entry->operation].format;

	return format == DARE_FORMAT_STORE || format == DARE_FORMAT_SCATTER;
}

static uint64_t gathered_address(const struct dare *d, struct dare_context *c,
				 const struct queue_entry *entry, unsigned int row)
{
	uint64_t address;

	memcpy(&address, matrix_of(d, c, entry->ms1)[row], sizeof(address));
	return address;
}

static void add_request(struct dare_context *c, unsigned int row, unsigned int offset, uint64_t address,
			unsigned int bytes)
{
	c->request[c->request_count++] = (struct memory_request){
		.address = address, .row = (uint8_t)row, .offset = (uint8_t)offset,
		.bytes = (uint8_t)bytes,
	};
}

static void add_row(struct dare_context *c, unsigned int row, uint64_t address, unsigned int width)
{
	unsigned int room = PAGE_BYTES - (unsigned int)(address % PAGE_BYTES);

	if (width <= room) {
		add_request(c, row, 0, address, width);
		return;
	}
	add_request(c, row, 0, address, room);
	add_request(c, row, room, address + room, width - room);
}

static void make_requests(const struct dare *d, struct dare_context *c, struct queue_entry *entry)
{
	uint64_t alignment = dare_instructions[entry->operation].element - 1;
	unsigned int rows = c->csr[DARE_CSR_MATRIX_M], width = c->csr[DARE_CSR_MATRIX_K], row;
	uint64_t address = entry->rs1;
	bool indexed = is_indexed(entry);

	c->request_count = 0;
	c->request_next = 0;
	for (row = 0; row < rows; row++) {
		if (indexed)
			address = gathered_address(d, c, entry, row);
		if (address & alignment)
			break;
		add_row(c, row, address, width);
		address += entry->rs2;
	}
	entry->rows = (uint8_t)row;
	entry->started = 1;
}

/* Base and stride are looked at before the first row moves, the stride of a single row as well. */
static enum result begin(struct dare_context *c, struct queue_entry *entry, bool is_attached)
{
	uint64_t alignment = dare_instructions[entry->operation].element - 1;

	if (!is_attached) {
		dare_mpu_queue_fail(c, DARE_ERROR_DETACHED, 0, 0);
		return RESULT_FAILED;
	}
	if (!is_indexed(entry) && (entry->rs1 | entry->rs2) & alignment) {
		dare_mpu_queue_fail(c, DARE_ERROR_MISALIGNED,
				    entry->rs1 & alignment ? entry->rs1 : entry->rs2, 0);
		return RESULT_FAILED;
	}
	return RESULT_COMPLETE;
}

static bool translate(struct transfer *t, struct memory_request *request)
{
	uint64_t page = request->address & ~(uint64_t)(PAGE_BYTES - 1), frame = page;
	struct mimic_tlb *tlb = &t->c->tlb;
	int entry = mimic_tlb_find(tlb, page);

	if (entry >= 0) {
		count(t->c, DARE_COUNTER_tlb_hits, 1);
		request->physical = mimic_tlb_physical(tlb, entry, request->address);
		return true;
	}
	count(t->c, DARE_COUNTER_tlb_misses, 1);
	MIMIC_TRACE(&t->d->model.trace, tlb_miss, 0ull, context_number(t->d, t->c), request->address, 0u,
		    0ull, 1ull);
	if (t->memory->walk && t->memory->walk(t->memory->context, page, &frame))
		return false;
	mimic_tlb_fill(tlb, page, frame, MIMIC_TLB_PAGE_SHIFT);
	request->physical = frame + request->address % PAGE_BYTES;
	return true;
}

/* Requests from request_next on whose translation is known; returns the first that has none. */
static unsigned int translate_all(struct transfer *t)
{
	struct memory_request *request = t->c->request;
	unsigned int i = t->c->request_next;

	for (; i < t->c->request_count; i++) {
		/* The page that was used last is a hit, and it is the latest already. */
		if (i > t->c->request_next &&
		    (request[i].address ^ request[i - 1].address) < PAGE_BYTES) {
			request[i].physical = request[i - 1].physical - request[i - 1].address +
					      request[i].address;
			count(t->c, DARE_COUNTER_tlb_hits, 1);
			continue;
		}
		if (!translate(t, &request[i]))
			break;
	}
	return i;
}

static bool is_whole_row(const struct transfer *t, const struct memory_request *request)
{
	return request->bytes == t->width;
}

/* A part of a row. */
static bool move_part(struct transfer *t, const struct memory_request *request)
{
	uint8_t *bytes = t->rows[request->row] + request->offset;
	uint8_t part[DARE_ROW_BYTES];

	if (t->writes)
		return t->memory->write_rows(t->memory->context, &request->physical, 1, request->bytes,
					     bytes) == 1;
	if (t->memory->read_rows(t->memory->context, &request->physical, 1, request->bytes, part) != 1)
		return false;
	if (!request->offset)
		memset(bytes, 0, DARE_ROW_BYTES);
	memcpy(bytes, part, request->bytes);
	return true;
}

/* Whole rows from `first` on, as many as follow each other before `end`; returns how many were moved. */
static unsigned int move_rows(struct transfer *t, unsigned int first, unsigned int end, unsigned int *run)
{
	const struct memory_request *request = &t->c->request[first];
	uint64_t physical[DARE_ROWS];
	uint8_t *rows = t->rows[request->row];
	unsigned int n = 0;
	long moved;

	while (first + n < end && is_whole_row(t, &request[n]) && request[n].row == request->row + n) {
		physical[n] = request[n].physical;
		n++;
	}
	*run = n;
	if (t->writes)
		moved = t->memory->write_rows(t->memory->context, physical, n, t->width, rows);
	else
		moved = t->memory->read_rows(t->memory->context, physical, n, t->width, rows);
	return moved <= 0 ? 0 : (unsigned long)moved > n ? n : (unsigned int)moved;
}

/* Makes the requests before `end`. false: request_next is one that could not be made. */
static bool move_until(struct transfer *t, unsigned int end)
{
	struct dare_context *c = t->c;
	unsigned int run, moved;

	while (c->request_next < end) {
		const struct memory_request *request = &c->request[c->request_next];

		if (is_whole_row(t, request)) {
			moved = move_rows(t, c->request_next, end, &run);
		} else {
			run = 1;
			moved = move_part(t, request);
		}
		c->request_next += moved;
		if (moved < run)
			return false;
	}
	return true;
}

void dare_mpu_memory_fail(struct dare *d, struct dare_context *c)
{
	const struct memory_request *request = &c->request[c->request_next];

	count(c, DARE_COUNTER_faults, 1);
	d->state.fault_count++;
	dare_mpu_queue_fail(c, is_store(&c->queue[c->queue_first]) ? DARE_ERROR_STORE : DARE_ERROR_LOAD,
			    request->address, request->row);
}

static void stall(struct transfer *t, const struct memory_request *request)
{
	struct dare_context *c = t->c;

	count(c, DARE_COUNTER_page_faults, 1);
	c->stalled = 1;
	c->stall_page = request->address / PAGE_BYTES;
	c->stall_writes = t->writes;
	c->stall_order = ++t->d->state.stall_order;
	if (t->d->host.interrupt)
		t->d->host.interrupt(t->d->host.context);
}

/* request_next could not be translated or made. COMPLETE: try it again. */
static enum result fault(struct transfer *t)
{
	struct memory_request *request = &t->c->request[t->c->request_next];
	enum mimic_fault_answer answer = MIMIC_FAULT_BAD;
	const struct mimic_host *host = &t->d->host;
	int entry = mimic_tlb_find(&t->c->tlb, request->address);

	if (entry >= 0)
		mimic_tlb_drop(&t->c->tlb, entry);
	if (host->context_fault)
		answer = host->context_fault(host->context, context_number(t->d, t->c),
					     request->address, t->writes);
	MIMIC_TRACE(&t->d->model.trace, page_fault, 0ull, context_number(t->d, t->c), request->address,
		    t->writes, answer, 0ull);
	if (answer == MIMIC_FAULT_STALL) {
		stall(t, request);
		return RESULT_STALLED;
	}
	/* A page that is said to be there again and again, and is not, must not hold us here. */
	if (answer == MIMIC_FAULT_RETRY && request->retries++ < RETRIES_MAX)
		return RESULT_COMPLETE;
	dare_mpu_memory_fail(t->d, t->c);
	return RESULT_FAILED;
}

/* Of an indexed instruction the address is the first row's. */
static void trace_transfer(const struct transfer *t)
{
	struct mimic_trace_source *trace = &t->d->model.trace;
	unsigned int context = context_number(t->d, t->c);
	uint64_t address = is_indexed(t->entry) ? t->c->request[0].address : t->entry->rs1;

	if (t->writes)
		MIMIC_TRACE_FROM(trace, t->begin, store, 0ull, context, address, t->width, 0ull,
				 (uint64_t)t->entry->rows);
	else
		MIMIC_TRACE_FROM(trace, t->begin, fetch, 0ull, context, address, t->width, 0ull,
				 (uint64_t)t->entry->rows);
}

static void finish(const struct transfer *t)
{
	if (t->writes)
		dare_mpu_stored(t->c, t->entry->rows);
	else
		dare_mpu_loaded(t->d, t->c, places_of(t->d, t->c), t->entry->md, t->entry->rows);
	trace_transfer(t);
}

/* All requests have been made. */
static enum result finish_requests(struct transfer *t)
{
	const struct queue_entry *entry = t->entry;
	struct dare_context *c = t->c;

	if (entry->rows < c->csr[DARE_CSR_MATRIX_M]) {
		dare_mpu_queue_fail(c, DARE_ERROR_MISALIGNED, gathered_address(t->d, c, entry, entry->rows),
				    entry->rows);
		return RESULT_FAILED;
	}
	finish(t);
	c->request_count = 0;
	c->request_next = 0;
	return RESULT_COMPLETE;
}

static bool move_in_page(const struct transfer *t)
{
	struct queue_entry *entry = t->entry;

	if (is_indexed(entry))
		return false;
	entry->rows = (uint8_t)t->c->csr[DARE_CSR_MATRIX_M];
	if (t->writes)
		return dare_mpu_store_in_page(t->d, t->c, entry->ms2, entry->rs1, entry->rs2);
	return dare_mpu_load_in_page(t->d, t->c, entry->md, entry->rs1, entry->rs2);
}

enum result dare_mpu_memory_execute(struct dare *d, struct dare_context *c, struct queue_entry *entry)
{
	struct transfer t = {
		.d = d, .c = c, .entry = entry, .memory = d->memory[context_number(d, c)],
		.width = c->csr[DARE_CSR_MATRIX_K], .writes = is_store(entry),
		.begin = mimic_trace_now(&d->model.trace),
	};
	enum result result;
	unsigned int end;

	if (!entry->started) {
		result = begin(c, entry, t.memory != NULL);
		if (result != RESULT_COMPLETE)
			return result;
		if (move_in_page(&t)) {
			trace_transfer(&t);
			return RESULT_COMPLETE;
		}
		make_requests(d, c, entry);
	}
	t.rows = matrix_of(d, c, t.writes ? entry->ms2 : PLACE_FREE);
	/* It may have been a register since the daemon's step began, and the port's writes are not seen. */
	if (!t.writes)
		mimic_changes(t.rows, DARE_REGISTER_BYTES);
	while (c->request_next < c->request_count) {
		end = translate_all(&t);
		if (move_until(&t, end) && end == c->request_count)
			break;
		result = fault(&t);
		if (result != RESULT_COMPLETE)
			return result;
	}
	return finish_requests(&t);
}
