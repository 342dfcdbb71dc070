/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Accesses that would wait in a device: a machine stands still while a load of one of its processors
 * waits, so none waits long; longer waits use slots.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_fixture.h"

#define CONSUME MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0)
#define PRODUCE MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0)

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0";
	vfio_served.vfio[1] = "virgo0";
	return served_start(&vfio_served, 1, false) ? 0 : -1;
}

static uint64_t maple_load(unsigned int operation, unsigned int field)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), 4);
}

static void produce(uint32_t value)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, value);
}

/* Queue 0 has 32 words. */
static void start_maple(void)
{
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	maple_load(MAPLE_LOAD_RESET, 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- loads and stores of registers ------------------------------------------------------- */

static void a_load_that_would_wait_is_answered_with_all_ones(void **state)
{
	double begun;

	(void)state;
	start_maple();
	begun = now();
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 0xffffffff);
	assert_true(now() - begun < 1.0);	/* a millisecond, on a machine that has other work */
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 1);
	/* It took nothing with it. */
	produce(5);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 5);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 1);
}

static void a_store_that_the_device_cannot_take_yet_waits_there(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 33; i++)
		produce(i);	/* the last finds the queue full */
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
	for (uint32_t i = 0; i < 33; i++)
		assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), i);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
}

static void stores_behind_one_that_waits_wait_in_their_order(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 50; i++)
		produce(i);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), i);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
}

/* 32 words in the queue, a store that waits in the device, 1,024 behind it. */
static void a_store_behind_too_many_is_dropped_and_counted(void **state)
{
	const uint32_t most = 32 + 1 + 1024;

	(void)state;
	start_maple();
	for (uint32_t i = 0; i < most; i++)
		produce(i);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 0);
	produce(most);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), 1);
	for (uint32_t i = 0; i < most; i++)
		assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), i);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 0xffffffff);
}

static void a_reset_drops_stores_that_wait(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 50; i++)
		produce(i);
	maple_load(MAPLE_LOAD_RESET, 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	produce(4711);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 4711);
}

static void posted_stores_and_a_load_behind_them_keep_their_order(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 20; i++)
		guest_post(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) + MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4,
			   100 + i);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 100 + i);
}

/* It has left stores that nobody has read: they are no reason to refuse the next machine. */
static void a_machine_that_goes_with_stores_under_way_is_followed_at_once(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 300; i++)
		guest_post(&vfio_guest, 0, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) + PRODUCE, 4, i);
	guest_end(&vfio_guest);
	start_maple();
	produce(4711);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 4711);
}

/* --- slots ------------------------------------------------------------------------------- */

static void begin(unsigned int slot, unsigned int page, unsigned int offset, unsigned int size, bool is_store,
		  uint64_t value)
{
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(slot) + MIMIC_PCI_SLOT_DATA, value);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(slot) + MIMIC_PCI_SLOT_ACCESS,
		      MIMIC_PCI_ACCESS(offset, page, size, is_store));
}

static uint64_t state_of(unsigned int slot)
{
	return guest_bus(&vfio_guest, MIMIC_PCI_SLOT(slot) + MIMIC_PCI_SLOT_STATE);
}

static uint64_t data_of(unsigned int slot)
{
	return guest_bus(&vfio_guest, MIMIC_PCI_SLOT(slot) + MIMIC_PCI_SLOT_DATA);
}

/* A slot is a thread: it has the roles that it takes. */
static void consume_by(unsigned int slot)
{
	maple_load(MAPLE_LOAD_CLOSE_CONSUMER, 0);
	begin(slot, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 0), 4, false, 0);
	assert_true(data_of(slot) & 1);
	begin(slot, MAPLE_PAGE_MAPLE, CONSUME, 4, false, 0);
}

static void produce_by(unsigned int slot)
{
	maple_load(MAPLE_LOAD_CLOSE_PRODUCER, 0);
	begin(slot, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), 4, false, 0);
	assert_true(data_of(slot) & 2);
}

static void a_slots_access_that_need_not_wait_is_done_at_once(void **state)
{
	(void)state;
	start_maple();
	assert_int_equal(state_of(3), MIMIC_PCI_SLOT_IDLE);
	produce_by(3);
	begin(3, MAPLE_PAGE_MAPLE, PRODUCE, 4, true, 0x77);
	assert_int_equal(state_of(3), MIMIC_PCI_SLOT_DONE);
	consume_by(3);
	assert_int_equal(state_of(3), MIMIC_PCI_SLOT_DONE);
	assert_int_equal(data_of(3), 0x77);
	/* Nobody has waited, so there is no interrupt. */
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_DONE), 0);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 0), 0);
}

static void a_slot_that_waited_tells_by_its_interrupt(void **state)
{
	(void)state;
	start_maple();
	consume_by(63);
	assert_int_equal(state_of(63), MIMIC_PCI_SLOT_WAITS);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 20), 0);
	produce(0x1234);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 5000), 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_STATUS), MIMIC_PCI_STATUS_SLOTS);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_DONE), 1ull << 63);
	guest_set_bus(&vfio_guest, MIMIC_PCI_DONE, 1ull << 63);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_DONE), 0);
	assert_int_equal(state_of(63), MIMIC_PCI_SLOT_DONE);
	assert_int_equal(data_of(63), 0x1234);
}

