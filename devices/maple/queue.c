/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The queue controller: circular FIFOs in the scratchpad, roles, waiting accesses (paper, section 3.4). */
#include "devices/copy.h"
#include "devices/maple/maple_internal.h"

#define CONNECTION_PRODUCER 2u
#define CONNECTION_CONSUMER 1u
#define ARTIFACT_DEPTH 64

static const uint16_t size_codes[8] = MAPLE_SIZE_CODES;

unsigned int maple_queues_allocated(const struct maple *m)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->config.queues; i++)
		n += m->state.queue[i].allocated;
	return n;
}

static unsigned int roles_of(const struct maple_queue *q, uint64_t owner)
{
	if (!q)
		return 0;
	return (q->producer == owner ? CONNECTION_PRODUCER : 0) |
	       (q->consumer == owner ? CONNECTION_CONSUMER : 0);
}

/* { queues allocated mod queues, producer flag, consumer flag } (pipe:465 of the artifact: docs/sources.md) */
uint64_t maple_connection_answer(const struct maple *m, const struct maple_queue *q, uint64_t owner,
				 uint64_t low)
{
	return (uint64_t)(maple_queues_allocated(m) % m->config.queues) << 32 | low | roles_of(q, owner);
}

/* The time of this moment, which most calls do not need. */
static uint64_t look_at_clock(struct maple *m)
{
	if (m->host.now) {
		uint64_t now = m->host.now(m->host.context);

		if (now > m->state.now)
			m->state.now = now;
	}
	return m->state.now;
}

static void clock_set(struct side_clock *clock, uint64_t now, bool open, bool waiting)
{
	uint64_t passed = now - clock->since;

	if (clock->is_waiting)
		clock->waiting += passed;
	else if (clock->open)
		clock->idle += passed;
	clock->since = now;
	clock->open = open;
	clock->is_waiting = waiting;
}

void maple_queue_clocks(struct maple *m, struct maple_queue *q)
{
	uint64_t now = look_at_clock(m);

	clock_set(&q->producer_clock, now, q->producer != 0, q->store.valid);
	clock_set(&q->consumer_clock, now, q->consumer != 0, q->load.valid);
}

static unsigned int words_reserved(const struct maple *m)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->config.queues; i++)
		n += m->state.queue[i].allocated ? m->state.queue[i].reserved_words : 0;
	return n;
}

/* First fit: a cleared queue leaves a hole that the next one may take. */
static int find_words(const struct maple *m, unsigned int size)
{
	for (unsigned int first = 0; first + size <= m->config.scratchpad_words; first += 8) {
		bool free = true;

		for (unsigned int i = 0; i < m->config.queues && free; i++) {
			const struct maple_queue *q = &m->state.queue[i];

			free = !q->allocated || first + size <= q->first ||
			       q->first + q->reserved_words <= first;
		}
		if (free)
			return (int)first;
	}
	return -1;
}

static bool allocate(struct maple *m, unsigned int number, unsigned int size_code)
{
	struct maple_queue *q = &m->state.queue[number];
	unsigned int size = size_codes[size_code & 7];
	int first;

	if (words_reserved(m) + size > m->config.scratchpad_words)
		return false;
	first = find_words(m, size);
	if (first < 0)
		return false;
	memset(q, 0, sizeof(*q));
	q->allocated = true;
	q->first = (uint16_t)first;
	q->reserved_words = (uint16_t)size;
	q->size = (uint16_t)size;
	if (has_quirk(m, MAPLE_QUIRK_depth_64) && size > ARTIFACT_DEPTH)
		q->size = ARTIFACT_DEPTH;
	q->producer_clock.since = look_at_clock(m);
	q->consumer_clock.since = m->state.now;
	return true;
}

uint64_t maple_queue_init_all(struct maple *m, unsigned int size_code)
{
	unsigned int existing = maple_queues_allocated(m);

	if (existing)
		return (uint64_t)(existing % m->config.queues) << 32;
	if (m->state.stale_count && has_quirk(m, MAPLE_QUIRK_init_after_reset_lost))
		return 2;
	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (!allocate(m, i, size_code))
			break;
	}
	return 2;
}

uint64_t maple_queue_add(struct maple *m, unsigned int size_code)
{
	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (m->state.queue[i].allocated)
			continue;
		allocate(m, i, size_code);
		return (uint64_t)i << 32;
	}
	return (uint64_t)(maple_queues_allocated(m) % m->config.queues) << 32;
}

static void forget_fetches(struct maple *m, unsigned int number)
{
	for (unsigned int i = 0; i < MAPLE_MAX_WORDS && m->state.pending_count; i++) {
		struct pending_fetch *fetch = &m->state.pending[i];

		if (!fetch->words || fetch->stale || fetch->queue != number)
			continue;
		fetch->stale = 1;
		m->state.stale_count++;
	}
}

