/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trapped accesses against the processor. Each form of instruction runs twice
 * from the same registers at the same address: once on plain memory, once on a
 * page without access rights, where the SIGSEGV handler emulates it. Registers,
 * flags and memory must be the same after both.
 */
#include <cpuid.h>
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
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "libmimic/base/emulate.h"

#if defined(__x86_64__)

#include <asm/prctl.h>

#include "tests/unit/instruction_forms.h"
#include "tests/unit/run_code.h"

#define PAGE 4096u
/* Low and fixed, so that 32-bit addressing and absolute addresses reach it. */
#define CODE ((uint8_t *)0x20000000)
#define DATA ((uint8_t *)0x20001000)

#define FLAGS_ARITHMETIC 0x8d5u
#define FLAG_AF 0x10u
#define FLAG_RF 0x10000u

/* --- the bus and the handler --------------------------------------------- */

static struct {
	uint8_t memory[PAGE];
	int error;		/* the bus's answer */
	int store_error;	/* ... to a store */
	unsigned int accesses;
	uintptr_t next;		/* the least address that the next piece may have */
	bool is_writing;	/* an update's store begins anew */
	bool disorder;		/* a piece was unaligned or came out of order */
	unsigned int sizes[70];
} bus;

static struct {
	unsigned int count;
	int result;		/* of mimic_emulate() */
	bool poison;		/* fill absent components of the frame with garbage */
	bool changed;		/* registers differ after a failure */
	bool resume_flag;
	uintptr_t rip;		/* after a success */
	char text[64];
} trap;

static int access_bus(void *context, uintptr_t address, unsigned int size, bool is_write,
		      uint64_t *data)
{
	uintptr_t offset = address - (uintptr_t)DATA;

	if (is_write && !bus.is_writing)
		bus.next = 0;
	/* No load comes after a store. */
	if (bus.is_writing && !is_write)
		bus.disorder = true;
	bus.is_writing = is_write;
	if (context != &bus || offset > PAGE - size || address % size || address < bus.next ||
	    (is_write && size < 8 && *data >> (8 * size))) {
		bus.disorder = true;
		return -EFAULT;
	}
	if (bus.error)
		return bus.error;
	if (is_write && bus.store_error)
		return bus.store_error;
	bus.next = address + size;
	bus.sizes[bus.accesses++ % 70] = size;
	if (is_write)
		memcpy(bus.memory + offset, data, size);
	else
		memcpy(data, bus.memory + offset, size);
	return 0;
}

/* Bytes of a component that XSTATE_BV leaves out mean nothing; the kernel leaves any there. */
static void poison_absent(uint8_t *frame)
{
	unsigned int component, size, offset, ecx, edx;
	uint64_t present;

	memcpy(&present, frame + 512, sizeof(present));
	for (component = 2; component <= 7; component += component == 2 ? 4 : 1) {
		if (present >> component & 1)
			continue;
		__cpuid_count(0xd, component, size, offset, ecx, edx);
		memset(frame + offset, 0xa5, size);
	}
}

static void on_fault(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	mcontext_t before = context->uc_mcontext;

	(void)number;
	(void)info;
	trap.count++;
	if (trap.poison)
		poison_absent((uint8_t *)context->uc_mcontext.fpregs);
	mimic_instruction_text(context, trap.text, sizeof(trap.text));
	trap.result = mimic_emulate(context, access_bus, &bus);
	trap.rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	trap.changed = memcmp(&before.gregs, &context->uc_mcontext.gregs, sizeof(before.gregs));
	trap.resume_flag = context->uc_mcontext.gregs[REG_EFL] & FLAG_RF;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)run_end;
}

static void protect_data(int protection)
{
	assert_int_equal(mprotect(DATA, PAGE, protection), 0);
}

