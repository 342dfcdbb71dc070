/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Images of the model: a restored one goes on as the first would have; a damaged one hurts nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "devices/kind.h"
#include "libmimic/base/state_json.h"
#include "tests/lib/fake_host.h"

#define STEPS 3000

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const unsigned int loads[] = {
	CONSUME, CONSUME, CONSUME, CONSUME, CONSUME, CONSUME, OPEN_PRODUCER, OPEN_CONSUMER, CLOSE_PRODUCER,
	FIFO_ADD, STATISTICS, DEBUG, QUEUE_STATE, INIT,
};

static const unsigned int stores[] = {
	PRODUCE, PRODUCE, PRODUCE, POINTER32, POINTER64, LLC_POINTER32, ATOMIC_ADD, CAS1, CAS2, PREFETCH,
	LOOP, LOOP, SET_BASE32, LIMA_POINTER32, LIMA_PRODUCE, QUEUE_LIMA_A, QUEUE_LIMA_B,
	QUEUE_LOOP_POINTER32, FULL_POINTER64,
};

/* Something that is often meaningful for the operation. */
static uint64_t random_value(unsigned int operation)
{
	unsigned int begin = (unsigned int)(next_random() % 64);

	if (operation == LOOP || operation == QUEUE_LOOP_POINTER32)
		return (uint64_t)begin << 32 | (begin + next_random() % 40);
	if (operation == ATOMIC_ADD || operation == CAS2)
		return (next_random() % 256) << 32 | next_random() % 16;
	if (operation == POINTER32 || operation == POINTER64 || operation == PREFETCH)
		return next_random() % 4 ? next_random() % 256 : FAKE_BASE + next_random() % 70000;
	return FAKE_BASE + 4 * (next_random() % 8192);
}

static struct mimic_access random_access(void)
{
	struct mimic_access access = {
		.owner = 1 + next_random() % 4,
		.size = next_random() % 3 ? 8 : 4,
		.is_write = next_random() % 2,
	};
	unsigned int queue = (unsigned int)(next_random() % 4), operation;

	operation = access.is_write ? stores[next_random() % (sizeof(stores) / sizeof(stores[0]))] :
				      loads[next_random() % (sizeof(loads) / sizeof(loads[0]))];
	if (next_random() % 500 == 0)
		operation = RESET;
	access.offset = AT(operation, queue);
	access.data = access.is_write ? random_value(operation) : 0;
	if (access.size == 4)
		access.data &= 0xffffffff;
	return access;
}

static void *save_image(struct fake_host *host, size_t *size)
{
	void *image;

	*size = host->model->ops->save(host->model, NULL, 0);
	image = malloc(*size);
	assert_int_equal(host->model->ops->save(host->model, image, *size), *size);
	return image;
}

static void copy_model(struct fake_host *to, struct fake_host *from)
{
	size_t size;
	void *image = save_image(from, &size);

	assert_int_equal(to->model->ops->restore(to->model, image, size), 0);
	free(image);
}

static void one_step(struct fake_host *host, const struct mimic_access *asked, struct mimic_access *got,
		     enum mimic_outcome *outcome)
{
	*got = *asked;
	*outcome = fake_access(host, got);
}

static void expect_same_hosts(const struct fake_host *a, const struct fake_host *b)
{
	assert_memory_equal(a->parked, b->parked, sizeof(a->parked));
	assert_memory_equal(a->answer, b->answer, sizeof(a->answer));
	assert_memory_equal(a->words, b->words, sizeof(a->words));
	assert_int_equal(a->deferred_count, b->deferred_count);
}

