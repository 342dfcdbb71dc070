/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A matrix in a file as it lies in memory: it comes back, and a file that is not whole or not right is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "examples/common/input.h"
#include "examples/common/saved.h"

/* Header: 16 bytes of text, kind, is_graph, rows, columns, non-zeros; then rows + 1 starts, then columns. */
#define KIND_AT 16
#define NONZEROS_AT 40
#define STARTS_AT 48

static char path[] = "/tmp/mimic-saved-XXXXXX";

static int set_up(void **unused)
{
	int descriptor = mkstemp(path);

	(void)unused;
	return descriptor < 0 ? -1 : close(descriptor);
}

static int tear_down(void **unused)
{
	(void)unused;
	return unlink(path);
}

/* Row 0: columns 1 and 3; row 1: none; row 2: column 0. */
static void save_three_rows(void)
{
	const struct csr_entry entries[] = {
		{ 0, 1, { .real = .5 } }, { 0, 3, { .real = -2 } }, { 2, 0, { .real = 8 } },
	};
	struct message message;
	struct csr csr;

	assert_int_equal(csr_from_entries(&csr, 3, 4, CSR_REAL, entries, 3), 0);
	assert_int_equal(saved_write(&csr, path, &message), 0);
	csr_free(&csr);
}

static void patch(long at, const void *data, size_t size)
{
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(data, size, 1, file), 1);
	fclose(file);
}

static void expect_refused(const char *text)
{
	const struct input input = { .path = path };
	struct message message = { "" };
	struct csr csr;

	assert_int_not_equal(input_load(&csr, &input, &message), 0);
	assert_non_null(strstr(message.text, path));
	if (!strstr(message.text, text))
		fail_msg("'%s' does not say '%s'", message.text, text);
}

static void a_saved_state_comes_back(void **unused)
{
	const uint64_t starts[] = { 0, 2, 2, 3 };
	const uint32_t columns[] = { 1, 3, 0 };
	const double values[] = { .5, -2, 8 };
	const struct input input = { .path = path };
	struct message message;
	struct csr csr;

	(void)unused;
	save_three_rows();
	assert_int_equal(input_load(&csr, &input, &message), 0);
	assert_int_equal(csr.rows, 3);
	assert_int_equal(csr.columns, 4);
	assert_int_equal(csr.nonzeros, 3);
	assert_int_equal(csr.kind, CSR_REAL);
	assert_false(csr.is_graph);
	assert_memory_equal(csr.row_start, starts, sizeof(starts));
	assert_memory_equal(csr.column, columns, sizeof(columns));
	assert_memory_equal(csr.value, values, sizeof(values));
	csr_free(&csr);
}

/* A path of three vertices: an edge each way, and no more, is a graph already. */
static void a_graph_comes_back_as_one(void **unused)
{
	const struct csr_entry entries[] = { { 0, 1, { .integer = 1 } }, { 2, 1, { .integer = 1 } } };
	const uint64_t starts[] = { 0, 1, 3, 4 };
	const uint32_t columns[] = { 1, 0, 2, 1 };
	const struct input input = { .path = path };
	struct csr directed, graph, csr;
	struct message message;

	(void)unused;
	assert_int_equal(csr_from_entries(&directed, 3, 3, CSR_INTEGER, entries, 2), 0);
	assert_false(directed.is_graph);
	assert_int_equal(csr_graph(&graph, &directed), 0);
	assert_int_equal(saved_write(&graph, path, &message), 0);
	assert_int_equal(input_load(&csr, &input, &message), 0);
	assert_true(csr.is_graph);
	assert_memory_equal(csr.row_start, starts, sizeof(starts));
	assert_memory_equal(csr.column, columns, sizeof(columns));
	csr_free(&directed);
	csr_free(&graph);
	csr_free(&csr);
}

static void a_matrix_without_elements_comes_back(void **unused)
{
	const struct input input = { .path = path };
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 2, 5, CSR_INTEGER, NULL, 0), 0);
	assert_int_equal(saved_write(&csr, path, &message), 0);
	csr_free(&csr);
	assert_int_equal(input_load(&csr, &input, &message), 0);
	assert_int_equal(csr.rows, 2);
	assert_int_equal(csr.columns, 5);
	assert_int_equal(csr.nonzeros, 0);
	csr_free(&csr);
}

static void a_file_that_is_cut_is_refused(void **unused)
{
	(void)unused;
	save_three_rows();
	assert_int_equal(truncate(path, STARTS_AT + 32), 0);
	expect_refused("bytes");
}

static void a_file_with_bytes_behind_its_end_is_refused(void **unused)
{
	struct stat status;

	(void)unused;
	save_three_rows();
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size + 1), 0);
	expect_refused("bytes");
}

static void a_header_that_cannot_be_is_refused(void **unused)
{
	const uint64_t many = UINT64_MAX;
	const uint32_t kind = 7;

	(void)unused;
	save_three_rows();
	patch(NONZEROS_AT, &many, sizeof(many));
	expect_refused("header");
	save_three_rows();
	patch(KIND_AT, &kind, sizeof(kind));
	expect_refused("header");
}

static void places_outside_of_the_arrays_are_refused(void **unused)
{
	const uint64_t start = 3, last = 2;
	const uint32_t column = 4;

	(void)unused;
	save_three_rows();
	patch(STARTS_AT + 8, &start, sizeof(start));
	expect_refused("a row ends before it begins");
	save_three_rows();
	patch(STARTS_AT + 24, &last, sizeof(last));
	expect_refused("rows do not hold");
	save_three_rows();
	patch(STARTS_AT + 32 + 4, &column, sizeof(column));
	expect_refused("in a column that there is not");
}

static void a_folder_that_is_not_there_is_told(void **unused)
{
	struct message message = { "" };
	struct csr csr;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 1, 1, CSR_INTEGER, NULL, 0), 0);
	assert_int_not_equal(saved_write(&csr, "/nowhere/at/all", &message), 0);
	assert_non_null(strstr(message.text, "/nowhere/at/all: No such file"));
	csr_free(&csr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_saved_state_comes_back),
		cmocka_unit_test(a_graph_comes_back_as_one),
		cmocka_unit_test(a_matrix_without_elements_comes_back),
		cmocka_unit_test(a_file_that_is_cut_is_refused),
		cmocka_unit_test(a_file_with_bytes_behind_its_end_is_refused),
		cmocka_unit_test(a_header_that_cannot_be_is_refused),
		cmocka_unit_test(places_outside_of_the_arrays_are_refused),
		cmocka_unit_test(a_folder_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
