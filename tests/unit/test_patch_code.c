/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trampolines against the processor. Each form of instruction runs from the same registers as it
 * is, and through its trampoline: on memory, on a device that the call of the trampoline
 * reaches, and where the call declines. Registers, flags, vectors and memory must be the same after all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "libmimic/preload/patch.h"

#if defined(__x86_64__)

#include "tests/unit/instruction_forms.h"
#include "tests/unit/run_code.h"

#define PAGE 4096u
/* Low and fixed, so that absolute addresses reach it. */
#define CODE ((uint8_t *)0x20000000)
#define DATA ((uint8_t *)0x20001000)
#define PLACE 0x300u	/* of the trampoline, in CODE */
#define FLAGS_ARITHMETIC 0x8d5u
#define FLAG_AF 0x10u
#define FLAG_DF 0x400u

FORMS(direction);
FORM(direction, "mov (%rdi), %eax");
FORM(direction, "mov %eax, (%rdi)");
FORM(direction, "cmp %ecx, (%rdi)");

/* --- the device: another page, and a call that tramples on all that it may ------------ */

static struct {
	uint8_t memory[PAGE];
	bool declines;
	bool uses_vectors;
	bool is_called; /* by the stub; or the first half of the access does it all */
	uintptr_t address;
	unsigned int calls;
} device;

static void trample_vectors(void)
{
	static const uint32_t odd_control = 0x7f80;	/* rounds towards 0 */

	__asm__ volatile("ldmxcsr %0" : : "m"(odd_control));
	if (run_vectors == 2)
		__asm__ volatile(
			".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
			"vpternlogd $0xff, %%zmm\\n, %%zmm\\n, %%zmm\\n\n.endr\n"
			".irp n,0,1,2,3,4,5,6,7\nkxnorq %%k\\n, %%k\\n, %%k\\n\n.endr\n" ::: "memory");
	else
		__asm__ volatile("vzeroall" ::: "memory");
}

#define GENERAL_ONLY __attribute__((target("general-regs-only")))

