/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The control block of a unit: its registers and its errors. */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

/* --- state ----------------------------------------------------------------------------------- */

bool virgo_unit_is_busy(const struct unit *u)
{
	return virgo_queue_unfinished(u) || u->front.job_state != JOB_NONE;
}

static uint64_t status_of(const struct virgo *v, const struct unit *u)
{
	const struct front *f = &u->front;

	return (virgo_unit_is_busy(u) ? VIRGO_STATUS_BUSY : 0) | (f->error ? VIRGO_STATUS_ERROR : 0) |
	       (f->job_state == JOB_STALLED ? VIRGO_STATUS_PAGE : 0) |
	       (uint64_t)virgo_queue_unfinished(u) << VIRGO_STATUS_LEVEL_SHIFT |
	       (uint64_t)v->config.queue_entries << VIRGO_STATUS_SIZE_SHIFT;
}

/* The first error stays; commands that are queued behind it are dropped. */
void virgo_unit_latch(struct virgo *v, struct unit *u, const struct command *command,
		      enum virgo_error error, uint64_t value)
{
	struct front *f = &u->front;

	count_front(u, VIRGO_COUNTER_errors, 1);
	virgo_queue_drop_all(u);
	if (f->job_state == JOB_READY && !f->taken)
		f->job_state = JOB_NONE;
	if (f->error)
		return;
	f->error = error;
	f->error_instruction = command->word;
	f->error_position = command->position;
	f->error_address = value;
	f->error_rs1 = command->rs1;
	f->error_rs2 = command->rs2;
	virgo_raise(v, VIRGO_EVENT_ERROR(u->number));
}

static uint64_t initial_tile(const struct unit *u)
{
	const struct virgo_unit_config *c = u->config;
	uint64_t usual = 64 / u->dim;

	return (c->tile_k ? c->tile_k : usual) << 32 | (c->tile_j ? c->tile_j : usual) << 16 |
	       (c->tile_i ? c->tile_i : usual);
}

/* The accesses that wait for this unit are answered: stores are dropped, fences see an idle unit. */
static void release(struct virgo *v, struct unit *u)
{
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->kind == PARKED_BARRIER || parked->unit != u->number)
			continue;
		virgo_parked_forget(v, parked);
		if (parked->withdrawn)
			parked->over = 1;
		else
			virgo_parked_answer(v, parked, 0);
	}
}

void virgo_unit_reset(struct virgo *v, struct unit *u, enum reset reset)
{
	struct front old = u->front, *f = &u->front;

	/* The commands of an outstanding job are dropped when it comes back. */
	trace_dropped(u, u->trace_epoch, &old.queue.entry[old.queue.first], old.queue.level);
	if (old.job_state != JOB_OUTSTANDING)
		trace_dropped(u, u->job.trace_epoch, &u->job.x.batch[u->job.x.next],
			      u->job.x.count - u->job.x.next);
	u->trace_epoch++;
	release(v, u);
	memset(f, 0, sizeof(*f));
	memset(&u->held, 0, sizeof(u->held));
	virgo_watch_reset(u);
	if (reset != RESET_POWER_ON) {
		memcpy(f->counters, old.counters, sizeof(f->counters));
		memcpy(f->published, old.published, sizeof(f->published));
		f->counter_select = old.counter_select;
	}
	f->cisc_generation = v->config.cisc_generation;
	f->cisc_tile = initial_tile(u);
	/* Work that a power-on ends is no event for the next program that has the device. */
	f->was_busy = reset == RESET_POWER_ON ? 0 : old.was_busy;
	if (old.job_state == JOB_OUTSTANDING) {
		f->job_state = JOB_OUTSTANDING;
		f->taken = old.taken;
		f->reset_pending = old.reset_pending > reset ? old.reset_pending : reset;
		__atomic_store_n(&u->job.drop, 1, __ATOMIC_RELAXED);
		return;
	}
	virgo_job_power_on(u);
	if (reset == RESET_POWER_ON)
		memset(u->job.x.counters, 0, sizeof(u->job.x.counters));
}

/* --- accesses that can go on -------------------------------------------------------------------- */

static void push_word(struct unit *u, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	struct command command = { .word = word, .rs1 = rs1, .rs2 = rs2 };

	command.funct = (word & 0x7f) == VIRGO_OPCODE ? (uint8_t)(word >> 25) : FUNCT_ILLEGAL;
	virgo_command_queue_push(u, &command);
}

bool virgo_unit_is_over(const struct unit *u, const struct parked *parked)
{
	const struct front *f = &u->front;

	if (f->reset_pending)
		return false;
	if (parked->kind == PARKED_LOOPS)
		return f->loops <= parked->value;
	if (parked->kind == PARKED_COMMAND)
		return f->completed >= parked->position;
	return f->completed >= parked->value;
}