static void a_slot_that_waits_can_be_taken_back(void **state)
{
	(void)state;
	start_maple();
	consume_by(0);
	assert_int_equal(state_of(0), MIMIC_PCI_SLOT_WAITS);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_STATE, 0);
	assert_int_equal(state_of(0), MIMIC_PCI_SLOT_IDLE);
	produce(9);
	begin(0, MAPLE_PAGE_MAPLE, CONSUME, 4, false, 0);
	assert_int_equal(data_of(0), 9);
}

static void a_reset_by_a_slot_drops_stores_that_wait(void **state)
{
	(void)state;
	start_maple();
	for (uint32_t i = 0; i < 50; i++)
		produce(i);
	begin(0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_RESET, 0), 4, false, 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	produce(4711);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 4711);
}

static void a_slot_that_waits_takes_nothing_else(void **state)
{
	(void)state;
	start_maple();
	consume_by(0);
	begin(0, MAPLE_PAGE_MAPLE, PRODUCE, 4, true, 1);
	assert_int_equal(state_of(0), MIMIC_PCI_SLOT_WAITS);
	produce(2);
	assert_int_equal(data_of(0), 2);
}

static void slots_are_begun_by_halves_of_4_bytes_too(void **state)
{
	(void)state;
	start_maple();
	produce_by(7);
	guest_store(&vfio_guest, 0, MIMIC_PCI_SLOT(7) + MIMIC_PCI_SLOT_DATA, 4, 0x89abcdef);
	guest_store(&vfio_guest, 0, MIMIC_PCI_SLOT(7) + MIMIC_PCI_SLOT_DATA + 4, 4, 0x01234567);
	guest_store(&vfio_guest, 0, MIMIC_PCI_SLOT(7) + MIMIC_PCI_SLOT_ACCESS, 4,
		    MIMIC_PCI_ACCESS(PRODUCE, MAPLE_PAGE_MAPLE, 8, true));
	assert_int_equal(guest_load(&vfio_guest, 0, MIMIC_PCI_SLOT(7) + MIMIC_PCI_SLOT_STATE, 4), MIMIC_PCI_SLOT_DONE);
	assert_int_equal(guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, CONSUME, 8), 0x0123456789abcdef);
}

static void an_access_that_no_device_has_is_refused(void **state)
{
	static const uint64_t bad[] = {
		MIMIC_PCI_ACCESS(0, 5, 4, false),	/* MAPLE has five pages */
		MIMIC_PCI_ACCESS(0, 0xfff, 4, false),
		MIMIC_PCI_ACCESS(0, 0, 3, false),
		MIMIC_PCI_ACCESS(0xffe, 0, 4, false),
	};

	(void)state;
	start_maple();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_ACCESS, bad[i]);
		assert_int_equal(state_of(0), MIMIC_PCI_SLOT_REFUSED);
	}
}

static void slots_meet_at_a_barrier(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	guest_take_interrupts(&vfio_guest, MIMICD_VFIO_MSIX);
	guest_set_register(&vfio_guest, 0, VIRGO_BARRIER_PARTICIPANTS(1), 8, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_DONE), 0);
		begin(10 + i, 0, VIRGO_BARRIER_WAIT(1), 8, false, 0);
	}
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_DONE), 3 << 10);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(state_of(10 + i), MIMIC_PCI_SLOT_DONE);
}

static void a_machine_that_goes_while_it_waits_leaves_nothing_behind(void **state)
{
	(void)state;
	start_maple();
	consume_by(0);
	guest_end(&vfio_guest);
	start_maple();
	assert_int_equal(state_of(0), MIMIC_PCI_SLOT_IDLE);
	produce(3);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, vfio_fixture_end_guest)
	const struct CMUnitTest tests[] = {
		TEST(a_load_that_would_wait_is_answered_with_all_ones),
		TEST(a_store_that_the_device_cannot_take_yet_waits_there),
		TEST(stores_behind_one_that_waits_wait_in_their_order),
		TEST(a_store_behind_too_many_is_dropped_and_counted),
		TEST(a_reset_drops_stores_that_wait),
		TEST(a_machine_that_goes_with_stores_under_way_is_followed_at_once),
		TEST(posted_stores_and_a_load_behind_them_keep_their_order),
		TEST(a_slots_access_that_need_not_wait_is_done_at_once),
		TEST(a_slot_that_waited_tells_by_its_interrupt),
		TEST(a_slot_that_waits_can_be_taken_back),
		TEST(a_reset_by_a_slot_drops_stores_that_wait),
		TEST(a_slot_that_waits_takes_nothing_else),
		TEST(slots_are_begun_by_halves_of_4_bytes_too),
		TEST(an_access_that_no_device_has_is_refused),
		TEST(slots_meet_at_a_barrier),
		TEST(a_machine_that_goes_while_it_waits_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
