/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon's side of /dev/mimic, against a kernel in plain memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/contract/maple/numbers.h"
#include "tests/lib/fake_bus.h"

/* Threads of a program; any numbers do. */
enum { PRODUCER = 1, CONSUMER = 2, DRIVER = 0 };
enum { BINDING = 1, OTHER_BINDING = 2 };
enum { FLUSH = 0, GET_FAULT = 1 };
enum { RESOLVE = 2, PRESENT = 4 };
enum { PIPES = 1, LIMA = 2, WRITES = 4, STALLED = 8 };

#define PAGE_OF(n) (FAKE_ARENA + (n) * 4096ull)

static int start_ring(void **state)
{
	(void)state;
	return fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
}

static int start_read(void **state)
{
	(void)state;
	return fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_READ);
}

static int nothing(void **state)
{
	(void)state;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	fake_bus_stop();
	return 0;
}

static uint64_t command(uint32_t thread, unsigned int operation, unsigned int field)
{
	return fake_bus_load(BINDING, thread, PAGE_MAPLE, AT(operation, field), 4);
}

/* Maple0 of process 7 with a queue of 32 words between the two threads. */
static void open_queue(void)
{
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
	assert_int_equal(command(PRODUCER, OPEN_PRODUCER, 0) & 3, 2);
	assert_int_equal(command(CONSUMER, OPEN_CONSUMER, 0) & 3, 1);
}

static uint32_t consume_begin(void)
{
	return fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4);
}

static uint64_t consume(void)
{
	return fake_bus_load(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4);
}

static void produce(uint64_t value)
{
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, value);
}

static uint32_t fetch_begin(uint64_t address)
{
	return fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(FULL_POINTER32, 0), 8, address);
}

static uint64_t fault_status(void)
{
	return fake_bus_load(0, DRIVER, PAGE_MMU, AT(FAULT_STATUS, 0), 8);
}

static void resolve(uint64_t what)
{
	fake_bus_store(0, DRIVER, PAGE_MMU, AT(MMU_STORE, RESOLVE), 8, what);
}

/* --- the node ------------------------------------------------------------------ */

static void devices_of_the_settings_are_registered(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const struct mimic_bus_register *registered = &fake_bus.registered[i];

		assert_int_equal(registered->size, 72);
		assert_string_equal(registered->kind, "maple");
		assert_int_equal(registered->index, i);
		assert_int_equal(registered->pages, 5);
		assert_int_equal(registered->interrupts, 1);
		assert_int_equal(registered->capabilities, 3);
		/* The page that decodes nothing. */
		assert_int_equal(registered->void_pages, 0x10);
		assert_int_equal(registered->flags, 0);
	}
	assert_false(fake_bus.is_registered[2]);
}

static void a_missing_node_is_an_error_only_if_it_is_required(void **state)
{
	(void)state;
	fake_bus.open_error = -ENOENT;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_AUTO, MIMICD_CHANNEL_AUTO), 0);
	assert_null(fake_bus.server->bus);
	fake_bus_stop();
	fake_bus.open_error = -EACCES;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_AUTO, MIMICD_CHANNEL_AUTO), 0);
	assert_null(fake_bus.server->bus);
	fake_bus_stop();
	fake_bus.open_error = -EACCES;
	assert_true(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO) < 0);
	fake_bus.server = NULL;
	fake_bus_stop();
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_OFF, MIMICD_CHANNEL_AUTO), 0);
	assert_null(fake_bus.server->bus);
	assert_false(fake_bus.is_registered[0]);
}

static void another_version_of_the_bus_is_not_used(void **state)
{
	(void)state;
	fake_bus.version = 2;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_AUTO, MIMICD_CHANNEL_AUTO), 0);
	assert_null(fake_bus.server->bus);
	assert_false(fake_bus.is_registered[0]);
}

static void a_number_that_another_daemon_has_is_an_error_only_if_all_are_required(void **state)
{
	(void)state;
	fake_bus.is_registered[1] = true;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_AUTO, MIMICD_CHANNEL_AUTO), 0);
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(fake_bus_open(1, OTHER_BINDING, 7), -ENODEV);
	fake_bus_stop();
	fake_bus.is_registered[1] = true;
	assert_true(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO) < 0);
	fake_bus.server = NULL;
}

static void without_io_uring_it_reads_and_writes(void **state)
{
	(void)state;
	fake_bus.ring_error = -EPERM;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO), 0);
	assert_false(fake_bus.uses_slots);
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	fake_bus_stop();
	fake_bus.ring_error = -EPERM;
	assert_true(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_URING) < 0);
	fake_bus.server = NULL;
}

