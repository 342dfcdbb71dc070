/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/report/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define NUMBER_MOST 1000000000000000000ull	/* 10^18: beyond, it is a negative difference of unsigned numbers */
#define DIGITS_ALWAYS_FIT 18	/* into 64 bits, with a sign or without */
#define SECONDS_MOST 1e9

/* --- messages ------------------------------------------------------------------------------- */

void report_reader_fail(struct reader *reader, const char *format, ...)
{
	va_list list;
	int used;

	if (reader->has_failed)
		return;
	reader->has_failed = true;
	used = snprintf(reader->message, REPORT_MESSAGE_SIZE, "%.200s: %s%s", reader->file, reader->field,
			*reader->field ? ": " : "");
	va_start(list, format);
	vsnprintf(reader->message + used, REPORT_MESSAGE_SIZE - (size_t)used, format, list);
	va_end(list);
}

size_t report_reader_enter(struct reader *reader, const char *name)
{
	size_t length = strlen(reader->field);

	snprintf(reader->field + length, sizeof(reader->field) - length, "%s%.48s", length ? "." : "", name);
	return length;
}

size_t report_reader_enter_index(struct reader *reader, size_t index)
{
	size_t length = strlen(reader->field);

	snprintf(reader->field + length, sizeof(reader->field) - length, "[%zu]", index);
	return length;
}

void report_reader_leave(struct reader *reader, size_t length)
{
	reader->field[length] = '\0';
}

/* The name of the type, for people. */
static const char *type_name(struct json_object *value)
{
	static const char *const names[] = {
		[json_type_null] = "null", [json_type_boolean] = "true or false", [json_type_double] = "a number",
		[json_type_int] = "a number", [json_type_object] = "an object", [json_type_array] = "an array",
		[json_type_string] = "a text",
	};

	return names[json_object_get_type(value)];
}

/* --- values ------------------------------------------------------------------------------------ */

bool report_reader_is_type(struct reader *reader, struct json_object *value, enum json_type type,
			   const char *name)
{
	if (json_object_is_type(value, type))
		return true;
	report_reader_fail(reader, "it must be %s, and is %s", name, type_name(value));
	return false;
}

struct json_object *report_reader_member(struct reader *reader, struct json_object *object, const char *key,
					 enum json_type type, const char *type_text, bool may_miss)
{
	struct json_object *value;
	size_t field = report_reader_enter(reader, key);
	bool is_there = json_object_object_get_ex(object, key, &value);

	if (!is_there && !may_miss)
		report_reader_fail(reader, "it is missing");
	if (is_there && !report_reader_is_type(reader, value, type, type_text))
		is_there = false;
	report_reader_leave(reader, field);
	return is_there ? value : NULL;
}

const char *report_reader_text_of(struct reader *reader, struct json_object *value)
{
	if (!report_reader_is_type(reader, value, json_type_string, "a text"))
		return "";
	if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		report_reader_fail(reader, "the text has a NUL character in it");
	return json_object_get_string(value);
}

const char *report_reader_text(struct reader *reader, struct json_object *object, const char *key,
			       bool may_miss)
{
	struct json_object *value =
		report_reader_member(reader, object, key, json_type_string, "a text", may_miss);
	size_t field;
	const char *result;

	if (!value)
		return "";
	field = report_reader_enter(reader, key);
	result = report_reader_text_of(reader, value);
	report_reader_leave(reader, field);
	return result;
}

/* json-c before 0.18 makes its largest number of a larger one. */
uint64_t report_reader_count_of(struct reader *reader, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    json_object_get_uint64(value) > NUMBER_MOST) {
		report_reader_fail(reader, "it must be a whole number from 0 to 10^18, and is %.40s",
		     json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double) ?
		     json_object_get_string(value) : type_name(value));
		return 0;
	}
	return json_object_get_uint64(value);
}

uint64_t report_reader_count(struct reader *reader, struct json_object *object, const char *key,
			     bool may_miss)
{
	struct json_object *value;
	size_t field = report_reader_enter(reader, key);
	uint64_t result = 0;

	if (json_object_object_get_ex(object, key, &value))
		result = report_reader_count_of(reader, value);
	else if (!may_miss)
		report_reader_fail(reader, "it is missing");
	report_reader_leave(reader, field);
	return result;
}

double report_reader_seconds_of(struct reader *reader, struct json_object *value)
{
	double result;

	if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int)) {
		report_reader_fail(reader, "it must be a number, and is %s", type_name(value));
		return 0;
	}
	result = json_object_get_double(value);
	if (!isfinite(result) || result < 0 || result > SECONDS_MOST)
		report_reader_fail(reader, "it must be from 0 to 10^9 seconds, and is %.40s",
				   json_object_get_string(value));
	return result;
}

double report_reader_seconds(struct reader *reader, struct json_object *object, const char *key,
			     bool may_miss)
{
	struct json_object *value;
	size_t field = report_reader_enter(reader, key);
	double result = 0;

	if (json_object_object_get_ex(object, key, &value))
		result = report_reader_seconds_of(reader, value);
	else if (!may_miss)
		report_reader_fail(reader, "it is missing");
	report_reader_leave(reader, field);
	return result;
}

void *report_reader_room(struct reader *reader, size_t number, size_t size)
{
	void *memory = calloc(number ? number : 1, size);

	if (!memory)
		report_reader_fail(reader, "out of memory");
	return memory;
}

bool report_reader_is_few(struct reader *reader, size_t number, size_t most)
{
	if (number > most)
		report_reader_fail(reader, "there are %zu; %zu are the most", number, most);
	return number <= most;
}

/* --- the whole text ------------------------------------------------------------------------------ */

/* Where a byte of the text is, for people. */
static void find_place(const char *text, size_t offset, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < offset; i++) {
		*column = text[i] == '\n' ? 1 : *column + 1;
		*line += text[i] == '\n';
	}
}

static size_t digits_before(const char *text, size_t end)
{
	size_t number = 0;

	while (number < end && isdigit((unsigned char)text[end - number - 1]))
		number++;
	return number;
}

static void fail_to_parse(struct reader *reader, const char *text, enum json_tokener_error error, size_t end)
{
	/* json-c 0.18 says of a whole number that does not fit into 64 bits that it expects a number. */
	size_t digits = error == json_tokener_error_parse_number ? digits_before(text, end) : 0;
	bool is_too_large = digits > DIGITS_ALWAYS_FIT;
	size_t line, column;

	find_place(text, is_too_large ? end - digits : end, &line, &column);
	if (error == json_tokener_continue || error == json_tokener_error_parse_eof)
		report_reader_fail(reader, "the JSON text ends too early, in line %zu", line);
	else if (is_too_large)
		report_reader_fail(reader, "line %zu, column %zu: the number is too large: %.*s", line,
				   column, (int)(digits < 40 ? digits : 40), text + end - digits);
	else
		report_reader_fail(reader, "line %zu, column %zu: not JSON: %s", line, column,
				   json_tokener_error_desc(error));
}

struct json_object *report_reader_parse(struct reader *reader, const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	const char *nul = memchr(text, 0, size);
	struct json_object *root;
	enum json_tokener_error error;
	size_t end;

	if (nul) {
		report_reader_fail(reader, "not JSON: byte %zu is NUL", (size_t)(nul - text));
		json_tokener_free(tokener);
		return NULL;
	}
	if (!tokener) {
		report_reader_fail(reader, "out of memory");
		return NULL;
	}
	/* Its final NUL ends a document that is a number or a word. */
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tokener, text, (int)size + 1);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (error != json_tokener_success)
		fail_to_parse(reader, text, error, end);
	return root;
}
