/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Images of the whole state: a header, the configuration, the state, the LIMA
 * buffers. An image is restored only into a device of the same configuration,
 * and only if every index in it is one that the model could have written.
 */
#include <errno.h>

#include "devices/image.h"
#include "devices/maple/maple_internal.h"

static const struct mimic_image_kind image_kind = {
	.magic = 0x4547414d494d504dull,	/* "MPMIMAGE" */
	.version = 3,
	.config_size = sizeof(struct maple_config),
};

static size_t chunks_size(const struct maple *m)
{
	return (size_t)m->config.queues * m->config.lima_chunks * sizeof(*m->chunks);
}

static size_t loops_size(const struct maple *m)
{
	return (size_t)m->config.queues * m->config.lima_loops * sizeof(*m->loops);
}

static size_t state_size(const struct maple *m)
{
	return sizeof(m->state) + chunks_size(m) + loops_size(m);
}

size_t maple_save(const struct mimic_model *model, void *image, size_t size)
{
	const struct maple *m = (const struct maple *)model;
	size_t total = mimic_image_size(&image_kind, state_size(m));
	char *to;

	if (!image || size < total)
		return total;
	to = mimic_image_begin(&image_kind, &m->config, image, state_size(m));
	to = mimic_image_put(to, &m->state, sizeof(m->state));
	to = mimic_image_put(to, m->chunks, chunks_size(m));
	mimic_image_put(to, m->loops, loops_size(m));
	return total;
}

/* A bool that is neither 0 nor 1 must not even be read as one. */
static bool bools_are_sound(const struct maple_state *state)
{
	static const size_t in_queue[] = {
		offsetof(struct maple_queue, allocated), offsetof(struct maple_queue, hung),
		offsetof(struct maple_queue, base_set), offsetof(struct maple_queue, cas1_valid),
		offsetof(struct maple_queue, loop_active), offsetof(struct maple_queue, half_done),
		offsetof(struct maple_queue, store.valid), offsetof(struct maple_queue, load.valid),
		offsetof(struct maple_queue, store.abandoned), offsetof(struct maple_queue, load.abandoned),
		offsetof(struct maple_queue, producer_clock.open),
		offsetof(struct maple_queue, producer_clock.is_waiting),
		offsetof(struct maple_queue, consumer_clock.open),
		offsetof(struct maple_queue, consumer_clock.is_waiting),
		offsetof(struct maple_queue, resolved[0].valid),
		offsetof(struct maple_queue, resolved[1].valid),
	};
	static const size_t in_state[] = {
		offsetof(struct maple_state, tile_a_set), offsetof(struct maple_state, tile_b_coherent),
		offsetof(struct maple_state, translation),
		offsetof(struct maple_state, interrupt_waived),
		offsetof(struct maple_state, fault_writes),
		offsetof(struct maple_state, stall[0].stalled), offsetof(struct maple_state, stall[0].writes),
		offsetof(struct maple_state, stall[1].stalled), offsetof(struct maple_state, stall[1].writes),
	};
	const unsigned char *bytes = (const unsigned char *)state, *pending;
	unsigned int bits = 0;

	for (size_t i = 0; i < sizeof(in_state) / sizeof(in_state[0]); i++)
		bits |= bytes[in_state[i]];
	for (size_t q = 0; q < MAPLE_MAX_QUEUES; q++)
		for (size_t i = 0; i < sizeof(in_queue) / sizeof(in_queue[0]); i++)
			bits |= ((const unsigned char *)&state->queue[q])[in_queue[i]];
	pending = (const unsigned char *)state->word_pending;
	for (size_t i = 0; i < sizeof(state->word_pending); i++)
		bits |= pending[i];
	return bits <= 1;
}

static bool queue_is_sound(const struct maple_config *config, const struct maple_queue *q)
{
	if (!q->allocated)
		return true;
	return q->size && q->size <= q->reserved_words &&
	       q->first + q->reserved_words <= config->scratchpad_words && q->head < q->size &&
	       q->tail < q->size && q->level <= q->size && q->pending <= q->level &&
	       q->base_shift <= 3 && q->loops_count <= config->lima_loops &&
	       q->loops_first < config->lima_loops && q->chunks_count <= config->lima_chunks &&
	       q->chunks_first < config->lima_chunks && q->active.mode <= LIMA_MODE_PREFETCH32;
}

static bool fifo_is_sound(const struct custom_fifo *fifo)
{
	return fifo->first < CUSTOM_MAX && fifo->count <= CUSTOM_MAX;
}

static bool state_is_sound(const struct maple_config *config, const struct maple_state *state)
{
	for (unsigned int i = 0; i < MAPLE_MAX_QUEUES; i++) {
		if (!queue_is_sound(config, &state->queue[i]))
			return false;
	}
	for (unsigned int i = 0; i < MAPLE_MAX_WORDS; i++) {
		const struct pending_fetch *fetch = &state->pending[i];
		const struct maple_queue *q;

		if (!fetch->words)
			continue;
		if (fetch->words > 2 || fetch->queue >= config->queues ||
		    (fetch->source != MAPLE_FAULT_PIPES && fetch->source != MAPLE_FAULT_LIMA))
			return false;
		q = &state->queue[fetch->queue];
		if (!fetch->stale && (!q->allocated || fetch->slot < q->first ||
				      fetch->slot >= q->first + q->size))
			return false;
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (state->stall[i].queue > MAPLE_MAX_QUEUES)
			return false;
	}
	return state->tlb.entries == config->tlb_entries && state->tile_mode < 8 &&
	       state->statistics_index < 4 && fifo_is_sound(&state->commands) &&
	       fifo_is_sound(&state->responses);
}

static bool buffers_are_sound(const struct maple *m, const char *chunks, const char *loops)
{
	for (size_t i = 0; i < (size_t)m->config.queues * m->config.lima_chunks; i++) {
		struct lima_chunk chunk;

		memcpy(&chunk, chunks + i * sizeof(chunk), sizeof(chunk));
		if (chunk.count > CHUNK_WORDS || chunk.position > chunk.count ||
		    chunk.mode > LIMA_MODE_PREFETCH32)
			return false;
	}
	for (size_t i = 0; i < (size_t)m->config.queues * m->config.lima_loops; i++) {
		struct lima_loop loop;

		memcpy(&loop, loops + i * sizeof(loop), sizeof(loop));
		if (loop.mode > LIMA_MODE_PREFETCH32 || loop.next > loop.end)
			return false;
	}
	return true;
}

int maple_restore(struct mimic_model *model, const void *image, size_t size)
{
	struct maple *m = maple_of(model);
	struct maple_state state;
	const char *from;

	from = mimic_image_state(&image_kind, &m->config, image, size, state_size(m));
	if (!from)
		return -EINVAL;
	from = mimic_image_get(from, &state, sizeof(state));
	if (!bools_are_sound(&state) || !state_is_sound(&m->config, &state) ||
	    !buffers_are_sound(m, from, from + chunks_size(m)))
		return -EINVAL;
	m->state = state;
	m->unfinished = true;	/* not in the image: the next tick finds out */
	from = mimic_image_get(from, m->chunks, chunks_size(m));
	mimic_image_get(from, m->loops, loops_size(m));
	return 0;
}

void maple_model_resume(struct mimic_model *model, uint64_t now)
{
	struct maple *m = maple_of(model);
	uint64_t passed = now - m->state.now;

	for (unsigned int i = 0; i < MAPLE_MAX_QUEUES; i++) {
		m->state.queue[i].producer_clock.since += passed;
		m->state.queue[i].consumer_clock.since += passed;
	}
	m->state.now = now;
}
