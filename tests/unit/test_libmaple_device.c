/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libmaple: devices, roles, arguments, counters and memory, on the profiles and transports. */
#include "tests/lib/maple_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls `run` on a thread of its own and returns its result. */
static intptr_t on_another_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return (intptr_t)result;
}

static void *open_producer(void *argument)
{
	return (void *)(intptr_t)maple_open(maple, *(unsigned int *)argument, MAPLE_PRODUCER);
}

static void *open_consumer_then_producer(void *argument)
{
	unsigned int queue = *(unsigned int *)argument;
	int error = maple_open(maple, queue, MAPLE_CONSUMER);

	if (error)
		return (void *)(intptr_t)1;
	return (void *)(intptr_t)maple_open(maple, queue, MAPLE_PRODUCER);
}

static void *push_one(void *argument)
{
	return (void *)(intptr_t)maple_produce32(maple, *(unsigned int *)argument, 1);
}

static void *pop_one(void *argument)
{
	uint32_t word;

	return (void *)(intptr_t)maple_consume32(maple, *(unsigned int *)argument, &word);
}

static void *close_producer(void *argument)
{
	return (void *)(intptr_t)maple_close(maple, *(unsigned int *)argument, MAPLE_PRODUCER);
}

static void a_role_belongs_to_one_thread(void **state)
{
	unsigned int queue = 1;

	(void)state;
	maple_open_both(queue);
	assert_int_equal(on_another_thread(open_producer, &queue), -EBUSY);
	assert_int_equal(on_another_thread(push_one, &queue), -EPERM);
	assert_int_equal(on_another_thread(pop_one, &queue), -EPERM);
	assert_int_equal(on_another_thread(close_producer, &queue), -EPERM);
	maple_produce32(maple, queue, 3);
	assert_int_equal(maple_pop32(queue), 3);
}

/* The device answers such an OPEN with the other role's flag, which is not 0 (contract A2). */
static void the_consumer_of_a_queue_does_not_get_a_producer_role_that_is_taken(void **state)
{
	unsigned int queue = 0;

	(void)state;
	assert_int_equal(maple_open(maple, queue, MAPLE_PRODUCER), 0);
	assert_int_equal(on_another_thread(open_consumer_then_producer, &queue), -EBUSY);
}

static void opening_twice_is_the_same_as_once(void **state)
{
	(void)state;
	maple_open_both(0);
	maple_open_both(0);
	assert_int_equal(maple_close(maple, 0, MAPLE_PRODUCER), 0);
	assert_int_equal(maple_close(maple, 0, MAPLE_PRODUCER), -EPERM);
	assert_int_equal(maple_produce32(maple, 0, 1), -EPERM);
}

static void roles_of_a_thread_that_ended_are_free(void **state)
{
	unsigned int queue = 0;

	(void)state;
	assert_int_equal(on_another_thread(open_producer, &queue), 0);
	assert_int_equal(on_another_thread(push_one, &queue), -EPERM);
	maple_open_both(queue);
	maple_produce32(maple, queue, 9);
	assert_int_equal(maple_pop32(queue), 9);
}

static void the_words_of_a_queue_survive_closing(void **state)
{
	(void)state;
	maple_open_both(1);
	maple_produce32(maple, 1, 42);
	assert_int_equal(maple_close(maple, 1, MAPLE_PRODUCER), 0);
	assert_int_equal(maple_close(maple, 1, MAPLE_CONSUMER), 0);
	maple_open_both(1);
	assert_int_equal(maple_pop32(1), 42);
}

static void a_queue_that_does_not_exist_is_refused_by_number(void **state)
{
	unsigned int queue = maple_queue_count(maple);
	uint64_t words[4];
	uint32_t word;

	(void)state;
	assert_int_equal(maple_open(maple, queue, MAPLE_PRODUCER), -EINVAL);
	assert_non_null(strstr(maple_error_text(), "queue"));
	assert_int_equal(maple_close(maple, queue, MAPLE_PRODUCER), -EINVAL);
	assert_int_equal(maple_produce32(maple, queue, 1), -EINVAL);
	assert_int_equal(maple_consume32(maple, queue, &word), -EINVAL);
	assert_int_equal(maple_statistics(maple, queue, words), -EINVAL);
	assert_int_equal(maple_open(maple, UINT32_MAX, MAPLE_CONSUMER), -EINVAL);
	assert_int_equal(maple_open(maple, 0, (enum maple_role)3), -EINVAL);
}