static GENERAL_ONLY void trample_general(void)
{
	__asm__ volatile("xor %%eax, %%eax\nmov %%rax, %%rcx\nmov %%rax, %%rdx\nmov %%rax, %%rsi\nmov %%rax, %%rdi\n"
			 "mov %%rax, %%r8\nmov %%rax, %%r9\nmov %%rax, %%r10\nmov %%rax, %%r11\nstc\n"
			 ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
}

static GENERAL_ONLY void access_memory(struct mimic_access *access, unsigned int size)
{
	volatile uint8_t *memory = device.memory + (device.address - (uintptr_t)DATA);
	unsigned int i;

	for (i = 0; access->is_write && i < size; i++)
		memory[i] = (uint8_t)(access->data >> 8 * i);
	if (access->is_write)
		return;
	access->data = 0;
	for (i = 0; i < size; i++)
		access->data |= (uint64_t)memory[i] << 8 * i;
}

static GENERAL_ONLY void trample(void)
{
	if (device.uses_vectors) {
		mimic_vectors_keep();
		trample_vectors();
	}
	trample_general();
}

/* All that the instruction does but for the access. */
static GENERAL_ONLY void complete(const struct patch_site *site, struct patch_frame *frame)
{
	const struct mimic_instruction *instruction = &site->target.instruction;
	unsigned int reg = instruction->operand == MIMIC_OPERAND_GENERAL ? instruction->reg : 0;
	struct mimic_registers registers = { .flags = frame->flags };

	registers.gpr[reg] = frame->gpr[reg];
	if (!instruction->is_write)
		mimic_operate_load(instruction, &registers, frame->access.data);
	frame->gpr[reg] = registers.gpr[reg];
	frame->flags = registers.flags;
	frame->progress = PATCH_DONE;
}

static GENERAL_ONLY int access_of_call(struct mimic_device *asked, struct mimic_access *access)
{
	device.calls += asked == (struct mimic_device *)&device;
	if (!device.declines)
		access_memory(access, access->size);
	trample();
	return device.declines ? -5 : 0;
}

GENERAL_ONLY struct patch_call mimic_preload_patch_begin_access(struct patch_site *site,
								struct patch_frame *frame, uintptr_t address)
{
	const struct mimic_instruction *instruction = &site->target.instruction;
	unsigned int reg = instruction->operand == MIMIC_OPERAND_GENERAL ? instruction->reg : 0;
	struct mimic_registers registers = { .flags = frame->flags };
	struct patch_call call = { NULL, NULL };

	registers.gpr[reg] = frame->gpr[reg];
	device.address = address;
	frame->access =
		(struct mimic_access){ .size = instruction->memory_size, .is_write = instruction->is_write };
	if (instruction->is_write)
		frame->access.data = mimic_operate_store_value(instruction, &registers);
	if (device.is_called) {
		call = (struct patch_call){ access_of_call, (struct mimic_device *)&device };
		trample_general();
		return call;
	}
	device.calls += frame->progress == PATCH_BEGUN;
	if (!device.declines) {
		access_memory(&frame->access, instruction->memory_size);
		complete(site, frame);
	}
	trample();
	return call;
}

GENERAL_ONLY void mimic_preload_patch_end_access(struct patch_site *site, struct patch_frame *frame,
						 struct mimic_device *asked, int error)
{
	device.calls += asked != (struct mimic_device *)&device || frame->progress != PATCH_BEGUN;
	if (!error)
		complete(site, frame);
	trample_general();
}

/* --- states to start from --------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

static void random_start(struct cpu *cpu, const uint8_t *address)
{
	uint64_t value;
	unsigned int i;

	memset(cpu, 0, sizeof(*cpu));
	for (i = 0; i < 16; i++)
		cpu->gpr[i] = random_bits();
	cpu->flags = (random_bits() & FLAGS_ARITHMETIC) | 2;
	cpu->gpr[RDI] = cpu->gpr[R12] = cpu->gpr[R13] = (uintptr_t)address;
	cpu->gpr[RSI] = random_bits() % 128 - 64;
	for (i = 0; i < PAGE; i += 8) {
		value = random_bits();
		memcpy(device.memory + i, &value, 8);
	}
	for (i = 0; i < sizeof(cpu->vector); i += 8) {
		value = random_bits();
		memcpy((uint8_t *)cpu->vector + i, &value, 8);
	}
}

/* --- the comparison ----------------------------------------------------------------------- */

static struct patch_site site;

static void jump_to_end(uint8_t *place)
{
	/* jmp *0(%rip) and the address behind it */
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	void (*end)(void) = run_end;

	memcpy(place, jump, sizeof(jump));
	memcpy(place + sizeof(jump), &end, sizeof(end));
}

static bool prepare(const struct form *form, bool is_device)
{
	/* Two pages, of which DATA is one: the address decides. */
	struct patch_block block = { .shift = 12, .key = (uintptr_t)DATA >> 12 };
	size_t length = (size_t)(form->end - form->start);
	uint8_t code[PATCH_CODE_MAX];

	memset(&site, 0, sizeof(site));
	memcpy(site.target.bytes, form->start, length);
	site.target.address = (uintptr_t)CODE;
	assert_int_equal(mimic_decode(form->start, length, &site.target.instruction), 0);
	if (mimic_preload_patch_form(&site.target.instruction))
		return false;
	memcpy(CODE, form->start, length);
	jump_to_end(CODE + length);
	if (!is_device)
		block.key++;
	assert_true(mimic_preload_patch_code(&site.target, (uintptr_t)CODE + PLACE, block,
					     (uintptr_t)mimic_preload_patch_enter, (uintptr_t)&site, code));
	memcpy(CODE + PLACE, code, sizeof(code));
	return true;
}

static void compare(const struct form *form, const char *where, const struct cpu *through, const struct cpu *plain,
		    uint64_t flags)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		if (through->gpr[i] != plain->gpr[i])
			fail_msg("%s, %s: register %u is %#llx, the processor makes it %#llx", form->text, where, i,
				 (unsigned long long)through->gpr[i], (unsigned long long)plain->gpr[i]);
	if ((through->flags ^ plain->flags) & flags)
		fail_msg("%s, %s: flags are %#llx, the processor makes them %#llx", form->text, where,
			 (unsigned long long)through->flags, (unsigned long long)plain->flags);
	for (i = 0; i < 32; i++)
		if (memcmp(through->vector[i], plain->vector[i], 64))
			fail_msg("%s, %s: vector register %u differs", form->text, where, i);
}

enum way { MEMORY, DEVICE, DECLINED };