/* `second` is made anew from the first one's image before every step. */
static void check_profile(const char *profile, bool defer)
{
	struct fake_host *first = fake_host_profile(profile, FAKE_IDENTITY);
	struct fake_host *second = fake_host_profile(profile, FAKE_IDENTITY);
	unsigned int filled = 0;

	random_state = 0x2545f4914f6cdd1d;
	first->defer = second->defer = defer;
	fake_open(first, WORDS_8, 4);
	fake_open(second, WORDS_8, 4);
	for (unsigned int step = 0; step < STEPS; step++) {
		struct mimic_access access = random_access(), got[2];
		enum mimic_outcome outcome[2];

		copy_model(second, first);
		if (first->parked[access.owner])
			continue;
		one_step(first, &access, &got[0], &outcome[0]);
		one_step(second, &access, &got[1], &outcome[1]);
		assert_int_equal(outcome[0], outcome[1]);
		if (outcome[0] == MIMIC_DONE)
			assert_int_equal(got[0].data, got[1].data);
		if (next_random() % 3 == 0 && filled < first->deferred_count) {
			fake_fill(first, filled);
			fake_fill(second, filled++);
		}
		expect_same_hosts(first, second);
	}
	assert_int_equal(first->unexpected + second->unexpected, 0);
	fake_host_destroy(first);
	fake_host_destroy(second);
}

static void a_restored_model_goes_on_as_the_saved_one_would_have(void **state)
{
	(void)state;
	check_profile("paper", false);
	check_profile("artifact", false);
}

static void outstanding_loads_survive_save_and_restore(void **state)
{
	(void)state;
	check_profile("paper", true);
	check_profile("artifact", true);
}

static void parked_accesses_survive_save_and_restore(void **state)
{
	struct fake_host *first = fake_host_profile("paper", FAKE_IDENTITY);
	struct fake_host *second = fake_host_profile("paper", FAKE_IDENTITY);

	(void)state;
	fake_open(first, WORDS_8, 1);
	assert_int_equal(fake_load(first, 2, CONSUME, 0, 4), FAKE_PARKED);
	copy_model(second, first);
	second->parked[2] = true;
	assert_true(fake_store(second, 1, PRODUCE, 0, 4, 55));
	assert_true(second->completed[2]);
	assert_int_equal(second->answer[2], 55);
	fake_host_destroy(first);
	fake_host_destroy(second);
}

static void a_taken_back_double_pointer_goes_on_after_save_and_restore(void **state)
{
	const uint64_t payload = 3ull << 32 | 2048;
	struct fake_host *first = fake_host_profile("paper", FAKE_WALKS | FAKE_FAULTS);
	struct fake_host *second = fake_host_profile("paper", FAKE_WALKS | FAKE_FAULTS);

	(void)state;
	fake_open(first, WORDS_8, 1);
	fake_store(first, 1, SET_BASE32, 0, 8, FAKE_BASE);
	first->absent[2] = true;
	first->fault_answer = MIMIC_FAULT_STALL;
	assert_false(fake_store(first, 1, POINTER32, 0, 8, payload));
	first->model->ops->cancel(first->model, 1, first->now);
	copy_model(second, first);
	maple_model_retry(second->model, second->now);
	assert_true(fake_store(second, 1, POINTER32, 0, 8, payload));
	assert_int_equal(fake_load(second, 2, CONSUME, 0, 4), 0xf0000003);
	assert_int_equal(fake_load(second, 2, CONSUME, 0, 4), 0xf0000000 + 2048);
	assert_int_equal(fake_load(second, 2, CONSUME, 0, 4), FAKE_PARKED);
	fake_host_destroy(first);
	fake_host_destroy(second);
}

static void an_image_of_another_size_or_configuration_is_refused(void **state)
{
	struct fake_host *paper = fake_host_profile("paper", FAKE_IDENTITY);
	struct fake_host *artifact = fake_host_profile("artifact", FAKE_IDENTITY);
	size_t size;
	char *image = save_image(paper, &size);

	(void)state;
	for (size_t shorter = 0; shorter < size; shorter += 1 + shorter / 16)
		assert_true(paper->model->ops->restore(paper->model, image, shorter) < 0);
	assert_true(artifact->model->ops->restore(artifact->model, image, size) < 0);
	for (size_t byte = 0; byte < 24; byte++) {
		image[byte] ^= 1;
		assert_true(paper->model->ops->restore(paper->model, image, size) < 0);
		image[byte] ^= 1;
	}
	assert_int_equal(paper->model->ops->restore(paper->model, image, size), 0);
	free(image);
	fake_host_destroy(paper);
	fake_host_destroy(artifact);
}

