/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recorded jobs of a Virgo cluster: those that end early, and the memory that they share with the program. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/record/record.h"
#include "libmimic/replay/replay.h"
#include "tests/lib/self_memory.h"
#include "tests/lib/virgo_fixture.h"

#define OWNER 3
#define BAD_ADDRESS 4096	/* nothing is there */

static struct {
	const struct mimic_kind *kind;	/* of recorded models */
	struct record_file *file;
	struct mimic_model *model;
	unsigned char *shared;
	size_t shared_size;
	char path[64];
	uint64_t now;
} test;

static void nobody_waits(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
	fail();
}

static void start(void)
{
	struct mimic_host host = { .complete = nobody_waits, .memory = self_memory() };
	struct mimic_own_parameters parameters;
	struct record_model what = { .kind = &mimic_kind_virgo, .name = "virgo0", .host = &host };

	memset(&parameters, 0, sizeof(parameters));
	mimic_kind_virgo.defaults(&parameters);
	mimic_kind_virgo.jobs->enable(&parameters);
	test.shared_size = mimic_kind_virgo.memory_size(&parameters);
	test.shared = aligned_alloc(4096, test.shared_size);
	assert_non_null(test.shared);
	memset(test.shared, 0, test.shared_size);
	snprintf(test.path, sizeof(test.path), "/tmp/mimic-recording-%d", (int)getpid());
	unlink(test.path);
	test.file = mimic_record_file_make(test.path);
	assert_non_null(test.file);
	what.parameters = &parameters;
	what.memory = test.shared;
	what.memory_size = test.shared_size;
	test.kind = mimic_record_kind_of(&mimic_kind_virgo);
	test.model = mimic_record_model_make(test.file, &what);
	assert_non_null(test.model);
}

static void store(unsigned int unit, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.owner = OWNER, .page = VIRGO_PAGE_UNITS, .offset = VIRGO_BLOCK_SIZE * unit + offset,
		.size = 8, .is_write = 1, .data = value,
	};

	assert_int_equal(test.model->ops->access(test.model, &access, ++test.now), MIMIC_DONE);
}

static void send(unsigned int unit, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	store(unit, VIRGO_STREAM, rs1);
	store(unit, VIRGO_STREAM, rs2);
	store(unit, VIRGO_STREAM, VIRGO_INSTRUCTION_WORD(funct));
}

static void *take(void)
{
	void *job = test.kind->jobs->take(test.model);

	assert_non_null(job);
	return job;
}

static void run(void *job)
{
	test.kind->jobs->run(job);
}

static void done(void *job)
{
	test.kind->jobs->done(test.model, job, ++test.now);
}

static void work_off(void)
{
	while (test.kind->jobs->has(test.model)) {
		void *job = take();

		run(job);
		done(job);
	}
}

static void finish(struct mimic_replay_result *result)
{
	const struct mimic_replay_options options = { .settings = NULL };
	struct mimic_replay *replay;
	char text[256] = "";

	mimic_record_model_destroy(test.model);
	mimic_record_file_free(test.file);
	free(test.shared);
	if (mimic_replay_open(&replay, test.path, text, sizeof(text)))
		fail_msg("%s", text);
	unlink(test.path);
	assert_false(mimic_replay_damage(replay)->exists);
	if (mimic_replay_run(replay, 0, &options, result, text, sizeof(text)))
		fail_msg("%s", text);
	mimic_replay_close(replay);
	if (result->difference.exists)
		fail_msg("call %llu, %s: %s: recorded %s, now %s",
			 (unsigned long long)result->difference.call, result->difference.asked,
			 result->difference.what, result->difference.recorded,
			 result->difference.replayed);
	assert_int_equal(result->end, MIMIC_REPLAY_WHOLE);
}

static void flushes(unsigned int unit, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		send(unit, VIRGO_FUNCT_FLUSH, 0, 0);
}

