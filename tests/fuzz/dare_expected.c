/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The expected state of a context: the interpreter executes the head of the queue
 * until a page is missing. Then instructions collect behind it, and when the
 * queue is full stores wait in the order in which they came.
 */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/dare_side.h"

/* --- memory as the oracle sees it ------------------------------------------------------ */

static int read_byte(void *context, uint64_t address, uint8_t *byte)
{
	struct dare_memory *memory = context;
	int page = page_of(address);

	if (page < 0 || page == memory->refused)
		return -EFAULT;
	switch (memory->state[page]) {
	case PRESENT:
	case READ_ONLY:
	case LAZY:
	case COPY_ON_WRITE:
		*byte = memory->oracle[page][address % PAGE_BYTES];
		return 0;
	case ABSENT:
		return -EAGAIN;
	default:
		return -EFAULT;
	}
}

static int write_byte(void *context, uint64_t address, uint8_t byte)
{
	struct dare_memory *memory = context;
	int page = page_of(address);

	if (page < 0 || page == memory->refused)
		return -EFAULT;
	switch (memory->state[page]) {
	case PRESENT:
	case LAZY:
		memory->oracle[page][address % PAGE_BYTES] = byte;
		return 0;
	case ABSENT:
	case COPY_ON_WRITE:
		return -EAGAIN;
	default:
		return -EFAULT;
	}
}

/* --- the queue ------------------------------------------------------------------------------ */

static void pop(struct expected *e)
{
	e->level--;
	memmove(&e->queue[0], &e->queue[1], e->level * sizeof(e->queue[0]));
}

static int execute_head(struct expected *e)
{
	return dare_oracle_instruction(&e->oracle, e->queue[0].word, e->queue[0].rs1, e->queue[0].rs2);
}

/* Contexts are asked for in the order in which they came to wait. */
static uint64_t next_stall_order(void)
{
	static uint64_t order;

	return ++order;
}

static void run(struct expected *e)
{
	while (e->level && !e->stalled) {
		bool had_error = e->oracle.error != ORACLE_NO_ERROR;

		if (execute_head(e) == -EAGAIN) {
			e->stalled = true;
			e->stall_order = next_stall_order();
			e->page_faults++;
			return;
		}
		pop(e);
		e->executed++;
		e->has_nan |= e->oracle.nan_count != 0;
		e->oracle.nan_count = 0;
		if (!had_error && (e->oracle.error == ORACLE_LOAD || e->oracle.error == ORACLE_STORE))
			e->faults++;
	}
}

static bool completes(const struct expected *e, enum waiting_kind kind, uint64_t value)
{
	if (kind == WAITS_INSTRUCTION)
		return true;
	if (e->oracle.stream_count)
		return dare_oracle_stream_missing(&e->oracle) == 1;
	return dare_oracle_value_count((uint32_t)value) == 0;
}

static unsigned int waiting_stores(const struct expected *e)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < e->waiting_count; i++)
		count += e->waiting[i].kind != WAITS_FENCE;
	return count;
}

static bool has_room_for(const struct expected *e, enum waiting_kind kind, uint64_t value)
{
	return e->level < e->queue_size || !completes(e, kind, value);
}

bool expected_would_wait(const struct expected *e, enum waiting_kind kind, uint64_t value)
{
	return waiting_stores(e) || !has_room_for(e, kind, value);
}

static void take(struct expected *e, const struct waiting *store)
{
	uint64_t word = store->value, rs1 = store->rs1, rs2 = store->rs2;

	if (store->kind == WAITS_STREAM) {
		if (!e->oracle.stream_count)
			e->stream_owner = store->owner;
		if (!dare_oracle_collect(&e->oracle, store->value))
			return;
		word = e->oracle.stream[0];
		rs1 = e->oracle.stream[1];
		rs2 = e->oracle.stream[2];
	}
	e->queue[e->level].word = (uint32_t)word;
	e->queue[e->level].rs1 = rs1;
	e->queue[e->level].rs2 = rs2;
	e->level++;
}

static void stop_waiting(struct expected *e, unsigned int i)
{
	e->waiting_count--;
	memmove(&e->waiting[i], &e->waiting[i + 1], (e->waiting_count - i) * sizeof(e->waiting[0]));
}

