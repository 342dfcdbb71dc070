/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A Virgo cluster as a device: registers, queue, barriers, events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

static struct virgo_fixture *f;

static void start_with(const struct virgo_config *config)
{
	f = virgo_fixture_create(config, 0);
}

static void stop(void)
{
	virgo_fixture_destroy(f);
}

static uint64_t at(size_t offset)
{
	return virgo_address(f->arena + offset);
}

static uint64_t reg(unsigned int unit, unsigned int offset)
{
	return virgo_unit_load(f, unit, offset);
}

static uint64_t control(unsigned int offset)
{
	return virgo_load(f, VIRGO_PAGE_CONTROL, offset, 8);
}

/* A load of this owner; true: it waits. */
static bool load_as(unsigned int owner, unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .owner = owner, .page = (uint8_t)page, .offset = offset, .size = 8 };
	bool parked = virgo_fixture_access(f, &access) == MIMIC_PARKED;

	if (!parked)
		f->answer[owner] = access.data;
	return parked;
}

static bool store_as(unsigned int owner, unsigned int offset, unsigned int size, uint64_t value)
{
	struct mimic_access access = {
		.owner = owner, .page = VIRGO_PAGE_UNITS, .offset = offset, .size = (uint8_t)size,
		.is_write = 1, .data = value,
	};

	return virgo_fixture_access(f, &access) == MIMIC_PARKED;
}

static bool flush_as(unsigned int owner)
{
	return store_as(owner, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH));
}

static void a_cluster_says_what_it_is(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.units = 3;
	config.unit[2] = (struct virgo_unit_config){ .type = VIRGO_INT8, .dim = 16, .accumulator_kb = 64 };
	start_with(&config);
	assert_int_equal(control(VIRGO_CONTROL_IDENTIFY) >> 32, VIRGO_MAGIC);
	assert_int_equal(control(VIRGO_CONTROL_IDENTIFY) & 0xffffff, 16 << 16 | 4 << 8 | 3);
	assert_int_equal(control(VIRGO_CONTROL_SHARED_SIZE), 65536);
	assert_int_equal(reg(0, VIRGO_IDENTIFY), 16ull << 32 | VIRGO_FP32 << 8 | 8);
	assert_int_equal(reg(2, VIRGO_IDENTIFY), 64ull << 32 | 2 << 16 | VIRGO_INT8 << 8 | 16);
	stop();
}

static void configurations_out_of_range_are_refused(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	assert_null(virgo_config_check(&config));
#define REFUSED(field, value) do { \
		virgo_config_default(&config); \
		config.field = (value); \
		assert_non_null(virgo_config_check(&config)); \
	} while (0)
	REFUSED(units, 0);
	REFUSED(units, 9);
	REFUSED(cores, 0);
	REFUSED(shared_kb, 96);
	REFUSED(shared_kb, 512);
	REFUSED(queue_entries, 3);
	REFUSED(queue_entries, 65);
	REFUSED(unit[0].dim, 12);
	REFUSED(unit[0].type, VIRGO_TYPES);
	REFUSED(unit[0].accumulator_kb, 12);
	REFUSED(cisc_generation, 2);
#undef REFUSED
}

static void sources_can_be_stored_in_halves(void **state)
{
	(void)state;
	start_with(NULL);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_RS1, 4, 0x11111111);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_RS1_HIGH, 4, 0x22222222);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_RS2, 8, 0x3333333344444444);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_RS2_HIGH, 4, 0x55555555);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(99));
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_ERROR_RS1), 0x2222222211111111);
	assert_int_equal(reg(0, VIRGO_ERROR_RS2), 0x5555555544444444);
	assert_int_equal(virgo_load(f, VIRGO_PAGE_UNITS, VIRGO_ERROR_RS1 + 4, 4), 0x22222222);
	stop();
}

static void accesses_that_make_no_sense_are_counted(void **state)
{
	(void)state;
	start_with(NULL);
	assert_int_equal(virgo_load(f, VIRGO_PAGE_UNITS, VIRGO_RS1, 8), 0);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_BUSY, 8, 1);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 8, 1);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_illegal), 3);
	virgo_load(f, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * 5, 8);
	virgo_load(f, VIRGO_PAGE_CONTROL, 0x7f8, 8);
	assert_int_equal(control(VIRGO_COUNTER_OFFSET + 8 * VIRGO_COUNTER_illegal), 5);
	stop();
}

/* --- the queue --------------------------------------------------------------------------------- */

