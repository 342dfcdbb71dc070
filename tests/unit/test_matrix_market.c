/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The Matrix Market reader, on files written by hand after the format's description at NIST. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/matrix_market.h"

#define GENERAL_REAL "%%MatrixMarket matrix coordinate real general\n"
#define GENERAL_INTEGER "%%MatrixMarket matrix coordinate integer general\n"
#define GENERAL_PATTERN "%%MatrixMarket matrix coordinate pattern general\n"
#define SYMMETRIC_INTEGER "%%MatrixMarket matrix coordinate integer symmetric\n"
#define SKEW_INTEGER "%%MatrixMarket matrix coordinate integer skew-symmetric\n"

/* A copy of the exact size, so that the address sanitizer sees a read beyond it. */
static int parse(struct csr *csr, const char *text, struct message *message)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);
	int error;

	assert_non_null(copy);
	memcpy(copy, text, size);
	message->text[0] = '\0';
	error = matrix_market_parse(csr, "m.mtx", copy, size, message);
	free(copy);
	return error;
}

static void parse_good(struct csr *csr, const char *text)
{
	struct message message;

	if (parse(csr, text, &message))
		fail_msg("refused: %s", message.text);
}

static void expect_error(const char *text, int error, const char *wanted)
{
	struct message message;
	struct csr csr;

	assert_int_equal(parse(&csr, text, &message), error);
	assert_string_equal(message.text, wanted);
	assert_null(csr.row_start);
}

static void expect_integers(const struct csr *csr, const uint64_t *row_start, const uint32_t *column,
			    const int64_t *value)
{
	assert_int_equal(csr->kind, CSR_INTEGER);
	assert_memory_equal(csr->row_start, row_start, (csr->rows + 1) * sizeof(*row_start));
	assert_int_equal(csr->nonzeros, row_start[csr->rows]);
	for (uint64_t j = 0; j < csr->nonzeros; j++) {
		assert_int_equal(csr->column[j], column[j]);
		assert_int_equal(csr->value[j].integer, value[j]);
	}
}

static void entries_in_any_order_become_sorted_rows(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, GENERAL_INTEGER "% a comment\n3 4 4\n3 2 -7\n1 4 5\n1 1 9223372036854775807\n3 1 0\n");
	assert_int_equal(csr.rows, 3);
	assert_int_equal(csr.columns, 4);
	expect_integers(&csr, (uint64_t[]){ 0, 2, 2, 4 }, (uint32_t[]){ 0, 3, 0, 1 },
			(int64_t[]){ INT64_MAX, 5, 0, -7 });
	csr_free(&csr);
}

static void real_values_are_read_exactly(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, GENERAL_REAL "1 6 6\n1 1 .0625\n1 2 -.5\n1 3 1e-3\n1 4 +2.\n1 5 1E+2\n1 6 0.1\n");
	assert_int_equal(csr.kind, CSR_REAL);
	assert_true(csr.value[0].real == 0.0625);
	assert_true(csr.value[1].real == -0.5);
	assert_true(csr.value[2].real == 0.001);
	assert_true(csr.value[3].real == 2.0);
	assert_true(csr.value[4].real == 100.0);
	assert_true(csr.value[5].real == 0.1);
	csr_free(&csr);
}

static void a_pattern_has_ones(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, GENERAL_PATTERN "2 2 2\n2 1\n1 2\n");
	expect_integers(&csr, (uint64_t[]){ 0, 1, 2 }, (uint32_t[]){ 1, 0 }, (int64_t[]){ 1, 1 });
	csr_free(&csr);
}

static void symmetric_entries_count_twice_but_not_on_the_diagonal(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, SYMMETRIC_INTEGER "3 3 3\n1 1 5\n3 1 7\n3 2 -1\n");
	expect_integers(&csr, (uint64_t[]){ 0, 2, 3, 5 }, (uint32_t[]){ 0, 2, 2, 0, 1 },
			(int64_t[]){ 5, 7, -1, 7, -1 });
	csr_free(&csr);
}

static void skew_symmetric_entries_change_their_sign(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, SKEW_INTEGER "2 2 1\n2 1 7\n");
	expect_integers(&csr, (uint64_t[]){ 0, 1, 2 }, (uint32_t[]){ 1, 0 }, (int64_t[]){ -7, 7 });
	csr_free(&csr);
}

static void an_entry_given_twice_is_kept_twice(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, GENERAL_INTEGER "1 2 3\n1 2 4\n1 1 8\n1 2 3\n");
	expect_integers(&csr, (uint64_t[]){ 0, 3 }, (uint32_t[]){ 0, 1, 1 }, (int64_t[]){ 8, 4, 3 });
	csr_free(&csr);
}

