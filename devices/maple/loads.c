/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of a MAPLE that can be loaded: the effect of a load, and the answer that it would give,
 * for the state (docs/state.md). Many loads have an effect; a peek has none. A register whose
 * value depends on the thread that loads is peeked as by a thread that has no role.
 */
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"

#define PRODUCER_FLAG 2u
#define CONSUMER_FLAG 1u
#define NOBODY UINT64_MAX	/* a thread that has no role */
#define PAGE_SHIFT 12

/* While a custom response is pending, the artifact answers any load of a configuration register with it. */
static uint64_t answer(const struct maple *m, uint64_t value)
{
	uint64_t hijacked;

	return maple_custom_hijack(m, &hijacked) ? hijacked : value;
}

static uint64_t queues_answer(const struct maple *m)
{
	return maple_connection_answer(m, NULL, NOBODY, 0);
}

static bool loses_init(const struct maple *m)
{
	return m->state.stale_count && has_quirk(m, MAPLE_QUIRK_init_after_reset_lost);
}

/* The same for all size codes: they set the size of queues, not the answer. */
static uint64_t add_answer(const struct maple *m)
{
	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (!m->state.queue[i].allocated)
			return (uint64_t)i << 32;
	}
	return queues_answer(m);
}

static uint64_t open_answer(const struct maple *m, const struct maple_queue *q, bool producer)
{
	if (loses_init(m))
		return 0;
	if (!q->allocated || (producer ? q->producer : q->consumer))
		return queues_answer(m);
	return queues_answer(m) | (producer ? PRODUCER_FLAG : CONSUMER_FLAG);
}

static uint64_t clear_answer(const struct maple *m, const struct maple_queue *q)
{
	return queues_answer(m) | (q->allocated && !q->consumer);
}

uint64_t maple_state_clock(const struct side_clock *clock, bool waiting, uint64_t now)
{
	uint64_t before = waiting ? clock->waiting : clock->idle;
	bool runs = waiting ? clock->is_waiting : clock->open && !clock->is_waiting;

	return before + (runs ? now - clock->since : 0);
}

static uint64_t statistics_answer(const struct maple *m, const struct maple_queue *q, uint64_t now)
{
	uint64_t high, low;

	if (m->state.statistics_index == 0)
		return 0;
	if (m->state.statistics_index == 3) {
		high = m->state.tile_pops;
		low = q->popped;
	} else {
		bool waiting = m->state.statistics_index == 2;

		high = maple_state_clock(&q->producer_clock, waiting, now);
		low = maple_state_clock(&q->consumer_clock, waiting, now);
	}
	return high << 32 | (low & 0xffffffff);
}

/* --- peeks ------------------------------------------------------------------------------ */

/* `exists`: there is a register of this index. */
#define PEEK_IF(page, NAME, exists, expression) \
static enum mimic_peek page##_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					  uint64_t now, uint64_t *value) \
{ \
	const struct maple *m = (const struct maple *)model; \
	unsigned int i = place.index; \
\
	(void)i; \
	(void)now; \
	if (!(exists)) \
		return MIMIC_PEEK_NONE; \
	*value = answer(m, (expression)); \
	return MIMIC_PEEK_VALUE; \
}
#define PEEK(NAME, expression) PEEK_IF(maple, NAME, true, expression)
#define PEEK_QUEUE(NAME, expression) PEEK_IF(maple, NAME, i < m->config.queues, expression)
#define PEEK_EXTENSION(NAME, expression) \
	PEEK_IF(maple, NAME, !has_quirk(m, MAPLE_QUIRK_no_extension), expression)

PEEK(INIT, maple_queues_allocated(m) ? queues_answer(m) : 2)
PEEK(RESET, queues_answer(m))
PEEK(FIFO_ADD, add_answer(m))
PEEK_QUEUE(OPEN_PRODUCER, open_answer(m, &m->state.queue[i], true))
PEEK_QUEUE(OPEN_CONSUMER, open_answer(m, &m->state.queue[i], false))
PEEK_QUEUE(CLOSE_PRODUCER, queues_answer(m))
PEEK_QUEUE(CLOSE_CONSUMER, queues_answer(m))
PEEK_QUEUE(FIFO_CLEAR, clear_answer(m, &m->state.queue[i]))
PEEK_QUEUE(STATISTICS, statistics_answer(m, &m->state.queue[i], now))
PEEK_IF(maple, DEBUG, i < 3, maple_debug_load(m, i))
PEEK_EXTENSION(IDENTIFY, maple_extension_load(m, MAPLE_LOAD_IDENTIFY, 0))
PEEK_IF(maple, QUEUE_STATE, i < m->config.queues && !has_quirk(m, MAPLE_QUIRK_no_extension),
	maple_extension_load(m, MAPLE_LOAD_QUEUE_STATE, i))
