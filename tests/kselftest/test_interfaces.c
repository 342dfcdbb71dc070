/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Interfaces for administrators: sysfs, tracepoints, module counts; and that nothing leaks. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/time_scale.h"

FIXTURE(interfaces)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_SETUP(interfaces)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .is_paper = true };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(interfaces)
{
	holder_stop(&self->holder);
}

static char text[1 << 20];

/* The whole file, with its last newline cut off; "" if there is none. */
static const char *content(const char *path)
{
	int file = open(path, O_RDONLY);
	size_t size = 0;
	ssize_t part = 0;

	while (file >= 0 && (part = read(file, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)part;
	if (file < 0 || part < 0)
		printf("# %s: %s\n", path, strerror(errno));
	if (file >= 0)
		close(file);
	if (size && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	return text;
}

static int write_text(const char *path, const char *what)
{
	int file = open(path, O_WRONLY | O_TRUNC);
	ssize_t done = file < 0 ? -1 : write(file, what, strlen(what));

	close(file);
	return done == (ssize_t)strlen(what) ? 0 : -1;
}

/* --- sysfs ------------------------------------------------------------------------------ */

static const char *attribute(const struct fake_daemon *daemon, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/maple%d/%s", daemon->control->index, name);
	return content(path);
}

TEST_F(interfaces, sysfs_tells_kind_profile_and_daemon)
{
	EXPECT_STREQ("maple", attribute(self->holder.daemon, "kind"));
	EXPECT_STREQ("paper", attribute(self->holder.daemon, "profile"));
	EXPECT_STREQ("1", attribute(self->holder.daemon, "served"));
	EXPECT_NE(NULL, strstr(attribute(self->holder.daemon, "uevent"), "MODALIAS=mimic:maple"));
	EXPECT_NE(NULL, strstr(attribute(self->holder.daemon, "uevent"), "DRIVER=maple"));
}

TEST_F(interfaces, sysfs_tells_who_has_the_device)
{
	EXPECT_EQ(getpid(), atoi(attribute(self->holder.daemon, "holder")));
	holder_give_back(&self->holder);
	EXPECT_EQ(0, atoi(attribute(self->holder.daemon, "holder")));
}

TEST_F(interfaces, sysfs_counts_faults_and_interrupts)
{
	uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, fake_daemon_fault(self->holder.daemon, page, true));
	ASSERT_TRUE(fake_wait(&self->control->resolves, 1));
	ASSERT_EQ(0, fake_daemon_fault(self->holder.daemon, (void *)0x10000, false));
	ASSERT_TRUE(fake_wait(&self->control->resolves, 2));
	EXPECT_STREQ("1", attribute(self->holder.daemon, "faults"));
	EXPECT_STREQ("1", attribute(self->holder.daemon, "unresolved"));
	EXPECT_LT(0, atoi(attribute(self->holder.daemon, "interrupts")));
}

TEST_F(interfaces, sysfs_counts_spurious_interrupts)
{
	int i;

	ASSERT_EQ(0, fake_daemon_interrupt(self->holder.daemon, 0));
	for (i = 0; i < 5000 && atoi(attribute(self->holder.daemon, "spurious")) < 1; i++)
		sleep_ms(1);
	EXPECT_STREQ("1", attribute(self->holder.daemon, "spurious"));
}

TEST_F(interfaces, a_fault_whose_interrupt_is_lost_is_found)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	self->control->fault_word = (uintptr_t)page | MAPLE_FAULT_PIPES | MAPLE_FAULT_STALLED;
	EXPECT_TRUE(fake_wait(&self->control->resolves, 1));
	EXPECT_STREQ("1", attribute(self->holder.daemon, "polled"));
}

TEST_F(interfaces, sysfs_counts_shootdowns)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int before = atoi(attribute(self->holder.daemon, "shootdowns"));

	page[0] = 1;
	madvise(page, PAGE, MADV_DONTNEED);
	EXPECT_LT(before, atoi(attribute(self->holder.daemon, "shootdowns")));
	EXPECT_TRUE(fake_wait(&self->control->flushes, 1));
}