static uint64_t answer_of(const struct virgo *v, const struct unit *u, const struct parked *parked)
{
	switch (parked->kind) {
	case PARKED_LOOPS:
		return u->front.loops;
	case PARKED_FENCE:
		return status_of(v, u);
	default:
		return 0;
	}
}

void virgo_unit_settle(struct virgo *v, struct unit *u)
{
	virgo_queue_count_dropped(u);
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->kind == PARKED_BARRIER || parked->unit != u->number)
			continue;
		if (parked->kind != PARKED_INSTRUCTION) {
			if (!parked->withdrawn && virgo_unit_is_over(u, parked))
				virgo_parked_answer(v, parked, answer_of(v, u, parked));
			continue;
		}
		if (!virgo_command_queue_room(v, u))
			continue;
		push_word(u, (uint32_t)parked->value, parked->rs1, parked->rs2);
		u->front.parked_stores--;
		if (v->config.synchronous)
			virgo_synchronous_begin(u, parked);
		else
			virgo_parked_answer(v, parked, 0);
	}
	if (u->front.was_busy && !virgo_unit_is_busy(u)) {
		u->front.was_busy = 0;
		virgo_raise(v, VIRGO_EVENT_IDLE(u->number));
	}
}

/* --- stores ------------------------------------------------------------------------------------------ */

static void overflow(struct virgo *v, struct unit *u, const struct parked *store)
{
	struct command command = {
		.word = (uint32_t)store->value, .position = u->front.dispatched,
		.rs1 = store->rs1, .rs2 = store->rs2,
	};

	virgo_unit_latch(v, u, &command, VIRGO_ERROR_OVERFLOW, v->config.queue_entries);
}

static enum mimic_outcome queue_instruction(struct virgo *v, struct unit *u,
					    const struct parked *store)
{
	struct front *f = &u->front;
	enum mimic_outcome outcome;

	if (virgo_synchronous_resumes(v, u, store, &outcome))
		return outcome;
	if (!f->parked_stores && virgo_command_queue_room(v, u)) {
		push_word(u, (uint32_t)store->value, store->rs1, store->rs2);
		return virgo_synchronous_wait(v, u, store);
	}
	if (v->config.overflow_is_error || !virgo_parked_add(v, store)) {
		overflow(v, u, store);
		return MIMIC_DONE;
	}
	f->parked_stores++;
	count_front(u, VIRGO_COUNTER_queue_waits, 1);
	return MIMIC_PARKED;
}

static enum mimic_outcome store_instruction(struct virgo *v, struct unit *u,
					    const struct mimic_access *access)
{
	struct parked store = {
		.owner = access->owner, .value = access->data,
		.rs1 = u->front.rs1, .rs2 = u->front.rs2,
		.kind = PARKED_INSTRUCTION, .unit = (uint8_t)u->number, .size = access->size,
	};

	return queue_instruction(v, u, &store);
}

/* RS1, RS2 and the word come one after the other; only the word can have to wait. */
static enum mimic_outcome store_stream(struct virgo *v, struct unit *u,
				       const struct mimic_access *access)
{
	struct front *f = &u->front;
	struct parked store = {
		.owner = access->owner, .value = (uint32_t)access->data,
		.rs1 = f->stream[0], .rs2 = f->stream[1],
		.kind = PARKED_INSTRUCTION, .unit = (uint8_t)u->number, .size = access->size,
		.from_stream = 1,
	};

	if (f->stream_level < 2) {
		f->stream[f->stream_level++] = access->data;
		f->stream_owner = access->owner;
		return MIMIC_DONE;
	}
	f->stream_level = 0;
	return queue_instruction(v, u, &store);
}

/* RS1 and RS2: whole, or one half. */
static enum mimic_outcome store_source(struct virgo *v, struct mimic_register_place place,
				       const struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE;
	struct front *f = &v->unit[place.unit].front;
	uint64_t *source = offset < VIRGO_RS2 ? &f->rs1 : &f->rs2;
	unsigned int shift = 8 * (offset & 7);

	if (access->size == 8)
		*source = access->data;
	else
		*source = (*source & ~(0xffffffffull << shift)) | (access->data & 0xffffffff) << shift;
	return MIMIC_DONE;
}

static void clear_error(struct unit *u)
{
	struct front *f = &u->front;

	f->error = VIRGO_ERROR_NONE;
	f->error_instruction = 0;
	f->error_position = 0;
	f->error_address = 0;
	f->error_rs1 = 0;
	f->error_rs2 = 0;
}

static enum mimic_outcome illegal(struct unit *u)
{
	count_front(u, VIRGO_COUNTER_illegal, 1);
	return MIMIC_DONE;
}

#define STORE(NAME) \
static enum mimic_outcome unit_store_##NAME(struct mimic_model *model, struct mimic_register_place place, \
					    struct mimic_access *access)

