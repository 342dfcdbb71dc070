/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libmaple: words, pointers, LIMA and prefetches, on the profiles and transports. */
#include "tests/lib/maple_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MANY 10000

static void words_come_out_in_the_order_they_went_in(void **state)
{
	(void)state;
	maple_open_both(1);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(maple_produce32(maple, 1, 100 + i), 0);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(maple_pop32(1), 100 + i);
}

static void a_64_bit_push_is_two_words_the_low_one_first(void **state)
{
	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce64(maple, 0, 0x1111222233334444), 0);
	assert_int_equal(maple_pop32(0), 0x33334444);
	assert_int_equal(maple_pop32(0), 0x11112222);
}

static void two_words_make_a_64_bit_value_the_first_in_the_low_half(void **state)
{
	(void)state;
	maple_open_both(0);
	maple_produce32(maple, 0, 0xa);
	maple_produce32(maple, 0, 0xb);
	assert_true(maple_pop64(0) == 0x0000000b0000000a);
}

struct sender {
	unsigned int queue;
	unsigned int size;
};

static void *send_many(void *argument)
{
	const struct sender *sender = argument;
	static uint32_t words[MANY];
	static uint64_t longs[MANY];
	ssize_t sent;

	for (uint32_t i = 0; i < MANY; i++) {
		words[i] = i * 2654435761u;
		longs[i] = i * 0x9e3779b97f4a7c15u;
	}
	if (maple_open(maple, sender->queue, MAPLE_PRODUCER))
		return (void *)-1;
	sent = sender->size == 4 ? maple_produce32_batch(maple, sender->queue, words, MANY)
				 : maple_produce64_batch(maple, sender->queue, longs, MANY);
	if (maple_close(maple, sender->queue, MAPLE_PRODUCER))
		return (void *)-2;
	return (void *)(intptr_t)(sent == MANY ? 0 : -3);
}

static void receive_many(unsigned int queue, unsigned int size)
{
	struct sender sender = { queue, size };
	static uint32_t words[MANY];
	static uint64_t longs[MANY];
	pthread_t thread;
	void *result;

	assert_int_equal(maple_open(maple, queue, MAPLE_CONSUMER), 0);
	pthread_create(&thread, NULL, send_many, &sender);
	if (size == 4)
		assert_int_equal(maple_consume32_batch(maple, queue, words, MANY), MANY);
	else
		assert_int_equal(maple_consume64_batch(maple, queue, longs, MANY), MANY);
	pthread_join(thread, &result);
	assert_null(result);
	for (uint32_t i = 0; i < MANY; i++) {
		if (size == 4)
			assert_int_equal(words[i], i * 2654435761u);
		else
			assert_true(longs[i] == i * 0x9e3779b97f4a7c15u);
	}
}

static void a_batch_of_words_larger_than_the_queue_passes_between_threads(void **state)
{
	(void)state;
	receive_many(0, 4);
}

static void a_batch_of_64_bit_values_larger_than_the_queue_passes_between_threads(void **state)
{
	(void)state;
	receive_many(maple_queue_count(maple) - 1, 8);
}

static void a_batch_of_nothing_does_nothing(void **state)
{
	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce32_batch(maple, 0, NULL, 0), 0);
	assert_int_equal(maple_produce64_batch(maple, 0, NULL, 0), 0);
	assert_int_equal(maple_consume32_batch(maple, 0, NULL, 0), 0);
	assert_int_equal(maple_consume64_batch(maple, 0, NULL, 0), 0);
	assert_int_equal(maple_produce_ptr32_batch(maple, 0, NULL, NULL, 0, MAPLE_DRAM), 0);
	maple_produce32(maple, 0, 7);
	assert_int_equal(maple_pop32(0), 7);
}

static void a_pointer_brings_the_4_bytes_it_names(void **state)
{
	uint32_t *array = maple_array(1000, 4);

	(void)state;
	maple_open_both(1);
	array[3] = 33;
	array[999] = 999;
	assert_int_equal(maple_produce_ptr32(maple, 1, &array[3], MAPLE_DRAM), 0);
	assert_int_equal(maple_produce_ptr32(maple, 1, &array[999], MAPLE_LLC), 0);
	assert_int_equal(maple_pop32(1), 33);
	assert_int_equal(maple_pop32(1), 999);
}

