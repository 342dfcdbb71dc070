/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device as a virtual machine sees it before it uses it: PCI function, BARs, bus page, registers. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_fixture.h"

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0";
	vfio_served.vfio[1] = "dare0";
	vfio_served.vfio[2] = "virgo0";
	vfio_served.vfio[3] = "maple1,msi";
	return served_start(&vfio_served, 2, false) ? 0 : -1;
}

static uint64_t config(unsigned int offset, unsigned int size)
{
	return guest_load(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, offset, size);
}

static void the_configuration_space_names_the_device_and_its_class(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(config(0x00, 2), MIMIC_PCI_VENDOR);
	assert_int_equal(config(0x02, 2), MAPLE_PCI_DEVICE);
	assert_int_equal(config(0x09, 4) & 0xffffff, MIMIC_PCI_CLASS);
	assert_int_equal(config(0x0e, 1), 0);	/* an ordinary function, the only one */
	/* A list of capabilities, whose only one is MSI-X. */
	assert_int_equal(config(0x06, 2) & 0x10, 0x10);
	assert_int_equal(config(0x34, 1), 0x40);
	assert_int_equal(config(0x40, 2), 0x0011);
	assert_int_equal(config(0x42, 2) & 0x7ff, MIMIC_PCI_VECTORS - 1);
	assert_int_equal(config(0x44, 4), MIMIC_PCI_BAR_MSIX);
}

static void a_device_that_can_be_unplugged_has_msi(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple1");
	assert_int_equal(config(0x40, 2), 0x0005);
	assert_int_equal(config(0x42, 2) & 0x80, 0x80);	/* addresses of 64 bits */
	assert_int_equal(config(0x42, 2) >> 1 & 7, 1);	/* two vectors */
}

static void each_kind_has_its_own_number(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	assert_int_equal(config(0x02, 2), DARE_PCI_DEVICE);
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	assert_int_equal(config(0x02, 2), VIRGO_PCI_DEVICE);
}

static void only_bits_that_are_the_machines_can_be_changed(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (unsigned int i = 0; i < 256; i += 4)
		guest_store(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, i, 4, 0xffffffff);
	assert_int_equal(config(0x00, 2), MIMIC_PCI_VENDOR);
	assert_int_equal(config(0x34, 1), 0x40);
	/* Five pages and the bus page make a BAR of 8 pages: as a machine finds out the size. */
	assert_int_equal(config(0x10, 4), 0xffff8000);
	assert_int_equal(config(0x14, 4), 0);
	assert_int_equal(config(0x18, 4), 0);
	assert_int_equal(config(0x20, 4), 0xfffff000);
	guest_store(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, 0x10, 4, 0xfebd8000);
	assert_int_equal(config(0x10, 4), 0xfebd8000);
}

static void regions_have_the_sizes_of_the_bars(void **state)
{
	static const uint64_t sizes[MIMICD_VFIO_REGIONS] = { [0] = 0x8000, [4] = 0x1000, [7] = 256 };

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (unsigned int i = 0; i < MIMICD_VFIO_REGIONS; i++) {
		struct mimicd_vfio_region_info info = guest_region(&vfio_guest, i, NULL);

		assert_int_equal(info.size, sizes[i]);
		/* Without a part that is mapped, QEMU sends stores without waiting for them. */
		assert_int_equal(info.flags, sizes[i] ? 3 : 0);
	}
}

static void memory_of_a_device_is_a_bar_that_the_machine_maps(void **state)
{
	struct mimicd_vfio_region_info info;
	struct stat status;
	char *memory;
	int fd = -1;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	info = guest_region(&vfio_guest, MIMIC_PCI_BAR_MEMORY, &fd);
	assert_int_equal(info.flags, 7);
	assert_int_equal(info.size, guest_bus(&vfio_guest, MIMIC_PCI_MEMORY_SIZE));
	assert_int_equal(info.size, guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_SHARED_SIZE, 8));
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, info.size);
	memory = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	guest_store(&vfio_guest, MIMIC_PCI_BAR_MEMORY, 0x1238, 8, 0x1122334455667788);
	assert_int_equal(*(uint64_t *)(void *)(memory + 0x1238), 0x1122334455667788);
	strcpy(memory + 64, "by the mapping");
	assert_int_equal(guest_load(&vfio_guest, MIMIC_PCI_BAR_MEMORY, 64, 2), 'b' | 'y' << 8);
	munmap(memory, info.size);
	close(fd);
}

