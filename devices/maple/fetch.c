/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* From addresses to words in a queue: TLB, memory port, page faults (paper, section 3.5). */
#include <errno.h>

#include "devices/maple/maple_internal.h"

#define PAGE_BYTES 4096u

/* 0: walk again; -EFAULT: bad address, counted and latched; -EAGAIN: stalled until resolved. */
static int page_fault(struct maple *m, uint64_t address, enum maple_fault_source source)
{
	struct stall *stall = mmu_stall(m, source);
	enum mimic_fault_answer answer = MIMIC_FAULT_BAD;
	uint64_t page = address / PAGE_BYTES;

	count(m, MAPLE_COUNTER_faults, 1);
	mmu_latch(m, address, source);
	if (stall->resolved && stall->page == page) {
		stall->resolved = false;
		return -EFAULT;
	}
	stall->resolved = false;
	if (m->host.interrupt && !m->state.interrupt_waived)
		m->host.interrupt(m->host.context);
	if (m->host.page_fault)
		answer = m->host.page_fault(m->host.context, address, source);
	if (answer == MIMIC_FAULT_BAD)
		return -EFAULT;
	stall->page = page;
	if (answer == MIMIC_FAULT_RETRY) {
		stall->resolved = true;
		return 0;
	}
	stall->stalled = true;
	return -EAGAIN;
}

static int walk(struct maple *m, uint64_t address, uint64_t *frame)
{
	*frame = address & ~(uint64_t)(PAGE_BYTES - 1);
	if (!m->host.memory.walk)
		return 0;
	return m->host.memory.walk(m->host.memory.context, *frame, frame);
}

int translate(struct maple *m, uint64_t address, enum maple_fault_source source,
	      uint64_t *physical, bool *hit)
{
	struct mimic_tlb *tlb = &m->state.tlb;
	uint64_t frame;
	int entry, error;

	if (hit)
		*hit = true;
	*physical = address;
	if (!m->state.translation)
		return 0;
	entry = mimic_tlb_find(tlb, address);
	if (entry >= 0) {
		count(m, MAPLE_COUNTER_tlb_hits, 1);
		*physical = mimic_tlb_physical(tlb, entry, address);
		return 0;
	}
	if (hit)
		*hit = false;
	count(m, MAPLE_COUNTER_tlb_misses, 1);
	while (walk(m, address, &frame)) {
		error = page_fault(m, address, source);
		if (error)
			return error;
	}
	/* A later fault on this page is a new one, for a driver to see. */
	if (m->host.memory.walk && mmu_stall(m, source)->page == address / PAGE_BYTES)
		mmu_stall(m, source)->resolved = false;
	entry = mimic_tlb_fill(tlb, address, frame, MIMIC_TLB_PAGE_SHIFT);
	*physical = mimic_tlb_physical(tlb, entry, address);
	return 0;
}

int read_failed(struct maple *m, uint64_t address, enum maple_fault_source source)
{
	int entry = mimic_tlb_find(&m->state.tlb, address);

	if (entry >= 0)
		mimic_tlb_drop(&m->state.tlb, entry);
	return page_fault(m, address, source);
}

void prefetch_address(struct maple *m, uint64_t address, enum maple_fault_source source)
{
	uint64_t physical;

	count(m, MAPLE_COUNTER_prefetched, 1);
	/* Speculative: a page that is not there ends the prefetch, and nobody waits for it. */
	if (m->state.translation && m->host.memory.walk) {
		if (mimic_tlb_find(&m->state.tlb, address) < 0 && walk(m, address, &physical))
			return;
	}
	if (translate(m, address, source, &physical, NULL))
		return;
	if (m->host.memory.prefetch)
		m->host.memory.prefetch(m->host.memory.context, physical);
}

static void push_value(struct maple *m, struct maple_queue *q, unsigned int size, uint64_t value)
{
	queue_push_many(m, q, size, &value, 1);
}

static struct pending_fetch *free_pending(struct maple *m)
{
	/* There are as many as words, so one is free while the queue has room. */
	for (unsigned int i = 0; i < MAPLE_MAX_WORDS; i++) {
		if (!m->state.pending[i].words)
			return &m->state.pending[i];
	}
	return NULL;
}

static void push_pending(struct maple *m, unsigned int number, unsigned int size, uint64_t tag,
			 uint64_t address, bool hit, enum maple_fault_source source)
{
	struct maple_queue *q = &m->state.queue[number];
	struct pending_fetch *fetch = free_pending(m);

	if (!fetch) {
		/* stale fetches of dropped queues fill the table: this one reads 0 */
		push_value(m, q, size, 0);
		return;
	}
	*fetch = (struct pending_fetch){
		.tag = tag, .address = address, .queue = (uint16_t)number,
		.slot = (uint16_t)(q->first + q->tail), .words = (uint16_t)(size / 4),
		.tlb_hit = hit, .source = source,
	};
	m->state.pending_count++;
	queue_push(m, q, 0, true);
	if (size == 8)
		queue_push(m, q, 0, true);
}

/* One value of `size` bytes; across a page boundary it is two requests. */
static int fetch_one(struct maple *m, uint64_t address, unsigned int size,
		     enum maple_fault_source source, uint64_t *value, bool *pending, bool *hit)
{
	const struct mimic_memory *memory = &m->host.memory;
	uint64_t tag = m->state.next_tag, physical;
	int error;
	long got;

	for (;;) {
		error = translate(m, address, source, &physical, hit);
		if (error)
			return error;
		got = memory->gather(memory->context, &physical, 1, size, tag, value);
		if (got == 1)
			return 0;
		if (got == -EINPROGRESS) {
			m->state.next_tag++;
			*pending = true;
			return 0;
		}
		error = read_failed(m, address, source);
		if (error)
			return error;
	}
}