static void a_pointer_brings_the_8_bytes_it_names(void **state)
{
	uint64_t *array = maple_array(1000, 8);

	(void)state;
	maple_open_both(0);
	array[5] = 0x5555555566666666;
	array[900] = 0x0123456789abcdef;
	assert_int_equal(maple_produce_ptr64(maple, 0, &array[5], MAPLE_DRAM), 0);
	assert_int_equal(maple_produce_ptr64(maple, 0, &array[900], MAPLE_LLC), 0);
	assert_true(maple_pop64(0) == 0x5555555566666666);
	assert_true(maple_pop64(0) == 0x0123456789abcdef);
}

static void a_pointer_at_4_mod_8_brings_8_bytes(void **state)
{
	uint32_t *array = maple_array(4, 4);

	(void)state;
	maple_open_both(0);
	array[1] = 0x11111111;
	array[2] = 0x22222222;
	assert_int_equal(maple_produce_ptr64(maple, 0, &array[1], MAPLE_DRAM), 0);
	assert_true(maple_pop64(0) == 0x2222222211111111);
}

/* Data of the program itself, as linked: wherever it lies, it is reached or refused by name. */
static void a_pointer_on_the_stack_is_fetched_or_refused_by_name(void **state)
{
	uint32_t here = 77;
	int error;

	(void)state;
	maple_open_both(0);
	error = maple_produce_ptr32(maple, 0, &here, MAPLE_DRAM);
	if (maple_is_artifact()) {
		assert_int_equal(error, -ERANGE);
		assert_non_null(strstr(maple_error_text(), "maple_alloc()"));
		return;
	}
	assert_int_equal(error, 0);
	assert_int_equal(maple_pop32(0), 77);
}

static void low_addresses_are_fetched_from(void **state)
{
	void *place = (void *)0x10000;
	uint32_t *low = mmap(place, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)state;
	if (low == MAP_FAILED)
		skip();
	low[0] = 1234;
	maple_open_both(0);
	assert_int_equal(maple_produce_ptr32(maple, 0, low, MAPLE_DRAM), 0);
	assert_int_equal(maple_pop32(0), 1234);
	munmap(low, 4096);
}

