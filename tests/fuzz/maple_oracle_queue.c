/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The oracle's queues: words, fetches, loops, the stores of producers, waiting threads. */
#include <string.h>

#include "tests/fuzz/maple_oracle_internal.h"

enum { PREFETCH_BY_4 = 55 };	/* the paper's operation 28, as one more mode */

uint64_t oracle_cut(uint64_t value, unsigned int size)
{
	return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

unsigned int oracle_existing(const struct oracle *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < o->queue_count; i++)
		n += o->queue[i].exists;
	return n;
}

void oracle_note_fault(struct oracle *o, uint64_t address, unsigned int source)
{
	o->fault_page = address & ~4095ull;
	o->fault_address = address;
	o->fault_source = source;
	o->fault_writes = false;
	o->fault_count++;
}

/* --- waiting threads ----------------------------------------------------------- */

static void answer(struct oracle *o, const struct mimic_access *access, uint64_t data)
{
	o->parked[access->owner] = false;
	o->answer[access->owner] = access->is_write ? 0 : oracle_cut(data, access->size);
}

void oracle_end_store(struct oracle *o, struct oracle_queue *q)
{
	q->store_waits = false;
	answer(o, &q->store, 0);
}

void oracle_end_load(struct oracle *o, struct oracle_queue *q, uint64_t data)
{
	q->load_waits = false;
	answer(o, &q->load, data);
}

/* --- words --------------------------------------------------------------------- */

static unsigned int room(const struct oracle_queue *q)
{
	return q->depth - q->level;
}

static void push(struct oracle *o, struct oracle_queue *q, uint32_t value, uint32_t pending)
{
	q->words[q->level++] = (struct oracle_word){ value, pending };
	o->produced++;
}

bool oracle_pop(struct oracle *o, struct oracle_queue *q, unsigned int n, uint64_t *data)
{
	if (q->level < n || q->words[0].pending || q->words[n - 1].pending)
		return false;
	*data = q->words[0].value;
	if (n == 2)
		*data |= (uint64_t)q->words[1].value << 32;
	q->level -= n;
	memmove(q->words, q->words + n, q->level * sizeof(q->words[0]));
	q->popped += n;
	o->tile_pops += n;
	o->consumed += n;
	return true;
}

/* --- fetches ------------------------------------------------------------------- */

/* Two requests where 8 bytes lie in two pages. */
static void fetch_across(struct oracle *o, struct oracle_queue *q, uint64_t address, unsigned int source)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t value;

		if (!o->memory.read(o->memory.context, address + 4 * i, &value))
			oracle_note_fault(o, address + 4 * i, source);
		push(o, q, value, 0);
	}
}

static void fetch_later(struct oracle *o, unsigned int number, uint64_t address, unsigned int words,
			unsigned int source)
{
	struct oracle_fetch *fetch = &o->pending[o->pending_count++];

	*fetch = (struct oracle_fetch){
		.number = ++o->fetch_number, .address = address, .queue = number, .words = words,
		.lima = source == LIMA,
	};
	for (unsigned int i = 0; i < words; i++)
		push(o, &o->queue[number], 0, fetch->number);
}

static void fetch(struct oracle *o, unsigned int number, uint64_t address, unsigned int size,
		  unsigned int source)
{
	struct oracle_queue *q = &o->queue[number];
	uint32_t value[2] = { 0, 0 };
	bool there;

	address &= o->address_mask & ~3ull;
	o->fetched++;
	if (size == 8 && address % 4096 == 4092) {
		fetch_across(o, q, address, source);
		return;
	}
	if (o->defer) {
		fetch_later(o, number, address, size / 4, source);
		return;
	}
	there = o->memory.fetch(o->memory.context, address, &value[0]);
	if (size == 8)
		there = o->memory.fetch(o->memory.context, address + 4, &value[1]) && there;
	if (!there)
		oracle_note_fault(o, address, source);
	push(o, q, there ? value[0] : 0, 0);
	if (size == 8)
		push(o, q, there ? value[1] : 0, 0);
}