static bool first_waiting_store_goes_on(struct expected *e)
{
	for (unsigned int i = 0; i < e->waiting_count; i++) {
		struct waiting store = e->waiting[i];

		if (store.kind == WAITS_FENCE)
			continue;
		if (!has_room_for(e, store.kind, store.value))
			return false;
		stop_waiting(e, i);
		take(e, &store);
		return true;
	}
	return false;
}

static void settle(struct expected *e)
{
	do
		run(e);
	while (first_waiting_store_goes_on(e));
	for (unsigned int i = e->waiting_count; i-- > 0;) {
		const struct waiting *fence = &e->waiting[i];

		if (fence->kind == WAITS_FENCE && (!e->level || e->oracle.dispatched >= fence->value))
			stop_waiting(e, i);
	}
}

/* --- accesses ---------------------------------------------------------------------------------- */

bool expected_store(struct expected *e, unsigned int owner, enum waiting_kind kind, uint64_t value)
{
	struct waiting store = { owner, kind, value, e->rs1, e->rs2 };

	if (expected_would_wait(e, kind, value)) {
		e->waiting[e->waiting_count++] = store;
		e->queue_waits++;
		return true;
	}
	take(e, &store);
	settle(e);
	return false;
}

bool expected_fence(struct expected *e, unsigned int owner)
{
	if (!e->level)
		return false;
	e->waiting[e->waiting_count++] = (struct waiting){
		.owner = owner, .kind = WAITS_FENCE, .value = e->oracle.dispatched + e->level,
	};
	return true;
}

void expected_resolve(struct expected *e, bool is_present)
{
	if (!e->stalled)
		return;
	e->stalled = false;
	if (is_present)
		e->resolves++;
	else
		e->memory->refused = page_of(e->memory->stalled_address);
	/* Only the head is refused. */
	if (!is_present && execute_head(e) == 0) {
		pop(e);
		e->executed++;
		e->faults++;
	}
	e->memory->refused = -1;
	settle(e);
}

void expected_resolve_later(struct expected *e)
{
	if (e->stalled)
		e->stall_order = next_stall_order();
}

void expected_withdraw(struct expected *e, unsigned int owner, bool is_gone)
{
	for (unsigned int i = e->waiting_count; i-- > 0;) {
		if (e->waiting[i].owner == owner)
			stop_waiting(e, i);
	}
	if (is_gone && e->stream_owner == owner)
		e->oracle.stream_count = 0;
	settle(e);
}

bool expected_is_waiting(const struct expected *e, unsigned int owner)
{
	for (unsigned int i = 0; i < e->waiting_count; i++) {
		if (e->waiting[i].owner == owner)
			return true;
	}
	return false;
}

uint64_t expected_status(const struct expected *e)
{
	return (e->level != 0) | (uint64_t)(e->oracle.error != ORACLE_NO_ERROR) << 1 |
	       (uint64_t)e->stalled << 2 | (uint64_t)e->level << 8 | (uint64_t)e->queue_size << 16 |
	       (uint64_t)dare_oracle_stream_missing(&e->oracle) << 24;
}

/* --- life ----------------------------------------------------------------------------------------- */

void expected_reset(struct expected *e)
{
	dare_oracle_reset(&e->oracle);
	e->level = 0;
	e->stalled = false;
	e->rs1 = 0;
	e->rs2 = 0;
	e->waiting_count = 0;
}

void expected_attach(struct expected *e, bool is_attached)
{
	expected_reset(e);
	e->oracle.memory = is_attached ? &e->port : NULL;
	/* A context that is given back keeps its counters until the next one gets it. */
	if (!is_attached)
		return;
	memset(&e->oracle.counters, 0, sizeof(e->oracle.counters));
	e->queue_waits = 0;
	e->page_faults = 0;
	e->resolves = 0;
	e->faults = 0;
	e->illegal = 0;
}

void expected_start(struct expected *e, struct dare_memory *memory, unsigned int queue_size)
{
	memset(e, 0, sizeof(*e));
	e->memory = memory;
	e->queue_size = queue_size;
	e->port = (struct dare_oracle_memory){ memory, read_byte, write_byte };
	dare_oracle_power_on(&e->oracle, NULL);
}
