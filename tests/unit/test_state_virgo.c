/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state of a Virgo cluster and its units, against their answers to loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "examples/common/random.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/state_tree.h"
#include "tests/lib/virgo_fixture.h"

#define STEPS UNLESS_SANITIZED(3000)
#define CHECK_EVERY 16
#define OWNER 250u	/* of the loads that check */

static struct random random_numbers;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

static struct virgo_fixture *make_cluster(unsigned int options)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.units = 2;
	config.cores = 3;
	config.queue_entries = 4;
	config.unit[1].type = VIRGO_INT8;
	config.unit[1].dim = 4;
	config.unit[1].accumulator_kb = 4;
	return virgo_fixture_create(&config, options);
}

static struct state_tree *take(const struct virgo_fixture *f)
{
	return state_tree_take(&mimic_kind_virgo, f->model, f->now);
}

static void *save_image(const struct virgo_fixture *f, size_t *size)
{
	void *image;

	*size = f->model->ops->save(f->model, NULL, 0);
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(f->model->ops->save(f->model, image, *size), *size);
	return image;
}

/* --- a cluster in some state ------------------------------------------------------------ */

static void random_access(struct virgo_fixture *f, struct mimic_access access)
{
	if (!f->parked[access.owner])
		virgo_fixture_access(f, &access);
}

/* Mostly a move or a computation that can be done; sometimes anything. */
static void random_command(struct virgo_fixture *f, unsigned int owner, unsigned int unit)
{
	static const unsigned int functs[] = { 0, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 24, 126, 77 };
	struct mimic_access access = {
		.owner = owner, .page = VIRGO_PAGE_UNITS, .size = 8, .is_write = 1,
		.offset = VIRGO_UNIT_OFFSET(unit, RS1),
	};

	access.data = below(4) ? virgo_address(f->arena) + 4096 * below(16) + 64 * below(60) : below(4096);
	random_access(f, access);
	access.offset = VIRGO_UNIT_OFFSET(unit, RS2);
	access.data = virgo_pack(1 + below(4), 1 + below(4), below(64) | (below(3) ? 0 : 1u << 31));
	random_access(f, access);
	access.offset = VIRGO_UNIT_OFFSET(unit, INSTRUCTION);
	access.size = 4;
	access.data = VIRGO_INSTRUCTION_WORD(functs[below(14)]);
	random_access(f, access);
}

static void random_register(struct virgo_fixture *f, unsigned int owner, unsigned int unit)
{
	static const unsigned int stores[] = { 0x40, 0x48, 0x50, 0x50, 0xa0, 0xa0, 0xb0, 0xe0, 0xe0, 0x38 };
	static const unsigned int loads[] = { 0xb8, 0xc0, 0xc8, 0x20, 0x30 };
	struct mimic_access access = {
		.owner = owner, .page = VIRGO_PAGE_UNITS, .size = 8, .is_write = below(3) != 0,
		.data = below(30),
	};

	access.offset = VIRGO_BLOCK_SIZE * unit + (access.is_write ? stores[below(10)] : loads[below(5)]);
	random_access(f, access);
}

static void random_control(struct virgo_fixture *f, unsigned int owner)
{
	struct mimic_access access = { .owner = owner, .page = VIRGO_PAGE_CONTROL, .size = 8 };
	static const unsigned int stores[] = { 0x18, 0x18, 0x18, 0x20, 0x30, 0x38 };

	if (below(3) == 0) {
		access.offset = below(2) ? VIRGO_BARRIER_WAIT(below(3)) : VIRGO_BARRIER_PARTICIPANTS(below(3));
		access.is_write = access.offset < 0x200;
		access.data = below(4);
	} else {
		access.is_write = 1;
		access.offset = stores[below(6)];
		access.data = access.offset == 0x18 ? below(3) << 8 | below(2) : random_next(&random_numbers);
	}
	random_access(f, access);
}

static void random_step(struct virgo_fixture *f)
{
	unsigned int owner = 1 + below(8), page = below(16);

	switch (below(6)) {
	case 0:
		random_register(f, owner, below(2));
		break;
	case 1:
		random_control(f, owner);
		break;
	default:
		random_command(f, owner, below(2));
	}
	if (below(3) == 0)
		f->model->ops->tick(f->model, ++f->now);
	if (below(8) == 0)
		f->absent[page] = !f->absent[page];
	if (below(30) == 0) {
		f->model->ops->cancel(f->model, owner, f->now);
		f->parked[owner] = false;
	}
}

/* --- registers ---------------------------------------------------------------------------- */