TEST_F(interfaces, the_class_has_the_nodes)
{
	char path[64];

	EXPECT_EQ(0, access("/sys/class/maple/maple", F_OK));
	snprintf(path, sizeof(path), "/sys/class/maple/maple%d", self->control->index);
	EXPECT_EQ(0, access(path, F_OK));
}

TEST_F(interfaces, debugfs_reads_no_register_but_identify)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_DATA, .data = 0x4711, .is_drivers = true,
	};
	char path[64];

	if (access("/sys/kernel/debug/regmap", F_OK))
		SKIP(return, "no debugfs");
	/* Loads have effects: curiosity must not be one of their causes. */
	fake_daemon_special(self->holder.daemon, &identify);
	snprintf(path, sizeof(path), "/sys/kernel/debug/regmap/maple%d-maple/registers",
		 self->control->index);
	EXPECT_STREQ("0080: 00004711", content(path));
}

/* --- tracing ------------------------------------------------------------------------------ */

#define TRACING "/sys/kernel/tracing/"

static bool tracing_is_there(void)
{
	return !access(TRACING "events/mimic", F_OK);
}

TEST_F(interfaces, the_tracepoints_are_there)
{
	static const char *const events[] = {
		"mimic/mimic_access", "mimic/mimic_answer", "mimic/mimic_window", "mimic/mimic_shootdown",
		"maple/maple_page_fault", "maple/maple_resolve", "maple/maple_shootdown",
		"maple/maple_open", "maple/maple_release",
	};
	char path[128];
	unsigned int i;

	if (!tracing_is_there())
		SKIP(return, "no tracefs");
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(path, sizeof(path), TRACING "events/%s/format", events[i]);
		EXPECT_EQ(0, access(path, R_OK)) TH_LOG("no %s", path);
	}
}

/* The trace of `body`, with one group of events on. */
static const char *trace_of(const char *group, void (*body)(struct holder *), struct holder *holder)
{
	char enable[80];

	snprintf(enable, sizeof(enable), TRACING "events/%s/enable", group);
	write_text(TRACING "trace", "");
	write_text(TRACING "tracing_on", "1");
	write_text(enable, "1");
	body(holder);
	write_text(enable, "0");
	return content(TRACING "trace");
}

static void store_and_load(struct holder *holder)
{
	*holder_register(holder, 3, 0x128) = 0xabc123;
	(void)*holder_register(holder, 3, 0x128);
}

TEST_F(interfaces, tracing_shows_accesses_and_answers)
{
	const char *trace;

	if (!tracing_is_there())
		SKIP(return, "no tracefs");
	trace = trace_of("mimic", store_and_load, &self->holder);
	EXPECT_NE(NULL, strstr(trace, "mimic_access:"));
	EXPECT_NE(NULL, strstr(trace, "mimic_answer:"));
	EXPECT_NE(NULL, strstr(trace, "abc123"));
}

static void touch_window(struct holder *holder)
{
	uint64_t here = 1, there;

	fake_window_read(holder->daemon, &here, &there, 8);
}

TEST_F(interfaces, tracing_shows_window_faults)
{
	if (!tracing_is_there())
		SKIP(return, "no tracefs");
	EXPECT_NE(NULL, strstr(trace_of("mimic", touch_window, &self->holder), "mimic_window:"));
}

static void fault_and_shoot_down(struct holder *holder)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fake_daemon_fault(holder->daemon, page, true);
	fake_wait(&holder->control->resolves, 1);
	munmap(page, PAGE);
}

TEST_F(interfaces, tracing_shows_page_faults_and_shootdowns)
{
	const char *trace;

	if (!tracing_is_there())
		SKIP(return, "no tracefs");
	trace = trace_of("maple", fault_and_shoot_down, &self->holder);
	EXPECT_NE(NULL, strstr(trace, "maple_page_fault:"));
	EXPECT_NE(NULL, strstr(trace, "maple_resolve:"));
	EXPECT_NE(NULL, strstr(trace, "maple_shootdown:"));
}

/* --- modules ------------------------------------------------------------------------------ */

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

static int users_of(const char *module)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	return atoi(content(path));
}

