/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's end of the kernel transport, without a kernel that loads
 * modules: nodes that are none, and made-up nodes whose session is with the
 * real code of mimicd.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/kinds.h"
#include "libmimic/kernel/kernel.h"
#include "libmimic/mimic.h"
#include "libmimic/transport.h"
#include "mimic/maple_ioctl.h"
#include "tests/lib/daemon_device.h"
#include "tests/lib/told.h"

#define NO_KERNEL "no kernel devices: is mimic.ko loaded and mimicd running?"
#define LOW_LIMIT (1ull << 40)

static const struct mimic_options on_kernel = { .transport = MIMIC_TRANSPORT_KERNEL };
static struct mimic_kernel_nodes real_nodes;
static struct mimic_device *device;
static char directory[64];

static void expect_text(const char *end)
{
	const char *text = mimic_error_text();

	assert_true(strlen(text) >= strlen(end));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void expect_refusal(const char *name, int error, const char *text)
{
	struct mimic_device *none = NULL;

	assert_int_equal(mimic_device_open(&none, name, &on_kernel), error);
	assert_null(none);
	expect_text(text);
}

/* The transport that auto chooses for `name`. */
static void expect_auto(const char *name, const char *transport)
{
	assert_int_equal(mimic_device_open(&device, name, NULL), 0);
	assert_string_equal(mimic_device_transport(device), transport);
	mimic_device_close(device);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* --- nodes that are none --------------------------------------------------- */

static int empty_directory(void **state)
{
	(void)state;
	alarm(120);
	real_nodes = mimic_kernel_nodes;
	strcpy(directory, "/tmp/mimic-test-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	mimic_kernel_nodes.directory = directory;
	setenv("MIMIC_SOCKET", "/nowhere/socket", 1);
	return 0;
}

static const char *entry(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(entry("maple"));
	unlink(entry("maple0"));
	mimic_kernel_nodes = real_nodes;
	unsetenv("MIMIC_SOCKET");
	unsetenv("MIMIC_TRANSPORT");
	return rmdir(directory);
}

static void without_nodes_the_text_says_what_to_look_for(void **state)
{
	(void)state;
	expect_refusal("maple", -ECONNREFUSED, NO_KERNEL);
	expect_refusal("maple0", -ECONNREFUSED, NO_KERNEL);
}

static void auto_goes_on_without_nodes(void **state)
{
	(void)state;
	expect_auto("maple", "embedded");
	expect_auto("maple1", "embedded");
}

static void the_environment_chooses_the_kernel(void **state)
{
	struct mimic_device *none = NULL;

	(void)state;
	setenv("MIMIC_TRANSPORT", "kernel", 1);
	assert_int_equal(mimic_device_open(&none, "maple0", NULL), -ECONNREFUSED);
	expect_text(NO_KERNEL);
}

static void a_regular_file_is_no_node(void **state)
{
	(void)state;
	close(open(entry("maple0"), O_CREAT | O_WRONLY, 0666));
	expect_refusal("maple0", -ECONNREFUSED, "/maple0: not a device of maple.ko");
	expect_auto("maple0", "embedded");
}

static void a_pipe_is_not_opened(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(entry("maple0"), 0666), 0);
	expect_refusal("maple0", -ECONNREFUSED, "/maple0: not a device of maple.ko");
	expect_auto("maple0", "embedded");
}

static void a_node_of_another_driver_is_no_node(void **state)
{
	int descriptors = count_descriptors();

	(void)state;
	assert_int_equal(symlink("/dev/null", entry("maple0")), 0);
	assert_int_equal(symlink("/dev/null", entry("maple")), 0);
	expect_refusal("maple0", -ECONNREFUSED, "/maple0: not a device of maple.ko");
	expect_refusal("maple", -ECONNREFUSED, "/maple: not a device of maple.ko");
	expect_auto("maple0", "embedded");
	assert_int_equal(count_descriptors(), descriptors);
}

static void a_number_beyond_the_nodes_is_no_device_and_auto_does_not_look_elsewhere(void **state)
{
	struct mimic_device *none = NULL;

	(void)state;
	assert_int_equal(symlink("/dev/null", entry("maple")), 0);
	expect_refusal("maple1", -ECONNREFUSED, NO_KERNEL);
	assert_int_equal(symlink("/dev/null", entry("maple0")), 0);
	expect_refusal("maple1", -ENODEV, "/maple1: there is no such device in the kernel");
	assert_int_equal(mimic_device_open(&none, "maple1", NULL), -ENODEV);
}

/* `text` has %s for the kinds that there are, of which a tree may have more. */
static void expect_unknown(const char *name, const char *text)
{
	char format[128], whole[256];

	snprintf(format, sizeof(format), "device '%s': %s", name, text);
	snprintf(whole, sizeof(whole), format, mimic_kind_names());
	expect_refusal(name, -ENOENT, whole);
}

static void other_kinds_of_device_are_unknown(void **state)
{
	(void)state;
	expect_unknown("pear", "the kinds of devices are %s");
	expect_unknown("maple01", "there are %s, and these with a number");
	expect_unknown("maple/0", "there are %s, and these with a number");
	expect_unknown("maple0123456789", "there are %s, and these with a number");
}

static void config_and_devices_are_wrong_with_transport_kernel(void **state)
{
	const struct mimic_options wrong[] = {
		{ .transport = MIMIC_TRANSPORT_KERNEL, .config_path = "artifact" },
		{ .transport = MIMIC_TRANSPORT_KERNEL, .devices = "maple:9" },
	};
	struct mimic_device *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(mimic_device_open(&none, "maple", &wrong[i]), -EINVAL);
		assert_non_null(strstr(mimic_error_text(), "config and devices belong to the embedded"));
	}
}

static void a_private_tile_is_embedded_where_no_daemon_answers(void **state)
{
	(void)state;
	assert_int_equal(mimic_device_open(&device, "maple@5", &on_kernel), 0);
	assert_string_equal(mimic_device_transport(device), "embedded");
	assert_string_equal(mimic_device_name(device), "maple@5");
	mimic_device_close(device);
}

/* --- made-up nodes ----------------------------------------------------------- */

#define FAKE_NODES 2

static struct {
	int open_error;
	int info_error;
	int connect_error;
	unsigned int version;
	unsigned int connects;
	int connect_to;			/* a socket to give away; -1: the daemon's */
	int nodes[FAKE_NODES];		/* open descriptors, by instance */
} fake;

static int fake_open(const char *path)
{
	const char *digits = strrchr(path, '/') + 1 + strlen("maple");
	unsigned int index = (unsigned int)atoi(digits);

	if (fake.open_error)
		return fake.open_error;
	if (index >= FAKE_NODES)
		return -ENOENT;
	fake.nodes[index] = open(index ? "/dev/zero" : "/dev/null", O_RDWR | O_CLOEXEC);
	return fake.nodes[index];
}

/* Of a duplicate, too. */
static unsigned int index_of_node(int node)
{
	struct stat status, zero;

	assert_int_equal(fstat(node, &status), 0);
	assert_int_equal(stat("/dev/zero", &zero), 0);
	return status.st_rdev == zero.st_rdev;
}

static int fake_info(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info)
{
	assert_string_equal(kind->name, "maple");
	*info = (struct mimic_kernel_info){ .version = fake.version, .index = index_of_node(node) };
	return fake.info_error;
}

static int fake_connect(int node, const struct mimic_kind *kind)
{
	(void)node, (void)kind;
	if (fake.connect_error)
		return fake.connect_error;
	fake.connects++;
	return fake.connect_to >= 0 ? fake.connect_to : raw_connect(served.socket);
}

static int fake_nodes(void **state)
{
	(void)state;
	alarm(120);
	real_nodes = mimic_kernel_nodes;
	memset(&fake, 0, sizeof(fake));
	fake.version = MAPLE_ABI_VERSION;
	fake.connect_to = -1;
	fake.nodes[0] = fake.nodes[1] = -1;
	mimic_kernel_nodes = (struct mimic_kernel_nodes){
		.directory = "/nowhere", .open = fake_open, .info = fake_info, .connect = fake_connect,
	};
	setenv("MIMIC_SOCKET", "/nowhere/socket", 1);
	return 0;
}

static int no_fake_nodes(void **state)
{
	(void)state;
	mimic_kernel_nodes = real_nodes;
	unsetenv("MIMIC_SOCKET");
	return 0;
}

static int with_daemon(void **state)
{
	fake_nodes(state);
	return served_start(&served, 2, false) ? 0 : -1;
}

static int without_daemon(void **state)
{
	int status = served.pid > 0 ? served_end(&served, SIGTERM) : 0;

	no_fake_nodes(state);
	served_clean(&served);
	return status;
}

static void a_busy_node_is_busy_and_auto_does_not_look_elsewhere(void **state)
{
	struct mimic_device *none = NULL;

	(void)state;
	fake.open_error = -EBUSY;
	expect_refusal("maple0", -EBUSY, "/maple0: in use by another process");
	expect_refusal("maple", -EBUSY, "all maple devices of the kernel are in use");
	assert_int_equal(mimic_device_open(&none, "maple0", NULL), -EBUSY);
}

static void a_node_that_may_not_be_opened_is_said_and_auto_goes_on(void **state)
{
	(void)state;
	fake.open_error = -EACCES;
	expect_refusal("maple0", -EACCES, "/maple0: Permission denied");
	expect_auto("maple0", "embedded");
}

static void a_node_without_a_daemon_is_said_and_auto_goes_on(void **state)
{
	int descriptors = count_descriptors();

	(void)state;
	fake.open_error = -ENODEV;
	expect_refusal("maple0", -ECONNREFUSED, "/maple0: no daemon serves it: is mimicd running?");
	expect_auto("maple0", "embedded");
	fake.open_error = 0;
	fake.info_error = -ENODEV;
	expect_refusal("maple0", -ECONNREFUSED, "/maple0: no daemon serves it: is mimicd running?");
	assert_int_equal(count_descriptors(), descriptors);
}

static void another_version_of_the_driver_is_refused(void **state)
{
	struct mimic_device *none = NULL;
	int descriptors = count_descriptors();

	(void)state;
	fake.version = MAPLE_ABI_VERSION + 1;
	expect_refusal("maple0", -EPROTO, "/maple0: maple.ko speaks version 2, this library 1");
	assert_int_equal(mimic_device_open(&none, "maple0", NULL), -EPROTO);
	assert_int_equal(count_descriptors(), descriptors);
}

static void a_session_that_is_refused_leaves_nothing_open(void **state)
{
	int descriptors = count_descriptors();

	(void)state;
	fake.connect_error = -EIO;
	expect_refusal("maple0", -EIO, "/maple0: no session with the daemon: Input/output error");
	assert_int_equal(count_descriptors(), descriptors);
}

static void a_daemon_that_hangs_up_leaves_nothing_open(void **state)
{
	int descriptors = count_descriptors();
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	close(ends[1]);
	fake.connect_to = ends[0];
	expect_refusal("maple0", -ENOTCONN, "/maple0: Transport endpoint is not connected");
	assert_int_equal(count_descriptors(), descriptors);
}

/* A daemon by hand: greets, opens, and sees the first lane's request, which it refuses. */
static void *hand_made_daemon(void *argument)
{
	static struct mimic_lane_request lane;
	struct mimic_hello_reply hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_open_reply opened = { .counters = 1, .name = "maple0" };
	struct mimic_message refused;
	int socket = *(int *)argument, event = eventfd(0, EFD_CLOEXEC), ignored;
	char request[MIMIC_MESSAGE_MAX];

	raw_receive(socket, request, sizeof(request), &ignored);
	raw_header(&hello, sizeof(hello), MIMIC_MESSAGE_HELLO | MIMIC_MESSAGE_REPLY);
	hello.header.sequence = ((struct mimic_message *)request)->sequence;
	raw_send(socket, &hello, sizeof(hello), &event, 1);
	raw_receive(socket, request, sizeof(request), &ignored);
	raw_header(&opened, sizeof(opened), MIMIC_MESSAGE_OPEN | MIMIC_MESSAGE_REPLY);
	opened.header.sequence = ((struct mimic_message *)request)->sequence;
	raw_send(socket, &opened, sizeof(opened), NULL, 0);
	raw_receive(socket, &lane, sizeof(lane), &ignored);
	raw_header(&refused, sizeof(refused), MIMIC_MESSAGE_LANE | MIMIC_MESSAGE_REPLY);
	refused.sequence = lane.header.sequence;
	refused.error = -EMFILE;
	raw_send(socket, &refused, sizeof(refused), NULL, 0);
	close(event);
	close(socket);
	return &lane;
}

/* So that the thread's traps, which the kernel sees, and its lanes are one owner's. */
static void a_lane_says_which_thread_it_is_of(void **state)
{
	struct mimic_access access = { .offset = AT(RESET, 0), .size = 4 };
	struct mimic_lane_request *lane;
	pthread_t thread;
	void *result;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	fake.connect_to = ends[0];
	pthread_create(&thread, NULL, hand_made_daemon, &ends[1]);
	assert_int_equal(mimic_device_open(&device, "maple0", &on_kernel), 0);
	assert_int_equal(mimic_device_access(device, &access), -EMFILE);
	pthread_join(thread, &result);
	lane = result;
	assert_int_equal(lane->header.type, MIMIC_MESSAGE_LANE);
	assert_int_equal(lane->tid, gettid());
	mimic_device_close(device);
}

/* --- with a daemon ------------------------------------------------------------ */

static uint64_t load_on(struct mimic_device *which, unsigned int operation, unsigned int field)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = 4 };

	assert_int_equal(mimic_device_access(which, &access), 0);
	return access.data;
}

