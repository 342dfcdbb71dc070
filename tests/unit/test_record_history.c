/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Addresses and answers that are recorded by the places of bytes which the device has read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "devices/maple/maple_model.h"
#include "libmimic/base/kinds.h"
#include "libmimic/record/format.h"
#include "libmimic/record/history.h"
#include "libmimic/record/record.h"
#include "libmimic/replay/replay.h"
#include "tests/lib/self_memory.h"

#define OWNER 5
#define ELEMENTS 8192u
#define BATCH 512u

static uint32_t indices[ELEMENTS];
static uint64_t elements[ELEMENTS];
static struct record_file *file;
static char path[64];
static struct mimic_model *model;
static struct mimic_own_parameters parameters;
static uint64_t now;

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
	fail();
}

static int start(void **context)
{
	static struct mimic_host host;
	const struct record_model what = {
		.kind = &mimic_kind_maple, .name = "device", .parameters = &parameters, .host = &host,
	};

	(void)context;
	snprintf(path, sizeof(path), "/tmp/mimic-history-%d", (int)getpid());
	unlink(path);
	mimic_kind_maple.defaults(&parameters);
	host = (struct mimic_host){ .complete = complete, .memory = self_memory() };
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		indices[i] = i * 2654435761u % ELEMENTS;
		elements[i] = i * 0x9e3779b97f4a7c15ull;
	}
	file = mimic_record_file_make(path);
	model = file ? mimic_record_model_make(file, &what) : NULL;
	return !model;
}

static int stop(void **context)
{
	(void)context;
	unlink(path);
	return 0;
}

static uint64_t load(unsigned int operation, unsigned int queue)
{
	struct mimic_access access = {
		.owner = OWNER, .offset = MAPLE_OFFSET(operation, queue), .size = 8,
	};

	assert_int_equal(model->ops->access(model, &access, now += 10), MIMIC_DONE);
	return access.data;
}

static void store(unsigned int operation, unsigned int queue, uint64_t data)
{
	struct mimic_access access = {
		.owner = OWNER, .offset = MAPLE_OFFSET(operation, queue), .size = 8, .is_write = 1, .data = data,
	};

	assert_int_equal(model->ops->access(model, &access, now += 10), MIMIC_DONE);
}

static void open_queues(void)
{
	load(MAPLE_LOAD_INIT, 0);
	for (unsigned int queue = 0; queue < 2; queue++) {
		load(MAPLE_LOAD_OPEN_PRODUCER, queue);
		load(MAPLE_LOAD_OPEN_CONSUMER, queue);
	}
}

static void start_loop(unsigned int queue, unsigned int operation, uint32_t begin, uint32_t end)
{
	store(MAPLE_STORE_QUEUE_LIMA_A, queue, (uintptr_t)elements);
	store(MAPLE_STORE_QUEUE_LIMA_B, queue, (uintptr_t)indices);
	store(operation, queue, (uint64_t)begin << 32 | end);
}

static void take(unsigned int queue, uint32_t first, unsigned int count)
{
	const struct mimic_access pattern = {
		.owner = OWNER, .offset = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, queue), .size = 8,
	};
	uint64_t values[BATCH];

	assert_int_equal(model->ops->load_many(model, &pattern, values, count, now += 10), count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(values[i], elements[indices[first + i]]);
}

/* The file's size. */
static size_t finish(void)
{
	struct stat status;

	mimic_record_model_destroy(model);
	mimic_record_file_free(file);
	assert_int_equal(stat(path, &status), 0);
	return (size_t)status.st_size;
}

static void replay(const struct mimic_replay_options *options, struct mimic_replay_result *result)
{
	const struct mimic_replay_options none = { .settings = NULL };
	struct mimic_replay *opened;
	char text[256] = "";

	if (mimic_replay_open(&opened, path, text, sizeof(text)) ||
	    mimic_replay_run(opened, 0, options ? options : &none, result, text, sizeof(text)))
		fail_msg("%s", text);
	mimic_replay_close(opened);
}

