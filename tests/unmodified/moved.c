/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A load of two bytes whose jump has no place unless the instruction behind it is moved. That one may be
 * jumped to, and stepped through with the trap flag: a handler sees the program's own addresses and
 * registers. The text is taken back, by rights and by mapping the file anew; nothing is moved that lies in
 * the next page, too.
 *
 *   moved      says how many signals came
 */
#include "contract.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>

#define TEXT 0x10000000ul
#define TRAP_FLAG 0x100
#define ADDED 128u
#define AT_ADD 2
#define AT_RETURN 5

typedef uint32_t (*load_function)(volatile void *address);

/*
 * mov (%rdi), %eax; sub $-128, %eax; ret. The bytes behind the load are distances to places below 0; those
 * behind the subtraction one of 2 GB, where no heap grows.
 */
static const uint8_t code[] = { 0x8b, 0x07, 0x83, 0xe8, 0x80, 0xc3, 0x7c, 0x90, 0x90, 0x90 };
static uint8_t file_bytes[2 * PAGE];
static const size_t places[] = { 64, 2 * PAGE - 64, PAGE - 3 };
static volatile char *device;
static char *text;
static int file;

static void make_text(void)
{
	char path[] = "/tmp/mimic-moved-XXXXXX";
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		memcpy(file_bytes + places[i], code, sizeof(code));
	file = mkstemp(path);
	CHECK(file >= 0 && write(file, file_bytes, sizeof(file_bytes)) == sizeof(file_bytes));
	text = mmap((void *)TEXT, sizeof(file_bytes), PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
	CHECK(text != MAP_FAILED);
	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	store32(device, PRODUCE, 0, 77);
	CHECK(((load_function)(text + places[0]))(device + (CONSUME << 3)) == 77 + ADDED);
	unlink(path);
}

static void check_function(size_t place)
{
	load_function function = (load_function)(text + place);
	volatile uint32_t memory = 1000;
	uint32_t i, result;

	for (i = 0; i < 5; i++) {
		store32(device, PRODUCE, 0, 500 + i);
		CHECK(function(device + (CONSUME << 3)) == 500 + i + ADDED);
		CHECK(function(&memory) == 1000 + ADDED);
		/* Into the middle: the second instruction alone. */
		__asm__ volatile("call *%1"
				 : "=a"(result)
				 : "r"(text + place + AT_ADD), "0"(i)
				 : "cc", "memory");
		CHECK(result == i + ADDED);
	}
}

/* --- steps ------------------------------------------------------------------------ */

static volatile unsigned int steps, at_instruction[AT_RETURN + 1];
static volatile int is_wrong;
static uint32_t loaded;

static void on_step(int number, siginfo_t *information, void *argument)
{
	const ucontext_t *context = argument;
	uint64_t offset = (uint64_t)context->uc_mcontext.gregs[REG_RIP] - (uintptr_t)(text + places[0]);
	uint64_t rax = (uint64_t)context->uc_mcontext.gregs[REG_RAX];

	(void)number;
	(void)information;
	steps++;
	if (offset > AT_RETURN) {
		/* The steps before the call and behind it are in this program's own text. */
		is_wrong |= (uint64_t)context->uc_mcontext.gregs[REG_RIP] - 0x400000 >= 0x1000000;
		return;
	}
	at_instruction[offset]++;
	is_wrong |= offset != 0 && offset != AT_ADD && offset != AT_RETURN;
	is_wrong |= offset == AT_ADD && rax != loaded;
	is_wrong |= offset == AT_RETURN && rax != loaded + ADDED;
}

static void check_steps(volatile void *address, uint32_t value)
{
	uint64_t function = (uintptr_t)(text + places[0]), result = 0x123456789;

	loaded = value;
	__asm__ volatile("pushfq\n	orl $0x100, (%%rsp)\n	popfq\n"
			 "	call *%1\n"
			 "	pushfq\n	andl $~0x100, (%%rsp)\n	popfq\n"
			 : "+a"(result)
			 : "r"(function), "D"(address)
			 : "cc", "memory");
	CHECK(result == value + ADDED && !is_wrong);
	CHECK(at_instruction[0] && at_instruction[AT_ADD] && at_instruction[AT_RETURN]);
}

/* --- text that is taken back ---------------------------------------------------------- */

static void check_bytes(size_t from, size_t count)
{
	CHECK(!memcmp(text + from, file_bytes + from, count));
}

static void take_back(size_t at, int is_mapped)
{
	if (is_mapped)
		CHECK(mmap(text + at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
			   (off_t)at) == text + at);
	else
		CHECK(!mprotect(text + at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	check_bytes(at, PAGE);
	CHECK(!mprotect(text + at, PAGE, PROT_READ | PROT_EXEC));
}

static void check_child(int is_mapped)
{
	int status;
	pid_t child = fork();
	unsigned int i;

	CHECK(child >= 0);
	if (!child) {
		device = map_node("/dev/maple1", WORDS_16);
		open_both((void *)device, 0);
		for (i = 0; i < 3; i++)
			check_function(places[i]);
		take_back(PAGE, is_mapped);
		for (i = 0; i < 3; i++)
			check_function(places[i]);
		take_back(0, !is_mapped);
		for (i = 0; i < 3; i++)
			check_function(places[i]);
		check_bytes(0, sizeof(file_bytes));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	/* There are no other children. */
	CHECK(wait(&status) == -1);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	volatile uint32_t memory = 4321;

	make_text();
	check_function(places[0]);
	check_function(places[1]);
	check_function(places[2]);
	/* Of the load at the end of the first page, nothing reaches into the second. */
	check_bytes(PAGE, 32);
	sigaction(SIGTRAP, &action, NULL);
	check_steps(&memory, 4321);
	store32(device, PRODUCE, 0, 99);
	check_steps(device + (CONSUME << 3), 99);
	signal(SIGTRAP, SIG_DFL);
	check_child(0);
	check_child(1);
	printf("%u signals\n", steps);
	return 0;
}
