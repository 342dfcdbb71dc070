/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * maple.ko keeps processes apart as for silicon: it tells the device whose memory it reaches, and
 * resets it behind a process before the next one comes.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "mimic/maple_registers.h"
#include "tests/kselftest/lib/holder.h"

#define ROOT MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_ROOT)
#define RESET MAPLE_OFFSET(MAPLE_LOAD_RESET, 0)

FIXTURE(one) {
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_SETUP(one)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(one)
{
	fake_daemon_no_specials(self->holder.daemon);
	holder_stop(&self->holder);
}

static void on_reset(struct holder *holder, enum fake_action action, int status)
{
	const struct fake_special special = {
		.page = MAPLE_PAGE_MAPLE, .offset = RESET, .action = action, .status = status,
		.is_drivers = true,
	};

	fake_daemon_special(holder->daemon, &special);
}

TEST_F(one, the_device_is_told_whose_memory_it_reaches)
{
	EXPECT_NE(0, self->control->last_open.binding);
	EXPECT_EQ(self->control->last_open.binding, self->control->memory[MAPLE_PAGE_MMU][ROOT / 8]);
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	ASSERT_EQ(0, holder_open(&self->holder));
	EXPECT_EQ(self->control->last_open.binding, self->control->memory[MAPLE_PAGE_MMU][ROOT / 8]);
}

/* Those of one process are of one address space: it is not told again. */
TEST_F(one, a_second_open_of_the_process_changes_nothing)
{
	int fd;

	self->control->memory[MAPLE_PAGE_MMU][ROOT / 8] = 4711;
	fd = open(self->holder.daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_EQ(4711, self->control->memory[MAPLE_PAGE_MMU][ROOT / 8]);
}

static void *give_back(void *holder)
{
	holder_give_back(holder);
	return NULL;
}

TEST_F(one, the_last_close_resets_the_device_and_then_gives_it_up)
{
	pthread_t thread;

	on_reset(&self->holder, FAKE_KEEP, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, give_back, &self->holder));
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_EQ(0, self->control->closes);
	fake_daemon_no_specials(self->holder.daemon);
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	pthread_join(thread, NULL);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
}

TEST_F(one, a_device_that_was_not_reset_is_nobodys)
{
	on_reset(&self->holder, FAKE_STATUS, -EIO);
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	EXPECT_EQ(-EIO, holder_open(&self->holder));
	EXPECT_EQ(-EIO, holder_open(&self->holder));
	fake_daemon_no_specials(self->holder.daemon);
	EXPECT_EQ(0, holder_open(&self->holder));
}

/* As it has ended by the time its files are closed. */
TEST_F(one, a_killed_process_leaves_nothing_either)
{
	unsigned int opens;

	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	on_reset(&self->holder, FAKE_STATUS, -EIO);
	opens = self->control->opens;
	if (!fork()) {
		holder_open(&self->holder);
		kill(getpid(), SIGKILL);
	}
	wait(NULL);
	ASSERT_TRUE(fake_wait(&self->control->closes, 2));
	EXPECT_EQ(opens + 1, self->control->opens);
	EXPECT_EQ(-EIO, holder_open(&self->holder));
	fake_daemon_no_specials(self->holder.daemon);
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_HARNESS_MAIN