static void commands_that_fail_lead_to_read_and_write(void **state)
{
	(void)state;
	fake_bus.fetch_error = -EOPNOTSUPP;
	assert_int_equal(fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO), 0);
	assert_true(fake_bus.uses_slots);
	fake_bus_serve();
	for (int i = 0; i < 5000 && fake_bus.uses_slots; i++)
		usleep(1000);
	assert_false(fake_bus.uses_slots);
	assert_int_equal(__atomic_load_n(&fake_bus.header->sleeping, __ATOMIC_SEQ_CST), 1);
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
}

static void a_server_that_ends_leaves_its_devices_on_the_bus(void **state)
{
	(void)state;
	open_queue();
	mimicd_server_destroy(fake_bus.server);
	fake_bus.server = NULL;
	assert_true(fake_bus.is_registered[0] && fake_bus.is_registered[1]);
}

/* --- accesses ---------------------------------------------------------------------- */

static void a_load_is_answered_with_the_register(void **state)
{
	(void)state;
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(fake_bus_load(BINDING, 1, PAGE_MAPLE, AT(IDENTIFY, 0), 8), 0x4d41504c01080100);
	assert_int_equal(fake_bus_load(BINDING, 1, PAGE_MAPLE, AT(IDENTIFY, 0), 2), 0x0100);
}

static void the_driver_reaches_the_device_of_any_process(void **state)
{
	(void)state;
	assert_int_equal(fake_bus_load(0, DRIVER, PAGE_MAPLE, AT(IDENTIFY, 0), 8), 0x4d41504c01080100);
	open_queue();
	produce(5);
	assert_int_equal(fake_bus_load(0, DRIVER, PAGE_MAPLE, AT(QUEUE_STATE, 0), 8) & 0xffff, 1);
	assert_int_equal(consume(), 5);
}

static void roles_belong_to_threads(void **state)
{
	(void)state;
	open_queue();
	assert_int_equal(command(CONSUMER, OPEN_PRODUCER, 0) & 3, 1);
	assert_int_equal(command(3, OPEN_CONSUMER, 0) & 3, 0);
}

static void a_load_that_waits_is_answered_when_the_word_comes(void **state)
{
	uint64_t data;
	uint32_t slot;

	(void)state;
	open_queue();
	slot = consume_begin();
	assert_true(fake_bus_waits(slot));
	produce(0x12345678);
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 0x12345678);
}

static void a_store_that_waits_is_answered_when_there_is_room(void **state)
{
	uint64_t data;
	uint32_t slot;

	(void)state;
	open_queue();
	for (unsigned int i = 0; i < 32; i++)
		produce(i);
	slot = fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 99);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(consume(), 0);
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 0);
	for (unsigned int i = 1; i < 32; i++)
		assert_int_equal(consume(), i);
	assert_int_equal(consume(), 99);
}

static void a_cancelled_load_that_waits_takes_nothing(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = consume_begin();
	fake_bus_cancel(slot);
	assert_int_equal(fake_bus_status(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	produce(5);
	assert_int_equal(consume(), 5);
}

static void a_cancelled_access_that_has_not_begun_does_not_begin(void **state)
{
	struct mimic_bus_slot *slot = &fake_bus.slots[100];

	(void)state;
	open_queue();
	produce(5);
	slot->request = (struct mimic_bus_request){
		.slot = 100, .kind = MIMIC_BUS_REQUEST_ACCESS, .device = 10, .binding = BINDING,
		.thread = CONSUMER, .offset = AT(CONSUME, 0), .size = 4,
	};
	slot->answered = 0;
	fake_bus.header->cancelled[1] |= 1ull << 36;
	fake_bus.header->pending[1] |= 1ull << 36;
	fake_bus.header->doorbell++;
	fake_bus_settle();
	assert_int_equal(slot->answered, 1);
	assert_int_equal(slot->status, MIMIC_BUS_TAKEN_BACK);
	assert_int_equal(consume(), 5);
}

static void a_cancelled_access_that_is_done_is_answered_once(void **state)
{
	uint32_t slot;
	uint64_t data;

	(void)state;
	open_queue();
	produce(5);
	slot = consume_begin();
	fake_bus_cancel(slot);
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 5);
}

static void requests_that_cannot_be_are_answered_with_errors(void **state)
{
	(void)state;
	assert_int_equal(fake_bus_status(fake_bus_load_begin(BINDING, 1, 0, 0, 4), NULL), -ENODEV);
	assert_int_equal(fake_bus_open(3, BINDING, 7), -ENODEV);
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(fake_bus_status(fake_bus_load_begin(BINDING, 1, 5, 0, 4), NULL), -EINVAL);
	assert_int_equal(fake_bus_status(fake_bus_load_begin(BINDING, 1, 0, 0, 3), NULL), -EINVAL);
	assert_int_equal(fake_bus_status(fake_bus_load_begin(BINDING, 1, 0, 4093, 4), NULL), -EINVAL);
	assert_int_equal(fake_bus_request((enum mimic_bus_request_kind)6, 0, BINDING, 0), -EOPNOTSUPP);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, 55, 0), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_THREAD_GONE, 0, BINDING, 55), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, 55, 0), -ENODEV);
	/* The binding is of maple0. */
	assert_int_equal(fake_bus_open(1, BINDING, 7), -EINVAL);
}

