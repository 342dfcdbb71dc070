/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Streams of accesses by several threads, on two models and the oracle.
 *
 * The first model takes every access by access(); the second takes runs of
 * stores and loads by store_many() and load_many(), and is saved and restored
 * on the way. All three must answer the same, wait for the same, and leave the
 * same memory. Stores of the models meet pages that are not there yet, and are
 * taken back and made again: the oracle, which has all pages, must not notice.
 * In the first byte: profile, memory that answers late, and a mode without the
 * oracle where entries may also be installed in the TLB.
 */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/maple_side.h"
#include "tests/contract/maple/numbers.h"

#define BATCH 48u
#define LOOP_ELEMENTS 2000u

static struct side singles, batches;
static struct oracle oracle;
static struct memory oracle_memory;
static bool with_oracle, defer;
static uint64_t now;

/* --- the oracle's memory ------------------------------------------------------- */

static bool oracle_fetch(void *context, uint64_t address, uint32_t *value)
{
	return memory_fetch(context, address, value);
}

static bool oracle_read(void *context, uint64_t address, uint32_t *value)
{
	const uint32_t *word = memory_readable(context, address);

	*value = word ? *word : 0;
	return word;
}

static uint32_t *oracle_atomic(void *context, uint64_t address)
{
	return memory_writable(context, address);
}

/* --- comparison ------------------------------------------------------------------- */

/*
 * Two things that a run of accesses may count otherwise: a loop reads as much
 * of B at once as chunks are free, with one translation (and one fault); and a
 * late fetch that fails makes a miss of its TLB hit, where a run of fetches
 * does not remember which of them had hit.
 */
static bool is_loose(unsigned int counter, const uint64_t *counters)
{
	if (counter == MAPLE_COUNTER_faults || counter == MAPLE_COUNTER_page_faults ||
	    counter == MAPLE_COUNTER_resolves)
		return counters[MAPLE_COUNTER_lima_chunks];
	if (counter == MAPLE_COUNTER_tlb_hits || counter == MAPLE_COUNTER_tlb_misses)
		return counters[MAPLE_COUNTER_lima_chunks] || (defer && counters[MAPLE_COUNTER_faults]);
	return false;
}

/* Loads that show the TLB or the faults, after something of the above. */
static bool is_loose_load(const struct mimic_access *access)
{
	unsigned int operation = access->offset >> 3 & 63;
	uint64_t counters[MAPLE_COUNTER_COUNT];

	if (access->page > PAGE_MMU || access->page == PAGE_SPD)
		return false;
	if (operation != FAULT_ADDRESS && operation != FAULT_COUNT &&
	    (operation != FAULT_STATUS || access->page != PAGE_MMU) &&
	    (operation != DEBUG || access->page != PAGE_MMU))
		return false;
	singles.current->ops->counters(singles.current, counters, MAPLE_COUNTER_COUNT);
	return counters[MAPLE_COUNTER_lima_chunks] || (defer && counters[MAPLE_COUNTER_faults]);
}

static void compare_sides(void)
{
	uint64_t a[MAPLE_COUNTER_COUNT], b[MAPLE_COUNTER_COUNT];

	CHECK(!memcmp(singles.parked, batches.parked, sizeof(singles.parked)));
	CHECK(!memcmp(singles.answer, batches.answer, sizeof(singles.answer)));
	CHECK(singles.late_count == batches.late_count);
	singles.current->ops->counters(singles.current, a, MAPLE_COUNTER_COUNT);
	batches.current->ops->counters(batches.current, b, MAPLE_COUNTER_COUNT);
	a[MAPLE_COUNTER_store_waits] -= singles.taken_back;
	b[MAPLE_COUNTER_store_waits] -= batches.taken_back;
	for (unsigned int i = 0; i < MAPLE_COUNTER_COUNT; i++) {
		if (a[i] == b[i] || is_loose(i, a))
			continue;
		fprintf(stderr, "counter %u: %llu by access, %llu by batches\n", i,
			(unsigned long long)a[i], (unsigned long long)b[i]);
		abort();
	}
}

static void compare_queues(void)
{
	for (unsigned int i = 0; i < oracle.queue_count; i++) {
		const struct oracle_queue *q = &oracle.queue[i];
		struct maple_queue_view view;

		CHECK(!maple_model_queue(singles.current, i, &view));
		CHECK(view.allocated == q->exists);
		if (!q->exists)
			continue;
		CHECK(view.size == q->depth);
		CHECK(view.level == q->level);
		CHECK(view.hung == q->hung);
		CHECK(view.producer == q->producer && view.consumer == q->consumer);
		CHECK(view.store_waiting == (q->store_waits ? q->store.owner : 0));
		CHECK(view.load_waiting == (q->load_waits ? q->load.owner : 0));
	}
}

