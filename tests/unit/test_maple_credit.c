/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Credits of a MAPLE: how many words of stores a queue takes at once (devices/maple/credit.c). */
#include "devices/maple/maple_state.h"
#include "devices/kind.h"
#include "tests/lib/model_fixture.h"

#define WORDS_16 1

static struct mimic_access a_store(unsigned int operation, unsigned int queue, unsigned int size, uint64_t value)
{
	return (struct mimic_access){
		.owner = PRODUCER, .offset = MAPLE_OFFSET(operation, queue), .size = (uint8_t)size, .is_write = 1,
		.data = value,
	};
}

static unsigned int left_of(const struct mimic_access *store)
{
	unsigned int most;

	return maple_credits.left(host->model, store, &most);
}

static unsigned int left(unsigned int queue)
{
	const struct mimic_access store = a_store(PRODUCE, queue, 4, 0);

	return left_of(&store);
}

static unsigned int cost_of(const struct mimic_access *store)
{
	unsigned int part;

	return maple_credits.cost(store, &part);
}

static void a_producer_has_the_room_of_its_queue(void **state)
{
	(void)state;
	for EACH_PROFILE(profile) {
		/* prefetch_needs_room: two words stay for a prefetch */
		unsigned int kept = profile == both_profiles ? 0 : 2;

		start(*profile, FAKE_IDENTITY);
		fake_open(host, WORDS_16, 2);
		assert_int_equal(left(1), 16 - kept);
		produce(1, 4711);
		assert_int_equal(left(1), 15 - kept);
		assert_int_equal(left(0), 16 - kept);
		for (unsigned int i = 0; i < 15; i++)
			produce(1, i);
		assert_int_equal(left(1), 0);
		consume(1);
		consume(1);
		consume(1);
		assert_int_equal(left(1), 3 - kept);
		stop();
	}
}

static void no_other_thread_has_credits(void **state)
{
	struct mimic_access store = a_store(PRODUCE, 0, 4, 0);

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	store.owner = CONSUMER;
	assert_int_equal(left_of(&store), 0);
	store = a_store(PRODUCE, 1, 4, 0);
	assert_int_equal(left_of(&store), 0);
	stop();
}

/* The artifact decodes two bits of the queue: 4 is queue 0. */
static void another_number_of_a_queue_has_no_credits(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	assert_true(left(0));
	assert_int_equal(left(4), 0);
	assert_true(produce(4, 1));
	stop();
}

static void a_queue_behind_a_loop_has_no_credits(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, 0);
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LOOP_POINTER32, 0, 8, 20);
	for (unsigned int i = 0; i < 4; i++)
		consume(0);
	consume(0);
	assert_int_equal(left(0), 1);
	stop();
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LOOP_PREFETCH32, 0, 8, 20000);
	assert_int_equal(left(0), 0);
	stop();
}

static void stores_that_change_memory_or_configure_have_no_cost(void **state)
{
	(void)state;
	for (unsigned int operation = 0; operation < 64; operation++) {
		struct mimic_access store = a_store(operation, 0, 8, 0);
		bool is_posted = operation == MAPLE_STORE_PRODUCE || operation == MAPLE_STORE_POINTER32 ||
				 operation == MAPLE_STORE_POINTER64 || operation == MAPLE_STORE_PREFETCH ||
				 operation == MAPLE_STORE_LLC_POINTER32 || operation == MAPLE_STORE_LLC_POINTER64 ||
				 (operation >= MAPLE_STORE_FULL_POINTER32 && operation <= MAPLE_STORE_FULL_PREFETCH);

		assert_int_equal(cost_of(&store) != 0, is_posted);
		store.page = MAPLE_PAGE_MMU;
		assert_int_equal(cost_of(&store), 0);
	}
}

/* The thread at the other end is another one. */
static void most_is_of_queues_that_another_thread_empties(void **state)
{
	const struct mimic_access store = a_store(PRODUCE, 0, 4, 0);
	unsigned int most;

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	maple_credits.left(host->model, &store, &most);
	assert_int_equal(most, 16);
	fake_load(host, CONSUMER, MAPLE_LOAD_CLOSE_CONSUMER, 0, 4);
	maple_credits.left(host->model, &store, &most);
	assert_int_equal(most, 0);
	fake_load(host, PRODUCER, MAPLE_LOAD_OPEN_CONSUMER, 0, 4);
	maple_credits.left(host->model, &store, &most);
	assert_int_equal(most, 0);
	stop();
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static struct mimic_access random_store(uint64_t *seed)
{
	static const unsigned int operations[] = {
		MAPLE_STORE_PRODUCE, MAPLE_STORE_POINTER32, MAPLE_STORE_POINTER64, MAPLE_STORE_PREFETCH,
		MAPLE_STORE_LLC_POINTER32, MAPLE_STORE_LLC_POINTER64, MAPLE_STORE_FULL_POINTER32,
		MAPLE_STORE_FULL_POINTER64, MAPLE_STORE_FULL_LLC_POINTER32, MAPLE_STORE_FULL_LLC_POINTER64,
		MAPLE_STORE_FULL_PREFETCH,
	};
	uint64_t random = next_random(seed), value = fake_address(random % 64);

	if (random & 1 << 20)
		value |= fake_address(random >> 32 & 63) << 32;
	return a_store(operations[(random >> 8) % (sizeof(operations) / sizeof(operations[0]))], random >> 16 & 1,
		       1u << (random >> 24 & 3), value);
}

/* However the stores are mixed, and whatever the consumer does meanwhile. */
static void no_store_that_is_paid_for_waits(void **state)
{
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for EACH_PROFILE(profile) {
		unsigned int credits[2] = { 0, 0 }, part, cost, paid = 0;

		start(*profile, FAKE_IDENTITY);
		fake_open(host, WORDS_16, 2);
		for (unsigned int i = 0; i < 200000; i++) {
			struct mimic_access store = random_store(&seed);

			cost = maple_credits.cost(&store, &part);
			if (next_random(&seed) % 3 == 0)
				consume(part);
			/* A load that waits, or a queue that hangs, is over with the next queues. */
			if (host->parked[CONSUMER] || next_random(&seed) % 500 == 0) {
				fake_load(host, PRODUCER, MAPLE_LOAD_RESET, 0, 4);
				fake_open(host, WORDS_16, 2);
				credits[0] = credits[1] = 0;
			}
			if (credits[part] < cost)
				credits[part] = left_of(&store);
			if (credits[part] < cost)
				continue;
			credits[part] -= cost;
			paid++;
			assert_int_equal(fake_access(host, &store), MIMIC_DONE);
		}
		assert_in_range(paid, 20000, 200000);
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_producer_has_the_room_of_its_queue),
		cmocka_unit_test(no_other_thread_has_credits),
		cmocka_unit_test(another_number_of_a_queue_has_no_credits),
		cmocka_unit_test(a_queue_behind_a_loop_has_no_credits),
		cmocka_unit_test(stores_that_change_memory_or_configure_have_no_cost),
		cmocka_unit_test(most_is_of_queues_that_another_thread_empties),
		cmocka_unit_test(no_store_that_is_paid_for_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
