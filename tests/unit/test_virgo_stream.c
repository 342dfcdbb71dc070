/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* STREAM: RS1, RS2 and the instruction word by stores to one register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the first two */
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

#define ROW_BYTES 32	/* fp32, DIM 8 */
#define QUEUE 16
#define FLUSH VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH)

static struct virgo_fixture *f;

static void start(void)
{
	f = virgo_fixture_create(NULL, 0);
	memset(f->shared, 0, 4096);
	for (unsigned int i = 0; i < 4096; i++)
		f->arena[i] = (unsigned char)(i * 7 + 1);
}

static void stop(void)
{
	virgo_fixture_destroy(f);
}

static void stream(uint64_t value)
{
	virgo_unit_store(f, 0, VIRGO_STREAM, value);
}

static void stream_command(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	stream(rs1);
	stream(rs2);
	stream(VIRGO_INSTRUCTION_WORD(funct));
}

static void run_jobs(void)
{
	struct virgo_job *job;

	while ((job = virgo_model_take_job(f->model)) != NULL) {
		virgo_job_run(job);
		virgo_model_job_done(f->model, job, ++f->now);
	}
}

/* The store of a word to STREAM by `owner`; does it wait? */
static bool word_as(uint64_t owner, uint64_t value)
{
	struct mimic_access access = {
		.owner = owner, .data = value, .offset = VIRGO_STREAM, .page = VIRGO_PAGE_UNITS,
		.size = 8, .is_write = 1,
	};

	return virgo_fixture_access(f, &access) == MIMIC_PARKED;
}

static void fill_queue(void)
{
	for (unsigned int i = 0; i < QUEUE; i++)
		stream_command(VIRGO_FUNCT_FLUSH, 0, 0);
}

/* Moves row 3 of the arena to row `to` of the scratchpad. */
static uint64_t move_rs2(unsigned int to)
{
	return virgo_pack(1, 8, to);
}

static bool row_is_there(unsigned int row)
{
	return !memcmp(f->shared + (size_t)row * ROW_BYTES, f->arena + 96, ROW_BYTES);
}

static void three_stores_are_a_command(void **state)
{
	(void)state;
	start();
	stream_command(VIRGO_FUNCT_MVIN, virgo_address(f->arena + 96), move_rs2(2));
	stream_command(VIRGO_FUNCT_MVIN, virgo_address(f->arena + 96), move_rs2(5));
	virgo_run(f);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_COMPLETED), 2);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_ERROR), VIRGO_ERROR_NONE);
	assert_true(row_is_there(2) && row_is_there(5));
	stop();
}

static void rs1_and_rs2_of_the_block_stay_as_they_are(void **state)
{
	(void)state;
	start();
	virgo_unit_store(f, 0, VIRGO_RS1, virgo_address(f->arena + 96));
	virgo_unit_store(f, 0, VIRGO_RS2, move_rs2(4));
	stream_command(VIRGO_FUNCT_FLUSH, 1, 2);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN));
	virgo_run(f);
	assert_true(row_is_there(4));
	stop();
}

static void a_reset_begins_a_new_turn(void **state)
{
	(void)state;
	start();
	stream(1);
	stream(2);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	stream_command(VIRGO_FUNCT_MVIN, virgo_address(f->arena + 96), move_rs2(1));
	virgo_run(f);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_COMPLETED), 1);
	assert_true(row_is_there(1));
	stop();
}

static void only_the_word_waits_for_room_in_the_queue(void **state)
{
	(void)state;
	start();
	fill_queue();
	assert_false(word_as(1, virgo_address(f->arena + 96)));
	assert_false(word_as(1, move_rs2(6)));
	assert_true(word_as(1, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	virgo_run(f);
	assert_true(f->completed[1]);
	assert_true(row_is_there(6));
	stop();
}

static void a_word_that_is_withdrawn_is_still_to_come(void **state)
{
	(void)state;
	start();
	fill_queue();
	stream(virgo_address(f->arena + 96));
	stream(move_rs2(6));
	assert_true(word_as(1, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	f->model->ops->cancel(f->model, 1, ++f->now);
	virgo_run(f);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_COMPLETED), QUEUE);
	assert_false(row_is_there(6));
	assert_false(word_as(1, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	virgo_run(f);
	assert_true(row_is_there(6));
	stop();
}

static void many_stores_stop_before_the_word_that_would_wait(void **state)
{
	struct mimic_access pattern = {
		.owner = 1, .offset = VIRGO_STREAM, .page = VIRGO_PAGE_UNITS, .size = 8, .is_write = 1,
	};
	struct virgo_config config = virgo_fixture_config(VIRGO_FP32, 8);
	uint64_t values[3 * (QUEUE + 4)];
	size_t count = sizeof(values) / sizeof(values[0]), done;

	(void)state;
	for (size_t i = 0; i < count; i++)
		values[i] = i % 3 == 2 ? FLUSH : i;
	/* With inline jobs a store that makes work ends the batch. */
	config.inline_jobs = 0;
	f = virgo_fixture_create(&config, 0);
	done = f->model->ops->store_many(f->model, &pattern, values, count, ++f->now);
	assert_int_equal(done, 3 * QUEUE + 2);
	run_jobs();
	done += f->model->ops->store_many(f->model, &pattern, values + done, count - done, ++f->now);
	assert_int_equal(done, count);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_DISPATCHED), QUEUE + 4);
	stop();
}

static void half_a_command_goes_with_its_thread(void **state)
{
	(void)state;
	start();
	assert_false(word_as(7, 1));
	assert_false(word_as(7, 2));
	f->model->ops->owner_gone(f->model, 6, ++f->now);
	f->model->ops->owner_gone(f->model, 7, ++f->now);
	stream_command(VIRGO_FUNCT_MVIN, virgo_address(f->arena + 96), move_rs2(1));
	virgo_run(f);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_COMPLETED), 1);
	assert_true(row_is_there(1));
	stop();
}

static void another_threads_end_leaves_a_turn_alone(void **state)
{
	(void)state;
	start();
	assert_false(word_as(7, virgo_address(f->arena + 96)));
	assert_false(word_as(7, move_rs2(1)));
	f->model->ops->owner_gone(f->model, 6, ++f->now);
	assert_false(word_as(7, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	virgo_run(f);
	assert_true(row_is_there(1));
	stop();
}

static void accesses_of_another_size_are_illegal(void **state)
{
	(void)state;
	start();
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_STREAM, 4, 7);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_STREAM), 0);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_illegal), 2);
	stream_command(VIRGO_FUNCT_MVIN, virgo_address(f->arena + 96), move_rs2(1));
	virgo_run(f);
	assert_true(row_is_there(1));
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_stores_are_a_command),
		cmocka_unit_test(rs1_and_rs2_of_the_block_stay_as_they_are),
		cmocka_unit_test(a_reset_begins_a_new_turn),
		cmocka_unit_test(only_the_word_waits_for_room_in_the_queue),
		cmocka_unit_test(a_word_that_is_withdrawn_is_still_to_come),
		cmocka_unit_test(many_stores_stop_before_the_word_that_would_wait),
		cmocka_unit_test(half_a_command_goes_with_its_thread),
		cmocka_unit_test(another_threads_end_leaves_a_turn_alone),
		cmocka_unit_test(accesses_of_another_size_are_illegal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
