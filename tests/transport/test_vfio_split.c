/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device as two functions of a virtual machine: its registers, and its memory beside them. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_lanes.h"
#include "tests/lib/vfio_virgo.h"

#define OTHER (GUEST_RAM + 0x201000)
#define BAR2 0x800000000ull	/* where the machine places the memory */

static struct guest memory;

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.virgos = 2;
	vfio_served.vfio[0] = "virgo0,split";
	vfio_served.vfio[1] = "virgo1,msi,split";
	vfio_served.vfio[2] = "maple0,rings,split";
	return served_start(&vfio_served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	guest_end(&memory);
	return vfio_fixture_end_guest(state);
}

/* Both functions of it; the memory's is told of the machine's RAM, too. */
static void start(const char *registers_socket, const char *memory_socket)
{
	guest_start(&vfio_guest, &vfio_served, registers_socket);
	guest_start(&memory, &vfio_served, memory_socket);
}

static bool is_refused(const char *socket)
{
	struct guest other;
	bool refused;

	guest_connect(&other, &vfio_served, socket);
	refused = guest_is_cut_off(&other);
	guest_end(&other);
	return refused;
}

static uint64_t memory_config(unsigned int offset, unsigned int size)
{
	return guest_load(&memory, MIMICD_VFIO_REGION_CONFIG, offset, size);
}

static char *map_memory(size_t *size)
{
	struct mimicd_vfio_region_info info;
	char *base;
	int fd = -1;

	info = guest_region(&memory, MIMIC_PCI_BAR_MEMORY, &fd);
	assert_int_equal(info.flags, 7);	/* read, write, map */
	base = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(base, MAP_FAILED);
	close(fd);
	*size = info.size;
	return base;
}

/* --- the two functions -------------------------------------------------------------------- */

/* QEMU posts stores of a function without any. */
static void registers_have_no_region_that_is_mapped(const char *socket)
{
	guest_start(&vfio_guest, &vfio_served, socket);
	for (unsigned int i = 0; i < MIMICD_VFIO_REGIONS; i++)
		assert_int_equal(guest_region(&vfio_guest, i, NULL).flags & MIMICD_VFIO_REGION_MAY_MAP, 0);
	assert_int_equal(guest_region(&vfio_guest, MIMIC_PCI_BAR_MEMORY, NULL).size, 0);
	assert_int_equal(guest_region(&vfio_guest, MIMIC_PCI_BAR_RINGS, NULL).size, 0);
	/* All else of the function is as ever. */
	assert_int_equal(guest_region(&vfio_guest, MIMIC_PCI_BAR_MSIX, NULL).size, MIMIC_PCI_PAGE_SIZE);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	assert_int_not_equal(guest_bus(&vfio_guest, MIMIC_PCI_PAIR), 0);
	guest_end(&vfio_guest);
}

static void no_region_of_the_registers_is_mapped(void **state)
{
	(void)state;
	registers_have_no_region_that_is_mapped("virgo0");
	registers_have_no_region_that_is_mapped("maple0");
}

static void memory_is_a_function_of_its_own_number_and_class(void **state)
{
	(void)state;
	start("virgo0", "virgo0-memory");
	assert_int_equal(memory_config(0x00, 2), MIMIC_PCI_VENDOR);
	assert_int_equal(memory_config(0x02, 2), MIMIC_PCI_MEMORY_DEVICE);
	assert_int_equal(memory_config(0x09, 4) & 0xffffff, MIMIC_PCI_MEMORY_CLASS);
	/* No capabilities, so no interrupts either. */
	assert_int_equal(memory_config(0x06, 2), 0);
	assert_int_equal(memory_config(0x34, 1), 0);
	for (unsigned int i = 0; i < MIMICD_VFIO_INTERRUPTS; i++) {
		const struct mimicd_vfio_irq_info asked = { .argsz = sizeof(asked), .index = i };
		struct mimicd_vfio_irq_info info;
		size_t size = sizeof(info);

		assert_int_equal(guest_ask(&memory, MIMICD_VFIO_GET_IRQ_INFO, &asked, sizeof(asked), NULL, 0,
					   &info, &size, NULL), 0);
		assert_int_equal(info.count, 0);
	}
}

