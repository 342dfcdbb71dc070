/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <string.h>

#include "tests/fuzz/maple_oracle.h"
#include "tests/lib/contract_numbers.h"

enum { PIPES = 1, LIMA = 2 };
enum { PREFETCH_BY_4 = 55 };	/* what the paper's operation 28 does, as one more mode */

static const unsigned int words_of_code[8] = { 8, 16, 32, 48, 64, 80, 96, 128 };

void oracle_init(struct oracle *o, bool artifact, bool defer, const struct oracle_memory *memory)
{
	memset(o, 0, sizeof(*o));
	o->artifact = artifact;
	o->defer = defer;
	o->memory = *memory;
	o->queue_count = artifact ? 4 : 8;
	o->word_count = artifact ? 128 : 256;
	o->loop_limit = artifact ? 4 : 256;
	o->address_mask = artifact ? (1ull << 40) - 1 : (1ull << 48) - 1;
}

static uint64_t cut(uint64_t value, unsigned int size)
{
	return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

static unsigned int existing(const struct oracle *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < o->queue_count; i++)
		n += o->queue[i].exists;
	return n;
}

static unsigned int stale_fetches(const struct oracle *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < o->pending_count; i++)
		n += o->pending[i].stale;
	return n;
}

static void note_fault(struct oracle *o, uint64_t address, unsigned int source)
{
	o->fault_page = address & ~4095ull;
	o->fault_address = address;
	o->fault_source = source;
	o->fault_count++;
}

/* --- who waits ----------------------------------------------------------------- */

static void answer(struct oracle *o, const struct mimic_access *access, uint64_t data)
{
	o->parked[access->owner] = false;
	o->answer[access->owner] = access->is_write ? 0 : cut(data, access->size);
}

static void end_store(struct oracle *o, struct oracle_queue *q)
{
	q->store_waits = false;
	answer(o, &q->store, 0);
}

static void end_load(struct oracle *o, struct oracle_queue *q, uint64_t data)
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

static bool pop(struct oracle *o, struct oracle_queue *q, unsigned int n, uint64_t *data)
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
			note_fault(o, address + 4 * i, source);
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
		note_fault(o, address, source);
	push(o, q, there ? value[0] : 0, 0);
	if (size == 8)
		push(o, q, there ? value[1] : 0, 0);
}

/* --- loops --------------------------------------------------------------------- */