/* The bytes that memory has now do not matter. */
static void expect_identical(void)
{
	struct mimic_replay_result result;

	memset(elements, 0, sizeof(elements));
	memset(indices, 0, sizeof(indices));
	replay(NULL, &result);
	if (result.difference.exists)
		fail_msg("call %llu, %s: recorded %s, now %s", (unsigned long long)result.difference.call,
			 result.difference.what, result.difference.recorded, result.difference.replayed);
	assert_int_equal(result.end, MIMIC_REPLAY_WHOLE);
}

static void take_all(void)
{
	for (uint32_t i = 0; i < ELEMENTS; i += BATCH)
		take(0, i, BATCH);
}

/*
 * Of each element the index and the value. The queue is short, so calls take a third more; addresses and answers
 * would be as much again.
 */
static void expect_short(size_t size)
{
	const size_t bytes = ELEMENTS * (sizeof(*indices) + sizeof(*elements));

	if (size < bytes || size > bytes + bytes / 3)
		fail_msg("%zu bytes for %zu of indices and values", size, bytes);
}

static void a_loops_addresses_and_answers_take_no_bytes_of_their_own(void **context)
{
	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER64, 0, ELEMENTS);
	take_all();
	expect_short(finish());
	expect_identical();
}

static void words_that_were_loaded_one_by_one_do_not_lengthen_the_rest(void **context)
{
	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER64, 0, ELEMENTS);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(load(MAPLE_LOAD_CONSUME, 0), elements[indices[i]]);
	for (uint32_t i = 5; i < ELEMENTS; i += BATCH)
		take(0, i, ELEMENTS - i < BATCH ? ELEMENTS - i : BATCH);
	expect_short(finish());
	expect_identical();
}

static void two_loops_at_a_time_replay_identically(void **context)
{
	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER64, 0, ELEMENTS / 2);
	start_loop(1, MAPLE_STORE_QUEUE_LOOP_POINTER64, ELEMENTS / 2, ELEMENTS);
	for (uint32_t i = 0; i < ELEMENTS / 2; i += 32) {
		take(0, i, 32);
		take(1, ELEMENTS / 2 + i, 32);
	}
	finish();
	expect_identical();
}

static void narrow_elements_replay_identically(void **context)
{
	const struct mimic_access pattern = {
		.owner = OWNER, .offset = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), .size = 4,
	};
	uint32_t values[BATCH];

	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER32, 0, ELEMENTS);
	for (uint32_t i = 0; i < ELEMENTS; i += BATCH) {
		assert_int_equal(model->ops->load_many(model, &pattern, values, BATCH, now += 10), BATCH);
		for (uint32_t k = 0; k < BATCH; k++)
			assert_int_equal(values[k], ((uint32_t *)elements)[indices[i + k]]);
	}
	assert_true(finish() < ELEMENTS * 12);
	expect_identical();
}

/* --- differences ------------------------------------------------------------------------------ */

static uint64_t spoiled_address;
static struct mimic_memory port_of_spoiled;

static long spoiled_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
			   uint64_t *values)
{
	uint64_t others[64];

	(void)context;
	assert_true(count <= 64);
	for (size_t i = 0; i < count; i++)
		others[i] = addresses[i] == spoiled_address ? addresses[i] + 8 : addresses[i];
	return port_of_spoiled.gather(port_of_spoiled.context, others, count, size, tag, values);
}

static struct mimic_model *create_with_another_address(void *context, const struct mimic_host *host)
{
	static struct mimic_host kept;

	kept = *host;
	port_of_spoiled = host->memory;
	kept.memory.gather = spoiled_gather;
	return mimic_kind_maple.create(context, &kept, NULL);
}

