/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Instructions that are executed when their last value comes, and are never in the queue: those that finish, while
 * it is empty. All others take the way of queue.c, which knows what fails, and why.
 */
#include "devices/dare/dare_internal.h"

static inline bool move(struct dare *d, struct dare_context *c, const struct decoded *decoded, uint64_t address,
			uint64_t stride)
{
	if ((address | stride) & decoded->alignment || !d->memory[context_number(d, c)])
		return false;
	if (decoded->format == DARE_FORMAT_LOAD)
		return dare_mpu_load_in_page(d, c, decoded->md, address, stride);
	return dare_mpu_store_in_page(d, c, decoded->ms2, address, stride);
}

/* false: nothing has happened. */
static inline bool execute(struct dare *d, struct dare_context *c, const struct decoded *decoded,
			   const uint64_t *values)
{
	switch (decoded->format) {
	case DARE_FORMAT_CONFIGURE:
		return dare_mpu_configure(c, values[1], values[2]);
	case DARE_FORMAT_LOAD:
	case DARE_FORMAT_STORE:
		return move(d, c, decoded, values[1], values[2]);
	case DARE_FORMAT_MULTIPLY:
		return dare_mpu_multiply(d, c, decoded->operation, decoded->md, decoded->ms1, decoded->ms2);
	default:
		return false;
	}
}

/* Tracers and virtual time see each instruction in the queue. */
static bool may_begin(const struct dare *d, const struct dare_context *c)
{
	return !c->queue_level && !c->stream_missing && !c->error && !d->watch && !mimic_trace_is_on(&d->model.trace);
}

size_t dare_mpu_direct(struct dare *d, struct dare_context *c, const uint64_t *values, size_t n)
{
	const struct decoded *decoded;
	uint64_t instructions = 0;
	size_t done = 0;

	if (!may_begin(d, c))
		return 0;
	while (done < n) {
		decoded = dare_mpu_decode(d, (uint32_t)values[done]);
		if (decoded->operation == DARE_OPERATION_COUNT || decoded->operands >= n - done ||
		    !execute(d, c, decoded, values + done))
			break;
		count(c, dare_mpu_counter_of_format[decoded->format], 1);
		done += 1 + decoded->operands;
		instructions++;
	}
	c->dispatched += instructions;
	c->completed += instructions;
	count(c, DARE_COUNTER_instructions, instructions);
	return done;
}
