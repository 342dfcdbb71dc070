/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The template device's model, driven by hand. The test sets the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "devices/template/template_model.h"

#define LATENCY 1000

static struct {
	struct mimic_model *model;
	uint64_t now;
	unsigned int interrupts;
	struct {
		uint64_t owner, data;
	} completed[8];
	unsigned int completions;
} device;

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	assert_true(device.completions < 8);
	device.completed[device.completions].owner = owner;
	device.completed[device.completions++].data = data;
}

static void interrupt(void *context)
{
	(void)context;
	device.interrupts++;
}

static int setup(void **state)
{
	struct mimic_host host = { .complete = complete, .interrupt = interrupt };
	struct template_config config;

	(void)state;
	memset(&device, 0, sizeof(device));
	device.now = 5000;
	template_config_default(&config);
	config.latency = LATENCY;
	device.model = template_model_create(&config, &host);
	return !device.model;
}

static int teardown(void **state)
{
	(void)state;
	template_model_destroy(device.model);
	return 0;
}

static enum mimic_outcome access_as(uint64_t owner, unsigned int page, unsigned int offset,
				    unsigned int size, bool is_write, uint64_t *data)
{
	struct mimic_access access = {
		.owner = owner, .data = *data, .offset = offset, .page = (uint8_t)page,
		.size = (uint8_t)size, .is_write = is_write,
	};
	enum mimic_outcome outcome = device.model->ops->access(device.model, &access, device.now);

	*data = access.data;
	return outcome;
}

static uint64_t load(unsigned int page, unsigned int offset)
{
	uint64_t data = 0xdead;

	assert_int_equal(access_as(1, page, offset, 8, false, &data), MIMIC_DONE);
	return data;
}

static void store(unsigned int page, unsigned int offset, uint64_t data)
{
	assert_int_equal(access_as(1, page, offset, 8, true, &data), MIMIC_DONE);
}

static void add(uint64_t a, uint64_t b)
{
	store(TEMPLATE_PAGE_USER, TEMPLATE_A, a);
	store(TEMPLATE_PAGE_USER, TEMPLATE_B, b);
	store(TEMPLATE_PAGE_USER, TEMPLATE_START, 1);
}

static void pass(uint64_t cycles)
{
	device.now += cycles;
	device.model->ops->tick(device.model, device.now);
}

static uint64_t counter(enum template_counter which)
{
	uint64_t values[TEMPLATE_COUNTER_COUNT];

	device.model->ops->counters(device.model, values, TEMPLATE_COUNTER_COUNT);
	return values[which];
}

static void registers_have_their_reset_values_after_power_on(void **state)
{
	static const struct {
		const char *access;
		unsigned int page, offset;
		uint64_t reset;
	} list[] = {
#define _(offset, name, access, reset, role, format, meaning) { #access, TEMPLATE_PAGE_USER, offset, reset },
		TEMPLATE_USER_REGISTERS(_)
#undef _
#define _(offset, name, access, reset, role, format, meaning) { #access, TEMPLATE_PAGE_CONTROL, offset, reset },
		TEMPLATE_CONTROL_REGISTERS(_)
#undef _
	};

	(void)state;
	add(7, 8);
	pass(LATENCY);
	device.model->ops->power_on(device.model, device.now);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (list[i].access[0] == 'R')
			assert_int_equal(load(list[i].page, list[i].offset), list[i].reset);
	}
}

static void a_sum_is_there_after_the_latency_and_not_before(void **state)
{
	uint64_t data = 0;

	(void)state;
	add(40, 2);
	pass(LATENCY - 1);
	assert_true(device.model->ops->busy(device.model));
	assert_int_equal(device.interrupts, 0);
	assert_int_equal(access_as(9, TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, false, &data),
			 MIMIC_PARKED);
	pass(1);
	assert_false(device.model->ops->busy(device.model));
	assert_int_equal(device.completions, 1);
	assert_int_equal(device.completed[0].owner, 9);
	assert_int_equal(device.completed[0].data, 42);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_SUM), 42);
}

static void a_sum_wraps_at_64_bits(void **state)
{
	(void)state;
	add(0xfffffffffffffff0ull, 0x25);
	pass(LATENCY);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_SUM), 0x15);
}

static void each_addition_interrupts_and_its_event_stays_until_acknowledged(void **state)
{
	(void)state;
	add(1, 2);
	pass(LATENCY);
	add(3, 4);
	pass(LATENCY);
	assert_int_equal(device.interrupts, 2);
	assert_int_equal(load(TEMPLATE_PAGE_CONTROL, TEMPLATE_EVENTS), 1);
	store(TEMPLATE_PAGE_CONTROL, TEMPLATE_ACKNOWLEDGE, 2);
	assert_int_equal(load(TEMPLATE_PAGE_CONTROL, TEMPLATE_EVENTS), 1);
	store(TEMPLATE_PAGE_CONTROL, TEMPLATE_ACKNOWLEDGE, 1);
	assert_int_equal(load(TEMPLATE_PAGE_CONTROL, TEMPLATE_EVENTS), 0);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_COUNT), 2);
}

