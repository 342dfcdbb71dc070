/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The inode numbers of the state filesystem: as often forgotten as looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/filesystem/nodes.h"

static struct mimicd_nodes nodes;

static int setup(void **state)
{
	(void)state;
	memset(&nodes, 0, sizeof(nodes));
	return !mimicd_nodes_create(&nodes);
}

static int teardown(void **state)
{
	(void)state;
	mimicd_nodes_destroy(&nodes);
	return 0;
}

static void the_root_is_number_1_and_is_never_forgotten(void **state)
{
	(void)state;
	assert_string_equal(mimicd_node_find(&nodes, 1)->path, "");
	mimicd_node_forget(&nodes, 1, 1000);
	assert_non_null(mimicd_node_find(&nodes, 1));
}

static void a_node_is_there_until_each_lookup_is_forgotten(void **state)
{
	uint64_t number = mimicd_node_get(&nodes, "devices/maple0")->number;

	(void)state;
	assert_int_equal(mimicd_node_get(&nodes, "devices/maple0")->number, number);
	assert_int_equal(mimicd_node_get(&nodes, "devices/maple0")->number, number);
	mimicd_node_forget(&nodes, number, 2);
	assert_string_equal(mimicd_node_find(&nodes, number)->path, "devices/maple0");
	mimicd_node_forget(&nodes, number, 1);
	assert_null(mimicd_node_find(&nodes, number));
	assert_int_equal(mimicd_node_get(&nodes, "devices/maple0")->number, number);
}

static void forgetting_what_is_not_known_does_nothing(void **state)
{
	uint64_t number = mimicd_node_get(&nodes, "pid")->number;

	(void)state;
	mimicd_node_forget(&nodes, number + 1, 1);
	mimicd_node_forget(&nodes, number, 5);
	mimicd_node_forget(&nodes, number, 1);
	assert_null(mimicd_node_find(&nodes, number));
}

static void a_number_that_another_path_has_is_not_given_away(void **state)
{
	struct mimicd_node *first = mimicd_node_get(&nodes, "devices/maple0");

	(void)state;
	/* As if both paths had this number. */
	strcpy(first->path, "devices/other0");
	assert_int_equal(mimicd_node_get(&nodes, "devices/maple0")->number, first->number + 1);
	assert_string_equal(mimicd_node_find(&nodes, first->number + 1)->path, "devices/maple0");
}

static void many_paths_have_numbers_of_their_own(void **state)
{
	char path[64];

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		const struct mimicd_node *node;

		snprintf(path, sizeof(path), "devices/dare%u/contexts/%u", i / 100, i % 100);
		node = mimicd_node_get(&nodes, path);
		assert_true(node->number > 1);
		assert_int_equal(node->lookups, 1);
		assert_ptr_equal(mimicd_node_find(&nodes, node->number), node);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(the_root_is_number_1_and_is_never_forgotten),
		TEST(a_node_is_there_until_each_lookup_is_forgotten),
		TEST(forgetting_what_is_not_known_does_nothing),
		TEST(a_number_that_another_path_has_is_not_given_away),
		TEST(many_paths_have_numbers_of_their_own),
	};

	return cmocka_run_group_tests_name("filesystem nodes", tests, NULL, NULL);
}
