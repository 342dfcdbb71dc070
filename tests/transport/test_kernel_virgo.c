/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device with memory, jobs and events on the kernel's bus: the bus's memory in place of the
 * daemon's own, jobs that work through a window, interrupts for stalls and for events.
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
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

enum { DEVICE = 10, DRIVER = 0, BINDING = 1, NEXT = 2, PROCESS = 7 };

#define SHARED_SIZE (128u << 10)
#define PAGE 4096u
#define ROW 32u			/* of unit 0: 8 of fp32 */
#define PATIENCE 5000		/* of a millisecond */

/* As the program maps it. */
static volatile uint32_t *shared;
/* The other end of a session as by the socket. */
static int by_socket;

static int start(void **state)
{
	int ends[2];
	int error;

	(void)state;
	fake_bus.virgos = 1;
	error = fake_bus_start(0, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
	if (error || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -1;
	by_socket = ends[1];
	error = mimicd_session_create(fake_bus.server->clients, ends[0]);
	shared = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fake_bus.memory_file[0], 0);
	if (error || shared == MAP_FAILED)
		return -1;
	fake_bus_serve();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	munmap((void *)(uintptr_t)shared, SHARED_SIZE);
	close(by_socket);
	fake_bus_stop();
	return 0;
}

/* One access of 8 bytes; its status. */
static int access_virgo(uint32_t binding, unsigned int page, unsigned int offset, bool is_write,
			uint64_t *data)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = DEVICE, .binding = binding,
		.thread = binding ? 1 : 0, .page = (uint8_t)page, .offset = offset, .size = 8,
		.is_write = is_write, .data = is_write ? *data : 0, .pid = binding ? gettid() : 0,
	};

	return fake_bus_status(fake_bus_put(&request), data);
}

static uint64_t get(uint32_t binding, unsigned int page, unsigned int offset)
{
	uint64_t data = 0;

	assert_int_equal(access_virgo(binding, page, offset, false, &data), 0);
	return data;
}

static void put(uint32_t binding, unsigned int page, unsigned int offset, uint64_t value)
{
	assert_int_equal(access_virgo(binding, page, offset, true, &value), 0);
}

static uint64_t control(unsigned int offset)
{
	return get(DRIVER, VIRGO_PAGE_CONTROL, offset);
}

static uint64_t fence(uint32_t binding, unsigned int unit)
{
	return get(binding, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, FENCE));
}

static void command(uint32_t binding, unsigned int unit, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	const struct mimic_bus_request word = {
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = DEVICE, .binding = binding, .thread = 1,
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(unit, INSTRUCTION), .size = 4,
		.is_write = 1, .data = VIRGO_INSTRUCTION_WORD(funct), .pid = gettid(),
	};

	put(binding, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, RS1), rs1);
	put(binding, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, RS2), rs2);
	assert_int_equal(fake_bus_status(fake_bus_put(&word), NULL), 0);
}

/* Rows of 8 words, one behind the other. */
static void strides(uint32_t binding, unsigned int unit)
{
	command(binding, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | 0x3f800000ull << 32, ROW);
	command(binding, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ROW | 0x3f800000ull << 32);
}

static uint64_t rows(unsigned int row, unsigned int count)
{
	return (uint64_t)count << 48 | 8ull << 32 | row;
}

static void open_it(uint32_t binding)
{
	assert_int_equal(fake_bus_open(0, binding, PROCESS), 0);
	strides(binding, 0);
}

static void close_it(uint32_t binding)
{
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, binding, 0), 0);
}

/* Interrupts come from jobs, a moment later. */
static bool interrupts_reach(unsigned int wanted)
{
	for (int i = 0; i < PATIENCE && __atomic_load_n(&fake_bus.interrupts[0], __ATOMIC_ACQUIRE) < wanted; i++)
		usleep(1000);
	return __atomic_load_n(&fake_bus.interrupts[0], __ATOMIC_ACQUIRE) >= wanted;
}

static bool shows_fault(uint64_t wanted)
{
	for (int i = 0; i < PATIENCE && control(VIRGO_CONTROL_FAULT_STATUS) != wanted; i++)
		usleep(1000);
	return control(VIRGO_CONTROL_FAULT_STATUS) == wanted;
}

/* --- memory -------------------------------------------------------------------------- */

static void the_bus_is_told_of_the_memorys_size(void **state)
{
	(void)state;
	assert_int_equal(fake_bus.registered[0].memory_size, SHARED_SIZE);
	assert_int_equal(fake_bus.registered[0].pages, VIRGO_PAGE_COUNT);
}

