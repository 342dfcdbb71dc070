/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Jobs of Virgo units, on threads of their own, and images of a cluster. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sanitized.h"
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

/* A load of this owner; true: it waits. */
static bool load_as(unsigned int owner, unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .owner = owner, .page = (uint8_t)page, .offset = offset, .size = 8 };
	bool parked = virgo_fixture_access(f, &access) == MIMIC_PARKED;

	if (!parked)
		f->answer[owner] = access.data;
	return parked;
}

static void put_float(size_t index, float value)
{
	memcpy(f->arena + 4 * index, &value, 4);
}

static float get_float(const void *from, size_t index)
{
	float value;

	memcpy(&value, (const char *)from + 4 * index, 4);
	return value;
}

#define SIDE (IS_SANITIZED ? 128 : 256)

static void start_two_units(void)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.units = 2;
	config.shared_kb = 128;
	config.inline_jobs = 0;
	config.unit[1] = (struct virgo_unit_config){ .type = VIRGO_INT8, .dim = 16, .accumulator_kb = 16 };
	start_with(&config);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int finished;

/* Takes and runs jobs, until both units have done all. */
static void *worker(void *argument)
{
	(void)argument;
	for (;;) {
		struct virgo_job *job;
		bool over;

		pthread_mutex_lock(&lock);
		job = virgo_model_take_job(f->model);
		over = finished;
		pthread_mutex_unlock(&lock);
		if (!job && over)
			return NULL;
		if (!job)
			continue;
		virgo_job_run(job);
		pthread_mutex_lock(&lock);
		virgo_model_job_done(f->model, job, ++f->now);
		pthread_mutex_unlock(&lock);
	}
}

static void send_locked(unsigned int unit, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	bool room = false;

	while (!room) {
		pthread_mutex_lock(&lock);
		room = (reg(unit, VIRGO_STATUS) >> 8 & 0xff) < 16;
		if (room)
			virgo_send(f, unit, funct, rs1, rs2);
		pthread_mutex_unlock(&lock);
	}
}

/* C = A x B of SIDE by SIDE, in tiles; operands in this unit's half of the shared memory. */
static void multiply(unsigned int unit, unsigned int dim, unsigned int size, size_t memory)
{
	unsigned int tile = 64, blocks = tile / dim, rows = (128u << 10) / (dim * size);

	for (unsigned int id = 0; id < 2; id++)
		send_locked(unit, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | id << 3 | VIRGO_CONFIG_LD, SIDE * size);
	send_locked(unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | SIDE * 4);
	send_locked(unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, (uint64_t)blocks << 32 | blocks << 16 | blocks);
	send_locked(unit, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, SIDE, SIDE);
	send_locked(unit, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, SIDE, SIDE);
	send_locked(unit, VIRGO_FUNCT_LOOP_WS_SPAD_AB, unit * rows / 2, (unit + 1) * rows / 2);
	for (unsigned int i = 0; i < SIDE; i += tile)
		for (unsigned int j = 0; j < SIDE; j += tile)
			for (unsigned int k = 0; k < SIDE; k += tile) {
				send_locked(unit, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(memory + (i * SIDE + k) * size),
					    at(memory + 0x40000 + (k * SIDE + j) * size));
				send_locked(unit, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0,
					    k + tile == SIDE ? at(memory + 0x80000 + (i * SIDE + j) * 4) : 0);
				send_locked(unit, VIRGO_FUNCT_LOOP_WS, VIRGO_LOOP_FULL_C | (k != 0), 0);
			}
}

static bool is_busy_locked(void)
{
	bool busy;

	pthread_mutex_lock(&lock);
	busy = reg(0, VIRGO_BUSY) || reg(1, VIRGO_BUSY);
	pthread_mutex_unlock(&lock);
	return busy;
}

