/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device in a virtual machine reaches the machine's memory: by physical addresses, by page tables, not at all. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_virgo.h"

/* Where data lies in the guest: behind all tables. */
#define DATA (GUEST_RAM + 0x200000)
#define OTHER (GUEST_RAM + 0x300000)
/* An address of a process. */
#define VIRTUAL 0x7f1234567000ull
#define ACCESSED 0x20u
#define DIRTY 0x40u

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0";
	vfio_served.vfio[1] = "dare0";
	vfio_served.vfio[2] = "virgo0";
	return served_start(&vfio_served, 1, false) ? 0 : -1;
}

/* --- MAPLE ----------------------------------------------------------------------------- */

static uint64_t maple_load(unsigned int operation, unsigned int field, unsigned int size)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), size);
}

static void start_maple(void)
{
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	maple_load(MAPLE_LOAD_RESET, 0, 4);
	maple_load(MAPLE_LOAD_INIT, 2, 4);
	assert_true(maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0, 4) & 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0, 4) & 1);
}

/* The device fetches the word at an address into queue 0. */
static void fetch(uint64_t address)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, address);
}

static uint32_t consume(void)
{
	return (uint32_t)maple_load(MAPLE_LOAD_CONSUME, 0, 4);
}

static void set_mode(unsigned int space, uint64_t mode)
{
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(space) + MIMIC_PCI_SPACE_MODE, mode);
}

static uint64_t fault_status(void)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0), 8);
}

static void resolve(uint64_t value)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE), 8, value);
}

static void flush(void)
{
	guest_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH), 4);
}

static void physical_addresses_are_those_of_the_bus(void **state)
{
	(void)state;
	start_maple();
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	*guest_word(&vfio_guest, DATA) = 0x1122334455667788;
	fetch(DATA + 4);
	assert_int_equal(consume(), 0x11223344);
}

static void addresses_of_a_process_are_walked(void **state)
{
	uint64_t *entry;

	(void)state;
	start_maple();
	entry = guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	*guest_word(&vfio_guest, DATA + 8) = 4711;
	fetch(VIRTUAL + 8);
	assert_int_equal(consume(), 4711);
	assert_int_equal(*entry, DATA | GUEST_PAGE_PRESENT | ACCESSED);
}

static void a_prefetch_changes_nothing(void **state)
{
	(void)state;
	start_maple();
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	*guest_word(&vfio_guest, DATA) = 4711;
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_PREFETCH, 0), 8, DATA);
	fetch(DATA);
	assert_int_equal(consume(), 4711);
}

static void a_page_that_is_not_there_is_a_fault_of_the_driver(void **state)
{
	uint64_t word;

	(void)state;
	start_maple();
	guest_use_tables(&vfio_guest, 1);
	fetch(VIRTUAL + 8);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_STATUS), MIMIC_PCI_STATUS_DEVICE);
	guest_set_bus(&vfio_guest, MIMIC_PCI_STATUS, MIMIC_PCI_STATUS_DEVICE);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_STATUS), 0);
	word = fault_status();
	assert_int_equal(word & ~0xfffull, VIRTUAL);
	assert_true(word & MAPLE_FAULT_STALLED);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	*guest_word(&vfio_guest, DATA + 8) = 815;
	resolve((word & MAPLE_FAULT_PIPES) | MAPLE_RESOLVE_PRESENT);
	assert_int_equal(consume(), 815);
}

/* The driver's accesses come behind the program's stores. */
static void stores_behind_a_page_fault_wait_for_the_driver(void **state)
{
	uint64_t word;

	(void)state;
	start_maple();
	guest_use_tables(&vfio_guest, 1);
	for (unsigned int i = 0; i < 20; i++)
		guest_post(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) +
			   MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, VIRTUAL + 8 * i);
	word = fault_status();
	assert_true(word & MAPLE_FAULT_STALLED);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	for (unsigned int i = 0; i < 20; i++)
		*guest_word(&vfio_guest, DATA + 8 * i) = 100 + i;
	resolve((word & MAPLE_FAULT_PIPES) | MAPLE_RESOLVE_PRESENT);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(consume(), 100 + i);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
}

static void a_bad_address_reads_0_when_the_driver_says_so(void **state)
{
	uint64_t word;

	(void)state;
	start_maple();
	guest_use_tables(&vfio_guest, 1);
	fetch(VIRTUAL);
	word = fault_status();
	resolve(word & MAPLE_FAULT_PIPES);
	assert_int_equal(consume(), 0);
	assert_int_equal(maple_load(MAPLE_LOAD_FAULT_COUNT, 0, 8), 1);
}

