/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The synchronous mode of a Virgo: a command is over before its store is answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the first two */
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

#define ROW_BYTES 32	/* fp32, DIM 8 */
#define QUEUE 16
#define FIRST 2	/* the fixture loads and stores as 1 */
#define SECOND 3
#define FLUSH VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH)
#define GATE VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_CLOCK_GATE)
#define CISC_STORE_TO_SPAD 9

static struct virgo_fixture *f;

static void start(unsigned int synchronous)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.synchronous = synchronous;
	config.inline_jobs = 0;
	f = virgo_fixture_create(&config, 0);
	memset(f->shared, 0, 4096);
	memset(f->arena, 0xa5, ROW_BYTES);
}

static void stop(void)
{
	virgo_fixture_destroy(f);
}

static void run_jobs(void)
{
	struct virgo_job *job;

	while ((job = virgo_model_take_job(f->model)) != NULL) {
		virgo_job_run(job);
		virgo_model_job_done(f->model, job, ++f->now);
	}
}

/* The store of a value by `owner`; does it wait? */
static bool store_waits(uint64_t owner, unsigned int offset, unsigned int size, uint64_t value)
{
	struct mimic_access access = {
		.owner = owner, .data = value, .offset = (uint16_t)offset, .page = VIRGO_PAGE_UNITS,
		.size = (uint8_t)size, .is_write = 1,
	};

	f->completed[owner] = false;
	return virgo_fixture_access(f, &access) == MIMIC_PARKED;
}

static bool word_waits(uint64_t owner, uint32_t word)
{
	return store_waits(owner, VIRGO_INSTRUCTION, 4, word);
}

static void move_in_operands(unsigned int to)
{
	virgo_unit_store(f, 0, VIRGO_RS1, virgo_address(f->arena));
	virgo_unit_store(f, 0, VIRGO_RS2, virgo_pack(1, 8, to));
}

static bool row_is_there(unsigned int row)
{
	return !memcmp(f->shared + (size_t)row * ROW_BYTES, f->arena, ROW_BYTES);
}

static uint64_t dispatched(void)
{
	return virgo_unit_load(f, 0, VIRGO_DISPATCHED);
}

static void a_store_waits_until_its_command_is_over(void **state)
{
	(void)state;
	start(1);
	move_in_operands(3);
	assert_true(word_waits(FIRST, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	assert_false(f->completed[FIRST]);
	assert_false(row_is_there(3));
	run_jobs();
	assert_true(f->completed[FIRST]);
	assert_true(row_is_there(3));
	stop();
}

static void without_the_mode_it_does_not_wait(void **state)
{
	(void)state;
	start(0);
	assert_false(word_waits(FIRST, GATE));
	stop();
}

static void the_operands_of_a_command_do_not_wait(void **state)
{
	(void)state;
	start(1);
	assert_false(store_waits(FIRST, VIRGO_RS1, 8, 1));
	assert_false(store_waits(FIRST, VIRGO_RS2, 8, 2));
	stop();
}

static void the_third_store_to_stream_waits(void **state)
{
	(void)state;
	start(1);
	assert_false(store_waits(FIRST, VIRGO_STREAM, 8, virgo_address(f->arena)));
	assert_false(store_waits(FIRST, VIRGO_STREAM, 8, virgo_pack(1, 8, 4)));
	assert_true(store_waits(FIRST, VIRGO_STREAM, 8, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_MVIN)));
	run_jobs();
	assert_true(f->completed[FIRST] && row_is_there(4));
	stop();
}

static void a_cisc_word_waits_for_all_of_its_commands(void **state)
{
	(void)state;
	start(1);
	assert_true(store_waits(FIRST, VIRGO_CISC, 4, CISC_STORE_TO_SPAD));
	assert_int_equal(dispatched(), 2);
	run_jobs();
	assert_true(f->completed[FIRST]);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_COMPLETED), 2);
	stop();
}

static void a_store_that_found_the_queue_full_waits_for_its_command_too(void **state)
{
	struct virgo_job *job;

	(void)state;
	start(1);
	for (unsigned int i = 0; i < QUEUE; i++)
		assert_true(word_waits(FIRST + i, GATE));
	assert_true(word_waits(FIRST + QUEUE, GATE));
	assert_int_equal(dispatched(), QUEUE);
	job = virgo_model_take_job(f->model);
	assert_non_null(job);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	/* Room was made, so it is queued, and none of its own was done. */
	assert_int_equal(dispatched(), QUEUE + 1);
	assert_false(f->completed[FIRST + QUEUE]);
	run_jobs();
	assert_true(f->completed[FIRST + QUEUE]);
	stop();
}

static void a_command_that_fails_answers_its_store(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, VIRGO_INSTRUCTION_WORD(127)));
	run_jobs();
	assert_true(f->completed[FIRST]);
	assert_int_equal(virgo_unit_load(f, 0, VIRGO_ERROR), VIRGO_ERROR_COMMAND);
	/* The next word is dropped at once. */
	assert_false(word_waits(FIRST, GATE));
	stop();
}

