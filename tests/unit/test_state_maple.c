/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state of a MAPLE, against its answers to loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "examples/common/random.h"
#include "tests/lib/fake_host.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/state_tree.h"

#define STEPS UNLESS_SANITIZED(4000)
#define CHECK_EVERY 16
#define NOBODY 7u	/* an owner that takes no role */
#define OPTIONS (FAKE_WALKS | FAKE_FAULTS)

static struct random random_numbers;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

static struct state_tree *take(const struct fake_host *host, uint64_t now)
{
	return state_tree_take(&mimic_kind_maple, host->model, now);
}

static void *save_image(const struct fake_host *host, size_t *size)
{
	void *image;

	*size = host->model->ops->save(host->model, NULL, 0);
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(host->model->ops->save(host->model, image, *size), *size);
	return image;
}

/* --- a device in some state ------------------------------------------------------------ */

static const unsigned int loads[] = {
	CONSUME, CONSUME, CONSUME, CONSUME, CONSUME, OPEN_PRODUCER, OPEN_CONSUMER, STATISTICS, DEBUG,
};

static const unsigned int rare_loads[] = {
	CLOSE_PRODUCER, CLOSE_CONSUMER, FIFO_CLEAR, FIFO_ADD, RESET, INIT,
};

static const unsigned int stores[] = {
	PRODUCE, PRODUCE, POINTER32, POINTER32, POINTER64, LLC_POINTER32, LLC_POINTER64, ATOMIC_ADD, CAS1,
	LIMA_POINTER32, QUEUE_LIMA_A, QUEUE_LIMA_B, FULL_POINTER64,
};

/* The words of memory are no good addresses: each step of a loop is a fault. */
static const unsigned int rare_stores[] = { SET_BASE32, SET_BASE64, LOOP, QUEUE_LOOP_POINTER32 };

#define ONE_OF(list) list[below(sizeof(list) / sizeof(list[0]))]

static uint64_t random_value(unsigned int operation)
{
	unsigned int begin = below(64);

	if (operation == LOOP || operation == QUEUE_LOOP_POINTER32)
		return (uint64_t)begin << 32 | (begin + below(40));
	if (operation == SET_BASE32 || operation == SET_BASE64)
		return below(3) ? 0 : FAKE_BASE;
	return FAKE_BASE + 4 * below(FAKE_WORDS + (below(10) ? 0 : 4096));
}

/* Owner 1 produces and 2 consumes, mostly; others try to. */
static struct mimic_access random_access(void)
{
	struct mimic_access access = { .size = below(3) ? 8 : 4, .is_write = below(2) != 0 };
	unsigned int operation;

	access.owner = below(6) ? 2u - access.is_write : 3 + below(2);
	if (access.is_write)
		operation = below(40) ? ONE_OF(stores) : ONE_OF(rare_stores);
	else
		operation = below(40) ? ONE_OF(loads) : ONE_OF(rare_loads);
	if (operation == OPEN_PRODUCER)
		access.owner = 1;
	access.offset = AT(operation, below(4));
	if (access.is_write)
		access.data = random_value(operation);
	if (below(20) == 0)
		access.page = PAGE_CUSTOM;
	return access;
}

/* One access of a driver: it reads the fault, resolves it or installs an entry, or reads the TLB. */
static void random_mmu_access(struct fake_host *host)
{
	switch (below(6)) {
	case 0:
		fake_mmu_store(host, 6, random_next(&random_numbers) >> 2);
		break;
	case 1:
		fake_mmu_load(host, 2);
		break;
	case 2:
		fake_mmu_load(host, 1);
		break;
	default:
		fake_mmu_load(host, 1);
		fake_mmu_store(host, 2, 3 | (below(2) ? 4 : 0));
	}
}

static void random_step(struct fake_host *host)
{
	struct mimic_access access = random_access();

	if (below(30) == 0 && !host->parked[1] && !host->parked[2])
		fake_open(host, below(3), 8);	/* queues that were reset or closed */
	if (below(4) == 0)
		random_mmu_access(host);
	else if (!host->parked[access.owner])
		fake_access(host, &access);
	host->now += below(30);
	if (below(8) == 0)
		host->absent[below(FAKE_PAGES)] = below(4) == 0;
	if (below(60) == 0)
		host->model->ops->invalidate(host->model, FAKE_BASE, FAKE_BASE + 4096 * FAKE_PAGES);
	/* Else the two would soon wait for each other for good. */
	if (host->parked[access.owner] && below(4) == 0) {
		host->model->ops->cancel(host->model, access.owner, host->now);
		host->parked[access.owner] = false;
	}
}

/* --- registers ---------------------------------------------------------------------------- */

struct check {
	struct fake_host *copy;
	const void *image;
	size_t size;
	const struct state_tree *tree;
	uint64_t now;
	unsigned int texts;	/* of registers that wait */
	unsigned int numbers;	/* that are not 0 */
};

