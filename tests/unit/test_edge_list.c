/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The edge list reader and the choice between the two formats. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "examples/common/edge_list.h"
#include "examples/common/input.h"

/* A copy of the exact size, so that the address sanitizer sees a read beyond it. */
static int parse(struct csr *csr, const char *text, struct message *message)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);
	int error;

	assert_non_null(copy);
	memcpy(copy, text, size);
	message->text[0] = '\0';
	error = input_parse(csr, "g.txt", copy, size, message);
	free(copy);
	return error;
}

static void expect_graph(const char *text, uint64_t vertices, const uint64_t *row_start, const uint32_t *column)
{
	struct message message;
	struct csr csr;

	if (parse(&csr, text, &message))
		fail_msg("refused: %s", message.text);
	assert_int_equal(csr.rows, vertices);
	assert_int_equal(csr.columns, vertices);
	assert_int_equal(csr.kind, CSR_INTEGER);
	assert_memory_equal(csr.row_start, row_start, (vertices + 1) * sizeof(*row_start));
	for (uint64_t j = 0; j < row_start[vertices]; j++) {
		assert_int_equal(csr.column[j], column[j]);
		assert_int_equal(csr.value[j].integer, 1);
	}
	csr_free(&csr);
}

static void expect_error(const char *text, int error, const char *wanted)
{
	struct message message;
	struct csr csr;

	assert_int_equal(parse(&csr, text, &message), error);
	assert_string_equal(message.text, wanted);
	assert_null(csr.row_start);
}

static void edges_are_directed(void **unused)
{
	(void)unused;
	expect_graph("0\t1\n0\t2\n2\t0\n", 3, (uint64_t[]){ 0, 2, 2, 3 }, (uint32_t[]){ 1, 2, 0 });
}

static void comments_blanks_tabs_and_line_ends_do_not_matter(void **unused)
{
	(void)unused;
	expect_graph("# Nodes: 3 Edges: 2\r\n0\t1\r\n% more\n\n  1 \t 2", 3, (uint64_t[]){ 0, 1, 2, 2 },
		     (uint32_t[]){ 1, 2 });
}

static void ids_are_compacted_in_ascending_order(void **unused)
{
	(void)unused;
	/* 7, 30, 4294967294 become 0, 1, 2 */
	expect_graph("4294967294 7\n30 4294967294\n", 3, (uint64_t[]){ 0, 0, 1, 2 }, (uint32_t[]){ 2, 0 });
}

static void repeated_edges_and_self_loops_are_kept(void **unused)
{
	(void)unused;
	expect_graph("1 1\n1 2\n1 2\n", 2, (uint64_t[]){ 0, 3, 3 }, (uint32_t[]){ 0, 1, 1 });
}

static void bad_lines_are_refused_by_number(void **unused)
{
	(void)unused;
	expect_error("# c\n1 2\n3\n", -EINVAL, "g.txt:3: second vertex is missing");
	expect_error("1 x\n", -EINVAL, "g.txt:1: second vertex \"x\" is not a number");
	expect_error("-1 2\n", -EINVAL, "g.txt:1: vertex \"-1\" is not a number");
	expect_error("1 2 3\n", -EINVAL, "g.txt:1: \"3\" is left over at the end of the line");
	expect_error("1 4294967295\n", -ERANGE,
		     "g.txt:1: second vertex 4294967295 is beyond the largest, 4294967294");
	expect_error("99999999999999999999 1\n", -ERANGE, "g.txt:1: vertex 99999999999999999999 is out of range");
}

static void a_file_without_edges_is_refused(void **unused)
{
	(void)unused;
	expect_error("", -EINVAL, "g.txt: the file is empty");
	expect_error("# nothing\n\n", -EINVAL, "g.txt: the file has no edges");
}

static void the_first_line_chooses_the_format(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(parse(&csr, "%%MatrixMarket matrix coordinate pattern general\n5 6 1\n1 2\n", &message), 0);
	assert_int_equal(csr.rows, 5);
	assert_int_equal(csr.columns, 6);
	csr_free(&csr);
	expect_graph("%MatrixMarket\n1 2\n", 2, (uint64_t[]){ 0, 1, 1 }, (uint32_t[]){ 1 });
}

static void expect_load_error(const char *path, int error, const char *wanted)
{
	struct input input = { .path = path };
	struct message message;
	struct csr csr;

	assert_int_equal(input_load(&csr, &input, &message), error);
	assert_string_equal(message.text, wanted);
	assert_null(csr.row_start);
}

static void files_that_are_none_are_refused(void **unused)
{
	char path[] = "/tmp/mimic-test-XXXXXX", wanted[64];
	int descriptor = mkstemp(path);

	(void)unused;
	assert_true(descriptor >= 0);
	snprintf(wanted, sizeof(wanted), "%s: the file is empty", path);
	expect_load_error(path, -EINVAL, wanted);
	close(descriptor);
	unlink(path);
	snprintf(wanted, sizeof(wanted), "%s: No such file or directory", path);
	expect_load_error(path, -ENOENT, wanted);
	expect_load_error("/tmp", -EISDIR, "/tmp: it is a directory, not a file");
	expect_load_error("/dev/zero", -EINVAL, "/dev/zero: it is a device, not a file");
}

static void a_file_is_read_whole(void **unused)
{
	char path[] = "/tmp/mimic-test-XXXXXX";
	struct input input = { .path = path };
	FILE *file = fdopen(mkstemp(path), "w");
	struct message message;
	struct csr csr;

	(void)unused;
	assert_non_null(file);
	/* A ring larger than the reader's first buffer. */
	for (unsigned int v = 0; v < 40000; v++)
		fprintf(file, "%u %u\n", v, (v + 1) % 40000);
	fclose(file);
	assert_int_equal(input_load(&csr, &input, &message), 0);
	unlink(path);
	assert_int_equal(csr.rows, 40000);
	assert_int_equal(csr.nonzeros, 40000);
	for (uint32_t v = 0; v < 40000; v++)
		assert_int_equal(csr.column[v], (v + 1) % 40000);
	csr_free(&csr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_directed),
		cmocka_unit_test(comments_blanks_tabs_and_line_ends_do_not_matter),
		cmocka_unit_test(ids_are_compacted_in_ascending_order),
		cmocka_unit_test(repeated_edges_and_self_loops_are_kept),
		cmocka_unit_test(bad_lines_are_refused_by_number),
		cmocka_unit_test(a_file_without_edges_is_refused),
		cmocka_unit_test(the_first_line_chooses_the_format),
		cmocka_unit_test(files_that_are_none_are_refused),
		cmocka_unit_test(a_file_is_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
