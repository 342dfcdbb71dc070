/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device with contexts on the kernel's bus: several processes have it, the driver says whose
 * each context is, and a process's session reaches the same ones as its pages.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/session.h"
#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

enum { DEVICE = 10, DRIVER = 0, BINDING = 1, OTHER = 2, PROCESS = 7, OTHER_PROCESS = 8 };

/* mld.b m0, (a0), a1; mst.b m0, (a0), a1; mcfg a0, a1 (docs/dare-isa.md) */
#define MLD_B (0x0400002bu | 11u << 20 | 10u << 15)
#define MST_B (0x0c00002bu | 11u << 20 | 10u << 15)
#define MCFG (0xfe00002bu | 11u << 20 | 10u << 15)

/* The other end of a session as by the socket. */
static int by_socket;

static int start(void **state)
{
	int ends[2];
	int error;

	(void)state;
	fake_bus.dares = 1;
	error = fake_bus_start(0, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
	if (error || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -1;
	by_socket = ends[1];
	error = mimicd_session_create(fake_bus.server->clients, ends[0]);
	if (!error)
		fake_bus_serve();
	return error;
}

static int stop(void **state)
{
	(void)state;
	close(by_socket);
	fake_bus_stop();
	return 0;
}

/* One access of 8 bytes; its status. */
static int access_dare(uint32_t binding, unsigned int page, unsigned int offset, bool is_write,
		       uint64_t *data)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = DEVICE, .binding = binding,
		.thread = binding ? 1 : 0, .page = (uint8_t)page, .offset = offset, .size = 8,
		.is_write = is_write, .data = is_write ? *data : 0, .pid = binding ? gettid() : 0,
	};

	return fake_bus_status(fake_bus_put(&request), data);
}

static uint64_t load(uint32_t binding, unsigned int page, unsigned int offset)
{
	uint64_t data = 0;

	assert_int_equal(access_dare(binding, page, offset, false, &data), 0);
	return data;
}

static void store(uint32_t binding, unsigned int page, unsigned int offset, uint64_t value)
{
	assert_int_equal(access_dare(binding, page, offset, true, &value), 0);
}

static void attach(unsigned int context, uint64_t address_space)
{
	store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, address_space << 8 | context);
}

static void dispatch(uint32_t binding, unsigned int context, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	unsigned int page = DARE_PAGE_CONTEXT(context);

	store(binding, page, DARE_RS1, rs1);
	store(binding, page, DARE_RS2, rs2);
	store(binding, page, DARE_INSTRUCTION, word);
}

/* Two processes with a context each: 0 and 1. */
static void open_both(void)
{
	assert_int_equal(fake_bus_open(0, BINDING, PROCESS), 0);
	assert_int_equal(fake_bus_open(0, OTHER, OTHER_PROCESS), 0);
	attach(0, BINDING);
	attach(1, OTHER);
}

struct client {
	int fd;
	uint32_t device;
	struct raw_lane lane;
};

static void greet(struct client *client, int fd)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	int event_fd;

	client->fd = fd;
	assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
				     sizeof(reply), &event_fd), 0);
	assert_int_equal(raw_lane(fd, 0, 0, &client->lane), 0);
	client->lane.event_fd = event_fd;
}

static void leave(struct client *client)
{
	raw_lane_unmap(&client->lane);
	close(client->lane.event_fd);
	if (client->fd != by_socket)
		close(client->fd);
}

static void connect_binding(struct client *client, uint32_t binding)
{
	int fd;

	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, binding, 0), 0);
	fd = fake_bus.connected;
	assert_true(fd >= 0);
	fake_bus.connected = -1;
	greet(client, fd);
}

/* Value of a register of the session's device, by a lane. */
static uint64_t lane_load(struct client *client, unsigned int offset)
{
	const struct mimic_command command = {
		.kind = MIMIC_COMMAND_LOAD, .device = (uint8_t)client->device, .size = 8,
		.offset = (uint16_t)offset, .count = 1,
	};
	uint64_t word = mimic_command_pack(&command), value = 0;

	raw_post(&client->lane, &word, 1);
	assert_true(raw_answer(&client->lane, &value));
	return value;
}

static void lane_store(struct client *client, unsigned int offset, uint64_t value)
{
	const struct mimic_command command = {
		.kind = MIMIC_COMMAND_STORE, .device = (uint8_t)client->device, .size = 8,
		.offset = (uint16_t)offset, .count = 1,
	};
	const uint64_t words[] = { mimic_command_pack(&command), value };

	raw_post(&client->lane, words, 2);
}

/* --- users of contexts --------------------------------------------------------- */

