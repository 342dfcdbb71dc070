/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* From addresses to words in a queue: TLB, memory port, page faults (paper, section 3.5). */
#include <errno.h>

#include "devices/maple/maple_internal.h"

#define PAGE_BYTES 4096u

static struct resolved *resolved_of(struct maple *m, struct requester who)
{
	return &m->state.queue[who.queue].resolved[who.source == MAPLE_FAULT_LIMA];
}

static enum mimic_fault_answer ask_host(struct maple *m, uint64_t address, struct requester who)
{
	if (m->host.interrupt && !m->state.interrupt_waived)
		m->host.interrupt(m->host.context);
	if (!m->host.page_fault)
		return MIMIC_FAULT_BAD;
	return m->host.page_fault(m->host.context, address, who.source);
}

/* 0: walk again; -EFAULT: bad address, latched; -EAGAIN: stalled until resolved. */
static int page_fault(struct maple *m, uint64_t address, struct requester who)
{
	struct resolved *resolved = resolved_of(m, who);
	enum mimic_fault_answer answer = MIMIC_FAULT_BAD;
	uint64_t page = address / PAGE_BYTES;
	bool is_hopeless = resolved->valid && resolved->page == page;

	resolved->valid = false;
	if (!is_hopeless)
		answer = ask_host(m, address, who);
	MIMIC_TRACE(&m->model.trace, page_fault, 0ull, who.queue, address, who.writes, answer, 0ull);
	switch (answer) {
	case MIMIC_FAULT_RETRY:
		*resolved = (struct resolved){ .valid = true, .page = page };
		return 0;
	case MIMIC_FAULT_STALL:
		count(m, MAPLE_COUNTER_page_faults, 1);
		*maple_mmu_stall(m, who.source) = (struct stall){
			.stalled = true, .writes = who.writes, .queue = who.queue, .page = page,
		};
		return -EAGAIN;
	default:
		/* A program sees a fault that stayed unresolved, whether there is a driver or not. */
		count(m, MAPLE_COUNTER_faults, 1);
		maple_mmu_latch(m, address, who.source, who.writes);
		return -EFAULT;
	}
}

static int walk(struct maple *m, uint64_t address, uint64_t *frame)
{
	*frame = address & ~(uint64_t)(PAGE_BYTES - 1);
	if (!m->host.memory.walk)
		return 0;
	return m->host.memory.walk(m->host.memory.context, *frame, frame);
}

static inline int translate(struct maple *m, uint64_t address, struct requester who, uint64_t *physical,
			    bool *hit)
{
	struct mimic_tlb *tlb = &m->state.tlb;
	uint64_t frame;
	int entry, error;

	if (hit)
		*hit = false;
	*physical = address;
	if (!m->state.translation)
		return 0;
	entry = mimic_tlb_find(tlb, address);
	if (entry >= 0) {
		count(m, MAPLE_COUNTER_tlb_hits, 1);
		if (hit)
			*hit = true;
		*physical = mimic_tlb_physical(tlb, entry, address);
		return 0;
	}
	count(m, MAPLE_COUNTER_tlb_misses, 1);
	MIMIC_TRACE(&m->model.trace, tlb_miss, 0ull, who.queue, address, 0u, 0ull, 1ull);
	while (walk(m, address, &frame)) {
		error = page_fault(m, address, who);
		if (error)
			return error;
	}
	if (m->host.memory.walk)
		maple_read_succeeded(m, address, who);
	entry = mimic_tlb_fill(tlb, address, frame, MIMIC_TLB_PAGE_SHIFT);
	*physical = mimic_tlb_physical(tlb, entry, address);
	return 0;
}

int maple_translate(struct maple *m, uint64_t address, struct requester who, uint64_t *physical,
		    bool *hit)
{
	return translate(m, address, who, physical, hit);
}

void maple_read_succeeded(struct maple *m, uint64_t address, struct requester who)
{
	struct resolved *resolved = resolved_of(m, who);

	if (resolved->page == address / PAGE_BYTES)
		resolved->valid = false;
}

int maple_read_failed(struct maple *m, uint64_t address, struct requester who)
{
	int entry = mimic_tlb_find(&m->state.tlb, address);

	if (entry >= 0)
		mimic_tlb_drop(&m->state.tlb, entry);
	return page_fault(m, address, who);
}

void maple_prefetch_address(struct maple *m, uint64_t address, enum maple_fault_source source)
{
	const struct requester who = { .source = (uint8_t)source };
	uint64_t physical;

	count(m, MAPLE_COUNTER_prefetched, 1);
	/* Speculative: a page that is not there ends the prefetch, and nobody waits for it. */
	if (m->state.translation && m->host.memory.walk) {
		if (mimic_tlb_find(&m->state.tlb, address) < 0 && walk(m, address, &physical))
			return;
	}
	if (maple_translate(m, address, who, &physical, NULL))
		return;
	if (m->host.memory.prefetch)
		m->host.memory.prefetch(m->host.memory.context, physical);
}

static void push_value(struct maple *m, struct maple_queue *q, unsigned int size, uint64_t value)
{
	if (size == 4)
		maple_queue_push(m, q, (uint32_t)value, false);
	else
		maple_queue_push_many(m, q, size, &value, 1);
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
	maple_queue_push(m, q, 0, true);
	if (size == 8)
		maple_queue_push(m, q, 0, true);
}