/* --- loops --------------------------------------------------------------------- */

bool oracle_backlog(const struct oracle_queue *q)
{
	return q->loop_count || q->chunk_count;
}

/* The next indices of the loop at work, up to the end of 64 bytes of B. */
static void read_chunk(struct oracle *o, struct oracle_queue *q)
{
	struct oracle_loop *loop = &q->loops[0];
	struct oracle_chunk *chunk = &q->chunks[q->chunk_count++];

	memset(chunk, 0, sizeof(*chunk));
	chunk->a = loop->a;
	chunk->operation = loop->operation;
	do {
		uint64_t address = (loop->b + 4ull * loop->next) & o->address_mask & ~3ull;

		if (chunk->count && address % 64 == 0)
			break;
		if (!o->memory.read(o->memory.context, address, &chunk->index[chunk->count]))
			o->fault_unknown = true;
		chunk->count++;
		loop->next++;
	} while (loop->next < loop->end);
	if (loop->next < loop->end)
		return;
	q->active = false;
	q->loop_count--;
	memmove(q->loops, q->loops + 1, q->loop_count * sizeof(q->loops[0]));
}

static bool do_index(struct oracle *o, unsigned int number, const struct oracle_chunk *chunk, uint32_t index)
{
	struct oracle_queue *q = &o->queue[number];
	bool wide = chunk->operation == LIMA_POINTER64 || chunk->operation == LIMA_LLC_POINTER64;

	switch (chunk->operation) {
	case LIMA_PREFETCH:
	case PREFETCH_BY_4:
		o->prefetched++;
		return true;
	case LIMA_PRODUCE:
	case LIMA_PRODUCE_2:
		if (!room(q))
			return false;
		push(o, q, index, 0);
		return true;
	default:
		if (room(q) < (wide ? 2 : 1))
			return false;
		fetch(o, number, chunk->a + ((uint64_t)index << (wide ? 3 : 2)), wide ? 8 : 4, LIMA);
		return true;
	}
}

static bool loops_step(struct oracle *o, unsigned int number)
{
	struct oracle_queue *q = &o->queue[number];
	struct oracle_chunk *chunk = &q->chunks[0];

	if (q->loop_count && !q->active) {
		q->active = true;
		return true;
	}
	if (q->active && q->chunk_count < ORACLE_CHUNKS / oracle_existing(o)) {
		read_chunk(o, q);
		return true;
	}
	if (!q->chunk_count || !do_index(o, number, chunk, chunk->index[chunk->done]))
		return false;
	if (++chunk->done == chunk->count) {
		q->chunk_count--;
		memmove(q->chunks, q->chunks + 1, q->chunk_count * sizeof(q->chunks[0]));
	}
	return true;
}

static void loops_run(struct oracle *o, unsigned int number)
{
	while (loops_step(o, number))
		;
}

/* false: no room in the loop FIFO, the store waits. */
static bool push_loop(struct oracle *o, unsigned int number, const struct oracle_loop *loop)
{
	struct oracle_queue *q = &o->queue[number];

	if (loop->next >= loop->end)
		return true;
	loops_run(o, number);
	if (q->loop_count - q->active == o->loop_limit) {
		if (!o->artifact)
			return false;
		o->loops_dropped++;
		return true;
	}
	q->loops[q->loop_count++] = *loop;
	o->loops_taken++;
	loops_run(o, number);
	return true;
}

static bool tile_loop(struct oracle *o, unsigned int number, uint64_t payload)
{
	struct oracle_loop loop = {
		o->a, o->queue[0].base, (uint32_t)(payload >> 32), (uint32_t)payload, o->a_operation,
	};

	if (!o->a_set || !o->queue[0].base_set)
		return true;
	return push_loop(o, number, &loop);
}