static void finish_store(struct maple *m, struct maple_queue *q)
{
	q->store.valid = false;
	q->half_done = false;
	maple_queue_clocks(m, q);
	mimic_trace_wakes(&m->model.trace, q->store.access.owner, 0, false);
	m->host.complete(m->host.context, q->store.access.owner, 0);
}

void maple_queue_abandon_store(struct maple *m, unsigned int number)
{
	maple_mmu_forget(m, number, MAPLE_FAULT_PIPES);
	finish_store(m, &m->state.queue[number]);
}

static void finish_load(struct maple *m, struct maple_queue *q, uint64_t data)
{
	q->load.valid = false;
	maple_queue_clocks(m, q);
	data = low_bytes(data, q->load.access.size);
	mimic_trace_wakes(&m->model.trace, q->load.access.owner, data, false);
	m->host.complete(m->host.context, q->load.access.owner, data);
}

void maple_queue_drop(struct maple *m, unsigned int number, uint64_t load_answer, enum mimic_trace_drop by)
{
	struct maple_queue *q = &m->state.queue[number];

	trace_drop(m, q, by);
	if (is_paced(m))
		maple_pace_drop(m, number);
	if (q->loop_active)
		MIMIC_TRACE(&m->model.trace, lima_end, 0ull, number, 0ull, 0u, 0ull, 0ull);
	forget_fetches(m, number);
	memset(m->state.word_pending + q->first, 0, q->reserved_words);
	maple_lima_drop(q);
	q->allocated = false;
	if (q->store.valid)
		finish_store(m, q);
	if (q->load.valid)
		finish_load(m, q, load_answer);
	maple_mmu_forget(m, number, MAPLE_FAULT_PIPES);
	maple_mmu_forget(m, number, MAPLE_FAULT_LIMA);
	memset(q, 0, sizeof(*q));
}

uint64_t maple_queue_clear(struct maple *m, unsigned int number, uint64_t owner)
{
	struct maple_queue *q = &m->state.queue[number];
	uint64_t answer = (uint64_t)(maple_queues_allocated(m) % m->config.queues) << 32;

	if (!q->allocated || (q->consumer && q->consumer != owner))
		return answer;
	maple_queue_drop(m, number, 0, MIMIC_TRACE_DROP_FIFO_CLEAR);
	return answer | 1;
}

uint64_t maple_queue_open(struct maple *m, unsigned int number, uint64_t owner, bool producer)
{
	struct maple_queue *q = &m->state.queue[number];
	uint64_t *role = producer ? &q->producer : &q->consumer;

	if (m->state.stale_count && has_quirk(m, MAPLE_QUIRK_init_after_reset_lost))
		return 0;
	if (!q->allocated)
		return maple_connection_answer(m, NULL, owner, 0);
	if (!*role) {
		*role = owner;
		maple_queue_clocks(m, q);
	}
	return maple_connection_answer(m, q, owner, 0);
}

uint64_t maple_queue_close(struct maple *m, unsigned int number, uint64_t owner, bool producer)
{
	struct maple_queue *q = &m->state.queue[number];
	uint64_t *role = producer ? &q->producer : &q->consumer;
	uint64_t answer = maple_connection_answer(m, q->allocated ? q : NULL, owner, 0);

	if (q->allocated && *role == owner) {
		*role = 0;
		q->half_done &= !producer;
		maple_queue_clocks(m, q);
	}
	return answer;
}

static void push_word(struct maple *m, struct maple_queue *q, uint32_t word, bool pending)
{
	unsigned int slot = q->first + q->tail;

	m->state.words[slot] = word;
	m->state.word_pending[slot] = pending;
	q->pending += pending;
	q->level++;
	q->tail = q->tail + 1u == q->size ? 0 : (uint16_t)(q->tail + 1);
}

void maple_queue_push(struct maple *m, struct maple_queue *q, uint32_t word, bool pending)
{
	push_word(m, q, word, pending);
	count(m, MAPLE_COUNTER_produced, 1);
	trace_produce(m, q, 1);
}

static void push_each(struct maple *m, struct maple_queue *q, unsigned int size, const uint64_t *values,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		push_word(m, q, (uint32_t)values[i], false);
		if (size == 8)
			push_word(m, q, (uint32_t)(values[i] >> 32), false);
	}
}

static void push_block(struct maple *m, struct maple_queue *q, unsigned int size, const uint64_t *values,
		       size_t n)
{
	unsigned int total = (unsigned int)n * (size / 4);
	uint32_t *slot = m->state.words + q->first + q->tail;

	if (size == 8) {
		mimic_copy_words(slot, values, 2 * n);
	} else {
		for (size_t i = 0; i < n; i++)
			slot[i] = (uint32_t)values[i];
	}
	mimic_clear_flags(m->state.word_pending + q->first + q->tail, total);
	q->level = (uint16_t)(q->level + total);
	q->tail = (uint16_t)((q->tail + total) % q->size);
}

