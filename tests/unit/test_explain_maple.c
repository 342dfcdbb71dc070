/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a MAPLE waits, in words. */
#include <string.h>

#include "tests/lib/model_fixture.h"

#include "devices/explain.h"
#include "tests/lib/kinds.h"

/* "store of MAPLE PRODUCE [0]: why" */
static const char *explained(bool is_write, unsigned int operation, unsigned int queue, uint64_t owner)
{
	const struct mimic_access access = {
		.owner = owner,
		.offset = operation << 3 | queue << 9,
		.size = 4,
		.is_write = is_write,
	};
	static char bytes[240];
	struct mimic_text text;

	mimic_text_begin(&text, bytes, sizeof(bytes));
	mimic_explain_access(&mimic_kind_maple, &access, &text);
	mimic_explain_reason(&mimic_kind_maple, host->model, &access, &text);
	assert_int_equal(text.length, strlen(bytes));
	return bytes;
}

static void a_missing_page_is_named(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 2);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(pointer32(0, 2050));
	assert_string_equal(explained(true, POINTER32, 0, PRODUCER),
			    "store of MAPLE POINTER32 [0]: "
			    "the device waits for the page at 0x102000 (page fault)");
	/* The consumer of that queue waits for the same, that of another one for its own producer. */
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_string_equal(explained(false, CONSUME, 0, CONSUMER),
			    "load of MAPLE CONSUME [0]: "
			    "the device waits for the page at 0x102000 (page fault)");
	assert_string_equal(explained(false, CONSUME, 1, CONSUMER),
			    "load of MAPLE CONSUME [1]: "
			    "queue 1 is empty, and its producer does not store");
	stop();
}

static void memory_that_has_not_answered_is_named(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	assert_true(pointer32(0, 5));
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_string_equal(explained(false, CONSUME, 0, CONSUMER),
			    "load of MAPLE CONSUME [0]: memory has not answered the oldest fetch of queue 0");
	stop();
}

static void a_full_queue_says_what_its_consumer_does(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 7; i++)
		assert_true(fake_store(host, PRODUCER, PRODUCE, 0, 4, i));
	assert_false(fake_store(host, PRODUCER, PRODUCE, 0, 8, 0));
	assert_string_equal(explained(true, PRODUCE, 0, PRODUCER),
			    "store of MAPLE PRODUCE [0]: "
			    "queue 0 has no room for it (7 of 8 words), and its consumer does not load");
	stop();
}

static void a_number_that_is_no_queue_gets_no_reason(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	assert_string_equal(explained(true, PRODUCE, 7, PRODUCER), "store of MAPLE PRODUCE [7]");
	stop();
}

static void a_text_ends_where_its_room_does(void **state)
{
	struct mimic_text text;
	char bytes[8];

	(void)state;
	mimic_text_begin(&text, bytes, sizeof(bytes));
	mimic_text_add(&text, "abc");
	mimic_text_add_decimal(&text, 10);
	mimic_text_add_hex(&text, 0xab, 4);
	assert_string_equal(bytes, "abc100x");
	assert_int_equal(text.length, strlen("abc100x00ab"));
	mimic_text_begin(&text, bytes, sizeof(bytes));
	mimic_text_add_decimal(&text, 0);
	assert_string_equal(bytes, "0");
	mimic_text_begin(&text, NULL, 0);
	mimic_text_add_decimal(&text, UINT64_MAX);
	assert_int_equal(text.length, strlen("18446744073709551615"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_page_is_named),
		cmocka_unit_test(memory_that_has_not_answered_is_named),
		cmocka_unit_test(a_full_queue_says_what_its_consumer_does),
		cmocka_unit_test(a_number_that_is_no_queue_gets_no_reason),
		cmocka_unit_test(a_text_ends_where_its_room_does),
	};

	return cmocka_run_group_tests_name("explanations, MAPLE", tests, NULL, NULL);
}