static void a_reset_answers_a_store_that_waits(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, GATE));
	virgo_unit_store(f, 0, VIRGO_RESET, 1);
	assert_true(f->completed[FIRST]);
	stop();
}

/* A transport withdraws a store when a signal comes, and does it again. */
static void a_store_that_is_done_again_does_not_queue_its_command_again(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, GATE));
	f->model->ops->cancel(f->model, FIRST, ++f->now);
	assert_true(word_waits(FIRST, GATE));
	assert_int_equal(dispatched(), 1);
	run_jobs();
	assert_true(f->completed[FIRST]);
	/* The next one is another command. */
	assert_true(word_waits(FIRST, GATE));
	assert_int_equal(dispatched(), 2);
	stop();
}

static void a_store_that_is_done_again_after_the_end_does_not_wait(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, GATE));
	f->model->ops->cancel(f->model, FIRST, ++f->now);
	run_jobs();
	assert_false(f->completed[FIRST]);
	assert_false(word_waits(FIRST, GATE));
	assert_int_equal(dispatched(), 1);
	stop();
}

static void a_word_of_stream_that_is_done_again_does_not_queue_its_command_again(void **state)
{
	(void)state;
	start(1);
	assert_false(store_waits(FIRST, VIRGO_STREAM, 8, 0));
	assert_false(store_waits(FIRST, VIRGO_STREAM, 8, 0));
	assert_true(store_waits(FIRST, VIRGO_STREAM, 8, FLUSH));
	f->model->ops->cancel(f->model, FIRST, ++f->now);
	assert_true(store_waits(FIRST, VIRGO_STREAM, 8, FLUSH));
	assert_int_equal(dispatched(), 1);
	stop();
}

static void another_thread_s_same_store_is_a_command_of_its_own(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, GATE));
	f->model->ops->cancel(f->model, FIRST, ++f->now);
	assert_true(word_waits(SECOND, GATE));
	assert_int_equal(dispatched(), 2);
	stop();
}

static void another_command_of_the_thread_says_that_the_first_does_not_come_again(void **state)
{
	(void)state;
	start(1);
	assert_true(word_waits(FIRST, GATE));
	f->model->ops->cancel(f->model, FIRST, ++f->now);
	assert_true(word_waits(FIRST, FLUSH));
	run_jobs();
	assert_true(word_waits(FIRST, GATE));
	assert_int_equal(dispatched(), 3);
	stop();
}

/* As many threads as can wait end in the middle of a store, again and again. */
static void threads_that_end_leave_nothing_behind(void **state)
{
	(void)state;
	start(1);
	for (unsigned int i = 0; i < 1000; i++) {
		assert_true(word_waits(FIRST, GATE));
		f->model->ops->cancel(f->model, FIRST, ++f->now);
		f->model->ops->owner_gone(f->model, FIRST, ++f->now);
		run_jobs();
	}
	assert_true(word_waits(FIRST, GATE));
	stop();
}

static void a_store_that_waits_is_saved_and_restored(void **state)
{
	size_t size;
	void *image;

	(void)state;
	start(1);
	size = f->model->ops->save(f->model, NULL, 0);
	image = malloc(size);
	assert_non_null(image);
	assert_true(word_waits(FIRST, GATE));
	assert_true(word_waits(SECOND, FLUSH));
	f->model->ops->cancel(f->model, SECOND, ++f->now);
	assert_int_equal(f->model->ops->save(f->model, image, size), size);
	assert_int_equal(f->model->ops->restore(f->model, image, size), 0);
	assert_true(word_waits(SECOND, FLUSH));
	assert_int_equal(dispatched(), 2);
	run_jobs();
	assert_true(f->completed[FIRST] && f->completed[SECOND]);
	free(image);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_waits_until_its_command_is_over),
		cmocka_unit_test(without_the_mode_it_does_not_wait),
		cmocka_unit_test(the_operands_of_a_command_do_not_wait),
		cmocka_unit_test(the_third_store_to_stream_waits),
		cmocka_unit_test(a_cisc_word_waits_for_all_of_its_commands),
		cmocka_unit_test(a_store_that_found_the_queue_full_waits_for_its_command_too),
		cmocka_unit_test(a_command_that_fails_answers_its_store),
		cmocka_unit_test(a_reset_answers_a_store_that_waits),
		cmocka_unit_test(a_store_that_is_done_again_does_not_queue_its_command_again),
		cmocka_unit_test(a_store_that_is_done_again_after_the_end_does_not_wait),
		cmocka_unit_test(a_word_of_stream_that_is_done_again_does_not_queue_its_command_again),
		cmocka_unit_test(another_thread_s_same_store_is_a_command_of_its_own),
		cmocka_unit_test(another_command_of_the_thread_says_that_the_first_does_not_come_again),
		cmocka_unit_test(threads_that_end_leave_nothing_behind),
		cmocka_unit_test(a_store_that_waits_is_saved_and_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
