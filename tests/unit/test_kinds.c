/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which kinds can be registered: each thing that a kind must have, and each limit. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libmimic/base/config.h"
#include "tests/lib/small_kind.h"

static char reason[MIMIC_KIND_REASON_MAX];

/* Both of registering and of asking. */
static void expect_refused(const struct mimic_kind *kind, const char *expected)
{
	unsigned int count = mimic_kind_count();

	assert_false(mimic_kind_is_valid(kind, reason, sizeof(reason)));
	assert_string_equal(reason, expected);
	assert_int_equal(mimic_kind_register(kind, reason, sizeof(reason)), -EINVAL);
	assert_string_equal(reason, expected);
	assert_int_equal(mimic_kind_count(), count);
}

static void built_in_kinds_are_valid_with_their_defaults(void **state)
{
	struct mimic_settings settings;

	(void)state;
	mimic_config_default(&settings);
	/* A line more in devices/kinds.def is no error. */
	assert_in_range(mimic_kind_count(), 3, MIMIC_KINDS_MAX);
	assert_memory_equal(mimic_kind_names(), "maple dare virgo", strlen("maple dare virgo"));
	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		assert_true(mimic_kind_is_valid(mimic_kinds[i], reason, sizeof(reason)));
		assert_true(mimic_kind_takes(mimic_kinds[i], &settings.parameters.of[i], reason, sizeof(reason)));
		assert_int_equal(mimic_kind_index(mimic_kinds[i]), i);
	}
}

static void a_name_is_one_to_twelve_small_letters(void **state)
{
	static const char *const names[] = { "", "Small", "small1", "sma-ll", "small device", "abcdefghijklm" };
	struct mimic_kind kind;
	char expected[128];

	(void)state;
	small_kind(&kind);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		kind.name = names[i];
		snprintf(expected, sizeof(expected), "the name '%s' is not 1 to 12 small letters", names[i]);
		expect_refused(&kind, expected);
	}
	kind.name = NULL;
	expect_refused(&kind, "it has no name");
	kind.name = "abcdefghijkl";
	assert_true(mimic_kind_is_valid(&kind, reason, sizeof(reason)));
}

static void names_that_mean_something_else_are_refused(void **state)
{
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.name = "mimic";	/* a section, and /dev/mimic */
	expect_refused(&kind, "the name 'mimic' means something else");
	kind.name = "plugin";	/* a section */
	expect_refused(&kind, "the name 'plugin' means something else");
	kind.name = "mem";	/* /dev/mem */
	expect_refused(&kind, "the name 'mem' means something else");
}

static void the_name_of_a_kind_that_is_there_is_refused(void **state)
{
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.name = "dare";
	assert_int_equal(mimic_kind_register(&kind, reason, sizeof(reason)), -EEXIST);
	assert_string_equal(reason, "there is a kind 'dare' already");
}

static void the_sizes_of_a_kind_have_limits(void **state)
{
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.pages = 0;
	expect_refused(&kind, "0 pages for programs are not 1 to 16");
	kind.pages = 17;
	expect_refused(&kind, "17 pages for programs are not 1 to 16");
	kind.pages = 2;
	expect_refused(&kind, "1 pages of the device are not 2 to 16");
	small_kind(&kind);
	kind.device_pages = 1u << 31;
	expect_refused(&kind, "2147483648 pages of the device are not 1 to 16");
	small_kind(&kind);
	kind.default_count = 1025;
	expect_refused(&kind, "1025 devices, of 1024 at most");
	small_kind(&kind);
	kind.private_count = 65;
	expect_refused(&kind, "65 private devices, of 64 at most");
	small_kind(&kind);
	kind.counter_count = (size_t)1 << 40;
	expect_refused(&kind, "it has 1099511627776 counters, of 128 at most");
	small_kind(&kind);
	kind.key_count = 65;
	expect_refused(&kind, "it has 65 keys, of 64 at most");
	small_kind(&kind);
	kind.parameters_size = (size_t)1 << 40;
	expect_refused(&kind, "its parameters are 1099511627776 bytes, of 512 at most");
	small_kind(&kind);
	kind.batch = 0;
	expect_refused(&kind, "its batch is 0 stores");
}

