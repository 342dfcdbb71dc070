/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A load or store that waits for its answer, while other threads go on. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tests/kselftest/lib/holder.h"

FIXTURE(blocked)
{
	struct holder holder;
	struct fake_control *control;
	struct waiter waiter;
	volatile uint64_t *held;
};

FIXTURE_VARIANT(blocked)
{
	enum fake_channel channel;
};

FIXTURE_VARIANT_ADD(blocked, slots) { .channel = FAKE_SLOTS };
FIXTURE_VARIANT_ADD(blocked, read_write) { .channel = FAKE_READ_WRITE };

FIXTURE_SETUP(blocked)
{
	struct fake_options options = { .channel = variant->channel };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->control = self->holder.control;
	self->held = holder_held_register(&self->holder);
}

FIXTURE_TEARDOWN(blocked)
{
	holder_stop(&self->holder);
}

static int returns_7(void *unused)
{
	(void)unused;
	return 7;
}

/* --- others go on ----------------------------------------------------------------- */

TEST_F(blocked, the_answer_comes_when_the_device_gives_it)
{
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	self->control->memory[0][HELD_OFFSET / 8] = 0x1122;
	sleep_ms(50);
	EXPECT_EQ(0, self->waiter.is_done);
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0, self->waiter.signal);
	EXPECT_EQ(0x1122, self->waiter.value);
}

TEST_F(blocked, a_store_waits_too)
{
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, true));
	sleep_ms(20);
	EXPECT_EQ(0, self->waiter.is_done);
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0x5a5a, self->control->memory[0][HELD_OFFSET / 8]);
}

TEST_F(blocked, another_thread_maps_and_unmaps_meanwhile)
{
	double start;
	void *memory;
	int i;

	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	start = now_seconds();
	for (i = 0; i < 100; i++) {
		memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(memory, i, 16 * PAGE);
		mprotect(memory, PAGE, PROT_READ);
		munmap(memory, 16 * PAGE);
	}
	EXPECT_GT(at_most(2), now_seconds() - start);
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
}

TEST_F(blocked, another_thread_forks_meanwhile)
{
	double start;

	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	start = now_seconds();
	EXPECT_EQ(7, in_child(returns_7, NULL));
	EXPECT_GT(at_most(2), now_seconds() - start);
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
}

TEST_F(blocked, another_thread_uses_other_registers_meanwhile)
{
	volatile uint64_t *other = holder_register(&self->holder, 2, 0x18);

	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	*other = 5;
	EXPECT_EQ(5, *other);
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
}

TEST_F(blocked, the_page_can_be_unmapped_and_the_load_still_completes)
{
	double start;

	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	start = now_seconds();
	holder_unmap(&self->holder);
	EXPECT_GT(at_most(1), now_seconds() - start);
	self->control->memory[0][HELD_OFFSET / 8] = 0x77;
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0, self->waiter.signal);
	EXPECT_EQ(0x77, self->waiter.value);
}

TEST_F(blocked, the_instance_stays_held_until_the_load_is_over)
{
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	holder_give_back(&self->holder);
	/* The waiting access counts, too: docs/abi.md. */
	sleep_ms(50);
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0, self->waiter.signal);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
}

TEST_F(blocked, two_threads_wait_at_once_and_each_gets_its_own)
{
	const struct fake_special second = { .page = 0, .offset = 0xe00, .action = FAKE_HOLD };
	struct waiter other;

	fake_daemon_special(self->holder.daemon, &second);
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	ASSERT_EQ(0, waiter_start(&other, &self->holder, holder_register(&self->holder, 0, 0xe00), false));
	self->control->memory[0][HELD_OFFSET / 8] = 1;
	self->control->memory[0][0xe00 / 8] = 2;
	EXPECT_EQ(2, fake_daemon_release(self->holder.daemon));
	ASSERT_TRUE(waiter_ends(&self->waiter));
	ASSERT_TRUE(waiter_ends(&other));
	EXPECT_EQ(1, self->waiter.value);
	EXPECT_EQ(2, other.value);
}

/* --- signals ---------------------------------------------------------------------- */

static _Atomic unsigned int handled;

static void count_signal(int number)
{
	(void)number;
	handled++;
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(number, &action, NULL);
}

TEST_F(blocked, a_signal_takes_a_held_load_back_and_it_is_made_again)
{
	handle(SIGUSR1, count_signal);
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, false));
	pthread_kill(self->waiter.thread, SIGUSR1);
	/* The handler runs while the device has not answered. */
	EXPECT_TRUE(fake_wait(&handled, 1));
	EXPECT_TRUE(fake_wait(&self->control->given_back, 1));
	EXPECT_TRUE(fake_wait(&self->control->loads, 2));
	EXPECT_EQ(0, self->waiter.is_done);
	EXPECT_TRUE(fake_wait(&self->control->held, 1));
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0, self->waiter.signal);
}