static void another_address_of_a_loop_is_a_difference(void **context)
{
	const struct mimic_replay_options options = {
		.create = create_with_another_address, .destroy = mimic_kind_maple.destroy, .context = &parameters,
	};
	struct mimic_replay_result result;
	char text[32];

	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER64, 0, ELEMENTS);
	take_all();
	spoiled_address = (uintptr_t)&elements[indices[3000]];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)spoiled_address);
	finish();
	replay(&options, &result);
	assert_true(result.difference.exists);
	assert_string_equal(result.difference.what, "address");
	assert_string_equal(result.difference.recorded, text);
}

static const struct mimic_model_ops *ops_of_spoiled;

static size_t load_another_value(struct mimic_model *spoiled, const struct mimic_access *pattern, void *values,
				 size_t count, uint64_t at)
{
	size_t done = ops_of_spoiled->load_many(spoiled, pattern, values, count, at);

	((uint64_t *)values)[7] ^= 1;
	return done;
}

static struct mimic_model *create_with_another_answer(void *context, const struct mimic_host *host)
{
	static struct mimic_model_ops ops;
	struct mimic_model *made = mimic_kind_maple.create(context, host, NULL);

	ops_of_spoiled = made->ops;
	ops = *made->ops;
	ops.load_many = load_another_value;
	made->ops = &ops;
	return made;
}

static void another_value_of_an_answer_is_a_difference(void **context)
{
	const struct mimic_replay_options options = {
		.create = create_with_another_answer, .destroy = mimic_kind_maple.destroy, .context = &parameters,
	};
	struct mimic_replay_result result;
	char text[32];

	(void)context;
	open_queues();
	start_loop(0, MAPLE_STORE_QUEUE_LOOP_POINTER64, 0, ELEMENTS);
	take_all();
	finish();
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)elements[indices[7]]);
	replay(&options, &result);
	assert_true(result.difference.exists);
	assert_string_equal(result.difference.what, "value 7 of the answer");
	assert_string_equal(result.difference.recorded, text);
}

/* --- files ------------------------------------------------------------------------------------ */

static void a_recording_of_version_1_is_replayed(void **context)
{
	struct record_file_header header = { .magic = RECORD_MAGIC, .version = 1 };
	FILE *bytes;

	(void)context;
	open_queues();
	finish();
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));
	bytes = fopen(path, "r+e");
	assert_non_null(bytes);
	assert_int_equal(fwrite(&header, sizeof(header), 1, bytes), 1);
	fclose(bytes);
	expect_identical();
}

static void bytes_of_a_history_are_there_until_as_many_came(void **context)
{
	static struct record_history history;
	unsigned char bytes[1000], got[1000];
	uint64_t first;

	(void)context;
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	for (unsigned int round = 0; round < 100; round++) {
		first = history.end;
		history_put(&history, bytes, sizeof(bytes));
		assert_true(history_is(&history, first, bytes, sizeof(bytes)));
		assert_false(history_is(&history, first, bytes + 1, sizeof(bytes) - 1));
		history_get(&history, first, got, sizeof(got));
		assert_memory_equal(got, bytes, sizeof(got));
	}
	assert_true(history_has(&history, history.end - HISTORY_BYTES, HISTORY_BYTES));
	assert_false(history_has(&history, history.end - HISTORY_BYTES - 1, 1));
	assert_false(history_has(&history, history.end - 4, 5));
	assert_false(history_has(&history, history.end + 4, 0));
}

int main(void)
{
#define RECORDED(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		RECORDED(a_loops_addresses_and_answers_take_no_bytes_of_their_own),
		RECORDED(words_that_were_loaded_one_by_one_do_not_lengthen_the_rest),
		RECORDED(two_loops_at_a_time_replay_identically),
		RECORDED(narrow_elements_replay_identically),
		RECORDED(another_address_of_a_loop_is_a_difference),
		RECORDED(another_value_of_an_answer_is_a_difference),
		RECORDED(a_recording_of_version_1_is_replayed),
		cmocka_unit_test(bytes_of_a_history_are_there_until_as_many_came),
	};

	return cmocka_run_group_tests_name("record_history", tests, NULL, NULL);
}
