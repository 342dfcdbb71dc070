/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE in virtual time: the answers to a program's accesses of its context's page, and when. Rows take
 * the cycles of test_dare_time.c: one that misses is there 110 cycles after it is sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "devices/dare/time/dare_time.h"
#include "sim/parameters.h"

#define OWNERS 8

struct fixture {
	struct sim_parameters soc;
	struct mimic_time_host host;
	struct dare_time *device;
	uint64_t end[OWNERS], data[OWNERS];	/* of accesses that waited; 0: they still do */
};

static float memory[64][16] __attribute__((aligned(4096)));

static uint64_t parameter(void *context, const char *section, const char *key)
{
	return sim_parameters_get(&((struct fixture *)context)->soc, section, key);
}

static void complete(void *context, uint64_t owner, uint64_t data, uint64_t time)
{
	struct fixture *f = context;

	f->end[owner] = time;
	f->data[owner] = data;
}

/* Memory lies in the same sets in every run. */
static uint64_t physical(void *context, uint64_t address)
{
	(void)context;
	return address - (uintptr_t)memory + 0x100000;
}

/* How many of the rows lie in memory[], before the first that does not. */
static long count_rows(const uint64_t *addresses, size_t count, size_t size)
{
	size_t row = 0;

	while (row < count && addresses[row] >= (uintptr_t)memory &&
	       addresses[row] + size <= (uintptr_t)memory + sizeof(memory))
		row++;
	return (long)row;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	long there = count_rows(addresses, count, size);

	(void)context;
	for (long row = 0; row < there; row++) {
		memset((char *)rows + 64 * row, 0, 64);
		memcpy((char *)rows + 64 * row, (const void *)(uintptr_t)addresses[row], size);
	}
	return there;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	long there = count_rows(addresses, count, size);

	(void)context;
	for (long row = 0; row < there; row++)
		memcpy((void *)(uintptr_t)addresses[row], (const char *)rows + 64 * row, size);
	return there;
}

static void begin(struct fixture *f, const char *mode)
{
	struct dare_time_parameters parameters;
	char why[128];

	memset(f, 0, sizeof(*f));
	memset(memory, 0, sizeof(memory));
	assert_int_equal(sim_parameters_load(&f->soc, "dare", why, sizeof(why)), 0);
	assert_int_equal(sim_parameters_mode(&f->soc, mode, why, sizeof(why)), 0);
	f->host = (struct mimic_time_host){ .context = f, .parameter = parameter, .physical = physical,
					    .read_rows = read_rows, .write_rows = write_rows, .complete = complete };
	dare_time_parameters(&f->host, &parameters);
	f->device = dare_time_create(&parameters, &f->host);
	assert_non_null(f->device);
}

/* When it is answered; UINT64_MAX: it waits. */
static uint64_t access_page(struct fixture *f, struct mimic_access *access, uint64_t now)
{
	uint64_t done;

	access->page = DARE_PAGE_CONTEXT(0);
	access->size = 8;
	return dare_time_access(f->device, access, now, &done) ? done : UINT64_MAX;
}

static uint64_t store(struct fixture *f, uint16_t offset, uint64_t data, uint64_t now)
{
	struct mimic_access access = { .owner = 1, .offset = offset, .data = data, .is_write = 1 };

	return access_page(f, &access, now);
}

static uint64_t fence(struct fixture *f, uint64_t now, uint64_t *status)
{
	struct mimic_access access = { .owner = 2, .offset = DARE_FENCE };
	uint64_t done = access_page(f, &access, now);

	*status = access.data;
	return done;
}

static uint32_t word_of(enum dare_operation operation, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	struct dare_fields fields = { .operation = operation, .md = md, .ms1 = ms1, .ms2 = ms2 };
	uint32_t word;

	assert_int_equal(dare_encode(&fields, &word), 0);
	return word;
}

/* All of it arrives in one cycle. Returns when it is acknowledged. */
static uint64_t stream(struct fixture *f, uint32_t word, uint64_t rs1, uint64_t rs2, uint64_t now)
{
	uint64_t done = store(f, DARE_STREAM, word, now);

	if (!dare_operand_count(word))
		return done;
	assert_int_equal(done, now);
	assert_int_equal(store(f, DARE_STREAM, rs1, now), now);
	return store(f, DARE_STREAM, rs2, now);
}

