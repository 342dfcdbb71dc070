/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A ring of 64-bit words between one producer and one consumer.
 *
 * It may lie in memory that the other side can write at will (a client's lane
 * in the daemon), so each side keeps its own position and its last reading of
 * the other's in a private struct mimic_ring_end, and never trusts an index
 * that it reads: a distance larger than the ring is reported as -EPROTO.
 *
 * Positions count words and never wrap; the index is position & mask. Each
 * side's published position has 128 bytes of its own: two cache lines, because
 * adjacent lines are fetched in pairs.
 */
#ifndef MIMIC_RING_H
#define MIMIC_RING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A message of up to two words is also published beside the head, in the same
 * cache line: a consumer that waits for it then moves one line instead of two,
 * and never touches the words, whose lines stay with the producer. Two copies
 * take turns, so that one is written only after the other was published: a
 * consumer that finds the head unchanged after reading read a whole copy.
 */
#define MIMIC_RING_RECENT 2

struct mimic_ring_recent {
	_Atomic uint64_t end;	/* the head that published it */
	_Atomic uint64_t words[MIMIC_RING_RECENT];	/* the last ones before it */
};

struct mimic_ring {
	_Alignas(128) _Atomic uint64_t head;	/* words written; the producer's */
	struct mimic_ring_recent recent[2];
	_Alignas(128) _Atomic uint64_t tail;	/* words read; the consumer's */
	_Alignas(128) uint64_t words[];
};

struct mimic_ring_end {
	struct mimic_ring *ring;
	uint64_t mask;		/* words in the ring - 1, a power of two - 1 */
	uint64_t position;	/* ours */
	uint64_t peer;		/* the other side's, when we last read it */
	uint64_t turn;		/* producer: which recent copy is next */
	uint64_t recent_start;	/* consumer: position of recent[0] */
	uint64_t recent_count;
	uint64_t recent[MIMIC_RING_RECENT];
};

static inline size_t mimic_ring_size(size_t words)
{
	return sizeof(struct mimic_ring) + words * sizeof(uint64_t);
}

static inline void mimic_ring_attach(struct mimic_ring_end *end, struct mimic_ring *ring,
				     size_t words)
{
	end->ring = ring;
	end->mask = words - 1;
	end->position = 0;
	end->peer = 0;
	end->turn = 0;
	end->recent_start = 0;
	end->recent_count = 0;
}

/* Words the producer may write now; reads the consumer's position only if fewer than `wanted` are known. */
static inline int64_t mimic_ring_room(struct mimic_ring_end *producer, uint64_t wanted)
{
	uint64_t used = producer->position - producer->peer;
	uint64_t room = producer->mask + 1 - used;
	uint64_t peer;

	if (room >= wanted)
		return (int64_t)room;
	/* acquire: the consumer's reads of the slots are over before we overwrite them */
	peer = atomic_load_explicit(&producer->ring->tail, memory_order_acquire);
	used = producer->position - peer;
	if (used > producer->mask + 1)
		return -EPROTO;
	producer->peer = peer;
	return (int64_t)(producer->mask + 1 - used);
}

/* Writes a word `ahead` of our position; the consumer sees it after publish(). */
static inline void mimic_ring_put(struct mimic_ring_end *producer, uint64_t ahead, uint64_t word)
{
	producer->ring->words[(producer->position + ahead) & producer->mask] = word;
}

static inline void mimic_ring_publish_recent(struct mimic_ring_end *producer, uint64_t head)
{
	struct mimic_ring_recent *recent = &producer->ring->recent[producer->turn++ & 1];

	/* release: not before the head that published the other copy */
	for (uint64_t i = 0; i < MIMIC_RING_RECENT; i++)
		atomic_store_explicit(&recent->words[i],
				      producer->ring->words[(head - MIMIC_RING_RECENT + i) & producer->mask],
				      memory_order_release);
	atomic_store_explicit(&recent->end, head, memory_order_release);
}

/* Where no consumer waits for the words: without the copies beside the head. */
static inline void mimic_ring_publish_words(struct mimic_ring_end *producer, uint64_t count)
{
	producer->position += count;
	/* release: the words are there before the head that covers them */
	atomic_store_explicit(&producer->ring->head, producer->position, memory_order_release);
}

static inline void mimic_ring_publish(struct mimic_ring_end *producer, uint64_t count)
{
	if (count && count <= MIMIC_RING_RECENT)
		mimic_ring_publish_recent(producer, producer->position + count);
	mimic_ring_publish_words(producer, count);
}

/* Takes over the words [position, head) if one of the copies beside the head has them all. */
static inline void mimic_ring_take_recent(struct mimic_ring_end *consumer, uint64_t head)
{
	uint64_t count = head - consumer->position;

	consumer->recent_count = 0;
	if (!count || count > MIMIC_RING_RECENT)
		return;
	for (int turn = 0; turn < 2; turn++) {
		struct mimic_ring_recent *recent = &consumer->ring->recent[turn];

		if (atomic_load_explicit(&recent->end, memory_order_acquire) != head)
			continue;
		/* acquire: the head is read again after the words */
		for (uint64_t i = 0; i < count; i++)
			consumer->recent[i] = atomic_load_explicit(
				&recent->words[MIMIC_RING_RECENT - count + i], memory_order_acquire);
		if (atomic_load_explicit(&consumer->ring->head, memory_order_relaxed) != head)
			return;
		consumer->recent_start = consumer->position;
		consumer->recent_count = count;
		return;
	}
}

/* Words the consumer may read now; reads the producer's position only if fewer than `wanted` are known. */
static inline int64_t mimic_ring_level(struct mimic_ring_end *consumer, uint64_t wanted)
{
	uint64_t level = consumer->peer - consumer->position;
	uint64_t peer;

	if (level >= wanted)
		return (int64_t)level;
	/* acquire: pairs with publish() */
	peer = atomic_load_explicit(&consumer->ring->head, memory_order_acquire);
	level = peer - consumer->position;
	if (level > consumer->mask + 1)
		return -EPROTO;
	consumer->peer = peer;
	mimic_ring_take_recent(consumer, peer);
	return (int64_t)level;
}

static inline uint64_t mimic_ring_get(const struct mimic_ring_end *consumer, uint64_t ahead)
{
	uint64_t recent = consumer->position + ahead - consumer->recent_start;

	if (recent < consumer->recent_count)
		return consumer->recent[recent];
	return consumer->ring->words[(consumer->position + ahead) & consumer->mask];
}

/* How many of `count` words from `ahead` on lie in one piece, and where. For either side. */
static inline uint64_t *mimic_ring_piece(struct mimic_ring_end *end, uint64_t ahead,
					 uint64_t count, uint64_t *piece)
{
	uint64_t recent = end->position + ahead - end->recent_start;
	uint64_t index = (end->position + ahead) & end->mask;
	uint64_t until_wrap = end->mask + 1 - index;

	if (recent < end->recent_count && count <= end->recent_count - recent) {
		*piece = count;
		return &end->recent[recent];
	}
	*piece = count < until_wrap ? count : until_wrap;
	return &end->ring->words[index];
}

static inline void mimic_ring_release(struct mimic_ring_end *consumer, uint64_t count)
{
	consumer->position += count;
	/* release: our reads are over before the producer may overwrite */
	atomic_store_explicit(&consumer->ring->tail, consumer->position, memory_order_release);
}

/* Is there anything to read? For idle polling by any thread; no promise. */
static inline bool mimic_ring_is_empty(struct mimic_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire) ==
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

#endif