static void pointers_in_two_places_alternate(void **state)
{
	uint32_t *near = maple_array(1, 4), *low;

	(void)state;
	low = mmap((void *)0x10000, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (low == MAP_FAILED)
		skip();
	maple_open_both(0);
	*near = 5;
	*low = 6;
	for (int i = 0; i < 10; i++) {
		maple_produce_ptr32(maple, 0, near, MAPLE_DRAM);
		maple_produce_ptr32(maple, 0, low, MAPLE_DRAM);
		assert_int_equal(maple_pop32(0), 5);
		assert_int_equal(maple_pop32(0), 6);
	}
	munmap(low, 4096);
}

#define ELEMENTS 5000

struct arrays {
	uint32_t *a32;
	uint64_t *a64;
	uint32_t *b;
};

static struct arrays make_arrays(unsigned int seed)
{
	struct arrays arrays = {
		maple_array(ELEMENTS, 4), maple_array(ELEMENTS, 8), maple_array(ELEMENTS, 4),
	};

	for (uint32_t i = 0; i < ELEMENTS; i++) {
		arrays.a32[i] = i * 2246822519u + seed;
		arrays.a64[i] = i * 0x9e3779b97f4a7c15u + seed;
		arrays.b[i] = (i * 7919u + seed) % ELEMENTS;
	}
	return arrays;
}

enum way { BY_POINTERS, BY_LIMA };

struct gather {
	struct arrays arrays;
	unsigned int queue;
	unsigned int size;
	enum maple_path path;
	enum way way;
	unsigned int rounds;
	int error;
};

static int push_gather(const struct gather *g)
{
	const struct arrays *arrays = &g->arrays;
	ssize_t done;

	if (g->way == BY_LIMA && g->size == 4)
		return maple_lima_produce32(maple, g->queue, arrays->a32, arrays->b, 0, ELEMENTS,
					    g->path);
	if (g->way == BY_LIMA)
		return maple_lima_produce64(maple, g->queue, arrays->a64, arrays->b, 0, ELEMENTS,
					    g->path);
	done = g->size == 4 ? maple_produce_ptr32_batch(maple, g->queue, arrays->a32, arrays->b,
							ELEMENTS, g->path)
			    : maple_produce_ptr64_batch(maple, g->queue, arrays->a64, arrays->b,
							ELEMENTS, g->path);
	return done == ELEMENTS ? 0 : done < 0 ? (int)done : -EIO;
}

static void *produce_gather(void *argument)
{
	struct gather *g = argument;

	g->error = maple_open(maple, g->queue, MAPLE_PRODUCER);
	for (unsigned int i = 0; i < g->rounds && !g->error; i++)
		g->error = push_gather(g);
	if (!g->error)
		g->error = maple_close(maple, g->queue, MAPLE_PRODUCER);
	return NULL;
}

/* How many values were not those that a plain gather gives. */
static void *consume_gather(void *argument)
{
	struct gather *g = argument;
	intptr_t wrong = 0;
	uint64_t value;
	uint32_t word;

	if (maple_open(maple, g->queue, MAPLE_CONSUMER))
		return (void *)(intptr_t)-1;
	for (unsigned int i = 0; i < g->rounds * ELEMENTS; i++) {
		uint32_t index = g->arrays.b[i % ELEMENTS];

		if (g->size == 4) {
			word = 0;
			maple_consume32(maple, g->queue, &word);
			wrong += word != g->arrays.a32[index];
		} else {
			value = 0;
			maple_consume64(maple, g->queue, &value);
			wrong += value != g->arrays.a64[index];
		}
	}
	maple_close(maple, g->queue, MAPLE_CONSUMER);
	return (void *)wrong;
}

static void check_gathers(struct gather *gathers, unsigned int count)
{
	pthread_t producers[8], consumers[8];
	void *wrong;

	for (unsigned int i = 0; i < count; i++) {
		gathers[i].arrays = make_arrays(i);
		pthread_create(&producers[i], NULL, produce_gather, &gathers[i]);
		pthread_create(&consumers[i], NULL, consume_gather, &gathers[i]);
	}
	for (unsigned int i = 0; i < count; i++) {
		pthread_join(producers[i], NULL);
		pthread_join(consumers[i], &wrong);
		assert_int_equal(gathers[i].error, 0);
		assert_int_equal((intptr_t)wrong, 0);
	}
}

static void a_batch_of_pointers_gathers_4_byte_elements(void **state)
{
	struct gather g = { .queue = 0, .size = 4, .path = MAPLE_DRAM, .way = BY_POINTERS, .rounds = 1 };

	(void)state;
	check_gathers(&g, 1);
}

static void a_batch_of_pointers_gathers_8_byte_elements_coherently(void **state)
{
	struct gather g = { .queue = 1, .size = 8, .path = MAPLE_LLC, .way = BY_POINTERS, .rounds = 1 };

	(void)state;
	check_gathers(&g, 1);
}

static void lima_gathers_4_byte_elements_coherently(void **state)
{
	struct gather g = { .queue = 1, .size = 4, .path = MAPLE_LLC, .way = BY_LIMA, .rounds = 3 };

	(void)state;
	check_gathers(&g, 1);
}

static void lima_gathers_8_byte_elements(void **state)
{
	struct gather g = { .queue = 0, .size = 8, .path = MAPLE_DRAM, .way = BY_LIMA, .rounds = 3 };

	(void)state;
	check_gathers(&g, 1);
}

static void gathers_on_four_queues_at_once_do_not_disturb_each_other(void **state)
{
	struct gather gathers[4] = {
		{ .queue = 0, .size = 8, .path = MAPLE_DRAM, .way = BY_POINTERS, .rounds = 2 },
		{ .queue = 1, .size = 4, .path = MAPLE_DRAM, .way = BY_LIMA, .rounds = 2 },
		{ .queue = 2, .size = 8, .path = MAPLE_LLC, .way = BY_LIMA, .rounds = 2 },
		{ .queue = 3, .size = 4, .path = MAPLE_LLC, .way = BY_POINTERS, .rounds = 2 },
	};

	(void)state;
	check_gathers(gathers, 4);
}

static void lima_without_a_pushes_the_indices_themselves(void **state)
{
	uint32_t *b = maple_array(10, 4);

	(void)state;
	maple_open_both(1);
	for (uint32_t i = 0; i < 10; i++)
		b[i] = 1000 - i;
	assert_int_equal(maple_lima_produce32(maple, 1, NULL, b, 2, 7, MAPLE_DRAM), 0);
	for (uint32_t i = 2; i < 7; i++)
		assert_int_equal(maple_pop32(1), 1000 - i);
}

static void loops_over_different_arrays_that_wait_together_keep_their_own(void **state)
{
	uint32_t *first = maple_array(4, 4), *second = maple_array(4, 4);
	uint32_t *b = maple_array(4, 4), *other_b = maple_array(4, 4);

	(void)state;
	maple_open_both(1);
	for (uint32_t i = 0; i < 4; i++) {
		first[i] = 10 + i;
		second[i] = 20 + i;
		b[i] = 3 - i;
		other_b[i] = i;
	}
	assert_int_equal(maple_lima_produce32(maple, 1, first, b, 0, 4, MAPLE_DRAM), 0);
	assert_int_equal(maple_lima_produce32(maple, 1, second, b, 1, 3, MAPLE_DRAM), 0);
	assert_int_equal(maple_lima_produce32(maple, 1, second, other_b, 1, 3, MAPLE_DRAM), 0);
	assert_int_equal(maple_lima_produce32(maple, 1, NULL, b, 0, 1, MAPLE_DRAM), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(maple_pop32(1), 13 - i);
	assert_int_equal(maple_pop32(1), 22);
	assert_int_equal(maple_pop32(1), 21);
	assert_int_equal(maple_pop32(1), 21);
	assert_int_equal(maple_pop32(1), 22);
	assert_int_equal(maple_pop32(1), 3);
}

#define LOOPS 60
#define LOOP_WORDS 50

static void *push_loops(void *argument)
{
	const uint32_t *b = argument;
	int error = maple_open(maple, 0, MAPLE_PRODUCER);

	for (uint32_t i = 0; i < LOOPS && !error; i++)
		error = maple_lima_produce32(maple, 0, NULL, b, i * LOOP_WORDS,
					     (i + 1) * LOOP_WORDS, MAPLE_DRAM);
	maple_close(maple, 0, MAPLE_PRODUCER);
	return (void *)(intptr_t)error;
}

static void no_loop_is_lost_however_many_wait(void **state)
{
	uint32_t *b = maple_array(LOOPS * LOOP_WORDS, 4);
	pthread_t thread;
	void *error;

	(void)state;
	for (uint32_t i = 0; i < LOOPS * LOOP_WORDS; i++)
		b[i] = i;
	assert_int_equal(maple_open(maple, 0, MAPLE_CONSUMER), 0);
	pthread_create(&thread, NULL, push_loops, b);
	usleep(20000);	/* so that loops pile up */
	for (uint32_t i = 0; i < LOOPS * LOOP_WORDS; i++)
		assert_int_equal(maple_pop32(0), i);
	pthread_join(thread, &error);
	assert_null(error);
}

/* Both use queue 0's base register on the artifact profile. */
static void *push_pointers(void *argument)
{
	const struct arrays *arrays = argument;
	int error = maple_open(maple, 0, MAPLE_PRODUCER);

	for (int i = 0; i < ELEMENTS && error >= 0; i += 10)
		error = (int)maple_produce_ptr32_batch(maple, 0, arrays->a32, arrays->b + i, 10,
						       MAPLE_DRAM);
	return (void *)(intptr_t)(error < 0 ? error : 0);
}

static void *push_short_loops(void *argument)
{
	const struct arrays *arrays = argument;
	int error = maple_open(maple, 1, MAPLE_PRODUCER);

	for (uint32_t i = 0; i < ELEMENTS && !error; i += 10)
		error = maple_lima_produce32(maple, 1, arrays->a32, arrays->b, i, i + 10,
					     MAPLE_DRAM);
	return (void *)(intptr_t)error;
}

static void pointers_on_queue_0_and_loops_on_queue_1_keep_their_bases(void **state)
{
	struct arrays zero = make_arrays(11), one = make_arrays(22);
	pthread_t pointers, loops;
	void *error;

	(void)state;
	assert_int_equal(maple_open(maple, 0, MAPLE_CONSUMER), 0);
	assert_int_equal(maple_open(maple, 1, MAPLE_CONSUMER), 0);
	pthread_create(&pointers, NULL, push_pointers, &zero);
	pthread_create(&loops, NULL, push_short_loops, &one);
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		assert_int_equal(maple_pop32(0), zero.a32[zero.b[i]]);
		assert_int_equal(maple_pop32(1), one.a32[one.b[i]]);
	}
	pthread_join(pointers, &error);
	assert_null(error);
	pthread_join(loops, &error);
	assert_null(error);
}

static void a_thread_with_both_roles_is_told_to_consume_when_loops_pile_up(void **state)
{
	uint32_t *b = maple_array(100, 4);
	int error = 0;

	(void)state;
	maple_open_both(0);
	for (uint32_t i = 0; i < 100; i++)
		b[i] = i;
	for (int i = 0; i < 100 && !error; i++)
		error = maple_lima_produce32(maple, 0, NULL, b, 0, 100, MAPLE_DRAM);
	assert_int_equal(error, -EAGAIN);
	assert_int_equal(maple_pop32(0), 0);
}

static void prefetches_put_nothing_into_the_queue(void **state)
{
	struct arrays arrays = make_arrays(0);
	struct maple_counters before, after;

	(void)state;
	maple_open_both(1);
	assert_int_equal(maple_counters(maple, &before), 0);
	assert_int_equal(maple_prefetch(maple, 1, arrays.a32), 0);
	assert_int_equal(maple_lima(maple, 1, arrays.a64, 8, arrays.b, 0, 100), 0);
	assert_int_equal(maple_lima(maple, 1, arrays.a32, 4, arrays.b, 0, 100), 0);
	/* 100 indices of 4 bytes, page aligned: 7 lines of 64 bytes */
	assert_int_equal(maple_lima(maple, 1, NULL, 4, arrays.b, 0, 100), 0);
	maple_produce32(maple, 1, 7);
	assert_int_equal(maple_pop32(1), 7);
	assert_int_equal(maple_counters(maple, &after), 0);
	assert_int_equal(after.prefetched - before.prefetched, 1 + 100 + 100 + 7);
	assert_int_equal(after.produced - before.produced, 1);
}

static void an_address_that_is_not_there_gives_0_and_is_counted(void **state)
{
	uint64_t address, count;

	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_fault(maple, &address, &count), 0);
	assert_int_equal(address, 0);
	assert_int_equal(count, 0);
	assert_int_equal(maple_produce_ptr32(maple, 0, (void *)0x1000, MAPLE_DRAM), 0);
	assert_int_equal(maple_pop32(0), 0);
	assert_int_equal(maple_fault(maple, &address, &count), 0);
	assert_int_equal(address, 0x1000);
	assert_int_equal(count, 1);
}