static void its_first_page_names_the_registers(void **state)
{
	static const unsigned int same[] = {
		MIMIC_PCI_KIND, MIMIC_PCI_KIND + 8, MIMIC_PCI_MEMORY_SIZE, MIMIC_PCI_PAIR,
	};

	(void)state;
	start("virgo0", "virgo0-memory");
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_MAGIC), MIMIC_PCI_MEMORY_MAGIC_VALUE);
	assert_int_equal(guest_load(&memory, 0, MIMIC_PCI_MAGIC + 4, 4), MIMIC_PCI_MEMORY_MAGIC_VALUE >> 32);
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_LAYOUT), MIMIC_PCI_VERSION);
	for (unsigned int i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_int_equal(guest_bus(&memory, same[i]), guest_bus(&vfio_guest, same[i]));
	/* There are no other registers, and these do not change. */
	guest_set_bus(&memory, MIMIC_PCI_PAIR, 1);
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_PAIR), guest_bus(&vfio_guest, MIMIC_PCI_PAIR));
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_STATUS), 0);
	assert_int_equal(guest_region(&memory, MIMIC_PCI_BAR_REGISTERS, NULL).size, MIMIC_PCI_PAGE_SIZE);
}

static void a_pair_has_a_number_that_no_other_has(void **state)
{
	uint64_t first, second;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	guest_start(&memory, &vfio_served, "virgo1");
	first = guest_bus(&vfio_guest, MIMIC_PCI_PAIR);
	assert_int_not_equal(first, guest_bus(&memory, MIMIC_PCI_PAIR));
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	second = guest_bus(&vfio_guest, MIMIC_PCI_PAIR);
	/* The memory function that the guest has from before is not this one's. */
	assert_int_not_equal(first, second);
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_RESET, NULL, 0, NULL, 0, NULL, NULL, NULL), 0);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_PAIR), second);
}

/* --- its content -------------------------------------------------------------------------- */

static void its_bytes_are_those_that_the_device_has(void **state)
{
	size_t size;
	char *base;

	(void)state;
	start("virgo0", "virgo0-memory");
	base = map_memory(&size);
	assert_int_equal(size, guest_bus(&vfio_guest, MIMIC_PCI_MEMORY_SIZE));
	for (unsigned int i = 0; i < VIRGO_BYTES / 4; i++)
		((float *)(void *)(base + 0x1000))[i] = (float)i + 0.5f;
	/* The device finds its memory where the machine has placed that function's BAR. */
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x18, 8, BAR2);
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x04, 2, 2);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	guest_virgo_configure(&vfio_guest);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, BAR2 + 0x1000, guest_virgo_rows_at(0));
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, OTHER, guest_virgo_rows_at(0));
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, BAR2 + 0x2000, guest_virgo_rows_at(0));
	guest_virgo_wait(&vfio_guest);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), base + 0x1000, VIRGO_BYTES);
	assert_memory_equal(base + 0x2000, base + 0x1000, VIRGO_BYTES);
	/* Accesses of pages that are not mapped yet come as loads and stores. */
	guest_store(&memory, MIMIC_PCI_BAR_MEMORY, 0x1238, 8, 0x1122334455667788);
	assert_int_equal(*(uint64_t *)(void *)(base + 0x1238), 0x1122334455667788);
	munmap(base, size);
}

