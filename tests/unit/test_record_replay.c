/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recordings that are replayed: by the same model identical, by another one with the first difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "libmimic/base/kinds.h"
#include "devices/dare/dare_model.h"
#include "devices/maple/maple_model.h"
#include "libmaple/maple.h"
#include "libmimic/record/format.h"
#include "libmimic/record/record.h"
#include "libmimic/replay/replay.h"
#include "tests/lib/recordings.h"
#include "tests/lib/self_memory.h"

#define OWNER 5

static void replay_stream(const char *path, unsigned int stream,
			  const struct mimic_replay_options *options,
			  struct mimic_replay_result *result)
{
	const struct mimic_replay_options none = { .settings = NULL };
	struct mimic_replay *replay;
	char text[256] = "";

	if (mimic_replay_open(&replay, path, text, sizeof(text)))
		fail_msg("%s: %s", path, text);
	assert_false(mimic_replay_damage(replay)->exists);
	assert_true(mimic_replay_count(replay) > stream);
	if (mimic_replay_run(replay, stream, options ? options : &none, result, text, sizeof(text)))
		fail_msg("%s: %s", path, text);
	mimic_replay_close(replay);
}

static void expect_identical(const struct mimic_replay_result *result)
{
	if (result->difference.exists)
		fail_msg("call %llu, %s: %s: recorded %s, now %s",
			 (unsigned long long)result->difference.call, result->difference.asked,
			 result->difference.what, result->difference.recorded,
			 result->difference.replayed);
	assert_int_equal(result->end, MIMIC_REPLAY_WHOLE);
}

/* --- programs ----------------------------------------------------------------------------- */

static void a_program_of_each_library_replays_identically(void **context)
{
	struct mimic_replay_result result;
	struct recording recording;

	(void)context;
	for (unsigned int program = RECORDED_MAPLE; program <= RECORDED_VIRGO; program++) {
		recording_make(&recording, (enum recorded_program)program);
		replay_stream(recording.path, 0, NULL, &result);
		expect_identical(&result);
		assert_string_equal(result.kind, mimic_kinds[program]->name);
		assert_true(result.calls > 3);
		assert_true(result.bytes_read > 0);
		assert_string_equal(result.version, MIMIC_VERSION);
		recording_free(&recording);
	}
}

static void each_device_is_a_stream_in_the_order_of_their_opening(void **context)
{
	static const char *const names[] = { "maple0", "dare0", "virgo0", "maple0" };
	struct mimic_replay_result result;
	struct recording recording;

	(void)context;
	recording_make(&recording, RECORDED_ALL);
	for (unsigned int i = 0; i < 4; i++) {
		replay_stream(recording.path, i, NULL, &result);
		expect_identical(&result);
		assert_string_equal(result.name, names[i]);
	}
	recording_free(&recording);
}

/* A child's devices are its own: its file is beside its parent's. */
static void a_forked_child_does_not_write_into_its_parents_file(void **context)
{
	char path[64], other[64];
	struct mimic_replay_result result;
	struct maple *maple;
	int status, ends[2];
	pid_t parent, child = 0;

	(void)context;
	snprintf(path, sizeof(path), "/tmp/mimic-recording-%d.mimic", (int)getpid());
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	parent = fork();
	if (parent == 0) {
		setenv("MIMIC_TRANSPORT", "embedded", 1);
		setenv("MIMIC_RECORD", path, 1);
		if (maple_init(&maple, NULL))
			_exit(1);
		child = fork();
		if (child == 0) {
			struct maple *own;

			_exit(maple_init(&own, NULL) != 0);
		}
		if (write(ends[1], &child, sizeof(child)) != sizeof(child) ||
		    waitpid(child, &status, 0) != child || status)
			_exit(1);
		maple_fini(maple);
		exit(0);
	}
	assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(status, 0);
	replay_stream(path, 0, NULL, &result);
	expect_identical(&result);
	snprintf(other, sizeof(other), "/tmp/mimic-recording-%d.%d.mimic", (int)getpid(), (int)child);
	/* It has left by _exit(): the recording has its calls, and no end. */
	replay_stream(other, 0, NULL, &result);
	assert_int_equal(result.end, MIMIC_REPLAY_CUT);
	assert_false(result.difference.exists);
	unlink(path);
	unlink(other);
	close(ends[0]);
	close(ends[1]);
}

/* --- differences ----------------------------------------------------------------------------- */

static char path_of_test[64];
static struct record_file *file;

static void nobody_waits(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
	fail();
}

