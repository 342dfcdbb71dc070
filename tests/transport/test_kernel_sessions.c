/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sessions that a process gets through the kernel: its lanes and its traps work on one device. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/bus/internal.h"
#include "daemon/clients/session.h"
#include "daemon/clients/thread_id.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

/* Thread 1 of a binding is the test's own. */
enum { SELF = 1, PEER = 2 };
enum { BINDING = 1, OTHER_BINDING = 2 };
enum { STALLED = 8, PIPES = 1, RESOLVE = 2, PRESENT = 4 };

#define PAGE_OF(n) (FAKE_ARENA + (n) * 4096ull)

static int start(void **state)
{
	int error = fake_bus_start(3, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);

	(void)state;
	if (!error)
		fake_bus_serve();
	return error;
}

static int stop(void **state)
{
	(void)state;
	fake_bus_stop();
	return 0;
}

static int greet(int fd)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	int event_fd;

	assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
				     sizeof(reply), &event_fd), 0);
	return event_fd;
}

/* A session of the binding's process. The eventfd is left to the caller. */
static int connect_binding(uint32_t device, uint32_t binding, int *event_fd)
{
	int fd;

	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, device, binding, 0), 0);
	fd = fake_bus.connected;
	assert_true(fd >= 0);
	fake_bus.connected = -1;
	*event_fd = greet(fd);
	return fd;
}

struct client {
	int socket;
	int event_fd;
	uint32_t device;
	struct raw_lane lane;
};

static int make_lane(struct client *client, uint32_t tid)
{
	struct mimic_lane_request message = { .tid = tid };
	struct mimic_lane_reply reply = { 0 };
	struct raw_lane *lane = &client->lane;
	int fd = -1;
	int error = raw_request(client->socket, &message, sizeof(message), MIMIC_MESSAGE_LANE, -1, &reply,
				sizeof(reply), &fd);

	if (error)
		return error;
	lane->number = reply.lane;
	lane->thread = reply.thread;
	lane->event_fd = client->event_fd;
	lane->size = mimic_lane_size(reply.command_words, reply.response_words);
	lane->memory = mmap(NULL, lane->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	mimic_ring_attach(&lane->commands, mimic_lane_commands(lane->memory), reply.command_words);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(lane->memory, reply.command_words),
			  reply.response_words);
	return 0;
}

/* Process 7 has maple0, a session, and a lane of a thread with that number. */
static void start_client(struct client *client, uint32_t tid)
{
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(fake_bus_load(BINDING, SELF, PAGE_MAPLE, AT(INIT, WORDS_32), 4), 2);
	client->socket = connect_binding(0, BINDING, &client->event_fd);
	assert_int_equal(raw_open(client->socket, "maple0", &client->device), 0);
	assert_int_equal(make_lane(client, tid), 0);
}

static void end_client(struct client *client)
{
	raw_lane_unmap(&client->lane);
	close(client->socket);
	close(client->event_fd);
}

static uint64_t pack(const struct client *client, enum mimic_command_kind kind, unsigned int offset,
		     unsigned int size)
{
	const struct mimic_command command = {
		.kind = kind, .device = (uint8_t)client->device, .size = (uint8_t)size,
		.offset = (uint16_t)offset, .count = 1,
	};

	return mimic_command_pack(&command);
}

static void lane_post(struct client *client, unsigned int operation, unsigned int size, uint64_t value)
{
	const uint64_t words[] = { pack(client, MIMIC_COMMAND_STORE, AT(operation, 0), size), value };

	raw_post(&client->lane, words, 2);
}

static void lane_load_begin(struct client *client, unsigned int operation)
{
	const uint64_t word = pack(client, MIMIC_COMMAND_LOAD, AT(operation, 0), 4);

	raw_post(&client->lane, &word, 1);
}

static uint64_t lane_load(struct client *client, unsigned int operation)
{
	uint64_t answer;

	lane_load_begin(client, operation);
	assert_true(raw_answer(&client->lane, &answer));
	return answer;
}

static uint64_t trap(uint32_t thread, unsigned int operation)
{
	return fake_bus_load(BINDING, thread, PAGE_MAPLE, AT(operation, 0), 4);
}

static void expect_end(int fd)
{
	char reply[MIMIC_MESSAGE_MAX];
	int ignored;

	assert_int_equal(raw_receive(fd, reply, sizeof(reply), &ignored), 0);
}

