/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trace events of a MAPLE. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/model_fixture.h"
#include "tests/lib/trace_sink.h"

static struct trace_sink *sink;

static void begin_with(unsigned int size_code, unsigned int options)
{
	start("paper", options);
	fake_open(host, size_code, 2);
	sink = trace_sink_start(host->model);
}

static const struct mimic_trace_event *find(enum mimic_trace_kind kind, size_t n)
{
	const struct mimic_trace_event *event = trace_sink_find(sink, kind, n);

	assert_non_null(event);
	return event;
}

static void a_model_without_a_trace_tells_nothing(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	host->model->trace.trace = NULL;
	assert_true(produce(0, 7));
	assert_int_equal(consume(0), 7);
	assert_int_equal(sink->count, 0);
	stop();
}

static void words_have_numbers_from_their_produce_to_their_consume(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(produce(1, i));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(consume(1), i);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(find(MIMIC_TRACE_produce, i)->id, i);
		assert_int_equal(find(MIMIC_TRACE_produce, i)->unit, 1);
		assert_int_equal(find(MIMIC_TRACE_produce, i)->owner, PRODUCER);
		assert_int_equal(find(MIMIC_TRACE_produce, i)->value, i + 1);
	}
	assert_int_equal(find(MIMIC_TRACE_consume, 1)->id, 1);
	assert_int_equal(find(MIMIC_TRACE_consume, 1)->owner, CONSUMER);
	assert_int_equal(find(MIMIC_TRACE_consume, 1)->value, 1);
	stop();
}

static void words_are_counted_without_a_trace_too(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	host->model->trace.trace = NULL;
	assert_true(produce(0, 1));
	host->model->trace.trace = &sink->trace;
	assert_int_equal(consume(0), 1);
	assert_true(produce(0, 2));
	assert_int_equal(find(MIMIC_TRACE_consume, 0)->id, 0);
	assert_int_equal(find(MIMIC_TRACE_produce, 0)->id, 1);
	stop();
}

static void an_access_is_one_slice(void **state)
{
	const struct mimic_trace_event *event;

	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	assert_true(produce(1, 0x1234));
	event = find(MIMIC_TRACE_access, 0);
	assert_int_equal(event->owner, PRODUCER);
	assert_int_equal(event->unit, 1);
	assert_int_equal(event->address, 8 << 3 | 1 << 9);
	assert_int_equal(event->size, 4);
	assert_int_equal(event->value, 0x1234);
	assert_int_equal(event->id, 1);
	assert_true(event->duration > 0);
	stop();
}

static void a_batch_is_one_slice(void **state)
{
	struct mimic_access pattern = { .owner = PRODUCER, .offset = 8 << 3, .size = 8, .is_write = 1 };
	const uint64_t values[3] = { 1, 2, 3 };

	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 3, 100), 3);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_access), 1);
	assert_int_equal(find(MIMIC_TRACE_access, 0)->id, 3);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_produce), 1);
	assert_int_equal(find(MIMIC_TRACE_produce, 0)->size, 6);
	stop();
}

/* The kinds of all events of an owner, in their order. */
static void expect_kinds(uint64_t owner, const enum mimic_trace_kind *kinds, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < sink->count; i++) {
		enum mimic_trace_track track = mimic_trace_descriptions[sink->event[i].kind].track;

		if (sink->event[i].owner != owner || track != MIMIC_TRACE_TRACK_THREAD)
			continue;
		assert_true(n < count);
		assert_int_equal(sink->event[i].kind, kinds[n++]);
	}
	assert_int_equal(n, count);
}

static const enum mimic_trace_kind waited[] = {
	MIMIC_TRACE_access_begin, MIMIC_TRACE_block, MIMIC_TRACE_wake, MIMIC_TRACE_access_end,
};

static void a_load_that_waits_is_begun_and_ended(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_true(produce(0, 5));
	expect_kinds(CONSUMER, waited, 4);
	assert_int_equal(find(MIMIC_TRACE_access_end, 0)->value, 5);
	assert_int_equal(find(MIMIC_TRACE_access_end, 0)->unit, 0);
	assert_true(find(MIMIC_TRACE_wake, 0)->time > find(MIMIC_TRACE_block, 0)->time);
	stop();
}

static void a_store_that_waits_is_begun_and_ended(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(produce(0, i));
	sink->count = 0;
	assert_false(produce(0, 8));
	assert_int_equal(consume(0), 0);
	expect_kinds(PRODUCER, waited, 4);
	stop();
}

