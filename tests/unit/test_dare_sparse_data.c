/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The sparse kernels on matrices of the research literature, with 64 dense columns:
 * one run of each kernel against CHOLMOD and OpenBLAS, and all forms and block sizes
 * bit for bit against the plain loop. Skipped where the files are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "examples/common/input.h"
#include "libdare/dare.h"
#include "tests/lib/sparse_case.h"
#include "tests/lib/sparse_libraries.h"

#define COLUMNS 64
#define DATA "../shared/data/"

struct data {
	struct sparse_case s;
	struct dare *dare;
	float *a, *b, *c, *p;		/* dare_alloc() */
	float *right_c, *right_p;
};

static void load(struct data *data, const char *path)
{
	const struct dare_options options = { .transport = "embedded" };
	const struct input input = { .path = path };
	struct random random = { .state = 51 };
	struct message message;
	struct csr csr;

	if (input_load(&csr, &input, &message))
		fail_msg("%s", message.text);
	sparse_case_from_csr(&data->s, &csr);
	csr_free(&csr);
	if (dare_open(&data->dare, &options))
		fail_msg("%s", dare_error_text());
	data->a = dare_alloc(data->dare, data->s.rows * COLUMNS * sizeof(float));
	data->b = dare_alloc(data->dare, data->s.columns * COLUMNS * sizeof(float));
	data->c = dare_alloc(data->dare, data->s.rows * COLUMNS * sizeof(float));
	data->p = dare_alloc(data->dare, (data->s.nonzeros + 1) * sizeof(float));
	data->right_c = calloc(data->s.rows * COLUMNS, sizeof(float));
	data->right_p = calloc(data->s.nonzeros + 1, sizeof(float));
	assert_true(data->a && data->b && data->c && data->p && data->right_c && data->right_p);
	sparse_case_fill(data->a, data->s.rows * COLUMNS, &random);
	sparse_case_fill(data->b, data->s.columns * COLUMNS, &random);
	sparse_case_spmm(&data->s, COLUMNS, data->b, COLUMNS, data->right_c);
	sparse_case_sddmm(&data->s, COLUMNS, data->a, COLUMNS, data->b, COLUMNS, data->right_p);
}

static void unload(struct data *data)
{
	free(data->right_c);
	free(data->right_p);
	dare_free(data->dare, data->a);
	dare_free(data->dare, data->b);
	dare_free(data->dare, data->c);
	dare_free(data->dare, data->p);
	dare_close(data->dare);
	sparse_case_free(&data->s);
}

static void run(struct data *data, const struct dare_blocks *blocks, enum dare_form form)
{
	const float *value = data->s.value;

	assert_int_equal(dare_spmm(data->dare, form, blocks, value, COLUMNS, data->b, COLUMNS, data->c, COLUMNS), 0);
	assert_int_equal(dare_sddmm(data->dare, form, blocks, value, COLUMNS, data->a, COLUMNS, data->b, COLUMNS,
				    data->p), 0);
}

static void check_equal(const char *what, const float *got, const float *right, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (got[i] != right[i])
			fail_msg("%s %zu is %a and not %a", what, i, (double)got[i], (double)right[i]);
	}
}

static void check_file(const char *name)
{
	char path[256];
	struct dare_sparse matrix;
	struct data data;

	snprintf(path, sizeof(path), "%s%s", DATA, name);
	if (access(path, R_OK)) {
		print_message("there is no %s\n", path);
		skip();
	}
	load(&data, path);
	matrix = sparse_case_matrix(&data.s, DARE_CSR);
	for (unsigned int block = 1; block <= 16; block *= 2) {
		struct dare_blocks *blocks;

		assert_int_equal(dare_blockify(&blocks, &matrix, block), 0);
		for (enum dare_form form = DARE_BASELINE; form <= DARE_GSA; form++) {
			run(&data, blocks, form);
			check_equal("element of C", data.c, data.right_c, data.s.rows * COLUMNS);
			check_equal("element of P", data.p, data.right_p, data.s.nonzeros);
		}
		dare_blocks_free(blocks);
	}
	sparse_check_spmm(&data.s, COLUMNS, data.b, COLUMNS, data.c, COLUMNS);
	sparse_check_sddmm(&data.s, COLUMNS, data.a, COLUMNS, data.b, COLUMNS, data.p);
	unload(&data);
}

static void pubmed_is_right(void **unused)
{
	(void)unused;
	check_file("pubmed.mtx");
}

static void cora_is_right(void **unused)
{
	(void)unused;
	check_file("cora.mtx");
}

#if !IS_SANITIZED
static void n1024_l1_is_right(void **unused)
{
	(void)unused;
	check_file("n1024-l1.mtx");
}

static void bcsstk13_is_right(void **unused)
{
	(void)unused;
	check_file("bcsstk13.mtx");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cora_is_right),
#if !IS_SANITIZED
		/* minutes with the sanitizers */
		cmocka_unit_test(n1024_l1_is_right),
		cmocka_unit_test(bcsstk13_is_right),
		cmocka_unit_test(pubmed_is_right),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