static void lanes_are_there(void **state)
{
	const unsigned int identify = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0);
	struct raw_lane lane;
	uint64_t answer;

	(void)state;
	start("maple0", "maple0-memory");
	assert_int_equal(guest_region(&memory, MIMIC_PCI_BAR_MEMORY, NULL).size, 0);
	guest_map_rings(&vfio_guest, &memory);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	lane = lane_open(&vfio_guest, 3, 1, 1);
	answer = lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, identify, 8);
	assert_int_equal(answer >> 32, MAPLE_IDENTIFY_MAGIC);
}

/* --- connections that get it, or are refused -------------------------------------------- */

static void registers_are_connected_first(void **state)
{
	(void)state;
	assert_true(is_refused("virgo0-memory"));
	assert_true(served_said(&vfio_served, "whose registers are at"));
	assert_true(served_said(&vfio_served, "they have to be connected first"));
	start("virgo0", "virgo0-memory");
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_MAGIC), MIMIC_PCI_MEMORY_MAGIC_VALUE);
}

static void another_process_does_not_get_it(void **state)
{
	int status;
	pid_t child;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	child = fork();
	assert_return_code(child, errno);
	if (!child)
		_exit(is_refused("virgo0-memory") ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(served_said(&vfio_served, "another process has them"));
	guest_start(&memory, &vfio_served, "virgo0-memory");
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_PAIR), guest_bus(&vfio_guest, MIMIC_PCI_PAIR));
}

static void one_machine_has_it_once(void **state)
{
	(void)state;
	start("virgo0", "virgo0-memory");
	assert_true(is_refused("virgo0-memory"));
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_MAGIC), MIMIC_PCI_MEMORY_MAGIC_VALUE);
}

/* --- ends and resets ---------------------------------------------------------------------- */

static void it_ends_with_the_registers(void **state)
{
	(void)state;
	start("virgo0", "virgo0-memory");
	guest_end(&vfio_guest);
	assert_true(guest_is_cut_off(&memory));
	guest_end(&memory);
	start("virgo0", "virgo0-memory");
	assert_int_equal(guest_bus(&memory, MIMIC_PCI_PAIR), guest_bus(&vfio_guest, MIMIC_PCI_PAIR));
}

static void registers_go_on_without_it(void **state)
{
	size_t size;
	char *base;

	(void)state;
	start("virgo0", "virgo0-memory");
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x18, 8, BAR2);
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x04, 2, 2);
	guest_store(&memory, MIMIC_PCI_BAR_MEMORY, 64, 8, 99);
	guest_end(&memory);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	/* There is nothing at that address any more. */
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	guest_virgo_configure(&vfio_guest);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, BAR2, guest_virgo_rows_at(0));
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	/* It may come again, and has its bytes. */
	guest_start(&memory, &vfio_served, "virgo0-memory");
	base = map_memory(&size);
	assert_int_equal(*(uint64_t *)(void *)(base + 64), 99);
	munmap(base, size);
}

static void a_reset_of_the_registers_empties_it(void **state)
{
	size_t size;
	char *base;

	(void)state;
	start("virgo0", "virgo0-memory");
	base = map_memory(&size);
	base[64] = 1;
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x04, 2, 2);
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_RESET, NULL, 0, NULL, 0, NULL, NULL, NULL), 0);
	assert_int_equal(base[64], 0);
	/* The other function is as it was. */
	assert_int_equal(memory_config(0x04, 2), 2);
	munmap(base, size);
}

static void its_own_reset_changes_no_byte_of_it(void **state)
{
	const unsigned int participants = VIRGO_BARRIER_PARTICIPANTS(2);
	size_t size;
	char *base;

	(void)state;
	start("virgo0", "virgo0-memory");
	base = map_memory(&size);
	base[64] = 1;
	guest_set_register(&vfio_guest, VIRGO_PAGE_CONTROL, participants, 8, 7);
	guest_store(&memory, MIMICD_VFIO_REGION_CONFIG, 0x04, 2, 2);
	assert_int_equal(guest_ask(&memory, MIMICD_VFIO_RESET, NULL, 0, NULL, 0, NULL, NULL, NULL), 0);
	assert_int_equal(memory_config(0x04, 2), 0);
	assert_int_equal(base[64], 1);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, participants, 8), 7);
	munmap(base, size);
}

