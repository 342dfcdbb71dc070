/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ioctls of /dev/mimic, read() and write(): their answers to good and bad calls. */
#include "kselftest_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "tests/kselftest/lib/holder.h"

FIXTURE(bus)
{
	int fd;
};

FIXTURE_SETUP(bus)
{
	self->fd = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(bus)
{
	close(self->fd);
}

/* 0 or the errno. */
static int call(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

/* A kind that no driver takes: registering it needs no serving thread. */
static struct mimic_bus_register plain_device(void)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "plain-test", .index = -1, .pages = 1,
	};

	return wanted;
}

static int unregister(int fd, uint32_t device)
{
	struct mimic_bus_unregister wanted = { .size = sizeof(wanted), .device = device };

	return call(fd, MIMIC_BUS_UNREGISTER, &wanted);
}

/* Devices are added in the background. */
static bool appears(const struct mimic_bus_register *device, bool is_there)
{
	char path[80];
	int tries;

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/%s%d", device->kind, device->index);
	for (tries = 0; tries < 5000; tries++) {
		if (!access(path, F_OK) == is_there)
			return true;
		sleep_ms(1);
	}
	return false;
}

/* A structure with the kernel's fields, and more behind them. */
#define LONGER(type) struct { struct type known; uint64_t more[2]; }

TEST_F(bus, info_tells_version_and_slots)
{
	struct mimic_bus_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, call(self->fd, MIMIC_BUS_INFO, &info));
	EXPECT_EQ(MIMIC_BUS_VERSION, info.version);
	EXPECT_EQ(MIMIC_BUS_SLOTS, info.slots);
	EXPECT_EQ(sizeof(struct mimic_bus_slot), info.slot_size);
	EXPECT_EQ((MIMIC_BUS_SLOTS_SIZE + PAGE - 1) / PAGE * PAGE, info.slots_size);
}

TEST_F(bus, a_smaller_structure_is_einval)
{
	LONGER(mimic_bus_register) buffer = { 0 };

	buffer.known.size = sizeof(struct mimic_bus_info) - 8;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INFO, &buffer));
	buffer.known = plain_device();
	buffer.known.size -= 8;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_REGISTER, &buffer));
	buffer.known.size = 8;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_UNREGISTER, &buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INTERRUPT, &buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_COMMIT, &buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_KEEP, &buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_TAKE_OVER, &buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_FAULT_IN, &buffer));
	buffer.known.size = 0;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INFO, &buffer));
}

TEST_F(bus, a_longer_structure_with_zeros_behind_is_taken)
{
	LONGER(mimic_bus_info) info = { .known.size = sizeof(info) };
	LONGER(mimic_bus_commit) commit = { .known.size = sizeof(commit) };
	LONGER(mimic_bus_keep) keep = { .known.size = sizeof(keep) };

	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_KEEP, &keep));
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_INFO, &info));
	EXPECT_EQ(MIMIC_BUS_SLOTS, info.known.slots);
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_COMMIT, &commit));
}

TEST_F(bus, a_longer_structure_with_a_value_behind_is_e2big)
{
	LONGER(mimic_bus_info) info = { .known.size = sizeof(info), .more = { 0, 1 } };
	LONGER(mimic_bus_register) device = { .known = plain_device(), .more = { 0, 1ull << 63 } };
	LONGER(mimic_bus_unregister) gone = { .known.size = sizeof(gone), .more = { 1 } };
	LONGER(mimic_bus_interrupt) line = { .known.size = sizeof(line), .more = { 1 } };
	LONGER(mimic_bus_commit) commit = { .known.size = sizeof(commit), .more = { 1 } };
	LONGER(mimic_bus_keep) keep = { .known.size = sizeof(keep), .more = { 1 } };
	LONGER(mimic_bus_take_over) other = { .known.size = sizeof(other), .more = { 1 } };

	device.known.size = sizeof(device);
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_INFO, &info));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_REGISTER, &device));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_UNREGISTER, &gone));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_COMMIT, &commit));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_KEEP, &keep));
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_TAKE_OVER, &other));
}