static void a_fence_is_answered_when_all_is_done_in_time(void **state)
{
	struct fixture f;
	uint64_t status;

	(void)state;
	begin(&f, "base");
	assert_int_equal(stream(&f, word_of(DARE_MCFG, 0, 0, 0), DARE_CSR_MATRIX_M, 1, 0), 0);
	assert_int_equal(stream(&f, word_of(DARE_MLD, 0, 0, 0), (uintptr_t)memory, 64, 1), 1);
	assert_int_equal(fence(&f, 2, &status), UINT64_MAX);
	/* Dispatched in 1, sent in 2. */
	dare_time_advance(f.device, 111);
	assert_int_equal(f.end[2], 0);
	dare_time_advance(f.device, 112);
	assert_int_equal(f.end[2], 112);
	assert_int_equal(fence(&f, 200, &status), 200);
	dare_time_destroy(f.device);
}

static void a_store_that_dispatches_waits_for_its_cycle_and_for_room(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "base");
	store(&f, DARE_RS1, (uintptr_t)memory, 0);
	store(&f, DARE_RS2, 64, 0);
	/* One a cycle. All write m0: the first issues in 1, and of the others four are in the queue. */
	assert_int_equal(store(&f, DARE_INSTRUCTION, word_of(DARE_MLD, 0, 0, 0), 0), 0);
	assert_int_equal(store(&f, DARE_INSTRUCTION, word_of(DARE_MLD, 0, 0, 0), 0), UINT64_MAX);
	dare_time_advance(f.device, 1);
	assert_int_equal(f.end[1], 1);
	for (uint64_t now = 2; now < 5; now++)
		assert_int_equal(store(&f, DARE_INSTRUCTION, word_of(DARE_MLD, 0, 0, 0), now), now);
	assert_int_equal(store(&f, DARE_INSTRUCTION, word_of(DARE_MLD, 0, 0, 0), 5), UINT64_MAX);
	/* Sixteen rows that miss, two cycles apart, from 1 on: the last is there in 141, and the second load issues. */
	dare_time_advance(f.device, 1000);
	assert_int_equal(f.end[1], 141);
	dare_time_destroy(f.device);
}

static void data_is_that_of_the_functional_model(void **state)
{
	struct fixture f;
	uint64_t status, now = 0;

	(void)state;
	begin(&f, "fre");
	for (unsigned int i = 0; i < 16; i++) {
		memory[0][i] = (float)i;
		memory[16][i] = 2;
	}
	/* 16 x 16 x 16; only the first row of each is not 0: memory[32][0] is the sum of 2 i. */
	stream(&f, word_of(DARE_MLD, 0, 0, 0), (uintptr_t)memory[0], 64, now++);
	stream(&f, word_of(DARE_MLD, 1, 0, 0), (uintptr_t)memory[16], 64, now++);
	stream(&f, word_of(DARE_MMA, 2, 0, 1), 0, 0, now++);
	stream(&f, word_of(DARE_MST, 0, 0, 2), (uintptr_t)memory[32], 64, now++);
	assert_int_equal(fence(&f, now, &status), UINT64_MAX);
	dare_time_advance(f.device, 10000);
	assert_true(f.end[2] > 0);
	assert_int_equal(f.data[2] & DARE_STATUS_ERROR, 0);
	assert_true(memory[32][0] == 240);
	dare_time_destroy(f.device);
}

static void an_address_that_is_bad_is_an_error_and_takes_no_rows(void **state)
{
	struct dare_time_statistics statistics;
	struct fixture f;
	uint64_t status;

	(void)state;
	begin(&f, "fre");
	assert_int_equal(stream(&f, word_of(DARE_MLD, 0, 0, 0), 4096, 64, 0), 0);
	assert_int_equal(fence(&f, 1, &status), 1);
	assert_int_equal(status & DARE_STATUS_ERROR, DARE_STATUS_ERROR);
	dare_time_statistics(f.device, 1000, &statistics);
	assert_int_equal(statistics.rows_demanded, 0);
	dare_time_destroy(f.device);
}

static void a_reset_throws_what_is_under_way_away(void **state)
{
	struct fixture f;
	uint64_t status;

	(void)state;
	begin(&f, "fre");
	stream(&f, word_of(DARE_MLD, 0, 0, 0), (uintptr_t)memory, 64, 0);
	assert_int_equal(store(&f, DARE_RESET, 0, 5), 5);
	assert_int_equal(fence(&f, 6, &status), 6);
	dare_time_destroy(f.device);
}

static void power_on_answers_waiting_accesses(void **state)
{
	struct fixture f;
	uint64_t status;

	(void)state;
	begin(&f, "base");
	stream(&f, word_of(DARE_MLD, 0, 0, 0), (uintptr_t)memory, 64, 0);
	assert_int_equal(fence(&f, 1, &status), UINT64_MAX);
	dare_time_power_on(f.device, 50);
	assert_int_equal(f.end[2], 50);
	/* The context is the program's again. */
	stream(&f, word_of(DARE_MLD, 0, 0, 0), (uintptr_t)memory, 64, 60);
	assert_int_equal(fence(&f, 61, &status), UINT64_MAX);
	dare_time_destroy(f.device);
}

