/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trapped loads and stores of arm64 and RISC-V: each instruction is executed by the processor on plain memory,
 * then trapped and emulated on the same bytes; registers and memory have to be the same after. x86-64 has
 * test_emulate.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "libmimic/base/context.h"
#include "libmimic/base/emulate.h"

#define PAGE 4096
#define MIDDLE 2048	/* of the page: bases point there */

struct cpu {
	uint64_t general[4];
	uint8_t vector[2][16];
};

/* FORM(number, instruction): of registers 1 to 4, of which 3 is an index or a second base; vectors 1 and 2. */
#if defined(__aarch64__)
#define FORMS(FORM) \
	FORM(0, "ldr w1, [x2]") FORM(1, "ldr x1, [x2, #8]") FORM(2, "ldrb w1, [x2, #3]") FORM(3, "ldrsb x1, [x2]") \
	FORM(4, "ldrsb w1, [x2]") FORM(5, "ldrsh w1, [x2, #2]") FORM(6, "ldrsw x1, [x2]") FORM(7, "ldur x1, [x2, #-3]") \
	FORM(8, "str x1, [x2]") FORM(9, "str wzr, [x2, #4]") FORM(10, "strb w1, [x2]") FORM(11, "strh w1, [x2, #1]") \
	FORM(12, "ldr x1, [x2], #-8") FORM(13, "str x1, [x2, #-16]!") FORM(14, "ldr x1, [x2, w3, sxtw #3]") \
	FORM(15, "strh w1, [x2, x3, lsl #1]") FORM(16, "ldp x1, x4, [x2, #-16]") FORM(17, "stp w1, w4, [x2], #8") \
	FORM(18, "ldpsw x1, x4, [x2]") FORM(19, "ldr q1, [x2, #16]") FORM(20, "ldr s1, [x2]") FORM(21, "ldr b1, [x2, #1]") \
	FORM(22, "str q1, [x2, #-32]!") FORM(23, "stp d1, d2, [x2]") FORM(24, "ldp q1, q2, [x2, #32]") \
	FORM(25, "ldar x1, [x2]") FORM(26, "stlrb w1, [x2]") FORM(27, "ldr x2, [x2]") FORM(28, "str x1, [x2, #1]") \
	FORM(29, "mov x5, sp\n mov sp, x2\n ldr x1, [sp, #8]\n mov sp, x5") \
	FORM(30, "mov x5, sp\n mov sp, x2\n stp x1, x4, [sp, #-16]!\n mov x2, sp\n mov sp, x5") \
	FORM(31, "ldr h1, [x2, w3, uxtw #1]")
#define ENTER "	mov x9, x0\n	ldp x1, x2, [x9]\n	ldp x3, x4, [x9, #16]\n	ldp q1, q2, [x9, #32]\n"
#define LEAVE "	stp x1, x2, [x9]\n	stp x3, x4, [x9, #16]\n	stp q1, q2, [x9, #32]\n	ret\n"
#define LOCKING "ldxr w1, [x2]"
#else
#define FORMS(FORM) \
	FORM(0, "lb a1, 1(a2)") FORM(1, "lbu a1, -1(a2)") FORM(2, "lh a1, 2(a2)") FORM(3, "lhu a1, 0(a2)") \
	FORM(4, "lw a1, 4(a2)") FORM(5, "lwu a1, 0(a2)") FORM(6, "ld a1, -8(a2)") FORM(7, "ld zero, 0(a2)") \
	FORM(8, "sb a1, 3(a2)") FORM(9, "sh a1, 2(a2)") FORM(10, "sw zero, 4(a2)") FORM(11, "sd a1, -2048(a2)") \
	FORM(12, "flw fa1, 4(a2)") FORM(13, "fld fa1, 8(a2)") FORM(14, "fsw fa1, 0(a2)") FORM(15, "fsd fa2, 8(a2)") \
	FORM(16, "c.lw a1, 4(a2)") FORM(17, "c.ld a1, 64(a2)") FORM(18, "c.sw a1, 8(a2)") FORM(19, "c.sd a1, 8(a2)") \
	FORM(20, "c.fld fa1, 16(a2)") FORM(21, "c.fsd fa1, 24(a2)") FORM(22, "ld a2, 0(a2)") FORM(23, "ld a1, 3(a2)") \
	FORM(24, "sw a1, 1(a2)") \
	FORM(25, "mv t1, sp\n mv sp, a2\n c.ldsp a1, 8(sp)\n mv sp, t1") \
	FORM(26, "mv t1, sp\n mv sp, a2\n c.swsp a1, 12(sp)\n mv sp, t1") \
	FORM(27, "mv t1, sp\n mv sp, a2\n c.fldsp fa1, 16(sp)\n mv sp, t1")
#define ENTER \
	"	mv t0, a0\n	ld a1, 0(t0)\n	ld a2, 8(t0)\n	ld a3, 16(t0)\n	ld a4, 24(t0)\n" \
	"	fld fa1, 32(t0)\n	fld fa2, 48(t0)\n"