static void a_node_that_the_program_has_open_stays_its_own(void **state)
{
	int node = fake_open("/nowhere/maple1"), descriptors = count_descriptors();
	struct mimic_access access = { .offset = AT(INIT, WORDS_32), .size = 4 };
	bool is_inherited;
	int own;

	(void)state;
	assert_int_equal(mimic_device_open_node(&device, mimic_kind_find("maple", 5), node, &own, &is_inherited), 0);
	assert_string_equal(mimic_device_name(device), "maple1");
	assert_string_equal(mimic_device_transport(device), "kernel");
	assert_true(is_inherited);
	assert_int_not_equal(own, node);
	assert_int_equal(index_of_node(own), 1);
	assert_int_equal(mimic_device_access(device, &access), 0);
	assert_int_not_equal(access.data, 0);
	mimic_device_close(device);
	assert_int_equal(count_descriptors(), descriptors);
	close(node);
}

static void a_node_and_the_devices_name_are_one_device(void **state)
{
	int node = fake_open("/nowhere/maple0");
	struct mimic_device *by_name, *again;
	bool is_inherited;
	int own;

	(void)state;
	assert_int_equal(mimic_device_open_node(&device, mimic_kind_find("maple", 5), node, &own, &is_inherited), 0);
	assert_int_equal(mimic_device_open_node(&again, mimic_kind_find("maple", 5), node, &own, &is_inherited), 0);
	assert_int_equal(mimic_device_open(&by_name, "maple0", &on_kernel), 0);
	assert_ptr_equal(again, device);
	assert_ptr_equal(by_name, device);
	for (int i = 0; i < 3; i++)
		mimic_device_close(device);
	close(node);
}

