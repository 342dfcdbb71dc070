/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Instructions on a device page, each beside the same instruction on plain
 * memory: registers, flags and memory must come out the same.
 */
#include "kselftest_harness.h"

#include <cpuid.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/kselftest/lib/holder.h"

struct registers {
	uint64_t rax, rbx, rcx, rdx, rsi, r8, flags;
};

struct instruction {
	const char *text;
	void (*run)(struct registers *registers, volatile void *memory);
};

/* The address is in rdi. Below the red zone, which the compiler may be using. */
#define DEFINE(number, text) \
	static void run_##number(struct registers *registers, volatile void *memory) \
	{ \
		register uint64_t r8 __asm__("r8") = registers->r8; \
		register uint64_t flags __asm__("r12") = registers->flags; \
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushq %%r12\n\tpopfq\n\t" \
				 text \
				 "\n\tpushfq\n\tpopq %%r12\n\tcld\n\tlea 128(%%rsp), %%rsp" \
				 : "+a"(registers->rax), "+b"(registers->rbx), \
				   "+c"(registers->rcx), "+d"(registers->rdx), \
				   "+S"(registers->rsi), "+r"(r8), "+r"(flags) \
				 : "D"(memory) : "memory", "cc"); \
		registers->r8 = r8; \
		registers->flags = flags; \
	}
#define ENTRY(number, text) { text, run_##number },
#define GROUP(name, LIST) \
	LIST(DEFINE) \
	static const struct instruction name[] = { LIST(ENTRY) { NULL, NULL } };

#define LOADS(_) \
	_(load1, "movb (%%rdi), %%al") _(load2, "movb (%%rdi), %%dl") \
	_(load3, "movb (%%rdi), %%sil") _(load4, "movb (%%rdi), %%r8b") \
	_(load5, "movw (%%rdi), %%ax") _(load6, "movw (%%rdi), %%r8w") \
	_(load7, "movl (%%rdi), %%eax") _(load8, "movl (%%rdi), %%r8d") \
	_(load9, "movq (%%rdi), %%rax") _(load10, "movq (%%rdi), %%r8") \
	_(load11, "movq (%%rdi), %%rsi") _(load12, "movq (%%rdi), %%rbx")
GROUP(loads, LOADS)

#define HIGH_BYTES(_) \
	_(high1, "movb (%%rdi), %%ah") _(high2, "movb (%%rdi), %%bh") \
	_(high3, "movb (%%rdi), %%ch") _(high4, "movb (%%rdi), %%dh") \
	_(high5, "movb %%ah, (%%rdi)") _(high6, "movb %%bh, (%%rdi)") \
	_(high7, "movb %%ch, (%%rdi)") _(high8, "movb %%dh, (%%rdi)") \
	_(high9, "addb (%%rdi), %%ah") _(high10, "cmpb %%dh, (%%rdi)")
GROUP(high_bytes, HIGH_BYTES)

#define EXTENSIONS(_) \
	_(extend1, "movzbw (%%rdi), %%ax") _(extend2, "movzbl (%%rdi), %%eax") \
	_(extend3, "movzbq (%%rdi), %%rax") _(extend4, "movzwl (%%rdi), %%r8d") \
	_(extend5, "movzwq (%%rdi), %%r8") _(extend6, "movsbw (%%rdi), %%ax") \
	_(extend7, "movsbl (%%rdi), %%ecx") _(extend8, "movsbq (%%rdi), %%rcx") \
	_(extend9, "movswl (%%rdi), %%edx") _(extend10, "movswq (%%rdi), %%rdx") \
	_(extend11, "movslq (%%rdi), %%rax") _(extend12, "movslq (%%rdi), %%r8")
GROUP(extensions, EXTENSIONS)

#define STORES(_) \
	_(store1, "movb %%al, (%%rdi)") _(store2, "movb %%sil, (%%rdi)") \
	_(store3, "movb %%r8b, (%%rdi)") _(store4, "movw %%cx, (%%rdi)") \
	_(store5, "movl %%edx, (%%rdi)") _(store6, "movl %%r8d, (%%rdi)") \
	_(store7, "movq %%rax, (%%rdi)") _(store8, "movq %%r8, (%%rdi)") \
	_(store9, "movb $-5, (%%rdi)") _(store10, "movw $0x8001, (%%rdi)") \
	_(store11, "movl $0x87654321, (%%rdi)") _(store12, "movq $-559038737, (%%rdi)") \
	_(store13, "movnti %%eax, (%%rdi)") _(store14, "movnti %%r8, (%%rdi)")
GROUP(stores, STORES)

#define ARITHMETIC_OF(_, number, name) \
	_(number##1, name "b (%%rdi), %%al") _(number##2, name "w (%%rdi), %%cx") \
	_(number##3, name "l (%%rdi), %%edx") _(number##4, name "q (%%rdi), %%r8")
#define ARITHMETIC(_) \
	ARITHMETIC_OF(_, add, "add") ARITHMETIC_OF(_, or, "or") ARITHMETIC_OF(_, adc, "adc") \
	ARITHMETIC_OF(_, sbb, "sbb") ARITHMETIC_OF(_, and, "and") ARITHMETIC_OF(_, sub, "sub") \
	ARITHMETIC_OF(_, xor, "xor")
GROUP(arithmetic, ARITHMETIC)

/* To a bus a load, then a store. */
#define UPDATE_OF(_, number, name) \
	_(number##1, name "b %%al, (%%rdi)") _(number##2, name "w %%cx, (%%rdi)") \
	_(number##3, name "l %%edx, (%%rdi)") _(number##4, name "q %%r8, (%%rdi)") \
	_(number##5, name "b $-5, (%%rdi)") _(number##6, name "w $0x8001, (%%rdi)") \
	_(number##7, name "l $1, (%%rdi)") _(number##8, name "q $-2, (%%rdi)")
#define UPDATES(_) \
	UPDATE_OF(_, add_to, "add") UPDATE_OF(_, or_to, "or") UPDATE_OF(_, adc_to, "adc") \
	UPDATE_OF(_, sbb_to, "sbb") UPDATE_OF(_, and_to, "and") UPDATE_OF(_, sub_to, "sub") \
	UPDATE_OF(_, xor_to, "xor")
GROUP(updates, UPDATES)

#define UNARY_OF(_, number, name) \
	_(number##1, name "b (%%rdi)") _(number##2, name "w (%%rdi)") \
	_(number##3, name "l (%%rdi)") _(number##4, name "q (%%rdi)")
#define UNARY(_) \
	UNARY_OF(_, inc, "inc") UNARY_OF(_, dec, "dec") UNARY_OF(_, not, "not") UNARY_OF(_, neg, "neg")
GROUP(unary, UNARY)

#define COMPARISONS(_) \
	ARITHMETIC_OF(_, cmp, "cmp") \
	_(compare1, "cmpb %%al, (%%rdi)") _(compare2, "cmpw %%cx, (%%rdi)") \
	_(compare3, "cmpl %%edx, (%%rdi)") _(compare4, "cmpq %%r8, (%%rdi)") \
	_(compare5, "cmpb $0x80, (%%rdi)") _(compare6, "cmpw $0x1234, (%%rdi)") \
	_(compare7, "cmpl $-1, (%%rdi)") _(compare8, "cmpq $-1, (%%rdi)") \
	_(compare9, "cmpq $0x12345678, (%%rdi)") _(compare10, "testb %%al, (%%rdi)") \
	_(compare11, "testw %%cx, (%%rdi)") _(compare12, "testl %%edx, (%%rdi)") \
	_(compare13, "testq %%r8, (%%rdi)") _(compare14, "testb $1, (%%rdi)") \
	_(compare15, "testw $0x8000, (%%rdi)") _(compare16, "testl $0xff00, (%%rdi)") \
	_(compare17, "testq $-2, (%%rdi)")
GROUP(comparisons, COMPARISONS)

#define SWAPS(_) \
	_(swap1, "movbe (%%rdi), %%ax") _(swap2, "movbe (%%rdi), %%ecx") \
	_(swap3, "movbe (%%rdi), %%r8") _(swap4, "movbe %%ax, (%%rdi)") \
	_(swap5, "movbe %%edx, (%%rdi)") _(swap6, "movbe %%rbx, (%%rdi)")
GROUP(swaps, SWAPS)

#define ADDRESSES(_) \
	_(address1, "leaq -16(%%rdi), %%rsi\n\tmovl 16(%%rsi), %%eax\n\txorl %%esi, %%esi") \
	_(address2, "leaq 4096(%%rdi), %%rsi\n\tmovl -4096(%%rsi), %%eax\n\txorl %%esi, %%esi") \
	_(address3, "movq $3, %%rsi\n\tmovq %%rdi, %%r8\n\tsubq $24, %%r8\n\t" \
		    "movl (%%r8,%%rsi,8), %%eax\n\txorl %%r8d, %%r8d") \
	_(address4, "movq %%rdi, %%rsi\n\tshrq $1, %%rsi\n\tmovl (,%%rsi,2), %%eax\n\txorl %%esi, %%esi") \
	_(address5, "movq $-2, %%rsi\n\tmovw %%cx, 4(%%rdi,%%rsi,2)") \
	_(address6, "pushq %%rbp\n\tmovq %%rdi, %%rbp\n\tmovl (%%rbp), %%eax\n\tpopq %%rbp") \
	_(address7, "pushq %%r13\n\tmovq %%rdi, %%r13\n\tmovl (%%r13), %%eax\n\tpopq %%r13") \
	_(address8, "movq %%rsp, %%r8\n\tmovq %%rdi, %%rsp\n\tmovl (%%rsp), %%eax\n\t" \
		    "movq %%r8, %%rsp\n\txorl %%r8d, %%r8d") \
	_(address9, "movq %%rdi, %%rsi\n\tmovq (%%rsi), %%rsi\n\tmovq %%rsi, %%rax") \
	_(address10, ".byte 0x3e\n\tmovl (%%rdi), %%eax")
GROUP(addresses, ADDRESSES)

static const uint64_t patterns[] = {
	0, 1, 0x80, 0x7fff, 0x80000000, 0x8000000000000000, 0xffffffffffffffff,
	0x0123456789abcdef, 0xfedcba9876543210, 0x7f80ff0080017ffe,
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))
#define CARRY 1u
#define ADJUST 0x10u

FIXTURE(trap)
{
	struct holder holder;
	volatile uint64_t *reg;		/* on the device */
	uint64_t *its_memory;		/* the daemon's, of it */
};

FIXTURE_SETUP(trap)
{
	struct fake_options options = { .channel = FAKE_SPINNING };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->reg = holder_register(&self->holder, 3, 0x800);
	self->its_memory = &self->holder.control->memory[3][0x100];
}

FIXTURE_TEARDOWN(trap)
{
	holder_stop(&self->holder);
}

/* The adjust flag after and, or, xor and test is undefined. */
static bool leaves_adjust_undefined(const char *text)
{
	return !strncmp(text, "and", 3) || !strncmp(text, "or", 2) || !strncmp(text, "xor", 3) ||
	       !strncmp(text, "test", 4);
}

static bool same(const struct instruction *instruction, volatile uint64_t *reg, uint64_t *its_memory,
		 unsigned int round)
{
	uint64_t plain __attribute__((aligned(8))) = patterns[round % PATTERNS];
	struct registers wanted = {
		.rax = patterns[(round + 3) % PATTERNS], .rbx = patterns[(round + 7) % PATTERNS],
		.rcx = patterns[(round * 3 + 1) % PATTERNS], .rdx = patterns[(round + 5) % PATTERNS],
		.rsi = 0x1122334455667788, .r8 = patterns[(round * 7 + 2) % PATTERNS],
		.flags = 2 | (round & 1 ? CARRY : 0) | (round & 2 ? 0x8d4 : 0),
	};
	struct registers got = wanted;
	uint64_t ignored = leaves_adjust_undefined(instruction->text) ? ADJUST : 0;

	*its_memory = plain;
	instruction->run(&wanted, &plain);
	instruction->run(&got, reg);
	wanted.flags |= ignored;
	got.flags |= ignored;
	if (!memcmp(&wanted, &got, sizeof(got)) && plain == *its_memory)
		return true;
	printf("# %s: round %u: rax %lx %lx rbx %lx %lx rcx %lx %lx rdx %lx %lx rsi %lx %lx r8 %lx %lx "
	       "flags %lx %lx memory %lx %lx\n", instruction->text, round, wanted.rax, got.rax,
	       wanted.rbx, got.rbx, wanted.rcx, got.rcx, wanted.rdx, got.rdx, wanted.rsi, got.rsi,
	       wanted.r8, got.r8, wanted.flags, got.flags, plain, *its_memory);
	return false;
}

/* How many instructions of the group come out different. */
static unsigned int differences(const struct instruction *group, volatile uint64_t *reg,
				uint64_t *its_memory)
{
	unsigned int round, wrong = 0;

	for (; group->text; group++) {
		for (round = 0; round < PATTERNS; round++) {
			if (same(group, reg, its_memory, round))
				continue;
			wrong++;
			break;
		}
	}
	return wrong;
}

#define SAME_AS_MEMORY(name, group) \
	TEST_F(trap, name) \
	{ \
		EXPECT_EQ(0, differences(group, self->reg, self->its_memory)); \
		EXPECT_LT(0, self->holder.control->loads + self->holder.control->stores); \
	}

SAME_AS_MEMORY(loads_of_all_widths, loads)
SAME_AS_MEMORY(loads_and_stores_of_ah_bh_ch_dh, high_bytes)
SAME_AS_MEMORY(loads_that_extend_with_zeros_or_the_sign, extensions)
SAME_AS_MEMORY(stores_of_registers_and_immediates, stores)
SAME_AS_MEMORY(arithmetic_from_memory_with_its_flags, arithmetic)
SAME_AS_MEMORY(updates_of_memory_with_their_flags, updates)
SAME_AS_MEMORY(increments_and_negations_of_memory, unary)
SAME_AS_MEMORY(comparisons_with_memory_and_their_flags, comparisons)
SAME_AS_MEMORY(all_forms_of_addresses, addresses)

TEST_F(trap, movbe_where_the_processor_has_it)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_MOVBE))
		SKIP(return, "no movbe");
	EXPECT_EQ(0, differences(swaps, self->reg, self->its_memory));
}

/* --- other ways to an address --------------------------------------------------- */

static uint8_t arena[HOLDER_PAGES * PAGE] __attribute__((aligned(4096)));

TEST_F(trap, an_address_relative_to_the_instruction)
{
	uint64_t value;

	ASSERT_EQ((void *)arena, mmap(arena, sizeof(arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			      self->holder.fd, 0));
	self->holder.control->memory[0][2] = 0x1234567890;
	__asm__ volatile("movq 16+arena(%%rip), %0" : "=r"(value) : : "memory");
	EXPECT_EQ(0x1234567890, value);
	/* The immediate behind the displacement counts as part of the instruction. */
	__asm__ volatile("movl $77, 24+arena(%%rip)" : : : "memory");
	EXPECT_EQ(77, self->holder.control->memory[0][3]);
}

TEST_F(trap, an_address_relative_to_fs)
{
	uint64_t base, value;

	*self->its_memory = 0xabcdef;
	__asm__ volatile("movq %%fs:0, %0" : "=r"(base));
	__asm__ volatile("movq %%fs:(%1), %0" : "=r"(value)
			 : "r"((uint64_t)self->reg - base) : "memory");
	EXPECT_EQ(0xabcdef, value);
}

TEST_F(trap, an_address_relative_to_gs)
{
	uint64_t value;

	*self->its_memory = 0xabcdef01;
	ASSERT_EQ(0, syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, (uint64_t)self->reg - 0x40));
	__asm__ volatile("movq %%gs:0x40, %0" : "=r"(value) : : "memory");
	EXPECT_EQ(0xabcdef01, value);
}

TEST_F(trap, an_address_of_32_bits)
{
	volatile uint8_t *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT,
				     self->holder.fd, 3 * PAGE);
	uint32_t value;

	ASSERT_NE(MAP_FAILED, (void *)low);
	*self->its_memory = 0x12345678;
	/* The upper half of the register does not count. */
	__asm__ volatile("movl 0x800(%%edi), %0" : "=r"(value)
			 : "D"((uint64_t)low | 0xdead00000000) : "memory");
	EXPECT_EQ(0x12345678, value);
}

/* mov (%rdi), %rax; ret. */
static const uint8_t load_and_return[] = { 0x48, 0x8b, 0x07, 0xc3 };

TEST_F(trap, an_instruction_across_two_pages)
{
	uint8_t *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int before;

	*self->its_memory = 0x7766554433221100;
	for (before = 1; before < 3; before++) {
		uint8_t *place = code + PAGE - before;

		memcpy(place, load_and_return, sizeof(load_and_return));
		EXPECT_EQ(0x7766554433221100,
			  ((uint64_t(*)(volatile void *))place)(self->reg));
	}
}

TEST_F(trap, an_instruction_at_the_end_of_the_last_page_of_code)
{
	uint8_t *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *place = code + PAGE - sizeof(load_and_return);

	memcpy(place, load_and_return, sizeof(load_and_return));
	munmap(code + PAGE, PAGE);
	*self->its_memory = 0x55;
	EXPECT_EQ(0x55, ((uint64_t(*)(volatile void *))place)(self->reg));
}

TEST_F(trap, an_address_within_the_instruction)
{
	/* movabs (address), %rax; ret */
	uint8_t code[] = { 0x48, 0xa1, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3 };
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code + 2, &self->reg, 8);
	memcpy(page, code, sizeof(code));
	*self->its_memory = 0x5566;
	EXPECT_EQ(0x5566, ((uint64_t(*)(void))page)());
}

TEST_F(trap, code_that_can_only_be_executed_is_decoded_or_refused)
{
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int number;

	memcpy(page, load_and_return, sizeof(load_and_return));
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_EXEC));
	number = signal_of((void (*)(void *))page, (void *)self->reg, NULL);
	/* Where the processor has protection keys, the kernel cannot read it. */
	EXPECT_TRUE(number == 0 || number == SIGBUS || number == SIGSEGV);
}

/* --- how an access reaches the device ------------------------------------------- */

struct piece {
	unsigned int page, offset, size;
};

/* The accesses in the log from `first` on are these, and no more. */
static bool pieces_are(const struct fake_control *control, unsigned int first, bool is_write,
		       const struct piece *pieces, unsigned int count)
{
	unsigned int i;

	if (control->log_count != first + count)
		return false;
	for (i = 0; i < count; i++) {
		const struct mimic_bus_request *request = &control->log[first + i];

		if (request->kind != MIMIC_BUS_REQUEST_ACCESS || request->page != pieces[i].page ||
		    request->offset != pieces[i].offset || request->size != pieces[i].size ||
		    request->is_write != is_write)
			return false;
	}
	return true;
}

#define PIECES(is_write, ...) ({ \
	const struct piece pieces[] = { __VA_ARGS__ }; \
	bool right = pieces_are(control, first, is_write, pieces, sizeof(pieces) / sizeof(pieces[0])); \
	first = control->log_count; \
	right; })