static void required_functions_must_be_there(void **state)
{
	static const struct {
		size_t offset;
		const char *name;
	} required[] = {
#define _(name) { offsetof(struct mimic_kind, name), #name },
		_(defaults) _(check) _(create) _(destroy) _(may_wait) _(state)
#undef _
	};
	struct mimic_kind kind;
	char expected[64];

	(void)state;
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		small_kind(&kind);
		memset((char *)&kind + required[i].offset, 0, sizeof(void *));
		snprintf(expected, sizeof(expected), "it has no function %s()", required[i].name);
		expect_refused(&kind, expected);
	}
}

static unsigned int no_cost(const struct mimic_access *store, unsigned int *part)
{
	(void)store;
	*part = 0;
	return 0;
}

static unsigned int none_left(const struct mimic_model *model, const struct mimic_access *store, unsigned int *most)
{
	(void)model;
	(void)store;
	*most = 0;
	return 0;
}

static bool no_load(const struct mimic_access *load)
{
	(void)load;
	return false;
}

static void credits_need_all_of_their_functions(void **state)
{
	struct mimic_credits credits = { no_cost, none_left };
	const char *expected = "it has credits, and not cost(), left() and is_for_stores()";
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.credits = &credits;
	expect_refused(&kind, expected);
	kind.is_for_stores = no_load;
	assert_true(mimic_kind_is_valid(&kind, reason, sizeof(reason)));
	credits.cost = NULL;
	expect_refused(&kind, expected);
	credits = (struct mimic_credits){ .cost = no_cost };
	expect_refused(&kind, expected);
}

static void keys_lie_in_the_parameters_and_are_there_once(void **state)
{
	struct mimic_key keys[] = { { "depth", 0, 0 }, { "width", 8, 0 } };
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.keys = keys;
	expect_refused(&kind, "key width lies outside of its parameters");
	keys[1].offset = 5;
	expect_refused(&kind, "key width lies outside of its parameters");
	keys[1].offset = (size_t)-4;
	expect_refused(&kind, "key width lies outside of its parameters");
	keys[1] = (struct mimic_key){ "depth", 4, 0 };
	expect_refused(&kind, "key depth is there twice");
	keys[1].name = "two words";
	expect_refused(&kind, "key 1 has no name that can be one");
	keys[1].name = "profile";
	expect_refused(&kind, "key 1 has no name that can be one");
}

static void a_counter_needs_a_name(void **state)
{
	static const char *const counters[] = { "loads", NULL };
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.counters = counters;
	expect_refused(&kind, "counter 1 has no name that can be one");
	kind.counters = NULL;
	expect_refused(&kind, "its list of counters is not there");
}

static void registers_lie_on_pages_of_the_device(void **state)
{
	struct mimic_register rows[] = { { .name = "STATUS", .meaning = "m", .count = 1, .access = MIMIC_REGISTER_W } };
	struct mimic_register_block block = {
		.name = "device", .access = MIMIC_REGISTER_RW, .pages = 1, .units = 1, .size = 4096, .shift = 3,
		.rows = rows, .count = 1,
	};
	const struct mimic_register_block *blocks[] = { &block };
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.blocks = blocks;
	kind.block_count = 1;
	assert_true(mimic_kind_is_valid(&kind, reason, sizeof(reason)));
	block.page = 1;
	expect_refused(&kind, "registers 'device' are on pages that it has not");
	block.page = 0;
	block.size = 8192;
	expect_refused(&kind, "registers 'device' do not fit a page");
	block.size = 4096;
	rows[0].access = MIMIC_REGISTER_R;
	expect_refused(&kind, "register STATUS cannot be read");
	rows[0].access = MIMIC_REGISTER_W;
	rows[0].count = 2;
	expect_refused(&kind, "register STATUS has no meaning or no stride");
	blocks[0] = NULL;
	expect_refused(&kind, "a block of its registers is not there");
}

