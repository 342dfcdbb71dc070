/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The forms of the channel between bus and daemon mean the same. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/ring.h"
#include "tests/lib/limit.h"

TEST_SECONDS(120);

FIXTURE(channel)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_VARIANT(channel)
{
	enum fake_channel form;
};

FIXTURE_VARIANT_ADD(channel, read_write) { .form = FAKE_READ_WRITE };
FIXTURE_VARIANT_ADD(channel, slots) { .form = FAKE_SLOTS };
FIXTURE_VARIANT_ADD(channel, spinning) { .form = FAKE_SPINNING };
FIXTURE_VARIANT_ADD(channel, io_uring) { .form = FAKE_URING };

FIXTURE_SETUP(channel)
{
	struct fake_options options = { .channel = variant->form, .is_paper = true };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(channel)
{
	holder_stop(&self->holder);
}

TEST_F(channel, loads_and_stores)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		*holder_register(&self->holder, i % 5, 8 * i) = i * 0x0101010101ull;
		EXPECT_EQ(i * 0x0101010101ull, *holder_register(&self->holder, i % 5, 8 * i));
	}
	EXPECT_EQ(200, self->control->loads);
	EXPECT_EQ(200, self->control->stores);
}

TEST_F(channel, a_request_names_its_thread_and_register)
{
	const struct mimic_bus_request *request;

	*(volatile uint16_t *)(self->holder.pages + 3 * PAGE + 0x126) = 0xbeef;
	request = fake_daemon_last(self->holder.daemon, MIMIC_BUS_REQUEST_ACCESS);
	ASSERT_NE(NULL, request);
	EXPECT_EQ(self->control->device, request->device);
	EXPECT_EQ(self->control->last_open.binding, request->binding);
	EXPECT_EQ(1, request->thread);
	EXPECT_EQ(3, request->page);
	EXPECT_EQ(0x126, request->offset);
	EXPECT_EQ(2, request->size);
	EXPECT_EQ(1, request->is_write);
	EXPECT_EQ(0xbeef, request->data);
	EXPECT_EQ(gettid(), request->pid);
}

TEST_F(channel, errors_are_sigbus)
{
	const struct fake_special error = {
		.page = 2, .offset = 8, .action = FAKE_STATUS, .status = -ENXIO,
	};

	fake_daemon_special(self->holder.daemon, &error);
	EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 2, 8), NULL));
	EXPECT_EQ(0, signal_of_load(holder_register(&self->holder, 2, 16), NULL));
}

TEST_F(channel, an_answer_may_come_much_later)
{
	volatile uint64_t *held = holder_held_register(&self->holder);
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, held, false));
	sleep_ms(100);
	self->control->memory[0][HELD_OFFSET / 8] = 0x99;
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	ASSERT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0x99, waiter.value);
}

TEST_F(channel, connect_hands_a_descriptor_over)
{
	struct maple_connect session = { .size = sizeof(session) };
	char text[8] = "";

	ASSERT_EQ(0, ioctl(self->holder.fd, MAPLE_IOCTL_CONNECT, &session));
	EXPECT_EQ(5, read(session.fd, text, 5));
	EXPECT_STREQ("mimic", text);
	close(session.fd);
}

TEST_F(channel, open_and_close_and_posted_requests)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		holder_give_back(&self->holder);
		ASSERT_EQ(0, holder_open(&self->holder));
	}
	EXPECT_EQ(11, self->control->opens);
	EXPECT_EQ(10, self->control->closes);
}

TEST_F(channel, a_page_fault_is_served)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t value = 7;

	EXPECT_EQ(-EFAULT, fake_window_read(self->holder.daemon, page, &value, 8));
	ASSERT_EQ(0, fake_daemon_fault(self->holder.daemon, page, true));
	ASSERT_TRUE(fake_wait(&self->control->resolves, 1));
	EXPECT_EQ(0, fake_window_read(self->holder.daemon, page, &value, 8));
	EXPECT_EQ(0, value);
}

static void *stores_and_loads(void *place)
{
	volatile uint64_t *reg = place;
	uintptr_t wrong = 0;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		*reg = i + (uintptr_t)place;
		wrong += *reg != i + (uintptr_t)place;
	}
	return (void *)wrong;
}

TEST_F(channel, eight_threads_at_once_get_each_its_own_answers)
{
	pthread_t threads[8];
	void *wrong;
	unsigned int i;

	for (i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, stores_and_loads,
			       (void *)holder_register(&self->holder, i % 5, 0x100 + 8 * i));
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], &wrong);
		EXPECT_EQ(NULL, wrong);
	}
	EXPECT_EQ(800, self->control->loads);
	EXPECT_EQ(800, self->control->stores);
}