static void without_a_space_nothing_is_reached(void **state)
{
	(void)state;
	start_maple();
	*guest_word(&vfio_guest, DATA) = 1;
	fetch(DATA);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	assert_int_equal(fault_status() & ~0xfffull, DATA);
}

static void a_translation_lives_until_the_driver_flushes(void **state)
{
	uint64_t *entry;

	(void)state;
	start_maple();
	*guest_word(&vfio_guest, DATA) = 1;
	*guest_word(&vfio_guest, OTHER) = 2;
	entry = guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	fetch(VIRTUAL);
	assert_int_equal(consume(), 1);
	*entry = OTHER | GUEST_PAGE_PRESENT;
	fetch(VIRTUAL);
	assert_int_equal(consume(), 1);	/* a driver that forgets the flush finds out */
	flush();
	fetch(VIRTUAL);
	assert_int_equal(consume(), 2);
}

static void memory_that_the_machine_takes_away_is_not_reached_any_more(void **state)
{
	(void)state;
	start_maple();
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	*guest_word(&vfio_guest, DATA) = 77;
	fetch(DATA);
	assert_int_equal(consume(), 77);
	/* Its translation is known, and no flush comes: the reply to the unmap ends all use. */
	assert_int_equal(guest_unmap(&vfio_guest, GUEST_RAM, GUEST_RAM_SIZE), 0);
	fetch(DATA);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, 0, GUEST_RAM, GUEST_RAM_SIZE), 0);
	resolve((fault_status() & MAPLE_FAULT_PIPES) | MAPLE_RESOLVE_PRESENT);
	assert_int_equal(consume(), 77);
}

static void memory_lies_where_the_machine_says(void **state)
{
	(void)state;
	start_maple();
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	/* The second half of the file at another address, as x86 has memory above 4 GB. */
	*guest_word(&vfio_guest, GUEST_RAM + GUEST_RAM_SIZE / 2) = 31;
	assert_int_equal(guest_map(&vfio_guest, vfio_guest.ram_fd, GUEST_RAM_SIZE / 2, 0x100000000, 0x100000), 0);
	fetch(0x100000000);
	assert_int_equal(consume(), 31);
}

static bool is_logged(const char *text)
{
	char line[512];
	FILE *log = fopen(vfio_served.log, "r");
	bool found = false;

	while (log && !found && fgets(line, sizeof(line), log))
		found = strstr(line, text);
	if (log)
		fclose(log);
	return found;
}

static void memory_that_is_not_shared_is_said_aloud(void **state)
{
	(void)state;
	start_maple();
	assert_int_equal(guest_map(&vfio_guest, -1, 0, 0x100000000, 0x100000), 0);
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	fetch(0x100000000);
	assert_true(is_logged("memory-backend-memfd"));
}

/* --- DARE: stores, and one space for each context ----------------------------------------- */

static void dare_set(unsigned int context, unsigned int offset, uint64_t value)
{
	guest_set_register(&vfio_guest, 1 + context, offset, 8, value);
}

/* mld.b or mst.b of register 0, 16 rows of 64 bytes. */
static void dare_move(unsigned int context, uint32_t word, uint64_t address)
{
	dare_set(context, DARE_RS1, address);
	dare_set(context, DARE_RS2, 64);
	dare_set(context, DARE_INSTRUCTION, word);
}

#define LOAD_WORD 0x0400002bu
#define STORE_WORD 0x0c00002bu

static void attach(unsigned int context, unsigned int space)
{
	guest_use_tables(&vfio_guest, space);
	guest_set_register(&vfio_guest, 0, DARE_CONTROL_ATTACH, 8, (uint64_t)space << 8 | context);
}

static void a_store_makes_its_page_dirty(void **state)
{
	uint64_t *from, *to;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	from = guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	to = guest_map_page(&vfio_guest, VIRTUAL + 4096, OTHER, GUEST_PAGE_PRESENT);
	attach(0, 3);
	for (unsigned int i = 0; i < 1024; i++)
		((char *)guest_word(&vfio_guest, DATA))[i] = (char)(i * 7);
	dare_move(0, LOAD_WORD, VIRTUAL);
	dare_move(0, STORE_WORD, VIRTUAL + 4096);
	guest_register(&vfio_guest, 1, DARE_FENCE, 8);
	assert_int_equal(guest_register(&vfio_guest, 1, DARE_ERROR, 8), 0);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA), 1024);
	assert_int_equal(*from & (ACCESSED | DIRTY), ACCESSED);
	assert_int_equal(*to & (ACCESSED | DIRTY), ACCESSED | DIRTY);
}