/* NULL with errno. */
static struct mimic_model *open_device(const struct mimic_kind *kind, struct mimic_own_parameters *parameters)
{
	static struct mimic_host host;
	struct record_model what = {
		.kind = kind, .name = "device", .parameters = parameters, .host = &host,
	};

	memset(parameters, 0, sizeof(*parameters));
	kind->defaults(parameters);
	host.complete = nobody_waits;
	host.memory = self_memory();
	return mimic_record_model_make(file, &what);
}

static void make_file(void)
{
	snprintf(path_of_test, sizeof(path_of_test), "/tmp/mimic-recording-%d", (int)getpid());
	unlink(path_of_test);
	file = mimic_record_file_make(path_of_test);
	assert_non_null(file);
}

static struct mimic_model *record(const struct mimic_kind *kind, struct mimic_own_parameters *parameters)
{
	struct mimic_model *model;

	make_file();
	model = open_device(kind, parameters);
	assert_non_null(model);
	return model;
}

static void finish(struct mimic_model *model)
{
	mimic_record_model_destroy(model);
	mimic_record_file_free(file);
}

static uint64_t load(struct mimic_model *model, unsigned int operation, unsigned int queue)
{
	struct mimic_access access = {
		.owner = OWNER, .offset = MAPLE_OFFSET(operation, queue), .size = 8,
	};
	static uint64_t now = 100;

	assert_int_equal(model->ops->access(model, &access, now += 10), MIMIC_DONE);
	return access.data;
}

/* IDENTIFY answers how many queues there are: with another number it is the first that differs. */
static void another_parameter_is_a_difference_at_the_first_answer_that_shows_it(void **context)
{
	static const char *const settings[] = { "queues=4" };
	const struct mimic_replay_options options = { .settings = settings, .setting_count = 1 };
	struct mimic_own_parameters parameters;
	struct mimic_replay_result result;
	struct mimic_model *model = record(&mimic_kind_maple, &parameters);
	uint64_t identity;
	char text[32];

	(void)context;
	load(model, MAPLE_LOAD_FAULT_COUNT, 0);
	identity = load(model, MAPLE_LOAD_IDENTIFY, 0);
	load(model, MAPLE_LOAD_FAULT_COUNT, 0);
	finish(model);
	replay_stream(path_of_test, 0, NULL, &result);
	expect_identical(&result);
	assert_int_equal(result.calls, 3);
	replay_stream(path_of_test, 0, &options, &result);
	assert_true(result.difference.exists);
	assert_int_equal(result.difference.call, 2);
	assert_string_equal(result.difference.what, "answer");
	assert_non_null(strstr(result.difference.asked, "load of MAPLE IDENTIFY"));
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)identity);
	assert_string_equal(result.difference.recorded, text);
	/* docs/maple.md: queues are bits 23 to 16. */
	identity = (identity & ~0xff0000ull) | 4ull << 16;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)identity);
	assert_string_equal(result.difference.replayed, text);
	unlink(path_of_test);
}

static void a_parameter_that_is_none_is_refused(void **context)
{
	static const char *const wrong[] = { "queue=4", "queues", "queues=", "queues=x", "queues=-1", "queues=0", "=3" };
	struct mimic_own_parameters parameters;
	struct mimic_replay_result result;
	struct mimic_replay *replay;
	char text[256];

	(void)context;
	finish(record(&mimic_kind_maple, &parameters));
	assert_int_equal(mimic_replay_open(&replay, path_of_test, text, sizeof(text)), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct mimic_replay_options options = { .settings = &wrong[i], .setting_count = 1 };

		assert_true(mimic_replay_run(replay, 0, &options, &result, text, sizeof(text)) < 0);
	}
	mimic_replay_close(replay);
	unlink(path_of_test);
}

/* A model that is wrong in one thing. */
static uint64_t spoiled_address;
static const struct mimic_memory *port_of_spoiled;
static struct mimic_memory spoiled_port;

static int spoiled_read(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context;
	return port_of_spoiled->read(port_of_spoiled->context, address, buffer, size);
}

static long spoiled_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			   uint64_t tag, uint64_t *values)
{
	uint64_t others[64];

	(void)context;
	assert_true(count <= 64);
	for (size_t i = 0; i < count; i++)
		others[i] = addresses[i] == spoiled_address ? addresses[i] + 8 : addresses[i];
	return port_of_spoiled->gather(port_of_spoiled->context, others, count, size, tag, values);
}

static struct mimic_model *create_spoiled(void *context, const struct mimic_host *host)
{
	static struct mimic_host kept;
	static struct mimic_memory inner;

