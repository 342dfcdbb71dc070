/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Contexts of one DARE in several programs: each its own registers, its own memory,
 * its own end. Plain loads and stores, and a static program: nothing of mimic's
 * libraries is here.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/dare_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"

#define CONTEXTS 8	/* of a device, as mimicd makes them */
#define DEVICES 2
#define HOLDERS "/sys/bus/mimic/devices/dare0/holders"

FIXTURE(contexts)
{
	struct dare_node node;
};

FIXTURE_VARIANT(contexts)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(contexts, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(contexts, read) { .channel = "read" };

FIXTURE_SETUP(contexts)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "dare:2"));
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
}

FIXTURE_TEARDOWN(contexts)
{
	dare_node_close(&self->node);
}

/* A line of sysfs. */
static void read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(text, (int)size, file))
		text[0] = '\0';
	if (file)
		fclose(file);
}

/* Which process has context `number` of dare0. */
static int holder_of(unsigned int number)
{
	char text[256], *at = text;
	long holder = 0;

	read_line(HOLDERS, text, sizeof(text));
	for (unsigned int i = 0; i <= number; i++)
		holder = strtol(at, &at, 10);
	return (int)holder;
}

static void load_number(const struct dare_node *node, unsigned int md, uint64_t number)
{
	uint64_t place = number;

	dare_load(node, md, &place, 0);
}

static uint64_t stored_number(const struct dare_node *node, unsigned int ms3)
{
	uint64_t place = 0;

	dare_store(node, ms3, &place, 0);
	return place;
}

/* --- registers ---------------------------------------------------------------- */

TEST_F(contexts, the_program_sees_its_context_as_page_0)
{
	struct dare_info info = dare_node_info(self->node.fd);
	uint64_t identity = dare_get(&self->node, DARE_IDENTIFY);

	EXPECT_EQ(DARE_MAGIC, identity >> 32);
	EXPECT_EQ(info.context, identity & 0xff);
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(DARE_ABI_VERSION, info.version);
	EXPECT_EQ(0, info.index);
	EXPECT_EQ(1, info.pages);
	EXPECT_EQ(CONTEXTS, info.contexts);
	EXPECT_EQ(DARE_MAGIC, info.identify >> 32);
	EXPECT_EQ(getpid(), holder_of(info.context));
}

TEST_F(contexts, two_opens_of_a_program_have_registers_of_their_own)
{
	struct dare_node other;

	ASSERT_EQ(0, dare_node_open(&other, "/dev/dare0"));
	EXPECT_NE(dare_node_info(self->node.fd).context, dare_node_info(other.fd).context);
	dare_shape(&self->node, 1, 8);
	load_number(&self->node, 0, 1001);
	EXPECT_EQ(16, dare_get(&other, DARE_MATRIX_M));
	dare_shape(&other, 1, 8);
	load_number(&other, 0, 2002);
	EXPECT_EQ(1001, stored_number(&self->node, 0));
	EXPECT_EQ(2002, stored_number(&other, 0));
	dare_put(&self->node, DARE_RS1, 77);
	EXPECT_NE(77, dare_get(&other, DARE_RS1));
	dare_node_close(&other);
}

/* Loads `number` into all registers again and again; 0: it always found its own numbers there. */
static int works_alone(uint64_t number, unsigned int rounds)
{
	struct dare_node node;

	if (dare_node_open(&node, "/dev/dare0"))
		return 1;
	dare_shape(&node, 1, 8);
	for (unsigned int i = 0; i < rounds; i++) {
		for (unsigned int md = 0; md < 4; md++)
			load_number(&node, md, number + md + i);
		for (unsigned int md = 0; md < 4; md++) {
			if (stored_number(&node, md) != number + md + i)
				return 2;
		}
	}
	dare_node_close(&node);
	return 0;
}

