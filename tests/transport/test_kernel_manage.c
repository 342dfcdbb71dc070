/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices on the kernel's bus that come, go and misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include <cmocka.h>

#include "daemon/clients/session.h"
#include "daemon/clients/texts.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/manage.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

enum { PRODUCER = 1, CONSUMER = 2 };
enum { BINDING = 1 };
enum { GET_FAULT = 1, RESOLVE = 2, PRESENT = 4, PIPES = 1, STALLED = 8 };

#define PAGE_OF(n) (FAKE_ARENA + (n) * 4096ull)

static int start(void **state)
{
	(void)state;
	return fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
}

static int stop(void **state)
{
	(void)state;
	fake_bus_stop();
	return 0;
}

static void inject(uint32_t what)
{
	assert_int_equal(mimicd_device_inject(fake_bus.server->engine.named[0], what), 0);
	fake_bus_settle();
}

static uint64_t command(uint32_t thread, unsigned int operation, unsigned int field)
{
	return fake_bus_load(BINDING, thread, PAGE_MAPLE, AT(operation, field), 4);
}

static void open_queue(void)
{
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
	assert_int_equal(command(PRODUCER, OPEN_PRODUCER, 0) & 3, 2);
	assert_int_equal(command(CONSUMER, OPEN_CONSUMER, 0) & 3, 1);
}

static uint32_t fetch_begin(unsigned int page)
{
	return fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(FULL_POINTER32, 0), 8, PAGE_OF(page));
}

static uint64_t fault_status(void)
{
	return fake_bus_load(0, 0, PAGE_MMU, AT(FAULT_STATUS, 0), 8);
}

/* As a driver does. */
static void serve_fault(unsigned int page)
{
	fault_status();
	fake_bus_page(page, FAKE_PRESENT);
	fake_bus_store(0, 0, PAGE_MMU, AT(MMU_STORE, RESOLVE), 8, PIPES | PRESENT);
}

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
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

/* --- reset ------------------------------------------------------------------- */

static void a_reset_completes_a_trapped_access_with_0_and_the_process_keeps_the_device(void **state)
{
	uint64_t data = 99;
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4);
	fake_bus_settle();
	assert_true(fake_bus_waits(slot));
	mimicd_device_reset(fake_bus.server->engine.named[0]);
	fake_bus_settle();
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 0);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
	assert_int_equal(command(PRODUCER, OPEN_PRODUCER, 0) & 3, 2);
}

static void a_reset_ends_a_wait_for_the_driver_whose_resolve_is_then_harmless(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fetch_begin(3);
	assert_true(fake_bus_waits(slot));
	mimicd_device_reset(fake_bus.server->engine.named[0]);
	fake_bus_settle();
	assert_false(fake_bus_waits(slot));
	assert_int_equal(fault_status(), 0);
	serve_fault(3);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
}

/* --- misbehaviour ------------------------------------------------------------ */

static void a_spurious_interrupt_comes_without_a_fault(void **state)
{
	(void)state;
	open_queue();
	inject(MIMIC_INJECT_SPURIOUS_INTERRUPT);
	assert_int_equal(fake_bus.interrupts[0], 1);
	assert_int_equal(fake_bus.interrupts[1], 0);
	assert_int_equal(fault_status(), 0);
}

static void a_lost_interrupt_leaves_a_fault_in_the_register(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_LOST_INTERRUPT);
	slot = fetch_begin(3);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fake_bus.interrupts[0], 0);
	assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
	serve_fault(3);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	fetch_begin(4);
	assert_int_equal(fake_bus.interrupts[0], 1);
}

static void a_delayed_answer_takes_half_a_second_once(void **state)
{
	uint64_t begin, end;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_DELAYED_ANSWER);
	fake_bus_serve();
	begin = now_ms();
	assert_int_equal(command(CONSUMER, IDENTIFY, 0), 0x01080100);
	end = now_ms();
	assert_in_range(end - begin, 490, 2000);
	begin = now_ms();
	assert_int_equal(command(CONSUMER, IDENTIFY, 0), 0x01080100);
	assert_true(now_ms() - begin < 400);
}

static void a_delayed_access_can_be_taken_back(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_DELAYED_ANSWER);
	slot = fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 5);
	assert_true(fake_bus_waits(slot));
	fake_bus_cancel(slot);
	assert_int_equal(fake_bus_status(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	test_sleep_ms(600);
	assert_int_equal(command(CONSUMER, QUEUE_STATE, 0) & 0xffff, 0);
}

static void a_wrong_fault_address_is_shown_to_the_driver_once(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_WRONG_FAULT_ADDRESS);
	assert_int_equal(fault_status(), 0);
	slot = fetch_begin(3);
	/* The program's own look is right. */
	assert_int_equal(fake_bus_load(BINDING, CONSUMER, PAGE_MMU, AT(DEBUG, GET_FAULT), 8),
			 PAGE_OF(3) | PIPES);
	assert_int_equal(fault_status(), PAGE_OF(2) | PIPES | STALLED);
	fake_bus_page(2, FAKE_PRESENT);
	fake_bus_store(0, 0, PAGE_MMU, AT(MMU_STORE, RESOLVE), 8, PIPES | PRESENT);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
	serve_fault(3);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(fake_bus_load(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4), 0xa0000 + 3 * 1024);
}