static void interrupts_are_two_vectors(void **state)
{
	static const unsigned int counts[MIMICD_VFIO_INTERRUPTS] = { [MIMICD_VFIO_MSIX] = 2 };

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	for (unsigned int i = 0; i < MIMICD_VFIO_INTERRUPTS; i++) {
		const struct mimicd_vfio_irq_info asked = { .argsz = sizeof(asked), .index = i };
		struct mimicd_vfio_irq_info info;
		size_t size = sizeof(info);

		assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_GET_IRQ_INFO, &asked, sizeof(asked), NULL, 0,
					   &info, &size, NULL), 0);
		assert_int_equal(info.count, counts[i]);
	}
}

static void the_bus_page_says_what_there_is(void **state)
{
	uint64_t name;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	name = guest_bus(&vfio_guest, MIMIC_PCI_KIND);
	assert_string_equal((char *)&name, "dare");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LAYOUT),
			 1 | DARE_PAGE_COUNT << 8 | 64 << 16 | 64 << 24);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MEMORY_SIZE), 0);
	/* In halves, too. */
	assert_int_equal(guest_load(&vfio_guest, 0, MIMIC_PCI_MAGIC, 4), 0x696d696d);
	assert_int_equal(guest_load(&vfio_guest, 0, MIMIC_PCI_MAGIC + 4, 4), 0x69637063);
}

static void pages_of_the_device_follow_the_bus_page(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32,
			 MAPLE_IDENTIFY_MAGIC);
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "dare0");
	assert_int_equal(guest_register(&vfio_guest, 0, DARE_CONTROL_IDENTIFY, 8) >> 32, DARE_MAGIC);
	assert_int_equal(guest_register(&vfio_guest, 3, DARE_IDENTIFY, 8) & 0xff, 2);
}

static void a_device_has_one_machine_at_a_time(void **state)
{
	struct guest other;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_connect(&other, &vfio_served, "maple0");
	assert_true(guest_is_cut_off(&other));
	guest_end(&other);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
}

static void the_next_machine_finds_the_device_as_after_power_on(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_set_register(&vfio_guest, 1, DARE_RS1, 8, 0x1234);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(5), 0x7000);
	assert_int_equal(guest_register(&vfio_guest, 1, DARE_RS1, 8), 0x1234);
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "dare0");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_SPACE(5)), 0);
	assert_int_equal(guest_register(&vfio_guest, 1, DARE_RS1, 8), 0);
}

static void reset_is_power_on(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	guest_set_register(&vfio_guest, 1, VIRGO_RS1, 8, 5);
	guest_set_register(&vfio_guest, 0, VIRGO_BARRIER_PARTICIPANTS(2), 8, 7);
	guest_store(&vfio_guest, MIMIC_PCI_BAR_MEMORY, 8, 8, 99);
	guest_store(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, 0x04, 2, 6);
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_RESET, NULL, 0, NULL, 0, NULL, NULL, NULL), 0);
	assert_int_equal(guest_register(&vfio_guest, 0, VIRGO_BARRIER_PARTICIPANTS(2), 8), 0);
	assert_int_equal(guest_load(&vfio_guest, MIMIC_PCI_BAR_MEMORY, 8, 8), 0);
	assert_int_equal(config(0x04, 2), 0);
	/* The machine's memory is still there: it is mapped once only. */
	assert_int_equal(guest_unmap(&vfio_guest, GUEST_RAM, GUEST_RAM_SIZE), 0);
}

static void a_device_that_is_added_again_is_at_its_socket(void **state)
{
	struct mimic_open unwanted = { .name = "maple1" };
	struct mimic_add wanted = { .kind = "maple" };
	int client = raw_client(vfio_served.socket);

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple1");
	assert_int_equal(raw_request(client, &unwanted, sizeof(unwanted), MIMIC_MESSAGE_REMOVE, -1, NULL, 0, NULL), 0);
	assert_true(guest_is_cut_off(&vfio_guest));
	guest_end(&vfio_guest);
	guest_connect(&vfio_guest, &vfio_served, "maple1");
	assert_true(guest_is_cut_off(&vfio_guest));
	guest_end(&vfio_guest);
	assert_int_equal(raw_request(client, &wanted, sizeof(wanted), MIMIC_MESSAGE_ADD, -1, NULL, 0, NULL), 0);
	guest_start(&vfio_guest, &vfio_served, "maple1");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	close(client);
}