static void run_trapped(struct cpu *cpu, const uint8_t *code)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction before;
	bool poison = trap.poison;

	memset(&trap, 0, sizeof(trap));
	trap.poison = poison;
	bus.accesses = 0;
	bus.next = 0;
	bus.is_writing = false;
	bus.disorder = false;
	protect_data(PROT_NONE);
	/* cmocka has handlers of its own around each test. */
	sigaction(SIGSEGV, &action, &before);
	run_code(cpu, code);
	sigaction(SIGSEGV, &before, NULL);
	protect_data(PROT_READ | PROT_WRITE);
}

/* --- states to start from ------------------------------------------------ */

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

/* Often one at which flags change. */
static uint64_t random_value(void)
{
	static const uint64_t edges[] = {
		0, 1, ~0ull, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000,
		INT64_MAX, (uint64_t)INT64_MIN, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f,
	};
	uint64_t bits = random_bits();

	return bits & 1 ? edges[(bits >> 8) % (sizeof(edges) / sizeof(edges[0]))] : random_bits();
}

static uint64_t fs_base(void)
{
	uint64_t base = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
	return base;
}

static void random_start(struct cpu *cpu, uint8_t *memory, const uint8_t *address)
{
	uint64_t value;
	unsigned int i;

	memset(cpu, 0, sizeof(*cpu));
	for (i = 0; i < 16; i++)
		cpu->gpr[i] = random_value();
	cpu->flags = (random_bits() & FLAGS_ARITHMETIC) | 2;
	cpu->gpr[RDI] = cpu->gpr[R12] = cpu->gpr[R13] = (uintptr_t)address;
	cpu->gpr[R8] = (uintptr_t)address - fs_base();
	cpu->gpr[R9] = (uintptr_t)address | random_bits() << 32;
	cpu->gpr[RSI] = random_bits() % 128 - 64;
	for (i = 0; i < PAGE; i += 8) {
		value = random_value();
		memcpy(memory + i, &value, 8);
	}
	if (run_initial)
		return;
	for (i = 0; i < sizeof(cpu->vector); i += 8) {
		value = random_bits();
		memcpy((uint8_t *)cpu->vector + i, &value, 8);
	}
}

/* --- the comparison ------------------------------------------------------ */

static void write_code(uint8_t *place, const struct form *form)
{
	/* jmp *0(%rip) and the address behind it */
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	size_t length = (size_t)(form->end - form->start);
	void (*end)(void) = run_end;

	memcpy(place, form->start, length);
	memcpy(place + length, jump, sizeof(jump));
	memcpy(place + length + sizeof(jump), &end, sizeof(end));
}

static void compare_cpus(const struct form *form, const struct cpu *trapped,
			 const struct cpu *plain, uint64_t flags)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (trapped->gpr[i] != plain->gpr[i])
			fail_msg("%s: register %u is %#llx, the processor makes it %#llx",
				 form->text, i, (unsigned long long)trapped->gpr[i],
				 (unsigned long long)plain->gpr[i]);
	}
	if ((trapped->flags ^ plain->flags) & flags)
		fail_msg("%s: flags are %#llx, the processor makes them %#llx", form->text,
			 (unsigned long long)trapped->flags, (unsigned long long)plain->flags);
	for (i = 0; i < 32; i++) {
		if (memcmp(trapped->vector[i], plain->vector[i], 64))
			fail_msg("%s: vector register %u differs", form->text, i);
	}
}

static void check_once(const struct form *form, const uint8_t *address, uint64_t flags)
{
	struct cpu start, plain, trapped;

	random_start(&start, bus.memory, address);
	memcpy(DATA, bus.memory, PAGE);
	plain = trapped = start;
	run_code(&plain, CODE);

	run_trapped(&trapped, CODE);
	if (trap.count != 1 || trap.result)
		fail_msg("%s: %u traps, result %d", form->text, trap.count, trap.result);
	if (bus.disorder)
		fail_msg("%s: a bus access is unaligned or out of order", form->text);
	assert_ptr_equal(trap.rip, CODE + (form->end - form->start));
	compare_cpus(form, &trapped, &plain, flags);
	if (memcmp(bus.memory, DATA, PAGE))
		fail_msg("%s: memory differs", form->text);
}