static void commands_are_busy_until_they_are_over(void **state)
{
	(void)state;
	start_with(NULL);
	assert_false(flush_as(1));
	assert_int_equal(reg(0, VIRGO_BUSY), 1);
	assert_int_equal(reg(0, VIRGO_DISPATCHED), 1);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_BUSY), 0);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 1);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_polls), 2);
	stop();
}

static void a_store_to_a_full_queue_waits(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 16; i++)
		assert_false(flush_as(1));
	assert_true(flush_as(2));
	assert_true(flush_as(3));
	virgo_run(f);
	assert_true(f->completed[2] && f->completed[3]);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 18);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_queue_waits), 2);
	stop();
}

static void a_store_that_waits_can_be_withdrawn(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 16; i++)
		flush_as(1);
	assert_true(flush_as(2));
	f->model->ops->cancel(f->model, 2, ++f->now);
	virgo_run(f);
	assert_false(f->completed[2]);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 16);
	stop();
}

static void a_fence_waits_for_what_came_before_it(void **state)
{
	(void)state;
	start_with(NULL);
	assert_false(load_as(2, VIRGO_PAGE_UNITS, VIRGO_FENCE));
	flush_as(1);
	assert_true(load_as(2, VIRGO_PAGE_UNITS, VIRGO_FENCE));
	virgo_run(f);
	assert_true(f->completed[2]);
	assert_int_equal(f->answer[2] & 0xff, 0);
	stop();
}

static void waiting_for_loops_lets_some_run_on(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 3; i++)
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, 0, 0);
	assert_int_equal(reg(0, VIRGO_LOOPS), 3);
	assert_false(load_as(2, VIRGO_PAGE_UNITS, VIRGO_WAIT_LOOPS_3));
	assert_true(load_as(2, VIRGO_PAGE_UNITS, VIRGO_WAIT_LOOPS_2));
	assert_true(load_as(3, VIRGO_PAGE_UNITS, VIRGO_WAIT_LOOPS_0));
	f->model->ops->tick(f->model, ++f->now);
	assert_true(f->completed[2]);
	assert_false(f->completed[3]);
	assert_int_equal(reg(0, VIRGO_LOOPS), 2);
	virgo_run(f);
	assert_true(f->completed[3]);
	assert_int_equal(f->answer[3], 0);
	stop();
}

static void many_stores_are_as_many_accesses(void **state)
{
	struct mimic_access pattern = { .owner = 1, .page = VIRGO_PAGE_UNITS, .offset = VIRGO_INSTRUCTION, .size = 4 };
	uint64_t words[40], done = 0;

	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 40; i++)
		words[i] = VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH);
	while (done < 40) {
		done += f->model->ops->store_many(f->model, &pattern, words + done, 40 - done, ++f->now);
		virgo_run(f);
	}
	assert_int_equal(reg(0, VIRGO_COMPLETED), 40);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_queue_waits), 0);
	stop();
}

static void a_reset_forgets_all_but_the_counters(void **state)
{
	(void)state;
	start_with(NULL);
	virgo_send(f, 0, 99, 1, 2);
	virgo_run(f);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	assert_int_equal(reg(0, VIRGO_DISPATCHED), 0);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_errors), 1);
	f->model->ops->power_on(f->model, ++f->now);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_errors), 0);
	stop();
}

static void performance_counters_count_events(void **state)
{
	unsigned int moves = VIRGO_COUNTER_moves_in + 1;

	(void)state;
	start_with(NULL);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_CONFIGURE | 2u << 4 | moves << 12, 0);
	for (unsigned int i = 0; i < 3; i++)
		virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, 2u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 3);
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_SNAPSHOT_TAKE, 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, 2u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 3);
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_SNAPSHOT_RESET | 2u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 4);
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_RESET | 2u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 0);
	stop();
}

static void performance_counters_count_on_when_counters_are_cleared(void **state)
{
	unsigned int moves = VIRGO_COUNTER_moves_in + 1, illegal = VIRGO_COUNTER_errors + 1;

	(void)state;
	start_with(NULL);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_CONFIGURE | 2u << 4 | moves << 12, 0);
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_CONFIGURE | 3u << 4 | illegal << 12, 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_run(f);
	f->model->ops->clear_counters(f->model);
	for (unsigned int i = 0; i < VIRGO_COUNTER_COUNT; i++)
		assert_int_equal(virgo_counter(f, 0, i), 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, 2u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 2);
	virgo_send(f, 0, VIRGO_FUNCT_COUNTER, 3u << 4, 0);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_COUNTER_RESULT), 0);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_moves_in), 1);
	stop();
}