static void an_unresolved_fault_stays_until_it_behaves_again(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_UNRESOLVED_FAULT);
	slot = fetch_begin(3);
	for (int i = 0; i < 3; i++) {
		serve_fault(3);
		assert_true(fake_bus_waits(slot));
		assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
	}
	inject(MIMIC_INJECT_NONE);
	serve_fault(3);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
}

static void reset_ends_an_unresolved_fault(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_UNRESOLVED_FAULT);
	slot = fetch_begin(3);
	command(CONSUMER, RESET, 0);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(fault_status(), 0);
	command(PRODUCER, INIT, WORDS_32);
	command(PRODUCER, OPEN_PRODUCER, 0);
	slot = fetch_begin(4);
	serve_fault(4);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
}

static void a_device_that_hangs_answers_when_it_behaves_again(void **state)
{
	uint32_t programs, drivers, cancelled;
	uint64_t data;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_HANG);
	programs = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(IDENTIFY, 0), 4);
	drivers = fake_bus_load_begin(0, 0, PAGE_MAPLE, AT(IDENTIFY, 0), 4);
	cancelled = fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 5);
	assert_true(fake_bus_waits(programs) && fake_bus_waits(drivers) && fake_bus_waits(cancelled));
	fake_bus_cancel(cancelled);
	assert_int_equal(fake_bus_status(cancelled, NULL), MIMIC_BUS_TAKEN_BACK);
	inject(MIMIC_INJECT_NONE);
	assert_int_equal(fake_bus_status(programs, &data), 0);
	assert_int_equal(data, 0x01080100);
	assert_int_equal(fake_bus_status(drivers, &data), 0);
	assert_int_equal(data, 0x01080100);
	assert_int_equal(command(CONSUMER, QUEUE_STATE, 0) & 0xffff, 0);
}

static void reset_ends_a_hang(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_HANG);
	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(IDENTIFY, 0), 4);
	command(PRODUCER, RESET, 0);
	fake_bus_settle();
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	/* No queue is left. */
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
}

static void a_device_that_hangs_can_be_closed(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	inject(MIMIC_INJECT_HANG);
	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(IDENTIFY, 0), 4);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(fake_bus_status(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	open_queue();
}

static void nothing_else_can_be_injected(void **state)
{
	(void)state;
	assert_int_equal(mimicd_device_inject(fake_bus.server->engine.named[0], 7), -EINVAL);
}

/* --- hot plug ------------------------------------------------------------------- */

static void an_added_device_is_on_the_bus(void **state)
{
	char name[MIMIC_NAME_MAX];

	(void)state;
	assert_int_equal(mimicd_device_add(&fake_bus.server->engine, "maple", name), 0);
	assert_string_equal(name, "maple2");
	assert_true(fake_bus.is_registered[2]);
	assert_int_equal(fake_bus_open(2, 3, 7), 0);
	assert_int_equal(fake_bus_load(3, 1, PAGE_MAPLE, AT(IDENTIFY, 0), 4), 0x01080100);
	assert_int_equal(mimicd_device_add(&fake_bus.server->engine, "pear", name), -ENOENT);
}

static void a_number_of_another_daemon_is_passed_over(void **state)
{
	char name[MIMIC_NAME_MAX];

	(void)state;
	fake_bus.is_registered[2] = true;
	assert_int_equal(mimicd_device_add(&fake_bus.server->engine, "maple", name), 0);
	assert_string_equal(name, "maple3");
	assert_int_equal(mimicd_device_add(&fake_bus.server->engine, "maple", name), -ENOSPC);
}

static void a_removed_device_takes_its_accesses_along(void **state)
{
	char name[MIMIC_NAME_MAX];
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4);
	assert_int_equal(mimicd_device_remove(&fake_bus.server->engine, "maple0"), 0);
	assert_false(fake_bus.is_registered[0]);
	assert_int_equal(fake_bus_status(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(IDENTIFY, 0), 4);
	assert_int_equal(fake_bus_status(slot, NULL), -ENODEV);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(mimicd_device_remove(&fake_bus.server->engine, "maple0"), -ENODEV);
	assert_int_equal(mimicd_device_add(&fake_bus.server->engine, "maple", name), 0);
	assert_string_equal(name, "maple0");
	open_queue();
}

/* Its commands are those to a device that is closed. */
static void a_removed_device_of_a_session_answers_0(void **state)
{
	const struct mimic_command identify = {
		.kind = MIMIC_COMMAND_LOAD, .size = 4, .offset = AT(IDENTIFY, 0), .count = 1,
	};
	const uint64_t word = mimic_command_pack(&identify);
	struct mimic_open name = { .name = "maple1" };
	struct raw_lane lane;
	uint64_t answer;
	uint32_t number;
	int ends[2], event_fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(mimicd_session_create(fake_bus.server->clients, ends[0]), 0);
	fake_bus_serve();
	event_fd = greet(ends[1]);
	assert_int_equal(raw_open(ends[1], "maple1", &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(raw_lane(ends[1], 0, 0, &lane), 0);
	lane.event_fd = event_fd;
	raw_post(&lane, &word, 1);
	assert_true(raw_answer(&lane, &answer));
	assert_int_equal(answer, 0x01080100);
	assert_int_equal(raw_request(ends[1], &name, sizeof(name), MIMIC_MESSAGE_REMOVE, -1, NULL, 0, NULL), 0);
	raw_post(&lane, &word, 1);
	assert_true(raw_answer(&lane, &answer));
	assert_int_equal(answer, 0);
	assert_int_equal(raw_open(ends[1], "maple1", &number), -ENODEV);
	assert_false(fake_bus.is_registered[1]);
	close(ends[1]);
	close(event_fd);
	raw_lane_unmap(&lane);
}

/* A session of a process that belongs to somebody else. */
static void only_root_and_the_daemons_user_may_manage(void **state)
{
	const struct mimic_bus_request open_it = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = 10, .binding = BINDING, .process = 7,
		.pid = getpid(), .uid = 54321,
	};
	struct mimic_inject hang = { .name = "maple0", .what = MIMIC_INJECT_HANG };
	struct mimic_add another = { .kind = "maple" };
	struct mimic_open name = { .name = "maple1" };
	int fd;

	(void)state;
	fake_bus_serve();
	assert_int_equal(fake_bus_status(fake_bus_put(&open_it), NULL), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, BINDING, 0), 0);
	fd = fake_bus.connected;
	close(greet(fd));
	assert_int_equal(raw_request(fd, &hang, sizeof(hang), MIMIC_MESSAGE_INJECT, -1, NULL, 0, NULL), -EPERM);
	assert_int_equal(raw_request(fd, &another, sizeof(another), MIMIC_MESSAGE_ADD, -1, NULL, 0, NULL), -EPERM);
	assert_int_equal(raw_request(fd, &name, sizeof(name), MIMIC_MESSAGE_REMOVE, -1, NULL, 0, NULL), -EPERM);
}

/* --- the list ---------------------------------------------------------------------- */

static int64_t number_in(struct json_object *object, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, key, &value));
	return json_object_get_int64(value);
}

