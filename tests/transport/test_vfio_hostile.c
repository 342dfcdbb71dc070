/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A machine that lies: each lie is an error, or the end of its connection, and of nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/maple_registers.h"
#include "tests/lib/vfio_fixture.h"

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0";
	vfio_served.vfio[1] = "virgo0";
	return served_start(&vfio_served, 1, false) ? 0 : -1;
}

/* The next machine is served as if nothing had been. */
static int look_and_end(void **state)
{
	(void)state;
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32,
			 MAPLE_IDENTIFY_MAGIC);
	guest_end(&vfio_guest);
	return 0;
}

/* --- the stream ------------------------------------------------------------------------- */

static void send_header(uint32_t size, uint32_t flags)
{
	const struct mimicd_vfio_header header = {
		.id = 1, .command = MIMICD_VFIO_GET_INFO, .size = size, .flags = flags,
	};

	guest_send(&vfio_guest, &header, sizeof(header), NULL, 0);
}

static void a_message_shorter_than_its_header_ends_the_connection(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	send_header(8, 0);
	assert_true(guest_is_cut_off(&vfio_guest));
}

static void a_message_that_never_ends_ends_the_connection(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	send_header(0xffffffff, 0);
	assert_true(guest_is_cut_off(&vfio_guest));
}

static void a_reply_to_nothing_ends_the_connection(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	send_header(16, MIMICD_VFIO_REPLY);
	assert_true(guest_is_cut_off(&vfio_guest));
}

static void half_a_message_holds_nobody_up(void **state)
{
	struct guest other;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_send(&vfio_guest, "12345", 5, NULL, 0);
	guest_start(&other, &vfio_served, "virgo0");
	assert_int_equal(guest_bus(&other, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	guest_end(&other);
}

static void commands_before_the_version_are_refused(void **state)
{
	(void)state;
	guest_connect(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_GET_INFO, NULL, 0, NULL, 0, NULL, NULL, NULL), EPROTO);
}

static void commands_that_there_are_not_are_refused(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (unsigned int command = 0; command < 40; command++) {
		if (command >= MIMICD_VFIO_VERSION && command <= MIMICD_VFIO_REGION_WRITE && command != 6)
			continue;
		if (command == MIMICD_VFIO_RESET)
			continue;
		assert_int_equal(guest_ask(&vfio_guest, command, NULL, 0, NULL, 0, NULL, NULL, NULL), ENOTSUP);
	}
}

static void messages_of_the_wrong_size_are_errors(void **state)
{
	static const unsigned char commands[] = { 2, 3, 5, 7, 8, 9, 10 };
	char payload[64] = { 0 };

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (size_t i = 0; i < sizeof(commands); i++) {
		for (size_t size = 0; size < 16; size += 5)
			assert_int_equal(guest_ask(&vfio_guest, commands[i], payload, size, NULL, 0, NULL, NULL, NULL), EINVAL);
	}
}

static void a_machine_that_takes_no_answers_is_cut_off(void **state)
{
	const struct mimicd_vfio_header header = { .command = MIMICD_VFIO_GET_INFO, .size = sizeof(header) };
	unsigned int i;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (i = 0; i < 1000000 && guest_send(&vfio_guest, &header, sizeof(header), NULL, 0); i++)
		;
	assert_true(i < 1000000);
}

/* --- regions ----------------------------------------------------------------------------- */

static int load(uint32_t region, uint64_t offset, uint32_t count)
{
	const struct mimicd_vfio_region_access access = { .offset = offset, .region = region, .count = count };
	char reply[8192];
	size_t size = sizeof(reply);

	return guest_ask(&vfio_guest, MIMICD_VFIO_REGION_READ, &access, sizeof(access), NULL, 0, reply, &size, NULL);
}

static void loads_outside_of_a_region_are_errors(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	assert_int_equal(load(9, 0, 4), EINVAL);
	assert_int_equal(load(0xffffffff, 0, 4), EINVAL);
	assert_int_equal(load(1, 0, 4), EINVAL);	/* no such BAR */
	assert_int_equal(load(0, 1ull << 40, 4), EINVAL);
	assert_int_equal(load(0, 0, 3), EINVAL);
	assert_int_equal(load(0, 0, 0), EINVAL);
	assert_int_equal(load(7, 253, 4), EINVAL);
	assert_int_equal(load(7, UINT64_MAX, 4), EINVAL);
	assert_int_equal(load(2, 0, 4097), EINVAL);
	assert_int_equal(load(2, 0, 0xffffffff), EINVAL);
	assert_int_equal(load(2, 0, 4096), 0);
}

static void a_store_that_says_more_than_it_has_is_an_error(void **state)
{
	struct mimicd_vfio_region_access store = { .offset = 0, .region = 2, .count = 4096 };

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_REGION_WRITE, &store, sizeof(store), NULL, 0, NULL, NULL, NULL),
			 EINVAL);
}