struct check {
	struct virgo_fixture *copy;
	const void *image;
	size_t size;
	const struct state_tree *tree;
	unsigned int texts;
	unsigned int numbers;
};

static void check_load(struct check *check, unsigned int page, unsigned int offset, const char *path)
{
	const struct state_entry *entry = state_tree_find(check->tree, "%s", path);
	struct virgo_fixture *copy = check->copy;
	struct mimic_access access = {
		.owner = OWNER, .page = (uint8_t)page, .size = 8, .offset = offset,
	};

	if (!entry)
		fail_msg("%s is not there", path);
	assert_int_equal(copy->model->ops->restore(copy->model, check->image, check->size), 0);
	/* The last one at a barrier wakes owners of the other cluster. */
	memset(copy->parked, 1, sizeof(copy->parked));
	if (virgo_fixture_access(copy, &access) == MIMIC_PARKED) {
		if (entry->type != STATE_TEXT || strcmp(entry->text, "waits"))
			fail_msg("%s: the load waits", path);
		check->texts++;
		return;
	}
	if (entry->type != STATE_NUMBER || entry->value != access.data)
		fail_msg("%s: 0x%llx, but the load answers 0x%llx", path, (unsigned long long)entry->value,
			 (unsigned long long)access.data);
	check->numbers += entry->value != 0;
}

