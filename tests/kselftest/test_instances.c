/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which process has an instance, and when it is free again: docs/abi.md, "Instances". And its threads. */
#include "kselftest_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"

FIXTURE(instance)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_SETUP(instance)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(instance)
{
	holder_stop(&self->holder);
}

static int opens(void *holder)
{
	return -holder_open(holder);
}

static int index_of(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	return ioctl(fd, MAPLE_IOCTL_INFO, &info) ? -errno : (int)info.index;
}

/* --- held and free ------------------------------------------------------------------ */

TEST_F(instance, another_process_is_refused_and_the_same_one_is_not)
{
	int second = open(self->holder.daemon->node, O_RDWR);

	EXPECT_LE(0, second);
	EXPECT_EQ(EBUSY, in_child(opens, &self->holder));
	EXPECT_EQ(1, self->control->opens);
	close(second);
	EXPECT_EQ(0, self->control->closes);
}

static void *opens_in_thread(void *holder)
{
	int fd = open(((struct holder *)holder)->daemon->node, O_RDWR);

	close(fd);
	return (void *)(intptr_t)fd;
}

TEST_F(instance, any_thread_of_the_process_may_open_it)
{
	pthread_t thread;
	void *fd;

	pthread_create(&thread, NULL, opens_in_thread, &self->holder);
	pthread_join(thread, &fd);
	EXPECT_LE(0, (intptr_t)fd);
	EXPECT_EQ(1, self->control->opens);
}

TEST_F(instance, it_is_free_after_close_then_munmap)
{
	holder_close(&self->holder);
	EXPECT_EQ(EBUSY, in_child(opens, &self->holder));
	*holder_register(&self->holder, 0, 8) = 3;
	EXPECT_EQ(3, *holder_register(&self->holder, 0, 8));
	EXPECT_EQ(0, self->control->closes);
	holder_unmap(&self->holder);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
	EXPECT_EQ(0, in_child(opens, &self->holder));
}

TEST_F(instance, it_is_free_after_munmap_then_close)
{
	holder_unmap(&self->holder);
	EXPECT_EQ(EBUSY, in_child(opens, &self->holder));
	EXPECT_EQ(0, self->control->closes);
	holder_close(&self->holder);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
	EXPECT_EQ(0, in_child(opens, &self->holder));
}

TEST_F(instance, the_last_of_several_descriptors_frees_it)
{
	int fds[3], i;

	for (i = 0; i < 3; i++)
		fds[i] = open(self->holder.daemon->node, O_RDWR);
	holder_give_back(&self->holder);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, self->control->closes);
		EXPECT_EQ(EBUSY, in_child(opens, &self->holder));
		close(fds[i]);
	}
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
}

static int opens_and_exits(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 1;
	*holder_register(holder, 0, 8) = 1;
	_exit(0);
}

TEST_F(instance, it_is_free_after_the_exit_of_its_process)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(opens_and_exits, &self->holder));
	EXPECT_EQ(0, holder_open(&self->holder));
	EXPECT_EQ(3, self->control->opens);
	EXPECT_EQ(2, self->control->closes);
}

static int opens_and_waits(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 1;
	return (int)*holder_register(holder, 0, HELD_OFFSET);
}