TEST_F(interfaces, modules_in_use_cannot_be_unloaded)
{
	EXPECT_EQ(EWOULDBLOCK, unload("maple"));
	EXPECT_EQ(EWOULDBLOCK, unload("mimic"));
	holder_close(&self->holder);
	/* A mapping uses it, too. */
	EXPECT_EQ(EWOULDBLOCK, unload("maple"));
	*holder_register(&self->holder, 1, 8) = 4;
	EXPECT_EQ(4, *holder_register(&self->holder, 1, 8));
}

TEST_F(interfaces, an_open_device_counts_as_a_user_of_its_module)
{
	int with = users_of("maple");

	holder_give_back(&self->holder);
	EXPECT_GT(with, users_of("maple"));
	ASSERT_EQ(0, holder_open(&self->holder));
	EXPECT_EQ(with, users_of("maple"));
}

TEST_F(interfaces, a_waiting_access_keeps_the_module)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, holder_held_register(&self->holder), false));
	holder_give_back(&self->holder);
	EXPECT_EQ(EWOULDBLOCK, unload("mimic"));
	fake_daemon_release(self->holder.daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
}

/* --- leaks --------------------------------------------------------------------------------- */

/* KiB of a line of /proc/meminfo. */
static long meminfo(const char *name)
{
	const char *line = strstr(content("/proc/meminfo"), name);

	return line ? atol(line + strlen(name) + 1) : 0;
}

static long unreclaimable(void)
{
	/* Freed by RCU and by work: give it time. */
	sleep_ms(300);
	write_text("/proc/sys/vm/drop_caches", "3");
	return meminfo("SUnreclaim") + meminfo("VmallocUsed") + meminfo("PageTables");
}

static void open_and_close(struct holder *holder, int times)
{
	for (; times > 0; times--) {
		holder_open(holder);
		holder_map(holder);
		*holder_register(holder, 1, 8) = 1;
		holder_give_back(holder);
	}
}

/* KASAN keeps freed memory for long: there kmemleak looks for leaks, after all programs. */
#define NEEDS_PLAIN_MEMORY() do { \
	if (time_scale() > 1) \
		SKIP(return, "a debug kernel keeps freed memory; its kmemleak looks for leaks"); \
} while (0)

TEST_F(interfaces, opening_and_closing_leaks_nothing)
{
	long before, after;

	NEEDS_PLAIN_MEMORY();
	holder_give_back(&self->holder);
	open_and_close(&self->holder, 50);
	before = unreclaimable();
	open_and_close(&self->holder, 1000);
	after = unreclaimable();
	/* Bindings are freed by a work item: a busy machine is given more time. */
	for (int i = 0; i < 20 && after - before >= 400; i++)
		after = unreclaimable();
	printf("# unreclaimable memory: %ld KiB before, %ld KiB after\n", before, after);
	/* One struct of 512 bytes that stays each time would be 500 KiB. */
	EXPECT_GT(400, after - before);
}

static void come_and_go(int times)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .kind = "plain", .without_node = true };

	for (; times > 0; times--) {
		struct fake_daemon *daemon = fake_daemon_start(&options);

		if (daemon)
			fake_daemon_stop(daemon);
	}
}

TEST_F(interfaces, daemons_that_come_and_go_leak_nothing)
{
	long before, after;

	NEEDS_PLAIN_MEMORY();
	come_and_go(5);
	before = unreclaimable();
	come_and_go(40);
	after = unreclaimable();
	printf("# unreclaimable memory: %ld KiB before, %ld KiB after\n", before, after);
	/* The slots alone are more than 100 KiB each time. */
	EXPECT_GT(1000, after - before);
}

static int opens_and_is_killed(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 1;
	*holder_register(holder, 1, 8) = 1;
	kill(getpid(), SIGKILL);
	return 2;
}

TEST_F(interfaces, programs_that_are_killed_leak_nothing)
{
	long before, after;
	int i;

	NEEDS_PLAIN_MEMORY();
	holder_give_back(&self->holder);
	in_child(opens_and_is_killed, &self->holder);
	before = unreclaimable();
	for (i = 0; i < 100; i++)
		EXPECT_EQ(128 + SIGKILL, in_child(opens_and_is_killed, &self->holder));
	after = unreclaimable();
	printf("# unreclaimable memory: %ld KiB before, %ld KiB after\n", before, after);
	EXPECT_GT(700, after - before);
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_HARNESS_MAIN
