/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The control block of a unit: its registers, its errors, and who waits. */
#include "devices/virgo/virgo_internal.h"

/* --- accesses that wait ------------------------------------------------------------------ */

bool parked_add(struct virgo *v, const struct parked *parked)
{
	struct cluster *c = &v->cluster;

	if (parked->kind != PARKED_BARRIER) {
		if (c->parked_at_units == PARKED_AT_UNITS_MAX)
			return false;
		c->parked_at_units++;
	}
	c->parked[c->parked_count++] = *parked;
	return true;
}

void parked_answer(struct virgo *v, struct parked *parked, uint64_t data)
{
	parked->over = 1;
	data = low_bytes(data, parked->size);
	mimic_trace_wakes(&v->model.trace, parked->owner, data, false);
	v->host.complete(v->host.context, parked->owner, data);
}

/* Not while somebody goes through the list. */
void parked_sweep(struct virgo *v)
{
	struct cluster *c = &v->cluster;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->parked_count; i++) {
		if (!c->parked[i].over)
			c->parked[kept++] = c->parked[i];
		else if (c->parked[i].kind != PARKED_BARRIER)
			c->parked_at_units--;
	}
	c->parked_count = kept;
}

static void forget(struct virgo *v, struct parked *parked)
{
	if (parked->kind == PARKED_INSTRUCTION)
		v->unit[parked->unit].front.parked_stores--;
	else if (parked->kind == PARKED_BARRIER)
		v->cluster.barrier[parked->unit].arrived--;
}

/* A store that is withdrawn has not happened: the word is still to come. */
static void stream_restore(struct front *f, const struct parked *parked)
{
	if (f->stream_level)
		return;
	f->stream[0] = parked->rs1;
	f->stream[1] = parked->rs2;
	f->stream_owner = parked->owner;
	f->stream_level = 2;
}

bool parked_withdraw(struct virgo *v, uint64_t owner)
{
	bool found = false;

	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->owner != owner)
			continue;
		parked->over = 1;
		found = true;
		forget(v, parked);
		if (parked->from_stream)
			stream_restore(&v->unit[parked->unit].front, parked);
	}
	parked_sweep(v);
	return found;
}

void parked_release_all(struct virgo *v)
{
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over)
			continue;
		forget(v, parked);
		parked_answer(v, parked, 0);
	}
	parked_sweep(v);
}

/* --- state ----------------------------------------------------------------------------------- */

bool unit_is_busy(const struct unit *u)
{
	return u->front.queue.level || u->front.taken || u->front.job_state != JOB_NONE;
}

uint64_t unit_status(const struct virgo *v, const struct unit *u)
{
	const struct front *f = &u->front;

	return (unit_is_busy(u) ? VIRGO_STATUS_BUSY : 0) | (f->error ? VIRGO_STATUS_ERROR : 0) |
	       (f->job_state == JOB_STALLED ? VIRGO_STATUS_PAGE : 0) |
	       (uint64_t)(f->queue.level + f->taken) << VIRGO_STATUS_LEVEL_SHIFT |
	       (uint64_t)v->config.queue_entries << VIRGO_STATUS_SIZE_SHIFT;
}

/* The first error stays; whatever is queued behind it is dropped. */
void unit_latch(struct virgo *v, struct unit *u, const struct command *command,
		enum virgo_error error, uint64_t value)
{
	struct front *f = &u->front;

	count_front(u, VIRGO_COUNTER_errors, 1);
	queue_drop_all(u);
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

/* Who waits for this unit is answered: stores are dropped, fences see an idle unit. */
static void release(struct virgo *v, struct unit *u)
{
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->kind == PARKED_BARRIER || parked->unit != u->number)
			continue;
		forget(v, parked);
		parked_answer(v, parked, 0);
	}
}