/* --- more waiting accesses than slots ---------------------------------------------------- */

#define MANY 60

static void start_many(struct holder *holder, struct waiter *waiters)
{
	volatile uint64_t *held = holder_held_register(holder);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		waiter_run(&waiters[i], held, false);
}

static unsigned int still_waiting(const struct waiter *waiters)
{
	unsigned int i, count = 0;

	for (i = 0; i < MANY; i++)
		count += !waiters[i].is_done;
	return count;
}

TEST_F(channel, more_threads_than_slots_are_all_served)
{
	static struct waiter waiters[MANY];
	unsigned int i, rounds, wrong = 0;

	start_many(&self->holder, waiters);
	EXPECT_TRUE(fake_wait(&self->control->held, MIMIC_BUS_DEVICE_SLOTS));
	sleep_ms(20);
	EXPECT_EQ(MIMIC_BUS_DEVICE_SLOTS, self->control->held);
	EXPECT_EQ(MANY, still_waiting(waiters));
	self->control->memory[0][HELD_OFFSET / 8] = 0x31;
	for (rounds = 0; still_waiting(waiters) && rounds < 1000; rounds++) {
		fake_daemon_release(self->holder.daemon);
		sleep_ms(5);
	}
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(waiter_ends(&waiters[i]));
		wrong += waiters[i].signal || waiters[i].value != 0x31;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(MANY, self->control->loads);
}

TEST_F(channel, all_of_them_end_when_the_daemon_dies)
{
	static struct waiter waiters[MANY];
	unsigned int i, wrong = 0;
	double start;

	start_many(&self->holder, waiters);
	EXPECT_TRUE(fake_wait(&self->control->held, MIMIC_BUS_DEVICE_SLOTS));
	start = now_seconds();
	fake_daemon_kill(self->holder.daemon);
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(waiter_ends(&waiters[i]));
		wrong += waiters[i].signal != SIGBUS;
	}
	EXPECT_GT(at_most(3), now_seconds() - start);
	EXPECT_EQ(0, wrong);
}

static int blocks_in_many_threads(void *holder)
{
	static struct waiter waiters[MANY];

	if (holder_open(holder) || holder_map(holder))
		return 1;
	start_many(holder, waiters);
	for (;;)
		pause();
}

TEST_F(channel, a_program_with_more_threads_than_slots_can_be_killed)
{
	double start;
	pid_t child;

	holder_give_back(&self->holder);
	child = child_start(blocks_in_many_threads, &self->holder);
	EXPECT_TRUE(fake_wait(&self->control->held, MIMIC_BUS_DEVICE_SLOTS));
	start = now_seconds();
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
	EXPECT_GT(at_most(5), now_seconds() - start);
	fake_daemon_no_specials(self->holder.daemon);
	EXPECT_EQ(0, holder_open(&self->holder));
}

static _Atomic unsigned int handled;

static void count_signal(int number)
{
	(void)number;
	handled++;
}

TEST_F(channel, an_access_that_waits_for_a_slot_makes_way_for_a_signal)
{
	static struct waiter waiters[MANY];
	unsigned int i, rounds;

	signal(SIGUSR1, count_signal);
	start_many(&self->holder, waiters);
	EXPECT_TRUE(fake_wait(&self->control->held, MIMIC_BUS_DEVICE_SLOTS));
	sleep_ms(100);
	for (i = 0; i < MANY; i++)
		pthread_kill(waiters[i].thread, SIGUSR1);
	EXPECT_TRUE(fake_wait(&handled, MANY));
	for (rounds = 0; still_waiting(waiters) && rounds < 1000; rounds++) {
		fake_daemon_release(self->holder.daemon);
		sleep_ms(5);
	}
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(waiter_ends(&waiters[i]));
		EXPECT_EQ(0, waiters[i].signal);
	}
}

/* In the daemon. */
static uint32_t another_device;

static long registers_another(struct fake_self *self, void *unused)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "maple", .index = -1, .pages = 5, .interrupts = 1,
		.capabilities = MIMIC_BUS_TRAPS,
	};

	(void)unused;
	if (ioctl(self->fd, MIMIC_BUS_REGISTER, &wanted))
		return -errno;
	another_device = wanted.device;
	return wanted.index;
}

static long unregisters_another(struct fake_self *self, void *unused)
{
	struct mimic_bus_unregister wanted = { .size = sizeof(wanted), .device = another_device };

	(void)unused;
	return ioctl(self->fd, MIMIC_BUS_UNREGISTER, &wanted) ? -errno : 0;
}

static int opens_in_time(const char *node)
{
	int tries, fd = -1;

	for (tries = 0; fd < 0 && tries < 5000; tries++) {
		fd = open(node, O_RDWR);
		if (fd < 0)
			sleep_ms(1);
	}
	return fd;
}