TEST_F(blocked, a_signal_waits_for_an_access_that_the_device_does_not_give_back)
{
	const struct fake_special keep = { .page = 0, .offset = HELD_OFFSET, .action = FAKE_KEEP };

	handle(SIGUSR1, count_signal);
	fake_daemon_special(self->holder.daemon, &keep);
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->holder, self->held, true));
	pthread_kill(self->waiter.thread, SIGUSR1);
	EXPECT_TRUE(fake_wait(&self->control->cancels, 1));
	sleep_ms(50);
	EXPECT_EQ(0, handled);
	fake_daemon_release(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	/* Done once, then the handler: not done again. */
	EXPECT_EQ(1, handled);
	EXPECT_EQ(1, self->control->stores);
	EXPECT_EQ(0, self->waiter.signal);
}

TEST_F(blocked, a_signal_takes_an_access_back_that_the_device_has_not_seen)
{
	handle(SIGUSR1, count_signal);
	/* A stopped daemon takes nothing. */
	kill(self->holder.daemon->pid, SIGSTOP);
	ASSERT_EQ(0, waiter_run(&self->waiter, holder_register(&self->holder, 1, 8), true));
	while (!self->waiter.tid)
		sleep_ms(1);
	sleep_ms(50);
	pthread_kill(self->waiter.thread, SIGUSR1);
	EXPECT_TRUE(fake_wait(&handled, 1));
	EXPECT_EQ(0, self->waiter.is_done);
	kill(self->holder.daemon->pid, SIGCONT);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(1, self->control->stores);
	EXPECT_EQ(0, self->control->cancels);
	EXPECT_EQ(0x5a5a, self->control->memory[1][1]);
}

TEST_F(blocked, many_signals_do_not_make_a_store_happen_twice)
{
	int i;

	handle(SIGUSR1, count_signal);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, waiter_run(&self->waiter, holder_register(&self->holder, 1, 8), true));
		while (!self->waiter.is_done && self->waiter.tid)
			pthread_kill(self->waiter.thread, SIGUSR1);
		ASSERT_TRUE(waiter_ends(&self->waiter));
	}
	EXPECT_EQ(20, self->control->stores);
}

static sigjmp_buf out;

static void leave(int number)
{
	siglongjmp(out, number);
}

TEST_F(blocked, a_handler_may_leave_a_waiting_load_for_good)
{
	handle(SIGALRM, leave);
	if (!sigsetjmp(out, 1)) {
		setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 100000 }, NULL);
		(void)*self->held;
		ASSERT_TRUE(false);
	}
	EXPECT_TRUE(fake_wait(&self->control->given_back, 1));
	EXPECT_EQ(0, self->control->held);
	/* The thread uses the device as before. */
	*holder_register(&self->holder, 1, 0) = 3;
	EXPECT_EQ(3, *holder_register(&self->holder, 1, 0));
}

TEST_F(blocked, a_waiting_thread_can_be_stopped_and_continued)
{
	pid_t child;
	int status;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		if (holder_open(&self->holder) || holder_map(&self->holder))
			_exit(1);
		_exit((int)*holder_register(&self->holder, 0, HELD_OFFSET));
	}
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	kill(child, SIGSTOP);
	EXPECT_EQ(child, waitpid(child, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	kill(child, SIGCONT);
	EXPECT_TRUE(fake_wait(&self->control->loads, 2));
	EXPECT_TRUE(fake_wait(&self->control->held, 1));
	self->control->memory[0][HELD_OFFSET / 8] = 5;
	fake_daemon_release(self->holder.daemon);
	EXPECT_EQ(5, exit_of(child));
}

static int waits_for_ever(void *argument)
{
	struct holder *holder = argument;

	if (holder_open(holder) || holder_map(holder))
		return 1;
	return (int)*holder_register(holder, 0, HELD_OFFSET);
}

/* A child that waits in a load, killed by `number`: how long until it is reaped. */
static double seconds_to_kill(struct holder *holder, int number, int *result)
{
	double start;
	pid_t child;

	holder_give_back(holder);
	child = fork();
	if (!child)
		_exit(waits_for_ever(holder));
	fake_wait(&holder->control->held, 1);
	start = now_seconds();
	kill(child, number);
	*result = exit_of(child);
	return now_seconds() - start;
}

TEST_F(blocked, sigkill_ends_a_waiting_program_at_once)
{
	int result;

	EXPECT_GT(at_most(1), seconds_to_kill(&self->holder, SIGKILL, &result));
	EXPECT_EQ(128 + SIGKILL, result);
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
}

TEST_F(blocked, sigterm_ends_a_waiting_program_at_once)
{
	int result;

	EXPECT_GT(at_most(1), seconds_to_kill(&self->holder, SIGTERM, &result));
	EXPECT_EQ(128 + SIGTERM, result);
}

TEST_F(blocked, sigkill_ends_a_program_whose_access_is_not_given_back)
{
	const struct fake_special keep = { .page = 0, .offset = HELD_OFFSET, .action = FAKE_KEEP };
	int result;

	fake_daemon_special(self->holder.daemon, &keep);
	EXPECT_GT(at_most(1), seconds_to_kill(&self->holder, SIGKILL, &result));
	EXPECT_EQ(128 + SIGKILL, result);
	/* The next program gets the device although the old answer is still due. */
	EXPECT_EQ(0, holder_open(&self->holder));
	EXPECT_EQ(1, self->control->held);
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
}

static int exits_beside_a_waiting_thread(void *argument)
{
	struct holder *holder = argument;
	struct waiter waiter;

	if (holder_open(holder) || holder_map(holder) ||
	    waiter_start(&waiter, holder, holder_register(holder, 0, HELD_OFFSET), false))
		return 1;
	return 9;
}

TEST_F(blocked, a_program_may_exit_while_a_thread_waits)
{
	double start = now_seconds();

	holder_give_back(&self->holder);
	EXPECT_EQ(9, in_child(exits_beside_a_waiting_thread, &self->holder));
	EXPECT_GT(at_most(3), now_seconds() - start);
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
}

TEST_F(blocked, a_debugger_can_interrupt_a_waiting_thread)
{
	pid_t child;
	int status;

	holder_give_back(&self->holder);
	child = fork();
	if (!child)
		_exit(waits_for_ever(&self->holder));
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, child, NULL, NULL));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, child, NULL, NULL));
	ASSERT_TRUE(fake_wait(&self->control->loads, 2));
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	self->control->memory[0][HELD_OFFSET / 8] = 6;
	fake_daemon_release(self->holder.daemon);
	EXPECT_EQ(6, exit_of(child));
}

