/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page of mimic report: texts of strangers are no markup in it, and no numbers break it. */
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

#define HOSTILE "</title></style><script>alert(1)</script><img src=x onerror='a'>\\\" onload=\\\"b"

/* The caller frees it. */
static char *page_of(const char *json)
{
	char message[REPORT_MESSAGE_SIZE] = "";
	struct report *report = report_read("run.json", json, strlen(json), message);
	size_t size = 0;
	char *page = NULL;
	FILE *out = open_memstream(&page, &size);

	assert_string_equal(message, "");
	assert_non_null(out);
	report_page(out, report);
	assert_int_equal(fclose(out), 0);
	report_free(report);
	return page;
}

/* A document of these runs. The caller frees it. */
static char *document(const char *program, const char *runs)
{
	char *json = NULL;

	assert_true(asprintf(&json, "{\"format\":\"mimic-run\",\"version\":1,\"mimic\":\"%s\",\"date\":\"%s\",\"program\":\"%s\","
			     "\"arguments\":[\"%s\"],\"machine\":{\"system\":\"%s\",\"processor\":\"%s\"},\"runs\":[%s]}",
			     program, program, program, program, program, program, runs) > 0);
	return json;
}

static char *page_of_runs(const char *runs)
{
	char *json = document("demo", runs), *page = page_of(json);

	free(json);
	return page;
}

static unsigned int count(const char *text, const char *wanted)
{
	unsigned int number = 0;

	for (; (text = strstr(text, wanted)); text += strlen(wanted))
		number++;
	return number;
}

/* Numbers that are none would be in an attribute of a picture. */
static void expect_sound(const char *page)
{
	assert_int_equal(count(page, "nan"), 0);
	assert_int_equal(count(page, "inf\""), 0);
	assert_int_equal(count(page, "inf%"), 0);
	assert_int_equal(count(page, "<svg"), count(page, "</svg>"));
	assert_int_equal(count(page, "<div"), count(page, "</div>"));
	assert_int_equal(count(page, "<article"), count(page, "</article>"));
	assert_int_equal(count(page, "<details"), count(page, "</details>"));
	assert_int_equal(count(page, "<p "), count(page, "</p>"));
	assert_int_equal(count(page, "</html>"), 1);
}

#define TEXTS(name) "\"program\":\"" name "\",\"arguments\":[\"" name "\"],\"kind\":\"" name "\",\"device\":\"" name "\"," \
	"\"kernel\":\"" name "\",\"form\":\"" name "\",\"variant\":\"" name "\",\"transport\":\"" name "\"," \
	"\"input\":\"" name "\",\"size\":\"" name "\",\"against\":\"" name "\",\"error\":\"" name "\"," \
	"\"verified\":false,\"seconds\":1,\"work\":{\"amount\":5,\"unit\":\"" name "\"},\"counters\":{\"" name "\":1}"
#define SAMPLES(name) ",\"samples\":{\"seconds\":[0,1,2],\"queues\":[{\"name\":\"" name "\",\"size\":4,\"levels\":[1,2,3]}]," \
	"\"counters\":{\"" name "\":[0,1,2],\"faults\":[0,10,20]}}"