/* --- a batch of stores ------------------------------------------------------------------ */

#define BATCH 240

/* Values of STREAM: loads of 16 rows from all over memory, products and stores. */
static size_t make_batch(uint64_t *values)
{
	size_t count = 0;

	for (unsigned int i = 0; count + 3 <= BATCH; i++) {
		if (i % 4 == 3) {
			values[count++] = word_of(DARE_MMA, i % 3, 3, 4 + i % 2);
			continue;
		}
		values[count++] = i % 8 == 2 ? word_of(DARE_MST, 0, 0, i % 3) : word_of(DARE_MLD, 3 + i % 3, 0, 0);
		values[count++] = (uintptr_t)memory[i * 7 % 48];
		values[count++] = 64;
	}
	return count;
}

/* When the store that waits is acknowledged. */
static uint64_t wait_for_store(struct fixture *f)
{
	for (f->end[1] = 0; !f->end[1];) {
		assert_true(dare_time_next(f->device) != UINT64_MAX);
		dare_time_advance(f->device, dare_time_next(f->device));
	}
	return f->end[1];
}

static uint64_t store_each(struct fixture *f, const uint64_t *values, size_t count)
{
	uint64_t now = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t done = store(f, DARE_STREAM, values[i], now);

		now = done == UINT64_MAX ? wait_for_store(f) : done;
	}
	return now;
}

/* With something else to come `window` cycles later each time. */
static uint64_t store_in_batches(struct fixture *f, const uint64_t *values, size_t count, uint64_t window)
{
	const struct mimic_access pattern = { .owner = 1, .offset = DARE_STREAM, .page = DARE_PAGE_CONTEXT(0),
					      .size = 8, .is_write = 1 };
	uint64_t now = 0;

	for (size_t i = 0; i < count;) {
		bool waits;
		size_t done = dare_time_post(f->device, &pattern, values + i, count - i, &now, now + window, &waits);

		assert_true(done > 0);
		i += done;
		if (waits)
			now = wait_for_store(f);
	}
	return now;
}

static void a_batch_of_stores_takes_the_time_of_single_ones(void **state)
{
	static const uint64_t windows[] = { 1, 2, 7, 50, 1000000 };
	struct dare_time_statistics single, batch;
	uint64_t values[BATCH], end, status;
	static float results[64][16];
	size_t count = make_batch(values);
	struct fixture f;

	(void)state;
	begin(&f, "fre");
	memset(memory, 1, sizeof(memory));
	end = store_each(&f, values, count);
	assert_int_equal(fence(&f, end, &status), UINT64_MAX);
	dare_time_statistics(f.device, end + 10000, &single);
	assert_true(single.queue_full > 0 && single.issued > 90);
	memcpy(results, memory, sizeof(results));
	dare_time_destroy(f.device);
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		begin(&f, "fre");
		memset(memory, 1, sizeof(memory));
		assert_int_equal(store_in_batches(&f, values, count, windows[i]), end);
		assert_int_equal(fence(&f, end, &status), UINT64_MAX);
		dare_time_statistics(f.device, end + 10000, &batch);
		assert_memory_equal(&batch, &single, sizeof(batch));
		assert_memory_equal(memory, results, sizeof(results));
		dare_time_destroy(f.device);
	}
}

static void a_batch_that_is_no_stream_is_left_to_single_stores(void **state)
{
	const struct mimic_access pattern = { .owner = 1, .offset = DARE_RS1, .page = DARE_PAGE_CONTEXT(0), .size = 8,
					      .is_write = 1 };
	uint64_t value = 1, now = 0;
	struct fixture f;
	bool waits;

	(void)state;
	begin(&f, "fre");
	assert_int_equal(dare_time_post(f.device, &pattern, &value, 1, &now, 100, &waits), 0);
	assert_false(waits);
	assert_int_equal(now, 0);
	dare_time_destroy(f.device);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_fence_is_answered_when_all_is_done_in_time),
		ON(a_store_that_dispatches_waits_for_its_cycle_and_for_room),
		ON(data_is_that_of_the_functional_model),
		ON(an_address_that_is_bad_is_an_error_and_takes_no_rows),
		ON(a_reset_throws_what_is_under_way_away),
		ON(power_on_answers_waiting_accesses),
		ON(a_batch_of_stores_takes_the_time_of_single_ones),
		ON(a_batch_that_is_no_stream_is_left_to_single_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
