/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lines of mimicd's log that programs have a part in. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/loop/log.h"

static int saved, file;

static void begin(void)
{
	fflush(stderr);
	saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	file = memfd_create("log", MFD_CLOEXEC);
	dup2(file, STDERR_FILENO);
}

/* The lines that were logged since then. */
static const char *end(void)
{
	static char text[1 << 16];
	ssize_t length;

	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	length = pread(file, text, sizeof(text) - 1, 0);
	close(file);
	text[length > 0 ? length : 0] = 0;
	return text;
}

static unsigned int count_lines(const char *text)
{
	unsigned int count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

static void expect_shown(const char *name, const char *shown)
{
	char wanted[200];

	begin();
	mimicd_log(MIMICD_LOG_WARNING, "process 1 (%s)", name);
	snprintf(wanted, sizeof(wanted), "mimicd: warning: process 1 (%s)\n", shown);
	assert_string_equal(end(), wanted);
}

static void characters_that_control_a_terminal_are_escaped(void **state)
{
	(void)state;
	expect_shown("\x1b[2J\x1b]0;x\x07", "\\x1b[2J\\x1b]0;x\\x07");
	expect_shown("a\nmimicd: error: b", "a\\x0amimicd: error: b");
	expect_shown("\x7f\r\t", "\\x7f\\x0d\\x09");
	/* CSI as one byte, and as UTF-8. */
	expect_shown("\x9b" "1m", "\\x9b1m");
	expect_shown("\xc2\x9b" "1m", "\\xc2\\x9b1m");
}

static void printable_characters_stay(void **state)
{
	(void)state;
	expect_shown("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f");
	expect_shown("100% \\ \"", "100% \\ \"");
}

static void bytes_that_are_no_utf8_are_escaped(void **state)
{
	(void)state;
	expect_shown("\xc3", "\\xc3");
	expect_shown("\xc3(", "\\xc3(");
	expect_shown("\xe2\x82", "\\xe2\\x82");
	expect_shown("\xc0\xaf\xff", "\\xc0\\xaf\\xff");
}

static void a_user_fills_no_log(void **state)
{
	const char *text;
	unsigned int lines;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 5000; i++)
		mimicd_log_of(1000, MIMICD_LOG_WARNING, "of the one, %u", i);
	mimicd_log_of(1001, MIMICD_LOG_WARNING, "of the other");
	/* Time for one more, and no hundred. */
	usleep(200000);
	mimicd_log_of(1000, MIMICD_LOG_WARNING, "again");
	text = end();
	lines = count_lines(text);
	assert_true(lines >= 60 && lines < 300);
	assert_non_null(strstr(text, "of the one, 0\n"));
	assert_non_null(strstr(text, "of the other\n"));
	assert_non_null(strstr(text, "more lines about programs of user 1000 were left out\n"));
	assert_non_null(strstr(text, "again\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_that_control_a_terminal_are_escaped),
		cmocka_unit_test(printable_characters_stay),
		cmocka_unit_test(bytes_that_are_no_utf8_are_escaped),
		cmocka_unit_test(a_user_fills_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