static void a_page_that_must_not_be_written_is_not(void **state)
{
	uint64_t word;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT & ~2ull);
	attach(0, 1);
	strcpy((char *)guest_word(&vfio_guest, DATA), "untouched");
	/* The load leaves a translation that only loads may use. */
	dare_move(0, LOAD_WORD, VIRTUAL + 1024);
	dare_move(0, STORE_WORD, VIRTUAL);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	word = guest_register(&vfio_guest, 0, DARE_CONTROL_FAULT_STATUS, 8);
	assert_int_equal(word & ~0xfffull, VIRTUAL);
	assert_true(word & 1u << 10);
	assert_string_equal((char *)guest_word(&vfio_guest, DATA), "untouched");
}

static void each_context_reaches_its_own_space(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	attach(0, 1);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(2) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_PHYSICAL);
	guest_set_register(&vfio_guest, 0, DARE_CONTROL_ATTACH, 8, 2 << 8 | 1);
	memset(guest_word(&vfio_guest, DATA), 5, 1024);
	dare_move(0, LOAD_WORD, VIRTUAL);
	dare_move(0, STORE_WORD, VIRTUAL + 1024);
	dare_move(1, LOAD_WORD, DATA);
	dare_move(1, STORE_WORD, OTHER);
	guest_register(&vfio_guest, 1, DARE_FENCE, 8);
	guest_register(&vfio_guest, 2, DARE_FENCE, 8);
	assert_memory_equal(guest_word(&vfio_guest, DATA + 1024), guest_word(&vfio_guest, DATA), 1024);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA), 1024);
}

static void a_space_that_is_closed_takes_its_contexts_along(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	attach(0, 1);
	dare_set(0, DARE_RS1, 9);
	set_mode(1, MIMIC_PCI_MODE_NONE);
	assert_int_equal(guest_register(&vfio_guest, 1, DARE_RS1, 8), 0);
}

/* --- Virgo: jobs beside the loop ----------------------------------------------------------- */

static void begin_virgo(void)
{
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	guest_virgo_configure(&vfio_guest);
	for (unsigned int i = 0; i < VIRGO_BYTES / 4; i++)
		((float *)guest_word(&vfio_guest, DATA))[i] = (float)i + 0.5f;
}

static void a_cluster_moves_rows_of_a_process(void **state)
{
	uint64_t *to;

	(void)state;
	begin_virgo();
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	to = guest_map_page(&vfio_guest, VIRTUAL + 4096, OTHER, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, VIRTUAL, guest_virgo_rows_at(0));
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, VIRTUAL + 4096, guest_virgo_rows_at(0));
	guest_virgo_wait(&vfio_guest);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_ERROR, 8), 0);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA), VIRGO_BYTES);
	assert_true(*to & DIRTY);
}

/* The queue has room for a few: the machine waits for a store only as long as the one before it waits. */
static void commands_are_taken_as_fast_as_the_cluster_does_them(void **state)
{
	(void)state;
	begin_virgo();
	guest_set_bus(&vfio_guest, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_PHYSICAL);
	for (unsigned int i = 0; i < 300; i++)
		guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, DATA, guest_virgo_rows_at(0));
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, OTHER, guest_virgo_rows_at(0));
	guest_virgo_wait(&vfio_guest);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_DISPATCHED, 8), 303);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA), VIRGO_BYTES);
}

/* The queue has 16 entries. */
static void a_load_comes_behind_commands_that_wait(void **state)
{
	uint64_t word;

	(void)state;
	begin_virgo();
	guest_use_tables(&vfio_guest, 1);
	for (unsigned int i = 0; i < 40; i++)
		guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, VIRTUAL, guest_virgo_rows_at(0));
	assert_true(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_DISPATCHED, 8) == UINT64_MAX);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 1);
	word = guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS, 8);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_set_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, (word & 0xff) | VIRGO_RESOLVE_PRESENT);
	guest_virgo_wait(&vfio_guest);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_DISPATCHED, 8), 42);
}

/* More than the unit has room for: it waits for a page that is not there. */
static void post_commands_that_wait(void)
{
	for (unsigned int i = 0; i < 40; i++)
		guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, VIRTUAL, guest_virgo_rows_at(0));
}

static void a_reset_of_a_unit_drops_its_commands_that_wait(void **state)
{
	(void)state;
	begin_virgo();
	guest_use_tables(&vfio_guest, 1);
	post_commands_that_wait();
	guest_post(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(VIRGO_PAGE_UNITS) + VIRGO_RESET, 8, 0);
	guest_virgo_wait(&vfio_guest);
	assert_true(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_DISPATCHED, 8) < 42);
	set_mode(1, MIMIC_PCI_MODE_PHYSICAL);
	guest_virgo_configure(&vfio_guest);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, DATA, guest_virgo_rows_at(0));
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, OTHER, guest_virgo_rows_at(0));
	guest_virgo_wait(&vfio_guest);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA), VIRGO_BYTES);
}

