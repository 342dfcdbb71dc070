/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The bytes that a device has read last, in the order of the file: most of what it asks and answers later is made of
 * them, and is recorded by their places. The recorder and a replay keep the same.
 */
#ifndef LIBMIMIC_RECORD_HISTORY_H
#define LIBMIMIC_RECORD_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HISTORY_BYTES 16384u
#define HISTORY_READ 4096u	/* bytes of the longest read that is kept */

struct record_history {
	uint64_t end;	/* bytes so far, a multiple of 4 */
	unsigned char bytes[HISTORY_BYTES];
};

static inline size_t history_place(uint64_t position)
{
	return (size_t)(position % HISTORY_BYTES);
}

/* As many of `size` bytes from there on as lie in one piece. */
static inline size_t history_piece(uint64_t position, size_t size)
{
	size_t piece = HISTORY_BYTES - history_place(position);

	return piece < size ? piece : size;
}

static inline void history_put(struct record_history *history, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		size_t piece = history_piece(history->end, size);

		memcpy(history->bytes + history_place(history->end), from, piece);
		history->end += piece;
		from += piece;
		size -= piece;
	}
}

/* The lower `size` bytes of each, 4 or 8. */
static inline void history_put_values(struct record_history *history, const uint64_t *values, size_t count,
				      unsigned int size)
{
	if (size == sizeof(*values)) {
		history_put(history, values, count * sizeof(*values));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const uint32_t word = (uint32_t)values[i];

		memcpy(history->bytes + history_place(history->end), &word, sizeof(word));
		history->end += sizeof(word);
	}
}

/* Are `size` bytes still there from that position on? */
static inline bool history_has(const struct record_history *history, uint64_t position, size_t size)
{
	return position <= history->end && history->end - position <= HISTORY_BYTES &&
	       size <= history->end - position;
}

/* They are there. */
static inline void history_get(const struct record_history *history, uint64_t position, void *bytes, size_t size)
{
	size_t piece = history_piece(position, size);

	memcpy(bytes, history->bytes + history_place(position), piece);
	memcpy((char *)bytes + piece, history->bytes, size - piece);
}

static inline uint32_t history_word(const struct record_history *history, uint64_t position)
{
	uint32_t word;

	memcpy(&word, history->bytes + history_place(position), sizeof(word));
	return word;
}

static inline bool history_is(const struct record_history *history, uint64_t position, const void *bytes, size_t size)
{
	size_t piece = history_piece(position, size);

	return history_has(history, position, size) &&
	       !memcmp(history->bytes + history_place(position), bytes, piece) &&
	       !memcmp(history->bytes, (const char *)bytes + piece, size - piece);
}

#endif
