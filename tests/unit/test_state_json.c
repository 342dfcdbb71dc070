/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state of devices as JSON, whose text is read back by json-c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>

#include "libmimic/base/state_copy.h"
#include "libmimic/base/state_json.h"
#include "tests/lib/state_tree.h"
#include "tests/lib/virgo_fixture.h"

/* --- a device that shows one of each --------------------------------------------------------- */

static void one_of_each(const struct mimic_model *model, uint64_t now,
			const struct mimic_state_visitor *visitor)
{
	static const unsigned char memory[] = { 0x00, 0x7f, 0x80, 0xff, 0x0a };

	(void)model;
	mimic_state_decimal(visitor, "largest", UINT64_MAX, "a count");
	mimic_state_hex(visitor, "address", 0xfedcba9876543210, "a word");
	mimic_state_boolean(visitor, "yes", true, "a flag");
	visitor->number(visitor->context, "negative", (uint64_t)-5, MIMIC_STATE_SIGNED, NULL);
	mimic_state_text(visitor, "quotes", "a \"b\"\n\\", "a \"text\"");
	mimic_state_enter(visitor, "outer");
	mimic_state_enter_number(visitor, 12);
	mimic_state_decimal(visitor, "now", now, "a time");
	mimic_state_leave_number(visitor, 12);
	mimic_state_enter(visitor, "empty");
	mimic_state_leave(visitor, "empty");
	mimic_state_leave(visitor, "outer");
	mimic_state_bytes(visitor, "memory", memory, sizeof(memory), "five bytes");
}

static const struct mimic_kind example = { .name = "example", .state = one_of_each };

static void expect_text(const struct mimic_kind *kind, unsigned int flags, const char *expected)
{
	struct json_object *tree = mimic_state_json(kind, NULL, 77, flags);

	assert_non_null(tree);
	assert_string_equal(json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE), expected);
	json_object_put(tree);
}

#define VALUES \
	"{\"largest\":{\"value\":18446744073709551615,\"meaning\":\"a count\"}," \
	"\"address\":{\"value\":\"0xfedcba9876543210\",\"meaning\":\"a word\"}," \
	"\"yes\":{\"value\":true,\"meaning\":\"a flag\"}," \
	"\"negative\":{\"value\":-5}," \
	"\"quotes\":{\"value\":\"a \\\"b\\\"\\n\\\\\",\"meaning\":\"a \\\"text\\\"\"}," \
	"\"outer\":{\"12\":{\"now\":{\"value\":77,\"meaning\":\"a time\"}},\"empty\":{}},"

static void values_and_folders_are_objects_in_their_order(void **state)
{
	(void)state;
	expect_text(&example, 0, VALUES "\"memory\":{\"value\":null,\"size\":5,\"meaning\":\"five bytes\"}}");
}

static void bytes_are_hexadecimal_if_they_are_asked_for(void **state)
{
	(void)state;
	expect_text(&example, MIMIC_STATE_JSON_BYTES,
		    VALUES "\"memory\":{\"value\":\"007f80ff0a\",\"size\":5,\"meaning\":\"five bytes\"}}");
}

/* --- folders without end ------------------------------------------------------------------------ */

static void too_deep(const struct mimic_model *model, uint64_t now,
		     const struct mimic_state_visitor *visitor)
{
	(void)model;
	(void)now;
	for (unsigned int i = 0; i < 40; i++)
		mimic_state_enter_number(visitor, i);
	mimic_state_decimal(visitor, "deep", 1, NULL);
	for (unsigned int i = 40; i--;)
		mimic_state_leave_number(visitor, i);
}

static void folders_that_are_too_deep_are_an_error(void **state)
{
	static const struct mimic_kind deep = { .name = "deep", .state = too_deep };

	(void)state;
	errno = 0;
	assert_null(mimic_state_json(&deep, NULL, 0, 0));
	assert_int_equal(errno, EOVERFLOW);
}

/* --- a real one ------------------------------------------------------------------------------------ */

/* Follows a path by its names; a new reference is not made. */
static struct json_object *follow(struct json_object *object, const char *path)
{
	char copy[256], *rest, *name;