/* Words have 32 bits, those of a stream 64. */
STORE(INSTRUCTION)
{
	struct virgo *v = virgo_of(model);

	return access->size == 4 ? store_instruction(v, &v->unit[place.unit], access) :
				   illegal(&v->unit[place.unit]);
}

STORE(STREAM)
{
	struct virgo *v = virgo_of(model);

	return access->size == 8 ? store_stream(v, &v->unit[place.unit], access) :
				   illegal(&v->unit[place.unit]);
}

STORE(RS1)
{
	return store_source(virgo_of(model), place, access);
}

STORE(RS2)
{
	return store_source(virgo_of(model), place, access);
}

STORE(CISC)
{
	struct virgo *v = virgo_of(model);
	struct unit *u = virgo_cisc_unit(v, (uint32_t)access->data);
	struct parked store = {
		.owner = access->owner, .value = (uint32_t)access->data,
		.kind = PARKED_INSTRUCTION, .unit = u ? (uint8_t)u->number : 0, .size = access->size,
	};
	enum mimic_outcome outcome;

	if (u && virgo_synchronous_resumes(v, u, &store, &outcome))
		return outcome;
	if (!virgo_cisc_store(v, &v->unit[place.unit], (uint32_t)access->data))
		return MIMIC_DONE;
	return virgo_synchronous_wait(v, u, &store);
}

STORE(CISC_GENERATION)
{
	struct unit *u = &virgo_of(model)->unit[place.unit];

	if (access->data >= VIRGO_CISC_GENERATIONS)
		return illegal(u);
	u->front.cisc_generation = (uint32_t)access->data;
	return MIMIC_DONE;
}

STORE(CISC_TILE)
{
	virgo_of(model)->unit[place.unit].front.cisc_tile = access->data & 0xffffffffffffull;
	return MIMIC_DONE;
}

/* A store of any value clears the error. */
STORE(ERROR)
{
	(void)access;
	clear_error(&virgo_of(model)->unit[place.unit]);
	return MIMIC_DONE;
}

STORE(COUNTER_SELECT)
{
	struct unit *u = &virgo_of(model)->unit[place.unit];
	bool exists = access->data < VIRGO_COUNTER_COUNT;

	u->front.counter_select = exists ? (uint32_t)access->data : 0;
	return exists ? MIMIC_DONE : illegal(u);
}

STORE(RESET)
{
	struct virgo *v = virgo_of(model);

	(void)access;
	virgo_unit_reset(v, &v->unit[place.unit], RESET_UNIT);
	return MIMIC_DONE;
}

/* --- loads -------------------------------------------------------------------------------------------- */

static uint64_t identify(const struct virgo *v, const struct unit *u)
{
	return u->dim | u->type.kind << 8 | u->number << 16 |
	       (v->config.overflow_is_error ? VIRGO_IDENTIFY_OVERFLOWS : 0) |
	       (uint64_t)u->config->accumulator_kb << 32;
}

#define PEEK_OR_WAIT(NAME, is_over, expression) \
static enum mimic_peek unit_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					uint64_t now, uint64_t *value) \
{ \
	const struct virgo *v = (const struct virgo *)model; \
	bool is_there = place.unit < v->config.units; \
	const struct unit *u = &v->unit[is_there ? place.unit : 0]; \
	const struct front *f = &u->front; \
\
	(void)f; \
	(void)now; \
	if (!is_there) \
		return MIMIC_PEEK_NONE; \
	*value = (expression); \
	/* A load that finds no place among the loads that wait is answered at once. */ \
	return (is_over) || v->cluster.parked_at_units == PARKED_AT_UNITS_MAX ? MIMIC_PEEK_VALUE : \
										MIMIC_PEEK_WAITS; \
}
#define PEEK(NAME, expression) PEEK_OR_WAIT(NAME, true, expression)
#define PEEK_LOOPS(number) \
	PEEK_OR_WAIT(WAIT_LOOPS_##number, !f->reset_pending && f->loops <= number, f->loops)

PEEK(BUSY, virgo_unit_is_busy(u))
PEEK(LOOPS, f->loops)
PEEK(STATUS, status_of(v, u))
PEEK(CISC_GENERATION, f->cisc_generation)
PEEK(CISC_TILE, f->cisc_tile)
PEEK(ERROR, f->error)
PEEK(ERROR_INSTRUCTION, f->error_instruction)
PEEK(ERROR_POSITION, f->error_position)
PEEK(ERROR_ADDRESS, f->error_address)
PEEK(ERROR_RS1, f->error_rs1)
PEEK(ERROR_RS2, f->error_rs2)
PEEK(DISPATCHED, f->dispatched)
PEEK(COMPLETED, f->completed)
PEEK(IDENTIFY, identify(v, u))
PEEK(COUNTER_RESULT, f->counter_result)
PEEK(COUNTER_SELECT, f->counter_select)
PEEK(COUNTER_VALUE, virgo_unit_counter(u, f->counter_select))
PEEK_OR_WAIT(FENCE, !f->reset_pending && f->completed >= f->dispatched, status_of(v, u))
PEEK_LOOPS(0)
PEEK_LOOPS(1)
PEEK_LOOPS(2)
PEEK_LOOPS(3)

/* --- the table: include/mimic/virgo_registers.h lists them ---------------------------------------------- */

/* The upper halves of the sources can be stored by themselves; their place is that of the register. */
#define HIGH_HALF(at, text) \
	[(at) / 4] = { \
		.name = text, .meaning = "the upper 32 bits", .offset = at, \
		.access = MIMIC_REGISTER_W, .role_index = MIMIC_REGISTER_ALL, .store = unit_store_RS1, \
	}

static const struct mimic_register unit_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 4] = { MIMIC_REGISTER_ROW(unit, at, name, access, reset, role, format, meaning) },
	VIRGO_UNIT_REGISTERS(_)