TEST_F(instance, it_is_free_after_its_process_was_killed_within_an_access)
{
	pid_t child;

	holder_held_register(&self->holder);
	holder_give_back(&self->holder);
	child = child_start(opens_and_waits, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_EQ(-EBUSY, holder_open(&self->holder));
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_F(instance, each_opening_gets_a_new_binding_and_a_fresh_device)
{
	uint32_t first = self->control->last_open.binding;

	*holder_register(&self->holder, 0, 8) = 1;
	holder_give_back(&self->holder);
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	EXPECT_EQ(0, *holder_register(&self->holder, 0, 8));
	EXPECT_NE(0, self->control->last_open.binding);
	EXPECT_EQ(first, self->control->log[0].binding);
}

/* --- CLOSE before OPEN ---------------------------------------------------------------- */

TEST_F(instance, the_daemon_hears_close_before_the_next_open)
{
	unsigned int i, opened = 0;

	for (i = 0; i < 20; i++) {
		holder_give_back(&self->holder);
		ASSERT_EQ(0, holder_open(&self->holder));
	}
	EXPECT_EQ(21, self->control->opens);
	for (i = 0; i < self->control->log_count; i++) {
		opened += self->control->log[i].kind == MIMIC_BUS_REQUEST_OPEN;
		opened -= self->control->log[i].kind == MIMIC_BUS_REQUEST_CLOSE;
		EXPECT_GE(1, opened);
	}
}

static int opens_again_and_again(void *argument)
{
	struct holder *holder = argument;
	int error = 0;

	while (!error && holder->control->log_count < FAKE_LOG_MAX - 8) {
		error = holder_open(holder);
		if (!error)
			holder_give_back(holder);
		else if (error == -EBUSY)
			error = 0;
	}
	return -error;
}

TEST_F(instance, the_daemon_hears_close_before_the_open_of_another_process)
{
	unsigned int i, count, opened = 0;
	pid_t others[2];

	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	self->control->log_count = 0;
	for (i = 0; i < 2; i++)
		others[i] = child_start(opens_again_and_again, &self->holder);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, exit_of(others[i]));
	count = self->control->log_count;
	EXPECT_LE(FAKE_LOG_MAX - 8, count);
	for (i = 0; i < count && i < FAKE_LOG_MAX; i++) {
		opened += self->control->log[i].kind == MIMIC_BUS_REQUEST_OPEN;
		opened -= self->control->log[i].kind == MIMIC_BUS_REQUEST_CLOSE;
		EXPECT_GE(1, opened) {
			TH_LOG("request %u", i);
		}
	}
}

TEST_F(instance, an_open_waits_for_the_answer_of_the_last_close)
{
	pid_t child;

	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CLOSE;
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	child = child_start(opens, &self->holder);
	sleep_ms(50);
	EXPECT_EQ(1, self->control->opens);
	self->control->hold_kinds = 0;
	fake_daemon_release(self->holder.daemon);
	EXPECT_EQ(0, exit_of(child));
	EXPECT_EQ(2, self->control->opens);
}

TEST_F(instance, a_program_that_waits_in_open_can_be_killed)
{
	pid_t child;

	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	child = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
	self->control->hold_kinds = 0;
	fake_daemon_release(self->holder.daemon);
	/* A process that had it and has ended has it no more. */
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_F(instance, two_programs_that_open_at_once_do_not_both_get_it)
{
	pid_t first, second;
	int results[2];

	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	holder_held_register(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	first = child_start(opens_and_waits, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	second = child_start(opens, &self->holder);
	sleep_ms(30);
	self->control->hold_kinds = 0;
	fake_daemon_release(self->holder.daemon);
	results[1] = exit_of(second);
	EXPECT_EQ(EBUSY, results[1]);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	fake_daemon_release(self->holder.daemon);
	results[0] = exit_of(first);
	EXPECT_EQ(0, results[0]);
}

/* Opens, checks that nobody else writes where it does, closes; 25 times. */
static int takes_turns(void *argument)
{
	struct holder *holder = argument;
	int rounds = 0, tries = 0;

	while (rounds < 25 && tries++ < 100000) {
		int error = holder_open(holder);

		if (error == -EBUSY)
			continue;
		if (error || holder_map(holder))
			return 1;
		*holder_register(holder, 0, 8) = (uint64_t)getpid();
		if (*holder_register(holder, 0, 8) != (uint64_t)getpid())
			return 2;
		holder_give_back(holder);
		rounds++;
	}
	return rounds == 25 ? 0 : 3;
}

TEST_F(instance, four_programs_take_turns)
{
	pid_t children[4];
	int i;

	holder_give_back(&self->holder);
	for (i = 0; i < 4; i++)
		children[i] = child_start(takes_turns, &self->holder);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, exit_of(children[i]));
	EXPECT_EQ(101, self->control->opens);
	EXPECT_TRUE(fake_wait(&self->control->closes, 101));
}

/* --- /dev/maple ----------------------------------------------------------------------- */

TEST_F(instance, dev_maple_gives_one_that_is_free)
{
	struct fake_options options = { .channel = FAKE_SLOTS };
	struct fake_daemon *other = fake_daemon_start(&options);
	int fd, none;

	ASSERT_NE(NULL, other);
	/* Not the one that this process has already. */
	fd = open("/dev/maple", O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(other->control->index, index_of(fd));
	none = open("/dev/maple", O_RDWR);
	EXPECT_EQ(-1, none);
	EXPECT_EQ(EBUSY, errno);
	close(fd);
	fake_daemon_stop(other);
}

TEST_F(instance, processes_have_the_same_number_on_all_devices)
{
	struct fake_options options = { .channel = FAKE_SLOTS };
	struct fake_daemon *other = fake_daemon_start(&options);
	int fd;

	ASSERT_NE(NULL, other);
	fd = open(other->node, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(self->control->last_open.process, other->control->last_open.process);
	EXPECT_NE(self->control->last_open.binding, other->control->last_open.binding);
	close(fd);
	fake_daemon_stop(other);
}

static int count_devices(void)
{
	DIR *bus = opendir("/sys/bus/mimic/devices");
	int count = 0;

	for (struct dirent *entry; bus && (entry = readdir(bus));)
		count += entry->d_name[0] != '.';
	if (bus)
		closedir(bus);
	return count;
}

TEST(dev_maple_without_any_device_is_enoent)
{
	/* One that a program before us has left behind would be another case. */
	if (count_devices())
		SKIP(return, "there are devices on the bus");
	EXPECT_EQ(-1, open("/dev/maple", O_RDWR));
	EXPECT_EQ(ENOENT, errno);
}

TEST(a_node_without_a_device_is_enoent)
{
	struct stat any;

	ASSERT_EQ(0, stat("/dev/maple", &any));
	EXPECT_EQ(255, minor(any.st_rdev));
	unlink("/tmp/maple-77");
	ASSERT_EQ(0, mknod("/tmp/maple-77", S_IFCHR | 0600, makedev(major(any.st_rdev), 77)));
	EXPECT_EQ(-1, open("/tmp/maple-77", O_RDWR));
	EXPECT_EQ(ENOENT, errno);
	unlink("/tmp/maple-77");
}

/* --- threads --------------------------------------------------------------------------- */

static void *stores_its_number(void *place)
{
	*(volatile uint64_t *)place = (uint64_t)gettid();
	return NULL;
}

TEST_F(instance, each_thread_has_its_own_number)
{
	pthread_t threads[8];
	uint32_t numbers[9];
	int pids[9], i, j;

	stores_its_number((void *)holder_register(&self->holder, 0, 8));
	for (i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, stores_its_number,
			       (void *)holder_register(&self->holder, 0, 8));
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ASSERT_EQ(9, self->control->stores);
	for (i = 0, j = 0; j < 9; i++) {
		if (self->control->log[i].kind != MIMIC_BUS_REQUEST_ACCESS)
			continue;
		numbers[j] = self->control->log[i].thread;
		pids[j] = self->control->log[i].pid;
		/* The daemon sees the thread's own id. */
		EXPECT_EQ(self->control->log[i].data, (uint64_t)pids[j]);
		j++;
	}
	for (i = 0; i < 9; i++) {
		EXPECT_NE(0, numbers[i]);
		for (j = 0; j < i; j++)
			EXPECT_NE(numbers[i], numbers[j]);
	}
}

TEST_F(instance, a_thread_keeps_its_number)
{
	int i;

	for (i = 0; i < 10; i++)
		*holder_register(&self->holder, 0, 8) = (uint64_t)i;
	for (i = 2; i < 11; i++)
		EXPECT_EQ(self->control->log[1].thread, self->control->log[i].thread);
}

TEST_F(instance, the_daemon_hears_of_a_threads_end)
{
	const struct mimic_bus_request *gone;
	pthread_t thread;
	uint32_t number;

	pthread_create(&thread, NULL, stores_its_number, (void *)holder_register(&self->holder, 0, 8));
	pthread_join(thread, NULL);
	EXPECT_TRUE(fake_wait(&self->control->threads_gone, 1));
	number = fake_daemon_last(self->holder.daemon, MIMIC_BUS_REQUEST_ACCESS)->thread;
	gone = fake_daemon_last(self->holder.daemon, MIMIC_BUS_REQUEST_THREAD_GONE);
	EXPECT_EQ(number, gone->thread);
	EXPECT_EQ(self->control->last_open.binding, gone->binding);
	/* The next one has another number. */
	pthread_create(&thread, NULL, stores_its_number, (void *)holder_register(&self->holder, 0, 8));
	pthread_join(thread, NULL);
	EXPECT_NE(number, fake_daemon_last(self->holder.daemon, MIMIC_BUS_REQUEST_ACCESS)->thread);
}

/* No thread's number. */
#define JOINED 0x4a4f494eull

/* join returns a little before the kernel tells of the end. */
TEST_F(instance, the_daemon_hears_of_a_threads_end_before_what_is_done_after_its_join)
{
	volatile uint64_t *place = holder_register(&self->holder, 0, 8);
	unsigned int i, running = 0, first = self->control->log_count;
	pthread_t thread;

	for (i = 0; i < 300; i++) {
		pthread_create(&thread, NULL, stores_its_number, (void *)place);
		pthread_join(thread, NULL);
		*place = JOINED;
	}
	EXPECT_TRUE(fake_wait(&self->control->threads_gone, 300));
	ASSERT_GE(FAKE_LOG_MAX, self->control->log_count);
	for (i = first; i < self->control->log_count; i++) {
		const struct mimic_bus_request *request = &self->control->log[i];

		if (request->kind == MIMIC_BUS_REQUEST_THREAD_GONE)
			running--;
		else if (request->kind == MIMIC_BUS_REQUEST_ACCESS && request->data != JOINED)
			running++;
		else if (request->kind == MIMIC_BUS_REQUEST_ACCESS)
			EXPECT_EQ(0, running) {
				TH_LOG("request %u", i);
			}
	}
}

static void *does_nothing(void *unused)
{
	return unused;
}

TEST_F(instance, the_daemon_does_not_hear_of_threads_that_made_no_access)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 5; i++) {
		pthread_create(&thread, NULL, does_nothing, NULL);
		pthread_join(thread, NULL);
	}
	sleep_ms(50);
	EXPECT_EQ(0, self->control->threads_gone);
}

static int access_and_exit(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 1;
	*holder_register(holder, 0, 8) = 1;
	return 0;
}

TEST_F(instance, close_says_it_for_all_threads)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(access_and_exit, &self->holder));
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
	/* Nothing of that binding comes after its CLOSE. */
	EXPECT_EQ(MIMIC_BUS_REQUEST_CLOSE, self->control->log[self->control->log_count - 1].kind);
}

TEST_F(instance, a_blocked_thread_does_not_keep_others_from_the_device)
{
	struct waiter waiter;
	int i;

	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, holder_held_register(&self->holder), false));
	for (i = 0; i < 50; i++)
		*holder_register(&self->holder, 1, 8) = (uint64_t)i;
	EXPECT_EQ(49, *holder_register(&self->holder, 1, 8));
	EXPECT_EQ(0, waiter.is_done);
	fake_daemon_release(self->holder.daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
}

TEST_HARNESS_MAIN
