/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The registers of a context. */
#include "devices/dare/dare_internal.h"
#include "devices/dare/dare_state.h"

void dare_mpu_context_place(struct dare *d, const struct dare_context *c)
{
	struct places *places = &d->places[context_number(d, c)];

	for (unsigned int i = 0; i <= PLACE_FREE; i++)
		places->of[i] = (uint8_t)i;
}

void dare_mpu_context_reset(struct dare *d, struct dare_context *c)
{
	trace_dropped(d, c, c->queue_level);
	memset(c->tile, 0, sizeof(c->tile));
	dare_mpu_context_place(d, c);
	dare_mpu_compute_forget_all(d);
	c->csr[DARE_CSR_MATRIX_M] = DARE_ROWS;
	c->csr[DARE_CSR_MATRIX_K] = DARE_ROW_BYTES;
	c->csr[DARE_CSR_MATRIX_N] = DARE_ROWS;
	c->rs1 = 0;
	c->rs2 = 0;
	c->dispatched = 0;
	c->completed = 0;
	c->stream_missing = 0;
	c->stalled = 0;
	c->request_count = 0;
	c->request_next = 0;
	c->queue_first = 0;
	c->queue_level = 0;
	dare_mpu_queue_clear_error(c);
}

void dare_mpu_context_power_on(struct dare *d, struct dare_context *c)
{
	trace_dropped(d, c, c->queue_level);
	memset(c, 0, sizeof(*c));
	mimic_tlb_init(&c->tlb, d->config.tlb_entries);
	dare_mpu_context_reset(d, c);
}

uint64_t dare_mpu_context_status(const struct dare *d, const struct dare_context *c)
{
	uint64_t status = (uint64_t)c->queue_level << DARE_STATUS_LEVEL_SHIFT |
			  (uint64_t)d->config.queue_entries << DARE_STATUS_SIZE_SHIFT |
			  (uint64_t)c->stream_missing << DARE_STATUS_MISSING_SHIFT;

	if (c->queue_level)
		status |= DARE_STATUS_BUSY;
	if (c->error)
		status |= DARE_STATUS_ERROR;
	if (c->stalled)
		status |= DARE_STATUS_PAGE;
	return status;
}

void dare_mpu_context_settle(struct dare *d, struct dare_context *c)
{
	unsigned int budget = CALL_BUDGET;
	uint32_t bit = 1u << context_number(d, c);

	do
		dare_mpu_queue_advance(d, c, &budget);
	while (dare_mpu_parked_advance(d, c) && budget);
	/* Stores are parked only while the queue is full, so the queue says it all. */
	if (c->queue_level && !c->stalled)
		d->unfinished |= bit;
	else
		d->unfinished &= ~bit;
}

/* Room for one more instruction, by the execution of the head if it can. */
static void make_room(struct dare *d, struct dare_context *c)
{
	unsigned int budget = 1;

	if (dare_mpu_queue_is_full(d, c))
		dare_mpu_queue_advance(d, c, &budget);
}

static enum mimic_outcome dispatch(struct dare *d, struct dare_context *c, struct mimic_access *access,
				   enum parked_kind kind)
{
	enum step step = STEP_WAIT;
	unsigned int budget = 1;

	make_room(d, c);
	if (!c->parked_stores) {
		if (kind == PARKED_STREAM)
			step = dare_mpu_queue_put_stream(d, c, access->owner, access->data);
		else
			step = dare_mpu_queue_put(d, c, (uint32_t)access->data, c->rs1, c->rs2);
	}
	if (step == STEP_WAIT)
		return dare_mpu_parked_add(d, c, access, kind, access->data);
	dare_mpu_queue_advance(d, c, &budget);
	return MIMIC_DONE;
}

/* --- the registers: include/mimic/dare_registers.h lists them -------------------------- */

static const struct dare_context *context_at(const struct mimic_model *model, struct mimic_register_place place)
{
	return &((const struct dare *)model)->context[place.unit];
}

/* Registers that show a value and nothing else. */
#define PEEKS(_) \
	_(RS1, c->rs1) \
	_(RS2, c->rs2) \
	_(STATUS, dare_mpu_context_status(d, c)) \
	_(MATRIX_M, c->csr[DARE_CSR_MATRIX_M]) \
	_(MATRIX_K, c->csr[DARE_CSR_MATRIX_K]) \
	_(MATRIX_N, c->csr[DARE_CSR_MATRIX_N]) \
	_(DISPATCHED, c->dispatched) \
	_(COMPLETED, c->completed) \
	_(ERROR, c->error) \
	_(ERROR_INSTRUCTION, c->error_instruction) \
	_(ERROR_POSITION, c->error_position) \
	_(ERROR_ADDRESS, c->error_address) \
	_(ERROR_ROW, c->error_row) \
	_(IDENTIFY, DARE_MAGIC << 32 | (uint64_t)DARE_VERSION << 24 | context_number(d, c))