static void compare_with_oracle(void)
{
	uint64_t counters[MAPLE_COUNTER_COUNT];

	CHECK(!memcmp(singles.parked, oracle.parked, sizeof(oracle.parked)));
	CHECK(!memcmp(singles.answer, oracle.answer, sizeof(oracle.answer)));
	CHECK(singles.late_count == oracle.pending_count);
	compare_queues();
	singles.current->ops->counters(singles.current, counters, MAPLE_COUNTER_COUNT);
	CHECK(counters[MAPLE_COUNTER_produced] == oracle.produced);
	CHECK(counters[MAPLE_COUNTER_consumed] == oracle.consumed);
	CHECK(counters[MAPLE_COUNTER_fetched] == oracle.fetched);
	CHECK(counters[MAPLE_COUNTER_prefetched] == oracle.prefetched);
	CHECK(counters[MAPLE_COUNTER_atomics] == oracle.atomics);
	CHECK(counters[MAPLE_COUNTER_lima_loops] == oracle.loops_taken);
	CHECK(counters[MAPLE_COUNTER_lima_dropped] == oracle.loops_dropped);
	CHECK(counters[MAPLE_COUNTER_store_waits] == oracle.store_waits + singles.taken_back);
	CHECK(counters[MAPLE_COUNTER_load_waits] == oracle.load_waits);
	CHECK(counters[MAPLE_COUNTER_hangs] == oracle.hangs);
}

/* --- decoding of the input ---------------------------------------------------------- */

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned int byte(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->data++;
}

static uint64_t bytes(struct input *input, unsigned int count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | byte(input);
	return value;
}

static uint64_t address_value(struct input *input)
{
	uint64_t word = bytes(input, 2);

	return MEMORY_BASE + (word & 0x1fff) * 4 + (word >> 13 == 7 ? 1 : 0);
}

static uint64_t random_value(struct input *input)
{
	unsigned int style = byte(input), begin;

	switch (style / 32) {
	case 0:
	case 1:
		return style;
	case 2:
		return address_value(input);
	case 3:
		return (bytes(input, 1) + 1) << 32 | bytes(input, 1);
	case 4:
		begin = byte(input);
		return (uint64_t)begin << 32 | (begin + byte(input));
	case 5:
		return (address_value(input) - MEMORY_BASE + MEMORY_BASE) << 32 | bytes(input, 2);
	case 6:
		return (uint64_t)(ATOMIC_BASE + 4 * (style & 7)) << 32 | bytes(input, 4);
	default:
		return bytes(input, 8);
	}
}

static const uint8_t interesting_stores[] = {
	PRODUCE, PRODUCE, POINTER32, POINTER64, LLC_POINTER32, LLC_POINTER64, PREFETCH, LOOP, LOOP,
	SET_BASE32, SET_BASE64, LIMA_POINTER32, LIMA_POINTER64, LIMA_PRODUCE, LIMA_PRODUCE_2,
	LIMA_LLC_POINTER32, LIMA_LLC_POINTER64, LIMA_PREFETCH, ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAXU,
	ATOMIC_SWAP, CAS1, CAS2, FULL_POINTER32, FULL_POINTER64, QUEUE_LIMA_A, QUEUE_LIMA_B,
	QUEUE_LOOP_POINTER32, QUEUE_LOOP_POINTER64, QUEUE_LOOP_PREFETCH32, MMU_STORE,
};

static const uint8_t interesting_loads[] = {
	CONSUME, CONSUME, CONSUME, CONSUME, INIT, OPEN_PRODUCER, OPEN_PRODUCER, OPEN_CONSUMER,
	OPEN_CONSUMER, CLOSE_PRODUCER, CLOSE_CONSUMER, FIFO_ADD, FIFO_CLEAR, STATISTICS, DEBUG,
	QUEUE_STATE,
};

/* The oracle is slow: a loop over 2^32 elements would take it hours. */
static uint64_t short_loop(uint64_t payload, unsigned int size)
{
	/* A narrow store has no begin: it begins at 0. */
	uint32_t begin = size == 8 ? (uint32_t)(payload >> 32) : 0, end = (uint32_t)payload;

	if (end > begin && end - begin > LOOP_ELEMENTS)
		end = begin + (end - begin) % LOOP_ELEMENTS;
	return (uint64_t)begin << 32 | end;
}

static bool is_loop_operation(unsigned int operation)
{
	return operation == LOOP ||
	       (operation >= QUEUE_LOOP_POINTER32 && operation <= QUEUE_LOOP_PREFETCH64);
}