	kept = *host;
	inner = host->memory;
	port_of_spoiled = &inner;
	spoiled_port = inner;
	spoiled_port.gather = spoiled_gather;
	spoiled_port.read = spoiled_read;
	kept.memory = spoiled_port;
	return mimic_kind_maple.create(context, &kept, NULL);
}

static void another_address_is_a_difference(void **context)
{
	static uint64_t data[4] = { 10, 11, 12, 13 };
	struct mimic_own_parameters parameters;
	struct mimic_model *model = record(&mimic_kind_maple, &parameters);
	const struct mimic_replay_options options = {
		.create = create_spoiled, .destroy = mimic_kind_maple.destroy, .context = &parameters,
	};
	struct mimic_access pattern = {
		.owner = OWNER, .offset = MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER64, 0), .size = 8, .is_write = 1,
	};
	uint64_t pointers[4], values[4];
	struct mimic_replay_result result;
	char text[32];

	(void)context;
	load(model, MAPLE_LOAD_INIT, 0);
	load(model, MAPLE_LOAD_OPEN_PRODUCER, 0);
	load(model, MAPLE_LOAD_OPEN_CONSUMER, 0);
	for (unsigned int i = 0; i < 4; i++)
		pointers[i] = (uintptr_t)&data[i];
	assert_int_equal(model->ops->store_many(model, &pattern, pointers, 4, 1000), 4);
	pattern.offset = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0);
	pattern.is_write = 0;
	assert_int_equal(model->ops->load_many(model, &pattern, values, 4, 1010), 4);
	assert_memory_equal(values, data, sizeof(data));
	finish(model);
	/* The bytes that memory has now do not matter. */
	memset(data, 0, sizeof(data));
	replay_stream(path_of_test, 0, NULL, &result);
	expect_identical(&result);
	assert_int_equal(result.values, 8);
	assert_int_equal(result.bytes_read, 32);
	spoiled_address = pointers[2];
	replay_stream(path_of_test, 0, &options, &result);
	assert_true(result.difference.exists);
	assert_int_equal(result.difference.call, 4);
	assert_string_equal(result.difference.what, "address");
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)pointers[2]);
	assert_string_equal(result.difference.recorded, text);
	unlink(path_of_test);
}

static bool is_there;		/* the memory of the test */

static int late_read(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct mimic_memory memory = self_memory();

	(void)context;
	if (is_there)
		return memory.read(memory.context, address, buffer, size);
	memset(buffer, 0, size);
	return -EFAULT;
}

static long late_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
			uint64_t *values)
{
	const struct mimic_memory memory = self_memory();

	(void)context;
	return is_there ? memory.gather(memory.context, addresses, count, size, tag, values) : 0;
}

static enum mimic_fault_answer stall(void *context, uint64_t address, unsigned int source)
{
	(void)context;
	(void)address;
	(void)source;
	return MIMIC_FAULT_STALL;
}

static unsigned int completions;

static void count_completion(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
	completions++;
}

/* As mimicd does for a program that serves page faults itself. */
static void memory_that_comes_later_and_is_asked_again_replays_identically(void **context)
{
	static const uint64_t word = 4711;
	struct mimic_host host = { .complete = count_completion, .page_fault = stall, .memory = self_memory() };
	struct mimic_own_parameters parameters;
	struct record_model what = { .kind = &mimic_kind_maple, .name = "maple0", .parameters = &parameters, .host = &host };
	struct mimic_access consume = { .owner = OWNER, .size = 8 }, fetch = {
		.owner = OWNER, .offset = MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER64, 0), .size = 8, .is_write = 1,
		.data = (uintptr_t)&word,
	};
	struct mimic_replay_result result;
	struct mimic_model *model;

	(void)context;
	memset(&parameters, 0, sizeof(parameters));
	mimic_kind_maple.defaults(&parameters);
	host.memory.read = late_read;
	host.memory.gather = late_gather;
	host.memory.walk = NULL;
	make_file();
	model = mimic_record_model_make(file, &what);
	assert_non_null(model);
	load(model, MAPLE_LOAD_INIT, 0);
	load(model, MAPLE_LOAD_OPEN_PRODUCER, 0);
	load(model, MAPLE_LOAD_OPEN_CONSUMER, 0);
	is_there = false;
	assert_int_equal(model->ops->access(model, &fetch, 1000), MIMIC_PARKED);
	is_there = true;
	completions = 0;
	mimic_record_kind_of(&mimic_kind_maple)->retry(model, 1010);
	assert_int_equal(completions, 1);
	consume.offset = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0);
	assert_int_equal(model->ops->access(model, &consume, 1020), MIMIC_DONE);
	assert_int_equal(consume.data, word);
	finish(model);
	replay_stream(path_of_test, 0, NULL, &result);
	expect_identical(&result);
	assert_int_equal(result.bytes_read, 8);
	unlink(path_of_test);
}

