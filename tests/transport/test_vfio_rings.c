/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Lanes in a BAR: a program of the machine gives commands in memory, with the same meaning as at mimicd's
 * socket, and no other program can reach its lanes.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_lanes.h"

#define VIRTUAL 0x123456789000ull
#define DATA (GUEST_RAM + 0x200000)
#define OTHER (GUEST_RAM + 0x201000)

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0,rings";
	vfio_served.vfio[1] = "dare0,msi,rings";
	vfio_served.vfio[2] = "virgo0,rings";
	return served_start(&vfio_served, 1, false) ? 0 : -1;
}

static uint64_t maple_load(struct raw_lane *lane, unsigned int operation, unsigned int field)
{
	return lane_load(&vfio_guest, lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), 4);
}

static void produce(struct raw_lane *lane, uint32_t value)
{
	lane_store(&vfio_guest, lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, value);
}

static void begin_consume(struct raw_lane *lane)
{
	const uint64_t word = lane_word(MIMIC_COMMAND_LOAD, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), 4, 1);

	lane_post(&vfio_guest, lane, &word, 1);
}

/* A program of one thread has both ends of queue 0. */
static struct raw_lane start_maple(void)
{
	struct raw_lane lane;

	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	lane = lane_open(&vfio_guest, 0, 1, 1);
	maple_load(&lane, MAPLE_LOAD_RESET, 0);
	maple_load(&lane, MAPLE_LOAD_INIT, 2);
	assert_true(maple_load(&lane, MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	assert_true(maple_load(&lane, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	return lane;
}

/* Two lanes of the thread that has both ends of the queue: 0, and 9 for a signal handler. */
static void start_maple_lanes(struct raw_lane *first, struct raw_lane *second)
{
	*first = start_maple();
	assert_int_equal(lane_try(&vfio_guest, 9, 1, 1, 1), MIMIC_PCI_LANE_IS_OPEN);
	*second = lane_at(&vfio_guest, 9);
}

/* --- the BAR ------------------------------------------------------------------------------- */

static void the_bus_page_says_where_lanes_are(void **state)
{
	uint64_t layout;

	(void)state;
	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LAYOUT) >> 32 & 0xff, MIMIC_PCI_LANES);
	layout = guest_bus(&vfio_guest, MIMIC_PCI_LANE_LAYOUT);
	assert_int_equal((layout & 0xffff) * 4096, mimic_lane_size(layout >> 16 & 0xffff, layout >> 32 & 0xffff));
	assert_true(MIMIC_PCI_LANES * (layout & 0xffff) * 4096 <= vfio_guest.rings_size);
	assert_true((layout >> 16 & 0xffff) >= MIMIC_LANE_WORDS_MIN);
	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++)
		assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANE(i)), 0);
}

static void a_machine_that_does_not_map_it_loads_and_stores(void **state)
{
	(void)state;
	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	guest_store(&vfio_guest, MIMIC_PCI_BAR_RINGS, 0x5008, 8, 0x1122334455667788);
	assert_int_equal(*(uint64_t *)(void *)(vfio_guest.rings + 0x5008), 0x1122334455667788);
	assert_int_equal(guest_load(&vfio_guest, MIMIC_PCI_BAR_RINGS, 0x5008, 4), 0x55667788);
}

/* --- commands -------------------------------------------------------------------------------- */

static void commands_are_done_without_a_trap(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	assert_int_equal(lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32,
			 MAPLE_IDENTIFY_MAGIC);
	for (uint32_t i = 0; i < 20; i++)
		produce(&lane, 100 + i);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 100 + i);
}

static void many_words_are_one_command(void **state)
{
	uint64_t words[1 + 3000];
	const uint64_t consume = lane_word(MIMIC_COMMAND_LOAD, 0, MAPLE_PAGE_MAPLE,
					 MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), 4, 1000);
	struct raw_lane lane, consumer;

	(void)state;
	lane = start_maple();
	assert_true(maple_load(&lane, MAPLE_LOAD_CLOSE_CONSUMER, 0) & 1);
	consumer = lane_open(&vfio_guest, 63, 1, 9);
	assert_true(maple_load(&consumer, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	words[0] = lane_word(MIMIC_COMMAND_STORE, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, 3000);
	for (unsigned int i = 0; i < 3000; i++)
		words[1 + i] = i * 7;
	/* The queue has 32 words, the ring more: the rest waits in the device. */
	lane_post(&vfio_guest, &lane, words, 3001);
	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t answer;

		if (i % 1000 == 0)
			lane_post(&vfio_guest, &consumer, &consume, 1);
		assert_true(raw_answer(&consumer, &answer));
		assert_int_equal(answer, i * 7);
	}
}