static void check_forms(const struct form *form, const struct form *end, bool aligned,
			uint64_t flags)
{
	unsigned int i;

	for (; form < end; form++) {
		write_code(CODE, form);
		for (i = 0; i < 64; i++)
			check_once(form, DATA + 0x800 + (aligned ? i * 64 % 512 : i % 24), flags);
	}
}

#define CHECK(list, aligned) \
	check_forms(__start_##list, __stop_##list, aligned, FLAGS_ARITHMETIC)

static bool has_movbe(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_MOVBE);
}

static bool has_avx512_half(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __builtin_cpu_supports("avx512vl") &&
	       __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & (1u << 23));
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

static void loads_of_general_registers_match_the_processor(void **unused)
{
	(void)unused;
	CHECK(general_loads, false);
}

static void extending_loads_match_the_processor(void **unused)
{
	(void)unused;
	CHECK(extending_loads, false);
}

static void stores_of_registers_and_immediates_match_the_processor(void **unused)
{
	(void)unused;
	CHECK(general_stores, false);
}

static void byte_swapping_moves_match_the_processor(void **unused)
{
	(void)unused;
	if (!has_movbe())
		skip();
	CHECK(swapping, false);
}

static void every_form_of_addressing_matches_the_processor(void **unused)
{
	(void)unused;
	CHECK(addressing, false);
}

static void folded_arithmetic_matches_the_processor(void **unused)
{
	(void)unused;
	CHECK(arithmetic, false);
}

static void folded_logic_matches_the_processor(void **unused)
{
	(void)unused;
	/* Logic leaves AF undefined. */
	check_forms(__start_logic, __stop_logic, false, FLAGS_ARITHMETIC & ~FLAG_AF);
}

static void updates_of_memory_match_the_processor(void **unused)
{
	(void)unused;
	CHECK(updates, false);
	check_forms(__start_logic_updates, __stop_logic_updates, false, FLAGS_ARITHMETIC & ~FLAG_AF);
}

static void sse_moves_match_the_processor(void **unused)
{
	(void)unused;
	CHECK(sse, false);
	CHECK(sse_aligned, true);
	if (__builtin_cpu_supports("sse4.1"))
		CHECK(sse41_aligned, true);
}

static void avx_moves_match_the_processor(void **unused)
{
	(void)unused;
	if (!__builtin_cpu_supports("avx"))
		skip();
	run_vectors = 1;
	CHECK(avx, false);
	CHECK(avx_aligned, true);
}

static void avx512_moves_match_the_processor(void **unused)
{
	(void)unused;
	if (!has_avx512())
		skip();
	run_vectors = 2;
	CHECK(avx512, false);
	CHECK(avx512_aligned, true);
	CHECK(avx, false);
}

static void half_precision_moves_match_the_processor(void **unused)
{
	(void)unused;
	if (!has_avx512_half())
		skip();
	run_vectors = 2;
	CHECK(avx512_half, false);
}

static void vector_state_that_the_frame_leaves_out_counts_as_zero(void **unused)
{
	(void)unused;
	if (!__builtin_cpu_supports("avx"))
		skip();
	run_initial = 1;
	trap.poison = true;
	run_vectors = 1;
	CHECK(sse, false);
	CHECK(avx, false);
	if (!has_avx512())
		return;
	run_vectors = 2;
	CHECK(avx512, false);
}

/* --- pieces, edges and errors -------------------------------------------- */

#define BYTES(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

static void run_bytes(struct cpu *cpu, uint8_t *place, const uint8_t *bytes, size_t length,
		      const uint8_t *address)
{
	random_start(cpu, bus.memory, address);
	memcpy(place, bytes, length);
	run_trapped(cpu, place);
}