static void a_commit_wakes_a_waiter_that_sleeps_and_not_one_that_spins(void **state)
{
	unsigned int commits;
	uint32_t slot;

	(void)state;
	open_queue();
	commits = fake_bus.commits;
	produce(1);
	assert_int_equal(fake_bus.commits, commits);
	assert_int_equal(consume(), 1);
	slot = consume_begin();
	fake_bus.slots[slot].waiter_sleeps = 1;
	produce(2);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(fake_bus.commits, commits + 1);
}

static void a_posted_access_is_answered_and_committed(void **state)
{
	const struct mimic_bus_request post = {
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = 10, .page = PAGE_MMU, .size = 8,
		.offset = AT(DEBUG, FLUSH), .posted = 1,
	};
	unsigned int commits = fake_bus.commits;

	(void)state;
	assert_int_equal(fake_bus_status(fake_bus_put(&post), NULL), 0);
	assert_int_equal(fake_bus.commits, commits + 1);
}

static void a_daemon_that_sleeps_is_woken_for_a_request(void **state)
{
	(void)state;
	fake_bus_serve();
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	for (int i = 0; i < 20; i++) {
		/* Longer than it spins. */
		usleep(2000);
		assert_int_equal(fake_bus_load(BINDING, 1, PAGE_MAPLE, AT(IDENTIFY, 0), 4), 0x01080100);
	}
}

/* --- processes and threads ------------------------------------------------------------ */

static void a_device_belongs_to_one_process(void **state)
{
	(void)state;
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(fake_bus_open(0, OTHER_BINDING, 8), -EBUSY);
	assert_int_equal(fake_bus_open(1, OTHER_BINDING, 8), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(fake_bus_open(0, 3, 8), 0);
}

static void a_closed_device_is_as_after_power_on(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = consume_begin();
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	assert_int_equal(fake_bus_status(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	assert_int_equal(fake_bus_status(consume_begin(), NULL), -ENODEV);
	open_queue();
}

static void a_thread_that_ends_gives_its_roles_back(void **state)
{
	uint64_t data = 5;
	uint32_t slot;

	(void)state;
	open_queue();
	slot = consume_begin();
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_THREAD_GONE, 0, BINDING, PRODUCER), 0);
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 0);
	assert_int_equal(command(3, OPEN_PRODUCER, 0) & 3, 2);
}

static void a_thread_with_the_tid_of_one_that_ended_is_another_owner(void **state)
{
	const struct mimic_bus_request second = {
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = 10, .binding = BINDING, .thread = 50,
		.page = PAGE_MAPLE, .offset = AT(OPEN_PRODUCER, 0), .size = 4, .pid = gettid(),
	};
	uint64_t roles = 5;

	(void)state;
	open_queue();
	assert_int_equal(fake_bus_status(fake_bus_put(&second), &roles), 0);
	assert_int_equal(roles & 3, 0);
}

/* --- page faults ------------------------------------------------------------------------ */

static void memory_that_is_present_is_read(void **state)
{
	(void)state;
	open_queue();
	fake_bus_page(3, FAKE_PRESENT);
	assert_int_equal(fake_bus_status(fetch_begin(PAGE_OF(3) + 16), NULL), 0);
	assert_int_equal(consume(), 0xa0000 + 3 * 1024 + 4);
	assert_int_equal(fake_bus.interrupts[0], 0);
}

static void the_first_touch_of_a_page_waits_for_the_driver(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fetch_begin(PAGE_OF(3) + 16);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fake_bus.interrupts[0], 1);
	assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
	fake_bus_page(3, FAKE_PRESENT);
	assert_true(fake_bus_waits(slot));
	resolve(PIPES | PRESENT);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0xa0000 + 3 * 1024 + 4);
	assert_int_equal(fault_status(), 0);
	/* The program sees the same as without a driver. */
	assert_int_equal(fake_bus_load(BINDING, PRODUCER, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 0);
	assert_int_equal(fake_bus.interrupts[0], 1);
}

