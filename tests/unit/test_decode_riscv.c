/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The decoder of RISC-V's loads and stores. binutils 2.40 made each word from its text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "libmimic/base/load_store.h"
#include "tests/lib/load_store_case.h"

#define OF(bytes, size, number, from, offset, ...) \
	.expected = { .length = (bytes), .count = 1, .index = NONE, .memory_size = (size), .reg = { (number) }, .base = (from), \
		      .displacement = (offset), __VA_ARGS__ }
#define LOAD(size, number, from, offset, ...) OF(4, size, number, from, offset, __VA_ARGS__)
#define SIGNED(size, number, from, offset) LOAD(size, number, from, offset, .sign_size = 8)
#define STORE(size, number, from, offset, ...) LOAD(size, number, from, offset, .is_write = 1, __VA_ARGS__)
#define C_LOAD(size, number, from, offset, ...) OF(2, size, number, from, offset, __VA_ARGS__)
#define C_SIGNED(size, number, from, offset) C_LOAD(size, number, from, offset, .sign_size = 8)
#define C_STORE(size, number, from, offset, ...) C_LOAD(size, number, from, offset, .is_write = 1, __VA_ARGS__)
#define FLOAT .is_vector = 1

static const struct load_store_case loads[] = {
	{ "lb x10, -1(x11)", 0xfff58503, SIGNED(1, 10, 11, -1) },
	{ "lh x10, 2(x11)", 0x00259503, SIGNED(2, 10, 11, 2) },
	{ "lw x8, 2047(x2)", 0x7ff12403, SIGNED(4, 8, 2, 2047) },
	{ "ld x31, -2048(x30)", 0x800f3f83, SIGNED(8, 31, 30, -2048) },
	{ "lbu x10, 0(x11)", 0x0005c503, LOAD(1, 10, 11, 0, .sign_size = 0) },
	{ "lhu x10, 0(x11)", 0x0005d503, LOAD(2, 10, 11, 0, .sign_size = 0) },
	{ "lwu x10, 4(x11)", 0x0045e503, LOAD(4, 10, 11, 4, .sign_size = 0) },
	{ "ld x0, 0(x11)", 0x0005b003, SIGNED(8, 0, 11, 0) },
};

static const struct load_store_case stores[] = {
	{ "sb x10, -1(x11)", 0xfea58fa3, STORE(1, 10, 11, -1, .sign_size = 0) },
	{ "sh x10, 31(x11)", 0x00a59fa3, STORE(2, 10, 11, 31, .sign_size = 0) },
	{ "sw x0, 32(x11)", 0x0205a023, STORE(4, 0, 11, 32, .sign_size = 0) },
	{ "sd x10, -2048(x11)", 0x80a5b023, STORE(8, 10, 11, -2048, .sign_size = 0) },
};

static const struct load_store_case floats[] = {
	{ "flw f10, 4(x11)", 0x0045a507, LOAD(4, 10, 11, 4, FLOAT) },
	{ "fld f31, 8(x11)", 0x0085bf87, LOAD(8, 31, 11, 8, FLOAT) },
	{ "fsw f10, -4(x11)", 0xfea5ae27, STORE(4, 10, 11, -4, FLOAT) },
	{ "fsd f8, 8(x2)", 0x00813427, STORE(8, 8, 2, 8, FLOAT) },
	{ "c.fld f10, 8(x11)", 0x2588, C_LOAD(8, 10, 11, 8, FLOAT) },
	{ "c.fsd f9, 128(x8)", 0xa044, C_STORE(8, 9, 8, 128, FLOAT) },
	{ "c.fldsp f10, 16(x2)", 0x2542, C_LOAD(8, 10, 2, 16, FLOAT) },
	{ "c.fsdsp f27, 256(x2)", 0xa26e, C_STORE(8, 27, 2, 256, FLOAT) },
};

