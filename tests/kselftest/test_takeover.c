/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A daemon that has asked for a successor (KEEP) is killed, and another process takes over
 * (TAKE_OVER) on the descriptor that the test has kept: programs wait meanwhile, and nothing that they
 * did is lost or done twice. In each form of the channel.
 */
#include "kselftest_harness.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/maple_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"

#define KEEP_MS 60000
#define WATCH "/sys/module/maple/parameters/watch_ms"

FIXTURE(takeover)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_VARIANT(takeover)
{
	enum fake_channel form;
};

FIXTURE_VARIANT_ADD(takeover, read_write) { .form = FAKE_READ_WRITE };
FIXTURE_VARIANT_ADD(takeover, slots) { .form = FAKE_SLOTS };
FIXTURE_VARIANT_ADD(takeover, io_uring) { .form = FAKE_URING };

FIXTURE_SETUP(takeover)
{
	struct fake_options options = { .channel = variant->form };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->control = self->holder.control;
	ASSERT_EQ(0, fake_daemon_keep(self->holder.daemon, KEEP_MS));
}

FIXTURE_TEARDOWN(takeover)
{
	memory_write_text(WATCH, "250");
	holder_stop(&self->holder);
}

static void set_action(struct holder *holder, enum fake_action action)
{
	const struct fake_special special = { .page = 0, .offset = HELD_OFFSET, .action = action };

	fake_daemon_special(holder->daemon, &special);
}

static volatile uint64_t *held_register(const struct holder *holder)
{
	return holder_register(holder, 0, HELD_OFFSET);
}

/* The value that a load of it gives, and that a store of it has written. */
static uint64_t *content(struct fake_control *control)
{
	return &control->memory[0][HELD_OFFSET / 8];
}

/* Starts an access at which the daemon dies by itself. */
static bool begin_and_die(struct holder *holder, struct waiter *waiter, bool stores)
{
	return !waiter_run(waiter, held_register(holder), stores) &&
	       fake_daemon_has_died(holder->daemon);
}

/* The successor does nothing special. */
static int succeed(struct holder *holder)
{
	fake_daemon_no_specials(holder->daemon);
	holder->control->dies_before_taking = false;
	holder->control->hold_kinds = 0;
	return fake_daemon_succeed(holder->daemon);
}

/* --- accesses ------------------------------------------------------------------------ */

TEST_F(takeover, a_load_that_was_not_taken_is_served_by_the_successor)
{
	struct waiter waiter;

	*content(self->control) = 77;
	self->control->dies_before_taking = true;
	ASSERT_TRUE(begin_and_die(&self->holder, &waiter, false));
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(77, waiter.value);
}

TEST_F(takeover, a_load_that_was_taken_is_served_by_the_successor)
{
	struct waiter waiter;

	*content(self->control) = 78;
	set_action(&self->holder, FAKE_DIE_AFTER_TAKING);
	ASSERT_TRUE(begin_and_die(&self->holder, &waiter, false));
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(78, waiter.value);
	EXPECT_EQ(2, self->control->loads);
}

TEST_F(takeover, a_store_that_was_taken_is_not_lost)
{
	struct waiter waiter;

	set_action(&self->holder, FAKE_DIE_AFTER_TAKING);
	ASSERT_TRUE(begin_and_die(&self->holder, &waiter, true));
	EXPECT_EQ(0, *content(self->control));
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(waiter.value, *content(self->control));
}

TEST_F(takeover, an_answer_without_a_commit_is_not_asked_for_again)
{
	struct waiter waiter;

	*content(self->control) = 79;
	set_action(&self->holder, FAKE_DIE_AFTER_ANSWER);
	ASSERT_TRUE(begin_and_die(&self->holder, &waiter, false));
	*content(self->control) = 80;
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(79, waiter.value);
	EXPECT_EQ(1, self->control->loads);
}

TEST_F(takeover, accesses_of_several_threads_wait_and_are_served)
{
	struct waiter waiters[6];
	int i;

	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->holder,
					  holder_held_register(&self->holder), i & 1));
	fake_daemon_kill(self->holder.daemon);
	sleep_ms(50);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(0, waiters[i].is_done);
	ASSERT_EQ(0, succeed(&self->holder));
	for (i = 0; i < 6; i++) {
		EXPECT_TRUE(waiter_ends(&waiters[i]));
		EXPECT_EQ(0, waiters[i].signal);
	}
}

TEST_F(takeover, an_access_without_a_daemon_waits_for_the_successor)
{
	struct waiter waiter;

	*content(self->control) = 81;
	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, waiter_run(&waiter, held_register(&self->holder), false));
	sleep_ms(50);
	EXPECT_EQ(0, waiter.is_done);
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(81, waiter.value);
}