static void a_page_that_is_taken_away_is_a_fault_again(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	fake_bus_page(3, FAKE_PRESENT);
	assert_int_equal(fake_bus_status(fetch_begin(PAGE_OF(3)), NULL), 0);
	fake_bus_page(3, FAKE_ABSENT);
	slot = fetch_begin(PAGE_OF(3));
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
}

static void an_address_that_the_driver_cannot_help_reads_0(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fetch_begin(PAGE_OF(3) + 8);
	fault_status();
	resolve(PIPES);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0);
	assert_int_equal(fake_bus.interrupts[0], 1);
	assert_int_equal(fake_bus_load(BINDING, PRODUCER, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 1);
	assert_int_equal(fake_bus_load(BINDING, PRODUCER, PAGE_MAPLE, AT(FAULT_ADDRESS, 0), 8),
			 PAGE_OF(3) + 8);
	/* Nothing waits any more: the address and the sources are left. */
	assert_int_equal(fault_status(), PAGE_OF(3) | PIPES);
	/* And the page may come to be there. */
	slot = fetch_begin(PAGE_OF(3) + 8);
	assert_true(fake_bus_waits(slot));
}

static void a_page_that_has_gone_again_when_it_is_resolved_is_a_new_fault(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fetch_begin(PAGE_OF(3));
	for (unsigned int i = 1; i <= 3; i++) {
		assert_true(fake_bus_waits(slot));
		assert_int_equal(fake_bus.interrupts[0], i);
		assert_int_equal(fault_status(), PAGE_OF(3) | PIPES | STALLED);
		resolve(PIPES | PRESENT);
	}
	fault_status();
	fake_bus_page(3, FAKE_PRESENT);
	resolve(PIPES | PRESENT);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0xa0000 + 3 * 1024);
}

static void an_atomic_on_a_page_that_is_read_only_is_a_fault_that_writes(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	fake_bus_page(0, FAKE_READ_ONLY);
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(SET_BASE32, 0), 8, FAKE_ARENA);
	slot = fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(ATOMIC_ADD, 0), 8, 2ull << 32 | 100);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fault_status(), PAGE_OF(0) | PIPES | STALLED | WRITES);
	/* The word that programs know has neither detail. */
	assert_int_equal(fake_bus_load(0, DRIVER, PAGE_MMU, AT(DEBUG, GET_FAULT), 8), PAGE_OF(0) | PIPES);
	fake_bus_page(0, FAKE_PRESENT);
	resolve(PIPES | PRESENT);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0xa0000 + 2);
	assert_int_equal(fake_bus.arena[2], 0xa0000 + 2 + 100);
}

static void a_word_across_two_bad_pages_ends_with_0(void **state)
{
	unsigned int rounds = 0;
	uint32_t slot;

	(void)state;
	open_queue();
	slot = fake_bus_store_begin(BINDING, PRODUCER, PAGE_MAPLE, AT(FULL_POINTER64, 0), 8,
				    PAGE_OF(4) - 4);
	while (fake_bus_waits(slot) && rounds++ < 10) {
		fault_status();
		resolve(PIPES);
	}
	assert_int_equal(rounds, 2);
	assert_int_equal(fake_bus_load(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 8), 0);
}

static void an_address_beyond_a_programs_reads_0(void **state)
{
	static const uint64_t addresses[] = { 1ull << 47, 0xfffffffffffcull, (1ull << 47) - 4 };

	(void)state;
	open_queue();
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t slot = fetch_begin(addresses[i]);

		assert_true(fake_bus_waits(slot));
		fault_status();
		resolve(PIPES);
		assert_int_equal(fake_bus_status(slot, NULL), 0);
		assert_int_equal(consume(), 0);
	}
}

/* A window lies beside the next binding's. */
static void an_address_beyond_a_programs_is_not_another_programs(void **state)
{
	uint32_t slot;

	(void)state;
	fake_bus_page(3, FAKE_PRESENT);
	open_queue();
	assert_int_equal(fake_bus_open(1, OTHER_BINDING, 8), 0);
	slot = fetch_begin(1ull << 47 | PAGE_OF(3));
	assert_true(fake_bus_waits(slot));
	fault_status();
	resolve(PIPES);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0);
}

static void a_waived_interrupt_reaches_the_driver_all_the_same(void **state)
{
	(void)state;
	open_queue();
	fake_bus_store(BINDING, PRODUCER, PAGE_MMU, AT(MMU_STORE, 1), 8, ~0ull);
	fetch_begin(PAGE_OF(3));
	assert_int_equal(fake_bus.interrupts[0], 1);
}

