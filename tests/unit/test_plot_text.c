/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Texts of strangers in a page of HTML, escaped as the Encoding and HTML standards say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/plot/plot.h"

#define FFFD "\xef\xbf\xbd"

static void expect(const char *text, const char *expected)
{
	size_t size = 0;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	plot_escape(out, text);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, expected);
	free(got);
}

static void test_characters_of_markup_are_escaped(void **state)
{
	(void)state;
	expect("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
	expect("a\" onload='x'", "a&quot; onload=&#39;x&#39;");
	expect("&lt;", "&amp;lt;");
	expect("--> ]]>", "--&gt; ]]&gt;");
}

static void test_ordinary_text_of_any_script_stays(void **state)
{
	(void)state;
	expect("", "");
	expect("kronecker 14: 16384 by 16384", "kronecker 14: 16384 by 16384");
	expect("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbd",
	       "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbd");
	expect("a\tb\nc", "a\tb\nc");
}

static void test_bytes_that_are_no_character_are_replaced(void **state)
{
	(void)state;
	expect("\x80", FFFD);
	expect("a\xff" "b", "a" FFFD "b");
	expect("\xc3", FFFD);			/* cut off */
	expect("\xc3<", FFFD "&lt;");
	expect("\xe2\x82", FFFD FFFD);
	expect("\xf8\x88\x80\x80\x80", FFFD FFFD FFFD FFFD FFFD);
}

static void test_longer_than_needed_is_no_character(void **state)
{
	(void)state;
	expect("\xc0\xbc", FFFD FFFD);		/* '<' in two bytes */
	expect("\xe0\x80\xbc", FFFD FFFD FFFD);
	expect("\xf0\x80\x80\xbc", FFFD FFFD FFFD FFFD);
}

static void test_surrogates_and_what_is_beyond_unicode_are_no_characters(void **state)
{
	(void)state;
	expect("\xed\xa0\x80", FFFD FFFD FFFD);		/* U+D800 */
	expect("\xed\xbf\xbf", FFFD FFFD FFFD);		/* U+DFFF */
	expect("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD);	/* U+110000 */
}

static void test_control_characters_are_replaced(void **state)
{
	(void)state;
	expect("a\x1b[31mb\x07", "a" FFFD "[31mb" FFFD);
	expect("\x7f", FFFD);
	expect("\xc2\x85", FFFD);	/* U+0085 */
}

static void test_characters_that_turn_the_direction_of_writing_are_replaced(void **state)
{
	(void)state;
	expect("\xe2\x80\xae" "gpj.exe", FFFD "gpj.exe");	/* U+202E */
	expect("\xe2\x81\xa6x\xe2\x81\xa9", FFFD "x" FFFD);	/* U+2066, U+2069 */
}

static void test_a_format_escapes_its_texts_and_not_itself(void **state)
{
	size_t size = 0;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	plot_print(out, "<b title=\"%s\">%u%% of %zu, %.1f</b>", "\"<\"", 7u, (size_t)12, 2.25);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, "<b title=\"&quot;&lt;&quot;\">7% of 12, 2.2</b>");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters_of_markup_are_escaped),
		cmocka_unit_test(test_ordinary_text_of_any_script_stays),
		cmocka_unit_test(test_bytes_that_are_no_character_are_replaced),
		cmocka_unit_test(test_longer_than_needed_is_no_character),
		cmocka_unit_test(test_surrogates_and_what_is_beyond_unicode_are_no_characters),
		cmocka_unit_test(test_control_characters_are_replaced),
		cmocka_unit_test(test_characters_that_turn_the_direction_of_writing_are_replaced),
		cmocka_unit_test(test_a_format_escapes_its_texts_and_not_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