static void the_list_has_programs_of_the_kernel_transport_and_their_faults(void **state)
{
	struct json_object *list, *devices, *bindings, *user, *counters, *first;
	char *text;

	(void)state;
	open_queue();
	fetch_begin(3);
	serve_fault(3);
	fake_bus_load(0, 0, PAGE_MMU, AT(DEBUG, 0), 8);
	text = mimicd_list_text(&fake_bus.server->engine, NULL);
	list = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(list, "devices", &devices));
	first = json_object_array_get_idx(devices, 0);
	assert_true(json_object_object_get_ex(first, "user", &user));
	assert_int_equal(number_in(user, "pid"), getpid());
	assert_int_equal(number_in(first, "kernel"), 1);
	assert_true(json_object_object_get_ex(first, "counters", &counters));
	assert_int_equal(number_in(counters, "page_faults"), 1);
	assert_int_equal(number_in(counters, "resolves"), 1);
	assert_int_equal(number_in(counters, "faults"), 0);
	assert_int_equal(number_in(counters, "tlb_misses"), 2);
	assert_int_equal(number_in(counters, "shootdowns"), 1);
	assert_true(json_object_object_get_ex(list, "bindings", &bindings));
	assert_int_equal(json_object_array_length(bindings), 1);
	first = json_object_array_get_idx(bindings, 0);
	assert_int_equal(number_in(first, "pid"), getpid());
	assert_int_equal(number_in(first, "accesses"), 4);
	json_object_put(list);
	free(text);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_reset_completes_a_trapped_access_with_0_and_the_process_keeps_the_device),
		TEST(a_reset_ends_a_wait_for_the_driver_whose_resolve_is_then_harmless),
		TEST(a_spurious_interrupt_comes_without_a_fault),
		TEST(a_lost_interrupt_leaves_a_fault_in_the_register),
		TEST(a_delayed_answer_takes_half_a_second_once),
		TEST(a_delayed_access_can_be_taken_back),
		TEST(a_wrong_fault_address_is_shown_to_the_driver_once),
		TEST(an_unresolved_fault_stays_until_it_behaves_again),
		TEST(reset_ends_an_unresolved_fault),
		TEST(a_device_that_hangs_answers_when_it_behaves_again),
		TEST(reset_ends_a_hang),
		TEST(a_device_that_hangs_can_be_closed),
		TEST(nothing_else_can_be_injected),
		TEST(an_added_device_is_on_the_bus),
		TEST(a_number_of_another_daemon_is_passed_over),
		TEST(a_removed_device_takes_its_accesses_along),
		TEST(a_removed_device_of_a_session_answers_0),
		TEST(only_root_and_the_daemons_user_may_manage),
		TEST(the_list_has_programs_of_the_kernel_transport_and_their_faults),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