static void assert_pieces(const uint8_t *address, const uint8_t *bytes, size_t length,
			  const unsigned int *sizes, unsigned int count)
{
	struct cpu cpu;
	unsigned int i;

	run_bytes(&cpu, CODE, bytes, length, address);
	assert_int_equal(trap.result, 0);
	assert_int_equal(bus.accesses, count);
	for (i = 0; i < count; i++)
		assert_int_equal(bus.sizes[i], sizes[i]);
}

static void an_aligned_access_is_one_bus_access(void **unused)
{
	(void)unused;
	assert_pieces(DATA + 8, BYTES(0x48, 0x8b, 0x07), (const unsigned int[]){ 8 }, 1);
	assert_pieces(DATA + 4, BYTES(0x89, 0x07), (const unsigned int[]){ 4 }, 1);
	assert_pieces(DATA + 6, BYTES(0x66, 0x89, 0x07), (const unsigned int[]){ 2 }, 1);
	assert_pieces(DATA + 7, BYTES(0x88, 0x07), (const unsigned int[]){ 1 }, 1);
}

static void an_unaligned_access_is_split_into_aligned_pieces(void **unused)
{
	(void)unused;
	assert_pieces(DATA + 4, BYTES(0x48, 0x8b, 0x07), (const unsigned int[]){ 4, 4 }, 2);
	assert_pieces(DATA + 6, BYTES(0x8b, 0x07), (const unsigned int[]){ 2, 2 }, 2);
	assert_pieces(DATA + 5, BYTES(0x48, 0x89, 0x07), (const unsigned int[]){ 1, 2, 4, 1 }, 4);
	assert_pieces(DATA + 1, BYTES(0x66, 0x8b, 0x07), (const unsigned int[]){ 1, 1 }, 2);
}

static void a_vector_access_is_split_into_pieces_of_eight_bytes(void **unused)
{
	(void)unused;
	assert_pieces(DATA + 16, BYTES(0x0f, 0x10, 0x07), (const unsigned int[]){ 8, 8 }, 2);
	assert_pieces(DATA + 20, BYTES(0x0f, 0x11, 0x07), (const unsigned int[]){ 4, 8, 4 }, 3);
}

static void an_update_is_a_load_and_then_a_store(void **unused)
{
	(void)unused;
	assert_pieces(DATA + 8, BYTES(0x48, 0x83, 0x07, 0x01), (const unsigned int[]){ 8, 8 }, 2);
	assert_pieces(DATA + 3, BYTES(0xfe, 0x07), (const unsigned int[]){ 1, 1 }, 2);
	assert_pieces(DATA + 6, BYTES(0x83, 0x0f, 0x01), (const unsigned int[]){ 2, 2, 2, 2 }, 4);
}

/* The bus takes loads, and refuses stores. */
static void a_refused_store_of_an_update_leaves_the_registers_alone(void **unused)
{
	struct cpu cpu, before;

	(void)unused;
	random_start(&before, bus.memory, DATA);
	cpu = before;
	memcpy(CODE, (const uint8_t[]){ 0x83, 0x07, 0x01 }, 3);	/* addl $1, (%rdi) */
	bus.store_error = -EIO;
	run_trapped(&cpu, CODE);
	bus.store_error = 0;
	assert_int_equal(trap.result, -EIO);
	assert_int_equal(bus.accesses, 1);
	assert_false(trap.changed);
}

static void an_instruction_that_locks_memory_is_refused_and_nothing_happens(void **unused)
{
	struct cpu cpu;

	(void)unused;
	run_bytes(&cpu, CODE, BYTES(0xf0, 0x83, 0x07, 0x01), DATA);	/* lock addl $1, (%rdi) */
	assert_int_equal(trap.result, -ENOLCK);
	assert_false(trap.changed);
	run_bytes(&cpu, CODE, BYTES(0x87, 0x07), DATA);			/* xchg %eax, (%rdi) */
	assert_int_equal(trap.result, -ENOLCK);
	assert_false(trap.changed);
	assert_int_equal(bus.accesses, 0);
}