TEST_F(bus, a_size_beyond_a_page_is_e2big)
{
	static uint32_t buffer[4096] = { 4097 };

	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_INFO, buffer));
	buffer[0] = UINT32_MAX;
	EXPECT_EQ(E2BIG, call(self->fd, MIMIC_BUS_INFO, buffer));
}

TEST_F(bus, a_bad_pointer_is_efault)
{
	const unsigned long commands[] = {
		MIMIC_BUS_INFO, MIMIC_BUS_REGISTER, MIMIC_BUS_UNREGISTER, MIMIC_BUS_INTERRUPT,
		MIMIC_BUS_COMMIT, MIMIC_BUS_KEEP, MIMIC_BUS_TAKE_OVER, MIMIC_BUS_FAULT_IN,
	};
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		EXPECT_EQ(EFAULT, call(self->fd, commands[i], NULL));
		EXPECT_EQ(EFAULT, call(self->fd, commands[i], (void *)0xffff800000000000ul));
	}
}

/* A structure whose end lies on a page that is not there. */
static void *at_the_edge(size_t size, uint32_t its_size)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *place = pages + PAGE - size;

	munmap(pages + PAGE, PAGE);
	memcpy(place, &its_size, sizeof(its_size));
	return place;
}

TEST_F(bus, a_structure_cut_by_the_end_of_memory_is_efault)
{
	EXPECT_EQ(EFAULT, call(self->fd, MIMIC_BUS_INFO,
			       at_the_edge(16, sizeof(struct mimic_bus_info))));
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_INFO, at_the_edge(sizeof(struct mimic_bus_info),
								 sizeof(struct mimic_bus_info))));
}

TEST_F(bus, register_that_cannot_tell_the_number_leaves_no_device)
{
	struct mimic_bus_register wanted = plain_device();
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	wanted.index = MIMIC_BUS_DEVICES_MAX - 1;
	memcpy(page, &wanted, sizeof(wanted));
	mprotect(page, PAGE, PROT_READ);
	EXPECT_EQ(EFAULT, call(self->fd, MIMIC_BUS_REGISTER, page));
	EXPECT_TRUE(appears(&wanted, false));
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted));
	EXPECT_EQ(0, unregister(self->fd, wanted.device));
}

TEST_F(bus, reserved_fields_are_einval)
{
	struct mimic_bus_info info = { .size = sizeof(info), .reserved = { 0, 0, 0, 1 } };
	struct mimic_bus_register device = plain_device();
	struct mimic_bus_unregister gone = { .size = sizeof(gone), .reserved = { 0, 1 } };
	struct mimic_bus_interrupt line = { .size = sizeof(line), .reserved = { 0, 0, 1 } };
	struct mimic_bus_commit commit = { .size = sizeof(commit), .reserved = { 1, 0 } };
	struct mimic_bus_fault_in page = { .size = sizeof(page), .reserved = { 0, 0, 1 } };

	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_FAULT_IN, &page));
	page.reserved[2] = 0;
	page.writes = 2;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_FAULT_IN, &page));
	page.writes = 1;
	EXPECT_EQ(ENOENT, call(self->fd, MIMIC_BUS_FAULT_IN, &page));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INFO, &info));
	device.reserved[sizeof(device.reserved) / sizeof(device.reserved[0]) - 1] = 1;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_REGISTER, &device));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_UNREGISTER, &gone));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_COMMIT, &commit));
}

TEST_F(bus, an_unknown_command_is_enotty)
{
	EXPECT_EQ(ENOTTY, call(self->fd, _IO(MIMIC_BUS_IOCTL, 99), NULL));
	EXPECT_EQ(ENOTTY, call(self->fd, _IO('T', 1), NULL));
}

