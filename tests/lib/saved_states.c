/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/saved_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"

struct json_object *saved_dump(const struct served *served, const char *name)
{
	struct json_object *tree;
	char *text;

	if (mimic_daemon_state(served->socket, name, MIMIC_STATE_WITH_BYTES, &text))
		fail_msg("%s", mimic_error_text());
	tree = json_tokener_parse(text);
	assert_non_null(tree);
	free(text);
	return tree;
}

uint64_t saved_number(const struct served *served, const char *name, const char *path)
{
	struct json_object *tree = saved_dump(served, name), *at = tree;
	char copy[128], *rest = copy;
	uint64_t number;

	strcpy(copy, path);
	for (char *part = strsep(&rest, "/"); part; part = strsep(&rest, "/")) {
		if (!json_object_object_get_ex(at, part, &at))
			fail_msg("%s shows no %s", name, path);
	}
	number = json_object_get_uint64(json_object_object_get(at, "value"));
	json_object_put(tree);
	return number;
}

void saved_take(const struct served *served, const char *name, struct saved_state *saved)
{
	saved->before = saved_dump(served, name);
	if (mimic_daemon_save(served->socket, name, &saved->record, &saved->size))
		fail_msg("%s", mimic_error_text());
	saved->after = saved_dump(served, name);
}

void saved_free(struct saved_state *saved)
{
	json_object_put(saved->before);
	json_object_put(saved->after);
	free(saved->record);
}

int saved_restore(const struct served *served, const char *name, const struct saved_state *saved)
{
	return mimic_daemon_restore(served->socket, name, saved->record, saved->size, false);
}

/* Returns how many values were compared. */
static unsigned int compare(struct json_object *before, struct json_object *after, struct json_object *now)
{
	unsigned int count = 0;

	assert_int_equal(json_object_object_length(before), json_object_object_length(now));
	json_object_object_foreach(before, name, value) {
		struct json_object *later, *there;

		if (!json_object_object_get_ex(now, name, &there) || !json_object_object_get_ex(after, name, &later))
			fail_msg("there is no %s", name);
		if (!strcmp(name, "address_space"))
			continue;
		if (json_object_is_type(value, json_type_object)) {
			count += compare(value, later, there);
		} else if (json_object_equal(value, later)) {
			if (!json_object_equal(value, there))
				fail_msg("%s: %.80s, not %.80s", name, json_object_to_json_string(there),
					 json_object_to_json_string(value));
			count++;
		}
	}
	return count;
}

void saved_expect_same(const struct served *served, const char *name, const struct saved_state *saved)
{
	struct json_object *now = saved_dump(served, name);

	assert_true(compare(saved->before, saved->after, now) > 100);
	json_object_put(now);
}