static void a_node_of_another_version_leaves_nothing_open(void **state)
{
	int node = fake_open("/nowhere/maple0"), descriptors = count_descriptors();
	bool is_inherited;
	int own;

	(void)state;
	fake.version = MAPLE_ABI_VERSION + 1;
	assert_int_equal(mimic_device_open_node(&device, mimic_kind_find("maple", 5), node, &own, &is_inherited), -EPROTO);
	fake.version = MAPLE_ABI_VERSION;
	fake.connect_error = -EIO;
	assert_int_equal(mimic_device_open_node(&device, mimic_kind_find("maple", 5), node, &own, &is_inherited), -EIO);
	assert_int_equal(count_descriptors(), descriptors);
	close(node);
}

static void store_on(struct mimic_device *which, unsigned int operation, unsigned int field,
		     unsigned int size, uint64_t value)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = (uint8_t)size,
				       .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(which, &access), 0);
}

static struct mimic_device *open_ready(const char *name, const struct mimic_options *options)
{
	struct mimic_device *opened = NULL;

	assert_int_equal(mimic_device_open(&opened, name, options), 0);
	load_on(opened, RESET, 0);
	assert_int_equal(load_on(opened, INIT, WORDS_32), 2);
	assert_int_equal(load_on(opened, OPEN_PRODUCER, 0) & 2, 2);
	assert_int_equal(load_on(opened, OPEN_CONSUMER, 0) & 1, 1);
	return opened;
}