static void layout_does_not_matter(void **unused)
{
	static const char *const same[] = {
		GENERAL_INTEGER "2 2 1\n2 1 7\n",
		GENERAL_INTEGER "2 2 1\n2 1 7",
		"%%MatrixMarket matrix coordinate integer general\r\n%\r\n2 2 1\r\n2 1 7\r\n",
		"%%matrixmarket MATRIX Coordinate INTEGER General\n\n  2\t2  1 \n\n%c\n\t2 1\t7 \n\n% end\n\n",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct csr csr;

		parse_good(&csr, same[i]);
		expect_integers(&csr, (uint64_t[]){ 0, 0, 1 }, (uint32_t[]){ 0 }, (int64_t[]){ 7 });
		csr_free(&csr);
	}
}

static void a_matrix_may_be_empty(void **unused)
{
	struct csr csr;

	(void)unused;
	parse_good(&csr, GENERAL_REAL "0 0 0\n");
	assert_int_equal(csr.nonzeros, 0);
	csr_free(&csr);
	parse_good(&csr, GENERAL_REAL "3 2 0");
	assert_int_equal(csr.rows, 3);
	assert_int_equal(csr.row_start[3], 0);
	csr_free(&csr);
}

static void banners_that_are_not_read_are_refused_with_the_reason(void **unused)
{
	(void)unused;
	expect_error("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", -EOPNOTSUPP,
		     "m.mtx:1: this is a dense matrix (array format); a sparse one is needed (coordinate format)");
	expect_error("%%MatrixMarket matrix coordinate complex general\n", -EOPNOTSUPP,
		     "m.mtx:1: complex matrices are not supported");
	expect_error("%%MatrixMarket matrix coordinate real hermitian\n", -EOPNOTSUPP,
		     "m.mtx:1: hermitian matrices are not supported");
	expect_error("%%MatrixMarket matrix coordinate double general\n", -EINVAL,
		     "m.mtx:1: the banner's field is none of real, integer, pattern");
	expect_error("%%MatrixMarket matrix coordinate real general more\n", -EINVAL,
		     "m.mtx:1: \"more\" is left over at the end of the line");
	expect_error("%%MatrixMarket matrix coordinate real", -EINVAL,
		     "m.mtx:1: the banner names no symmetry (general, symmetric, skew-symmetric)");
	expect_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", -EINVAL,
		     "m.mtx:1: a skew-symmetric matrix cannot be a pattern");
	expect_error("%%MatrixMarket vector coordinate real general\n", -EINVAL,
		     "m.mtx:1: the banner's second word is not \"matrix\"");
	expect_error("", -EINVAL, "m.mtx: the file is empty");
}

static void indices_out_of_range_name_line_and_limit(void **unused)
{
	(void)unused;
	expect_error(GENERAL_PATTERN "% c\n8 8 2\n1 1\n8 9\n", -ERANGE,
		     "m.mtx:5: column 9 is beyond the 8 columns");
	expect_error(GENERAL_PATTERN "8 8 1\n9 8\n", -ERANGE, "m.mtx:3: row 9 is beyond the 8 rows");
	expect_error(GENERAL_PATTERN "8 8 1\n0 8\n", -ERANGE, "m.mtx:3: row is 0; the first is 1");
	expect_error(GENERAL_PATTERN "8 8 1\n1 0\n", -ERANGE, "m.mtx:3: column is 0; the first is 1");
	expect_error(GENERAL_PATTERN "8 8 1\n-1 1\n", -EINVAL, "m.mtx:3: row \"-1\" is not a number");
	expect_error(GENERAL_PATTERN "8 8 1\n18446744073709551617 1\n", -ERANGE,
		     "m.mtx:3: row 18446744073709551617 is out of range");
}

static void wrong_counts_are_refused(void **unused)
{
	(void)unused;
	expect_error(GENERAL_PATTERN "2 2 3\n1 1\n2 2\n", -EINVAL,
		     "m.mtx:4: the file ends after 2 entries; line 2 promises 3");
	expect_error(GENERAL_PATTERN "2 2 1\n1 1\n2 2\n", -EINVAL,
		     "m.mtx:4: more entries than the 1 that line 2 promises");
	expect_error(GENERAL_PATTERN "% only comments\n", -EINVAL,
		     "m.mtx:2: the file ends before the line with its size");
	expect_error(GENERAL_PATTERN "2 2\n", -EINVAL, "m.mtx:2: number of entries is missing");
	expect_error(SYMMETRIC_INTEGER "2 3 0\n", -EINVAL,
		     "m.mtx:2: a symmetric matrix of 2 by 3 is not square");
	expect_error(SKEW_INTEGER "2 2 1\n1 1 0\n", -EINVAL,
		     "m.mtx:3: an entry on the diagonal of a skew-symmetric matrix");
}

