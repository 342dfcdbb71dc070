/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Finding values in JSON that a daemon has sent, and printing them. */
#include <json-c/json.h>
#include <stdio.h>

#include "tools/common/tools.h"

const char *tool_show_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return "-";
	return json_object_get_string(value);
}

size_t tool_show_array(struct json_object *object, const char *key, struct json_object **array)
{
	if (!json_object_object_get_ex(object, key, array) || !json_object_is_type(*array, json_type_array))
		return 0;
	return json_object_array_length(*array);
}

void tool_show_clean(FILE *file, const char *text)
{
	for (; *text; text++)
		putc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, file);
}