/* Bytes behind a compressed instruction do not count. */
static const struct load_store_case compressed[] = {
	{ "c.lw x8, 0(x9)", 0xffff4080, C_SIGNED(4, 8, 9, 0) },
	{ "c.lw x15, 124(x14)", 0x5f7c, C_SIGNED(4, 15, 14, 124) },
	{ "c.lw x10, 4(x11)", 0x41c8, C_SIGNED(4, 10, 11, 4) },
	{ "c.lw x10, 64(x11)", 0x41a8, C_SIGNED(4, 10, 11, 64) },
	{ "c.ld x10, 8(x11)", 0x6588, C_SIGNED(8, 10, 11, 8) },
	{ "c.ld x10, 248(x11)", 0x7de8, C_SIGNED(8, 10, 11, 248) },
	{ "c.ld x10, 64(x11)", 0x61a8, C_SIGNED(8, 10, 11, 64) },
	{ "c.sw x10, 4(x11)", 0xc1c8, C_STORE(4, 10, 11, 4, .sign_size = 0) },
	{ "c.sd x10, 64(x11)", 0xe1a8, C_STORE(8, 10, 11, 64, .sign_size = 0) },
	{ "c.lwsp x10, 4(x2)", 0x4512, C_SIGNED(4, 10, 2, 4) },
	{ "c.lwsp x31, 252(x2)", 0x5ffe, C_SIGNED(4, 31, 2, 252) },
	{ "c.lwsp x10, 32(x2)", 0x5502, C_SIGNED(4, 10, 2, 32) },
	{ "c.ldsp x1, 8(x2)", 0x60a2, C_SIGNED(8, 1, 2, 8) },
	{ "c.ldsp x1, 504(x2)", 0x70fe, C_SIGNED(8, 1, 2, 504) },
	{ "c.ldsp x1, 64(x2)", 0x6086, C_SIGNED(8, 1, 2, 64) },
	{ "c.swsp x10, 4(x2)", 0xc22a, C_STORE(4, 10, 2, 4, .sign_size = 0) },
	{ "c.swsp x0, 252(x2)", 0xdf82, C_STORE(4, 0, 2, 252, .sign_size = 0) },
	{ "c.swsp x10, 64(x2)", 0xc0aa, C_STORE(4, 10, 2, 64, .sign_size = 0) },
	{ "c.sdsp x1, 8(x2)", 0xe406, C_STORE(8, 1, 2, 8, .sign_size = 0) },
	{ "c.sdsp x1, 504(x2)", 0xff86, C_STORE(8, 1, 2, 504, .sign_size = 0) },
	{ "c.sdsp x1, 64(x2)", 0xe086, C_STORE(8, 1, 2, 64, .sign_size = 0) },
};

/* Zcb, by binutils 2.44 */
static const struct load_store_case narrow[] = {
	{ "c.lbu x10, 0(x11)", 0x8188, C_LOAD(1, 10, 11, 0, .sign_size = 0) },
	{ "c.lbu x10, 1(x11)", 0x81c8, C_LOAD(1, 10, 11, 1, .sign_size = 0) },
	{ "c.lbu x10, 2(x11)", 0x81a8, C_LOAD(1, 10, 11, 2, .sign_size = 0) },
	{ "c.lhu x15, 2(x14)", 0x873c, C_LOAD(2, 15, 14, 2, .sign_size = 0) },
	{ "c.lh x8, 0(x9)", 0x84c0, C_SIGNED(2, 8, 9, 0) },
	{ "c.sb x10, 3(x11)", 0x89e8, C_STORE(1, 10, 11, 3, .sign_size = 0) },
	{ "c.sh x10, 2(x11)", 0x8da8, C_STORE(2, 10, 11, 2, .sign_size = 0) },
};

static const struct load_store_case refused[] = {
	{ "lr.w x10, (x11)", 0x1005a52f, .error = -ENOLCK },
	{ "sc.d x10, x12, (x11)", 0x18c5b52f, .error = -ENOLCK },
	{ "amoadd.w x10, x12, (x11)", 0x00c5a52f, .error = -ENOLCK },
	{ "fence", 0x0ff0000f, .error = -EOPNOTSUPP },
	{ "add x10, x11, x12", 0x00c58533, .error = -EOPNOTSUPP },
	{ "ecall", 0x00000073, .error = -EOPNOTSUPP },
	{ "c.addi x10, 1", 0x0505, .error = -EOPNOTSUPP },
	{ "c.mv x10, x11", 0x852e, .error = -EOPNOTSUPP },
	{ "c.jr x1", 0x8082, .error = -EOPNOTSUPP },
	{ "c.addi4spn x10, x2, 8", 0x0028, .error = -EOPNOTSUPP },
	{ "nothing", 0x0000, .error = -EOPNOTSUPP },
};

#define TEST_OF(name, table) \
	static void name(void **state) \
	{ \
		(void)state; \
		load_store_check(mimic_decode_riscv, table, sizeof(table) / sizeof(table[0])); \
	}

TEST_OF(loads_extend_signs_or_zeros, loads)
TEST_OF(the_displacement_of_a_store_is_in_two_parts, stores)
TEST_OF(floating_point_has_registers_of_its_own, floats)
TEST_OF(compressed_instructions_scale_their_displacement, compressed)
TEST_OF(bytes_and_halves_have_compressed_forms, narrow)
TEST_OF(instructions_that_lock_memory_or_access_none_are_refused, refused)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_extend_signs_or_zeros),
		cmocka_unit_test(the_displacement_of_a_store_is_in_two_parts),
		cmocka_unit_test(floating_point_has_registers_of_its_own),
		cmocka_unit_test(compressed_instructions_scale_their_displacement),
		cmocka_unit_test(bytes_and_halves_have_compressed_forms),
		cmocka_unit_test(instructions_that_lock_memory_or_access_none_are_refused),
	};

	return cmocka_run_group_tests_name("decoder of RISC-V", tests, NULL, NULL);
}