/* One value of `size` bytes; across a page boundary it is two requests. */
static int fetch_one(struct maple *m, uint64_t address, unsigned int size, struct requester who,
		     uint64_t *value, bool *pending, bool *hit)
{
	const struct mimic_memory *memory = &m->host.memory;
	uint64_t tag = m->state.next_tag, physical;
	int error;
	long got;

	for (;;) {
		error = translate(m, address, who, &physical, hit);
		if (error)
			return error;
		got = memory->gather(memory->context, &physical, 1, size, tag, value);
		if (got == 1) {
			maple_read_succeeded(m, address, who);
			return 0;
		}
		if (got == -EINPROGRESS) {
			m->state.next_tag++;
			*pending = true;
			return 0;
		}
		error = maple_read_failed(m, address, who);
		if (error)
			return error;
	}
}

static int fetch_half(struct maple *m, uint64_t address, struct requester who, uint32_t *half)
{
	const struct mimic_memory *memory = &m->host.memory;
	uint64_t physical;
	int error;

	*half = 0;
	for (;;) {
		error = maple_translate(m, address, who, &physical, NULL);
		if (error)
			return error;
		if (!memory->read(memory->context, physical, half, sizeof(*half))) {
			maple_read_succeeded(m, address, who);
			return 0;
		}
		error = maple_read_failed(m, address, who);
		if (error)
			return error;
	}
}

static int fetch_split(struct maple *m, uint64_t address, struct requester who, uint64_t *value)
{
	struct maple_queue *q = &m->state.queue[who.queue];
	uint32_t low = 0, high = 0;

	/*
	 * If the second half stalls the whole is tried again: with two bad pages,
	 * each resolved in turn, it would never end if the first were not known.
	 */
	if (q->bad_half != address) {
		int error = fetch_half(m, address, who, &low);

		if (error == -EAGAIN)
			return error;
		if (error)
			q->bad_half = address;
	}
	if (fetch_half(m, address + sizeof(low), who, &high) == -EAGAIN)
		return -EAGAIN;
	q->bad_half = 0;
	*value = low | (uint64_t)high << 32;
	return 0;
}

bool maple_fetch_value(struct maple *m, unsigned int number, uint64_t address, unsigned int size,
		       enum maple_fault_source source)
{
	const struct requester who = { .queue = (uint8_t)number, .source = (uint8_t)source };
	uint64_t begin = mimic_trace_now(&m->model.trace);
	bool crosses = size == 8 && (address & (PAGE_BYTES - 1)) > PAGE_BYTES - 8;
	bool pending = false, hit = false;
	uint64_t value = 0;
	int error;

	if (crosses)
		error = fetch_split(m, address, who, &value);
	else
		error = fetch_one(m, address, size, who, &value, &pending, &hit);
	if (error == -EAGAIN)
		return false;
	count(m, MAPLE_COUNTER_fetched, 1);
	MIMIC_TRACE_FROM(&m->model.trace, begin, fetch, 0ull, number, address, size, 0ull, 1ull);
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
	uint64_t begin = mimic_trace_now(&m->model.trace), first = addresses[0];
	uint64_t values[FETCH_BLOCK];
	long got;

	undo.fills = 0;
	/* While they are translated, memory answers. Pointers of stores were announced where they were posted. */
	if (source == MAPLE_FAULT_LIMA && memory->announce)
		memory->announce(memory->context, addresses, n);
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
	if (undo.fills)
		MIMIC_TRACE(&m->model.trace, tlb_miss, 0ull, number,
			    first, 0u, 0ull, (uint64_t)undo.fills);
	count(m, MAPLE_COUNTER_fetched, n);
	MIMIC_TRACE_FROM(&m->model.trace, begin, fetch, 0ull, number, first, size, 0ull, (uint64_t)n);
	if (got == (long)n) {
		/* Which of the pages it was does not matter: they are all there. */
		q->resolved[source == MAPLE_FAULT_LIMA].valid = false;
		maple_queue_push_many(m, q, size, values, n);
		return true;
	}
	for (size_t i = 0; i < n; i++)
		push_pending(m, number, size, m->state.next_tag++, addresses[i],
			     m->state.translation && undo.hits >> i & 1, source);
	return true;
}

/* Does one of these values of 8 bytes lie in two pages? */
static bool one_crosses(const uint64_t *addresses, size_t n)
{
	uint64_t bits = 0;

#pragma GCC unroll 4
	for (size_t i = 0; i < n; i++)
		bits |= addresses[i];
	if (!(bits & 7))
		return false;
	for (size_t i = 0; i < n; i++) {
		if ((addresses[i] & (PAGE_BYTES - 1)) > PAGE_BYTES - 8)
			return true;
	}
	return false;
}

static bool block_is_plain(const struct maple *m, const uint64_t *addresses, size_t n,
			   unsigned int size)
{
	if (m->host.memory.walk || m->state.pending_count || n < 2)
		return false;
	return size != 8 || !one_crosses(addresses, n);
}

size_t maple_fetch_into_queue(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
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
		if (!maple_fetch_value(m, number, addresses[i], size, source))
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
	mimic_trace_now(&m->model.trace);
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
		MIMIC_TRACE(&m->model.trace, page_fault, 0ull, number, fetch->address, 0u,
			    MIMIC_FAULT_BAD, 0ull);
		maple_mmu_latch(m, fetch->address, (enum maple_fault_source)fetch->source, false);
		value = 0;
	}
	if (fetch->stale)
		m->state.stale_count--;
	else
		deliver(m, fetch, value);
	fetch->words = 0;
	m->state.pending_count--;
	maple_queue_progress(m, number);
}
