/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tickets, fences and errors of libvirgo, and its parts of the shared memory, on a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/half.h"
#include "tests/lib/fake_virgo.h"

static struct fake_virgo fake;
static struct virgo *virgo;

static int open_cluster(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.units = 2;
	config.unit[1] = config.unit[0];
	virgo = fake_virgo_open(&fake, &config);
	return virgo ? 0 : -1;
}

static int close_cluster(void **state)
{
	(void)state;
	fake_virgo_close(&fake, virgo);
	return 0;
}

static void give(unsigned int unit, unsigned int count)
{
	while (count--)
		assert_int_equal(virgo_command(virgo, unit, VIRGO_FUNCT_CLOCK_GATE, 0, 0), 0);
}

/* A loop of no size, which is over at once. */
static void give_loop(unsigned int unit)
{
	assert_int_equal(virgo_command(virgo, unit, VIRGO_FUNCT_LOOP_WS, 0, 0), 0);
}

static uint64_t completed(unsigned int unit)
{
	return virgo_unit_load(fake.fixture, unit, VIRGO_COMPLETED);
}

/* --- tickets ------------------------------------------------------------------------------ */

static void a_ticket_counts_the_commands_of_its_unit(void **state)
{
	(void)state;
	assert_int_equal(virgo_ticket(virgo, 0), 0);
	give(0, 3);
	give(1, 1);
	assert_int_equal(virgo_ticket(virgo, 0), 3);
	assert_int_equal(virgo_ticket(virgo, 1), 1);
	assert_int_equal(virgo_ticket(virgo, 2), 0);
	assert_int_equal(virgo_ticket(NULL, 0), 0);
}

static void commands_are_done_when_the_unit_has_done_them(void **state)
{
	uint64_t ticket;

	(void)state;
	assert_int_equal(virgo_done(virgo, 0, 0), 1);
	give(0, 3);
	ticket = virgo_ticket(virgo, 0);
	assert_int_equal(virgo_done(virgo, 0, ticket), 0);
	assert_int_equal(fake.count, 3);
	virgo_run(fake.fixture);
	assert_int_equal(virgo_done(virgo, 0, ticket), 1);
	assert_int_equal(virgo_done(virgo, 0, ticket + 1), -EINVAL);
	assert_int_equal(virgo_done(virgo, 2, 0), -EINVAL);
}

/* The fake device runs the model only as long as the load that waits has no answer. */
static void a_wait_ends_with_the_ticket(void **state)
{
	uint64_t ticket;

	(void)state;
	give(0, 2);
	ticket = virgo_ticket(virgo, 0);
	assert_int_equal(virgo_wait(virgo, 0, ticket), 0);
	assert_int_equal(completed(0), 2);
	assert_int_equal(virgo_wait(virgo, 0, ticket), 0);
	assert_int_equal(virgo_wait(virgo, 0, ticket + 1), -EINVAL);
	assert_non_null(strstr(virgo_error_text(), "ticket 3"));
	assert_int_equal(virgo_wait(virgo, 2, 0), -EINVAL);
}

/* A wait loads the register that waits for no more than is needed, as far as there is one. */
static void a_wait_for_an_old_loop_does_not_wait_for_new_ones(void **state)
{
	static const unsigned int expected[] = {
		VIRGO_FENCE, VIRGO_WAIT_LOOPS_0, VIRGO_WAIT_LOOPS_1, VIRGO_WAIT_LOOPS_2,
		VIRGO_WAIT_LOOPS_3, VIRGO_WAIT_LOOPS_3,
	};
	uint64_t tickets[6];

	(void)state;
	for (int i = 5; i > 0; i--) {
		give(0, 1);
		tickets[i] = virgo_ticket(virgo, 0);
		give_loop(0);
	}
	give(0, 1);
	tickets[0] = virgo_ticket(virgo, 0);
	for (int i = 5; i >= 0; i--) {
		assert_int_equal(virgo_wait(virgo, 0, tickets[i]), 0);
		assert_int_equal(fake.last_wait, expected[i]);
		assert_true(completed(0) >= tickets[i]);
	}
}

/* A product of 128 x 128 x 512, of any bytes in shared memory: some ticks of the model. */
static void give_long_loop(struct virgo *of)
{
	const struct virgo_tile tile = { .m = 128, .n = 128, .k = 512, .a_row = 0, .b_end = 8192 };

	assert_int_equal(virgo_matmul_tile(of, 0, 0, &tile), 0);
	assert_int_equal(virgo_flush(of, 0), 0);
}

static struct virgo *open_large(struct fake_virgo *other)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.shared_kb = 256;
	config.unit[0].accumulator_kb = 64;
	config.cisc_generation = VIRGO_CISC_LATER;
	return fake_virgo_open(other, &config);
}