TEST_F(contexts, programs_that_work_at_once_do_not_disturb_each_other)
{
	pid_t children[4];
	int status;

	for (unsigned int i = 0; i < 4; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(works_alone((i + 1) * 1000000ull, 5));
	}
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_EQ(children[i], waitpid(children[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* The same address in two programs is two places. */
TEST_F(contexts, each_context_reaches_its_own_programs_memory)
{
	volatile uint64_t *page = memory_map(PAGE);
	int status;
	pid_t child;

	page[0] = 5;
	child = fork();
	if (!child) {
		struct dare_node node;

		page[0] = 6;
		if (dare_node_open(&node, "/dev/dare0"))
			_exit(1);
		dare_shape(&node, 1, 8);
		_exit(dare_see(&node, page) != 6);
	}
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(5, dare_see(&self->node, page));
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(5, dare_see(&self->node, page));
}

TEST_F(contexts, a_program_does_not_find_data_of_the_one_before_it)
{
	unsigned int context = dare_node_info(self->node.fd).context;

	dare_shape(&self->node, 1, 8);
	load_number(&self->node, 3, 0xdeadbeef);
	dare_put(&self->node, DARE_RS1, 55);
	dare_put(&self->node, DARE_INSTRUCTION, 0);	/* an illegal word */
	dare_get(&self->node, DARE_FENCE);
	EXPECT_EQ(DARE_ERROR_ILLEGAL, dare_get(&self->node, DARE_ERROR));
	dare_node_close(&self->node);
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
	ASSERT_EQ(context, dare_node_info(self->node.fd).context);
	EXPECT_EQ(0, dare_get(&self->node, DARE_ERROR));
	EXPECT_EQ(0, dare_get(&self->node, DARE_RS1));
	EXPECT_EQ(16, dare_get(&self->node, DARE_MATRIX_M));
	EXPECT_EQ(0, dare_count(&self->node, DARE_COUNTER_mld));
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(0, stored_number(&self->node, 3));
}

/* --- how many there are ---------------------------------------------------------- */

TEST_F(contexts, when_all_are_in_use_open_is_ebusy)
{
	int nodes[CONTEXTS];

	nodes[0] = self->node.fd;
	for (unsigned int i = 1; i < CONTEXTS; i++) {
		nodes[i] = open("/dev/dare0", O_RDWR | O_CLOEXEC);
		EXPECT_LE(0, nodes[i]);
		EXPECT_EQ(i, dare_node_info(nodes[i]).context);
	}
	EXPECT_EQ(-1, open("/dev/dare0", O_RDWR | O_CLOEXEC));
	EXPECT_EQ(EBUSY, errno);
	/* Of a process of its own, too. */
	if (!fork())
		_exit(open("/dev/dare0", O_RDWR) >= 0 || errno != EBUSY);
	{
		int status;

		wait(&status);
		EXPECT_EQ(0, status);
	}
	close(nodes[5]);
	nodes[5] = open("/dev/dare0", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(5, dare_node_info(nodes[5]).context);
	for (unsigned int i = 1; i < CONTEXTS; i++)
		close(nodes[i]);
}

TEST_F(contexts, any_finds_every_context_of_every_device)
{
	int nodes[CONTEXTS * DEVICES];
	bool found[DEVICES][CONTEXTS] = { 0 };

	for (unsigned int i = 1; i < CONTEXTS * DEVICES; i++) {
		struct dare_info info;

		nodes[i] = open("/dev/dare", O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, nodes[i]);
		info = dare_node_info(nodes[i]);
		ASSERT_GT(DEVICES, info.index);
		ASSERT_GT(CONTEXTS, info.context);
		EXPECT_FALSE(found[info.index][info.context]);
		found[info.index][info.context] = true;
	}
	EXPECT_EQ(-1, open("/dev/dare", O_RDWR | O_CLOEXEC));
	EXPECT_EQ(EBUSY, errno);
	for (unsigned int i = 1; i < CONTEXTS * DEVICES; i++)
		close(nodes[i]);
}

/* --- the file and its mapping ------------------------------------------------------ */

static int map_error(int fd, size_t size, int prot, int flags, off_t offset)
{
	void *page = mmap(NULL, size, prot, flags, fd, offset);

	if (page == MAP_FAILED)
		return errno;
	munmap(page, size);
	return 0;
}

TEST_F(contexts, only_page_0_can_be_mapped_and_only_shared)
{
	int fd = self->node.fd;

	EXPECT_EQ(0, map_error(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(EINVAL, map_error(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE));
	EXPECT_EQ(EINVAL, map_error(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 15 * PAGE));
	EXPECT_EQ(EINVAL, map_error(fd, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(EOVERFLOW, map_error(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, -(off_t)PAGE));
	EXPECT_EQ(EINVAL, map_error(fd, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0));
	EXPECT_EQ(EINVAL, map_error(fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
}

TEST_F(contexts, the_context_stays_until_its_last_mapping_is_gone)
{
	unsigned int context = dare_node_info(self->node.fd).context;

	dare_shape(&self->node, 1, 8);
	close(self->node.fd);
	self->node.fd = -1;
	EXPECT_EQ(getpid(), holder_of(context));
	load_number(&self->node, 0, 31);
	EXPECT_EQ(31, stored_number(&self->node, 0));
	dare_node_close(&self->node);
	EXPECT_EQ(0, holder_of(context));
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
}

TEST_F(contexts, two_threads_mappings_of_one_file_are_one_context)
{
	struct dare_node again = { .fd = self->node.fd };

	again.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, again.fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)(uintptr_t)again.page);
	dare_put(&self->node, DARE_RS1, 99);
	EXPECT_EQ(99, dare_get(&again, DARE_RS1));
	munmap((void *)(uintptr_t)again.page, PAGE);
}

static int dies_of_sigbus(struct dare_node *node)
{
	signal(SIGBUS, SIG_DFL);
	dare_get(node, DARE_STATUS);
	return 1;
}

TEST_F(contexts, a_child_cannot_use_what_it_inherited)
{
	struct dare_info info = { .size = sizeof(info) };
	int status;
	pid_t child;

	dare_put(&self->node, DARE_RS1, 12);
	child = fork();
	if (!child) {
		if (ioctl(self->node.fd, DARE_IOCTL_INFO, &info) != -1 || errno != ENODEV)
			_exit(2);
		if (map_error(self->node.fd, PAGE, PROT_READ, MAP_SHARED, 0) != ENODEV)
			_exit(3);
		_exit(dies_of_sigbus(&self->node));
	}
	waitpid(child, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGBUS, WTERMSIG(status));
	EXPECT_EQ(12, dare_get(&self->node, DARE_RS1));
}

/* The child keeps the file; its maker's end makes the context free all the same. */
TEST_F(contexts, a_file_that_outlives_its_process_does_not_keep_the_context)
{
	int ready[2], end[2], status;
	char word = 0;
	pid_t maker;

	dare_node_close(&self->node);
	ASSERT_EQ(0, pipe(ready) | pipe(end));
	maker = fork();
	if (!maker) {
		struct dare_node nodes[CONTEXTS];

		for (unsigned int i = 0; i < CONTEXTS; i++) {
			if (dare_node_open(&nodes[i], "/dev/dare0"))
				_exit(1);
		}
		if (!fork()) {
			close(end[1]);
			_exit(write(ready[1], "", 1) != 1 || read(end[0], &word, 1) < 0);
		}
		_exit(0);
	}
	waitpid(maker, &status, 0);
	EXPECT_EQ(0, status);
	ASSERT_EQ(1, read(ready[0], &word, 1));
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
	dare_shape(&self->node, 1, 8);
	load_number(&self->node, 0, 8);
	/* Now it closes its copies. */
	close(end[1]);
	usleep(20000);
	EXPECT_EQ(8, stored_number(&self->node, 0));
	EXPECT_EQ(getpid(), holder_of(dare_node_info(self->node.fd).context));
}

/* --- calls -------------------------------------------------------------------------- */

TEST_F(contexts, connect_hands_out_a_socket)
{
	struct dare_connect wanted = { .size = sizeof(wanted), .fd = -1 };
	socklen_t length = sizeof(int);
	int domain = 0;

	ASSERT_EQ(0, ioctl(self->node.fd, DARE_IOCTL_CONNECT, &wanted));
	ASSERT_LE(0, wanted.fd);
	EXPECT_EQ(0, getsockopt(wanted.fd, SOL_SOCKET, SO_DOMAIN, &domain, &length));
	EXPECT_EQ(AF_UNIX, domain);
	EXPECT_EQ(FD_CLOEXEC, fcntl(wanted.fd, F_GETFD));
	close(wanted.fd);
}

TEST_F(contexts, structures_are_checked)
{
	struct dare_info info = { .size = sizeof(info) - 8 };
	struct dare_eventfd event = { .size = sizeof(event), .fd = -2 };

	EXPECT_EQ(-1, ioctl(self->node.fd, DARE_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	info = (struct dare_info){ .size = sizeof(info), .reserved = { 0, 1 } };
	EXPECT_EQ(-1, ioctl(self->node.fd, DARE_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
	/* Values that an earlier call has filled in do not matter. */
	info = dare_node_info(self->node.fd);
	EXPECT_EQ(0, ioctl(self->node.fd, DARE_IOCTL_INFO, &info));
	EXPECT_EQ(-1, ioctl(self->node.fd, DARE_IOCTL_EVENTFD, &event));
	EXPECT_EQ(EINVAL, errno);
	/* MAPLE's numbers are none of ours. */
	EXPECT_EQ(-1, ioctl(self->node.fd, _IOWR(0xb7, 0, struct dare_info), &info));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_HARNESS_MAIN