static void several_processes_have_one_device(void **state)
{
	(void)state;
	open_both();
	store(BINDING, DARE_PAGE_CONTEXT(0), DARE_RS1, 11);
	store(OTHER, DARE_PAGE_CONTEXT(1), DARE_RS1, 22);
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_RS1), 11);
	assert_int_equal(load(OTHER, DARE_PAGE_CONTEXT(1), DARE_RS1), 22);
}

static void a_close_takes_the_contexts_of_its_process_and_no_others(void **state)
{
	(void)state;
	open_both();
	attach(2, BINDING);
	store(BINDING, DARE_PAGE_CONTEXT(2), DARE_RS1, 5);
	store(OTHER, DARE_PAGE_CONTEXT(1), DARE_RS1, 22);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTEXT(2), DARE_RS1), 0);
	assert_int_equal(load(OTHER, DARE_PAGE_CONTEXT(1), DARE_RS1), 22);
	/* An instruction that is dispatched to it finds no memory behind it. */
	dispatch(DRIVER, 2, MLD_B, FAKE_ARENA, 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTEXT(2), DARE_ERROR), DARE_ERROR_DETACHED);
}

static void an_address_space_that_is_no_bindings_is_none(void **state)
{
	(void)state;
	open_both();
	attach(3, 99);
	dispatch(DRIVER, 3, MLD_B, FAKE_ARENA, 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTEXT(3), DARE_ERROR), DARE_ERROR_DETACHED);
}

/* --- memory -------------------------------------------------------------------- */

static void shape(uint32_t binding, unsigned int context)
{
	dispatch(binding, context, MCFG, DARE_CSR_MATRIX_M, 1);
	dispatch(binding, context, MCFG, DARE_CSR_MATRIX_K, 4);
}

static void a_tile_goes_through_the_window(void **state)
{
	(void)state;
	open_both();
	fake_bus_page(0, FAKE_PRESENT);
	shape(BINDING, 0);
	dispatch(BINDING, 0, MLD_B, FAKE_ARENA + 8, 0);
	dispatch(BINDING, 0, MST_B, FAKE_ARENA + 100, 0);
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_FENCE) & DARE_STATUS_ERROR, 0);
	assert_int_equal(fake_bus.arena[25], 0xa0002);
	assert_int_equal(fake_bus.arena[26], 0xa0000 + 26);
}

static void a_page_that_is_not_there_stalls_its_context_only(void **state)
{
	(void)state;
	open_both();
	fake_bus_page(0, FAKE_PRESENT);
	shape(BINDING, 0);
	shape(OTHER, 1);
	dispatch(BINDING, 0, MLD_B, FAKE_ARENA + 4096, 0);
	assert_int_equal(fake_bus.interrupts[0], 1);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS),
			 (FAKE_ARENA + 4096) | DARE_FAULT_STALLED);
	dispatch(OTHER, 1, MLD_B, FAKE_ARENA, 0);
	assert_int_equal(load(OTHER, DARE_PAGE_CONTEXT(1), DARE_FENCE) & DARE_STATUS_ERROR, 0);
	fake_bus_page(1, FAKE_PRESENT);
	store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE, 0 | DARE_RESOLVE_PRESENT);
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_FENCE) & DARE_STATUS_ERROR, 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS), 0);
}

static void a_store_to_a_page_that_can_only_be_read_asks_for_writing(void **state)
{
	(void)state;
	open_both();
	fake_bus_page(0, FAKE_READ_ONLY);
	shape(BINDING, 0);
	dispatch(BINDING, 0, MLD_B, FAKE_ARENA, 0);
	assert_int_equal(fake_bus.interrupts[0], 0);
	dispatch(BINDING, 0, MST_B, FAKE_ARENA + 4, 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS),
			 FAKE_ARENA | DARE_FAULT_STALLED | DARE_FAULT_WRITES);
	store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE, 0);
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_ERROR), DARE_ERROR_STORE);
}

static void a_fault_that_is_for_later_lets_the_others_be_seen(void **state)
{
	const uint64_t first = (FAKE_ARENA + 4096) | DARE_FAULT_STALLED | 0;
	const uint64_t second = (FAKE_ARENA + 8192) | DARE_FAULT_STALLED | 1;

	(void)state;
	open_both();
	dispatch(BINDING, 0, MLD_B, FAKE_ARENA + 4096, 0);
	dispatch(OTHER, 1, MLD_B, FAKE_ARENA + 8192, 0);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS), first);
	store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE, 0 | DARE_RESOLVE_LATER);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS), second);
	store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE, 1 | DARE_RESOLVE_LATER);
	assert_int_equal(load(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS), first);
	/* It still waits. */
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_STATUS) & DARE_STATUS_PAGE, DARE_STATUS_PAGE);
}

/* --- sessions ------------------------------------------------------------------- */