static void memory_is_that_of_the_lanes_space(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	*guest_word(&vfio_guest, DATA + 8) = 4711;
	lane_store(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, VIRTUAL + 8);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 4711);
}

static void a_flush_by_a_lane_drops_translations(void **state)
{
	struct raw_lane lane;
	uint64_t *entry;

	(void)state;
	lane = start_maple();
	entry = guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	*guest_word(&vfio_guest, DATA) = 1;
	*guest_word(&vfio_guest, OTHER) = 2;
	for (unsigned int i = 0; i < 3; i++) {
		if (i == 1)
			*entry = OTHER | GUEST_PAGE_PRESENT;
		if (i == 2)
			lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH), 4);
		lane_store(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, VIRTUAL);
		assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), i == 2 ? 2 : 1);
	}
}

static void a_fault_of_a_lanes_command_is_the_drivers(void **state)
{
	struct raw_lane lane;
	uint64_t word;

	(void)state;
	lane = start_maple();
	guest_use_tables(&vfio_guest, 1);
	lane_store(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, VIRTUAL);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	word = guest_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0), 8);
	assert_int_equal(word & ~0xfffull, VIRTUAL);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	*guest_word(&vfio_guest, DATA) = 815;
	guest_set_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE), 8,
			   (word & MAPLE_FAULT_PIPES) | MAPLE_RESOLVE_PRESENT);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 815);
}

static void a_cluster_is_used_by_its_lanes(void **state)
{
	struct raw_lane lane;

	(void)state;
	guest_start_lanes(&vfio_guest, &vfio_served, "virgo0", false);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	lane = lane_open(&vfio_guest, 5, 1, 1);
	lane_store(&vfio_guest, &lane, 0, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(2), 8, 7);
	assert_int_equal(lane_load(&vfio_guest, &lane, 0, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(2), 8), 7);
}

/* --- sleeping ---------------------------------------------------------------------------------- */

/* A program that is woken by an answer that it has taken already looks again, and sleeps again. */
static void sleep_at(struct raw_lane *lane)
{
	for (unsigned int i = 0; i < 3; i++) {
		atomic_store(&lane->memory->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER);
		if (!guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 20))
			return;
		guest_set_bus(&vfio_guest, MIMIC_PCI_LANES_DONE, guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE));
		guest_set_bus(&vfio_guest, MIMIC_PCI_STATUS, MIMIC_PCI_STATUS_LANES);
	}
	fail_msg("it is woken for nothing");
}

static void a_program_that_sleeps_is_woken_by_an_interrupt(void **state)
{
	struct raw_lane consumer, producer;
	uint64_t answer;

	(void)state;
	consumer = start_maple();
	maple_load(&consumer, MAPLE_LOAD_CLOSE_PRODUCER, 0);
	producer = lane_open(&vfio_guest, 7, 1, 2);
	assert_true(maple_load(&producer, MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	begin_consume(&consumer);
	sleep_at(&consumer);
	produce(&producer, 33);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 5000), 1);
	assert_int_equal(*(uint32_t *)(void *)((char *)consumer.memory + MIMIC_PCI_LANE_SLEEPING), 0);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_STATUS), MIMIC_PCI_STATUS_LANES);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE), 1);
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANES_DONE, 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE), 0);
	assert_true(raw_answer(&consumer, &answer));
	assert_int_equal(answer, 33);
}

static void a_daemon_that_sleeps_is_kicked(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	for (unsigned int i = 0; i < 5000 && !atomic_load(&lane.memory->daemon_sleeping); i++)
		test_sleep_ms(1);
	assert_int_equal(atomic_load(&lane.memory->daemon_sleeping), 1);
	produce(&lane, 5);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 5);
	/* Its processors are not the daemon's: their numbers say nothing. */
	assert_int_equal(atomic_load(&lane.memory->daemon_cpu), -1);
}