static void check_once(const struct form *form, enum way way, uint64_t flags, uint64_t extra_flags)
{
	static const char *const names[] = { "memory", "device", "declined" };
	uint32_t control = 0x5f80, after = 0;	/* rounds up */
	uint64_t mask = random_bits(), mask_after = mask;
	struct cpu start, plain, through;
	uint8_t before[PAGE];

	random_start(&start, DATA + 0x800 + random_bits() % 24);
	start.flags |= extra_flags;
	memcpy(before, device.memory, PAGE);
	memcpy(DATA, before, PAGE);
	plain = through = start;
	run_code(&plain, CODE);
	if (way == DECLINED || way == MEMORY) {
		memcpy(device.memory, DATA, PAGE);	/* the expected bytes */
		memcpy(DATA, before, PAGE);
	}
	device.declines = way == DECLINED;
	device.uses_vectors = random_bits() & 1;
	device.is_called = random_bits() & 1;
	device.calls = 0;
	__asm__ volatile("ldmxcsr %0" : : "m"(control));
	if (run_vectors == 2)
		__asm__ volatile("kmovq %0, %%k3" : : "r"(mask));
	run_code(&through, CODE + PLACE);
	if (run_vectors == 2)
		__asm__ volatile("kmovq %%k3, %0" : "=r"(mask_after));
	assert_int_equal(mask_after, mask);
	__asm__ volatile("stmxcsr %0" : "=m"(after));
	assert_int_equal(after, control);
	assert_int_equal(device.calls, way != MEMORY);
	compare(form, names[way], &through, &plain, flags);
	if (memcmp(device.memory, DATA, PAGE))
		fail_msg("%s, %s: memory differs", form->text, names[way]);
}

static void check_forms(const struct form *form, const struct form *end, uint64_t flags, uint64_t extra_flags)
{
	unsigned int tried = 0;
	enum way way;
	unsigned int i;

	for (; form < end; form++) {
		for (way = MEMORY; way <= DECLINED; way++) {
			if (!prepare(form, way != MEMORY))
				continue;
			for (i = 0; i < 40; i++)
				check_once(form, way, flags | extra_flags, extra_flags);
			tried++;
		}
	}
	assert_true(tried > 0);
}

#define CHECK(list) check_forms(__start_##list, __stop_##list, FLAGS_ARITHMETIC, 0)

static void loads_are_as_without_a_trampoline(void **unused)
{
	(void)unused;
	CHECK(general_loads);
	CHECK(extending_loads);
}

static void stores_are_as_without_a_trampoline(void **unused)
{
	(void)unused;
	CHECK(general_stores);
}

static void byte_swapping_moves_are_as_without_a_trampoline(void **unused)
{
	(void)unused;
	CHECK(swapping);
}

static void every_form_of_address_is_as_without_a_trampoline(void **unused)
{
	(void)unused;
	CHECK(addressing);
}

static void folded_operations_are_as_without_a_trampoline(void **unused)
{
	(void)unused;
	CHECK(arithmetic);
	/* Logic leaves AF undefined. */
	check_forms(__start_logic, __stop_logic, FLAGS_ARITHMETIC & ~FLAG_AF, 0);
}

static void the_direction_flag_is_the_programs(void **unused)
{
	(void)unused;
	check_forms(__start_direction, __stop_direction, FLAGS_ARITHMETIC, FLAG_DF);
}

/* As in a handler that the library does not know of. */
static void an_access_that_interrupts_another_one_is_left_to_the_trap(void **unused)
{
	static struct mimic_vectors outer;
	struct cpu start;

	(void)unused;
	assert_true(prepare(__start_direction, true));
	random_start(&start, DATA + 0x800);
	memcpy(DATA, device.memory, PAGE);
	device = (typeof(device)){ .is_called = true };
	mimic_vectors_place = &outer;
	run_code(&start, CODE + PLACE);
	assert_ptr_equal(mimic_vectors_place, &outer);
	mimic_vectors_place = NULL;
	assert_int_equal(device.calls, 0);
	assert_int_equal((uint32_t)start.gpr[0], *(uint32_t *)(DATA + 0x800));
}

static int map_pages(void **unused)
{
	(void)unused;
	if (mmap(CODE, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != CODE)
		return -1;
	run_vectors = mimic_vectors_in_use;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_as_without_a_trampoline),
		cmocka_unit_test(stores_are_as_without_a_trampoline),
		cmocka_unit_test(byte_swapping_moves_are_as_without_a_trampoline),
		cmocka_unit_test(every_form_of_address_is_as_without_a_trampoline),
		cmocka_unit_test(folded_operations_are_as_without_a_trampoline),
		cmocka_unit_test(the_direction_flag_is_the_programs),
		cmocka_unit_test(an_access_that_interrupts_another_one_is_left_to_the_trap),
	};

	if (!mimic_vectors_start()) {
		printf("1..0 # SKIP the processor has no BMI2\n");
		return 0;
	}
	return cmocka_run_group_tests_name("trampolines", tests, map_pages, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