static void wrong_arguments_are_refused_and_leave_the_queue_alone(void **state)
{
	uint32_t *array = maple_array(8, 4);
	char *odd = (char *)array + 2;

	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_produce_ptr32(maple, 0, odd, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_produce_ptr64(maple, 0, odd, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_produce_ptr32(maple, 0, array, (enum maple_path)2), -EINVAL);
	assert_int_equal(maple_produce_ptr32_batch(maple, 0, odd, array, 2, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_produce_ptr32_batch(maple, 0, array, NULL, 2, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_produce32_batch(maple, 0, NULL, 2), -EINVAL);
	assert_int_equal(maple_consume32_batch(maple, 0, NULL, 2), -EINVAL);
	assert_int_equal(maple_lima(maple, 0, array, 2, array, 0, 1), -EINVAL);
	assert_int_equal(maple_lima_produce32(maple, 0, array, array, 2, 1, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_lima_produce64(maple, 0, NULL, array, 0, 1, MAPLE_DRAM), -EINVAL);
	assert_int_equal(maple_open(NULL, 0, MAPLE_PRODUCER), -EINVAL);
	assert_int_equal(maple_produce32(NULL, 0, 0), -EINVAL);
	maple_produce32(maple, 0, 6);
	assert_int_equal(maple_pop32(0), 6);
}

static void counters_count_words(void **state)
{
	struct maple_counters before, after;
	uint64_t *array = maple_array(4, 8);

	(void)state;
	maple_open_both(0);
	assert_int_equal(maple_counters(maple, &before), 0);
	maple_produce32(maple, 0, 1);
	maple_produce64(maple, 0, 2);
	maple_produce_ptr64(maple, 0, array, MAPLE_DRAM);
	maple_pop32(0);
	maple_pop64(0);
	assert_int_equal(maple_counters(maple, &after), 0);
	assert_int_equal(after.produced - before.produced, 5);
	assert_int_equal(after.consumed - before.consumed, 3);
	assert_int_equal(after.fetched - before.fetched, 1);
	assert_int_equal(after.illegal, before.illegal);
}

static void statistics_tell_how_many_words_were_popped(void **state)
{
	uint64_t words[4];

	(void)state;
	maple_open_both(1);
	for (int round = 1; round <= 3; round++) {
		maple_produce64(maple, 1, 0);
		maple_pop64(1);
		assert_int_equal(maple_statistics(maple, 1, words), 0);
		assert_int_equal(words[0], 0);
		assert_int_equal((uint32_t)words[3], 2 * round);
	}
}

static void the_first_debug_word_shows_the_words_in_use(void **state)
{
	uint64_t bitmap;

	(void)state;
	maple_open_both(0);
	for (int i = 0; i < 3; i++)
		maple_produce32(maple, 0, 1);
	assert_int_equal(maple_debug(maple, 0, &bitmap), 0);
	assert_int_equal(__builtin_popcountll(bitmap), 3);
	assert_int_equal(maple_debug(maple, 8, &bitmap), -EINVAL);
}

static void options_that_cannot_be_are_refused_by_name(void **state)
{
	struct maple *other = maple;
	struct maple_options options = maple_test_options;

	(void)state;
	options.queue_words = 33;
	assert_int_equal(maple_init(&other, &options), -EINVAL);
	assert_null(other);
	assert_non_null(strstr(maple_error_text(), "33"));
	options = maple_test_options;
	options.transport = "pigeon";
	assert_int_equal(maple_init(&other, &options), -EINVAL);
	assert_non_null(strstr(maple_error_text(), "pigeon"));
	options = maple_test_options;
	options.device = "virgo0";
	assert_int_equal(maple_init(&other, &options), -EINVAL);
	assert_non_null(strstr(maple_error_text(), "virgo0"));
	assert_int_equal(maple_init(NULL, NULL), -EINVAL);
}

static void an_instance_is_opened_once_by_a_process(void **state)
{
	struct maple_options options = maple_test_options;
	struct maple *other;

	(void)state;
	options.device = maple_device_name(maple);
	assert_int_equal(maple_init(&other, &options), -EBUSY);
	maple_open_both(0);
	maple_produce32(maple, 0, 4);
	assert_int_equal(maple_pop32(0), 4);
}

static void a_second_device_has_queues_of_its_own(void **state)
{
	struct maple_options options = maple_test_options;
	struct maple *other;
	uint32_t word;

	(void)state;
	assert_int_equal(maple_init(&other, &options), 0);
	assert_string_not_equal(maple_device_name(other), maple_device_name(maple));
	maple_open_both(0);
	assert_int_equal(maple_open(other, 0, MAPLE_PRODUCER), 0);
	assert_int_equal(maple_open(other, 0, MAPLE_CONSUMER), 0);
	maple_produce32(maple, 0, 1);
	maple_produce32(other, 0, 2);
	assert_int_equal(maple_pop32(0), 1);
	assert_int_equal(maple_consume32(other, 0, &word), 0);
	assert_int_equal(word, 2);
	maple_fini(other);
}

struct division {
	unsigned int words;
	unsigned int paper;
	unsigned int artifact;
};

static void queues_share_the_scratchpad(void **state)
{
	static const struct division divisions[] = {
		{ 8, 8, 4 }, { 16, 8, 4 }, { 32, 8, 4 }, { 48, 5, 2 },
		{ 64, 4, 2 }, { 80, 3, 1 }, { 96, 2, 1 }, { 128, 2, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(divisions) / sizeof(divisions[0]); i++) {
		const struct division *d = &divisions[i];
		struct maple_options options = maple_test_options;

		maple_fini(maple);
		options.queue_words = d->words;
		assert_int_equal(maple_init(&maple, &options), 0);
		assert_int_equal(maple_queue_count(maple),
				 maple_is_artifact() ? d->artifact : d->paper);
		assert_int_equal(maple_queue_words(maple),
				 maple_is_artifact() && d->words > 64 ? 64 : d->words);
	}
}

static void a_queue_holds_as_many_words_as_it_says(void **state)
{
	unsigned int words = maple_queue_words(maple);
	struct maple_counters counters;

	(void)state;
	maple_open_both(0);
	for (unsigned int i = 0; i < words; i++)
		maple_produce32(maple, 0, i);
	assert_int_equal(maple_counters(maple, &counters), 0);
	assert_int_equal(counters.produced, words);
	assert_int_equal(counters.store_waits, 0);
	for (unsigned int i = 0; i < words; i++)
		assert_int_equal(maple_pop32(0), i);
}

static void a_device_starts_empty_after_another_user(void **state)
{
	struct maple_counters counters;

	(void)state;
	maple_open_both(0);
	maple_produce32(maple, 0, 1);
	maple_fini(maple);
	assert_int_equal(maple_init(&maple, &maple_test_options), 0);
	maple_open_both(0);
	maple_produce32(maple, 0, 2);
	assert_int_equal(maple_pop32(0), 2);
	assert_int_equal(maple_counters(maple, &counters), 0);
}

static void a_child_has_no_device(void **state)
{
	uint32_t word;
	int status;
	pid_t child;

	(void)state;
	maple_open_both(0);
	child = fork();
	if (child == 0)
		_exit(maple_produce32(maple, 0, 1) == -ENODEV && maple_consume32(maple, 0, &word) == -ENODEV
		      ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	maple_produce32(maple, 0, 8);
	assert_int_equal(maple_pop32(0), 8);
}

static void registered_memory_keeps_its_place_and_contents(void **state)
{
	size_t size = 16 * 4096;
	/* low, so that every profile has pointers to it */
	uint32_t *memory = mmap((void *)0x40000000, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	maple_open_both(0);
	for (uint32_t i = 0; i < size / 4; i++)
		memory[i] = i;
	assert_int_equal(maple_register(maple, memory, size), 0);
	assert_int_equal(memory[5000], 5000);
	memory[5001] = 1;
	assert_int_equal(maple_produce_ptr32(maple, 0, &memory[5001], MAPLE_DRAM), 0);
	assert_int_equal(maple_pop32(0), 1);
	assert_int_equal(maple_unregister(maple, memory, size), 0);
	assert_int_equal(memory[5001], 1);
	assert_int_equal(memory[9000], 9000);
	munmap(memory, size);
}

static void memory_is_zeroed_and_below_2_to_the_40(void **state)
{
	unsigned char *memory = maple_alloc(maple, 100000);

	(void)state;
	assert_non_null(memory);
	assert_true((uintptr_t)memory + 100000 <= 1ull << 40);
	assert_int_equal((uintptr_t)memory % 4096, 0);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(memory[i], 0);
	assert_int_equal(maple_free(maple, memory), 0);
	assert_int_equal(maple_free(maple, NULL), 0);
	errno = 0;
	assert_null(maple_alloc(maple, 0));
	assert_int_equal(errno, EINVAL);
}

static const struct maple_test tests[] = {
	MAPLE_TEST(a_role_belongs_to_one_thread, ON_ALL),
	MAPLE_TEST(the_consumer_of_a_queue_does_not_get_a_producer_role_that_is_taken, ON_ALL),
	MAPLE_TEST(opening_twice_is_the_same_as_once, ON_ALL),
	MAPLE_TEST(roles_of_a_thread_that_ended_are_free, ON_ALL),
	MAPLE_TEST(the_words_of_a_queue_survive_closing, ON_ALL),
	MAPLE_TEST(a_queue_that_does_not_exist_is_refused_by_number, ON_ALL),
	MAPLE_TEST(wrong_arguments_are_refused_and_leave_the_queue_alone, ON_ALL),
	MAPLE_TEST(counters_count_words, ON_ALL),
	MAPLE_TEST(statistics_tell_how_many_words_were_popped, ON_ALL),
	MAPLE_TEST(the_first_debug_word_shows_the_words_in_use, ON_ALL),
	MAPLE_TEST(options_that_cannot_be_are_refused_by_name, ON_ALL),
	MAPLE_TEST(an_instance_is_opened_once_by_a_process, ON_ALL),
	MAPLE_TEST(a_second_device_has_queues_of_its_own, ON_ALL),
	MAPLE_TEST(queues_share_the_scratchpad, ON_ALL),
	MAPLE_TEST(a_queue_holds_as_many_words_as_it_says, ON_ALL),
	MAPLE_TEST(a_device_starts_empty_after_another_user, ON_ALL),
	MAPLE_TEST(a_child_has_no_device, ON_ALL),
	MAPLE_TEST(registered_memory_keeps_its_place_and_contents, ON_ALL),
	MAPLE_TEST(memory_is_zeroed_and_below_2_to_the_40, ON_ALL),
};

int main(void)
{
	return maple_run("libmaple devices", tests);
}