static void two_units_work_on_two_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	start_two_units();
	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		put_float(i, (float)(i % 5));
		put_float(0x10000 + i, (float)(i % 7) - 3);
		f->arena[0x200000 + i] = (unsigned char)(i % 9);
		f->arena[0x240000 + i] = (unsigned char)(int)(3 - i % 6);
	}
	finished = 0;
	for (unsigned int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	multiply(0, 8, 4, 0);
	multiply(1, 16, 1, 0x200000);
	while (is_busy_locked())
		;
	pthread_mutex_lock(&lock);
	finished = 1;
	pthread_mutex_unlock(&lock);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	assert_int_equal(reg(1, VIRGO_ERROR), 0);
	for (unsigned int i = 0; i < SIDE; i += 7)
		for (unsigned int j = 0; j < SIDE; j += 5) {
			float sum = 0;
			int32_t whole = 0, got;

			for (unsigned int k = 0; k < SIDE; k++) {
				sum += get_float(f->arena, i * SIDE + k) * get_float(f->arena, 0x10000 + k * SIDE + j);
				whole += (int8_t)f->arena[0x200000 + i * SIDE + k] *
					 (int8_t)f->arena[0x240000 + k * SIDE + j];
			}
			assert_true(get_float(f->arena + 0x80000, i * SIDE + j) == sum);
			memcpy(&got, f->arena + 0x280000 + 4 * (i * SIDE + j), 4);
			assert_int_equal(got, whole);
		}
	stop();
}

static void a_unit_has_one_job_at_a_time(void **state)
{
	struct virgo_job *first, *second;

	(void)state;
	start_two_units();
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	virgo_send(f, 1, VIRGO_FUNCT_FLUSH, 0, 0);
	first = virgo_model_take_job(f->model);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	second = virgo_model_take_job(f->model);
	assert_int_equal(virgo_job_unit(first), 0);
	assert_int_equal(virgo_job_unit(second), 1);
	assert_null(virgo_model_take_job(f->model));
	assert_false(virgo_model_has_job(f->model));
	virgo_job_run(first);
	virgo_model_job_done(f->model, first, ++f->now);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 1);
	assert_true(virgo_model_has_job(f->model));
	virgo_job_run(second);
	virgo_model_job_done(f->model, second, ++f->now);
	first = virgo_model_take_job(f->model);
	virgo_job_run(first);
	virgo_model_job_done(f->model, first, ++f->now);
	assert_int_equal(reg(0, VIRGO_BUSY), 0);
	stop();
}

static void a_reset_while_a_job_is_out_takes_effect_when_it_comes_back(void **state)
{
	struct virgo_job *job;

	(void)state;
	start_two_units();
	virgo_send(f, 0, 99, 0, 0);
	job = virgo_model_take_job(f->model);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(reg(0, VIRGO_BUSY), 1);
	assert_true(load_as(2, VIRGO_PAGE_UNITS, VIRGO_FENCE));
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	assert_false(f->completed[2]);
	job = virgo_model_take_job(f->model);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_true(f->completed[2]);
	assert_int_equal(reg(0, VIRGO_DISPATCHED), 1);
	assert_int_equal(reg(0, VIRGO_COMPLETED), 1);
	assert_int_equal(reg(0, VIRGO_BUSY), 0);
	stop();
}

static void run_one_job(void)
{
	struct virgo_job *job = virgo_model_take_job(f->model);

	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
}

static void counters_cleared_while_a_job_is_outstanding_keep_its_counts_and_no_more(void **state)
{
	struct virgo_job *job;

	(void)state;
	start_two_units();
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	run_one_job();
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 2);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	job = virgo_model_take_job(f->model);
	f->model->ops->clear_counters(f->model);
	f->model->ops->clear_counters(f->model);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 0);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 1);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	run_one_job();
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 2);
	stop();
}

static void counters_cleared_before_a_power_on_of_a_job_that_is_out_stay_0(void **state)
{
	struct virgo_job *job;

	(void)state;
	start_two_units();
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	run_one_job();
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	job = virgo_model_take_job(f->model);
	f->model->ops->clear_counters(f->model);
	f->model->ops->power_on(f->model, ++f->now);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 0);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	run_one_job();
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_commands), 1);
	stop();
}