TEST_F(channel, a_device_whose_accesses_all_wait_does_not_stop_another_of_its_daemon)
{
	static struct waiter waiters[MANY];
	volatile uint64_t *other;
	unsigned int i, rounds;
	char node[32];
	long index;
	int fd;

	start_many(&self->holder, waiters);
	EXPECT_TRUE(fake_wait(&self->control->held, MIMIC_BUS_DEVICE_SLOTS));
	index = fake_daemon_call(self->holder.daemon, registers_another, NULL, 0);
	ASSERT_LE(0, index);
	snprintf(node, sizeof(node), "/dev/maple%ld", index);
	fd = opens_in_time(node);
	ASSERT_LE(0, fd);
	other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)other);
	other[1] = 0x66;
	EXPECT_EQ(0x66, other[1]);
	EXPECT_EQ(MANY, still_waiting(waiters));
	munmap((void *)other, PAGE);
	close(fd);
	for (rounds = 0; still_waiting(waiters) && rounds < 1000; rounds++) {
		fake_daemon_release(self->holder.daemon);
		sleep_ms(5);
	}
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(waiter_ends(&waiters[i]));
	EXPECT_EQ(0, fake_daemon_call(self->holder.daemon, unregisters_another, NULL, 0));
}

/* --- a daemon that goes wrong -------------------------------------------------------------- */

static long scribbles(struct fake_self *self, void *unused)
{
	uint8_t *memory = (uint8_t *)self->header;
	unsigned int state = 12345, i;

	(void)unused;
	for (i = 0; i < 300000; i++) {
		state = state * 1103515245 + 12345;
		memory[(state >> 8) % MIMIC_BUS_SLOTS_SIZE] = (uint8_t)(state >> 24);
	}
	return 0;
}

static int accesses_for_a_while(void *holder)
{
	double end = now_seconds() + 1;

	if (holder_open(holder) || holder_map(holder))
		return 1;
	while (now_seconds() < end) {
		signal_of_load(holder_register(holder, 1, 8), NULL);
		signal_of_store(holder_register(holder, 1, 8), NULL);
	}
	return 0;
}

TEST_F(channel, a_daemon_that_writes_rubbish_into_the_shared_memory_harms_nobody_else)
{
	pid_t child;

	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	child = child_start(accesses_for_a_while, &self->holder);
	fake_daemon_call_start(self->holder.daemon, scribbles, NULL, 0);
	sleep_ms(1000);
	/* Its own requests may be lost: its end releases the threads that wait for them. */
	fake_daemon_kill(self->holder.daemon);
	EXPECT_GE(1, exit_of(child));
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	*holder_register(&self->holder, 1, 8) = 5;
	EXPECT_EQ(5, *holder_register(&self->holder, 1, 8));
}

/* --- of one form only ------------------------------------------------------------------------ */

TEST(a_spinning_daemon_needs_few_commits)
{
	struct fake_options options = { .channel = FAKE_SPINNING };
	struct holder holder;
	unsigned int i;

	ASSERT_EQ(0, holder_start(&holder, &options));
	for (i = 0; i < 2000; i++)
		*holder_register(&holder, 1, 8) = i;
	EXPECT_EQ(2000, holder.control->stores);
	printf("# %u of 2000 stores were committed by ioctl\n", holder.control->commits);
	EXPECT_GT(2000, holder.control->commits);
	holder_stop(&holder);
}

TEST(io_uring_commits_and_fetches_in_one)
{
	struct fake_options options = { .channel = FAKE_URING };
	struct holder holder;
	unsigned int i;

	ASSERT_EQ(0, holder_start(&holder, &options));
	for (i = 0; i < 100; i++)
		*holder_register(&holder, 1, 8) = i;
	EXPECT_LT(50, holder.control->commit_fetches);
	holder_stop(&holder);
}

/* --- io_uring, command by command ------------------------------------------------------------- */

FIXTURE(commands)
{
	int fd;
	struct ring ring;
};

FIXTURE_SETUP(commands)
{
	self->fd = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_create(&self->ring));
}

FIXTURE_TEARDOWN(commands)
{
	ring_destroy(&self->ring);
	close(self->fd);
}

/* Of one command that completes at once. */
static int result_of(struct ring *ring, int fd, unsigned int operation, unsigned int slot,
		     unsigned int reserved)
{
	int result = -1;

	ring_prepare(ring, fd, operation, slot, reserved, 1);
	if (ring_enter(ring, 1, 1) || !ring_result(ring, &result, NULL))
		return -ETIME;
	return result;
}

TEST_F(commands, an_unknown_one_is_enotty)
{
	EXPECT_EQ(-ENOTTY, result_of(&self->ring, self->fd, 77, 0, 0));
	EXPECT_EQ(-ENOTTY, result_of(&self->ring, self->fd, 0, 0, 0));
}