static bool backlog(const struct oracle_queue *q)
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
	if (q->active && q->chunk_count < ORACLE_CHUNKS / existing(o)) {
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
		note_fault(o, address, PIPES);
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
static bool produce_store(struct oracle *o, unsigned int number, const struct mimic_access *access)
{
	struct oracle_queue *q = &o->queue[number];
	unsigned int operation = access->offset >> 3 & 63;
	bool done;

	if (operation == LOOP)
		return tile_loop(o, number, access->data);
	if (operation >= QUEUE_LOOP_POINTER32 && operation <= QUEUE_LOOP_PREFETCH64)
		return queue_loop(o, number, operation, access->data);
	if (backlog(q))
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

static bool is_produce(const struct oracle *o, unsigned int operation)
{
	if (is_extension(operation))
		return !o->artifact && operation <= FULL_PREFETCH;
	return operation == PRODUCE || operation == POINTER32 || operation == POINTER64 ||
	       (operation >= ATOMIC_ADD && operation <= LLC_POINTER64);
}

static bool is_loop(const struct oracle *o, unsigned int operation)
{
	return operation == LOOP || (!o->artifact && operation >= QUEUE_LOOP_POINTER32 &&
				     operation <= QUEUE_LOOP_PREFETCH64);
}

/* Loops, the waiting store and the waiting load go on as far as they can. */
static void go_on(struct oracle *o, unsigned int number)
{
	struct oracle_queue *q = &o->queue[number];
	uint64_t data;
	bool moved = q->exists;

	while (moved) {
		moved = loops_step(o, number);
		if (q->store_waits && (produce_store(o, number, &q->store) || q->hung)) {
			end_store(o, q);
			moved = true;
		}
		data = 0;
		if (q->load_waits && (pop(o, q, q->load.size == 8 ? 2 : 1, &data) || q->hung)) {
			end_load(o, q, data);
			moved = true;
		}
	}
}

/* --- configuration ------------------------------------------------------------- */

static struct oracle_queue *queue_at(struct oracle *o, unsigned int field, unsigned int *number)
{
	*number = field % o->queue_count;
	return o->queue[*number].exists ? &o->queue[*number] : NULL;
}

/* The first place of the scratchpad, in steps of 8 words, where the queue fits. */
static bool add_queue(struct oracle *o, unsigned int number, unsigned int words)
{
	bool used[256] = { false };
	unsigned int first, free;

	for (unsigned int i = 0; i < o->queue_count; i++)
		for (unsigned int w = 0; o->queue[i].exists && w < o->queue[i].reserved; w++)
			used[o->queue[i].first + w] = true;
	for (first = 0; first + words <= o->word_count; first += 8) {
		for (free = 0; free < words && !used[first + free]; free++)
			;
		if (free < words)
			continue;
		memset(&o->queue[number], 0, sizeof(o->queue[number]));
		o->queue[number].exists = true;
		o->queue[number].first = first;
		o->queue[number].reserved = words;
		o->queue[number].depth = o->artifact && words > 64 ? 64 : words;
		return true;
	}
	return false;
}

static void drop_queue(struct oracle *o, unsigned int number, uint64_t load_answer)
{
	struct oracle_queue *q = &o->queue[number];

	for (unsigned int i = 0; i < o->pending_count; i++)
		o->pending[i].stale |= o->pending[i].queue == number;
	if (q->store_waits)
		end_store(o, q);
	if (q->load_waits)
		end_load(o, q, load_answer);
	memset(q, 0, sizeof(*q));
}

static uint64_t roles(const struct oracle_queue *q, uint64_t owner)
{
	return q ? (q->producer == owner) * 2u + (q->consumer == owner) : 0;
}

static uint64_t count_field(const struct oracle *o)
{
	return (uint64_t)(existing(o) % o->queue_count) << 32;
}

static uint64_t init_load(struct oracle *o, unsigned int code)
{
	if (existing(o))
		return count_field(o);
	if (o->artifact && stale_fetches(o))
		return 2;
	for (unsigned int i = 0; i < o->queue_count; i++)
		if (!add_queue(o, i, words_of_code[code]))
			break;
	return 2;
}

static uint64_t add_load(struct oracle *o, unsigned int code)
{
	for (unsigned int i = 0; i < o->queue_count; i++) {
		if (o->queue[i].exists)
			continue;
		add_queue(o, i, words_of_code[code]);
		return (uint64_t)i << 32;
	}
	return count_field(o);
}

static uint64_t reset_load(struct oracle *o, uint64_t owner)
{
	uint64_t value = count_field(o) | (o->queue[0].exists ? roles(&o->queue[0], owner) : 0);

	for (unsigned int i = 0; i < o->queue_count; i++)
		if (o->queue[i].exists)
			drop_queue(o, i, value);
	o->a_set = false;
	o->tile_pops = 0;
	if (!o->artifact)
		o->statistics = 0;
	o->fault_page = o->fault_address = o->fault_count = 0;
	o->fault_source = o->armed = 0;
	o->fault_unknown = false;
	return value;
}

static uint64_t role_load(struct oracle *o, unsigned int operation, unsigned int number, uint64_t owner)
{
	struct oracle_queue *q = &o->queue[number];
	bool producer = operation == OPEN_PRODUCER || operation == CLOSE_PRODUCER;
	uint64_t *role = producer ? &q->producer : &q->consumer, before;

	if (operation == OPEN_PRODUCER || operation == OPEN_CONSUMER) {
		if (o->artifact && stale_fetches(o))
			return 0;
		if (q->exists && !*role)
			*role = owner;
		return count_field(o) | (q->exists ? roles(q, owner) : 0);
	}
	before = count_field(o) | (q->exists ? roles(q, owner) : 0);
	if (q->exists && *role == owner)
		*role = 0;
	return before;
}

static uint64_t clear_load(struct oracle *o, unsigned int number, uint64_t owner)
{
	uint64_t value = count_field(o);

	if (!o->queue[number].exists || (o->queue[number].consumer && o->queue[number].consumer != owner))
		return value;
	drop_queue(o, number, 0);
	return value | 1;
}

static uint64_t statistics_load(struct oracle *o, const struct oracle_queue *q, bool *unknown)
{
	unsigned int index = o->statistics;
	uint64_t pops = o->tile_pops;

	o->statistics = (index + 1) % 4;
	o->tile_pops = 0;
	*unknown |= index == 1 || index == 2;
	return index == 3 ? pops << 32 | (q ? q->popped & 0xffffffff : 0) : 0;
}

static uint64_t mmu_load(struct oracle *o, unsigned int field, bool *unknown)
{
	if (field == 2)
		*unknown = true;
	if (field != 1)
		return 0;
	*unknown |= o->fault_unknown;
	o->armed |= o->fault_source;
	return o->fault_source ? o->fault_page | o->fault_source : 0;
}

static uint64_t extension_load(struct oracle *o, unsigned int operation, unsigned int number, bool *unknown)
{
	const struct oracle_queue *q = &o->queue[number];

	switch (operation) {
	case IDENTIFY:
		return 0x4d41504c01080100;
	case QUEUE_STATE:
		if (!q->exists)
			return 0;
		return q->level | (uint64_t)q->depth << 16 | (uint64_t)(q->producer != 0) << 32 |
		       (uint64_t)(q->consumer != 0) << 33 | (uint64_t)backlog(q) << 34 |
		       (uint64_t)q->hung << 35;
	case FAULT_ADDRESS:
		*unknown |= o->fault_unknown;
		return o->fault_address;
	default:
		*unknown |= o->fault_unknown;
		return o->fault_count;
	}
}

static uint64_t config_load(struct oracle *o, const struct mimic_access *access, bool *unknown)
{
	unsigned int operation = access->offset >> 3 & 63, field = access->offset >> 9 & 7, number;
	struct oracle_queue *q = queue_at(o, field, &number);

	switch (operation) {
	case INIT:
		return init_load(o, field);
	case RESET:
		return reset_load(o, access->owner);
	case OPEN_PRODUCER:
	case OPEN_CONSUMER:
	case CLOSE_PRODUCER:
	case CLOSE_CONSUMER:
		return role_load(o, operation, number, access->owner);
	case FIFO_ADD:
		return add_load(o, field);
	case FIFO_CLEAR:
		return clear_load(o, number, access->owner);
	case STATISTICS:
		return statistics_load(o, q, unknown);
	case DEBUG:
		if (access->page == PAGE_MMU)
			return mmu_load(o, field, unknown);
		*unknown = true;
		return 0;
	case IDENTIFY:
	case QUEUE_STATE:
	case FAULT_ADDRESS:
	case FAULT_COUNT:
		return o->artifact ? 0 : extension_load(o, operation, number, unknown);
	default:
		return 0;
	}
}

static void config_store(struct oracle *o, const struct mimic_access *access)
{
	unsigned int operation = access->offset >> 3 & 63, field = access->offset >> 9 & 7, number;
	struct oracle_queue *q = queue_at(o, field, &number);

	if (operation >= LIMA_POINTER32 && operation <= LIMA_PREFETCH && existing(o)) {
		o->a = access->data & o->address_mask;
		o->a_set = true;
		o->a_operation = operation;
	}
	if (operation == MMU_STORE && access->page == PAGE_MMU && field == 2) {
		unsigned int resolved = access->data & 3 & o->armed;

		o->armed &= ~resolved;
		if (resolved & o->fault_source)
			o->fault_source = 0;
	}
	if (!q)
		return;
	if (operation == SET_BASE32 || operation == SET_BASE64) {
		q->base = access->data & o->address_mask;
		q->base_set = q->base != 0;
		q->shift = !q->base_set ? 0 : operation == SET_BASE32 ? 2 : 3;
	}
	if (o->artifact || q->producer != access->owner)
		return;
	if (operation == QUEUE_LIMA_A)
		q->lima_a = access->data & o->address_mask;
	if (operation == QUEUE_LIMA_B)
		q->lima_b = access->data & o->address_mask;
}

/* --- the custom page ------------------------------------------------------------- */

static uint64_t response(const struct oracle *o)
{
	uint64_t value = o->responses[0];

	if (!o->artifact)
		return value;
	return (uint64_t)__builtin_bswap32((uint32_t)(value >> 32)) << 32 |
	       __builtin_bswap32((uint32_t)value);
}

static void custom_access(struct oracle *o, struct mimic_access *access)
{
	if (access->is_write) {
		if (o->response_count < 4)
			o->responses[o->response_count++] = cut(access->data, access->size);
		return;
	}
	access->data = o->response_count ? cut(response(o), access->size) : 0;
	if (!o->response_count)
		return;
	o->response_count--;
	memmove(o->responses, o->responses + 1, sizeof(o->responses) - sizeof(o->responses[0]));
}

/* --- accesses --------------------------------------------------------------------- */

static bool store_access(struct oracle *o, struct mimic_access *access)
{
	unsigned int operation = access->offset >> 3 & 63, number;
	struct oracle_queue *q = queue_at(o, access->offset >> 9 & 7, &number);
	bool produces = is_produce(o, operation) && access->page == PAGE_MAPLE;

	access->data = cut(access->data, access->size);
	if (!produces && !is_loop(o, operation)) {
		config_store(o, access);
		return true;
	}
	if (!q || q->producer != access->owner)
		return true;
	if (!produce_store(o, number, access)) {
		if (q->hung)
			return true;
		q->store = *access;
		q->store_waits = true;
		o->parked[access->owner] = true;
		o->store_waits++;
		return false;
	}
	go_on(o, number);
	return true;
}

static bool load_access(struct oracle *o, struct mimic_access *access, bool *unknown)
{
	unsigned int operation = access->offset >> 3 & 63, number;
	struct oracle_queue *q = queue_at(o, access->offset >> 9 & 7, &number);
	bool hijacked = o->artifact && o->response_count;
	uint64_t data = 0;

	if (operation == CONSUME && access->page == PAGE_MAPLE && q && q->consumer == access->owner) {
		if (!pop(o, q, access->size == 8 ? 2 : 1, &data) && !q->hung) {
			q->load = *access;
			q->load_waits = true;
			o->parked[access->owner] = true;
			o->load_waits++;
			return false;
		}
		access->data = cut(data, access->size);
		go_on(o, number);
		return true;
	}
	data = config_load(o, access, unknown);
	if (hijacked) {
		*unknown = false;
		data = response(o);
	}
	access->data = cut(data, access->size);
	return true;
}

bool oracle_access(struct oracle *o, struct mimic_access *access, bool *unknown)
{
	*unknown = false;
	if (access->page == PAGE_CUSTOM || access->page == PAGE_SPD) {
		custom_access(o, access);
		return true;
	}
	if (access->page == PAGE_NIBBLER) {
		access->data = access->is_write ? access->data : 0;
		return true;
	}
	return access->is_write ? store_access(o, access) : load_access(o, access, unknown);
}

void oracle_cancel(struct oracle *o, uint64_t owner)
{
	o->parked[owner] = false;
	for (unsigned int i = 0; i < o->queue_count; i++) {
		struct oracle_queue *q = &o->queue[i];

		if (q->store_waits && q->store.owner == owner)
			q->store_waits = false;
		if (q->load_waits && q->load.owner == owner)
			q->load_waits = false;
	}
}

static bool has_pending(const struct oracle_queue *q)
{
	for (unsigned int i = 0; i < q->level; i++)
		if (q->words[i].pending)
			return true;
	return false;
}

void oracle_owner_gone(struct oracle *o, uint64_t owner)
{
	oracle_cancel(o, owner);
	for (unsigned int i = 0; i < o->queue_count; i++) {
		struct oracle_queue *q = &o->queue[i];
		bool was_producer = q->exists && q->producer == owner;
		bool was_consumer = q->exists && q->consumer == owner;

		if (was_producer)
			q->producer = 0;
		if (was_consumer)
			q->consumer = 0;
		/* What is still on its way to the queue may yet serve the load. */
		if (was_producer && q->load_waits && !backlog(q) && !has_pending(q))
			end_load(o, q, 0);
		if (was_consumer && q->store_waits)
			end_store(o, q);
	}
}

void oracle_fill(struct oracle *o, unsigned int i, bool there, uint64_t value)
{
	struct oracle_fetch done = o->pending[i];
	struct oracle_queue *q = &o->queue[done.queue];

	o->pending_count--;
	memmove(&o->pending[i], &o->pending[i + 1], (o->pending_count - i) * sizeof(o->pending[0]));
	if (!there) {
		value = 0;
		note_fault(o, done.address, PIPES);
		o->fault_unknown |= done.lima;
	}
	for (unsigned int w = 0, half = 0; !done.stale && w < q->level; w++) {
		if (q->words[w].pending != done.number)
			continue;
		q->words[w].pending = 0;
		q->words[w].value = (uint32_t)(value >> 32 * half++);
	}
	go_on(o, done.queue);
}