#undef _
	HIGH_HALF(VIRGO_RS1_HIGH, "RS1 (high)"),
	HIGH_HALF(VIRGO_RS2_HIGH, "RS2 (high)"),
};

const struct mimic_register_block virgo_unit_block = {
	.name = "unit",
	.is_numbered = true,
	.access = MIMIC_REGISTER_RW,
	.page = VIRGO_PAGE_UNITS,
	.pages = 1,
	.units = MIMIC_PAGE_SIZE / VIRGO_BLOCK_SIZE,
	.size = VIRGO_BLOCK_SIZE,
	.shift = 2,
	.rows = unit_rows,
	.count = sizeof(unit_rows) / sizeof(unit_rows[0]),
};

/* Below BUSY are INSTRUCTION, of 32 bits, and the sources, which are stored by halves, too. */
static bool store_is_legal(const struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE;

	if (offset < VIRGO_BUSY)
		return access->size >= 4 && offset % access->size == 0;
	return register_access_is_legal(access);
}

static enum mimic_outcome store(struct virgo *v, struct unit *u, struct mimic_access *access)
{
	const struct mimic_register *row = NULL;
	struct mimic_register_place place;

	access->data = low_bytes(access->data, access->size);
	if (store_is_legal(access))
		row = mimic_register_at(&virgo_unit_block, 0, access->offset, &place);
	if (!row || !row->store)
		return illegal(u);
	return row->store(&v->model, place, access);
}

/* A load that may have to wait. */
static enum mimic_outcome load_waiting(struct virgo *v, struct unit *u, struct mimic_access *access,
				       uint32_t offset)
{
	bool is_fence = offset == VIRGO_FENCE;
	struct parked parked = {
		.owner = access->owner,
		.value = is_fence ? u->front.dispatched : (offset - VIRGO_WAIT_LOOPS_0) / 8,
		.kind = is_fence ? PARKED_FENCE : PARKED_LOOPS,
		.unit = (uint8_t)u->number, .size = access->size,
	};

	if (!virgo_unit_is_over(u, &parked) && virgo_parked_add(v, &parked))
		return MIMIC_PARKED;
	access->data = low_bytes(is_fence ? status_of(v, u) : u->front.loops, access->size);
	return MIMIC_DONE;
}

static enum mimic_outcome load(struct virgo *v, struct unit *u, struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE, whole = offset & ~7u;
	const struct mimic_register *row = NULL;
	struct mimic_register_place place;
	uint64_t value;

	access->data = 0;
	if (register_access_is_legal(access))
		row = mimic_register_at(&virgo_unit_block, 0, access->offset & ~7u, &place);
	if (!row || !row->peek)
		return illegal(u);
	if (whole >= VIRGO_FENCE && whole <= VIRGO_WAIT_LOOPS_3)
		return whole == offset ? load_waiting(v, u, access, offset) : illegal(u);
	if (whole <= VIRGO_STATUS)
		count_front(u, VIRGO_COUNTER_polls, 1);
	row->peek(&v->model, place, v->cluster.now, &value);
	access->data = register_half(value, access);
	return MIMIC_DONE;
}

enum mimic_outcome virgo_unit_access(struct virgo *v, struct mimic_access *access)
{
	unsigned int number = access->offset / VIRGO_BLOCK_SIZE;
	enum mimic_outcome outcome;

	if (number >= v->config.units) {
		v->cluster.illegal++;
		access->data = access->is_write ? access->data : 0;
		return MIMIC_DONE;
	}
	if (!access->is_write)
		return load(v, &v->unit[number], access);
	outcome = store(v, &v->unit[number], access);
	/* A CISC word may be another unit's. */
	for (unsigned int i = 0; i < v->config.units; i++)
		virgo_unit_settle(v, &v->unit[i]);
	return outcome;
}