/* --- hostile ------------------------------------------------------------------------------ */

static void interrupts_and_regions_that_it_lacks_are_refused(void **state)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = MIMICD_VFIO_SET_DATA_EVENTFD | MIMICD_VFIO_SET_ACTION_TRIGGER,
		.index = MIMICD_VFIO_MSIX, .count = 1,
	};
	const struct mimicd_vfio_region_access beyond[] = {
		{ .offset = MIMIC_PCI_PAGE_SIZE, .region = MIMIC_PCI_BAR_REGISTERS, .count = 8 },
		{ .offset = 0, .region = MIMIC_PCI_BAR_MSIX, .count = 8 },
		{ .offset = 0, .region = MIMIC_PCI_BAR_RINGS, .count = 8 },
		{ .offset = ~0ull, .region = MIMIC_PCI_BAR_MEMORY, .count = 8 },
	};

	(void)state;
	start("virgo0", "virgo0-memory");
	assert_int_equal(guest_ask(&memory, MIMICD_VFIO_SET_IRQS, &set, sizeof(set), &memory.ram_fd, 1, NULL,
				   NULL, NULL), EINVAL);
	for (unsigned int i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		assert_int_equal(guest_ask(&memory, MIMICD_VFIO_REGION_READ, &beyond[i], sizeof(beyond[i]), NULL,
					   0, NULL, NULL, NULL), EINVAL);
}

static void nonsense_ends_its_connection_only(void **state)
{
	const struct mimicd_vfio_header header = { .command = MIMICD_VFIO_GET_INFO, .size = 1 };

	(void)state;
	start("virgo0", "virgo0-memory");
	assert_true(guest_send(&memory, &header, sizeof(header), NULL, 0));
	assert_true(guest_is_cut_off(&memory));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
}

static void it_keeps_no_descriptor_of_the_machine(void **state)
{
	int before;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	before = served_descriptors(&vfio_served);
	for (unsigned int i = 0; i < 3; i++) {
		guest_start(&memory, &vfio_served, "virgo0-memory");
		for (uint64_t address = 0; address < 50; address++)
			assert_int_equal(guest_map(&memory, memory.ram_fd, 0, address << 20, 4096), 0);
		/* The connection itself. */
		assert_int_equal(served_await_descriptors(&vfio_served, before + 1), before + 1);
		guest_end(&memory);
		assert_int_equal(served_await_descriptors(&vfio_served, before), before);
	}
}

static void a_device_without_memory_or_lanes_is_not_split(void **state)
{
	struct served other = { .vfio = { "maple0,split" } };

	(void)state;
	assert_false(served_start(&other, 1, false));
	assert_true(served_said(&other, "it has neither memory nor ,rings"));
	served_end(&other, SIGTERM);
	served_clean(&other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, end)
	const struct CMUnitTest tests[] = {
		TEST(no_region_of_the_registers_is_mapped),
		TEST(memory_is_a_function_of_its_own_number_and_class),
		TEST(its_first_page_names_the_registers),
		TEST(a_pair_has_a_number_that_no_other_has),
		TEST(its_bytes_are_those_that_the_device_has),
		TEST(lanes_are_there),
		TEST(registers_are_connected_first),
		TEST(another_process_does_not_get_it),
		TEST(one_machine_has_it_once),
		TEST(it_ends_with_the_registers),
		TEST(registers_go_on_without_it),
		TEST(a_reset_of_the_registers_empties_it),
		TEST(its_own_reset_changes_no_byte_of_it),
		TEST(interrupts_and_regions_that_it_lacks_are_refused),
		TEST(nonsense_ends_its_connection_only),
		TEST(it_keeps_no_descriptor_of_the_machine),
		TEST(a_device_without_memory_or_lanes_is_not_split),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