PEEK_EXTENSION(FAULT_ADDRESS, maple_extension_load(m, MAPLE_LOAD_FAULT_ADDRESS, 0))
PEEK_EXTENSION(FAULT_COUNT, maple_extension_load(m, MAPLE_LOAD_FAULT_COUNT, 0))

/* As to a load of 4 bytes by the queue's consumer: the word at the head, which stays there. */
static enum mimic_peek maple_peek_CONSUME(const struct mimic_model *model, struct mimic_register_place place,
					  uint64_t now, uint64_t *value)
{
	const struct maple *m = (const struct maple *)model;
	const struct maple_queue *q = &m->state.queue[place.index];
	unsigned int slot = (unsigned int)q->first + q->head;

	(void)now;
	if (place.index >= m->config.queues)
		return MIMIC_PEEK_NONE;
	*value = 0;
	if (!q->allocated || !q->consumer)
		*value = low_bytes(answer(m, 0), 4);
	else if (q->load.valid)
		return MIMIC_PEEK_WAITS;
	else if (q->level && !m->state.word_pending[slot])
		*value = m->state.words[slot];
	else if (!q->hung)
		return MIMIC_PEEK_WAITS;
	return MIMIC_PEEK_VALUE;
}

/* A real load arms the fault that it shows for RESOLVE. */
static uint64_t fault_status(const struct maple *m)
{
	const struct maple_state *s = &m->state;

	for (unsigned int i = 0; i < 2; i++) {
		if (s->stall[i].stalled)
			return s->stall[i].page << PAGE_SHIFT | MAPLE_FAULT_STALLED |
			       (s->stall[i].writes ? MAPLE_FAULT_WRITES : 0) | 1u << i;
	}
	if (!s->fault_source)
		return 0;
	return s->fault_page << PAGE_SHIFT | (s->fault_writes ? MAPLE_FAULT_WRITES : 0) | s->fault_source;
}

/* A real load goes on to the next entry. Fields as in the artifact: see mmu.c. */
static uint64_t snoop(const struct maple *m)
{
	const struct mimic_tlb *tlb = &m->state.tlb;
	unsigned int i = m->state.snoop_index % tlb->entries;
	bool is_large = tlb->large >> i & 1, is_huge = tlb->huge >> i & 1;

	if (!(tlb->valid >> i & 1))
		return 0;
	return 0xfull << 60 | (tlb->page[i] & 0x7ffffff) << 32 | (tlb->frame[i] & 0xfffffff) << 4 | 1u << 3 |
	       (uint64_t)(is_large && !is_huge) << 2 | (uint64_t)is_huge << 1 | 1;
}

static uint64_t mmu_debug(const struct maple *m, unsigned int field)
{
	if (field == MAPLE_MMU_FAULT)
		return fault_status(m) & ~(uint64_t)(MAPLE_FAULT_STALLED | MAPLE_FAULT_WRITES);
	return field == MAPLE_MMU_SNOOP ? snoop(m) : 0;
}

PEEK_IF(mmu, DEBUG, i <= MAPLE_MMU_SNOOP, mmu_debug(m, i))
PEEK_IF(mmu, FAULT_STATUS, !has_quirk(m, MAPLE_QUIRK_no_extension), fault_status(m))

/* --- loads ------------------------------------------------------------------------------ */

static uint64_t load_illegal(struct maple *m)
{
	count(m, MAPLE_COUNTER_illegal, 1);
	return 0;
}

/* Drops all that RESET drops; blocked loads are answered with RESET's own value. */
static uint64_t reset_tile(struct maple *m, uint64_t owner)
{
	struct maple_state *state = &m->state;
	struct maple_queue *first = &state->queue[0];
	uint64_t answer = maple_connection_answer(m, first->allocated ? first : NULL, owner, 0);

	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (state->queue[i].allocated)
			maple_queue_drop(m, i, answer, MIMIC_TRACE_DROP_RESET);
	}
	state->tile_a = 0;
	state->tile_a_set = false;
	state->tile_mode = 0;
	state->tile_pops = 0;
	if (!has_quirk(m, MAPLE_QUIRK_statistics_index_survives_reset))
		state->statistics_index = 0;
	maple_mmu_reset(m);
	return answer;
}