static void a_load_that_is_withdrawn_ends_so(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->cancel(host->model, CONSUMER, ++host->now);
	expect_kinds(CONSUMER, waited, 4);
	assert_int_equal(find(MIMIC_TRACE_access_end, 0)->unit, 1);
	stop();
}

static void operations_that_drop_words_say_so(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	assert_true(produce(0, 1));
	assert_true(produce(0, 2));
	assert_int_equal(consume(0), 1);
	fake_load(host, CONSUMER, FIFO_CLEAR, 0, 4);
	assert_int_equal(find(MIMIC_TRACE_drop, 0)->value, MIMIC_TRACE_DROP_FIFO_CLEAR);
	assert_int_equal(find(MIMIC_TRACE_drop, 0)->id, 1);
	assert_int_equal(find(MIMIC_TRACE_drop, 0)->size, 1);
	assert_true(produce(1, 3));
	fake_load(host, CONSUMER, RESET, 0, 4);
	assert_int_equal(find(MIMIC_TRACE_drop, 1)->value, MIMIC_TRACE_DROP_RESET);
	fake_open(host, WORDS_8, 1);
	assert_true(produce(0, 3));
	host->model->ops->power_on(host->model, ++host->now);
	assert_int_equal(find(MIMIC_TRACE_drop, 2)->value, MIMIC_TRACE_DROP_POWER_ON);
	fake_open(host, WORDS_8, 1);
	assert_true(produce(0, 4));
	stop();
	assert_int_equal(find(MIMIC_TRACE_drop, 3)->value, MIMIC_TRACE_DROP_CLOSE);
}

static void a_fetch_and_its_miss_have_the_address(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_WALKS);
	assert_true(pointer32(0, 5));
	assert_true(pointer32(0, 6));
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_tlb_miss), 1);
	assert_int_equal(find(MIMIC_TRACE_tlb_miss, 0)->address, fake_address(5));
	assert_int_equal(find(MIMIC_TRACE_fetch, 1)->address, fake_address(6));
	assert_int_equal(find(MIMIC_TRACE_fetch, 1)->size, 4);
	stop();
}

static void a_page_fault_is_told_and_so_is_its_resolution(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_WALKS | FAKE_FAULTS);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(pointer32(0, 2048));
	assert_int_equal(find(MIMIC_TRACE_page_fault, 0)->address, fake_address(2048));
	assert_int_equal(find(MIMIC_TRACE_page_fault, 0)->value, MIMIC_FAULT_STALL);
	fake_mmu_load(host, GET_FAULT);
	host->absent[2] = false;
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_int_equal(find(MIMIC_TRACE_resolve, 0)->address, fake_address(2048) & ~0xfffull);
	stop();
}

static void a_shootdown_has_its_range(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	host->model->ops->invalidate(host->model, 0x1000, 0x3000);
	assert_int_equal(find(MIMIC_TRACE_shootdown, 0)->address, 0x1000);
	assert_int_equal(find(MIMIC_TRACE_shootdown, 0)->value, 0x3000);
	stop();
}

static void a_loop_is_begun_and_ended(void **state)
{
	(void)state;
	begin_with(WORDS_128, FAKE_IDENTITY);
	assert_true(fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, fake_address(0)));
	assert_true(fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(64)));
	assert_true(fake_store(host, PRODUCER, QUEUE_LOOP_POINTER32, 0, 8, 3ull << 32 | 9));
	assert_int_equal(find(MIMIC_TRACE_lima_begin, 0)->address, fake_address(0));
	assert_int_equal(find(MIMIC_TRACE_lima_begin, 0)->value, fake_address(64));
	assert_int_equal(find(MIMIC_TRACE_lima_begin, 0)->id, 3ull << 32 | 9);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_lima_end), 1);
	assert_int_equal(trace_sink_sum(sink, MIMIC_TRACE_produce), 6);
	stop();
}

/* --- completeness -------------------------------------------------------------------------- */

static uint64_t random_state;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state % limit);
}

