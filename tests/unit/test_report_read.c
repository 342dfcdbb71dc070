/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* run.json as docs/report.md says it is, and the message of each mistake in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report.h"

#define HEAD "{\"format\":\"mimic-run\",\"version\":1,\"mimic\":\"0.1.0\",\"date\":\"2026-11-22T02:35:56Z\"," \
	"\"program\":\"demo\",\"machine\":{},"
#define RUN_HEAD "\"kind\":\"maple\",\"kernel\":\"spmv\",\"form\":\"lima\",\"transport\":\"daemon\","
#define RUN RUN_HEAD "\"verified\":true,\"seconds\":0.5"
#define WITH(more) HEAD "\"runs\":[{" RUN "," more "}]}"
#define SAMPLES(more) WITH("\"samples\":{" more "}")

static struct report *read_text(const char *text, char *message)
{
	return report_read("run.json", text, strlen(text), message);
}

static void expect_error(const char *text, const char *expected)
{
	char message[REPORT_MESSAGE_SIZE] = "", whole[REPORT_MESSAGE_SIZE];
	struct report *report = read_text(text, message);

	assert_null(report);
	snprintf(whole, sizeof(whole), "run.json: %s", expected);
	assert_string_equal(message, whole);
}

static void expect_either_error(const char *text, const char *expected, const char *other)
{
	char message[REPORT_MESSAGE_SIZE] = "";

	assert_null(read_text(text, message));
	expect_error(text, strcmp(message + strlen("run.json: "), expected) ? other : expected);
}

static struct report *expect_good(const char *text)
{
	char message[REPORT_MESSAGE_SIZE] = "";
	struct report *report = read_text(text, message);

	assert_string_equal(message, "");
	assert_non_null(report);
	return report;
}

static void test_the_least_that_is_valid_is_read(void **state)
{
	struct report *report = expect_good(HEAD "\"runs\":[{" RUN "}]}");

	(void)state;
	assert_string_equal(report->program, "demo");
	assert_int_equal(report->run_count, 1);
	assert_string_equal(report->runs[0].kernel, "spmv");
	assert_string_equal(report->runs[0].variant, "");
	assert_true(report->runs[0].verified && report->runs[0].seconds == 0.5);
	assert_int_equal(report->runs[0].samples.count, 0);
	report_free(report);
}

static void test_all_of_a_run_is_read(void **state)
{
	struct report *report = expect_good(WITH(
		"\"arguments\":[\"--form\",\"a b\",\"it's\"],\"work\":{\"amount\":7,\"unit\":\"MACs\"},"
		"\"counters\":{\"produced\":1000000000000000000},\"unknown\":[null],"
		"\"samples\":{\"seconds\":[0,0.25],\"queues\":[{\"name\":\"queues/0\",\"size\":4,\"levels\":[0,4]}],"
		"\"counters\":{\"faults\":[0,3]}}"));
	const struct report_run *run = report->runs;

	(void)state;
	assert_string_equal(run->arguments, "--form 'a b' 'it'\\''s'");
	assert_int_equal(run->amount, 7);
	assert_string_equal(run->counters[0].name, "produced");
	assert_true(run->counters[0].value == 1000000000000000000);
	assert_int_equal(run->samples.count, 2);
	assert_true(run->samples.seconds[1] == 0.25);
	assert_int_equal(run->samples.queues[0].levels[1], 4);
	assert_int_equal(report_growth_of(&run->samples, "faults")[1], 3);
	assert_null(report_growth_of(&run->samples, "walks"));
	report_free(report);
}

static void test_invalid_json_is_refused_with_its_place(void **state)
{
	(void)state;
	expect_error("", "the JSON text ends too early, in line 1");
	expect_error("{\n \"format\": \"mimic-run\",", "the JSON text ends too early, in line 2");
	expect_error("{\n \"format\": mimic }", "line 2, column 12: not JSON: unexpected character");
	expect_error("hello", "line 1, column 1: not JSON: unexpected character");
	expect_error("{} {}", "line 1, column 4: not JSON: unexpected character");
}

static void test_a_nul_byte_is_refused(void **state)
{
	static const char text[] = HEAD "\"runs\":[{" RUN "}]}\0 ";
	char message[REPORT_MESSAGE_SIZE] = "";

	(void)state;
	assert_null(report_read("run.json", text, sizeof(text) - 1, message));
	assert_non_null(strstr(message, "is NUL"));
	expect_error(HEAD "\"runs\":[{" RUN ",\"input\":\"a\\u0000b\"}]}", "runs[0].input: the text has a NUL character in it");
}

static void test_deep_nesting_is_refused(void **state)
{
	char text[4096];

	(void)state;
	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_error(text, "line 1, column 17: not JSON: nesting too deep");
}

static void test_another_format_or_version_is_refused(void **state)
{
	(void)state;
	expect_error("[]", "it must be an object, and is an array");
	expect_error("null", "it must be an object, and is null");
	expect_error("{}", "format: it is missing");
	expect_error("{\"format\":\"trace\",\"version\":1}", "format: it must be \"mimic-run\", and is \"trace\"");
	expect_error("{\"format\":\"mimic-run\"}", "version: it is missing");
	expect_error("{\"format\":\"mimic-run\",\"version\":2}", "version: it is 2, and this mimic reads version 1");
	expect_error("{\"format\":\"mimic-run\",\"version\":\"1\"}",
		     "version: it must be a whole number from 0 to 10^18, and is a text");
}

