/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the registers of a MAPLE show (docs/state.md). A load of many of them has an
 * effect: here is what it would answer, without the effect. What depends on who loads
 * is answered as to a thread that has no role.
 */
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"

#define PRODUCER_FLAG 2u
#define CONSUMER_FLAG 1u
#define NOBODY UINT64_MAX	/* a thread that has no role */
#define PAGE_SHIFT 12

static const char *meaning_of_load(unsigned int operation)
{
	switch (operation) {
#define _(code, name, meaning) case code: return meaning;
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
	default:
		return NULL;
	}
}

/* While a custom response is pending, the artifact gives it to whoever loads a configuration register. */
static uint64_t answer(const struct maple *m, uint64_t value)
{
	uint64_t hijacked;

	return custom_hijack(m, &hijacked) ? hijacked : value;
}

static uint64_t queues_answer(const struct maple *m)
{
	return connection_answer(m, NULL, NOBODY, 0);
}

static bool loses_init(const struct maple *m)
{
	return m->state.stale_count && has_quirk(m, MAPLE_QUIRK_init_after_reset_lost);
}

/* The same for all size codes: they say how large queues get, not what is answered. */
static uint64_t add_answer(const struct maple *m)
{
	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (!m->state.queue[i].allocated)
			return (uint64_t)i << 32;
	}
	return queues_answer(m);
}

static uint64_t open_answer(const struct maple *m, const struct maple_queue *q, bool producer)
{
	if (loses_init(m))
		return 0;
	if (!q->allocated || (producer ? q->producer : q->consumer))
		return queues_answer(m);
	return queues_answer(m) | (producer ? PRODUCER_FLAG : CONSUMER_FLAG);
}

static uint64_t clear_answer(const struct maple *m, const struct maple_queue *q)
{
	return queues_answer(m) | (q->allocated && !q->consumer);
}

uint64_t maple_state_clock(const struct side_clock *clock, bool waiting, uint64_t now)
{
	uint64_t before = waiting ? clock->waiting : clock->idle;
	bool runs = waiting ? clock->is_waiting : clock->open && !clock->is_waiting;

	return before + (runs ? now - clock->since : 0);
}

static uint64_t statistics_answer(const struct maple *m, const struct maple_queue *q, uint64_t now)
{
	uint64_t high, low;

	if (m->state.statistics_index == 0)
		return 0;
	if (m->state.statistics_index == 3) {
		high = m->state.tile_pops;
		low = q->popped;
	} else {
		bool waiting = m->state.statistics_index == 2;

		high = maple_state_clock(&q->producer_clock, waiting, now);
		low = maple_state_clock(&q->consumer_clock, waiting, now);
	}
	return high << 32 | (low & 0xffffffff);
}

static uint64_t queue_load(const struct maple *m, unsigned int operation, unsigned int number,
			   uint64_t now)
{
	const struct maple_queue *q = &m->state.queue[number];

	switch (operation) {
	case MAPLE_LOAD_OPEN_PRODUCER:
	case MAPLE_LOAD_OPEN_CONSUMER:
		return open_answer(m, q, operation == MAPLE_LOAD_OPEN_PRODUCER);
	case MAPLE_LOAD_FIFO_CLEAR:
		return clear_answer(m, q);
	case MAPLE_LOAD_STATISTICS:
		return statistics_answer(m, q, now);
	case MAPLE_LOAD_QUEUE_STATE:
		return extension_load(m, operation, number);
	default:
		return queues_answer(m);
	}
}

/* One value for each queue. */
static void queue_register(const struct maple *m, unsigned int operation, const char *name,
			   uint64_t now, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, name);
	for (unsigned int i = 0; i < m->config.queues; i++)
		mimic_state_hex_at(visitor, i, answer(m, queue_load(m, operation, i, now)),
				   meaning_of_load(operation));
	mimic_state_leave(visitor, name);
}

/* As to a load of 4 bytes by the queue's consumer: the word at the head, which stays there. */
static void consume_register(const struct maple *m, const struct mimic_state_visitor *visitor)
{
	const char *meaning = meaning_of_load(MAPLE_LOAD_CONSUME);

	mimic_state_enter(visitor, "CONSUME");
	for (unsigned int i = 0; i < m->config.queues; i++) {
		const struct maple_queue *q = &m->state.queue[i];
		unsigned int slot = (unsigned int)q->first + q->head;

		if (!q->allocated || !q->consumer)
			mimic_state_hex_at(visitor, i, low_bytes(answer(m, 0), 4), meaning);
		else if (q->load.valid)
			mimic_state_text_at(visitor, i, MIMIC_STATE_WAITS, meaning);
		else if (q->level && !m->state.word_pending[slot])
			mimic_state_hex_at(visitor, i, m->state.words[slot], meaning);
		else if (q->hung)
			mimic_state_hex_at(visitor, i, 0, meaning);
		else
			mimic_state_text_at(visitor, i, MIMIC_STATE_WAITS, meaning);
	}
	mimic_state_leave(visitor, "CONSUME");
}

static void plain_register(const struct maple *m, unsigned int operation, const char *name,
			   uint64_t value, const struct mimic_state_visitor *visitor)
{
	mimic_state_hex(visitor, name, answer(m, value), meaning_of_load(operation));
}