static void a_null_pointer_gives_0(void **state)
{
	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce_ptr64(maple, 0, NULL, MAPLE_DRAM), 0);
	maple_produce32(maple, 0, 5);
	assert_true(maple_pop64(0) == 0);
	assert_int_equal(maple_pop32(0), 5);
}

static void a_fetch_that_would_hang_the_artifact_is_refused(void **state)
{
	uint32_t *array = maple_array(8, 4), *indices = maple_array(1, 4);
	struct maple_counters counters;

	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce_ptr64(maple, 0, &array[1], MAPLE_LLC), -EINVAL);
	assert_int_equal(maple_produce_ptr64_batch(maple, 0, &array[1], indices, 1, MAPLE_LLC), -EINVAL);
	assert_int_equal(maple_lima_produce64(maple, 0, &array[1], indices, 0, 1, MAPLE_LLC), -EINVAL);
	maple_produce32(maple, 0, 3);
	assert_int_equal(maple_pop32(0), 3);
	assert_int_equal(maple_counters(maple, &counters), 0);
	assert_int_equal(counters.hangs, 0);
}

static void elements_beyond_40_bits_are_refused_on_the_artifact(void **state)
{
	uint32_t *low = maple_array(4, 4), *high = malloc(64);
	void *base = (void *)((1ull << 40) - 16);

	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce_ptr32_batch(maple, 0, high, low, 1, MAPLE_DRAM), -ERANGE);
	assert_int_equal(maple_lima_produce32(maple, 0, high, low, 0, 1, MAPLE_DRAM), -ERANGE);
	assert_int_equal(maple_lima_produce32(maple, 0, NULL, high, 0, 1, MAPLE_DRAM), -ERANGE);
	assert_int_equal(maple_prefetch(maple, 0, high), -ERANGE);
	low[0] = 4;
	assert_int_equal(maple_produce_ptr32_batch(maple, 0, base, low, 1, MAPLE_DRAM), -ERANGE);
	free(high);
}

