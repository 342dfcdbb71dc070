/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a context of DARE waits, in words. */
#include <string.h>

#include "devices/explain.h"
#include "tests/lib/dare_setup.h"
#include "tests/lib/kinds.h"

static const char *explained(bool is_write, unsigned int context, unsigned int offset)
{
	const struct mimic_access access = {
		.owner = 1,
		.page = (uint8_t)DARE_PAGE_CONTEXT(context),
		.offset = offset,
		.size = 8,
		.is_write = is_write,
	};
	static char bytes[240];
	struct mimic_text text;

	mimic_text_begin(&text, bytes, sizeof(bytes));
	mimic_explain_access(&mimic_kind_dare, &access, &text);
	mimic_explain_reason(&mimic_kind_dare, host->model, &access, &text);
	return bytes;
}

static void stall(unsigned int context, unsigned int level)
{
	host->space[context].absent[0] = true;
	assert_true(host_run_in(host, context, W_MLD(0), HOST_BASE, 64));
	for (unsigned int i = 1; i < level; i++)
		assert_true(host_run_in(host, context, W_MCFG, 0, 1));
}

static void a_fence_behind_a_missing_page_says_so(void **state)
{
	(void)state;
	stall(1, 1);
	assert_string_equal(
		explained(false, 1, DARE_FENCE),
		"load of context 1 FENCE: context 1 has not executed all "
		"(1 instruction is left), and the oldest waits for the page at 0x40000 (page fault)");
}

static void a_full_queue_says_what_its_head_waits_for(void **state)
{
	(void)state;
	stall(0, 32);
	assert_string_equal(
		explained(true, 0, DARE_INSTRUCTION),
		"store of context 0 INSTRUCTION: the queue of context 0 is full "
		"(32 instructions are left), and the oldest waits for the page at 0x40000 (page fault)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_fence_behind_a_missing_page_says_so, host_start_stalling,
						host_stop),
		cmocka_unit_test_setup_teardown(a_full_queue_says_what_its_head_waits_for,
						host_start_stalling, host_stop),
	};

	return cmocka_run_group_tests_name("explanations, DARE", tests, NULL, NULL);
}
