/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which bytes that a device has read last are in its requests and answers. */
#include "libmimic/record/stream.h"

#define INDICES_MIN 4		/* of fewer, addresses are short */
#define QUEUED_MAX 4096u	/* bytes that a device may have gathered and not answered */
#define ANSWER_MIN 32u		/* bytes; shorter ones are not worth a search */

/* --- indices ------------------------------------------------------------------------------- */

static bool are_indexed(const unsigned char *words, const uint64_t *addresses, size_t count, uint64_t base,
			unsigned int shift)
{
	uint64_t difference = 0;

#pragma GCC unroll 4
	for (size_t i = 0; i < count; i++) {
		uint32_t index;

		memcpy(&index, words + i * sizeof(index), sizeof(index));
		difference |= addresses[i] ^ (base + ((uint64_t)index << shift));
	}
	return !difference;
}

static bool are_indexed_at(const struct record_history *words, uint64_t position, const uint64_t *addresses,
			   size_t count, unsigned int shift, uint64_t *base)
{
	size_t size = count * sizeof(uint32_t), first = history_piece(position, size) / sizeof(uint32_t);

	if (!history_has(words, position, size))
		return false;
	*base = addresses[0] - ((uint64_t)history_word(words, position) << shift);
	return are_indexed(words->bytes + history_place(position), addresses, first, *base, shift) &&
	       are_indexed(words->bytes, addresses + first, count - first, *base, shift);
}

/* Behind the words that the last gather used, or from the last read's first word on. */
bool mimic_record_find_indices(struct record_stream *stream, const uint64_t *addresses, size_t count,
			       unsigned int size, struct record_indices *found)
{
	const struct record_history *words = &stream->words;
	unsigned int shift = size == sizeof(uint64_t) ? 3 : 2;
	uint64_t position = stream->next_index, base;

	if (count < INDICES_MIN)
		return false;
	if (!are_indexed_at(words, position, addresses, count, shift, &base)) {
		position = stream->last_read;
		if (!are_indexed_at(words, position, addresses, count, shift, &base))
			return false;
	}
	*found = (struct record_indices){ .distance = words->end - position, .base = base - stream->last_base };
	stream->last_base = base;
	stream->next_index = position + count * sizeof(uint32_t);
	return true;
}

/* --- values -------------------------------------------------------------------------------- */

/* A place of an answer that is not where the last one ended: another thread or access may have had some between. */
static bool search(struct record_stream *stream, const void *answer, size_t size)
{
	const struct record_history *values = &stream->values;
	uint64_t last = stream->values_at_call, position = last > QUEUED_MAX ? last - QUEUED_MAX : 0;
	uint32_t first;

	memcpy(&first, answer, sizeof(first));
	for (; position <= last; position += sizeof(first)) {
		if (!history_has(values, position, size) || history_word(values, position) != first ||
		    !history_is(values, position, answer, size))
			continue;
		stream->next_value = position;
		return true;
	}
	return false;
}

bool mimic_record_find_values(struct record_stream *stream, const void *answer, size_t size, uint64_t *distance)
{
	const struct record_history *values = &stream->values;

	if (size < ANSWER_MIN || size % sizeof(uint32_t))
		return false;
	if (!history_is(values, stream->next_value, answer, size) && !search(stream, answer, size))
		return false;
	*distance = values->end - stream->next_value;
	stream->next_value += size;
	return true;
}
