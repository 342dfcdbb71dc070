/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The decoder of arm64's loads and stores. binutils 2.40 made each word from its text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "libmimic/base/load_store.h"
#include "tests/lib/load_store_case.h"

#define OF(registers, with_index, size, ...) \
	.expected = { .length = 4, .count = (registers), .index = (with_index), .memory_size = (size), __VA_ARGS__ }
#define LOAD(size, ...) OF(1, NONE, size, __VA_ARGS__)
#define STORE(size, ...) OF(1, NONE, size, .is_write = 1, __VA_ARGS__)
#define LOAD_INDEX(size, index, ...) OF(1, index, size, __VA_ARGS__)
#define STORE_INDEX(size, index, ...) OF(1, index, size, .is_write = 1, __VA_ARGS__)
#define LOAD_PAIR(size, ...) OF(2, NONE, size, __VA_ARGS__)
#define STORE_PAIR(size, ...) OF(2, NONE, size, .is_write = 1, __VA_ARGS__)
#define SP 31
#define ZERO 31

static const struct load_store_case immediates[] = {
	{ "ldr w1, [x2]", 0xb9400041, LOAD(4, .reg = { 1 }, .base = 2) },
	{ "ldr x1, [x2, #8]", 0xf9400441, LOAD(8, .reg = { 1 }, .base = 2, .displacement = 8) },
	{ "ldr x30, [sp, #32760]", 0xf97ffffe, LOAD(8, .reg = { 30 }, .base = SP, .displacement = 32760) },
	{ "ldrb w3, [x4, #4095]", 0x397ffc83, LOAD(1, .reg = { 3 }, .base = 4, .displacement = 4095) },
	{ "ldrh w3, [x4, #2]", 0x79400483, LOAD(2, .reg = { 3 }, .base = 4, .displacement = 2) },
	{ "ldrsb x3, [x4, #1]", 0x39800483, LOAD(1, .reg = { 3 }, .base = 4, .displacement = 1, .sign_size = 8) },
	{ "ldrsb w3, [x4]", 0x39c00083, LOAD(1, .reg = { 3 }, .base = 4, .sign_size = 4) },
	{ "ldrsh w5, [x6, #8190]", 0x79fffcc5, LOAD(2, .reg = { 5 }, .base = 6, .displacement = 8190, .sign_size = 4) },
	{ "ldrsh x5, [x6]", 0x798000c5, LOAD(2, .reg = { 5 }, .base = 6, .sign_size = 8) },
	{ "ldrsw x7, [x8, #4]", 0xb9800507, LOAD(4, .reg = { 7 }, .base = 8, .displacement = 4, .sign_size = 8) },
	{ "str xzr, [x9]", 0xf900013f, STORE(8, .reg = { ZERO }, .base = 9) },
	{ "str w10, [x11, #16380]", 0xb93ffd6a, STORE(4, .reg = { 10 }, .base = 11, .displacement = 16380) },
	{ "strb w1, [x2]", 0x39000041, STORE(1, .reg = { 1 }, .base = 2) },
	{ "strh w1, [x2, #6]", 0x79000c41, STORE(2, .reg = { 1 }, .base = 2, .displacement = 6) },
	{ "ldur x1, [x2, #-256]", 0xf8500041, LOAD(8, .reg = { 1 }, .base = 2, .displacement = -256) },
	{ "stur w1, [x2, #255]", 0xb80ff041, STORE(4, .reg = { 1 }, .base = 2, .displacement = 255) },
	{ "ldursw x1, [x2, #-1]", 0xb89ff041, LOAD(4, .reg = { 1 }, .base = 2, .displacement = -1, .sign_size = 8) },
	{ "ldtr w1, [x2, #4]", 0xb8404841, LOAD(4, .reg = { 1 }, .base = 2, .displacement = 4) },
	{ "sttrb w1, [x2, #-3]", 0x381fd841, STORE(1, .reg = { 1 }, .base = 2, .displacement = -3) },
};

static const struct load_store_case changed_bases[] = {
	{ "ldr x1, [x2], #-8", 0xf85f8441,
	  LOAD(8, .reg = { 1 }, .base = 2, .displacement = -8, .is_behind = 1, .writes_base = 1) },
	{ "str x1, [sp, #-16]!", 0xf81f0fe1,
	  STORE(8, .reg = { 1 }, .base = SP, .displacement = -16, .writes_base = 1) },
	{ "ldrb w1, [x2], #1", 0x38401441,
	  LOAD(1, .reg = { 1 }, .base = 2, .displacement = 1, .is_behind = 1, .writes_base = 1) },
};

