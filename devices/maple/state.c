/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state tree of a MAPLE beside its registers: queues, LIMA, faults, TLB (docs/state.md). */
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"

#define HEAD_WORDS 8
#define PAGE_SHIFT 12

static void clock_values(const struct maple_queue *q, uint64_t now,
			 const struct mimic_state_visitor *visitor)
{
	mimic_state_decimal(visitor, "producer_idle", maple_state_clock(&q->producer_clock, false, now),
			    "cycles in which it had a producer that did not wait");
	mimic_state_decimal(visitor, "producer_waiting", maple_state_clock(&q->producer_clock, true, now),
			    "cycles in which a store waited");
	mimic_state_decimal(visitor, "consumer_idle", maple_state_clock(&q->consumer_clock, false, now),
			    "cycles in which it had a consumer that did not wait");
	mimic_state_decimal(visitor, "consumer_waiting", maple_state_clock(&q->consumer_clock, true, now),
			    "cycles in which a load waited");
}

static void head_words(const struct maple *m, const struct maple_queue *q,
		       const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "head");
	for (unsigned int i = 0; i < q->level && i < HEAD_WORDS; i++) {
		unsigned int slot = q->first + (q->head + i) % q->size;

		if (m->state.word_pending[slot])
			mimic_state_text_at(visitor, i, "on its way", "memory has not answered yet");
		else
			mimic_state_hex_at(visitor, i, m->state.words[slot], "word, from the oldest on");
	}
	mimic_state_leave(visitor, "head");
}

static void who_waits(const char *name, const struct parked *parked,
		      const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, name);
	mimic_state_boolean(visitor, "waits", parked->valid, "an access waits");
	if (parked->valid) {
		mimic_state_decimal(visitor, "owner", parked->access.owner, "thread that waits");
		mimic_state_decimal(visitor, "operation", parked->access.offset >> MAPLE_OPERATION_SHIFT & 63,
				    "operation code of its access");
		mimic_state_decimal(visitor, "bytes", parked->access.size, "size of its access");
	}
	mimic_state_leave(visitor, name);
}

static void queue_lima(const struct maple_queue *q, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "lima");
	mimic_state_hex(visitor, "a", q->lima_a, "A of this queue's own loops");
	mimic_state_hex(visitor, "b", q->lima_b, "B of this queue's own loops");
	mimic_state_decimal(visitor, "loops", q->loops_count, "loops that wait");
	mimic_state_decimal(visitor, "chunks", q->chunks_count, "chunks of B that are not used up");
	mimic_state_boolean(visitor, "active", q->loop_active, "a loop is at work");
	if (q->loop_active) {
		mimic_state_hex(visitor, "active_a", q->active.a, "A of this loop");
		mimic_state_hex(visitor, "active_b", q->active.b, "B of this loop");
		mimic_state_decimal(visitor, "active_next", q->active.next, "next index of B that it reads");
		mimic_state_decimal(visitor, "active_end", q->active.end, "where it ends");
		mimic_state_decimal(visitor, "active_mode", q->active.mode,
				    "its operation: low bits of operations 48 to 54");
	}
	mimic_state_leave(visitor, "lima");
}

static void queue_values(const struct maple_queue *q, const struct mimic_state_visitor *visitor)
{
	mimic_state_decimal(visitor, "size", q->size, "words that it holds");
	mimic_state_decimal(visitor, "level", q->level, "words in it");
	mimic_state_decimal(visitor, "on_the_way", q->pending, "of these, words that memory still owes");
	mimic_state_decimal(visitor, "popped", q->popped, "words popped since it is there");
	mimic_state_decimal(visitor, "first_word", q->first, "of the scratchpad");
	mimic_state_decimal(visitor, "producer", q->producer, "thread with this role; 0: none");
	mimic_state_decimal(visitor, "consumer", q->consumer, "thread with this role; 0: none");
	mimic_state_hex(visitor, "base", q->base, "base pointer; 0: pointers are addresses themselves");
	mimic_state_decimal(visitor, "index_bytes", 1ull << q->base_shift, "bytes that an index counts, from the base");
	mimic_state_boolean(visitor, "compare_pending", q->cas1_valid, "the last operation was CAS1");
	mimic_state_boolean(visitor, "hung", q->hung, "an operation that hangs the artifact's RTL");
}