TEST_F(blocked, a_core_dump_does_not_touch_the_device)
{
	unsigned int loads;
	struct rlimit limits = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t child;
	int result;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &limits);
		if (chdir("/tmp") || holder_open(&self->holder) || holder_map(&self->holder))
			_exit(1);
		abort();
	}
	result = exit_of(child);
	EXPECT_EQ(128 + SIGABRT, result);
	loads = self->control->loads;
	EXPECT_EQ(0, loads);
}

/* --- errors of the device ----------------------------------------------------------- */

TEST_F(blocked, an_error_of_the_device_is_sigbus_at_its_address)
{
	const struct fake_special error = {
		.page = 1, .offset = 0x120, .action = FAKE_STATUS, .status = -EIO,
	};
	siginfo_t info;

	fake_daemon_special(self->holder.daemon, &error);
	EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 1, 0x120), &info));
	EXPECT_EQ(BUS_ADRERR, info.si_code);
	EXPECT_EQ((void *)holder_register(&self->holder, 1, 0x120), info.si_addr);
	EXPECT_EQ(SIGBUS, signal_of_store(holder_register(&self->holder, 1, 0x120), &info));
	EXPECT_EQ((void *)holder_register(&self->holder, 1, 0x120), info.si_addr);
	/* Asked once for each. */
	EXPECT_EQ(1, self->control->loads);
	EXPECT_EQ(1, self->control->stores);
	*holder_register(&self->holder, 1, 0) = 4;
	EXPECT_EQ(4, *holder_register(&self->holder, 1, 0));
}

TEST_F(blocked, no_status_of_the_device_means_more_than_an_error)
{
	static const int statuses[] = {
		1, -4 /* EINTR */, -11, -513, -514, -516, -4096, INT_MIN, INT_MAX,
	};
	struct fake_special special = { .page = 1, .action = FAKE_STATUS };
	unsigned int i;

	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		special.offset = 8 * i;
		special.status = statuses[i];
		fake_daemon_special(self->holder.daemon, &special);
		EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 1, 8 * i), NULL))
			TH_LOG("for status %d", statuses[i]);
	}
}

TEST_F(blocked, an_access_that_is_given_back_unasked_is_made_again)
{
	const struct fake_special back = {
		.page = 1, .offset = 8, .action = FAKE_STATUS, .status = MIMIC_BUS_TAKEN_BACK,
	};

	fake_daemon_special(self->holder.daemon, &back);
	ASSERT_EQ(0, waiter_run(&self->waiter, holder_register(&self->holder, 1, 8), true));
	EXPECT_TRUE(fake_wait(&self->control->stores, 20));
	EXPECT_EQ(0, self->waiter.is_done);
	fake_daemon_no_specials(self->holder.daemon);
	ASSERT_TRUE(waiter_ends(&self->waiter));
	EXPECT_EQ(0, self->waiter.signal);
	EXPECT_EQ(0x5a5a, self->control->memory[1][1]);
}

TEST_F(blocked, the_rest_of_a_cut_access_cannot_be_given_back)
{
	const struct fake_special back = {
		.page = 1, .offset = 8, .action = FAKE_STATUS, .status = MIMIC_BUS_TAKEN_BACK,
	};
	volatile uint8_t *place = self->holder.pages + PAGE + 4;

	/* Its first half was done: made again, it would be done twice. */
	fake_daemon_special(self->holder.daemon, &back);
	EXPECT_EQ(SIGBUS, signal_of_store(place, NULL));
	EXPECT_EQ(2, self->control->stores);
}

TEST_HARNESS_MAIN