static void check_load(struct check *check, struct mimic_access access, const char *path)
{
	const struct state_entry *entry = state_tree_find(check->tree, "%s", path);
	const struct mimic_model_ops *ops = check->copy->model->ops;

	if (!entry)
		fail_msg("%s is not there", path);
	assert_int_equal(ops->restore(check->copy->model, check->image, check->size), 0);
	if (ops->access(check->copy->model, &access, check->now) == MIMIC_PARKED) {
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

static void check_register(struct check *check, unsigned int page, unsigned int code, unsigned int field,
			   const char *path)
{
	struct mimic_access access = {
		.owner = NOBODY, .page = (uint8_t)page, .size = 8, .offset = AT(code, field),
	};

	check_load(check, access, path);
}

/* The consumer's own load of a word; a queue that has none answers as to anybody. */
static void check_consume(struct check *check, unsigned int queue)
{
	struct maple_queue_view view;
	struct mimic_access access = { .owner = NOBODY, .size = 4, .offset = AT(CONSUME, queue) };
	char path[64];

	snprintf(path, sizeof(path), "registers/MAPLE/CONSUME/%u", queue);
	maple_model_queue(check->copy->model, queue, &view);
	if (view.consumer)
		access.owner = view.consumer;
	if (!view.load_waiting)
		check_load(check, access, path);
	else
		assert_string_equal(state_tree_text(check->tree, "%s", path), "waits");
}

/* A value, or one for each queue or field. INIT and FIFO_ADD answer the same for all size codes. */
static void check_one(struct check *check, unsigned int code, const char *name, unsigned int queues)
{
	unsigned int fields = code == DEBUG ? 3 : queues;
	char path[64];

	snprintf(path, sizeof(path), "registers/MAPLE/%s", name);
	if (code == FAULT_STATUS)
		return;
	if (code == INIT || code == FIFO_ADD) {
		for (unsigned int size_code = 0; size_code < 8; size_code++)
			check_register(check, PAGE_MAPLE, code, size_code, path);
		return;
	}
	if (code == RESET || code == IDENTIFY || code == FAULT_ADDRESS || code == FAULT_COUNT) {
		check_register(check, PAGE_MAPLE, code, 0, path);
		return;
	}
	for (unsigned int i = 0; i < fields; i++) {
		snprintf(path, sizeof(path), "registers/MAPLE/%s/%u", name, i);
		if (code == CONSUME)
			check_consume(check, i);
		else
			check_register(check, PAGE_MAPLE, code, i, path);
	}
}

static void check_all(struct check *check, bool is_paper, unsigned int queues)
{
#define _(code, name, role, shows, meaning) check_one(check, code, #name, queues);
	MAPLE_LOADS(_)
	if (is_paper) {
		MAPLE_EXTENSION_LOADS(_)
		check_register(check, PAGE_MMU, FAULT_STATUS, 0, "registers/MMU/FAULT_STATUS");
	}
#undef _
	check_register(check, PAGE_MMU, DEBUG, 0, "registers/MMU/DEBUG/0");
	check_register(check, PAGE_MMU, DEBUG, 1, "registers/MMU/DEBUG/1");
	check_register(check, PAGE_MMU, DEBUG, 2, "registers/MMU/DEBUG/2");
	check_register(check, PAGE_CUSTOM, 0, 0, "registers/CUSTOM/RESPONSE");
}

/* Memory answers in the order in which it was asked, some time later. */
static void answer_some(struct fake_host *host, unsigned int *answered)
{
	while (*answered < host->deferred_count && (host->deferred_count - *answered > 20 || below(6) == 0))
		fake_fill(host, (*answered)++);
}

static void check_profile(const char *profile, unsigned int queues, bool defer)
{
	struct fake_host *first = fake_host_profile(profile, OPTIONS);
	struct fake_host *second = fake_host_profile(profile, OPTIONS);
	struct check check = { .copy = second };
	bool is_paper = !strcmp(profile, "paper");
	unsigned int answered = 0, on_the_way = 0;

	random_numbers.state = 0x2545f4914f6cdd1d;
	first->fault_answer = MIMIC_FAULT_STALL;
	first->defer = second->defer = defer;
	fake_open(first, WORDS_8, queues);
	for (unsigned int step = 0; step < STEPS; step++) {
		struct state_tree *tree;
		void *image;

		random_step(first);
		answer_some(first, &answered);
		if (step % CHECK_EVERY)
			continue;
		image = save_image(first, &check.size);
		check.image = image;
		assert_int_equal(second->model->ops->restore(second->model, image, check.size), 0);
		check.now = first->now + 5;
		tree = take(first, check.now);
		check.tree = tree;
		check_all(&check, is_paper, queues);
		on_the_way += first->deferred_count != answered;
		state_tree_free(tree);
		free(image);
	}
	assert_true(check.texts > STEPS / CHECK_EVERY / 10);
	assert_true(check.numbers > STEPS / CHECK_EVERY);
	assert_true(!defer || on_the_way > STEPS / CHECK_EVERY / 10);
	fake_host_destroy(first);
	fake_host_destroy(second);
}

static void every_register_shows_what_a_load_of_it_would_answer(void **state)
{
	(void)state;
	check_profile("paper", 8, false);
	check_profile("artifact", 4, false);
}

static void registers_show_that_memory_has_not_answered_yet(void **state)
{
	(void)state;
	check_profile("paper", 8, true);
	check_profile("artifact", 4, true);
}

/* Contract: OPEN answers 0 as long as memory owes words to a queue that was dropped. */
static void the_artifact_shows_that_a_dropped_queue_keeps_roles_from_being_taken(void **state)
{
	struct fake_host *host = fake_host_profile("artifact", FAKE_IDENTITY);
	struct state_tree *tree;

	(void)state;
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	fake_store(host, 1, POINTER32, 0, 8, fake_address(3));
	fake_load(host, 2, FIFO_CLEAR, 0, 8);
	tree = take(host, host->now);
	assert_int_equal(state_tree_number(tree, "registers/MAPLE/OPEN_PRODUCER/1"), 0);
	assert_int_equal(state_tree_number(tree, "registers/MAPLE/CLOSE_PRODUCER/1"), 3ull << 32);
	assert_int_equal(fake_load(host, 3, OPEN_PRODUCER, 1, 8), 0);
	state_tree_free(tree);
	fake_fill(host, 0);
	tree = take(host, host->now);
	assert_int_equal(state_tree_number(tree, "registers/MAPLE/OPEN_PRODUCER/1"), 3ull << 32 | 2);
	assert_int_equal(fake_load(host, 3, OPEN_PRODUCER, 1, 8), 3ull << 32 | 2);
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void the_artifact_has_no_registers_of_the_extension(void **state)
{
	struct fake_host *host = fake_host_profile("artifact", OPTIONS);
	struct state_tree *tree = take(host, 0);

	(void)state;
#define _(code, name, role, shows, meaning) \
	assert_null(state_tree_find(tree, "registers/MAPLE/" #name)); \
	assert_null(state_tree_find(tree, "registers/MAPLE/" #name "/0")); \
	assert_null(state_tree_find(tree, "registers/MMU/" #name));
	MAPLE_EXTENSION_LOADS(_)
#undef _
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void a_look_changes_nothing(void **state)
{
	struct fake_host *host = fake_host_profile("paper", OPTIONS);
	size_t size;

	(void)state;
	random_numbers.state = 0x9e3779b97f4a7c15;
	host->fault_answer = MIMIC_FAULT_STALL;
	fake_open(host, WORDS_8, 8);
	for (unsigned int step = 0; step < UNLESS_SANITIZED(500); step++) {
		void *before, *after;

		random_step(host);
		before = save_image(host, &size);
		state_tree_free(take(host, host->now + 1000));
		after = save_image(host, &size);
		assert_memory_equal(before, after, size);
		free(before);
		free(after);
	}
	fake_host_destroy(host);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void config_has_every_key_of_the_configuration_file(void **state)
{
	struct maple_config config;
	struct fake_host *host;
	struct state_tree *tree;

	(void)state;
	memset(&config, 0, sizeof(config));
	mimic_kind_maple.defaults(&config);
	config.quirks = MAPLE_QUIRK_depth_64 | MAPLE_QUIRK_prefetch_needs_room;
	host = fake_host_create(&config, OPTIONS);
	tree = take(host, 0);
	for (size_t i = 0; i < mimic_kind_maple.key_count; i++) {
		const struct mimic_key *key = &mimic_kind_maple.keys[i];
		unsigned int value;

		memcpy(&value, (const char *)&config + key->offset, sizeof(value));
		assert_int_equal(state_tree_number(tree, "config/%s", key->name),
				 key->bit ? (value & key->bit) != 0 : value);
	}
	assert_string_equal(state_tree_text(tree, "config/profile"), "paper");
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void counters_have_their_names_and_values(void **state)
{
	struct fake_host *host = fake_host_profile("paper", OPTIONS);
	uint64_t values[MAPLE_COUNTER_COUNT];
	struct state_tree *tree;

	(void)state;
	fake_open(host, WORDS_8, 2);
	for (unsigned int i = 0; i < 5; i++)
		fake_store(host, 1, PRODUCE, 1, 4, i);
	fake_load(host, 2, CONSUME, 1, 4);
	host->model->ops->counters(host->model, values, MAPLE_COUNTER_COUNT);
	tree = take(host, host->now);
	for (size_t i = 0; i < mimic_kind_maple.counter_count; i++)
		assert_int_equal(state_tree_number(tree, "counters/%s", mimic_kind_maple.counters[i]), values[i]);
	assert_int_equal(state_tree_number(tree, "counters/produced"), 5);
	assert_int_equal(state_tree_number(tree, "counters/consumed"), 1);
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void a_queue_shows_its_words_and_its_waiters(void **state)
{
	struct fake_host *host = fake_host_profile("paper", FAKE_IDENTITY);
	struct state_tree *tree;

	(void)state;
	fake_open(host, WORDS_8, 2);
	for (unsigned int i = 0; i < 8; i++)
		assert_true(fake_store(host, 1, PRODUCE, 0, 4, 0x100 + i));
	fake_load(host, 2, CONSUME, 0, 4);
	fake_store(host, 1, PRODUCE, 0, 4, 0x108);
	assert_false(fake_store(host, 1, PRODUCE, 0, 4, 0x109));
	host->defer = true;
	fake_store(host, 1, POINTER32, 1, 8, fake_address(3));
	tree = take(host, host->now);
	assert_int_equal(state_tree_number(tree, "queues/0/level"), 8);
	assert_int_equal(state_tree_number(tree, "queues/0/size"), 8);
	assert_int_equal(state_tree_number(tree, "queues/0/producer"), 1);
	assert_int_equal(state_tree_number(tree, "queues/0/consumer"), 2);
	/* across the end of the ring */
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(state_tree_number(tree, "queues/0/head/%u", i), 0x101 + i);
	assert_int_equal(state_tree_number(tree, "queues/0/store/waits"), 1);
	assert_int_equal(state_tree_number(tree, "queues/0/store/owner"), 1);
	assert_int_equal(state_tree_number(tree, "queues/0/store/operation"), PRODUCE);
	assert_int_equal(state_tree_number(tree, "queues/0/load/waits"), 0);
	assert_string_equal(state_tree_text(tree, "queues/1/head/0"), "on its way");
	assert_int_equal(state_tree_number(tree, "queues/1/on_the_way"), 1);
	assert_int_equal(state_tree_number(tree, "queues/2/producer"), 0);
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void the_tlb_shows_what_was_translated(void **state)
{
	struct fake_host *host = fake_host_profile("paper", FAKE_WALKS);
	struct state_tree *tree;

	(void)state;
	fake_open(host, WORDS_8, 1);
	host->frame_of[2] = FAKE_BASE + 5 * 4096;
	fake_store(host, 1, POINTER32, 0, 8, FAKE_BASE + 2 * 4096 + 8);
	tree = take(host, host->now);
	assert_int_equal(state_tree_number(tree, "tlb/entries"), 16);
	assert_int_equal(state_tree_number(tree, "tlb/valid"), 1);
	assert_int_equal(state_tree_number(tree, "tlb/0/address"), FAKE_BASE + 2 * 4096);
	assert_int_equal(state_tree_number(tree, "tlb/0/frame"), FAKE_BASE + 5 * 4096);
	assert_int_equal(state_tree_number(tree, "tlb/0/bytes"), 4096);
	state_tree_free(tree);
	fake_host_destroy(host);
}

static void a_fault_that_waits_for_a_driver_is_shown(void **state)
{
	struct fake_host *host = fake_host_profile("paper", OPTIONS);
	struct state_tree *tree;

	(void)state;
	host->fault_answer = MIMIC_FAULT_STALL;
	host->absent[3] = true;
	fake_open(host, WORDS_8, 2);
	fake_store(host, 1, POINTER32, 1, 8, FAKE_BASE + 3 * 4096 + 16);
	tree = take(host, host->now);
	assert_int_equal(state_tree_number(tree, "faults/pipes/stalled"), 1);
	assert_int_equal(state_tree_number(tree, "faults/pipes/page"), FAKE_BASE + 3 * 4096);
	assert_int_equal(state_tree_number(tree, "faults/pipes/queue"), 1);
	assert_int_equal(state_tree_number(tree, "faults/lima/stalled"), 0);
	state_tree_free(tree);
	fake_host_destroy(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_shows_what_a_load_of_it_would_answer),
		cmocka_unit_test(registers_show_that_memory_has_not_answered_yet),
		cmocka_unit_test(the_artifact_shows_that_a_dropped_queue_keeps_roles_from_being_taken),
		cmocka_unit_test(the_artifact_has_no_registers_of_the_extension),
		cmocka_unit_test(a_look_changes_nothing),
		cmocka_unit_test(config_has_every_key_of_the_configuration_file),
		cmocka_unit_test(counters_have_their_names_and_values),
		cmocka_unit_test(a_queue_shows_its_words_and_its_waiters),
		cmocka_unit_test(the_tlb_shows_what_was_translated),
		cmocka_unit_test(a_fault_that_waits_for_a_driver_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