static const char *ask(struct raw_lane *lane)
{
	struct mimic_lane_note *note = mimic_lane_note(lane->memory, lane->size);

	atomic_store(&note->asked, 1);
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_KICK, 1);
	assert_int_equal(atomic_load(&note->asked), 0);
	return note->text;
}

/* Each program reads of its own lane, and only if it has asked. */
static void a_lane_that_asks_is_told_what_it_waits_for(void **state)
{
	struct raw_lane lane, other;
	const char *text;

	(void)state;
	lane = start_maple();
	other = lane_open(&vfio_guest, 1, 1, 2);
	assert_string_equal(ask(&lane), "");
	begin_consume(&lane);
	do
		text = ask(&lane);
	while (strstr(text, "its turn has not come"));
	assert_string_equal(text, "a load of MAPLE CONSUME [0]: queue 0 is empty, and its producer is this same thread");
	assert_string_equal(mimic_lane_note(other.memory, other.size)->text, "");
}

static void a_command_that_waits_is_taken_back(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	begin_consume(&lane);
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_CANCEL, 0);
	produce(&lane, 8);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 8);
	assert_int_equal(mimic_ring_level(&lane.responses, 1), 0);
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_CANCEL, 1000);
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE_CANCEL, 3);
}

/* --- threads ------------------------------------------------------------------------------------ */

static void roles_are_a_threads(void **state)
{
	struct raw_lane lane, handler, stranger;

	(void)state;
	lane = start_maple();
	assert_int_equal(lane_try(&vfio_guest, 1, 1, 1, 1), MIMIC_PCI_LANE_IS_OPEN);
	handler = lane_at(&vfio_guest, 1);
	stranger = lane_open(&vfio_guest, 2, 1, 2);
	/* A store of a thread without the role has no effect. */
	produce(&stranger, 1);
	produce(&handler, 2);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 2);
	assert_int_equal(maple_load(&stranger, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1, 0);
	/* One of the thread's lanes is not the thread. */
	lane_close(&vfio_guest, 1);
	assert_int_equal(maple_load(&stranger, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1, 0);
	lane_close(&vfio_guest, 0);
	assert_int_equal(lane_state(&vfio_guest, 0), MIMIC_PCI_LANE_IS_CLOSED);
	assert_int_equal(maple_load(&stranger, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1, 1);
}

static void posts_before_the_end_are_done(void **state)
{
	struct raw_lane lane, other;
	uint64_t words[2 * 10];

	(void)state;
	lane = start_maple();
	maple_load(&lane, MAPLE_LOAD_CLOSE_CONSUMER, 0);
	other = lane_open(&vfio_guest, 1, 1, 2);
	assert_true(maple_load(&other, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	for (unsigned int i = 0; i < 10; i++) {
		words[2 * i] = lane_word(MIMIC_COMMAND_STORE, 0, MAPLE_PAGE_MAPLE,
				       MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, 1);
		words[2 * i + 1] = i;
	}
	raw_post(&lane, words, 20);
	lane_close(&vfio_guest, 0);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(maple_load(&other, MAPLE_LOAD_CONSUME, 0), i);
}

static void commands_that_wait_when_a_lane_is_closed_go_on_or_are_dropped(void **state)
{
	struct raw_lane lane, other;
	uint64_t words[1 + 40];

	(void)state;
	lane = start_maple();
	maple_load(&lane, MAPLE_LOAD_CLOSE_CONSUMER, 0);
	other = lane_open(&vfio_guest, 1, 1, 2);
	assert_true(maple_load(&other, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	words[0] = lane_word(MIMIC_COMMAND_STORE, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, 40);
	for (unsigned int i = 0; i < 40; i++)
		words[1 + i] = i;
	lane_post(&vfio_guest, &lane, words, 41);
	lane_close(&vfio_guest, 0);
	assert_int_equal(lane_state(&vfio_guest, 0), MIMIC_PCI_LANE_IS_CLOSING);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(maple_load(&other, MAPLE_LOAD_CONSUME, 0), i);
	assert_int_equal(lane_state(&vfio_guest, 0), MIMIC_PCI_LANE_IS_CLOSING);
	lane_close(&vfio_guest, 0);
	assert_int_equal(lane_state(&vfio_guest, 0), MIMIC_PCI_LANE_IS_CLOSED);
	/* Open again, it begins anew, for another thread. */
	lane = lane_open(&vfio_guest, 0, 1, 3);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1, 0);
}

/* --- permissions --------------------------------------------------------------------------------- */

static void impossible_lanes_are_refused(void **state)
{
	static const unsigned int bad[][3] = { { 1, 0, 0 }, { 1, 1, 8 }, { 0, 1, 0 }, { 65, 1, 0 }, { 2, 1, 0 } };

	(void)state;
	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	assert_int_equal(lane_try(&vfio_guest, 0, 1, 1, 0), MIMIC_PCI_LANE_IS_REFUSED);	/* the space has no mode */
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lane_try(&vfio_guest, 0, bad[i][0], bad[i][1], bad[i][2]), MIMIC_PCI_LANE_IS_REFUSED);
	assert_int_equal(lane_try(&vfio_guest, 0, 1, 255, 7), MIMIC_PCI_LANE_IS_OPEN);
	/* A lane that is open stays as it is. */
	guest_set_bus(&vfio_guest, MIMIC_PCI_LANE(0), MIMIC_PCI_LANE_OPEN(9, 9, 9));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANE(0)) & 0xffffffff, MIMIC_PCI_LANE_OPEN(1, 255, 7));
	lane_close(&vfio_guest, 0);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANE(0)), 0);
}