static void behind_the_last_page_of_the_device_there_is_nothing(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_store(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_COUNT), 8, 1);
	assert_int_equal(guest_load(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_COUNT), 8), 0);
}

/* --- memory ------------------------------------------------------------------------------ */

static void maps_that_lie_are_errors(void **state)
{
	const uint64_t free = 0x100000000;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, GUEST_RAM + 4096, 4096), EEXIST);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, free, 0), EINVAL);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, free + 1, 4096), EINVAL);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, free, 4095), EINVAL);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 1, free, 4096), EINVAL);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, UINT64_MAX - 4095, 8192), EINVAL);
	/* Longer than the file. */
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, free, GUEST_RAM_SIZE + 4096), EINVAL);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, UINT64_MAX - 4095, free, 8192), EINVAL);
	assert_int_equal(guest_unmap(&vfio_guest, free, 4096), ENOENT);
	assert_int_equal(guest_unmap(&vfio_guest, GUEST_RAM, 4096), EINVAL);
}

static void memory_that_can_vanish_is_not_taken(void **state)
{
	int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING), ends[2];

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(ftruncate(unsealed, 4096), 0);
	assert_int_equal(guest_map(&vfio_guest, unsealed, 0, 0x100000000, 4096), EPERM);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(guest_map(&vfio_guest, ends[0], 0, 0x100000000, 4096), EINVAL);
	close(unsealed);
	close(ends[0]);
	close(ends[1]);
}

static void page_tables_that_lead_nowhere_are_faults(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_ROOT, 0xfffffffffffff000);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_SV57);
	guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_RESET, 0), 4);
	guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_INIT, 2), 4);
	guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), 4);
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, 0x1234);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	/* A root that points to itself is walked in as many steps as there are levels. */
	for (unsigned int i = 0; i < 512; i++)
		*guest_word(&vfio_guest, GUEST_RAM + 8 * i) = GUEST_RAM | GUEST_PAGE_PRESENT;
	guest_use_tables(&vfio_guest, 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
}

/* --- descriptors ------------------------------------------------------------------------- */

static void interrupts_are_eventfds_only(void **state)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = MIMICD_VFIO_SET_DATA_EVENTFD | MIMICD_VFIO_SET_ACTION_TRIGGER,
		.index = MIMICD_VFIO_MSIX, .count = 1,
	};
	struct mimicd_vfio_irq_set beyond = set;
	int ends[2], event = eventfd(0, EFD_CLOEXEC);

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_SET_IRQS, &set, sizeof(set), &ends[1], 1, NULL, NULL, NULL),
			 EINVAL);
	beyond.start = 0xffffffff;
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_SET_IRQS, &beyond, sizeof(beyond), &event, 1, NULL, NULL, NULL),
			 EINVAL);
	beyond.start = 1;
	beyond.count = 2;
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_SET_IRQS, &beyond, sizeof(beyond), &event, 1, NULL, NULL, NULL),
			 EINVAL);
	beyond.index = 0xffffffff;
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_SET_IRQS, &beyond, sizeof(beyond), &event, 1, NULL, NULL, NULL),
			 EINVAL);
	close(ends[0]);
	close(ends[1]);
	close(event);
}

static void descriptors_that_nobody_asked_for_are_closed(void **state)
{
	const struct mimicd_vfio_header header = { .command = MIMICD_VFIO_GET_INFO, .size = sizeof(header) };
	int before, fds[16];
	char reply[32];

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	before = served_descriptors(&vfio_served);
	for (unsigned int i = 0; i < 16; i++)
		fds[i] = vfio_guest.ram_fd;
	for (unsigned int i = 0; i < 50; i++) {
		assert_true(guest_send(&vfio_guest, &header, sizeof(header), fds, 1 + i % 16));
		assert_int_equal(recv(vfio_guest.fd, reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	}
	assert_int_equal(served_await_descriptors(&vfio_served, before), before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, look_and_end)
	const struct CMUnitTest tests[] = {
		TEST(a_message_shorter_than_its_header_ends_the_connection),
		TEST(a_message_that_never_ends_ends_the_connection),
		TEST(a_reply_to_nothing_ends_the_connection),
		TEST(half_a_message_holds_nobody_up),
		TEST(commands_before_the_version_are_refused),
		TEST(commands_that_there_are_not_are_refused),
		TEST(messages_of_the_wrong_size_are_errors),
		TEST(a_machine_that_takes_no_answers_is_cut_off),
		TEST(loads_outside_of_a_region_are_errors),
		TEST(a_store_that_says_more_than_it_has_is_an_error),
		TEST(behind_the_last_page_of_the_device_there_is_nothing),
		TEST(maps_that_lie_are_errors),
		TEST(memory_that_can_vanish_is_not_taken),
		TEST(page_tables_that_lead_nowhere_are_faults),
		TEST(interrupts_are_eventfds_only),
		TEST(descriptors_that_nobody_asked_for_are_closed),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