TEST_F(takeover, several_deaths_in_a_row_lose_nothing)
{
	struct waiter waiter;
	int i;

	set_action(&self->holder, FAKE_KEEP);
	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, held_register(&self->holder), true));
	for (i = 0; i < 3; i++) {
		/* The KEEP of the first one holds. */
		ASSERT_EQ(0, fake_daemon_succeed(self->holder.daemon));
		ASSERT_TRUE(fake_wait(&self->control->held, 1));
	}
	/* This one dies before it takes anything. */
	self->control->is_paused = true;
	ASSERT_EQ(0, fake_daemon_succeed(self->holder.daemon));
	fake_daemon_kill(self->holder.daemon);
	self->control->is_paused = false;
	EXPECT_EQ(0, *content(self->control));
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(waiter.value, *content(self->control));
}

/* Of the last access of a program: threads end, too. */
static uint64_t newest_serial(const struct fake_daemon *daemon)
{
	const struct mimic_bus_request *last = fake_daemon_last(daemon, MIMIC_BUS_REQUEST_ACCESS);

	return last ? daemon->control->serials[last - daemon->control->log] : 0;
}

TEST_F(takeover, a_request_is_known_again_by_its_serial)
{
	struct waiter waiter;
	uint64_t serial;

	(void)*holder_register(&self->holder, 0, 8);
	serial = newest_serial(self->holder.daemon);
	EXPECT_NE(0, serial);
	(void)*holder_register(&self->holder, 0, 8);
	EXPECT_NE(serial, newest_serial(self->holder.daemon));
	set_action(&self->holder, FAKE_KEEP);
	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, held_register(&self->holder), true));
	serial = newest_serial(self->holder.daemon);
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(serial, newest_serial(self->holder.daemon));
	(void)*holder_register(&self->holder, 0, 8);
	EXPECT_LT(serial, newest_serial(self->holder.daemon));
}

/* --- signals ----------------------------------------------------------------------- */

static _Atomic unsigned int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void count_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };

	signals = 0;
	sigaction(SIGUSR1, &action, NULL);
}

TEST_F(takeover, a_signal_takes_an_access_back_that_no_daemon_has_seen)
{
	struct waiter waiter;

	count_signals();
	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, waiter_run(&waiter, held_register(&self->holder), true));
	sleep_ms(50);
	pthread_kill(waiter.thread, SIGUSR1);
	EXPECT_TRUE(fake_wait(&signals, 1));
	EXPECT_EQ(0, waiter.is_done);
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(1, self->control->stores);
}

/* Whether the dead one had done it is the successor's to say, also before it has looked. */
TEST_F(takeover, a_signal_does_not_take_an_access_back_that_a_dead_daemon_took)
{
	struct waiter waiter;

	count_signals();
	set_action(&self->holder, FAKE_DIE_AFTER_TAKING);
	ASSERT_TRUE(begin_and_die(&self->holder, &waiter, true));
	self->control->is_paused = true;
	ASSERT_EQ(0, succeed(&self->holder));
	pthread_kill(waiter.thread, SIGUSR1);
	sleep_ms(100);
	EXPECT_EQ(0, signals);
	self->control->is_paused = false;
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(1, signals);
	EXPECT_EQ(waiter.value, *content(self->control));
}

/* The dead daemon has cleared the bit, and has not answered. */
TEST_F(takeover, the_successor_hears_of_a_signal_that_the_dead_daemon_heard_of)
{
	struct waiter waiter;

	if (variant->form == FAKE_READ_WRITE)
		SKIP(return, "a request and that it is cancelled are read one after the other");
	count_signals();
	set_action(&self->holder, FAKE_KEEP);
	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, held_register(&self->holder), true));
	pthread_kill(waiter.thread, SIGUSR1);
	ASSERT_TRUE(fake_wait(&self->control->cancels, 1));
	EXPECT_EQ(0, signals);
	ASSERT_EQ(0, succeed(&self->holder));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	EXPECT_EQ(1, signals);
	EXPECT_EQ(1, self->control->given_back);
	EXPECT_EQ(waiter.value, *content(self->control));
}

/* --- programs that come and go -------------------------------------------------------- */

static int opens(void *holder)
{
	return -holder_open(holder);
}

TEST_F(takeover, an_open_without_a_daemon_waits_for_the_successor)
{
	pid_t child;

	holder_give_back(&self->holder);
	fake_daemon_kill(self->holder.daemon);
	child = child_start(opens, &self->holder);
	sleep_ms(100);
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_EQ(0, exit_of(child));
}

TEST_F(takeover, an_open_that_was_taken_is_answered_by_the_successor)
{
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	child = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_EQ(0, exit_of(child));
}

