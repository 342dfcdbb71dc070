/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Profiles of libdare: which form DARE_AUTO is, and the errors of a file that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdare/kernel.h"
#include "tests/lib/fake_dare.h"

#define BLOCKS 5

static struct fake_dare fake;
static struct dare *dare;
static struct dare_blocks *blocks[BLOCKS];	/* of 1 << number */
static char path[] = "/tmp/mimic-profile-XXXXXX";

static int begin(void **state)
{
	static const uint64_t start[] = { 0, 1 };
	static const uint32_t index[] = { 0 };
	const struct dare_sparse one = { DARE_CSR, 1, 1, start, index };
	int descriptor = mkstemp(path);

	(void)state;
	if (descriptor < 0)
		return -1;
	close(descriptor);
	for (unsigned int i = 0; i < BLOCKS; i++)
		if (dare_blockify(&blocks[i], &one, 1u << i))
			return -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < BLOCKS; i++)
		dare_blocks_free(blocks[i]);
	return unlink(path);
}

static int open_context(void **state)
{
	(void)state;
	dare = fake_dare_open(&fake);
	return dare ? 0 : -1;
}

static int close_context(void **state)
{
	(void)state;
	dare_close(dare);
	return 0;
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The form of block size 1 << number; 8 and 4 are the paper's thresholds. */
static int spmm_form(unsigned int number)
{
	return dare_form_choose(dare, DARE_PROFILED_SPMM, DARE_AUTO, blocks[number], 8);
}

static int sddmm_form(unsigned int number)
{
	return dare_form_choose(dare, DARE_PROFILED_SDDMM, DARE_AUTO, blocks[number], 4);
}

static void a_profile_chooses_the_form_by_kernel_and_block_size(void **state)
{
	(void)state;
	write_file("mimic-profile 1\n# of a test\nspmm 2 baseline\t# 3 and 4\n\n  spmm 16   gsa\r\nsddmm 4 gsa\nsddmm 1 baseline");
	assert_int_equal(dare_profile_read(dare, path), 0);
	assert_int_equal(spmm_form(1), DARE_BASELINE);
	assert_int_equal(spmm_form(4), DARE_GSA);
	assert_int_equal(sddmm_form(2), DARE_GSA);
	assert_int_equal(sddmm_form(0), DARE_BASELINE);
}

static void where_a_profile_says_nothing_it_is_as_the_paper_says(void **state)
{
	(void)state;
	write_file("mimic-profile 1\nspmm 2 baseline\n");
	assert_int_equal(dare_profile_read(dare, path), 0);
	assert_int_equal(spmm_form(0), DARE_GSA);
	assert_int_equal(spmm_form(3), DARE_BASELINE);
	assert_int_equal(sddmm_form(1), DARE_GSA);
	assert_int_equal(sddmm_form(2), DARE_BASELINE);
}

static void a_form_that_the_program_names_stays(void **state)
{
	(void)state;
	write_file("mimic-profile 1\nspmm 2 baseline\n");
	assert_int_equal(dare_profile_read(dare, path), 0);
	assert_int_equal(dare_form_choose(dare, DARE_PROFILED_SPMM, DARE_GSA, blocks[1], 8), DARE_GSA);
	assert_int_equal(dare_form_choose(dare, DARE_PROFILED_SPMM, (enum dare_form)3, blocks[1], 8), -EINVAL);
}

static void a_second_profile_replaces_the_first(void **state)
{
	(void)state;
	write_file("mimic-profile 1\nspmm 2 baseline\n");
	assert_int_equal(dare_profile_read(dare, path), 0);
	write_file("mimic-profile 1\n");
	assert_int_equal(dare_profile_read(dare, path), 0);
	assert_int_equal(spmm_form(1), DARE_GSA);
}

static void an_error_in_a_file_is_named_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "", ":1: no profile: the file is empty" },
		{ "spmm 2 gsa\n", ":1: no profile: it must begin with 'mimic-profile 1'" },
		{ "mimic-profile 2\n", ":1: no profile: it must begin with 'mimic-profile 1'" },
		{ "mimic-profile 1\n\nspm 2 gsa\n", ":3: there is no kernel 'spm': spmm or sddmm" },
		{ "mimic-profile 1\nspmm 2\n", ":2: it must be a kernel, a block size and a form" },
		{ "mimic-profile 1\nspmm 2 gsa now\n", ":2: it must be a kernel, a block size and a form" },
		{ "mimic-profile 1\nspmm 3 gsa\n", ":2: there is no block size '3': 1, 2, 4, 8 or 16" },
		{ "mimic-profile 1\nspmm 2 auto\n", ":2: there is no form 'auto': baseline or gsa" },
		{ "mimic-profile 1\nspmm 2 gsa\n#\nspmm 2 gsa\n", ":4: spmm of block size 2 stands in line 2 already" },
	};
	char says[160];

	(void)state;
	write_file("mimic-profile 1\nspmm 2 baseline\n");
	assert_int_equal(dare_profile_read(dare, path), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		write_file(files[i].text);
		snprintf(says, sizeof(says), "%s%s", path, files[i].says);
		assert_int_equal(dare_profile_read(dare, path), -EINVAL);
		assert_string_equal(dare_error_text(), says);
		/* The context keeps its profile. */
		assert_int_equal(spmm_form(1), DARE_BASELINE);
	}
}

static void a_file_that_is_not_there_is_named(void **state)
{
	(void)state;
	assert_int_equal(dare_profile_read(dare, "/nowhere/profile"), -ENOENT);
	assert_string_equal(dare_error_text(), "/nowhere/profile: No such file or directory");
	assert_int_equal(dare_profile_read(dare, "/"), -EISDIR);
	assert_int_equal(dare_profile_read(dare, NULL), -EINVAL);
	assert_int_equal(dare_profile_read(NULL, path), -EINVAL);
}

static void a_context_takes_the_profile_that_the_environment_names(void **state)
{
	static struct fake_dare other;
	struct dare *before = dare;
	char says[160];

	(void)state;
	write_file("mimic-profile 1\nspmm 2 baseline\n");
	setenv("MIMIC_DARE_PROFILE", path, 1);
	dare = fake_dare_open(&other);
	assert_non_null(dare);
	assert_int_equal(spmm_form(1), DARE_BASELINE);
	dare_close(dare);
	dare = before;
	write_file("mimic-profile 1\nspmm 2 fast\n");
	assert_null(fake_dare_open(&other));
	snprintf(says, sizeof(says), "%s:2: there is no form 'fast': baseline or gsa", path);
	assert_string_equal(dare_error_text(), says);
	setenv("MIMIC_DARE_PROFILE", "", 1);
	dare = fake_dare_open(&other);
	assert_non_null(dare);
	assert_int_equal(spmm_form(1), DARE_GSA);
	dare_close(dare);
	dare = before;
	unsetenv("MIMIC_DARE_PROFILE");
}

#define ON(function) cmocka_unit_test_setup_teardown(function, open_context, close_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_profile_chooses_the_form_by_kernel_and_block_size),
		ON(where_a_profile_says_nothing_it_is_as_the_paper_says),
		ON(a_form_that_the_program_names_stays),
		ON(a_second_profile_replaces_the_first),
		ON(an_error_in_a_file_is_named_with_its_line),
		ON(a_file_that_is_not_there_is_named),
		ON(a_context_takes_the_profile_that_the_environment_names),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