#define AT(type, address) (*(volatile type *)(self->holder.pages + (address)))

TEST_F(trap, an_aligned_access_is_one_of_its_size)
{
	struct fake_control *control = self->holder.control;
	unsigned int first = control->log_count;

	(void)AT(uint8_t, 0x2007);
	EXPECT_TRUE(PIECES(false, { 2, 7, 1 }));
	(void)AT(uint16_t, 0x2006);
	EXPECT_TRUE(PIECES(false, { 2, 6, 2 }));
	(void)AT(uint32_t, 0x4ffc);
	EXPECT_TRUE(PIECES(false, { 4, 0xffc, 4 }));
	AT(uint64_t, 0x1ff8) = 1;
	EXPECT_TRUE(PIECES(true, { 1, 0xff8, 8 }));
	AT(uint8_t, 0x1001) = 1;
	EXPECT_TRUE(PIECES(true, { 1, 1, 1 }));
}

TEST_F(trap, a_store_carries_no_more_bits_than_its_width)
{
	struct fake_control *control = self->holder.control;

	__asm__ volatile("movb %%al, (%1)\n\tmovw %%ax, 8(%1)\n\tmovl %%eax, 16(%1)"
			 : : "a"(-1ull), "r"(self->reg) : "memory");
	EXPECT_EQ(0xff, control->log[control->log_count - 3].data);
	EXPECT_EQ(0xffff, control->log[control->log_count - 2].data);
	EXPECT_EQ(0xffffffff, control->log[control->log_count - 1].data);
}

