/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trapped instructions of the x87 unit against the processor: each form with a memory operand runs
 * from the same state, once on plain memory and once on a page without access rights, where the
 * SIGSEGV handler emulates it. The unit's state and memory must be the same after both.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "libmimic/base/emulate.h"

#if defined(__x86_64__)

#define PAGE 4096u
#define OPERAND 0x800u

/* The image of FXSAVE; the unit's last instruction and its address stand in between. */
struct image {
	uint16_t control, status;
	uint8_t tags, reserved;
	uint8_t last[18];
	uint8_t vectors_control[8];
	uint8_t stack[8][16];
	uint8_t rest[352];
};

static uint8_t *code, *data;
static _Alignas(16) struct image before, after;

static struct {
	uint8_t memory[PAGE];
	unsigned int loads, stores;
} bus;

static int trap_result;
static bool absent;	/* the frame leaves the unit's state out */

static int access_bus(void *context, uintptr_t address, unsigned int size, bool is_write, uint64_t *value)
{
	uintptr_t offset = address - (uintptr_t)data;

	(void)context;
	*(is_write ? &bus.stores : &bus.loads) += 1;
	if (is_write)
		memcpy(bus.memory + offset, value, size);
	else
		memcpy(value, bus.memory + offset, size);
	return 0;
}

/* Where the header says that there is no state, it is the initial one; the bytes do not count. */
static void leave_out_state(uint8_t *frame)
{
	uint64_t present;

	memcpy(&present, frame + 512, sizeof(present));
	present &= ~1ull;
	memcpy(frame + 512, &present, sizeof(present));
	memset(frame, 0xa5, 24);
	memset(frame + 32, 0xa5, 128);
}

static void on_fault(int number, siginfo_t *information, void *argument)
{
	ucontext_t *context = argument;

	(void)number;
	(void)information;
	if (absent)
		leave_out_state((uint8_t *)context->uc_mcontext.fpregs);
	trap_result = mimic_emulate(context, access_bus, NULL);
	if (trap_result)
		context->uc_mcontext.gregs[REG_RIP] += 2;
}

/* fxrstor64 (%rsi); the instruction with (%rdi); fxsave64 (%rdx); fninit; ret */
static void write_code(uint8_t opcode, unsigned int reg)
{
	const uint8_t text[] = {
		0x48, 0x0f, 0xae, 0x0e, opcode, (uint8_t)(reg << 3 | 7), 0x48, 0x0f, 0xae, 0x02,
		0xdb, 0xe3, 0xc3,
	};

	memcpy(code, text, sizeof(text));
}

static void run(void)
{
	void (*call)(void *, const void *, void *) = (void (*)(void *, const void *, void *))(void *)code;

	call(data + OPERAND, &before, &after);
}

static uint64_t random_state = 7;