static void a_refused_bus_access_leaves_the_registers_alone(void **unused)
{
	struct cpu cpu, before;

	(void)unused;
	bus.error = -EIO;
	random_start(&before, bus.memory, DATA);
	cpu = before;
	memcpy(CODE, (const uint8_t[]){ 0x48, 0x8b, 0x07 }, 3);
	run_trapped(&cpu, CODE);
	bus.error = 0;
	assert_int_equal(trap.result, -EIO);
	assert_false(trap.changed);
	assert_int_equal(cpu.gpr[RAX], before.gpr[RAX]);
}

static void an_error_halfway_through_a_vector_load_leaves_the_register_alone(void **unused)
{
	struct cpu cpu, before;

	(void)unused;
	/* The second half lies behind the page of the device: the bus refuses it. */
	random_start(&before, bus.memory, DATA + PAGE - 8);
	cpu = before;
	memcpy(CODE, (const uint8_t[]){ 0x0f, 0x10, 0x07 }, 3);
	run_trapped(&cpu, CODE);
	assert_int_equal(trap.result, -EFAULT);
	assert_int_equal(bus.accesses, 1);
	assert_memory_equal(cpu.vector[0], before.vector[0], 16);
}

static void an_instruction_that_is_no_plain_access_is_refused_and_nothing_happens(void **unused)
{
	struct cpu cpu;

	(void)unused;
	run_bytes(&cpu, CODE, BYTES(0xd3, 0x27), DATA);	/* shll %cl, (%rdi) */
	assert_int_equal(trap.result, -EOPNOTSUPP);
	assert_false(trap.changed);
	assert_int_equal(bus.accesses, 0);
}

static void an_instruction_may_end_where_its_page_ends(void **unused)
{
	struct cpu cpu;
	uint32_t expected;

	(void)unused;
	/* The page behind the code is DATA, which cannot be read while the access traps. */
	run_bytes(&cpu, CODE + PAGE - 2, BYTES(0x8b, 0x07), DATA + 0x100);
	memcpy(&expected, bus.memory + 0x100, 4);
	assert_int_equal(trap.result, 0);
	assert_int_equal(cpu.gpr[RAX], expected);
	assert_string_equal(trap.text, "8b 07");
}

static void an_instruction_may_go_on_in_the_next_page(void **unused)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t expected;
	unsigned int split;
	struct cpu cpu;

	(void)unused;
	assert_ptr_not_equal(pages, MAP_FAILED);
	for (split = 1; split < 7; split++) {
		/* mov 0x100(%rdi), %rax */
		run_bytes(&cpu, pages + PAGE - split, BYTES(0x48, 0x8b, 0x87, 0, 1, 0, 0), DATA);
		memcpy(&expected, bus.memory + 0x100, 8);
		assert_int_equal(trap.result, 0);
		assert_int_equal(cpu.gpr[RAX], expected);
		assert_string_equal(trap.text, "48 8b 87 00 01 00 00");
	}
	munmap(pages, 2 * PAGE);
}

static void a_jump_into_the_device_is_refused(void **unused)
{
	struct cpu cpu;

	(void)unused;
	random_start(&cpu, bus.memory, DATA);
	run_trapped(&cpu, DATA);
	assert_int_equal(trap.count, 1);
	assert_int_equal(trap.result, -EOPNOTSUPP);
	assert_string_equal(trap.text, "");
}

static void the_text_of_an_instruction_is_its_bytes_in_hex(void **unused)
{
	struct cpu cpu;

	(void)unused;
	run_bytes(&cpu, CODE, BYTES(0x66, 0xc7, 0x47, 0xfe, 0xcd, 0xab, 0x90), DATA + 8);
	assert_string_equal(trap.text, "66 c7 47 fe cd ab");
}