/* The driver gives its access up after a second, and makes it again when a daemon is there. */
TEST_F(takeover, an_open_whose_driver_waits_for_a_register_succeeds_much_later)
{
	const struct fake_special root = {
		.page = MAPLE_PAGE_MMU, .offset = MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_ROOT),
		.action = FAKE_DIE_AFTER_TAKING, .is_drivers = true,
	};
	pid_t child;

	holder_give_back(&self->holder);
	fake_daemon_special(self->holder.daemon, &root);
	child = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_daemon_has_died(self->holder.daemon));
	sleep_ms(1500);
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_EQ(0, exit_of(child));
}

static int connects(void *holder)
{
	struct maple_connect session = { .size = sizeof(session) };
	char greeting[6] = "";

	if (holder_open(holder))
		return 200;
	if (ioctl(((struct holder *)holder)->fd, MAPLE_IOCTL_CONNECT, &session))
		return errno;
	return read(session.fd, greeting, 5) == 5 && !strcmp(greeting, "mimic") ? 0 : 201;
}

static long answers_without_a_commit(struct fake_self *self, void *slot)
{
	struct mimic_bus_slot *answer = &self->slots[*(unsigned int *)slot];

	answer->status = 0;
	/* Some file. */
	answer->fd = self->fd;
	__atomic_store_n(&answer->answered, 1, __ATOMIC_RELEASE);
	return 0;
}