#define _(NAME, expression) \
static enum mimic_peek context_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					   uint64_t now, uint64_t *value) \
{ \
	const struct dare *d = (const struct dare *)model; \
	const struct dare_context *c = context_at(model, place); \
\
	(void)now; \
	if (place.unit >= d->config.contexts) \
		return MIMIC_PEEK_NONE; \
	*value = (expression); \
	return MIMIC_PEEK_VALUE; \
}
PEEKS(_)
#undef _
#define _(name, meaning) \
static enum mimic_peek context_peek_##name(const struct mimic_model *model, struct mimic_register_place place, \
					   uint64_t now, uint64_t *value) \
{ \
	(void)now; \
	if (place.unit >= ((const struct dare *)model)->config.contexts) \
		return MIMIC_PEEK_NONE; \
	*value = context_at(model, place)->counters[DARE_COUNTER_##name]; \
	return MIMIC_PEEK_VALUE; \
}
DARE_COUNTERS(_)
#undef _

static enum mimic_peek context_peek_FENCE(const struct mimic_model *model, struct mimic_register_place place,
					  uint64_t now, uint64_t *value)
{
	if (context_peek_STATUS(model, place, now, value) == MIMIC_PEEK_NONE)
		return MIMIC_PEEK_NONE;
	return context_at(model, place)->queue_level ? MIMIC_PEEK_WAITS : MIMIC_PEEK_VALUE;
}

static enum mimic_outcome context_store_RS1(struct mimic_model *model, struct mimic_register_place place,
					    struct mimic_access *access)
{
	dare_of(model)->context[place.unit].rs1 = access->data;
	return MIMIC_DONE;
}

static enum mimic_outcome context_store_RS2(struct mimic_model *model, struct mimic_register_place place,
					    struct mimic_access *access)
{
	dare_of(model)->context[place.unit].rs2 = access->data;
	return MIMIC_DONE;
}

static enum mimic_outcome context_store_INSTRUCTION(struct mimic_model *model,
						    struct mimic_register_place place,
						    struct mimic_access *access)
{
	struct dare *d = dare_of(model);

	return dispatch(d, &d->context[place.unit], access, PARKED_INSTRUCTION);
}

static enum mimic_outcome context_store_STREAM(struct mimic_model *model, struct mimic_register_place place,
					       struct mimic_access *access)
{
	struct dare *d = dare_of(model);

	return dispatch(d, &d->context[place.unit], access, PARKED_STREAM);
}

/* A store of any value clears the error. */
static enum mimic_outcome context_store_ERROR(struct mimic_model *model, struct mimic_register_place place,
					      struct mimic_access *access)
{
	(void)access;
	dare_mpu_queue_clear_error(&dare_of(model)->context[place.unit]);
	return MIMIC_DONE;
}

static enum mimic_outcome context_store_RESET(struct mimic_model *model, struct mimic_register_place place,
					      struct mimic_access *access)
{
	struct dare *d = dare_of(model);
	struct dare_context *c = &d->context[place.unit];

	(void)access;
	dare_mpu_context_reset(d, c);
	dare_mpu_parked_release(d, c, dare_mpu_context_status(d, c));
	return MIMIC_DONE;
}

static const struct mimic_register context_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 8] = { MIMIC_REGISTER_ROW(context, at, name, access, reset, role, format, meaning) },
	DARE_CONTEXT_REGISTERS(_)
#undef _
#define AT(name) (DARE_COUNTER_OFFSET + 8 * DARE_COUNTER_##name)
#define _(name, meaning) \
	[AT(name) / 8] = { \
		MIMIC_REGISTER_ROW(context, AT(name), name, R, 0, NONE, DECIMAL, meaning), \
		.shown = MIMIC_SHOWN_ELSEWHERE, \
	},
	DARE_COUNTERS(_)
#undef _
};

const struct mimic_register_block dare_context_block = {
	.name = "context",
	.is_numbered = true,
	.access = MIMIC_REGISTER_RW,
	.page = DARE_PAGE_CONTEXT(0),
	.pages = DARE_CONTEXTS_MAX,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 3,
	.rows = context_rows,
	.count = sizeof(context_rows) / sizeof(context_rows[0]),
};

/* --- accesses ------------------------------------------------------------------------- */

static enum mimic_outcome illegal(struct dare_context *c, struct mimic_access *access)
{
	count(c, DARE_COUNTER_illegal, 1);
	access->data = 0;
	return MIMIC_DONE;
}

/* FENCE is the only one that waits. */
static enum mimic_outcome load(struct dare *d, struct dare_context *c, const struct mimic_register *row,
			       struct mimic_register_place place, struct mimic_access *access)
{
	if (row->peek(&d->model, place, d->state.now, &access->data) == MIMIC_PEEK_WAITS)
		return dare_mpu_parked_add(d, c, access, PARKED_FENCE, c->dispatched);
	access->data = low_bytes(access->data, access->size);
	return MIMIC_DONE;
}

enum mimic_outcome dare_mpu_context_access(struct dare *d, struct dare_context *c,
					   struct mimic_access *access)
{
	const struct mimic_register *row = NULL;
	struct mimic_register_place place;
	enum mimic_outcome outcome;

	if (register_access_is_legal(access))
		row = mimic_register_at(&dare_context_block, context_number(d, c), access->offset, &place);
	if (!row || !(row->access & (access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R)))
		outcome = illegal(c, access);
	else if (access->is_write)
		outcome = row->store(&d->model, place, access);
	else
		outcome = load(d, c, row, place, access);
	/* An access that has just parked must not be answered before its driver knows that it has. */
	if (access->is_write && outcome == MIMIC_DONE &&
	    (c->queue_level || c->parked_stores || c->parked_fences || d->unfinished))
		dare_mpu_context_settle(d, c);
	return outcome;
}