static struct mimic_memory only_memory;	/* of all address spaces, one after the other */

static const struct mimic_memory *memory_of_any(void *context, uint64_t address_space)
{
	(void)context;
	(void)address_space;
	return &only_memory;
}

/* As a program's that comes when another one is gone, and lies where that one's was. */
static void another_memory_at_the_same_place_replays_identically(void **context)
{
	struct mimic_host host = { .complete = nobody_waits, .memory = self_memory(), .memory_of = memory_of_any };
	struct mimic_own_parameters parameters;
	struct record_model what = { .kind = &mimic_kind_dare, .name = "dare0", .parameters = &parameters, .host = &host };
	const struct mimic_kind *kind = mimic_record_kind_of(&mimic_kind_dare);
	struct mimic_replay_result result;
	struct mimic_model *model;

	(void)context;
	memset(&parameters, 0, sizeof(parameters));
	mimic_kind_dare.defaults(&parameters);
	make_file();
	model = mimic_record_model_make(file, &what);
	assert_non_null(model);
	only_memory = self_memory();
	kind->contexts->attach(model, 0, 1, 1000);
	only_memory.write_rows = NULL;
	kind->contexts->attach(model, 0, 2, 1010);
	finish(model);
	replay_stream(path_of_test, 0, NULL, &result);
	expect_identical(&result);
	unlink(path_of_test);
}

/* --- whole records of a damaged recording ---------------------------------------------------------- */

static void records_before_a_damage_are_replayed(void **context)
{
	const struct mimic_replay_options options = { .settings = NULL };
	struct mimic_replay_result result;
	struct recording recording;
	struct mimic_replay *replay;
	char path[64], text[256];
	struct record_block_header header;
	size_t last = 0;
	int fd;

	(void)context;
	recording_make(&recording, RECORDED_ALL);
	for (unsigned int i = 0; recording_block(recording.bytes, recording.size, i) < recording.size; i++)
		last = recording_block(recording.bytes, recording.size, i);
	memcpy(&header, recording.bytes + last, sizeof(header));
	recording.bytes[recording.size - 1] ^= 1;
	fd = recording_file(recording.bytes, recording.size, path, sizeof(path));
	assert_int_equal(mimic_replay_open(&replay, path, text, sizeof(text)), 0);
	assert_true(mimic_replay_damage(replay)->exists);
	assert_int_equal(mimic_replay_count(replay), 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(mimic_replay_run(replay, i, &options, &result, text, sizeof(text)), 0);
		assert_false(result.difference.exists);
		assert_int_equal(result.end, i == header.stream ? MIMIC_REPLAY_CUT : MIMIC_REPLAY_WHOLE);
	}
	mimic_replay_close(replay);
	close(fd);
	recording_free(&recording);
}

static void a_file_that_exists_is_not_written_over(void **context)
{
	struct record_file *first, *second;

	(void)context;
	snprintf(path_of_test, sizeof(path_of_test), "/tmp/mimic-recording-%d", (int)getpid());
	first = mimic_record_file_make(path_of_test);
	assert_non_null(first);
	second = mimic_record_file_make(path_of_test);
	assert_null(second);
	assert_int_equal(errno, EEXIST);
	mimic_record_file_free(first);
	unlink(path_of_test);
}

/* Somebody moves the file away and puts another one there: that is not ours. */
static void a_file_in_the_place_of_ours_is_not_written(void **context)
{
	struct mimic_own_parameters parameters;
	struct mimic_model *model = record(&mimic_kind_maple, &parameters);
	FILE *other;

	(void)context;
	unlink(path_of_test);
	other = fopen(path_of_test, "w");
	assert_non_null(other);
	load(model, MAPLE_LOAD_FAULT_COUNT, 0);
	finish(model);
	fseek(other, 0, SEEK_END);
	assert_int_equal(ftell(other), 0);
	fclose(other);
	unlink(path_of_test);
}

static long size_of_file(void)
{
	struct stat status;

	assert_int_equal(stat(path_of_test, &status), 0);
	return (long)status.st_size;
}