static void a_refused_image_changes_nothing(void **state)
{
	struct fake_host *host = fake_host_profile("paper", FAKE_IDENTITY);
	size_t size;
	char *image;

	(void)state;
	image = save_image(host, &size);
	fake_open(host, WORDS_8, 1);
	fake_store(host, 1, PRODUCE, 0, 4, 9);
	image[0] ^= 1;
	assert_true(host->model->ops->restore(host->model, image, size) < 0);
	assert_int_equal(fake_load(host, 2, CONSUME, 0, 4), 9);
	free(image);
	fake_host_destroy(host);
}

static uint64_t producer_idle(const struct fake_host *host, uint64_t now)
{
	struct json_object *root = mimic_state_json(&mimic_kind_maple, host->model, now, 0), *at = root;
	static const char *const path[] = { "queues", "0", "producer_idle", "value" };
	uint64_t idle;

	for (unsigned int i = 0; i < 4; i++)
		assert_true(json_object_object_get_ex(at, path[i], &at));
	idle = json_object_get_uint64(at);
	json_object_put(root);
	return idle;
}

/* The machine that saved it had been up for longer, or not for as long. */
static void clocks_go_on_at_the_time_of_the_machine_that_restores(void **state)
{
	static const uint64_t saved_at[] = { 5000, 5000000000000 };
	const uint64_t here = 7000000;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct fake_host *host = fake_host_profile("paper", FAKE_IDENTITY);
		struct fake_host *other = fake_host_profile("paper", FAKE_IDENTITY);
		uint64_t idle;

		host->now = saved_at[i];
		fake_open(host, WORDS_8, 1);
		idle = producer_idle(host, host->now);
		copy_model(other, host);
		mimic_kind_maple.resume(other->model, here);
		assert_int_equal(producer_idle(other, here), idle);
		assert_int_equal(producer_idle(other, here + 7), idle + 7);
		fake_host_destroy(host);
		fake_host_destroy(other);
	}
}

/* Under the address sanitizer this is the test of restore()'s checks. */
static void a_damaged_image_is_refused_or_restores_to_a_device_that_works(void **state)
{
	struct fake_host *host = fake_host_profile("paper", FAKE_IDENTITY);
	size_t size;
	char *image;

	(void)state;
	random_state = 0xabcdef12345;
	fake_open(host, WORDS_8, 4);
	host->defer = true;
	for (unsigned int i = 0; i < 40; i++) {
		struct mimic_access access = random_access();

		if (!host->parked[access.owner])
			fake_access(host, &access);
	}
	image = save_image(host, &size);
	for (unsigned int round = 0; round < 3000; round++) {
		/* mostly where queues and FIFOs are, else anywhere */
		size_t at = next_random() % (round % 4 ? 16384 : size);
		char kept = image[at];

		image[at] = (char)next_random();
		if (host->model->ops->restore(host->model, image, size) == 0) {
			for (unsigned int i = 0; i < 30; i++) {
				struct mimic_access access = random_access();

				host->model->ops->cancel(host->model, access.owner, host->now);
				fake_access(host, &access);
			}
		}
		image[at] = kept;
	}
	free(image);
	fake_host_destroy(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restored_model_goes_on_as_the_saved_one_would_have),
		cmocka_unit_test(outstanding_loads_survive_save_and_restore),
		cmocka_unit_test(parked_accesses_survive_save_and_restore),
		cmocka_unit_test(a_taken_back_double_pointer_goes_on_after_save_and_restore),
		cmocka_unit_test(an_image_of_another_size_or_configuration_is_refused),
		cmocka_unit_test(a_refused_image_changes_nothing),
		cmocka_unit_test(clocks_go_on_at_the_time_of_the_machine_that_restores),
		cmocka_unit_test(a_damaged_image_is_refused_or_restores_to_a_device_that_works),
	};

	return cmocka_run_group_tests_name("maple images", tests, NULL, NULL);
}
