/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The tests do not make the kernel patch its own code: the emulator that they run in may
 * execute the old instructions, and the kernel dies of it (tests/vm/guest/init). perf
 * tells of each patch.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>

#define PAGE 4096
#define BUFFER_PAGES 16
#define PROCESSORS 2
#define TRACING "/sys/kernel/tracing/"
/* The kernel patches back a second after the last event of a task. */
#define PATCHES_BACK_US 1500000

struct watch {
	int event;
	struct perf_event_mmap_page *page;
};

FIXTURE(kernel_text)
{
	struct watch watches[PROCESSORS];
};

static bool watch_start(struct watch *watch, int processor)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attributes),
		.text_poke = 1,
	};

	watch->event = (int)syscall(SYS_perf_event_open, &attributes, -1, processor, -1, PERF_FLAG_FD_CLOEXEC);
	if (watch->event < 0)
		return false;
	watch->page = mmap(NULL, (BUFFER_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, watch->event, 0);
	return watch->page != MAP_FAILED;
}

FIXTURE_SETUP(kernel_text)
{
	int i;

	for (i = 0; i < PROCESSORS; i++)
		ASSERT_TRUE(watch_start(&self->watches[i], i));
}

FIXTURE_TEARDOWN(kernel_text)
{
	int i;

	for (i = 0; i < PROCESSORS; i++) {
		munmap(self->watches[i].page, (BUFFER_PAGES + 1) * PAGE);
		close(self->watches[i].event);
	}
}

/* The patch's address, or 0 for a record of something else (that some were lost, say). */
static uint64_t address_of(const struct watch *watch, uint64_t place, uint16_t *size)
{
	const char *data = (const char *)watch->page + PAGE;
	struct {
		struct perf_event_header header;
		uint64_t address;
	} record;

	/* Records are of whole words, and so is the buffer. */
	memcpy(&record.header, data + place % (BUFFER_PAGES * PAGE), sizeof(record.header));
	memcpy(&record.address, data + (place + 8) % (BUFFER_PAGES * PAGE), sizeof(record.address));
	*size = record.header.size;
	return record.header.type == PERF_RECORD_TEXT_POKE ? record.address : 0;
}

/* Prints where the kernel was patched, and counts how often. */
static unsigned int patches(struct watch *watches)
{
	unsigned int count = 0;
	uint64_t place, end;
	uint16_t size;
	int i;

	for (i = 0; i < PROCESSORS; i++) {
		end = __atomic_load_n(&watches[i].page->data_head, __ATOMIC_ACQUIRE);
		for (place = watches[i].page->data_tail; place < end; place += size, count++)
			printf("# patched at %#llx\n",
			       (unsigned long long)address_of(&watches[i], place, &size));
		__atomic_store_n(&watches[i].page->data_tail, end, __ATOMIC_RELEASE);
	}
	return count;
}

static bool write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		close(file);
	return done;
}

/* Else the others would prove nothing: our own module's code is patched for this. */
TEST_F(kernel_text, a_patch_is_seen)
{
	if (access(TRACING "events/mimic", F_OK))
		SKIP(return, "no tracefs");
	ASSERT_TRUE(write_text(TRACING "events/mimic/enable", "1"));
	ASSERT_TRUE(write_text(TRACING "events/mimic/enable", "0"));
	EXPECT_NE(0, patches(self->watches));
}

TEST_F(kernel_text, a_hardware_breakpoint_patches_nothing)
{
	pid_t child = fork();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), (uintptr_t)write_text));
	EXPECT_EQ(0, ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), 1));
	kill(child, SIGKILL);
	EXPECT_EQ(child, waitpid(child, &status, 0));
	usleep(PATCHES_BACK_US);
	EXPECT_EQ(0, patches(self->watches));
}

TEST_F(kernel_text, a_memory_cgroup_patches_nothing)
{
	static const char group[] = "/sys/fs/cgroup/kernel-text";

	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(group, 0700))
		SKIP(return, "no cgroup2");
	EXPECT_EQ(0, rmdir(group));
	EXPECT_EQ(0, patches(self->watches));
}

/* With the names of tasks, as the events of our modules are traced; mimic.ko is told of processes that end, too. */
TEST_F(kernel_text, a_traced_end_of_a_process_patches_nothing)
{
	static const char enable[] = TRACING "events/sched/sched_process_exit/enable";

	if (access(enable, F_OK))
		SKIP(return, "no tracefs");
	EXPECT_TRUE(write_text(TRACING "options/record-cmd", "1"));
	EXPECT_TRUE(write_text(enable, "1"));
	EXPECT_TRUE(write_text(enable, "0"));
	EXPECT_EQ(0, patches(self->watches));
	write_text(TRACING "trace", "");
}

TEST_HARNESS_MAIN