static const struct load_store_case indexes[] = {
	{ "ldr x1, [x2, x3]", 0xf8636841, LOAD_INDEX(8, 3, .reg = { 1 }, .base = 2, .index_size = 8) },
	{ "ldr x1, [x2, x3, lsl #3]", 0xf8637841,
	  LOAD_INDEX(8, 3, .reg = { 1 }, .base = 2, .index_size = 8, .shift = 3) },
	{ "ldr w1, [x2, w3, uxtw]", 0xb8634841, LOAD_INDEX(4, 3, .reg = { 1 }, .base = 2, .index_size = 4) },
	{ "str w1, [x2, w3, sxtw #2]", 0xb823d841,
	  STORE_INDEX(4, 3, .reg = { 1 }, .base = 2, .index_size = 4, .index_is_signed = 1, .shift = 2) },
	{ "ldrh w1, [x2, x3, sxtx #1]", 0x7863f841,
	  LOAD_INDEX(2, 3, .reg = { 1 }, .base = 2, .index_size = 8, .index_is_signed = 1, .shift = 1) },
	{ "ldrb w1, [x2, x3]", 0x38636841, LOAD_INDEX(1, 3, .reg = { 1 }, .base = 2, .index_size = 8) },
	{ "ldr q1, [x2, x3, lsl #4]", 0x3ce37841,
	  LOAD_INDEX(16, 3, .reg = { 1 }, .is_vector = 1, .base = 2, .index_size = 8, .shift = 4) },
};

static const struct load_store_case pairs[] = {
	{ "ldp x1, x2, [x3, #16]", 0xa9410861, LOAD_PAIR(8, .reg = { 1, 2 }, .base = 3, .displacement = 16) },
	{ "ldp w1, w2, [x3, #-256]", 0x29600861, LOAD_PAIR(4, .reg = { 1, 2 }, .base = 3, .displacement = -256) },
	{ "stp xzr, x2, [sp, #-512]!", 0xa9a00bff,
	  STORE_PAIR(8, .reg = { ZERO, 2 }, .base = SP, .displacement = -512, .writes_base = 1) },
	{ "ldp x29, x30, [sp], #16", 0xa8c17bfd,
	  LOAD_PAIR(8, .reg = { 29, 30 }, .base = SP, .displacement = 16, .is_behind = 1, .writes_base = 1) },
	{ "ldpsw x1, x2, [x3, #4]", 0x69408861,
	  LOAD_PAIR(4, .reg = { 1, 2 }, .base = 3, .displacement = 4, .sign_size = 8) },
	{ "ldnp x1, x2, [x3]", 0xa8400861, LOAD_PAIR(8, .reg = { 1, 2 }, .base = 3) },
	{ "stnp w1, w2, [x3, #8]", 0x28010861, STORE_PAIR(4, .reg = { 1, 2 }, .base = 3, .displacement = 8) },
	{ "ldp q1, q2, [x3, #32]", 0xad410861,
	  LOAD_PAIR(16, .reg = { 1, 2 }, .is_vector = 1, .base = 3, .displacement = 32) },
	{ "stp d1, d2, [x3, #-8]!", 0x6dbf8861,
	  STORE_PAIR(8, .reg = { 1, 2 }, .is_vector = 1, .base = 3, .displacement = -8, .writes_base = 1) },
	{ "ldp s1, s2, [x3], #8", 0x2cc10861,
	  LOAD_PAIR(4, .reg = { 1, 2 }, .is_vector = 1, .base = 3, .displacement = 8, .is_behind = 1,
	       .writes_base = 1) },
};

#define VECTOR .is_vector = 1
static const struct load_store_case vectors[] = {
	{ "ldr b1, [x2]", 0x3d400041, LOAD(1, VECTOR, .reg = { 1 }, .base = 2) },
	{ "ldr h1, [x2, #2]", 0x7d400441, LOAD(2, VECTOR, .reg = { 1 }, .base = 2, .displacement = 2) },
	{ "ldr s1, [x2, #4]", 0xbd400441, LOAD(4, VECTOR, .reg = { 1 }, .base = 2, .displacement = 4) },
	{ "str d1, [x2, #8]", 0xfd000441, STORE(8, VECTOR, .reg = { 1 }, .base = 2, .displacement = 8) },
	{ "ldr q1, [x2, #16]", 0x3dc00441, LOAD(16, VECTOR, .reg = { 1 }, .base = 2, .displacement = 16) },
	{ "str q31, [x2], #16", 0x3c81045f,
	  STORE(16, VECTOR, .reg = { 31 }, .base = 2, .displacement = 16, .is_behind = 1, .writes_base = 1) },
	{ "ldur q1, [x2, #-16]", 0x3cdf0041, LOAD(16, VECTOR, .reg = { 1 }, .base = 2, .displacement = -16) },
};

