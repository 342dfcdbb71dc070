/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The registers of a context. */
#include "devices/dare/dare_internal.h"

void mpu_context_reset(struct dare *d, struct dare_context *c)
{
	trace_dropped(d, c, c->queue_level);
	memset(c->matrix, 0, sizeof(c->matrix));
	mpu_compute_forget_all(d);
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
	mpu_queue_clear_error(c);
}

void mpu_context_power_on(struct dare *d, struct dare_context *c)
{
	trace_dropped(d, c, c->queue_level);
	memset(c, 0, sizeof(*c));
	mimic_tlb_init(&c->tlb, d->config.tlb_entries);
	mpu_context_reset(d, c);
}

uint64_t mpu_context_status(const struct dare *d, const struct dare_context *c)
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

void mpu_context_settle(struct dare *d, struct dare_context *c)
{
	unsigned int budget = CALL_BUDGET;
	uint32_t bit = 1u << context_number(d, c);

	do
		mpu_queue_advance(d, c, &budget);
	while (mpu_parked_advance(d, c) && budget);
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

	if (mpu_queue_is_full(d, c))
		mpu_queue_advance(d, c, &budget);
}

static enum mimic_outcome dispatch(struct dare *d, struct dare_context *c, struct mimic_access *access,
				   enum parked_kind kind)
{
	enum step step = STEP_WAIT;
	unsigned int budget = 1;

	make_room(d, c);
	if (!c->parked_stores) {
		if (kind == PARKED_STREAM)
			step = mpu_queue_put_stream(d, c, access->owner, access->data);
		else
			step = mpu_queue_put(d, c, (uint32_t)access->data, c->rs1, c->rs2);
	}
	if (step == STEP_WAIT)
		return mpu_parked_add(d, c, access, kind, access->data);
	mpu_queue_advance(d, c, &budget);
	return MIMIC_DONE;
}

size_t mpu_context_stream(struct dare *d, struct dare_context *c, uint64_t owner,
			  const uint64_t *values, size_t n)
{
	size_t done = 0;

	while (done < n && !d->unfinished && !c->parked_stores) {
		unsigned int budget = 1;

		if (mpu_queue_put_stream(d, c, owner, values[done]) == STEP_WAIT)
			break;
		done++;
		mpu_queue_advance(d, c, &budget);
	}
	return done;
}

static void illegal(struct dare_context *c, struct mimic_access *access)
{
	count(c, DARE_COUNTER_illegal, 1);
	access->data = 0;
}

static enum mimic_outcome store(struct dare *d, struct dare_context *c, struct mimic_access *access)
{
	switch (access->offset) {
	case DARE_RS1:
		c->rs1 = access->data;
		break;
	case DARE_RS2:
		c->rs2 = access->data;
		break;
	case DARE_INSTRUCTION:
		return dispatch(d, c, access, PARKED_INSTRUCTION);
	case DARE_STREAM:
		return dispatch(d, c, access, PARKED_STREAM);
	case DARE_ERROR:
		mpu_queue_clear_error(c);
		break;
	case DARE_RESET:
		mpu_context_reset(d, c);
		mpu_parked_release(d, c, mpu_context_status(d, c));
		break;
	default:
		illegal(c, access);
	}
	return MIMIC_DONE;
}

static uint64_t identify(const struct dare *d, const struct dare_context *c)
{
	return DARE_MAGIC << 32 | (uint64_t)DARE_VERSION << 24 | context_number(d, c);
}

static bool load_register(const struct dare *d, const struct dare_context *c, uint32_t offset,
			  uint64_t *data)
{
	switch (offset) {
	case DARE_RS1:
		*data = c->rs1;
		return true;
	case DARE_RS2:
		*data = c->rs2;
		return true;
	case DARE_STATUS:
	case DARE_FENCE:
		*data = mpu_context_status(d, c);
		return true;
	case DARE_MATRIX_M:
	case DARE_MATRIX_K:
	case DARE_MATRIX_N:
		*data = c->csr[(offset - DARE_MATRIX_M) / 8];
		return true;
	case DARE_DISPATCHED:
		*data = c->dispatched;
		return true;
	case DARE_COMPLETED:
		*data = c->completed;
		return true;
	case DARE_ERROR:
		*data = c->error;
		return true;
	case DARE_ERROR_INSTRUCTION:
		*data = c->error_instruction;
		return true;
	case DARE_ERROR_POSITION:
		*data = c->error_position;
		return true;
	case DARE_ERROR_ADDRESS:
		*data = c->error_address;
		return true;
	case DARE_ERROR_ROW:
		*data = c->error_row;
		return true;
	case DARE_IDENTIFY:
		*data = identify(d, c);
		return true;
	default:
		if (offset < DARE_COUNTER_OFFSET || offset >= DARE_COUNTER_OFFSET + 8 * DARE_COUNTER_COUNT)
			return false;
		*data = c->counters[(offset - DARE_COUNTER_OFFSET) / 8];
		return true;
	}
}

static enum mimic_outcome load(struct dare *d, struct dare_context *c, struct mimic_access *access)
{
	if (access->offset == DARE_FENCE && c->queue_level)
		return mpu_parked_add(d, c, access, PARKED_FENCE, c->dispatched);
	if (!load_register(d, c, access->offset, &access->data))
		illegal(c, access);
	access->data = low_bytes(access->data, access->size);
	return MIMIC_DONE;
}

enum mimic_outcome mpu_context_access(struct dare *d, struct dare_context *c, struct mimic_access *access)
{
	enum mimic_outcome outcome;

	if (!register_access_is_legal(access)) {
		illegal(c, access);
		return MIMIC_DONE;
	}
	if (!access->is_write)
		return load(d, c, access);
	outcome = store(d, c, access);
	/* An access that has just parked must not be answered before its driver knows that it has. */
	if (outcome == MIMIC_DONE && (c->queue_level || c->parked_stores || c->parked_fences || d->unfinished))
		mpu_context_settle(d, c);
	return outcome;
}