void unit_reset(struct virgo *v, struct unit *u, enum reset reset)
{
	struct front old = u->front, *f = &u->front;

	/* What a job has that is out is dropped when it comes back. */
	trace_dropped(u, u->trace_epoch, &old.queue.entry[old.queue.first], old.queue.level);
	if (old.job_state != JOB_OUT)
		trace_dropped(u, u->job.trace_epoch, &u->job.x.batch[u->job.x.next],
			      u->job.x.count - u->job.x.next);
	u->trace_epoch++;
	release(v, u);
	memset(f, 0, sizeof(*f));
	if (reset != RESET_POWER_ON) {
		memcpy(f->counters, old.counters, sizeof(f->counters));
		memcpy(f->published, old.published, sizeof(f->published));
		f->counter_select = old.counter_select;
	}
	f->cisc_generation = v->config.cisc_generation;
	f->cisc_tile = initial_tile(u);
	/* What ends by a power-on is no event for whoever has the device next. */
	f->was_busy = reset == RESET_POWER_ON ? 0 : old.was_busy;
	if (old.job_state == JOB_OUT) {
		f->job_state = JOB_OUT;
		f->taken = old.taken;
		f->reset_pending = old.reset_pending > reset ? old.reset_pending : reset;
		__atomic_store_n(&u->job.drop, 1, __ATOMIC_RELAXED);
		return;
	}
	job_power_on(u);
	if (reset == RESET_POWER_ON)
		memset(u->job.x.counters, 0, sizeof(u->job.x.counters));
}

/* --- who can go on ------------------------------------------------------------------------------ */

static void push_word(struct unit *u, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	struct command command = { .word = word, .rs1 = rs1, .rs2 = rs2 };

	command.funct = (word & 0x7f) == VIRGO_OPCODE ? (uint8_t)(word >> 25) : FUNCT_ILLEGAL;
	command_queue_push(u, &command);
}

static bool is_over(const struct unit *u, const struct parked *parked)
{
	const struct front *f = &u->front;

	if (f->reset_pending)
		return false;
	if (parked->kind == PARKED_LOOPS)
		return f->loops <= parked->value;
	return f->completed >= parked->value;
}

void unit_settle(struct virgo *v, struct unit *u)
{
	queue_count_dropped(&u->front);
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->kind == PARKED_BARRIER || parked->unit != u->number)
			continue;
		if (parked->kind != PARKED_INSTRUCTION) {
			if (is_over(u, parked))
				parked_answer(v, parked, parked->kind == PARKED_LOOPS ?
						      u->front.loops : unit_status(v, u));
			continue;
		}
		if (!command_queue_room(v, u))
			continue;
		push_word(u, (uint32_t)parked->value, parked->rs1, parked->rs2);
		u->front.parked_stores--;
		parked_answer(v, parked, 0);
	}
	if (u->front.was_busy && !unit_is_busy(u)) {
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

	unit_latch(v, u, &command, VIRGO_ERROR_OVERFLOW, v->config.queue_entries);
}

