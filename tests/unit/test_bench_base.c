/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make bench BASE=FILE compares rows with those of an earlier run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/base.c"

void bench_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	exit(1);
}

/* The comparison of `rows` with an earlier run that had `earlier`. */
static void compare_texts(const char *earlier, const char *rows, char *said, size_t size)
{
	char path[] = "/tmp/mimic-test-base-XXXXXX";
	json_object *now = json_tokener_parse(rows);
	int file = mkstemp(path), out = dup(1);
	ssize_t length;

	assert_true(file >= 0 && out >= 0);
	assert_int_equal(write(file, earlier, strlen(earlier)), strlen(earlier));
	bench_base_read(path);
	assert_int_equal(ftruncate(file, 0), 0);
	fflush(stdout);
	dup2(file, 1);
	bench_base_compare(now);
	fflush(stdout);
	dup2(out, 1);
	length = pread(file, said, size - 1, strlen(earlier));
	assert_true(length > 0);
	said[length] = '\0';
	json_object_put(now);
	close(out);
	close(file);
	unlink(path);
}

#define ROW(name, rest) "{\"name\": \"" name "\", " rest "}"

static void expect(const char *earlier, const char *rows, const char *text)
{
	char said[500];

	compare_texts(earlier, rows, said, sizeof(said));
	if (!strstr(said, text))
		fail_msg("this is not in the text: %s\n%s", text, said);
}

static void a_ratio_that_moved_is_named_with_both(void **unused)
{
	(void)unused;
	expect("[" ROW("load", "\"value\": 100, \"ratio\": 2.0") "]", "[" ROW("load", "\"value\": 50, \"ratio\": 2.5") "]",
	       "ratio 2.50, was 2.00: +25 %");
}

static void a_tenth_is_no_move(void **unused)
{
	(void)unused;
	expect("[" ROW("load", "\"value\": 100, \"ratio\": 2.0") "]", "[" ROW("load", "\"value\": 500, \"ratio\": 1.81") "]",
	       "0 of 1 rows");
}

/* Rows of three rounds each. */
static void a_row_whose_rounds_overlap_is_too_noisy_to_judge(void **unused)
{
	(void)unused;
	expect("[" ROW("load", "\"value\": 100, \"ratio\": 2.0, \"least\": 1.9, \"most\": 2.6") "]",
	       "[" ROW("load", "\"value\": 100, \"ratio\": 2.5, \"least\": 2.4, \"most\": 2.7") "]",
	       "ratio 2.50, was 2.00: +25 %, too noisy to judge\n0 of 1 rows");
}

static void a_row_whose_rounds_are_apart_has_moved(void **unused)
{
	(void)unused;
	expect("[" ROW("load", "\"value\": 100, \"ratio\": 2.0, \"least\": 1.9, \"most\": 2.1") "]",
	       "[" ROW("load", "\"value\": 100, \"ratio\": 1.5, \"least\": 1.4, \"most\": 1.7") "]",
	       "ratio 1.50, was 2.00: -25 %\n1 of 1 rows");
}

static void a_row_without_a_reference_is_compared_by_its_value(void **unused)
{
	(void)unused;
	expect("[" ROW("memory", "\"value\": 100") "]", "[" ROW("memory", "\"value\": 50") "]", "value 50.00, was 100.00: -50 %");
}

static void rows_that_were_not_there_are_named(void **unused)
{
	(void)unused;
	expect("[]", "[" ROW("load", "\"value\": 1") "]", "load                               is new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ratio_that_moved_is_named_with_both),
		cmocka_unit_test(a_tenth_is_no_move),
		cmocka_unit_test(a_row_whose_rounds_overlap_is_too_noisy_to_judge),
		cmocka_unit_test(a_row_whose_rounds_are_apart_has_moved),
		cmocka_unit_test(a_row_without_a_reference_is_compared_by_its_value),
		cmocka_unit_test(rows_that_were_not_there_are_named),
	};

	return cmocka_run_group_tests_name("make bench BASE", tests, NULL, NULL);
}