TEST_F(trap, an_answer_with_too_many_bits_is_cut)
{
	const struct fake_special special = {
		.page = 1, .offset = 0x10, .action = FAKE_DATA, .data = 0x8877665544332211,
	};

	fake_daemon_special(self->holder.daemon, &special);
	EXPECT_EQ(0x11, AT(uint8_t, 0x1010));
	EXPECT_EQ(0x2211, AT(uint16_t, 0x1010));
	EXPECT_EQ(0x44332211, AT(uint32_t, 0x1010));
}

TEST_F(trap, an_unaligned_access_is_cut_into_aligned_pieces)
{
	struct fake_control *control = self->holder.control;
	unsigned int first = control->log_count;

	(void)AT(uint64_t, 0x2004);
	EXPECT_TRUE(PIECES(false, { 2, 4, 4 }, { 2, 8, 4 }));
	(void)AT(uint64_t, 0x2001);
	EXPECT_TRUE(PIECES(false, { 2, 1, 1 }, { 2, 2, 2 }, { 2, 4, 4 }, { 2, 8, 1 }));
	AT(uint32_t, 0x2003) = 1;
	EXPECT_TRUE(PIECES(true, { 2, 3, 1 }, { 2, 4, 2 }, { 2, 6, 1 }));
	AT(uint16_t, 0x2007) = 1;
	EXPECT_TRUE(PIECES(true, { 2, 7, 1 }, { 2, 8, 1 }));
}