/* QEMU aborts where it gets ECONNRESET: the kernel gives that if mimicd has not read all messages. */
static void a_machine_that_is_cut_off_finds_an_end_and_no_error(void **state)
{
	struct mimic_open unwanted = { .name = "maple1" };
	int client = raw_client(vfio_served.socket);

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple1");
	assert_return_code(kill(vfio_served.pid, SIGSTOP), errno);
	/* More than mimicd hears in a turn, or in two. */
	for (unsigned int i = 0; i < 150; i++)
		guest_post(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, 0x0c, 1, 0);
	raw_header(&unwanted, sizeof(unwanted), MIMIC_MESSAGE_REMOVE);
	assert_true(raw_send(client, &unwanted, sizeof(unwanted), NULL, 0));
	assert_return_code(kill(vfio_served.pid, SIGCONT), errno);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
	close(client);
}

/* QEMU would wait for the answer until its time is over. */
static void a_load_of_a_machine_that_is_cut_off_is_an_error(void **state)
{
	const struct mimicd_vfio_header load = { .id = 100, .command = MIMICD_VFIO_REGION_READ, .size = 32 };
	struct mimic_open unwanted = { .name = "maple1" };
	struct mimic_add wanted = { .kind = "maple" };
	struct mimicd_vfio_header reply;
	int client = raw_client(vfio_served.socket);

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple1");
	/* The rest of it does not come. */
	assert_true(guest_send(&vfio_guest, &load, sizeof(load), NULL, 0));
	assert_int_equal(raw_request(client, &unwanted, sizeof(unwanted), MIMIC_MESSAGE_REMOVE, -1, NULL, 0, NULL), 0);
	assert_int_equal(recv(vfio_guest.fd, &reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	assert_int_equal(reply.id, 100);
	assert_int_equal(reply.flags, MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
	assert_int_equal(raw_request(client, &wanted, sizeof(wanted), MIMIC_MESSAGE_ADD, -1, NULL, 0, NULL), 0);
	close(client);
}

/* So it may be when a device is plugged into a machine that has others, and that would wait for the answer. */
static void a_machine_that_is_refused_gets_an_error_and_finds_an_end(void **state)
{
	const struct mimicd_vfio_header header = { .id = 5, .command = MIMICD_VFIO_VERSION, .size = 64 };
	struct mimicd_vfio_header reply;
	struct guest other;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_return_code(kill(vfio_served.pid, SIGSTOP), errno);
	guest_connect(&other, &vfio_served, "maple0");
	assert_true(guest_send(&other, &header, sizeof(header), NULL, 0));
	assert_return_code(kill(vfio_served.pid, SIGCONT), errno);
	assert_int_equal(recv(other.fd, &reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	assert_int_equal(reply.id, 5);
	assert_int_equal(reply.flags, MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR);
	assert_int_equal(guest_read_end(&other), 0);
	guest_end(&other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, vfio_fixture_end_guest)
	const struct CMUnitTest tests[] = {
		TEST(the_configuration_space_names_the_device_and_its_class),
		TEST(a_device_that_can_be_unplugged_has_msi),
		TEST(each_kind_has_its_own_number),
		TEST(only_bits_that_are_the_machines_can_be_changed),
		TEST(regions_have_the_sizes_of_the_bars),
		TEST(memory_of_a_device_is_a_bar_that_the_machine_maps),
		TEST(interrupts_are_two_vectors),
		TEST(the_bus_page_says_what_there_is),
		TEST(pages_of_the_device_follow_the_bus_page),
		TEST(a_device_has_one_machine_at_a_time),
		TEST(the_next_machine_finds_the_device_as_after_power_on),
		TEST(reset_is_power_on),
		TEST(a_device_that_is_added_again_is_at_its_socket),
		TEST(a_load_of_a_machine_that_is_cut_off_is_an_error),
		TEST(a_machine_that_is_cut_off_finds_an_end_and_no_error),
		TEST(a_machine_that_is_refused_gets_an_error_and_finds_an_end),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
