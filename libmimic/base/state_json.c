/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/state_json.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmimic/base/state_copy.h"

#define DEPTH_MAX 16	/* folders in folders; models have five at most */

struct builder {
	struct json_object *folder[DEPTH_MAX];
	unsigned int depth;
	unsigned int beyond;	/* folders that have no room on the stack: left out */
	unsigned int flags;
	int error;
};

/* Takes the object, which may be NULL for want of memory. */
static struct json_object *add(struct builder *builder, struct json_object *to, const char *name,
			       struct json_object *object)
{
	if (object && to && !json_object_object_add(to, name, object))
		return object;
	json_object_put(object);
	if (!builder->error)
		builder->error = ENOMEM;
	return NULL;
}

static struct json_object *current(const struct builder *builder)
{
	return builder->folder[builder->depth - 1];
}

static void enter(void *context, const char *name)
{
	struct builder *builder = context;

	if (builder->depth == DEPTH_MAX) {
		builder->error = EOVERFLOW;
		builder->beyond++;
		return;
	}
	builder->folder[builder->depth] = add(builder, current(builder), name, json_object_new_object());
	builder->depth++;
}

static void leave(void *context, const char *name)
{
	struct builder *builder = context;

	(void)name;
	if (builder->beyond)
		builder->beyond--;
	else
		builder->depth--;
}

static void add_entry(struct builder *builder, const char *name, struct json_object *value,
		      const char *meaning)
{
	struct json_object *entry = add(builder, current(builder), name, json_object_new_object());

	add(builder, entry, "value", value);
	if (meaning)
		add(builder, entry, "meaning", json_object_new_string(meaning));
}

/* JSON's numbers are doubles to many programs: a value that is no count is a text. */
static struct json_object *number_object(uint64_t value, enum mimic_state_format format)
{
	char text[2 + 16 + 1];

	switch (format) {
	case MIMIC_STATE_HEX:
		snprintf(text, sizeof(text), "0x%" PRIx64, value);
		return json_object_new_string(text);
	case MIMIC_STATE_SIGNED:
		return json_object_new_int64((int64_t)value);
	case MIMIC_STATE_BOOLEAN:
		return json_object_new_boolean(value != 0);
	case MIMIC_STATE_DECIMAL:
		break;
	}
	return json_object_new_uint64(value);
}

static void number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		   const char *meaning)
{
	add_entry(context, name, number_object(value, format), meaning);
}

static void text(void *context, const char *name, const char *value, const char *meaning)
{
	add_entry(context, name, json_object_new_string(value), meaning);
}

static struct json_object *hexadecimal(const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *digit = malloc(2 * size + 1);
	struct json_object *object;

	if (!digit)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		digit[2 * i] = digits[bytes[i] >> 4];
		digit[2 * i + 1] = digits[bytes[i] & 15];
	}
	object = json_object_new_string_len(digit, (int)(2 * size));
	free(digit);
	return object;
}

/* A null is no object of json-c: NULL stands for it. */
static void add_null(struct builder *builder, struct json_object *to, const char *name)
{
	if (to && json_object_object_add(to, name, NULL))
		builder->error = ENOMEM;
}

static void bytes(void *context, const char *name, const void *from, size_t size, const char *meaning)
{
	struct builder *builder = context;
	struct json_object *entry = add(builder, current(builder), name, json_object_new_object());

	if (from && builder->flags & MIMIC_STATE_JSON_BYTES)
		add(builder, entry, "value", hexadecimal(from, size));
	else
		add_null(builder, entry, "value");
	add(builder, entry, "size", json_object_new_uint64(size));
	if (meaning)
		add(builder, entry, "meaning", json_object_new_string(meaning));
}

static bool begin(struct builder *builder, struct mimic_state_visitor *visitor)
{
	*visitor = (struct mimic_state_visitor){
		.context = builder, .enter = enter, .leave = leave,
		.number = number, .text = text, .bytes = bytes,
	};
	builder->depth = 1;
	builder->folder[0] = json_object_new_object();
	if (!builder->folder[0])
		errno = ENOMEM;
	return builder->folder[0];
}

static struct json_object *end(struct builder *builder)
{
	if (!builder->error)
		return builder->folder[0];
	json_object_put(builder->folder[0]);
	errno = builder->error;
	return NULL;
}

struct json_object *mimic_state_json(const struct mimic_kind *kind, const struct mimic_model *model,
				     uint64_t now, unsigned int flags)
{
	struct builder builder = { .flags = flags };
	struct mimic_state_visitor visitor;

	if (!begin(&builder, &visitor))
		return NULL;
	kind->state(model, now, &visitor);
	return end(&builder);
}

struct json_object *mimic_state_copy_json(const struct mimic_state_copy *copy)
{
	struct builder builder = { .flags = MIMIC_STATE_JSON_BYTES };
	struct mimic_state_visitor visitor;

	if (!begin(&builder, &visitor))
		return NULL;
	mimic_state_copy_show(copy, &visitor);
	return end(&builder);
}