#define LEAVE \
	"	sd a1, 0(t0)\n	sd a2, 8(t0)\n	sd a3, 16(t0)\n	sd a4, 24(t0)\n" \
	"	fsd fa1, 32(t0)\n	fsd fa2, 48(t0)\n	ret\n"
#define LOCKING "amoadd.w a1, a3, (a2)"
#endif

#define CODE(name, text) "	.balign 4\nform_" #name ":\n" ENTER "	" text "\n" LEAVE
__asm__("	.text\n" FORMS(CODE) CODE(locking, LOCKING));
#define DECLARE(number, text) __attribute__((visibility("hidden"))) void form_##number(struct cpu *cpu);
FORMS(DECLARE)
DECLARE(locking, LOCKING)
#define ROW(number, text) { form_##number, text },
static const struct {
	void (*execute)(struct cpu *cpu);
	const char *text;
} forms[] = { FORMS(ROW) };

static uint8_t *data, *shadow;	/* the same page: for programs, and for the bus */
static unsigned int trap_count;
static int trap_result, bus_error;

static int bus_access(void *context, uintptr_t address, unsigned int size, bool is_write, uint64_t *value)
{
	uint8_t *place = shadow + (address - (uintptr_t)data);

	(void)context;
	assert_true(address - (uintptr_t)data < PAGE && address % size == 0);
	if (bus_error)
		return bus_error;
	if (is_write)
		memcpy(place, value, size);
	else
		memcpy(value, place, size);
	return 0;
}

static uintptr_t behind(uintptr_t instruction)
{
#if defined(__riscv)
	/* The assembler compresses where it can. */
	return instruction + ((*(const uint16_t *)instruction & 3) == 3 ? 4 : 2);
#else
	return instruction + 4;
#endif
}

/* Steps over an instruction that cannot be emulated; the test checks trap_result. */
static void on_fault(int number, siginfo_t *information, void *context)
{
	(void)number;
	(void)information;
	trap_count++;
	trap_result = mimic_emulate(context, bus_access, NULL);
	if (trap_result)
		mimic_context_go_to(context, behind(mimic_context_instruction(context)));
}

static void fill(struct cpu *cpu)
{
	for (unsigned int i = 0; i < PAGE; i++)
		shadow[i] = (uint8_t)(i * 37 + 200);
	memset(cpu, 0xa5, sizeof(*cpu));
	cpu->general[0] = 0x8182838485868788;
	cpu->general[1] = (uintptr_t)data + MIDDLE;
	cpu->general[2] = 0xfffffffe;	/* -2, if it is of 32 bits */
}

static void run(void (*execute)(struct cpu *cpu), struct cpu *cpu, int protection)
{
	trap_count = 0;
	assert_int_equal(mprotect(data, PAGE, protection), 0);
	execute(cpu);
}

static bool has_large_index(const char *text)
{
	return strstr(text, "x3, lsl") || strstr(text, "w3, uxtw");
}

/* In each test: cmocka has a handler of its own around it. */
static void set_up(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = 1 << 16 };
	int file = memfd_create("page", MFD_CLOEXEC);

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(ftruncate(file, PAGE), 0);
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	data = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, file, 0);
	shadow = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_true(data != MAP_FAILED && shadow != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	close(file);
}

static void each_form_matches_the_processor(void **state)
{
	static uint8_t memory[PAGE];

	(void)state;
	set_up();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct cpu expected, is;

		fill(&expected);
		if (has_large_index(forms[i].text))
			expected.general[2] = 3;
		is = expected;
		run(forms[i].execute, &expected, PROT_READ | PROT_WRITE);
		memcpy(memory, shadow, PAGE);
		fill(&(struct cpu){ 0 });
		run(forms[i].execute, &is, PROT_NONE);
		if (trap_count != 1 || trap_result)
			fail_msg("%s: %u traps, %d", forms[i].text, trap_count, trap_result);
		if (memcmp(&is, &expected, sizeof(is)))
			fail_msg("%s: other registers", forms[i].text);
		if (memcmp(memory, shadow, PAGE))
			fail_msg("%s: other memory", forms[i].text);
	}
}

static void an_access_that_fails_changes_no_register(void **state)
{
	struct cpu before, is;

	(void)state;
	set_up();
	bus_error = -EIO;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		fill(&before);
		if (has_large_index(forms[i].text))
			before.general[2] = 3;
		is = before;
		run(forms[i].execute, &is, PROT_NONE);
		assert_int_equal(trap_result, -EIO);
		if (memcmp(&is, &before, sizeof(is)))
			fail_msg("%s: registers have changed", forms[i].text);
	}
	bus_error = 0;
}

static void an_instruction_that_locks_memory_is_refused(void **state)
{
	struct cpu before, is;

	(void)state;
	set_up();
	fill(&before);
	is = before;
	run(form_locking, &is, PROT_NONE);
	assert_int_equal(trap_result, -ENOLCK);
	assert_memory_equal(&is, &before, sizeof(is));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_matches_the_processor),
		cmocka_unit_test(an_access_that_fails_changes_no_register),
		cmocka_unit_test(an_instruction_that_locks_memory_is_refused),
	};

	return cmocka_run_group_tests_name("emulation of loads and stores", tests, NULL, NULL);
}