static uint64_t random_bits(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

/* 1, NaNs of both kinds, infinities, denormals, numbers out of the range of others; of 4 and 8 bytes. */
static uint64_t random_operand(void)
{
	static const uint64_t edges[] = {
		0, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
		0x7ff0000000000001, 0x0000000000000001, 0x7fefffffffffffff, 0x8000000000000000,
		0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x00000001, 0x80000000,
		0x40490fdb, 0x7fffffff, 0x8000, 0x7fff,
	};

	return random_bits() & 3 ? edges[random_bits() % (sizeof(edges) / sizeof(edges[0]))] : random_bits();
}

/* A stack with some values in it, any rounding and precision, no exception pending. */
static void random_before(bool is_masked)
{
	unsigned int i;

	__asm__ volatile("fninit; fxsave64 (%0)" : : "r"(&before) : "memory");
	before.control = (uint16_t)((is_masked ? 0x3f : 0) | (random_bits() & 0xf00));
	if ((before.control & 0x300) == 0x100)
		before.control |= 0x300;
	before.status = (uint16_t)(random_bits() & 0x7f00);
	if (is_masked)
		before.status |= (uint16_t)(random_bits() & 0x3f);
	before.tags = (uint8_t)(random_bits() | random_bits());
	for (i = 0; i < 8; i++) {
		long double value = (long double)(int64_t)random_bits() * (random_bits() & 1 ? 1e-12L : 1e300L);

		memcpy(before.stack[i], &value, 10);
	}
}

static void fill_memory(void)
{
	unsigned int i;

	for (i = 0; i < PAGE; i += 8) {
		uint64_t value = random_operand();

		memcpy(bus.memory + i, &value, 8);
	}
}

static void run_trapped(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction old;

	trap_result = 1;
	bus.loads = bus.stores = 0;
	mprotect(data, PAGE, PROT_NONE);
	sigaction(SIGSEGV, &action, &old);
	run();
	sigaction(SIGSEGV, &old, NULL);
	mprotect(data, PAGE, PROT_READ | PROT_WRITE);
}

static void compare(uint8_t opcode, unsigned int reg, const struct image *plain)
{
	if (after.control != plain->control || after.status != plain->status || after.tags != plain->tags)
		fail_msg("%02x /%u: control, status, tags are %x %x %x, the processor makes them %x %x %x", opcode,
			 reg, after.control, after.status, after.tags, plain->control, plain->status,
			 plain->tags);
	if (memcmp(after.stack, plain->stack, sizeof(after.stack)))
		fail_msg("%02x /%u: the stack differs", opcode, reg);
	if (memcmp(after.vectors_control, plain->vectors_control, 4) || memcmp(after.rest, plain->rest, 256))
		fail_msg("%02x /%u: MXCSR or a vector register differs", opcode, reg);
	if (memcmp(bus.memory, data, PAGE))
		fail_msg("%02x /%u: memory differs", opcode, reg);
}

/* Environments, 10 bytes, and encodings of no instruction. */
static bool is_left_out(uint8_t opcode, unsigned int reg)
{
	switch (opcode) {
	case 0xd9:
		return reg == 1 || reg > 3;
	case 0xdb: case 0xdd:
		return reg > 3;
	case 0xdf:
		return reg == 4 || reg == 6;
	}
	return false;
}

static void check(uint8_t opcode, unsigned int reg)
{
	struct image plain;

	fill_memory();
	random_before(true);
	if (absent) {
		__asm__ volatile("fninit; fxsave64 (%0)" : : "r"(&before) : "memory");
		memset(before.stack, 0, sizeof(before.stack));
	}
	memcpy(data, bus.memory, PAGE);
	run();
	plain = after;
	run_trapped();
	if (trap_result)
		fail_msg("%02x /%u: result %d", opcode, reg, trap_result);
	assert_int_equal(bus.loads + bus.stores, 1);
	compare(opcode, reg, &plain);
}

static void check_all(unsigned int rounds)
{
	unsigned int opcode, reg, i;

	for (opcode = 0xd8; opcode <= 0xdf; opcode++) {
		for (reg = 0; reg < 8; reg++) {
			if (is_left_out((uint8_t)opcode, reg))
				continue;
			write_code((uint8_t)opcode, reg);
			for (i = 0; i < rounds; i++)
				check((uint8_t)opcode, reg);
		}
	}
}

static void each_form_matches_the_processor(void **unused)
{
	(void)unused;
	absent = false;
	check_all(200);
}

static void state_that_the_frame_leaves_out_is_the_initial_one(void **unused)
{
	(void)unused;
	absent = true;
	check_all(4);
	absent = false;
}

/* 1/3 is no number of 4 bytes: with that exception not masked the store's effect is unknown. */
static void a_store_with_an_exception_that_is_not_masked_is_refused(void **unused)
{
	const long double third = 1.0L / 3;

	(void)unused;
	fill_memory();
	random_before(false);
	before.status = 0;
	before.tags = 0xff;
	memcpy(before.stack[0], &third, 10);
	memcpy(data, bus.memory, PAGE);
	write_code(0xd9, 2);
	run_trapped();
	assert_int_equal(trap_result, -EOPNOTSUPP);
	assert_int_equal(bus.stores, 0);
	assert_memory_equal(bus.memory, data, PAGE);
	assert_int_equal(after.status, before.status);
}

static int set_up_pages(void **unused)
{
	(void)unused;
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	data = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code == MAP_FAILED || data == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_matches_the_processor),
		cmocka_unit_test(state_that_the_frame_leaves_out_is_the_initial_one),
		cmocka_unit_test(a_store_with_an_exception_that_is_not_masked_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up_pages, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