static void a_loop_waits_at_each_page_that_is_not_there(void **state)
{
	uint32_t slot;

	(void)state;
	open_queue();
	fake_bus_page(1, FAKE_PRESENT);
	fake_bus.arena[1024] = 1;
	fake_bus.arena[1025] = 1024;
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(QUEUE_LIMA_A, 0), 8, PAGE_OF(4));
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(QUEUE_LIMA_B, 0), 8, PAGE_OF(1));
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(QUEUE_LOOP_POINTER32, 0), 8, 2);
	slot = consume_begin();
	assert_true(fake_bus_waits(slot));
	assert_int_equal(fault_status(), PAGE_OF(4) | LIMA | STALLED);
	fake_bus_page(4, FAKE_PRESENT);
	resolve(LIMA | PRESENT);
	assert_int_equal(fault_status(), PAGE_OF(5) | LIMA | STALLED);
	fake_bus_page(5, FAKE_PRESENT);
	resolve(LIMA | PRESENT);
	assert_int_equal(fake_bus_status(slot, NULL), 0);
	assert_int_equal(consume(), 0xa0000 + 5 * 1024);
}

static void a_closed_binding_shows_its_memory_no_more(void **state)
{
	(void)state;
	open_queue();
	fake_bus_page(3, FAKE_PRESENT);
	assert_int_equal(fake_bus_status(fetch_begin(PAGE_OF(3)), NULL), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	/* stop() fails if a window is still mapped. */
}

#define ON_RING(test) cmocka_unit_test_setup_teardown(test, start_ring, stop)
#define ON_READ(test) { #test "_by_read_and_write", test, start_read, stop, NULL }
#define BY_ITSELF(test) cmocka_unit_test_setup_teardown(test, nothing, stop)
#define ON_BOTH(test) ON_RING(test), ON_READ(test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(devices_of_the_settings_are_registered),
		BY_ITSELF(a_missing_node_is_an_error_only_if_it_is_required),
		BY_ITSELF(another_version_of_the_bus_is_not_used),
		BY_ITSELF(a_number_that_another_daemon_has_is_an_error_only_if_all_are_required),
		BY_ITSELF(without_io_uring_it_reads_and_writes),
		BY_ITSELF(commands_that_fail_lead_to_read_and_write),
		ON_RING(a_server_that_ends_leaves_its_devices_on_the_bus),
		ON_BOTH(a_load_is_answered_with_the_register),
		ON_BOTH(the_driver_reaches_the_device_of_any_process),
		ON_BOTH(roles_belong_to_threads),
		ON_BOTH(a_load_that_waits_is_answered_when_the_word_comes),
		ON_BOTH(a_store_that_waits_is_answered_when_there_is_room),
		ON_BOTH(a_cancelled_load_that_waits_takes_nothing),
		ON_RING(a_cancelled_access_that_has_not_begun_does_not_begin),
		ON_BOTH(a_cancelled_access_that_is_done_is_answered_once),
		ON_BOTH(requests_that_cannot_be_are_answered_with_errors),
		ON_RING(a_commit_wakes_a_waiter_that_sleeps_and_not_one_that_spins),
		ON_RING(a_posted_access_is_answered_and_committed),
		ON_BOTH(a_daemon_that_sleeps_is_woken_for_a_request),
		ON_BOTH(a_device_belongs_to_one_process),
		ON_BOTH(a_closed_device_is_as_after_power_on),
		ON_BOTH(a_thread_that_ends_gives_its_roles_back),
		ON_RING(a_thread_with_the_tid_of_one_that_ended_is_another_owner),
		ON_RING(memory_that_is_present_is_read),
		ON_BOTH(the_first_touch_of_a_page_waits_for_the_driver),
		ON_RING(a_page_that_is_taken_away_is_a_fault_again),
		ON_RING(an_address_that_the_driver_cannot_help_reads_0),
		ON_RING(a_page_that_has_gone_again_when_it_is_resolved_is_a_new_fault),
		ON_RING(an_atomic_on_a_page_that_is_read_only_is_a_fault_that_writes),
		ON_RING(a_word_across_two_bad_pages_ends_with_0),
		ON_RING(an_address_beyond_a_programs_reads_0),
		ON_RING(an_address_beyond_a_programs_is_not_another_programs),
		ON_RING(a_waived_interrupt_reaches_the_driver_all_the_same),
		ON_RING(a_loop_waits_at_each_page_that_is_not_there),
		ON_RING(a_closed_binding_shows_its_memory_no_more),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