/* Where the ring does not wrap, the words of a block are copied, not pushed one by one. */
void maple_queue_push_many(struct maple *m, struct maple_queue *q, unsigned int size,
			   const uint64_t *values, size_t n)
{
	unsigned int total = (unsigned int)n * (size / 4), until_wrap = q->size - (unsigned int)q->tail;

	if (total > until_wrap)
		push_each(m, q, size, values, n);
	else
		push_block(m, q, size, values, n);
	count(m, MAPLE_COUNTER_produced, total);
	trace_produce(m, q, total);
}

/* Words at the head that may be popped; memory may still owe the ones behind them. */
static unsigned int words_ready(const struct maple *m, const struct maple_queue *q)
{
	unsigned int ready = 0, at = q->head;

	if (!q->pending)
		return q->level;
	while (ready < q->level && !m->state.word_pending[q->first + at]) {
		at = at + 1 == q->size ? 0 : at + 1;
		ready++;
	}
	return ready;
}

/* The same of one word, of which most loads are. */
static size_t pop_word(struct maple *m, struct maple_queue *q, void *value)
{
	unsigned int slot = (unsigned int)q->first + q->head;

	if (!q->level || (q->pending && m->state.word_pending[slot]))
		return 0;
	memcpy(value, &m->state.words[slot], sizeof(m->state.words[slot]));
	q->head = q->head + 1u == q->size ? 0 : (uint16_t)(q->head + 1);
	q->level--;
	q->popped++;
	m->state.tile_pops++;
	count(m, MAPLE_COUNTER_consumed, 1);
	trace_consume(m, q, 1);
	return 1;
}

size_t maple_queue_pop_many(struct maple *m, struct maple_queue *q, unsigned int words, void *values,
			    size_t wanted)
{
	const uint32_t *scratchpad = m->state.words + q->first;
	unsigned int total, piece;
	size_t n;

	if (wanted == 1 && words == 1)
		return pop_word(m, q, values);
	n = words_ready(m, q) / words;
	if (n > wanted)
		n = wanted;
	if (!n)
		return 0;
	total = (unsigned int)n * words;
	piece = (unsigned int)(q->size - q->head);
	piece = piece < total ? piece : total;
	mimic_copy_words(values, scratchpad + q->head, piece);
	mimic_copy_words((uint32_t *)values + piece, scratchpad, total - piece);
	q->head = (uint16_t)((q->head + total) % q->size);
	q->level = (uint16_t)(q->level - total);
	q->popped += total;
	m->state.tile_pops += total;
	count(m, MAPLE_COUNTER_consumed, total);
	trace_consume(m, q, total);
	return n;
}

void maple_queue_park_store(struct maple *m, struct maple_queue *q, const struct mimic_access *access)
{
	q->store.valid = true;
	q->store.access = *access;
	count(m, MAPLE_COUNTER_store_waits, 1);
	maple_queue_clocks(m, q);
}

void maple_queue_park_load(struct maple *m, struct maple_queue *q, const struct mimic_access *access)
{
	q->load.valid = true;
	q->load.abandoned = false;
	q->load.access = *access;
	count(m, MAPLE_COUNTER_load_waits, 1);
	maple_queue_clocks(m, q);
}

/* Nothing will come any more: the RTL hangs here, or the producer's thread has ended. */
static bool waits_in_vain(const struct maple_queue *q)
{
	return q->hung || (q->load.abandoned && !q->pending && !lima_backlog(q));
}

static bool progress_load(struct maple *m, struct maple_queue *q)
{
	uint64_t data = 0;

	if (!q->load.valid)
		return false;
	if (!maple_queue_pop_many(m, q, q->load.access.size == 8 ? 2 : 1, &data, 1)) {
		if (!waits_in_vain(q))
			return false;
		data = 0;
	}
	finish_load(m, q, data);
	return true;
}

static bool progress_store(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];

	if (!q->store.valid)
		return false;
	if (maple_produce_step(m, number, &q->store.access) != STEP_WAIT)
		finish_store(m, q);
	else if (q->hung)
		maple_queue_abandon_store(m, number);
	else
		return false;
	return true;
}

void maple_queue_progress(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];
	bool more = q->allocated;

	/* LIMA first: its loops were pushed before the store that waits. */
	while (more) {
		more = lima_backlog(q) && maple_lima_advance(m, number);
		more |= progress_store(m, number);
		more |= progress_load(m, q);
	}
}

void maple_progress_all(struct maple *m)
{
	for (unsigned int i = 0; i < m->config.queues; i++) {
		unsigned int number = (m->state.lima_turn + i) % m->config.queues;

		maple_queue_progress(m, number);
	}
	m->state.lima_turn = (m->state.lima_turn + 1) % m->config.queues;
}