static size_t too_much(const void *parameters)
{
	(void)parameters;
	return (size_t)1 << 40;
}

static size_t half_a_page(const void *parameters)
{
	(void)parameters;
	return 2048;
}

static void memory_is_whole_pages_behind_the_registers(void **state)
{
	struct small_parameters parameters = { .depth = 4 };
	struct mimic_kind kind;

	(void)state;
	small_kind(&kind);
	kind.memory_size = too_much;
	expect_refused(&kind, "its memory is not behind its pages");
	kind.memory_offset = 4096;
	assert_true(mimic_kind_is_valid(&kind, reason, sizeof(reason)));
	assert_false(mimic_kind_takes(&kind, &parameters, reason, sizeof(reason)));
	assert_string_equal(reason, "memory of 1099511627776 bytes is not whole pages up to 16777216 bytes");
	kind.memory_size = half_a_page;
	assert_false(mimic_kind_takes(&kind, &parameters, reason, sizeof(reason)));
	assert_string_equal(reason, "memory of 2048 bytes is not whole pages up to 16777216 bytes");
}

static void a_model_needs_all_its_functions(void **state)
{
	static const struct mimic_model_ops none = { .kind = "small" };
	struct mimic_model model = { .ops = &none };

	(void)state;
	assert_false(mimic_kind_model_is_valid(&model, reason, sizeof(reason)));
	assert_string_equal(reason, "its model has no function access()");
	model.ops = NULL;
	assert_false(mimic_kind_model_is_valid(&model, reason, sizeof(reason)));
	assert_string_equal(reason, "its model has no functions");
}

/* The last test: kinds that are registered stay. */
static void there_is_room_for_sixteen_kinds(void **state)
{
	static struct mimic_kind kinds[16];
	static char names[16][8];
	const unsigned int first = mimic_kind_count(), count = 16 - first;
	struct mimic_settings settings;
	char last[16];
	const char *rest;

	(void)state;
	for (unsigned int i = 0; i <= count; i++) {
		snprintf(names[i], sizeof(names[i]), "small%c", 'a' + (int)i);
		small_kind(&kinds[i]);
		kinds[i].name = names[i];
	}
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(mimic_kind_register(&kinds[i], reason, sizeof(reason)), 0);
		assert_int_equal(mimic_kind_index(&kinds[i]), first + i);
	}
	kinds[count].name = "small";
	assert_int_equal(mimic_kind_register(&kinds[count], reason, sizeof(reason)), -EINVAL);
	assert_string_equal(reason, "there are 16 kinds already, and no room for 'small'");
	snprintf(last, sizeof(last), "%s3", names[count - 1]);
	assert_ptr_equal(mimic_kind_of_device(last, &rest), &kinds[count - 1]);
	assert_string_equal(rest, "3");
	mimic_config_default(&settings);
	assert_int_equal(settings.counts[15], 1);
	assert_int_equal(((struct small_parameters *)mimic_parameters_of(&settings.parameters, &kinds[count - 1]))->depth,
			 4);
	assert_int_equal(mimic_config_devices("smalla:2, dare", &settings), 0);
	assert_int_equal(settings.counts[first], 2);
	assert_int_equal(settings.counts[15], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_kinds_are_valid_with_their_defaults),
		cmocka_unit_test(a_name_is_one_to_twelve_small_letters),
		cmocka_unit_test(names_that_mean_something_else_are_refused),
		cmocka_unit_test(the_name_of_a_kind_that_is_there_is_refused),
		cmocka_unit_test(the_sizes_of_a_kind_have_limits),
		cmocka_unit_test(required_functions_must_be_there),
		cmocka_unit_test(credits_need_all_of_their_functions),
		cmocka_unit_test(keys_lie_in_the_parameters_and_are_there_once),
		cmocka_unit_test(a_counter_needs_a_name),
		cmocka_unit_test(registers_lie_on_pages_of_the_device),
		cmocka_unit_test(memory_is_whole_pages_behind_the_registers),
		cmocka_unit_test(a_model_needs_all_its_functions),
		cmocka_unit_test(there_is_room_for_sixteen_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