static bool queue_loop(struct oracle *o, unsigned int number, unsigned int operation, uint64_t payload)
{
	static const unsigned int modes[] = {
		LIMA_POINTER32, LIMA_POINTER64, LIMA_LLC_POINTER32, LIMA_LLC_POINTER64,
		PREFETCH_BY_4, LIMA_PREFETCH,
	};
	struct oracle_queue *q = &o->queue[number];
	struct oracle_loop loop = {
		q->lima_a, q->lima_b, (uint32_t)(payload >> 32), (uint32_t)payload,
		modes[operation - QUEUE_LOOP_POINTER32],
	};

	if (!q->lima_b)
		return true;
	if (!q->lima_a)
		loop.operation = LIMA_PRODUCE;
	return push_loop(o, number, &loop);
}

/* --- stores of producers -------------------------------------------------------- */

static uint64_t indexed(const struct oracle_queue *q, uint32_t index)
{
	return q->base + ((uint64_t)index << q->shift);
}

static bool pointer_store(struct oracle *o, unsigned int number, unsigned int size, bool llc,
			  uint64_t payload)
{
	struct oracle_queue *q = &o->queue[number];
	uint64_t address[2] = { indexed(q, (uint32_t)payload), 0 };
	unsigned int n = 1;

	if (payload >> 32) {
		address[1] = address[0];
		address[0] = indexed(q, (uint32_t)(payload >> 32));
		n = 2;
	}
	if (room(q) < n * size / 4)
		return false;
	if (o->artifact && llc && size == 8 && ((address[0] | (n == 2 ? address[1] : 0)) & 4)) {
		push(o, q, 0, UINT32_MAX);
		push(o, q, 0, UINT32_MAX);
		q->hung = true;
		o->hangs++;
		return true;
	}
	for (unsigned int i = 0; i < n; i++)
		fetch(o, number, address[i], size, PIPES);
	return true;
}

static bool full_pointer_store(struct oracle *o, unsigned int number, unsigned int size, uint64_t pointer)
{
	if (room(&o->queue[number]) < size / 4)
		return false;
	fetch(o, number, pointer, size, PIPES);
	return true;
}

static uint32_t apply(unsigned int operation, uint32_t old, uint32_t operand)
{
	bool less = (int32_t)old < (int32_t)operand;

	switch (operation) {
	case ATOMIC_ADD: return old + operand;
	case ATOMIC_AND: return old & operand;
	case ATOMIC_OR: return old | operand;
	case ATOMIC_XOR: return old ^ operand;
	case ATOMIC_MAX: return less ? operand : old;
	case ATOMIC_MAXU: return old < operand ? operand : old;
	case ATOMIC_MIN: return less ? old : operand;
	case ATOMIC_MINU: return old < operand ? old : operand;
	default: return operand;
	}
}

static uint32_t swapped(const struct oracle_queue *q, uint32_t old, uint64_t payload)
{
	uint32_t expected = (uint32_t)(int16_t)payload, desired = (uint32_t)(int16_t)(payload >> 16);

	if (q->cas1_set) {
		expected = (uint32_t)q->cas1;
		desired = (uint32_t)(q->cas1 >> 32);
	}
	return old == expected ? desired : old;
}

static bool atomic_store(struct oracle *o, unsigned int number, unsigned int operation, uint64_t payload)
{
	struct oracle_queue *q = &o->queue[number];
	uint64_t address = indexed(q, (uint32_t)(payload >> 32)) & o->address_mask & ~3ull;
	uint32_t *word, old;

	if (!room(q))
		return false;
	o->atomics++;
	word = o->memory.atomic(o->memory.context, address);
	if (!word) {
		oracle_note_fault(o, address, PIPES);
		o->fault_writes = true;
		push(o, q, 0, 0);
		return true;
	}
	old = *word;
	*word = operation == CAS2 ? swapped(q, old, payload) : apply(operation, old, (uint32_t)payload);
	push(o, q, old, 0);
	return true;
}