/* The reset comes while it runs: it ends after the command that it is at, here its first. */
static void a_job_that_a_reset_has_dropped_replays_identically(void **context)
{
	struct mimic_replay_result result;
	void *job;

	(void)context;
	start();
	flushes(0, 6);
	job = take();
	store(0, VIRGO_RESET, 0);
	run(job);
	done(job);
	flushes(0, 2);
	work_off();
	finish(&result);
	assert_int_equal(result.jobs, 2);
}

/* It ends in its second command, whose requests are replayed as well. */
static void a_job_that_ends_inside_of_a_command_replays_identically(void **context)
{
	struct mimic_replay_result result;

	(void)context;
	start();
	flushes(0, 1);
	send(0, VIRGO_FUNCT_MVIN, BAD_ADDRESS, virgo_pack(4, 4, 0));
	flushes(0, 1);
	work_off();
	finish(&result);
	assert_int_equal(result.jobs, 1);
}

/* The reset comes after the job's commands. */
static void a_job_that_ran_before_the_reset_replays_identically(void **context)
{
	struct mimic_replay_result result;
	void *job;

	(void)context;
	start();
	flushes(0, 6);
	job = take();
	run(job);
	store(0, VIRGO_RESET, 0);
	done(job);
	finish(&result);
	assert_int_equal(result.jobs, 1);
}

/* As a driver does with a job that it has not begun when the reset comes. */
static void a_job_that_is_handed_back_and_never_ran_replays_identically(void **context)
{
	struct mimic_replay_result result;
	void *job;

	(void)context;
	start();
	send(0, VIRGO_FUNCT_MVIN, BAD_ADDRESS, virgo_pack(4, 4, 0));
	job = take();
	store(0, VIRGO_RESET, 0);
	done(job);
	flushes(0, 2);
	work_off();
	finish(&result);
	assert_int_equal(result.jobs, 1);
}

/* Stores of the program while a job runs are counted, and are no difference. */
static void stores_of_the_program_while_a_job_runs_are_no_difference(void **context)
{
	struct mimic_replay_result result;
	void *job;

	(void)context;
	start();
	memset(test.shared, 0x5a, 100);
	flushes(0, 1);
	job = take();
	run(job);
	memset(test.shared + 4096, 0xa5, 64);
	done(job);
	test.shared[200] = 1;
	flushes(0, 1);
	work_off();
	finish(&result);
	assert_int_equal(result.shared_by_others, 64);
}

static void *run_on_thread(void *job)
{
	run(job);
	return NULL;
}

static void jobs_of_two_units_at_once_replay_identically(void **context)
{
	struct mimic_replay_result result;
	void *first, *second;
	pthread_t thread;

	(void)context;
	start();
	flushes(0, 3);
	send(0, VIRGO_FUNCT_MVIN, BAD_ADDRESS, virgo_pack(4, 4, 0));
	flushes(1, 3);
	send(1, VIRGO_FUNCT_MVIN, BAD_ADDRESS, virgo_pack(4, 4, 0));
	first = take();
	second = take();
	assert_int_equal(pthread_create(&thread, NULL, run_on_thread, second), 0);
	run(first);
	done(first);
	pthread_join(thread, NULL);
	done(second);
	finish(&result);
	assert_int_equal(result.jobs, 2);
}

/* Its recording holds the calls until then. */
static void a_recording_that_ends_while_a_job_is_out_is_whole(void **context)
{
	struct mimic_replay_result result;
	void *job;

	(void)context;
	start();
	flushes(0, 3);
	job = take();
	mimic_record_model_end(test.model);
	run(job);
	done(job);
	finish(&result);
	assert_int_equal(result.jobs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_a_reset_has_dropped_replays_identically),
		cmocka_unit_test(a_job_that_ends_inside_of_a_command_replays_identically),
		cmocka_unit_test(a_job_that_ran_before_the_reset_replays_identically),
		cmocka_unit_test(a_job_that_is_handed_back_and_never_ran_replays_identically),
		cmocka_unit_test(stores_of_the_program_while_a_job_runs_are_no_difference),
		cmocka_unit_test(jobs_of_two_units_at_once_replay_identically),
		cmocka_unit_test(a_recording_that_ends_while_a_job_is_out_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