/* [11:9] is `field`; it selects queue `number`, which may not be there. */
#define LOAD_IF(NAME, is_legal, expression) \
static enum mimic_outcome load_##NAME(struct mimic_model *model, struct mimic_register_place place, \
				      struct mimic_access *access) \
{ \
	struct maple *m = maple_of(model); \
	unsigned int field = place.index, number; \
	struct maple_queue *q = maple_queue_of(m, field, &number); \
\
	(void)q; \
	access->data = (is_legal) ? (expression) : load_illegal(m); \
	return MIMIC_DONE; \
}
#define LOAD(NAME, expression) LOAD_IF(NAME, true, expression)
#define LOAD_QUEUE(NAME, expression) LOAD_IF(NAME, number < m->config.queues, expression)
#define LOAD_EXTENSION(NAME) \
	LOAD_IF(NAME, !has_quirk(m, MAPLE_QUIRK_no_extension), \
		maple_extension_load(m, MAPLE_LOAD_##NAME, number))

LOAD(INIT, maple_queue_init_all(m, field))
LOAD(RESET, reset_tile(m, access->owner))
LOAD_QUEUE(OPEN_PRODUCER, maple_queue_open(m, number, access->owner, true))
LOAD_QUEUE(OPEN_CONSUMER, maple_queue_open(m, number, access->owner, false))
LOAD_QUEUE(CLOSE_PRODUCER, maple_queue_close(m, number, access->owner, true))
LOAD_QUEUE(CLOSE_CONSUMER, maple_queue_close(m, number, access->owner, false))
LOAD(FIFO_ADD, maple_queue_add(m, field))
/* The consumer's own never come here: see load() in model.c. */
LOAD_IF(CONSUME, false, 0)
LOAD_QUEUE(FIFO_CLEAR, maple_queue_clear(m, number, access->owner))
LOAD(STATISTICS, maple_statistics_load(m, q))
LOAD(DEBUG, access->page == MAPLE_PAGE_MMU ? maple_mmu_load(m, field) : maple_debug_load(m, field))
LOAD_EXTENSION(IDENTIFY)
LOAD_EXTENSION(QUEUE_STATE)
LOAD_EXTENSION(FAULT_ADDRESS)
LOAD_EXTENSION(FAULT_COUNT)
LOAD_IF(FAULT_STATUS, !has_quirk(m, MAPLE_QUIRK_no_extension) && access->page == MAPLE_PAGE_MMU,
	maple_mmu_fault_status(m))

uint64_t maple_configuration_load(struct maple *m, struct mimic_access *access)
{
	bool is_mmu = access->page == MAPLE_PAGE_MMU;
	const struct mimic_register_block *block = &maple_load_blocks[is_mmu ? MAPLE_PAGE_MMU : MAPLE_PAGE_MAPLE];
	const struct mimic_register *row;
	struct mimic_register_place place;

	row = mimic_register_at(block, 0, access->offset, &place);
	if (!row)
		return load_illegal(m);
	row->load(&m->model, place, access);
	return access->data;
}

/* --- the rows --------------------------------------------------------------------------- */

/* Of the pages: MAPLE has the operations, MMU shows its own two, the others have the names only. */
#define SHOWN_ON_MAPLE_VALUE MIMIC_SHOWN_VALUE
#define SHOWN_ON_MAPLE_QUEUES MIMIC_SHOWN_FOLDER
#define SHOWN_ON_MAPLE_FIELDS MIMIC_SHOWN_FOLDER
#define SHOWN_ON_MAPLE_MMU_VALUE MIMIC_SHOWN_ELSEWHERE
#define SHOWN_ON_MMU_VALUE MIMIC_SHOWN_ELSEWHERE
#define SHOWN_ON_MMU_QUEUES MIMIC_SHOWN_ELSEWHERE
#define SHOWN_ON_MMU_FIELDS MIMIC_SHOWN_FOLDER
#define SHOWN_ON_MMU_MMU_VALUE MIMIC_SHOWN_VALUE
/* The fault's registers are on the MMU page, registers for programs are on the first. */
#define ROLE_ON_MAPLE_NONE MIMIC_ROLE_NONE
#define ROLE_ON_MAPLE_RESET MIMIC_ROLE_RESET
#define ROLE_ON_MAPLE_IDENTIFY MIMIC_ROLE_IDENTIFY
#define ROLE_ON_MAPLE_FAULT_COUNT MIMIC_ROLE_FAULT_COUNT
#define ROLE_ON_MAPLE_FAULT MIMIC_ROLE_NONE
#define ROLE_ON_MMU_NONE MIMIC_ROLE_NONE
#define ROLE_ON_MMU_RESET MIMIC_ROLE_RESET
#define ROLE_ON_MMU_IDENTIFY MIMIC_ROLE_NONE
#define ROLE_ON_MMU_FAULT_COUNT MIMIC_ROLE_NONE
#define ROLE_ON_MMU_FAULT MIMIC_ROLE_FAULT

#define ROW(code, NAME, text) \
	.name = #NAME, .meaning = text, .offset = MAPLE_OFFSET(code, 0), .stride = MAPLE_OFFSET(0, 1), \
	.count = MAPLE_OFFSET_QUEUES, .access = MIMIC_REGISTER_R, .format = MIMIC_STATE_HEX
/* Of DEBUG one field has the role. */
#define ROLE_INDEX(code) ((code) == MAPLE_LOAD_DEBUG ? MAPLE_MMU_FAULT : MIMIC_REGISTER_ALL)

#define maple_peek_FAULT_STATUS NULL	/* it is on the MMU page, which shows no others */
#define mmu_peek(NAME, code) \
	((code) == MAPLE_LOAD_DEBUG ? mmu_peek_DEBUG : \
	 (code) == MAPLE_LOAD_FAULT_STATUS ? mmu_peek_FAULT_STATUS : maple_peek_##NAME)

static const struct mimic_register maple_rows[] = {
#define _(code, NAME, role_, shows, text) \
	[code] = { \
		ROW(code, NAME, text), .role = ROLE_ON_MAPLE_##role_, .role_index = ROLE_INDEX(code), \
		.shown = SHOWN_ON_MAPLE_##shows, .peek = maple_peek_##NAME, .load = load_##NAME, \
	},
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
};

static const struct mimic_register mmu_rows[] = {
#define _(code, NAME, role_, shows, text) \
	[code] = { \
		ROW(code, NAME, text), .role = ROLE_ON_MMU_##role_, .role_index = ROLE_INDEX(code), \
		.shown = SHOWN_ON_MMU_##shows, .peek = mmu_peek(NAME, code), .load = load_##NAME, \
	},
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
};

static const struct mimic_register name_rows[] = {
#define _(code, NAME, role, shows, text) \
	[code] = { ROW(code, NAME, text), .role_index = MIMIC_REGISTER_ALL, .shown = MIMIC_SHOWN_ELSEWHERE },
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
};

#define BLOCK(number, NAME, table) \
	[number] = { \
		.name = #NAME, .has_indices = true, .access = MIMIC_REGISTER_R, .page = number, .pages = 1, \
		.units = 1, .size = MIMIC_PAGE_SIZE, .ignored = MAPLE_OFFSET(1, 0) - 1, \
		.shift = MAPLE_OPERATION_SHIFT, .index_shift = MAPLE_QUEUE_SHIFT, .rows = table, .count = sizeof(table) / sizeof((table)[0]), \
	}
#define ROWS_OF_MAPLE maple_rows
#define ROWS_OF_SPD name_rows
#define ROWS_OF_MMU mmu_rows
#define ROWS_OF_CUSTOM name_rows
#define ROWS_OF_NIBBLER name_rows

const struct mimic_register_block maple_load_blocks[MAPLE_PAGE_COUNT] = {
#define _(number, NAME, meaning) BLOCK(number, NAME, ROWS_OF_##NAME),
	MAPLE_PAGES(_)
#undef _
};

/* --- the state -------------------------------------------------------------------------- */

static void custom_page(const struct maple *m, const struct mimic_state_visitor *visitor)
{
	const struct custom_fifo *fifo = &m->state.responses;
	uint64_t head = fifo->count ? fifo->data[fifo->first] : 0;

	if (has_quirk(m, MAPLE_QUIRK_custom_byte_swapped))
		head = (uint64_t)__builtin_bswap32((uint32_t)(head >> 32)) << 32 |
		       __builtin_bswap32((uint32_t)head);
	mimic_state_enter(visitor, "CUSTOM");
	mimic_state_hex(visitor, "RESPONSE", head, "answer to any load of this page: the oldest response");
	mimic_state_decimal(visitor, "responses", fifo->count, "responses that nobody has loaded");
	mimic_state_leave(visitor, "CUSTOM");
}

void maple_state_registers(const struct maple *m, uint64_t now, const struct mimic_state_visitor *visitor)
{
	static const unsigned int pages[] = { MAPLE_PAGE_MAPLE, MAPLE_PAGE_MMU };

	mimic_state_enter(visitor, "registers");
	for (unsigned int i = 0; i < 2; i++) {
		const struct mimic_register_block *block = &maple_load_blocks[pages[i]];

		mimic_state_enter(visitor, block->name);
		mimic_state_register_rows(visitor, block, &m->model, 0, now);
		mimic_state_leave(visitor, block->name);
	}
	custom_page(m, visitor);
	mimic_state_leave(visitor, "registers");
}