static void expect_queue_works(struct mimic_device *which, uint32_t word)
{
	store_on(which, PRODUCE, 0, 4, word);
	assert_int_equal(load_on(which, CONSUME, 0), word);
}

static void auto_takes_the_kernel_and_a_queue_works(void **state)
{
	int descriptors = count_descriptors();

	(void)state;
	device = open_ready("maple", NULL);
	assert_string_equal(mimic_device_transport(device), "kernel");
	assert_string_equal(mimic_device_name(device), "maple0");
	expect_queue_works(device, 4711);
	mimic_device_close(device);
	assert_int_equal(count_descriptors(), descriptors);
}

static void auto_takes_the_kernel_before_a_daemon(void **state)
{
	(void)state;
	setenv("MIMIC_SOCKET", served.socket, 1);
	expect_auto("maple0", "kernel");
	fake.open_error = -ENOENT;
	expect_auto("maple0", "daemon");
}

static void two_devices_have_one_session(void **state)
{
	struct mimic_device *second;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	second = open_ready("maple1", &on_kernel);
	assert_string_equal(mimic_device_name(second), "maple1");
	assert_int_equal(fake.connects, 1);
	mimic_device_close(device);
	expect_queue_works(second, 12);
	mimic_device_close(second);
	device = open_ready("maple0", &on_kernel);
	assert_int_equal(fake.connects, 2);
	expect_queue_works(device, 13);
	mimic_device_close(device);
}