static struct mimic_access next_access(struct input *input, bool raw)
{
	static const uint8_t pages[] = {
		PAGE_MAPLE, PAGE_MAPLE, PAGE_MAPLE, PAGE_MAPLE, PAGE_MMU, PAGE_CUSTOM, PAGE_SPD, PAGE_NIBBLER,
	};
	static const uint8_t sizes[] = { 4, 8, 4, 8, 4, 8, 1, 2 };
	unsigned int who = byte(input), where = byte(input), operation = where & 63;
	struct mimic_access access = {
		.owner = 1 + who % 4,
		.is_write = who >> 2 & 1,
		.size = sizes[who >> 3 & 7],
		.page = pages[raw ? where >> 5 & 7 : 0],
	};

	if (raw)
		operation = byte(input) & 63;
	else if (access.is_write)
		operation = interesting_stores[operation % sizeof(interesting_stores)];
	else
		operation = interesting_loads[operation % sizeof(interesting_loads)];
	access.offset = AT(operation, (who >> 6 | (raw ? where & 4 : 0)) & 7);
	if (with_oracle && access.page == PAGE_MMU && access.is_write && access.offset == AT(MMU_STORE, 6))
		access.offset = AT(MMU_STORE, 7);
	if (access.is_write)
		access.data = random_value(input);
	if (access.is_write && is_loop_operation(operation))
		access.data = short_loop(access.data, access.size);
	return access;
}

/* --- steps ------------------------------------------------------------------------ */

/* false: it waits. */
static bool access_on_all(const struct mimic_access *asked)
{
	struct mimic_access a = *asked, b = *asked, c = *asked;
	enum mimic_outcome outcome = side_access(&singles, &a);
	bool unknown;

	CHECK(side_access(&batches, &b) == outcome);
	if (outcome == MIMIC_DONE && !asked->is_write && !is_loose_load(asked))
		CHECK(a.data == b.data);
	if (!with_oracle)
		return outcome == MIMIC_DONE;
	CHECK(oracle_access(&oracle, &c, &unknown) == (outcome == MIMIC_DONE));
	if (outcome == MIMIC_DONE && !asked->is_write && !unknown)
		CHECK(a.data == c.data);
	return outcome == MIMIC_DONE;
}

/* Access by access on the first side and the oracle; true: this one did not wait. */
static bool single_of_batch(struct mimic_access access, uint64_t *answer, bool *unknown)
{
	struct mimic_access same = access;
	enum mimic_outcome outcome = side_access(&singles, &access);

	*unknown = !with_oracle;
	if (with_oracle)
		CHECK(oracle_access(&oracle, &same, unknown) == (outcome == MIMIC_DONE));
	if (outcome == MIMIC_DONE && !access.is_write && !*unknown)
		CHECK(access.data == same.data);
	*answer = access.data;
	return outcome == MIMIC_DONE;
}

static size_t store_all(const struct mimic_access *pattern, const uint64_t *values, size_t count)
{
	size_t done = 0;

	do {
		done += batches.current->ops->store_many(batches.current, pattern, values + done,
							 count - done, now);
		if (batches.stalled)
			batches.current->ops->cancel(batches.current, pattern->owner, now);
	} while (side_settle(&batches) && done < count);
	return done;
}

static size_t load_all(const struct mimic_access *pattern, unsigned char *packed, size_t count)
{
	size_t done = 0;

	do {
		done += batches.current->ops->load_many(batches.current, pattern,
							packed + done * pattern->size, count - done, now);
	} while (side_settle(&batches) && done < count);
	return done;
}

static void store_batch(struct mimic_access access, uint64_t step, unsigned int count)
{
	uint64_t values[BATCH], ignored;
	unsigned int done = 0;
	bool unknown;

	access.is_write = 1;
	for (unsigned int i = 0; i < count; i++)
		values[i] = access.data + i * step;
	while (done < count) {
		access.data = values[done];
		if (!single_of_batch(access, &ignored, &unknown))
			break;
		done++;
	}
	CHECK(store_all(&access, values, count) == done);
	/* The one that had to wait waits on the other side too. */
	access.data = values[done < count ? done : 0];
	if (done < count)
		CHECK(side_access(&batches, &access) == MIMIC_PARKED);
}

static void load_batch(struct mimic_access access, unsigned int count)
{
	unsigned char packed[BATCH * 8];
	uint64_t answers[BATCH] = { 0 };
	unsigned int done = 0;
	bool unknown;

	access.is_write = 0;
	access.data = 0;
	while (done < count && single_of_batch(access, &answers[done], &unknown))
		done++;
	CHECK(load_all(&access, packed, count) == done);
	for (unsigned int i = 0; i < done && !is_loose_load(&access); i++)
		CHECK(!memcmp(packed + i * access.size, &answers[i], access.size));
	if (done < count)
		CHECK(side_access(&batches, &access) == MIMIC_PARKED);
}

