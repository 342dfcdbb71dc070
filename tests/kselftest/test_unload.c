/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic.ko is unloaded while a thread is in a fault of it: its mapping and the file are gone, so
 * that nothing but the module itself can know of it. A delay at an access's end (test_delay_ms)
 * makes it sure, or a page with the instruction that does not come: then the module is in use.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/slow_page.h"

#define DELAY_SECONDS 0.5
#define PARAMETER "/sys/module/mimic/parameters/test_delay_ms"
/* The kernel's own list of modules, last one first. */
#define UNLOAD "cd /mimic/modules && for m in $(sed '1!G;h;$!d' order | grep -v -e '^mimic$' -e '^mimic_bus$'); do rmmod $m || exit; done"
#define LOAD "cd /mimic/modules && for m in $(cat order); do [ -e /sys/module/$m ] || insmod $m.ko || exit; done"
/* The bus answers for it: an access takes no time. */
#define VOID_PAGE 4

FIXTURE(unload)
{
	struct holder holder;
	struct waiter waiter;
	struct code *code;
	pid_t program;
	bool is_unloaded;
};

/* Shared by the program that has no instruction and the test. */
struct code {
	_Atomic unsigned int is_caught;
	_Atomic bool gives;	/* the page; the test's */
	char stack[PAGE];	/* the program's kernel stack */
};

FIXTURE_SETUP(unload)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .void_pages = 1u << VOID_PAGE };

	self->program = 0;
	self->is_unloaded = false;
	self->code = memory_map_file(memory_file(sizeof(*self->code)), sizeof(*self->code));
	ASSERT_EQ(0, holder_start(&self->holder, &options));
}

#define NEEDS_GUEST() do { \
	if (access("/mimic/modules/order", R_OK)) \
		SKIP(return, "not in a guest of tests/vm"); \
} while (0)

/* Other programs need the modules, even after a failure. */
FIXTURE_TEARDOWN(unload)
{
	memory_write_text(PARAMETER, "0");
	if (self->program > 0)
		kill(self->program, SIGKILL);
	fake_daemon_kill(self->holder.daemon);
	if (self->is_unloaded)
		EXPECT_EQ(0, system(LOAD));
	fake_daemon_no_specials(self->holder.daemon);
	holder_stop(&self->holder);
}

/* All but mimic.ko, and then the daemon. */
static int unload_others(FIXTURE_DATA(unload) *self)
{
	int status;

	self->is_unloaded = true;
	status = system(UNLOAD);
	fake_daemon_kill(self->holder.daemon);
	return status;
}

/* With io_uring and the like the node may be closed a moment later. */
static void unload_mimic(void)
{
	double end = now_seconds() + at_most(5);

	while (system("rmmod mimic 2>/dev/null") && now_seconds() < end)
		sleep_ms(1);
}

TEST_F(unload, a_thread_that_comes_out_of_an_access_is_waited_for)
{
	double start;

	NEEDS_GUEST();
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, holder_held_register(&self->holder), false));
	ASSERT_TRUE(memory_write_text(PARAMETER, "500"));
	holder_give_back(&self->holder);
	start = now_seconds();
	ASSERT_EQ(0, unload_others(self));
	unload_mimic();
	EXPECT_NE(0, access("/sys/module/mimic", F_OK));
	EXPECT_LT(DELAY_SECONDS * 0.9, now_seconds() - start);
	EXPECT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(SIGSEGV, self->waiter.signal);
}

/* --- an instruction that is not there ------------------------------------------- */

static struct holder *program_holder;
static _Atomic pid_t program_thread;
static void *program_code;

/* mov (%rdi),%rax; jmp to it */
static const unsigned char load_for_ever[] = { 0x48, 0x8b, 0x07, 0xeb, 0xfb };

static void *run_code(void *unused)
{
	(void)unused;
	program_thread = gettid();
	((void (*)(volatile uint64_t *))program_code)(holder_register(program_holder, VOID_PAGE, 0));
	return NULL;
}

/* Is the thread in mimic.ko, and has nothing to do there? */
static bool waits_in_module(struct code *code)
{
	char path[64];
	ssize_t size;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", program_thread);
	file = open(path, O_RDONLY);
	size = read(file, code->stack, sizeof(code->stack) - 1);
	close(file);
	if (size < 0)
		return false;
	code->stack[size] = '\0';
	return strstr(code->stack, "handle_userfault") && strstr(code->stack, "[mimic]");
}

static int give_code(int slow)
{
	uint64_t word = 0;

	memcpy(&word, load_for_ever, sizeof(load_for_ever));
	return slow_page_give(slow, program_code, word);
}

/*
 * Its code goes away again and again, until that is between a load's fault and the look at the
 * instruction. Then its device goes, and the code does not come until the test says so.
 */
static int lose_code(void *argument)
{
	struct code *code = argument;
	pthread_t thread;
	int slow;

	program_code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	slow = slow_page_make(program_code);
	if (slow < 0 || give_code(slow) || pthread_create(&thread, NULL, run_code, NULL))
		return 1;
	while (!program_thread)
		sleep_ms(1);
	for (;;) {
		sleep_ms(1);
		madvise(program_code, PAGE, MADV_DONTNEED);
		if (slow_page_is_wanted(slow) && waits_in_module(code))
			break;
		give_code(slow);
	}
	holder_give_back(program_holder);
	code->is_caught = 1;
	while (!code->gives)
		sleep_ms(1);
	give_code(slow);
	pthread_join(thread, NULL);
	return 0;
}

static int lose_code_of_own_device(void *argument)
{
	if (holder_open(program_holder) || holder_map(program_holder))
		return 2;
	return lose_code(argument);
}

TEST_F(unload, the_module_is_in_use_while_a_thread_waits_for_its_instruction)
{
	NEEDS_GUEST();
	program_holder = &self->holder;
	holder_give_back(&self->holder);
	self->program = child_start(lose_code_of_own_device, self->code);
	ASSERT_TRUE(fake_wait(&self->code->is_caught, 1));
	ASSERT_EQ(0, unload_others(self));
	/* Nor does rmmod wait for the page, which may never come. */
	EXPECT_NE(0, system("timeout -s KILL 10 rmmod mimic 2>/dev/null"));
	EXPECT_EQ(0, access("/sys/module/mimic", F_OK));
	self->code->gives = true;
	/* Its device's page is gone. */
	EXPECT_EQ(128 + SIGSEGV, exit_of(self->program));
	self->program = 0;
	unload_mimic();
	EXPECT_NE(0, access("/sys/module/mimic", F_OK));
}

TEST_HARNESS_MAIN
