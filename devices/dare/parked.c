/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Accesses that wait: stores that dispatch into a full queue, and fences. One
 * list for the device, in the order in which they came. A context's stores go on
 * in that order.
 */
#include "devices/dare/dare_internal.h"

static void count_parked(struct dare_context *c, const struct parked *parked, int change)
{
	if (parked->kind == PARKED_FENCE)
		c->parked_fences += (uint32_t)change;
	else
		c->parked_stores += (uint32_t)change;
}

enum mimic_outcome dare_mpu_parked_add(struct dare *d, struct dare_context *c, struct mimic_access *access,
				       enum parked_kind kind, uint64_t value)
{
	struct parked *parked;

	if (d->state.parked_count == PARKED_MAX) {
		count(c, DARE_COUNTER_illegal, 1);
		access->data = 0;
		return MIMIC_DONE;
	}
	parked = &d->state.parked[d->state.parked_count++];
	*parked = (struct parked){
		.owner = access->owner, .value = value, .rs1 = c->rs1, .rs2 = c->rs2,
		.context = (uint8_t)context_number(d, c), .kind = (uint8_t)kind,
		.size = access->size,
	};
	count_parked(c, parked, 1);
	if (kind != PARKED_FENCE)
		count(c, DARE_COUNTER_queue_waits, 1);
	return MIMIC_PARKED;
}

static void answer(struct dare *d, struct dare_context *c, struct parked *parked, uint64_t data)
{
	parked->over = 1;
	count_parked(c, parked, -1);
	data = low_bytes(data, parked->size);
	mimic_trace_wakes(&d->model.trace, parked->owner, data, false);
	d->host.complete(d->host.context, parked->owner, data);
}

static void remove_answered(struct dare *d)
{
	struct parked *list = d->state.parked;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < d->state.parked_count; i++) {
		if (list[i].over)
			continue;
		if (kept != i)
			list[kept] = list[i];
		kept++;
	}
	d->state.parked_count = kept;
}

static bool fence_is_over(const struct dare_context *c, const struct parked *fence)
{
	return !c->queue_level || c->queue[c->queue_first].position >= fence->value;
}

static enum step store_again(struct dare *d, struct dare_context *c, const struct parked *store)
{
	if (store->kind == PARKED_STREAM)
		return dare_mpu_queue_put_stream(d, c, store->owner, store->value);
	return dare_mpu_queue_put(d, c, (uint32_t)store->value, store->rs1, store->rs2);
}

bool dare_mpu_parked_advance(struct dare *d, struct dare_context *c)
{
	unsigned int number = context_number(d, c);
	bool stores_wait = false, progress = false;

	if (!c->parked_stores && !c->parked_fences)
		return false;
	for (unsigned int i = 0; i < d->state.parked_count; i++) {
		struct parked *parked = &d->state.parked[i];

		if (parked->context != number)
			continue;
		if (parked->kind == PARKED_FENCE) {
			if (fence_is_over(c, parked))
				answer(d, c, parked, dare_mpu_context_status(d, c));
			continue;
		}
		if (stores_wait)
			continue;
		stores_wait = store_again(d, c, parked) == STEP_WAIT;
		if (stores_wait)
			continue;
		progress = true;
		answer(d, c, parked, 0);
	}
	remove_answered(d);
	return progress;
}

void dare_mpu_parked_withdraw(struct dare *d, uint64_t owner)
{
	for (unsigned int i = 0; i < d->state.parked_count; i++) {
		struct parked *parked = &d->state.parked[i];

		if (parked->owner != owner)
			continue;
		parked->over = 1;
		count_parked(&d->context[parked->context], parked, -1);
		mimic_trace_wakes(&d->model.trace, owner, 0, true);
	}
	remove_answered(d);
}

void dare_mpu_parked_release(struct dare *d, struct dare_context *c, uint64_t status)
{
	unsigned int number = context_number(d, c);

	for (unsigned int i = 0; i < d->state.parked_count; i++) {
		struct parked *parked = &d->state.parked[i];

		if (parked->context == number)
			answer(d, c, parked, parked->kind == PARKED_FENCE ? status : 0);
	}
	remove_answered(d);
}