static void a_session_gets_the_devices_of_its_own_process(void **state)
{
	uint32_t number, again;
	int fd, event_fd;

	(void)state;
	assert_int_equal(fake_bus_open(0, 1, 7), 0);
	assert_int_equal(fake_bus_open(1, 2, 8), 0);
	fd = connect_binding(0, 1, &event_fd);
	assert_int_equal(raw_open(fd, "maple0", &number), 0);
	assert_int_equal(raw_open(fd, "maple", &again), 0);
	assert_int_equal(again, number);
	assert_int_equal(raw_open(fd, "maple1", &again), -EBUSY);
	/* Free, but not through this session: the process has to open its node. */
	assert_int_equal(raw_open(fd, "maple2", &again), -EBUSY);
	assert_int_equal(raw_open(fd, "maple3", &again), -ENODEV);
	assert_int_equal(raw_open(fd, "maple@0", &again), 0);
	close(fd);
	close(event_fd);
}

static void a_session_of_the_socket_and_a_process_of_the_kernel_exclude_each_other(void **state)
{
	int ends[2], event_fd;
	uint32_t number;

	(void)state;
	fake_bus_stop();
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(mimicd_session_create(fake_bus.server->clients, ends[0]), 0);
	fake_bus_serve();
	event_fd = greet(ends[1]);
	assert_int_equal(raw_open(ends[1], "maple0", &number), 0);
	assert_int_equal(fake_bus_open(0, 1, 7), -EBUSY);
	assert_int_equal(fake_bus_open(1, 2, 7), 0);
	assert_int_equal(raw_open(ends[1], "maple1", &number), -EBUSY);
	assert_int_equal(raw_open(ends[1], "maple", &number), -EBUSY);
	close(ends[1]);
	close(event_fd);
}

/* The device is on the bus without a binding: its driver is not asked. */
static void a_bad_pointer_of_a_session_of_the_socket_is_no_page_fault(void **state)
{
	struct client client = { 0 };
	int ends[2];

	(void)state;
	fake_bus_stop();
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(mimicd_session_create(fake_bus.server->clients, ends[0]), 0);
	fake_bus_serve();
	client.socket = ends[1];
	client.event_fd = greet(ends[1]);
	assert_int_equal(raw_open(client.socket, "maple0", &client.device), 0);
	assert_int_equal(make_lane(&client, 0), 0);
	lane_load(&client, INIT);
	lane_load(&client, OPEN_PRODUCER);
	lane_load(&client, OPEN_CONSUMER);
	lane_post(&client, FULL_POINTER32, 8, 0x10000);
	assert_int_equal(lane_load(&client, CONSUME), 0);
	assert_int_equal(lane_load(&client, FAULT_COUNT), 1);
	assert_int_equal(fake_bus.interrupts[0], 0);
	end_client(&client);
}

static void a_threads_traps_and_lanes_are_one_owners(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(trap(PEER, OPEN_CONSUMER) & 3, 1);
	lane_post(&client, PRODUCE, 4, 77);
	assert_int_equal(trap(PEER, CONSUME), 77);
	assert_int_equal(lane_load(&client, OPEN_PRODUCER) & 3, 2);
	end_client(&client);
}

static void a_lane_made_first_is_its_threads_too(void **state)
{
	struct client client;

	(void)state;
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	client.socket = connect_binding(0, BINDING, &client.event_fd);
	assert_int_equal(raw_open(client.socket, "maple0", &client.device), 0);
	assert_int_equal(make_lane(&client, (uint32_t)gettid()), 0);
	lane_load(&client, INIT);
	assert_int_equal(lane_load(&client, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(trap(PEER, OPEN_PRODUCER) & 3, 0);
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 2);
	end_client(&client);
}

static void a_lane_that_names_no_thread_is_an_owner_of_its_own(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, 0);
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(lane_load(&client, OPEN_PRODUCER) & 3, 0);
	end_client(&client);
}

static void a_thread_of_another_process_cannot_be_named(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, 1);
	assert_int_equal(lane_load(&client, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 0);
	end_client(&client);
}

static void *sleep_in_thread(void *ends)
{
	uint32_t tid = (uint32_t)gettid();
	char byte;

	(void)!write(((int *)ends)[1], &tid, sizeof(tid));
	(void)!read(((int *)ends)[0], &byte, 1);
	return NULL;
}

/* First process of a pid namespace: its thread's number there goes up the socket. */
static void live_in_namespace(int *ends)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_in_thread, ends);
	pthread_join(thread, NULL);
	_exit(0);
}