TEST_F(trap, an_unaligned_access_moves_the_right_bytes)
{
	uint8_t *bytes = (uint8_t *)self->holder.control->memory[2];
	uint64_t wanted;
	unsigned int i;

	for (i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(0xa0 + i);
	for (i = 0; i < 16; i++) {
		memcpy(&wanted, bytes + i, 8);
		EXPECT_EQ(wanted, AT(uint64_t, 0x2000 + i));
		EXPECT_EQ((uint32_t)wanted, AT(uint32_t, 0x2000 + i));
		EXPECT_EQ((uint16_t)wanted, AT(uint16_t, 0x2000 + i));
	}
	AT(uint64_t, 0x2103) = 0x0807060504030201;
	for (i = 0; i < 8; i++)
		EXPECT_EQ(i + 1, bytes[0x103 + i]);
	EXPECT_EQ(0, bytes[0x102]);
	EXPECT_EQ(0, bytes[0x10b]);
}

TEST_F(trap, an_access_across_two_device_pages_is_cut_between_them)
{
	struct fake_control *control = self->holder.control;
	unsigned int first = control->log_count;

	AT(uint64_t, 0x1ffc) = 0x1122334455667788;
	EXPECT_TRUE(PIECES(true, { 1, 0xffc, 4 }, { 2, 0, 4 }));
	EXPECT_EQ(0x1122334455667788, AT(uint64_t, 0x1ffc));
	EXPECT_TRUE(PIECES(false, { 1, 0xffc, 4 }, { 2, 0, 4 }));
	EXPECT_EQ(0x55667788, control->memory[1][511] >> 32);
	EXPECT_EQ(0x11223344, control->memory[2][0]);
}

/* --- single steps ---------------------------------------------------------------- */

#define STEPS_MAX 64
static volatile uint64_t steps[STEPS_MAX];
static volatile unsigned int step_count;

static void note_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	(void)number;
	(void)info;
	if (step_count < STEPS_MAX)
		steps[step_count++] = (uint64_t)state->uc_mcontext.gregs[REG_RIP];
}