static void test_missing_fields_are_named(void **state)
{
	(void)state;
	expect_error("{\"format\":\"mimic-run\",\"version\":1}", "mimic: it is missing");
	expect_error(HEAD "\"seconds\":1}", "runs: it is missing");
	expect_error(HEAD "\"runs\":[]}", "runs: there is none");
	expect_error(HEAD "\"runs\":[{" RUN "},{}]}", "runs[1].kind: it is missing");
	expect_error(HEAD "\"runs\":[{" RUN_HEAD "\"seconds\":1}]}", "runs[0].verified: it is missing");
	expect_error(HEAD "\"runs\":[{" RUN_HEAD "\"verified\":true}]}", "runs[0].seconds: it is missing");
	expect_error(WITH("\"work\":{\"amount\":1}"), "runs[0].work.unit: it is missing");
	expect_error(SAMPLES("\"queues\":[]"), "runs[0].samples.seconds: it is missing");
}

static void test_wrong_types_are_named(void **state)
{
	(void)state;
	expect_error(HEAD "\"runs\":{}}", "runs: it must be an array, and is an object");
	expect_error(HEAD "\"runs\":[7]}", "runs[0]: it must be an object, and is a number");
	expect_error(WITH("\"input\":null"), "runs[0].input: it must be a text, and is null");
	expect_error(WITH("\"arguments\":[1]"), "runs[0].arguments[0]: it must be a text, and is a number");
	expect_error(WITH("\"counters\":{\"faults\":\"none\"}"),
		     "runs[0].counters.faults: it must be a whole number from 0 to 10^18, and is a text");
	expect_error(WITH("\"counters\":{\"faults\":1.5}"),
		     "runs[0].counters.faults: it must be a whole number from 0 to 10^18, and is 1.5");
	expect_error(HEAD "\"runs\":[{" RUN_HEAD "\"seconds\":1,\"verified\":\"yes\"}]}",
		     "runs[0].verified: it must be true or false, and is a text");
}

static void test_numbers_that_are_too_large_are_refused(void **state)
{
	(void)state;
	expect_error(WITH("\"counters\":{\"a\":1000000000000000001}"),
		     "runs[0].counters.a: it must be a whole number from 0 to 10^18, and is 1000000000000000001");
	expect_error(WITH("\"counters\":{\"a\":-1}"),
		     "runs[0].counters.a: it must be a whole number from 0 to 10^18, and is -1");
	/* The former by json-c 0.18, the latter by older ones. */
	expect_either_error(WITH("\"counters\":{\"a\":99999999999999999999999999}"),
			    "line 1, column 232: the number is too large: 99999999999999999999999999",
			    "runs[0].counters.a: it must be a whole number from 0 to 10^18, and is 18446744073709551615");
	expect_error(HEAD "\"seconds\":1e99,\"runs\":[{" RUN "}]}", "seconds: it must be from 0 to 10^9 seconds, and is 1e99");
	expect_error(HEAD "\"seconds\":-0.5,\"runs\":[{" RUN "}]}", "seconds: it must be from 0 to 10^9 seconds, and is -0.5");
	expect_error(HEAD "\"seconds\":1e999,\"runs\":[{" RUN "}]}", "seconds: it must be from 0 to 10^9 seconds, and is 1e999");
}

static void test_samples_that_do_not_fit_together_are_refused(void **state)
{
	(void)state;
	expect_error(SAMPLES("\"seconds\":[0,1],\"queues\":[],\"counters\":{\"a\":[1]}"),
		     "runs[0].samples.counters.a: it has 1 values, and there are 2 times");
	expect_error(SAMPLES("\"seconds\":[0,1,0.5],\"queues\":[],\"counters\":{}"),
		     "runs[0].samples.seconds[2]: time goes backwards");
	expect_error(SAMPLES("\"seconds\":[0,1],\"queues\":[{\"name\":\"q\",\"size\":2,\"levels\":[1,3]}],\"counters\":{}"),
		     "runs[0].samples.queues[0].levels: value 1 is more than the queue's size");
	expect_error(SAMPLES("\"seconds\":[0,1],\"queues\":[{\"name\":\"q\",\"size\":2,\"levels\":[1]}],\"counters\":{}"),
		     "runs[0].samples.queues[0].levels: it has 1 values, and there are 2 times");
	expect_error(SAMPLES("\"seconds\":[0],\"queues\":[{\"size\":2}],\"counters\":{}"),
		     "runs[0].samples.queues[0].name: it is missing");
}

/* A text that is cut or has a turned bit is refused or read, and no memory of others is touched. */
static void test_damaged_text_does_no_harm(void **state)
{
	static const char good[] = SAMPLES("\"seconds\":[0,1],\"queues\":[{\"name\":\"q\",\"size\":2,\"levels\":[1,2]}],"
					   "\"counters\":{\"a\":[0,1]}");
	char message[REPORT_MESSAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		char *text = strdup(good);

		text[i] = '\0';
		report_free(report_read("run.json", text, i, message));
		memcpy(text, good, sizeof(good));
		for (unsigned int bit = 0; bit < 8; bit++) {
			text[i] = (char)(good[i] ^ (1 << bit));
			report_free(report_read("run.json", text, sizeof(good) - 1, message));
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_least_that_is_valid_is_read),
		cmocka_unit_test(test_all_of_a_run_is_read),
		cmocka_unit_test(test_invalid_json_is_refused_with_its_place),
		cmocka_unit_test(test_a_nul_byte_is_refused),
		cmocka_unit_test(test_deep_nesting_is_refused),
		cmocka_unit_test(test_another_format_or_version_is_refused),
		cmocka_unit_test(test_missing_fields_are_named),
		cmocka_unit_test(test_wrong_types_are_named),
		cmocka_unit_test(test_numbers_that_are_too_large_are_refused),
		cmocka_unit_test(test_samples_that_do_not_fit_together_are_refused),
		cmocka_unit_test(test_damaged_text_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