static void the_same_name_is_the_same_instance(void **state)
{
	struct mimic_device *again;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	assert_int_equal(mimic_device_open(&again, "maple0", &on_kernel), 0);
	assert_ptr_equal(again, device);
	mimic_device_close(again);
	expect_queue_works(device, 14);
	mimic_device_close(device);
}

/* Each has its own session, and a thread its lanes in both. */
static void kernel_and_daemon_side_by_side(void **state)
{
	struct mimic_options by_socket = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *other;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	other = open_ready("maple1", &by_socket);
	assert_string_equal(mimic_device_transport(other), "daemon");
	for (uint32_t i = 0; i < 100; i++) {
		expect_queue_works(device, i);
		expect_queue_works(other, i + 1000);
	}
	mimic_device_close(device);
	expect_queue_works(other, 15);
	mimic_device_close(other);
}

static void a_private_tile_is_the_daemons(void **state)
{
	struct mimic_device *tile;

	(void)state;
	setenv("MIMIC_SOCKET", served.socket, 1);
	device = open_ready("maple0", &on_kernel);
	tile = open_ready("maple@5", &on_kernel);
	assert_string_equal(mimic_device_transport(tile), "daemon");
	expect_queue_works(tile, 16);
	expect_queue_works(device, 17);
	mimic_device_close(tile);
	mimic_device_close(device);
}

static void a_daemon_that_sleeps_is_woken(void **state)
{
	(void)state;
	alarm(20);
	device = open_ready("maple0", &on_kernel);
	for (uint32_t i = 0; i < 5; i++) {
		test_sleep_ms(20);
		expect_queue_works(device, i);
	}
	mimic_device_close(device);
}