static bool data_store(struct oracle *o, struct oracle_queue *q, unsigned int size, uint64_t data)
{
	if (room(q) < (size == 8 ? 2 : 1))
		return false;
	push(o, q, (uint32_t)data, 0);
	if (size == 8)
		push(o, q, (uint32_t)(data >> 32), 0);
	return true;
}

static bool prefetch_store(struct oracle *o, struct oracle_queue *q)
{
	if (o->artifact && room(q) < 2)
		return false;
	o->prefetched++;
	return true;
}

/* false: it has to wait. */
bool oracle_produce(struct oracle *o, unsigned int number, const struct mimic_access *access)
{
	struct oracle_queue *q = &o->queue[number];
	unsigned int operation = access->offset >> 3 & 63;
	bool done;

	if (operation == LOOP)
		return tile_loop(o, number, access->data);
	if (operation >= QUEUE_LOOP_POINTER32 && operation <= QUEUE_LOOP_PREFETCH64)
		return queue_loop(o, number, operation, access->data);
	if (oracle_backlog(q))
		return false;
	if (operation == CAS1) {
		q->cas1 = access->data;
		q->cas1_set = true;
		return true;
	}
	switch (operation) {
	case PRODUCE:
		done = data_store(o, q, access->size, access->data);
		break;
	case POINTER32:
	case LLC_POINTER32:
		done = pointer_store(o, number, 4, operation == LLC_POINTER32, access->data);
		break;
	case POINTER64:
	case LLC_POINTER64:
		done = pointer_store(o, number, 8, operation == LLC_POINTER64, access->data);
		break;
	case FULL_POINTER32:
	case FULL_LLC_POINTER32:
		done = full_pointer_store(o, number, 4, access->data);
		break;
	case FULL_POINTER64:
	case FULL_LLC_POINTER64:
		done = full_pointer_store(o, number, 8, access->data);
		break;
	case PREFETCH:
	case FULL_PREFETCH:
		done = prefetch_store(o, q);
		break;
	default:
		done = atomic_store(o, number, operation, access->data);
	}
	if (done)
		q->cas1_set = false;
	return done;
}

static bool is_extension(unsigned int operation)
{
	return operation >= 16 && operation < 32;
}

bool oracle_is_produce(const struct oracle *o, unsigned int operation)
{
	if (is_extension(operation))
		return !o->artifact && operation <= FULL_PREFETCH;
	return operation == PRODUCE || operation == POINTER32 || operation == POINTER64 ||
	       (operation >= ATOMIC_ADD && operation <= LLC_POINTER64);
}

bool oracle_is_loop(const struct oracle *o, unsigned int operation)
{
	return operation == LOOP || (!o->artifact && operation >= QUEUE_LOOP_POINTER32 &&
				     operation <= QUEUE_LOOP_PREFETCH64);
}

/* Loops, the waiting store and the waiting load go on as far as they can. */
/* Nothing will come any more, or all that could has come and is not enough. */
static bool waits_in_vain(const struct oracle_queue *q)
{
	if (q->hung)
		return true;
	if (!q->abandoned || oracle_backlog(q))
		return false;
	for (unsigned int i = 0; i < q->level; i++) {
		if (q->words[i].pending)
			return false;
	}
	return true;
}

void oracle_go_on(struct oracle *o, unsigned int number)
{
	struct oracle_queue *q = &o->queue[number];
	uint64_t data;
	bool moved = q->exists;

	while (moved) {
		moved = loops_step(o, number);
		if (q->store_waits && (oracle_produce(o, number, &q->store) || q->hung)) {
			oracle_end_store(o, q);
			moved = true;
		}
		data = 0;
		if (q->load_waits && (oracle_pop(o, q, q->load.size == 8 ? 2 : 1, &data) || waits_in_vain(q))) {
			oracle_end_load(o, q, data);
			moved = true;
		}
	}
}