static void queue_folder(const struct maple *m, unsigned int number, uint64_t now,
			 const struct mimic_state_visitor *visitor)
{
	const struct maple_queue *q = &m->state.queue[number];

	mimic_state_enter_number(visitor, number);
	mimic_state_boolean(visitor, "allocated", q->allocated, "the queue exists");
	if (q->allocated) {
		queue_values(q, visitor);
		clock_values(q, now, visitor);
		head_words(m, q, visitor);
		who_waits("store", &q->store, visitor);
		who_waits("load", &q->load, visitor);
		queue_lima(q, visitor);
	}
	mimic_state_leave_number(visitor, number);
}

static void config_folder(const struct maple_config *config, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "config");
	mimic_state_text(visitor, "profile", config->profile, "where the values come from");
#define _(name, meaning) mimic_state_decimal(visitor, #name, config->name, meaning);
	_(queues, "queues that there can be")
	_(scratchpad_words, "32-bit words that all queues share")
	_(tlb_entries, "translations that the TLB holds")
	_(address_bits, "of base pointers, LIMA's A and whole pointers")
	_(lima_loops, "loops that may wait, each queue")
	_(lima_chunks, "64-byte chunks of B, shared by the queues")
	_(custom_commands, "depth of the custom command FIFO")
	_(custom_responses, "depth of the custom response FIFO")
#undef _
#define _(bit, name, meaning) mimic_state_boolean(visitor, #name, config->quirks & 1u << (bit), meaning);
	MAPLE_QUIRKS(_)
#undef _
	mimic_state_leave(visitor, "config");
}

static void counters_folder(const struct maple *m, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "counters");
#define _(name, meaning) \
	mimic_state_decimal(visitor, #name, m->state.counters[MAPLE_COUNTER_##name], meaning);
	MAPLE_COUNTERS(_)
#undef _
	mimic_state_leave(visitor, "counters");
}

static void stall_folder(const char *name, const struct stall *stall,
			 const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, name);
	mimic_state_boolean(visitor, "stalled", stall->stalled, "waits until a driver resolves its fault");
	if (stall->stalled) {
		mimic_state_hex(visitor, "page", stall->page << PAGE_SHIFT, "address of the missing page");
		mimic_state_boolean(visitor, "writes", stall->writes, "the access writes");
		if (stall->queue < MAPLE_MAX_QUEUES)
			mimic_state_decimal(visitor, "queue", stall->queue, "queue whose operation waits");
	}
	mimic_state_leave(visitor, name);
}

static void faults_folder(const struct maple_state *s, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "faults");
	mimic_state_boolean(visitor, "translation", s->translation, "addresses are translated");
	mimic_state_hex(visitor, "root", s->root, "page table root, as the driver stored it");
	mimic_state_decimal(visitor, "count", s->faults_since_reset,
			    "faults since reset that no driver could resolve");
	mimic_state_decimal(visitor, "last_source", s->fault_source,
			    "source of the last fault that nobody resolved: 1 pipes, 2 LIMA; 0: there is none");
	mimic_state_hex(visitor, "last_address", s->fault_address, "its whole address");
	mimic_state_boolean(visitor, "last_writes", s->fault_writes, "its access writes");
	mimic_state_hex(visitor, "armed", s->armed, "sources whose fault was read, and may be resolved");
	stall_folder("pipes", &s->stall[0], visitor);
	stall_folder("lima", &s->stall[1], visitor);
	mimic_state_leave(visitor, "faults");
}

static void lima_folder(const struct maple_state *s, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "lima");
	mimic_state_boolean(visitor, "a_set", s->tile_a_set, "LOOP has an A, all queues the same");
	mimic_state_hex(visitor, "a", s->tile_a, "that A");
	mimic_state_decimal(visitor, "mode", s->tile_mode, "operation of LOOP: low bits of operations 48 to 54");
	mimic_state_boolean(visitor, "b_coherent", s->tile_b_coherent, "B is read through the LLC");
	mimic_state_leave(visitor, "lima");
}

void maple_state(const struct mimic_model *model, uint64_t now,
		 const struct mimic_state_visitor *visitor)
{
	const struct maple *m = (const struct maple *)model;

	/* Time does not go back, as in any call. */
	if (now < m->state.now)
		now = m->state.now;
	config_folder(&m->config, visitor);
	maple_state_registers(m, now, visitor);
	counters_folder(m, visitor);
	mimic_state_tlb(visitor, &m->state.tlb);
	faults_folder(&m->state, visitor);
	lima_folder(&m->state, visitor);
	mimic_state_enter(visitor, "queues");
	for (unsigned int i = 0; i < m->config.queues; i++)
		queue_folder(m, i, now, visitor);
	mimic_state_leave(visitor, "queues");
}
