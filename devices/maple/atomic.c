/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* 32-bit atomics on program memory; the value before goes into the queue as one word. */
#include <errno.h>

#include "devices/maple/maple_internal.h"

struct request {
	uint64_t address;
	enum mimic_atomic operation;
	uint32_t operand;
	uint32_t expected;
};

static uint32_t sign_extend16(uint32_t value)
{
	return (uint32_t)(int32_t)(int16_t)value;
}

/*
 * CAS2 alone carries two 16-bit values; after CAS1 it takes that one's values
 * and its own are ignored (maple.sv:414-430 of the artifact: docs/sources.md).
 */
static struct request compare_and_swap(const struct maple_queue *q, uint64_t payload)
{
	if (q->cas1_valid)
		return (struct request){ .operation = MIMIC_ATOMIC_CAS,
					 .operand = (uint32_t)(q->cas1 >> 32),
					 .expected = (uint32_t)q->cas1 };
	return (struct request){ .operation = MIMIC_ATOMIC_CAS,
				 .operand = sign_extend16((uint32_t)payload >> 16),
				 .expected = sign_extend16((uint32_t)payload & 0xffff) };
}

static struct request decode(const struct maple *m, const struct maple_queue *q,
			     unsigned int operation, uint64_t payload)
{
	uint64_t offset = (payload >> 32) << q->base_shift;
	struct request request = { .operand = (uint32_t)payload };

	if (operation == MAPLE_STORE_CAS2)
		request = compare_and_swap(q, payload);
	else	/* the operation codes are in the order of enum mimic_atomic */
		request.operation = (enum mimic_atomic)(operation - MAPLE_STORE_ATOMIC_ADD);
	request.address = (q->base + offset) & address_mask(m) & ~3ull;
	return request;
}

/* 0: *old is set; -EFAULT: bad address; -EAGAIN: stalled. */
static int perform(struct maple *m, unsigned int number, const struct request *request,
		   uint32_t *old)
{
	const struct requester who = { (uint8_t)number, MAPLE_FAULT_PIPES, true };
	const struct mimic_memory *memory = &m->host.memory;
	uint64_t physical;
	int error;

	for (;;) {
		error = maple_translate(m, request->address, who, &physical, NULL);
		if (error)
			return error;
		if (!memory->atomic(memory->context, physical, request->operation,
				    request->operand, request->expected, old)) {
			maple_read_succeeded(m, request->address, who);
			return 0;
		}
		error = maple_read_failed(m, request->address, who);
		if (error)
			return error;
	}
}

enum step maple_atomic_step(struct maple *m, unsigned int number, unsigned int operation,
			    uint64_t payload)
{
	struct maple_queue *q = &m->state.queue[number];
	struct request request;
	uint32_t old = 0;
	uint64_t begin;
	int error;

	if (operation == MAPLE_STORE_CAS1) {
		q->cas1 = payload;
		q->cas1_valid = true;
		return STEP_DONE;
	}
	if (maple_queue_room(q) < 1)
		return STEP_WAIT;
	request = decode(m, q, operation, payload);
	begin = mimic_trace_now(&m->model.trace);
	pace_begin(m, number, MAPLE_STEP_ATOMIC, 1);
	error = perform(m, number, &request, &old);
	pace_end(m, number, MAPLE_STEP_ATOMIC, error != -EAGAIN);
	if (error == -EAGAIN)
		return STEP_WAIT;
	MIMIC_TRACE_FROM(&m->model.trace, begin, atomic, 0ull, number, request.address, sizeof(old),
			 request.operation, 0ull);
	q->cas1_valid = false;
	count(m, MAPLE_COUNTER_atomics, 1);
	maple_queue_push(m, q, error ? 0 : old, false);
	return STEP_DONE;
}