TEST_F(commands, a_reserved_field_is_einval)
{
	EXPECT_EQ(-EINVAL, result_of(&self->ring, self->fd, MIMIC_BUS_COMMAND_FETCH, 0, 1));
}

TEST_F(commands, commit_and_fetch_of_no_slot_is_einval)
{
	EXPECT_EQ(-EINVAL, result_of(&self->ring, self->fd, MIMIC_BUS_COMMAND_COMMIT_AND_FETCH,
				     MIMIC_BUS_SLOTS, 0));
}

TEST_F(commands, a_fetch_without_a_request_stays)
{
	int result;

	ring_prepare(&self->ring, self->fd, MIMIC_BUS_COMMAND_FETCH, 0, 0, 1);
	ASSERT_EQ(0, ring_enter(&self->ring, 1, 0));
	sleep_ms(30);
	EXPECT_EQ(0, ring_result(&self->ring, &result, NULL));
}

TEST_F(commands, too_many_fetches_are_ebusy)
{
	int result = 0, i;

	for (i = 0; i < 5; i++)
		ring_prepare(&self->ring, self->fd, MIMIC_BUS_COMMAND_FETCH, 0, 0, (unsigned long)i);
	ASSERT_EQ(0, ring_enter(&self->ring, 5, 1));
	EXPECT_EQ(1, ring_result(&self->ring, &result, NULL));
	EXPECT_EQ(-EBUSY, result);
	EXPECT_EQ(0, ring_result(&self->ring, &result, NULL));
}

TEST_F(commands, a_process_may_die_with_a_fetch_that_stays)
{
	struct ring ring;
	pid_t child = fork();
	int fd;

	if (!child) {
		fd = open(MIMIC_BUS_NODE, O_RDWR);
		if (ring_create(&ring))
			_exit(1);
		ring_prepare(&ring, fd, MIMIC_BUS_COMMAND_FETCH, 0, 0, 1);
		if (ring_enter(&ring, 1, 0))
			_exit(2);
		kill(getpid(), SIGKILL);
	}
	EXPECT_EQ(128 + SIGKILL, exit_of(child));
}

TEST_F(commands, the_ring_may_be_closed_before_the_node_and_after_it)
{
	int i;

	for (i = 0; i < 4; i++) {
		struct ring ring;
		int fd = open(MIMIC_BUS_NODE, O_RDWR);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ring_create(&ring));
		ring_prepare(&ring, fd, MIMIC_BUS_COMMAND_FETCH, 0, 0, 1);
		ASSERT_EQ(0, ring_enter(&ring, 1, 0));
		if (i & 1)
			ring_destroy(&ring);
		close(fd);
		if (!(i & 1))
			ring_destroy(&ring);
	}
}

/* --- read() and write(), call by call ------------------------------------------------------------ */

TEST(a_read_waits_for_a_request_and_a_signal_ends_it)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct mimic_bus_request request;
	int fd = open(MIMIC_BUS_NODE, O_RDWR);

	ASSERT_LE(0, fd);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 50000 }, NULL);
	EXPECT_EQ(-1, read(fd, &request, sizeof(request)));
	EXPECT_EQ(EINTR, errno);
	close(fd);
}

static long reads_to_nowhere(struct fake_self *self, void *unused)
{
	ssize_t done;

	(void)unused;
	/* Stopped meanwhile, the serving thread takes nothing. */
	do {
		done = read(self->fd, (void *)4096, sizeof(struct mimic_bus_request));
	} while (done < 0 && errno == EAGAIN);
	return done < 0 ? -errno : done;
}

TEST(a_read_that_fails_loses_no_request)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };
	struct waiter waiter;
	struct holder holder;
	unsigned int i;

	ASSERT_EQ(0, holder_start(&holder, &options));
	for (i = 0; i < 5; i++) {
		fake_daemon_call_start(holder.daemon, reads_to_nowhere, NULL, 0);
		ASSERT_EQ(0, waiter_run(&waiter, holder_register(&holder, 1, 8), true));
		ASSERT_TRUE(waiter_ends(&waiter));
		EXPECT_EQ(0, waiter.signal);
		EXPECT_EQ(i + 1, holder.control->stores);
		/* It may still wait: give it a request. */
		holder_close(&holder);
		holder_unmap(&holder);
		ASSERT_EQ(0, holder_open(&holder));
		ASSERT_EQ(0, holder_map(&holder));
		EXPECT_EQ(-EFAULT, fake_daemon_call_finish(holder.daemon, NULL, 0));
	}
	holder_stop(&holder);
}

TEST_HARNESS_MAIN