static const struct load_store_case literals[] = {
	{ "ldr x1, .+16", 0x58000081, LOAD(8, .reg = { 1 }, .base = NONE, .displacement = 16) },
	{ "ldr w1, .-4", 0x18ffffe1, LOAD(4, .reg = { 1 }, .base = NONE, .displacement = -4) },
	{ "ldrsw x1, .+8", 0x98000041, LOAD(4, .reg = { 1 }, .base = NONE, .displacement = 8, .sign_size = 8) },
	{ "ldr q1, .+32", 0x9c000101, LOAD(16, VECTOR, .reg = { 1 }, .base = NONE, .displacement = 32) },
};

static const struct load_store_case ordered[] = {
	{ "ldar x1, [x2]", 0xc8dffc41, LOAD(8, .reg = { 1 }, .base = 2) },
	{ "ldarb w1, [x2]", 0x08dffc41, LOAD(1, .reg = { 1 }, .base = 2) },
	{ "stlr w1, [sp]", 0x889fffe1, STORE(4, .reg = { 1 }, .base = SP) },
	{ "stlrh w1, [x2]", 0x489ffc41, STORE(2, .reg = { 1 }, .base = 2) },
	{ "ldlar w1, [x2]", 0x88df7c41, LOAD(4, .reg = { 1 }, .base = 2) },
	{ "ldapr w1, [x2]", 0xb8bfc041, LOAD(4, .reg = { 1 }, .base = 2) },
	{ "ldaprb w1, [x2]", 0x38bfc041, LOAD(1, .reg = { 1 }, .base = 2) },
	{ "ldapur x1, [x2, #8]", 0xd9408041, LOAD(8, .reg = { 1 }, .base = 2, .displacement = 8) },
	{ "ldapursb w1, [x2, #-1]", 0x19dff041,
	  LOAD(1, .reg = { 1 }, .base = 2, .displacement = -1, .sign_size = 4) },
	{ "stlur w1, [x2, #4]", 0x99004041, STORE(4, .reg = { 1 }, .base = 2, .displacement = 4) },
};

static const struct load_store_case refused[] = {
	{ "ldxr w1, [x2]", 0x885f7c41, .error = -ENOLCK },
	{ "stxr w3, w1, [x2]", 0x88037c41, .error = -ENOLCK },
	{ "ldxp x1, x2, [x3]", 0xc87f0861, .error = -ENOLCK },
	{ "cas w1, w2, [x3]", 0x88a17c62, .error = -ENOLCK },
	{ "casp x0, x1, x2, x3, [x4]", 0x48207c82, .error = -ENOLCK },
	{ "ldadd w1, w2, [x3]", 0xb8210062, .error = -ENOLCK },
	{ "swpal x1, x2, [x3]", 0xf8e18062, .error = -ENOLCK },
	{ "ldclr x1, x2, [x3]", 0xf8211062, .error = -ENOLCK },
	{ "prfm pldl1keep, [x1]", 0xf9800020, .error = -EOPNOTSUPP },
	{ "ld1 {v0.16b}, [x1]", 0x4c407020, .error = -EOPNOTSUPP },
	{ "ldraa x1, [x2]", 0xf8200441, .error = -EOPNOTSUPP },
	{ "dc zva, x1", 0xd50b7421, .error = -EOPNOTSUPP },
	{ "add x1, x2, x3", 0x8b030041, .error = -EOPNOTSUPP },
	{ "ldrsw w1, [x2], which is none", 0xb9c00041, .error = -EOPNOTSUPP },
	{ "nothing", 0x00000000, .error = -EOPNOTSUPP },
};

#define TEST_OF(name, table) \
	static void name(void **state) \
	{ \
		(void)state; \
		load_store_check(mimic_decode_arm64, table, sizeof(table) / sizeof(table[0])); \
	}

TEST_OF(displacements_are_added_to_the_base, immediates)
TEST_OF(the_base_may_change_before_or_after, changed_bases)
TEST_OF(an_index_is_extended_and_shifted, indexes)
TEST_OF(pairs_are_two_registers, pairs)
TEST_OF(vector_registers_have_one_to_sixteen_bytes, vectors)
TEST_OF(literals_are_relative_to_the_instruction, literals)
TEST_OF(ordered_accesses_are_accesses, ordered)
TEST_OF(instructions_that_lock_memory_or_access_none_are_refused, refused)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(displacements_are_added_to_the_base),
		cmocka_unit_test(the_base_may_change_before_or_after),
		cmocka_unit_test(an_index_is_extended_and_shifted),
		cmocka_unit_test(pairs_are_two_registers),
		cmocka_unit_test(vector_registers_have_one_to_sixteen_bytes),
		cmocka_unit_test(literals_are_relative_to_the_instruction),
		cmocka_unit_test(ordered_accesses_are_accesses),
		cmocka_unit_test(instructions_that_lock_memory_or_access_none_are_refused),
	};

	return cmocka_run_group_tests_name("decoder of arm64", tests, NULL, NULL);
}