static void command_unit_1(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	const unsigned int page = MIMIC_PCI_DEVICE_PAGE(VIRGO_PAGE_UNITS);

	guest_post(&vfio_guest, 0, page + VIRGO_UNIT_OFFSET(1, RS1), 8, rs1);
	guest_post(&vfio_guest, 0, page + VIRGO_UNIT_OFFSET(1, RS2), 8, rs2);
	guest_post(&vfio_guest, 0, page + VIRGO_UNIT_OFFSET(1, INSTRUCTION), 4, VIRGO_INSTRUCTION_WORD(funct));
}

static void a_reset_of_a_unit_keeps_commands_of_another_one_that_wait(void **state)
{
	const uint64_t one_row = 1ull << 48 | 1ull << 32;
	uint64_t word;

	(void)state;
	begin_virgo();
	guest_use_tables(&vfio_guest, 1);
	for (unsigned int i = 0; i < 40; i++)
		command_unit_1(VIRGO_FUNCT_MVIN, VIRTUAL, one_row);
	guest_post(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(VIRGO_PAGE_UNITS) + VIRGO_RESET, 8, 0);
	word = guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS, 8);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_set_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, (word & 0xff) | VIRGO_RESOLVE_PRESENT);
	for (unsigned int i = 0; i < 10000 &&
	     guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(1, DISPATCHED), 8) != 40; i++)
		usleep(1000);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(1, DISPATCHED), 8), 40);
}

/* Its commands would write to the memory of the program that has the device next. */
static void commands_that_wait_end_with_their_program(void **state)
{
	uint64_t word;

	(void)state;
	begin_virgo();
	guest_map_page(&vfio_guest, VIRTUAL + 4096, OTHER, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	post_commands_that_wait();
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, VIRTUAL + 4096, guest_virgo_rows_at(0));
	set_mode(1, MIMIC_PCI_MODE_NONE);
	memset(guest_word(&vfio_guest, OTHER), 0xee, VIRGO_BYTES);
	word = guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS, 8);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	guest_set_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, (word & 0xff) | VIRGO_RESOLVE_PRESENT);
	guest_virgo_wait(&vfio_guest);
	assert_int_equal(*guest_word(&vfio_guest, OTHER), 0xeeeeeeeeeeeeeeee);
}

static void a_page_that_a_cluster_misses_is_a_fault_of_the_driver(void **state)
{
	uint64_t word;

	(void)state;
	begin_virgo();
	guest_use_tables(&vfio_guest, 1);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVIN, VIRTUAL, guest_virgo_rows_at(0));
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	word = guest_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS, 8);
	assert_int_equal(word & ~0xfffull, VIRTUAL);
	assert_true(word & VIRGO_FAULT_STALLED);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_set_register(&vfio_guest, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, (word & 0xff) | VIRGO_RESOLVE_PRESENT);
	guest_virgo_command(&vfio_guest, VIRGO_FUNCT_MVOUT, VIRTUAL + 1024, guest_virgo_rows_at(0));
	guest_virgo_wait(&vfio_guest);
	assert_memory_equal(guest_word(&vfio_guest, DATA + 1024), guest_word(&vfio_guest, DATA), VIRGO_BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, vfio_fixture_end_guest)
	const struct CMUnitTest tests[] = {
		TEST(physical_addresses_are_those_of_the_bus),
		TEST(addresses_of_a_process_are_walked),
		TEST(a_prefetch_changes_nothing),
		TEST(a_page_that_is_not_there_is_a_fault_of_the_driver),
		TEST(stores_behind_a_page_fault_wait_for_the_driver),
		TEST(a_bad_address_reads_0_when_the_driver_says_so),
		TEST(without_a_space_nothing_is_reached),
		TEST(a_translation_lives_until_the_driver_flushes),
		TEST(memory_that_the_machine_takes_away_is_not_reached_any_more),
		TEST(memory_lies_where_the_machine_says),
		TEST(memory_that_is_not_shared_is_said_aloud),
		TEST(a_store_makes_its_page_dirty),
		TEST(a_page_that_must_not_be_written_is_not),
		TEST(each_context_reaches_its_own_space),
		TEST(a_space_that_is_closed_takes_its_contexts_along),
		TEST(a_cluster_moves_rows_of_a_process),
		TEST(commands_are_taken_as_fast_as_the_cluster_does_them),
		TEST(a_load_comes_behind_commands_that_wait),
		TEST(a_reset_of_a_unit_drops_its_commands_that_wait),
		TEST(a_reset_of_a_unit_keeps_commands_of_another_one_that_wait),
		TEST(commands_that_wait_end_with_their_program),
		TEST(a_page_that_a_cluster_misses_is_a_fault_of_the_driver),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
