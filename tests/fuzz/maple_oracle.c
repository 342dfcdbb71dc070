/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The oracle's configuration, pages and accesses; its queues are in maple_oracle_queue.c. */
#include <string.h>

#include "tests/fuzz/maple_oracle_internal.h"

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

static unsigned int stale_fetches(const struct oracle *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < o->pending_count; i++)
		n += o->pending[i].stale;
	return n;
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
		oracle_end_store(o, q);
	if (q->load_waits)
		oracle_end_load(o, q, load_answer);
	memset(q, 0, sizeof(*q));
}

static uint64_t roles(const struct oracle_queue *q, uint64_t owner)
{
	return q ? (q->producer == owner) * 2u + (q->consumer == owner) : 0;
}

static uint64_t count_field(const struct oracle *o)
{
	return (uint64_t)(oracle_existing(o) % o->queue_count) << 32;
}

static uint64_t init_load(struct oracle *o, unsigned int code)
{
	if (oracle_existing(o))
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
		       (uint64_t)(q->consumer != 0) << 33 | (uint64_t)oracle_backlog(q) << 34 |
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
	case FAULT_STATUS:
		if (o->artifact || access->page != PAGE_MMU)
			return 0;
		/* As the fault word, and whether the access writes. No driver: nothing is stalled. */
		return mmu_load(o, 1, unknown) | (o->fault_source && o->fault_writes ? 4 : 0);
	default:
		return 0;
	}
}

static void config_store(struct oracle *o, const struct mimic_access *access)
{
	unsigned int operation = access->offset >> 3 & 63, field = access->offset >> 9 & 7, number;
	struct oracle_queue *q = queue_at(o, field, &number);

	if (operation >= LIMA_POINTER32 && operation <= LIMA_PREFETCH && oracle_existing(o)) {
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
			o->responses[o->response_count++] = oracle_cut(access->data, access->size);
		return;
	}
	access->data = o->response_count ? oracle_cut(response(o), access->size) : 0;
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
	bool produces = oracle_is_produce(o, operation) && access->page == PAGE_MAPLE;

	access->data = oracle_cut(access->data, access->size);
	if (!produces && !oracle_is_loop(o, operation)) {
		config_store(o, access);
		return true;
	}
	if (!q || q->producer != access->owner)
		return true;
	if (!oracle_produce(o, number, access)) {
		if (q->hung)
			return true;
		q->store = *access;
		q->store_waits = true;
		o->parked[access->owner] = true;
		o->store_waits++;
		return false;
	}
	oracle_go_on(o, number);
	return true;
}

static bool load_access(struct oracle *o, struct mimic_access *access, bool *unknown)
{
	unsigned int operation = access->offset >> 3 & 63, number;
	struct oracle_queue *q = queue_at(o, access->offset >> 9 & 7, &number);
	bool hijacked = o->artifact && o->response_count;
	uint64_t data = 0;

	if (operation == CONSUME && access->page == PAGE_MAPLE && q && q->consumer == access->owner) {
		if (!oracle_pop(o, q, access->size == 8 ? 2 : 1, &data) && !q->hung) {
			q->load = *access;
			q->load_waits = true;
			q->abandoned = false;
			o->parked[access->owner] = true;
			o->load_waits++;
			return false;
		}
		access->data = oracle_cut(data, access->size);
		oracle_go_on(o, number);
		return true;
	}
	data = config_load(o, access, unknown);
	if (hijacked) {
		*unknown = false;
		data = response(o);
	}
	access->data = oracle_cut(data, access->size);
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
		if (was_producer && q->load_waits)
			q->abandoned = true;
		if (was_consumer && q->store_waits)
			oracle_end_store(o, q);
		if (was_producer || was_consumer)
			oracle_go_on(o, i);
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
		oracle_note_fault(o, done.address, PIPES);
		o->fault_unknown |= done.lima;
	}
	for (unsigned int w = 0, half = 0; !done.stale && w < q->level; w++) {
		if (q->words[w].pending != done.number)
			continue;
		q->words[w].pending = 0;
		q->words[w].value = (uint32_t)(value >> 32 * half++);
	}
	oracle_go_on(o, done.queue);
}
