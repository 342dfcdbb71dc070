/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What systemd hears of a daemon that it watches. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_fixture.h"

#define PAGE 4096u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, FULL_POINTER32 = 16, WORDS_32 = 2 };

static struct served served;
static char path[64];
static int listener;

/* The next message comes within so long, and is that the loop goes round. */
static bool is_told(int milliseconds)
{
	struct pollfd entry = { .fd = listener, .events = POLLIN };
	char text[64] = "";

	if (poll(&entry, 1, milliseconds) != 1)
		return false;
	return recv(listener, text, sizeof(text) - 1, 0) > 0 && !strcmp(text, "WATCHDOG=1");
}

static int start(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)state;
	alarm(100);
	snprintf(path, sizeof(path), "/tmp/mimic-watchdog-%d", (int)getpid());
	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	unsetenv("WATCHDOG_PID");
	return served_start(&served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	if (served.pid > 0)
		served_end(&served, SIGKILL);
	served_clean(&served);
	close(listener);
	unlink(path);
	return 0;
}

static void it_hears_as_long_as_the_loop_goes_round(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		assert_true(is_told(5000));
	assert_int_equal(served_end(&served, SIGTERM), 0);
}

static void nothing_is_said_where_nobody_watches(void **state)
{
	(void)state;
	served_end(&served, SIGTERM);
	setenv("WATCHDOG_PID", "1", 1);
	while (is_told(0))
		;
	assert_true(served_restart(&served, 1));
	assert_false(is_told(1000));
}

/* Memory whose pages never come. NULL: the kernel gives no userfaultfd. */
static void *make_stuck_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	range.range.start = (uintptr_t)memory;
	range.range.len = PAGE;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		return NULL;
	return memory;
}

static uint64_t word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, unsigned int size)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device,
		.size = (uint8_t)size, .offset = (uint16_t)offset, .count = 1 });
}

/* What systemd does then (WatchdogSignal=SIGKILL: no other signal reaches it), before it starts another. */
static void a_loop_that_is_stuck_is_silent_and_can_be_ended(void **state)
{
	void *stuck = make_stuck_memory();
	struct raw_lane lane;
	uint32_t device;
	int event, status, socket = raw_client_with_event(served.socket, &event);

	(void)state;
	if (!stuck)
		skip();
	assert_int_equal(raw_open(socket, "maple0", &device), 0);
	assert_int_equal(raw_lane(socket, 0, 0, &lane), 0);
	lane.event_fd = event;
	raw_post(&lane, (uint64_t[]){
		word(MIMIC_COMMAND_LOAD, device, AT(INIT, WORDS_32), 4),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_PRODUCER, 0), 4),
		word(MIMIC_COMMAND_STORE, device, AT(FULL_POINTER32, 0), 8), (uintptr_t)stuck }, 4);
	test_sleep_ms(200);
	while (is_told(0))
		;
	assert_false(is_told(1000));
	kill(served.pid, SIGKILL);
	assert_int_equal(waitpid(served.pid, &status, 0), served.pid);
	served.pid = -1;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	raw_lane_unmap(&lane);
	close(socket);
	close(event);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(it_hears_as_long_as_the_loop_goes_round),
		TEST(a_loop_that_is_stuck_is_silent_and_can_be_ended),
		TEST(nothing_is_said_where_nobody_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