static void the_shared_memory_is_the_buss_while_a_process_has_the_device(void **state)
{
	(void)state;
	open_it(BINDING);
	fake_bus_page(0, FAKE_PRESENT);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA, rows(3, 4));
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	for (unsigned int i = 0; i < 4 * 8; i++)
		assert_int_equal(shared[3 * 8 + i], 0xa0000 + i);
	shared[1000 * 8] = 77;
	command(BINDING, 0, VIRGO_FUNCT_MVOUT, FAKE_ARENA + 2048, rows(1000, 1));
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	assert_int_equal(fake_bus.arena[512], 77);
	close_it(BINDING);
	/* The kernel clears the memory, not the daemon. */
	assert_int_equal(shared[1000 * 8], 77);
}

static int open_by_socket(void)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	uint32_t device;
	int event_fd;

	assert_int_equal(raw_request(by_socket, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
				     sizeof(reply), &event_fd), 0);
	close(event_fd);
	return raw_open(by_socket, "virgo0", &device);
}

static void after_that_it_is_not(void **state)
{
	(void)state;
	open_it(BINDING);
	close_it(BINDING);
	assert_int_equal(open_by_socket(), 0);
	shared[0] = 5;
	/* The session's device has a memory of its own. */
	assert_int_equal(fake_bus_open(0, NEXT, PROCESS), -EBUSY);
	assert_int_equal(shared[0], 5);
}

static void an_open_whose_memory_cannot_be_mapped_is_refused(void **state)
{
	(void)state;
	fake_bus.map_error = -ENOMEM;
	assert_int_equal(fake_bus_open(0, BINDING, PROCESS), -ENOMEM);
	open_it(NEXT);
	fake_bus_page(0, FAKE_PRESENT);
	command(NEXT, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA, rows(0, 1));
	assert_int_equal(fence(NEXT, 0) & VIRGO_STATUS_ERROR, 0);
	assert_int_equal(shared[1], 0xa0001);
}

/* --- jobs and the window --------------------------------------------------------------- */

static void a_page_that_is_not_there_is_one_interrupt_and_the_unit_waits(void **state)
{
	const uint64_t fault = (FAKE_ARENA + PAGE) | VIRGO_FAULT_STALLED;

	(void)state;
	open_it(BINDING);
	fake_bus_page(0, FAKE_PRESENT);
	/* Two rows of the first page, two of the second. */
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA + PAGE - 2 * ROW, rows(0, 4));
	assert_true(shows_fault(fault));
	assert_int_equal(fake_bus.interrupts[0], 1);
	assert_int_equal(shared[0], 0xa0000 + (PAGE - 2 * ROW) / 4);
	assert_int_equal(shared[16], 0);
	fake_bus_page(1, FAKE_PRESENT);
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_PRESENT);
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	assert_int_equal(shared[16], 0xa0000 + PAGE / 4);
	assert_int_equal(fake_bus.interrupts[0], 1);
}

static void a_store_to_a_page_that_can_only_be_read_asks_for_writing(void **state)
{
	(void)state;
	open_it(BINDING);
	fake_bus_page(0, FAKE_READ_ONLY);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA, rows(0, 1));
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	command(BINDING, 0, VIRGO_FUNCT_MVOUT, FAKE_ARENA + ROW, rows(0, 1));
	assert_true(shows_fault(FAKE_ARENA | VIRGO_FAULT_STALLED | VIRGO_FAULT_WRITES));
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 0);
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, VIRGO_STATUS_ERROR);
	assert_int_equal(get(BINDING, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, ERROR)), VIRGO_ERROR_STORE);
	assert_int_equal(fake_bus.arena[8], 0xa0008);
}

static void a_fault_that_is_for_later_lets_the_other_units_be_seen(void **state)
{
	const uint64_t first = (FAKE_ARENA + PAGE) | VIRGO_FAULT_STALLED;
	const uint64_t second = (FAKE_ARENA + 2 * PAGE) | VIRGO_FAULT_STALLED | 2;

	(void)state;
	open_it(BINDING);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA + PAGE, rows(0, 1));
	assert_true(shows_fault(first));
	command(BINDING, 2, VIRGO_FUNCT_MVIN, FAKE_ARENA + 2 * PAGE, rows(0, 1));
	assert_true(interrupts_reach(2));
	assert_true(shows_fault(first));
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_LATER);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), second);
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_LATER | 2);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), first);
	/* It still waits. */
	assert_int_equal(get(BINDING, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(2, STATUS)) & VIRGO_STATUS_PAGE,
			 VIRGO_STATUS_PAGE);
}