static int fetch_split(struct maple *m, uint64_t address, enum maple_fault_source source,
		       uint64_t *value)
{
	const struct mimic_memory *memory = &m->host.memory;
	uint32_t half[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		uint64_t physical;
		int error = translate(m, address + 4u * (unsigned int)i, source, &physical, NULL);

		if (!error && memory->read(memory->context, physical, &half[i], 4))
			error = read_failed(m, address + 4u * (unsigned int)i, source);
		if (error == -EAGAIN)
			return error;
	}
	*value = half[0] | (uint64_t)half[1] << 32;
	return 0;
}

/* false: stalled, nothing was done. */
static bool fetch_and_push(struct maple *m, unsigned int number, uint64_t address,
			   unsigned int size, enum maple_fault_source source)
{
	bool crosses = size == 8 && (address & (PAGE_BYTES - 1)) > PAGE_BYTES - 8;
	bool pending = false, hit = false;
	uint64_t value = 0;
	int error;

	if (crosses)
		error = fetch_split(m, address, source, &value);
	else
		error = fetch_one(m, address, size, source, &value, &pending, &hit);
	if (error == -EAGAIN)
		return false;
	count(m, MAPLE_COUNTER_fetched, 1);
	if (pending)
		push_pending(m, number, size, m->state.next_tag - 1, address, hit, source);
	else
		push_value(m, &m->state.queue[number], size, error ? 0 : value);
	return true;
}

/*
 * The usual case of functional mode: identity translation, and a whole block
 * that memory answers at once or takes on at once. Returns false, with nothing
 * changed, if it is not that after all.
 */
static bool fetch_block(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
			unsigned int size, enum maple_fault_source source)
{
	const struct mimic_memory *memory = &m->host.memory;
	struct maple_queue *q = &m->state.queue[number];
	struct mimic_tlb_undo undo;
	uint64_t values[FETCH_BLOCK];
	long got;

	undo.fills = 0;
	if (m->state.translation &&
	    !mimic_tlb_translate_identity(&m->state.tlb, addresses, n, &undo))
		return false;
	got = memory->gather(memory->context, addresses, n, size, m->state.next_tag, values);
	if (got != (long)n && got != -EINPROGRESS) {
		if (m->state.translation)
			mimic_tlb_take_back(&m->state.tlb, &undo);
		return false;
	}
	if (m->state.translation) {
		count(m, MAPLE_COUNTER_tlb_misses, undo.fills);
		count(m, MAPLE_COUNTER_tlb_hits, n - undo.fills);
	}
	count(m, MAPLE_COUNTER_fetched, n);
	if (got == (long)n) {
		queue_push_many(m, q, size, values, n);
		return true;
	}
	for (size_t i = 0; i < n; i++)
		push_pending(m, number, size, m->state.next_tag++, addresses[i], i >= undo.fills,
			     source);
	return true;
}

static bool block_is_plain(const struct maple *m, const uint64_t *addresses, size_t n,
			   unsigned int size)
{
	if (m->host.memory.walk || m->state.pending_count || n < 2)
		return false;
	for (size_t i = 0; size == 8 && i < n; i++) {
		if ((addresses[i] & (PAGE_BYTES - 1)) > PAGE_BYTES - 8)
			return false;
	}
	return true;
}

size_t fetch_into_queue(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
			unsigned int size, enum maple_fault_source source)
{
	uint64_t original[FETCH_BLOCK];

	if (block_is_plain(m, addresses, n, size)) {
		memcpy(original, addresses, n * sizeof(*addresses));
		if (fetch_block(m, number, addresses, n, size, source))
			return n;
		addresses = original;
	}
	for (size_t i = 0; i < n; i++) {
		if (!fetch_and_push(m, number, addresses[i], size, source))
			return i;
	}
	return n;
}

static void deliver(struct maple *m, struct pending_fetch *fetch, uint64_t value)
{
	struct maple_queue *q = &m->state.queue[fetch->queue];
	unsigned int slot = fetch->slot;

	for (unsigned int i = 0; i < fetch->words; i++) {
		m->state.words[slot] = (uint32_t)(value >> (32 * i));
		m->state.word_pending[slot] = false;
		q->pending--;
		slot = slot + 1 == q->first + q->size ? q->first : slot + 1;
	}
}

void maple_model_fill(struct mimic_model *model, uint64_t tag, int status, uint64_t value,
		      uint64_t now)
{
	struct maple *m = maple_of(model);
	struct pending_fetch *fetch = NULL;
	unsigned int number;

	m->prefetch_budget = PREFETCH_BUDGET;
	if (now > m->state.now)
		m->state.now = now;
	for (unsigned int i = 0; i < MAPLE_MAX_WORDS && !fetch; i++) {
		if (m->state.pending[i].words && m->state.pending[i].tag == tag)
			fetch = &m->state.pending[i];
	}
	if (!fetch)
		return;
	number = fetch->queue;
	if (status) {
		int entry = mimic_tlb_find(&m->state.tlb, fetch->address);

		if (entry >= 0)
			mimic_tlb_drop(&m->state.tlb, entry);
		/*
		 * Memory that answers at once would have walked again: the entry
		 * of a page that cannot be read does not stay.
		 */
		if (fetch->tlb_hit) {
			m->state.counters[MAPLE_COUNTER_tlb_hits]--;
			count(m, MAPLE_COUNTER_tlb_misses, 1);
		}
		count(m, MAPLE_COUNTER_faults, 1);
		mmu_latch(m, fetch->address, (enum maple_fault_source)fetch->source);
		value = 0;
	}
	if (fetch->stale)
		m->state.stale_count--;
	else
		deliver(m, fetch, value);
	fetch->words = 0;
	m->state.pending_count--;
	queue_progress(m, number);
}
