/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Fields of a JSON document that may be wrong: each is checked, the first mistake is told with its place. */
#ifndef TOOLS_REPORT_READER_H
#define TOOLS_REPORT_READER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report.h"

/* Which field is being read, as it is said in messages: runs[3].samples.seconds[2]. */
struct reader {
	const char *file;
	char field[160];
	char *message;
	bool has_failed;
};

/* The first one counts. */
void report_reader_fail(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Goes into a field; leave() with the result comes back. */
size_t report_reader_enter(struct reader *reader, const char *name);
size_t report_reader_enter_index(struct reader *reader, size_t index);
void report_reader_leave(struct reader *reader, size_t length);

/* The text has a NUL behind it. NULL, also of JSON's null. */
struct json_object *report_reader_parse(struct reader *reader, const char *text, size_t size);

bool report_reader_is_type(struct reader *reader, struct json_object *value, enum json_type type,
			   const char *name);
/* NULL: it is not there, or of another type; that is told unless it may be missing. */
struct json_object *report_reader_member(struct reader *reader, struct json_object *object, const char *key,
					 enum json_type type, const char *type_text, bool may_miss);

/* "", 0: it is not there, or wrong. Texts are those of the document. */
const char *report_reader_text_of(struct reader *reader, struct json_object *value);
const char *report_reader_text(struct reader *reader, struct json_object *object, const char *key,
			       bool may_miss);
uint64_t report_reader_count_of(struct reader *reader, struct json_object *value);
uint64_t report_reader_count(struct reader *reader, struct json_object *object, const char *key,
			     bool may_miss);
double report_reader_seconds_of(struct reader *reader, struct json_object *value);
double report_reader_seconds(struct reader *reader, struct json_object *object, const char *key,
			     bool may_miss);

/* Zeroed memory for so many. NULL: reported. For none, too, it is not NULL. */
void *report_reader_room(struct reader *reader, size_t number, size_t size);
bool report_reader_is_few(struct reader *reader, size_t number, size_t most);

#endif