/* Only a word that makes a loop is one. */
static void a_wait_does_not_end_before_a_loop_because_of_a_cisc_word(void **state)
{
	struct fake_virgo other;
	struct virgo *large = open_large(&other);
	uint64_t ticket;

	(void)state;
	give_long_loop(large);
	ticket = virgo_ticket(large, 0);
	assert_int_equal(virgo_cisc(large, 0, 8 | 16 << 8 | 16u << 20), 0);	/* strides of A and B */
	assert_int_equal(virgo_ticket(large, 0), ticket + 1);
	assert_int_equal(virgo_wait(large, 0, ticket), 0);
	assert_true(virgo_unit_load(other.fixture, 0, VIRGO_COMPLETED) >= ticket);
	/* And a loop is: it is not waited for. */
	give_long_loop(large);
	ticket = virgo_ticket(large, 0);
	assert_int_equal(virgo_cisc(large, 0, 9), 0);
	assert_int_equal(virgo_wait(large, 0, ticket), 0);
	assert_int_equal(other.last_wait, VIRGO_WAIT_LOOPS_1);
	assert_true(virgo_unit_load(other.fixture, 0, VIRGO_COMPLETED) >= ticket);
	fake_virgo_close(&other, large);
}

/* An error drops commands behind it, also if the error is that of a store. */
static void a_loop_is_not_done_because_others_behind_it_were_dropped(void **state)
{
	struct fake_virgo other;
	struct virgo *large = open_large(&other);
	uint64_t ticket;

	(void)state;
	give_long_loop(large);
	ticket = virgo_ticket(large, 0);
	other.fixture->model->ops->tick(other.fixture->model, 1);
	virgo_cisc(large, 0, 31);
	for (int i = 0; i < 8; i++)
		virgo_command(large, 0, VIRGO_FUNCT_CLOCK_GATE, 0, 0);
	assert_int_equal(virgo_done(large, 0, ticket), 0);
	assert_int_equal(virgo_unit_load(other.fixture, 0, VIRGO_LOOPS), 1);
	assert_int_equal(virgo_wait(large, 0, ticket), -EILSEQ);
	assert_int_equal(virgo_unit_load(other.fixture, 0, VIRGO_LOOPS), 0);
	assert_int_equal(virgo_done(large, 0, virgo_ticket(large, 0)), 1);
	fake_virgo_close(&other, large);
}

/* As when too many threads wait in the device. */
static void a_thread_that_is_answered_at_once_asks_again(void **state)
{
	(void)state;
	give(0, 3);
	fake.at_once = 3;
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_int_equal(fake.waits, 4);
	assert_int_equal(completed(0), 3);
	give_loop(0);
	give_loop(0);
	fake.at_once = 2;
	assert_int_equal(virgo_fence_loops(virgo, 0, 1), 0);
	assert_int_equal(fake.waits, 7);
	assert_true(virgo_unit_load(fake.fixture, 0, VIRGO_LOOPS) <= 1);
	fake.at_once = 1;
	assert_int_equal(virgo_wait(virgo, 0, virgo_ticket(virgo, 0)), 0);
	assert_int_equal(completed(0), 5);
}

static void nobody_waits_for_nothing(void **state)
{
	(void)state;
	give(0, 2);
	assert_int_equal(virgo_wait(virgo, 0, 0), 0);
	assert_int_equal(fake.waits, 0);
	/* But the commands in the buffer are sent. */
	assert_int_equal(fake.count, 2);
	assert_int_equal(virgo_reset(virgo, 0), 0);
	fake.waits = 0;
	assert_int_equal(virgo_wait(virgo, 0, 2), 0);
	assert_int_equal(fake.waits, 0);
	virgo_command(virgo, 0, 99, 0, 0);
	virgo_fence(virgo, 0);
	assert_int_equal(virgo_wait(virgo, 0, 0), -EILSEQ);
}