static void random_step(void)
{
	static const unsigned int stores[] = { PRODUCE, PRODUCE, POINTER32, FULL_POINTER64, QUEUE_LOOP_POINTER32 };
	unsigned int queue = random_below(2), size = random_below(2) ? 8 : 4;

	if (random_below(60) == 0) {
		if (random_below(2))
			fake_load(host, CONSUMER, FIFO_CLEAR, queue, 4);
		fake_load(host, CONSUMER, RESET, 0, 4);
		fake_open(host, WORDS_8, 2);
		fake_store(host, PRODUCER, QUEUE_LIMA_B, queue, 8, fake_address(64));
		fake_store(host, PRODUCER, QUEUE_LIMA_A, queue, 8, fake_address(0));
	} else if (random_below(2) && !host->parked[CONSUMER]) {
		fake_load(host, CONSUMER, CONSUME, queue, size);
	} else if (!host->parked[PRODUCER]) {
		unsigned int operation = stores[random_below(5)];

		fake_store(host, PRODUCER, operation, queue, operation == PRODUCE ? size : 8,
			   operation == QUEUE_LOOP_POINTER32 ? random_below(20) : fake_address(random_below(500)));
	}
}

/* By number, over all operations: every word that comes goes once, and in the order in which it came. */
static void every_word_that_comes_goes_or_is_left(void **state)
{
	uint64_t came[2] = { 0, 0 }, went[2] = { 0, 0 };

	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	random_state = 88172645463325252ull;
	for (unsigned int i = 0; i < 12000; i++)
		random_step();
	assert_true(sink->count < SINK_MAX);
	for (size_t i = 0; i < sink->count; i++) {
		const struct mimic_trace_event *event = &sink->event[i];

		if (event->kind == MIMIC_TRACE_produce) {
			assert_int_equal(event->id, came[event->unit]);
			came[event->unit] += event->size;
		} else if (event->kind == MIMIC_TRACE_consume || event->kind == MIMIC_TRACE_drop) {
			assert_int_equal(event->id, went[event->unit]);
			went[event->unit] += event->size;
			assert_true(went[event->unit] <= came[event->unit]);
		}
	}
	assert_true(came[0] > 500 && trace_sink_count(sink, MIMIC_TRACE_drop) > 2);
	for (unsigned int i = 0; i < 2; i++) {
		struct maple_queue_view view;

		assert_int_equal(maple_model_queue(host->model, i, &view), 0);
		assert_int_equal(came[i] - went[i], view.allocated ? view.level : 0);
	}
	assert_int_equal(came[0] + came[1], fake_counter(host, MAPLE_COUNTER_produced));
	stop();
}

static void times_of_a_model_do_not_go_back(void **state)
{
	uint64_t last = 0;

	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	sink->clock = 1000;
	assert_true(produce(0, 1));
	/* The next thread's clock is behind. */
	sink->clock = 10;
	assert_int_equal(consume(0), 1);
	for (size_t i = 0; i < sink->count; i++) {
		uint64_t end = sink->event[i].time + sink->event[i].duration;

		assert_true(end >= last);
		last = end;
	}
	stop();
}

#ifdef STAP_PROBEV
static void attaching_to_a_probe_switches_probes_on_and_off(void **state)
{
	(void)state;
	begin_with(WORDS_8, FAKE_IDENTITY);
	host->model->trace.trace = NULL;
	mimic_trace_semaphore = 1;
	assert_true(produce(0, 1));
	assert_non_null(host->model->trace.trace);
	mimic_trace_semaphore = 0;
	assert_int_equal(consume(0), 1);
	assert_null(host->model->trace.trace);
	stop();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_without_a_trace_tells_nothing),
		cmocka_unit_test(words_have_numbers_from_their_produce_to_their_consume),
		cmocka_unit_test(words_are_counted_without_a_trace_too),
		cmocka_unit_test(an_access_is_one_slice),
		cmocka_unit_test(a_batch_is_one_slice),
		cmocka_unit_test(a_load_that_waits_is_begun_and_ended),
		cmocka_unit_test(a_store_that_waits_is_begun_and_ended),
		cmocka_unit_test(a_load_that_is_withdrawn_ends_so),
		cmocka_unit_test(operations_that_drop_words_say_so),
		cmocka_unit_test(a_fetch_and_its_miss_have_the_address),
		cmocka_unit_test(a_page_fault_is_told_and_so_is_its_resolution),
		cmocka_unit_test(a_shootdown_has_its_range),
		cmocka_unit_test(a_loop_is_begun_and_ended),
		cmocka_unit_test(every_word_that_comes_goes_or_is_left),
		cmocka_unit_test(times_of_a_model_do_not_go_back),
#ifdef STAP_PROBEV
		cmocka_unit_test(attaching_to_a_probe_switches_probes_on_and_off),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