/* The trap flag is on from the first popfq to the second. */
static __attribute__((noinline)) uint64_t stepped_access(volatile uint64_t *reg)
{
	uint64_t value;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
			 "nop\n\tmovq (%1), %0\n\tmovl $5, 8(%1)\n\tnop\n\tnop\n\t"
			 "pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=&r"(value) : "r"(reg) : "memory", "cc");
	return value;
}

TEST_F(trap, the_trap_flag_stops_after_each_instruction)
{
	struct sigaction action = { .sa_sigaction = note_step, .sa_flags = SA_SIGINFO };
	uint64_t plain[2] = { 0x99, 0 };
	uint64_t wanted[STEPS_MAX];
	unsigned int wanted_count, i;

	sigaction(SIGTRAP, &action, NULL);
	EXPECT_EQ(0x99, stepped_access(plain));
	wanted_count = step_count;
	for (i = 0; i < STEPS_MAX; i++)
		wanted[i] = steps[i];
	ASSERT_LT(6, wanted_count);
	step_count = 0;
	*self->its_memory = 0x99;
	EXPECT_EQ(0x99, stepped_access(self->reg));
	EXPECT_EQ(wanted_count, step_count);
	for (i = 0; i < wanted_count; i++)
		EXPECT_EQ(wanted[i], steps[i]);
}

TEST_HARNESS_MAIN