static void test_texts_of_strangers_are_no_markup(void **state)
{
	char *json = document(HOSTILE, "{" TEXTS(HOSTILE) "},{" TEXTS(HOSTILE) SAMPLES(HOSTILE) "}");
	char *page = page_of(json);

	(void)state;
	expect_sound(page);
	assert_int_equal(count(page, "<script"), 1);	/* the page's own */
	assert_int_equal(count(page, "alert(1)"), count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
	assert_int_equal(count(page, "<img"), 0);
	assert_int_equal(count(page, "</title>"), count(page, "<title>"));
	assert_int_equal(count(page, "\" onload"), 0);
	assert_int_equal(count(page, "onerror='"), 0);
	free(page);
	free(json);
}

#define PLAIN(seconds, amount) "\"kind\":\"maple\",\"kernel\":\"k\",\"form\":\"f\",\"transport\":\"daemon\",\"verified\":true," \
	"\"seconds\":" #seconds ",\"work\":{\"amount\":" #amount ",\"unit\":\"words\"}"

static void test_extreme_numbers_break_nothing(void **state)
{
	static const char *const runs[] = {
		"{" PLAIN(0, 0) "}",
		"{" PLAIN(0, 1000000000000000000) "}",
		"{" PLAIN(1e-300, 1000000000000000000) "}",
		"{" PLAIN(1e9, 1) "}",
		"{" PLAIN(1, 1) ",\"counters\":{\"a\":1000000000000000000}}",
		"{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[],\"queues\":[],\"counters\":{\"faults\":[]}}}",
		"{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[5],\"queues\":[],\"counters\":{\"faults\":[9]}}}",
		"{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[0,0],\"queues\":[{\"name\":\"q\",\"size\":0,\"levels\":[0,0]}],"
			"\"counters\":{\"faults\":[0,9],\"tlb_hits\":[0,0],\"tlb_misses\":[0,0]}}}",
		"{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[1e9,1e9],\"queues\":[{\"name\":\"q\",\"size\":1,\"levels\":[1,1]}],"
			"\"counters\":{\"macs\":[0,1000000000000000000]}}}",
		"{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[0,1e-300],\"queues\":[],\"counters\":{\"macs\":[0,1000000000000000000]}}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		char *page = page_of_runs(runs[i]);

		expect_sound(page);
		free(page);
	}
}

static void test_the_verdict_counts_what_is_wrong(void **state)
{
	char *page = page_of_runs("{" PLAIN(1, 1) "},{" TEXTS("x") "}");

	(void)state;
	assert_non_null(strstr(page, "1 of 2 runs is wrong"));
	assert_null(strstr(page, "runs are verified"));
	free(page);
	page = page_of_runs("{" PLAIN(1, 1) "},{" PLAIN(2, 1) "}");
	assert_non_null(strstr(page, "All runs are verified"));
	free(page);
}

static void test_a_queue_has_a_line_of_its_levels(void **state)
{
	char *page = page_of_runs("{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[0,1,2,4],\"queues\":[{\"name\":\"queues/3\",\"size\":8,"
				  "\"levels\":[8,0,4,4]}],\"counters\":{}}}");

	(void)state;
	/* 140 high: full at the top for a quarter of the time, empty for one, half full for the rest */
	assert_non_null(strstr(page, "<path class=\"line c0\" d=\"M0.0 0.0L250.0 0.0"
			       "L250.0 140.0L500.0 140.0L500.0 70.0L1000.0 70.0\"><title>queue 3</title>"));
	assert_non_null(strstr(page, "<b>queue 3</b> <span>of 8, 50 % full on average</span>"));
	free(page);
}

static void test_bars_are_as_long_as_their_rates(void **state)
{
	char *page = page_of_runs("{" PLAIN(1, 100) "},{" PLAIN(4, 100) "}");

	(void)state;
	assert_non_null(strstr(page, "width=\"100.000%\""));
	assert_non_null(strstr(page, "width=\"25.000%\""));
	free(page);
}

static void test_many_queues_show_the_fullest(void **state)
{
	char runs[4096] = "{" PLAIN(1, 1) ",\"samples\":{\"seconds\":[0,1],\"counters\":{},\"queues\":[", *page;

	(void)state;
	for (unsigned int i = 0; i < 12; i++)
		snprintf(runs + strlen(runs), sizeof(runs) - strlen(runs),
			 "%s{\"name\":\"queues/%u\",\"size\":32,\"levels\":[%u,0]}", i ? "," : "", i, i);
	strcat(runs, "]}}");
	page = page_of_runs(runs);
	assert_non_null(strstr(page, "12 queues were used; these are the fullest."));
	assert_non_null(strstr(page, "<b>queue 11</b>"));
	assert_non_null(strstr(page, "<b>queue 4</b>"));
	assert_null(strstr(page, "<b>queue 3</b>"));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_of_strangers_are_no_markup),
		cmocka_unit_test(test_extreme_numbers_break_nothing),
		cmocka_unit_test(test_the_verdict_counts_what_is_wrong),
		cmocka_unit_test(test_a_queue_has_a_line_of_its_levels),
		cmocka_unit_test(test_bars_are_as_long_as_their_rates),
		cmocka_unit_test(test_many_queues_show_the_fullest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