static void values_that_are_no_numbers_are_refused(void **unused)
{
	static const char *const bad[] = { "nan", "inf", "0x10", "1.5d3", ".", "e5", "1e", "1,5", "-", "1e5x" };
	char text[128], wanted[128];

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s1 1 1\n1 1 %s\n", GENERAL_REAL, bad[i]);
		snprintf(wanted, sizeof(wanted), "m.mtx:3: value \"%s\" is not a number", bad[i]);
		expect_error(text, -EINVAL, wanted);
	}
	expect_error(GENERAL_REAL "1 1 1\n1 1\n", -EINVAL, "m.mtx:3: value is missing");
	expect_error(GENERAL_PATTERN "1 1 1\n1 1 5\n", -EINVAL,
		     "m.mtx:3: \"5\" is left over at the end of the line");
	expect_error(GENERAL_INTEGER "1 1 1\n1 1 1.5\n", -EINVAL, "m.mtx:3: value \"1.5\" is not a number");
}

static void values_that_overflow_are_refused(void **unused)
{
	(void)unused;
	expect_error(GENERAL_REAL "1 1 1\n1 1 1e309\n", -ERANGE, "m.mtx:3: value 1e309 is out of range");
	expect_error(GENERAL_INTEGER "1 1 1\n1 1 9223372036854775808\n", -ERANGE,
		     "m.mtx:3: value 9223372036854775808 is out of range");
	expect_error(GENERAL_INTEGER "1 1 1\n1 1 -9223372036854775809\n", -ERANGE,
		     "m.mtx:3: value -9223372036854775809 is out of range");
	expect_error(SKEW_INTEGER "2 2 1\n2 1 -9223372036854775808\n", -ERANGE,
		     "m.mtx:3: the opposite of value -9223372036854775808 is out of range");
}

static void a_header_alone_cannot_ask_for_gigabytes(void **unused)
{
	(void)unused;
	/* 2^20 + 16 * 77 and 2^20 + 16 * 68 */
	expect_error(GENERAL_PATTERN "2147483648 2147483648 1\n1 1\n", -ERANGE,
		     "m.mtx:2: 2147483648 rows are more than a file of 77 bytes may ask for (1049808)");
	expect_error(GENERAL_PATTERN "1 4294967296 1\n1 1\n", -ERANGE,
		     "m.mtx:2: 4294967296 columns are more than a file of 68 bytes may ask for (1049664)");
	expect_error(GENERAL_PATTERN "2 2 18446744073709551615\n1 1\n", -EINVAL,
		     "m.mtx:3: the file ends after 1 entries; line 2 promises 18446744073709551615");
}

static void a_message_shows_no_control_characters(void **unused)
{
	(void)unused;
	expect_error(GENERAL_PATTERN "1 1 1\n\x1b[2J 1\n", -EINVAL, "m.mtx:3: row \"?[2J\" is not a number");
	expect_error(GENERAL_PATTERN "1 1 1\n1234567890123456789012345678901234567890x 1\n", -EINVAL,
		     "m.mtx:3: row \"12345678901234567890123456789012...\" is not a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_in_any_order_become_sorted_rows),
		cmocka_unit_test(real_values_are_read_exactly),
		cmocka_unit_test(a_pattern_has_ones),
		cmocka_unit_test(symmetric_entries_count_twice_but_not_on_the_diagonal),
		cmocka_unit_test(skew_symmetric_entries_change_their_sign),
		cmocka_unit_test(an_entry_given_twice_is_kept_twice),
		cmocka_unit_test(layout_does_not_matter),
		cmocka_unit_test(a_matrix_may_be_empty),
		cmocka_unit_test(banners_that_are_not_read_are_refused_with_the_reason),
		cmocka_unit_test(indices_out_of_range_name_line_and_limit),
		cmocka_unit_test(wrong_counts_are_refused),
		cmocka_unit_test(values_that_are_no_numbers_are_refused),
		cmocka_unit_test(values_that_overflow_are_refused),
		cmocka_unit_test(a_header_alone_cannot_ask_for_gigabytes),
		cmocka_unit_test(a_message_shows_no_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