static void a_loop_counts_what_its_commands_would(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int id = 0; id < 2; id++)
		virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | id << 3 | VIRGO_CONFIG_LD, 96);
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 96);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 2ull << 32 | 1u << 16 | 3, 3ull << 32 | 3u << 16 | 2);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(0), at(8192));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, at(16384));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, 24, 24);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, 24, 24);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, 0, 0);
	virgo_run(f);
	/* 13 x 22 times 22 x 23 */
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_macs), 13 * 22 * 23);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_tiles), 2 * 3 * 3);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_dma_bytes_read), 4 * (13 * 22 + 22 * 23));
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_dma_bytes_written), 4 * 13 * 23);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_shared_bytes_written), 4 * (13 * 22 + 22 * 23));
	/* A once for each column of blocks, B once */
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_shared_bytes_read), 4 * (3 * 13 * 22 + 22 * 23));
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_loops), 1);
	stop();
}

/* --- barriers and events ---------------------------------------------------------------------------- */

static void a_barrier_opens_when_all_cores_have_arrived(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int owner = 2; owner < 5; owner++)
		assert_true(load_as(owner, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(3)));
	assert_int_equal(control(VIRGO_BARRIER_STATUS(3)), 3);
	assert_true(load_as(6, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(4)));
	assert_false(load_as(5, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(3)));
	for (unsigned int owner = 2; owner < 5; owner++)
		assert_true(f->completed[owner]);
	assert_false(f->completed[6]);
	assert_int_equal(control(VIRGO_BARRIER_STATUS(3)), 1 << 8);
	assert_int_equal(control(VIRGO_CONTROL_EVENT_STATUS), VIRGO_EVENT_BARRIER);
	stop();
}

static void participants_of_a_barrier_can_be_set_and_leave(void **state)
{
	(void)state;
	start_with(NULL);
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(0), 8, 3);
	assert_true(load_as(2, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(0)));
	assert_true(load_as(3, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(0)));
	f->model->ops->owner_gone(f->model, 3, ++f->now);
	assert_int_equal(control(VIRGO_BARRIER_STATUS(0)), 1);
	assert_true(load_as(4, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(0)));
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(0), 8, 2);
	assert_true(f->completed[2] && f->completed[4]);
	stop();
}

static void an_enabled_event_raises_the_interrupt_once(void **state)
{
	(void)state;
	start_with(NULL);
	flush_as(1);
	virgo_run(f);
	assert_int_equal(f->interrupts, 0);
	assert_int_equal(control(VIRGO_CONTROL_EVENT_STATUS), VIRGO_EVENT_IDLE(0));
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS, 8, VIRGO_EVENT_IDLE(0));
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_ENABLE, 8, VIRGO_EVENT_IDLE(0) | VIRGO_EVENT_ERROR(0));
	flush_as(1);
	virgo_run(f);
	flush_as(1);
	virgo_run(f);
	assert_int_equal(f->interrupts, 1);
	virgo_send(f, 0, 99, 0, 0);
	virgo_run(f);
	assert_int_equal(f->interrupts, 2);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cluster_says_what_it_is),
		cmocka_unit_test(configurations_out_of_range_are_refused),
		cmocka_unit_test(sources_can_be_stored_in_halves),
		cmocka_unit_test(accesses_that_make_no_sense_are_counted),
		cmocka_unit_test(commands_are_busy_until_they_are_over),
		cmocka_unit_test(a_store_to_a_full_queue_waits),
		cmocka_unit_test(a_store_that_waits_can_be_withdrawn),
		cmocka_unit_test(a_fence_waits_for_what_came_before_it),
		cmocka_unit_test(waiting_for_loops_lets_some_run_on),
		cmocka_unit_test(many_stores_are_as_many_accesses),
		cmocka_unit_test(a_reset_forgets_all_but_the_counters),
		cmocka_unit_test(performance_counters_count_events),
		cmocka_unit_test(performance_counters_count_on_when_counters_are_cleared),
		cmocka_unit_test(a_loop_counts_what_its_commands_would),
		cmocka_unit_test(a_barrier_opens_when_all_cores_have_arrived),
		cmocka_unit_test(participants_of_a_barrier_can_be_set_and_leave),
		cmocka_unit_test(an_enabled_event_raises_the_interrupt_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