TEST_F(bus, register_refuses_fields_out_of_range)
{
	struct mimic_bus_register wanted;

#define REFUSED(change) do { \
		wanted = plain_device(); \
		change; \
		EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_REGISTER, &wanted)) TH_LOG("for " #change); \
	} while (0)
	REFUSED(wanted.flags = 1);
	REFUSED(wanted.index = -2);
	REFUSED(wanted.index = MIMIC_BUS_DEVICES_MAX);
	REFUSED(wanted.pages = 0);
	REFUSED(wanted.pages = MIMIC_BUS_PAGES_MAX + 1);
	REFUSED(wanted.interrupts = MIMIC_BUS_INTERRUPTS_MAX + 1);
	REFUSED(wanted.capabilities = 4);
	REFUSED(wanted.capabilities = 1u << 31);
	REFUSED(wanted.void_pages = 2);
	REFUSED(wanted.kind[0] = '\0');
	REFUSED(memset(wanted.kind, 'a', sizeof(wanted.kind)));
	REFUSED(strcpy(wanted.kind, "a/b"));
	REFUSED(strcpy(wanted.kind, ".."));
	REFUSED(strcpy(wanted.kind, "with space"));
	REFUSED(strcpy(wanted.kind, "\xe4\xe4"));
	/* Or plain1 with index 1 would be plain with index 11. */
	REFUSED(strcpy(wanted.kind, "plain1"));
#undef REFUSED
}

TEST_F(bus, register_takes_the_limits)
{
	struct mimic_bus_register wanted = plain_device();

	wanted.index = MIMIC_BUS_DEVICES_MAX - 1;
	wanted.pages = MIMIC_BUS_PAGES_MAX;
	wanted.interrupts = MIMIC_BUS_INTERRUPTS_MAX;
	wanted.capabilities = MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS;
	memset(wanted.kind, 'k', sizeof(wanted.kind) - 1);
	ASSERT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted));
	EXPECT_TRUE(appears(&wanted, true));
	EXPECT_EQ(0, unregister(self->fd, wanted.device));
	EXPECT_TRUE(appears(&wanted, false));
}

TEST_F(bus, register_gives_the_lowest_free_index)
{
	struct mimic_bus_register wanted[3] = { plain_device(), plain_device(), plain_device() };
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted[i]));
		EXPECT_EQ(i, wanted[i].index);
	}
	EXPECT_NE(wanted[0].device, wanted[1].device);
	EXPECT_EQ(0, unregister(self->fd, wanted[1].device));
	wanted[1].index = -1;
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted[1]));
	EXPECT_EQ(1, wanted[1].index);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, unregister(self->fd, wanted[i].device));
}

TEST_F(bus, register_of_an_index_in_use_is_eexist)
{
	struct mimic_bus_register wanted = plain_device(), again;
	int other = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted));
	again = wanted;
	EXPECT_EQ(EEXIST, call(self->fd, MIMIC_BUS_REGISTER, &again));
	again = wanted;
	EXPECT_EQ(EEXIST, call(other, MIMIC_BUS_REGISTER, &again));
	EXPECT_EQ(0, unregister(self->fd, wanted.device));
	close(other);
}

/* Those that other tests may have left behind count, too. */
static unsigned int devices_on_the_bus(void)
{
	DIR *directory = opendir("/sys/bus/mimic/devices");
	unsigned int count = 0;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
	return count;
}

TEST_F(bus, one_device_too_many_is_enospc)
{
	unsigned int before = devices_on_the_bus(), count = 0;
	struct mimic_bus_register wanted[MIMIC_BUS_DEVICES_MAX + 1];
	int error = 0;

	for (; !error && count <= MIMIC_BUS_DEVICES_MAX; count += !error) {
		wanted[count] = plain_device();
		error = call(self->fd, MIMIC_BUS_REGISTER, &wanted[count]);
	}
	EXPECT_EQ(ENOSPC, error);
	EXPECT_EQ(MIMIC_BUS_DEVICES_MAX, before + count);
	while (count-- > 0)
		EXPECT_EQ(0, unregister(self->fd, wanted[count].device));
	wanted[0] = plain_device();
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted[0]));
	EXPECT_EQ(0, unregister(self->fd, wanted[0].device));
}

