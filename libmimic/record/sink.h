/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where records are written: a stream's block, or the log of a job until it is handed back. */
#ifndef LIBMIMIC_RECORD_SINK_H
#define LIBMIMIC_RECORD_SINK_H

#include <stdbool.h>
#include <string.h>

#include "libmimic/record/format.h"

#define SINK_NUMBER 10	/* bytes of the longest number */
#define SINK_ROOM 32	/* bytes that one number or one head of a record needs at most */

struct record_sink {
	unsigned char *start;
	unsigned char *at;
	unsigned char *end;
	/* Makes room, at least SINK_ROOM bytes. If it cannot it sets `failed`, and drops its bytes. */
	void (*full)(struct record_sink *sink);
	bool failed;
};

static inline void sink_need(struct record_sink *sink)
{
	if (sink->end - sink->at < SINK_ROOM)
		sink->full(sink);
}

static inline void sink_byte(struct record_sink *sink, unsigned int byte)
{
	sink_need(sink);
	*sink->at++ = (unsigned char)byte;
}

/*
 * Returns its end. Its place has SINK_NUMBER bytes, and some behind the end may be written, too.
 * Numbers of one to four bytes take turns in most records, and a loop's end would be guessed wrong.
 */
static inline unsigned char *sink_put_number(unsigned char *at, uint64_t value)
{
	uint32_t bytes, after = (value > 0x7f) + (value > 0x3fff) + (value > 0x1fffff);

	if (value > 0xfffffff) {
		for (; value > 127; value >>= 7)
			*at++ = (unsigned char)(value | 128);
		*at++ = (unsigned char)value;
		return at;
	}
	bytes = (uint32_t)((value & 0x7f) | (value & 0x3f80) << 1 | (value & 0x1fc000) << 2 | (value & 0xfe00000) << 3);
	bytes |= 0x80808080u & ((1u << 8 * after) - 1);
	memcpy(at, &bytes, sizeof(bytes));
	return at + after + 1;
}

static inline void sink_number(struct record_sink *sink, uint64_t value)
{
	sink_need(sink);
	sink->at = sink_put_number(sink->at, value);
}

static inline void sink_bytes(struct record_sink *sink, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		size_t room, piece;

		sink_need(sink);
		room = (size_t)(sink->end - sink->at);
		piece = size < room ? size : room;
		memcpy(sink->at, from, piece);
		sink->at += piece;
		from += piece;
		size -= piece;
	}
}

/* Addresses of one call lie near each other more often than not. */
static inline void sink_addresses(struct record_sink *sink, const uint64_t *addresses, size_t count)
{
	uint64_t before = 0;

	while (count) {
		unsigned char *at;
		size_t piece;

		sink_need(sink);
		at = sink->at;
		piece = (size_t)(sink->end - at) / SINK_NUMBER;
		piece = piece < count ? piece : count;
		for (size_t i = 0; i < piece; i++) {
			at = sink_put_number(at, mimic_record_zigzag(addresses[i] - before));
			before = addresses[i];
		}
		sink->at = at;
		addresses += piece;
		count -= piece;
	}
}

/* The lower `size` bytes of each, 4 or 8. */
static inline void sink_values(struct record_sink *sink, const uint64_t *values, size_t count, unsigned int size)
{
	if (size == sizeof(*values)) {
		sink_bytes(sink, values, count * sizeof(*values));
		return;
	}
	while (count) {
		size_t piece;

		sink_need(sink);
		piece = (size_t)(sink->end - sink->at) / size;
		piece = piece < count ? piece : count;
		for (size_t i = 0; i < piece; i++) {
			const uint32_t word = (uint32_t)values[i];

			memcpy(sink->at + i * sizeof(word), &word, sizeof(word));
		}
		sink->at += piece * size;
		values += piece;
		count -= piece;
	}
}

static inline void sink_text(struct record_sink *sink, const char *text, size_t most)
{
	size_t length = strnlen(text, most);

	sink_number(sink, length);
	sink_bytes(sink, text, length);
}

#endif