static void a_thread_of_another_pid_namespace_is_found_by_its_number_there(void **state)
{
	int ends[2];
	pid_t child, found;
	uint32_t tid = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		int own[2] = { ends[1], ends[1] };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_in_namespace(own);
	}
	if (child < 0) {
		close(ends[0]);
		close(ends[1]);
		print_message("skipped: no right to make a pid namespace\n");
		skip();
	}
	assert_int_equal(read(ends[0], &tid, sizeof(tid)), sizeof(tid));
	assert_in_range(tid, 2, 5);
	found = mimicd_thread_id(child, tid);
	/* Any number of this namespace, but the process's own. */
	assert_true(found > 0 && found != child && found != (pid_t)tid);
	assert_int_equal(mimicd_thread_id(child, 1), child);
	assert_int_equal(mimicd_thread_id(child, 77777), 0);
	assert_int_equal(mimicd_thread_id(0, 1), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void posts_come_before_a_trap(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	trap(SELF, OPEN_PRODUCER);
	for (uint64_t i = 1; i <= 20; i++) {
		lane_post(&client, PRODUCE, 4, i);
		assert_int_equal(fake_bus_load(BINDING, PEER, PAGE_MAPLE, AT(QUEUE_STATE, 0), 8) & 0xffff, i);
	}
	end_client(&client);
}

/* Not because lanes happen to be looked at first. */
static void posts_since_the_lanes_were_checked_come_before_a_trap_too(void **state)
{
	struct mimic_bus_slot *slot = &fake_bus.slots[200];
	struct client client;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	trap(SELF, OPEN_PRODUCER);
	fake_bus_pause();
	lane_post(&client, PRODUCE, 4, 1);
	slot->request = (struct mimic_bus_request){
		.slot = 200, .kind = MIMIC_BUS_REQUEST_ACCESS, .device = 10, .binding = BINDING,
		.thread = PEER, .offset = AT(QUEUE_STATE, 0), .size = 4,
	};
	slot->answered = 0;
	fake_bus.header->pending[3] |= 1ull << 8;
	fake_bus.header->doorbell++;
	assert_true(mimicd_bus_poll(fake_bus.server->bus, true));
	/* On a machine that is busy the turn may be over before the lane is drained: the trap goes on in the next. */
	for (int turn = 0; turn < 100 && !slot->answered; turn++)
		mimicd_bus_poll(fake_bus.server->bus, true);
	assert_int_equal(slot->answered, 1);
	assert_int_equal(slot->data & 0xffff, 1);
	end_client(&client);
}

static void a_lane_that_waits_goes_on_by_a_trap_and_the_other_way_round(void **state)
{
	struct client client;
	uint64_t answer;
	uint32_t slot;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	trap(SELF, OPEN_CONSUMER);
	trap(PEER, OPEN_PRODUCER);
	lane_load_begin(&client, CONSUME);
	test_sleep_ms(20);
	fake_bus_store(BINDING, PEER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 11);
	assert_true(raw_answer(&client.lane, &answer));
	assert_int_equal(answer, 11);
	for (unsigned int i = 0; i < 32; i++)
		fake_bus_store(BINDING, PEER, PAGE_MAPLE, AT(PRODUCE, 0), 4, i);
	slot = fake_bus_store_begin(BINDING, PEER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 32);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(lane_load(&client, CONSUME), 0);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	end_client(&client);
}

/* A signal handler of the thread touches the page. */
static void a_trap_goes_before_its_threads_command_that_waits(void **state)
{
	struct client client;
	uint64_t answer;
	uint32_t slot;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	trap(SELF, OPEN_CONSUMER);
	trap(PEER, OPEN_PRODUCER);
	lane_load_begin(&client, CONSUME);
	test_sleep_ms(20);
	slot = fake_bus_load_begin(BINDING, SELF, PAGE_MAPLE, AT(CONSUME, 0), 4);
	assert_true(fake_bus_waits(slot));
	fake_bus_store(BINDING, PEER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 11);
	assert_int_equal(fake_bus_status(slot, &answer), 0);
	assert_int_equal(answer, 11);
	fake_bus_store(BINDING, PEER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 12);
	assert_true(raw_answer(&client.lane, &answer));
	assert_int_equal(answer, 12);
	end_client(&client);
}

static void a_lanes_pointers_reach_the_processs_memory_and_fault_at_the_driver(void **state)
{
	struct client client;
	uint32_t slot;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	trap(SELF, OPEN_PRODUCER);
	trap(PEER, OPEN_CONSUMER);
	fake_bus_page(2, FAKE_PRESENT);
	lane_post(&client, FULL_POINTER32, 8, PAGE_OF(2) + 4);
	lane_post(&client, FULL_POINTER32, 8, PAGE_OF(3) + 4);
	assert_int_equal(trap(PEER, CONSUME), 0xa0000 + 2 * 1024 + 1);
	slot = fake_bus_load_begin(BINDING, PEER, PAGE_MAPLE, AT(CONSUME, 0), 4);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fake_bus_load(0, 0, PAGE_MMU, AT(FAULT_STATUS, 0), 8), PAGE_OF(3) | PIPES | STALLED);
	fake_bus_page(3, FAKE_PRESENT);
	fake_bus_store(0, 0, PAGE_MMU, AT(MMU_STORE, RESOLVE), 8, PIPES | PRESENT);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	end_client(&client);
}

