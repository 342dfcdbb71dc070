/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a unit of a Virgo cluster waits, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "devices/explain.h"
#include "tests/lib/kinds.h"
#include "tests/lib/virgo_fixture.h"

static struct virgo_fixture *f;

static const char *explained(bool is_write, unsigned int page, unsigned int offset)
{
	const struct mimic_access access = {
		.owner = 1,
		.page = (uint8_t)page,
		.offset = offset,
		.size = 8,
		.is_write = is_write,
	};
	static char bytes[240];
	struct mimic_text text;

	mimic_text_begin(&text, bytes, sizeof(bytes));
	mimic_explain_access(&mimic_kind_virgo, &access, &text);
	mimic_explain_reason(&mimic_kind_virgo, f->model, &access, &text);
	return bytes;
}

/* Unit 0 waits for the first page of the arena. */
static void stall(void)
{
	f = virgo_fixture_create(NULL, FIXTURE_WALKS | FIXTURE_FAULTS);
	f->fault_answer = MIMIC_FAULT_STALL;
	f->absent[0] = true;
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD,
		   1024);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, virgo_address(f->arena), virgo_pack(8, 8, 0));
	virgo_run(f);
}

static void a_fence_behind_a_missing_page_says_so(void **state)
{
	char wanted[200];

	(void)state;
	stall();
	snprintf(wanted, sizeof(wanted),
		 "load of unit 0 FENCE: unit 0 has completed 1 of 2 commands, and waits for the page at "
		 "0x%llx (page fault)",
		 (unsigned long long)virgo_address(f->arena));
	assert_string_equal(explained(false, VIRGO_PAGE_UNITS, VIRGO_FENCE), wanted);
	virgo_fixture_destroy(f);
}

static void a_full_queue_says_so(void **state)
{
	(void)state;
	stall();
	while (virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4,
			   VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH)))
		;
	assert_non_null(strstr(explained(true, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION),
			       "store of unit 0 INSTRUCTION: "
			       "the queue of unit 0 is full ("));
	assert_non_null(
		strstr(explained(true, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION), ", and waits for the page at "));
	virgo_fixture_destroy(f);
}

static void a_unit_that_is_not_there_has_no_reason(void **state)
{
	(void)state;
	stall();
	assert_null(strchr(explained(false, VIRGO_PAGE_UNITS, 15 * VIRGO_BLOCK_SIZE + VIRGO_FENCE), ':'));
	assert_null(strchr(explained(false, VIRGO_PAGE_CONTROL, 0), ':'));
	virgo_fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fence_behind_a_missing_page_says_so),
		cmocka_unit_test(a_full_queue_says_so),
		cmocka_unit_test(a_unit_that_is_not_there_has_no_reason),
	};

	return cmocka_run_group_tests_name("explanations, Virgo", tests, NULL, NULL);
}