static void maple_page(const struct maple *m, uint64_t now, const struct mimic_state_visitor *visitor)
{
#define QUEUES(name) queue_register(m, MAPLE_LOAD_##name, #name, now, visitor)
#define PLAIN(name, value) plain_register(m, MAPLE_LOAD_##name, #name, value, visitor)
	mimic_state_enter(visitor, "MAPLE");
	PLAIN(INIT, queues_allocated(m) ? queues_answer(m) : 2);
	PLAIN(RESET, queues_answer(m));
	QUEUES(OPEN_PRODUCER);
	QUEUES(OPEN_CONSUMER);
	QUEUES(CLOSE_PRODUCER);
	QUEUES(CLOSE_CONSUMER);
	PLAIN(FIFO_ADD, add_answer(m));
	consume_register(m, visitor);
	QUEUES(FIFO_CLEAR);
	QUEUES(STATISTICS);
	mimic_state_enter(visitor, "DEBUG");
	for (unsigned int field = 0; field < 3; field++)
		mimic_state_hex_at(visitor, field, answer(m, debug_load(m, field)),
				   meaning_of_load(MAPLE_LOAD_DEBUG));
	mimic_state_leave(visitor, "DEBUG");
	if (!has_quirk(m, MAPLE_QUIRK_no_extension)) {
		PLAIN(IDENTIFY, extension_load(m, MAPLE_LOAD_IDENTIFY, 0));
		QUEUES(QUEUE_STATE);
		PLAIN(FAULT_ADDRESS, extension_load(m, MAPLE_LOAD_FAULT_ADDRESS, 0));
		PLAIN(FAULT_COUNT, extension_load(m, MAPLE_LOAD_FAULT_COUNT, 0));
	}
	mimic_state_leave(visitor, "MAPLE");
#undef QUEUES
#undef PLAIN
}

/* A real load arms what it shows for RESOLVE. */
static uint64_t fault_status(const struct maple *m)
{
	const struct maple_state *s = &m->state;

	for (unsigned int i = 0; i < 2; i++) {
		if (s->stall[i].stalled)
			return s->stall[i].page << PAGE_SHIFT | MAPLE_FAULT_STALLED |
			       (s->stall[i].writes ? MAPLE_FAULT_WRITES : 0) | 1u << i;
	}
	if (!s->fault_source)
		return 0;
	return s->fault_page << PAGE_SHIFT | (s->fault_writes ? MAPLE_FAULT_WRITES : 0) | s->fault_source;
}

/* A real load goes on to the next entry. Fields as in the artifact: see mmu.c. */
static uint64_t snoop(const struct maple *m)
{
	const struct mimic_tlb *tlb = &m->state.tlb;
	unsigned int i = m->state.snoop_index % tlb->entries;
	bool is_large = tlb->large >> i & 1, is_huge = tlb->huge >> i & 1;

	if (!(tlb->valid >> i & 1))
		return 0;
	return 0xfull << 60 | (tlb->page[i] & 0x7ffffff) << 32 | (tlb->frame[i] & 0xfffffff) << 4 | 1u << 3 |
	       (uint64_t)(is_large && !is_huge) << 2 | (uint64_t)is_huge << 1 | 1;
}

static void mmu_page(const struct maple *m, const struct mimic_state_visitor *visitor)
{
	const char *meaning = meaning_of_load(MAPLE_LOAD_DEBUG);
	uint64_t fault = fault_status(m);

	mimic_state_enter(visitor, "MMU");
	mimic_state_enter(visitor, "DEBUG");
	mimic_state_hex_at(visitor, MAPLE_MMU_FLUSH, answer(m, 0), meaning);
	mimic_state_hex_at(visitor, MAPLE_MMU_FAULT,
			   answer(m, fault & ~(uint64_t)(MAPLE_FAULT_STALLED | MAPLE_FAULT_WRITES)), meaning);
	mimic_state_hex_at(visitor, MAPLE_MMU_SNOOP, answer(m, snoop(m)), meaning);
	mimic_state_leave(visitor, "DEBUG");
	if (!has_quirk(m, MAPLE_QUIRK_no_extension))
		plain_register(m, MAPLE_LOAD_FAULT_STATUS, "FAULT_STATUS", fault, visitor);
	mimic_state_leave(visitor, "MMU");
}

static void custom_page(const struct maple *m, const struct mimic_state_visitor *visitor)
{
	const struct custom_fifo *fifo = &m->state.responses;
	uint64_t head = fifo->count ? fifo->data[fifo->first] : 0;

	if (has_quirk(m, MAPLE_QUIRK_custom_byte_swapped))
		head = (uint64_t)__builtin_bswap32((uint32_t)(head >> 32)) << 32 |
		       __builtin_bswap32((uint32_t)head);
	mimic_state_enter(visitor, "CUSTOM");
	mimic_state_hex(visitor, "RESPONSE", head, "what any load of this page answers: the oldest response");
	mimic_state_decimal(visitor, "responses", fifo->count, "responses that nobody has loaded");
	mimic_state_leave(visitor, "CUSTOM");
}

void maple_state_registers(const struct maple *m, uint64_t now,
			   const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "registers");
	maple_page(m, now, visitor);
	mmu_page(m, visitor);
	custom_page(m, visitor);
	mimic_state_leave(visitor, "registers");
}