static void batches_keep_their_order(void **state)
{
	struct mimic_access produce = { .offset = AT(PRODUCE, 0), .size = 4 };
	struct mimic_access consume = { .offset = AT(CONSUME, 0), .size = 4 };
	uint64_t values[20];
	uint32_t answers[20];

	(void)state;
	device = open_ready("maple0", &on_kernel);
	for (uint32_t i = 0; i < 20; i++)
		values[i] = 3 * i;
	assert_int_equal(mimic_device_post(device, &produce, values, 20), 20);
	assert_int_equal(mimic_device_load(device, &consume, answers, 20), 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(answers[i], 3 * i);
	mimic_device_close(device);
}

static void allocated_memory_is_zeroed_low_and_the_devices(void **state)
{
	uint32_t *memory;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	memory = mimic_memory_alloc(device, 5000);
	assert_non_null(memory);
	assert_true((uintptr_t)memory % 4096 == 0 && (uintptr_t)memory + 8192 < LOW_LIMIT);
	assert_true(memory[0] == 0 && memory[1249] == 0);
	memory[7] = 99;
	store_on(device, SET_BASE32, 0, 8, (uintptr_t)memory);
	store_on(device, POINTER32, 0, 8, 7);
	assert_int_equal(load_on(device, CONSUME, 0), 99);
	assert_int_equal(mimic_memory_free(device, memory + 1), -EINVAL);
	assert_int_equal(mimic_memory_free(device, memory), 0);
	assert_int_equal(mimic_memory_free(device, memory), -EINVAL);
	errno = 0;
	assert_null(mimic_memory_alloc(device, 0));
	assert_int_equal(errno, EINVAL);
	mimic_device_close(device);
}

/* The answers are those of the daemon transport (test_daemon.c), though there is nothing to do here. */
static void registered_memory_gets_the_answers_of_the_daemon_transport(void **state)
{
	char *memory = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *allocated;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	memset(memory, 5, 8 * 4096);
	assert_int_equal(mimic_memory_register(device, NULL, 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, 0), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory + 1, 100), 0);
	assert_int_equal(mimic_memory_register(device, shared, 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory + 100, 4 * 4096), 0);
	assert_int_equal(mimic_memory_register(device, memory, 8 * 4096), -EINVAL);
	assert_int_equal(mimic_memory_unregister(device, memory + 4096, 4096), -EINVAL);
	assert_int_equal(mimic_memory_unregister(device, memory + 100, 4 * 4096), 0);
	assert_int_equal(mimic_memory_unregister(device, memory + 100, 4 * 4096), -EINVAL);
	assert_int_equal(mimic_memory_register(device, memory, 8 * 4096), 0);
	assert_int_equal(mimic_memory_unregister(device, memory, 8 * 4096), 0);
	allocated = mimic_memory_alloc(device, 4096);
	assert_int_equal(mimic_memory_register(device, allocated, 4096), -EINVAL);
	assert_int_equal(mimic_memory_unregister(device, allocated, 4096), -EINVAL);
	assert_int_equal(mimic_memory_free(device, allocated), 0);
	munmap(memory + 4096, 4096);
	assert_int_equal(mimic_memory_register(device, memory, 3 * 4096), -EINVAL);
	munmap(memory, 8 * 4096);
	munmap(shared, 4096);
	mimic_device_close(device);
}

static void a_daemon_that_dies_is_said_and_a_new_one_is_found(void **state)
{
	struct mimic_access access = { .offset = AT(CONSUME, 0), .size = 4 };
	void *memory;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	memory = mimic_memory_alloc(device, 4096);
	served_end(&served, SIGKILL);
	assert_int_equal(mimic_device_access(device, &access), -ENOTCONN);
	errno = 0;
	assert_null(mimic_memory_alloc(device, 4096));
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(mimic_memory_register(device, memory, 4096), -ENOTCONN);
	assert_int_equal(mimic_memory_free(device, memory), 0);
	mimic_device_close(device);
	assert_true(served_restart(&served, 2));
	device = open_ready("maple0", &on_kernel);
	expect_queue_works(device, 18);
	mimic_device_close(device);
}

/* In the child: exit status 0 if the parent's device is none of its own. */
static int look_in_child(int node)
{
	struct mimic_access access = { .offset = AT(RESET, 0), .size = 4 };

	if (mimic_device_access(device, &access) != -ENODEV)
		return 1;
	if (fcntl(node, F_GETFD) >= 0)
		return 2;
	mimic_device_close(device);
	device = open_ready("maple1", &on_kernel);
	expect_queue_works(device, 20);
	mimic_device_close(device);
	return 0;
}

static void a_child_has_no_device_and_can_open_its_own(void **state)
{
	int status = 0;
	pid_t child;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	child = fork();
	if (child == 0)
		_exit(look_in_child(fake.nodes[0]));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect_queue_works(device, 19);
	mimic_device_close(device);
}

static void *use_from_thread(void *argument)
{
	(void)argument;
	assert_int_equal(load_on(device, OPEN_PRODUCER, 1) & 2, 2);
	return NULL;
}

