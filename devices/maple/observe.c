/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shows the device's state: statistics, debug words, extension loads, counters, views. */
#include <errno.h>
#include <stdio.h>

#include "devices/maple/maple_internal.h"

static uint64_t halves(uint64_t high, uint64_t low)
{
	return (high & 0xffffffffu) << 32 | (low & 0xffffffffu);
}

uint64_t maple_statistics_load(struct maple *m, const struct maple_queue *q)
{
	static const struct maple_queue none;
	struct maple_queue now = q ? *q : none;
	uint64_t pops = m->state.tile_pops;
	unsigned int index = m->state.statistics_index;

	/* on a copy: reading must not change the state */
	maple_queue_clocks(m, &now);
	m->state.statistics_index = (index + 1) % 4;
	m->state.tile_pops = 0;
	switch (index) {
	case 1:
		return halves(now.producer_clock.idle, now.consumer_clock.idle);
	case 2:
		return halves(now.producer_clock.waiting, now.consumer_clock.waiting);
	case 3:
		return halves(pops, now.popped);
	default:
		return 0;
	}
}

static uint64_t in_use_bitmap(const struct maple *m)
{
	uint64_t bitmap = 0;

	for (unsigned int i = 0; i < m->config.queues; i++) {
		const struct maple_queue *q = &m->state.queue[i];

		for (unsigned int n = 0; q->allocated && n < q->level; n++) {
			unsigned int slot = q->first + (q->head + n) % q->size;

			if (slot < 64)
				bitmap |= 1ull << slot;
		}
	}
	return bitmap;
}

static uint64_t valid_bitmap(const struct maple *m)
{
	uint64_t bitmap = in_use_bitmap(m);

	for (unsigned int slot = 0; slot < 64; slot++) {
		if (m->state.word_pending[slot])
			bitmap &= ~(1ull << slot);
	}
	return bitmap;
}

/*
 * The artifact's pipeline word, for queues 0 to 3. Fields of pipeline registers
 * that hold nothing between two accesses read 0 in functional mode.
 */
static uint64_t pipeline_word(const struct maple *m)
{
	uint64_t word = 0;

	for (unsigned int i = 0; i < 4 && i < m->config.queues; i++) {
		const struct maple_queue *q = &m->state.queue[i];

		if (!q->allocated)
			continue;
		word |= (uint64_t)q->load.valid << (16 + i);
		word |= (uint64_t)(q->level != 0) << (20 + i);
		word |= (uint64_t)(q->load.valid && q->load.access.size == 8) << (24 + i);
		word |= (uint64_t)q->store.valid << (32 + i);
		word |= (uint64_t)(q->level == q->size) << (36 + i);
		word |= (uint64_t)(q->store.valid && q->store.access.size == 8) << (40 + i);
	}
	word |= (uint64_t)(m->state.stall[0].stalled || m->state.stall[1].stalled) << 59;
	return word | (uint64_t)(maple_queues_allocated(m) & 7) << 61;
}

uint64_t maple_debug_load(const struct maple *m, unsigned int field)
{
	if (field == 0)
		return in_use_bitmap(m);
	if (field == 1)
		return valid_bitmap(m);
	return pipeline_word(m);
}

static uint64_t queue_state(const struct maple_queue *q)
{
	if (!q->allocated)
		return 0;
	return q->level | (uint64_t)q->size << 16 | (uint64_t)(q->producer != 0) << 32 |
	       (uint64_t)(q->consumer != 0) << 33 | (uint64_t)lima_backlog(q) << 34 |
	       (uint64_t)q->hung << 35;
}

uint64_t maple_extension_load(const struct maple *m, unsigned int operation, unsigned int number)
{
	switch (operation) {
	case MAPLE_LOAD_IDENTIFY:
		return MAPLE_IDENTIFY_MAGIC << 32 | (uint64_t)MAPLE_IDENTIFY_VERSION << 24 |
		       m->config.queues << 16 | m->config.scratchpad_words;
	case MAPLE_LOAD_QUEUE_STATE:
		return number < m->config.queues ? queue_state(&m->state.queue[number]) : 0;
	case MAPLE_LOAD_FAULT_ADDRESS:
		return m->state.fault_address;
	default:
		return m->state.faults_since_reset;
	}
}

size_t maple_counters_read(const struct mimic_model *model, uint64_t *values, size_t n)
{
	const struct maple *m = (const struct maple *)model;

	if (n > MAPLE_COUNTER_COUNT)
		n = MAPLE_COUNTER_COUNT;
	if (n)
		memcpy(values, m->state.counters, n * sizeof(*values));
	return MAPLE_COUNTER_COUNT;
}

void maple_counters_clear(struct mimic_model *model)
{
	struct maple *m = maple_of(model);

	memset(m->state.counters, 0, sizeof(m->state.counters));
	/* Hits that are not counted any more must not be taken back. */
	for (unsigned int i = 0; i < MAPLE_MAX_WORDS; i++)
		m->state.pending[i].tlb_hit = 0;
}

size_t maple_describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct maple *m = (const struct maple *)model;
	size_t length = 0;
	unsigned int i;
	int n;

	n = snprintf(text, size, "%s profile, %u of %u queues in use", m->config.profile, maple_queues_allocated(m), m->config.queues);
	length = n > 0 ? (size_t)n : 0;
	for (i = 0; i < m->config.queues; i++) {
		if (!m->state.queue[i].hung || length >= size)
			continue;
		n = snprintf(text + length, size - length,
			     ", queue %u hangs: LLC_POINTER64 at 4 mod 8", i);
		length += n > 0 ? (size_t)n : 0;
	}
	if (m->state.fault_source && length < size) {
		n = snprintf(text + length, size - length, ", last fault at 0x%llx",
			     (unsigned long long)m->state.fault_address);
		length += n > 0 ? (size_t)n : 0;
	}
	return length;
}

int maple_model_queue(const struct mimic_model *model, unsigned int queue,
		      struct maple_queue_view *view)
{
	const struct maple *m = (const struct maple *)model;
	const struct maple_queue *q;

	if (queue >= m->config.queues)
		return -EINVAL;
	q = &m->state.queue[queue];
	*view = (struct maple_queue_view){
		.allocated = q->allocated, .hung = q->hung, .size = q->size, .level = q->level,
		.popped = q->popped, .loops = q->loops_count + q->loop_active, .producer = q->producer,
		.consumer = q->consumer,
		.store_waiting = q->store.valid ? q->store.access.owner : 0,
		.load_waiting = q->load.valid ? q->load.access.owner : 0,
	};
	return 0;
}

void maple_model_add_levels(const struct mimic_model *model, uint64_t cycles, uint64_t sums[MAPLE_MAX_QUEUES])
{
	const struct maple *m = (const struct maple *)model;

	for (unsigned int i = 0; i < m->config.queues; i++)
		sums[i] += m->state.queue[i].level * cycles;
}

uint64_t maple_model_popped(const struct mimic_model *model, unsigned int queue, unsigned int *level)
{
	const struct maple_queue *q = &((const struct maple *)model)->state.queue[queue];

	*level = q->level;
	return q->popped;
}