static void a_session_has_its_own_processes_contexts_by_their_numbers(void **state)
{
	struct client client;

	(void)state;
	open_both();
	connect_binding(&client, BINDING);
	assert_int_equal(raw_open(client.fd, "dare0/0", &client.device), 0);
	assert_int_equal(raw_open(client.fd, "dare0/1", &client.device), -EBUSY);
	assert_int_equal(raw_open(client.fd, "dare0/2", &client.device), -EBUSY);
	assert_int_equal(raw_open(client.fd, "dare0/99", &client.device), -EBUSY);
	assert_int_equal(raw_open(client.fd, "dare1/0", &client.device), -ENODEV);
	assert_int_equal(raw_open(client.fd, "dare0", &client.device), -ENOENT);
	assert_int_equal(raw_open(client.fd, "dare0/", &client.device), -ENOENT);
	assert_int_equal(raw_open(client.fd, "dare0/00", &client.device), -ENOENT);
	assert_int_equal(raw_open(client.fd, "dare/0", &client.device), -ENOENT);
	leave(&client);
}

static void a_lane_and_a_page_reach_the_same_registers(void **state)
{
	struct client client;

	(void)state;
	open_both();
	connect_binding(&client, BINDING);
	assert_int_equal(raw_open(client.fd, "dare0/0", &client.device), 0);
	store(BINDING, DARE_PAGE_CONTEXT(0), DARE_RS1, 123);
	assert_int_equal(lane_load(&client, DARE_RS1), 123);
	lane_store(&client, DARE_RS1, 456);
	assert_int_equal(load(BINDING, DARE_PAGE_CONTEXT(0), DARE_RS1), 456);
	assert_int_equal(lane_load(&client, DARE_IDENTIFY) & 0xff, 0);
	leave(&client);
}

static void a_session_loses_the_context_when_the_driver_gives_it_away(void **state)
{
	struct client client;

	(void)state;
	open_both();
	connect_binding(&client, BINDING);
	assert_int_equal(raw_open(client.fd, "dare0/0", &client.device), 0);
	attach(0, 0);
	attach(0, OTHER);
	store(OTHER, DARE_PAGE_CONTEXT(0), DARE_RS1, 77);
	assert_int_equal(lane_load(&client, DARE_RS1), 0);
	lane_store(&client, DARE_RS1, 66);
	assert_int_equal(lane_load(&client, DARE_RS1), 0);
	assert_int_equal(load(OTHER, DARE_PAGE_CONTEXT(0), DARE_RS1), 77);
	assert_int_equal(raw_open(client.fd, "dare0/0", &client.device), -EBUSY);
	leave(&client);
}

static void the_socket_and_the_kernel_do_not_share_a_device(void **state)
{
	struct client client;

	(void)state;
	greet(&client, by_socket);
	assert_int_equal(raw_open(client.fd, "dare0", &client.device), 0);
	assert_int_equal(fake_bus_open(0, BINDING, PROCESS), -EBUSY);
	assert_int_equal(raw_number(client.fd, MIMIC_MESSAGE_CLOSE, client.device), 0);
	assert_int_equal(fake_bus_open(0, BINDING, PROCESS), 0);
	assert_int_equal(raw_open(client.fd, "dare0", &client.device), -EBUSY);
	leave(&client);
}

static void an_attach_that_comes_late_takes_nothing_from_the_socket(void **state)
{
	struct client client;

	(void)state;
	greet(&client, by_socket);
	assert_int_equal(fake_bus_open(0, BINDING, PROCESS), 0);
	attach(0, BINDING);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(raw_open(client.fd, "dare0", &client.device), 0);
	lane_store(&client, DARE_RS1, 31);
	assert_int_equal(lane_load(&client, DARE_RS1), 31);
	attach(0, 0);
	assert_int_equal(lane_load(&client, DARE_RS1), 31);
	leave(&client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(several_processes_have_one_device),
		TEST(a_close_takes_the_contexts_of_its_process_and_no_others),
		TEST(an_address_space_that_is_no_bindings_is_none),
		TEST(a_tile_goes_through_the_window),
		TEST(a_page_that_is_not_there_stalls_its_context_only),
		TEST(a_store_to_a_page_that_can_only_be_read_asks_for_writing),
		TEST(a_fault_that_is_for_later_lets_the_others_be_seen),
		TEST(a_session_has_its_own_processes_contexts_by_their_numbers),
		TEST(a_lane_and_a_page_reach_the_same_registers),
		TEST(a_session_loses_the_context_when_the_driver_gives_it_away),
		TEST(the_socket_and_the_kernel_do_not_share_a_device),
		TEST(an_attach_that_comes_late_takes_nothing_from_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