static void a_space_that_is_closed_takes_its_lanes_along(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	produce(&lane, 1);
	begin_consume(&lane);
	begin_consume(&lane);
	*(uint64_t *)(void *)((char *)lane.memory + 40960) = 0x5ec2e7;
	atomic_store(&lane.memory->client_sleeping, MIMIC_LANE_WAITS_FOR_ROOM);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_NONE);
	assert_int_equal(lane_state(&vfio_guest, 0), MIMIC_PCI_LANE_IS_CLOSED);
	/* The program is woken, and finds that it has no device. */
	assert_int_equal(atomic_load(&lane.memory->client_sleeping), MIMIC_LANE_AWAKE);
	assert_true(mimic_lane_has_lost(lane.memory, 0));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE), 1);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	/* The next one sees nothing of it. */
	lane = lane_open(&vfio_guest, 0, 1, 1);
	assert_int_equal(*(uint64_t *)(void *)((char *)lane.memory + 40960), 0);
	assert_false(mimic_lane_has_lost(lane.memory, 0));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE), 0);
}

static void attach(unsigned int context, unsigned int space)
{
	guest_set_register(&vfio_guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, (uint64_t)space << 8 | context);
}

/* Two programs, with a context each. */
static void start_dare(struct raw_lane lanes[2])
{
	guest_start_lanes(&vfio_guest, &vfio_served, "dare0", true);
	for (unsigned int i = 0; i < 2; i++) {
		guest_set_mode(&vfio_guest, 1 + i, MIMIC_PCI_MODE_PHYSICAL);
		attach(i, 1 + i);
		lanes[i] = lane_open(&vfio_guest, i, 1 + i, 1);
	}
}

static void a_program_has_the_contexts_of_its_space(void **state)
{
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	for (unsigned int i = 0; i < 2; i++)
		lane_store(&vfio_guest, &lanes[i], i, 0, DARE_RS1, 8, 0x100 + i);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(lane_load(&vfio_guest, &lanes[i], i, 0, DARE_RS1, 8), 0x100 + i);
		assert_int_equal(guest_register(&vfio_guest, DARE_PAGE_CONTEXT(i), DARE_RS1, 8), 0x100 + i);
	}
	/* Its page is the context's; of the driver's and the others' there is none. */
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 0, 1, DARE_RS1, 8), 0);
	/* One more, while the lane is open. */
	attach(2, 1);
	lane_store(&vfio_guest, &lanes[0], 2, 0, DARE_RS1, 8, 77);
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 2, 0, DARE_RS1, 8), 77);
	assert_int_equal(guest_register(&vfio_guest, DARE_PAGE_CONTEXT(2), DARE_RS1, 8), 77);
}