static void starts_that_wait_begin_one_after_the_other(void **state)
{
	uint64_t data = 0;

	(void)state;
	add(1, 1);
	assert_int_equal(access_as(2, TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, false, &data), MIMIC_PARKED);
	assert_int_equal(access_as(3, TEMPLATE_PAGE_USER, TEMPLATE_START, 8, true, &data), MIMIC_PARKED);
	assert_int_equal(access_as(4, TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, false, &data), MIMIC_PARKED);
	store(TEMPLATE_PAGE_USER, TEMPLATE_A, 10);
	pass(LATENCY);
	/* A sum is made of A and B as they are when it begins. */
	assert_int_equal(device.completions, 2);
	assert_int_equal(device.completed[0].owner, 2);
	assert_int_equal(device.completed[0].data, 2);
	assert_int_equal(device.completed[1].owner, 3);
	store(TEMPLATE_PAGE_USER, TEMPLATE_A, 20);
	pass(LATENCY);
	assert_int_equal(device.completions, 3);
	assert_int_equal(device.completed[2].owner, 4);
	assert_int_equal(device.completed[2].data, 11);
	assert_int_equal(counter(TEMPLATE_COUNTER_waits), 3);
}

static void a_cancelled_access_is_not_completed(void **state)
{
	uint64_t data = 0;

	(void)state;
	add(1, 1);
	access_as(2, TEMPLATE_PAGE_USER, TEMPLATE_START, 8, true, &data);
	access_as(3, TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, false, &data);
	device.model->ops->cancel(device.model, 2, device.now);
	device.model->ops->cancel(device.model, 77, device.now);
	pass(LATENCY);
	assert_int_equal(device.completions, 1);
	assert_int_equal(device.completed[0].owner, 3);
	assert_false(device.model->ops->busy(device.model));
}

static void power_on_answers_waiters_with_0(void **state)
{
	uint64_t data = 0;

	(void)state;
	add(1, 1);
	access_as(2, TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, false, &data);
	device.model->ops->power_on(device.model, device.now);
	assert_int_equal(device.completions, 1);
	assert_int_equal(device.completed[0].data, 0);
	pass(LATENCY);
	assert_int_equal(device.interrupts, 0);
}

static void an_illegal_access_reads_0_or_is_dropped_and_is_counted(void **state)
{
	static const struct {
		unsigned int page, offset, size;
		bool is_write;
	} illegal[] = {
		{ TEMPLATE_PAGE_USER, TEMPLATE_SUM, 8, true },
		{ TEMPLATE_PAGE_USER, TEMPLATE_START, 8, false },
		{ TEMPLATE_PAGE_USER, TEMPLATE_A, 4, false },
		{ TEMPLATE_PAGE_USER, TEMPLATE_A, 4, true },
		{ TEMPLATE_PAGE_USER, 0x800, 8, false },
		{ TEMPLATE_PAGE_CONTROL, TEMPLATE_IDENTIFY, 8, true },
		{ 5, 0, 8, false },
	};
	unsigned int count = sizeof(illegal) / sizeof(illegal[0]);

	(void)state;
	add(3, 4);
	pass(LATENCY);
	for (unsigned int i = 0; i < count; i++) {
		uint64_t data = 99;

		assert_int_equal(access_as(1, illegal[i].page, illegal[i].offset, illegal[i].size,
					   illegal[i].is_write, &data), MIMIC_DONE);
		if (!illegal[i].is_write)
			assert_int_equal(data, 0);
	}
	assert_int_equal(counter(TEMPLATE_COUNTER_illegal), count);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_A), 3);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_SUM), 7);
}

static void cleared_counters_are_0_and_the_sum_stays(void **state)
{
	uint64_t data = 0;

	(void)state;
	add(3, 4);
	pass(LATENCY);
	access_as(1, 5, 0, 8, false, &data);
	device.model->ops->clear_counters(device.model);
	for (unsigned int i = 0; i < TEMPLATE_COUNTER_COUNT; i++)
		assert_int_equal(counter(i), 0);
	assert_int_equal(load(TEMPLATE_PAGE_USER, TEMPLATE_SUM), 7);
	add(1, 1);
	pass(LATENCY);
	assert_int_equal(counter(TEMPLATE_COUNTER_additions), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(registers_have_their_reset_values_after_power_on),
		TEST(a_sum_is_there_after_the_latency_and_not_before),
		TEST(a_sum_wraps_at_64_bits),
		TEST(each_addition_interrupts_and_its_event_stays_until_acknowledged),
		TEST(starts_that_wait_begin_one_after_the_other),
		TEST(a_cancelled_access_is_not_completed),
		TEST(power_on_answers_waiters_with_0),
		TEST(cleared_counters_are_0_and_the_sum_stays),
		TEST(an_illegal_access_reads_0_or_is_dropped_and_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