static enum mimic_outcome queue_instruction(struct virgo *v, struct unit *u,
					    const struct parked *store)
{
	struct front *f = &u->front;

	if (!f->parked_stores && command_queue_room(v, u)) {
		push_word(u, (uint32_t)store->value, store->rs1, store->rs2);
		return MIMIC_DONE;
	}
	if (v->config.overflow_is_error || !parked_add(v, store)) {
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

/* RS1 and RS2: whole, or one half. false: neither. */
static bool store_source(struct unit *u, const struct mimic_access *access, uint32_t offset)
{
	uint64_t *source = offset < VIRGO_RS2 ? &u->front.rs1 : &u->front.rs2;
	unsigned int shift = 8 * (offset & 7);

	if (offset < VIRGO_RS1 || offset >= VIRGO_BUSY || offset % access->size || access->size < 4)
		return false;
	if (access->size == 8)
		*source = access->data;
	else
		*source = (*source & ~(0xffffffffull << shift)) | (access->data & 0xffffffff) << shift;
	return true;
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

static bool store_own(struct virgo *v, struct unit *u, uint32_t offset, uint64_t value)
{
	switch (offset) {
	case VIRGO_CISC:
		cisc_store(v, u, (uint32_t)value);
		return true;
	case VIRGO_CISC_GENERATION:
		if (value < VIRGO_CISC_GENERATIONS)
			u->front.cisc_generation = (uint32_t)value;
		return value < VIRGO_CISC_GENERATIONS;
	case VIRGO_CISC_TILE:
		u->front.cisc_tile = value & 0xffffffffffffull;
		return true;
	case VIRGO_ERROR:
		clear_error(u);
		return true;
	case VIRGO_COUNTER_SELECT:
		u->front.counter_select = value < VIRGO_COUNTER_COUNT ? (uint32_t)value : 0;
		return value < VIRGO_COUNTER_COUNT;
	case VIRGO_RESET:
		unit_reset(v, u, RESET_UNIT);
		return true;
	default:
		return false;
	}
}

static enum mimic_outcome store(struct virgo *v, struct unit *u, struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE;

	access->data = low_bytes(access->data, access->size);
	if (offset == VIRGO_INSTRUCTION && access->size == 4)
		return store_instruction(v, u, access);
	if (offset == VIRGO_STREAM && access->size == 8)
		return store_stream(v, u, access);
	if (store_source(u, access, offset))
		return MIMIC_DONE;
	if (offset < VIRGO_STATUS || !register_access_is_legal(access) ||
	    !store_own(v, u, offset, access->data))
		count_front(u, VIRGO_COUNTER_illegal, 1);
	return MIMIC_DONE;
}

/* --- loads -------------------------------------------------------------------------------------------- */

static uint64_t identify(const struct virgo *v, const struct unit *u)
{
	return u->dim | u->type.kind << 8 | u->number << 16 |
	       (v->config.overflow_is_error ? VIRGO_IDENTIFY_OVERFLOWS : 0) |
	       (uint64_t)u->config->accumulator_kb << 32;
}

static bool load_value(const struct virgo *v, const struct unit *u, uint32_t offset, uint64_t *value)
{
	const struct front *f = &u->front;

	switch (offset) {
#define _(name, expression) case VIRGO_##name: *value = (expression); return true;
	_(BUSY, unit_is_busy(u))
	_(LOOPS, f->loops)
	_(STATUS, unit_status(v, u))
	_(CISC_GENERATION, f->cisc_generation)
	_(CISC_TILE, f->cisc_tile)
	_(ERROR, f->error)
	_(ERROR_INSTRUCTION, f->error_instruction)
	_(ERROR_POSITION, f->error_position)
	_(ERROR_ADDRESS, f->error_address)
	_(ERROR_RS1, f->error_rs1)
	_(ERROR_RS2, f->error_rs2)
	_(DISPATCHED, f->dispatched)
	_(COMPLETED, f->completed)
	_(IDENTIFY, identify(v, u))
	_(COUNTER_RESULT, f->counter_result)
	_(COUNTER_SELECT, f->counter_select)
	_(COUNTER_VALUE, unit_counter(u, f->counter_select))
#undef _
	default:
		return false;
	}
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

	if (!is_over(u, &parked) && parked_add(v, &parked))
		return MIMIC_PARKED;
	access->data = low_bytes(is_fence ? unit_status(v, u) : u->front.loops, access->size);
	return MIMIC_DONE;
}

static enum mimic_outcome load(struct virgo *v, struct unit *u, struct mimic_access *access)
{
	uint32_t offset = access->offset % VIRGO_BLOCK_SIZE, whole = offset & ~7u;
	uint64_t value;

	access->data = 0;
	if (register_access_is_legal(access)) {
		if (whole >= VIRGO_FENCE && whole <= VIRGO_WAIT_LOOPS_3 && whole == offset)
			return load_waiting(v, u, access, offset);
		if (load_value(v, u, whole, &value)) {
			if (whole == VIRGO_BUSY || whole == VIRGO_LOOPS || whole == VIRGO_STATUS)
				count_front(u, VIRGO_COUNTER_polls, 1);
			access->data = register_half(value, access);
			return MIMIC_DONE;
		}
	}
	count_front(u, VIRGO_COUNTER_illegal, 1);
	return MIMIC_DONE;
}

enum mimic_outcome unit_access(struct virgo *v, struct mimic_access *access)
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
		unit_settle(v, &v->unit[i]);
	return outcome;
}