static void rows_at_the_ends_of_granules_fault_where_nothing_is(void **state)
{
	(void)state;
	open_it(BINDING);
	/* The arena begins a granule. */
	fake_bus_page(0, FAKE_PRESENT);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA - 8, rows(0, 1));
	assert_true(shows_fault((FAKE_ARENA - PAGE) | VIRGO_FAULT_STALLED));
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 0);
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, VIRGO_STATUS_ERROR);
	put(BINDING, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, ERROR), 0);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, (1ull << 47) - 16, rows(0, 1));
	assert_true(shows_fault(((1ull << 47) - PAGE) | VIRGO_FAULT_STALLED));
}

/* --- the end of a process ------------------------------------------------------------------ */

#define ACCUMULATOR 0x80000000u	/* bit 31 of a local address: it is each unit's own */

static void a_close_waits_for_jobs_and_leaves_a_fresh_device(void **state)
{
	(void)state;
	for (uint32_t binding = BINDING; binding < BINDING + 20; binding++) {
		open_it(binding);
		fake_bus_page(0, FAKE_PRESENT);
		assert_int_equal(get(binding, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS) &
				 ~(uint64_t)VIRGO_EVENT_IDLE(0), 0);
		for (unsigned int unit = 0; unit < 4; unit++) {
			command(binding, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 16ull << 32 | 8u << 16 | 8);
			command(binding, unit, VIRGO_FUNCT_LOOP_WS, 0, VIRGO_LOOP_COMPUTE);
			/* Not where the other units read. */
			command(binding, unit, VIRGO_FUNCT_MVIN, FAKE_ARENA, rows(ACCUMULATOR, 8));
		}
		close_it(binding);
	}
	open_it(NEXT + 40);
	assert_int_equal(get(NEXT + 40, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(1, DISPATCHED)), 0);
}

static void a_close_while_a_unit_waits_for_its_page(void **state)
{
	(void)state;
	open_it(BINDING);
	command(BINDING, 0, VIRGO_FUNCT_MVIN, FAKE_ARENA, rows(0, 1));
	assert_true(shows_fault(FAKE_ARENA | VIRGO_FAULT_STALLED));
	close_it(BINDING);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), 0);
	/* The driver may come too late with its answer. */
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_PRESENT);
	open_it(NEXT);
	assert_int_equal(fence(NEXT, 0) & VIRGO_STATUS_ERROR, 0);
}

/* --- events ----------------------------------------------------------------------------- */

static void an_event_that_is_asked_for_raises_the_line(void **state)
{
	(void)state;
	open_it(BINDING);
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	assert_int_equal(fake_bus.interrupts[0], 0);
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS, ~0ull);
	put(DRIVER, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_ENABLE, VIRGO_EVENT_ERROR(1));
	command(BINDING, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(fence(BINDING, 0) & VIRGO_STATUS_ERROR, 0);
	assert_int_equal(fake_bus.interrupts[0], 0);
	command(BINDING, 1, 100, 0, 0);
	assert_true(interrupts_reach(1));
	assert_int_equal(control(VIRGO_CONTROL_EVENT_STATUS) & VIRGO_EVENT_ERROR(1), VIRGO_EVENT_ERROR(1));
}

static void a_session_of_the_process_has_no_say_in_events(void **state)
{
	struct mimic_event_request wanted = { .header.type = MIMIC_MESSAGE_EVENTFD, .events = 1 };
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply greeted;
	int fd, event_fd;

	(void)state;
	open_it(BINDING);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, BINDING, 0), 0);
	fd = fake_bus.connected;
	fake_bus.connected = -1;
	assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &greeted,
				     sizeof(greeted), &event_fd), 0);
	assert_int_equal(raw_open(fd, "virgo0", &wanted.device), 0);
	assert_int_equal(raw_request(fd, &wanted, sizeof(wanted), MIMIC_MESSAGE_EVENTFD, event_fd, NULL, 0, NULL),
			 -EOPNOTSUPP);
	close(event_fd);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
		TEST(the_bus_is_told_of_the_memorys_size),
		TEST(the_shared_memory_is_the_buss_while_a_process_has_the_device),
		TEST(after_that_it_is_not),
		TEST(an_open_whose_memory_cannot_be_mapped_is_refused),
		TEST(a_page_that_is_not_there_is_one_interrupt_and_the_unit_waits),
		TEST(a_store_to_a_page_that_can_only_be_read_asks_for_writing),
		TEST(a_fault_that_is_for_later_lets_the_other_units_be_seen),
		TEST(rows_at_the_ends_of_granules_fault_where_nothing_is),
		TEST(a_close_waits_for_jobs_and_leaves_a_fresh_device),
		TEST(a_close_while_a_unit_waits_for_its_page),
		TEST(an_event_that_is_asked_for_raises_the_line),
		TEST(a_session_of_the_process_has_no_say_in_events),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
