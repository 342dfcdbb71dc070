/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Short forms for the reports. */
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include <json-c/json.h>
#include <stdint.h>

static inline void add_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static inline void add_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static inline void add_real(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, json_object_new_double(value));
}

#endif
