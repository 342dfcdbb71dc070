/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where records are written: a stream's block, or the log of a job until it is handed back. */
#ifndef LIBMIMIC_RECORD_SINK_H
#define LIBMIMIC_RECORD_SINK_H

#include <stdbool.h>
#include <string.h>

#include "libmimic/record/format.h"

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

static inline void sink_number(struct record_sink *sink, uint64_t value)
{
	unsigned char *at;

	sink_need(sink);
	for (at = sink->at; value > 127; value >>= 7)
		*at++ = (unsigned char)(value | 128);
	*at++ = (unsigned char)value;
	sink->at = at;
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

	for (size_t i = 0; i < count; i++) {
		sink_number(sink, mimic_record_zigzag(addresses[i] - before));
		before = addresses[i];
	}
}

static inline void sink_text(struct record_sink *sink, const char *text, size_t most)
{
	size_t length = strnlen(text, most);

	sink_number(sink, length);
	sink_bytes(sink, text, length);
}

#endif