static const struct maple_test tests[] = {
	MAPLE_TEST(words_come_out_in_the_order_they_went_in, ON_ALL),
	MAPLE_TEST(a_64_bit_push_is_two_words_the_low_one_first, ON_ALL),
	MAPLE_TEST(two_words_make_a_64_bit_value_the_first_in_the_low_half, ON_ALL),
	MAPLE_TEST(a_batch_of_words_larger_than_the_queue_passes_between_threads, ON_ALL),
	MAPLE_TEST(a_batch_of_64_bit_values_larger_than_the_queue_passes_between_threads, ON_ALL),
	MAPLE_TEST(a_batch_of_nothing_does_nothing, ON_ALL),
	MAPLE_TEST(a_pointer_brings_the_4_bytes_it_names, ON_ALL),
	MAPLE_TEST(a_pointer_brings_the_8_bytes_it_names, ON_ALL),
	MAPLE_TEST(a_pointer_at_4_mod_8_brings_8_bytes, ON_ALL),
	MAPLE_TEST(a_pointer_on_the_stack_is_fetched_or_refused_by_name, ON_ALL),
	MAPLE_TEST(low_addresses_are_fetched_from, ON_ALL),
	MAPLE_TEST(pointers_in_two_places_alternate, ON_ALL),
	MAPLE_TEST(a_batch_of_pointers_gathers_4_byte_elements, ON_ALL),
	MAPLE_TEST(a_batch_of_pointers_gathers_8_byte_elements_coherently, ON_ALL),
	MAPLE_TEST(lima_gathers_4_byte_elements_coherently, ON_ALL),
	MAPLE_TEST(lima_gathers_8_byte_elements, ON_ALL),
	MAPLE_TEST(gathers_on_four_queues_at_once_do_not_disturb_each_other, ON_ALL),
	MAPLE_TEST(lima_without_a_pushes_the_indices_themselves, ON_ALL),
	MAPLE_TEST(loops_over_different_arrays_that_wait_together_keep_their_own, ON_ALL),
	MAPLE_TEST(no_loop_is_lost_however_many_wait, ON_ALL),
	MAPLE_TEST(pointers_on_queue_0_and_loops_on_queue_1_keep_their_bases, ON_ALL),
	MAPLE_TEST(a_thread_with_both_roles_is_told_to_consume_when_loops_pile_up, ON_ARTIFACT),
	MAPLE_TEST(prefetches_put_nothing_into_the_queue, ON_ALL),
	MAPLE_TEST(an_address_that_is_not_there_gives_0_and_is_counted, ON_ALL),
	MAPLE_TEST(a_null_pointer_gives_0, ON_ALL),
	MAPLE_TEST(a_fetch_that_would_hang_the_artifact_is_refused, ON_ARTIFACT),
	MAPLE_TEST(elements_beyond_40_bits_are_refused_on_the_artifact, ON_ARTIFACT),
};

int main(void)
{
	return maple_run("libmaple data", tests);
}