static void the_text_of_an_unknown_instruction_is_all_that_it_may_be(void **unused)
{
	struct cpu cpu;

	(void)unused;
	memset(CODE, 0x90, 16);
	run_bytes(&cpu, CODE, BYTES(0xf0, 0x83, 0x07, 0x01), DATA);
	assert_string_equal(trap.text, "f0 83 07 01 90 90 90 90 90 90 90 90 90 90 90");
	/* At the end of readable memory the text is shorter. */
	run_bytes(&cpu, CODE + PAGE - 4, BYTES(0xf0, 0x83, 0x07, 0x01), DATA);
	assert_string_equal(trap.text, "f0 83 07 01");
}

static void the_text_is_cut_to_the_space_that_is_there(void **unused)
{
	ucontext_t context;
	char text[8] = "1234567";

	(void)unused;
	memset(&context, 0, sizeof(context));
	memcpy(CODE, (const uint8_t[]){ 0x48, 0x8b, 0x07 }, 3);
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)CODE;
	assert_int_equal(mimic_instruction_text(&context, text, 0), 0);
	assert_string_equal(text, "1234567");
	assert_int_equal(mimic_instruction_text(&context, text, 1), 0);
	assert_string_equal(text, "");
	assert_int_equal(mimic_instruction_text(&context, text, 6), 5);
	assert_string_equal(text, "48 8b");
}

static void the_resume_flag_is_clear_after_the_step(void **unused)
{
	struct cpu cpu;

	(void)unused;
	run_bytes(&cpu, CODE, BYTES(0x8b, 0x07), DATA);
	assert_int_equal(trap.result, 0);
	assert_false(trap.resume_flag);
}

static int set_up_pages(void **unused)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	(void)unused;
	if (mmap(CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0) != CODE)
		return -1;
	if (mmap(DATA, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) != DATA)
		return -1;
	return 0;
}

static int start_plainly(void **unused)
{
	(void)unused;
	run_vectors = run_initial = 0;
	trap.poison = false;
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, start_plainly)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loads_of_general_registers_match_the_processor),
		TEST(extending_loads_match_the_processor),
		TEST(stores_of_registers_and_immediates_match_the_processor),
		TEST(byte_swapping_moves_match_the_processor),
		TEST(every_form_of_addressing_matches_the_processor),
		TEST(folded_arithmetic_matches_the_processor),
		TEST(folded_logic_matches_the_processor),
		TEST(updates_of_memory_match_the_processor),
		TEST(sse_moves_match_the_processor),
		TEST(avx_moves_match_the_processor),
		TEST(avx512_moves_match_the_processor),
		TEST(half_precision_moves_match_the_processor),
		TEST(vector_state_that_the_frame_leaves_out_counts_as_zero),
		TEST(an_aligned_access_is_one_bus_access),
		TEST(an_unaligned_access_is_split_into_aligned_pieces),
		TEST(a_vector_access_is_split_into_pieces_of_eight_bytes),
		TEST(an_update_is_a_load_and_then_a_store),
		TEST(a_refused_store_of_an_update_leaves_the_registers_alone),
		TEST(an_instruction_that_locks_memory_is_refused_and_nothing_happens),
		TEST(a_refused_bus_access_leaves_the_registers_alone),
		TEST(an_error_halfway_through_a_vector_load_leaves_the_register_alone),
		TEST(an_instruction_that_is_no_plain_access_is_refused_and_nothing_happens),
		TEST(an_instruction_may_end_where_its_page_ends),
		TEST(an_instruction_may_go_on_in_the_next_page),
		TEST(a_jump_into_the_device_is_refused),
		TEST(the_text_of_an_instruction_is_its_bytes_in_hex),
		TEST(the_text_of_an_unknown_instruction_is_all_that_it_may_be),
		TEST(the_text_is_cut_to_the_space_that_is_there),
		TEST(the_resume_flag_is_clear_after_the_step),
	};

	return cmocka_run_group_tests(tests, set_up_pages, NULL);
}

#else

static void emulation_is_refused_on_other_processors(void **unused)
{
	ucontext_t context;

	(void)unused;
	memset(&context, 0, sizeof(context));
	assert_int_equal(mimic_emulate(&context, NULL, NULL), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emulation_is_refused_on_other_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