static void order_words_name_lanes_by_their_numbers(void **state)
{
	struct raw_lane first, second;
	uint64_t words[4];

	(void)state;
	start_maple_lanes(&first, &second);
	/* The second lane's store comes after one that the first has not posted yet. */
	words[0] = mimic_lane_order_whole(first.number, first.commands.position + 2);
	words[1] = lane_word(MIMIC_COMMAND_STORE, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, 1);
	words[2] = 2;
	lane_post(&vfio_guest, &second, words, 3);
	test_sleep_ms(20);
	assert_int_equal(atomic_load(&second.commands.ring->tail), 0);
	words[2] = 1;
	lane_post(&vfio_guest, &first, words + 1, 2);
	assert_int_equal(maple_load(&first, MAPLE_LOAD_CONSUME, 0), 1);
	assert_int_equal(maple_load(&first, MAPLE_LOAD_CONSUME, 0), 2);
	/* A lane that was opened again has another number. */
	lane_close(&vfio_guest, 9);
	assert_int_not_equal(lane_open(&vfio_guest, 9, 1, 2).number, second.number);
}

static void a_context_that_is_taken_away_is_lost(void **state)
{
	struct raw_lane lanes[2];

	(void)state;
	start_dare(lanes);
	lane_store(&vfio_guest, &lanes[0], 0, 0, DARE_RS1, 8, 5);
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 0, 0, DARE_RS1, 8), 5);
	attach(0, 2);
	assert_true(mimic_lane_has_lost(lanes[0].memory, 0));
	lane_store(&vfio_guest, &lanes[0], 0, 0, DARE_RS1, 8, 6);
	assert_int_equal(lane_load(&vfio_guest, &lanes[0], 0, 0, DARE_RS1, 8), 0);
	/* The other program has it now, as after its reset. */
	assert_false(mimic_lane_has_lost(lanes[1].memory, 0));
	assert_int_equal(lane_load(&vfio_guest, &lanes[1], 0, 0, DARE_RS1, 8), 0);
	lane_store(&vfio_guest, &lanes[1], 0, 0, DARE_RS1, 8, 9);
	assert_int_equal(lane_load(&vfio_guest, &lanes[1], 0, 0, DARE_RS1, 8), 9);
}

/* --- ends ------------------------------------------------------------------------------------------- */

static void reset_closes_all_lanes(void **state)
{
	struct raw_lane lane;

	(void)state;
	lane = start_maple();
	begin_consume(&lane);
	assert_int_equal(guest_ask(&vfio_guest, MIMICD_VFIO_RESET, NULL, 0, NULL, 0, NULL, NULL, NULL), 0);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANE(0)), 0);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_LANES_DONE), 0);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	lane = lane_open(&vfio_guest, 0, 1, 1);
	assert_int_equal(lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32,
			 MAPLE_IDENTIFY_MAGIC);
}

static void the_next_machine_has_memory_of_its_own(void **state)
{
	struct raw_lane lane;
	char *before;

	(void)state;
	lane = start_maple();
	begin_consume(&lane);
	before = vfio_guest.rings;
	vfio_guest.rings = NULL;
	vfio_fixture_end_guest(NULL);
	lane = start_maple();
	memset(before, 0xff, vfio_guest.rings_size);
	produce(&lane, 3);
	assert_int_equal(maple_load(&lane, MAPLE_LOAD_CONSUME, 0), 3);
	munmap(before, vfio_guest.rings_size);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, vfio_fixture_end_guest)
	const struct CMUnitTest tests[] = {
		TEST(the_bus_page_says_where_lanes_are),
		TEST(a_machine_that_does_not_map_it_loads_and_stores),
		TEST(commands_are_done_without_a_trap),
		TEST(many_words_are_one_command),
		TEST(memory_is_that_of_the_lanes_space),
		TEST(a_flush_by_a_lane_drops_translations),
		TEST(a_fault_of_a_lanes_command_is_the_drivers),
		TEST(a_cluster_is_used_by_its_lanes),
		TEST(a_program_that_sleeps_is_woken_by_an_interrupt),
		TEST(a_daemon_that_sleeps_is_kicked),
		TEST(a_lane_that_asks_is_told_what_it_waits_for),
		TEST(a_command_that_waits_is_taken_back),
		TEST(roles_are_a_threads),
		TEST(posts_before_the_end_are_done),
		TEST(commands_that_wait_when_a_lane_is_closed_go_on_or_are_dropped),
		TEST(impossible_lanes_are_refused),
		TEST(a_space_that_is_closed_takes_its_lanes_along),
		TEST(a_program_has_the_contexts_of_its_space),
		TEST(order_words_name_lanes_by_their_numbers),
		TEST(a_context_that_is_taken_away_is_lost),
		TEST(reset_closes_all_lanes),
		TEST(the_next_machine_has_memory_of_its_own),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