static void memory_that_is_added_is_taken_and_changes_nothing(void **state)
{
	struct client client;
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	start_client(&client, (uint32_t)gettid());
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fallocate(fd, 0, 0, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(raw_memory(client.socket, MIMIC_MESSAGE_MEMORY_ADD, fd, PAGE_OF(2), 4096, 0), 0);
	close(fd);
	trap(SELF, OPEN_PRODUCER);
	trap(PEER, OPEN_CONSUMER);
	fake_bus_page(2, FAKE_PRESENT);
	lane_post(&client, FULL_POINTER32, 8, PAGE_OF(2));
	assert_int_equal(trap(PEER, CONSUME), 0xa0000 + 2 * 1024);
	assert_int_equal(raw_memory(client.socket, MIMIC_MESSAGE_MEMORY_REMOVE, -1, PAGE_OF(2), 4096, 0), 0);
	end_client(&client);
}

static void the_close_of_its_last_device_ends_a_session(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	assert_int_equal(fake_bus_open(1, OTHER_BINDING, 7), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 1, OTHER_BINDING, 0), 0);
	assert_int_equal(lane_load(&client, IDENTIFY), 0x01080100);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	expect_end(client.socket);
	end_client(&client);
}

static void a_device_stays_with_its_process_when_a_session_ends(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, 0);
	lane_load(&client, OPEN_PRODUCER);
	trap(PEER, OPEN_CONSUMER);
	trap(SELF, OPEN_PRODUCER);
	lane_post(&client, PRODUCE, 4, 77);
	assert_int_equal(trap(PEER, CONSUME), 77);
	end_client(&client);
	/* The lane's thread is gone, its role is free. */
	for (int i = 0; i < 1000 && !(trap(SELF, OPEN_PRODUCER) & 2); i++)
		test_sleep_ms(1);
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(trap(PEER, OPEN_CONSUMER) & 3, 1);
}

static void a_thread_that_has_lanes_keeps_its_roles_until_they_end(void **state)
{
	struct client client;

	(void)state;
	start_client(&client, (uint32_t)gettid());
	assert_int_equal(trap(SELF, OPEN_PRODUCER) & 3, 2);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_THREAD_GONE, 0, BINDING, SELF), 0);
	assert_int_equal(trap(PEER, OPEN_PRODUCER) & 3, 0);
	assert_int_equal(raw_number(client.socket, MIMIC_MESSAGE_THREAD_GONE, client.lane.thread), 0);
	assert_int_equal(trap(PEER, OPEN_PRODUCER) & 3, 2);
	end_client(&client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_gets_the_devices_of_its_own_process),
		TEST(a_session_of_the_socket_and_a_process_of_the_kernel_exclude_each_other),
		TEST(a_bad_pointer_of_a_session_of_the_socket_is_no_page_fault),
		TEST(a_threads_traps_and_lanes_are_one_owners),
		TEST(a_lane_made_first_is_its_threads_too),
		TEST(a_lane_that_names_no_thread_is_an_owner_of_its_own),
		TEST(a_thread_of_another_process_cannot_be_named),
		cmocka_unit_test(a_thread_of_another_pid_namespace_is_found_by_its_number_there),
		TEST(posts_come_before_a_trap),
		TEST(posts_since_the_lanes_were_checked_come_before_a_trap_too),
		TEST(a_lane_that_waits_goes_on_by_a_trap_and_the_other_way_round),
		TEST(a_trap_goes_before_its_threads_command_that_waits),
		TEST(a_lanes_pointers_reach_the_processs_memory_and_fault_at_the_driver),
		TEST(memory_that_is_added_is_taken_and_changes_nothing),
		TEST(the_close_of_its_last_device_ends_a_session),
		TEST(a_device_stays_with_its_process_when_a_session_ends),
		TEST(a_thread_that_has_lanes_keeps_its_roles_until_they_end),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