static void take_late(struct side *side, unsigned int i)
{
	struct late late = side->late[i];

	side->late_count--;
	memmove(&side->late[i], &side->late[i + 1], (side->late_count - i) * sizeof(late));
	maple_model_fill(side->current, late.tag, late.there ? 0 : -EFAULT, late.value, now);
}

static void fill_one(unsigned int which)
{
	unsigned int i;

	if (!singles.late_count)
		return;
	i = which % singles.late_count;
	if (with_oracle) {
		CHECK(oracle.pending[i].address == singles.late[i].address);
		CHECK(oracle.pending[i].words * 4 == singles.late[i].size);
		oracle_fill(&oracle, i, singles.late[i].there, singles.late[i].value);
	}
	take_late(&singles, i);
	take_late(&batches, i);
}

static void withdraw(uint64_t owner, bool gone)
{
	struct side *sides[] = { &singles, &batches };

	for (unsigned int i = 0; i < 2; i++) {
		const struct mimic_model_ops *ops = sides[i]->current->ops;

		sides[i]->parked[owner] = false;
		(gone ? ops->owner_gone : ops->cancel)(sides[i]->current, owner, now);
	}
	if (!with_oracle)
		return;
	if (gone)
		oracle_owner_gone(&oracle, owner);
	else
		oracle_cancel(&oracle, owner);
}

static void tick_or_invalidate(unsigned int kind)
{
	struct side *sides[] = { &singles, &batches };
	uint64_t start = MEMORY_BASE + 4096ull * (kind & 7);

	for (unsigned int i = 0; i < 2; i++) {
		if (kind & 8) {
			sides[i]->current->ops->tick(sides[i]->current, now);
			continue;
		}
		sides[i]->current->ops->invalidate(sides[i]->current, start, start + 4096);
		sides[i]->absent |= 1u << (kind & 7);
	}
}

/* A load or a store of everything that its owner is not waiting for. */
static void step_access(struct input *input, unsigned int kind)
{
	struct mimic_access access = next_access(input, kind % 4 == 3);
	unsigned int count;

	if (singles.parked[access.owner]) {
		withdraw(access.owner, false);
		return;
	}
	/* There are as many fetches under way as the table takes: no more now. */
	if (defer && singles.late_count > ORACLE_PENDING - 300)
		return;
	if (kind < 160) {
		access_on_all(&access);
		return;
	}
	count = 1 + byte(input) % BATCH;
	if (access.is_write)
		store_batch(access, kind & 4 ? 4 : kind & 8 ? 1 : 0, count);
	else
		load_batch(access, count);
}

static void step(struct input *input)
{
	unsigned int kind = byte(input);

	now += 1 + kind;
	singles.now = batches.now = now;
	if (kind < 208)
		step_access(input, kind);
	else if (kind < 216)
		withdraw(1 + kind % 4, kind & 4);
	else if (kind < 240)
		fill_one(byte(input));
	else if (kind < 255)
		tick_or_invalidate(kind);
	else
		side_save_and_restore(&batches);
	/* One side may have been ticked for its long loops: then both are, so that all queues stand where they can. */
	singles.current->ops->tick(singles.current, now);
	batches.current->ops->tick(batches.current, now);
	side_settle(&singles);
	side_settle(&batches);
	compare_sides();
	if (with_oracle)
		compare_with_oracle();
}

/* Most streams that begin with nothing get no further: three of four start with open queues. */
static void open_queues(unsigned int flags)
{
	struct mimic_access access = { .owner = 1, .size = 4, .offset = AT(INIT, flags >> 5) };

	if (!(flags & 0x18))
		return;
	access_on_all(&access);
	for (unsigned int queue = 0; queue < 4; queue++) {
		access.owner = 1 + (queue & 2);
		access.offset = AT(OPEN_PRODUCER, queue);
		access_on_all(&access);
		access.owner++;
		access.offset = AT(OPEN_CONSUMER, queue);
		access_on_all(&access);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct oracle_memory memory = {
		&oracle_memory, oracle_fetch, oracle_read, oracle_atomic,
	};
	struct input input = { data, size };
	unsigned int flags = byte(&input);
	bool artifact = flags & 1;

	if (!singles.model[0]) {
		side_create(&singles);
		side_create(&batches);
	}
	defer = flags & 2;
	with_oracle = !(flags & 4);
	side_start(&singles, artifact, defer);
	side_start(&batches, artifact, defer);
	memory_fill(&oracle_memory);
	oracle_init(&oracle, artifact, defer, &memory);
	open_queues(flags);
	while (input.size)
		step(&input);
	CHECK(!memcmp(&singles.memory, &batches.memory, sizeof(singles.memory)));
	if (with_oracle)
		CHECK(!memcmp(&singles.memory, &oracle_memory, sizeof(oracle_memory)));
	side_stop(&singles);
	side_stop(&batches);
	return 0;
}