static void check_unit(struct check *check, unsigned int unit)
{
	char path[64];

#define _(offset, name, access, reset, role, format, meaning) \
	if (#access[0] == 'R') { \
		snprintf(path, sizeof(path), "units/%u/registers/" #name, unit); \
		check_load(check, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + (offset), path); \
	}
	VIRGO_UNIT_REGISTERS(_)
#undef _
}

static void check_barrier(struct check *check, unsigned int barrier)
{
	char path[64];

	snprintf(path, sizeof(path), "barriers/%u/PARTICIPANTS", barrier);
	check_load(check, VIRGO_PAGE_CONTROL, 0x100 + 8 * barrier, path);
	snprintf(path, sizeof(path), "barriers/%u/WAIT", barrier);
	check_load(check, VIRGO_PAGE_CONTROL, 0x200 + 8 * barrier, path);
	snprintf(path, sizeof(path), "barriers/%u/STATUS", barrier);
	check_load(check, VIRGO_PAGE_CONTROL, 0x300 + 8 * barrier, path);
}

static void check_all(struct check *check)
{
	char path[64];

#define _(offset, name, access, reset, role, format, meaning) \
	if (#access[0] == 'R') \
		check_load(check, VIRGO_PAGE_CONTROL, offset, "registers/" #name);
	VIRGO_CONTROL_REGISTERS(_)
#undef _
	for (unsigned int i = 0; i < mimic_kind_virgo.counter_count; i++) {
		snprintf(path, sizeof(path), "counters/%s", mimic_kind_virgo.counters[i]);
		check_load(check, VIRGO_PAGE_CONTROL, 0x800 + 8 * i, path);
	}
	for (unsigned int i = 0; i < 16; i++)
		check_barrier(check, i);
	check_unit(check, 0);
	check_unit(check, 1);
}

static void every_register_shows_what_a_load_of_it_would_answer(void **state)
{
	struct virgo_fixture *first = make_cluster(FIXTURE_FAULTS), *second = make_cluster(FIXTURE_FAULTS);
	struct check check = { .copy = second };
	unsigned int stalls = 0, errors = 0;

	(void)state;
	random_numbers.state = 0x2545f4914f6cdd1d;
	first->fault_answer = MIMIC_FAULT_STALL;
	for (unsigned int step = 0; step < STEPS; step++) {
		struct state_tree *tree;
		void *image;

		random_step(first);
		if (step % CHECK_EVERY)
			continue;
		image = save_image(first, &check.size);
		tree = take(first);
		check.image = image;
		check.tree = tree;
		check_all(&check);
		stalls += state_tree_number(tree, "units/0/faults/stalled") != 0;
		errors += state_tree_number(tree, "units/0/registers/ERROR") != 0;
		state_tree_free(tree);
		free(image);
	}
	assert_true(check.texts > STEPS / CHECK_EVERY / 10);
	assert_true(check.numbers > STEPS / CHECK_EVERY);
	assert_true(stalls > STEPS / CHECK_EVERY / 20);
	assert_true(errors > STEPS / CHECK_EVERY / 20);
	virgo_fixture_destroy(first);
	second->unexpected = 0;
	virgo_fixture_destroy(second);
}

static void a_look_changes_nothing(void **state)
{
	struct virgo_fixture *f = make_cluster(FIXTURE_FAULTS);
	size_t size;

	(void)state;
	random_numbers.state = 0x9e3779b97f4a7c15;
	f->fault_answer = MIMIC_FAULT_STALL;
	for (unsigned int step = 0; step < UNLESS_SANITIZED(200); step++) {
		void *before, *after;

		random_step(f);
		before = save_image(f, &size);
		state_tree_free(take(f));
		after = save_image(f, &size);
		assert_memory_equal(before, after, size);
		free(before);
		free(after);
	}
	virgo_fixture_destroy(f);
}

/* --- the rest -------------------------------------------------------------------------------- */

/* All but those of units that the cluster does not have. */
static void config_has_every_key_of_the_configuration_file(void **state)
{
	struct virgo_fixture *f = make_cluster(0);
	struct state_tree *tree = take(f);
	unsigned int found = 0;

	(void)state;
	for (size_t i = 0; i < mimic_kind_virgo.key_count; i++) {
		const struct mimic_key *key = &mimic_kind_virgo.keys[i];
		unsigned int value;

		if (!strncmp(key->name, "unit", 4) && key->name[4] >= '2' && key->name[4] <= '7')
			continue;
		memcpy(&value, (const char *)&f->config + key->offset, sizeof(value));
		assert_int_equal(state_tree_number(tree, "config/%s", key->name), value);
		found++;
	}
	assert_int_equal(found, 7 + 2 * 3);
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

static void each_unit_shows_its_own_counters(void **state)
{
	struct virgo_fixture *f = make_cluster(0);
	struct state_tree *tree;

	(void)state;
	virgo_send(f, 0, 0, 1, 64);
	virgo_send(f, 0, 2, virgo_address(f->arena), virgo_pack(2, 8, 0));
	virgo_send(f, 1, 7, 0, 0);
	virgo_run(f);
	tree = take(f);
	for (unsigned int unit = 0; unit < 2; unit++) {
		uint64_t values[VIRGO_COUNTER_COUNT];

		virgo_model_unit_counters(f->model, unit, values, VIRGO_COUNTER_COUNT);
		for (size_t i = 0; i < mimic_kind_virgo.counter_count; i++)
			assert_int_equal(state_tree_number(tree, "units/%u/counters/%s", unit,
							   mimic_kind_virgo.counters[i]), values[i]);
	}
	assert_int_equal(state_tree_number(tree, "units/0/counters/dma_bytes_read"), 64);
	assert_int_equal(state_tree_number(tree, "units/1/counters/commands"), 1);
	assert_int_equal(state_tree_number(tree, "counters/commands"), 3);
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

static void shared_memory_and_accumulators_show_their_bytes(void **state)
{
	struct virgo_fixture *f = make_cluster(0);
	const struct state_entry *shared, *accumulator;
	const float ones[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct state_tree *tree;

	(void)state;
	memcpy(f->arena, ones, sizeof(ones));
	virgo_send(f, 0, 0, 1 | 0x3f800000ull << 32, 32);
	virgo_send(f, 0, 2, virgo_address(f->arena), virgo_pack(1, 8, 3));
	virgo_send(f, 0, 2, virgo_address(f->arena), virgo_pack(1, 8, 1u << 31 | 5));
	virgo_run(f);
	tree = take(f);
	shared = state_tree_find(tree, "shared_memory");
	accumulator = state_tree_find(tree, "units/0/accumulator");
	assert_non_null(shared);
	assert_non_null(accumulator);
	assert_int_equal(shared->value, 64 << 10);
	assert_int_equal(accumulator->value, 16 << 10);
	assert_memory_equal(shared->bytes + 3 * 32, ones, 32);
	assert_memory_equal(accumulator->bytes + 5 * 32, ones, 32);
	assert_memory_equal(shared->bytes, f->shared, 64 << 10);
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

static void the_queue_shows_what_waits_behind_a_page_fault(void **state)
{
	struct virgo_fixture *f = make_cluster(FIXTURE_FAULTS);
	struct mimic_access fence = {
		.owner = 9, .page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(0, FENCE), .size = 8,
	};
	uint64_t address = virgo_address(f->arena) + 4096;
	struct state_tree *tree;

	(void)state;
	f->fault_answer = MIMIC_FAULT_STALL;
	f->absent[1] = true;
	virgo_send(f, 0, 2, address, virgo_pack(1, 8, 3));
	virgo_run(f);
	virgo_send(f, 0, 6, 0x11, 0x22);
	virgo_fixture_access(f, &fence);
	tree = take(f);
	assert_string_equal(state_tree_text(tree, "units/0/work/state"), "stalled");
	assert_string_equal(state_tree_text(tree, "units/0/work/0/command"), "mvin");
	assert_int_equal(state_tree_number(tree, "units/0/work/0/rs1"), address);
	assert_int_equal(state_tree_number(tree, "units/0/queue/level"), 2);
	assert_int_equal(state_tree_number(tree, "units/0/queue/waiting"), 1);
	assert_string_equal(state_tree_text(tree, "units/0/queue/0/command"), "preload");
	assert_int_equal(state_tree_number(tree, "units/0/queue/0/rs2"), 0x22);
	assert_int_equal(state_tree_number(tree, "units/0/faults/page"), address);
	assert_int_equal(state_tree_number(tree, "waiting/accesses"), 1);
	assert_string_equal(state_tree_text(tree, "waiting/0/register"), "FENCE");
	assert_int_equal(state_tree_number(tree, "waiting/0/owner"), 9);
	assert_string_equal(state_tree_text(tree, "units/0/registers/FENCE"), "waits");
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

static void the_configuration_shows_what_config_set(void **state)
{
	struct virgo_fixture *f = make_cluster(0);
	struct state_tree *tree;

	(void)state;
	/* CONFIG of load 1: block stride 7, scale 2.0, stride 96; then of the array: A's stride 5, ReLU */
	virgo_send(f, 0, 0, 1 | 1 << 3 | 7 << 16 | 0x40000000ull << 32, 96);
	virgo_send(f, 0, 0, 0 | 1 << 2 | 1 << 3 | 5 << 16, 6ull << 48);
	virgo_run(f);
	tree = take(f);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/loads/1/stride"), 96);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/loads/1/block_stride"), 7);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/loads/1/scale"), 0x40000000);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/array/a_stride"), 5);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/array/c_stride"), 6);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/array/activation"), 1);
	assert_int_equal(state_tree_number(tree, "units/0/configuration/array/dataflow"), 1);
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

static void a_unit_whose_job_is_out_shows_only_its_front(void **state)
{
	struct virgo_config config = virgo_fixture_config(VIRGO_FP32, 8);
	struct virgo_fixture *f;
	struct virgo_job *job;
	struct state_tree *tree;

	(void)state;
	config.inline_jobs = 0;
	f = virgo_fixture_create(&config, 0);
	virgo_send(f, 0, 7, 0, 0);
	job = virgo_model_take_job(f->model);
	assert_non_null(job);
	tree = take(f);
	assert_string_equal(state_tree_text(tree, "units/0/work/state"), "at work");
	assert_int_equal(state_tree_number(tree, "units/0/work/commands"), 1);
	assert_null(state_tree_find(tree, "units/0/accumulator"));
	assert_null(state_tree_find(tree, "units/0/array"));
	assert_null(state_tree_find(tree, "units/0/work/0/command"));
	assert_null(state_tree_find(tree, "units/0/configuration/array/dataflow"));
	assert_string_equal(state_tree_text(tree, "units/0/registers/FENCE"), "waits");
	state_tree_free(tree);
	/* A reset is over when the job has come back, though nothing is dispatched any more. */
	virgo_unit_store(f, 0, VIRGO_RESET, 1);
	tree = take(f);
	assert_int_equal(state_tree_number(tree, "units/0/registers/DISPATCHED"), 0);
	assert_string_equal(state_tree_text(tree, "units/0/registers/FENCE"), "waits");
	assert_string_equal(state_tree_text(tree, "units/0/registers/WAIT_LOOPS_3"), "waits");
	state_tree_free(tree);
	virgo_job_run(job);
	virgo_model_job_done(f->model, job, ++f->now);
	tree = take(f);
	assert_non_null(state_tree_find(tree, "units/0/accumulator"));
	assert_non_null(state_tree_find(tree, "units/0/configuration/array/dataflow"));
	assert_int_equal(state_tree_number(tree, "units/0/registers/FENCE"), 16 << 16);
	state_tree_free(tree);
	virgo_fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_shows_what_a_load_of_it_would_answer),
		cmocka_unit_test(a_look_changes_nothing),
		cmocka_unit_test(config_has_every_key_of_the_configuration_file),
		cmocka_unit_test(each_unit_shows_its_own_counters),
		cmocka_unit_test(shared_memory_and_accumulators_show_their_bytes),
		cmocka_unit_test(the_queue_shows_what_waits_behind_a_page_fault),
		cmocka_unit_test(the_configuration_shows_what_config_set),
		cmocka_unit_test(a_unit_whose_job_is_out_shows_only_its_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