static void fences_wait_for_all_or_for_loops(void **state)
{
	(void)state;
	give_loop(0);
	give_loop(0);
	give(0, 1);
	assert_int_equal(virgo_fence_loops(virgo, 0, 3), 0);
	assert_int_equal(virgo_fence_loops(virgo, 0, 0), 0);
	assert_int_equal(virgo_unit_load(fake.fixture, 0, VIRGO_LOOPS), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_int_equal(completed(0), 3);
	assert_int_equal(virgo_fence_loops(virgo, 0, 4), -EINVAL);
	assert_int_equal(virgo_fence_loops(virgo, 2, 0), -EINVAL);
	assert_int_equal(virgo_fence(virgo, 2), -EINVAL);
}

static void a_reset_begins_anew_and_tickets_go_on(void **state)
{
	struct virgo_error_info info;
	uint64_t ticket;

	(void)state;
	give(0, 4);
	virgo_command(virgo, 0, 99, 0, 0);
	assert_int_equal(virgo_reset(virgo, 0), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_int_equal(virgo_done(virgo, 0, 5), 1);
	give(0, 1);
	ticket = virgo_ticket(virgo, 0);
	assert_int_equal(ticket, 6);
	assert_int_equal(virgo_done(virgo, 0, ticket), 0);
	assert_int_equal(virgo_wait(virgo, 0, ticket), 0);
	virgo_command(virgo, 0, 99, 0, 0);
	assert_int_equal(virgo_error(virgo, 0, &info), 0);
	assert_int_equal(info.position, 1);
	assert_int_equal(virgo_reset(virgo, 2), -EINVAL);
}

/* --- errors -------------------------------------------------------------------------------- */

static void errors_of_commands_are_told_with_their_number(void **state)
{
	static const struct {
		unsigned int funct;
		uint64_t rs1, rs2;
		int error;
		const char *text;
	} cases[] = {
		{ 99, 0, 0, -EILSEQ, "command 1, 0xc620b07b: " },
		{ VIRGO_FUNCT_MVIN, 0, 1ull << 48 | 1ull << 32 | 5000, -EINVAL, "command 1, mvin: 5000: " },
		{ VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | 3 << 3, 0, -EINVAL, "command 1, config: 3: " },
		{ VIRGO_FUNCT_MVIN, 0x1000, 1ull << 48 | 1ull << 32, -EFAULT,
		  "command 1, mvin: address 0x1000: program memory that cannot be read" },
		{ VIRGO_FUNCT_MVOUT, 0x1000, 1ull << 48 | 1ull << 32, -EFAULT,
		  "command 1, mvout: address 0x1000: program memory that cannot be written" },
	};
	struct virgo_error_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		virgo_reset(virgo, 0);
		give(0, 1);
		virgo_command(virgo, 0, cases[i].funct, cases[i].rs1, cases[i].rs2);
		give(0, 1);
		assert_int_equal(virgo_fence(virgo, 0), cases[i].error);
		assert_non_null(strstr(virgo_error_text(), "virgo0, unit 0: "));
		assert_non_null(strstr(virgo_error_text(), cases[i].text));
		assert_int_equal(virgo_fence(virgo, 0), cases[i].error);
		assert_int_equal(virgo_error(virgo, 0, &info), 0);
		assert_int_equal(info.instruction >> 25, cases[i].funct);
		assert_int_equal(info.position, 1);
		assert_int_equal(info.rs1, cases[i].rs1);
		assert_int_equal(info.rs2, cases[i].rs2);
		assert_memory_equal(info.text, cases[i].text, strlen(cases[i].text));
		assert_int_equal(virgo_fence(virgo, 1), 0);
	}
}

static void no_error_is_all_zero(void **state)
{
	static const struct virgo_error_info none;
	struct virgo_error_info info;

	(void)state;
	memset(&info, 1, sizeof(info));
	assert_int_equal(virgo_error(virgo, 0, &info), 0);
	assert_memory_equal(&info, &none, sizeof(info));
	assert_int_equal(virgo_error(virgo, 0, NULL), -EINVAL);
	assert_int_equal(virgo_error(virgo, 2, &info), -EINVAL);
}

static void a_cleared_error_lets_the_unit_go_on_and_configures_anew(void **state)
{
	float *memory = (float *)fake.fixture->arena;

	(void)state;
	memory[0] = 5;
	memory[8] = 6;
	virgo_command(virgo, 0, 99, 0, 0);
	/* Dropped, and so it has to be sent again. */
	virgo_config_load(virgo, 0, 0, 32, 1, 0);
	assert_int_equal(virgo_clear_error(virgo, 0), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	virgo_config_load(virgo, 0, 0, 32, 1, 0);
	virgo_mvin(virgo, 0, 0, memory, 0, 2, 1);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_true(((float *)virgo_shared(virgo, NULL))[0] == 5);
	assert_true(((float *)virgo_shared(virgo, NULL))[8] == 6);
	assert_int_equal(virgo_clear_error(virgo, 2), -EINVAL);
}

/* Such a queue takes a store too many for an error, as the RTL's does. */
static void a_queue_that_could_overflow_does_not(void **state)
{
	struct fake_virgo other;
	struct virgo_config config;
	struct virgo *small;

	(void)state;
	virgo_config_default(&config);
	config.queue_entries = 4;
	config.overflow_is_error = 1;
	small = fake_virgo_open(&other, &config);
	for (int i = 0; i < 100; i++)
		virgo_command(small, 0, VIRGO_FUNCT_CLOCK_GATE, 0, 0);
	assert_int_equal(virgo_wait(small, 0, virgo_ticket(small, 0)), 0);
	assert_int_equal(virgo_unit_load(other.fixture, 0, VIRGO_COMPLETED), 100);
	fake_virgo_close(&other, small);
}

/* --- parts of the shared memory -------------------------------------------------------------- */

static void parts_of_shared_memory_do_not_overlap(void **state)
{
	unsigned char *shared = virgo_shared(virgo, NULL), *parts[64];

	(void)state;
	for (int i = 0; i < 64; i++) {
		parts[i] = virgo_shared_alloc(virgo, 1 + (unsigned int)i * 16);
		assert_ptr_equal(parts[i], shared + 1024 * (63 - i));
	}
	assert_null(virgo_shared_alloc(virgo, 1));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(virgo_shared_free(virgo, parts[3]), 0);
	assert_int_equal(virgo_shared_free(virgo, parts[4]), 0);
	assert_null(virgo_shared_alloc(virgo, 2049));
	assert_ptr_equal(virgo_shared_alloc(virgo, 2048), parts[4]);
	for (int i = 0; i < 64; i++) {
		if (i != 3)
			assert_int_equal(virgo_shared_free(virgo, parts[i]), 0);
	}
	assert_ptr_equal(virgo_shared_alloc(virgo, 65536), shared);
	assert_int_equal(virgo_shared_free(virgo, shared), 0);
}

static void memory_outside_of_the_shared_memory_is_refused(void **state)
{
	unsigned char *part = virgo_shared_alloc(virgo, 2048);

	(void)state;
	assert_null(virgo_shared_alloc(virgo, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(virgo_shared_alloc(NULL, 1));
	assert_null(virgo_shared_alloc(virgo, 65537));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(virgo_shared_free(virgo, part + 1), -EINVAL);
	assert_int_equal(virgo_shared_free(virgo, part + 1024), -EINVAL);
	assert_int_equal(virgo_shared_free(virgo, part - 1024), -EINVAL);
	assert_int_equal(virgo_shared_free(virgo, &part), -EINVAL);
	assert_int_equal(virgo_shared_free(NULL, part), -EINVAL);
	assert_int_equal(virgo_shared_free(virgo, NULL), 0);
	assert_int_equal(virgo_shared_free(virgo, part), 0);
	assert_int_equal(virgo_shared_free(virgo, part), -EINVAL);
}

/* --- binary16 ---------------------------------------------------------------------------------- */

static void every_half_is_a_float_and_back(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		float value = virgo_from_half((uint16_t)bits);

		if ((bits & 0x7fff) > 0x7c00) {
			assert_true(isnan(value));
			assert_int_equal(virgo_half(value), 0x7e00);
			continue;
		}
		assert_true(value == half_value((uint16_t)bits));
		assert_int_equal(virgo_half(value), bits);
	}
}

static void floats_become_the_nearest_half(void **state)
{
	(void)state;
	/* Each float between two halves that are a tie, or one step beside it. */
	for (uint32_t bits = 0; bits < 0x7c00; bits++) {
		float low = half_value((uint16_t)bits);
		float high = bits == 0x7bff ? 65536 : half_value((uint16_t)(bits + 1));
		float middle = (low + high) / 2;
		const float values[] = { middle, nextafterf(middle, 0), nextafterf(middle, INFINITY) };

		for (int i = 0; i < 3; i++) {
			assert_int_equal(virgo_half(values[i]), half_of(values[i]));
			assert_int_equal(virgo_half(-values[i]), half_of(-values[i]));
		}
	}
	assert_int_equal(virgo_half(INFINITY), 0x7c00);
	assert_int_equal(virgo_half(-1e30f), 0xfc00);
	assert_int_equal(virgo_half(0x1p-149f), 0);
	assert_int_equal(virgo_half(-0x1p-26f), 0x8000);
}

#define ON(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_ticket_counts_the_commands_of_its_unit),
		ON(commands_are_done_when_the_unit_has_done_them),
		ON(a_wait_ends_with_the_ticket),
		ON(a_wait_for_an_old_loop_does_not_wait_for_new_ones),
		cmocka_unit_test(a_wait_does_not_end_before_a_loop_because_of_a_cisc_word),
		cmocka_unit_test(a_loop_is_not_done_because_others_behind_it_were_dropped),
		ON(a_thread_that_is_answered_at_once_asks_again),
		ON(nobody_waits_for_nothing),
		ON(fences_wait_for_all_or_for_loops),
		ON(a_reset_begins_anew_and_tickets_go_on),
		ON(errors_of_commands_are_told_with_their_number),
		ON(no_error_is_all_zero),
		ON(a_cleared_error_lets_the_unit_go_on_and_configures_anew),
		ON(parts_of_shared_memory_do_not_overlap),
		ON(memory_outside_of_the_shared_memory_is_refused),
		cmocka_unit_test(a_queue_that_could_overflow_does_not),
		cmocka_unit_test(every_half_is_a_float_and_back),
		cmocka_unit_test(floats_become_the_nearest_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
