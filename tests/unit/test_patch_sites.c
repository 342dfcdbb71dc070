/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The table of instructions that have trapped. Each test has addresses of its own: none is ever taken out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "libmimic/preload/patch.h"

static struct patch_site *add_with_trampoline(uintptr_t address)
{
	struct patch_site *site = mimic_preload_patch_add(address);

	assert_non_null(site);
	site->size = 100;
	return site;
}

static void a_site_that_never_had_a_trampoline_is_used_before_one_is_added(void **state)
{
	struct patch_site *former = add_with_trampoline(0x1000);
	struct patch_site *spare = mimic_preload_patch_add(0x1000);
	unsigned int count = mimic_preload_patch_count();

	(void)state;
	assert_ptr_not_equal(spare, former);
	mimic_preload_patch_bring_forward(former);
	assert_ptr_equal(mimic_preload_patch_find(0x1000), former);
	assert_ptr_equal(mimic_preload_patch_add(0x1000), spare);
	assert_ptr_equal(mimic_preload_patch_find(0x1000), spare);
	assert_ptr_equal(mimic_preload_patch_former(spare), former);
	assert_int_equal(mimic_preload_patch_count(), count);
}

static void a_site_whose_trampoline_is_lost_is_not_used_again(void **state)
{
	struct patch_site *site = add_with_trampoline(0x2000);

	(void)state;
	site->size = 0;
	site->is_lost = true;
	assert_null(mimic_preload_patch_spare(0x2000));
	assert_ptr_not_equal(mimic_preload_patch_add(0x2000), site);
}

static void all_bytes_of_an_instruction_are_its_own_while_its_jump_is_there(void **state)
{
	struct patch_site *site = add_with_trampoline(0x3000);
	unsigned int i;

	(void)state;
	site->target.instruction.length = 11;
	site->window.changed = 5;
	assert_null(mimic_preload_patch_over(0x3000));
	atomic_store(&site->installed, true);
	for (i = 0; i < 11; i++)
		assert_ptr_equal(mimic_preload_patch_over(0x3000 + i), site);
	assert_null(mimic_preload_patch_over(0x2fff));
	assert_null(mimic_preload_patch_over(0x300b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_site_that_never_had_a_trampoline_is_used_before_one_is_added),
		cmocka_unit_test(a_site_whose_trampoline_is_lost_is_not_used_again),
		cmocka_unit_test(all_bytes_of_an_instruction_are_its_own_while_its_jump_is_there),
	};

	return cmocka_run_group_tests_name("the table of sites", tests, NULL, NULL);
}
