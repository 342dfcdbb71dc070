/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/state_copy.h"

#include <string.h>

enum part { ENTER, LEAVE, NUMBER, TEXT, BYTES };

/* Each part of a copy: this, the name with its 0, then `size` bytes, then room up to ALIGNMENT. */
struct header {
	enum part part;
	enum mimic_state_format format;
	size_t name_size;
	size_t size;		/* of a text with its 0, or of bytes that are there */
	uint64_t value;		/* of a number; how many bytes the device has */
	const char *meaning;
};

#define ALIGNMENT _Alignof(struct header)

static size_t length_of(const struct header *header)
{
	size_t size = sizeof(*header) + header->name_size + header->size;

	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void add(struct mimic_state_copy *copy, struct header *header, const char *name, const void *bytes)
{
	size_t at = copy->size;
	char *to;

	header->name_size = strlen(name) + 1;
	copy->size += length_of(header);
	if (copy->size > copy->room)
		return;
	to = copy->buffer + at;
	memcpy(to, header, sizeof(*header));
	memcpy(to + sizeof(*header), name, header->name_size);
	if (header->size)
		memcpy(to + sizeof(*header) + header->name_size, bytes, header->size);
}

static void enter(void *context, const char *name)
{
	add(context, &(struct header){ .part = ENTER }, name, "");
}

static void leave(void *context, const char *name)
{
	add(context, &(struct header){ .part = LEAVE }, name, "");
}

static void number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		   const char *meaning)
{
	add(context, &(struct header){ .part = NUMBER, .format = format, .value = value, .meaning = meaning },
	    name, "");
}

static void text(void *context, const char *name, const char *value, const char *meaning)
{
	add(context, &(struct header){ .part = TEXT, .size = strlen(value) + 1, .meaning = meaning }, name, value);
}

static void bytes(void *context, const char *name, const void *from, size_t size, const char *meaning)
{
	const struct mimic_state_copy *copy = context;

	add(context, &(struct header){ .part = BYTES, .size = copy->with_bytes ? size : 0, .value = size,
				       .meaning = meaning }, name, from);
}

bool mimic_state_copy_take(struct mimic_state_copy *copy, const struct mimic_kind *kind,
			   const struct mimic_model *model, uint64_t now)
{
	const struct mimic_state_visitor visitor = {
		.context = copy, .enter = enter, .leave = leave,
		.number = number, .text = text, .bytes = bytes,
	};

	copy->size = 0;
	kind->state(model, now, &visitor);
	return copy->size <= copy->room;
}

static void show(const struct header *header, const char *name, const struct mimic_state_visitor *to)
{
	const char *content = name + header->name_size;

	switch (header->part) {
	case ENTER:
		to->enter(to->context, name);
		return;
	case LEAVE:
		to->leave(to->context, name);
		return;
	case NUMBER:
		to->number(to->context, name, header->value, header->format, header->meaning);
		return;
	case TEXT:
		to->text(to->context, name, content, header->meaning);
		return;
	case BYTES:
		to->bytes(to->context, name, header->size ? content : NULL, (size_t)header->value,
			  header->meaning);
		return;
	}
}

void mimic_state_copy_show(const struct mimic_state_copy *copy, const struct mimic_state_visitor *visitor)
{
	size_t at = 0;

	while (at < copy->size) {
		const struct header *header = (const struct header *)(const void *)(copy->buffer + at);

		show(header, (const char *)(header + 1), visitor);
		at += length_of(header);
	}
}