static void a_command_that_a_power_on_ends_is_no_event(void **state)
{
	struct virgo_job *job;

	(void)state;
	start_two_units();
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	virgo_send(f, 1, VIRGO_FUNCT_FLUSH, 0, 0);
	job = virgo_model_take_job(f->model);
	f->model->ops->power_on(f->model, ++f->now);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_int_equal(reg(0, VIRGO_BUSY), 0);
	assert_int_equal(virgo_load(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS, 8), 0);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	job = virgo_model_take_job(f->model);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	assert_int_equal(virgo_load(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS, 8), VIRGO_EVENT_IDLE(0));
	stop();
}

/* --- images --------------------------------------------------------------------------------------------- */

static void an_image_taken_in_the_middle_of_a_loop_goes_on(void **state)
{
	unsigned char *expected = malloc(0x40000), *image;
	size_t size;

	(void)state;
	assert_non_null(expected);
	start_with(NULL);
	for (unsigned int i = 0; i < 0x20000; i++)
		put_float(i, (float)(i % 13));
	for (unsigned int id = 0; id < 2; id++)
		virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | id << 3 | VIRGO_CONFIG_LD, 1024);
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 1024);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 8ull << 32 | 8u << 16 | 8);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(0), at(0x40000));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, at(0x100000));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, 256, 256);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, 256, 256);
	virgo_run(f);
	for (unsigned int i = 0; i < 8; i++)
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, i != 0, 0);
	f->model->ops->tick(f->model, ++f->now);
	size = f->model->ops->save(f->model, NULL, 0);
	image = malloc(size);
	assert_non_null(image);
	assert_int_equal(f->model->ops->save(f->model, image, size), size);
	virgo_run(f);
	memcpy(expected, f->arena + 0x100000, 0x40000);
	f->model->ops->power_on(f->model, ++f->now);
	memset(f->shared, 0, 65536);
	memset(f->arena + 0x100000, 0, 0x40000);
	assert_int_equal(f->model->ops->restore(f->model, image, size), 0);
	assert_true(f->model->ops->busy(f->model));
	virgo_run(f);
	assert_memory_equal(expected, f->arena + 0x100000, 0x40000);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	free(image);
	free(expected);
	stop();
}

static void images_that_are_not_sound_are_refused_or_harmless(void **state)
{
	unsigned char *image, *good;
	size_t size;

	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 6; i++)
		virgo_send(f, 0, i % 2 ? VIRGO_FUNCT_LOOP_WS : VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 8, 0));
	f->model->ops->tick(f->model, ++f->now);
	size = f->model->ops->save(f->model, NULL, 0);
	good = malloc(size);
	image = malloc(size);
	assert_non_null(image);
	assert_non_null(good);
	f->model->ops->save(f->model, good, size);
	assert_int_equal(f->model->ops->restore(f->model, good, size - 1), -22);
	srand(1);
	for (unsigned int round = 0; round < UNLESS_SANITIZED(3000); round++) {
		unsigned int ticks = 0;

		memcpy(image, good, size);
		/* the state lies before the accumulator and the shared memory */
		for (unsigned int i = 0; i < 3; i++)
			image[(size_t)rand() % (size - 65536 - 16384)] = (unsigned char)rand();
		if (f->model->ops->restore(f->model, image, size))
			continue;
		memset(f->parked, 1, sizeof(f->parked));
		while (f->model->ops->busy(f->model) && ticks++ < 100)
			f->model->ops->tick(f->model, ++f->now);
		f->model->ops->power_on(f->model, ++f->now);
	}
	f->unexpected = 0;
	free(image);
	free(good);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_units_work_on_two_threads),
		cmocka_unit_test(a_unit_has_one_job_at_a_time),
		cmocka_unit_test(a_reset_while_a_job_is_out_takes_effect_when_it_comes_back),
		cmocka_unit_test(counters_cleared_while_a_job_is_outstanding_keep_its_counts_and_no_more),
		cmocka_unit_test(counters_cleared_before_a_power_on_of_a_job_that_is_out_stay_0),
		cmocka_unit_test(a_command_that_a_power_on_ends_is_no_event),
		cmocka_unit_test(an_image_taken_in_the_middle_of_a_loop_goes_on),
		cmocka_unit_test(images_that_are_not_sound_are_refused_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
