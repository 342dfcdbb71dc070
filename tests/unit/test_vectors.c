/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Vector registers that are kept for a caller when something is about to use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libmimic/base/vectors.h"

#if defined(__x86_64__)

static const uint32_t usual = 0x1f80, rounds_up = 0x5f80;

static uint32_t control(void)
{
	uint32_t value;

	__asm__ volatile("stmxcsr %0" : "=m"(value));
	return value;
}

static void all_are_kept_once_and_put_back(void **unused)
{
	static const uint8_t filled[64] = "letters for all of a register, 64 of them, and the last ones too",
			     others[64] = "and other ones.";
	const uint64_t mask = 0x123456789abcdef, no_mask = 0;
	uint64_t found_mask = mask;
	struct mimic_vectors place;
	uint8_t found[64], found_high[64];

	const bool is_512 = mimic_vectors_in_use == 2;

	(void)unused;
	memset(&place, 0, sizeof(place));
	mimic_vectors_place = &place;
	memcpy(found, filled, sizeof(found));
	memcpy(found_high, filled, sizeof(found_high));
	if (is_512)
		__asm__ volatile("vmovups %0, %%zmm9\nvmovups %0, %%zmm30\nkmovq %1, %%k3" : : "m"(filled), "m"(mask));
	__asm__ volatile("vmovups %0, %%ymm10\nldmxcsr %1" : : "m"(filled), "m"(rounds_up));
	mimic_vectors_keep();
	assert_null(mimic_vectors_place);
	assert_int_equal(control(), usual);
	assert_int_equal(place.is_filled, mimic_vectors_in_use);
	assert_memory_equal(place.vectors[10], filled, 32);
	if (is_512)
		__asm__ volatile("vmovups %0, %%zmm9\nvmovups %0, %%zmm30\nkmovq %1, %%k3" : : "m"(others), "m"(no_mask));
	__asm__ volatile("vmovups %0, %%ymm10" : : "m"(others));
	mimic_vectors_keep();
	mimic_vectors_put_back(&place);
	if (is_512)
		__asm__ volatile("vmovups %%zmm9, %0\nvmovups %%zmm30, %1\nkmovq %%k3, %2"
				 : "=m"(found), "=m"(found_high), "=m"(found_mask));
	assert_memory_equal(found, filled, sizeof(found));
	assert_memory_equal(found_high, filled, sizeof(found_high));
	assert_int_equal(found_mask, mask);
	__asm__ volatile("vmovups %%ymm10, %0" : "=m"(found));
	assert_memory_equal(found, filled, 32);
	assert_int_equal(control(), rounds_up);
	__asm__ volatile("vzeroupper\nldmxcsr %0" : : "m"(usual));
}

/* Below the stack pointer: as that of a thread whose frames were unwound. */
static void a_place_in_a_frame_that_is_gone_is_left_alone(void **unused)
{
	static struct mimic_vectors place;

	(void)unused;
	assert_true((uintptr_t)&place < (uintptr_t)__builtin_frame_address(0));
	mimic_vectors_place = &place;
	mimic_vectors_keep();
	assert_null(mimic_vectors_place);
	assert_int_equal(place.is_filled, 0);
}

static void errno_is_kept_with_them_if_its_place_is_known(void **unused)
{
	struct mimic_vectors place;
	int number = 5;

	(void)unused;
	mimic_vectors_errno = &number;
	mimic_vectors_place = &place;
	mimic_vectors_keep();
	number = 6;
	mimic_vectors_put_back(&place);
	assert_int_equal(number, 5);
	mimic_vectors_errno = NULL;
	mimic_vectors_place = &place;
	mimic_vectors_keep();
	number = 6;
	mimic_vectors_put_back(&place);
	assert_int_equal(number, 6);
	__asm__ volatile("vzeroupper\nldmxcsr %0" : : "m"(usual));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_kept_once_and_put_back),
		cmocka_unit_test(errno_is_kept_with_them_if_its_place_is_known),
		cmocka_unit_test(a_place_in_a_frame_that_is_gone_is_left_alone),
	};

	if (!mimic_vectors_start()) {
		printf("1..0 # SKIP the processor has no BMI2\n");
		return 0;
	}
	return cmocka_run_group_tests_name("vector registers", tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
