/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/last_replies.h"

#include <errno.h>
#include <string.h>

#include "daemon/vfio/connection.h"

/* Instead of a size: the following messages cannot be told apart. */
#define LOST UINT32_MAX

static const uint32_t header_size = sizeof(struct mimicd_vfio_header);

static size_t answer(struct mimicd_vfio_note *note, char *reply)
{
	const struct mimicd_vfio_header error = {
		.id = note->header.id, .command = note->header.command, .size = header_size,
		.flags = MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR, .error = EIO,
	};

	if (note->is_answered || note->header.flags & MIMICD_VFIO_NO_REPLY)
		return 0;
	note->is_answered = true;
	memcpy(reply, &error, sizeof(error));
	return sizeof(error);
}

/* Of the message's bytes so many as there are. */
static size_t read_on(struct mimicd_vfio_note *note, const char *bytes, size_t size)
{
	size_t end = note->have < header_size ? header_size : note->header.size;
	size_t part = end - note->have < size ? end - note->have : size;

	if (!note->have)
		note->is_answered = false;
	if (note->have < header_size)
		memcpy((char *)&note->header + note->have, bytes, part);
	note->have += (uint32_t)part;
	return part;
}

/* The reply to the message, if its header is there; and the message's end. Returns the reply's size. */
static size_t look(struct mimicd_vfio_note *note, char *reply)
{
	size_t length;

	if (note->have == LOST || note->have < header_size)
		return 0;
	if (note->header.flags & MIMICD_VFIO_TYPE || note->have > note->header.size ||
	    note->header.size > header_size + MIMICD_VFIO_PAYLOAD) {
		note->have = LOST;
		return 0;
	}
	length = answer(note, reply);
	if (note->have == note->header.size)
		note->have = 0;
	return length;
}

/*
 * Mimicd may also have been killed when it had read the rest of the message and not said so: then the message behind it
 * comes first. QEMU's numbers go up by one, and nothing that a message has behind its header looks like a command.
 */
static bool is_next_header(const struct mimicd_vfio_note *note, const char *bytes, size_t size)
{
	struct mimicd_vfio_header next;

	if (size < header_size)
		return false;
	memcpy(&next, bytes, sizeof(next));
	return next.id == (uint16_t)(note->header.id + 1) && next.command && next.size >= header_size &&
	       next.size <= header_size + MIMICD_VFIO_PAYLOAD && !(next.flags & MIMICD_VFIO_TYPE);
}

/* Mimicd may have been killed before it could say how much it had read. */
static void begin(struct mimicd_vfio_note *note)
{
	if (!note->header.size)
		note->have = 0;
	else if (note->have < header_size)
		note->have = header_size;
	note->is_unsure = note->have == header_size && note->header.size > header_size;
}

size_t mimicd_vfio_last_replies(void *context, const char *bytes, size_t size, char *replies)
{
	struct mimicd_vfio_note *note = context;
	size_t length = 0;

	if (!size) {
		begin(note);
		length = look(note, replies);
	}
	if (size && note->is_unsure) {
		note->is_unsure = false;
		if (note->have != LOST && is_next_header(note, bytes, size))
			note->have = 0;
	}
	while (size && note->have != LOST) {
		size_t part = read_on(note, bytes, size);

		bytes += part;
		size -= part;
		length += look(note, replies + length);
	}
	return length;
}
