/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic on a session that the daemon made for a process of the kernel's bus
 * (fake_bus.h): both ends are the real code, the kernel between them is made up.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/kernel/kernel.h"
#include "libmimic/mimic.h"
#include "mimic/maple_ioctl.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/fake_bus.h"

#define DEVICES 2u
#define PROCESS 7u
#define BINDING_OF(index) ((index) + 1)

static const struct mimic_options on_kernel = { .transport = MIMIC_TRANSPORT_KERNEL };
static struct mimic_kernel_nodes real_nodes;
static int nodes[DEVICES];

static int bus_open(const char *path)
{
	unsigned int index = (unsigned int)atoi(strrchr(path, '/') + 1 + strlen("maple"));
	int error = index < DEVICES ? fake_bus_open(index, BINDING_OF(index), PROCESS) : -ENOENT;

	if (error)
		return error;
	nodes[index] = open("/dev/null", O_RDWR | O_CLOEXEC);
	return nodes[index];
}

static int bus_info(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info)
{
	(void)kind;
	*info = (struct mimic_kernel_info){ .version = MAPLE_ABI_VERSION, .index = node == nodes[1] };
	return 0;
}

static int bus_connect(int node, const struct mimic_kind *kind)
{
	(void)kind;
	unsigned int index = node == nodes[1];
	int error = fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, index, BINDING_OF(index), 0);
	int fd = fake_bus.connected;

	fake_bus.connected = -1;
	return error ? error : fd;
}

static int start(void **state)
{
	int error = fake_bus_start(DEVICES, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);

	(void)state;
	alarm(60);
	real_nodes = mimic_kernel_nodes;
	mimic_kernel_nodes = (struct mimic_kernel_nodes){
		.directory = "/nowhere", .open = bus_open, .info = bus_info, .connect = bus_connect,
	};
	nodes[0] = nodes[1] = -1;
	if (!error)
		fake_bus_serve();
	return error;
}

static int stop(void **state)
{
	(void)state;
	mimic_kernel_nodes = real_nodes;
	fake_bus_stop();
	return 0;
}

static uint64_t load(struct mimic_device *device, unsigned int operation, unsigned int field)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = 4 };

	assert_int_equal(mimic_device_access(device, &access), 0);
	return access.data;
}

static void store(struct mimic_device *device, unsigned int operation, uint64_t value)
{
	struct mimic_access access = { .offset = AT(operation, 0), .size = 4, .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(device, &access), 0);
}

static struct mimic_device *open_ready(const char *name)
{
	struct mimic_device *device = NULL;

	assert_int_equal(mimic_device_open(&device, name, &on_kernel), 0);
	assert_int_equal(load(device, INIT, WORDS_32), 2);
	return device;
}

/* As the kernel does when the last descriptor is closed. */
static void close_all(struct mimic_device *device, unsigned int index)
{
	mimic_device_close(device);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, index, BINDING_OF(index), 0), 0);
}

/* An access of a thread as the kernel traps it; `number` is the kernel's for the thread. */
static uint64_t trap(unsigned int index, uint32_t number, pid_t tid, bool is_write, unsigned int operation,
		     uint64_t value)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_ACCESS,
		.device = fake_bus.registered[index].device,
		.binding = BINDING_OF(index),
		.thread = number,
		.offset = AT(operation, 0),
		.size = 4,
		.is_write = is_write,
		.data = value,
		.pid = tid,
	};
	uint64_t data = 0;

	assert_int_equal(fake_bus_status(fake_bus_put(&request), &data), 0);
	return data;
}

static void a_queue_works(void **state)
{
	struct mimic_device *device = open_ready("maple0");

	(void)state;
	assert_int_equal(load(device, OPEN_PRODUCER, 0) & 2, 2);
	assert_int_equal(load(device, OPEN_CONSUMER, 0) & 1, 1);
	store(device, PRODUCE, 4711);
	assert_int_equal(load(device, CONSUME, 0), 4711);
	close_all(device, 0);
}

static void two_devices_are_two_bindings_on_one_session(void **state)
{
	struct mimic_device *first = open_ready("maple0");
	struct mimic_device *second = open_ready("maple1");

	(void)state;
	assert_string_equal(mimic_device_name(second), "maple1");
	/* The session came from the first one's node, and outlives it. */
	close_all(first, 0);
	assert_int_equal(load(second, OPEN_PRODUCER, 0) & 2, 2);
	assert_int_equal(load(second, OPEN_CONSUMER, 0) & 1, 1);
	store(second, PRODUCE, 12);
	assert_int_equal(load(second, CONSUME, 0), 12);
	close_all(second, 1);
}

static void traps_of_a_thread_may_use_a_role_that_it_opened_by_a_call(void **state)
{
	struct mimic_device *device = open_ready("maple0");
	pid_t self = gettid();

	(void)state;
	assert_int_equal(load(device, OPEN_PRODUCER, 0) & 2, 2);
	assert_int_equal(trap(0, 1, self, false, OPEN_CONSUMER, 0) & 3, 3);
	trap(0, 1, self, true, PRODUCE, 31);
	store(device, PRODUCE, 32);
	assert_int_equal(load(device, CONSUME, 0), 31);
	assert_int_equal(trap(0, 1, self, false, CONSUME, 0), 32);
	/* Another thread owns nothing: its store is dropped. */
	trap(0, 2, self + 1, true, PRODUCE, 33);
	store(device, PRODUCE, 34);
	assert_int_equal(load(device, CONSUME, 0), 34);
	close_all(device, 0);
}

static void an_instance_is_opened_again_as_after_power_on(void **state)
{
	struct mimic_device *device = open_ready("maple0");

	(void)state;
	close_all(device, 0);
	/* INIT answers 2 where there is no queue. */
	device = open_ready("maple0");
	close_all(device, 0);
}

static void *open_consumer(void *device)
{
	assert_int_equal(load(device, OPEN_CONSUMER, 0) & 1, 1);
	return NULL;
}

static void threads_of_the_library_are_owners_of_their_own(void **state)
{
	struct mimic_device *device = open_ready("maple0");
	pthread_t thread;

	(void)state;
	assert_int_equal(load(device, OPEN_PRODUCER, 0) & 3, 2);
	pthread_create(&thread, NULL, open_consumer, device);
	pthread_join(thread, NULL);
	/* The thread is gone, and the role is free. */
	assert_int_equal(load(device, OPEN_CONSUMER, 0) & 1, 1);
	close_all(device, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_queue_works),
		TEST(two_devices_are_two_bindings_on_one_session),
		TEST(traps_of_a_thread_may_use_a_role_that_it_opened_by_a_call),
		TEST(an_instance_is_opened_again_as_after_power_on),
		TEST(threads_of_the_library_are_owners_of_their_own),
	};

	return cmocka_run_group_tests_name("kernel bound", tests, NULL, NULL);
}
