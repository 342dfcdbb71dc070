/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state of a DARE and its contexts, against their answers to loads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"
#include "tests/lib/dare_host.h"
#include "tests/lib/state_tree.h"

#define STEPS 4000
#define CHECK_EVERY 8
#define PAGE(n) (HOST_BASE + (n) * HOST_PAGE)
#define OWNER 500u	/* of the loads that check */

static struct random random_numbers;

static const struct dare_config small = { .contexts = 3, .queue_entries = 4, .tlb_entries = 4 };

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

static struct dare_host *make_host(void)
{
	struct dare_host *host = host_create_with(HOST_WALKS | HOST_FAULTS, &small);

	assert_non_null(host);
	host_fill(host);
	host->fault_answer = MIMIC_FAULT_STALL;
	return host;
}

static struct state_tree *take(const struct dare_host *host)
{
	return state_tree_take(&mimic_kind_dare, host->model, host->now);
}

static void *save_image(const struct dare_host *host, size_t *size)
{
	void *image;

	*size = host->model->ops->save(host->model, NULL, 0);
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(host->model->ops->save(host->model, image, *size), *size);
	return image;
}

/* --- a device in some state ------------------------------------------------------------ */

static uint32_t random_word(void)
{
	unsigned int a = below(8), b = below(8), c = below(8);

	switch (below(8)) {
	case 0:
		return W_MLD_B(a);
	case 1:
		return W_MST_B(a);
	case 2:
		return W_MMA_I8(a, b, c);
	case 3:
		return W_MGATHER_B(a, b);
	case 4:
		return below(10) ? W_MMA(a, b, c) : W_ILLEGAL;
	case 5:
		return W_MCFG;
	default:
		return W_MLD(a);
	}
}

static void random_step(struct dare_host *host)
{
	struct mimic_access access = {
		.owner = 1 + below(5), .page = (uint8_t)(1 + below(2)), .size = 8, .is_write = 1,
	};
	static const unsigned int stores[] = { 0x00, 0x08, 0x10, 0x10, 0x18, 0x18, 0x10, 0x00 };

	access.offset = below(40) ? stores[below(8)] : below(3) ? 0x58 : 0x80;
	access.data = access.offset == 0x08 ? 1 + below(64) :
		      access.offset == 0x00 || below(3) == 0 ? PAGE(below(15)) + 16 * below(200) : random_word();
	if (below(30) == 0)
		access = (struct mimic_access){ .owner = access.owner, .page = access.page, .size = 8, .offset = 0x28 };
	if (!host->parked[access.owner])
		host_access(host, &access);
	if (below(6) == 0) {
		unsigned int context = below(2), page = below(HOST_PAGES);

		host->space[context].absent[page] = !host->space[context].absent[page];
		dare_model_invalidate(host->model, context, PAGE(page), PAGE(page + 1));
	}
	if (below(4) == 0)
		host_control_store(host, 0x18, below(3) << 8 | below(3));
}

/* --- registers ---------------------------------------------------------------------------- */

struct check {
	struct dare_host *copy;
	const void *image;
	size_t size;
	const struct state_tree *tree;
	unsigned int texts;
	unsigned int numbers;
};