/* An answer that waits for its commit, too: its descriptor is gone. */
TEST_F(takeover, a_session_that_was_asked_for_is_the_successors)
{
	unsigned int slot;
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CONNECT;
	child = child_start(connects, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	slot = fake_daemon_last(self->holder.daemon, MIMIC_BUS_REQUEST_CONNECT)->slot;
	ASSERT_EQ(0, fake_daemon_call(self->holder.daemon, answers_without_a_commit, &slot,
				      sizeof(slot)));
	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_EQ(0, exit_of(child));
}

static int waits_in_an_access(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 200;
	*held_register(holder) = 1;
	return 0;
}

TEST_F(takeover, a_program_can_be_killed_in_an_access_that_a_dead_daemon_took)
{
	double start;
	pid_t child;

	holder_give_back(&self->holder);
	/* CLOSE does not clear its store away. */
	self->control->is_kept = true;
	set_action(&self->holder, FAKE_KEEP);
	child = child_start(waits_in_an_access, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	fake_daemon_kill(self->holder.daemon);
	start = now_seconds();
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
	EXPECT_GT(at_most(4), now_seconds() - start);
	self->control->closes = self->control->opens = 0;
	ASSERT_EQ(0, succeed(&self->holder));
	/* It hears of the end, and does not begin what no thread waits for. */
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
	EXPECT_EQ(0, *content(self->control));
	if (variant->form != FAKE_READ_WRITE)
		EXPECT_EQ(1, self->control->given_back);
	EXPECT_EQ(0, in_child(opens, &self->holder));
}

/* The dead daemon had heard that no thread waits for it, and had not answered. */
TEST_F(takeover, a_store_of_a_killed_program_is_not_begun_by_the_successor)
{
	pid_t child;

	if (variant->form == FAKE_READ_WRITE)
		SKIP(return, "a request and that it is cancelled are read one after the other");
	holder_give_back(&self->holder);
	self->control->is_kept = true;
	set_action(&self->holder, FAKE_KEEP);
	child = child_start(waits_in_an_access, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
	ASSERT_TRUE(fake_wait(&self->control->cancels, 1));
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_TRUE(fake_wait(&self->control->given_back, 1));
	EXPECT_EQ(0, *content(self->control));
}

TEST_F(takeover, a_program_ends_without_a_daemon_and_another_one_has_the_device_then)
{
	pid_t child;

	fake_daemon_kill(self->holder.daemon);
	holder_give_back(&self->holder);
	child = child_start(opens, &self->holder);
	self->control->closes = 0;
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_EQ(0, exit_of(child));
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
}

/* --- the device ------------------------------------------------------------------------ */

static int info_of(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	return ioctl(fd, MAPLE_IOCTL_INFO, &info) ? errno : 0;
}

TEST_F(takeover, a_program_has_its_device_as_before)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_KEEP, .is_drivers = true,
	};
	uint32_t device = self->control->device;

	*holder_register(&self->holder, 2, 8) = 6;
	fake_daemon_kill(self->holder.daemon);
	EXPECT_EQ(0, info_of(self->holder.fd));
	/* The driver would read it in its reset(). */
	fake_daemon_special(self->holder.daemon, &identify);
	ASSERT_EQ(0, fake_daemon_succeed(self->holder.daemon));
	EXPECT_EQ(device, self->control->device);
	EXPECT_EQ(6, *holder_register(&self->holder, 2, 8));
	EXPECT_EQ(0, info_of(self->holder.fd));
	/* The driver would hear of it in the background. */
	sleep_ms(200);
	EXPECT_EQ(0, self->control->held);
	EXPECT_EQ(1, self->control->opens);
	EXPECT_EQ(0, self->control->closes);
}

TEST_F(takeover, a_fault_whose_interrupt_was_not_raised_is_served)
{
	uint64_t *page = memory_map(PAGE);

	ASSERT_TRUE(memory_write_text(WATCH, "0"));
	*page = 1;
	fake_daemon_kill(self->holder.daemon);
	self->control->fault_word = (uintptr_t)page | MAPLE_FAULT_PIPES | MAPLE_FAULT_STALLED;
	EXPECT_EQ(0, succeed(&self->holder));
	EXPECT_TRUE(fake_wait(&self->control->resolves, 1));
	munmap(page, PAGE);
}

TEST_F(takeover, the_successor_has_windows)
{
	uint64_t *page = memory_map(PAGE), value = 0;

	*page = 5;
	ASSERT_EQ(0, fake_window_read(self->holder.daemon, page, &value, sizeof(value)));
	ASSERT_EQ(0, succeed(&self->holder));
	/* After the fork of it: the page is not shared with that any more, and may be written. */
	*page = 6;
	EXPECT_EQ(0, fake_window_read(self->holder.daemon, page, &value, sizeof(value)));
	EXPECT_EQ(6, value);
	value = 7;
	EXPECT_EQ(0, fake_window_write(self->holder.daemon, page, &value, sizeof(value)));
	EXPECT_EQ(7, *page);
	/* Its entries go with the page. */
	munmap(page, PAGE);
	EXPECT_EQ(-EFAULT, fake_window_read(self->holder.daemon, page, &value, sizeof(value)));
}

TEST_F(takeover, memory_changes_without_a_daemon_and_the_successor_flushes)
{
	uint64_t *pages = memory_map(3 * PAGE), value;
	unsigned long timeouts;
	pid_t child;

	pages[0] = pages[PAGE / 8] = 1;
	ASSERT_EQ(0, fake_window_read(self->holder.daemon, pages, &value, sizeof(value)));
	ASSERT_EQ(0, fake_window_read(self->holder.daemon, pages + PAGE / 8, &value, sizeof(value)));
	timeouts = maple_device_count(self->holder.daemon, "timeouts");
	fake_daemon_kill(self->holder.daemon);
	self->control->flushes = 0;
	munmap(pages, PAGE);
	mprotect(pages + PAGE / 8, PAGE, PROT_READ);
	child = fork();
	if (!child)
		_exit(0);
	EXPECT_EQ(0, exit_of(child));
	/* None has waited for the device in vain. */
	EXPECT_EQ(timeouts, maple_device_count(self->holder.daemon, "timeouts"));
	ASSERT_EQ(0, succeed(&self->holder));
	EXPECT_TRUE(fake_wait(&self->control->flushes, 1));
	munmap(pages + PAGE / 8, 2 * PAGE);
}

/* A page at 1, another one at 2. */
static void unmaps_two_pages(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	uint64_t i;

	(void)fd;
	for (i = 0; i < 2; i++) {
		while (shared->count <= i)
			sleep_ms(1);
		munmap((char *)memory + i * PAGE, PAGE);
	}
	shared->count = 3;
	pause();
}

/*
 * The dead daemon may have looked before the second change: one answer does not do for both. The program
 * is another process, as the fork of a successor changes the memory of this one.
 */
TEST_F(takeover, a_flush_that_was_taken_does_not_do_for_a_later_change)
{
	const struct fake_special flush = {
		.page = MAPLE_PAGE_MMU, .offset = MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH),
		.action = FAKE_DIE_AFTER_TAKING, .is_drivers = true,
	};
	struct program program;

	holder_give_back(&self->holder);
	ASSERT_TRUE(program_start(&program, self->holder.daemon, 2 * PAGE, unmaps_two_pages));
	fake_daemon_special(self->holder.daemon, &flush);
	program.shared->count = 1;
	ASSERT_TRUE(fake_daemon_has_died(self->holder.daemon));
	self->control->flushes = 0;
	self->control->is_paused = true;
	EXPECT_EQ(0, succeed(&self->holder));
	program.shared->count = 2;
	while (program.shared->count == 2)
		sleep_ms(1);
	self->control->is_paused = false;
	EXPECT_TRUE(fake_wait(&self->control->flushes, 2));
	program_stop(&program);
}

TEST_HARNESS_MAIN