/* Its next block has `room` bytes; a write behind those is a signal that ends the process. */
static void fill_disk(struct rlimit *before, unsigned int room)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
	limit = *before;
	limit.rlim_cur = (rlim_t)size_of_file() + room;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_device_that_is_opened_when_the_disk_is_full_works_and_is_not_recorded(void **context)
{
	struct mimic_own_parameters parameters;
	struct mimic_model *first = record(&mimic_kind_maple, &parameters), *second;
	long size = size_of_file();
	struct rlimit limit;

	(void)context;
	fill_disk(&limit, 10);
	mimic_record_model_destroy(first);
	second = open_device(&mimic_kind_maple, &parameters);
	assert_non_null(second);
	assert_int_equal(load(second, MAPLE_LOAD_FAULT_COUNT, 0), 0);
	finish(second);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(size_of_file(), size + 10);
	unlink(path_of_test);
}

static void a_disk_that_is_full_before_the_first_device_is_an_error(void **context)
{
	struct mimic_own_parameters parameters;
	struct rlimit limit;

	(void)context;
	make_file();
	fill_disk(&limit, 10);
	assert_null(open_device(&mimic_kind_maple, &parameters));
	assert_int_equal(errno, EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	mimic_record_file_free(file);
	unlink(path_of_test);
}

static void a_disk_that_is_full_where_a_block_ends_is_no_signal(void **context)
{
	struct mimic_own_parameters parameters;
	struct mimic_replay_result result;
	struct mimic_model *model = record(&mimic_kind_maple, &parameters);
	struct rlimit limit;

	(void)context;
	fill_disk(&limit, 0);
	load(model, MAPLE_LOAD_FAULT_COUNT, 0);
	finish(model);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	replay_stream(path_of_test, 0, NULL, &result);
	assert_int_equal(result.end, MIMIC_REPLAY_CUT);
	unlink(path_of_test);
}

/* A device that is not in the file gets no number there, or no device behind it would be found. */
static void devices_behind_one_whose_beginning_could_not_be_written_are_recorded(void **context)
{
	struct mimic_model *recorded[2], *other;
	struct mimic_own_parameters parameters;
	struct mimic_replay_result result;
	char away[sizeof(path_of_test) + 5];

	(void)context;
	make_file();
	snprintf(away, sizeof(away), "%s.away", path_of_test);
	assert_int_equal(rename(path_of_test, away), 0);
	assert_null(open_device(&mimic_kind_maple, &parameters));
	assert_int_equal(rename(away, path_of_test), 0);
	recorded[0] = open_device(&mimic_kind_maple, &parameters);
	assert_non_null(recorded[0]);
	assert_int_equal(rename(path_of_test, away), 0);
	other = open_device(&mimic_kind_maple, &parameters);
	assert_non_null(other);
	assert_int_equal(rename(away, path_of_test), 0);
	recorded[1] = open_device(&mimic_kind_maple, &parameters);
	assert_non_null(recorded[1]);
	load(recorded[1], MAPLE_LOAD_FAULT_COUNT, 0);
	mimic_record_model_destroy(other);
	mimic_record_model_destroy(recorded[1]);
	finish(recorded[0]);
	for (unsigned int i = 0; i < 2; i++) {
		replay_stream(path_of_test, i, NULL, &result);
		expect_identical(&result);
		assert_int_equal(result.calls, i);
	}
	unlink(path_of_test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_of_each_library_replays_identically),
		cmocka_unit_test(each_device_is_a_stream_in_the_order_of_their_opening),
		cmocka_unit_test(a_forked_child_does_not_write_into_its_parents_file),
		cmocka_unit_test(another_parameter_is_a_difference_at_the_first_answer_that_shows_it),
		cmocka_unit_test(a_parameter_that_is_none_is_refused),
		cmocka_unit_test(another_address_is_a_difference),
		cmocka_unit_test(memory_that_comes_later_and_is_asked_again_replays_identically),
		cmocka_unit_test(another_memory_at_the_same_place_replays_identically),
		cmocka_unit_test(records_before_a_damage_are_replayed),
		cmocka_unit_test(a_file_that_exists_is_not_written_over),
		cmocka_unit_test(a_file_in_the_place_of_ours_is_not_written),
		cmocka_unit_test(a_device_that_is_opened_when_the_disk_is_full_works_and_is_not_recorded),
		cmocka_unit_test(a_disk_that_is_full_before_the_first_device_is_an_error),
		cmocka_unit_test(a_disk_that_is_full_where_a_block_ends_is_no_signal),
		cmocka_unit_test(devices_behind_one_whose_beginning_could_not_be_written_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
