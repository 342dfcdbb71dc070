/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A load of three bytes with a jump behind it that leads back, as in a loop that polls a register. The jump's
 * distance says that the load's own jump would lead below 0, so the jump is moved. Taken or not, it goes on where
 * it did; it may be jumped to, and stepped through with the trap flag.
 *
 *   branches   says how many signals came
 */
#include "contract.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define TEXT 0x10000000ul
#define BELOW 0x1000000ul
#define ADDED 5u
#define TAKEN_AWAY 0x7cu

/*
 *    0: add $5, %eax; ret          where a jump of two bytes leads
 *   32: the same                   where one of six leads
 *  123: mov 0(%rdi), %eax          the function
 *  126: the jump
 *       sub $0x7c, %eax; ret       its bytes are a distance of 2 GB for the jump before
 */
#define INWARD_PLACE 1536
#define AT_LOAD 123
#define AT_JUMP 126
#define FAR_TARGET 32

static const uint8_t target[] = { 0x83, 0xc0, 0x05, 0xc3 };
static const uint8_t load[] = { 0x8b, 0x47, 0x00 };
static const uint8_t behind[] = { 0x83, 0xe8, 0x7c, 0xc3 };

/* In its place: a jump to its own second byte, with which inc %eax begins; test $0x7c, %al; ret */
static const uint8_t inward[] = { 0xeb, 0xff, 0xc0, 0xa8, 0x7c, 0xc3 };

static const struct form {
	uint8_t jump[6];
	unsigned int length;
	size_t place;
	int is_always;
} forms[] = {
	{ { 0x72, 0x80 }, 2, 64, 0 },					/* jc, short */
	{ { 0x0f, 0x82, 0x9c, 0xff, 0xff, 0xff }, 6, 512, 0 },		/* jc */
	{ { 0xeb, 0x80 }, 2, 1024, 1 },					/* jmp, short */
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static volatile char *device;
static char *text;

static void make_text(void)
{
	char path[] = "/tmp/mimic-branches-XXXXXX";
	static uint8_t bytes[PAGE];
	int file = mkstemp(path);

	for (unsigned int i = 0; i < FORMS; i++) {
		uint8_t *function = bytes + forms[i].place;

		memcpy(function, target, sizeof(target));
		memcpy(function + FAR_TARGET, target, sizeof(target));
		memcpy(function + AT_LOAD, load, sizeof(load));
		memcpy(function + AT_JUMP, forms[i].jump, forms[i].length);
		memcpy(function + AT_JUMP + forms[i].length, behind, sizeof(behind));
	}
	memcpy(bytes + INWARD_PLACE + AT_LOAD, load, sizeof(load));
	memcpy(bytes + INWARD_PLACE + AT_JUMP, inward, sizeof(inward));
	CHECK(file >= 0 && write(file, bytes, sizeof(bytes)) == sizeof(bytes));
	/* Where a jump over the load and a part of the long jump would lead. */
	CHECK(mmap((void *)(TEXT - BELOW), BELOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		   0) != MAP_FAILED);
	text = mmap((void *)TEXT, sizeof(bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file,
		    0);
	CHECK(text != MAP_FAILED);
	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	store32(device, PRODUCE, 0, 1);
	CHECK(*(volatile uint32_t *)(device + (CONSUME << 3)) == 1);
}

/* From `at` on, with the carry flag as it is given; `result` is what eax is before. */
static uint32_t call(const struct form *form, unsigned int at, const volatile void *address, int carry,
		     uint32_t result, int with_steps)
{
	__asm__ volatile("pushfq\n	or %k3, (%%rsp)\n	popfq\n"
			 "	bt $0, %k4\n"
			 "	call *%1\n"
			 "	pushfq\n	andl $~0x100, (%%rsp)\n	popfq\n"
			 : "+a"(result)
			 : "r"(text + form->place + at), "D"(address), "r"(with_steps ? 0x100 : 0), "r"(carry)
			 : "cc", "memory");
	return result;
}

static uint32_t expected(const struct form *form, uint32_t value, int carry)
{
	return carry || form->is_always ? value + ADDED : value - TAKEN_AWAY;
}

static void check_form(const struct form *form)
{
	volatile uint32_t memory = 1000;

	for (uint32_t i = 0; i < 10; i++) {
		int carry = i % 3 == 0;

		store32(device, PRODUCE, 0, 500 + i);
		CHECK(call(form, AT_LOAD, device + (CONSUME << 3), carry, 0, 0) == expected(form, 500 + i, carry));
		CHECK(call(form, AT_LOAD, &memory, carry, 0, 0) == expected(form, 1000, carry));
		/* The jump alone. */
		CHECK(call(form, AT_JUMP, NULL, carry, i, 0) == expected(form, i, carry));
	}
}

/* Its bytes are another instruction's, too, and stay. */
static void check_inward(void)
{
	const struct form form = { .place = INWARD_PLACE };

	for (uint32_t i = 0; i < 10; i++) {
		store32(device, PRODUCE, 0, 500 + i);
		CHECK(call(&form, AT_LOAD, device + (CONSUME << 3), 0, 0, 0) == 500 + i + 1);
	}
}

/* --- steps ------------------------------------------------------------------------ */

static const struct form *volatile stepped;
static volatile unsigned int steps, seen_load, seen_jump, seen_target, seen_behind;
static volatile int is_wrong;

static void on_step(int number, siginfo_t *information, void *argument)
{
	const ucontext_t *context = argument;
	uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	uint64_t offset = rip - (uintptr_t)(text + stepped->place);
	uint64_t end = AT_JUMP + stepped->length;

	(void)number;
	(void)information;
	steps++;
	/* The steps before the call and behind it are in this program's own text. */
	if (offset > AT_JUMP + sizeof(stepped->jump) + sizeof(behind)) {
		is_wrong |= rip - 0x400000 >= 0x1000000;
		return;
	}
	seen_load |= offset == AT_LOAD;
	seen_jump |= offset == AT_JUMP;
	seen_target |= offset == 0 || offset == FAR_TARGET;
	seen_behind |= offset == end;
	is_wrong |= offset != AT_LOAD && offset != AT_JUMP && offset % FAR_TARGET != 0 && offset % FAR_TARGET != 3 &&
		    offset != end && offset != end + 3;
}

static void check_steps(const struct form *form, int carry)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	int is_taken = carry || form->is_always;

	stepped = form;
	seen_load = seen_jump = seen_target = seen_behind = 0;
	store32(device, PRODUCE, 0, 4321);
	sigaction(SIGTRAP, &action, NULL);
	CHECK(call(form, AT_LOAD, device + (CONSUME << 3), carry, 0, 1) == expected(form, 4321, carry));
	signal(SIGTRAP, SIG_DFL);
	CHECK(!is_wrong && seen_load && seen_jump);
	CHECK(seen_target == (unsigned int)is_taken && seen_behind == (unsigned int)!is_taken);
}

int main(void)
{
	make_text();
	check_inward();
	for (unsigned int i = 0; i < FORMS; i++) {
		check_form(&forms[i]);
		check_steps(&forms[i], 0);
		check_steps(&forms[i], 1);
	}
	printf("%u signals\n", steps);
	return 0;
}