static void roles_of_a_thread_that_ended_are_free(void **state)
{
	pthread_t thread;

	(void)state;
	device = open_ready("maple0", &on_kernel);
	pthread_create(&thread, NULL, use_from_thread, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(load_on(device, OPEN_PRODUCER, 1) & 2, 2);
	mimic_device_close(device);
}

static void consume_from_queue_1(void)
{
	assert_int_equal(load_on(device, OPEN_CONSUMER, 1) & 1, 1);
	assert_int_equal(load_on(device, CONSUME, 1), 5);
}

static void a_thread_that_waits_for_long_tells_what_for(void **state)
{
	struct told_thread thread;

	(void)state;
	told_begin(200);
	device = open_ready("maple0", &on_kernel);
	told_start(&thread, consume_from_queue_1);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"), "a load of MAPLE CONSUME [1]: queue 1 is empty, and nobody produces");
	load_on(device, OPEN_PRODUCER, 1);
	store_on(device, PRODUCE, 1, 4, 5);
	told_join(&thread);
	told_end();
	mimic_device_close(device);
}

#define NO_NODE(test) cmocka_unit_test_setup_teardown(test, empty_directory, remove_directory)
#define FAKE_NODE(test) cmocka_unit_test_setup_teardown(test, fake_nodes, no_fake_nodes)
#define WITH_DAEMON(test) cmocka_unit_test_setup_teardown(test, with_daemon, without_daemon)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NO_NODE(without_nodes_the_text_says_what_to_look_for),
		NO_NODE(auto_goes_on_without_nodes),
		NO_NODE(the_environment_chooses_the_kernel),
		NO_NODE(a_regular_file_is_no_node),
		NO_NODE(a_pipe_is_not_opened),
		NO_NODE(a_node_of_another_driver_is_no_node),
		NO_NODE(a_number_beyond_the_nodes_is_no_device_and_auto_does_not_look_elsewhere),
		NO_NODE(other_kinds_of_device_are_unknown),
		NO_NODE(config_and_devices_are_wrong_with_transport_kernel),
		NO_NODE(a_private_tile_is_embedded_where_no_daemon_answers),
		FAKE_NODE(a_busy_node_is_busy_and_auto_does_not_look_elsewhere),
		FAKE_NODE(a_node_that_may_not_be_opened_is_said_and_auto_goes_on),
		FAKE_NODE(a_node_without_a_daemon_is_said_and_auto_goes_on),
		FAKE_NODE(another_version_of_the_driver_is_refused),
		FAKE_NODE(a_session_that_is_refused_leaves_nothing_open),
		FAKE_NODE(a_daemon_that_hangs_up_leaves_nothing_open),
		FAKE_NODE(a_lane_says_which_thread_it_is_of),
		WITH_DAEMON(a_node_that_the_program_has_open_stays_its_own),
		WITH_DAEMON(a_node_and_the_devices_name_are_one_device),
		WITH_DAEMON(a_node_of_another_version_leaves_nothing_open),
		WITH_DAEMON(auto_takes_the_kernel_and_a_queue_works),
		WITH_DAEMON(auto_takes_the_kernel_before_a_daemon),
		WITH_DAEMON(two_devices_have_one_session),
		WITH_DAEMON(the_same_name_is_the_same_instance),
		WITH_DAEMON(kernel_and_daemon_side_by_side),
		WITH_DAEMON(a_private_tile_is_the_daemons),
		WITH_DAEMON(a_daemon_that_sleeps_is_woken),
		WITH_DAEMON(batches_keep_their_order),
		WITH_DAEMON(allocated_memory_is_zeroed_low_and_the_devices),
		WITH_DAEMON(registered_memory_gets_the_answers_of_the_daemon_transport),
		WITH_DAEMON(a_daemon_that_dies_is_said_and_a_new_one_is_found),
		WITH_DAEMON(a_child_has_no_device_and_can_open_its_own),
		WITH_DAEMON(roles_of_a_thread_that_ended_are_free),
		WITH_DAEMON(a_thread_that_waits_for_long_tells_what_for),
	};

	return cmocka_run_group_tests_name("kernel client", tests, NULL, NULL);
}