TEST_F(bus, unregister_of_no_device_is_enoent)
{
	struct mimic_bus_register wanted = plain_device();
	int other = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);

	EXPECT_EQ(ENOENT, unregister(self->fd, 0));
	EXPECT_EQ(ENOENT, unregister(self->fd, UINT32_MAX));
	ASSERT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted));
	/* Another daemon's is none of ours. */
	EXPECT_EQ(ENOENT, unregister(other, wanted.device));
	EXPECT_EQ(0, unregister(self->fd, wanted.device));
	EXPECT_EQ(ENOENT, unregister(self->fd, wanted.device));
	close(other);
}

TEST_F(bus, interrupt_knows_the_devices_and_lines_of_its_daemon)
{
	struct mimic_bus_register wanted = plain_device();
	struct mimic_bus_interrupt line = { .size = sizeof(line) };
	int other = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);

	EXPECT_EQ(ENOENT, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	wanted.interrupts = 2;
	ASSERT_EQ(0, call(self->fd, MIMIC_BUS_REGISTER, &wanted));
	line.device = wanted.device;
	line.line = 1;
	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	EXPECT_EQ(ENOENT, call(other, MIMIC_BUS_INTERRUPT, &line));
	line.line = 2;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	EXPECT_EQ(0, unregister(self->fd, wanted.device));
	line.line = 0;
	EXPECT_EQ(ENOENT, call(self->fd, MIMIC_BUS_INTERRUPT, &line));
	close(other);
}

TEST_F(bus, commit_knows_its_slots)
{
	struct mimic_bus_commit commit = { .size = sizeof(commit), .slot = MIMIC_BUS_SLOTS - 1 };

	EXPECT_EQ(0, call(self->fd, MIMIC_BUS_COMMIT, &commit));
	commit.slot = MIMIC_BUS_SLOTS;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_COMMIT, &commit));
	commit.slot = UINT32_MAX;
	EXPECT_EQ(EINVAL, call(self->fd, MIMIC_BUS_COMMIT, &commit));
}

TEST_F(bus, read_without_a_request_is_eagain_and_poll_says_so)
{
	struct mimic_bus_request request;
	struct pollfd waits = { .fd = self->fd, .events = POLLIN | POLLOUT };

	EXPECT_EQ(-1, read(self->fd, &request, sizeof(request)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, poll(&waits, 1, 0));
	EXPECT_EQ(POLLOUT, waits.revents);
}

TEST_F(bus, read_of_less_than_a_request_is_einval)
{
	struct mimic_bus_request request;

	EXPECT_EQ(-1, read(self->fd, &request, sizeof(request) - 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(bus, write_refuses_what_is_no_answer)
{
	struct mimic_bus_answer answer = { .slot = 0, .fd = -1 };

	EXPECT_EQ(-1, write(self->fd, &answer, sizeof(answer) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, &answer, 0));
	EXPECT_EQ(EINVAL, errno);
	answer.slot = MIMIC_BUS_SLOTS;
	EXPECT_EQ(-1, write(self->fd, &answer, sizeof(answer)));
	EXPECT_EQ(EINVAL, errno);
	answer.slot = 0;
	answer.reserved = 1;
	EXPECT_EQ(-1, write(self->fd, &answer, sizeof(answer)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, (void *)PAGE, sizeof(answer)));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(bus, an_answer_to_a_slot_without_a_request_is_dropped)
{
	struct mimic_bus_answer answer = { .slot = 3, .fd = self->fd };

	EXPECT_EQ(sizeof(answer), write(self->fd, &answer, sizeof(answer)));
}

TEST_F(bus, the_slots_can_be_mapped_and_no_more)
{
	const size_t size = (MIMIC_BUS_SLOTS_SIZE + PAGE - 1) / PAGE * PAGE;
	struct mimic_bus_header *header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, (void *)header);
	EXPECT_EQ(1, header->sleeping);
	EXPECT_EQ(-1, header->cpu);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	/* The slots do not grow into windows either. */
	EXPECT_EQ(MAP_FAILED, mremap(header, size, size + PAGE, MREMAP_MAYMOVE));
}

TEST_F(bus, a_window_of_no_binding_is_enoent)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)MIMIC_BUS_WINDOW(0x7fff)));
	EXPECT_EQ(ENOENT, errno);
}