	snprintf(copy, sizeof(copy), "%s", path);
	for (name = strtok_r(copy, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		if (!json_object_object_get_ex(object, name, &object))
			fail_msg("%s is not there", path);
	}
	return object;
}

static uint64_t number_of(const struct state_entry *entry, struct json_object *value)
{
	switch (entry->format) {
	case MIMIC_STATE_HEX:
		return strtoull(json_object_get_string(value), NULL, 16);
	case MIMIC_STATE_BOOLEAN:
		return (uint64_t)json_object_get_boolean(value);
	default:
		return json_object_get_uint64(value);
	}
}

static void expect_entry(const struct state_entry *entry, struct json_object *object)
{
	struct json_object *value = follow(object, "value");
	const char *hex;

	assert_string_equal(json_object_get_string(follow(object, "meaning")), entry->meaning);
	switch (entry->type) {
	case STATE_NUMBER:
		assert_int_equal(number_of(entry, value), entry->value);
		return;
	case STATE_TEXT:
		assert_string_equal(json_object_get_string(value), entry->text);
		return;
	case STATE_BYTES:
		hex = json_object_get_string(value);
		assert_int_equal(strlen(hex), 2 * entry->value);
		for (size_t i = 0; i < entry->value; i++) {
			unsigned int byte;

			assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
			if (byte != entry->bytes[i])
				fail_msg("%s: byte %zu", entry->path, i);
		}
	}
}

static void the_text_of_a_cluster_holds_all_that_it_shows(void **state)
{
	struct virgo_fixture *f = virgo_fixture_create(NULL, 0);
	struct json_object *tree, *read;
	struct state_tree *expected;

	(void)state;
	for (unsigned int i = 0; i < 4096; i++)
		f->shared[i] = (unsigned char)(i * 37 + i / 256);
	virgo_send(f, 0, 77, 1, 2);
	virgo_run(f);
	expected = state_tree_take(&mimic_kind_virgo, f->model, f->now);
	tree = mimic_state_json(&mimic_kind_virgo, f->model, f->now, MIMIC_STATE_JSON_BYTES);
	assert_non_null(tree);
	read = json_tokener_parse(json_object_to_json_string(tree));
	assert_non_null(read);
	for (size_t i = 0; i < expected->count; i++)
		expect_entry(&expected->entries[i], follow(read, expected->entries[i].path));
	assert_string_equal(json_object_get_string(follow(read, "units/0/error/name/value")), "COMMAND");
	json_object_put(read);
	json_object_put(tree);
	state_tree_free(expected);
	virgo_fixture_destroy(f);
}

/* --- copies ---------------------------------------------------------------------------------- */

/* The copy has exactly the room that it said it needs, so that a sanitizer sees all beyond. */
static void expect_copy(bool with_bytes)
{
	struct mimic_state_copy copy = { .with_bytes = with_bytes };
	struct json_object *tree, *direct;

	assert_false(mimic_state_copy_take(&copy, &example, NULL, 77));
	copy.room = copy.size;
	copy.buffer = malloc(copy.room);
	assert_non_null(copy.buffer);
	assert_true(mimic_state_copy_take(&copy, &example, NULL, 77));
	tree = mimic_state_copy_json(&copy);
	direct = mimic_state_json(&example, NULL, 77, with_bytes ? MIMIC_STATE_JSON_BYTES : 0);
	assert_string_equal(json_object_to_json_string(tree), json_object_to_json_string(direct));
	json_object_put(tree);
	json_object_put(direct);
	free(copy.buffer);
}

static void a_copy_shows_what_was_shown_to_it(void **state)
{
	(void)state;
	expect_copy(false);
	expect_copy(true);
}

static void a_copy_without_room_says_how_much_it_takes(void **state)
{
	char guarded[64 + 8];
	struct mimic_state_copy copy = { .buffer = guarded, .room = 64 };

	(void)state;
	memset(guarded, 0x5a, sizeof(guarded));
	assert_false(mimic_state_copy_take(&copy, &example, NULL, 77));
	assert_true(copy.size > copy.room);
	for (size_t i = 64; i < sizeof(guarded); i++)
		assert_int_equal(guarded[i], 0x5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_folders_are_objects_in_their_order),
		cmocka_unit_test(bytes_are_hexadecimal_if_they_are_asked_for),
		cmocka_unit_test(folders_that_are_too_deep_are_an_error),
		cmocka_unit_test(a_copy_shows_what_was_shown_to_it),
		cmocka_unit_test(a_copy_without_room_says_how_much_it_takes),
		cmocka_unit_test(the_text_of_a_cluster_holds_all_that_it_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