static void check_load(struct check *check, unsigned int page, unsigned int offset, const char *path)
{
	const struct state_entry *entry = state_tree_find(check->tree, "%s", path);
	struct mimic_access access = {
		.owner = OWNER, .page = (uint8_t)page, .size = 8, .offset = offset,
	};

	if (!entry)
		fail_msg("%s is not there", path);
	assert_int_equal(check->copy->model->ops->restore(check->copy->model, check->image, check->size), 0);
	check->copy->parked[OWNER] = false;
	if (host_access(check->copy, &access) == MIMIC_PARKED) {
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

static void check_context(struct check *check, unsigned int context)
{
	char path[64];

#define _(offset, name, access, reset, role, format, meaning) \
	if (#access[0] == 'R') { \
		snprintf(path, sizeof(path), "contexts/%u/registers/" #name, context); \
		check_load(check, context + 1, offset, path); \
	}
	DARE_CONTEXT_REGISTERS(_)
#undef _
	for (unsigned int i = 0; i < mimic_kind_dare.counter_count; i++) {
		snprintf(path, sizeof(path), "contexts/%u/counters/%s", context, mimic_kind_dare.counters[i]);
		check_load(check, context + 1, 0x100 + 8 * i, path);
	}
}

static void check_all(struct check *check)
{
#define _(offset, name, access, reset, role, format, meaning) \
	if (#access[0] == 'R') \
		check_load(check, 0, offset, "registers/" #name);
	DARE_CONTROL_REGISTERS(_)
#undef _
	for (unsigned int i = 0; i < small.contexts; i++)
		check_context(check, i);
}

static void every_register_shows_what_a_load_of_it_would_answer(void **state)
{
	struct dare_host *first = make_host(), *second = make_host();
	struct check check = { .copy = second };

	(void)state;
	random_numbers.state = 0x2545f4914f6cdd1d;
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
		state_tree_free(tree);
		free(image);
	}
	assert_true(check.texts > STEPS / CHECK_EVERY / 10);
	assert_true(check.numbers > STEPS / CHECK_EVERY);
	host_destroy(first);
	host_destroy(second);
}

static void a_look_changes_nothing(void **state)
{
	struct dare_host *host = make_host();
	size_t size;

	(void)state;
	random_numbers.state = 0x9e3779b97f4a7c15;
	for (unsigned int step = 0; step < 500; step++) {
		void *before, *after;

		random_step(host);
		before = save_image(host, &size);
		state_tree_free(take(host));
		after = save_image(host, &size);
		assert_memory_equal(before, after, size);
		free(before);
		free(after);
	}
	host_destroy(host);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void config_has_every_key_of_the_configuration_file(void **state)
{
	struct dare_host *host = make_host();
	struct state_tree *tree = take(host);

	(void)state;
	for (size_t i = 0; i < mimic_kind_dare.key_count; i++) {
		const struct mimic_key *key = &mimic_kind_dare.keys[i];
		unsigned int value;

		memcpy(&value, (const char *)&small + key->offset, sizeof(value));
		assert_int_equal(state_tree_number(tree, "config/%s", key->name), value);
	}
	state_tree_free(tree);
	host_destroy(host);
}

static void the_device_shows_the_sums_of_its_contexts_counters(void **state)
{
	struct dare_host *host = make_host();
	uint64_t values[DARE_COUNTER_COUNT];
	struct state_tree *tree;

	(void)state;
	host_run_in(host, 0, W_MLD(1), PAGE(1), 64);
	host_run_in(host, 1, W_MLD(1), PAGE(1), 64);
	host_run_in(host, 1, W_MLD(2), PAGE(1), 64);
	host->model->ops->counters(host->model, values, DARE_COUNTER_COUNT);
	tree = take(host);
	for (size_t i = 0; i < mimic_kind_dare.counter_count; i++)
		assert_int_equal(state_tree_number(tree, "counters/%s", mimic_kind_dare.counters[i]), values[i]);
	assert_int_equal(state_tree_number(tree, "counters/mld"), 3);
	assert_int_equal(state_tree_number(tree, "contexts/1/counters/mld"), 2);
	state_tree_free(tree);
	host_destroy(host);
}

static void matrix_registers_show_their_bytes(void **state)
{
	struct dare_host *host = make_host();
	const struct state_entry *entry;
	struct state_tree *tree;

	(void)state;
	host_run(host, W_MLD(5), PAGE(3), 64);
	tree = take(host);
	entry = state_tree_find(tree, "contexts/0/matrix/m5");
	assert_non_null(entry);
	assert_int_equal(entry->type, STATE_BYTES);
	assert_int_equal(entry->value, 1024);
	assert_memory_equal(entry->bytes, host_bytes(host, 1, PAGE(3)), 1024);
	state_tree_free(tree);
	host_destroy(host);
}

static void the_queue_shows_what_waits_behind_a_page_fault(void **state)
{
	struct dare_host *host = make_host();
	struct state_tree *tree;

	(void)state;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD_B(3), PAGE(1) - 300, 64);
	host_run(host, W_MMA(0, 3, 2), 0, 0);
	host_load_as(host, 20, 0, 0x28);
	tree = take(host);
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/level"), 2);
	assert_string_equal(state_tree_text(tree, "contexts/0/queue/0/instruction"), "mld.b");
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/0/rs1"), PAGE(1) - 300);
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/0/started"), 1);
	assert_string_equal(state_tree_text(tree, "contexts/0/queue/1/instruction"), "mma");
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/1/word"), W_MMA(0, 3, 2));
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/1/raw"), 1u << 3);
	assert_int_equal(state_tree_number(tree, "contexts/0/queue/fences_waiting"), 1);
	assert_int_equal(state_tree_number(tree, "contexts/0/faults/stalled"), 1);
	assert_int_equal(state_tree_number(tree, "contexts/0/faults/page"), PAGE(1));
	assert_string_equal(state_tree_text(tree, "contexts/0/error/name"), "NONE");
	assert_int_equal(state_tree_number(tree, "contexts/1/queue/level"), 0);
	state_tree_free(tree);
	host_destroy(host);
}

static void an_error_shows_its_name_and_instruction(void **state)
{
	struct dare_host *host = make_host();
	struct state_tree *tree;

	(void)state;
	host_run(host, W_ILLEGAL, 0, 0);
	tree = take(host);
	assert_string_equal(state_tree_text(tree, "contexts/0/error/name"), "ILLEGAL");
	assert_int_equal(state_tree_number(tree, "contexts/0/error/word"), W_ILLEGAL);
	state_tree_free(tree);
	host_destroy(host);
}

static void each_context_shows_its_own_tlb_and_owner(void **state)
{
	struct dare_host *host = make_host();
	struct state_tree *tree;

	(void)state;
	host_run_in(host, 1, W_MLD(1), PAGE(4), 64);
	tree = take(host);
	assert_int_equal(state_tree_number(tree, "contexts/0/address_space"), 1);
	assert_int_equal(state_tree_number(tree, "contexts/1/address_space"), 2);
	assert_int_equal(state_tree_number(tree, "contexts/2/address_space"), 0);
	assert_int_equal(state_tree_number(tree, "contexts/0/tlb/valid"), 0);
	assert_int_equal(state_tree_number(tree, "contexts/1/tlb/valid"), 1);
	assert_int_equal(state_tree_number(tree, "contexts/1/tlb/0/address"), PAGE(4));
	state_tree_free(tree);
	host_destroy(host);
}

static void a_stream_shows_what_is_still_missing(void **state)
{
	struct dare_host *host = make_host();
	struct state_tree *tree;

	(void)state;
	host_store_as(host, 3, 0, 0x18, W_MLD(1));
	host_store_as(host, 3, 0, 0x18, PAGE(2));
	tree = take(host);
	assert_int_equal(state_tree_number(tree, "contexts/0/stream/missing"), 1);
	assert_int_equal(state_tree_number(tree, "contexts/0/stream/word"), W_MLD(1));
	assert_int_equal(state_tree_number(tree, "contexts/0/stream/rs1"), PAGE(2));
	assert_int_equal(state_tree_number(tree, "contexts/0/stream/owner"), 3);
	state_tree_free(tree);
	host_destroy(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_shows_what_a_load_of_it_would_answer),
		cmocka_unit_test(a_look_changes_nothing),
		cmocka_unit_test(config_has_every_key_of_the_configuration_file),
		cmocka_unit_test(the_device_shows_the_sums_of_its_contexts_counters),
		cmocka_unit_test(matrix_registers_show_their_bytes),
		cmocka_unit_test(the_queue_shows_what_waits_behind_a_page_fault),
		cmocka_unit_test(an_error_shows_its_name_and_instruction),
		cmocka_unit_test(each_context_shows_its_own_tlb_and_owner),
		cmocka_unit_test(a_stream_shows_what_is_still_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