static int opens_as_nobody(void *unused)
{
	(void)unused;
	if (setgid(65534) || setuid(65534))
		return 1;
	return open(MIMIC_BUS_NODE, O_RDWR) < 0 && errno == EACCES ? 0 : 2;
}

TEST(the_node_is_for_root_only)
{
	EXPECT_EQ(0, in_child(opens_as_nobody, NULL));
}

static long open_own_device(struct fake_self *self, void *node)
{
	int fd = open(node, O_RDWR);

	(void)self;
	return fd < 0 ? -errno : 0;
}

TEST(a_daemon_cannot_open_its_own_device)
{
	struct holder holder;

	ASSERT_EQ(0, holder_start(&holder, NULL));
	holder_give_back(&holder);
	EXPECT_EQ(-EDEADLK, fake_daemon_call(holder.daemon, open_own_device, holder.daemon->node,
					     sizeof(holder.daemon->node)));
	EXPECT_EQ(0, holder_open(&holder));
	holder_stop(&holder);
}

TEST(a_program_with_a_device_cannot_become_a_daemon)
{
	struct holder holder;
	int fd;

	ASSERT_EQ(0, holder_start(&holder, NULL));
	EXPECT_EQ(-1, open(MIMIC_BUS_NODE, O_RDWR));
	EXPECT_EQ(EDEADLK, errno);
	holder_give_back(&holder);
	ASSERT_TRUE(fake_wait(&holder.control->closes, 1));
	fd = open(MIMIC_BUS_NODE, O_RDWR);
	EXPECT_LE(0, fd);
	close(fd);
	holder_stop(&holder);
}

/* --- opens and signals -------------------------------------------------------- */

#define MAPPINGS 10000ul
#define OPENS 40

/* So many mappings that an open, which looks at all of them, takes long enough for a signal. */
static bool make_mappings(void)
{
	char *base = mmap(NULL, 2 * MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	for (i = 0; base != MAP_FAILED && i < MAPPINGS; i++) {
		if (mprotect(base + 2 * i * PAGE, PAGE, PROT_READ))
			return false;
	}
	return base != MAP_FAILED;
}

static _Atomic unsigned int alarms;

static void note_alarm(int number)
{
	(void)number;
	alarms++;
}

/* A signal in each of them, at another moment. How many failed. */
static unsigned int open_with_signals(const char *node)
{
	struct sigaction action = { .sa_handler = note_alarm, .sa_flags = SA_RESTART };
	unsigned int i, failed = 0;

	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < OPENS; i++) {
		struct itimerval once = { .it_value.tv_usec = 200 + 100 * i };
		int fd;

		setitimer(ITIMER_REAL, &once, NULL);
		fd = open(node, O_RDWR | O_CLOEXEC);
		failed += fd < 0;
		close(fd);
	}
	return failed;
}

TEST(a_signal_does_not_make_a_daemons_open_fail)
{
	ASSERT_TRUE(make_mappings());
	EXPECT_EQ(0, open_with_signals("/dev/mimic"));
	EXPECT_LT(0, alarms);
}

TEST(a_signal_does_not_make_a_programs_open_fail)
{
	struct fake_daemon *daemon = fake_daemon_start(&(struct fake_options){ .channel = FAKE_SLOTS });

	ASSERT_NE(NULL, daemon);
	ASSERT_TRUE(make_mappings());
	EXPECT_EQ(0, open_with_signals(daemon->node));
	EXPECT_LT(0, alarms);
	fake_daemon_stop(daemon);
}

TEST_HARNESS_MAIN
